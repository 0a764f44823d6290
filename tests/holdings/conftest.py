"""The fixture that judges plans with a ledger in memory."""

from holdings.keeping import judge  # noqa: F401 (a fixture)
