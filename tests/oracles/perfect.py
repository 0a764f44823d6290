"""Perfect privacy by brute force: instances, answers and priors, as the definition has them.

Written from chapter 2 of Machanavajjhala (2008) and the definition of the check before looking at
Tacit's
code, and sharing none of it. A relation is a set of rows; a query is a union of rules and answers
with a set of head rows, or, as a bag, with each head row as often as there are valuations for it.

The definition is `independent`: for every prior under which the possible tuples are there or not
independently of each other, conditioned on the keys, the secret's answer and the views' answers
together are independent. All other ways to decide here are theorems, and tests hold each against
the one before it:

- `critical`: tuples that change an answer on some instance, over *all* instances;
- `critical_in_images`: the same with the instances that matter only;
- `critical_patterns`: the same for columns as large as need be, with valuations up to renaming.
"""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

Fact = tuple[str, tuple[Any, ...]]  # a relation and a row of it; None is NULL
Instance = frozenset[Fact]


@dataclass(frozen=True, slots=True)
class Var:
    """A variable; every other term of a rule is a value."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Fresh:
    """A value that is written nowhere."""

    number: int

    def __repr__(self) -> str:
        return f"_fresh{self.number}"


@dataclass(frozen=True, slots=True)
class Rule:
    """head :- body, where. Variables in `known` do not take NULL."""

    head: tuple[Any, ...]
    body: tuple[Fact, ...]
    where: tuple[tuple[Any, str, Any], ...] = ()
    known: frozenset[Var] = frozenset()

    @property
    def variables(self) -> tuple[Var, ...]:
        return tuple(
            dict.fromkeys(term for _, terms in self.body for term in terms if isinstance(term, Var))
        )

    def __repr__(self) -> str:
        body = [f"{name}({', '.join(map(repr, terms))})" for name, terms in self.body]
        body += [f"{left!r} {sign} {right!r}" for left, sign, right in self.where]
        known = f"  known {sorted(one.name for one in self.known)}" if self.known else ""
        return f"({', '.join(map(repr, self.head))}) :- {', '.join(body)}{known}"


@dataclass(frozen=True, slots=True)
class Asked:
    """A query: the union of its rules."""

    rules: tuple[Rule, ...]
    bag: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """What everybody knows of a relation. A column's values are listed, or None:
    as many as need be.
    """

    columns: tuple[tuple[Any, ...] | None, ...]
    keys: tuple[tuple[int, ...], ...] = ()
    nullable: frozenset[int] = frozenset()


Schema = Mapping[str, Table]


# -- answers ------------------------------------------------------------------------------------


def compares(left: Any, sign: str, right: Any) -> bool:
    """Does a comparison hold? Nothing holds of NULL."""
    if left is None or right is None:
        return False
    if sign == "!=":
        return bool(left != right)
    return bool(left < right if sign == "<" else left <= right)


def valuations(
    rule: Rule, instance: Iterable[Fact], bound: Mapping[Var, Any] | None = None
) -> Iterator[dict[Var, Any]]:
    """Every way to make all subgoals facts of the instance, with all comparisons true."""
    facts = list(instance)

    def extend(number: int, values: dict[Var, Any]) -> Iterator[dict[Var, Any]]:
        if number == len(rule.body):
            if all(compares(put(a, values), sign, put(b, values)) for a, sign, b in rule.where):
                yield values
            return
        name, terms = rule.body[number]
        for relation, row in facts:
            if relation == name:
                more = matched(terms, row, values, rule.known)
                if more is not None:
                    yield from extend(number + 1, more)

    yield from extend(0, dict(bound or {}))


def matched(
    terms: tuple[Any, ...], row: tuple[Any, ...], values: dict[Var, Any], known: frozenset[Var]
) -> dict[Var, Any] | None:
    """The valuation with a subgoal made equal to a row; None where it cannot be."""
    values = dict(values)
    for term, value in zip(terms, row, strict=True):
        if not isinstance(term, Var):
            if term != value:
                return None
        elif term in values:
            if values[term] != value:
                return None
        elif value is None and term in known:
            return None
        else:
            values[term] = value
    return values


def put(term: Any, values: Mapping[Var, Any]) -> Any:
    return values[term] if isinstance(term, Var) else term


def put_all(terms: Iterable[Any], values: Mapping[Var, Any]) -> tuple[Any, ...]:
    return tuple(put(term, values) for term in terms)


def image(rule: Rule, values: Mapping[Var, Any]) -> Instance:
    """The facts that a valuation needs."""
    return frozenset((name, put_all(terms, values)) for name, terms in rule.body)


def answer(query: Asked, instance: Iterable[Fact]) -> Any:
    """The answer: a set of rows, or a bag of them as (row, how often)."""
    facts = list(instance)
    rows = Counter(
        put_all(rule.head, values) for rule in query.rules for values in valuations(rule, facts)
    )
    return frozenset(rows.items()) if query.bag else frozenset(rows)


def answers_with(query: Asked, row: tuple[Any, ...], instance: Iterable[Fact]) -> bool:
    """Is a row in the answer? The same as looking for it in
    `answer`, with the head put in first.
    """
    facts = list(instance)
    for rule in query.rules:
        bound = matched(rule.head, row, {}, rule.known)
        if bound is not None and next(valuations(rule, facts, bound), None) is not None:
            return True
    return False


# -- possible tuples and instances --------------------------------------------------------------


def values_of(table: Table, column: int) -> tuple[Any, ...]:
    listed = table.columns[column]
    assert listed is not None, (
        "only a schema whose columns all have a domain has a list of possible tuples"
    )
    return (*listed, None) if column in table.nullable else tuple(listed)


def possible_facts(schema: Schema) -> list[Fact]:
    """Every tuple that may be there."""
    return [
        (name, row)
        for name, table in schema.items()
        for row in itertools.product(*(values_of(table, one) for one in range(len(table.columns))))
    ]


def conflict(one: Fact, other: Fact, schema: Schema) -> bool:
    """Do two different tuples share the value of a key?"""
    if one[0] != other[0] or one == other:
        return False
    keys = schema[one[0]].keys
    return any(all(one[1][column] == other[1][column] for column in key) for key in keys)


def satisfies_keys(instance: Collection[Fact], schema: Schema) -> bool:
    return not any(conflict(a, b, schema) for a, b in itertools.combinations(instance, 2))


def is_possible(fact: Fact, schema: Schema) -> bool:
    """May a tuple be there: as many values as columns, each of them a value of its column?"""
    name, row = fact
    if name not in schema or len(row) != len(schema[name].columns):
        return False
    table = schema[name]
    return all(
        column in table.nullable if value is None else listed is None or value in listed
        for column, (value, listed) in enumerate(zip(row, table.columns, strict=True))
    )


class Space:
    """All instances of a schema with few possible tuples:
    a set of tuples is the bits of an integer.
    """

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.facts = possible_facts(schema)
        self.bit = {fact: 1 << number for number, fact in enumerate(self.facts)}
        conflicts = [
            sum(self.bit[other] for other in self.facts if conflict(fact, other, schema))
            for fact in self.facts
        ]
        self.instances = [0]
        for number, fact in enumerate(self.facts):
            self.instances += [
                one | self.bit[fact] for one in self.instances if not one & conflicts[number]
            ]

    def answers(self, query: Asked) -> dict[int, Any]:
        """The answer on every instance. A valuation is good in those
        that hold all facts it needs.
        """
        found = [
            (sum(self.bit[fact] for fact in image(rule, values)), put_all(rule.head, values))
            for rule in query.rules
            for values in valuations(rule, self.facts)
        ]
        answers: dict[int, Any] = {}
        for one in self.instances:
            rows = [row for needed, row in found if needed & one == needed]
            answers[one] = frozenset(Counter(rows).items()) if query.bag else frozenset(rows)
        return answers

    def critical(self, query: Asked) -> set[Fact]:
        """Tuples t with Q(I) != Q(I + t) on some instance, where I and I + t satisfy the keys."""
        answers = self.answers(query)
        return {
            fact
            for fact in self.facts
            for one, rows in answers.items()
            if one & self.bit[fact] and answers[one ^ self.bit[fact]] != rows
        }


# -- the definition -----------------------------------------------------------------------------


def independent(
    space: Space, secret: Asked, views: Sequence[Asked], odds: Mapping[Fact, int]
) -> bool:
    """Are the secret and the views' answers together independent under one prior?

    A tuple is there with odds `odds` to 1, independently of the others; then the keys are given. So
    an instance weighs the product of the odds of its tuples, and with N for sums of weights
    P(s, v) = P(s) P(v) is N(s, v) N = N(s) N(v): integers, no rounding.
    """
    asked = space.answers(secret)
    shown = [space.answers(view) for view in views]
    weight = {0: 1}
    both: Counter[Any] = Counter()
    first: Counter[Any] = Counter()
    second: Counter[Any] = Counter()
    for one in space.instances:
        if one:
            top = one.bit_length() - 1
            weight[one] = weight[one ^ (1 << top)] * odds[space.facts[top]]
        s, v = asked[one], tuple(rows[one] for rows in shown)
        both[s, v] += weight[one]
        first[s] += weight[one]
        second[v] += weight[one]
    total = sum(weight.values())
    return all(both[s, v] * total == first[s] * second[v] for s in first for v in second)


def disclosed_by_definition(
    secret: Asked, views: Sequence[Asked], schema: Schema, rng: random.Random, priors: int = 2
) -> bool:
    """Is there a prior under which they depend on each other?

    N(s, v) N - N(s) N(v) is a polynomial in the odds, of degree at most 2 in each of them. Where it
    is not zero everywhere, it is zero for at most 2 n of 2^40 choices of random odds for n tuples
    (Schwartz 1980), so two random priors that agree miss a dependence less often than once in
    10^20.
    """
    space = Space(schema)
    return any(
        not independent(
            space, secret, views, {fact: rng.randint(1, 1 << 40) for fact in space.facts}
        )
        for _ in range(priors)
    )


# -- by critical tuples -------------------------------------------------------------------------


def components(schema: Schema) -> dict[Fact, int]:
    """The connected parts of the graph whose edges are pairs of tuples that share a key value."""
    facts = possible_facts(schema)
    part: dict[Fact, int] = {}
    for number, start in enumerate(facts):
        waiting = [start] if start not in part else []
        while waiting:
            fact = waiting.pop()
            if fact not in part:
                part[fact] = number
                waiting += [other for other in facts if conflict(fact, other, schema)]
    return part


def place(fact: Fact, schema: Schema) -> tuple[str, tuple[Any, ...]]:
    """What is the same for all tuples of a connected part, and differs from part to part.

    Without a key each tuple is a part. With keys K1, ..., Kn: a step along Ki leaves the columns of
    Ki and may change all others to any values, so the columns that are in all keys never change,
    and after a step along each key in turn all others are what one likes.
    """
    keys = schema[fact[0]].keys
    fixed = set(range(len(fact[1]))).intersection(*keys)
    return fact[0], tuple(value for column, value in enumerate(fact[1]) if column in fixed)


def disclosed_by_critical_tuples(secret: Asked, views: Sequence[Asked], schema: Schema) -> bool:
    """A critical tuple of the secret and one of a view in one part: over all instances.

    Without keys that is a tuple critical to both; with one key, two tuples with the same key.
    """
    space = Space(schema)
    part = components(schema)
    mine = {part[fact] for fact in space.critical(secret)}
    return any(part[fact] in mine for view in views for fact in space.critical(view))


# -- by images of the rules ---------------------------------------------------------------------


def rule_valuations(rule: Rule, schema: Schema) -> Iterator[dict[Var, Any]]:
    """All valuations of a rule over the columns' values, with its comparisons true."""
    choices = []
    for variable in rule.variables:
        lists = [
            values_of(schema[name], column)
            for name, terms in rule.body
            for column, term in enumerate(terms)
            if term == variable
        ]
        choices.append([value for value in lists[0] if all(value in one for one in lists)])
    for chosen in itertools.product(*choices):
        values = dict(zip(rule.variables, chosen, strict=True))
        if is_valuation(rule, values, schema):
            yield values


def is_valuation(rule: Rule, values: Mapping[Var, Any], schema: Schema) -> bool:
    return (
        not any(values[one] is None for one in rule.known if one in values)
        and all(compares(put(a, values), sign, put(b, values)) for a, sign, b in rule.where)
        and all(is_possible(fact, schema) for fact in image(rule, values))
    )


def changed_by(
    query: Asked, rule: Rule, values: Mapping[Var, Any], schema: Schema
) -> Iterator[Fact]:
    """The critical tuples that one valuation shows, on the instance of the facts that it needs.

    Only such instances matter. Queries here are monotone: more facts, no fewer rows (and no row
    less often). If Q(I) != Q(I + t) and both satisfy the keys, some row h is there (or is there
    more often) because of a valuation that needs t; its facts J are some of I + t, so they satisfy
    the keys. For bags J has that valuation and J - t has not. For sets take an h that is not in
    Q(I): it is not in Q(J - t) either, because J - t is a part of I. So J - t shows that t is
    critical. The reverse is plain.
    """
    needed = image(rule, values)
    if not satisfies_keys(needed, schema):
        return
    row = put_all(rule.head, values)
    for fact in needed:
        if query.bag or not answers_with(query, row, needed - {fact}):
            yield fact


def critical_in_images(query: Asked, schema: Schema) -> set[Fact]:
    """The critical tuples, by the instances that matter:
    hundreds of possible tuples are no trouble.
    """
    return {
        fact
        for rule in query.rules
        for values in rule_valuations(rule, schema)
        for fact in changed_by(query, rule, values, schema)
    }


def disclosed_in_images(secret: Asked, views: Sequence[Asked], schema: Schema) -> bool:
    mine = {place(fact, schema) for fact in critical_in_images(secret, schema)}
    return any(
        place(fact, schema) in mine for view in views for fact in critical_in_images(view, schema)
    )


# -- columns as large as need be ----------------------------------------------------------------


def named_values(schema: Schema, queries: Iterable[Asked]) -> list[Any]:
    """Every value that a query or a domain names; any other value is as good as any other."""
    found: dict[Any, None] = {}
    for query in queries:
        for rule in query.rules:
            terms = [term for _, terms in rule.body for term in terms]
            terms += [*rule.head, *(term for a, _, b in rule.where for term in (a, b))]
            found |= dict.fromkeys(
                one for one in terms if not isinstance(one, Var) and one is not None
            )
    for table in schema.values():
        for listed in table.columns:
            found |= dict.fromkeys(listed or ())
    return list(found)


def uses_order(queries: Iterable[Asked]) -> bool:
    return any(
        sign != "!=" for query in queries for rule in query.rules for _, sign, _ in rule.where
    )


def closed(schema: Schema, queries: Sequence[Asked], fresh: int | None = None) -> dict[str, Table]:
    """The schema with a list of values for each open column: the named ones and enough others.

    Enough: a valuation uses at most as many other values as it has variables, and other values can
    be exchanged for each other. With an order, which is dense and without ends, the same holds for
    those between two named ones, as long as order is kept: a tuple with k of them leaves its n - k
    others of the secret and those of the view between and around them.
    """
    named = named_values(schema, queries)
    sizes = sorted(len(rule.variables) for query in queries for rule in query.rules)
    if uses_order(queries):
        count = sum(sizes[-2:]) if fresh is None else fresh
        steps = [Fraction(number + 1, count + 1) for number in range(count)]
        points = sorted(named) or [Fraction(0)]
        universe: list[Any] = [*points, *(points[0] - 1 + step for step in steps)]
        universe += [points[-1] + step for step in steps]
        universe += [a + (b - a) * step for a, b in itertools.pairwise(points) for step in steps]
    else:
        count = sizes[-1] if fresh is None else fresh
        universe = [*named, *(Fresh(number + 1) for number in range(count))]
    return {
        name: Table(
            tuple(tuple(universe) if listed is None else listed for listed in table.columns),
            table.keys,
            table.nullable,
        )
        for name, table in schema.items()
    }


def patterns(
    rule: Rule, schema: Schema, named: Sequence[Any], ordered: bool
) -> Iterator[dict[Var, Any]]:
    """All valuations of a rule, those alike once: alike are two that a renaming of the values that
    are not named turns into each other (one that keeps the order, where order matters).

    Each variable in turn takes a value of its column, a value taken before, or a new one: with an
    order, one in each gap.
    """
    variables = rule.variables
    places = [
        [
            (schema[name], column)
            for name, terms in rule.body
            for column, term in enumerate(terms)
            if term == variable
        ]
        for variable in variables
    ]

    def choices(number: int, taken: list[Any]) -> list[Any]:
        lists = [table.columns[column] for table, column in places[number]]
        found = [] if variables[number] in rule.known else [None]
        if any(listed is not None for listed in lists):
            found += [
                one for one in named if all(listed is None or one in listed for listed in lists)
            ]
        else:
            others = [one for one in dict.fromkeys(taken) if one is not None and one not in named]
            found += [*named, *others]
            found += gaps([*named, *others]) if ordered else [Fresh(len(others) + 1)]
        if not all(column in table.nullable for table, column in places[number]):
            found = [one for one in found if one is not None]
        return found

    def extend(taken: list[Any]) -> Iterator[list[Any]]:
        if len(taken) == len(variables):
            yield taken
            return
        for value in choices(len(taken), taken):
            yield from extend([*taken, value])

    for taken in extend([]):
        values = dict(zip(variables, taken, strict=True))
        if is_valuation(rule, values, schema):
            yield values


def gaps(points: Iterable[Any]) -> list[Fraction]:
    """A point below all, one above all, and one between each two."""
    line = sorted(Fraction(one) for one in points)
    if not line:
        return [Fraction(0)]
    return [line[0] - 1, *((a + b) / 2 for a, b in itertools.pairwise(line)), line[-1] + 1]


def pattern(values: Iterable[Any], named: Sequence[Any], ordered: bool) -> tuple[Any, ...]:
    """The same for rows that are alike, and for no others."""
    row = list(values)
    others = [one for one in dict.fromkeys(row) if one is not None and one not in named]
    if not ordered:
        return tuple(Fresh(others.index(one) + 1) if one in others else one for one in row)
    line = sorted(others)

    def name(one: Any) -> Any:
        if one not in others:
            return one
        below = sum(point < one for point in named)
        gap = [other for other in line if sum(point < other for point in named) == below]
        return ("gap", below, gap.index(one))

    return tuple(map(name, row))


def critical_patterns(
    query: Asked, schema: Schema, named: Sequence[Any], ordered: bool
) -> set[tuple[str, tuple[Any, ...]]]:
    """What critical tuples are like where it matters: the places of `place`, up to renaming.

    A renaming of values that are not named turns critical tuples into critical tuples, and one that
    makes two places equal exists just when they are alike.
    """
    found = set()
    for rule in query.rules:
        for values in patterns(rule, schema, named, ordered):
            for fact in changed_by(query, rule, values, schema):
                name, row = place(fact, schema)
                found.add((name, pattern(row, named, ordered)))
    return found


def disclosed(secret: Asked, views: Sequence[Asked], schema: Schema) -> bool:
    """Do the views together disclose anything about the secret? For any schema, small or large."""
    queries = (secret, *views)
    named, ordered = named_values(schema, queries), uses_order(queries)
    mine = critical_patterns(secret, schema, named, ordered)
    return bool(mine) and any(
        mine & critical_patterns(view, schema, named, ordered) for view in views
    )


def is_empty(query: Asked, schema: Schema) -> bool:
    """Has the query no answer on any instance?"""
    named, ordered = named_values(schema, [query]), uses_order([query])
    return not any(
        satisfies_keys(image(rule, values), schema)
        for rule in query.rules
        for values in patterns(rule, schema, named, ordered)
    )


# -- evidence -----------------------------------------------------------------------------------


def is_critical_on(query: Asked, fact: Fact, instance: Collection[Fact], schema: Schema) -> bool:
    """Does adding a tuple to an instance change the answer, both possible and within the keys?"""
    after = {*instance, fact}
    return (
        fact not in instance
        and all(is_possible(one, schema) for one in after)
        and satisfies_keys(after, schema)
        and answer(query, instance) != answer(query, after)
    )


def is_path(path: Sequence[Fact], schema: Schema) -> bool:
    """Is each tuple possible, and does it share a key value with the next?"""
    return all(is_possible(one, schema) for one in path) and all(
        conflict(a, b, schema) for a, b in itertools.pairwise(path)
    )
