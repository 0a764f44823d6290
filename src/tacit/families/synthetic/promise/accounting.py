"""Accounting: what several releases about the same people spend together, by the privacy loss
distributions of dp_accounting.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tacit.errors import MissingExtra

STEP = 1e-3  # of a privacy loss; the library rounds losses up to it
LONGEST = 60.0  # of an epsilon that is accounted for: beyond it sums of parameters say as much


def joint_delta(parts: Sequence[tuple[float, float]], epsilon: float) -> float:
    """Delta at an epsilon of several releases, each of which spends an epsilon and a delta, however
    it does so.

    >>> joint_delta([(0.1, 1e-7)] * 20, 1.8) < 1e-5
    True
    """
    if (
        max(one for one, _ in parts) > LONGEST
        or epsilon > 4 * LONGEST
        or math.fsum(delta for _, delta in parts) >= 1
    ):
        return 1.0
    return min(
        1.0, float(composed(parts).get_delta_for_epsilon(epsilon)) * (1 + 1e-9)
    )  # its floats are rounded either way


def composed(parts: Sequence[tuple[float, float]]) -> Any:
    """The privacy loss of all releases together."""
    accounting = module()
    found = None
    for epsilon, delta in parts:
        parameters = accounting.common.DifferentialPrivacyParameters(epsilon, delta)
        one = accounting.privacy_loss_distribution.from_privacy_parameters(
            parameters, value_discretization_interval=STEP
        )
        found = one if found is None else found.compose(one)
    return found


def repeated_budget(epsilon: float, delta: Fraction, times: int) -> tuple[float, float]:
    """Epsilon and delta of releasing as much again and again, so many times in all;
    delta is the sum, which is a chance.

    >>> epsilon, delta = repeated_budget(1.0, Fraction(1, 10**6), 3)
    >>> epsilon <= 3.0, delta
    (True, 3e-06)
    >>> repeated_budget(1.0, Fraction(9, 10), 12)
    (12.0, 1.0)
    """
    total = min(1.0, float(delta * times))
    if times == 1 or epsilon > LONGEST or not 0 < total < 1:
        return epsilon * times, total
    found = float(composed([(epsilon, float(delta))] * times).get_epsilon_for_delta(total))
    return min(
        epsilon * times, math.ceil(found * 1e4) / 1e4 if math.isfinite(found) else math.inf
    ), total


def module() -> Any:
    """dp_accounting, where it is installed."""
    try:
        from dp_accounting import pld
        from dp_accounting.pld import common, privacy_loss_distribution
    except ImportError:
        raise MissingExtra(
            "dp_accounting", extra="synthesis", purpose="adding up what several releases spend"
        ) from None
    del common, privacy_loss_distribution
    return pld
