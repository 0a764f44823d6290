"""Divergence: how far the table is from what a reader of the release
would guess (Machanavajjhala 2008, section 3.6).

The table gives each combination x of quasi-identifiers and sensitive values the share F(x) = c(x) /
n. The release shows a row as t*; a reader spreads the rows that are shown so evenly over the
combinations that t* may stand for: F*(x) = |t*| / (n * area(t*)). The area is the product over the
quasi-identifiers of the number of values of the table that the label covers; sensitive values are
shown as they are. The divergence is the sum of F(x) log(F(x) / F*(x)).

Rows that are not released are taken as shown by a row that may stand for anything, its sensitive
values too. In a local recoding t* is what that very row shows, although other cells may cover x as
well: the number is then an upper bound on the divergence from the mixture of all cells, never less.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from tacit.families.microdata.counts import pack_codes, tally
from tacit.families.microdata.utility.cover import (
    CoveredColumn,
    leaves_of,
    shown_columns,
)

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded


def divergence(recoded: Recoded, columns: Mapping[str, CoveredColumn] | None = None) -> float:
    """The divergence of the table from the release, in nats."""
    raw = recoded.raw
    if is_table_itself(recoded):
        return 0.0
    known = shown_columns(recoded) if columns is None else columns
    return divergence_of_cells(
        cell_sizes(recoded, known),
        rows=raw.base.rows,
        own=log_counts(raw),
        area=log_area(known),
        suppressed=recoded.suppressed,
        domain=log_domain(raw),
    )


def divergence_of_cells(
    cells: Integers, *, rows: int, own: float, area: float, suppressed: int = 0, domain: float = 0.0
) -> float:
    """The divergence from the sizes of the cells, for a search over many nodes.

    With n rows it is (sum of c log c - sum of m log m + sum over the rows of log area) / n, c
    running over the combinations of the table and m over the `cells` of the release (group and
    sensitive values). `own` is `log_counts(raw)` and `domain` is `log_domain(raw)`, the same for
    all nodes; `area` is the sum over the released rows of the logarithm of their area.
    """
    if not rows:
        return 0.0
    dropped = suppressed * (domain - float(np.log(suppressed))) if suppressed else 0.0
    return max(0.0, (own - float((cells * np.log(cells)).sum()) + area + dropped) / rows)


def cell_sizes(recoded: Recoded, columns: Mapping[str, CoveredColumn]) -> Integers:
    """How many released rows each cell has:
    rows that show the same labels and have the same sensitive values.
    """
    base, sensitive = recoded.raw.base, recoded.raw.sensitive
    codes = [one.codes for one in columns.values()] + [
        base.codes(name)[recoded.rows] for name in sensitive
    ]
    sizes = [len(one.rows) for one in columns.values()] + [base.size(name) for name in sensitive]
    key, room = pack_codes(codes, sizes, len(recoded.rows))
    return tally(key, recoded.counts, room)[1]


def log_area(columns: Mapping[str, CoveredColumn]) -> float:
    """The sum over the released rows of the logarithm of how many
    combinations each may stand for.
    """
    return sum(
        float((one.rows * np.log(np.maximum(one.cover.sizes, 1))).sum()) for one in columns.values()
    )


def is_table_itself(recoded: Recoded) -> bool:
    """Does the release show every row as it is? Then nothing is lost, exactly."""
    levels = recoded.generalization
    return levels is not None and not any(levels.values()) and not recoded.suppressed


def log_counts(raw: MicrodataQuestion) -> float:
    """The sum of c log c over the combinations of the table, c being how often each occurs."""
    return float((raw.base.occurrences * np.log(combination_counts(raw))).sum())


def log_domain(raw: MicrodataQuestion) -> float:
    """The logarithm of how many combinations of values there could be."""
    leaves = [leaves_of(raw, column) for column in (*raw.quasi, *raw.sensitive)]
    return float(np.log(np.maximum(leaves, 1)).sum())


def combination_counts(raw: MicrodataQuestion) -> Integers:
    """For each entry of the base, how many rows have its values;
    entries of several people may have the same.
    """
    base = raw.base
    if (
        len(base.keys) == 1
        and not base.recoded
        and bool(np.all(base.keys[0][1:] > base.keys[0][:-1]))
    ):
        return base.occurrences  # each key once
    columns = (*raw.quasi, *raw.sensitive)
    key, _ = pack_codes(
        [base.codes(name) for name in columns], [base.size(name) for name in columns], len(base)
    )
    _, number = np.unique(key, return_inverse=True)
    return np.bincount(number, weights=base.occurrences).astype(np.int64)[number]
