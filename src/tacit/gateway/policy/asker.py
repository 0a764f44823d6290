"""Asker: who asks, and the values that `$user`, `$user.id` and `$now` have for them.

Views, secrets and queries are the same for all users but for these values. Two users whose values
compare alike, among each other and with every constant that is written somewhere, are told the same
but for their values: what was read and decided for one holds for the other (genericity: Chandra
and Harel 1980). `pattern` says how values compare.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from fractions import Fraction
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from tacit.errors import QueryError
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.kinds import BOOLEANS, NUMBER, day, moment, number
from tacit.families.queries.query import Atom, Comparison, Conjunctive, Constant, Query, Term
from tacit.families.queries.understanding import QueryUnderstanding

PIECES = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\$(user(?:\.\w+)?|now)\b")
OPERATORS = r"(?:=|!=|<>|<=|>=|<|>)"
COMPARES = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE)
WHOLE = re.compile(r"-?[0-9]{1,18}")
NOW = "now"


@dataclass(frozen=True, slots=True)
class Asker:
    """A user with a name and attributes, at a moment."""

    name: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    now: datetime = field(default_factory=lambda: datetime.now(UTC).replace(tzinfo=None))

    def values(self, names: Iterable[str]) -> dict[str, str]:
        """The values of some parameters; a QueryError for an attribute that the user has not.

        >>> Asker("ann", {"id": "7"}).values(["user", "user.id"])
        {'user': 'ann', 'user.id': '7'}
        """
        known = {
            "user": self.name,
            NOW: self.now.isoformat(" "),
            **{f"user.{key}": value for key, value in self.attributes.items()},
        }
        for name in names:
            if name not in known:
                attribute = name.removeprefix("user.")
                raise QueryError(
                    f"what this role may ask depends on ${name}, and you have no attribute "
                    f"{attribute!r}.",
                    code="attribute",
                    hint=f"Ask the owner: tacit user add NAME --attribute {attribute}=...",
                )
        return {name: known[name] for name in names}


def parameters_of(text: str) -> tuple[str, ...]:
    """The parameters of a view or secret that speak of whoever asks, each once.

    >>> parameters_of("SELECT * FROM t WHERE a = $user.id AND b < $now AND c = '$user'")
    ('user.id', 'now')
    """
    return tuple(dict.fromkeys(name for found in PIECES.finditer(text) if (name := found.group(1))))


def bound(text: str, values: Mapping[str, str], numbers: Collection[str] = ()) -> str:
    """The text with values in the place of its parameters: in quotes, but for whole numbers of
    `numbers`.

    >>> bound("SELECT * FROM t WHERE a = $user.id", {"user.id": "o'7"})
    "SELECT * FROM t WHERE a = 'o''7'"
    """

    def put(found: re.Match[str]) -> str:
        name = found.group(1)
        if name is None:
            return found.group()
        if name in numbers and WHOLE.fullmatch(values[name]):
            return values[name]
        return "'" + values[name].replace("'", "''") + "'"

    return PIECES.sub(put, text)


def bound_to_nothing(text: str) -> str:
    """SQL with NULL in the place of its parameters: it has the same columns.

    >>> bound_to_nothing("SELECT * FROM t WHERE a = $user.id")
    'SELECT * FROM t WHERE a = NULL'
    """
    return PIECES.sub(lambda found: "NULL" if found.group(1) else found.group(), text)


def check_places(text: str, dialect: str) -> None:
    """Refuse parameters that are not compared with a column: what a function or a pattern makes
    of a value says more than how it compares.
    """
    names = parameters_of(text)
    marks = {f"${name}$": name for name in names}
    if is_datalog(text):
        misplaced = re.search(
            rf"(?:'[^']*'|\b\d+)\s*{OPERATORS}\s*\$(user[\w.]*|now)\b"
            rf"|\$(user[\w.]*|now)\s*{OPERATORS}\s*(?:['$]|\d)",
            text,
        )
        if misplaced is not None:
            raise _misplaced(misplaced[1] or misplaced[2])
        return
    try:
        tree = sqlglot.parse_one(bound(text, {name: f"${name}$" for name in names}), read=dialect)
    except SqlglotError:
        return  # the reader says what is wrong
    for node in tree.find_all(exp.Literal):
        if node.is_string and node.this in marks and not _beside_column(node):
            raise _misplaced(marks[node.this])


def _beside_column(node: exp.Expr) -> bool:
    above = node.parent
    if isinstance(above, COMPARES):
        other = above.expression if above.this is node else above.this
        return isinstance(other, exp.Column)
    return isinstance(above, exp.In | exp.Between) and isinstance(above.this, exp.Column)


def _misplaced(name: str) -> QueryError:
    return QueryError(
        f"${name} can only be compared with a column.",
        code="parameter",
        hint=f"Write e.g. WHERE owner = ${name}.",
    )


# -- how values compare ----------------------------------------------------------------------------


def readings_of(value: str) -> dict[str, Any]:
    """What a written value can be, beside columns of each type.

    >>> readings_of("7")["number"], sorted(readings_of("ann"))
    (Fraction(7, 1), ['text'])
    """
    found: dict[str, Any] = {"text": value}
    if NUMBER.fullmatch(value.strip()):
        found["number"] = Fraction(value.strip())
    if (at := moment(value)) is not None:
        found["moment"] = at
    if value.strip().lower() in BOOLEANS:
        found["boolean"] = value
    return found


@dataclass(frozen=True, slots=True)
class Landmarks:
    """Constants that are written somewhere, in order, by type."""

    sorted: Mapping[str, Sequence[Any]]
    ordered: bool = False  # are texts compared by < somewhere, or may they be?

    def pattern(self, values: Sequence[str], *, ordered: bool = False) -> tuple[Any, ...]:
        """How values compare with the constants and among each other; what is also a number or a
        moment is compared as text for equality alone, unless texts are `ordered`.

        >>> marks = landmarks(["5"])
        >>> marks.pattern(["7", "9"]) == marks.pattern(["8", "20"])
        True
        >>> marks.pattern(["7", "9"]) == marks.pattern(["9", "7"])
        False
        """
        read = [readings_of(value) for value in values]
        found: list[Any] = []
        for kind in ("text", "number", "moment", "boolean"):
            mine = sorted({one[kind] for one in read if kind in one})
            marks = self.sorted.get(kind, ())
            if kind == "text" and not (ordered or self.ordered):
                mine = list(dict.fromkeys(one[kind] for one in read))
                found.append(
                    [(mine.index(value), value if value in marks else None) for value in values]
                )
                continue
            found.append(
                [
                    (mine.index(one[kind]), _place(one[kind], marks, kind)) if kind in one else None
                    for one in read
                ]
            )
        # '7' and '007' are one number and two texts; '1.0' and '1' are written differently.
        found.append(
            [
                ("." in value or "e" in value.lower(), day(value) is not None, len(value) > 18)
                for value in values
            ]
        )
        return tuple(map(tuple, found))


def _place(value: Any, marks: Sequence[Any], kind: str) -> Any:
    return value if kind == "boolean" else (bisect_left(marks, value), bisect_right(marks, value))


def landmarks(values: Iterable[str], *, ordered: bool = False) -> Landmarks:
    """Constants in order."""
    found: dict[str, set[Any]] = {}
    for value in values:
        for kind, one in readings_of(value).items():
            found.setdefault(kind, set()).add(one)
    return Landmarks({kind: sorted(some) for kind, some in found.items()}, ordered)


def literals(text: str, dialect: str) -> list[str]:
    """Every constant that is written in a text."""
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError:
        return []
    kinds = (TokenType.STRING, TokenType.NUMBER)
    return [one.text for one in tokens if one.token_type in kinds]


def orders_texts(tree: exp.Expr) -> bool:
    """May < compare texts somewhere? Beside a moment it does not."""
    return any(
        not any(
            isinstance(side, exp.Literal) and moment(str(side.this)) is not None
            for side in (one.this, *(one.args.get(key) for key in ("expression", "low")))
        )
        for one in tree.find_all(exp.LT, exp.LTE, exp.GT, exp.GTE, exp.Between)
    )


def rebound(
    reading: QueryUnderstanding, old: Sequence[str], new: Sequence[str]
) -> QueryUnderstanding:
    """A reading with other values, which compare as the old ones do."""
    values: dict[Constant, Constant] = {}
    for before, after in zip(old, new, strict=True):
        values.update(zip(_constants(before), _constants(after), strict=True))

    def query(one: Query) -> Query:
        return Query(one.name, tuple(_put(part, values) for part in one.parts), one.bag)

    return replace(
        reading,
        supports=tuple(map(query, reading.supports)),
        exact=query(reading.exact) if reading.exact is not None else None,
        as_set=query(reading.as_set) if reading.as_set is not None else None,
    )


def _constants(value: str) -> list[Constant]:
    """A written value as each constant that it can be read as."""
    found: list[Constant] = [Constant(value)]
    if NUMBER.fullmatch(value.strip()):
        found.append(Constant(number(value.strip())))
    if (at := moment(value)) is not None:
        found.append(Constant(at))
        if (date := day(value)) is not None:
            found.append(Constant(date))
    return found


def _put(part: Conjunctive, values: Mapping[Constant, Constant]) -> Conjunctive:
    def put(term: Term) -> Term:
        return values.get(term, term) if isinstance(term, Constant) else term

    return Conjunctive(
        tuple(map(put, part.head)),
        tuple(Atom(atom.relation, tuple(map(put, atom.terms))) for atom in part.atoms),
        tuple(Comparison(put(one.left), one.operator, put(one.right)) for one in part.comparisons),
        part.known,
    )
