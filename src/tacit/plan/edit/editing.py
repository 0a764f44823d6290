"""Edit a plan's text by one wish at a time: comments, order and spelling of everything else stay.

A wish is a value that says what should be different. It takes its consequences with it: a column
that is no quasi-identifier any more has no level, and a release that is gone is asked about by
nobody.
"""

from __future__ import annotations

from functools import reduce
from pathlib import Path
from typing import Protocol

from tacit.plan.plan import Plan
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan


class Wish(Protocol):
    """Something that should be different in a plan."""

    def applied(self, text: str) -> str:
        """The text with the wish fulfilled, whether or not a plan with that text can be loaded."""
        ...


def edited(text: str, *wishes: Wish, file: str = "tacit.yaml", folder: Path = Path(".")) -> str:
    """The text after the wishes; the PlanError with its place where no plan could have it.

    `folder` is where the plan lies: its queries in .sql files are read from there.

    >>> from tacit.plan.edit.wishes.table_wishes import SetRole
    >>> text = "version: 1\\ntables:\\n  t: {sensitive: [flu], quasi-identifiers: [zip]}  # mine\\n"
    >>> print(edited(text, SetRole("t", "zip", "insensitive")).splitlines()[2])
      t: {sensitive: [flu], quasi-identifiers: [], insensitive: [zip]}  # mine
    """
    found = rewritten(text, *wishes)
    loaded(found, file=file, folder=folder)
    return found


def rewritten(text: str, *wishes: Wish) -> str:
    """The text after the wishes, which may still have errors: they can be shown at their lines."""
    return reduce(lambda now, wish: wish.applied(now), wishes, text)


def loaded(text: str, *, file: str = "tacit.yaml", folder: Path = Path(".")) -> Plan:
    """The plan that a text is; a TacitError that says what is wrong with it, and where."""
    return read_plan(parse(text, file), folder)
