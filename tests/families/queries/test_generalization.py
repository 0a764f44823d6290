"""What several bodies have in common is there wherever one of them is: by brute force."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

import pytest

from tacit.families.queries.logic.generalization import common_body
from tacit.families.queries.query import (
    NULL,
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Term,
    Variable,
)
from thorough import THOROUGH

WIDTHS = {"R": 2, "S": 1}
VALUES = (1, 2, None)
Database = dict[str, set[tuple[int | None, ...]]]


def heads(body: Conjunctive, database: Database) -> Iterator[tuple[object, ...]]:
    """The rows of a body, by trying all values of all variables."""
    names = list(body.variables())
    for values in itertools.product(VALUES, repeat=len(names)):
        put = dict(zip(names, values, strict=True))

        def value(term: Term, put: dict[Variable, int | None] = put) -> object:
            return put[term] if isinstance(term, Variable) else term.value

        rows = ((atom.relation, tuple(map(value, atom.terms))) for atom in body.atoms)
        if (
            all(put[one] is not None for one in body.known)
            and all(row in database[name] for name, row in rows)
            and all(
                None not in (value(one.left), value(one.right))
                and value(one.left) != value(one.right)
                for one in body.comparisons
            )
        ):
            yield tuple(map(value, body.head))


def random_body(rng: random.Random) -> Conjunctive:
    variables = [Variable(name) for name in "xyz"]
    terms: list[Term] = [*variables, Constant(1), Constant(2), NULL]
    atoms = tuple(
        Atom(name, tuple(rng.choice(terms) for _ in range(WIDTHS[name])))
        for name in rng.choices(["R", "S"], k=rng.randint(1, 3))
    )
    there = [term for atom in atoms for term in atom.terms]
    compared = tuple(
        Comparison(rng.choice(there), "!=", Constant(rng.choice([1, 2])))
        for _ in range(rng.choice([0, 0, 1]))
    )
    known = frozenset(
        term for term in there if isinstance(term, Variable) and rng.random() < 0.4
    ) | {one.left for one in compared if isinstance(one.left, Variable)}
    return Conjunctive((rng.choice(there),), atoms, compared, known)


@pytest.mark.slow
def test_what_bodies_have_in_common_is_there_wherever_one_of_them_is() -> None:
    rng = random.Random(5)
    pairs = list(itertools.product(VALUES, repeat=2))
    found = said = 0
    for _ in range(400 * THOROUGH):
        bodies = [random_body(rng) for _ in range(rng.choice([2, 2, 3]))]
        if rng.random() < 0.5:  # as the parts of one condition are
            bodies = [bodies[0], *(with_another_term(bodies[0], rng) for _ in bodies[1:])]
        common = common_body(bodies)
        said += bool(common.atoms)
        for _ in range(12):
            database: Database = {
                "R": set(rng.sample(pairs, rng.randint(1, 5))),
                "S": {(one,) for one in rng.sample(VALUES, rng.randint(1, 2))},
            }
            there = set(heads(common, database))
            for body in bodies:
                shown = set(heads(body, database))
                found += len(shown)
                assert shown <= there, (list(map(str, bodies)), str(common), database)
    assert said > 200 * THOROUGH and found > 2_000 * THOROUGH


def with_another_term(body: Conjunctive, rng: random.Random) -> Conjunctive:
    """The body where a term of it is another constant."""
    terms = [term for atom in body.atoms for term in atom.terms if isinstance(term, Variable)]
    if not terms:
        return body
    return body.substituted({rng.choice(terms): Constant(rng.choice([1, 2]))})
