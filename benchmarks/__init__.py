"""Benchmarks: ratios against a peer or a lower limit, measured in one run.
`make bench` prints the table.
"""
