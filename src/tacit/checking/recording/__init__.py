"""Recording: a release goes out once its checks hold, and what went out is checked again."""
