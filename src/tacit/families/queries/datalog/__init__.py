"""Datalog and constraints, read as they are written."""
