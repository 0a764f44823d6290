"""Prepare: a query made ready for questions: in numbers, chased, and cut down to its core.

Parts that are empty on every database go, and so do parts that another part contains. Under bag
semantics every way to find a row counts, so nothing is cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tacit.families.queries.logic.chase import Keys
from tacit.families.queries.logic.core import Mapped, core, embedding
from tacit.families.queries.logic.numbered_queries import NumberedBody, TermNumbering
from tacit.families.queries.logic.term_constraints import QuerySide
from tacit.families.queries.logic.valuations import ValuationSearch
from tacit.families.queries.query import Query


@dataclass(frozen=True, slots=True)
class Folded:
    """A part as chased, and the homomorphism from `source` (its own core, or another part) that
    shows it repeats.

    `kept` are the atoms, by their origin, that are still asked about.
    """

    whole: NumberedBody
    kept: frozenset[int]
    homomorphism: Mapped
    source: NumberedBody


@dataclass(frozen=True, slots=True)
class PreparedQuery:
    """A query ready for questions: `parts` is what is asked about,
    `raw` the query as it was written.
    """

    query: Query
    raw: tuple[NumberedBody, ...]
    parts: tuple[NumberedBody, ...]
    folded: tuple[Folded, ...]

    # no part, and no atom of one, can be left out: what `core` shows without comparisons and NULLs
    minimal: bool = False

    @property
    def rivals(self) -> tuple[NumberedBody, ...]:
        """The parts that may absorb a tuple: none where every way counts."""
        return () if self.query.bag else self.parts


def prepare(query: Query, numbering: TermNumbering, keys: Keys, parity: int) -> PreparedQuery:
    """Make a query ready: parity 0 for secrets, 1 for views, so that their variables differ."""
    raw = [numbering.body(part, parity) for part in query.parts]
    written = tuple(body for body in raw if body is not None)
    normal = (normalised(body, numbering, keys) for body in written)
    chased = tuple(body for body in normal if body is not None)
    if query.bag:
        return PreparedQuery(query, written, chased, ())
    cores = [(whole, *core(whole, numbering.symbols)) for whole in chased]
    folded: list[Folded] = []
    parts: list[NumberedBody] = []
    containers = _containers([body for _, body, _ in cores], numbering)
    for (whole, body, went), container in zip(cores, containers, strict=True):
        if container is not None:
            other, mapped = container
            folded.append(Folded(whole, frozenset(), mapped, cores[other][1]))
        else:
            parts.append(body)
            if len(body.atoms) < len(whole.atoms):
                folded.append(Folded(whole, frozenset(body.origins), went, whole))
    minimal = not any(body.comparisons or body.maybe for body in parts)
    return PreparedQuery(query, written, tuple(parts), tuple(folded), minimal)


def _containers(
    bodies: Sequence[NumberedBody], numbering: TermNumbering
) -> list[tuple[int, Mapped] | None]:
    """For each part that another one contains, that other one;
    of equivalent parts the first stays.
    """
    found: list[tuple[int, Mapped] | None] = [None] * len(bodies)
    for place, body in enumerate(bodies):
        for other, container in enumerate(bodies):
            if (
                other != place
                and found[other] is None
                and {relation for relation, _ in container.atoms}
                <= {relation for relation, _ in body.atoms}
            ):
                mapped = embedding(container, body, numbering.symbols)
                if mapped is not None:
                    found[place] = other, mapped
                    break
    return found


def normalised(body: NumberedBody, numbering: TermNumbering, keys: Keys) -> NumberedBody | None:
    """The query with all equalities drawn that its keys and comparisons force;
    None where it is empty.
    """
    question = ValuationSearch([QuerySide(body)], keys, numbering.symbols)
    state = question.start()
    if question.solve(state) is None:
        return None
    state = question.start()
    question.propagate(state)
    find = state.classes.find
    if not state.classes.version:
        return body
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    for origin, (relation, terms) in zip(body.origins, body.atoms, strict=True):
        first.setdefault((relation, tuple(map(find, terms))), origin)
    comparisons = dict.fromkeys(
        (find(left), operator, find(right))
        for left, operator, right in body.comparisons
        if not (find(left) == find(right) or (find(left) >= 0 and find(right) >= 0))
    )
    return replace(
        body,
        head=tuple(map(find, body.head)),
        atoms=tuple(first),
        comparisons=tuple(comparisons),
        known=frozenset(term for term in map(find, body.known) if term < 0),
        domains=dict(state.classes.domains),
        maybe=frozenset(state.classes.maybe),
        origins=tuple(first.values()),
    )
