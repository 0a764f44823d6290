"""What a release is still good for: measures of loss, range queries, marginals, flows."""
