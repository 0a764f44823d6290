"""Spark: the rows stay with the cluster."""
