"""Ties: tables under which the same people stand, in the plan and in the ledger, whatever they
are called, and why.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from tacit.engines.sql import shapes
from tacit.errors import TacitError
from tacit.ledger.digests import AnswerDigest
from tacit.ledger.entries import Tie

if TYPE_CHECKING:
    from tacit.checking.recording.answer_digests import Answers
    from tacit.engines.base import Engine
    from tacit.engines.identity import Origin, SharedRows
    from tacit.ledger.held_releases import Holding
    from tacit.ledger.key import Key
    from tacit.ledger.ledger import Ledger
    from tacit.model.schema import Table
    from tacit.plan.plan import Plan

# of a table that is compared row by row;
# larger ones are known by their file or their place in the database
MOST_ROWS = 10_000_000
STORED = (
    "file",
    "table",
)  # origins that mean the same in every run; a disk gives the number of a file away again
HIDDEN, SIZE = "hidden", "size"
WHY = {"people": "both have the same people", "rows": "both have the same rows"}


class Ties:
    """What tells the tables of a plan, each looked at once.
    A table whose data are not at hand is known by nothing.
    """

    def __init__(
        self, plan: Plan, engine: Callable[[], Engine], shared: Callable[[], tuple[SharedRows, ...]]
    ) -> None:
        self.plan = plan
        self._engine = engine
        self._shared = shared
        self._known: dict[tuple[str, str], tuple[tuple[Tie, str], ...]] = {}

    @cached_property
    def within(self) -> tuple[SharedRows, ...]:
        """Pairs of the plan's tables that share rows, or may;
        none where the data are not at hand.
        """
        try:
            return self._shared()
        except TacitError:
            return ()

    def groups(self) -> list[Collection[str]]:
        """Tables that share rows, two by two."""
        return [one.tables for one in self.within]

    def between(self, some: Collection[str], others: Collection[str]) -> SharedRows | None:
        """Two tables of the plan, one of each, that share rows under two names."""
        return next(
            (
                one
                for one in self.within
                for a, b in (one.tables, one.tables[::-1])
                if a in some and b in others
            ),
            None,
        )

    def of(self, table: Table, answers: Answers) -> tuple[tuple[Tie, str], ...]:
        """What the ledger keeps to tell a table, each with the words that
        say why another one is the same.
        """
        return (*self.places(table, answers), *self.contents(table, answers))

    def places(self, table: Table, answers: Answers) -> tuple[tuple[Tie, str], ...]:
        """Where its rows come from, and how many they are:
        other tables of that size are worth comparing.
        """
        return self._once("places", table, lambda: self._places(table, answers.key))

    def contents(self, table: Table, answers: Answers) -> tuple[tuple[Tie, str], ...]:
        """Who is in it, and all its rows, which are read for that."""
        return self._once("contents", table, lambda: self._contents(table, answers))

    def _once(
        self, what: str, table: Table, look: Callable[[], Iterator[tuple[Tie, str]]]
    ) -> tuple[tuple[Tie, str], ...]:
        if (what, table.name) not in self._known:
            try:
                self._known[what, table.name] = tuple(look()) if self._attached(table) else ()
            except TacitError:
                self._known[what, table.name] = ()
        return self._known[what, table.name]

    def _places(self, table: Table, key: Key) -> Iterator[tuple[Tie, str]]:
        engine = self._engine()
        for origin in sorted(engine.origins(table.name), key=lambda one: (one.kind, one.value)):
            if origin.kind in (*STORED, HIDDEN):
                yield (
                    Tie(table.name, origin.kind, origin_hash(origin, key)),
                    f"both come from {origin.text}" if origin.kind != HIDDEN else origin.text,
                )
        yield (
            Tie(
                table.name,
                SIZE,
                key.mac("size", str(engine.value(shapes.row_count(table.name))).encode()),
            ),
            "",
        )

    def _contents(self, table: Table, answers: Answers) -> Iterator[tuple[Tie, str]]:
        if table.keys and table.quasi_identifiers and (people := answers.people(table)) is not None:
            yield Tie(table.name, "people", people), WHY["people"]
        if (rows := rows_hash(self._engine(), table.name, answers.key)) is not None:
            yield Tie(table.name, "rows", rows), WHY["rows"]

    def _attached(self, table: Table) -> bool:
        """Are its data at hand?"""
        try:
            engine = self._engine()
            engine.attach_once(table)
        except TacitError:
            return False
        return True


def origin_hash(origin: Origin, key: Key) -> str:
    """The keyed hash of a place that rows come from; all that hide it have the same."""
    return key.mac(
        "origin", f"{origin.kind}\0{origin.value if origin.kind != HIDDEN else ''}".encode()
    )


def rows_hash(engine: Engine, table: str, key: Key) -> str | None:
    """The keyed hash of all rows of a table in any order, its columns in the order of their
    names; None where it has none, or too many.
    """
    if not 0 < int(engine.value(shapes.row_count(table))) <= MOST_ROWS:
        return None
    columns = sorted(engine.native_types(table), key=str.casefold)
    digest = AnswerDigest(key, [str(at + 1) for at in range(len(columns))])
    for row in engine.rows(shapes.columns_of(table, columns)):
        digest.add(row)
    return digest.hex()


def under_other_names(
    ledger: Ledger, ties: Ties, tables: Collection[str], foreign: Collection[str], answers: Answers
) -> Iterator[tuple[Holding, str, str]]:
    """What the ledger has about the people of these tables under other names:
    each with the table, and why it is the same.

    `foreign` are the names of the ledger that are none of these.
    Entries of an older Tacit are compared by their people only.
    """
    held = [
        one for one in ledger.held(foreign) if set(one.tables) & set(foreign)
    ]  # what names no table counts in any case
    own = {
        tie.hash: (name, tie.by, why)
        for name, tie, why in _own(ties, tables, held, answers)
        if tie.by != SIZE
    }
    hidden = answers.key.mac("origin", f"{HIDDEN}\0".encode())
    anywhere = next(((name, why) for name, by, why in own.values() if by == HIDDEN), None)
    first = next((name for name in tables if name in ties.plan.tables), None)
    for one in held:
        said = [*(tie.hash for tie in one.ties), *([one.people] if one.people else [])]
        if common := [own[found] for found in said if found in own]:
            yield one, common[0][0], common[0][2]
        elif anywhere is not None:
            yield one, *anywhere
        elif hidden in said and first is not None:
            yield one, first, "its rows may come from any table"


def _own(
    ties: Ties, tables: Collection[str], held: Sequence[Holding], answers: Answers
) -> Iterator[tuple[str, Tie, str]]:
    """What tells some tables. Rows are read only where something is published about as many, or an
    older Tacit did not say about how many.
    """
    sizes = {tie.hash for one in held for tie in one.ties if tie.by == SIZE}
    is_older = any(one.people is not None and not one.ties for one in held)
    for table in (ties.plan.tables[name] for name in tables if name in ties.plan.tables):
        places = ties.places(table, answers)
        yield from ((table.name, *one) for one in places)
        if is_older or any(tie.by == SIZE and tie.hash in sizes for tie, _ in places):
            yield from ((table.name, *one) for one in ties.contents(table, answers))
