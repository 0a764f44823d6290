"""Microdata definitions by brute force: lists of rows, integers and fractions, nothing clever.

Written from Machanavajjhala (2008) (chapter 3) and the design's contract before looking at Tacit's
code, and sharing none of it. Everything here is slow on purpose; it is the judge of what is fast.

A row is a dict. `None` is a missing value. What each function leaves open in the sources is decided
in its docstring, so that a disagreement with Tacit is a disagreement about a sentence.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Any

Row = dict[str, Any]
Key = tuple[Any, ...]


class MissingValueError(ValueError):
    """`missing="error"` and a value that groups rows is missing."""


# -- what is released ---------------------------------------------------------------------------


def generalized(value: Any, spec: Any, level: int, column: Sequence[Any] = ()) -> Any:
    """One value of a column, `level` steps up its hierarchy (Definition 3.3).

    `spec` is written as in a plan: "*", {"ranges": [..]}, {"mask": "right"}, {"dates": [..]}, and
    {"rows": {value: [level 1, level 2, ...]}} for a file. Level 0 is the value itself. A domain
    generalization is a partition of the *whole* domain, so the level that has one set only, "*",
    also swallows the missing value; below that a missing value stays missing (nothing is known
    about which set it belongs to). `column` has all values of the column: how long the longest
    one is decides what a mask does with shorter ones (they are filled up with blanks first).
    """
    if level == 0:
        return value
    if is_one_set(spec, level, column):
        return "*"
    if value is None:
        return None
    if "ranges" in spec:
        width = Fraction(spec["ranges"][level - 1])
        return band(Fraction(str(value)), width, whole=all_whole(column))
    if "dates" in spec:
        return calendar(str(value), spec["dates"][level - 1])
    if "mask" in spec:
        longest = max(len(str(one)) for one in column if one is not None)
        if spec["mask"] == "right":
            shown = str(value).ljust(longest)[: longest - level].rstrip()
            return shown + "*" * (longest - len(shown))
        shown = str(value).rjust(longest)[level:].lstrip()
        return "*" * (longest - len(shown)) + shown
    return spec["rows"][value][level - 1]


def height(spec: Any, column: Sequence[Any]) -> int:
    """The highest level of a hierarchy."""
    if spec is None:
        return 0
    if spec == "*":
        return 1
    if "mask" in spec:
        return max((len(str(one)) for one in column if one is not None), default=1)
    if "rows" in spec:
        return len(next(iter(spec["rows"].values())))
    return len(spec.get("ranges", spec.get("dates"))) + 1


def is_one_set(spec: Any, level: int, column: Sequence[Any]) -> bool:
    """Does a level put the whole domain into one set? The highest one does, but a file may end
    as it likes.
    """
    if spec != "*" and "rows" in spec:
        return all(row[level - 1] == "*" for row in spec["rows"].values())
    return level >= height(spec, column)


def all_whole(column: Sequence[Any]) -> bool:
    """Are all numbers of a column whole? Then bands are called 30-34, else [30, 35)."""
    return all(Fraction(str(one)).denominator == 1 for one in column if one is not None)


def band(number: Fraction, width: Fraction, *, whole: bool) -> str:
    """The band that a number lies in, counted from 0."""
    low = (number // width) * width
    if whole and width == 1:
        return str(low)
    if whole and width.denominator == 1:
        return f"{low}-{low + width - 1}"
    return f"[{decimal_text(low)}, {decimal_text(low + width)})"


def decimal_text(number: Fraction) -> str:
    """A fraction that has a short decimal form, written so."""
    return f"{Decimal(number.numerator) / Decimal(number.denominator):f}"


def calendar(day: str, unit: str) -> str:
    """The part of a date, written as 2024-07-31, that a unit keeps."""
    year, month, _ = day[:10].split("-")
    return {
        "day": day[:10],
        "month": f"{year}-{month}",
        "quarter": f"{year}-Q{(int(month) - 1) // 3 + 1}",
        "year": year,
        "decade": f"{year[:3]}0s",
    }[unit]


def released(
    rows: Sequence[Row], hierarchies: Mapping[str, Any], levels: Mapping[str, int]
) -> list[Row]:
    """The rows as they leave the house: every column at its level, absent levels are 0."""
    columns = {name: [row[name] for row in rows] for name in levels}
    out = []
    for row in rows:
        new = dict(row)
        for name, level in levels.items():
            if level:
                new[name] = generalized(row[name], hierarchies[name], level, columns[name])
        out.append(new)
    return out


# -- groups -------------------------------------------------------------------------------------


def agree(left: Key, right: Key) -> bool:
    """Do two combinations agree wherever both have a value? (Not transitive.)"""
    return all(a is None or b is None or a == b for a, b in zip(left, right, strict=True))


def groups(rows: Sequence[Row], quasi: Sequence[str], missing: str) -> dict[Key, list[Row]]:
    """Each combination that occurs, with the rows an adversary cannot tell it from.

    own-group: missing is a value like any other. match-any: the group of a row is all rows that
    agree with it on every quasi-identifier where both have a value; such groups overlap, and each
    one is judged. error: a missing quasi-identifier is refused.
    """
    keys = [tuple(row[column] for column in quasi) for row in rows]
    if missing == "error" and any(value is None for key in keys for value in key):
        raise MissingValueError
    out: dict[Key, list[Row]] = {}
    for key in keys:
        if key not in out:
            if missing == "match-any":
                out[key] = [row for row, other in zip(rows, keys, strict=True) if agree(key, other)]
            else:
                out[key] = [row for row, other in zip(rows, keys, strict=True) if key == other]
    return out


def who(row: Row, person: Sequence[str], number: int) -> Any:
    """The person of a row: the `person` columns, or the row itself where there are none."""
    return tuple(row[column] for column in person) if person else number


def people(members: Sequence[Row], person: Sequence[str]) -> int:
    """How many people there are in a group."""
    return len({who(row, person, number) for number, row in enumerate(members)})


def known_values(members: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, set[Any]]:
    """Each person's known values of `column` within the group; empty where none is known."""
    out: dict[Any, set[Any]] = {}
    for number, row in enumerate(members):
        values = out.setdefault(who(row, person, number), set())
        if row[column] is not None:
            values.add(row[column])
    return out


def value_counts(members: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, int]:
    """How many people have each known value; someone with two values is in both counts."""
    out: dict[Any, int] = {}
    for values in known_values(members, column, person).values():
        for value in values:
            out[value] = out.get(value, 0) + 1
    return out


def picks(members: Sequence[Row], column: str, person: Sequence[str]) -> Iterator[dict[Any, int]]:
    """Every way to give each person one of their known values, as counts per value.

    The definitions presume one value per person. Someone without a known value is in no count.
    """
    choices = [
        sorted(values, key=repr) for values in known_values(members, column, person).values()
    ]
    for chosen in itertools.product(*(values for values in choices if values)):
        counts: dict[Any, int] = {}
        for value in chosen:
            counts[value] = counts.get(value, 0) + 1
        yield counts


def number_of_picks(members: Sequence[Row], column: str, person: Sequence[str]) -> int:
    """How many counts `picks` would go through."""
    total = 1
    for values in known_values(members, column, person).values():
        total *= max(1, len(values))
    return total


# -- one group, one count per known value -------------------------------------------------------


def distinct(counts: Iterable[int]) -> int:
    """How many different known values; 0 where nothing is known."""
    return sum(1 for count in counts if count > 0)


def entropy_holds(counts: Iterable[int], l: Fraction) -> bool:  # noqa: E741
    """Entropy l-diversity, Definition 3.7, decided in integers.

    H >= log l  iff  prod(n_i^n_i) p^n <= n^n q^n  for l = p/q. With no known value H is 0.
    """
    known = [count for count in counts if count > 0]
    total = sum(known)
    if total == 0:
        return l <= 1
    left = l.numerator**total
    for count in known:
        left *= count**count
    return left <= total**total * l.denominator**total


def entropy_value(counts: Iterable[int], digits: int = 60) -> Decimal:
    """e^H to `digits` digits: n / prod(n_i^(n_i/n)); 1 where nothing is known."""
    known = [count for count in counts if count > 0]
    total = sum(known)
    if total == 0:
        return Decimal(1)
    with localcontext() as context:
        context.prec = digits
        log = Decimal(total).ln()
        for count in known:
            log -= Decimal(count) * Decimal(count).ln() / Decimal(total)
        return log.exp()


def recursive_holds(counts: Iterable[int], c: Fraction, l: int) -> bool:  # noqa: E741
    """Recursive (c,l)-diversity, Definition 3.8: r1 < c (r_l + ... + r_m), strictly.

    "We say that 1-diversity is always satisfied." A group in which nothing is known has r1 = 0 and
    an empty tail: 0 < 0 is false, so it is 1-diverse and no more.
    """
    r = sorted((count for count in counts if count > 0), reverse=True)
    if l <= 1:
        return True
    return (r[0] if r else 0) < c * sum(r[l - 1 :])


def recursive_value(counts: Iterable[int], c: Fraction) -> int:
    """The largest l for which recursive (c,l)-diversity holds, at least 1."""
    known = [count for count in counts if count > 0]
    best = 1
    for l in range(2, len(known) + 1):  # noqa: E741
        if recursive_holds(known, c, l):
            best = l
    return best


def pd_recursive_holds(
    counts: Mapping[Any, int],
    c: Fraction,
    l: int,  # noqa: E741
    dont_care: Iterable[Any],
) -> bool:
    """Positive disclosure-recursive (c,l)-diversity, Definition 3.9, with 1-based indices.

    Holds trivially when every known value is a don't-care one (r_y = 0). A group in which nothing
    is known is 1-diverse and no more, as for Definition 3.8: what is missing may need protection.
    """
    skip = set(dont_care)
    if l <= 1:
        return True
    # Among equal counts the order does not matter for the outcome; don't-care ones come first here.
    order = sorted(
        ((value, n) for value, n in counts.items() if n > 0),
        key=lambda item: (-item[1], item[0] not in skip, repr(item[0])),
    )
    r = [0] + [n for _, n in order]
    cared = [i for i in range(1, len(r)) if order[i - 1][0] not in skip]
    if not cared:
        return bool(order)
    y = cared[0]
    if y <= l - 1:
        return r[y] < c * sum(r[l:])
    return r[y] < c * sum(r[l - 1 : y]) + c * sum(r[y + 1 :])


def pd_recursive_value(
    counts: Mapping[Any, int], c: Fraction, dont_care: Iterable[Any]
) -> int | None:
    """The largest l that holds, at least 1;
    None where there is nothing to protect, so that every l holds.
    """
    skip = set(dont_care)
    known = [value for value, n in counts.items() if n > 0]
    if known and all(value in skip for value in known):
        return None
    return max(
        [1, *(n for n in range(2, len(known) + 2) if pd_recursive_holds(counts, c, n, skip))]
    )


def least_percent(counts: Mapping[Any, int], size: int, negative: Iterable[Any]) -> Fraction | None:
    """How many percent of the block's tuples have the rarest value of W; None where W is empty."""
    return min((Fraction(100 * counts.get(value, 0), size) for value in negative), default=None)


def negative_holds(
    counts: Mapping[Any, int], size: int, c2: Fraction, negative: Iterable[Any]
) -> bool:
    """Definition 3.10: every value of W occurs in at least `c2` percent of the tuples of the block.

    The tuples of a block are all of them, also those whose sensitive value is missing.
    """
    return all(counts.get(value, 0) * 100 >= c2 * size for value in negative)


# -- a whole release ----------------------------------------------------------------------------


@dataclass
class Part:
    """One group as judged: its values, its people, its counts, and whether the definition holds."""

    columns: tuple[str, ...]
    values: Key
    size: int
    column: str | None
    counts: dict[Any, int]
    holds: bool  # for every pick
    measured: Any  # the least over all picks
    several: bool  # someone has more than one known value here
    rows: list[Row]
    percent: Fraction | None = None  # of the rarest value that must not be ruled out


def k_anonymity(
    rows: Sequence[Row], quasi: Sequence[str], k: int, person: Sequence[str], missing: str
) -> list[Part]:
    """Definition 3.2 with people for tuples: every group has at least k people."""
    return [
        Part(tuple(quasi), key, n, None, {}, n >= k, n, False, members)
        for key, members in groups(rows, quasi, missing).items()
        for n in [people(members, person)]
    ]


def l_diversity(
    rows: Sequence[Row],
    quasi: Sequence[str],
    sensitive: Sequence[str],
    person: Sequence[str],
    missing: str,
    *,
    kind: str,
    l: Any,  # noqa: E741
    c: Fraction | None = None,
    dont_care: Sequence[Any] = (),
    negative: Sequence[Any] = (),
    c2: Fraction | None = None,
) -> list[Part]:
    """Every group of every sensitive column, the others joining the quasi-identifier (3.11)."""
    out = []
    for column in sensitive:
        columns = [*quasi, *(other for other in sensitive if other != column)]
        for key, members in groups(rows, columns, missing).items():
            size = people(members, person)
            found = []
            for counts in different(picks(members, column, person)):
                n = list(counts.values())
                share = least_percent(counts, size, negative)
                if kind == "distinct":
                    fine, value = distinct(n) >= l, distinct(n)
                elif kind == "entropy":
                    fine, value = entropy_holds(n, Fraction(l)), entropy_value(n)
                else:
                    assert c is not None
                    fine = pd_recursive_holds(counts, c, l, dont_care)
                    value = pd_recursive_value(counts, c, dont_care)
                if negative:
                    assert c2 is not None
                    fine = fine and negative_holds(counts, size, c2, negative)
                found.append((fine, value, share))
            out.append(
                Part(
                    tuple(columns),
                    key,
                    size,
                    column,
                    value_counts(members, column, person),
                    all(fine for fine, _, _ in found),
                    least([value for _, value, _ in found]),
                    any(len(v) > 1 for v in known_values(members, column, person).values()),
                    members,
                    least([share for _, _, share in found]),
                )
            )
    return out


def different(counts: Iterable[dict[Any, int]]) -> list[dict[Any, int]]:
    """Each of some counts once; which person has which value does not matter."""
    return [dict(one) for one in {frozenset(one.items()) for one in counts}]


def least(values: Iterable[Any]) -> Any:
    """The least value that is not None, else None."""
    return min((value for value in values if value is not None), default=None)


def holds(parts: Sequence[Part]) -> bool:
    """A table satisfies a definition if every group does."""
    return all(part.holds for part in parts)


def measured(parts: Sequence[Part]) -> Any:
    """The least over the groups; None where there is no group, or
    none that has something to protect.
    """
    return least(part.measured for part in parts)
