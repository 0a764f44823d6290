"""Counting: the tables that fit several views, and in which share somebody has a value."""
