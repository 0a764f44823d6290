"""The gateway: answers the queries that say nothing about what a role
must not know, and refuses the others.
"""
