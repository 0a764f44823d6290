"""Reports as pages: one head, one style, one way to write a file."""
