"""Restoring gamma-privacy: from a plan's check to further views, or
to the proof that there are none.
"""
