"""Definitions of synthetic data: differential privacy and its probabilistic variant."""
