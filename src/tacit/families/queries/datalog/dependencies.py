"""Dependencies: integrity constraints as they are written, and keys, foreign keys, inclusions and
cardinalities for short.

RP(r, p) -> RS(r, c), SP(c, p)                 c is existential
RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b
true -> R('a') | T('a')        R(x, x) -> false
RP[reviewer] in RS[reviewer]                   an inclusion
RS: reviewer -> subcom                         a functional dependency
each RP.paper has at most 2 RP.reviewer        also: at least, exactly
each SP.paper has at least 2 RP.reviewer by paper
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

from tacit.errors import QueryError, did_you_mean
from tacit.families.queries.datalog.datalog_reader import (
    DatalogRule,
    Parser,
    PlacedAtom,
    PlacedComparison,
    check_atoms,
    condition,
    kinds_in,
    placed_atom,
    shown,
)
from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Constant,
    Relation,
    Relations,
    Term,
    Variable,
)
from tacit.families.queries.sql.bodies import (
    Condition,
    Equal,
    NotNull,
    QueryBody,
    Same,
    constrained,
)
from tacit.families.queries.understanding import QueryText

EXAMPLE = "RP(r, p) -> RS(r, c), SP(c, p)"
COLUMNS = r"([\w.]+)\s*\[([^\]]*)\]"
INCLUSION = re.compile(rf"\s*{COLUMNS}\s*(?:in|⊆)\s*{COLUMNS}\s*")
FUNCTIONAL = re.compile(r"\s*([\w.]+)\s*:\s*([^()>]+?)\s*->\s*([^()>]+?)\s*")
CARDINALITY = re.compile(
    r"\s*each\s+(\w+)\.(\w+)\s+has\s+(at\s+most|at\s+least|exactly)\s+(\d+)\s+(\w+)\.(\w+)(?:\s+by\s+(\w+))?\s*"
)
MOST_COUNTED = 50
Side = tuple[tuple[PlacedAtom, ...], tuple[PlacedComparison, ...]]


def read_constraint(
    text: str, relations: Relations, *, file: str = "constraint"
) -> tuple[Dependency, ...]:
    """The dependencies that a constraint stands for:
    one, or several where the left side is a disjunction.

    >>> relations = {"R": Relation("R", ("a", "b")), "T": Relation("T", ("a",))}
    >>> for one in read_constraint("R(x, y) -> T(x) | y = 'b'", relations):
    ...     print(one)
    R(x, y) -> T(x) | y = 'b'
    >>> for one in read_constraint("R: a -> b", relations):
    ...     print(one)
    R(a, b), R(a, b') -> b = b'
    """
    where = QueryText(text, file)
    for pattern, read in (
        (INCLUSION, _inclusion),
        (FUNCTIONAL, _functional),
        (CARDINALITY, _cardinality),
    ):
        if found := pattern.fullmatch(text):
            return tuple(read(found, where, relations))
    return tuple(_written(where, relations))


def is_constraint(text: str) -> bool:
    """Is a text a constraint, and not a query?

    >>> (
    ...     is_constraint("R(x) -> T(x)"),
    ...     is_constraint("R[a] in T[a]"),
    ...     is_constraint("V(x) :- R(x)"),
    ...     is_constraint("SELECT a FROM r"),
    ... )
    (True, True, False, False)
    """
    return any(pattern.fullmatch(text) for pattern in (INCLUSION, FUNCTIONAL, CARDINALITY)) or (
        "->" in text and ":-" not in text
    )


# -- as written ------------------------------------------------------------------------------------


def _written(text: QueryText, relations: Relations) -> Iterator[Dependency]:
    parser = Parser(text)
    bodies = _side(parser)
    parser.skip_lines()
    parser.take("->", f"-> between what is given and what follows, e.g. {EXAMPLE}")
    heads = _side(parser)
    parser.skip_lines()
    if parser.here.kind != "end":
        raise parser.wrong(
            "a comma, | for an alternative, or nothing: each constraint is an entry of its own"
        )
    for body in bodies:
        if body is not None:
            yield from _dependency(
                text, body, [head for head in heads if head is not None], relations
            )


def _side(parser: Parser) -> list[Side | None]:
    """The alternatives of one side; None stands for `false`."""
    found: list[Side | None] = []
    while True:
        parser.skip_lines()
        if parser.here.text == "false" and parser.here.kind == "word":
            parser.at += 1
            found.append(None)
        else:
            found.append(parser.literals())
        if not parser.goes_on("|"):
            return found


def _dependency(
    text: QueryText, body: Side, heads: Sequence[Side], relations: Relations
) -> Iterator[Dependency]:
    for head in heads or [((), ())]:
        check_atoms([*body[0], *head[0]], text, relations)
    _check_body(text, body)
    bound = {placed.term for atom in body[0] for placed in atom.terms}
    for head in heads:
        _check_head(text, head, bound)
    left = _body_of(text, body, heads, relations)
    if left is None:
        return  # nothing satisfies the body
    dependency, moved = left
    found = [_alternative(text, body, head, dependency, moved, relations) for head in heads]
    alternatives = tuple(one for one in found if one is not None)
    yield Dependency(
        text.text.strip(), dependency.atoms, dependency.comparisons, alternatives, dependency.known
    )


def _check_body(text: QueryText, body: Side) -> None:
    """Every variable of the left side stands in a subgoal, or equals something that does."""
    bound = _bound({placed.term for atom in body[0] for placed in atom.terms}, body[1])
    for one in body[1]:
        for placed in (one.left, one.right):
            if isinstance(placed.term, Variable) and placed.term not in bound:
                raise _unsafe(text, placed.start, placed.term, "left")


def _check_head(text: QueryText, head: Side, body: set[Term]) -> None:
    bound = _bound(body | {placed.term for atom in head[0] for placed in atom.terms}, ())
    for one in head[1]:
        for placed in (one.left, one.right):
            if isinstance(placed.term, Variable) and placed.term not in bound:
                raise _unsafe(text, placed.start, placed.term, "right")


def _unsafe(text: QueryText, start: int, term: Variable, side: str) -> QueryError:
    name = shown(term)
    return QueryError(
        f"{name} is compared on the {side} of -> and stands in no table there.",
        code="unsafe",
        hint=f"Use it in a subgoal such as R({name}), or quote it: '{name}'.",
        mark=text.mark(start),
    )


def _bound(terms: set[Term], comparisons: Sequence[PlacedComparison]) -> set[Term]:
    bound = set(terms)
    for _ in comparisons:
        for one in comparisons:
            sides = (one.left.term, one.right.term)
            if one.operator == "=" and any(
                isinstance(side, Constant) or side in bound for side in sides
            ):
                bound.update(sides)
    return bound


def _body_of(
    text: QueryText, body: Side, heads: Sequence[Side], relations: Relations
) -> tuple[QueryBody, dict[Variable, Term]] | None:
    """The left side, and what = on it made of its variables."""
    kinds = _kinds([body], relations)
    atoms = tuple(placed_atom(atom, text, relations) for atom in body[0])
    times: dict[Variable, int] = {}
    on_the_right = {placed.term for head in heads for atom in head[0] for placed in atom.terms}
    for atom in atoms:
        for term in atom.terms:
            if isinstance(term, Variable):
                times[term] = times.get(term, 0) + 1
    # NULL joins with nothing, so a constraint says nothing of rows that miss a value it joins by.
    joins: list[Condition] = [
        NotNull(one) for one, count in times.items() if count > 1 or one in on_the_right
    ]
    conditions = [condition(one, kinds, text) for one in body[1]]
    named = tuple(dict.fromkeys([*times, *_compared(body[1])]))
    found = constrained(QueryBody(named, atoms), [*joins, *conditions], relations)[0]
    if found is None:
        return None
    moved = {old: new for old, new in zip(named, found.head, strict=True) if old != new}
    return found, moved  # type: ignore[return-value]


def _alternative(
    text: QueryText,
    body: Side,
    head: Side,
    dependency: QueryBody,
    moved: Mapping[Variable, Term],
    relations: Relations,
) -> Alternative | None:
    """One alternative of the right side, or None where nothing can satisfy it."""
    kinds = _kinds([body, head], relations)
    atoms = tuple(placed_atom(atom, text, relations) for atom in head[0])
    conditions = [_identity(condition(one, kinds, text)) for one in head[1]]
    universal = tuple(dependency.bound())
    start = QueryBody(universal, atoms).put(moved)
    # Existential variables are named first, so that an equation replaces them by what the body has.
    mine = {
        term for atom in start.atoms for term in atom.terms if isinstance(term, Variable)
    } - set(universal)
    ordered = [_existential_last(one, moved, mine) for one in conditions]
    found = constrained(start, ordered, relations)[0]
    if found is None:
        return None
    equalities = tuple(
        (old, new) for old, new in zip(universal, found.head, strict=True) if old != new
    )
    return Alternative(found.atoms, equalities, found.comparisons)  # type: ignore[arg-type]


def _identity(found: Condition) -> Condition:
    """= on the right is an identity: also NULL and NULL are the same."""
    return Same(found.left, found.right) if isinstance(found, Equal) else found


def _existential_last(
    one: Condition, moved: Mapping[Variable, Term], mine: set[Variable]
) -> Condition:
    """Follow what the body made of its variables, and write an existential variable on the right
    of an equation.
    """

    def put(term: Term) -> Term:
        return moved.get(term, term) if isinstance(term, Variable) else term

    if isinstance(one, Comparison):
        return Comparison(put(one.left), one.operator, put(one.right))
    assert isinstance(one, Same)
    left, right = put(one.left), put(one.right)
    return Same(right, left) if left in mine else Same(left, right)


def _kinds(sides: Sequence[Side], relations: Relations) -> dict[Variable, str]:
    atoms = tuple(atom for side in sides for atom in side[0])
    return kinds_in(
        DatalogRule(PlacedAtom("", (), 0), atoms, tuple(one for side in sides for one in side[1])),
        relations,
    )


def _compared(comparisons: Sequence[PlacedComparison]) -> list[Variable]:
    terms = [placed.term for one in comparisons for placed in (one.left, one.right)]
    return [term for term in terms if isinstance(term, Variable)]


# -- for short -------------------------------------------------------------------------------------


def keys_of(relations: Relations) -> tuple[Dependency, ...]:
    """What the keys of the tables say: rows that agree on a key are one row."""
    return tuple(
        _determines(
            relation,
            key,
            [name for name in relation.columns if name not in key],
            f"key {', '.join(key)} of {relation.name}",
        )
        for relation in relations.values()
        for key in (*relation.keys, *relation.uniques)
        if set(key) != set(relation.columns)
    )


def inclusion(
    name: str,
    columns: Sequence[str],
    other: str,
    others: Sequence[str],
    relations: Relations,
    text: str = "",
) -> Dependency:
    """Every row of a table has a row in another one with the same values in some columns.

    >>> relations = {"RP": Relation("RP", ("r", "p")), "RS": Relation("RS", ("r", "c"))}
    >>> print(inclusion("RP", ["r"], "RS", ["r"], relations))
    RP(r, p) -> RS(r, c')
    """
    body = row(relations[name])
    shared = dict(zip(others, columns, strict=True))
    values = {column: body[shared[column]] for column in others}
    head = row(relations[other], "'") | values
    known = frozenset(values.values())
    return Dependency(
        text or f"{name}[{', '.join(columns)}] in {other}[{', '.join(others)}]",
        (Atom(name, tuple(body.values())),),
        (),
        (Alternative((Atom(other, tuple(head.values())),)),),
        known,
    )


def row(relation: Relation, mark: str = "") -> dict[str, Variable]:
    """A variable for each column, named after it."""
    return {column: Variable(column + mark) for column in relation.columns}


def _determines(
    relation: Relation, given: Sequence[str], fixed: Sequence[str], text: str
) -> Dependency:
    one, two = row(relation), row(relation, "'")
    two |= {column: one[column] for column in given}
    equal = tuple((one[column], two[column]) for column in fixed)
    atoms = (Atom(relation.name, tuple(one.values())), Atom(relation.name, tuple(two.values())))
    return Dependency(
        text, atoms, (), (Alternative((), equal),), frozenset(one[column] for column in given)
    )


def _inclusion(found: re.Match[str], text: QueryText, relations: Relations) -> Iterator[Dependency]:
    name, columns, other, others = found.groups()
    here = _columns(name, columns, text, relations)
    there = _columns(other, others, text, relations)
    if len(here) != len(there):
        raise QueryError(
            f"{len(here)} columns of {name} stand beside {len(there)} of {other}.",
            code="arity",
            hint="Name as many on both sides.",
            mark=text.mark(found.start(2)),
        )
    yield inclusion(name, here, other, there, relations, text.text.strip())


def _functional(
    found: re.Match[str], text: QueryText, relations: Relations
) -> Iterator[Dependency]:
    name, given, fixed = found.groups()
    yield _determines(
        _relation(name, text, relations),
        _columns(name, given, text, relations),
        _columns(name, fixed, text, relations),
        text.text.strip(),
    )


def _cardinality(
    found: re.Match[str], text: QueryText, relations: Relations
) -> Iterator[Dependency]:
    name, column, how, number, other, counted, by = found.groups()
    one, two = _relation(name, text, relations), _relation(other, text, relations)
    [column], [counted] = (
        _columns(name, column, text, relations),
        _columns(other, counted, text, relations),
    )
    by = by or column
    if by not in two.columns:
        raise QueryError(
            f"{other} has no column {by!r} to find the rows of a {name}.{column} by.",
            code="unknown-column",
            hint=f"Add by and the column: ... {other}.{counted} by {two.columns[0]}",
            mark=text.mark(found.start(5)),
        )
    if by == counted:
        raise QueryError(
            f"{other}.{counted} is counted by itself.",
            code="syntax",
            hint="Count another column.",
            mark=text.mark(found.start(6)),
        )
    if len(number) > 2 or int(number) > MOST_COUNTED:
        raise QueryError(
            f"up to {MOST_COUNTED} are counted, and here are {number}.",
            code="limit",
            hint="Use a smaller number, or leave the constraint out.",
            mark=text.mark(found.start(4)),
        )
    most, words = int(number), text.text.strip()
    if "least" in how or how == "exactly":
        yield _at_least(one, column, two, counted, by, most, words)
    if "most" in how or how == "exactly":
        yield _at_most(one, column, two, counted, by, most, words)


def _copies(
    relation: Relation, by: str, shared: Variable, counted: str, number: int
) -> tuple[list[Atom], list[Variable]]:
    """Rows of a relation that agree in one column, with the
    variables of the column that is counted.
    """
    rows = [row(relation, f"'{at}") | {by: shared} for at in range(1, number + 1)]
    return [Atom(relation.name, tuple(one.values())) for one in rows], [
        one[counted] for one in rows
    ]


def _at_least(
    one: Relation, column: str, two: Relation, counted: str, by: str, number: int, text: str
) -> Dependency:
    body = row(one)
    atoms, values = _copies(two, by, body[column], counted, number)
    apart = tuple(Comparison(left, "!=", right) for left, right in combinations(values, 2))
    return Dependency(
        text,
        (Atom(one.name, tuple(body.values())),),
        (),
        (Alternative(tuple(atoms), (), apart),),
        frozenset({body[column]}),
    )


def _at_most(
    one: Relation, column: str, two: Relation, counted: str, by: str, number: int, text: str
) -> Dependency:
    shared = row(one)[column]
    atoms, values = _copies(two, by, shared, counted, number + 1)
    if one.name != two.name or column != by:
        atoms.insert(0, Atom(one.name, tuple(row(one).values())))
    apart = tuple(Comparison(left, "!=", right) for left, right in combinations(values, 2))
    return Dependency(text, tuple(atoms), apart, (), frozenset({shared, *values}))


def _relation(name: str, text: QueryText, relations: Relations) -> Relation:
    if name not in relations:
        raise QueryError(
            f"there is no table {name!r}.",
            code="unknown-table",
            hint=did_you_mean(name, relations),
            mark=text.mark(text.text.find(name)),
        )
    return relations[name]


def _columns(name: str, written: str, text: QueryText, relations: Relations) -> list[str]:
    relation = _relation(name, text, relations)
    found = [one.strip() for one in written.split(",")]
    for column in found:
        if column not in relation.columns:
            raise QueryError(
                f"table {name!r} has no column {column!r}.",
                code="unknown-column",
                hint=did_you_mean(column, relation.columns),
                mark=text.mark(max(text.text.find(column), 0)),
            )
    return found
