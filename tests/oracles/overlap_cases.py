"""Random cases of overlapping views, each small enough for brute force.

A case is made from its kind and number alone, so a failure names what to run again. It has two
forms: people, values and views for the oracle, and a plan with the same views in SQL (`to_plan`).
Conditions are drawn as small trees that can be written as SQL and looked at with the three truth
values of SQL, which is all that the two forms share.

Left to chance most people's values are either sure or a guess among all, so a gamma case is drawn a
few times over until its largest belief is of the kind that was aimed at.
"""

from __future__ import annotations

import csv
import io
import itertools
import operator
import random
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from oracles import overlap
from oracles.overlap import Answer, Beliefs, Classes, Instances, Key, Table, View

PRIVATE = "condition"


# -- conditions ------------------------------------------------------------------------------------


def literal(value: Any) -> str:
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)


class Condition:
    """Something that is true, false or unknown (None) of a row, which has the private value too."""

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        raise NotImplementedError

    def sql(self) -> str:
        raise NotImplementedError


SIGNS: dict[str, Callable[[Any, Any], Any]] = {
    "=": operator.eq,
    "<>": operator.ne,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@dataclass(frozen=True)
class Compare(Condition):
    """column sign value; the value may be another column, as in charge > salary."""

    column: str
    sign: str
    value: Any
    other: bool = False

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        left, right = row[self.column], row[self.value] if self.other else self.value
        return None if left is None or right is None else bool(SIGNS[self.sign](left, right))

    def sql(self) -> str:
        return f"{self.column} {self.sign} {self.value if self.other else literal(self.value)}"


@dataclass(frozen=True)
class Within(Condition):
    """column [NOT] IN (...), or column [NOT] BETWEEN low AND high."""

    column: str
    values: tuple[Any, ...]
    between: bool = False
    negated: bool = False

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        value = row[self.column]
        if value is None:
            return None
        inside = self.values[0] <= value <= self.values[1] if self.between else value in self.values
        return inside != self.negated

    def sql(self) -> str:
        word = "NOT " if self.negated else ""
        if self.between:
            return (
                f"{self.column} {word}BETWEEN {literal(self.values[0])} AND "
                f"{literal(self.values[1])}"
            )
        return f"{self.column} {word}IN ({', '.join(map(literal, self.values))})"


@dataclass(frozen=True)
class Missing(Condition):
    """column IS [NOT] NULL."""

    column: str
    negated: bool = False

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        return (row[self.column] is None) != self.negated

    def sql(self) -> str:
        return f"{self.column} IS {'NOT ' if self.negated else ''}NULL"


@dataclass(frozen=True)
class Not(Condition):
    inner: Condition

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        inner = self.inner.truth(row)
        return None if inner is None else not inner

    def sql(self) -> str:
        return f"NOT ({self.inner.sql()})"


@dataclass(frozen=True)
class Join(Condition):
    """left AND right, left OR right."""

    word: str
    left: Condition
    right: Condition

    def truth(self, row: Mapping[str, Any]) -> bool | None:
        both = (self.left.truth(row), self.right.truth(row))
        decides = self.word == "OR"  # one true decides OR, one false decides AND
        if decides in both:
            return decides
        return None if None in both else not decides

    def sql(self) -> str:
        return f"({self.left.sql()}) {self.word} ({self.right.sql()})"


@dataclass(frozen=True)
class Query:
    """SELECT columns FROM people WHERE condition; no columns: SELECT 1; no condition: everybody."""

    columns: tuple[str, ...]
    where: Condition | None = None

    def sql(self) -> str:
        chosen = ", ".join(self.columns) or "1"
        return f"SELECT {chosen} FROM people" + (f" WHERE {self.where.sql()}" if self.where else "")

    def view(self, name: str) -> View:
        """The same for the oracle."""
        shows = tuple(column for column in self.columns if column != PRIVATE)
        where = self.where
        return View(
            name,
            lambda row, value: where is None or where.truth({**row, PRIVATE: value}) is True,
            shows,
            PRIVATE in self.columns,
        )


# -- cases -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """People, their private values, and queries that publish something about them."""

    name: str
    columns: tuple[str, ...]  # public
    key: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]  # public values, then the private one
    queries: tuple[Query, ...]
    domain: tuple[Any, ...] | None = None  # declared
    candidates: tuple[Query, ...] = ()  # further views, for restoration
    gamma_wanted: Fraction = Fraction(1, 2)
    told: tuple[tuple[tuple[Any, ...], ...], ...] | None = (
        None  # answers from elsewhere, as rows of the queries
    )

    @cached_property
    def people(self) -> dict[Key, dict[str, Any]]:
        """By key; a key of several columns is a tuple."""
        found = {}
        for row in self.rows:
            public = dict(zip(self.columns, row, strict=False))
            key = tuple(public[column] for column in self.key)
            found[key[0] if len(key) == 1 else key] = public
        assert len(found) == len(self.rows)
        return found

    @cached_property
    def truth(self) -> Table:
        return {key: row[-1] for key, row in zip(self.people, self.rows, strict=True)}

    @cached_property
    def views(self) -> list[View]:
        return [query.view(f"v{number}") for number, query in enumerate(self.queries, 1)]

    @cached_property
    def candidate_views(self) -> list[View]:
        return [query.view(f"c{number}") for number, query in enumerate(self.candidates, 1)]

    @cached_property
    def answers(self) -> list[Answer]:
        """What is published: the true answers, or those from elsewhere."""
        if self.told is None:
            return overlap.answers(self.people, self.truth, self.views)
        return [
            Counter(in_order(query, row) for row in rows)
            for query, rows in zip(self.queries, self.told, strict=True)
        ]

    # the truth, by brute force

    def beliefs(self) -> Beliefs:
        return self._beliefs

    @cached_property
    def _beliefs(self) -> Beliefs:
        return overlap.gamma(self.people, self.views, self.answers, self.domain)

    def sind_domain(self) -> tuple[Any, ...]:
        return overlap.in_data(self.truth) if self.domain is None else self.domain

    def instances(self) -> Instances:
        return self._instances

    @cached_property
    def _instances(self) -> Instances:
        return overlap.fitting_the_truth(self.people, self.truth, self.views, self.domain)

    def sind(self) -> list[list[Key]]:
        return self.instances().partition()

    def conservative(self) -> list[list[Key]]:
        return overlap.conservative_partition(self.people, self.views, self.sind_domain())

    def rsind(self, diverse: bool = True) -> tuple[int, list[list[Key]] | None]:
        return overlap.rsind(
            self.people, self.truth, self.views, self.domain, diverse, self._instances
        )

    def restorations(self, most: int = 2) -> list[tuple[int, ...]]:
        """The smallest sets of candidates, by their places, that bring the wanted gamma back."""
        if most not in self._restored:
            self._restored[most] = overlap.restorations(
                self.people,
                self.truth,
                self.views,
                self.candidate_views,
                self.gamma_wanted,
                most,
                self.domain,
            )
        return self._restored[most]

    @cached_property
    def _restored(self) -> dict[int, list[tuple[int, ...]]]:
        return {}

    # as a plan

    def answer_rows(self, number: int) -> list[tuple[Any, ...]]:
        """The rows of a query on the true table, in the order of its columns."""
        query, view = self.queries[number], self.views[number]
        found = []
        for key, row in self.people.items():
            if view.selects(row, self.truth[key]):
                whole = {**row, PRIVATE: self.truth[key]}
                found.append(tuple(whole[column] for column in query.columns) or (1,))
        return found

    def answer_files(self) -> dict[str, str]:
        """CSV files with the answers, named v1.csv, ..."""
        files = {}
        for number, query in enumerate(self.queries):
            text = io.StringIO()
            writer = csv.writer(text, lineterminator="\n")
            writer.writerow(query.columns or ("1",))
            writer.writerows(self.answer_rows(number) if self.told is None else self.told[number])
            files[f"v{number + 1}.csv"] = text.getvalue()
        return files

    def to_plan(
        self,
        *checks: str,
        gamma: Fraction | None = None,
        k: int = 2,
        variant: str | None = None,
        answer_files: bool = False,
    ) -> dict[str, Any]:
        """The plan that asks these checks (without any:
        gamma-privacy, k-sind, k-rsind) of all releases together.
        """
        releases: dict[str, Any] = {}
        for number, query in enumerate(self.queries, 1):
            releases[f"v{number}"] = {"query": query.sql()}
            if answer_files:
                releases[f"v{number}"]["answer"] = f"v{number}.csv"
        table: dict[str, Any] = {
            "columns": [*self.columns, PRIVATE],
            "key": list(self.key),
            "sensitive": [PRIVATE],
            "rows": [list(row) for row in self.rows],
        }
        if self.domain is not None:
            table["domains"] = {PRIVATE: list(self.domain)}
        limits: dict[str, dict[str, Any]] = {
            "gamma-privacy": {"gamma": str(self.gamma_wanted if gamma is None else gamma)},
            "k-sind": {"k": k},
            "k-rsind": {"k": k, **({"variant": variant} if variant else {})},
        }
        asked = [
            {check: {"releases": list(releases), **limits[check]}} for check in checks or limits
        ]
        return {"version": 1, "tables": {"people": table}, "releases": releases, "checks": asked}

    def __str__(self) -> str:
        lines = [
            f"{self.name}: {', '.join(self.columns)}, {PRIVATE}"
            + (f" of {self.domain}" if self.domain else "")
        ]
        lines += [f"  {row}" for row in self.rows]
        for number, query in enumerate(self.queries):
            told = "" if self.told is None else f" -- told {list(self.told[number])}"
            lines.append(f"  v{number + 1}: {query.sql()}{told}")
        lines += [f"  c{number}: {query.sql()}" for number, query in enumerate(self.candidates, 1)]
        return "\n".join(lines)


def in_order(query: Query, row: Sequence[Any]) -> tuple[Any, ...]:
    """A row of a query as the oracle has it: the private value last."""
    if not query.columns:
        return ()
    whole = dict(zip(query.columns, row, strict=True))
    last = (whole[PRIVATE],) if PRIVATE in whole else ()
    return (*(whole[column] for column in query.columns if column != PRIVATE), *last)


# -- random cases ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """What a case may contain."""

    private: bool = False  # conditions on the private column
    numbers: bool = False  # private values are numbers
    declared: float = 0.3  # how often a domain is declared
    missing: bool = False  # public values may be missing
    keys: int = 1  # columns of the key
    told: bool = False  # answers from elsewhere, some of which no table fits
    restore: bool = False  # few views above a gamma, and candidates
    people: tuple[int, int] = (3, 8)


KINDS: dict[str, Kind] = {
    "gamma": Kind(),
    "gamma-domain": Kind(declared=1),
    "sind": Kind(private=True),
    "sind-public": Kind(declared=0.1),
    "numbers": Kind(numbers=True),
    "sind-numbers": Kind(private=True, numbers=True),
    "missing": Kind(missing=True),
    "sind-missing": Kind(private=True, missing=True),
    "two-keys": Kind(keys=2),
    "told": Kind(told=True),
    "restore": Kind(restore=True, declared=0.1, people=(5, 8)),
}
GAMMA = (
    "gamma",
    "gamma-domain",
    "numbers",
    "missing",
    "two-keys",
)  # conditions on public columns, true answers
SIND = ("sind", "sind-numbers", "sind-public", "sind-missing")

NAMES = ("ann", "bob", "cid", "dan", "eve", "fen", "gus", "hal")
FAMILIES = ("low", "lee", "may", "orr")
ZIPS = ("94301", "94305", "10001")
WORDS = ("asthma", "flu", "hiv", "ulcer")
NUMBERS = (1, 2, 3, 4)
MOST_TABLES = 7000
MOST_SWAPPED = 1100
TRIES = 40
GAMMAS = (Fraction(1, 2), Fraction(1, 2), Fraction(2, 3), Fraction(3, 5), Fraction(3, 4))
AIMS: dict[str, tuple[Fraction, Fraction]] = {
    "weak": (Fraction(0), Fraction(1, 3)),
    "fair": (Fraction(1, 3), Fraction(1, 2)),
    "strong": (Fraction(1, 2), Fraction(99, 100)),
    "sure": (Fraction(99, 100), Fraction(1)),
}


@lru_cache(maxsize=2000)  # tests ask for the same ones, with what is true of them
def case(kind: str, number: int) -> Case:
    """The case of a kind with a number.

    >>> case("gamma", 3) == case.__wrapped__("gamma", 3)
    True
    """
    rng = random.Random(f"overlap/{kind}/{number}")
    draw = Draw(rng, KINDS[kind])
    aim = draw.aim()
    for _ in range(TRIES):
        found = draw.case(f"case({kind!r}, {number})")
        if aim(found):
            break
    return found


def breached(case: Case) -> bool:
    """More than was wanted is believed, but nothing is sure: that nothing restores."""
    largest = case.beliefs().largest
    return largest is not None and case.gamma_wanted < largest < 1


def cases(kinds: Sequence[str] = GAMMA, count: int = 1000, start: int = 0) -> Iterator[Case]:
    """So many cases, of the kinds in turn."""
    for number in range(start, start + count):
        yield case(kinds[number % len(kinds)], number // len(kinds))


class Draw:
    """Pieces of cases of a kind."""

    def __init__(self, rng: random.Random, kind: Kind) -> None:
        self.rng, self.kind = rng, kind
        self.values: tuple[Any, ...] = NUMBERS if kind.numbers else WORDS
        self.rows: list[dict[str, Any]] = []
        self.few = 0  # so many further views should restore; 0: none
        self.hints: list[Query] = []

    def aim(self) -> Callable[[Case], bool]:
        """What the case should be like: that all outcomes occur often."""
        rng, kind = self.rng, self.kind
        if kind.private:
            wanted = rng.choice(
                [1, 2, 2, 3, 0]
            )  # the level of SIND; 0: people are alike with different outputs
            return lambda case: (
                overlap.level(case.sind()) == wanted
                if wanted
                else set(map(frozenset, case.sind())) != set(map(frozenset, case.conservative()))
            )
        if kind.told:
            none = rng.random() < 0.5
            return lambda case: (case.beliefs().count == 0) == none
        if kind.restore:
            self.few = rng.choice([0, 1, 1, 2])
            wanted_sizes = {self.few} if self.few else set()
            return lambda case: (
                breached(case) and {len(one) for one in case.restorations(2)} == wanted_sizes
            )
        low, high = rng.choice(list(AIMS.values()))
        return lambda case: low < (case.beliefs().largest or 0) <= high

    # -- people

    def case(self, name: str) -> Case:
        rng, kind = self.rng, self.kind
        columns = (
            ("name", "sex", "zip", "age")
            if kind.keys == 1
            else ("name", "family", "sex", "zip", "age")
        )
        domain = self.table()
        queries = self.queries()
        rows = tuple(tuple(row[column] for column in (*columns, PRIVATE)) for row in self.rows)
        found = Case(name, columns, columns[: kind.keys], rows, queries, domain)
        if kind.told:
            return self.told(found)
        if kind.restore:
            some = all_ranges(found, text=())
            some = rng.sample(some, min(len(some), 8)) + [self.query(PRIVATE) for _ in range(2)]
            some += self.hints if rng.random() < 0.6 else []
            rng.shuffle(some)
            return replace(found, candidates=tuple(some), gamma_wanted=rng.choice(GAMMAS))
        return found

    def table(self) -> tuple[Any, ...] | None:
        """Draws people with values, and whether a domain is declared."""
        rng, kind = self.rng, self.kind
        while True:
            number, few = rng.randint(*kind.people), rng.choices([2, 3, 4], [2, 4, 3])[0]
            more = rng.choice([0, 0, 1]) if rng.random() < kind.declared else None
            most = MOST_SWAPPED if kind.private else MOST_TABLES
            if (few + (more or 0)) ** number <= most and few + (more or 0) <= len(self.values):
                break
        used = sorted(rng.sample(self.values, few))
        names = rng.sample(NAMES, number) if kind.keys == 1 else []
        pairs = rng.sample(list(itertools.product(NAMES[:3], FAMILIES[:3])), number)
        first, step = (
            rng.choice([20, 23, 40, 0] if kind.numbers else [20, 23, 40]),
            rng.choice([1, 1, 2]),
        )
        ages = [
            first + step * (place if rng.random() < 0.8 else rng.randrange(number))
            for place in range(number)
        ]
        zips = ZIPS[: rng.choice([1, 2, 2, 3])]
        skewed = rng.random() < 0.3
        self.rows = []
        for place in range(number):
            row: dict[str, Any] = (
                {"name": names[place]}
                if names
                else dict(zip(("name", "family"), pairs[place], strict=True))
            )
            row |= {
                "sex": "M" if place < number // 2 or rng.random() < 0.2 else "F",
                "zip": rng.choice(zips),
                "age": ages[place],
            }
            row[PRIVATE] = (
                used[place % few] if not skewed else rng.choice(used[: rng.choice([1, few])])
            )
            if kind.missing:
                row |= {column: None for column in ("sex", "zip", "age") if rng.random() < 0.15}
            self.rows.append(row)
        values = [row[PRIVATE] for row in self.rows]
        rng.shuffle(values)
        for row, value in zip(self.rows, values, strict=True):
            row[PRIVATE] = value
        if more is None:
            return None
        rest = [value for value in self.values if value not in used]
        return tuple(rng.sample([*used, *rest[:more]], few + more))

    # -- queries

    def queries(self) -> tuple[Query, ...]:
        rng = self.rng
        if self.kind.restore:
            return self.overlapping()
        number = rng.choices([1, 2, 3, 4], [2, 5, 4, 2])[0]
        found = [self.query()]
        while len(found) < number:
            chance = rng.random()
            if chance < 0.08:  # the same view again, or its condition written in another way
                again = rng.choice(found)
                found.append(
                    again
                    if rng.random() < 0.5 or again.where is None
                    else replace(again, where=Not(Not(again.where)))
                )
            elif chance < 0.2:  # a part of another view
                outer = rng.choice(found)
                inner = self.condition()
                found.append(
                    replace(outer, where=Join("AND", outer.where, inner) if outer.where else inner)
                )
            else:
                found.append(self.query())
        return tuple(found)

    def overlapping(self) -> tuple[Query, ...]:
        """Ranges of ages, each with a part of the next, and values for which further ranges
        (`hints`) often help; by chance nearly nothing does.
        """
        rng = self.rng
        first = min(row["age"] for row in self.rows)
        for place, row in enumerate(self.rows):
            row["age"] = first + place
        last = len(self.rows) - 1
        return self.around_one(last) if self.few == 2 or rng.random() < 0.1 else self.in_parts(last)

    def in_parts(self, last: int) -> tuple[Query, ...]:
        """Every part has different values as far as they go, and publishing a part helps."""
        rng = self.rng
        cuts = sorted(rng.sample(range(1, last + 1), min(rng.choice([2, 2, 3]), last)))
        parts = list(itertools.pairwise([0, *cuts, last + 1]))
        used = sorted({row[PRIVATE] for row in self.rows})
        for start, end in parts if rng.random() < 0.8 else []:
            few = rng.sample(used, min(len(used), rng.choice([2, 2, 3])))
            for place in range(start, end):
                self.rows[place][PRIVATE] = few[(place - start) % len(few)]
        self.hints = [self.range(start, end - 1) for start, end in parts]
        return tuple(
            self.range(start, end - 1) for (start, _), (_, end) in itertools.pairwise(parts)
        )

    def around_one(self, last: int) -> tuple[Query, ...]:
        """As in the paper: one person is in two views, and pairs with their neighbours help."""
        rng = self.rng
        used = sorted({row[PRIVATE] for row in self.rows})
        one = rng.choice([last // 2, (last + 1) // 2])
        mine, other, third = (rng.sample(used, len(used)) * 3)[:3]
        for place, row in enumerate(self.rows):
            far = abs(place - one)
            row[PRIVATE] = (mine, other, mine, third)[far] if far < 4 else rng.choice(used)
        self.hints = [self.range(one - 1, one), self.range(one, one + 1)]
        return self.range(0, one), self.range(one, last)

    def range(self, start: int, end: int) -> Query:
        """The private values of a range of ages."""
        return Query(
            (PRIVATE,),
            Within("age", (self.rows[start]["age"], self.rows[end]["age"]), between=True),
        )

    def query(self, *columns: str) -> Query:
        rng = self.rng
        chosen = columns or self.projection()
        chance = rng.random()
        if chance < 0.06:
            return Query(chosen)
        if chance < 0.1:
            return Query(
                chosen, rng.choice([Compare("age", ">", 200), Compare("zip", "=", "00000")])
            )
        if self.kind.private and rng.random() < 0.5:
            return Query(chosen, self.on_private())
        return Query(chosen, self.condition())

    def projection(self) -> tuple[str, ...]:
        rng = self.rng
        chance = rng.random()
        hidden = 0.25 if self.kind.private else 0.1
        if chance < hidden:
            return rng.choice([(), (), ("zip",), ("sex", "zip")])
        if chance < hidden + 0.25:
            return rng.choice(
                [("zip", PRIVATE), (PRIVATE, "sex"), ("sex", PRIVATE, "zip"), (PRIVATE, "age")]
            )
        if chance < hidden + 0.27:
            return ("name", PRIVATE)
        return (PRIVATE,)

    def condition(self, depth: int = 0) -> Condition:
        """On public columns."""
        rng = self.rng
        chance = rng.random()
        if depth < 2 and chance < 0.12:
            return Join("OR", self.condition(depth + 1), self.condition(depth + 1))
        if depth < 2 and chance < 0.24:
            return Join("AND", self.condition(depth + 1), self.condition(depth + 1))
        if depth < 2 and chance < 0.3:
            return Not(self.condition(depth + 1))
        if self.kind.missing and chance < 0.36:
            return Missing(rng.choice(["sex", "zip", "age"]), rng.random() < 0.5)
        column = rng.choices(["age", "name", "sex", "zip"], [6, 4, 2, 2])[0]
        return self.compared(
            column, sorted({row[column] for row in self.rows if row[column] is not None})
        )

    def compared(self, column: str, values: Sequence[Any]) -> Condition:
        """A column against some of these values."""
        rng = self.rng
        if not values:
            return Compare(
                column, "=", "M" if column == "sex" else 30 if column == "age" else "94305"
            )
        if isinstance(values[0], int) and rng.random() < 0.9:
            if rng.random() < 0.65:  # a wide range, so that ranges overlap
                low, high = sorted(rng.choices(values, k=2))
                if rng.random() < 0.5:
                    low, high = rng.choice([(values[0], high), (low, values[-1])])
                return Within(column, (low, high), between=True, negated=rng.random() < 0.05)
            return Compare(column, rng.choice(["<", "<=", ">", ">="]), rng.choice(values))
        if column in ("sex", "zip") or rng.random() < 0.2:
            return Compare(column, rng.choice(["=", "=", "=", "<>", "!="]), rng.choice(values))
        few = rng.randint(min(2, len(values)), len(values))
        return Within(column, tuple(rng.sample(list(values), few)), negated=rng.random() < 0.1)

    def on_private(self) -> Condition:
        """On the private column, and perhaps public ones."""
        rng = self.rng
        values = sorted({row[PRIVATE] for row in self.rows})
        if self.kind.numbers and rng.random() < 0.25:
            found: Condition = Compare("age", rng.choice([">", "<=", "<>"]), PRIVATE, other=True)
        elif rng.random() < 0.5:
            found = Compare(PRIVATE, rng.choice(["=", "=", "<>"]), rng.choice(values))
        else:
            found = self.compared(PRIVATE, values)
        if rng.random() < 0.6:
            found = Join(
                rng.choice(["AND", "AND", "OR"]), *rng.sample([found, self.condition(1)], 2)
            )
        return Not(found) if rng.random() < 0.1 else found

    # -- answers from elsewhere

    def told(self, case: Case) -> Case:
        """With answers that are true, or of another table, or each of another table, or with a row
        too many, too few or changed: often no table fits.
        """
        rng = self.rng
        way = rng.choice(["true", "another", "apart", "apart", "rows"])
        told: list[list[tuple[Any, ...]]] = []
        values = [row[-1] for row in case.rows]
        if way == "another":
            rng.shuffle(values)
        for number, _ in enumerate(case.queries):
            if way == "apart":
                rng.shuffle(values)
            rows = tuple((*row[:-1], value) for row, value in zip(case.rows, values, strict=True))
            told.append(replace(case, rows=rows).answer_rows(number))
        if way == "rows":
            self.disturb(case, told)
        return replace(case, told=tuple(map(tuple, told)))

    def disturb(self, case: Case, told: list[list[tuple[Any, ...]]]) -> None:
        rng = self.rng
        number = rng.randrange(len(told))
        rows, columns = told[number], case.queries[number].columns
        chance = rng.random()
        if rows and chance < 0.3:
            rows.pop(rng.randrange(len(rows)))
        elif rows and chance < 0.6:
            rows.append(rng.choice(rows))
        elif rows and PRIVATE in columns:
            place, at = rng.randrange(len(rows)), columns.index(PRIVATE)
            rows[place] = (*rows[place][:at], rng.choice(self.values), *rows[place][at + 1 :])


# -- restoration -----------------------------------------------------------------------------------


def all_ranges(
    case: Case, numeric: Sequence[str] = ("age",), text: Sequence[str] = ("sex", "zip")
) -> list[Query]:
    """One query for each set of people that a conjunction of ranges and equalities selects,
    fewest columns first.
    """
    rows = list(case.people.values())
    parts: list[list[Condition | None]] = []
    for column in numeric:
        values = sorted({row[column] for row in rows if row[column] is not None})
        pairs = itertools.combinations_with_replacement(values, 2)
        parts.append([None, *(Within(column, pair, between=True) for pair in pairs)])
    for column in text:
        values = sorted({row[column] for row in rows if row[column] is not None})
        parts.append([None, *(Compare(column, "=", value) for value in values)])
    found: dict[frozenset[Any], Query] = {}
    for chosen in sorted(
        itertools.product(*parts), key=lambda chosen: len(chosen) - chosen.count(None)
    ):
        where: Condition | None = None
        for one in chosen:
            where = one if where is None else where if one is None else Join("AND", where, one)
        members = frozenset(
            key
            for key, row in case.people.items()
            if where is None or where.truth({**row, PRIVATE: None}) is True
        )
        if members:
            found.setdefault(members, Query((PRIVATE,), where))
    return list(found.values())


# -- classes ---------------------------------------------------------------------------------------

MOST_ASSIGNMENTS = 20_000


def classes(number: int, consistent: bool | None = None) -> Classes:
    """Random classes with answers. `consistent`: of a table (True), changed so that often none fits
    (False), or either.

    >>> classes(5) == classes(5)
    True
    """
    rng = random.Random(f"overlap/classes/{number}/{consistent}")
    fewest = rng.choice([1, 1, 50, 500, 2000])
    while True:
        many, values = rng.randint(1, 5), rng.choice([1, 2, 2, 2, 3, 3, 4])
        sizes = tuple(rng.choice([1, 1, 2, 2, 3, 4, 5]) for _ in range(many))
        views = rng.choices([1, 2, 3, 4], [2, 4, 3, 1])[0]
        outputs = random_outputs(rng, many, values, views)
        found = Classes(sizes, outputs, ())
        if fewest <= found.assignments <= MOST_ASSIGNMENTS:
            break
    people = [outputs[one] for one, size in enumerate(sizes) for _ in range(size)]
    weights = [rng.choice([1, 1, 3]) for _ in range(values)]
    table = rng.choices(range(values), weights, k=len(people))
    given: list[Counter[Any]] = [
        Counter(
            rows[value][view]
            for rows, value in zip(people, table, strict=True)
            if rows[value][view] is not None
        )
        for view in range(views)
    ]
    if consistent is False or (consistent is None and rng.random() < 0.25):
        for _ in range(rng.choice([1, 1, 2])):
            disturb(rng, given)
    return replace(found, given=tuple(given))


def random_outputs(rng: random.Random, many: int, values: int, views: int) -> tuple[Any, ...]:
    """What each class puts into each view for each value;
    most views show the value of whom they select.
    """
    ways = [rng.choices(["value", "shown", "count", "any"], [6, 2, 2, 2])[0] for _ in range(views)]
    member = [[rng.random() < 0.6 for _ in range(views)] for _ in range(many)]

    def put(one: int, value: int, view: int) -> Any:
        if ways[view] == "any":  # the condition is on the value too
            return rng.choice([None, "row", "row", value])
        if not member[one][view]:
            return None
        return {"value": value, "shown": (one % 2, value), "count": "row"}[ways[view]]

    return tuple(
        tuple(tuple(put(one, value, view) for view in range(views)) for value in range(values))
        for one in range(many)
    )


def disturb(rng: random.Random, given: list[Counter[Any]]) -> None:
    """Changes an answer: a row becomes another, or goes, or comes."""
    answer = given[rng.randrange(len(given))]
    rows = sorted(answer, key=repr)
    known = sorted({row for one in given for row in one}, key=repr) or ["row"]
    if rows and rng.random() < 0.8:
        answer[rng.choice(rows)] -= 1
    if rng.random() < 0.8:
        answer[rng.choice(known)] += 1
    for row in [row for row, count in answer.items() if count == 0]:
        del answer[row]
