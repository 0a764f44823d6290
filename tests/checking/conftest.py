"""Fixtures with a ledger in memory."""

from holdings.keeping import judge, kept  # noqa: F401 (fixtures)
