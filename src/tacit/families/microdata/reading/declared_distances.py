"""The distances that a table declares, made for the values it has:
files read, functions imported.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from tacit.engines.files import read_rows
from tacit.errors import DataError, InputError, did_you_mean
from tacit.families.microdata.distances import (
    Discrete,
    Distance,
    Taxonomy,
    numeric,
    own,
    usual,
    variational,
)
from tacit.families.microdata.hierarchy import hierarchy
from tacit.model.schema import CsvHierarchy, Table
from tacit.plan.plan import Plan

Values = tuple[Any, ...]
Measure = Callable[[str, Values], Distance]


def measure_of(table: Table, plan: Plan, types: Mapping[str, Any]) -> Measure:
    """How to make the distance of a column; `types` are those that the data have.

    A distance is made when a check asks for it:
    a taxonomy that lacks a value does no harm to others.
    """

    def measure(column: str, values: Values) -> Distance:
        way = table.distances.get(column)
        if way is None and holds_distributions(table, column, types):
            way = "variational"
        try:
            return (
                usual(column, values) if way is None else declared(way, column, values, plan.folder)
            )
        except InputError as error:
            raise error.at(plan.mark("tables", table.name, "distances", column)) from None

    return measure


def holds_distributions(table: Table, column: str, types: Mapping[str, Any]) -> bool:
    """Whether a column's cells are distributions:
    by its type, or because the plan's rows have mappings.
    """
    if "distribution" in (types.get(column), table.columns.get(column)):
        return True
    place = list(table.columns).index(column) if column in table.columns else -1
    return place >= 0 and any(isinstance(row[place], Mapping) for row in table.rows or ())


def parts_of(table: Table, columns: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """The sensitive columns that are several in the data: {variational: [p_flu, p_cold]}.

    In a file that someone else released they may have become one, of that name.
    """
    return {
        name: tuple(way["variational"])
        for name, way in table.distances.items()
        if name in table.sensitive and isinstance(way, Mapping) and "variational" in way
        if name not in columns or set(way["variational"]) <= set(columns)
    }


def declared(way: Any, column: str, values: Values, folder: Path) -> Distance:
    """A distance as a plan writes it, for the values of a column.

    >>> declared("manhattan", "salary", (), Path())
    Traceback (most recent call last):
    tacit.errors.DataError: there is no distance 'manhattan'. Known: discrete, numeric, variational.
    """
    if callable(way):
        return own(column, values, way)
    if isinstance(way, Mapping) and len(way) == 1:
        ((kind, what),) = way.items()
        if kind == "taxonomy":
            rows = read_rows(folder / what, what)
            return Taxonomy(hierarchy(column, values, CsvHierarchy(what), rows=rows, file=what))
        if kind == "python":
            return own(column, values, function(what, folder))
        way = kind
    if way == "variational":
        return variational(column, values)
    if way == "numeric":
        return numeric(column, values)
    if way == "discrete":
        return Discrete(len(values))
    raise DataError(
        f"there is no distance {way!r}.",
        hint=did_you_mean(str(way), ("numeric", "discrete", "variational")),
    )


def function(name: str, folder: Path) -> Callable[[Any, Any], Any]:
    """The function `module:name`, from a file beside the plan or an installed module."""
    module, _, path = name.partition(":")
    found: Any = module_of(module, folder)
    for part in path.split("."):
        if not hasattr(found, part):
            names = [one for one in vars(found) if callable(getattr(found, one)) and one[0] != "_"]
            raise DataError(f"{module} has no function {path!r}.", hint=did_you_mean(path, names))
        found = getattr(found, part)
    if not callable(found):
        raise DataError(
            f"{name} is not a function.", hint="It must take two values and return a number."
        )
    return found  # type: ignore[no-any-return]


def module_of(name: str, folder: Path) -> ModuleType:
    """A module by its name; a file beside the plan comes first, and is not kept for other plans."""
    path = folder.joinpath(*name.split(".")).with_suffix(".py")
    try:
        with findable(folder):
            return loaded(name, path) if path.is_file() else import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or name
        hint = (
            f"Put {path.name} beside the plan, or install the module."
            if name.startswith(missing)
            else None
        )
        raise DataError(f"there is no module {missing!r}.", hint=hint) from None
    except Exception as error:
        raise DataError(
            f"module {name!r} cannot be imported: {type(error).__name__}: {error}."
        ) from None


def loaded(name: str, path: Path) -> ModuleType:
    """A module read from its file."""
    spec = spec_from_file_location(f"tacit distance {name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@contextmanager
def findable(folder: Path) -> Iterator[None]:
    """Let modules beside the plan be imported."""
    sys.path.insert(0, str(folder.resolve()))
    try:
        yield
    finally:
        sys.path.remove(str(folder.resolve()))
