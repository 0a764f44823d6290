"""Core: a query without what it says twice.

A subgoal goes when a homomorphism of the query to itself avoids it; what is left is equivalent on
every database, so it has the same critical tuples. With comparisons and NULLs only homomorphisms
that hold for every value count, so more may stay than is needed, never less.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise

from tacit.families.queries.logic.comparisons import paths
from tacit.families.queries.logic.homomorphism import (
    Compare,
    FactIndex,
    Pattern,
    homomorphism,
    options,
)
from tacit.families.queries.logic.numbered_queries import (
    NUMBERED_NULL,
    NumberedBody,
    NumberedComparison,
    Symbols,
)

Mapped = dict[int, int]  # variable to term


def core(body: NumberedBody, symbols: Symbols) -> tuple[NumberedBody, Mapped]:
    """An equivalent query that is as short as can be shown, and where
    the variables of the first one went.

    >>> body = NumberedBody(
    ...     (-1,), (("R", (-1, -3)), ("R", (-1, 1))), (), frozenset(), {}, frozenset(), (0, 1)
    ... )
    >>> shorter, went = core(body, Symbols())
    >>> shorter.atoms, went[-3]
    ((('R', (-1, 1)),), 1)
    """
    went: Mapped = {variable: variable for variable in body.variables()}
    body = _without_repetition(body)
    if len({relation for relation, _ in body.atoms}) == len(body.atoms):
        return body, went
    body, went = _locally_folded(body, went)
    compare = implied(body, symbols)
    open_ = _movable(body)
    while open_:
        place = open_.pop(0)
        mapped = _avoiding(body, place, compare)
        if mapped is None:
            continue
        kept = _image(body, mapped)
        while len(smaller := _image(body, mapped, kept)) < len(
            kept
        ):  # once more, as long as that helps
            kept, mapped = smaller, {one: mapped.get(two, two) for one, two in mapped.items()}
        went = {variable: mapped.get(term, term) for variable, term in went.items()}
        again = {body.atoms[one] for one in open_}
        body = kept_only(body, kept)
        # what is gone may have been the only other place for many: they need no search of their own
        open_ = [one for one in _movable(body) if body.atoms[one] in again]
    return body, went


def _image(
    body: NumberedBody, mapped: Mapping[int, int], places: Iterable[int] | None = None
) -> list[int]:
    """The atoms to which some atoms (all, if not said) are sent."""
    at = {atom: place for place, atom in enumerate(body.atoms)}
    chosen = body.atoms if places is None else [body.atoms[place] for place in places]
    return sorted(
        {
            at[relation, tuple([mapped.get(term, term) for term in terms])]
            for relation, terms in chosen
        }
    )


def _locally_folded(body: NumberedBody, went: Mapped) -> tuple[NumberedBody, Mapped]:
    """Cut atoms that another one covers when only variables that stand nowhere else are moved.

    The general step finds these too, but each by a search of its own; here an index finds them.
    """
    nulls = body.maybe | {NUMBERED_NULL}
    compared = {term for left, _, right in body.comparisons for term in (left, right)}
    while True:
        uses = Counter(term for _, terms in body.atoms for term in set(terms))
        facts = FactIndex(body.atoms)
        gone: set[int] = set()
        for place, (relation, terms) in enumerate(body.atoms):
            own = {
                term for term in terms if term < 0 and uses[term] == 1 and term not in compared
            } - {*body.head}
            if not own:
                continue
            for other in _candidates(facts, relation, terms, own):
                mapped = _covered(terms, body.atoms[other][1], own)
                if other == place or other in gone or mapped is None:
                    continue
                if any(term in body.known and image in nulls for term, image in mapped.items()):
                    continue
                gone.add(place)
                went = {variable: mapped.get(term, term) for variable, term in went.items()}
                break
        if not gone:
            return body, went
        body = kept_only(body, [place for place in range(len(body.atoms)) if place not in gone])


def _candidates(
    facts: FactIndex, relation: str, terms: tuple[int, ...], own: set[int]
) -> list[int]:
    lists = [
        facts.having(relation, column, term) for column, term in enumerate(terms) if term not in own
    ]
    return min(lists, key=len) if lists else facts.by_relation[relation]


def _covered(terms: tuple[int, ...], others: tuple[int, ...], own: set[int]) -> Mapped | None:
    """Where an atom's own variables go when it is sent to another one, or None if it cannot be."""
    mapped: Mapped = {}
    for term, other in zip(terms, others, strict=True):
        if (mapped.setdefault(term, other) if term in own else term) != other:
            return None
    return mapped


def embedding(source: NumberedBody, target: NumberedBody, symbols: Symbols) -> Mapped | None:
    """A homomorphism between two queries with heads that agree:
    then the target is contained in the source.

    >>> wide = NumberedBody((), (("R", (-1,)),), (), frozenset(), {}, frozenset(), (0,))
    >>> narrow = NumberedBody((), (("R", (7,)),), (), frozenset(), {}, frozenset(), (0,))
    >>> embedding(wide, narrow, Symbols()), embedding(narrow, wide, Symbols())
    ({-1: 7}, None)
    """
    return _homomorphism(
        source, target, list(target.atoms), implied(target, symbols, source.constants())
    )


def implied(body: NumberedBody, symbols: Symbols, more: Iterable[int] = ()) -> Compare:
    """Does a comparison of two terms follow from the query's own?
    `more` are constants asked about.
    """
    unequal = {(left, right) for left, operator, right in body.comparisons if operator == "!="}
    unequal |= {(right, left) for left, right in unequal}
    edges = {
        (left, right, operator == "<")
        for left, operator, right in body.comparisons
        if operator != "!="
    }
    constants = (
        sorted((body.constants() | {*more}) - {NUMBERED_NULL}, key=symbols.key) if edges else []
    )
    reached = paths(edges | {(low, high, True) for low, high in pairwise(constants)})

    def follows(operator: str, left: int, right: int) -> bool:
        if left >= 0 and right >= 0:
            if NUMBERED_NULL in (left, right):
                return False
            if operator == "!=":
                return left != right
            return symbols.key(left) < symbols.key(right) or (left == right and operator == "<=")
        if left == right:
            return operator == "<="
        smaller, larger = reached.get(left, {}).get(right), reached.get(right, {}).get(left)
        if operator == "!=":
            return (left, right) in unequal or bool(smaller) or bool(larger)
        if operator == "<":
            return bool(smaller) or (smaller is not None and (left, right) in unequal)
        return smaller is not None

    return follows


def kept_only(body: NumberedBody, places: list[int]) -> NumberedBody:
    """The query with some of its atoms, and with what the others said of the variables that stay.

    An atom that goes may have been the reason why a variable is not NULL, and a variable that goes
    may have stood between two others in the order: both are kept.
    """
    atoms = tuple(body.atoms[place] for place in places)
    left = {term for _, terms in atoms for term in terms if term < 0}
    return replace(
        body,
        atoms=atoms,
        comparisons=_comparisons_among(body, left),
        origins=tuple(body.origins[place] for place in places),
        domains={variable: domain for variable, domain in body.domains.items() if variable in left},
        maybe=body.maybe & left,
        known=frozenset(left - body.maybe) if body.maybe else body.known & left,
    )


def _comparisons_among(body: NumberedBody, left: set[int]) -> tuple[NumberedComparison, ...]:
    """The comparisons between terms that stay, with those that follow through terms that go."""
    stays = [
        all(term >= 0 or term in left for term in (one[0], one[2])) for one in body.comparisons
    ]
    kept = [one for one, stay in zip(body.comparisons, stays, strict=True) if stay]
    if not all(stays):
        edges = [
            (one, two, operator == "<")
            for one, operator, two in body.comparisons
            if operator != "!="
        ]
        for one, found in paths(edges).items():
            for two, strict in found.items():
                if (one in left or two in left) and all(
                    term >= 0 or term in left for term in (one, two)
                ):
                    kept.append((one, "<" if strict else "<=", two))
    return tuple(dict.fromkeys(kept))


def _without_repetition(body: NumberedBody) -> NumberedBody:
    first: dict[tuple[str, tuple[int, ...]], int] = {}
    for place, atom in enumerate(body.atoms):
        first.setdefault(atom, place)
    return body if len(first) == len(body.atoms) else kept_only(body, list(first.values()))


def _movable(body: NumberedBody) -> list[int]:
    """The atoms that propagation does not hold in place: only they can be avoided."""
    fixed = {term: term for term in body.head if term < 0}
    possible = options(_pattern(body, body), FactIndex(body.atoms), fixed)
    return [place for place, found in enumerate(possible) if found != {place}]


def _pattern(source: NumberedBody, target: NumberedBody) -> Pattern:
    return Pattern(source.atoms, source.comparisons, source.known, target.maybe | {NUMBERED_NULL})


def _avoiding(body: NumberedBody, place: int, compare: Compare) -> Mapped | None:
    """A homomorphism of the query to itself that does not use one atom."""
    rest = [*body.atoms[:place], *body.atoms[place + 1 :]]
    return _homomorphism(body, body, rest, compare)


def _homomorphism(
    source: NumberedBody,
    target: NumberedBody,
    facts: list[tuple[str, tuple[int, ...]]],
    compare: Compare,
) -> Mapped | None:
    fixed: Mapped = {}
    for term, wanted in zip(source.head, target.head, strict=True):
        if (term if term >= 0 else fixed.setdefault(term, wanted)) != wanted:
            return None
    images = homomorphism(_pattern(source, target), FactIndex(facts), fixed, compare=compare)
    return None if images is None else _read(source, facts, images, fixed)


def _read(
    source: NumberedBody,
    facts: list[tuple[str, tuple[int, ...]]],
    images: list[int],
    fixed: Mapping[int, int],
) -> Mapped:
    mapped = dict(fixed)
    for (_, terms), image in zip(source.atoms, images, strict=True):
        mapped.update(
            (term, value) for term, value in zip(terms, facts[image][1], strict=True) if term < 0
        )
    return mapped
