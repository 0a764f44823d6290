"""Distances as plans declare them: worked examples, every way to write
one, and what is wrong with some.
"""

from __future__ import annotations

import json
import os
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import yaml

import tacit
from tacit.errors import DataError, ParameterError, TacitError
from tacit.model.verdict import Verdict

CASES = (
    Path(os.environ.get("TACIT_CASES", Path(__file__).parents[5] / "shared" / "cases"))
    / "tables.json"
)
TABLE_I = [  # Wang et al. 2009: flu, asthma, bronchitis, none
    ("18-30", "0.5", "0.3", "0.1", "0.1"),
    ("18-30", "0.4", "0.3", "0.2", "0.1"),
    ("18-30", "0.4", "0.2", "0.2", "0.2"),
    ("18-30", "0.3", "0.4", "0.2", "0.1"),
    ("18-30", "0.2", "0.7", "0.1", "0"),
    ("32-40", "0.2", "0.6", "0.2", "0"),
    ("32-40", "0.8", "0.1", "0", "0.1"),
    ("32-40", "0.3", "0.1", "0.5", "0.1"),
]
DISEASES = ("flu", "asthma", "bronchitis", "none")


def asked(folder: Path, table: dict[str, Any], check: dict[str, Any]) -> Verdict:
    """The verdict of one check of one table that is released as it is."""
    plan = {
        "version": 1,
        "tables": {"people": {"quasi-identifiers": ["ward"], "sensitive": ["secret"], **table}},
        "releases": {"all": {"table": "people"}},
        "checks": [{name: {"release": "all", **keys} for name, keys in check.items()}],
    }
    (folder / "tacit.yaml").write_text(yaml.safe_dump(plan, sort_keys=False))
    return tacit.load(folder / "tacit.yaml").check()[0]


def values(*secrets: Any, ward: str = "A") -> dict[str, Any]:
    """A table of one group."""
    return {"columns": ["ward", "secret"], "rows": [[ward, one] for one in secrets]}


def dissimilarity(epsilon: Any, delta: Any = "1/2", k: int = 1) -> dict[str, Any]:
    return {"dissimilarity": {"epsilon": str(epsilon), "delta": str(delta), "k": k}}


# -- worked examples ----------------------------------------------------------------------------


def test_salaries_of_the_paper_on_t_closeness(tmp_path: Path) -> None:
    """Li et al. 2007, Example 3: {3k,4k,5k} is 0.375 from the table, {6k,8k,11k} is 1/6 (0.167)."""
    groups = {"P1": (3, 4, 5), "P2": (6, 8, 11), "P3": (7, 9, 10)}
    rows = [[ward, 1000 * n] for ward, some in groups.items() for n in some]
    table = {"columns": ["ward", "secret"], "rows": rows}
    check = {"t-closeness": {"t": "0.374", "distance": "ordered"}}
    verdict = asked(tmp_path, table, check)
    assert verdict.witness is not None
    assert (verdict.status, verdict.measured["t"]) == ("breached", Fraction(3, 8))
    assert verdict.witness.personal["values"] == {"ward": "P1"}
    assert (
        asked(tmp_path, table, {"t-closeness": {"t": "0.375", "distance": "ordered"}}).status
        == "holds"
    )


def test_the_second_group_of_the_salaries(tmp_path: Path) -> None:
    rows = [["P2" if n in (6, 8, 11) else "rest", 1000 * n] for n in range(3, 12)]
    verdict = asked(
        tmp_path,
        {"columns": ["ward", "secret"], "rows": rows},
        {"t-closeness": {"t": "1/6", "distance": "ordered"}},
    )
    assert (verdict.status, verdict.measured["t"]) == ("holds", Fraction(1, 6))


def table_1(how: str, folder: Path) -> dict[str, Any]:
    """Table I in each of the ways in which a distribution can be written."""
    if how == "columns":
        rows = [[age, *(Decimal(p) for p in shares)] for age, *shares in TABLE_I]
        text = [[one if isinstance(one, str) else float(one) for one in row] for row in rows]
        return {
            "columns": ["ward", *DISEASES],
            "rows": text,
            "distances": {"secret": {"variational": list(DISEASES)}},
        }
    cells = [dict(zip(DISEASES, map(float, shares), strict=True)) for _, *shares in TABLE_I]
    ages = [row[0] for row in TABLE_I]
    if how == "rows":
        return {
            "columns": ["ward", "secret"],
            "rows": [list(pair) for pair in zip(ages, cells, strict=True)],
            "distances": {"secret": "variational"},
        }
    if how == "csv":
        import csv

        with (folder / "people.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [["ward", "secret"], *zip(ages, map(json.dumps, cells), strict=True)]
            )
        return {"distances": {"secret": "variational"}}
    import pyarrow
    import pyarrow.parquet

    kind = pyarrow.map_(pyarrow.string(), pyarrow.float64())
    pairs = [list(cell.items()) for cell in cells]
    columns = {
        "ward": ages,
        "secret": pyarrow.array(pairs if how == "map" else cells, kind if how == "map" else None),
    }
    pyarrow.parquet.write_table(pyarrow.table(columns), folder / "people.parquet")
    return {}


@pytest.mark.parametrize("how", ["columns", "rows", "csv", "map", "struct"])
def test_table_1_of_the_proximity_paper(tmp_path: Path, how: str) -> None:
    """Group 1 has risk 3/4 around #2 (in binary floats #4 would be
    too far from it), group 2 has 0.
    """
    verdict = asked(tmp_path, table_1(how, tmp_path), dissimilarity("0.1", delta="0.5", k=3))
    assert verdict.witness is not None
    facts, personal = verdict.witness.facts, verdict.witness.personal
    assert (verdict.status, verdict.measured) == ("breached", {"risk": Fraction(3, 4), "k": 3})
    assert personal["values"] == {"ward": "18-30"}
    assert [float(one) for one in json.loads(personal["centre"]).values()] == [0.4, 0.3, 0.2, 0.1]
    assert (len(personal["neighbours"]), personal["after"], facts["groups_below"]) == (
        4,
        Fraction(4, 5),
        1,
    )
    assert personal["value"] == personal["centre"]
    assert "believes with 80 %" in str(verdict.story)


def test_released_rows_of_several_columns_have_the_distribution(tmp_path: Path) -> None:
    verdict = asked(tmp_path, table_1("columns", tmp_path), dissimilarity("0.1", delta="0.5", k=3))
    rows = list(tacit.load(tmp_path / "tacit.yaml").released("all"))
    assert json.loads(rows[0]["secret"]) == {
        "flu": 0.5,
        "asthma": 0.3,
        "bronchitis": 0.1,
        "none": 0.1,
    }
    assert tacit.replay(verdict, rows, ["ward"])


def known_cases() -> list[Any]:
    if not CASES.exists():
        return [pytest.param({}, marks=pytest.mark.skip(reason=f"{CASES} is not here"))]
    found = json.loads(CASES.read_text())["cases"]
    return [pytest.param(one, id=one["name"]) for one in found if one["kind"] == "proximity"]


@pytest.mark.parametrize("case", known_cases())
def test_cases_computed_by_brute_force(tmp_path: Path, case: dict[str, Any]) -> None:
    secrets: list[Any] = case["values"]
    table: dict[str, Any] = {}
    if case["distance"] == "abs":
        secrets = [int(one) for one in secrets]
    elif case["distance"] == "tv":
        secrets = [{f"d{i}": float(p) for i, p in enumerate(one)} for one in secrets]
        table = {"distances": {"secret": "variational"}}
    elif case["distance"] == "tree":
        lines = {f"{one};{one.split('/')[0]};*" for one in secrets}
        (tmp_path / "tree.csv").write_text("\n".join(sorted(lines)))
        table = {"distances": {"secret": {"taxonomy": "tree.csv"}}}
    verdict = asked(tmp_path, {**values(*secrets), **table}, dissimilarity(case["eps"]))
    assert verdict.measured == {"risk": Fraction(case["risk"]), "k": len(secrets)}
    assert verdict.status == ("holds" if Fraction(case["risk"]) <= Fraction(1, 2) else "breached")
    if case["distance"] == "abs":
        scattered = asked(tmp_path, values(*secrets), {"eps-m": {"epsilon": case["eps"], "m": 1}})
        assert scattered.measured["m"] == 1 / Fraction(case["max_probability"])
    if case["distance"] == "discrete":
        alike = asked(tmp_path, values(*secrets), {"alpha-k": {"alpha": 1, "k": 2}})
        assert alike.measured["alpha"] == Fraction(case["max_probability"])


# -- ways to write a distance -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declared", "epsilon", "risk"),
    [
        (None, 2, "2/3"),  # numbers are compared by their difference
        ("numeric", 1, "1/3"),
        ("discrete", 0, "0"),
        ("discrete", "0.99", "0"),
        ("discrete", 1, "1"),
        ({"taxonomy": "tree.csv"}, 0, "0"),
        ({"taxonomy": "tree.csv"}, "1.5", "1/3"),
        ({"taxonomy": "tree.csv"}, 2, "1"),
        ({"python": "metric:far"}, "0.1", "1/3"),
        ({"python": "metric:Ways.far"}, "0.1", "1/3"),
        ({"python": "package.metric:far"}, "0.1", "1/3"),
    ],
)
def test_every_way_to_declare_a_distance(
    tmp_path: Path, declared: Any, epsilon: Any, risk: str
) -> None:
    (tmp_path / "tree.csv").write_text("1;low\n2;low\n4;high\n7;high\n")
    metric = "def far(x, y):\n    return 0.1 * abs(x - y)\nclass Ways:\n    far = far\n"
    (tmp_path / "package").mkdir()
    for path in (tmp_path / "metric.py", tmp_path / "package" / "metric.py"):
        path.write_text(metric)
    table = values(1, 2, 4, 7) | ({"distances": {"secret": declared}} if declared else {})
    assert asked(tmp_path, table, dissimilarity(epsilon)).measured["risk"] == Fraction(risk)


def test_text_without_a_distance_is_equal_or_not(tmp_path: Path) -> None:
    assert asked(tmp_path, values("flu", "flu", "cold"), dissimilarity("0.5")).measured[
        "risk"
    ] == Fraction(1, 2)


def test_two_plans_may_have_a_module_of_the_same_name(tmp_path: Path) -> None:
    found = []
    for number in (1, 2):
        folder = tmp_path / str(number)
        folder.mkdir()
        (folder / "metric.py").write_text(f"def far(x, y):\n    return {number} * (x != y)\n")
        table = {**values(1, 2), "distances": {"secret": {"python": "metric:far"}}}
        found.append(asked(folder, table, dissimilarity(1)).measured["risk"])
    assert found == [1, 0]


def test_a_float_is_read_by_its_shortest_decimal(tmp_path: Path) -> None:
    """0.1 + 0.2 is 0.30000000000000004 and farther than 0.3; 0.3 itself is not."""
    (tmp_path / "metric.py").write_text("def far(x, y):\n    return 0.3 * (x != y)\n")
    table = {**values(1, 2), "distances": {"secret": {"python": "metric:far"}}}
    assert asked(tmp_path, table, dissimilarity("0.3")).measured["risk"] == 1


def test_a_release_made_elsewhere_keeps_the_distances_of_its_table(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("ward,secret\nA,1\nB,2\n")
    (tmp_path / "out.csv").write_text("ward,secret\nA,1\nA,2\nA,3\n")
    (tmp_path / "tree.csv").write_text("1;low;*\n2;low;*\n3;high;*\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {quasi-identifiers: [ward], sensitive: [secret], hierarchies: {secret: "
        "tree.csv},"
        " distances: {secret: {taxonomy: tree.csv}}}}\n"
        "releases: {out: {table: people, file: out.csv}}\n"
        "checks:\n"
        "  - dissimilarity: {release: out, epsilon: 1, delta: 0.5, k: 2}\n"
        "  - t-closeness: {release: out, t: 0, distance: hierarchical}\n"
    )
    near, close = tacit.load(tmp_path / "tacit.yaml").check()
    assert (near.measured["risk"], close.status) == (Fraction(1, 2), "holds")


def test_ordinal_text_is_taken_in_the_order_of_its_domain(tmp_path: Path) -> None:
    rows = [["A", "low"], ["A", "medium"], ["B", "high"], ["B", "low"]]
    table = {"columns": ["ward", "secret"], "rows": rows}
    check = {"t-closeness": {"t": 1, "distance": "ordered"}}
    letters = asked(tmp_path, table, check)
    assert any("order of its letters" in one for one in letters.warnings)
    ordered = asked(tmp_path, {**table, "domains": {"secret": ["low", "medium", "high"]}}, check)
    assert not any("letters" in one for one in ordered.warnings)
    assert (letters.measured["t"], ordered.measured["t"]) == (Fraction(1, 4), Fraction(1, 8))


# -- what is wrong ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "check", [{"k-e": {"k": 2, "e": 5}}, {"variance": {"v": 1}}, {"eps-m": {"epsilon": 1, "m": 2}}]
)
def test_a_column_that_is_not_numbers_is_refused_with_a_value(
    tmp_path: Path, check: dict[str, Any]
) -> None:
    with pytest.raises(DataError, match="'secret' has to be numbers here, and 'cold' is none"):
        asked(tmp_path, values("flu", "cold"), check)


def test_text_that_looks_like_numbers_is_text(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'007' is none"):
        asked(tmp_path, values("007", "008"), {"variance": {"v": 1}})


def test_dates_are_no_numbers(tmp_path: Path) -> None:
    table = {
        "columns": {"ward": "text", "secret": "date"},
        "rows": [["A", "2024-02-29"], ["A", "2024-03-01"]],
    }
    with pytest.raises(DataError, match="'2024-02-29' is none"):
        asked(tmp_path, table, {"k-e": {"k": 2, "e": 1}})
    assert (
        asked(tmp_path, table, {"t-closeness": {"t": 0, "distance": "ordered"}}).status == "holds"
    )


@pytest.mark.parametrize(
    ("cell", "message"),
    [
        ({"flu": 0.5, "cold": 0.4}, "add up to 0.9"),
        ({"flu": 1.5, "cold": -0.5}, "'cold' a negative probability"),
        ({}, "add up to 0"),
    ],
)
def test_a_distribution_that_is_none(tmp_path: Path, cell: dict[str, float], message: str) -> None:
    with pytest.raises(DataError, match=message):
        asked(
            tmp_path,
            {**values({"flu": 1}, cell), "distances": {"secret": "variational"}},
            dissimilarity("0.1"),
        )


@pytest.mark.parametrize(
    "text", ["flu", "[0.5, 0.5]", '{"flu": "much"}', '{"flu": 0.5, "flu": 0.5}', '{"flu": true}']
)
def test_text_that_is_no_distribution(tmp_path: Path, text: str) -> None:
    with pytest.raises(DataError, match="'secret'"):
        asked(
            tmp_path, {**values(text), "distances": {"secret": "variational"}}, dissimilarity("0.1")
        )


def test_thirds_are_a_distribution(tmp_path: Path) -> None:
    """As floats they add up to a little less than 1, as fractions in quotes they are exact."""
    for third, risk in ((1 / 3, 1), ("1/3", 1)):
        table = values({"a": third, "b": third, "c": third}, {"a": 1})
        assert asked(tmp_path, table, dissimilarity("0.7")).measured["risk"] == risk
    assert asked(tmp_path, table, dissimilarity("2/3")).measured["risk"] == 1
    assert asked(tmp_path, table, dissimilarity("0.6666")).measured["risk"] == 0


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("return x - y", "is -1 from '1' to '2'"),
        ("return max(0, x - y)", "is 0 from '1' to '2', and 1 the other way round"),
        ("return 1", "is 1 from '1' to itself"),
        ("return float('nan')", "is nan"),
        ("return float('inf')", "is inf"),
        ("return None", "is None"),
        ("return 'far'", "is 'far'"),
        ("return x / 0", "fails: ZeroDivisionError"),
    ],
)
def test_a_function_that_is_no_distance(tmp_path: Path, body: str, message: str) -> None:
    (tmp_path / "metric.py").write_text(f"def far(x, y):\n    {body}\n")
    with pytest.raises(DataError, match=message) as raised:
        asked(
            tmp_path,
            {**values(1, 2), "distances": {"secret": {"python": "metric:far"}}},
            dissimilarity(1),
        )
    assert raised.value.mark is not None
    assert raised.value.mark.line


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("nowhere:far", "there is no module 'nowhere'"),
        ("metric:near", "metric has no function 'near'"),
        ("metric:number", "metric:number is not a function"),
        ("broken:far", "module 'broken' cannot be imported: SyntaxError"),
        ("needy:far", "there is no module 'not_installed'"),
    ],
)
def test_a_function_that_is_not_there(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / "metric.py").write_text("number = 3\ndef far(x, y):\n    return abs(x - y)\n")
    (tmp_path / "broken.py").write_text("def far(x, y:\n")
    (tmp_path / "needy.py").write_text("import not_installed\n")
    with pytest.raises(DataError, match=message):
        asked(
            tmp_path, {**values(1, 2), "distances": {"secret": {"python": name}}}, dissimilarity(1)
        )


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("1;low;x\n2;low;y\n", "'low' .* stands below both 'x' and 'y'"),
        ("1;low\n", "does not cover '2'"),
        ("1;low\n1;high\n2;low\n", "stands in line 1 already"),
    ],
)
def test_a_taxonomy_that_is_none(tmp_path: Path, lines: str, message: str) -> None:
    (tmp_path / "tree.csv").write_text(lines)
    with pytest.raises(DataError, match=message):
        asked(
            tmp_path,
            {**values(1, 2), "distances": {"secret": {"taxonomy": "tree.csv"}}},
            dissimilarity(1),
        )


def test_a_hierarchical_distance_needs_a_hierarchy(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="needs a hierarchy for 'secret'"):
        asked(tmp_path, values(1, 2), {"t-closeness": {"t": 0.5, "distance": "hierarchical"}})


def test_a_part_of_a_distribution_that_is_no_column(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("ward,flu\nA,1\n")
    with pytest.raises(DataError, match="no column 'cold'"):
        asked(
            tmp_path, {"distances": {"secret": {"variational": ["flu", "cold"]}}}, dissimilarity(1)
        )


def test_a_column_without_any_value(tmp_path: Path) -> None:
    table = {"columns": {"ward": "text", "secret": "integer"}, "rows": [["A", None], ["A", None]]}
    with pytest.raises(DataError, match="'secret' of table people has no values at all"):
        asked(tmp_path, table, {"variance": {"v": 1}})


@pytest.mark.parametrize(
    "check",
    [
        {"t-closeness": {"t": -1}},
        {"t-closeness": {"t": 1.1}},
        {"alpha-k": {"alpha": 0, "k": 2}},
        {"alpha-k": {"alpha": 1.5, "k": 2}},
        {"alpha-k": {"alpha": 0.5, "k": 0}},
        {"k-e": {"k": 0, "e": 1}},
        {"k-e": {"k": 2, "e": -1}},
        {"variance": {"v": -1}},
        {"eps-m": {"epsilon": -1, "m": 2}},
        {"eps-m": {"epsilon": 1, "m": 0.5}},
        {"dissimilarity": {"epsilon": -1, "delta": 0.5, "k": 2}},
        {"dissimilarity": {"epsilon": 1, "delta": 1.5, "k": 2}},
        {"dissimilarity": {"epsilon": 1, "delta": 0.5, "k": 0}},
    ],
    ids=str,
)
def test_thresholds_out_of_range_are_refused_at_their_place(
    tmp_path: Path, check: dict[str, Any]
) -> None:
    with pytest.raises(TacitError) as raised:
        asked(tmp_path, values(1, 2), check)
    assert raised.value.mark is not None
    assert raised.value.mark.line


@pytest.mark.parametrize(
    "make",
    [
        lambda: tacit.TCloseness(t=0.1, distance="near"),
        lambda: tacit.TCloseness(t="much"),
        lambda: tacit.KE(k=2.5, e=1),
        lambda: tacit.Variance(v=1, missing="match_any"),
        lambda: tacit.EpsM(epsilon=1, m=2, missing="match_any"),
    ],
)
def test_parameters_that_make_no_sense(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


def test_enormous_thresholds_do_not_crash(tmp_path: Path) -> None:
    huge = "1e300"
    numbers = values(1, 2, 2)
    assert asked(tmp_path, numbers, {"variance": {"v": huge}}).status == "breached"
    assert asked(tmp_path, numbers, {"k-e": {"k": 10**15, "e": huge}}).status == "breached"
    assert asked(tmp_path, numbers, {"eps-m": {"epsilon": huge, "m": huge}}).measured["m"] == 1
    assert asked(tmp_path, numbers, dissimilarity(huge)).measured["risk"] == 1
    spread = {**values({"a": 1}, {"b": 1}), "distances": {"secret": "variational"}}
    assert asked(tmp_path, spread, dissimilarity(huge)).measured["risk"] == 1


def test_a_threshold_that_every_release_meets_is_pointed_out(tmp_path: Path) -> None:
    verdict = asked(tmp_path, values(1), {"t-closeness": {"t": 1}})
    assert "every release meets t=1" in verdict.warnings
