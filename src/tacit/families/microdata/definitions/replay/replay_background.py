"""Replay of verdicts about background knowledge: worlds are counted person by person.

Nothing here is shared with the checkers. For a witness the people it names are given values in
every possible way, and the worlds that fit what is known are counted. For a certificate everything
that may be known is spread over the groups in every possible way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from math import prod
from typing import Any

from tacit.model.verdict import Verdict

Row = Mapping[str, Any]
Counts = Mapping[Any, int]
Label = tuple[tuple[str, Any], ...]
CHECKS = ("c-k-safety", "skyline")


def replay_background(
    verdict: Verdict, rows: Sequence[Row], quasi: Sequence[str], person: Sequence[str] = ()
) -> bool:
    """Does the evidence of a c-k-safety or skyline verdict stand up on the released rows?"""
    if verdict.witness is not None:
        return replay_witness(verdict, rows, person)
    if verdict.certificate is None:
        return True
    column = verdict.certificate.facts["sensitive"][0]
    labels = dict.fromkeys(tuple((name, row[name]) for name in quasi) for row in rows)
    every = [counted(members(rows, label), column, person) for label in labels]
    groups = [counts for counts in every if counts]
    odds = worst_odds(groups, verdict.required)
    return bool(1 / (1 + odds) == verdict.measured["belief"] < verdict.required["c"])


# -- a witness ----------------------------------------------------------------------------------


def replay_witness(verdict: Verdict, rows: Sequence[Row], person: Sequence[str]) -> bool:
    """Count the worlds that fit the knowledge, and those of them in
    which the person has the value.
    """
    assert verdict.witness is not None
    facts, told = verdict.witness.facts, verdict.witness.personal
    group = members(rows, tuple(told["values"].items()))
    counts = counted(group, facts["sensitive"], person)
    return (
        number_of_people(group, person) == facts["size"]
        and counts == dict(told["counts"])
        and is_allowed(told, verdict.required)
        and told["after"] == belief(told, rows, facts["sensitive"], person)
        and told["after"] == verdict.measured["belief"] >= verdict.required["c"]
    )


def is_allowed(told: Mapping[str, Any], required: Mapping[str, Any]) -> bool:
    """Is that no more than may be known, and about different people?"""
    named = [dict(told["person"]), *(one["person"] for one in told["others"])]
    names = [tuple(one.items()) for one in named if one]
    known = sum("has" in one for one in told["others"])
    implied = [value for one in told["others"] for value in one.get("if", ())]
    if len(set(names)) < len(names):
        return False
    if "l" not in required:
        return not known and len(told["negated"]) + len(implied) <= required["k"]
    return bool(
        len(told["negated"]) <= required["l"]
        and known <= required["k"]
        and len(implied) <= required["m"]
        and set(implied) <= {told["value"]}
    )


def belief(
    told: Mapping[str, Any], rows: Sequence[Row], column: str, person: Sequence[str]
) -> Fraction:
    """The share of the fitting worlds in which the person has the value."""
    value, home = told["value"], tuple(told["values"].items())
    others = [(tuple(one["values"].items()), one) for one in told["others"]]
    yes, no = [(home, only(value))], [(home, none_of({value, *told["negated"]}))]
    for label, one in others:
        known = only(one["has"]) if "has" in one else None
        yes.append((label, known or none_of(())))
        no.append((label, known or none_of(one["if"])))
    labels = dict.fromkeys(label for label, _ in yes)
    groups = {label: counted(members(rows, label), column, person) for label in labels}
    mentioned = {value, *told["negated"]}
    for _, one in others:
        mentioned |= {one["has"]} if "has" in one else set(one["if"])
    small = {label: lumped(counts, mentioned) for label, counts in groups.items()}
    true, false = (
        prod(ways(small[label], [may for home, may in people if home == label]) for label in labels)
        for people in (yes, no)
    )
    return Fraction(true, true + false)


def only(value: Any) -> Callable[[Any], bool]:
    """Somebody who has one value."""
    return lambda one: one == ("value", value)


def none_of(values: Any) -> Callable[[Any], bool]:
    """Somebody who has none of some values."""
    return lambda one: one not in [("value", value) for value in values]


def lumped(counts: Counts, mentioned: set[Any]) -> dict[Any, int]:
    """Values that nobody speaks of are all alike."""
    found: dict[Any, int] = {}
    for value, number in counts.items():
        name = ("value", value) if value in mentioned else ("rest", None)
        found[name] = found.get(name, 0) + number
    return found


def ways(counts: Counts, people: Sequence[Callable[[Any], bool]]) -> int:
    """In how many ways some people of a group can get its values, one after the other.

    >>> ways({"flu": 2, "cold": 1}, [lambda value: value == "flu", lambda value: True])
    4
    """
    values = list(counts)

    @cache
    def left(numbers: tuple[int, ...], at: int) -> int:
        if at == len(people):
            return 1
        total = 0
        for i, number in enumerate(numbers):
            if number and people[at](values[i]):
                total += number * left((*numbers[:i], number - 1, *numbers[i + 1 :]), at + 1)
        return total

    return left(tuple(counts.values()), 0)


# -- a certificate ------------------------------------------------------------------------------


def worst_odds(groups: Sequence[Counts], required: Mapping[str, Any]) -> Fraction:
    """The least odds against any value of anybody, by whatever may be known."""
    if "l" not in required:
        return least_odds_of_implications(groups, required["k"])
    values = dict.fromkeys(value for counts in groups for value in counts)
    return min(least_odds_of_families(groups, value, required) for value in values)


def least_odds_of_implications(groups: Sequence[Counts], k: int) -> Fraction:
    """k atoms beside the one that is asked, spread over the groups in every way."""

    def avoided(at: int, atoms: int) -> Fraction:
        return min(
            no_atom(sorted(groups[at].values(), reverse=True), sizes)
            for sizes in shares(atoms, atoms)
        )

    def outside(target: int) -> Callable[[int, int], Fraction]:
        @cache
        def least(at: int, atoms: int) -> Fraction:
            if at == len(groups):
                return Fraction(1)
            if at == target:
                return least(at + 1, atoms)
            return min(avoided(at, own) * least(at + 1, atoms - own) for own in range(atoms + 1))

        return least

    avoided = cache(avoided)
    return min(
        avoided(at, own + 1)
        * Fraction(sum(counts.values()), max(counts.values()))
        * outside(at)(0, k - own)
        for at, counts in enumerate(groups)
        for own in range(k + 1)
    )


def shares(atoms: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to give atoms to people, who get fewer and fewer.

    >>> list(shares(3, 3))
    [(3,), (2, 1), (1, 1, 1)]
    """
    if not atoms:
        yield ()
    for size in range(min(atoms, most), 0, -1):
        for rest in shares(atoms - size, size):
            yield (size, *rest)


def no_atom(counts: Sequence[int], sizes: Sequence[int]) -> Fraction:
    """The probability that each person has none of so many of the most frequent values."""
    people, share = sum(counts), Fraction(1)
    for before, size in enumerate(sizes):
        free = people - before - sum(counts[:size])
        if free <= 0:
            return Fraction(0)
        share *= Fraction(free, people - before)
    return share


def least_odds_of_families(
    groups: Sequence[Counts], value: Any, required: Mapping[str, Any]
) -> Fraction:
    """Known people and the family of a value, spread over the groups in every way."""
    most_known, most_family = required["k"], required["m"]

    def outside(target: int) -> Callable[[int, int, int], Fraction]:
        @cache
        def least(at: int, known: int, family: int) -> Fraction:
            if at == len(groups):
                return Fraction(1)
            if at == target or value not in groups[at]:
                return least(at + 1, known, family)
            people, having = sum(groups[at].values()), groups[at][value]
            return min(
                nobody_has(people - k, having, m) * least(at + 1, known - k, family - m)
                for k in range(min(known, people - having) + 1)
                for m in range(family + 1)
            )

        return least

    found: list[Fraction] = []
    for at, counts in enumerate(groups):
        if value in counts:
            people, having = sum(counts.values()), counts[value]
            rest = sorted((n for one, n in counts.items() if one != value), reverse=True)
            left = sum(rest[required["l"] :])
            elsewhere = outside(at)
            found += [
                Fraction(left - k, having)
                * nobody_has(people - 1 - k, having, m)
                * elsewhere(0, most_known - k, most_family - m)
                for k in range(min(most_known, left) + 1)
                for m in range(most_family + 1)
            ]
    return min(found)


def nobody_has(people: int, having: int, number: int) -> Fraction:
    """The probability that none of so many people has a value."""
    share = Fraction(1)
    for before in range(number):
        if people - before - having <= 0:
            return Fraction(0)
        share *= Fraction(people - before - having, people - before)
    return share


# -- rows ---------------------------------------------------------------------------------------


def members(rows: Sequence[Row], label: Label) -> list[Row]:
    """The rows of a group."""
    return [row for row in rows if all(row[name] == value for name, value in label)]


def number_of_people(group: Sequence[Row], person: Sequence[str]) -> int:
    """How many people some rows belong to."""
    return len({tuple(row[name] for name in person) for row in group}) if person else len(group)


def counted(group: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, int]:
    """How many people of a group have each value that is known."""
    known = dict.fromkeys(row[column] for row in group if row[column] is not None)
    return {
        value: number_of_people([row for row in group if row[column] == value], person)
        for value in known
    }
