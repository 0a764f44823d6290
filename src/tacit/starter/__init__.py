"""The starter plan: look at a table, guess what its columns mean,
write it down with the reasons.
"""
