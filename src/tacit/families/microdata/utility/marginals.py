"""Marginals: how far the distribution of each column has moved.

For each quasi-identifier: the total variation distance between the column in the table and the
column of the release with every row spread evenly over the values that its label covers. It is the
largest error of any "what share of people has one of these values" question about the column alone.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.utility.cover import (
    CoveredColumn,
    leaves_of,
    rows_by_leaf,
    shown_columns,
)


def marginals(
    recoded: Recoded, columns: Mapping[str, CoveredColumn] | None = None
) -> dict[str, float]:
    """The distance of each quasi-identifier, from 0 (the same) to 1;
    where nothing is released it is 1.
    """
    known = shown_columns(recoded) if columns is None else columns
    return {column: moved(recoded, column, one) for column, one in known.items()}


def moved(recoded: Recoded, column: str, shown: CoveredColumn) -> float:
    """The total variation distance of one column."""
    raw = recoded.raw
    if not recoded.released:
        return 1.0 if raw.base.rows else 0.0
    before = rows_by_leaf(raw, column)[: leaves_of(raw, column)] / raw.base.rows
    after = shown.cover.spread(shown.rows / recoded.released)
    return min(1.0, float(np.abs(before - after).sum()) / 2)
