"""Cases of view safety that must be judged like a given one.

What is known twice, what follows from what is known, other names, another order, and a relation
that nothing is about: the verdicts are the same, and the worlds as many, or a known number of times
as many.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from oracles.safety import Constraint, New, Part, Var, read_query
from oracles.safety_cases import (
    Case,
    changed_case,
    changed_constraint,
    changed_query,
    is_named,
    joined,
    renamed_apart,
    show_query,
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A case that must be judged like another: the same verdicts, `factor` times as many worlds."""

    name: str
    case: Case
    factor: int = 1


def published_twice(case: Case, rng: random.Random) -> Case:
    """A published view once more, in other variables."""
    if not case.views:
        return case
    again = renamed_apart(read_query(rng.choice(case.views)), "9")
    return replace(case, views=(*case.views, show_query(replace(again, name="Again"))))


def new_twice(case: Case, rng: random.Random) -> Case:
    """All new information twice."""
    return replace(case, new=case.new * 2)


def known_as_new(case: Case, rng: random.Random) -> Case:
    """A published view and a known constraint, published once more with the new information."""
    views: list[New] = [("view", text) for text in case.views[:1]]
    constraints: list[New] = [("constraint", text) for text in case.constraints[:1]]
    return replace(case, new=(*case.new, *views, *constraints))


def derivable(case: Case, rng: random.Random) -> Case:
    """A view that the published ones determine is published too."""
    if not case.views:
        return case
    return replace(case, views=(*case.views, derived_from(case, case.views, rng)))


def derivable_with_new(case: Case, rng: random.Random) -> Case:
    """A view that all views, with the new ones, determine comes with the new information."""
    views = (*case.views, *(text for kind, text in case.new if kind == "view"))
    if not views:
        return case
    return replace(case, new=(*case.new, ("view", derived_from(case, views, rng))))


def derived_from(case: Case, views: tuple[str, ...], rng: random.Random) -> str:
    one = read_query(rng.choice(views))
    width = len(one.rules[0].head)
    kept = rng.sample(range(width), rng.randint(0, width))
    narrow = replace(
        one,
        rules=tuple(replace(rule, head=tuple(rule.head[at] for at in kept)) for rule in one.rules),
    )
    if rng.random() < 0.4:
        narrow = joined(narrow, read_query(rng.choice(views)), rng)
    return show_query(replace(narrow, name="Derived"))


def renamed_values(case: Case, rng: random.Random) -> Case:
    """Other values, one for each: text for text, numbers for numbers."""
    values = {
        value for columns in case.schema.values() for _, listed in columns for value in listed
    }

    def seen(one: Any) -> Any:
        values.update(() if isinstance(one, Var) else (one,))
        return one

    changed_case(
        case, lambda query: changed_query(query, seen), lambda one: changed_constraint(one, seen)
    )
    put: dict[Any, Any] = {}
    for type_ in (str, int):
        old = sorted(value for value in values if isinstance(value, type_))
        fresh = [f"v{number}" if type_ is str else 10 + number for number in range(len(old))]
        put.update(zip(old, rng.sample(fresh, len(fresh)), strict=True))

    def term(one: Any) -> Any:
        return one if isinstance(one, Var) else put[one]

    changed = changed_case(
        case, lambda query: changed_query(query, term), lambda one: changed_constraint(one, term)
    )
    return replace(
        changed,
        schema={
            relation: tuple(
                (name, tuple(put[value] for value in values)) for name, values in columns
            )
            for relation, columns in case.schema.items()
        },
        instance=frozenset(
            (relation, tuple(put[value] for value in row)) for relation, row in case.instance
        ),
    )


def renamed_relations(case: Case, rng: random.Random) -> Case:
    """Other names for relations."""
    fresh = [f"Rel{number}" for number, _ in enumerate(case.schema)]
    names = dict(zip(case.schema, rng.sample(fresh, len(fresh)), strict=True))

    def same(term: Any) -> Any:
        return term

    changed = changed_case(
        case,
        lambda query: changed_query(query, same, names.__getitem__),
        lambda one: changed_constraint(one, same, names.__getitem__),
    )
    return replace(
        changed,
        schema={names[relation]: columns for relation, columns in case.schema.items()},
        instance=frozenset((names[relation], row) for relation, row in case.instance),
    )


def renamed_variables(case: Case, rng: random.Random) -> Case:
    """Other names for variables."""

    def term(one: Any) -> Any:
        return Var(f"q_{one.name[::-1]}") if is_named(one) else one

    return changed_case(
        case, lambda query: changed_query(query, term), lambda one: changed_constraint(one, term)
    )


def reordered(case: Case, rng: random.Random) -> Case:
    """Everything in another order:
    relations, values, constraints, views, rules, atoms, comparisons.
    """

    def mixed(listed: Any) -> Any:
        return tuple(rng.sample(list(listed), len(listed)))

    def part(one: Part) -> Part:
        turned = [one[::-1] if rng.random() < 0.5 else one for one in one.where]
        return Part(mixed(one.atoms), mixed(turned))

    changed = changed_case(
        case,
        lambda query: replace(
            query, rules=mixed([replace(rule, body=part(rule.body)) for rule in query.rules])
        ),
        lambda one: Constraint(
            mixed(tuple(map(part, one.premises))), mixed(tuple(map(part, one.conclusions)))
        ),
    )
    return replace(
        changed,
        schema={
            relation: tuple((name, mixed(values)) for name, values in case.schema[relation])
            for relation in mixed(case.schema)
        },
        constraints=mixed(changed.constraints),
        views=mixed(changed.views),
        new=mixed(changed.new),
    )


SAME = (
    published_twice,
    new_twice,
    known_as_new,
    derivable,
    derivable_with_new,
    renamed_values,
    renamed_relations,
    renamed_variables,
    reordered,
)


def variants(case: Case, number: int = 0) -> Iterator[Variant]:
    """Cases that must be judged like this one. The last two have more worlds."""
    rng = random.Random(f"{case.name}/{number}")
    for change in SAME:
        changed = change(case, rng)
        if changed != case:
            yield Variant(change.__name__, changed)
    more = replace(
        case,
        schema={**case.schema, "Irrelevant": (("only", ("here", "there")),)},
        instance=case.instance | ({("Irrelevant", ("here",))} if rng.random() < 0.5 else set()),
    )
    yield Variant("irrelevant_relation", more, 4)
    yield Variant(
        "irrelevant_view", replace(more, views=(*more.views, "Shown() :- Irrelevant('here')")), 2
    )
