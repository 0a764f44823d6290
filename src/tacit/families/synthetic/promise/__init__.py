"""The promise: what a mechanism guarantees, and how much noise that takes."""
