"""Ladders: the values of a parameter that are worth trying."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, replace
from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError
from tacit.families.microdata.repair.requirements import Required

WHOLE = (2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100)
SHARES = tuple(Fraction(n, 100) for n in (5, 10, 15, 20, 30, 40, 50, 60, 75, 90, 95))
FACTORS = tuple(Fraction(f) for f in ("1/4", "1/2", "3/4", "1", "3/2", "2", "4"))
LADDERS: Mapping[str, Sequence[Any]] = {
    "k": WHOLE,
    "l": WHOLE,
    "t": SHARES,
    "alpha": SHARES,
    "at_most": SHARES,
    "delta": SHARES,
    "rho2": SHARES,
    "c": tuple(map(Fraction, ("1/2", "1", "3/2", "2", "3", "4", "5", "10"))),
}
SCALED = ("e", "v", "epsilon", "m")  # in the units of the data: steps around what the plan says


def ladder(
    required: Sequence[Required], place: int, *, also: Mapping[str, Any] | None = None
) -> Iterator[tuple[int, str, Any, tuple[Required, ...]]]:
    """Every value of every parameter of one check, with the checks as they would be then.

    `also` gives more values to try, by parameter: those that were measured.
    """
    definition = required[place].definition
    for field in fields(definition):  # type: ignore[arg-type]
        now = getattr(definition, field.name)
        if now is None or isinstance(now, str | bool | tuple | list):
            continue
        for value in values_of(field.name, now, (also or {}).get(field.name)):
            try:
                other = replace(definition, **{field.name: value})  # type: ignore[type-var]
            except ParameterError:
                continue
            changed = (
                *required[:place],
                replace(required[place], definition=other),
                *required[place + 1 :],
            )
            yield place, field.name, value, changed


def values_of(name: str, now: Any, measured: Any = None) -> list[Any]:
    """The values to try for a parameter, the one that the plan has, and the one that was measured.

    >>> values_of("k", 7, 12)
    [2, 3, 4, 5, 6, 7, 8, 10, 12, 15, 20, 30, 50, 100]
    """
    if name in LADDERS:
        exact = {measured} if isinstance(measured, int | Fraction) else set()
        return sorted({*LADDERS[name], now} | exact)
    if name in SCALED:
        return sorted({now, *(now * factor for factor in FACTORS)})
    return []
