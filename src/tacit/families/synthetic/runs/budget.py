"""Budget: what a release spends of epsilon and delta, and what it comes to when as much is
released again about the same people.
"""

from __future__ import annotations

import math
from typing import Any

from tacit.errors import MissingExtra
from tacit.families.synthetic.promise.terms import Terms
from tacit.model.verdict import with_decimals

TIMES = (2, 3, 4, 12)


def budget(terms: Terms) -> dict[str, Any]:
    """What is spent once, and again; by privacy-loss accounting where it is installed, else by
    adding up (`by`).

    A promise of pdp is one of dp with the same numbers, so it adds up like that.

    >>> from fractions import Fraction
    >>> from tacit.families.synthetic.promise.losses import Epsilon
    >>> from tacit.families.synthetic.promise.terms import Terms
    >>> budget(Terms(Epsilon.read(1), Fraction(0)))["again"][0]
    {'times': '2', 'epsilon': 2.0, 'delta': 0.0}
    """
    by, again = "accounting", []
    for times in TIMES:
        try:
            from tacit.families.synthetic.promise.accounting import repeated_budget as added

            epsilon, delta = added(float(terms.epsilon), terms.delta, times)
        except MissingExtra:
            by, epsilon, delta = "sums", times * float(terms.epsilon), float(times * terms.delta)
        again.append(
            {
                "times": str(times),
                "epsilon": math.ceil(round(epsilon * 1e4, 6)) / 1e4,
                "delta": delta,
            }
        )
    spent = {
        "epsilon": str(terms.epsilon),
        "epsilon_decimal": float(terms.epsilon),
        **with_decimals({"delta": terms.delta}),
    }
    return {**spent, "guarantee": terms.guarantee, "by": by, "again": again}
