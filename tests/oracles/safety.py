"""View safety by brute force: all instances over finite domains, as the definitions have them.

Written from Deutsch and Papakonstantinou (sections 2, 3 and 5) before looking at Tacit's code, and
sharing none of it. A schema lists the values of every column, so the possible tuples can be listed
too, and an instance is a set of them: a `frozenset` of facts outside, the bits of an integer
inside.

- The worlds before are the instances that satisfy the constraints and give the published views the
  answers that they have on the true instance; the worlds after also fit the new information: views
  with their answers, and constraints that hold.
- g-safety is Definition 2, over priors under which the worlds after are possible. Priors on the
  worlds are arbitrary, so it holds iff no world goes *or* only one secret was plausible: otherwise
  some prior on two worlds, one that stays and one that goes, of different secrets, is changed.
- e-safety is Lemma 2: no plausible secret dies, and no odds between two of them move.

Tests hold both against the definitions with priors, and the bits against answers row by row.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

Row = tuple[Any, ...]
Fact = tuple[str, Row]  # a relation and a row of it
Instance = frozenset[Fact]
Answer = frozenset[Row]
Schema = Mapping[str, Sequence[tuple[str, Sequence[Any]]]]  # relation: (column, its values)
New = tuple[Literal["view", "constraint"], str]  # a piece of new information
Masks = NDArray[np.int64]  # instances, each the bits of an integer

MOST_TUPLES = 24  # 2^24 instances take seconds and 128 MB


# -- queries and constraints --------------------------------------------------------------------


class Var(NamedTuple):
    """A variable; every other term is a value."""

    name: str


Comparison = tuple[Any, str, Any]  # with = or != between


@dataclass(frozen=True, slots=True)
class Part:
    """Atoms and comparisons that hold together; without any, `true`."""

    atoms: tuple[tuple[str, tuple[Any, ...]], ...] = ()
    where: tuple[Comparison, ...] = ()

    @property
    def variables(self) -> tuple[Var, ...]:
        terms = [term for _, terms in self.atoms for term in terms]
        terms += [term for left, _, right in self.where for term in (left, right)]
        return tuple(dict.fromkeys(term for term in terms if isinstance(term, Var)))

    def bound(self, known: Iterable[Var] = ()) -> set[Var]:
        """The variables that can take but finitely many values:
        in an atom, or equal to such a one.
        """
        found = {term for _, terms in self.atoms for term in terms if isinstance(term, Var)}
        found.update(known)
        for _ in self.where:
            for left, sign, right in self.where:
                for one, other in ((left, right), (right, left)):
                    if (
                        sign == "="
                        and isinstance(one, Var)
                        and (not isinstance(other, Var) or other in found)
                    ):
                        found.add(one)
        return found


@dataclass(frozen=True, slots=True)
class Rule:
    """head :- body."""

    head: tuple[Any, ...]
    body: Part


@dataclass(frozen=True, slots=True)
class Query:
    """The union of its rules."""

    name: str
    rules: tuple[Rule, ...]


@dataclass(frozen=True, slots=True)
class Constraint:
    """Whatever makes a premise true makes a conclusion true; no conclusion is `false`."""

    premises: tuple[Part, ...]
    conclusions: tuple[Part, ...]


# -- from text ----------------------------------------------------------------------------------

TOKEN = re.compile(
    r"""\s*(?:(?P<sign>:-|->|!=|[(),;|=])|(?P<text>'[^']*'|"[^"]*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>\$?\w+))"""
)


class Reader:
    """The tokens of a text, one after the other."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens: list[tuple[str, str]] = []
        place = 0
        while text[place:].strip():
            found = TOKEN.match(text, place)
            if found is None or found.lastgroup is None:
                raise ValueError(f"cannot read {text[place:]!r} in {text!r}")
            self.tokens.append((found.lastgroup, found[found.lastgroup]))
            place = found.end()
        self.place = 0
        self.unnamed = 0

    def ahead(self, step: int = 0) -> tuple[str, str]:
        place = self.place + step
        return self.tokens[place] if place < len(self.tokens) else ("end", "")

    def accept(self, sign: str) -> bool:
        if self.ahead() == ("sign", sign):
            self.place += 1
            return True
        return False

    def expect(self, sign: str) -> None:
        if not self.accept(sign):
            raise ValueError(f"expected {sign!r}, found {self.ahead()[1]!r} in {self.text!r}")

    def word(self) -> str:
        kind, value = self.ahead()
        if kind != "word":
            raise ValueError(f"expected a name, found {value!r} in {self.text!r}")
        self.place += 1
        return value

    def term(self) -> Any:
        kind, value = self.ahead()
        self.place += 1
        if kind == "text":
            return value[1:-1]
        if kind == "number":
            return float(value) if "." in value else int(value)
        if kind == "word" and not value.startswith("$"):
            if value != "_":
                return Var(value)
            self.unnamed += 1
            return Var(f"_{self.unnamed}")
        raise ValueError(f"expected a term, found {value!r} in {self.text!r}")

    def atom(self) -> tuple[str, tuple[Any, ...]]:
        name = self.word()
        self.expect("(")
        terms: list[Any] = []
        while not self.accept(")"):
            if terms:
                self.expect(",")
            terms.append(self.term())
        return name, tuple(terms)

    def part(self) -> Part:
        atoms: list[Any] = []
        where: list[Any] = []
        while True:
            if self.ahead(1) == ("sign", "("):
                atoms.append(self.atom())
            else:
                left = self.term()
                sign = "=" if self.accept("=") else "!="
                if sign == "!=":
                    self.expect("!=")
                where.append((left, sign, self.term()))
            if not self.accept(","):
                return Part(tuple(atoms), tuple(where))

    def parts(self) -> tuple[Part, ...]:
        """Parts with | between them, where a lone `true` holds and a lone `false` is none."""
        found: list[Part] = []
        while True:
            alone = self.ahead(1)[1] in ("", "|", "->")
            if alone and self.ahead()[1] in ("true", "false"):
                found += [Part()] if self.word() == "true" else []
            else:
                found.append(self.part())
            if not self.accept("|"):
                return tuple(found)

    def end(self) -> None:
        if self.ahead()[0] != "end":
            raise ValueError(f"cannot read on at {self.ahead()[1]!r} in {self.text!r}")


@lru_cache(maxsize=4096)
def read_query(text: str) -> Query:
    """A query in Datalog; rules are separated by semicolons or lines.

    >>> read_query("S(x) :- R(x, 'a'), x != 2").rules
    (Rule(head=(Var(name='x'),), body=Part(atoms=(('R', (Var(name='x'), 'a')),), where=((Var(name='x'), '!=', 2),))),)
    """  # noqa: E501
    names, rules = [], []
    for one in re.split(r"[;\n]", text):
        if one.strip():
            reader = Reader(one)
            name, head = reader.atom()
            reader.expect(":-")
            rule = Rule(head, reader.part())
            reader.end()
            free = {term for term in head if isinstance(term, Var)} | set(rule.body.variables)
            if free - rule.body.bound():
                raise ValueError(f"{one!r} has a variable that no atom binds")
            names.append(name)
            rules.append(rule)
    if len({(name, len(rule.head)) for name, rule in zip(names, rules, strict=True)}) != 1:
        raise ValueError(f"the rules of {text!r} have different heads")
    return Query(names[0], tuple(rules))


@lru_cache(maxsize=4096)
def read_constraint(text: str) -> Constraint:
    """A constraint: premises -> conclusions, each with | between them.

    >>> read_constraint("R(x) -> x = 'a' | T(x, y)").conclusions
    (Part(atoms=(), where=((Var(name='x'), '=', 'a'),)), Part(atoms=(('T', (Var(name='x'), Var(name='y'))),), where=()))
    """  # noqa: E501
    reader = Reader(text)
    premises = reader.parts()
    reader.expect("->")
    conclusions = reader.parts()
    reader.end()
    right = {one for part in conclusions for one in part.variables}
    for premise in premises:
        if set(premise.variables) - premise.bound():
            raise ValueError(f"the premise of {text!r} has a variable that no atom binds")
        if any(set(part.variables) - part.bound(premise.variables) for part in conclusions):
            raise ValueError(f"a conclusion of {text!r} has a variable that no atom binds")
    if len({frozenset(right & set(premise.variables)) for premise in premises}) > 1:
        raise ValueError(
            f"the premises of {text!r} have different variables in common with its conclusions"
        )
    return Constraint(premises, conclusions)


def parameterised(text: str, values: Mapping[str, Iterable[Any]]) -> dict[tuple[Any, ...], str]:
    """A secret with every choice of values put for its $parameters.

    >>> parameterised("S(r) :- RP(r, $paper)", {"paper": ["p1", 2]})
    {('p1',): "S(r) :- RP(r, 'p1')", (2,): 'S(r) :- RP(r, 2)'}
    """
    names = list(values)
    found = {}
    for chosen in itertools.product(*values.values()):
        put = {name: quoted(value) for name, value in zip(names, chosen, strict=True)}
        found[chosen] = re.sub(r"\$(\w+)", lambda hit, put=put: put[hit[1]], text)  # type: ignore[misc]
    return found


def quoted(value: Any) -> str:
    """A value as queries write it."""
    return f"'{value}'" if isinstance(value, str) else str(value)


def dictionary(schema: Schema, relation: str, *columns: str) -> str:
    """The view that publishes the values of columns: a dictionary.

    >>> dictionary({"RP": [("reviewer", ["r1"]), ("paper", ["p1"])]}, "RP", "reviewer")
    'D(x0) :- RP(x0, x1)'
    """
    names = {column: f"x{number}" for number, (column, _) in enumerate(schema[relation])}
    return (
        f"D({', '.join(names[one] for one in columns)}) :- {relation}({', '.join(names.values())})"
    )


# -- answers ------------------------------------------------------------------------------------

Values = dict[Var, Any]


def valuations(
    part: Part, facts: Iterable[Fact], bound: Mapping[Var, Any] | None = None
) -> Iterator[Values]:
    """Every way to make all atoms facts, and all comparisons true."""
    rows: dict[str, list[Row]] = {}
    for relation, row in facts:
        rows.setdefault(relation, []).append(row)
    yield from extended(part, rows, 0, dict(bound or {}))


def extended(
    part: Part, rows: Mapping[str, list[Row]], number: int, values: Values
) -> Iterator[Values]:
    """The valuations that go on from one that makes the first atoms true."""
    if number == len(part.atoms):
        closed = compared(part, values)
        if closed is not None:
            yield closed
        return
    relation, terms = part.atoms[number]
    for row in rows.get(relation, ()):
        more = matched(terms, row, values)
        if more is not None:
            yield from extended(part, rows, number + 1, more)


def matched(terms: tuple[Any, ...], row: Row, values: Values) -> Values | None:
    """The valuation that also makes an atom this row, or None."""
    values = dict(values)
    for term, value in zip(terms, row, strict=True):
        if (values.setdefault(term, value) if isinstance(term, Var) else term) != value:
            return None
    return values


def compared(part: Part, values: Values) -> Values | None:
    """The valuation with variables that are only equal to others, or
    None where a comparison is false.
    """
    if not part.where:
        return values
    values = dict(values)
    waiting = list(part.where)
    while waiting:
        later = []
        for left, sign, right in waiting:
            known = [not isinstance(term, Var) or term in values for term in (left, right)]
            if all(known):
                if (put(left, values) == put(right, values)) != (sign == "="):
                    return None
            elif sign == "=" and known[0]:
                values[right] = put(left, values)
            elif sign == "=" and known[1]:
                values[left] = put(right, values)
            else:
                later.append((left, sign, right))
        assert len(later) < len(waiting), "the readers refuse variables that nothing binds"
        waiting = later
    return values


def put(term: Any, values: Mapping[Var, Any]) -> Any:
    return values[term] if isinstance(term, Var) else term


def put_all(terms: Iterable[Any], values: Mapping[Var, Any]) -> Row:
    return tuple(put(term, values) for term in terms)


def image(part: Part, values: Mapping[Var, Any]) -> Instance:
    """The facts that a valuation needs."""
    return frozenset((relation, put_all(terms, values)) for relation, terms in part.atoms)


def answer(query: Query | str, instance: Iterable[Fact]) -> Answer:
    """The rows of a query on an instance."""
    query = read_query(query) if isinstance(query, str) else query
    facts = list(instance)
    return frozenset(
        put_all(rule.head, values)
        for rule in query.rules
        for values in valuations(rule.body, facts)
    )


def violations(constraint: Constraint | str, instance: Iterable[Fact]) -> list[Instance]:
    """What makes a premise true and no conclusion: each set of facts that does."""
    constraint = read_constraint(constraint) if isinstance(constraint, str) else constraint
    facts = list(instance)
    return [
        image(premise, values)
        for premise in constraint.premises
        for values in valuations(premise, facts)
        if not any(
            next(valuations(part, facts, values), None) is not None
            for part in constraint.conclusions
        )
    ]


def satisfies(constraint: Constraint | str, instance: Iterable[Fact]) -> bool:
    return not violations(constraint, instance)


# -- all instances ------------------------------------------------------------------------------


def possible_facts(schema: Schema) -> list[Fact]:
    """Every tuple that may be there."""
    return [
        (relation, row)
        for relation, columns in schema.items()
        for row in itertools.product(*(values for _, values in columns))
    ]


class Space:
    """All instances of a schema with few possible tuples, each the bits of an integer."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.facts = possible_facts(schema)
        if len(self.facts) > MOST_TUPLES:
            raise ValueError(
                f"{len(self.facts)} possible tuples are too many to go through all instances"
            )
        self.bit = {fact: 1 << number for number, fact in enumerate(self.facts)}
        assert len(self.bit) == len(self.facts), "a domain lists a value twice"
        self.rows: dict[str, list[Row]] = {}
        for relation, row in self.facts:
            self.rows.setdefault(relation, []).append(row)
        self.found_clauses: dict[str, set[tuple[int, frozenset[int]]]] = {}
        self.found_supports: dict[str, dict[Row, set[int]]] = {}

    def mask(self, instance: Iterable[Fact]) -> int:
        return sum(self.bit[fact] for fact in set(instance))

    def instance(self, mask: int) -> Instance:
        return frozenset(fact for fact, bit in self.bit.items() if mask & bit)

    def matches(
        self, part: Part, bound: Mapping[Var, Any] | None = None
    ) -> Iterator[tuple[Values, int]]:
        """Every valuation that is possible, with the tuples that it needs."""
        for relation, terms in part.atoms:
            if relation not in self.schema or len(terms) != len(self.schema[relation]):
                raise ValueError(f"the schema has no {relation} with {len(terms)} columns")
        bit = self.bit
        for values in extended(part, self.rows, 0, dict(bound or {})):
            needed = 0
            for relation, terms in part.atoms:
                needed |= bit[relation, put_all(terms, values)]
            yield values, needed

    def supports(self, query: str) -> dict[Row, set[int]]:
        """For every possible row of an answer the sets of tuples each of which puts it there."""
        if query in self.found_supports:
            return self.found_supports[query]
        found = self.found_supports[query] = {}
        for rule in read_query(query).rules:
            for values, needed in self.matches(rule.body):
                found.setdefault(put_all(rule.head, values), set()).add(needed)
        return found

    def answer(self, query: str, mask: int) -> Answer:
        """The rows of a query on one instance."""
        return frozenset(
            row
            for row, sets in self.supports(query).items()
            if any(mask & one == one for one in sets)
        )

    def clauses(self, text: str) -> set[tuple[int, frozenset[int]]]:
        """Pairs (if all these tuples are there, then all tuples of one of
        those sets are) of a constraint.
        """
        if text in self.found_clauses:
            return self.found_clauses[text]
        constraint = read_constraint(text)
        found = self.found_clauses[text] = set()
        for premise in constraint.premises:
            for values, needed in self.matches(premise):
                heads = frozenset(
                    mask
                    for part in constraint.conclusions
                    for _, mask in self.matches(part, values)
                )
                if not any(head & needed == head for head in heads):
                    found.add((needed, heads))
        return found

    def satisfying(self, constraints: Iterable[str], masks: Masks | None = None) -> Masks:
        """The instances, of those given or of all, that satisfy the constraints."""
        found = np.arange(1 << len(self.facts), dtype=np.int64) if masks is None else masks
        for text in constraints:
            for needed, heads in self.clauses(text):
                broken = found & needed == needed
                for head in heads:
                    broken &= found & head != head
                if broken.any():
                    found = found[~broken]
        return found

    def answering(self, view: str, extent: Answer, masks: Masks) -> Masks:
        """The instances on which a view has this answer."""
        supports = self.supports(view)
        if not extent <= supports.keys():
            return masks[:0]
        for row, sets in supports.items():
            masks = masks[has_row(sets, masks) == (row in extent)]
        return masks

    def groups(self, query: str, masks: Masks) -> Masks:
        """A number for every instance: the same for two iff the
        query has the same answer on both.
        """
        label = np.zeros(len(masks), dtype=np.int64)
        for number, sets in enumerate(self.supports(query).values()):
            if number % 30 == 29:  # 30 more bits still fit
                label = np.unique(label, return_inverse=True)[1].astype(np.int64)
            label = label << 1 | has_row(sets, masks)
        return label


def has_row(sets: Iterable[int], masks: Masks) -> NDArray[np.bool_]:
    """Which instances hold all tuples of some set?"""
    found = np.zeros(len(masks), dtype=np.bool_)
    for needed in sets:
        found |= masks & needed == needed
    return found


def worlds(
    schema: Schema, constraints: Sequence[str], views: Sequence[str], extents: Sequence[Answer]
) -> list[Instance]:
    """The instances that satisfy the constraints and on which the views have these answers."""
    space = Space(schema)
    return [space.instance(int(mask)) for mask in fitting(space, constraints, views, extents)]


def fitting(
    space: Space, constraints: Sequence[str], views: Sequence[str], extents: Sequence[Answer]
) -> Masks:
    masks = space.satisfying(constraints)
    for view, extent in zip(views, extents, strict=True):
        masks = space.answering(view, extent, masks)
    return masks


# -- g-safety and e-safety ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Judgement:
    """The worlds before and after, the secrets in them, and what follows."""

    space: Space
    before: list[int]
    after: list[int]
    multiplicities: dict[Answer, tuple[int, int]]  # plausible secret: worlds before, worlds after

    @property
    def worlds_before(self) -> int:
        return len(self.before)

    @property
    def worlds_after(self) -> int:
        return len(self.after)

    @property
    def secrets_before(self) -> int:
        return len(self.multiplicities)

    @property
    def secrets_after(self) -> int:
        return sum(after > 0 for _, after in self.multiplicities.values())

    @property
    def worlds_equal(self) -> bool:
        """The worlds after are some of the worlds before."""
        return len(self.before) == len(self.after)

    @property
    def gsafe(self) -> bool:
        return self.worlds_equal or len(self.multiplicities) == 1

    @property
    def esafe(self) -> bool:
        return keeps_odds(self.multiplicities)

    @property
    def ruled_out(self) -> set[Instance]:
        """The worlds that were possible and no longer are."""
        return {self.space.instance(mask) for mask in set(self.before) - set(self.after)}

    @property
    def kind(self) -> str:
        """Which of the four things can be the case: they exclude each other."""
        if self.worlds_equal:
            return "worlds equal"
        if self.gsafe:
            return "one secret"
        return "odds kept" if self.esafe else "odds moved"


def keeps_odds(multiplicities: Mapping[Answer, tuple[int, int]]) -> bool:
    """Lemma 2: no plausible secret dies, and before1 / before2 =
    after1 / after2 for every two of them.

    All numbers are positive then, so it is enough to compare each with the first, as products.
    """
    pairs = list(multiplicities.values())
    first_before, first_after = pairs[0]
    return all(
        after > 0 and before * first_after == first_before * after for before, after in pairs
    )


def judge(
    schema: Schema,
    constraints: Sequence[str],
    instance: Collection[Fact],
    views: Sequence[str],
    new: Sequence[New],
    secret: str,
    *,
    space: Space | None = None,
    lawful: Masks | None = None,
) -> Judgement:
    """What the new information changes on an instance, given what is published.

    `lawful` may hold all instances that satisfy the constraints, where they are known already; a
    `space` keeps what it has worked out for the texts that it has seen.
    Clients who collude are the views of both, so more `views`.
    """
    space = space or Space(schema)
    if not set(instance) <= space.bit.keys():
        raise ValueError("the instance has a tuple that the schema does not allow")
    truth = space.mask(instance)
    before = space.satisfying(constraints) if lawful is None else lawful
    if truth not in before:
        raise ValueError("the instance violates a constraint")
    for view in views:
        before = space.answering(view, space.answer(view, truth), before)
    after = before
    for kind, text in new:
        if kind == "constraint":
            after = space.satisfying([text], after)
        else:
            after = space.answering(text, space.answer(text, truth), after)
    if truth not in after:
        raise ValueError("a constraint that is to be published does not hold")
    return Judgement(
        space, before.tolist(), after.tolist(), multiplicities(space, secret, before, after)
    )


def multiplicities(
    space: Space, secret: str, before: Masks, after: Masks
) -> dict[Answer, tuple[int, int]]:
    """For every secret in a world before the number of worlds with it, before and after."""
    labels = space.groups(secret, before)
    now = Counter(labels[np.isin(before, after)].tolist())
    _, first, counts = np.unique(labels, return_index=True, return_counts=True)
    return {
        space.answer(secret, int(before[one])): (int(count), now[int(labels[one])])
        for one, count in zip(first, counts, strict=True)
    }


def plausible(
    schema: Schema,
    constraints: Sequence[str],
    instance: Collection[Fact],
    views: Sequence[str],
    secret: str,
) -> set[Answer]:
    """The secrets that are still plausible when the views are published."""
    return set(judge(schema, constraints, instance, views, (), secret).multiplicities)


# -- over a domain ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OverDomain:
    """Safe on every instance? Where not, an instance with the fewest facts on which it is not."""

    instances: int
    against_gsafe: Instance | None
    against_esafe: Instance | None
    against_worlds_equal: Instance | None

    @property
    def gsafe(self) -> bool:
        return self.against_gsafe is None

    @property
    def esafe(self) -> bool:
        return self.against_esafe is None

    @property
    def worlds_equal(self) -> bool:
        return self.against_worlds_equal is None


def over_domain(
    schema: Schema,
    constraints: Sequence[str],
    views: Sequence[str],
    new: Sequence[New],
    secret: str,
) -> OverDomain:
    """Is the new information safe on every instance that satisfies the constraints?

    A constraint can be made public only where it holds, so instances that violate a new one are
    possible worlds, but not instances to be judged. Instances that the published views do not tell
    apart have the same worlds before; those that the new views do not tell apart either, also
    after.
    """
    space = Space(schema)
    masks = space.satisfying(constraints)
    shown = list(zip(*(space.groups(view, masks).tolist() for view in views), strict=True)) or [
        ()
    ] * len(masks)
    told = list(
        zip(
            *(space.groups(text, masks).tolist() for kind, text in new if kind == "view"),
            strict=True,
        )
    )
    told = told or [()] * len(masks)
    true = set(
        space.satisfying([text for kind, text in new if kind == "constraint"], masks).tolist()
    )
    hidden = space.groups(secret, masks).tolist()

    before: dict[Any, list[int]] = {}
    after: dict[Any, list[int]] = {}
    for number, mask in enumerate(masks.tolist()):
        before.setdefault(shown[number], []).append(number)
        if mask in true:
            after.setdefault((shown[number], told[number]), []).append(number)

    plausible_before = {
        seen: Counter(hidden[number] for number in group) for seen, group in before.items()
    }
    against: dict[str, list[int]] = {"g": [], "e": [], "w": []}
    for (seen, _), left in after.items():
        was, now = plausible_before[seen], Counter(hidden[number] for number in left)
        equal = len(left) == len(before[seen])
        if not equal:
            against["w"] += left
        if not equal and len(was) > 1:
            against["g"] += left
        if not keeps_odds({one: (count, now[one]) for one, count in was.items()}):
            against["e"] += left

    def least(numbers: list[int]) -> Instance | None:
        found = min(
            (int(masks[one]) for one in numbers),
            key=lambda mask: (mask.bit_count(), mask),
            default=None,
        )
        return None if found is None else space.instance(found)

    return OverDomain(len(true), least(against["g"]), least(against["e"]), least(against["w"]))
