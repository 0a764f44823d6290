"""Profile: everything that the start page shows of a table, found in
one go and small enough to be sent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path
from typing import Any

from tacit.engines.open import open_engine
from tacit.model.jobs import Job
from tacit.model.pictures import Gauge, gauges_chart, gauges_html
from tacit.model.schema import Table
from tacit.plan.plan import Plan
from tacit.starter.column_words import Role
from tacit.starter.guessing import ColumnGuess, guess
from tacit.starter.histograms import Counted, Histogram, histograms
from tacit.starter.survey import Look, RowsPlace, look_at_table, opened

NO_ROLE = "not released"


@dataclass(frozen=True, slots=True, repr=False)
class Profile:
    """A table as it was found: a guess and a histogram for every column.

    `values` are the most frequent values of the columns whose values may be shown, with their rows.
    """

    look: Look
    guesses: tuple[ColumnGuess, ...]
    histograms: Mapping[str, Histogram]
    values: Mapping[str, Counted]

    def roles(self) -> dict[str, tuple[str, ...]]:
        """The columns by the role that was guessed, such as "quasi-identifier"."""
        found: dict[str, tuple[str, ...]] = {}
        for one in self.guesses:
            role = one.role or NO_ROLE
            found[role] = (*found.get(role, ()), one.name)
        return found

    def to_json(self) -> list[dict[str, Any]]:
        """A line for each column: counts, the role that was guessed and why; no values."""
        return [
            {
                "column": one.name,
                "type": one.facts.kind,
                "role": one.role,
                "why": one.why,
                "distinct": one.facts.distinct,
                "missing": one.facts.missing,
            }
            for one in self.guesses
        ]

    def gauges(self) -> list[Gauge]:
        """How many different values each column has, of so many rows."""
        return [
            Gauge(f"{one.name} ({one.role or NO_ROLE})", one.facts.distinct) for one in self.guesses
        ]

    def __repr__(self) -> str:
        roles = "; ".join(f"{role}: {', '.join(names)}" for role, names in self.roles().items())
        return f"<Profile of {self.look.table}, {self.look.rows} rows; {roles}>"

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        told = "".join(
            f"<tr><td>{escape(one.name)}</td><td>{escape(one.role or NO_ROLE)}</td>"
            f"<td>{escape(one.why)}</td></tr>"
            for one in self.guesses
        )
        bars = gauges_html(self.gauges(), whole=self.look.rows)
        return f"<div>{self.look.rows} rows; different values:<br>{bars}<table>{told}</table></div>"

    def plot(self) -> Any:
        """Different values of each column, as an Altair chart (the extra `notebook`)."""
        title = f"Different values in {self.look.rows} rows"
        return gauges_chart(self.gauges(), title, whole=self.look.rows)

    def guess(self, column: str) -> ColumnGuess | None:
        """What was guessed about a column."""
        return next((one for one in self.guesses if one.name == column), None)

    def has_all_values(self, column: str) -> bool:
        """Whether every value of a column is among `values`."""
        found = self.guess(column)
        return found is not None and len(self.values.get(column, ())) == found.facts.distinct


def profile_data(
    data: str, *, plan: Path, table: str | None = None, job: Job | None = None
) -> Profile:
    """Profile a CSV or Parquet file, or a table of a database, for
    a plan that will lie at `plan`.
    """
    with opened(data, plan=plan, table=table) as place:
        return profile(place, job or Job())


def profile_table(plan: Plan, table: str, *, job: Job | None = None) -> Profile:
    """Profile a table that a plan has."""
    with open_engine(plan.source, plan.folder) as engine:
        one = plan.tables[table]
        return profile(RowsPlace(engine, plan.source, one, one.file), job or Job(), declared(one))


def declared(table: Table) -> dict[str, Role]:
    """The roles that a plan gives to columns, as they are guessed for others."""
    roles: dict[str, Role] = dict.fromkeys(table.identifiers, "identifier")
    roles.update(dict.fromkeys(table.quasi_identifiers, "quasi-identifier"))
    roles.update(dict.fromkeys(table.sensitive, "sensitive"))
    return roles


def profile(place: RowsPlace, job: Job, roles: Mapping[str, Role] | None = None) -> Profile:
    """Look at a table's columns, guess what they mean, count what is in them.

    Roles that are known count before guesses: values of identifiers are not looked at.
    """
    job.step(f"reading {place.table.name}", 0.02)
    engine, name = place.engine, place.table.name
    engine.attach_once(place.table)
    job.step("looking at the columns", 0.4)
    found = look_at_table(engine, place.source, place.table, place.file, place.notes)
    guesses = tuple(
        replace(one, role=(roles or {}).get(one.name, one.role)) for one in guess(found.columns)
    )
    job.step("counting values", 0.6)
    pictures, values = histograms(
        engine, name, guesses, lambda share: job.step("counting values", 0.6 + 0.39 * share)
    )
    job.step("done", 1.0)
    return Profile(found, guesses, pictures, values)
