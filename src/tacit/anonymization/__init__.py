"""Anonymization: from a plan to a generalized release for which all its checks hold."""
