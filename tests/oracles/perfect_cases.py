"""Random cases of perfect privacy, each small enough for brute force, and as Tacit's own values.

A case is made from its kind and number alone, so a failure names what to run again.
"""

from __future__ import annotations

import itertools
import random
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

from oracles import perfect
from oracles.perfect import Asked, Fact, Rule, Schema, Table, Var
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)

Domains = Literal["finite", "large", "mixed"]


@dataclass(frozen=True, slots=True)
class Kind:
    """What a case may contain."""

    domains: Domains = "finite"
    keys: int = 0
    signs: tuple[str, ...] = ()
    nulls: bool = False
    variables: int = 4
    tuples: int = 10  # at most so many possible tuples, where all columns have domains
    pointed: bool = False  # only cases where containment is likely to decide
    chains: bool = False  # comparisons follow each other: x <= y <= 1
    binary: bool = False  # one relation with four or five columns of two values, as in Example 2.3

    @property
    def name(self) -> str:
        signs = "order" if "<" in self.signs else "unequal" if self.signs else "plain"
        more = (
            [f"{self.tuples} tuples"] * (self.tuples != 10)
            + ["pointed"] * self.pointed
            + ["binary"] * self.binary
        )
        more += ["chains"] * self.chains
        return "-".join([self.domains, f"{self.keys} keys", signs, *["nulls"] * self.nulls, *more])


@dataclass(frozen=True, slots=True)
class Case:
    """A secret and views over a schema."""

    name: str
    schema: Schema
    secret: Asked
    views: tuple[Asked, ...]

    @property
    def queries(self) -> tuple[Asked, ...]:
        return (self.secret, *self.views)

    def __str__(self) -> str:
        lines = [self.name]
        for name, table in self.schema.items():
            lines.append(
                f"  {name} columns {table.columns} keys {table.keys} nullable "
                f"{sorted(table.nullable)}"
            )
        for title, query in zip(("S", *"VWXY"), self.queries, strict=False):
            lines += [f"  {title}{rule!r}{'  (bag)' if query.bag else ''}" for rule in query.rules]
        return "\n".join(lines)


NUMBERS = (1, 2, 3, 4)
LETTERS = ("a", "b", "c", "d")
MIXED = (1, "1", "b", 2)
SIGNS = ("!=",)
ORDER = ("<", "<=", "<=", "!=")
KINDS = tuple(
    Kind(domains, keys, signs, nulls, variables=3 if "<" in signs and domains != "finite" else 4)
    for domains, keys, signs, nulls in itertools.product(
        ("finite", "large", "mixed"), (0, 1, 2), ((), SIGNS, ORDER), (False, True)
    )
)

# Too many tuples for all instances, not too many for those that matter.
WIDE = tuple(replace(kind, tuples=64) for kind in KINDS if kind.domains == "finite")
POINTED = tuple(replace(kind, tuples=27, pointed=True) for kind in KINDS if kind.keys < 2)
CHAINS = tuple(replace(kind, chains=True) for kind in KINDS if "<" in kind.signs)
BINARY = tuple(
    Kind("finite", keys, signs, tuples=32, binary=True)
    for keys in (0, 1, 2)
    for signs in ((), SIGNS, ORDER)
)


def case(kind: Kind, number: int) -> Case:
    """The case of a kind with a number."""
    rng = random.Random(f"{kind.name}/{number}")
    alphabet = NUMBERS if "<" in kind.signs else rng.choice([NUMBERS, LETTERS, MIXED])
    while True:
        schema = random_schema(rng, kind, alphabet)
        if possible_tuples(schema) <= kind.tuples:
            break
    listed = {value for table in schema.values() for one in table.columns for value in one or ()}
    values = [value for value in alphabet if value in listed] or list(alphabet[:3])
    constants = rng.sample(values, min(2, len(values)))
    queries = [random_query(rng, kind, schema, constants) for _ in range(2 + (rng.random() < 0.2))]
    if kind.binary:
        queries = [
            Asked(
                (
                    random_rule(
                        rng, kind, schema, constants, atoms=rng.randint(2, 4), alike=0.7, some=0.4
                    ),
                )
            )
            for _ in range(2)
        ]
    elif kind.pointed or rng.random() < 0.5:
        queries[:2] = pointed(rng, kind, schema, constants)
    return Case(f"{kind.name} {number}", schema, queries[0], tuple(queries[1:]))


def pointed(rng: random.Random, kind: Kind, schema: Schema, constants: list[Any]) -> list[Asked]:
    """A secret with redundant subgoals and a view of few tuples: where containment decides."""
    secret = Asked(
        (
            random_rule(
                rng, kind, schema, constants, atoms=3 + kind.pointed, alike=0.8, headless=0.7
            ),
        )
    )
    view = random_rule(rng, kind, schema, constants, atoms=1, some=0.8, headless=0.7)
    return [secret, Asked((view,))][:: rng.choice([1, 1, -1])]


def cases(numbers: range, kinds: tuple[Kind, ...] = KINDS) -> Iterator[Case]:
    """The cases of every kind with these numbers."""
    return (case(kind, number) for number in numbers for kind in kinds)


def possible_tuples(schema: Schema) -> int:
    """How many tuples are possible in the relations whose columns all have domains."""
    total = 0
    for table in schema.values():
        if None not in table.columns:
            count = 1
            for column, listed in enumerate(table.columns):
                count *= len(listed or ()) + (column in table.nullable)
            total += count
    return total


def random_schema(rng: random.Random, kind: Kind, alphabet: tuple[Any, ...]) -> dict[str, Table]:
    """One or two relations; every relation has at least one key where there are keys."""
    if kind.binary:
        arity = rng.choice([4, 5])
        return {"R": Table((alphabet[:2],) * arity, random_keys(rng, arity, kind.keys))}
    schema = {}
    least = 1 if kind.keys == 0 else 2
    for name in ("R", "T")[: 1 + (rng.random() < 0.3)]:
        arity = rng.choice([1, 2, 2, 3]) if name == "R" else rng.choice([1, 2])
        arity = max(arity, least) if name == "R" else arity
        columns = tuple(random_column(rng, kind, alphabet) for _ in range(arity))
        keys = random_keys(rng, arity, kind.keys if name == "R" else min(kind.keys, 1))
        free = set(range(arity)).difference(*keys)  # a column of a key is never NULL
        nullable = frozenset(one for one in free if kind.nulls and rng.random() < 0.6)
        schema[name] = Table(columns, keys, nullable)
    return schema


def random_column(
    rng: random.Random, kind: Kind, alphabet: tuple[Any, ...]
) -> tuple[Any, ...] | None:
    if kind.domains == "large" or (kind.domains == "mixed" and rng.random() < 0.5):
        return None
    return alphabet[: rng.choice([1, 2, 2, 2, 3, 3, 4])]


def random_keys(rng: random.Random, arity: int, count: int) -> tuple[tuple[int, ...], ...]:
    """Different sets of columns, none of which is all columns (unless there is one column only)
    or in another.
    """
    subsets = [
        subset
        for size in range(1, max(arity, 2))
        for subset in itertools.combinations(range(arity), size)
    ]
    rng.shuffle(subsets)
    keys: list[tuple[int, ...]] = []
    for subset in subsets:
        if len(keys) < count and not any(
            set(subset) <= set(key) or set(key) <= set(subset) for key in keys
        ):
            keys.append(subset)
    return tuple(keys)


def random_query(rng: random.Random, kind: Kind, schema: Schema, constants: list[Any]) -> Asked:
    first = random_rule(rng, kind, schema, constants)
    rules = [first]
    if rng.random() < 0.25:
        other = random_rule(rng, kind, schema, constants)
        head = [rng.choice([*other.variables, constants[0]]) for _ in first.head]
        rules.append(replace(other, head=tuple(head)))
        if rng.random() < 0.05:  # a row that is always there, as of SELECT without FROM
            rules[-1] = Rule(tuple(rng.choice(constants) for _ in head), ())
    return Asked(tuple(rules), bag=rng.random() < 0.25)


def random_rule(
    rng: random.Random,
    kind: Kind,
    schema: Schema,
    constants: list[Any],
    *,
    atoms: int = 0,
    alike: float = 0.4,
    some: float = 0,
    headless: float = 0.4,
) -> Rule:
    """A rule; `some` is the share of constants, `alike` how often a subgoal is like one before."""
    names = [Var(name) for name in "xyzw"[: kind.variables]]
    some = some or rng.choice([0.15, 0.35, 0.6, 0.8])

    def term(name: str, column: int) -> Any:
        table = schema[name]
        if column in table.nullable and rng.random() < 0.12:
            return None
        if rng.random() > some:
            return rng.choice(names)
        return rng.choice(constants)

    atoms = atoms or rng.choice([1, 2, 2, 3, 3])
    body: list[tuple[str, tuple[Any, ...]]] = []
    for _ in range(atoms):
        name = rng.choice(["R", "R", *schema])
        terms = tuple(term(name, one) for one in range(len(schema[name].columns)))
        if body and rng.random() < alike:  # often redundant, so often harmless
            name, like = rng.choice(body)
            terms = tuple(one if rng.random() < 0.6 else rng.choice(names) for one in like)
        body.append((name, terms))
    rng.shuffle(body)
    rule = Rule((), tuple(body))
    used = rule.variables
    head = rng.sample(used, rng.randint(0, min(2, len(used)))) if rng.random() > headless else []
    if rng.random() < 0.1:
        head.append(rng.choice(constants))
    where = random_comparisons(rng, kind, used, constants)
    counts = [term for _, terms in body for term in terms if isinstance(term, Var)]
    compared = {term for a, _, b in where for term in (a, b) if isinstance(term, Var)}
    known = {
        one
        for one in used
        if (one in compared or counts.count(one) > 1 or rng.random() < 0.3) and rng.random() < 0.85
    }
    return Rule(tuple(head), tuple(body), where, frozenset(known) if kind.nulls else frozenset())


def random_comparisons(
    rng: random.Random, kind: Kind, used: tuple[Var, ...], constants: list[Any]
) -> tuple[tuple[Any, str, Any], ...]:
    if not kind.signs or not used:
        return ()
    found = []
    if kind.chains:
        line = rng.sample(
            [*used, constants[0], rng.choice(constants)], min(len(used) + 1, rng.randint(2, 4))
        )
        return tuple(
            (a, rng.choice(("<=", "<=", "<")), b) for a, b in itertools.pairwise(line) if a != b
        )
    most = 3 if "<" in kind.signs else 2
    for _ in range(rng.randint(0, most)):
        pair = [rng.choice([*used, *used, constants[0]]), rng.choice([*used, *constants])]
        if pair[0] != pair[1] or rng.random() < 0.1:
            rng.shuffle(pair)
            found.append((pair[0], rng.choice(kind.signs), pair[1]))
    return tuple(found)


# -- from text ----------------------------------------------------------------------------------

TERM = r"'[^']*'|-?\d+|\w+"


def read_term(text: str) -> Any:
    """Quoted text and integers are values, other words variables."""
    if text.startswith("'"):
        return text[1:-1]
    return int(text) if re.fullmatch(r"-?\d+", text) else Var(text)


def read_rule(text: str, known: Collection[str] = ()) -> Rule:
    """A rule as the papers write it, with =-free comparisons.

    >>> read_rule("S(x) :- R(x, 'a'), R(y, 2), y > 1")
    (x) :- R(x, 'a'), R(y, 2), 1 < y
    """
    head, body = text.split(":-")
    atoms = re.findall(r"(\w+)\(([^)]*)\)", body)
    rest = re.sub(r"\w+\([^)]*\)", "", body)
    where = []
    for a, sign, b in re.findall(rf"({TERM})\s*(!=|<=|>=|<|>)\s*({TERM})", rest):
        left, right = read_term(a), read_term(b)
        where.append((right, sign.replace(">", "<"), left) if ">" in sign else (left, sign, right))
    ((_, goal),) = re.findall(r"(\w+)\(([^)]*)\)", head)
    return Rule(
        tuple(map(read_term, re.findall(TERM, goal))),
        tuple((name, tuple(map(read_term, re.findall(TERM, terms)))) for name, terms in atoms),
        tuple(where),
        frozenset(map(Var, known)),
    )


def read_query(text: str, known: Collection[str] = (), *, bag: bool = False) -> Asked:
    """Rules separated by semicolons."""
    return Asked(tuple(read_rule(rule, known) for rule in text.split(";")), bag)


# -- as Tacit has it ----------------------------------------------------------------------------


def as_term(term: Any) -> Term:
    return Variable(term.name) if isinstance(term, Var) else Constant(term)


def as_query(name: str, query: Asked) -> Query:
    parts = tuple(
        Conjunctive(
            tuple(map(as_term, rule.head)),
            tuple(Atom(relation, tuple(map(as_term, terms))) for relation, terms in rule.body),
            tuple(Comparison(as_term(a), sign, as_term(b)) for a, sign, b in rule.where),  # type: ignore[arg-type]
            frozenset(Variable(one.name) for one in rule.known),
        )
        for rule in query.rules
    )
    return Query(name, parts, query.bag)


def column_name(number: int) -> str:
    return f"c{number}"


def as_relations(schema: Schema) -> Relations:
    return {
        name: Relation(
            name,
            tuple(map(column_name, range(len(table.columns)))),
            tuple(tuple(map(column_name, key)) for key in table.keys),
            {
                column_name(column): listed
                for column, listed in enumerate(table.columns)
                if listed is not None
            },
            frozenset(map(column_name, table.nullable)),
        )
        for name, table in schema.items()
    }


def judged(case: Case, seconds: float | None = None) -> Any:
    """What Tacit answers."""
    from tacit.families.queries.logic.critical import judge

    secret, *views = (
        as_query(name, query) for name, query in zip("SVWXYZ", case.queries, strict=False)
    )
    return judge(secret, views, as_relations(case.schema), seconds=seconds)


def as_fact(found: Any) -> Fact:
    """A fact of a witness, as a plain tuple."""
    return found.relation, tuple(found.values)


def assert_replays(case: Case, found: Any) -> None:
    """Follow the evidence of a disclosure step by step, with the oracle's own evaluation."""
    mine, shown = as_fact(found.secret_tuple), as_fact(found.view_tuple)
    text = f"{case}\n{found}"
    for query, fact, rows in (
        (case.secret, mine, found.instance_secret),
        (case.views[found.view], shown, found.instance_view),
    ):
        instance = {as_fact(one) for one in rows}
        assert len(instance) == len(rows), f"a fact is there twice\n{text}"
        assert perfect.is_critical_on(query, fact, instance, case.schema), (
            f"{fact} on {instance}\n{text}"
        )
    path = [as_fact(one) for one in found.path]
    if path[:1] != [mine]:
        path.insert(0, mine)
    if path[-1] != shown:
        path.append(shown)
    assert perfect.is_path(path, case.schema), f"{path}\n{text}"
