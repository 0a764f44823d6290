"""The Python door: load a plan, or check a data frame without one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.assess import Assessment, answer_with, assess
from tacit.definitions.base import Definition
from tacit.errors import Mark, ParameterError, did_you_mean
from tacit.model.release import Microdata
from tacit.model.schema import HierarchySpec, Table
from tacit.model.verdict import Verdict
from tacit.plan.load import load_plan
from tacit.plan.plan import Plan
from tacit.source import Source, count_table, nobody

if TYPE_CHECKING:
    from tacit.jobs import Job


@dataclass(frozen=True, slots=True)
class LoadedPlan:
    """A plan that was read and found well-formed."""

    plan: Plan

    def check(self, *, only: Sequence[str] = (), job: Job | None = None) -> Assessment:
        """Answer every check of the plan, or only some (by name, kind or release)."""
        return assess(self.plan, only=only, job=job)

    def released(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a microdata release as the other side would see them, one by one."""
        from tacit.engines.open import open_engine

        with open_engine(self.plan.source, self.plan.folder) as engine:
            yield from Source(self.plan, engine).released(name)


def load(path: str | Path = "tacit.yaml") -> LoadedPlan:
    """Read a plan file.

    >>> import tacit, tempfile, tacit.demo
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = tacit.demo.write(folder)
    >>> print(tacit.load(folder / "tacit.yaml").check()["may-entropy"].because)
    entropy 2.828 in every group
    """
    return LoadedPlan(load_plan(path))


def check(data: Any, definition: Definition, *, quasi_identifiers: Sequence[str], **more: Any) -> Verdict:
    """Check one definition on a pandas, Polars or Arrow table or a DuckDB relation, without a plan.

    Takes the same options as `check_all`.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame({"zip": ["13053", "13068", "13068"], "condition": ["flu", "flu", "cold"]})
    >>> verdict = tacit.check(people, tacit.KAnonymity(k=2), quasi_identifiers=["zip"])
    >>> verdict.status, verdict.measured
    ('breached', {'k': 1})
    """
    return check_all(data, [definition], quasi_identifiers=quasi_identifiers, **more)[0]


def check_all(
    data: Any,
    definitions: Sequence[Definition],
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    generalization: Mapping[str, int] | None = None,
    distances: Mapping[str, Any] | None = None,
    name: str = "data",
) -> Assessment:
    """Check several definitions on one table without a plan; the table is counted once.

    `hierarchies` and `distances` are written as in a plan ("*", "zip.csv", {"ranges": [5, 10]}, ...),
    `generalization` gives the levels at which quasi-identifiers are released (absent: as they are).

    >>> import pandas, tacit
    >>> people = pandas.DataFrame({"age": [28, 29, 31, 37], "condition": ["flu", "cold", "flu", "flu"]})
    >>> answers = tacit.check_all(
    ...     people, [tacit.KAnonymity(k=2), tacit.LDiversity(kind="distinct", l=2)], quasi_identifiers=["age"],
    ...     sensitive="condition", hierarchies={"age": {"ranges": [10]}}, generalization={"age": 1})
    >>> [verdict.status for verdict in answers]
    ['holds', 'breached']
    """
    from tacit.engines.duckdb import DuckDB

    begun = time.perf_counter()
    table = Table(
        name,
        person=names(person),
        quasi_identifiers=names(quasi_identifiers),
        sensitive=names(sensitive),
        hierarchies=read_hierarchies(hierarchies or {}),
        distances=distances or {},
    )
    refuse_unknown(generalization or {}, table)
    release = Microdata(name, name, dict(generalization or {}))
    plan = Plan("", Path(), mark=nowhere, tables={name: table}, releases={name: release})
    with DuckDB() as engine:
        engine.put(name, data, named_columns(table))
        source = Source(plan, engine)
        source.counted[name] = count_table(engine, table, plan)
        question = source.question(name)
        verdicts = tuple(
            answer_with(one.with_files(source.lines), question, None, None) for one in definitions
        )
    questions = {name: replace(question, find=nobody)}
    return Assessment(name, verdicts, questions, seconds=time.perf_counter() - begun)


def named_columns(table: Table) -> list[str]:
    """The columns that a table's roles and distances name."""
    fused = [one for way in table.distances.values() if isinstance(way, Mapping) for one in way.get("variational", ())]
    return [*table.person, *table.quasi_identifiers, *table.sensitive, *fused]


def refuse_unknown(generalization: Mapping[str, int], table: Table) -> None:
    """Levels are for quasi-identifiers."""
    for column in generalization:
        if column not in table.quasi_identifiers:
            raise ParameterError(
                f"generalization names {column!r}, which is no quasi-identifier.",
                parameter="generalization",
                hint=did_you_mean(column, table.quasi_identifiers),
            )


def names(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def nowhere(*path: str | int) -> Mark | None:
    """There is no file to point into."""
    return None


def read_hierarchies(given: Mapping[str, Any]) -> dict[str, HierarchySpec]:
    """Hierarchies as a plan writes them."""
    from tacit.errors import raise_all
    from tacit.plan.document import Faults, parse
    from tacit.plan.hierarchies import read_hierarchy

    faults = Faults(parse("{}"))
    specs = {
        column: spec if isinstance(spec, HierarchySpec) else read_hierarchy(spec, (column,), faults)
        for column, spec in given.items()
    }
    raise_all(faults.found)
    return {column: spec for column, spec in specs.items() if spec is not None}
