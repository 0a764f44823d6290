"""A plan's data: each table attached, looked at and counted once; each release made a question."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.engines.attach import converted
from tacit.engines.files import read_rows
from tacit.engines.sql import shapes
from tacit.errors import DataError, PlanError, did_you_mean, raise_all
from tacit.families.microdata.cleaning import cleaned, spelling_variants, unknown_words
from tacit.families.microdata.counts import Counts, count, seem_different, too_large
from tacit.families.microdata.distances import Distance, usual
from tacit.families.microdata.fused_columns import apart, fuse_all, unfused, value_in
from tacit.families.microdata.groups import Groups, group, people_alike
from tacit.families.microdata.hierarchy import Hierarchy, HierarchyLevel, Labels, hierarchy
from tacit.families.microdata.labels import more_labels
from tacit.families.microdata.microdata import Find, MicrodataQuestion, Population, no_population
from tacit.families.microdata.reading.declared_distances import measure_of, parts_of
from tacit.families.microdata.streamed import StreamedTable, fits
from tacit.families.microdata.value_readings import (
    AS_WRITTEN,
    Untried,
    ValueReading,
    doubts_of,
    other_readings,
)
from tacit.families.words import plural
from tacit.model.release import Microdata
from tacit.model.schema import ColumnType, CsvHierarchy, DateHierarchy, Table
from tacit.model.verdict import Assumption

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.microdata.counts import Integers
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Plan


DATES: Mapping[type, ColumnType] = {date: "date", datetime: "timestamp"}


def nobody(values: Mapping[str, Any], limit: int) -> list[Mapping[str, Any]]:
    """A look-up that finds no one, once the source is closed."""
    return []


class MicrodataSource:
    """The plan's data: each table is attached, looked at and counted once."""

    def __init__(self, plan: Plan, engine: Engine) -> None:
        self.plan = plan
        self.engine = engine
        self.reader = (
            engine.apart()
        )  # in which blank values are missing; SQL views see them as the engine does
        self.counted: dict[str, CountedTable] = {}
        self.questions: dict[str, MicrodataQuestion] = {}
        self.engines: dict[str, Engine] = {}
        # by release and column, what is kept for as long as the source is open
        self.rooms: dict[tuple[str, str], Any] = {}

    def question(self, name: str) -> MicrodataQuestion:
        """The question about one microdata release."""
        if name not in self.questions:
            release = self.plan.releases[name]
            assert isinstance(release, Microdata)
            self.engines[name] = self.reader
            self.questions[name] = self._found(release) if release.file else self._recoded(release)
        return self.questions[name]

    def raw(self, name: str, levels: Mapping[str, int] | None = None) -> MicrodataQuestion:
        """The question about the table of a release as it is, or at other levels than the release
        names.
        """
        release = self.plan.releases[name]
        assert isinstance(release, Microdata)
        self.engines[name] = self.reader
        return self._recoded(replace(release, generalization=levels or {}))

    def lines(self, file: str) -> list[tuple[int, list[str]]]:
        """The numbered lines of a small CSV file that a check names."""
        return read_rows(self.plan.folder / file, file)

    def released(self, name: str) -> Iterator[dict[str, Any]]:
        """The released rows, one by one: each value looked up in the labels of its level."""
        if not isinstance(self.plan.releases.get(name), Microdata):
            known = list(self.plan.of(Microdata))
            raise PlanError(
                f"the plan has no microdata release {name!r}.", hint=did_you_mean(name, known)
            )
        question = self.question(name)
        engine, table = self.engines[name], question.table
        columns = [*question.quasi, *question.sensitive, *table.insensitive]
        labels = {
            column: dict(
                zip(
                    (*question.base.dictionaries[column], None),
                    question.levels[column].by_value(),
                    strict=True,
                )
            )
            for column in question.quasi
        }
        parts = parts_of(table, engine.columns(table.name))
        stored = unfused(columns, parts)
        rows = engine.rows(shapes.columns_of(table.name, stored))
        cells = (dict(zip(stored, row, strict=True)) for row in rows)
        return (
            {column: shown(column, value_in(row, column, parts), labels) for column in columns}
            for row in cells
        )

    def _recoded(self, release: Microdata) -> MicrodataQuestion:
        table = self.plan.tables[release.table]
        if table.name not in self.counted:
            self.engine.attach_once(table)
            self.counted[table.name] = count_table(self.reader, table, self.plan)
        levels, population = self._levels(release), partial(self._population, release)
        return self.counted[table.name].question(release.name, levels, population)

    def _population(self, release: Microdata, name: str, groups: Groups) -> Integers:
        """How many people of another table, recoded like the release, fall into each group."""
        original = self.plan.tables[release.table]
        table = replace(
            self.plan.tables[name], quasi_identifiers=original.quasi_identifiers, sensitive=()
        )
        if f"{name} as population" not in self.counted:
            self.engine.attach_once(self.plan.tables[name])
            recoded = replace(table, hierarchies=original.hierarchies)
            self.counted[f"{name} as population"] = count_table(self.reader, recoded, self.plan)
        counted = self.counted[f"{name} as population"]
        if counted.streamed is not None:
            raise too_large(f"the population {name}")
        levels = {
            column: counted.hierarchies[column].level(
                self._height(release.table, column, groups.levels[column])
            )
            for column in original.quasi_identifiers
        }
        found = people_alike(groups, group(counted.base, original.quasi_identifiers, levels))
        if bool((found < groups.sizes).any()):
            raise DataError(
                f"table {name} is no population of {original.name}: some groups of {release.name} "
                "have fewer people there.",
                hint="The population must contain everybody who is in the table.",
                mark=self.plan.mark("tables", name),
            )
        return found

    def _height(self, table: str, column: str, level: HierarchyLevel) -> int:
        """Which level of a column this is."""
        levels = self.counted[table].hierarchies[column].levels
        return next(height for height, one in enumerate(levels) if one is level)

    def _levels(self, release: Microdata) -> dict[str, HierarchyLevel]:
        levels = {}
        for column in self.plan.tables[release.table].quasi_identifiers:
            tree = self.counted[release.table].hierarchies[column]
            try:
                levels[column] = tree.level(release.generalization.get(column, 0))
            except DataError as error:
                raise error.at(
                    self.plan.mark("releases", release.name, "generalization", column)
                ) from None
        return levels

    def _found(self, release: Microdata) -> MicrodataQuestion:
        from tacit.engines.duckdb.engine import DuckDB

        self.engines[release.name] = engine = DuckDB(folder=self.plan.folder)
        table = found_table(release, self.plan, engine)
        counted = count_table(engine, table, self.plan)
        levels = {column: tree.level(0) for column, tree in counted.hierarchies.items()}
        return counted.question(release.name, levels)


def source_of(opened: OpenPlan) -> MicrodataSource:
    """The data of an open plan."""
    return opened.once(MicrodataSource, lambda: MicrodataSource(opened.plan, opened.engine))


@dataclass(frozen=True, slots=True)
class CountedTable:
    """A table, counted: what every release of it has in common."""

    table: Table
    base: Counts
    hierarchies: Mapping[str, Hierarchy]
    rows: int
    people: int
    assumptions: tuple[Assumption, ...]
    warnings: tuple[str, ...]
    find: Find
    reading: ValueReading = AS_WRITTEN
    readings: tuple[CountedTable, ...] = ()
    untried: Untried = ""
    build: Callable[[str, Labels], Hierarchy] = hierarchy
    measure: Callable[[str, Labels], Distance] = usual
    streamed: StreamedTable | None = None

    def question(
        self,
        release: str,
        levels: Mapping[str, HierarchyLevel],
        population: Population = no_population,
    ) -> MicrodataQuestion:
        """The question about one release of this table, under all its readings."""
        own = {name: self.hierarchies[name].level(0) for name in self.table.sensitive}
        return MicrodataQuestion(
            release,
            self.table,
            self.table.quasi_identifiers,
            self.table.sensitive,
            self.base,
            {**levels, **own},
            self.rows,
            self.people,
            self.assumptions,
            self.warnings,
            self.find,
            reading=self.reading,
            readings=tuple(one.question(release, levels, population) for one in self.readings),
            untried=self.untried,
            label_more=partial(self.label_more, levels),
            population=population,
            hierarchies=self.hierarchies,
            measure=self.measure,
            cells=None if self.streamed is None else self.streamed.at(levels),
        )

    def label_more(
        self, levels: Mapping[str, HierarchyLevel], column: str, values: Labels
    ) -> Labels:
        """What a release would show of values that the table does not have."""
        tree = self.hierarchies[column]
        height = next(number for number, level in enumerate(tree.levels) if level is levels[column])
        return more_labels(
            tree, height, values, spec=self.table.hierarchies.get(column), build=self.build
        )


def count_table(engine: Engine, table: Table, plan: Plan) -> CountedTable:
    """Look at a table's columns and people, and count its combinations."""
    check_columns(engine, table, plan)
    columns = [*table.quasi_identifiers, *table.sensitive]
    stored = stored_columns(engine, table)
    try:
        engine.refuse_losses(table.name, stored)
    except DataError as error:
        raise error.at(plan.mark("tables", table.name)) from None
    blank = engine.take_blanks_as_missing(table.name, stored)
    rows = engine.value(shapes.row_count(table.name))
    if not rows:
        raise DataError(
            f"table {table.name} has no rows.",
            hint="There is nothing to release.",
            mark=plan.mark("tables", table.name),
        )
    check_keys(engine, table, plan, rows)
    people = count_people(engine, table, plan, rows)
    types = engine.columns(table.name)
    parts = parts_of(table, types)
    streamed = None
    if stays_there(engine, table.name, unfused(columns, parts), rows):
        if people < rows or parts:
            raise too_large(f"table {table.name}").at(plan.mark("tables", table.name))
        streamed, base = streamed_table(engine, table, rows)
    else:
        base = count(
            engine,
            table.name,
            unfused(columns, parts),
            person=table.person if people < rows else (),
        )
    base = fuse_all(base, parts)
    check_domains(table, base, plan)
    base = with_missing_merged(base, table)
    zoned = zoned_columns(engine, table, plan)
    hierarchies = {
        name: read_hierarchy(table, name, base.dictionaries[name], plan) for name in columns
    }
    counted = CountedTable(
        table,
        base,
        hierarchies,
        rows,
        people,
        person_assumptions(table, people, rows),
        (*blank_warnings(blank, rows), *data_warnings(table, base, rows), *in_utc(table, zoned)),
        finder(engine, table),
        build=lambda column, values: read_hierarchy(table, column, values, plan),
        measure=measure_of(table, plan, types),
        streamed=streamed,
    )
    return with_readings(counted, plan)


def stays_there(engine: Engine, table: str, columns: Sequence[str], rows: int) -> bool:
    """Are there too many different combinations to have them all here?"""
    if fits(rows) or not columns:
        return False
    if seem_different(engine, table, columns, rows):
        return True
    return not fits(int(engine.value(shapes.distinct_count(table, columns))))


def streamed_table(engine: Engine, table: Table, rows: int) -> tuple[StreamedTable, Counts]:
    """A table whose combinations stay in the engine, and the counts of its sensitive columns."""
    quasi, collations = table.quasi_identifiers, engine.collations(table.name)
    found = {
        name: [row[0] for row in engine.rows(shapes.dictionary(table.name, [name], collations))]
        for name in quasi
    }
    values = {
        name: tuple(value for value in some if value is not None) for name, some in found.items()
    }
    _, *missing = next(engine.rows(shapes.missing_counts(table.name, quasi)))
    absent = {name: int(many) for name, many in zip(quasi, missing, strict=True)}
    base = count(engine, table.name, table.sensitive) if table.sensitive else only_rows(rows)
    base = replace(
        base,
        dictionaries={**values, **base.dictionaries},
        with_missing=base.with_missing | {name for name, many in absent.items() if many},
        absent=absent,
    )
    there = StreamedTable(engine, table.name, quasi, table.sensitive, dict(base.dictionaries), rows)
    return there, base


def only_rows(rows: int) -> Counts:
    """The counts of no column: how many rows there are."""
    ones = np.zeros(1, dtype=np.int64)
    return Counts({}, {}, ((),), (ones,), ones + rows)


def stored_columns(engine: Engine, table: Table) -> list[str]:
    """The columns that microdata releases of a table and its people are
    made of, as the engine has them.
    """
    columns = [
        *table.quasi_identifiers,
        *table.sensitive,
        *table.insensitive,
        *table.person,
        *(name for key in table.keys for name in key),
    ]
    return unfused(list(dict.fromkeys(columns)), parts_of(table, engine.columns(table.name)))


def shown(column: str, value: Any, labels: Mapping[str, Mapping[Any, Any]]) -> Any:
    """What the release shows of a value:
    its label, or the value itself in columns that are not recoded.
    """
    return labels[column][value] if column in labels else value


def check_domains(table: Table, base: Counts, plan: Plan) -> None:
    """A closed domain has all the values of the data."""
    for name, domain in table.domains.items():
        values = base.dictionaries.get(name, ())
        try:
            listed = as_dates(table, name, domain, values)
        except DataError as error:
            raise error.at(plan.mark("tables", table.name, "domains", name)) from None
        outside = [value for value in values if value not in listed]
        if outside:
            raise DataError(
                f"column {name!r} of table {table.name} has {plural('value', len(outside))} that "
                "the domain does not list.",
                hint="Add them to the domain, or leave the domain out.",
                mark=plan.mark("tables", table.name, "domains", name),
            )


def as_dates(
    table: Table, name: str, domain: Sequence[Any], values: Collection[Any]
) -> Sequence[Any]:
    """A domain as dates or times where the column has them: a plan has them as text."""
    kind = next((DATES[type(value)] for value in values if type(value) in DATES), None)
    return domain if kind is None else [converted(table.name, name, kind, one) for one in domain]


def check_columns(engine: Engine, table: Table, plan: Plan) -> None:
    """Every column that has a role is in the data."""
    known = engine.columns(table.name)
    parts = parts_of(table, known)
    roles: dict[str, Collection[str]] = {
        "quasi-identifiers": table.quasi_identifiers,
        "sensitive": table.sensitive,
        "identifiers": table.identifiers,
        "insensitive": table.insensitive,
        "person": table.person,
        "key": [name for key in table.keys for name in key],
        "columns": table.columns,
        "hierarchies": table.hierarchies,
        "domains": table.domains,
        "nullable": table.nullable or (),
    }
    whole_line = single_column_hint(known)
    missing = [
        DataError(
            f"table {table.name} has no column {one!r}.",
            hint=whole_line or did_you_mean(one, known),
            mark=plan.mark(
                "tables", table.name, role, name if isinstance(names, Mapping) else position
            ),
        )
        for role, names in roles.items()
        for position, name in enumerate(names)
        for one in parts.get(name, (name,))
        if one not in known
    ]
    raise_all(missing[:1] if whole_line else missing)


def single_column_hint(columns: Mapping[str, Any]) -> str | None:
    """A file whose separator was not recognized looks like one long column."""
    only = next(iter(columns), "")
    if len(columns) == 1 and not only.replace("_", "").replace(" ", "").isalnum():
        return (
            f"Its only column is {only!r}: is the separator something else than , ; | or tab? "
            "Save it with commas."
        )
    return None


def check_keys(engine: Engine, table: Table, plan: Plan, rows: int) -> None:
    """A declared key has no value twice."""
    for number, key in enumerate(table.keys):
        different = engine.value(shapes.distinct_count(table.name, key))
        if different < rows:
            raise DataError(
                f"({', '.join(key)}) is declared a key of {table.name}, but {rows} rows have only "
                f"{different} different values.",
                hint="Remove the repeated rows, or say with person instead of key who is one.",
                mark=plan.mark("tables", table.name, "key", number),
            )


def count_people(engine: Engine, table: Table, plan: Plan, rows: int) -> int:
    """How many different people the table has;
    each row is one where no person columns are declared.
    """
    if not table.person:
        return rows
    _, *absent = next(engine.rows(shapes.missing_counts(table.name, table.person)))
    for name, missing in zip(table.person, absent, strict=True):
        if missing:
            raise DataError(
                f"column {name!r} tells people apart, but {missing} rows of {table.name} "
                "have none.",
                hint=(
                    "Fill it in, drop those rows, or leave person: out (then each row is "
                    "one person)."
                ),
                mark=plan.mark("tables", table.name, "person"),
            )
    return int(engine.value(shapes.distinct_count(table.name, table.person)))


def read_hierarchy(table: Table, column: str, values: tuple[Any, ...], plan: Plan) -> Hierarchy:
    """The hierarchy of a column, read from its file where it has one."""
    spec = table.hierarchies.get(column)
    try:
        if isinstance(spec, CsvHierarchy):
            rows = read_rows(plan.folder / spec.file, spec.file)
            return hierarchy(column, values, spec, rows=rows, file=spec.file)
        return hierarchy(column, values, spec)
    except DataError as error:
        raise error.at(plan.mark("tables", table.name, "hierarchies", column)) from None


def person_assumptions(table: Table, people: int, rows: int) -> tuple[Assumption, ...]:
    """What is assumed about rows and people."""
    others = Assumption("quasi-identifiers-only", "nothing else links a row to a person", "cannot")
    if table.person and people < rows:
        told = Assumption(
            "person-columns", f"people are told apart by {' and '.join(table.person)}", "cannot"
        )
        return told, others
    known = bool(table.person) or any(set(key) <= set(table.identifiers) for key in table.keys)
    return Assumption(
        "one-row-per-person", "each row is one person", "yes" if known else "no"
    ), others


def with_missing_merged(base: Counts, table: Table) -> Counts:
    """Sensitive values that the owner says are unknown, or the same, are so from here on."""
    for name in table.sensitive:
        unknown = (*table.unknown.get("*", ()), *table.unknown.get(name, ()))
        if unknown or name in table.merge_spelling:
            merge = name in table.merge_spelling
            base = cleaned(base, name, unknown=unknown, merge_spelling=merge)
    return base


def with_readings(counted: CountedTable, plan: Plan) -> CountedTable:
    """The same table with everything that its suspicious values may mean, where the owner has
    not said what they are; the strictest last.
    """
    table = counted.table
    doubts = [
        one
        for name in table.sensitive
        for one in doubts_of(
            name, *suspicious(table, name, counted.base), counted.base.dictionaries[name]
        )
    ]
    found, untried = other_readings(doubts)
    readings = []
    for reading in found:
        base = reading.counts(counted.base)
        own = {
            name: read_hierarchy(table, name, base.dictionaries[name], plan)
            for name in table.sensitive
        }
        readings.append(
            replace(counted, base=base, hierarchies={**counted.hierarchies, **own}, reading=reading)
        )
    return replace(counted, readings=tuple(readings), untried=untried)


def suspicious(table: Table, name: str, base: Counts) -> tuple[list[Any], list[Any]]:
    """Values that may mean unknown, and spelling variants, about
    which the owner has said nothing.
    """
    if name in table.as_written:
        return [], []
    values = base.dictionaries[name]
    unknown = unknown_words(values) if name not in table.unknown else []
    return unknown, spelling_variants([value for value in values if value not in unknown])


def blank_warnings(blank: Mapping[str, int], rows: int) -> Iterator[str]:
    """Which columns have texts in which nothing can be read."""
    for name, many in blank.items():
        yield (
            f"{name} is blank in {many:,} of {rows:,} rows: empty text or spaces, taken as missing"
        )


def data_warnings(table: Table, base: Counts, rows: int) -> list[str]:
    """What in the data could mislead a reader of the verdicts."""
    warnings = []
    for name in table.sensitive:
        if absent := base.missing(name):
            warnings.append(
                f"{name} is missing in {absent} of {rows} rows; missing values do not count as "
                "diversity"
            )
    for name in table.sensitive:
        unknown, variants = suspicious(table, name, base)
        if variants:
            warnings.append(
                f"{name} has {plural('value', len(variants))} written like another but for case, "
                "spaces or ways to write a letter; not trusted as diversity. Say merge-spelling: "
                f"[{name}] or as-written: [{name}]"
            )
        if unknown:
            warnings.append(
                f"{name} has {plural('value', len(unknown))} that may mean unknown; not trusted as "
                f"diversity. Say unknown: {{{name}: [...]}} or as-written: [{name}]"
            )
    for name in table.quasi_identifiers:
        if absent := base.missing(name):
            warnings.append(f"{name} is missing in {absent} of {rows} rows")
    return warnings


def zoned_columns(engine: Engine, table: Table, plan: Plan) -> list[str]:
    """The columns with a time zone; a column whose levels name one must have it."""
    native = engine.native_types(table.name)
    zoned = [name for name, kind in native.items() if engine.meaning(kind).is_zoned]
    for name, spec in table.hierarchies.items():
        if isinstance(spec, DateHierarchy) and spec.zone and name in native and name not in zoned:
            raise DataError(
                f"the dates of {name!r} are to be those of {spec.zone}, but the column of table "
                f"{table.name} has no time zone.",
                hint="Leave zone out: dates and times are then taken as they are.",
                mark=plan.mark("tables", table.name, "hierarchies", name),
            )
    return zoned


def in_utc(table: Table, zoned: Collection[str]) -> Iterator[str]:
    """Times with a time zone whose days are those of UTC, because the plan names no other."""
    for name, spec in table.hierarchies.items():
        if isinstance(spec, DateHierarchy) and not spec.zone and name in zoned:
            yield (
                f"{name} has a time zone, and its days, months and years are those of UTC. Say "
                "zone: beside dates:, for example zone: Europe/Paris, or zone: UTC"
            )


def finder(engine: Engine, table: Table) -> Find:
    """Look up who has given values: by the person columns, else a key, else the identifiers."""
    names = table.person or (table.keys[0] if table.keys else table.identifiers)
    if not names:
        return nobody

    def find(values: Mapping[str, Any], limit: int) -> list[Mapping[str, Any]]:
        stored = apart(values, parts_of(table, engine.columns(table.name)))
        query = shapes.matching(
            table.name, names, stored, collations=engine.collations(table.name), limit=limit
        )
        return [dict(zip(names, row, strict=True)) for row in engine.rows(query)]

    return find


def found_table(release: Microdata, plan: Plan, engine: Engine) -> Table:
    """The table in a file that someone else generalized, with the roles of the original."""
    original = plan.tables[release.table]
    table = Table(f"{release.name}, as found", file=release.file)
    engine.attach(table)
    columns = list(engine.columns(table.name))
    mark = plan.mark("releases", release.name, "file")
    for name in columns:
        if name in original.identifiers:
            raise DataError(
                f"{release.file} contains {name!r}, an identifier.",
                hint="Remove the column before you release it.",
                mark=mark,
            )
    parts = {
        name: some
        for name, some in parts_of(original, dict.fromkeys(columns)).items()
        if set(some) <= set(columns)
    }
    roles = {*original.sensitive, *original.insensitive, *unfused(original.sensitive, parts)}
    person = original.person if set(original.person) <= set(columns) else ()
    # A column without a role is published with the file: whoever has it may look people up by it.
    quasi = tuple(name for name in columns if name not in roles)
    if not set(quasi) & set(original.quasi_identifiers) and original.quasi_identifiers:
        raise DataError(
            f"{release.file} has none of the quasi-identifiers of table {original.name}.",
            hint=single_column_hint(dict.fromkeys(columns)) or f"It has: {', '.join(columns)}.",
            mark=mark,
        )
    return replace(
        table,
        person=person,
        unknown=original.unknown,
        merge_spelling=original.merge_spelling,
        as_written=original.as_written,
        quasi_identifiers=quasi,
        sensitive=tuple(name for name in original.sensitive if name in columns or name in parts),
        insensitive=tuple(name for name in original.insensitive if name in columns),
        hierarchies={
            name: spec for name, spec in original.hierarchies.items() if name in original.sensitive
        },
        distances=original.distances,
        domains={
            name: domain for name, domain in original.domains.items() if name in original.sensitive
        },
    )
