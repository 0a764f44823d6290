"""What Python code gives in the place of a plan:
data frames, roles, queries and options, as a plan has them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.errors import DataError, Mark, ParameterError, did_you_mean, raise_all
from tacit.families.definition import Definition
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.reading.source import MicrodataSource, count_table
from tacit.families.microdata.repair.requirements import Required
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.model.schema import Table
from tacit.plan.plan import Plan

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.definitions.together.question import JointQuestion
    from tacit.families.microdata.recoded import Recoded
    from tacit.families.overlaps.reading.answer_rows import FileRows
    from tacit.model.verdict import Verdict
    from tacit.plan.read.document import KeyPath


def plan_of_views(
    caller: str, data: Any, views: Mapping[str, str] | Sequence[str], name: str, **roles: Any
) -> tuple[Plan, tuple[str, ...]]:
    """A plan of one table with some views of it, and what they are called."""
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.load import read_plan

    refuse_no_name(name)
    refuse_unknown_columns(data, {role: one for role, one in roles.items() if isinstance(one, str)})
    named = (
        dict(views)
        if isinstance(views, Mapping)
        else {f"view {number}": text for number, text in enumerate(views, 1)}
    )
    written = {
        "version": 1,
        "tables": {name: roles},
        "releases": {one: {"query": text} for one, text in named.items()},
    }
    came_from: dict[KeyPath, str] = {("tables", name): ""}
    for number, one in enumerate(named):
        place = one if isinstance(views, Mapping) else number
        came_from["releases", one, "query"] = f"views[{place!r}]"
    return read_plan(Arguments(caller, written, came_from), Path()), tuple(named)


def plan_of_table(
    name: str,
    roles: Mapping[str, Any],
    release: Mapping[str, Any],
    *,
    copies: Sequence[Any] = (),
) -> Plan:
    """A plan of one table with the roles of its columns, and with one release of it; `copies` of
    it are published.
    """
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.load import read_plan

    refuse_no_name(name)
    called = names_of_copies(copies)
    if roles["quasi-identifiers"] is None:
        raise ParameterError(
            "quasi_identifiers is None.",
            parameter="quasi_identifiers",
            hint='Give columns that others may know, such as ["age", "zip"], or [] for none.',
        )
    if name in (*called, *map(relation_of, called)):
        raise ParameterError(
            f"name: a copy that is published is called {name!r}.",
            parameter="name",
            hint="Give the table another name.",
        )
    written = {
        "version": 1,
        "tables": {name: {key: one for key, one in roles.items() if one is not None}},
        "releases": {
            **{
                one: {"table": name, "generalization": dict(copy)}
                for one, copy in zip(called, copies, strict=True)
                if isinstance(copy, Mapping)
            },
            name: {"table": name, **{key: one for key, one in release.items() if one is not None}},
        },
    }
    came_from: dict[KeyPath, str] = {
        **{
            ("releases", one, *rest): f"published[{place}]"
            for place, one in enumerate(called)
            for rest in ((), ("generalization",))
        },
        ("tables", name): "",
        ("releases", name): "",
    }
    return read_plan(Arguments("data", written, came_from), Path())


def counted_source(data: Any, plan: Plan, name: str, engine: DuckDB) -> MicrodataSource:
    """A data frame as the only table of a plan, counted."""
    table = plan.tables[name]
    refuse_missing(data, table)
    engine.put(name, data, named_columns(table))
    source = MicrodataSource(plan, engine)
    source.counted[name] = count_table(source.reader, table, plan)
    return source


def refuse_missing(data: Any, table: Table) -> None:
    """Every column that has a role is there; the error knows all columns of the table."""
    roles = {
        "quasi_identifiers": table.quasi_identifiers,
        "sensitive": table.sensitive,
        "insensitive": table.insensitive,
        "person": table.person,
        "key": tuple(name for key in table.keys for name in key),
    }
    named = {
        f"{argument}[{place}]": one
        for argument, columns in roles.items()
        for place, one in enumerate(columns)
    }
    refuse_unknown_columns(
        data, {**named, **{f"distances[{one!r}]": one for one in table.distances}}
    )


def refuse_no_name(name: Any) -> None:
    """A table is called by text."""
    if not isinstance(name, str) or not name.strip():
        raise ParameterError(
            f"name is {name!r}, and a table is called by text.",
            parameter="name",
            hint='Write for example name="patients".',
        )


def refuse_unknown_columns(data: Any, named: Mapping[str, str]) -> None:
    """Every column is there that an argument names."""
    labels = labels_of(data)
    if labels is None:
        return  # no table: the engine says so
    there = [one for one in labels if isinstance(one, str)]
    raise_all(
        DataError(
            f"the table has no column {one!r}.",
            hint=where_it_is(one, data, labels) or did_you_mean(one, there),
            mark=Mark(argument),
        )
        for argument, one in named.items()
        if one not in there
    )


def where_it_is(name: str, data: Any, labels: Iterable[Any]) -> str:
    """How a table gets a column that pandas has elsewhere."""
    if name in getattr(getattr(data, "index", None), "names", ()):
        return "It is in the index: give df.reset_index()."
    if name in map(str, labels):
        return "The table calls it by a number: df.columns = df.columns.astype(str)."
    if any(isinstance(one, tuple) and name in one for one in labels):
        return (
            "The table calls columns by tuples: "
            'df.columns = ["_".join(map(str, one)) for one in df.columns].'
        )
    return ""


def labels_of(data: Any) -> Iterable[Any] | None:
    """The names of a table's columns; None for what is no table."""
    if hasattr(type(data), "collect_schema"):  # Polars, also what is not computed yet
        found: Iterable[Any] = data.collect_schema().names()
        return found
    return getattr(data, "column_names" if hasattr(type(data), "column_names") else "columns", None)


def ask_beside(
    published: Sequence[Any], source: MicrodataSource, name: str, engine: DuckDB
) -> Callable[[Definition], Verdict] | None:
    """Asks definitions about the release of a data frame together with copies that are published;
    None where nothing is.
    """
    from tacit.families.microdata.definitions.together.class_scores import answer_beside

    if not published:
        return None
    called = names_of_copies(published)
    joint = with_key(published, called, source, name, engine) or with_labels(
        published, called, source, name, engine
    )

    def ask(definition: Definition) -> Verdict:
        return answer_beside(required_of(definition, source).definition, joint, None)

    return ask


def names_of_copies(published: Sequence[Any]) -> list[str]:
    """What copies that are published are called."""
    if isinstance(published, Mapping | str) or not isinstance(published, Sequence):
        raise ParameterError(
            "published is a list of what is published.",
            parameter="published",
            hint="Write published=[copy].",
        )
    return (
        ["published"]
        if len(published) == 1
        else [f"published {number}" for number in range(1, len(published) + 1)]
    )


def with_key(
    published: Sequence[Any],
    called: Sequence[str],
    source: MicrodataSource,
    name: str,
    engine: DuckDB,
) -> JointQuestion | None:
    """Copies in which a key or person says who is who: some people may be in some of them only;
    None where no copy has it.
    """
    from tacit.families.microdata.reading.snapshots import (
        joint_of_snapshots,
        same_key,
        shown_by,
        snapshot,
    )

    table = source.plan.tables[name]
    key, roles = table.naming, (*table.quasi_identifiers, *table.sensitive, *table.insensitive)
    columns: dict[str, Sequence[str]] = {}
    for one, data in zip(called, published, strict=True):
        if not isinstance(data, Mapping):
            engine.put(relation_of(one), data)
            columns[one] = list(engine.columns(relation_of(one)))
    if not key or not any(set(key) <= set(there) for there in columns.values()):
        return None
    copies = [
        snapshot(
            one,
            key,
            engine,
            relation_of(one),
            [column for column in columns[one] if column not in key or column in roles],
        )
        if one in columns
        else shown_by(source, source.question(one), roles, key)
        for one in called
    ]
    joint = joint_of_snapshots(source, source.question(name), key, copies, Job())
    return replace(joint, assumptions=(same_key(key, (*called, name)),))


def with_labels(
    published: Sequence[Any],
    called: Sequence[str],
    source: MicrodataSource,
    name: str,
    engine: DuckDB,
) -> JointQuestion:
    """Copies with as many rows as the table, whose levels are given or found by their labels."""
    from tacit.families.microdata.reading.several_releases import JointQuestions

    releases, given = dict(source.plan.releases), {}
    for one, data in zip(called, published, strict=True):
        if not isinstance(data, Mapping):
            releases[one] = Microdata(one, name)
            given[one] = rows_of(data, one, engine)
    source.plan = replace(source.plan, releases=releases)
    return JointQuestions(source, Job(), given).question((*called, name))


def relation_of(copy: str) -> str:
    """What the engine calls a copy that is published."""
    return f"tacit {copy}"


def rows_of(data: Any, called: str, engine: DuckDB) -> FileRows:
    """The rows of a data frame as texts, each with how often it is there."""
    from tacit.engines.sql import shapes
    from tacit.families.microdata.hierarchy import value_text
    from tacit.families.overlaps.reading.answer_rows import FileRows

    relation = relation_of(called)
    engine.put(relation, data)
    header = list(engine.columns(relation))
    cells: dict[tuple[str | None, ...], int] = {}
    for *row, many in engine.rows(shapes.tallied(shapes.columns_of(relation, header), header)):
        texts = tuple(None if one is None else value_text(one) for one in row)
        cells[texts] = cells.get(texts, 0) + many
    return FileRows(called, tuple(header), cells)


def named_columns(table: Table) -> list[str]:
    """The columns that a table's roles and distances name."""
    fused = [
        one
        for way in table.distances.values()
        if isinstance(way, Mapping)
        for one in way.get("variational", ())
    ]
    roles = [*table.person, *table.quasi_identifiers, *table.sensitive, *table.insensitive, *fused]
    return list(dict.fromkeys([*roles, *(name for key in table.keys for name in key)]))


def required_of(definition: Definition, source: MicrodataSource) -> Required:
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

    plan = {"version": 1, "tables": written_tables(given)}
    written = Arguments("schema", plan, {("tables",): "schema"})
    faults = Faults(written)
    keys = read_keys(written.values(faults), faults).keys
    found = {name: read_table(name, one, faults) for name, one in keys.tables.items()}
    faults.raise_all()
    return {name: table for name, table in found.items() if table is not None}


def written_tables(given: Any, argument: str = "schema") -> dict[str, Any]:
    """Tables as a plan writes them; a list alone is one of columns."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"{argument} is no mapping of tables.",
            parameter=argument,
            hint=f'Write for example {argument}={{"stays": ["name", "ward"]}}.',
        )
    for name, one in given.items():
        if isinstance(one, str) or not isinstance(one, Iterable):
            raise ParameterError(
                f"{argument}[{name!r}] is no list of columns.",
                parameter=argument,
                hint=f'Write for example {argument}={{"stays": ["name", "ward"]}}.',
            )
    return {
        name: dict(one) if isinstance(one, Mapping) else {"columns": list(one)}
        for name, one in given.items()
    }


def released_like(data: Any, recoded: Recoded, engine: Engine) -> Any:
    """The released rows as the kind of table that was given."""
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.repair.release_statement import statement

    made = statement(recoded, engine.collations(recoded.raw.table.name))
    assert isinstance(engine, DuckDB)
    for relation, columns in made.relations.items():
        engine.put_map(relation, columns)
    return table_like(data, engine.connection.sql(engine.sql(made.query)))


def exact_frame(found: Any) -> Any:
    """DuckDB's rows as a pandas data frame; numbers that DuckDB would make floats keep all digits,
    as Python's integers and decimals.
    """
    import pandas

    from tacit.engines.duckdb.reserved_words import sql_name

    kept = {
        name: Decimal if str(one).startswith("DECIMAL") else int
        for name, one in zip(found.columns, found.types, strict=True)
        if str(one).startswith("DECIMAL") or str(one) in ("HUGEINT", "UHUGEINT")
    }
    if not kept:
        return found.df()
    shown = (
        f"CAST({quoted} AS VARCHAR) AS {quoted}" if name in kept else quoted
        for name, quoted in ((one, sql_name(one)) for one in found.columns)
    )
    frame = found.project(", ".join(shown)).df()
    for name, number in kept.items():
        values = [None if pandas.isna(one) else number(one) for one in frame[name]]
        frame[name] = pandas.Series(values, frame.index, dtype=object)
    return frame


def table_like(data: Any, found: Any) -> Any:
    """DuckDB's rows as the kind of table that was given."""
    kind = type(data).__module__.partition(".")[0]
    if kind == "pandas":
        return exact_frame(found)
    return (
        found.pl()
        if kind == "polars"
        else found.to_arrow_table()
        if hasattr(found, "to_arrow_table")
        else found.arrow()
    )
