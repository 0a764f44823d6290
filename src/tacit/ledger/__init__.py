"""The ledger: what is published, to whom and since when, in a chain that nobody can change
unseen."""
