"""A column's entry under `hierarchies`: how its values become coarser, level by level."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any, cast, get_args

from tacit.errors import did_you_mean
from tacit.model.numbers import plain
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    DateUnit,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.read import values
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.values import UnfitError

UNITS: tuple[str, ...] = get_args(DateUnit)  # from fine to coarse; each one nests in the next

WAYS = 'a file such as zip.csv, "*", {ranges: [5, 10]}, {dates: [month, year]} or {mask: right}'
WIDTHS = "the widths of the bands from fine to coarse, e.g. [5, 10, 20]"
DATES = "units from fine to coarse, e.g. [month, year]"


def read_hierarchy(value: object, path: KeyPath, faults: Faults) -> HierarchySpec | None:
    """The hierarchy that an entry stands for, or None where something is wrong with it.

    >>> from tacit.plan.read.document import parse
    >>> faults = Faults(parse("age: {ranges: [5, 12]}"))
    >>> read_hierarchy("*", ("age",), faults)
    FlatHierarchy()
    >>> read_hierarchy({"ranges": [5, 12]}, ("age",), faults)
    >>> print(faults.found[0])
    tacit.yaml:1:19: bands of 12 do not consist of whole bands of 5. Bands must nest: write 10 or 15 instead of 12.
        age: {ranges: [5, 12]}
                          ^
    """  # noqa: E501
    if isinstance(value, HierarchySpec):
        return value
    if isinstance(value, str) and value.strip():
        return FlatHierarchy() if value == "*" else CsvHierarchy(value)
    named = (
        {key: one for key, one in value.items() if key != "zone" or "dates" not in value}
        if isinstance(value, dict)
        else {}
    )
    if not isinstance(value, dict) or len(named) != 1:
        faults.unfit(UnfitError(value, WAYS), *path)
        return None
    ((way, steps),) = named.items()
    if way not in READERS:
        hint = f"{did_you_mean(str(way), READERS)} Write {WAYS}."
        faults.add(f"unknown key {way!r}.", *path, way, hint=hint, key=True)
        return None
    before = len(faults)
    spec: HierarchySpec | None = READERS[way](steps, (*path, way), faults)
    if isinstance(spec, DateHierarchy) and "zone" in value:
        spec = replace(spec, zone=faults.fit((*path, "zone"), values.zone, value["zone"]))
    return spec if len(faults) == before else None


def height(spec: HierarchySpec) -> int | None:
    """The level at which everything is suppressed; None where only the data can tell.

    >>> height(DateHierarchy(("month", "year"))), height(CsvHierarchy("zip.csv"))
    (3, None)
    """
    match spec:
        case FlatHierarchy():
            return 1
        case RangeHierarchy(steps) | DateHierarchy(steps):
            return len(steps) + 1
        case _:
            return None


def _read_ranges(steps: object, path: KeyPath, faults: Faults) -> RangeHierarchy | None:
    written = steps if isinstance(steps, list) and steps else [steps]
    read = [faults.fit((*path, at), values.number, one, WIDTHS) for at, one in enumerate(written)]
    widths = [width for width in read if width is not None]
    if len(widths) < len(read):
        return None
    for at, width in enumerate(widths):
        if width <= 0:
            faults.add(f"a band cannot be {plain(width)} wide.", *path, at, hint=f"Write {WIDTHS}.")
            return None
    for at, (fine, coarse) in enumerate(pairwise(widths), 1):
        if coarse <= fine:
            message = f"bands of {plain(coarse)} come after bands of {plain(fine)}."
            faults.add(message, *path, at, hint=f"Write {WIDTHS}.")
        elif coarse % fine:
            times = coarse // fine
            below = f"{plain(times * fine)} or " if times > 1 else ""
            faults.add(
                f"bands of {plain(coarse)} do not consist of whole bands of {plain(fine)}.",
                *path,
                at,
                hint=(
                    f"Bands must nest: write {below}{plain((times + 1) * fine)} instead of "
                    f"{plain(coarse)}."
                ),
            )
    return RangeHierarchy(tuple(widths))


def _read_dates(steps: object, path: KeyPath, faults: Faults) -> DateHierarchy | None:
    units = values.listed(steps, DATES) if steps and isinstance(steps, str | list) else ()
    if not units:
        faults.unfit(UnfitError(steps, DATES), *path)
        return None
    known = [faults.fit((*path, at), values.choice, unit, UNITS) for at, unit in enumerate(units)]
    if None in known:
        return None
    for at, (fine, coarse) in enumerate(pairwise(units), 1):
        if UNITS.index(coarse) <= UNITS.index(fine):
            hint = f"From fine to coarse: {', '.join(UNITS)}."
            faults.add(f"{coarse!r} comes after {fine!r}.", *path, at, hint=hint)
    return DateHierarchy(cast("tuple[DateUnit, ...]", units))


def _read_mask(side: object, path: KeyPath, faults: Faults) -> MaskHierarchy | None:
    known = faults.fit(path, values.choice, side, ("right", "left"))
    return MaskHierarchy(cast(Any, known)) if known else None


READERS: dict[Any, Any] = {"ranges": _read_ranges, "dates": _read_dates, "mask": _read_mask}
