"""Holdings: what everybody has got by the ledger, so that a new
release is judged together with it.
"""
