"""Homomorphisms: every way of looking finds one exactly when there is one."""

from __future__ import annotations

import itertools
import random
from collections.abc import Mapping, Sequence

import pytest

from tacit.families.queries.logic import acyclic
from tacit.families.queries.logic.acyclic import (
    TermTable,
    join_tree,
    reduced,
    solve,
    tree_decomposition,
)
from tacit.families.queries.logic.homomorphism import (
    FactIndex,
    Pattern,
    homomorphism,
    options,
)
from tacit.families.queries.logic.numbered_queries import NumberedAtom
from tacit.model.deadline import OutOfTime, until


def less(operator: str, left: int, right: int) -> bool:
    return {"!=": left != right, "<": left < right, "<=": left <= right}[operator] and 0 not in (
        left,
        right,
    )


def all_homomorphisms(
    pattern: Pattern, facts: Sequence[NumberedAtom], fixed: Mapping[int, int]
) -> list[tuple[int, ...]]:
    """Every choice of facts, tried one by one."""
    found = []
    for images in itertools.product(range(len(facts)), repeat=len(pattern.atoms)):
        values = dict(fixed)
        if all(
            relation == facts[image][0] and fits(terms, facts[image][1], values)
            for (relation, terms), image in zip(pattern.atoms, images, strict=True)
        ):
            known = all(
                value not in pattern.nulls or term not in pattern.known
                for term, value in values.items()
            )
            if known and all(
                less(op, values.get(a, a), values.get(b, b)) for a, op, b in pattern.comparisons
            ):
                found.append(images)
    return found


def fits(terms: Sequence[int], row: Sequence[int], values: dict[int, int]) -> bool:
    return all(
        (term if term >= 0 else values.setdefault(term, value)) == value
        for term, value in zip(terms, row, strict=True)
    )


def random_task(rng: random.Random) -> tuple[Pattern, list[NumberedAtom], dict[int, int]]:
    variables = [-1, -2, -3, -4]
    facts = list({("R", (rng.randrange(4), rng.randrange(4))) for _ in range(rng.randrange(1, 7))})
    facts += [
        ("T", (rng.randrange(3), rng.randrange(3), rng.randrange(3)))
        for _ in range(rng.randrange(2))
    ]

    def term() -> int:
        return rng.choice(variables) if rng.random() < 0.85 else rng.randrange(4)

    atoms = [
        ("T", (term(), term(), term())) if rng.random() < 0.2 else ("R", (term(), term()))
        for _ in range(rng.randrange(1, 5))
    ]
    used = sorted({term for _, terms in atoms for term in terms if term < 0})
    comparisons = []
    if used and rng.random() < 0.5:
        comparisons.append(
            (rng.choice(used), rng.choice(["!=", "<", "<="]), rng.choice([*used, 2]))
        )
    known = frozenset(variable for variable in used if rng.random() < 0.3)
    fixed = {rng.choice(used): rng.randrange(4)} if used and rng.random() < 0.4 else {}
    return Pattern(atoms, comparisons, known), sorted(facts), fixed


@pytest.mark.parametrize("way", ["search", "structure", "bags", "propagation"])
def test_a_homomorphism_is_found_exactly_when_there_is_one(
    way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if way != "search":
        monkeypatch.setattr("tacit.families.queries.logic.homomorphism._Descent.run", spent)
    if way == "propagation":
        monkeypatch.setattr(acyclic, "WIDTH", 0)
    if way in ("bags", "propagation"):
        monkeypatch.setattr(acyclic, "semijoin", acyclic.semijoin)
        monkeypatch.setattr(acyclic, "join_tree", only_bags if way == "bags" else no_tree)
    rng = random.Random(2)
    seen = {True: 0, False: 0}
    for _ in range(500):
        pattern, facts, fixed = random_task(rng)
        images = homomorphism(pattern, FactIndex(facts), fixed, compare=less)
        expected = all_homomorphisms(pattern, facts, fixed)
        assert (tuple(images) in expected) if images is not None else not expected, (
            pattern,
            facts,
            fixed,
        )
        seen[images is not None] += 1
    assert min(seen.values()) > 50


def spent(descent: object) -> None:
    from tacit.families.queries.logic import homomorphism as module

    raise module._BudgetSpent


def no_tree(scopes: Sequence[Sequence[int]]) -> None:
    return None


def only_bags(scopes: Sequence[Sequence[int]]) -> list[tuple[int, int]] | None:
    """No tree for the tables themselves (lists of tuples of the
    pattern), one for bags of a decomposition.
    """
    bags = {frozenset(bag) for bag in tree_decomposition(scopes)}
    return join_tree(scopes) if {frozenset(scope) for scope in scopes} <= bags else None


def test_options_hold_every_homomorphism() -> None:
    rng = random.Random(3)
    for _ in range(300):
        pattern, facts, fixed = random_task(rng)
        possible = options(pattern, FactIndex(facts), fixed)
        for images in all_homomorphisms(pattern, facts, fixed):
            assert all(image in found for image, found in zip(images, possible, strict=True))


def test_a_clock_stops_a_hard_search() -> None:
    """A clique of 9 has no place among pairs of different numbers below 9."""
    atoms = [("R", (-1 - one, -1 - two)) for one, two in itertools.combinations(range(9), 2)]
    facts = [("R", pair) for pair in itertools.permutations(range(8), 2)]
    with pytest.raises(OutOfTime), until(0.05):
        homomorphism(Pattern(atoms), FactIndex(facts), {})


# -- shapes ----------------------------------------------------------------------------------------


def test_join_trees_keep_shared_variables_together() -> None:
    rng = random.Random(1)
    found = 0
    for _ in range(400):
        scopes = [
            tuple(sorted(rng.sample(range(5), rng.choice([1, 2, 3]))))
            for _ in range(rng.randrange(1, 5))
        ]
        tree = join_tree(scopes)
        if tree is None:
            continue
        found += 1
        later = [number for number, _ in tree]
        for place, (number, parent) in enumerate(tree):
            rest = {variable for other in later[place + 1 :] for variable in scopes[other]}
            shared = set(scopes[number]) & rest
            assert shared <= (set(scopes[parent]) if parent >= 0 else set())
    assert found > 100


def test_acyclic_joins_are_reduced_to_what_is_in_the_join() -> None:
    rng = random.Random(4)
    for _ in range(200):
        scopes = [(1, 2), (2, 3), (2, 4)][: rng.randrange(1, 4)]
        tables = [
            TermTable(
                scope, dict.fromkeys({(rng.randrange(3), rng.randrange(3)) for _ in range(3)}, 0)
            )
            for scope in scopes
        ]
        for place, left in enumerate(reduced(tables)):
            joined = set()
            for rows in itertools.product(*(table.rows for table in tables)):
                values: dict[int, int] = {}
                if all(
                    fits([-variable for variable in scope], row, values)
                    for scope, row in zip(scopes, rows, strict=True)
                ):
                    joined.add(rows[place])
            assert set(left.rows) == joined


def test_a_tree_decomposition_covers_every_scope_and_is_a_tree() -> None:
    rng = random.Random(5)
    for _ in range(100):
        scopes = [tuple(rng.sample(range(7), 2)) for _ in range(rng.randrange(1, 10))]
        bags = tree_decomposition(scopes)
        assert all(any(set(scope) <= bag for bag in bags) for scope in scopes)
        assert join_tree([tuple(bag) for bag in bags]) is not None


def test_solve_looks_at_compared_variables() -> None:
    tables = [TermTable((1,), {(1,): 0, (2,): 1}), TermTable((2,), {(1,): 0, (2,): 1})]
    assert solve(tables, [(1, 2)], lambda number, left, right: left > right) == [1, 0]
    assert solve(tables, [(1, 2)], lambda number, left, right: left > right + 1) is None
