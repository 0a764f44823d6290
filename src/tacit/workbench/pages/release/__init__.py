"""The page of one release."""
