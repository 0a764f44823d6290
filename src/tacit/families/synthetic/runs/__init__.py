"""Synthesizing: from a synthetic release of a plan to a file of synthetic people, drawn in
batches that survive an interruption.
"""
