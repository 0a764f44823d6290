"""Ledgers: the ledger of a plan, and what it says is published; where none was begun yet, nothing
is."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.errors import InputError, Mark
from tacit.model.holdings import HeldRelease

if TYPE_CHECKING:
    from tacit.ledger.held_releases import Holding
    from tacit.ledger.ledger import Ledger
    from tacit.model.recipients import Spellings
    from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class LedgerPlace:
    """What a plan says of its ledger, and the names of its roles. All else in it may be wrong."""

    file: str
    folder: Path
    ledger: str
    roles: tuple[str, ...]
    mark: Callable[..., Mark]


def place_of(path: str | Path) -> LedgerPlace:
    """Where a plan's ledger is: also where a check or a table of the plan is wrong, for a token
    must be revoked then too.
    """
    from tacit.plan.read.document import Faults, plain_values, read_document
    from tacit.plan.read.keys import read_keys

    document = read_document(path)
    faults = Faults(document)
    read = read_keys(plain_values(document, faults), faults)
    if not read.is_whole("ledger"):
        faults.raise_all()
    return LedgerPlace(
        document.file,
        Path(path).parent,
        read.keys.ledger,
        (*read.keys.roles, *sorted(read.broken_names("roles"))),
        document.mark,
    )


def ledger_of(plan: Plan | LedgerPlace, *, create: bool = False) -> Ledger:
    """The plan's ledger, opened; `create` begins one, with a key of
    its own, where there is neither.
    """
    from tacit.ledger.ledger import NoLedger, open_ledger

    if create:
        is_begun(plan)  # or an error: a key without its ledger
    try:
        return open_ledger(plan.ledger, plan.folder, create=create)
    except NoLedger:
        is_begun(plan)
        raise


def is_begun(plan: Plan | LedgerPlace) -> bool:
    """Was anything ever recorded? A ledger that is gone while its key is still there is an
    error, not an empty ledger.
    """
    from tacit.ledger.key import key_file
    from tacit.ledger.ledger import ledger_exists

    if ledger_exists(plan.ledger, plan.folder):
        return True
    key = key_file(plan.folder)
    if key.exists():
        raise InputError(
            f"there is no ledger {plan.ledger}, but the key {key} is there: what is published is "
            "not known.",
            hint=(
                "Put the ledger back, or correct `ledger:` in the plan. If none was begun "
                f"there before: tacit ledger begin --plan {shlex.quote(plan.file)}."
            ),
            mark=plan.mark("ledger"),
        )
    return False


def released_names(plan: Plan) -> set[str]:
    """The names under which something is in the ledger: each stands for what went out."""
    if not is_begun(plan):
        return set()
    with ledger_of(plan) as ledger:
        return {one.release for one in ledger.held()}


def begin(plan: Plan | LedgerPlace) -> str:
    """Begin a ledger, with the key that is there or a new one; the hash of its empty chain."""
    from tacit.ledger.ledger import ledger_exists, open_ledger

    if ledger_exists(plan.ledger, plan.folder):
        raise InputError(
            f"there is a ledger {plan.ledger} already.",
            hint="Record what is published: tacit ledger record RELEASE.",
            mark=plan.mark("ledger"),
        )
    with open_ledger(plan.ledger, plan.folder, create=True) as ledger:
        return ledger.head()


def tables_in(ledger: Ledger) -> set[str]:
    """The names of the tables that a ledger has something about, by its index."""
    from tacit.ledger.checked_rows import ANY
    from tacit.ledger.held_releases import NAMES

    with ledger.store.reading() as ask:
        return {str(row[0]) for row in ask(NAMES)} - {ANY}


def from_ledger(holding: Holding, spellings: Spellings) -> HeldRelease:
    """What the ledger says is published, with recipients as the plan writes them:
    one that an entry writes in capitals is the same one.
    """
    return HeldRelease(
        holding.release,
        holding.shape,
        frozenset(holding.tables),
        spellings.each(holding.to),
        holding.entry,
        holding.at,
        holding.withdrawn,
        holding.definition,
        holding.answer,
        holding.people,
        holding.corrected,
    )
