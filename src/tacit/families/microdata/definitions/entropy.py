"""Entropy diversity decided exactly: is e to the entropy of some counts at least l?

For counts n_i with sum n the entropy is at least log(l) iff prod(n_i^n_i) l^n <= n^n. We compare
logarithms with a proved error bound, and only where they are too close to tell do we ask whether
the two sides are equal as integers, by writing both over a common base of coprime numbers. Floats
are not enough: counts 2, 2, 2 are exactly 3-diverse and fail in binary.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from fractions import Fraction
from math import gcd

DIGITS = 4
PRECISION = 40


def is_diverse(counts: Sequence[int], least: Fraction) -> bool:
    """Is e to the entropy of `counts` at least `least`?

    >>> is_diverse([2, 2, 2], Fraction(3)), is_diverse([4, 1, 1, 1, 1], Fraction(4))
    (True, True)
    >>> is_diverse([2, 1, 1], Fraction(2829, 1000))
    False
    """
    common = gcd(*counts)
    small = [count // common for count in counts]
    precision = PRECISION
    while True:
        difference, error = log_difference(small, least, precision)
        if difference.copy_abs() > error:
            return difference > 0
        if precision == PRECISION and is_equal(small, least):
            return True
        precision *= 2


def log_difference(
    counts: Sequence[int], least: Fraction, precision: int
) -> tuple[Decimal, Decimal]:
    """n log n - sum n_i log n_i - n log l, and a bound on the error of computing it."""
    context = Context(prec=precision)
    total = sum(counts)
    terms = [(total, total), *((-count, count) for count in counts)]
    terms += [(-total, least.numerator), (total, least.denominator)]
    value = Decimal(0)
    size = Decimal(0)
    for factor, number in terms:
        # Decimal's ln is correctly rounded, and so is each product and sum:
        # one unit in the last place each.
        term = context.multiply(Decimal(factor), context.ln(Decimal(number)))
        value = context.add(value, term)
        size = context.add(size, term.copy_abs())
    return value, context.multiply(size, Decimal(4 * len(terms)).scaleb(1 - precision))


def is_equal(counts: Sequence[int], least: Fraction) -> bool:
    """Is prod(n_i^n_i) p^n = n^n q^n for l = p/q? Decided without computing the powers."""
    total = sum(counts)
    powers = [(count, count) for count in counts]
    powers += [(least.numerator, total), (total, -total), (least.denominator, -total)]
    base = coprime_base(number for number, _ in powers)
    return all(
        sum(exponent * order(number, one) for number, exponent in powers) == 0 for one in base
    )


def coprime_base(numbers: Iterable[int]) -> list[int]:
    """Pairwise coprime numbers over which all the given ones are products of powers.

    >>> sorted(coprime_base([12, 18]))
    [2, 3]
    """
    base: list[int] = []
    todo = [number for number in numbers if number > 1]
    while todo:
        number = todo.pop()
        shared = next((one for one in base if gcd(one, number) > 1), None)
        if shared is None:
            base.append(number)
            continue
        base.remove(shared)
        divisor = gcd(shared, number)
        todo += [part for part in (divisor, shared // divisor, number // divisor) if part > 1]
    return base


def order(number: int, divisor: int) -> int:
    """How often a divisor divides a number."""
    times = 0
    while number % divisor == 0:
        number //= divisor
        times += 1
    return times


def diversity(counts: Sequence[int]) -> Decimal:
    """e to the entropy, rounded down to four digits after the point.

    >>> diversity([2, 1, 1]), diversity([2, 2, 2]), diversity([7])
    (Decimal('2.8284'), Decimal('3.0000'), Decimal('1.0000'))
    """
    context = Context(prec=PRECISION, rounding=ROUND_FLOOR)
    step = Decimal(1).scaleb(-DIGITS, context)
    guess = context.quantize(context.exp(entropy(counts)), step)
    # The guess may be one step too low or too high where the true value is a round number.
    above, below = context.add(guess, step), context.subtract(guess, step)
    return next(value for value in (above, guess, below) if is_diverse(counts, Fraction(value)))


def entropy(counts: Sequence[int]) -> Decimal:
    """The entropy of some counts to about forty digits, equal for proportional counts.

    >>> entropy([4, 4]) == entropy([1, 1])
    True
    """
    context = Context(prec=PRECISION)
    common = gcd(*counts)
    total, weighted = sum(counts) // common, Decimal(0)
    for count in counts:
        small = Decimal(count // common)
        weighted = context.add(weighted, context.multiply(small, context.ln(small)))
    return context.subtract(context.ln(Decimal(total)), context.divide(weighted, Decimal(total)))
