"""The page Repair."""
