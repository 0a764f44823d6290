"""Several views of one table: who is alike in all of them, which tables fit them, how many, and
how likely each value is.
"""
