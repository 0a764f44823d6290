"""One module per privacy definition: its words, its check, its witness; and their registry."""
