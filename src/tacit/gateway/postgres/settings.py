"""Settings: what a session says of itself, and which of the SETs that clients send change anything.

Values go out in one form whatever a client sets: ISO dates, times in UTC, UTF-8. A setting that
would have them read otherwise is refused; one that changes nothing here is remembered and shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from tacit.gateway.postgres.postgres_errors import Trouble

VERSION = "15.0"  # of PostgreSQL, whose catalogs and words clients expect

DEFAULTS: Mapping[str, str] = {
    "server_version": VERSION,
    "server_version_num": "150000",
    "server_encoding": "UTF8",
    "client_encoding": "UTF8",
    "datestyle": "ISO, MDY",
    "intervalstyle": "postgres",
    "timezone": "UTC",
    "integer_datetimes": "on",
    "standard_conforming_strings": "on",
    "is_superuser": "off",
    "in_hot_standby": "on",
    "default_transaction_read_only": "on",
    "transaction_read_only": "on",
    "transaction_isolation": "read committed",
    "default_transaction_isolation": "read committed",
    "default_table_access_method": "heap",
    "max_identifier_length": "63",
    "search_path": '"$user", public',
    "application_name": "",
    "extra_float_digits": "1",
    "bytea_output": "hex",
    "statement_timeout": "0",
    "lc_collate": "C",
    "lc_ctype": "C",
    "client_min_messages": "notice",
    "row_security": "on",
}
# What a client is told without asking, under the names that it knows.
REPORTED = {
    name.lower(): name
    for name in (
        "server_version",
        "server_encoding",
        "client_encoding",
        "application_name",
        "is_superuser",
        "session_authorization",
        "DateStyle",
        "IntervalStyle",
        "TimeZone",
        "integer_datetimes",
        "standard_conforming_strings",
        "in_hot_standby",
        "default_transaction_read_only",
    )
}
FIXED = (
    "server_version",
    "server_version_num",
    "server_encoding",
    "is_superuser",
    "integer_datetimes",
    "in_hot_standby",
    "max_identifier_length",
)
ONLY = {
    "client_encoding": (r"utf-?8|unicode|default|", "UTF8"),
    "datestyle": (r"iso.*|(mdy|dmy|ymd)", "ISO, MDY"),
    "standard_conforming_strings": (r"on|true|1|yes", "on"),
    "bytea_output": (r"hex", "hex"),
    "intervalstyle": (r"postgres", "postgres"),
}
UNITS = {"": 0.001, "us": 1e-6, "ms": 0.001, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
MOST, MOST_LETTERS = 200, 1_000


class Settings:
    """The settings of one session."""

    def __init__(self, user: str) -> None:
        self._begun = {**DEFAULTS, "session_authorization": user}
        self._set: dict[str, str] = {}

    def get(self, name: str) -> str:
        """The value of a setting; a Trouble where there is none."""
        found = self._set.get(name, self._begun.get(name))
        if found is None:
            raise Trouble("42704", f'there is no setting "{name}".')
        return found

    def all(self) -> dict[str, str]:
        """All settings by name."""
        return dict(sorted({**self._begun, **self._set}.items()))

    def begin(self, name: str, value: str) -> None:
        """A setting that the client names when it connects: RESET comes back to it."""
        self.change(name, value)
        self._begun[name.lower()] = self.get(name.lower())

    def change(self, name: str, value: str | None) -> None:
        """Set a setting, or, with None, go back to how the session began."""
        name = name.lower()
        if name in ("role", "session_authorization") and value in (None, "none"):
            return
        if name in ("role", "session_authorization"):
            raise Trouble(
                "42501", "a session keeps its role.", hint="Connect to another role as database."
            )
        if value is None:
            self._set.pop(name, None)
            return
        if len(value) > MOST_LETTERS or len(self._set) >= MOST:
            raise Trouble("54000", "there are too many settings, or one is too long.")
        if name in FIXED:
            raise Trouble("55P02", f'the setting "{name}" cannot be changed.')
        form, one = ONLY.get(name, ("", value))
        if form and not re.fullmatch(form, value.strip("'\" ").lower()):
            raise Trouble(
                "22023",
                f'"{name}" cannot be {value!r} here: values go out in one form.',
                hint=f"Leave it at {one}.",
            )
        if name == "statement_timeout":
            seconds_of(value)
        self._set[name] = one

    def reset(self) -> None:
        """As the session began."""
        self._set.clear()

    def timeout(self) -> float | None:
        """The seconds that a statement may take by the client's own wish; None: no limit."""
        return seconds_of(self.get("statement_timeout")) or None

    def reported(self) -> Iterator[tuple[str, str]]:
        """What the client is told of by itself."""
        return ((name, self.get(key)) for key, name in REPORTED.items())


def seconds_of(value: str) -> float:
    """A time as PostgreSQL writes it; milliseconds without a unit.

    >>> seconds_of("1500"), seconds_of("2min")
    (1.5, 120.0)
    """
    found = re.fullmatch(r"\s*(\d{1,12}(?:\.\d{1,6})?)\s*(us|ms|s|min|h|d|)\s*", value)
    if found is None:
        raise Trouble("22023", f"{value!r} is no time.", hint="Write milliseconds: 5000, or '5s'.")
    return float(found[1]) * UNITS[found[2]]
