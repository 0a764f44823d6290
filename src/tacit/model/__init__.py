"""The vocabulary as frozen values: schema, release, verdict. Standard library only."""
