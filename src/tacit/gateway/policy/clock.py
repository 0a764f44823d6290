"""Clock: what a query says of the moment and of whoever asks, as constants of the request.

The moment is the one that `$now` has in views, in UTC and without a time zone, so that both compare
alike. A constant that everybody could write says nothing about any row.
"""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING

from sqlglot import exp

if TYPE_CHECKING:
    from tacit.gateway.policy.asker import Asker

MOMENTS = (exp.CurrentTimestamp, exp.CurrentDatetime, exp.Localtimestamp, exp.UtcTimestamp)
DAYS = (exp.CurrentDate, exp.UtcDate)
USERS = (exp.CurrentUser, exp.SessionUser)
NAMES: dict[str, type[exp.Func]] = {
    "now": exp.CurrentTimestamp,
    "transaction_timestamp": exp.CurrentTimestamp,
    "statement_timestamp": exp.CurrentTimestamp,
    "getdate": exp.CurrentTimestamp,
    "curdate": exp.CurrentDate,
    "today": exp.CurrentDate,
}
WORDS = re.compile(
    rf"(?i)\b(?:{'|'.join(NAMES)}|current_\w+|localtimestamp|session_user|utc_\w+)\b"
)
SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86400, "WEEK": 604800}


def asks_clock(text: str) -> bool:
    """May a query speak of the moment or of whoever asks? Then its decision is theirs alone.

    >>> asks_clock("SELECT NOW()"), asks_clock("SELECT a FROM known")
    (True, False)
    """
    return WORDS.search(text) is not None


def with_known_names(tree: exp.Expr) -> exp.Expr:
    """The tree with one node for each word of the clock, whatever the dialect calls it."""
    for node in list(tree.find_all(exp.Anonymous)):
        known = NAMES.get(node.name.lower())
        if known is not None and not node.expressions:
            node.replace(known())
    return tree


def with_moment(tree: exp.Query, asker: Asker | None) -> exp.Query:
    """The tree with constants where it speaks of the moment or of whoever asks."""
    if asker is None:
        return tree
    with_known_names(tree)
    for node in list(tree.find_all(*MOMENTS, *DAYS, *USERS)):
        if any(node.args.values()):
            continue  # with digits, or for a time zone: refused as other functions of the clock
        found = (
            exp.Literal.string(asker.name)
            if isinstance(node, USERS)
            else constant(asker.now.date() if isinstance(node, DAYS) else asker.now)
        )
        if isinstance(node.parent, exp.Select):  # a column is called by the word
            node.replace(exp.alias_(found, node.sql_name().lower(), quoted=True))
        else:
            node.replace(found)
    for sum_ in list(tree.find_all(exp.Add, exp.Sub)):
        if (moved := _moved(sum_)) is not None:
            sum_.replace(constant(moved))
    return tree


def constant(at: date) -> exp.Cast:
    """A day or a moment as SQL.

    >>> constant(date(2026, 3, 1)).sql(), constant(datetime(2026, 3, 1, 8)).sql()
    ("CAST('2026-03-01' AS DATE)", "CAST('2026-03-01 08:00:00' AS TIMESTAMP)")
    """
    is_moment = isinstance(at, datetime)
    text = at.isoformat(" ") if isinstance(at, datetime) else at.isoformat()
    found = exp.cast(exp.Literal.string(text), "TIMESTAMP" if is_moment else "DATE")
    found.meta["clock"] = at
    return found


def _moved(node: exp.Expr) -> datetime | None:
    """The moment so many days or seconds from another one; None where that is not what stands
    there, or depends on the calendar.
    """
    at, by = node.this.unnest().meta.get("clock"), node.expression.unnest()
    if at is None or not isinstance(by, exp.Interval) or not isinstance(by.this, exp.Literal):
        return None
    unit = SECONDS.get(str(by.args.get("unit") or "").upper().removesuffix("S"))
    if unit is None or not re.fullmatch(r"[0-9]{1,9}", by.this.name):
        return None
    moment = at if isinstance(at, datetime) else datetime(at.year, at.month, at.day)
    span = timedelta(seconds=int(by.this.name) * unit)
    try:
        return moment - span if isinstance(node, exp.Sub) else moment + span
    except OverflowError:
        return None
