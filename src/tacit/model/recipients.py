"""Recipients: which names mean the same one, and one spelling for each."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """A name as it is compared: small and capital letters, spaces and the ways to write a letter
    make no difference.

    Two names for one recipient hide what that recipient holds, and a breach with it.
    Who really are two need names that differ by more.

    >>> (
    ...     folded(" Insurer ") == folded("INSURER") == folded("insurer"),
    ...     folded("insurers") == folded("insurer"),
    ... )
    (True, False)
    """
    wide = unicodedata.normalize("NFKC", name).casefold()
    return " ".join(unicodedata.normalize("NFKC", wide).split())


def is_among(name: str, names: Iterable[str]) -> bool:
    """Is somebody one of these?

    >>> is_among("Insurer", ["clinic", "insurer"])
    True
    """
    return folded(name) in map(folded, names)


def have_common(some: Iterable[str], others: Iterable[str]) -> bool:
    """Is somebody among both?

    >>> have_common(["clinic", "insurer"], ["Insurer"]), have_common(["clinic"], [])
    (True, False)
    """
    return not set(map(folded, some)).isdisjoint(map(folded, others))


class Spellings:
    """One spelling for each recipient: the first that was met.

    >>> known = Spellings(["insurer"])
    >>> known.of("INSURER "), known.each(["Clinic", "Insurer", "clinic"])
    ('insurer', ('Clinic', 'insurer'))
    """

    def __init__(self, names: Iterable[str] = ()) -> None:
        self._first: dict[str, str] = {}
        self.each(names)

    def of(self, name: str) -> str:
        """How this recipient is written here."""
        return self._first.setdefault(folded(name), name.strip())

    def each(self, names: Iterable[str]) -> tuple[str, ...]:
        """Recipients, each once, as they are written here."""
        return tuple(dict.fromkeys(self.of(name) for name in names))
