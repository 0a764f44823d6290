"""Definitions of microdata: one module each, its words, its check, its witness."""
