"""The page Ledger."""
