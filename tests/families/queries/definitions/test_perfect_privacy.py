"""Verdicts of perfect privacy: what they say, and that it can be replayed."""

from __future__ import annotations

import json
from collections import Counter
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import tacit
from tacit.errors import InputError, ParameterError, TacitError
from tacit.families.queries.definitions.perfect_evidence import (
    EvidenceDatabase,
    concrete,
    moved,
    satisfies_keys,
)
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Relations
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.schema import relations_of
from tacit.model.schema import Table
from tacit.model.verdict import Verdict
from tacit.plan.read.load import load_plan

CLINIC = {
    "patients": {"columns": {"pid": "integer", "name": "text"}, "key": ["pid"]},
    "stays": {"columns": {"pid": "integer", "diagnosis": "text", "ward": "text"}},
}
CANCER = (
    "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis "
    "= 'cancer'"
)


def ask(
    secret: str, view: str | list[str], schema: dict[str, Any] | None = None, **more: Any
) -> Verdict:
    return tacit.perfect_privacy(secret=secret, view=view, schema=schema or CLINIC, **more)


def test_a_view_that_shares_no_row_with_the_secret_holds() -> None:
    verdict = ask(CANCER, "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'")
    assert verdict.status == "holds"
    assert verdict.certainty == "exact"
    assert verdict.certificate is not None
    assert verdict.certificate.facts["gate_only"]
    assert verdict.to_json()["measured"]["class"]["secret"]
    assert verdict.to_json()["scope"] == "schema"


def test_a_breach_is_executed_and_says_how_bad_it_is() -> None:
    verdict = ask(CANCER, "SELECT DISTINCT ward FROM stays")
    assert verdict.status == "breached"
    facts = verdict.witness.facts  # type: ignore[union-attr]
    assert facts["critical_tuple"]["relation"] == "stays"
    assert facts["critical_tuple"]["values"][1] == "cancer"
    for side in ("secret", "view"):
        assert facts["executed"][side]["without"] != facts["executed"][side]["with"]
    assert facts["before"] < facts["after"]
    assert facts["disclosure"] in ("total", "partial")
    assert facts["changes"] == ["add the condition stays.diagnosis <> 'cancer'"]
    json.dumps(verdict.to_json("shared"))


def test_the_change_that_is_proposed_helps() -> None:
    verdict = ask(CANCER, "SELECT DISTINCT ward FROM stays WHERE diagnosis <> 'cancer'")
    assert verdict.status == "holds"


def test_views_are_judged_together() -> None:
    verdict = ask(
        CANCER,
        [
            "SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'",
            "SELECT DISTINCT ward FROM stays",
        ],
    )
    assert verdict.status == "breached"
    assert verdict.witness is not None
    assert verdict.witness.facts["view"] == "view 2"
    assert verdict.subject["releases"] == ["view 1", "view 2"]


def test_a_nullable_column_makes_a_difference() -> None:
    secret = "SELECT DISTINCT 1 FROM R a, R b, R c WHERE a.y = b.y AND c.x = 'c'"
    view = "SELECT DISTINCT 1 FROM R WHERE x = 'd'"
    assert ask(secret, view, {"R": {"columns": ["x", "y"]}}).status == "holds"
    verdict = ask(secret, view, {"R": {"columns": ["x", "y"], "nullable": ["y"]}})
    assert verdict.status == "breached"
    assert verdict.witness is not None
    assert [None] in [one["values"][1:] for one in verdict.witness.facts["instance_secret"]]


def test_keys_name_the_row_of_each() -> None:
    verdict = ask(CANCER, "SELECT name FROM patients")
    assert verdict.witness is not None
    facts = verdict.witness.facts
    assert facts["critical_tuple"]["values"][0] == facts["critical_tuple_of_view"]["values"][0]


def test_two_keys_come_with_a_path() -> None:
    schema = {"R": {"columns": {"a": "integer", "b": "integer"}, "key": [["a"], ["b"]]}}
    verdict = ask("S() :- R(1, 1)", "V() :- R(2, 2)", schema)
    assert verdict.status == "breached"
    assert verdict.witness is not None
    path = [tuple(one["values"]) for one in verdict.witness.facts["path"]]
    assert path[0] == (1, 1)
    assert path[-1] == (2, 2)
    for one, two in pairwise(path):
        assert one[0] == two[0] or one[1] == two[1]


def test_the_milder_model_takes_rows_as_known() -> None:
    schema = {
        "P": {"columns": {"pid": "integer", "diagnosis": "text", "ward": "text"}, "key": ["pid"]}
    }
    secret, view = (
        "SELECT DISTINCT pid FROM P WHERE diagnosis = 'cancer'",
        "SELECT DISTINCT pid, ward FROM P",
    )
    assert ask(secret, view, schema).status == "breached"
    milder = ask(secret, view, schema, model="attribute-independent")
    assert milder.status == "holds"
    assert "attributes-independent" in {one.id for one in milder.assumptions}


def test_what_is_read_by_supports_is_breached_only_if_the_answers_change() -> None:
    counted = ask(CANCER, "SELECT count(*) FROM stays")
    assert (counted.status, counted.certainty) == ("breached", "exact")
    others = ask(CANCER, "SELECT count(*) FROM stays WHERE diagnosis <> 'cancer'")
    assert (others.status, others.certainty) == ("holds", "conservative")
    pattern = ask(CANCER, "SELECT ward FROM stays WHERE diagnosis LIKE 'f%'")
    assert pattern.status in ("undecided", "holds")
    if pattern.reason:
        assert pattern.reason.code == "like"
        assert "LIKE" in pattern.reason.text


def test_beliefs_are_those_of_the_query_itself_also_where_it_is_read_by_supports() -> None:
    """Among two rows of one person the greatest ward tells less than the rows themselves would."""
    schema = {
        "stays": {
            "columns": {"pid": "integer", "ward": "text"},
            "domains": {"pid": [1], "ward": ["A", "B"]},
        }
    }
    secret = (
        "SELECT DISTINCT a.pid FROM stays a, stays b WHERE a.pid = b.pid AND a.ward = 'A' AND "
        "b.ward = 'B'"
    )
    verdict = ask(secret, "SELECT max(ward) FROM stays", schema)
    assert verdict.witness is not None
    assert (verdict.witness.facts["before"], verdict.witness.facts["after"]) == (
        Fraction(1, 4),
        Fraction(1, 2),
    )


def test_the_milder_model_does_not_claim_what_supports_cannot_show() -> None:
    schema = {"P": {"columns": {"pid": "integer", "ward": "text"}, "key": ["pid"]}}
    verdict = ask(
        "SELECT DISTINCT pid FROM P WHERE ward = 'A'",
        "SELECT pid FROM P WHERE ward LIKE 'B%'",
        schema,
        model="attribute-independent",
    )
    assert verdict.status == "undecided"


def test_a_secret_that_protects_nothing_is_noted() -> None:
    verdict = ask("S(n) :- stays(p, n, w), n < 'a', 'b' < n", "V(w) :- stays(p, d, w)")
    assert verdict.vacuous
    assert "protects nothing" in verdict.warnings[0]


def test_time_is_limited() -> None:
    atoms = ", ".join(f"R(x{i}, x{j})" for i in range(9) for j in range(9) if i != j)
    verdict = ask(
        f"S() :- {atoms}",
        f"V() :- {atoms.replace('x', 'y')}, R(z, z)",
        {"R": {"columns": ["a", "b"]}},
        seconds=0.001,
    )
    assert verdict.status in ("undecided", "breached", "holds")
    if verdict.reason:
        assert verdict.reason.code == "time-limit"


def test_the_semantics_can_be_given() -> None:
    secret, view = "S() :- R(x, x, x), R(1, x, 0), R(y, y, x), R(y, x, x)", "V() :- R(0, y, 1)"
    schema = {"R": {"columns": ["a", "b", "c"]}}
    assert ask(secret, view, schema).status == "holds"
    assert ask(secret, view, schema, semantics="bag").status == "breached"


@pytest.mark.parametrize("bad", [{"semantics": "list"}, {"model": "rows"}, {"seconds": 0}])
def test_parameters_that_make_no_sense(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        PerfectPrivacy(**bad)


@pytest.mark.parametrize(
    ("view", "message"),
    [
        ("SELECT wrd FROM stays", "did you mean 'ward'"),
        ("SELECT ward FROM stay", "did you mean 'stays'"),
        ("SELECT pid FROM stays JOIN patients ON stays.pid = patients.pid", "ambiguous|both"),
        ("SELECT ward FROM stays WHERE pid = 'x'", "number|integer"),
        ("DELETE FROM stays", "query|SELECT"),
        ("SELECT ward FROM stays WHERE random() < 0.5", "random"),
    ],
)
def test_queries_that_cannot_be_read(view: str, message: str) -> None:
    with pytest.raises(TacitError, match=f"(?i){message}"):
        ask(CANCER, view)


@pytest.mark.parametrize(
    ("schema", "secret", "view", "code"),
    [
        (
            {"r": ["a", "b"]},
            "SELECT b FROM r WHERE a = 1",
            "SELECT b FROM r WHERE a = '1'",
            "types",
        ),
        (
            {"r": ["a", "b"]},
            "SELECT b FROM r WHERE a = DATE '2020-01-01'",
            "SELECT b FROM r WHERE a = '2020-01-01'",
            "types",
        ),
        (
            {"r": ["a", "b"]},
            "SELECT b FROM r WHERE a > 5",
            "SELECT b FROM r WHERE a > '40' AND a < '5'",
            "types",
        ),
        (
            {"r": ["x", "y"], "s": {"columns": {"y": "integer", "z": "text"}}},
            "SELECT r.x FROM r JOIN s ON r.y = s.y WHERE r.y = '1'",
            "SELECT z FROM s WHERE y = 1",
            "types",
        ),
        (
            {"r": {"columns": {"x": "text", "y": "integer"}, "key": ["y"], "nullable": ["y"]}},
            "SELECT y FROM r WHERE x = 'c'",
            "SELECT y FROM r WHERE x = 'd'",
            "nullable-key",
        ),
    ],
)
def test_what_only_the_database_can_compare_is_not_decided(
    schema: Any, secret: str, view: str, code: str
) -> None:
    verdict = ask(secret, view, schema)
    assert verdict.reason is not None, verdict
    assert verdict.reason.code == code


def test_a_domain_tells_the_type() -> None:
    schema = {"r": {"columns": ["a", "b"], "domains": {"b": [1, 2]}}}
    assert ask("SELECT a FROM r WHERE b = '1'", "SELECT a FROM r", schema).status == "breached"


def test_new_values_of_every_type_can_be_tried() -> None:
    schema = {
        "hospital.p": {
            "columns": {
                "n": "text",
                "b": "boolean",
                "d": "date",
                "t": "timestamp",
                "k": "decimal",
                "i": "integer",
            }
        }
    }
    verdict = ask(
        "SELECT n, b, d, t, k, i FROM hospital.p",
        "SELECT n FROM hospital.p WHERE i < 99999999999999999999999999",
        schema,
    )
    assert verdict.status == "breached"


def test_the_changes_that_are_proposed_settle_the_whole_question() -> None:
    both = ask(
        "SELECT DISTINCT x FROM r WHERE x = 'a'",
        ["SELECT DISTINCT x FROM r", "SELECT x FROM r"],
        {"r": ["x"]},
    )
    assert both.witness is not None
    assert "changes" not in both.witness.facts, "the other view would still tell"


@pytest.mark.parametrize(
    "bad", [{"view": []}, {"view": ""}, {"secret": None}, {"schema": "r"}, {"seconds": "a"}]
)
def test_arguments_that_are_no_queries(bad: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        tacit.perfect_privacy(
            **{"secret": "Q(x) :- r(x)", "view": "Q(x) :- r(x)", "schema": {"r": ["x"]}, **bad}
        )


# -- evidence --------------------------------------------------------------------------------------


def schema_of(**columns: list[str]) -> Relations:
    return relations_of(
        {name: Table(name, columns=dict.fromkeys(some)) for name, some in columns.items()}
    )


def test_beliefs_are_counted_over_all_small_instances() -> None:
    """Two rows that give the same name: seeing one ward, the belief rises from 3/4 to 1."""
    relations = schema_of(R=["n", "w"])
    rows = [Fact("R", ("ann", "1")), Fact("R", ("ann", "2"))]
    found = moved(
        rows,
        relations,
        lambda world: frozenset((fact.values[0],) for fact in world),
        lambda world: frozenset((fact.values[1],) for fact in world),
        [("ann",)],
    )
    assert found is not None
    assert (found.before, found.after, found.total) == (Fraction(3, 4), Fraction(1), True)


def test_instances_satisfy_the_keys() -> None:
    relations = relations_of(
        {"R": Table("R", columns={"a": None, "b": None}, keys=(("a",), ("b",)))}
    )
    assert satisfies_keys([Fact("R", (1, 1)), Fact("R", (2, 2))], relations)
    assert not satisfies_keys([Fact("R", (1, 1)), Fact("R", (2, 1))], relations)


def test_datalog_and_its_sql_give_the_same_answers() -> None:
    relations = relations_of(
        {"R": Table("R", columns={"a": "integer", "b": "integer"}, nullable=("b",))}
    )
    queries = [
        "Q(x) :- R(x, y), R(y, x)",
        "Q(x, y) :- R(x, y), x < y",
        "Q() :- R(x, x)",
        "Q(x) :- R(x, 1); Q(x) :- R(x, y), y != 2",
        "Q('k', x) :- R(x, _)",
    ]
    values = (1, 2, 3, None)
    with EvidenceDatabase(relations, "duckdb") as bench:
        from tacit.families.queries.evaluate import answers

        for number in range(60):
            facts = [
                Fact("R", (1 + (number * 7 + i) % 3, values[(number * 5 + i * 3) % 4]))
                for i in range(number % 5)
            ]
            for text in queries:
                reading = read(text, relations, name="Q")
                assert reading.exact is not None
                found = bench.answer(bench.text(reading, reading.exact), dict.fromkeys(facts))
                expected = answers(reading.exact, facts)
                shown = Counter(tuple(row) for row in found)
                if not reading.exact.parts[0].head:
                    assert bool(shown) == bool(expected)
                else:
                    assert set(shown) == {tuple(row) for row in expected}


def test_new_values_fit_their_columns() -> None:
    relations = relations_of({"R": Table("R", columns={"a": "integer", "b": "date", "c": "text"})})
    fact = Fact("R", ("_fresh1", "_fresh2", "_fresh1"))
    made = concrete([fact], relations)[fact]
    assert isinstance(made.values[0], int)
    assert made.values[0] == made.values[2], "equal values stay equal"


# -- in a plan -------------------------------------------------------------------------------------

PLAN = """version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid]}
  stays: {columns: {pid: integer, diagnosis: text, ward: text}}
secrets: {cancer: "SELECT DISTINCT p.name FROM patients p JOIN stays s ON p.pid = s.pid WHERE s.diagnosis = 'cancer'"}
releases-from: [views/*.sql]
checks:
  - perfect-privacy: {secret: cancer, release: flu}
  - perfect-privacy: {secret: cancer, release: [flu, wards], name: both}
"""  # noqa: E501


def written(folder: Path, **views: str) -> Path:
    (folder / "views").mkdir()
    for name, text in views.items():
        (folder / "views" / f"{name}.sql").write_text(text)
    (folder / "tacit.yaml").write_text(PLAN)
    return folder / "tacit.yaml"


def test_a_plan_needs_no_data(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        flu="SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'\n",
        wards="SELECT DISTINCT ward\nFROM stays\n",
    )
    found = tacit.load(path).check()
    assert [verdict.status for verdict in found] == ["holds", "breached"]
    assert found["both"].subject == {"secret": "cancer", "releases": ["flu", "wards"]}


def test_an_error_in_a_file_points_into_it(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        flu="SELECT DISTINCT ward\nFROM stays\nWHERE diagnose = 'flu'\n",
        wards="SELECT ward FROM stays",
    )
    with pytest.raises(InputError) as error:
        tacit.load(path).check()
    assert str(error.value).startswith("views/flu.sql:3:7")


def test_a_file_may_create_the_view(tmp_path: Path) -> None:
    create = "CREATE OR REPLACE VIEW wards AS\nSELECT DISTINCT ward FROM stays;\n"
    path = written(
        tmp_path, flu="SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'", wards=create
    )
    verdict = tacit.load(path).check()["both"]
    assert verdict.status == "breached"
    assert verdict.witness is not None
    assert verdict.witness.facts["executed"]["view"]["with"]


def test_constraints_are_the_business_of_view_safety(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        flu="SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'",
        wards="SELECT ward FROM stays",
    )
    path.write_text(PLAN + 'constraints: ["stays(p, d, w) -> patients(p, n)"]\n')
    verdict = tacit.load(path).check()[0]
    assert verdict.reason is not None
    assert verdict.reason.code == "constraints"


def test_an_order_that_tells_more_is_warned_of() -> None:
    by = "ORDER BY (SELECT count(*) FROM stays c WHERE c.diagnosis = 'cancer' AND c.pid = s.pid)"
    schema = {"stays": {"columns": {"pid": "integer", "diagnosis": "text"}, "nullable": []}}
    secret = "SELECT pid FROM stays WHERE diagnosis = 'cancer'"
    for order, told in ((by, 1), ("ORDER BY pid", 0), ("", 0)):
        verdict = tacit.perfect_privacy(
            secret=secret,
            view=f"SELECT pid FROM stays s WHERE diagnosis = 'flu' {order}",
            schema=schema,
        )
        assert (
            verdict.status == "holds"
            and sum("publish them in another order" in one for one in verdict.warnings) == told
        )


TIED = """version: 1
tables:
  patients: {columns: {pid: integer, name: text}, key: [pid], nullable: []}
  visits: {columns: {pid: integer, ward: text}, nullable: [], foreign-keys: {pid: patients.pid}}
  wards: {columns: {ward: text, floor: integer}, nullable: []}
secrets: {who: "SELECT pid FROM patients", floors: "SELECT floor FROM wards"}
releases:
  visited: {query: "SELECT pid FROM visits"}
  up: {query: "SELECT ward FROM wards WHERE floor = 2"}
  there: {query: "SELECT name FROM patients"}
checks:
  - perfect-privacy: {secret: who, release: visited, name: foreign}
  - perfect-privacy: {secret: who, release: up, name: apart}
  - perfect-privacy: {secret: who, release: there, name: same}
  - perfect-privacy: {secret: floors, release: up, name: free}
"""


def test_a_foreign_key_ties_tables_together(tmp_path: Path) -> None:
    """Somebody with a visit is a patient:
    rows of the two are not independent, and other tables are.
    """
    (tmp_path / "tacit.yaml").write_text(TIED, "utf-8")
    found = tacit.load(tmp_path / "tacit.yaml").check()
    assert {verdict.name: verdict.status for verdict in found} == {
        "foreign": "undecided",
        "apart": "holds",
        "same": "undecided",
        "free": "breached",
    }
    for name in ("foreign", "same"):  # the witness of `same` may be no possible database
        assert found[name].reason is not None and found[name].reason.code == "constraints"
    schema = {
        "patients": {"columns": {"pid": "integer"}, "key": ["pid"]},
        "visits": {"columns": {"pid": "integer"}, "foreign-keys": {"pid": "patients.pid"}},
    }
    assert (
        tacit.perfect_privacy(
            secret="SELECT pid FROM patients", view="SELECT pid FROM visits", schema=schema
        ).status
        == "undecided"
    )


def test_columns_come_from_the_data_where_the_plan_has_none(tmp_path: Path) -> None:
    (tmp_path / "stays.csv").write_text("pid,diagnosis,ward\n1,flu,A\n2,cancer,\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {stays: {}}\n"
        "secrets: {s: \"SELECT DISTINCT pid FROM stays WHERE diagnosis = 'cancer'\"}\n"
        "releases: {v: {query: \"SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'\"}}\n"
        "checks: [perfect-privacy: {secret: s, release: v}]\n"
    )
    verdict = tacit.load(tmp_path / "tacit.yaml").check()[0]
    assert verdict.status == "holds"
    assert "nullable-as-seen" in {one.id for one in verdict.assumptions}


def test_missing_values_of_a_file_count_also_where_the_plan_names_columns(tmp_path: Path) -> None:
    (tmp_path / "R.csv").write_text("x,y\nc,\nd,e\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables: {R: {columns: {x: text, y: text}}}\n"
        "secrets: {s: \"SELECT DISTINCT 1 FROM R a, R b, R c WHERE a.y = b.y AND c.x = 'c'\"}\n"
        "releases: {v: {query: \"SELECT DISTINCT 1 FROM R WHERE x = 'd'\"}}\n"
        "checks: [perfect-privacy: {secret: s, release: v}]\n"
    )
    assert tacit.load(tmp_path / "tacit.yaml").check()[0].status == "breached"


def test_a_view_of_a_view_is_executed_and_a_circle_is_found(tmp_path: Path) -> None:
    path = written(tmp_path, flu="SELECT count(*) FROM wards", wards="SELECT ward FROM stays")
    verdict = tacit.load(path).check()[0]
    assert verdict.witness is not None, verdict
    assert verdict.witness.facts["executed"]["view"]["with"] == ((1,),)
    (tmp_path / "views" / "wards.sql").write_text("SELECT * FROM flu")
    with pytest.raises(TacitError, match=r"(?i)itself|circle|recurs"):
        tacit.load(path).check()


def test_how_a_query_was_read(tmp_path: Path) -> None:
    from tacit.families.queries.reading.readings import readings_of
    from tacit.plan.open_plan import OpenPlan

    path = written(
        tmp_path,
        flu="SELECT ward, count(*) FROM stays GROUP BY ward",
        wards="SELECT ward FROM stays",
    )
    with OpenPlan(load_plan(path)) as opened:
        assert readings_of(opened).explained("cancer").exact is not None
        assert {one.code for one in readings_of(opened).explained("flu").approximations} >= {
            "aggregate"
        }
        assert readings_of(opened).explained("SELECT ward FROM stays").exact is not None
        with pytest.raises(InputError, match="Did you mean 'wards'"):
            readings_of(opened).explained("wrds")


def test_question_is_a_value() -> None:
    relations = schema_of(R=["a"])
    reading = read("Q(x) :- R(x)", relations, name="Q")
    assert QueryQuestion(reading, (reading,), relations) == QueryQuestion(
        reading, (reading,), relations
    )
