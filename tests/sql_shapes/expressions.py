"""Expressions of every kind for every place of a query, with a note of which kind stood where."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

INTEGER, TEXT, BOOLEAN = "integer", "text", "boolean"
TRUTHS = (
    "comparison",
    "IS NULL",
    "IS DISTINCT FROM",
    "BETWEEN",
    "IN list",
    "always false",
    "always true",
    "row value",
    "whole row",
    "IS TRUE",
    "AND, OR, NOT",
    "EXISTS",
    "IN subquery",
    "ANY, ALL",
)
VALUES = (
    "constant",
    "NULL",
    "column",
    "column, bare",
    "outer column",
    "outer column, bare",
    "alias",
    "CASE",
    "function",
    "cast",
    "arithmetic",
    "may fail",
    "scalar subquery",
    "aggregate",
    "aggregate with FILTER",
    "window",
    "aggregate of the query around",
    "pseudo-column",
)
ANYWHERE = (
    "SELECT",
    "ON",
    "WHERE",
    "GROUP BY",
    "GROUPING SETS",
    "HAVING",
    "QUALIFY",
    "PARTITION BY",
    "window ORDER BY",
    "window argument",
    "FILTER",
    "aggregate argument",
    "aggregate ORDER BY",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "DISTINCT ON",
    "CASE",
    "VALUES",
    "IN list",
    "left of IN",
    "left of ANY, ALL",
)
PLAIN = ("column", "column, bare", "outer column", "constant", "alias", "comparison", "aggregate")
WAYS: Mapping[str, tuple[str, ...]] = {
    "CASE": ("CASE",),
    "IN list": ("IN list",),
    "left of IN": ("IN subquery",),
    "left of ANY, ALL": ("ANY, ALL",),
    "FILTER": ("aggregate with FILTER",),
    "aggregate argument": ("aggregate",),
    "aggregate ORDER BY": ("aggregate",),
    "PARTITION BY": ("window",),
    "window ORDER BY": ("window",),
    "window argument": ("window",),
}
Choice = tuple[float, str, Callable[[], str]]  # weight, kind, and what writes it


@dataclass(frozen=True, slots=True)
class Name:
    """Something that an expression may name: in full, bare, and of which type."""

    full: str
    bare: str
    type: str


Names = tuple[Name, ...]


@dataclass(frozen=True, slots=True)
class Sight:
    """What can be named at a place.
    `inside` is what aggregates may be about, where there may be any.
    """

    names: Names = ()
    outer: Names = ()
    aliases: Names = ()
    inside: Names = ()
    aggregates: bool = False
    windows: bool = False

    @property
    def around(self) -> Names:
        """What a subquery that stands here may name of us."""
        return self.names + self.outer


@dataclass
class Expressions:
    """Writes expressions. Queries in them are written by `query`, which
    whoever derives from this gives.
    """

    rng: random.Random
    constants: dict[str, list[str]]
    postgres: bool = False
    failing: float = 0.0  # how likely an expression may fail on some rows
    named_window: bool = False  # is there a window w?
    left: int = 4  # subqueries that may still be written
    focus: tuple[str, str] = (
        "",
        "",
    )  # the place and the kind of expression that this statement is about
    busy: float = 1.0  # how much there is beside what the statement is about
    aim: int = 0  # how many queries are around what the statement is about
    level: int = 0  # how many queries are around
    lead: str = ""  # the kind of expression that leads to the query that it belongs into
    raised: int = 0  # how often an expression was made deeper for it
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)  # (place, kind of expression)
    places: Counter[tuple[str, str]] = field(
        default_factory=Counter
    )  # (where a query stands, clause of it)

    def query(self, types: Sequence[str], outer: Names, place: str) -> str:
        """A subquery with these types."""
        raise NotImplementedError

    # Any expression

    def value(self, type_: str, sight: Sight, at: str, depth: int | None = None) -> str:
        """An expression of a type at a place; `depth` is how often others may stand in it."""
        deepest = 2 - self.level
        depth = min(self.rng.choice((0, 1, 1, 1, 2)) if depth is None else depth, max(deepest, 0))
        if depth == 0 and self.aimed and self.focus[0] == at and self.raised < 2:
            depth, self.raised = 1, self.raised + 1
        choices = (
            self._truths(sight, at, depth)
            if type_ == BOOLEAN
            else self._values(type_, sight, at, depth)
        )
        if self.aimed and self.focus[0] == at:
            choices = [one for one in choices if one[1] == self.focus[1]] or choices
        elif self.level == 0 and any(kind == self.lead for _, kind, _ in choices):
            choices, self.lead = [one for one in choices if one[1] == self.lead], ""
        elif self.aimed and (
            way := WAYS.get(self.focus[0])
        ):  # such places are in expressions themselves
            choices = [one for one in choices if one[1] in way] or choices
        calm = 0.1 + self.busy
        _, kind, write = self.rng.choices(
            choices, [weight * (1 if kind in PLAIN else calm) + 1e-9 for weight, kind, _ in choices]
        )[0]
        self.kinds[at, kind] += 1
        return write()

    @property
    def aimed(self) -> bool:
        """Is here where the expression that the statement is about belongs?"""
        return self.level == self.aim and self.kinds[self.focus] == 0

    def free(self, *places: str) -> str:
        """A type for a place that takes any, so that what the
        statement is about can stand there.
        """
        if self.focus[0] in places:
            return BOOLEAN if self.focus[1] in TRUTHS else self.some_type()
        return self.rng.choice((self.some_type(), self.some_type(), BOOLEAN))

    def some_type(self) -> str:
        """The type of some column."""
        raise NotImplementedError

    def _values(self, type_: str, sight: Sight, at: str, depth: int) -> list[Choice]:
        found: list[Choice] = [
            (1, "constant", lambda: self.constant(type_)),
            (0.15, "NULL", lambda: "NULL"),
        ]
        found += self._named(type_, sight)
        if depth > 0:
            found += self._computed(type_, sight, at, depth)
        if self.left > 0 and self.level < 2:
            found.append(
                (
                    2.5 if depth else 0.5,
                    "scalar subquery",
                    lambda: f"({self.one_row(type_, sight.around)})",
                )
            )
        if sight.aggregates:
            found.append((3, "aggregate", lambda: self.aggregate(type_, sight)))
            found.append((0.7, "aggregate with FILTER", lambda: self.filtered(type_, sight)))
        if sight.windows and depth > 0:
            found.append((2, "window", lambda: self.window(type_, sight)))
        if sight.outer and depth > 0 and not sight.aggregates:
            found.append(
                (
                    0.25,
                    "aggregate of the query around",
                    lambda: self.aggregate(type_, replace(sight, inside=sight.outer)),
                )
            )
        return found

    def _named(self, type_: str, sight: Sight) -> list[Choice]:
        found: list[Choice] = []
        for kind, names, weight in (
            ("column", sight.names, 6.0),
            ("outer column", sight.outer, 1.5),
        ):
            fitting = [one.full for one in names if one.type == type_]
            # A bare name that several have is mostly refused by everybody, so it is rare here.
            among = Counter(one.bare for one in (names if kind == "column" else sight.around))
            clear = [
                one.bare
                for one in names
                if one.type == type_ and (among[one.bare] == 1 or self.rng.random() < 0.05)
            ]
            found += [(weight, kind, partial(self.rng.choice, fitting))] if fitting else []
            found += (
                [(weight / 2, f"{kind}, bare", partial(self.rng.choice, clear))] if clear else []
            )
        if aliases := [one for one in sight.aliases if one.type == type_]:
            found.append((1.5, "alias", lambda: self.rng.choice(aliases).bare))
        if type_ == INTEGER and (self.rng.random() < 0.01 or self.focus[1] == "pseudo-column"):
            found.append(
                (
                    3,
                    "pseudo-column",
                    lambda: self.rng.choice(("ctid", "xmin") if self.postgres else ("rowid",)),
                )
            )
        return found

    def _computed(self, type_: str, sight: Sight, at: str, depth: int) -> list[Choice]:
        def one(kind: str = type_, where: str = at) -> str:
            return self.value(kind, sight, where, depth - 1)

        found: list[Choice] = [
            (
                0.6,
                "CASE",
                lambda: (
                    f"CASE WHEN {one(BOOLEAN, 'CASE')} THEN {one(where='CASE')} ELSE "
                    f"{one(where='CASE')} END"
                ),
            ),
            (0.3, "function", lambda: f"coalesce({one()}, {self.constant(type_)})"),
            (
                0.2,
                "function",
                lambda: f"{self.rng.choice(('greatest', 'least'))}({one()}, {one()})",
            ),
            (0.2, "function", lambda: f"nullif({one()}, {one()})"),
            (
                0.2,
                "cast",
                lambda: f"CAST({one()} AS {'INTEGER' if type_ == INTEGER else 'VARCHAR'})",
            ),
        ]
        if type_ == INTEGER:
            found.append((0.6, "arithmetic", lambda: f"({one()} {self.rng.choice('+-*')} {one()})"))
            found.append(
                (
                    self.failing,
                    "may fail",
                    lambda: self.rng.choice(
                        (
                            f"({one()} / {one()})" if self.postgres else f"({one()} // {one()})",
                            f"CAST({one(TEXT)} AS INTEGER)",
                            f"(2147483647 + {one()})",
                        )
                    ),
                )
            )
        else:
            found.append((0.4, "concatenation", lambda: f"({one()} || {one()})"))
        return found

    def _truths(self, sight: Sight, at: str, depth: int) -> list[Choice]:
        type_ = self.rng.choice(
            [name.type for name in sight.names if name.type != BOOLEAN] or [INTEGER]
        )

        def one(kind: str = type_, where: str = at) -> str:
            return self.value(kind, sight, where, depth - 1)

        found: list[Choice] = [
            (
                4,
                "comparison",
                lambda: (
                    f"{self._known(type_, sight) or one()} "
                    f"{self.rng.choice(('=', '=', '=', '<>', '<', '>='))} {one()}"
                ),
            ),
            (0.4, "IS NULL", lambda: f"{one()} IS {self.rng.choice(('', 'NOT '))}NULL"),
            (
                0.3,
                "IS DISTINCT FROM",
                lambda: f"{one()} IS {self.rng.choice(('', 'NOT '))}DISTINCT FROM {one()}",
            ),
            (0.3, "BETWEEN", lambda: f"{one()} BETWEEN {one()} AND {one()}"),
            (
                0.6,
                "IN list",
                lambda: (
                    f"{one()} {self.rng.choice(('', 'NOT '))}IN ({one(where='IN list')}, "
                    f"{one(where='IN list')})"
                ),
            ),
            (0.5, "always false", lambda: self.rng.choice(("1 = 0", "FALSE", "NULL IS NOT NULL"))),
            (0.3, "always true", lambda: self.rng.choice(("1 = 1", "TRUE"))),
            (
                0.3,
                "IS TRUE",
                lambda: (
                    f"({one()} = {one()}) IS "
                    f"{self.rng.choice(('TRUE', 'NOT TRUE', 'FALSE', 'NOT FALSE', 'NULL', 'UNKNOWN'))}"  # noqa: E501
                ),
            ),
            (
                0.3,
                "row value",
                lambda: (
                    f"({one()}, {one()}) {self.rng.choice(('=', '<>', '<'))} ({one()}, {one()})"
                ),
            ),
        ]
        if depth > 0:
            found += [
                (
                    1,
                    "AND, OR, NOT",
                    lambda: f"({one(BOOLEAN)} {self.rng.choice(('AND', 'OR'))} {one(BOOLEAN)})",
                ),
                (0.5, "AND, OR, NOT", lambda: f"NOT ({one(BOOLEAN)})"),
                (
                    0.4,
                    "CASE",
                    lambda: (
                        f"CASE WHEN {one(BOOLEAN, 'CASE')} THEN {one(BOOLEAN, 'CASE')} "
                        f"ELSE {one(BOOLEAN, 'CASE')} END"
                    ),
                ),
            ]
        if self.left > 0 and self.level < 2:
            found += self._asking(sight, type_, one)
        if rows := sorted(
            {
                name.full[: -len(name.bare) - 1]
                for name in sight.names
                if name.full.endswith(f".{name.bare}")
            }
        ):
            found.append(
                (
                    0.15,
                    "whole row",
                    lambda: (
                        f"{self.rng.choice(rows)} "
                        f"{self.rng.choice(('IS NULL', 'IS NOT NULL', f'= {self.rng.choice(rows)}'))}"  # noqa: E501
                    ),
                )
            )
        if type_ == TEXT:
            found.append(
                (
                    0.4,
                    "LIKE",
                    lambda: (
                        f"{one()} {self.rng.choice(('', 'NOT '))}LIKE "
                        f"{self.rng.choice((chr(39) + 'a%' + chr(39), one()))}"
                    ),
                )
            )
        if aliases := [name for name in sight.aliases if name.type == BOOLEAN]:
            found.append((2, "alias", lambda: self.rng.choice(aliases).bare))
        return found

    def _asking(self, sight: Sight, type_: str, one: Callable[..., str]) -> list[Choice]:
        some = self.rng.choice(("= ANY", "<> ALL", "= ALL", "< ANY", ">= ALL"))
        return [
            (
                2.5,
                "EXISTS",
                lambda: (
                    f"{self.rng.choice(('', 'NOT '))}EXISTS "
                    f"({self.query([type_], sight.around, 'EXISTS')})"
                ),
            ),
            (
                2,
                "IN subquery",
                lambda: (
                    f"{(self.focus[0] != 'left of IN' and self._known(type_, sight)) or one(where='left of IN')} "  # noqa: E501
                    f"{self.rng.choice(('', 'NOT '))}IN "
                    f"({self.query([type_], sight.around, 'IN')})"
                ),
            ),
            (
                0.8,
                "ANY, ALL",
                lambda: (
                    f"{one(where='left of ANY, ALL')} {some} "
                    f"({self.query([type_], sight.around, 'ANY, ALL')})"
                ),
            ),
        ]

    def _known(self, type_: str, sight: Sight) -> str:
        """Mostly a column, where there is one: comparisons of constants tell nothing."""
        fitting = [one.full for one in sight.names if one.type == type_]
        return self.rng.choice(fitting) if fitting and self.rng.random() < 0.6 else ""

    # Aggregates and windows

    def aggregate(self, type_: str, sight: Sight) -> str:
        """An aggregate over what may be inside."""
        inside = Sight(sight.inside, sight.outer)
        if type_ == TEXT:
            name = self.rng.choice(("min", "max", "string_agg"))
            of = self.value(TEXT, inside, "aggregate argument", 1)
            if name == "string_agg":
                return f"string_agg({of}, ','{self._aggregate_order(inside)})"
            return f"{name}({of})"
        names = ("count(*)", "count(*)", "count", "sum", "min", "max", "first")
        names = {"aggregate argument": names[2:], "aggregate ORDER BY": names[-1:]}.get(
            self.focus[0], names
        )
        name = self.rng.choice(names)
        if name == "count(*)":
            return name
        if name == "first" and self.postgres:
            name = "max"
        of = self.value(INTEGER, inside, "aggregate argument", 1)
        distinct = self.rng.choice(("", "", "DISTINCT ")) if name != "first" else ""
        order = self._aggregate_order(inside) if name == "first" else ""
        return f"{name}({distinct}{of}{order})"

    def _aggregate_order(self, inside: Sight) -> str:
        return (
            (
                " ORDER BY "
                f"{self.value(self.free('aggregate ORDER BY'), inside, 'aggregate ORDER BY', 1)}"
            )
            if self.rng.random() < 0.5 or self.focus[0] == "aggregate ORDER BY"
            else ""
        )

    def filtered(self, type_: str, sight: Sight) -> str:
        """An aggregate of some of the rows."""
        return (
            f"{self.aggregate(type_, sight)} FILTER (WHERE "
            f"{self.value(BOOLEAN, Sight(sight.inside, sight.outer), 'FILTER', 1)})"
        )

    def window(self, type_: str, sight: Sight) -> str:
        """A window function."""
        flat = replace(sight, windows=False)
        of = self.value(type_, flat, "window argument", 1)
        names = (f"lag({of})", f"first_value({of})", f"max({of})", f"last_value({of})")
        if type_ == INTEGER:
            names = (*names, "row_number()", "row_number()", "count(*)", "rank()", f"sum({of})")
        name = self.rng.choice(names)
        if name.startswith(("max", "sum", "count")) and self.rng.random() < 0.15:
            name += f" FILTER (WHERE {self.value(BOOLEAN, flat, 'FILTER', 1)})"
        over = self.rng.choice(("w", "(w)", "")) if self.named_window else ""
        return f"{name} OVER {over or f'({self.window_parts(flat)})'}"

    def window_parts(self, sight: Sight) -> str:
        """What a window is divided and ordered by."""
        parts = []
        if self.rng.random() < 0.5 or self.focus[0] == "PARTITION BY":
            parts.append(
                f"PARTITION BY {self.value(self.free('PARTITION BY'), sight, 'PARTITION BY', 1)}"
            )
        if self.rng.random() < 0.6 or self.focus[0] == "window ORDER BY":
            parts.append(
                f"ORDER BY {self.value(self.free('window ORDER BY'), sight, 'window ORDER BY', 1)}"
            )
            if self.rng.random() < 0.2:
                parts.append("ROWS BETWEEN 1 PRECEDING AND CURRENT ROW")
        return " ".join(parts)

    # Small things

    def one_row(self, type_: str, outer: Names) -> str:
        """A subquery that mostly has one row."""
        return self.query([type_], outer, "scalar")

    def constant(self, type_: str) -> str:
        """A constant of a type."""
        if type_ == BOOLEAN:
            return self.rng.choice(("TRUE", "FALSE"))
        return self.rng.choice(self.constants[type_])
