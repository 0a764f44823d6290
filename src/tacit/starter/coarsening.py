"""How a column could become coarser: a hierarchy for its kind of
values, and a level to begin with.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from tacit.model.schema import (
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.starter.guessing import ColumnGuess
from tacit.starter.survey import ColumnProfile

BANDS = 20  # about as many bands as the finest level has
FEW = 10  # different numbers up to which they are taken as codes
KEPT = 5  # different values up to which a category is released as it is
USUAL_CODE, LONGEST_CODE = 5, 12  # characters of a postal or area code
LONGEST_WIDTH = 30  # digits
AGES = (5, 10, 20)
FACTORS = {
    1: (1, 5, 10),
    2: (1, 5, 10),
    5: (1, 2, 4),
}  # 1, 5, 10 or 2, 10, 20 or 5, 10, 20: round, and nested


@dataclass(frozen=True, slots=True)
class HierarchyProposal:
    """A hierarchy, the level to begin with, and what to know about them."""

    spec: HierarchySpec
    level: int
    note: str
    level_note: str


def coarsen(guess: ColumnGuess) -> HierarchyProposal:
    """A hierarchy for a quasi-identifier.

    >>> from tacit.starter.guessing import guess_alone
    >>> coarsen(
    ...     guess_alone(ColumnProfile("age", "integer", 99, 99, 50, Decimal(17), Decimal(90)))
    ... ).spec
    RangeHierarchy(widths=(Decimal('5'), Decimal('10'), Decimal('20')))
    >>> coarsen(
    ...     guess_alone(ColumnProfile("zip", "text", 99, 99, 50, Decimal(5), Decimal(5), 99))
    ... ).level
    2
    """
    facts = guess.facts
    if facts.is_date or (guess.family == "birth" and not facts.values):
        return dates(guess)
    if is_code(facts, guess.family):
        return masked(facts)
    if is_measured(facts, guess.family):
        return bands(widths(facts, guess.family))
    return flat(facts, guess.family)


def is_code(facts: ColumnProfile, family: str) -> bool:
    """Whether the first characters say the most:
    postal codes, numbers of places, digits of one length.

    >>> is_code(ColumnProfile("city", "text", 99, 99, 9, Decimal(4), Decimal(9)), "place")
    False
    """
    if not facts.values or longest(facts) is None:
        return family == "postal" and not facts.values
    if family == "postal" or (
        family == "place" and facts.kind == "integer" and facts.distinct > FEW
    ):
        return True
    return facts.kind == "text" and facts.digits == facts.values and facts.low == facts.high != 1


def is_measured(facts: ColumnProfile, family: str) -> bool:
    """Whether bands make sense: numbers that are no codes, and of a size that can be written."""
    if not facts.values:
        return family == "age"
    if not facts.is_number or (facts.distinct <= FEW and family not in ("age", "birth")):
        return False
    return all(len(f"{width:f}") <= LONGEST_WIDTH for width in widths(facts, family))


def dates(guess: ColumnGuess) -> HierarchyProposal:
    """Months and years; births also decades."""
    if guess.family == "birth":
        return HierarchyProposal(
            DateHierarchy(("month", "year", "decade")), 2, "month, year, decade, then *", "the year"
        )
    return HierarchyProposal(DateHierarchy(("month", "year")), 2, "month, year, then *", "the year")


def masked(facts: ColumnProfile) -> HierarchyProposal:
    """Characters hidden from the right, about half of them to begin with."""
    length = longest(facts) or USUAL_CODE
    hidden = max(1, length // 2)
    note = f"the last characters hidden one by one; level {length} hides all"
    if facts.kind == "integer" and facts.low is not None and len(str(facts.low)) < length:
        note += ". Some are shorter: if leading zeros were lost, store the column as text"
    return HierarchyProposal(
        MaskHierarchy("right"), hidden, note, f"{hidden} of {length} characters hidden"
    )


def longest(facts: ColumnProfile) -> int | None:
    """How many characters a code has at most; None where it is no code."""
    if facts.kind not in ("integer", "text") or facts.low is None or facts.high is None:
        return None
    length = (
        int(facts.high) if facts.kind == "text" else max(len(str(facts.low)), len(str(facts.high)))
    )
    return length if 0 < length <= LONGEST_CODE else None


def bands(sizes: tuple[Decimal, ...]) -> HierarchyProposal:
    """Bands of growing width; the second is where to begin."""
    level = min(2, len(sizes))
    listed = ", ".join(f"{size:f}" for size in sizes)
    return HierarchyProposal(
        RangeHierarchy(sizes),
        level,
        f"bands {listed} wide, then *",
        f"bands {sizes[level - 1]:f} wide",
    )


def widths(facts: ColumnProfile, family: str = "other") -> tuple[Decimal, ...]:
    """Widths of bands, each a multiple of the one before, from what the numbers span.

    >>> [
    ...     str(width)
    ...     for width in widths(
    ...         ColumnProfile("lat", "decimal", 99, 99, 90, Decimal("40.50"), Decimal("40.91"))
    ...     )
    ... ]
    ['0.05', '0.10', '0.20']
    >>> [
    ...     str(width)
    ...     for width in widths(
    ...         ColumnProfile("height", "integer", 99, 99, 60, Decimal(140), Decimal(208))
    ...     )
    ... ]
    ['5', '10', '20']
    """
    low, high = facts.low or Decimal(0), facts.high or Decimal(0)
    if family in ("age", "birth") and high - low <= BANDS * max(AGES):
        return tuple(map(Decimal, AGES))
    first = round_width((high - low) / BANDS, whole=facts.kind == "integer")
    found = [first * factor for factor in FACTORS[int(first.as_tuple().digits[0])]]
    return tuple(size for size in found if size <= high - low) or (first,)


def round_width(about: Decimal, *, whole: bool) -> Decimal:
    """The next 1, 2 or 5 with zeros that is at least so wide; at least 2 for whole numbers.

    >>> [
    ...     str(round_width(Decimal(about), whole=False))
    ...     for about in ("0.03", "0.9", "2.5", "74000", "0")
    ... ]
    ['0.05', '1', '5', '100000', '1']
    """
    if whole:
        about = max(about, Decimal(2))
    if about <= 0:
        return Decimal(1)
    power = Decimal(1).scaleb(about.adjusted())
    size = next(step * power for step in map(Decimal, (1, 2, 5, 10)) if step * power >= about)
    return Decimal(f"{size.normalize():f}")


def flat(facts: ColumnProfile, family: str) -> HierarchyProposal:
    """Kept or suppressed; steps between need somebody who knows what the values mean."""
    level = 0 if facts.distinct <= KEPT else 1
    note = "one step: suppressed"
    if facts.kind == "text" and facts.values // 2 < facts.numbers < facts.values:
        odd = facts.values - facts.numbers
        note += (
            f". {odd:,} of {facts.values:,} values are no numbers: leave unknown ones empty "
            "to get bands"
        )
    elif family in ("birth", "date") and facts.kind == "text":
        note += ". Dates written as 2024-04-30 could get month and year"
    return HierarchyProposal(FlatHierarchy(), level, note, "suppressed" if level else "as it is")
