"""Perfect privacy: a pair of queries, and large queries as they grow.

    python -m benchmarks.perfect pair | large | growth [FILE.svg]

CPU seconds, the least of several runs. The peer of large queries is a plain backtracking search for
the one homomorphism that decides the question; it is stopped after two seconds.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from math import isqrt, log
from pathlib import Path
from typing import Any

from benchmarks.growth import Axis, chart
from benchmarks.meter import cpu, require
from tacit.families.queries.logic.critical import SecretJudge, judge
from tacit.families.queries.query import (
    Atom,
    Conjunctive,
    Constant,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)
from tacit.families.queries.read import read

R: Relations = {"R": Relation("R", ("a", "b"))}
CONSTANTS = Query("V", (Conjunctive((), (Atom("R", (Constant(1), Constant(2))),)),))
LOOP = Atom("R", (Variable("w"), Variable("w")))
SIZES = (50, 100, 200, 400)
SQUARES = (5, 7, 8, 10, 14)  # sides of grids with 40 to 364 atoms
PATIENCE = 2.0  # seconds of the plain search
Atoms = tuple[Atom, ...]


# --- a pair without self-joins --------------------------------------------------------------------

WARDS: Relations = {
    "patients": Relation(
        "patients",
        ("id", "name", "ward"),
        (("id",),),
        kinds={"id": "integer", "name": "text", "ward": "text"},
    ),
    "visits": Relation(
        "visits",
        ("patient", "day", "illness"),
        kinds={"patient": "integer", "day": "date", "illness": "text"},
    ),
}
PAIRS = {
    "disclosed": (
        (
            "SELECT DISTINCT p.name FROM patients p JOIN visits v ON v.patient = p.id WHERE "
            "v.illness = 'cancer'"
        ),
        "SELECT DISTINCT p.ward, v.day FROM patients p JOIN visits v ON v.patient = p.id",
    ),
    "private": (
        "SELECT DISTINCT v.day FROM visits v WHERE v.illness = 'cancer'",
        "SELECT DISTINCT v.day FROM visits v WHERE v.illness = 'flu'",
    ),
}


def pair() -> list[dict[str, Any]]:
    """Two small queries, judged warm, beside reading their SQL."""
    rows = []
    for expected, texts in PAIRS.items():
        secret, view = (enclosed(text) for text in texts)
        judging = SecretJudge(WARDS)
        seconds, verdict = cpu(
            lambda secret=secret, view=view, judging=judging: hundred(
                lambda: judging.judge(secret, [view])
            )
        )
        peer, _ = cpu(lambda texts=texts: hundred(lambda: [enclosed(text) for text in texts]), 3)
        found = type(verdict).__name__.lower()
        require(found == expected, f"{texts}: {found}")
        rows.append(
            {
                "name": f"a pair without self-joins, {found}",
                "seconds": seconds / 100,
                "peer": peer / 100,
            }
        )
    return rows


def enclosed(text: str) -> Query:
    reading = read(text, WARDS, name="q")
    require(reading.is_exact, f"not read exactly: {text}")
    return reading.enclosed


def hundred(work: Callable[[], Any]) -> Any:
    for _ in range(99):
        work()
    return work()


# --- large queries --------------------------------------------------------------------------------


def chain(length: int) -> Atoms:
    nodes = [Variable(f"x{number}") for number in range(length + 1)]
    return tuple(Atom("R", step) for step in pairwise(nodes))


def star(size: int) -> Atoms:
    """Self-joins that the last atom makes superfluous."""
    centre = Variable("x0")
    return (
        *(Atom("R", (centre, Variable(f"y{number}"))) for number in range(size - 1)),
        Atom("R", (centre, Constant("c"))),
    )


def tree(size: int) -> Atoms:
    """Legs that go up with one step back, each at another height:
    none fits on another, so nothing folds.
    """
    atoms: list[Atom] = []
    legs = 2 * isqrt(size) // 3
    for leg in range(legs):
        steps = [1] * (size // legs - 1)
        steps.insert(2 + leg, -1)
        here = Variable("x0")
        for number, step in enumerate(steps):
            there = Variable(f"l{leg}_{number}")
            atoms.append(Atom("R", (here, there) if step > 0 else (there, here)))
            here = there
    return tuple(atoms)


def twice(atoms: Atoms) -> Atoms:
    """Each atom once more, with other variables: all of it folds."""
    return (
        *atoms,
        *(Atom("R", tuple(Variable(f"{term}_again") for term in atom.terms)) for atom in atoms),
    )


def grid(side: int) -> Atoms:
    node = {(i, j): Variable(f"g{i}_{j}") for i in range(side) for j in range(side)}
    right = [Atom("R", (node[i, j], node[i, j + 1])) for i in range(side) for j in range(side - 1)]
    return (
        *right,
        *(Atom("R", (node[i, j], node[i + 1, j])) for i in range(side - 1) for j in range(side)),
    )


def asked(atoms: Atoms, *head: Term, name: str = "S") -> Query:
    return Query(name, (Conjunctive(head, atoms),))


Question = tuple[Query, Query, str]  # secret, view, verdict


def from_head(size: int) -> Question:
    return asked(chain(size), Variable("x0")), CONSTANTS, "disclosed"


def boolean(size: int) -> Question:
    return asked(chain(size)), CONSTANTS, "disclosed"


def both_sides(size: int) -> Question:
    return asked(chain(size)), asked(chain(size), name="V"), "disclosed"


def self_joins(size: int) -> Question:
    return asked(star(size), Variable("x0")), CONSTANTS, "private"


def negative_tree(size: int) -> Question:
    return asked(tree(size)), CONSTANTS, "disclosed"


def folding_tree(size: int) -> Question:
    return asked(twice(tree(size // 2))), CONSTANTS, "disclosed"


def square(side: int) -> Question:
    return asked(grid(side)), CONSTANTS, "disclosed"


def square_and_loop(side: int) -> Question:
    return asked((*grid(side), LOOP)), CONSTANTS, "private"


# name, how to build, the size of the goal, the goal in seconds, the sizes of the growth
LARGE: tuple[tuple[str, Callable[[int], Question], int, float, Sequence[int]], ...] = (
    ("self-joins, private", self_joins, 200, 1.0, SIZES),
    ("chain from the head", from_head, 400, 0.1, SIZES),
    ("chain, boolean", boolean, 400, 0.1, SIZES),
    ("the same chain on both sides", both_sides, 400, 0.1, SIZES),
    ("tree, no homomorphism", negative_tree, 200, 1.0, SIZES),
    ("tree that folds in half", folding_tree, 200, 1.0, SIZES),
    ("grid", square, 8, 1.0, SQUARES),
    ("grid and loop, private", square_and_loop, 8, 1.0, SQUARES),
)


def measured(build: Callable[[int], Question], size: int, repeats: int) -> tuple[float, Question]:
    """The CPU seconds of one question, everything cold but Python itself."""
    question = secret, view, expected = build(size)
    seconds, verdict = cpu(lambda: judge(secret, [view], R), repeats)
    require(
        type(verdict).__name__.lower() == expected,
        f"{build.__name__} {size}: {type(verdict).__name__}",
    )
    return seconds, question


def large() -> list[dict[str, Any]]:
    """Each large query at the size of its goal, beside a plain search."""
    rows = []
    for name, build, size, goal, _ in LARGE:
        seconds, (secret, _, _) = measured(build, size, 7)
        peer, ended = plain_search(secret.parts[0])
        rows.append(
            {
                "name": name,
                "atoms": len(secret.parts[0].atoms),
                "seconds": seconds,
                "goal": goal,
                "peer": peer,
                "ended": ended,
            }
        )
    return rows


def growth() -> list[dict[str, Any]]:
    """Each kind of query at several sizes."""
    rows = []
    for name, build, _, _, sizes in LARGE:
        for size in sizes:
            seconds, (secret, _, _) = measured(build, size, 5)
            rows.append({"name": name, "atoms": len(secret.parts[0].atoms), "seconds": seconds})
    return rows


def plain_search(query: Conjunctive) -> tuple[float, bool]:
    """CPU seconds of looking for a homomorphism that avoids the first atom;
    False: it was stopped.
    """
    begun = time.process_time()
    found = backtracking(
        query.atoms, query.atoms[1:], {term: term for term in query.head}, begun + PATIENCE
    )
    return time.process_time() - begun, found is not None


def backtracking(atoms: Atoms, facts: Atoms, binding: dict[Term, Term], end: float) -> bool | None:
    """Is there a homomorphism? Atom by atom as they are written, fact by fact.
    None: the time is up.
    """
    levels: list[tuple[Iterator[Atom], list[Term]]] = [(iter(facts), [])]
    while levels:
        if time.process_time() > end:
            return None
        options, bound = levels[-1]
        for term in bound:
            del binding[term]
        bound.clear()
        fact = next(options, None)
        if fact is None:
            levels.pop()
        elif bind(atoms[len(levels) - 1], fact, binding, bound):
            if len(levels) == len(atoms):
                return True
            levels.append((iter(facts), []))
    return False


def bind(atom: Atom, fact: Atom, binding: dict[Term, Term], bound: list[Term]) -> bool:
    for term, value in zip(atom.terms, fact.terms, strict=True):
        if isinstance(term, Constant):
            if term != value:
                return False
        elif term not in binding:
            binding[term] = value
            bound.append(term)
        elif binding[term] != value:
            return False
    return True


# --- the picture ----------------------------------------------------------------------------------


def drawn(rows: Sequence[dict[str, Any]]) -> str:
    """The growth as an SVG file, a line per kind of query."""
    from tacit.report.charts.portrait_chart import EXPOSED, MUTED

    names = [name for name, *_ in LARGE]
    colours = (MUTED, "#9dbbdb", "#4a76a8", "#1f4468", "#0f766e", "#6bb5a8", "#e08a5b", EXPOSED)
    steepest = max(slope([row for row in rows if row["name"] == name]) for name in names)
    slowest = max(row["seconds"] for row in rows)
    title = (
        f"Queries of up to 400 atoms: {1000 * slowest:.0f} ms at most, growing no faster than "
        f"n^{steepest:.1f}"
    )
    across = Axis("atoms", "atoms of the secret", (38, 420), (50, 100, 200, 400))
    up = Axis(
        "milliseconds",
        "CPU milliseconds of one question, cold",
        (1, 1000),
        (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000),
    )
    told = "; ".join(
        f"{row['name']}, {row['atoms']} atoms: {1000 * row['seconds']:.1f} ms" for row in rows
    )
    shown = [{**row, "milliseconds": 1000 * row["seconds"]} for row in rows]
    return chart(shown, dict(zip(names, colours, strict=False)), across, up, title, told)


def slope(rows: Sequence[dict[str, Any]]) -> float:
    """The exponent of the growth: how steep the line through all points
    is when both axes are logarithmic.
    """
    points = [(log(row["atoms"]), log(row["seconds"])) for row in rows]
    across, up = (sum(values) / len(points) for values in zip(*points, strict=True))
    return sum((x - across) * (y - up) for x, y in points) / sum(
        (x - across) ** 2 for x, _ in points
    )


def main(what: str, *given: str) -> None:
    rows = {"pair": pair, "large": large, "growth": growth}[what]()
    if what == "growth":
        exponents = {
            name: slope([row for row in rows if row["name"] == name]) for name, *_ in LARGE
        }
        if given:
            Path(given[0]).write_text(drawn(rows), "utf-8")
        print(json.dumps({"rows": rows, "exponents": exponents}))
    else:
        print(json.dumps({"rows": rows}))


if __name__ == "__main__":
    main(*sys.argv[1:])
