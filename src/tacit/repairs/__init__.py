"""Repairs: ways to change a release until its checks hold."""
