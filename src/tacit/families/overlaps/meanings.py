"""Which values may mean the same: missing ones may be any, and
spellings of one word are no diversity.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from tacit.families.microdata.cleaning import unknown_words
from tacit.model.text import folded, is_blank

Meanings = tuple[tuple[int, ...], ...]


def meanings(
    values: Sequence[Any],
    *,
    unknown: Collection[Any] | None = None,
    merge_spelling: bool = True,
    guess_unknown: bool = True,
) -> Meanings:
    """For each thing that a value may mean, the values (by their places)
    that may mean it, the plainest first.

    A missing or blank value, one of `unknown`, and where that is to be guessed one that looks so
    ("?"), may mean anything: it counts with every other. Spellings that differ in case and spaces
    are one where `merge_spelling`.

    >>> meanings(["Cancer", "Flu", "cancer", None])
    ((0, 2, 3), (1, 3))
    >>> meanings(["Cancer", "cancer", "?"], merge_spelling=False, guess_unknown=False)
    ((0,), (1,), (2,))
    >>> meanings(["Cancer", "  "], merge_spelling=False, guess_unknown=False)
    ((0, 1),)
    >>> meanings([None])
    ((0,),)
    """
    told = [value for value in values if value is not None]
    open_ = {*(unknown or ()), *(unknown_words(told) if guess_unknown and unknown is None else ())}
    anything = [
        at for at, value in enumerate(values) if value is None or is_blank(value) or value in open_
    ]
    same: dict[Any, list[int]] = {}
    for at, value in enumerate(values):
        if at not in anything:
            same.setdefault(folded(value) if merge_spelling else (type(value), value), []).append(
                at
            )
    return tuple((*some, *anything) for some in same.values()) or (
        (tuple(anything),) if anything else ()
    )


def surely(values: Sequence[Any], same: Meanings) -> tuple[int | None, ...]:
    """What each value means for certain, by its number among the meanings;
    None for one that may mean anything.

    >>> surely(["Cancer", "Flu", "cancer", None], meanings(["Cancer", "Flu", "cancer", None]))
    (0, 1, 0, None)
    """
    found = [
        [number for number, some in enumerate(same) if at in some] for at in range(len(values))
    ]
    return tuple(
        None if value is None or len(meant) != 1 else meant[0]
        for value, meant in zip(values, found, strict=True)
    )
