"""gamma-privacy, k-SIND and k-RSIND: definitions about several views of one table."""
