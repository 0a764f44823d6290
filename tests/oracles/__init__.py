"""Brute force from the definitions. Nothing here may import tacit."""
