"""Editing a plan: one wish at a time, all other text stays."""
