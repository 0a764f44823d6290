"""The ledger: what is out, to whom and since when, in a chain that nobody can change unseen."""
