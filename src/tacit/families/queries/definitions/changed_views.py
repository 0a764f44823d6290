"""The text of a view after a change that was proposed:
read back, and judged again before it is shown to anybody.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from tacit.errors import TacitError
from tacit.families.queries.definitions.perfect_changes import with_a_condition, without_a_column
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.logic.critical import Private
from tacit.families.queries.query import Query, Relations
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.sql.to_sql import to_sql
from tacit.families.queries.understanding import QueryUnderstanding

SECONDS = 2  # to judge a changed view


@dataclass(frozen=True, slots=True)
class ChangedView:
    """A change in words, and the query of the view with it."""

    words: str
    view: str
    text: str


def changed_views(
    definition: PerfectPrivacy, question: QueryQuestion, view: str, words: Sequence[str]
) -> list[ChangedView]:
    """The views that some proposals stand for, in the order of the proposals.

    Only those of which the text itself, read like any other, is judged to disclose nothing. With
    independent attributes there are none, because what is judged then is not the query as it is
    written.
    """
    reading = next((one for one in question.views if one.name == view), None)
    if reading is None or reading.exact is None or definition.model != "tuple-independent":
        return []
    found = {}
    for said, columns, query in _candidates(definition, question, reading):
        if said in words and said not in found:
            text = _text(query, columns, reading, question)
            if _holds(definition, question, reading, text):
                found[said] = ChangedView(said, view, text)
    return [found[said] for said in words if said in found]


def _candidates(
    definition: PerfectPrivacy, question: QueryQuestion, reading: QueryUnderstanding
) -> Iterator[tuple[str, tuple[str, ...], Query]]:
    """Every change that can be proposed, with the columns and the query that it leads to."""
    assert reading.exact is not None
    view = (
        reading.exact
        if definition.semantics is None
        else replace(reading.exact, bag=definition.semantics == "bag")
    )
    for place, (said, query) in enumerate(without_a_column(view, reading.columns)):
        yield said, (*reading.columns[:place], *reading.columns[place + 1 :]), query
    for secret in (
        [question.secret.exact] if question.secret.exact else question.secret.supports[:1]
    ):
        for said, query in with_a_condition(secret, view, question.relations):
            yield said, reading.columns, query


def _text(
    query: Query, columns: Sequence[str], reading: QueryUnderstanding, question: QueryQuestion
) -> str:
    if reading.language == "datalog":
        return str(query)
    return named_sql(query, columns, question.relations, question.dialect)


def named_sql(query: Query, columns: Sequence[str], relations: Relations, dialect: str) -> str:
    """A query as SQL over several lines, with columns of given names.

    >>> from tacit.families.queries.query import (
    ...     Atom,
    ...     Comparison,
    ...     Conjunctive,
    ...     Constant,
    ...     Relation,
    ...     Variable,
    ... )
    >>> n, w = Variable("n"), Variable("w")
    >>> part = Conjunctive((w,), (Atom("D", (n, w)),), (Comparison(n, "!=", Constant("ann")),))
    >>> print(
    ...     named_sql(
    ...         Query("V", (part,)), ["ward"], {"D": Relation("D", ("name", "ward"))}, "duckdb"
    ...     )
    ... )
    SELECT DISTINCT
      a1."ward" AS "ward"
    FROM "D" AS a1
    WHERE
      a1."name" <> 'ann'
    """
    from tacit.engines.sql.shapes_named import with_outputs

    return with_outputs(to_sql(query, relations, dialect), columns, dialect)


def _holds(
    definition: PerfectPrivacy, question: QueryQuestion, reading: QueryUnderstanding, text: str
) -> bool:
    """Is the whole question answered with holds, with this text in the place of the view's?"""
    try:
        changed = read(text, question.relations, name=reading.name, dialect=question.dialect)
    except TacitError:
        return False
    views = tuple(changed if one.name == reading.name else one for one in question.views)
    ruling = replace(definition, seconds=SECONDS).decide(replace(question, views=views))
    return changed.is_exact and isinstance(ruling.found, Private)
