"""Digits: the numbers of people of several classes, packed so that they are added and compared
all at once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.families.overlaps.system import Flags

WORD = 62  # bits


class Digits:
    """One digit for each class, in as few words of 62 bits as hold them.

    What is left of the classes has one bit more in front of each digit, a guard. It is 1 until more
    is taken away than there is. So whether some people fit into what is left of all classes is one
    subtraction and one comparison per word. `most` is what may be taken away of each class at a
    time.

    >>> two = Digits([3, 5], [3, 5])
    >>> fits, left = two.without(two.whole, two.packed(np.array([[3, 2], [1, 6]])))
    >>> fits.tolist(), two.unpacked([one[:1] for one in left]).tolist()
    ([True, False], [[0, 3]])
    """

    def __init__(self, totals: Sequence[int], most: Sequence[int]) -> None:
        self.totals = tuple(totals)
        self.word: list[int] = []
        self.shift: list[int] = []
        self.bits = [
            max(total, large).bit_length() for total, large in zip(totals, most, strict=True)
        ]
        free, word = WORD, 0
        for bits in self.bits:
            if bits + 1 > free:
                free, word = WORD, word + 1
            free -= bits + 1
            self.word.append(word)
            self.shift.append(free)
        self.words = word + 1
        self.guard = [0] * self.words
        self.whole = [0] * self.words
        for total, bits, at, shift in zip(totals, self.bits, self.word, self.shift, strict=True):
            self.guard[at] |= 1 << (shift + bits)
            self.whole[at] |= total << shift
        self.whole = [one | guard for one, guard in zip(self.whole, self.guard, strict=True)]

    def packed(self, people: Integers) -> list[Integers]:
        """Rows of digits, packed."""
        found = [np.zeros(len(people), dtype=np.int64) for _ in range(self.words)]
        for digit, (at, shift) in enumerate(zip(self.word, self.shift, strict=True)):
            found[at] += people[:, digit].astype(np.int64) << shift
        return found

    def unpacked(self, words: Sequence[Integers]) -> Integers:
        """The rows of digits again."""
        found = np.zeros((len(words[0]), len(self.totals)), dtype=np.int64)
        for digit, (at, shift, bits) in enumerate(
            zip(self.word, self.shift, self.bits, strict=True)
        ):
            found[:, digit] = (words[at] >> shift) & ((1 << bits) - 1)
        return found

    def without(
        self, left: Sequence[Integers | int], taken: Sequence[Integers]
    ) -> tuple[Flags, list[Integers]]:
        """Whether it can be taken away from what is left, and what is left then;
        that means nothing where it cannot.
        """
        found: list[Integers] = [one - other for one, other in zip(left, taken, strict=True)]
        fits: Flags = (found[0] & self.guard[0]) == self.guard[0]
        for one, guard in zip(found[1:], self.guard[1:], strict=True):
            fits &= (one & guard) == guard
        return fits, found
