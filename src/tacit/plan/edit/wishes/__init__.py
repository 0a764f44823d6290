"""What should be different in a plan, as values:
wishes about tables, about releases, and about what is asked and told.
"""
