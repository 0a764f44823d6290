"""Restoring: further views after which beliefs stay below gamma; knows no plan."""
