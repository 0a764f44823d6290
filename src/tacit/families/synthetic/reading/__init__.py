"""From a plan's synthetic release to the question about it:
the public files, the cells of each group, who is where.
"""
