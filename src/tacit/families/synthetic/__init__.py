"""Synthetic data: the mechanisms of chapter 4, what exactly they promise, and how they draw.
Knows no plan, engine or command.
"""
