"""What Python code gives in the place of a plan:
data frames, roles, queries and options, as a plan has them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import Mark, ParameterError, did_you_mean
from tacit.families.definition import Definition
from tacit.families.microdata.definitions.microdata import MicrodataDefinition
from tacit.families.microdata.reading.source import Source, count_table
from tacit.families.microdata.repair.required import Required
from tacit.model.release import Microdata, Repair, View
from tacit.model.schema import HierarchySpec, Table
from tacit.plan.plan import Plan

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.recoded import Recoded


def plan_of_views(
    views: Mapping[str, str] | Sequence[str], name: str, key: str | Sequence[str], sensitive: str
) -> tuple[Plan, tuple[str, ...]]:
    """A plan of one table with some views of it, and what they are called."""
    named = (
        dict(views)
        if isinstance(views, Mapping)
        else {f"view {number}": text for number, text in enumerate(views, 1)}
    )
    table = Table(name, keys=(names(key),), sensitive=(sensitive,))
    releases = {one: View(one, text) for one, text in named.items()}
    return Plan("", Path(), mark=nowhere, tables={name: table}, releases=releases), tuple(named)


def table_of_people(
    name: str,
    *,
    quasi_identifiers: Sequence[str],
    sensitive: str | Sequence[str],
    insensitive: str | Sequence[str] = (),
    person: str | Sequence[str],
    hierarchies: Mapping[str, Any] | None,
    distances: Mapping[str, Any] | None,
) -> Table:
    """A table with the roles of its columns."""
    return Table(
        name,
        person=names(person),
        quasi_identifiers=names(quasi_identifiers),
        sensitive=names(sensitive),
        insensitive=names(insensitive),
        hierarchies=read_hierarchies(hierarchies or {}),
        distances=distances or {},
    )


def counted_source(data: Any, table: Table, release: Microdata, engine: DuckDB) -> Source:
    """A data frame as the only table of a plan, with one release of it; counted."""
    engine.put(table.name, data, named_columns(table))
    plan = Plan(
        "", Path(), mark=nowhere, tables={table.name: table}, releases={release.name: release}
    )
    source = Source(plan, engine)
    source.counted[table.name] = count_table(source.reader, table, plan)
    return source


def named_columns(table: Table) -> list[str]:
    """The columns that a table's roles and distances name."""
    fused = [
        one
        for way in table.distances.values()
        if isinstance(way, Mapping)
        for one in way.get("variational", ())
    ]
    return [*table.person, *table.quasi_identifiers, *table.sensitive, *table.insensitive, *fused]


def read_hierarchies(given: Mapping[str, Any]) -> dict[str, HierarchySpec]:
    """Hierarchies as a plan writes them."""
    from tacit.plan.read.arguments import Arguments, plan_value
    from tacit.plan.read.document import Faults
    from tacit.plan.read.hierarchies import read_hierarchy

    faults = Faults(Arguments("hierarchies", given, {(): "hierarchies"}))
    specs = {
        column: spec
        if isinstance(spec, HierarchySpec)
        else read_hierarchy(plan_value(spec), (column,), faults)
        for column, spec in given.items()
    }
    faults.raise_all()
    return {column: spec for column, spec in specs.items() if spec is not None}


def refuse_unknown(generalization: Mapping[str, int], table: Table) -> None:
    """Levels are for quasi-identifiers."""
    for column in generalization:
        if column not in table.quasi_identifiers:
            raise ParameterError(
                f"generalization names {column!r}, which is no quasi-identifier.",
                parameter="generalization",
                hint=did_you_mean(column, table.quasi_identifiers),
            )


def read_repair(
    table: Table,
    method: str,
    suppress: Any,
    utility: str,
    weights: Mapping[str, Any],
    at_most: Mapping[str, int],
) -> Repair:
    """The options of a repair, as a plan would take them."""
    from tacit.families.microdata.utility.measures import measure
    from tacit.families.microdata.utility.weights import read_weights
    from tacit.plan.read.keys import METHODS
    from tacit.plan.read.values import UnfitError, share

    if method not in METHODS:
        raise ParameterError(
            f"there is no method {method!r}.",
            parameter="method",
            hint=did_you_mean(method, METHODS),
        )
    try:
        rows = share(str(suppress) if isinstance(suppress, float | Fraction) else suppress)
    except UnfitError as error:
        raise ParameterError(f"suppress: {error}.", parameter="suppress", hint=error.hint) from None
    given = read_weights(table.quasi_identifiers, weights) if weights else {}
    return Repair(method, rows, measure(utility).name, given, at_most)  # type: ignore[arg-type]


def required_of(definition: Definition, source: Source) -> Required:
    """A definition that a table must meet."""
    if not isinstance(definition, MicrodataDefinition):
        raise ParameterError(
            f"{definition!r} is no definition of microdata.",
            parameter="require",
            hint="Use for example tacit.KAnonymity(k=5).",
        )
    return Required(definition.with_files(source.lines))


def read_schema(given: Mapping[str, Any]) -> dict[str, Table]:
    """Tables as a plan writes them: a list of columns, or keys such as
    columns, key, domains and nullable.
    """
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.document import Faults
    from tacit.plan.read.keys import read_keys
    from tacit.plan.read.tables import read_table

    if not isinstance(given, Mapping):
        raise ParameterError(
            "the schema is no mapping of tables.",
            parameter="schema",
            hint='Give for example {"stays": ["name", "ward"]}.',
        )
    plan = {"version": 1, "tables": written_tables(given)}
    written = Arguments("schema", plan, {("tables",): "schema"})
    faults = Faults(written)
    keys = read_keys(written.values(faults), faults).keys
    found = {name: read_table(name, one, faults) for name, one in keys.tables.items()}
    faults.raise_all()
    return {name: table for name, table in found.items() if table is not None}


def written_tables(given: Mapping[str, Any]) -> dict[str, Any]:
    """Tables as a plan writes them; a list alone is one of columns."""
    return {
        name: dict(one) if isinstance(one, Mapping) else {"columns": list(one)}
        for name, one in given.items()
    }


def names(given: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several."""
    return (given,) if isinstance(given, str) else tuple(given)


def nowhere(*path: str | int) -> Mark | None:
    """There is no file to point into."""
    return None


def released_like(data: Any, recoded: Recoded, engine: Engine) -> Any:
    """The released rows as the kind of table that was given."""
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.repair.writing import statement

    made = statement(recoded, engine.collations(recoded.raw.table.name))
    assert isinstance(engine, DuckDB)
    for relation, columns in made.relations.items():
        engine.put_map(relation, columns)
    return table_like(data, engine.connection.sql(engine.sql(made.query)))


def table_like(data: Any, found: Any) -> Any:
    """DuckDB's rows as the kind of table that was given."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas":
        return found.df()
    return (
        found.pl()
        if kind == "polars"
        else found.to_arrow_table()
        if hasattr(found, "to_arrow_table")
        else found.arrow()
    )
