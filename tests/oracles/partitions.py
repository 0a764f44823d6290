"""Local recoding by brute force: all ways to put rows into groups,
what a label stands for, who passes.

Written from the definitions; shares no code with Tacit. Rows are dicts, None is a missing value.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

from oracles import closeness, microdata

Row = dict[str, Any]


def partitions(items: Sequence[Any]) -> Iterator[list[list[Any]]]:
    """All ways to put things into groups (Bell's numbers: 203 for six, 877 for seven)."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for smaller in partitions(rest):
        for i in range(len(smaller)):
            yield [*smaller[:i], [first, *smaller[i]], *smaller[i + 1 :]]
        yield [[first], *smaller]


def holds(
    check: str,
    parameters: Mapping[str, Any],
    rows: Sequence[Row],
    quasi: Sequence[str],
    person: Sequence[str],
    distance: Any = closeness.numeric,
    missing: str = "own-group",
) -> bool:
    """Does a release, grouped by what it shows, meet a check? `s` is the sensitive column."""
    if check == "k-anonymity":
        return microdata.holds(microdata.k_anonymity(rows, quasi, parameters["k"], person, missing))
    if check == "l-diversity":
        return microdata.holds(
            microdata.l_diversity(rows, quasi, ["s"], person, missing, **parameters)
        )
    table = Counter(row["s"] for row in rows if row["s"] is not None)
    measure = closeness.measure_of(check, parameters, table, distance)
    return all(
        closeness.passes(check, parameters, found)
        for part in closeness.parts(rows, quasi, "s", person, missing, measure)
        for found in part.found
    )


def some_partition_passes(
    checks: Sequence[tuple[str, Mapping[str, Any]]],
    rows: Sequence[Row],
    *,
    suppress: int = 0,
    apart: Sequence[str] = (),
    distance: Any = closeness.numeric,
) -> bool:
    """Is there any way to group the rows (but for some), told apart by
    a number, that meets all checks?
    """
    for lost in range(min(suppress, len(rows) - 1) + 1):
        for left_out in itertools.combinations(range(len(rows)), lost):
            kept = [row for i, row in enumerate(rows) if i not in left_out]
            for groups in partitions(kept):
                if any(len({row[name] for row in group}) > 1 for group in groups for name in apart):
                    continue
                shown = [{**row, "group": i} for i, group in enumerate(groups) for row in group]
                if all(
                    holds(check, more, shown, ["group"], (), distance) for check, more in checks
                ):
                    return True
    return False


NUMBERS = re.compile(r"(-?\d+)-(-?\d+)")
INTERVAL = re.compile(r"\[(\S+), (\S+)([\])])")


def stands_for(label: Any, value: Any, above: Sequence[str] | None = None) -> bool:
    """Can a value be behind a label? `above` has the names of a
    value's ancestors, where it has some.
    """
    if label is None:
        return value is None
    if label == "*":
        return True
    if value is None:
        return False
    if label == value or label == str(value):
        return True
    if above is not None and label in above:
        return True
    if isinstance(value, str):
        return False
    if found := NUMBERS.fullmatch(str(label)):
        return Fraction(found[1]) <= Fraction(str(value)) <= Fraction(found[2])
    if found := INTERVAL.fullmatch(str(label)):
        low, high, number = Fraction(found[1]), Fraction(found[2]), Fraction(str(value))
        return low <= number and (number < high or (found[3] == "]" and number == high))
    if " to " in str(label):
        low_day, high_day = str(label).split(" to ")
        return low_day <= str(value) <= high_day
    return False
