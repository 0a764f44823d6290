"""What may stay of zip codes, ages and years of birth, by all that a label can stand for."""

from __future__ import annotations

from collections.abc import Sequence

ZIPS = [f"{number:05}" for number in range(100_000)]
SMALL = "036 059 063 102 203 205 369 556 692 753 772 790 821 823 830 831 878 879 884 890 893".split(  # noqa: SIM905
    " "
)


def zips_of(label: str) -> set[str]:
    """Every zip code that a masked one can stand for; 000 stands for all small areas."""
    return {one for one in ZIPS if one.startswith(label.rstrip("*"))}


def zip_may_stay(label: str) -> bool:
    """It says no more than the first three digits, and not those of a small area."""
    told = zips_of(label)
    areas = {one[:3] for one in told}
    whole = {one for one in ZIPS if one[:3] in areas}
    return told == whole and not (len(areas) == 1 and areas <= set(SMALL))


def ages_may_stay(spans: Sequence[tuple[int, int | None]]) -> bool:
    """Spans of ages, without end where there is none: of those that somebody over 89 can be in
    there is one at most, without end, and all over 89 are in it.
    """
    old = [(low, high) for low, high in spans if high is None or high > 89]
    return not old or (len(old) == 1 and old[0][1] is None and old[0][0] <= 90)


def births_may_stay(spans: Sequence[tuple[int | None, int]], year: int) -> bool:
    """The same of years of birth: without beginning where there is none."""
    return ages_may_stay(
        [(year - high, None if low is None else year - low) for low, high in spans]
    )
