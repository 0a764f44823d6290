"""Help: the documentation, on this machine."""
