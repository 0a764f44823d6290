"""Random cases of view safety, each small enough for brute force.

A case is made from its kind and number alone, so a failure names what to run again. All that is
asked is text, as a plan has it; `to_plan` is that plan. Left to chance nearly every release moves
the odds, so a case is drawn with an aim (no world goes, one secret is plausible, the odds are kept,
the odds move) by ways that often lead there, a few times over.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from oracles import safety
from oracles.safety import (
    Constraint,
    Instance,
    Judgement,
    Masks,
    New,
    Part,
    Query,
    Rule,
    Space,
    Var,
    quoted,
    read_constraint,
    read_query,
)

Columns = tuple[tuple[str, tuple[Any, ...]], ...]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a case may contain."""

    tuples: int = 12  # at most so many possible tuples
    relations: int = 3
    constraints: int = 3
    nullary: bool = False  # relations without columns, which a plan cannot hold
    mixed: bool = False  # 1 and '1' in one column, which is text or numbers where data is read

    @property
    def name(self) -> str:
        more = ["nullary"] * self.nullary + ["mixed"] * self.mixed
        return "-".join([f"{self.tuples} tuples", f"{self.constraints} constraints", *more])


@dataclass(frozen=True, slots=True)
class Case:
    """New information about an instance, given views that are published, and what it must not
    tell."""

    name: str
    schema: dict[str, Columns]
    constraints: tuple[str, ...]
    instance: Instance
    views: tuple[str, ...]
    new: tuple[New, ...]
    secret: str

    def judge(self) -> Judgement:
        """The truth, by brute force."""
        return safety.judge(
            self.schema, self.constraints, self.instance, self.views, self.new, self.secret
        )

    def over_domain(self) -> safety.OverDomain:
        """The truth on all instances, by brute force."""
        return safety.over_domain(self.schema, self.constraints, self.views, self.new, self.secret)

    @property
    def tuples(self) -> int:
        return len(safety.possible_facts(self.schema))

    def rows(self, relation: str) -> list[list[Any]]:
        return [list(row) for name, row in sorted(self.instance, key=repr) if name == relation]

    def to_plan(self, over: str = "instance", domains: bool = True) -> dict[str, Any]:
        """The plan that asks for g-safety and e-safety, in this order."""
        tables: dict[str, Any] = {}
        for relation, columns in self.schema.items():
            tables[relation] = {
                "columns": [name for name, _ in columns],
                "rows": self.rows(relation),
                "nullable": [],
            }
            if domains:
                tables[relation]["domains"] = {name: list(values) for name, values in columns}
        published = {f"out{number}": {"query": text} for number, text in enumerate(self.views, 1)}
        new = {
            f"new{number}": {"query" if kind == "view" else "constraint": text}
            for number, (kind, text) in enumerate(self.new, 1)
        }
        asked = {"secret": "hidden", "release": list(new), "over": over}
        return {
            "version": 1,
            "tables": tables,
            **({"constraints": list(self.constraints)} if self.constraints else {}),
            "secrets": {"hidden": self.secret},
            "releases": published | new,
            **({"published": list(published)} if published else {}),
            "checks": [{"g-safety": {**asked, "name": "g"}}, {"e-safety": {**asked, "name": "e"}}],
        }

    def __str__(self) -> str:
        lines = [self.name]
        for relation, columns in self.schema.items():
            asked = ", ".join(f"{name} {list(values)}" for name, values in columns)
            lines.append(f"  {relation}({asked}): {self.rows(relation)}")
        lines += [f"  constraint  {text}" for text in self.constraints]
        lines += [f"  published   {text}" for text in self.views]
        lines += [f"  new {kind:11}{text}" for kind, text in self.new]
        return "\n".join([*lines, f"  secret      {self.secret}"])


# -- as text ------------------------------------------------------------------------------------


def show_term(term: Any) -> str:
    if isinstance(term, Var):
        return "_" if re.fullmatch(r"_\d+", term.name) else term.name
    return quoted(term)


def show_atom(name: str, terms: tuple[Any, ...]) -> str:
    return f"{name}({', '.join(map(show_term, terms))})"


def show_part(part: Part) -> str:
    shown = [show_atom(name, terms) for name, terms in part.atoms]
    shown += [f"{show_term(left)} {sign} {show_term(right)}" for left, sign, right in part.where]
    return ", ".join(shown) or "true"


def show_query(query: Query) -> str:
    return "; ".join(
        f"{show_atom(query.name, rule.head)} :- {show_part(rule.body)}" for rule in query.rules
    )


def show_constraint(constraint: Constraint) -> str:
    left = " | ".join(map(show_part, constraint.premises)) or "false"
    return f"{left} -> {' | '.join(map(show_part, constraint.conclusions)) or 'false'}"


# -- random cases -------------------------------------------------------------------------------

WORDS = ("a", "b", "c")
NUMBERS = (1, 2, 3)
NAMES = ("ann", "bob", "eve")
DIGITS = (1, "1", "b")
PLAIN = (Kind(), Kind(tuples=8), Kind(tuples=14), Kind(constraints=0), Kind(constraints=5))
KINDS = (*PLAIN, Kind(nullary=True), Kind(mixed=True))
AIMS = ("worlds equal", "one secret", "odds kept", "odds moved")
DRAWS, TRIES = 3, 4


def case(kind: Kind, number: int) -> Case:
    """The case of a kind with a number."""
    return judged_case(kind, number)[0]


@lru_cache(maxsize=2000)  # tests ask for the same ones
def judged_case(kind: Kind, number: int) -> tuple[Case, Judgement]:
    """The case of a kind with a number, and the truth about it, which was found on the way."""
    rng = random.Random(f"{kind.name}/{number}")
    aim = rng.choice(AIMS)
    alive = rng.random() < 0.5  # the odds move, though every secret stays plausible
    for _ in range(DRAWS):
        draw = Draw(rng, kind, aim)
        for _ in range(TRIES):
            found = draw.case(f"{kind.name} {number}")
            judged = safety.judge(
                found.schema,
                found.constraints,
                found.instance,
                found.views,
                found.new,
                found.secret,
                space=draw.space,
                lawful=draw.lawful,
            )
            told = judged.secrets_after if aim == "odds moved" and alive else judged.secrets_before
            if judged.kind == aim and told == judged.secrets_before > (aim != "one secret"):
                return found, judged
    return found, judged


def cases(kinds: tuple[Kind, ...] = PLAIN, count: int = 1000) -> Iterator[tuple[Case, Judgement]]:
    """So many cases, of the kinds in turn, each with the truth about it."""
    for number in range(count):
        yield judged_case(kinds[number % len(kinds)], number // len(kinds))


class Draw:
    """A schema and constraints that some instance satisfies, and pieces of cases over them.

    The odds are kept in these ways, besides by chance:

    - "relations": the secret and the views are about different
      relations, with no constraint between;
    - "values": they are about rows with different values of a column, with no constraint between;
    - "column": what is new is a column that neither the secret nor a published view looks at.
    """

    def __init__(self, rng: random.Random, kind: Kind, aim: str) -> None:
        self.rng, self.kind, self.aim = rng, kind, aim
        words = rng.sample([WORDS, NUMBERS, NAMES], rng.choice([1, 2, 2]))
        self.pools = [DIGITS, WORDS] if kind.mixed else words
        self.pool: dict[tuple[str, int], int] = {}  # which pool the values of a column are from
        self.apart = (
            rng.choice(["relations", "values", "column", "column", ""])
            if aim == "odds kept"
            else ""
        )
        self.schema = self.random_schema()
        self.space = Space(self.schema)
        self.names = rng.sample(list(self.schema), len(self.schema))
        self.mine = (
            self.names[: max(1, len(self.names) // 2)] if self.apart == "relations" else self.names
        )
        self.others = self.names[len(self.mine) :] or self.names
        while True:
            few = min(rng.choice([0, 1, 1, 2, 2, 3, 4, 5]), kind.constraints)
            self.constraints = tuple(self.constraint() for _ in range(few))
            self.lawful: Masks = self.space.satisfying(self.constraints)
            # Constraints that leave one or two instances say little; a few such cases are enough.
            if len(self.lawful) > 3 or (len(self.lawful) > 0 and rng.random() < 0.1):
                break

    def random_schema(self) -> dict[str, Columns]:
        rng = self.rng
        while True:
            schema = {}
            fewest = 2 if self.apart == "relations" else 1
            for relation in ("R", "T", "U")[
                : rng.randint(fewest, max(fewest, self.kind.relations))
            ]:
                arity = rng.choices([0, 1, 2, 3], [0.3 * self.kind.nullary, 1.2, 2, 0.6])[0]
                schema[relation] = tuple(
                    (name, self.random_domain(relation, at))
                    for at, name in enumerate("xyz"[:arity])
                )
            fewest = 2 if rng.random() < 0.05 else 4
            if fewest <= len(safety.possible_facts(schema)) <= self.kind.tuples:
                return schema

    def random_domain(self, relation: str, column: int) -> tuple[Any, ...]:
        """A slice of a pool, so that two columns have all, some or no values in common."""
        self.pool[relation, column] = number = self.rng.randrange(len(self.pools))
        size = self.rng.choices([1, 2, 3], [1, 4, 2])[0]
        start = self.rng.choice([0, 0, 3 - size])
        return self.pools[number][start : start + size]

    # -- one case over them

    def case(self, name: str) -> Case:
        rng = self.rng
        instance = self.instance()
        views = [
            self.query(f"V{one}", self.others) for one in range(rng.choice([0, 1, 1, 1, 2, 2, 3]))
        ]
        secret = self.query("S", self.mine)
        news = [self.query(f"N{one}", self.others) for one in range(rng.choice([1, 1, 2]))]
        if self.aim == "worlds equal" and rng.random() < 0.8:
            views = views or [self.query("V0", self.others)]
            news = [self.derived(f"N{one}", views) for one, _ in enumerate(news)]
        elif self.aim == "one secret" and rng.random() < 0.8:
            views = views or [self.query("V0", self.others)]
            secret = self.derived("S", views)
        elif self.apart == "values":
            secret, views, news = self.by_values(secret, views, news)
        elif self.apart == "column":
            secret, views, news = self.by_column(secret, views, news)
        new: list[New] = [("view", show_query(one)) for one in news]
        if rng.random() < 0.2:
            new[rng.randrange(len(new))] = ("constraint", self.holding_constraint(instance))
        shown = tuple(map(show_query, views))
        return Case(
            name, self.schema, self.constraints, instance, shown, tuple(new), show_query(secret)
        )

    def by_values(
        self, secret: Query, views: list[Query], news: list[Query]
    ) -> tuple[Query, list[Query], list[Query]]:
        """The secret about rows with one value in a column, the views about rows with others."""
        columns = [
            (relation, at, values)
            for relation, listed in self.schema.items()
            for at, (_, values) in enumerate(listed)
            if len(values) > 1
        ]
        if not columns:
            return secret, views, news
        relation, at, values = self.rng.choice(columns)
        first, *rest = self.rng.sample(values, len(values))

        def with_value(query: Query, values: list[Any]) -> Query:
            rules = []
            for rule in query.rules:
                atoms = [self.whole(relation), *rule.body.atoms][:3]
                body = [
                    (name, put_at(terms, at, self.rng.choice(values)))
                    for name, terms in atoms
                    if name == relation
                ]
                named = named_variables(body)
                head = [self.rng.choice(named) if named else first for _ in rule.head]
                rules.append(Rule(tuple(head), Part(tuple(body))))
            return Query(query.name, tuple(rules))

        shown, told = ([with_value(one, rest) for one in queries] for queries in (views, news))
        return with_value(secret, [first]), shown, told

    def by_column(
        self, secret: Query, views: list[Query], news: list[Query]
    ) -> tuple[Query, list[Query], list[Query]]:
        """The rest of a relation is published, what is new is the whole of it, and the secret does
        not use the column.
        """
        relation = self.relation(2)
        if relation is None:
            return secret, views, news
        at = self.rng.randrange(len(self.schema[relation]))
        terms = tuple(Var(f"x{one}") for one, _ in enumerate(self.schema[relation]))
        rest = tuple(term for one, term in enumerate(terms) if one != at)

        def without(query: Query) -> Query:
            used = itertools.count()
            rules = []
            for rule in query.rules:
                atoms = tuple(
                    (name, put_at(terms, at, Var(f"_{next(used)}")) if name == relation else terms)
                    for name, terms in rule.body.atoms
                )
                named = named_variables(atoms)
                where = tuple(
                    one
                    for one in rule.body.where
                    if {term for term in one if isinstance(term, Var)} <= set(named)
                )
                head = [
                    term if not isinstance(term, Var) or term in named else self.any_value()
                    for term in rule.head
                ]
                rules.append(Rule(tuple(head), Part(atoms, where)))
            return Query(query.name, tuple(rules))

        whole = Part(((relation, terms),))
        shown = self.narrowed(Query("N0", (Rule(terms, whole),)))
        return (
            without(secret),
            [Query("W", (Rule(rest, whole),)), *map(without, views)],
            [shown, *map(without, news[1:])],
        )

    def instance(self) -> Instance:
        """Any instance that satisfies the constraints, or one with few facts, or one with many."""
        some = [int(self.lawful[self.rng.randrange(len(self.lawful))]) for _ in range(4)]
        some.sort(key=int.bit_count)
        return self.space.instance(some[self.rng.choice([0, 1, 2, 3])])

    def holding_constraint(self, instance: Instance) -> str:
        while True:
            text = self.constraint()
            if safety.satisfies(text, instance):
                return text

    # -- queries

    def variable(self, relation: str, column: int) -> Var:
        """Columns with values from one pool share variables, so that joins are seldom empty."""
        pool = self.pool[relation, column] if self.rng.random() < 0.95 else self.rng.randrange(2)
        return Var(self.rng.choice(("xyz", "uvw")[pool]))

    def value(self, relation: str, column: int) -> Any:
        if self.rng.random() < 0.04:
            return self.rng.choice([*self.pools[0], "other"])
        return self.rng.choice(self.schema[relation][column][1])

    def atom(
        self, relation: str, constants: float = 0.25, unnamed: float = 0.06
    ) -> tuple[str, tuple[Any, ...]]:
        terms: list[Any] = []
        for column in range(len(self.schema[relation])):
            chance = self.rng.random()
            if chance < constants:
                terms.append(self.value(relation, column))
            elif chance < constants + unnamed:
                terms.append(Var(f"_{self.rng.randrange(10**9)}"))
            else:
                terms.append(self.variable(relation, column))
        return relation, tuple(terms)

    def part(self, relations: list[str], atoms: int = 0, comparisons: float = 0.35) -> Part:
        rng = self.rng
        body = [
            self.atom(rng.choice(relations)) for _ in range(atoms or rng.choice([1, 1, 2, 2, 3]))
        ]
        named = named_variables(body)
        where = []
        if named and rng.random() < comparisons:
            left = rng.choice(named)
            right = rng.choice([one for one in named if one != left] or [self.any_value()])
            if rng.random() < 0.4:
                right = self.any_value()
            where.append((left, rng.choices(["!=", "="], [5, 1])[0], right))
        return Part(tuple(body), tuple(where))

    def any_value(self) -> Any:
        columns = [
            (relation, at)
            for relation, listed in self.schema.items()
            for at, _ in enumerate(listed)
        ]
        return self.value(*self.rng.choice(columns)) if columns else "a"

    def rule(self, relations: list[str], arity: int | None = None) -> Rule:
        rng = self.rng
        body = self.part(relations)
        named = named_variables(body.atoms)
        if arity is None:
            arity = rng.choices([0, 1, 2, 3], [5, 8, 6, 1])[0]
            head: list[Any] = rng.sample(named, min(arity, len(named)))
            if rng.random() < 0.06:
                head.append(self.any_value())
        else:
            head = [
                rng.choice(named) if named and rng.random() < 0.9 else self.any_value()
                for _ in range(arity)
            ]
        if head and isinstance(head[0], Var) and rng.random() < 0.05:  # a head that only = binds
            body = replace(body, where=(*body.where, (Var("h"), "=", head[0])))
            head[0] = Var("h")
        return Rule(tuple(head), body)

    def query(self, name: str, relations: list[str]) -> Query:
        rng = self.rng
        if rng.random() < 0.12:  # a whole relation
            relation = rng.choice(relations)
            terms = tuple(Var(f"x{at}") for at, _ in enumerate(self.schema[relation]))
            return Query(name, (Rule(terms, Part(((relation, terms),))),))
        first = self.rule(relations)
        more = rng.choices([0, 1, 2], [7, 3, 1])[0]
        rules = [first, *(self.rule(relations, len(first.head)) for _ in range(more))]
        if more and rng.random() < 0.2:  # a tagged union
            rules = [
                replace(rule, head=(f"t{number}", *rule.head)) for number, rule in enumerate(rules)
            ]
        return Query(name, tuple(rules))

    def derived(self, name: str, views: list[Query]) -> Query:
        """A query that the answers of views determine: select, project, join and unite them."""
        rng = self.rng
        found = self.narrowed(rng.choice(views))
        chance = rng.random()
        if chance < 0.25:
            found = joined(found, self.narrowed(rng.choice(views)), rng)
        elif chance < 0.4:
            other = self.narrowed(rng.choice(views))
            if len(other.rules[0].head) == len(found.rules[0].head):
                found = Query(name, (*found.rules, *other.rules))
        return renamed_apart(replace(found, name=name), rng.choice(["", "1"]))

    def narrowed(self, view: Query) -> Query:
        """A selection and projection of a view's answer."""
        rng, rules = self.rng, list(view.rules)
        arity = len(rules[0].head)
        at = [one for one in range(arity) if all(isinstance(rule.head[one], Var) for rule in rules)]
        if at and rng.random() < 0.4:
            column, sign, value = rng.choice(at), rng.choice(["=", "!="]), self.any_value()
            rules = [
                Rule(
                    rule.head,
                    replace(rule.body, where=(*rule.body.where, (rule.head[column], sign, value))),
                )
                for rule in rules
            ]
        if rng.random() < 0.6:
            kept = rng.sample(range(arity), rng.randint(0, arity))
            rules = [replace(rule, head=tuple(rule.head[one] for one in kept)) for rule in rules]
        return replace(view, rules=tuple(rules))

    # -- constraints

    def constraint(self) -> str:
        """One of many kinds; a kind that does not fit the schema is drawn again."""
        makers = (
            self.dependency,
            self.dependency,
            self.inclusion,
            self.inclusion,
            self.through,
            self.either,
            self.different,
            self.denial,
            self.somewhere,
            self.at_most,
            self.at_least,
            self.both_ways,
            self.wild,
        )
        while True:
            made = self.rng.choice(makers)()
            if made is not None and not self.links(made):
                text = show_constraint(made)
                if self.space.clauses(text) or self.rng.random() < 0.2:  # some that forbid nothing
                    return text

    def links(self, constraint: Constraint) -> bool:
        """Is a constraint about relations that are kept apart?"""
        used = {
            name
            for part in (*constraint.premises, *constraint.conclusions)
            for name, _ in part.atoms
        }
        return (
            self.apart == "relations"
            and bool(used & set(self.mine))
            and bool(used & set(self.others))
        )

    def relation(self, arity: int = 0) -> str | None:
        fitting = [name for name, columns in self.schema.items() if len(columns) >= arity]
        return self.rng.choice(fitting) if fitting else None

    def whole(self, relation: str, letters: str = "xyz") -> tuple[str, tuple[Any, ...]]:
        return relation, tuple(Var(letters[at]) for at, _ in enumerate(self.schema[relation]))

    def dependency(self) -> Constraint | None:
        """Some columns determine one other, or all others: a key; none of them: one row at most."""
        relation = self.relation(1)
        if relation is None:
            return None
        arity = len(self.schema[relation])
        given = set(self.rng.sample(range(arity), self.rng.randint(0, arity - 1)))
        one = tuple(Var("xyz"[at]) for at in range(arity))
        other = tuple(one[at] if at in given else Var("uvw"[at]) for at in range(arity))
        same = [(one[at], "=", other[at]) for at in range(arity) if at not in given]
        same = same if self.rng.random() < 0.6 else same[:1]
        return Constraint((Part(((relation, one), (relation, other))),), (Part((), tuple(same)),))

    def inclusion(self) -> Constraint | None:
        """A row here needs a row there, which agrees with it in a column;
        the rest of it is existential.
        """
        here, there = self.relation(), self.relation(1)
        if here is None or there is None:
            return None
        premise = self.whole(here)
        needed = self.like(there, premise, "pqs")
        unequal = self.rng.random() < 0.15 and len(premise[1]) > 0 and len(needed[1]) > 1
        where = ((premise[1][0], "!=", needed[1][-1]),) if unequal else ()
        return Constraint((Part((premise,)),), (Part((needed,), where),))

    def like(
        self, relation: str, premise: tuple[str, tuple[Any, ...]], letters: str
    ) -> tuple[str, tuple[Any, ...]]:
        """An atom that shares variables with another where the values are from one pool."""
        name, terms = premise
        found: list[Any] = []
        for column, _ in enumerate(self.schema[relation]):
            alike = [
                term
                for at, term in enumerate(terms)
                if self.pool[name, at] == self.pool[relation, column]
            ]
            found.append(
                self.rng.choice(alike)
                if alike and self.rng.random() < 0.7
                else Var(letters[column])
            )
        return relation, tuple(found)

    def through(self) -> Constraint | None:
        """R(r, p) -> A(r, c), B(c, p), as in the paper's C3."""
        here, first, second = self.relation(1), self.relation(1), self.relation(1)
        if here is None or first is None or second is None:
            return None
        premise = self.whole(here)
        steps = self.like(first, premise, "pqs"), self.like(second, premise, "pqs")
        return Constraint((Part((premise,)),), (Part(steps),))

    def either(self) -> Constraint | None:
        """A row means one thing or another."""
        here = self.relation(1)
        if here is None:
            return None
        premise = self.whole(here)
        conclusions = [self.conclusion(premise) for _ in range(self.rng.choice([2, 2, 3]))]
        return Constraint((Part((premise,)),), tuple(conclusions))

    def conclusion(self, premise: tuple[str, tuple[Any, ...]]) -> Part:
        name, terms = premise
        column = self.rng.randrange(len(terms))
        if self.rng.random() < 0.5:
            return Part(
                (), ((terms[column], self.rng.choice(["=", "=", "!="]), self.value(name, column)),)
            )
        other = self.relation()
        assert other is not None
        return Part((self.like(other, premise, "pqs"),))

    def different(self) -> Constraint | None:
        """R(x, y), x != y -> something; or R(x, y) -> x != y | something."""
        here = self.relation(2)
        if here is None:
            return None
        premise = self.whole(here)
        x, y = self.rng.sample(premise[1], 2)
        conclusions = [self.conclusion(premise)] if self.rng.random() < 0.7 else []
        if self.rng.random() < 0.5:
            return Constraint((Part((premise,), ((x, "!=", y),)),), tuple(conclusions))
        return Constraint((Part((premise,)),), (Part((), ((x, "!=", y),)), *conclusions))

    def denial(self) -> Constraint | None:
        return Constraint((self.part(list(self.schema), self.rng.choice([1, 2, 2, 3])),), ())

    def somewhere(self) -> Constraint | None:
        """true -> A | B."""
        many = self.rng.choice([1, 2, 2, 3])
        parts = (
            self.part(list(self.schema), self.rng.choice([1, 1, 2]), 0.15) for _ in range(many)
        )
        return Constraint((Part(),), tuple(parts))

    def grouped(self, relation: str, number: int, by: set[int]) -> tuple[str, tuple[Any, ...]]:
        """The atom of one of several rows that agree in some columns."""
        return relation, tuple(
            Var("xyz"[at]) if at in by else Var(f"{'uvw'[at]}{number}")
            for at, _ in enumerate(self.schema[relation])
        )

    def counted(self) -> tuple[str, set[int], int] | None:
        relation = self.relation(1)
        if relation is None:
            return None
        arity = len(self.schema[relation])
        column = self.rng.randrange(arity)  # the one that is counted
        return (
            relation,
            {at for at in range(arity) if at != column and self.rng.random() < 0.6},
            column,
        )

    def at_most(self) -> Constraint | None:
        """At most two different values of a column in a group, as in C4 (with r1 != r2)."""
        found = self.counted()
        if found is None:
            return None
        relation, by, column = found
        rows = [self.grouped(relation, number, by) for number in range(3)]
        a, b, c = (terms[column] for _, terms in rows)
        return Constraint(
            (Part(tuple(rows), ((a, "!=", b),)),),
            (Part((), ((c, "=", a),)), Part((), ((c, "=", b),))),
        )

    def at_least(self) -> Constraint | None:
        """At least two different values of a column, in all or wherever a row says so, as in C5."""
        found = self.counted()
        here = self.relation(1)
        if found is None or here is None:
            return None
        relation, by, column = found
        premise = self.whole(here, "xyz")
        free = self.rng.random() < 0.4
        rows = [self.grouped(relation, number, set() if free else by) for number in range(2)]
        a, b = (terms[column] for _, terms in rows)
        return Constraint(
            (Part() if free else Part((premise,)),), (Part(tuple(rows), ((a, "!=", b),)),)
        )

    def both_ways(self) -> Constraint | None:
        """A(x) | B(x) -> C(x)."""
        first, second = self.relation(1), self.relation(1)
        if first is None or second is None:
            return None
        one, other = self.whole(first), self.whole(second)
        shared = [term for term in one[1] if term in other[1]][:1]
        there = self.relation()
        assert there is not None
        terms = tuple(
            self.rng.choice([*shared, Var("pqs"[at])]) for at, _ in enumerate(self.schema[there])
        )
        return Constraint((Part((one,)), Part((other,))), (Part(((there, terms),)),))

    def wild(self) -> Constraint | None:
        """Any premise and any conclusions."""
        relations = list(self.schema)
        premise = self.part(relations, self.rng.choice([1, 2]))
        many = self.rng.choice([1, 1, 2])
        return Constraint(
            (premise,), tuple(self.part(relations, self.rng.choice([1, 1, 2])) for _ in range(many))
        )


def put_at(terms: tuple[Any, ...], at: int, term: Any) -> tuple[Any, ...]:
    return (*terms[:at], term, *terms[at + 1 :])


def named_variables(atoms: Any) -> list[Var]:
    terms = dict.fromkeys(term for _, terms in atoms for term in terms if isinstance(term, Var))
    return [one for one in terms if not one.name.startswith("_")]


# -- changed texts ------------------------------------------------------------------------------

Change = Callable[[Any], Any]  # of a term


def changed_part(part: Part, term: Change, relation: Callable[[str], str] = str) -> Part:
    return Part(
        tuple((relation(name), tuple(map(term, terms))) for name, terms in part.atoms),
        tuple((term(left), sign, term(right)) for left, sign, right in part.where),
    )


def changed_query(query: Query, term: Change, relation: Callable[[str], str] = str) -> Query:
    rules = [
        Rule(tuple(map(term, rule.head)), changed_part(rule.body, term, relation))
        for rule in query.rules
    ]
    return replace(query, rules=tuple(rules))


def changed_constraint(
    constraint: Constraint, term: Change, relation: Callable[[str], str] = str
) -> Constraint:
    return Constraint(
        tuple(changed_part(part, term, relation) for part in constraint.premises),
        tuple(changed_part(part, term, relation) for part in constraint.conclusions),
    )


def changed_case(
    case: Case, query: Callable[[Query], Query], constraint: Callable[[Constraint], Constraint]
) -> Case:
    """The case with every text read, changed and written again."""

    def of_query(text: str) -> str:
        return show_query(query(read_query(text)))

    def of_constraint(text: str) -> str:
        return show_constraint(constraint(read_constraint(text)))

    return replace(
        case,
        constraints=tuple(map(of_constraint, case.constraints)),
        views=tuple(map(of_query, case.views)),
        new=tuple(
            (kind, of_query(text) if kind == "view" else of_constraint(text))
            for kind, text in case.new
        ),
        secret=of_query(case.secret),
    )


def is_named(term: Any) -> bool:
    return isinstance(term, Var) and not re.fullmatch(r"_\d+", term.name)


def renamed_apart(query: Query, mark: str) -> Query:
    return changed_query(query, lambda term: Var(term.name + mark) if is_named(term) else term)


def variables_of(query: Query) -> set[Var]:
    return {one for rule in query.rules for one in rule.body.variables if is_named(one)}


def joined(one: Query, other: Query, rng: random.Random) -> Query:
    """The rows of one query beside the rows of another, sometimes
    only those that agree in a column.
    """
    taken = variables_of(one)
    marks = ("2" * size for size in itertools.count(1))  # the first that makes all names new
    other = next(
        new
        for new in (renamed_apart(other, mark) for mark in marks)
        if not variables_of(new) & taken
    )
    width, more = len(one.rules[0].head), len(other.rules[0].head)
    agree = (
        (rng.randrange(width), rng.randrange(more))
        if width and more and rng.random() < 0.5
        else None
    )
    rules = []
    for a, b in itertools.product(one.rules, other.rules):
        where = (*a.body.where, *b.body.where)
        if agree:
            pair = a.head[agree[0]], b.head[agree[1]]
            if not any(isinstance(term, Var) for term in pair):
                if pair[0] != pair[1]:
                    continue
            else:
                where = (*where, (pair[0], "=", pair[1]))
        rules.append(Rule((*a.head, *b.head), Part((*a.body.atoms, *b.body.atoms), where)))
    return Query(one.name, tuple(rules)) if rules else joined_all(one, other)


def joined_all(one: Query, other: Query) -> Query:
    pairs = itertools.product(one.rules, other.rules)
    return Query(
        one.name,
        tuple(
            Rule(
                (*a.head, *b.head),
                Part((*a.body.atoms, *b.body.atoms), (*a.body.where, *b.body.where)),
            )
            for a, b in pairs
        ),
    )
