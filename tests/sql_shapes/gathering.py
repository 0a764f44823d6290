"""Gather what the generated part of the corpus lacks: `python -m sql_shapes.gathering`.
For every place and kind the shortest of some statements.

A statement is taken where the engine runs it and Tacit reads it;
one that keeps a secret by Tacit comes first, as it can be proved wrong.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import yaml

from sql_shapes.__main__ import Benches
from sql_shapes.corpus import FOLDER, shapes
from sql_shapes.expressions import ANYWHERE, TRUTHS, VALUES
from sql_shapes.queries import CLAUSES, LEADS, PLACES, Queries, writer
from sql_shapes.schemas import SCHEMAS

NAMES = ("two", "crossed", "words", "nulls")
TRIES = 12
AROUND = ("outer column", "outer column, bare", "aggregate of the query around")
ENOUGH = 3  # that keep a secret


def main() -> int:
    """Write the file; say for what nothing was found."""
    known = {
        (shape.place, shape.kind): shape
        for shape in (shapes() if (FOLDER / "generated.yaml").exists() else ())
    }
    found = []
    with tempfile.TemporaryDirectory() as folder:
        benches = Benches(Path(folder), None)
        for place, kind in wanted():
            if (place, kind) in known:
                found.append([known[place, kind].schema, place, kind, known[place, kind].sql])
                continue
            best = shortest(benches, place, kind)
            if best is None:
                print(f"nothing for {kind} at {place}", flush=True)
            else:
                found.append([best[0], place, kind, best[1]])
    lines = [
        yaml.safe_dump(row, default_flow_style=True, width=10_000, allow_unicode=False).strip()
        for row in found
    ]
    (FOLDER / "generated.yaml").write_text(
        (
            "# Written by python -m sql_shapes.gathering: schema, place, kind of expression or "
            "clause, statement.\n"
        )
        + "".join(f"- {line}\n" for line in lines)
    )
    return 0


def wanted() -> list[tuple[str, str]]:
    """Every place with every kind of expression, and every place of a query with every clause."""
    found = [(place, kind) for place in ANYWHERE for kind in (*TRUTHS, *VALUES)]
    return found + [(place, clause) for place in PLACES for clause in CLAUSES]


def shortest(benches: Benches, place: str, kind: str) -> tuple[str, str] | None:
    """The schema and the statement."""
    found: list[tuple[bool, int, str, str]] = []
    for number in range(TRIES):
        name = NAMES[number % len(NAMES)]
        made = about(writer(f"corpus {place} {kind} {number}", SCHEMAS[name]), place, kind)
        sql = made.statement()
        if not (made.kinds[place, kind] or made.places[place, kind]) or len(sql) > 300:
            continue
        outcome = benches.bench(name, closed=True).statement(sql, [])
        if outcome.read in ("exactly", "by supports"):
            found.append((not outcome.verdicts["holds"], len(sql), name, sql))
        if sum(not one[0] for one in found) >= ENOUGH:
            break
    return min(found)[2:] if found else None


def about(made: Queries, place: str, kind: str) -> Queries:
    """A writer of a statement about this."""
    made.busy, made.aim = 0.05, 0
    if kind in AROUND:
        made.aim, made.focus, made.within = (
            1,
            (place, kind),
            ("LATERAL", place if place in CLAUSES else "WHERE"),
        )
    elif place in PLACES:
        made.within = place, kind
        made.focus = (made.focus[0], LEADS[place]) if place in LEADS else ("", "")
    else:
        made.within, made.focus = ("", ""), (place, kind)
    return made


if __name__ == "__main__":
    sys.exit(main())
