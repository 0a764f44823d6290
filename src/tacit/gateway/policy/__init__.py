"""The policy of a gateway: what each role may know, decided without rows."""
