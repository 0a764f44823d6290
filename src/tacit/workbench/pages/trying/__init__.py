"""The page Try a query."""
