"""Overlapping views of one table by brute force: all tables that fit, as the definitions have them.

Written from Zhang and others (gamma-privacy) and Yao, Wang, Wang and Jajodia (SIND and RSIND), with
the corrections of the errata, and sharing no code with Tacit. Everybody knows the public row of
every person; nobody but the owner knows the private value, which is one of a finite domain.

- A view selects people, perhaps by their private value too, and shows some columns of each:
  a multiset of rows.
- A table (an instance) gives every person a value.
  It fits when every view has the answer that was published.
- gamma-privacy: no (person, value) stands in more than gamma of the tables that fit (Definition 2).
- SIND: two people can swap their values in every table that fits (Definition 1); k-SIND: every set
  of the partition has at least k people (Definition 2). RSIND: they can swap the values of a set
  (Definition 3).
- Restoration: the fewest further views, with their true answers, under which gamma-privacy holds.

A person is a key with a public row. Tables are dicts from keys to values.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Key = Any  # what names a person
Value = Any
Public = Mapping[str, Any]  # a person's public row
People = Mapping[Key, Public]
Table = dict[Key, Value]
Shown = tuple[Any, ...]  # a row of a view
Answer = Counter[Shown]
Outputs = Sequence[
    Sequence[Sequence[Shown | None]]
]  # by person, value and view; None: not selected


@dataclass(frozen=True)
class View:
    """SELECT shows [, private] WHERE selects; `shows_private` puts the private value last."""

    name: str
    selects: Callable[[Public, Value], bool]
    shows: tuple[str, ...] = ()
    shows_private: bool = True

    def puts(self, row: Public, value: Value) -> Shown | None:
        """What a person puts into the view with this value; None where it does not select them.

        >>> View("v", lambda row, value: row["age"] > 30, ("zip",)).puts(
        ...     {"age": 31, "zip": "94305"}, "flu"
        ... )
        ('94305', 'flu')
        """
        if not self.selects(row, value):
            return None
        return (*(row[column] for column in self.shows), *((value,) if self.shows_private else ()))


def by_members(name: str, members: Iterable[Key], key: str = "key", **more: Any) -> View:
    """The view of these people, whatever their values."""
    chosen = frozenset(members)
    return View(name, lambda row, value: row[key] in chosen, **more)


def only_keys(keys: Iterable[Key]) -> dict[Key, dict[str, Any]]:
    """People of whom nothing but the key is known."""
    return {key: {"key": key} for key in keys}


def answer(people: People, table: Mapping[Key, Value], view: View) -> Answer:
    """The multiset of rows of a view on a table."""
    rows = (view.puts(people[key], value) for key, value in table.items())
    return Counter(row for row in rows if row is not None)


def answers(people: People, table: Mapping[Key, Value], views: Sequence[View]) -> list[Answer]:
    return [answer(people, table, view) for view in views]


# -- the tables that fit --------------------------------------------------------------------------


def instances(
    people: People,
    domain: Sequence[Value],
    views: Sequence[View],
    given: Sequence[Mapping[Shown, int]],
) -> list[Table]:
    """Definition 1 of gamma-privacy (PIS), and the set I^v of SIND:
    all tables that give every view its answer.
    """
    keys = list(people)
    outputs = [
        [[view.puts(people[key], value) for view in views] for value in domain] for key in keys
    ]
    return [
        {key: domain[place] for key, place in zip(keys, places, strict=True)}
        for places in fitting(outputs, given)
    ]


def instances_slowly(
    people: People,
    domain: Sequence[Value],
    views: Sequence[View],
    given: Sequence[Mapping[Shown, int]],
) -> list[Table]:
    """The same to the letter: every assignment is tried."""
    tables = (
        dict(zip(people, values, strict=True))
        for values in itertools.product(domain, repeat=len(people))
    )
    wanted = [+Counter(one) for one in given]
    return [table for table in tables if answers(people, table, views) == wanted]


def fitting(outputs: Outputs, given: Sequence[Mapping[Shown, int]]) -> list[tuple[int, ...]]:
    """All choices of a value for every person, by its place, that together
    put the given rows into every view.

    People are taken one after the other; a choice that puts a row too
    many into a view is given up at once.
    """
    left = [dict(one) for one in given]
    found: list[tuple[int, ...]] = []
    chosen: list[int] = []

    def go_on(person: int) -> None:
        if person == len(outputs):
            if not any(count for rows in left for count in rows.values()):
                found.append(tuple(chosen))
            return
        for place, rows in enumerate(outputs[person]):
            put = [(view, row) for view, row in enumerate(rows) if row is not None]
            if all(left[view].get(row, 0) > 0 for view, row in put):
                for view, row in put:
                    left[view][row] -= 1
                chosen.append(place)
                go_on(person + 1)
                chosen.pop()
                for view, row in put:
                    left[view][row] += 1

    go_on(0)
    return found


# -- gamma-privacy --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Beliefs:
    """The tables that fit, and in which share of them a person has a value;
    values in none are left out.
    """

    count: int
    posteriors: dict[Key, dict[Value, Fraction]]

    @property
    def largest(self) -> Fraction | None:
        """The least gamma under which it is gamma-private;
        None where no table fits or nobody is in a view.
        """
        return max(
            (share for shares in self.posteriors.values() for share in shares.values()),
            default=None,
        )

    def above(self, gamma: Fraction) -> dict[Key, dict[Value, Fraction]]:
        """The beliefs that are too strong."""
        strong = {
            key: {value: share for value, share in shares.items() if share > gamma}
            for key, shares in self.posteriors.items()
        }
        return {key: shares for key, shares in strong.items() if shares}

    def private(self, gamma: Fraction) -> bool:
        """Definition 2: every share is at most gamma."""
        if self.count == 0:
            raise ValueError("no table fits")
        return not self.above(gamma)


def published(views: Sequence[View], given: Sequence[Mapping[Shown, int]]) -> tuple[Value, ...]:
    """The values that stand in the private column of an answer."""
    values = {
        row[-1]
        for view, rows in zip(views, given, strict=True)
        if view.shows_private
        for row in +Counter(rows)
    }
    return tuple(sorted(values, key=lambda value: (type(value).__name__, value)))


def covered(people: People, views: Sequence[View], domain: Sequence[Value]) -> dict[Key, Public]:
    """The people whom some view can show, for some value;
    nothing is said about the others, who are left out.
    """
    return {
        key: row
        for key, row in people.items()
        if any(view.puts(row, value) is not None for view in views for value in domain)
    }


def tables_that_fit(
    people: People,
    views: Sequence[View],
    given: Sequence[Mapping[Shown, int]],
    domain: Sequence[Value] | None = None,
) -> list[Table]:
    """Definition 1 with the paper's property (1): tables of the people in some view, over the
    domain or else the values published. Where no value is declared or published there is one table,
    of nobody.
    """
    values = published(views, given) if domain is None else domain
    if not values:
        return [{}]
    return instances(covered(people, views, values), values, views, given)


def beliefs_of(tables: Sequence[Mapping[Key, Value]], keys: Iterable[Key] | None = None) -> Beliefs:
    """The share of the tables in which a person has a value, for these people or all."""
    if not tables:
        return Beliefs(0, {})
    found = {}
    for key in tables[0] if keys is None else keys:
        counts = Counter(table[key] for table in tables)
        found[key] = {value: Fraction(number, len(tables)) for value, number in counts.items()}
    return Beliefs(len(tables), found)


def gamma(
    people: People,
    views: Sequence[View],
    given: Sequence[Mapping[Shown, int]],
    domain: Sequence[Value] | None = None,
) -> Beliefs:
    """What these answers say about everybody in a view.

    >>> people = only_keys("abc")
    >>> found = gamma(people, [by_members("v", "abc")], [Counter({("x",): 2, ("y",): 1})])
    >>> found.count, found.largest
    (3, Fraction(2, 3))
    """
    return beliefs_of(tables_that_fit(people, views, given, domain))


def from_members(
    listed: Sequence[tuple[Iterable[Key], Iterable[Value]]], domain: Sequence[Value] | None = None
) -> Beliefs:
    """gamma from views that are given by their members and the values they show.

    >>> from_members([("ab", "xy"), ("bc", "yz")]).posteriors["b"]
    {'y': Fraction(1, 1)}
    """
    members = [list(keys) for keys, _ in listed]
    people = only_keys(dict.fromkeys(key for keys in members for key in keys))
    views = [by_members(f"v{number}", keys) for number, keys in enumerate(members)]
    return gamma(
        people, views, [Counter((value,) for value in values) for _, values in listed], domain
    )


# -- symmetric indistinguishability ---------------------------------------------------------------


class Instances:
    """A set of tables that fit, and who can swap in them."""

    def __init__(self, tables: Sequence[Mapping[Key, Value]], keys: Iterable[Key]) -> None:
        self.tables = list(tables)
        self.keys = list(keys)
        self.known = {tuple(table[key] for key in self.keys) for table in self.tables}
        self._unswappable: dict[tuple[Key, Key], frozenset[tuple[Value, Value]]] = {}

    def failures(self, one: Key, other: Key) -> Iterator[tuple[Value, Value]]:
        """Their values in each table in which they cannot swap them:
        with them swapped it is not in the set.
        """
        first, second = self.keys.index(one), self.keys.index(other)
        for table in self.known:
            swapped = list(table)
            swapped[first], swapped[second] = table[second], table[first]
            if tuple(swapped) not in self.known:
                yield table[first], table[second]

    def unswappable(self, one: Key, other: Key) -> frozenset[tuple[Value, Value]]:
        """The pairs of values that they have in some table and cannot swap in it."""
        if (one, other) not in self._unswappable:
            self._unswappable[one, other] = frozenset(self.failures(one, other))
        return self._unswappable[one, other]

    def sind(self, one: Key, other: Key) -> bool:
        """Definition 1: in every table that fits, the two can swap their values."""
        return next(self.failures(one, other), None) is None

    def rsind(self, one: Key, other: Key, values: Iterable[Value]) -> bool:
        """Definition 3 with both sets of values these:
        they can swap them, in every table where they have them.
        """
        chosen = set(values)
        return not any(
            first in chosen and second in chosen for first, second in self.unswappable(one, other)
        )

    def partition(self) -> list[list[Key]]:
        """The SIND sets (the relation is an equivalence:
        proved in section 2.2, and looked at here).
        """
        sets: list[list[Key]] = []
        for key in self.keys:
            near = [one for one in sets if self.sind(one[0], key)]
            assert all(self.sind(one, key) == (crowd in near) for crowd in sets for one in crowd)
            assert len(near) <= 1
            near[0].append(key) if near else sets.append([key])
        return sets


def in_data(table: Mapping[Key, Value]) -> tuple[Value, ...]:
    """The values of a table: the domain of SIND where none is declared."""
    return tuple(sorted(set(table.values()), key=lambda value: (type(value).__name__, value)))


def fitting_the_truth(
    people: People,
    truth: Mapping[Key, Value],
    views: Sequence[View],
    domain: Sequence[Value] | None = None,
) -> Instances:
    """All tables that give every view the answer that it has on the true table."""
    values = in_data(truth) if domain is None else domain
    return Instances(instances(people, values, views, answers(people, truth, views)), people)


def level(sets: Sequence[Sequence[Key]]) -> int:
    """Definition 2 (and 4): the largest k such that every set has k people."""
    return min(map(len, sets), default=0)


def sind_partition(
    people: People,
    truth: Mapping[Key, Value],
    views: Sequence[View],
    domain: Sequence[Value] | None = None,
) -> list[list[Key]]:
    """The crowds: people in no view are in one too."""
    return fitting_the_truth(people, truth, views, domain).partition()


def conservative_partition(
    people: People, views: Sequence[View], domain: Sequence[Value]
) -> list[list[Key]]:
    """People with equal output maps: what each value of the domain would put into each view."""
    crowds: dict[Any, list[Key]] = {}
    for key, row in people.items():
        outputs = tuple(tuple(view.puts(row, value) for value in domain) for view in views)
        crowds.setdefault(outputs, []).append(key)
    return list(crowds.values())


def set_partitions(items: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """All ways to put things into sets (4,140 for eight)."""
    if not items:
        yield []
        return
    for smaller in set_partitions(items[1:]):
        for place, one in enumerate(smaller):
            yield [*smaller[:place], [items[0], *one], *smaller[place + 1 :]]
        yield [[items[0]], *smaller]


def rsind_set(
    found: Instances, truth: Mapping[Key, Value], keys: Sequence[Key], diverse: bool
) -> bool:
    """May these people be one set: each two are RSIND with respect to the current values of the set
    (Proposition 3), and in the diverse variant there are two of these at least.
    """
    values = {truth[key] for key in keys}
    if diverse and len(values) < 2:
        return False
    return all(found.rsind(one, other, values) for one, other in itertools.combinations(keys, 2))


def rsind(
    people: People,
    truth: Mapping[Key, Value],
    views: Sequence[View],
    domain: Sequence[Value] | None = None,
    diverse: bool = True,
    found: Instances | None = None,
) -> tuple[int, list[list[Key]] | None]:
    """k-RSIND, Definition 4 read as: there is a partition into sets
    whose members are pairwise RSIND.

    The largest k with a partition that has it, by trying all partitions;
    0 and None where there is none (in the diverse variant; sets of one are always RSIND).
    """
    found = found or fitting_the_truth(people, truth, views, domain)
    keys = list(people)
    allowed = {
        crowd: rsind_set(found, truth, crowd, diverse)
        for size in range(1, len(keys) + 1)
        for crowd in itertools.combinations(keys, size)
    }
    best: tuple[int, list[list[Key]] | None] = (0, None)
    for sets in set_partitions(keys):
        if level(sets) > best[0] and all(allowed[tuple(one)] for one in sets):
            best = (level(sets), sets)
    return best


def printed_csind(
    people: People, truth: Mapping[Key, Value], views: Sequence[View], one: Key, other: Key
) -> bool:
    """CSIND as section 3.2 prints it, which is not the same as RSIND (errata 21)."""
    (b1, p1), (b2, p2) = (people[one], truth[one]), (people[other], truth[other])
    return all(
        (view.puts(b1, p1) == view.puts(b2, p1) and view.puts(b1, p2) == view.puts(b2, p2))
        if view.shows_private
        else (view.puts(b1, p1) == view.puts(b1, p2) and view.puts(b2, p1) == view.puts(b2, p2))
        for view in views
    )


# -- restoration ----------------------------------------------------------------------------------


def restorations(
    people: People,
    truth: Mapping[Key, Value],
    disclosed: Sequence[View],
    candidates: Sequence[View],
    gamma_wanted: Fraction,
    most: int,
    domain: Sequence[Value] | None = None,
) -> list[tuple[int, ...]]:
    """All smallest sets of candidates, by their places, with which gamma-privacy holds:
    the empty one where it holds already, none where no set of at most so many does.
    """
    judge = Judge(people, truth, disclosed, candidates, domain)
    for size in range(most + 1):
        sets = itertools.combinations(range(len(candidates)), size)
        found = [chosen for chosen in sets if judge.beliefs(chosen).private(gamma_wanted)]
        if found:
            return found
    return []


class Judge:
    """gamma-privacy of the disclosed views with each set of
    candidates, all with their true answers.
    """

    def __init__(
        self,
        people: People,
        truth: Mapping[Key, Value],
        disclosed: Sequence[View],
        candidates: Sequence[View],
        domain: Sequence[Value] | None = None,
    ) -> None:
        self.people, self.truth, self.domain = people, truth, domain
        self.disclosed, self.candidates = list(disclosed), list(candidates)
        given = answers(people, truth, disclosed)
        values = published(disclosed, given) if domain is None else tuple(domain)
        self.known = set(covered(people, disclosed, values))
        self.values = set(values)
        self.tables = tables_that_fit(people, disclosed, given, domain)
        self.kept = [self.keeps(view) for view in self.candidates]

    def keeps(self, view: View) -> frozenset[int] | None:
        """The tables of the disclosed views that fit the view too;
        None where it speaks of more people or values.
        """
        shown = answer(self.people, self.truth, view)
        more = set(published([view], [shown])) - self.values
        if (self.domain is None and more) or not set(
            covered(self.people, [view], list(self.values))
        ) <= self.known:
            return None
        puts = {
            (key, value): view.puts(self.people[key], value)
            for key in self.known
            for value in self.values
        }
        kept = set()
        for number, table in enumerate(self.tables):
            rows = [puts[cell] for cell in table.items()]
            if Counter(row for row in rows if row is not None) == shown:
                kept.add(number)
        return frozenset(kept)

    def beliefs(self, chosen: Sequence[int]) -> Beliefs:
        kept = [self.kept[place] for place in chosen]
        if any(one is None for one in kept):
            return self.slowly(chosen)
        numbers = frozenset(range(len(self.tables))).intersection(
            *(one for one in kept if one is not None)
        )
        return beliefs_of([self.tables[number] for number in sorted(numbers)])

    def slowly(self, chosen: Sequence[int]) -> Beliefs:
        """To the letter: all views together, from the beginning."""
        views = [*self.disclosed, *(self.candidates[place] for place in chosen)]
        return gamma(self.people, views, answers(self.people, self.truth, views), self.domain)


Procedure = Callable[[Table], Sequence[View]]


def aware(
    people: People,
    truth: Mapping[Key, Value],
    disclosed: Sequence[View],
    procedure: Procedure,
    domain: Sequence[Value] | None = None,
) -> Beliefs:
    """The beliefs of an adversary who knows how the further views are chosen.

    The procedure is given a table of all people, and chooses views. Only those tables remain that
    fit all views and for which it chooses the same; beliefs are about the people in some view, and
    the count is of whole tables.
    """
    further = tuple(procedure(dict(truth)))
    views = [*disclosed, *further]
    given = answers(people, truth, views)
    values = published(views, given) if domain is None else domain
    tables = [
        table
        for table in instances(people, values, views, given)
        if tuple(procedure(dict(table))) == further
    ]
    return beliefs_of(tables, covered(people, views, values))


def first_restoration(
    people: People,
    disclosed: Sequence[View],
    candidates: Sequence[View],
    gamma_wanted: Fraction,
    most: int,
    domain: Sequence[Value] | None = None,
) -> Procedure:
    """The procedure that publishes the first of the smallest sets that restore, and nothing
    where none does.
    """

    def chosen(table: Table) -> Sequence[View]:
        found = restorations(people, table, disclosed, candidates, gamma_wanted, most, domain)
        return tuple(candidates[place] for place in found[0]) if found else ()

    return chosen


# -- classes --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Classes:
    """People who put the same into every view, by class:
    how many, and their row for each value and view.
    """

    sizes: tuple[int, ...]
    outputs: tuple[tuple[tuple[Any, ...], ...], ...]  # by class, value and view; None: not selected
    given: tuple[Mapping[Any, int], ...]  # the answer of every view

    @property
    def assignments(self) -> int:
        """How many tables there are, fitting or not."""
        number = 1
        for size, values in zip(self.sizes, self.outputs, strict=True):
            number *= len(values) ** size
        return number


def of_classes(classes: Classes) -> tuple[int, list[list[int]]]:
    """The number of tables that fit, and for each class and value:
    in how many of them its first person has it.
    """
    outputs = [
        values
        for size, values in zip(classes.sizes, classes.outputs, strict=True)
        for _ in range(size)
    ]
    tables = fitting(outputs, classes.given)
    numbers, start = [], 0
    for size, values in zip(classes.sizes, classes.outputs, strict=True):
        numbers.append(
            [
                sum(table[start] == place for table in tables) if size else 0
                for place, _ in enumerate(values)
            ]
        )
        start += size
    return len(tables), numbers
