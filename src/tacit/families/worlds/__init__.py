"""Possible worlds: the databases that are left for someone who saw the releases."""
