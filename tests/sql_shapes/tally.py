"""What was seen in a run, as tables:
which expression stood where, how statements were read, what was said of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from sql_shapes.expressions import Expressions
from sql_shapes.judging import Outcome


@dataclass
class Tally:
    """Counts over many statements."""

    statements: int = 0
    executed: int = 0
    runs: int = 0
    on_postgres: int = 0
    defects: Counter[str] = field(default_factory=Counter)
    read: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    gateway: Counter[str] = field(default_factory=Counter)
    kinds: Counter[tuple[str, str]] = field(default_factory=Counter)
    places: Counter[tuple[str, str]] = field(default_factory=Counter)
    kept: Counter[str] = field(
        default_factory=Counter
    )  # statements that run and are said to keep a secret, by how they were read

    def add(self, made: Expressions, outcome: Outcome) -> None:
        """Count one statement."""
        self.statements += 1
        self.runs += outcome.runs
        self.on_postgres += made.postgres
        self.executed += outcome.executed
        self.defects.update(defect.kind for defect in outcome.defects)
        self.read[outcome.read] += 1
        self.verdicts += outcome.verdicts
        self.gateway += outcome.gateway
        if outcome.runs and outcome.verdicts["holds"]:
            self.kept[outcome.read] += 1
        if outcome.read in (
            "exactly",
            "by supports",
        ):  # what was not read, or does not run, covers nothing
            self.kinds.update(made.kinds.keys())
            self.places.update(made.places.keys())

    def said(self, seconds: float) -> str:
        """All of it, in words and tables."""
        return "\n".join(
            [
                (
                    "\n"
                    f"{self.statements} statements ({self.on_postgres} on PostgreSQL), "
                    f"{self.runs} of them run on an engine; {self.executed} executions; "
                    f"{seconds:.0f} s"
                ),
                f"read: {_listed(self.read)}",
                f"statements that run and keep some secret by Tacit: {_listed(self.kept)}",
                f"verdicts, a statement with each secret: {_listed(self.verdicts)}",
                f"gateway: {_listed(self.gateway)}",
                f"defects: {_listed(self.defects) or 'none'}",
                "\nstatements that run and are read, by place and kind of expression",
                _table(self.kinds),
                "\nstatements that run and are read, by where a query stands and what it has",
                _table(self.places),
            ]
        )


def _listed(counts: Mapping[str, int]) -> str:
    return ", ".join(
        f"{name} {count}" for name, count in sorted(counts.items(), key=lambda one: -one[1])
    )


def _table(counts: Mapping[tuple[str, str], int]) -> str:
    """A row for each place, a column for each kind;
    columns are numbered below where their names would be too wide.
    """
    places = sorted({place for place, _ in counts})
    kinds = sorted({kind for _, kind in counts})
    width = max(map(len, places), default=0)
    lines = [f"{'':{width}}" + "".join(f"{f'[{at}]':>6}" for at in range(len(kinds)))]
    lines += [
        f"{place:{width}}" + "".join(f"{counts.get((place, kind), 0) or '.':>6}" for kind in kinds)
        for place in places
    ]
    return "\n".join([*lines, "; ".join(f"[{at}] {kind}" for at, kind in enumerate(kinds))])
