"""Describe: the utility of a release, before and after, as JSON and reports show it."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.families.microdata.utility.cover import CoveredColumn, shown_columns
from tacit.families.microdata.utility.divergence import divergence
from tacit.families.microdata.utility.marginals import marginals
from tacit.families.microdata.utility.measures import (
    AverageGroup,
    Discernibility,
    Weights,
    group_sizes,
    measure,
    table_group_sizes,
)
from tacit.families.microdata.utility.shares import column_shares, loss_text, rounded_up
from tacit.families.microdata.utility.weights import read_weights, whole_weights
from tacit.families.microdata.utility.workload import QUERIES, range_query_error
from tacit.model.verdict import as_json, with_decimals

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.recoded import Recoded

REPORT_DIGITS = 4


def describe(
    recoded: Recoded,
    *,
    utility: str = "loss",
    weights: Weights = None,
    seed: int = 0,
    queries: int = QUERIES,
) -> Mapping[str, Any]:
    """What the release is still good for:
    every measure before and after, each column, random range queries.

    Fractions are strings with the number `x_decimal` beside them; what is irrational or estimated
    is a decimal string, rounded up (a cost is never more than it says). `measure` names the one
    that was chosen by. The random queries are the same for the same `seed`.
    """
    raw = recoded.raw
    shows = shown_columns(recoded)
    shares, distances = column_shares(recoded, shows), marginals(recoded, shows)
    columns = {
        name: with_decimals({"loss": shares[name]})
        | {"moved": rounded_up(distances[name], REPORT_DIGITS)}
        for name in raw.quasi
    }
    for name, level in (recoded.generalization or {}).items():
        columns[name]["level"] = as_json(level)
    document: dict[str, Any] = {
        "measure": measure(utility).name,
        "before": costs_of_table(raw),
        "after": costs(recoded, shows, shares, weights),
        "rows": as_json(raw.base.rows),
        "released": as_json(recoded.released),
        "suppressed": as_json(recoded.suppressed),
        "columns": columns,
        "range_queries": range_query_errors(recoded, shows, seed, queries),
    }
    if weights:
        document["weights"] = {
            name: as_json(one) for name, one in read_weights(raw.quasi, weights).items()
        }
    if columns:
        document["most_lost"] = max(raw.quasi, key=lambda name: shares[name])
        document["least_lost"] = min(raw.quasi, key=lambda name: shares[name])
    return document


def costs_of_table(raw: MicrodataQuestion) -> dict[str, Any]:
    """What the table costs as it is: nothing is lost, but some rows look alike from the start."""
    sizes = table_group_sizes(raw)
    return with_decimals(
        {"loss": 0, "height": 0, **costs_of_groups(sizes, raw.base.rows, 0), "kl": 0}
    )


def costs(
    recoded: Recoded,
    shows: Mapping[str, CoveredColumn],
    shares: Mapping[str, Fraction],
    weights: Weights,
) -> dict[str, Any]:
    """What a release costs by every measure that applies to it; a local recoding has no height."""
    exponents = whole_weights(recoded.raw.quasi, weights)
    found: dict[str, Any] = {"loss": loss_text(list(shares.values()), list(exponents.values()))}
    if recoded.generalization is not None:
        found["height"] = whole(measure("height").text(recoded, weights))
    found |= costs_of_groups(group_sizes(recoded, shows), recoded.raw.base.rows, recoded.suppressed)
    return with_decimals(found | {"kl": rounded_up(divergence(recoded, shows))})


def costs_of_groups(sizes: Integers, rows: int, suppressed: int) -> dict[str, Any]:
    """The measures that need the sizes of the groups only, which
    are counted once for all of them.
    """
    return {
        "discernibility": Discernibility.cost_of_groups(sizes, rows, suppressed),
        "average_group": whole(AverageGroup.cost_of_groups(sizes, rows, suppressed)),
    }


def whole(cost: Fraction | str) -> Fraction | int | str:
    """A cost that happens to be a whole number as one: it needs no decimal beside it."""
    return int(cost) if isinstance(cost, Fraction) and cost.denominator == 1 else cost


def range_query_errors(
    recoded: Recoded, shows: Mapping[str, CoveredColumn], seed: int, queries: int
) -> dict[str, Any]:
    """The errors of random range queries."""
    found = range_query_error(recoded, np.random.default_rng(seed), queries=queries, columns=shows)
    document: dict[str, Any] = {
        "queries": as_json(found.queries),
        "median_error": rounded_up(found.median, REPORT_DIGITS),
        "ninth_decile_error": rounded_up(found.ninth_decile, REPORT_DIGITS),
        "seed": as_json(seed),
    }
    if found.sampled is not None:
        document["sampled_combinations"] = as_json(found.sampled)
    return document
