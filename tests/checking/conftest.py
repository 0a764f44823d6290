"""Fixtures with a ledger in memory."""

from checking.keeping import judge, kept  # noqa: F401 (fixtures)
