"""An entry under `releases`: which of its shapes it is, and that
its table and columns are there.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Generic, TypeVar

from tacit.errors import InputError, PlanError, did_you_mean
from tacit.families.catalog import RELEASE_KEYS
from tacit.model.release import Constraint, Microdata, Release, Repair, View
from tacit.model.schema import Table
from tacit.plan.read.document import Faults, read_text
from tacit.plan.read.hierarchies import height
from tacit.plan.read.keys import ReleaseKeys
from tacit.plan.read.synthetic import read_synthetic
from tacit.plan.read.values import either

T = TypeVar("T")

# How `tacit anonymize` makes the release: these keys go together, and with levels.
REPAIR = ("method", "suppress", "utility", "weights", "at-most")
# The key that says what a release is, and the keys that may stand beside it (`to` may always).
SHAPES = {
    "table": ("generalization", "file", "synthetic", *REPAIR),
    "query": ("answer",),
    "constraint": (),
}
EXAMPLES = (
    '{table: people, generalization: {zip: 2}}, {query: "SELECT ..."} or {constraint: "R(x) '
    '-> S(x)"}'
)


@dataclass(frozen=True, slots=True)
class PlanSection(Generic[T]):
    """The names of a section with what they stand for;
    None for what is there but could not be read.

    Where the section itself could not be read, `is_whole` is False:
    no name can then be called unknown.

    >>> from tacit.plan.read.document import parse
    >>> faults = Faults(parse("release: aprl"))
    >>> PlanSection("release", {"april": 1}).get("aprl", faults, "release")
    >>> faults.found[0].message, faults.found[0].hint
    ("there is no release 'aprl'.", "Did you mean 'april'?")
    """

    what: str
    entries: Mapping[str, T | None]
    is_whole: bool = True

    def get(self, name: str, faults: Faults, *path: str | int) -> T | None:
        """What a name stands for; an unknown name is noted at the path that uses it."""
        if name not in self.entries and self.is_whole:
            hint = did_you_mean(name, self.entries) or f"The plan has no {self.what}s."
            faults.add(f"there is no {self.what} {name!r}.", *path, hint=hint)
        return self.entries.get(name)

    def read(self) -> dict[str, T]:
        """What could be read."""
        return {name: entry for name, entry in self.entries.items() if entry is not None}


def read_release(
    name: str, keys: ReleaseKeys, tables: PlanSection[Table], folder: Path, faults: Faults
) -> Release | None:
    """The release of that name, or None where something is wrong with it.

    >>> from tacit.plan.read.document import parse
    >>> keys = ReleaseKeys.model_validate({"query": "V(r) :- RS(r, s)", "to": "authors"})
    >>> read_release(
    ...     "who", keys, PlanSection("table", {}), Path("."), Faults(parse("releases: {}"))
    ... )
    View(name='who', query='V(r) :- RS(r, s)', query_file=None, answer=None, to=('authors',))
    """
    before = len(faults)
    release = _read(name, keys, tables, folder, faults)
    return release if len(faults) == before else None


def _read(
    name: str, keys: ReleaseKeys, tables: PlanSection[Table], folder: Path, faults: Faults
) -> Release | None:
    path = ("releases", name)
    if keys.registered:
        return _registered(name, keys, faults)
    shape = _shape(name, keys, faults)
    if shape == "query" and keys.query is not None:
        query, file = read_query(keys.query, folder, faults, *path, "query")
        return View(name, query, file, keys.answer, keys.to)
    if shape == "constraint" and keys.constraint is not None:
        return Constraint(name, keys.constraint, keys.to)
    if shape == "table" and keys.table is not None:
        table = tables.get(keys.table, faults, *path, "table")
        if keys.synthetic is not None:
            return read_synthetic(name, keys, table, faults)
        if table:
            _check_levels(table, keys.generalization, faults, *path, "generalization")
            _check_levels(table, keys.at_most, faults, *path, "at-most")
            _check_weights(table, keys.weights, faults, *path, "weights")
        repair = Repair(keys.method, keys.suppress, keys.utility, keys.weights, keys.at_most)  # type: ignore[arg-type]
        return Microdata(name, keys.table, keys.generalization, keys.file, keys.to, repair)
    return None


def _registered(name: str, keys: ReleaseKeys, faults: Faults) -> Release | None:
    """A release of a kind that registered its own key; no other key goes with that but `to`."""
    (key, written), *more = keys.registered.items()
    others = [one for one in keys.written() if one not in ("to", "registered")]
    for other in [*(one for one, _ in more), *others]:
        hint = f"Beside {key!r} goes only 'to'; remove this, or make it another release."
        faults.add(
            f"{other!r} does not go with {key!r}.", "releases", name, other, hint=hint, key=True
        )
    try:
        return RELEASE_KEYS[key].from_plan(name, written, keys.to)
    except InputError as error:
        faults.take(error.at(faults.document.mark("releases", name, key)))
        return None


def _shape(name: str, keys: ReleaseKeys, faults: Faults) -> str | None:
    """The key that says what the release is;
    all others must go with it, and only one beside a table.
    """
    given = [key for key in keys.written() if key != "to"]
    leading = [key for key in given if key in SHAPES]
    if len(leading) != 1:
        says = "nothing of what it is" if not leading else f"both {either(leading, 'and')}"
        faults.add(
            f"release {name!r} says {says}.", "releases", name, hint=f"Write {EXAMPLES}.", key=True
        )
        return None
    shape = leading[0]
    _check_beside(name, shape, [key for key in given if key != shape], faults)
    return shape


def _check_beside(name: str, shape: str, beside: list[str], faults: Faults) -> None:
    """The keys beside the one that says what a release is go with it, and with each other."""
    strange = [key for key in beside if key not in SHAPES[shape]]
    for key in strange:
        goes = (
            either([f"{other!r}" for other in SHAPES[shape]]) if SHAPES[shape] else "nothing else"
        )
        hint = f"Beside {shape!r} goes {goes}; remove this, or make it another release."
        faults.add(
            f"{key!r} does not go with {shape!r}.", "releases", name, key, hint=hint, key=True
        )
    # Levels and how to find better ones may stand side by side; a file or a mechanism stands alone.
    alone = [key for key in beside if key in ("file", "synthetic")]
    if alone and len(beside) > 1 and not strange:
        other = next(key for key in beside if key != alone[0])
        first, second = (key for key in beside if key in (alone[0], other))
        hint = f"Keep one of {first} and {second}."
        faults.add(
            f"{second!r} does not go with {first!r}.", "releases", name, second, hint=hint, key=True
        )


def _check_levels(
    table: Table, levels: Mapping[str, int], faults: Faults, *path: str | int
) -> None:
    """Levels are for quasi-identifiers that have a hierarchy with as many."""
    for column, level in levels.items():
        spec = table.hierarchies.get(column)
        highest = height(spec) if spec else None
        if column not in table.quasi_identifiers:
            hint = (
                did_you_mean(column, table.quasi_identifiers)
                or f"Add quasi-identifiers: [{column}] to the table."
            )
            message = f"{column!r} is not a quasi-identifier of {table.name!r}."
            faults.add(message, *path, column, hint=hint, key=True)
        elif spec is None and level > 0:
            hint = (
                f"Give it one under hierarchies, e.g. {{{column}: {column}.csv}} or "
                f'{{{column}: "*"}}.'
            )
            faults.add(
                f"{column!r} has no hierarchy in {table.name!r}.",
                *path,
                column,
                hint=hint,
                key=True,
            )
        elif highest is not None and level > highest:
            hint = f"Write 0 to {highest}; {highest} suppresses every value."
            faults.add(f"{column!r} has no level {level}.", *path, column, hint=hint)


def _check_weights(
    table: Table, weights: Mapping[str, Fraction], faults: Faults, *path: str | int
) -> None:
    """Weights are for quasi-identifiers, and are not negative."""
    for column, weight in weights.items():
        if column not in table.quasi_identifiers:
            hint = did_you_mean(column, table.quasi_identifiers)
            message = f"{column!r} is not a quasi-identifier of {table.name!r}."
            faults.add(message, *path, column, hint=hint, key=True)
        elif weight < 0:
            faults.add(
                "a weight cannot be negative.",
                *path,
                column,
                hint="0 means that the column does not matter.",
            )


def read_query(
    written: str, folder: Path, faults: Faults, *path: str | int
) -> tuple[str, str | None]:
    """A query's text, and the file it came from: a name that ends in .sql is read."""
    if not written.strip().endswith(".sql") or "\n" in written.strip():
        return written, None
    return read_sql(written.strip(), folder, faults, *path), written.strip()


def read_sql(file: str, folder: Path, faults: Faults, *path: str | int) -> str:
    """The query in a file, relative to the plan; problems are noted at the place that names it."""
    try:
        query = read_text(folder / file, file).strip()
    except PlanError as error:
        hint = error.hint or "Paths are relative to the plan."
        faults.add(error.message, *path, hint=hint)
        return ""
    if not query:
        faults.add(f"{file!r} is empty.", *path, hint="Write a query into it.")
    return query


def releases_from(
    patterns: tuple[str, ...], folder: Path, taken: Mapping[str, object], faults: Faults
) -> Iterator[View]:
    """The views in the files that match, each named by its file;
    sorted, so that reports keep their order.
    """
    names = dict.fromkeys(taken, "releases")
    for at, pattern in enumerate(patterns):
        files = sorted(
            file
            for file in glob.glob(pattern, root_dir=folder, recursive=True)
            if (folder / file).is_file()
        )
        if not files:
            hint = "Patterns are relative to the plan, e.g. views/*.sql"
            faults.add(f"no file matches {pattern!r}.", "releases-from", at, hint=hint)
        for file in files:
            name = Path(file).stem
            if names.get(name) == file:
                continue  # two patterns may match one file
            if name in names:
                hint = "Rename the file, or the other release."
                message = (
                    f"{file!r} makes a second release {name!r}; the first is in {names[name]!r}."
                )
                faults.add(message, "releases-from", at, hint=hint)
            elif query := read_sql(file, folder, faults, "releases-from", at):
                names[name] = file
                yield View(name, query, file)
