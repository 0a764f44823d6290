"""Replay: evidence about microdata checked again, the slow and obvious way."""
