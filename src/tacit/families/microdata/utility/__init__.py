"""What a generalized table is still good for: measures of loss, range queries, marginals."""
