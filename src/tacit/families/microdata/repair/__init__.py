"""Repairs of microdata: ways to generalize a table until its checks hold; knows no plan."""
