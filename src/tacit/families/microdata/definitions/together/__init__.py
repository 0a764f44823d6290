"""What several generalized copies of one table say together."""
