"""Background knowledge by brute force: all worlds, all sets of statements, counting.

Written from the definitions (Martin and others, ICDE 2007; Chen, LeFevre and Ramakrishnan, VLDB
2007) before looking for anything faster, and sharing no code with Tacit.

A release is a list of groups, and a group a list of sensitive values, one for each of its people.
The other side knows who is in which group, and which values each group has: a world gives the
values of every group to its people in some order. All worlds are equally likely. (Equal values can
be swapped, so each assignment stands for the same number of orders: assignments are counted once.)

A statement is the set of worlds in which it is true, written as the bits of an integer: two
sentences that are true in the same worlds tell the same. What the definitions leave open is decided
in the docstrings, so that a disagreement with Tacit is a disagreement about a sentence.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Group = Sequence[Any]
Person = tuple[int, int]  # the number of the group, the place in it
Event = int  # the worlds in which something is true, as bits


@dataclass(frozen=True)
class Worlds:
    """All assignments of each group's values to its people, and in
    which of them each atom is true.
    """

    everything: Event
    people: tuple[Person, ...]
    values: tuple[Any, ...]
    atoms: dict[tuple[Person, Any], Event]  # person p has value v; 0 where that is impossible


def worlds(groups: Sequence[Group]) -> Worlds:
    """Every world of a release."""
    orders = [sorted(set(itertools.permutations(group)), key=repr) for group in groups]
    people = tuple((g, i) for g, group in enumerate(groups) for i in range(len(group)))
    values = tuple(sorted({value for group in groups for value in group}, key=repr))
    atoms = {(person, value): 0 for person in people for value in values}
    number = 0
    for number, world in enumerate(itertools.product(*orders), start=1):
        for g, i in people:
            atoms[(g, i), world[g][i]] |= 1 << (number - 1)
    return Worlds((1 << number) - 1, people, values, atoms)


def probability(event: Event, given: Event) -> Fraction:
    """The share of the worlds of `given` in which `event` is true."""
    return Fraction((event & given).bit_count(), given.bit_count())


# -- (c,k)-safety: k implications ---------------------------------------------------------------


def closed(events: Iterable[Event], both: Any) -> set[Event]:
    """All that can be made of one or more events by `both` (and, or)."""
    single = set(events)
    found = set(single)
    while True:
        more = {both(one, two) for one in found for two in single} - found
        if not more:
            return found
        found |= more


def basic_implications(all_worlds: Worlds) -> set[Event]:
    """(one or more atoms, joined by and) -> (one or more atoms, joined by or).

    There is at least one atom on each side: "true -> Ann has flu" would simply be the secret.
    """
    atoms = all_worlds.atoms.values()
    left, right = closed(atoms, int.__and__), closed(atoms, int.__or__)
    return {(all_worlds.everything & ~one) | two for one in left for two in right}


def simple_implications(all_worlds: Worlds) -> set[Event]:
    """One atom -> one atom."""
    atoms = set(all_worlds.atoms.values())
    return {(all_worlds.everything & ~one) | two for one in atoms for two in atoms}


def conjunctions(all_worlds: Worlds, statements: set[Event], k: int) -> set[Event]:
    """What can be known with at most k statements and is true in some world."""
    found = {all_worlds.everything}
    for _ in range(k):
        found |= {one & two for one in found for two in statements}
    return found - {0}


def greatest_belief(all_worlds: Worlds, known: Iterable[Event]) -> Fraction:
    """The greatest belief in any atom that any of these states of knowledge gives."""
    atoms = set(all_worlds.atoms.values())
    return max(probability(atom, given) for given in known for atom in atoms)


def belief_with_basic_implications(groups: Sequence[Group], k: int) -> Fraction:
    """The definition of maximum disclosure, word for word: any k basic implications."""
    every = worlds(groups)
    return greatest_belief(every, conjunctions(every, basic_implications(every), k))


def belief_with_simple_implications(groups: Sequence[Group], k: int) -> Fraction:
    """Any k simple implications."""
    every = worlds(groups)
    return greatest_belief(every, conjunctions(every, simple_implications(every), k))


def belief_with_one_consequent(groups: Sequence[Group], k: int) -> Fraction:
    """k simple implications A_i -> A that all end in the atom A
    whose belief is asked (Theorem 9).
    """
    every = worlds(groups)
    atoms = set(every.atoms.values())
    best = Fraction(0)
    for target in atoms - {0}:
        for chosen in itertools.combinations(atoms - {target}, min(k, len(atoms) - 1)):
            ruled_out = 0
            for atom in chosen:
                ruled_out |= atom & ~target
            best = max(best, probability(target, every.everything & ~ruled_out))
    return best


def belief_in_a_group(groups: Sequence[Group], k: int, number: int) -> Fraction:
    """The same, about the people of one group only."""
    every = worlds(groups)
    atoms = set(every.atoms.values())
    best = Fraction(0)
    for (person, _), target in every.atoms.items():
        if target and person[0] == number:
            for chosen in itertools.combinations(atoms - {target}, min(k, len(atoms) - 1)):
                ruled_out = 0
                for atom in chosen:
                    ruled_out |= atom & ~target
                best = max(best, probability(target, every.everything & ~ruled_out))
    return best


# -- negations only (Machanavajjhala 2008, 3.7) --------------------------------------------------


def belief_with_negations(groups: Sequence[Group], number: int) -> Fraction:
    """At most `number` negated atoms, about anybody."""
    every = worlds(groups)
    negated = {every.everything & ~atom for atom in every.atoms.values()}
    return greatest_belief(every, conjunctions(every, negated, number))


def belief_with_negations_of_the_target(groups: Sequence[Group], number: int) -> Fraction:
    """At most `number` negated atoms, all about the person whose value is asked (Equation 3.10)."""
    every = worlds(groups)
    best = Fraction(0)
    for target in every.people:
        own = {every.everything & ~every.atoms[target, value] for value in every.values}
        for given in conjunctions(every, own, number):
            best = max(best, *(probability(every.atoms[target, v], given) for v in every.values))
    return best


# -- the privacy skyline: l negations, k known people, a family of m ---------------------------


@dataclass(frozen=True)
class Knowledge:
    """What is known besides the release:
    about the target, about others, about who shares with whom.
    """

    target: Person
    value: Any
    not_values: tuple[Any, ...]
    others: tuple[tuple[Person, Any], ...]
    family: tuple[Person, ...]

    def event(self, every: Worlds) -> Event:
        """The worlds in which all of it is true."""
        true = every.everything
        for value in self.not_values:
            true &= ~every.atoms[self.target, value]
        for person, value in self.others:
            true &= every.atoms[person, value]
        for person in self.family:
            true &= (every.everything & ~every.atoms[person, self.value]) | every.atoms[
                self.target, self.value
            ]
        return true


def up_to(things: Sequence[Any], number: int) -> Iterator[tuple[Any, ...]]:
    """All subsets of at most `number` things."""
    for size in range(min(number, len(things)) + 1):
        yield from itertools.combinations(things, size)


def skyline_knowledge(
    every: Worlds,
    l: int,  # noqa: E741
    k: int,
    m: int,
    targets: Sequence[Person] | None = None,
) -> Iterator[Knowledge]:
    """All knowledge of at most (l, k, m) about all targets and values.

    - l values, other than the one asked, that the target does not have;
    - the values of k other people;
    - m other people of whom is known: if they have the value that is asked, the target has it too.

    The target, the known people and the family are different people. (Were somebody both, "Ann has
    flu" and "if Ann has flu, so has Bob" would say outright that Bob has flu.) The three numbers
    are upper limits: who knows less is covered.
    """
    for target in targets if targets is not None else every.people:
        rest = [person for person in every.people if person != target]
        for value in every.values:
            other_values = [one for one in every.values if one != value]
            for not_values in up_to(other_values, l):
                for known in up_to(rest, k):
                    left = [person for person in rest if person not in known]
                    for family in up_to(left, m):
                        for told in itertools.product(every.values, repeat=len(known)):
                            others = tuple(zip(known, told, strict=True))
                            yield Knowledge(target, value, not_values, others, family)


def skyline_belief(
    groups: Sequence[Group],
    l: int,  # noqa: E741
    k: int,
    m: int,
    number: int | None = None,
) -> Fraction:
    """The greatest belief that any knowledge of (l, k, m) gives, in
    anybody or in people of one group.
    """
    every = worlds(groups)
    targets = [one for one in every.people if number is None or one[0] == number]
    best = Fraction(0)
    for knowledge in skyline_knowledge(every, l, k, m, targets):
        given = knowledge.event(every)
        if given:
            best = max(best, probability(every.atoms[knowledge.target, knowledge.value], given))
    return best


# -- larger groups: worlds are not listed but counted, knowledge is still tried in every way ----


def counted(group: Group) -> dict[Any, int]:
    """How many people of a group have each value."""
    return {value: list(group).count(value) for value in dict.fromkeys(group)}


def ways(counts: dict[Any, int], allowed: Sequence[Any]) -> int:
    """In how many ways people can be given values one by one, each one from their own set."""
    if not allowed:
        return 1
    total = 0
    for value in allowed[0]:
        if counts.get(value, 0):
            fewer = {**counts, value: counts[value] - 1}
            total += counts[value] * ways(fewer, allowed[1:])
    return total


def partitions(number: int, most: int) -> Iterator[tuple[int, ...]]:
    """All ways to write a number as a sum of falling numbers."""
    if not number:
        yield ()
    for first in range(min(number, most), 0, -1):
        for rest in partitions(number - first, first):
            yield (first, *rest)


def splits(number: int, parts: int) -> Iterator[tuple[int, ...]]:
    """All ways to give `number` equal things to some parts."""
    if parts == 1:
        yield (number,)
        return
    for first in range(number + 1):
        for rest in splits(number - first, parts - 1):
            yield (first, *rest)


def implications_by_counting(groups: Sequence[Group], k: int) -> Fraction:
    """One consequent; atoms are spread over groups and people in every
    way, on the most frequent values.

    Within a group that is Lemma 12 of the paper:
    people avoid nested sets of the most frequent values.
    """
    counts = [counted(group) for group in groups]
    ranked = [sorted(one, key=lambda value: -one[value]) for one in counts]

    @functools.cache
    def least(number: int, atoms: int) -> Fraction:
        one, values = counts[number], ranked[number]
        people = sum(one.values())
        found = []
        for sizes in partitions(atoms, len(values)):
            if len(sizes) <= people:
                free = ways(one, [values[size:] for size in sizes])
                found.append(Fraction(free, ways(one, [values] * len(sizes))))
        return min(found, default=Fraction(0))  # more atoms than there are: one of them is true

    best = Fraction(0)
    for target in range(len(groups)):
        share = Fraction(counts[target][ranked[target][0]], sum(counts[target].values()))
        for split in splits(k, len(groups)):
            against = Fraction(1)
            for number, atoms in enumerate(split):
                against *= least(number, atoms + (number == target))
            best = max(best, share / (share + against))
    return best


def skyline_by_counting(
    groups: Sequence[Group],
    l: int,  # noqa: E741
    k: int,
    m: int,
) -> Fraction:
    """The skyline with known values and family members spread over the groups in every way."""
    counts = [counted(group) for group in groups]
    best = Fraction(0)
    for target, own in enumerate(counts):
        for value in own:
            for not_values in up_to([one for one in own if one != value], l):
                for removed in removals(counts, k):
                    for split in (
                        one for size in range(m + 1) for one in splits(size, len(groups))
                    ):
                        yes = no = 1
                        for number, one in enumerate(counts):
                            left = {v: n - removed[number].count(v) for v, n in one.items()}
                            first = number == target
                            if sum(left.values()) < split[number] + first:
                                yes = no = 0
                                break
                            rest = [v for v in left if v != value]
                            free = [v for v in rest if v not in not_values]
                            yes *= ways(left, [[value]] * first + [list(left)] * split[number])
                            no *= ways(left, [free] * first + [rest] * split[number])
                        if yes:
                            best = max(best, Fraction(yes, yes + no))
    return best


def removals(counts: Sequence[dict[Any, int]], k: int) -> Iterator[list[tuple[Any, ...]]]:
    """All ways to know the values of at most k people: for each group the values that they have."""
    for size in range(k + 1):
        for split in splits(size, len(counts)):
            choices = [
                [
                    chosen
                    for chosen in itertools.combinations_with_replacement(list(one), number)
                    if all(chosen.count(value) <= one[value] for value in chosen)
                ]
                for one, number in zip(counts, split, strict=True)
            ]
            yield from (list(one) for one in itertools.product(*choices))


# -- what a release becomes ---------------------------------------------------------------------


def mergers(groups: Sequence[Group]) -> Iterator[list[Group]]:
    """All releases in which two groups have become one."""
    for one, two in itertools.combinations(range(len(groups)), 2):
        rest = [group for number, group in enumerate(groups) if number not in (one, two)]
        yield [[*groups[one], *groups[two]], *rest]
