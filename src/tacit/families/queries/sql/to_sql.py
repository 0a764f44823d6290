"""To SQL: a union of conjunctive queries as a statement that the embedded engine runs.

It stands here and not in `engines/sql`, since it goes through a query of this family, part by part.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlglot import exp

from tacit.families.queries.query import (
    NULL,
    Conjunctive,
    Constant,
    Query,
    Relations,
    Term,
    Variable,
)

OPERATORS = {"!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE}


def to_sql(query: Query, relations: Relations, dialect: str = "duckdb") -> str:
    """The query as SQL: DISTINCT where it is a set, UNION ALL of its parts where it is a bag.

    >>> from tacit.families.queries.query import Atom, Relation
    >>> n, w = Variable("n"), Variable("w")
    >>> beds = {"D": Relation("D", ("name", "ward"))}
    >>> to_sql(Query("V", (Conjunctive((w,), (Atom("D", (Constant("ann"), w)),)),)), beds)
    'SELECT DISTINCT a1."ward" AS c1 FROM "D" AS a1 WHERE a1."name" = \\'ann\\''
    """
    parts: list[exp.Query] = [
        _select(part, relations, distinct=not query.bag) for part in query.parts
    ]
    whole = parts[0]
    for part in parts[1:]:
        whole = exp.union(whole, part, distinct=not query.bag)
    return whole.sql(dialect=dialect)


def _select(part: Conjunctive, relations: Relations, *, distinct: bool) -> exp.Select:
    places = _places(part, relations)
    shown = [
        exp.alias_(_shown(term, places), f"c{number}") for number, term in enumerate(part.head, 1)
    ]
    query = exp.select(*(shown or [exp.alias_(exp.Literal.number(1), "c1")]))
    if distinct:
        query = query.distinct()
    for number, atom in enumerate(part.atoms, 1):
        table = exp.to_table(
            exp.to_identifier(atom.relation, quoted=True).sql(), alias=f"a{number}"
        )
        query = query.from_(table) if number == 1 else query.join(table, join_type="cross")
    conditions = list(_conditions(part, relations, places))
    return query.where(*conditions) if conditions else query


def _places(part: Conjunctive, relations: Relations) -> dict[Variable, list[exp.Column]]:
    """The columns where each variable stands."""
    places: dict[Variable, list[exp.Column]] = {}
    for number, atom in enumerate(part.atoms, 1):
        for term, column in zip(atom.terms, relations[atom.relation].columns, strict=True):
            if isinstance(term, Variable):
                places.setdefault(term, []).append(_column(number, column))
    return places


def _conditions(
    part: Conjunctive, relations: Relations, places: dict[Variable, list[exp.Column]]
) -> Iterator[exp.Expr]:
    for number, atom in enumerate(part.atoms, 1):
        for term, column in zip(atom.terms, relations[atom.relation].columns, strict=True):
            if term == NULL:
                yield exp.Is(this=_column(number, column), expression=exp.null())
            elif isinstance(term, Constant):
                yield exp.EQ(this=_column(number, column), expression=exp.convert(term.value))
    for columns in places.values():
        for other in columns[1:]:
            # A variable that may be NULL stands in one place only,
            # unless NULL itself is what joins.
            yield exp.EQ(this=columns[0].copy(), expression=other)
    for variable in sorted(part.known, key=str):
        if variable in places:
            yield exp.Not(this=exp.Is(this=places[variable][0].copy(), expression=exp.null()))
    for one in part.comparisons:
        yield OPERATORS[one.operator](
            this=_shown(one.left, places), expression=_shown(one.right, places)
        )


def _shown(term: Term, places: dict[Variable, list[exp.Column]]) -> exp.Expr:
    return exp.convert(term.value) if isinstance(term, Constant) else places[term][0].copy()


def _column(number: int, name: str) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table=f"a{number}")
