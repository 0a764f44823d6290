"""Floats of 32 bits by their shortest decimal:
the fewest digits that mean the float, and of these the nearest.

PostgreSQL writes them so. DuckDB and Java (before version 19) write more digits for some, so they
are asked for ever more digits until these mean the float.
"""

from __future__ import annotations

ENOUGH = 6  # digits: a decimal of so many is the nearest one of so many to its float
MOST = 9  # that tell any two floats apart
SUBNORMAL = "1.1754944e-38"  # below it floats have fewer digits than these


def shortest_float(write: str, text_type: str, *, half_up: bool = False) -> str:
    """SQL that reads a column `{c}` of floats as doubles with the same shortest decimal;
    NaN is missing.

    `write` is the engine's SQL for a double `{1}` in scientific notation with `{0}` digits after
    the point, `text_type` its type of text. `half_up` says that it rounds a half away from zero: of
    two that are equally near, the even one is meant.
    """
    wide = "CAST({c} AS DOUBLE)"

    def tries(fewest: int) -> str:
        found = ""
        for digits in range(fewest - 1, MOST):
            text = write.format(digits, wide)
            if half_up:
                below = write.format(digits, f"{wide} * (1 - 1e-12)")
                even = (
                    f"MOD(CAST(SUBSTRING({below}, POSITION('e' IN {below}) - 1, 1) AS INT), 2) = 0"
                )
                found += (
                    f" WHEN CAST({below} AS FLOAT) = {{c}} AND {even} AND {below} <> {text} "
                    f"THEN CAST({below} AS DOUBLE)"
                )
            found += f" WHEN CAST({text} AS FLOAT) = {{c}} THEN CAST({text} AS DOUBLE)"
        return f"CASE{found} END"

    own = f"CAST({{c}} AS {text_type})"  # with few digits it is the shortest, and faster
    plain = f"{{c}} = 0 OR {wide} IN (CAST('Infinity' AS DOUBLE), CAST('-Infinity' AS DOUBLE))"
    return (
        f"CASE WHEN {{c}} IS NULL OR ISNAN({{c}}) THEN NULL WHEN {plain} THEN {wide} "
        f"WHEN ABS({wide}) < {SUBNORMAL} THEN {tries(1)} WHEN LENGTH({own}) <= {ENOUGH + 1} THEN "
        f"CAST({own} AS DOUBLE) ELSE {tries(ENOUGH)} END"
    )
