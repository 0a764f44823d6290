"""`tacit init`: from a table to a plan that runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.engines.output import check_file
from tacit.plan.read.policies import load_policy
from tacit.starter.guessing import ColumnGuess, guess
from tacit.starter.plan_text import plan_text, refuse_existing, write_new
from tacit.starter.survey import look


@dataclass(frozen=True, slots=True)
class Starter:
    """A plan that was written: for which table, with which guesses,
    and what the owner should know.
    """

    plan: Path
    table: str
    rows: int
    guesses: tuple[ColumnGuess, ...]
    notes: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit init --json` prints."""
        return {
            "plan": str(self.plan),
            "table": self.table,
            "columns": [
                {
                    "name": one.name,
                    "type": one.facts.kind,
                    "role": one.role,
                    "why": one.why,
                    "distinct": one.facts.distinct,
                    "missing": one.facts.missing,
                }
                for one in self.guesses
            ],
        }


def start(
    data: str,
    *,
    plan: Path = Path("tacit.yaml"),
    table: str | None = None,
    policy: str | None = None,
) -> Starter:
    """Look at a table and write a starter plan for it; a plan that is there is left alone.

    `data` is a CSV or Parquet file, a DuckDB file, `postgresql://host/database` or `spark`; of a
    database `table` says which table, where it has several. `policy` is a pack to begin with.
    """
    refuse_existing(plan)
    if policy is not None:
        load_policy(policy, plan.parent)
    check_file(plan, ())
    found = look(data, plan=plan, table=table)
    guesses = guess(found.columns)
    write_new(plan, plan_text(found, guesses, policy=policy))
    return Starter(plan, found.table, found.rows, guesses, found.notes)
