"""Truth: conditions of SQL in three values, as the cases in which they are true, false or unknown.

A formula is taken apart into cases: conjunctions of plain conditions, subqueries that must have a
row, and subqueries on which the outcome depends in a way that no conjunction says (NOT EXISTS,
...). Cases are disjoint where rows are counted, and may overlap, which is shorter, where they are
not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from tacit.families.queries.query import NULL, Comparison, Constant, Operator, Term
from tacit.families.queries.sql.bodies import Condition, Equal, Missing, NotNull, Same, Slot

if TYPE_CHECKING:
    from tacit.families.queries.sql.result_rows import ResultRows

Value = Literal["T", "F", "U"]
Values = frozenset[Value]
TRUE: Values = frozenset("T")  # type: ignore[arg-type]
FALSE: Values = frozenset("F")  # type: ignore[arg-type]
UNKNOWN: Values = frozenset("U")  # type: ignore[arg-type]
ALL: Values = TRUE | FALSE | UNKNOWN
MOST_CASES = 128


class TooManyCases(Exception):
    """The condition falls apart into more cases than anyone could look at."""


@dataclass(frozen=True, slots=True)
class Dependence:
    """Rows of a subquery that may matter: those that satisfy some conditions on its columns."""

    rows: ResultRows
    slots: tuple[Slot, ...]
    conditions: tuple[Condition, ...] = ()


@dataclass(frozen=True, slots=True)
class TruthCase:
    """One way for a formula to come out.

    `needed` subqueries must have a row, `depends` may decide it, and
    `exact` says that nothing else does.
    """

    conditions: tuple[Condition, ...] = ()
    needed: tuple[Dependence, ...] = ()
    depends: tuple[Dependence, ...] = ()
    exact: bool = True

    def __and__(self, other: TruthCase) -> TruthCase:
        return TruthCase(
            tuple(dict.fromkeys(self.conditions + other.conditions)),
            self.needed + other.needed,
            tuple(dict.fromkeys(self.depends + other.depends)),
            self.exact and other.exact,
        )


Cases = tuple[TruthCase, ...]
ALWAYS: Cases = (TruthCase(),)


@dataclass(frozen=True, slots=True)
class Constantly:
    """TRUE, FALSE or NULL."""

    value: Value


@dataclass(frozen=True, slots=True)
class Compare:
    """=, !=, < or <= of two terms: unknown where one of them is NULL."""

    left: Term
    operator: Literal["=", "!=", "<", "<="]
    right: Term


@dataclass(frozen=True, slots=True)
class IsNull:
    """IS NULL: never unknown."""

    term: Term


@dataclass(frozen=True, slots=True)
class IsSame:
    """IS NOT DISTINCT FROM: never unknown."""

    left: Term
    right: Term


@dataclass(frozen=True, slots=True)
class Among:
    """IN a list of constants other than NULL."""

    term: Term
    values: tuple[Constant, ...]


@dataclass(frozen=True, slots=True)
class Not:
    """NOT."""

    part: Formula


@dataclass(frozen=True, slots=True)
class Both:
    """AND."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Either:
    """OR."""

    left: Formula
    right: Formula


@dataclass(frozen=True, slots=True)
class Is:
    """IS TRUE, IS NOT FALSE, ...: the part comes out as one of these values."""

    part: Formula
    values: Values


@dataclass(frozen=True, slots=True)
class Exists:
    """EXISTS."""

    rows: ResultRows
    slots: tuple[Slot, ...]


@dataclass(frozen=True, slots=True)
class InRows:
    """IN a subquery; `terms` None where the comparison is left to the engine.

    `nulls_meet`: whether NULL in one row value meets NULL in another is the engine's own affair.
    """

    terms: tuple[Term, ...] | None
    rows: ResultRows
    slots: tuple[Slot, ...]
    nulls_meet: bool = False


@dataclass(frozen=True, slots=True)
class Unread:
    """A condition that only the engine can evaluate; it may look into subqueries."""

    depends: tuple[Dependence, ...] = ()


Formula = (
    Constantly
    | Compare
    | IsNull
    | IsSame
    | Among
    | Not
    | Both
    | Either
    | Is
    | Exists
    | InRows
    | Unread
)


def both(left: Formula, right: Formula) -> Formula:
    """AND, without what is always true."""
    return (
        right
        if left == Constantly("T")
        else left
        if right == Constantly("T")
        else Both(left, right)
    )


def cases(formula: Formula, values: Values = TRUE, *, disjoint: bool = False) -> Cases:
    """The cases in which a formula comes out as one of some values.

    >>> x, y = Slot("x"), Constant(1)
    >>> [case.conditions for case in cases(Not(Compare(x, "=", y)))]
    [(Comparison(left=Slot(name='x'), operator='!=', right=Constant(value=1)),)]
    >>> len(cases(Compare(x, "=", y), FALSE | UNKNOWN))
    2
    """
    if values == ALL:
        return ALWAYS
    if not values:
        return ()
    found = _RULES[type(formula)](formula, values, disjoint)
    if len(found) > MOST_CASES:
        raise TooManyCases
    return tuple(dict.fromkeys(found))


def _constantly(formula: Constantly, values: Values, disjoint: bool) -> Cases:
    return ALWAYS if formula.value in values else ()


def _case(*conditions: Condition) -> Cases:
    return (TruthCase(conditions),)


def _nulls(terms: tuple[Term, ...]) -> Cases:
    """One of the terms is NULL, in disjoint cases."""
    found: Cases = ()
    for at, term in enumerate(terms):
        if not isinstance(term, Constant) or term == NULL:
            found += _case(
                Missing(term),
                *(NotNull(one) for one in terms[:at] if not isinstance(one, Constant)),
            )
    return found


def _compare(formula: Compare, values: Values, disjoint: bool) -> Cases:
    left, right = formula.left, formula.right
    if NULL in (left, right):
        return ALWAYS if "U" in values else ()
    found: Cases = ()
    if {"T", "F"} <= values:
        found = _case(*(NotNull(term) for term in (left, right) if not isinstance(term, Constant)))
    elif "T" in values:
        found = _case(_plain(left, formula.operator, right))
    elif "F" in values:
        found = _case(_opposite(left, formula.operator, right))
    return found + (_nulls((left, right)) if "U" in values else ())


def _plain(left: Term, operator: str, right: Term) -> Condition:
    if operator == "=":
        return Equal(left, right)
    known: Operator = operator  # type: ignore[assignment]
    return Comparison(left, known, right)


def _opposite(left: Term, operator: str, right: Term) -> Condition:
    if operator == "=":
        return Comparison(left, "!=", right)
    if operator == "!=":
        return Equal(left, right)
    return Comparison(right, "<=" if operator == "<" else "<", left)


def _is_null(formula: IsNull, values: Values, disjoint: bool) -> Cases:
    found = _case(Missing(formula.term)) if "T" in values else ()
    return found + (_case(NotNull(formula.term)) if "F" in values else ())


def _is_same(formula: IsSame, values: Values, disjoint: bool) -> Cases:
    left, right = formula.left, formula.right
    found = _case(Same(left, right)) if "T" in values else ()
    if "F" in values:
        found += _case(Comparison(left, "!=", right)) if NULL not in (left, right) else ()
        found += _case(Missing(left), NotNull(right)) + _case(NotNull(left), Missing(right))
    return found


def _among(formula: Among, values: Values, disjoint: bool) -> Cases:
    found: Cases = ()
    if {"T", "F"} <= values:
        found = _case(NotNull(formula.term))
    elif "T" in values:
        found = tuple(TruthCase((Equal(formula.term, value),)) for value in formula.values)
    elif "F" in values:
        found = _case(*(Comparison(formula.term, "!=", value) for value in formula.values))
    return found + (_nulls((formula.term,)) if "U" in values else ())


def _swapped(values: Values) -> Values:
    turn: dict[Value, Value] = {"T": "F", "F": "T", "U": "U"}
    return frozenset(turn[value] for value in values)


def _not(formula: Not, values: Values, disjoint: bool) -> Cases:
    return cases(formula.part, _swapped(values), disjoint=disjoint)


def _either(formula: Either, values: Values, disjoint: bool) -> Cases:
    # a OR b is NOT (NOT a AND NOT b), in three values too.
    return _both(Both(Not(formula.left), Not(formula.right)), _swapped(values), disjoint)


def _both(formula: Both, values: Values, disjoint: bool) -> Cases:
    left, right = formula.left, formula.right

    def all_of(first: Values, second: Values) -> Cases:
        found = cases(left, first, disjoint=disjoint)
        if len(found) > MOST_CASES:
            raise TooManyCases
        others = cases(right, second, disjoint=disjoint) if found else ()
        if len(found) * len(others) > 4 * MOST_CASES:
            raise TooManyCases
        return tuple(one & other for one in found for other in others)

    if values == TRUE:
        return all_of(TRUE, TRUE)
    if values == TRUE | UNKNOWN:
        return all_of(values, values)
    if not disjoint:
        return _some_false(formula, values)
    if values == FALSE:
        return all_of(FALSE, ALL) + all_of(TRUE | UNKNOWN, FALSE)
    if values == FALSE | UNKNOWN:
        return all_of(FALSE | UNKNOWN, ALL) + all_of(TRUE, FALSE | UNKNOWN)
    if values == UNKNOWN:
        return all_of(UNKNOWN, TRUE | UNKNOWN) + all_of(TRUE, UNKNOWN)
    return all_of(FALSE, ALL) + all_of(TRUE, TRUE | FALSE) + all_of(UNKNOWN, FALSE)


def _some_false(formula: Both, values: Values) -> Cases:
    """AND in cases that may overlap."""
    left, right = formula.left, formula.right
    found: Cases = ()
    if "F" in values:
        found += cases(left, values & (FALSE | UNKNOWN)) + cases(right, values & (FALSE | UNKNOWN))
        values = values - FALSE - (UNKNOWN if "U" in values else frozenset())
    if "U" in values:
        for first, second in ((UNKNOWN, TRUE | UNKNOWN), (TRUE | UNKNOWN, UNKNOWN)):
            found += tuple(
                one & other for one in cases(left, first) for other in cases(right, second)
            )
    if "T" in values:
        found += tuple(one & other for one in cases(left, TRUE) for other in cases(right, TRUE))
    return found


def _is(formula: Is, values: Values, disjoint: bool) -> Cases:
    wanted: Values = frozenset()
    wanted |= formula.values if "T" in values else frozenset()
    wanted |= ALL - formula.values if "F" in values else frozenset()
    return cases(formula.part, wanted, disjoint=disjoint)


def _exists(formula: Exists, values: Values, disjoint: bool) -> Cases:
    if {"T", "F"} <= values:
        return ALWAYS
    rows = Dependence(formula.rows, formula.slots)
    if "T" in values:
        return (TruthCase(needed=(rows,)),)
    return (TruthCase(depends=(rows,), exact=False),) if "F" in values else ()


def _in_rows(formula: InRows, values: Values, disjoint: bool) -> Cases:
    terms, rows, slots = formula.terms, formula.rows, formula.slots
    if terms is None:
        if values == TRUE:  # a row must be there, whichever it is
            return (TruthCase(needed=(Dependence(rows, slots),), exact=False),)
        return (TruthCase(depends=(Dependence(rows, slots),), exact=False),)
    equal: tuple[Condition, ...] = tuple(
        Equal(column, term) for column, term in zip(slots, terms, strict=True)
    )
    if formula.nulls_meet:
        equal = tuple(Same(column, term) for column, term in zip(slots, terms, strict=True))
    if values == TRUE:
        return (TruthCase(needed=(Dependence(rows, slots, equal),), exact=not formula.nulls_meet),)
    if len(terms) > 1:
        return (TruthCase(depends=(Dependence(rows, slots),), exact=False),)
    # x NOT IN rows: it matters whether x is there, whether NULL is, and
    # for a missing x whether anything is.
    found = (equal, (Missing(slots[0]),), (Missing(terms[0]),))
    return (TruthCase(depends=tuple(Dependence(rows, slots, one) for one in found), exact=False),)


def _unread(formula: Unread, values: Values, disjoint: bool) -> Cases:
    return (TruthCase(depends=formula.depends, exact=False),)


_RULES: dict[type, Callable[..., Cases]] = {
    Constantly: _constantly,
    Compare: _compare,
    IsNull: _is_null,
    IsSame: _is_same,
    Among: _among,
    Not: _not,
    Both: _both,
    Either: _either,
    Is: _is,
    Exists: _exists,
    InRows: _in_rows,
    Unread: _unread,
}


def dependences(formula: Formula) -> tuple[Dependence, ...]:
    """Every subquery that a formula looks into, with no condition."""
    if isinstance(formula, Not | Is):
        return dependences(formula.part)
    if isinstance(formula, Both | Either):
        return dependences(formula.left) + dependences(formula.right)
    if isinstance(formula, Exists | InRows):
        return (Dependence(formula.rows, formula.slots),)
    return formula.depends if isinstance(formula, Unread) else ()
