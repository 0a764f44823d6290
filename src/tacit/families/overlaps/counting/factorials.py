"""Factorials: quotients of products of them, and how long they are,
without multiplying any of them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import lgamma, log

import numpy as np

from tacit.families.overlaps.overlap import Integers
from tacit.model.deadline import look


def quotient(above: Sequence[int], below: Sequence[int]) -> tuple[int, int]:
    """prod(n! over `above`) / prod(m! over `below`) in lowest terms.

    Nearly everything cancels. So it is found prime by prime (Legendre):
    dividing the products would take minutes for some hundred thousand people.

    >>> quotient([5, 3], [4, 4])
    (5, 4)
    """
    exponents = _exponents(above, below)
    return (
        _product([prime**power for prime, power in exponents if power > 0]),
        _product([prime**-power for prime, power in exponents if power < 0]),
    )


def bits(numbers: Sequence[int]) -> float:
    """The logarithm to base 2 of prod(n! over `numbers`), nearly:
    for any number of people it is off by far less than 1.

    >>> round(bits([4, 3]), 6)
    7.169925
    """
    found, many = np.unique(np.array(numbers, dtype=np.int64), return_counts=True)
    logs = (
        float(times * lgamma(number + 1))
        for number, times in zip(found.tolist(), many.tolist(), strict=True)
    )
    return sum(logs) / log(2)


def _exponents(above: Sequence[int], below: Sequence[int]) -> list[tuple[int, int]]:
    """The primes of the quotient, with their exponents, but for those that cancel."""
    most = max((*above, *below), default=0)
    # times[m] is how often the factor m occurs: n! has each up to n once.
    times: Integers = (
        np.bincount(above, minlength=most + 1).astype(np.int64)
        if above
        else np.zeros(most + 1, dtype=np.int64)
    )
    times -= np.bincount(below, minlength=most + 1) if below else 0
    times = np.cumsum(times[::-1])[::-1]
    found = []
    for prime in primes_up_to(most):
        look()
        power, step = 0, prime
        while step <= most:
            power += int(times[step::step].sum())
            step *= prime
        if power:
            found.append((prime, power))
    return found


def primes_up_to(most: int) -> list[int]:
    """All primes up to a number.

    >>> primes_up_to(12)
    [2, 3, 5, 7, 11]
    """
    is_prime = np.ones(most + 1, dtype=bool)
    is_prime[:2] = False
    for one in range(2, int(most**0.5) + 1):
        if is_prime[one]:
            is_prime[one * one :: one] = False
    return list(np.flatnonzero(is_prime).tolist())


def _product(numbers: Sequence[int]) -> int:
    """The product, by halves: long numbers are multiplied by long ones only, which is quickest."""
    if len(numbers) < 2:
        return numbers[0] if numbers else 1
    look()
    half = len(numbers) // 2
    return _product(numbers[:half]) * _product(numbers[half:])
