"""Families: one folder for each kind of release, and what all of them share."""
