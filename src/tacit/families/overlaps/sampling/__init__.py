"""Sampling: fitting tables drawn uniformly where they cannot be counted."""
