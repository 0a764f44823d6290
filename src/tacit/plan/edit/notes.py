"""Hierarchies, levels and checks in words, as the comments behind them in a plan say it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tacit.model.numbers import plain as shown_number
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.read.hierarchies import height

SUPPRESSED_NOTE = "suppressed"


def described(spec: HierarchySpec) -> str:
    """A hierarchy in words, as the comment behind it says it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> (
    ...     described(RangeHierarchy((5, 10))),
    ...     described(DateHierarchy(("month", "year"))),
    ...     described(FlatHierarchy()),
    ... )
    ('bands 5, 10 wide, then *', 'month, year, then *', 'one step: suppressed')
    """
    match spec:
        case RangeHierarchy(widths):
            return f"bands {', '.join(map(shown_number, widths))} wide, then *"
        case DateHierarchy(units, zone):
            return f"{', '.join(units)}{f' in {zone}' if zone else ''}, then *"
        case MaskHierarchy(side):
            return f"the {'last' if side == 'right' else 'first'} characters hidden one by one"
        case CsvHierarchy(file):
            return f"the levels in {file}"
    return "one step: suppressed"


def level_note(spec: HierarchySpec, level: int) -> str:
    """A level in words, as the comment behind it says it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> (
    ...     level_note(RangeHierarchy((5, 10)), 2),
    ...     level_note(DateHierarchy(("month", "year")), 1),
    ...     level_note(FlatHierarchy(), 1),
    ... )
    ('bands 10 wide', 'the month', 'suppressed')
    """
    if level == 0:
        return "as it is"
    if level == height(spec):
        return SUPPRESSED_NOTE
    match spec:
        case RangeHierarchy(widths) if level <= len(widths):
            return f"bands {shown_number(widths[level - 1])} wide"
        case DateHierarchy(units) if level <= len(units):
            return f"the {units[level - 1]}"
        case MaskHierarchy():
            return f"{level} character{'s' * (level != 1)} hidden"
    return f"level {level}"


def level_notes(spec: HierarchySpec | None, level: Any) -> tuple[str, ...]:
    """How a comment about a level may begin."""
    if spec is None or not isinstance(level, int):
        return ()
    longest = (
        (f"{level} of {length} characters hidden" for length in range(level, 13))
        if isinstance(spec, MaskHierarchy)
        else ()
    )
    return level_note(spec, level), *longest


def check_comment(kind: str, parameters: Mapping[str, Any]) -> str:
    """What a check asks for, as the comment behind it says it; empty where it has none.

    >>> (
    ...     check_comment("k-anonymity", {"k": 5}),
    ...     check_comment("l-diversity", {"kind": "distinct", "l": 3}),
    ... )
    ('nobody is one of fewer than 5 people', '3 different values in every group')
    """
    if kind == "k-anonymity":
        return f"nobody is one of fewer than {parameters.get('k')} people"
    if kind == "l-diversity" and parameters.get("kind") == "distinct":
        return f"{parameters.get('l')} different values in every group"
    return ""
