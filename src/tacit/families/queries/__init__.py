"""Queries as logic: conjunctive queries and their unions, from Datalog and from SQL, and what is
decided about them.
"""
