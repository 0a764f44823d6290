"""g-safety and e-safety as a plan asks for them:
who sees what, which secrets, and what is wrong.
"""

from __future__ import annotations

import copy
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from safety_asking import asked
from tacit.cli import main
from tacit.errors import DataError, InputError, PlanError, Problems, QueryError, TacitError
from tacit.model.verdict import Verdict

CONFERENCE = yaml.safe_load("""
version: 1
tables:
  RS: {columns: [reviewer, subcom], rows: [[r1, c1], [r2, c1], [r3, c2], [r4, c2]]}
  SP: {columns: [subcom, paper], rows: [[c1, p1], [c2, p2]]}
  RP: {columns: [reviewer, paper], rows: [[r1, p1], [r2, p1], [r3, p2], [r4, p2]], domains: {reviewer: [r1, r2, r3, r4]}, nullable: []}
constraints:
  - RP(r, p) -> RS(r, c), SP(c, p)
  - RP(a, p), RP(b, p), RP(c, p), a != b -> c = a | c = b
secrets:
  reviewers: "S(r) :- RP(r, 'p1')"
  any-paper: "S(r) :- RP(r, $paper)"
releases:
  who: {query: "V(r) :- RS(r, s)"}
  rs:  {query: "SELECT DISTINCT reviewer, subcom FROM RS", to: [authors]}
  two: {constraint: "SP(c, p) -> RP(a, p), RP(b, p), a != b"}
  sp: {query: "N(s, p) :- SP(s, p)", to: [chairs]}
published: [who]
checks: []
""")  # noqa: E501


def conference(*checks: dict[str, Any], **changes: Any) -> dict[str, Any]:
    plan = copy.deepcopy(CONFERENCE)
    plan["checks"] = list(checks)
    for path, value in changes.items():
        *above, last = path.split("__")
        inner = plan
        for key in above:
            inner = inner[key]
        inner[last] = value
    return plan


def g(**parameters: Any) -> dict[str, Any]:
    return {"g-safety": {"secret": "reviewers", "release": "rs", **parameters}}


def e(**parameters: Any) -> dict[str, Any]:
    return {"e-safety": {"secret": "reviewers", "release": "rs", **parameters}}


def one(plan: dict[str, Any], folder: Path) -> Verdict:
    [verdict] = asked(plan, folder)
    return verdict


def refused(plan: dict[str, Any], folder: Path) -> TacitError:
    with pytest.raises((InputError, Problems)) as caught:
        asked(plan, folder)
    found = next(iter(caught.value))
    assert found.hint and found.mark is not None and found.mark.line, found
    return found


# -- the plan of the design document ---------------------------------------------------------------


def test_the_design_plan(tmp_path: Path) -> None:
    first, second = asked(conference(g(), e(release=["rs", "two"])), tmp_path)
    assert (first.status, second.status) == ("breached", "breached")
    document = first.to_json()
    assert document["subject"] == {
        "secret": "reviewers",
        "release": "rs",
        "given": ["who"],
        "over": "instance",
    }
    assert document["scope"] == "this data" and document["certainty"] == "exact"
    assert document["measured"]["worlds_equal"] is False
    assert document["witness"]["kind"] == "world" and document["witness"]["added"]
    assert second.to_json()["witness"]["kind"] == "secrets"


def test_nobody_else_reads_personal_values(tmp_path: Path) -> None:
    for verdict in asked(
        conference(g(), e(), e(secret="any-paper"), g(secret="any-paper", over="all")), tmp_path
    ):
        shared = str(verdict.to_json("shared"))
        assert not any(f"'{value}'" in shared for value in ("r1", "r2", "r3", "c1", "c2", "p1")), (
            shared
        )


def test_parameters_are_asked_for_every_value(tmp_path: Path) -> None:
    plan = conference(g(secret="any-paper", release="again"))
    plan["releases"]["again"] = {"query": "V(r) :- RS(r, s)"}
    verdict = one(plan, tmp_path)
    assert verdict.status == "holds" and verdict.vacuous is False
    verdict = one(conference(e(secret="any-paper", release="two")), tmp_path)
    assert verdict.status == "breached"
    assert verdict.witness is not None and verdict.witness.personal["parameters"]["paper"] in (
        "p1",
        "p2",
        "_fresh0",
    )
    assert verdict.witness.facts["cases"] == 3  # p1, p2 and a new paper


def test_sql_parameters_and_types(tmp_path: Path) -> None:
    plan = conference(
        {"e-safety": {"secret": "s", "release": "n"}},
        tables={
            "T": {
                "columns": {"id": "integer", "born": "date"},
                "rows": [[1, "2000-01-02"], [2, "1990-05-05"]],
                "domains": {"id": [1, 2, 3]},
            }
        },
        constraints=[],
        secrets={"s": "SELECT DISTINCT born FROM T WHERE id = $id"},
        releases={"n": {"query": "SELECT DISTINCT id FROM T"}},
        published=[],
    )
    verdict = one(plan, tmp_path)
    assert verdict.status == "breached"


def test_a_parameter_is_asked_for_every_value_that_is_known(tmp_path: Path) -> None:
    """Also for values of columns that it is joined with:
    p3 was submitted, and nobody has reviewed it.
    """
    plan = boxes(
        "N(r) :- RP(r, 'p3')",
        "S(r) :- RP(r, $paper)",
        ["V(c, p) :- SP(c, p)"],
        ["RP(r, p) -> SP(c, p)"],
    )
    plan["tables"] = {
        "SP": {"columns": ["c", "p"], "rows": [["c1", "p1"], ["c1", "p3"]]},
        "RP": {"columns": ["r", "p"], "rows": [["r1", "p1"]], "domains": {"r": ["r1", "r2"]}},
    }
    assert [verdict.status for verdict in asked(plan, tmp_path)] == ["breached", "breached"]


def test_new_values_of_two_parameters_may_differ(tmp_path: Path) -> None:
    plan = boxes("N() :- R(x, y)", "S() :- R($a, $b)", constraints=["R(x, x) -> false"])
    plan["tables"] = {"R": {"columns": {"x": "text", "y": "text"}, "rows": []}}
    assert [verdict.status for verdict in asked(plan, tmp_path)] == ["breached", "breached"]


def test_parameters_of_other_types(tmp_path: Path) -> None:
    for kind, value in (
        ("boolean", True),
        ("timestamp", "2020-01-01 10:00:00"),
        ("date", "9999-12-31"),
        ("decimal", 1.5),
    ):
        plan = boxes("N() :- R(x)", "S() :- R($p)")
        plan["tables"] = {"R": {"columns": {"x": kind}, "rows": [[value]]}}
        assert {verdict.status for verdict in asked(plan, tmp_path)} <= {
            "breached",
            "holds",
            "undecided",
        }


def test_a_boolean_parameter_is_a_constant(tmp_path: Path) -> None:
    plan = boxes("N(b) :- R(b, 1)", "S() :- R($b, c)", ["V() :- R(b, c)"])
    plan["tables"] = {
        "R": {
            "columns": {"b": "boolean", "c": "integer"},
            "rows": [[True, 1]],
            "domains": {"c": [1, 2]},
        }
    }
    assert asked(plan, tmp_path)[0].status == "breached"


def test_parameters_of_several_types_keep_apart(tmp_path: Path) -> None:
    plan = boxes("N() :- R(x, y, z)", "S() :- R($a, $b, $c)")
    plan["tables"] = {
        "R": {
            "columns": {"x": "text", "y": "integer", "z": "boolean"},
            "rows": [["q", 1, True]],
            "domains": {"x": ["q", "r"], "y": [1, 2]},
        }
    }
    first, _ = asked(plan, tmp_path)
    assert (
        first.status == "breached"
        and first.witness is not None
        and first.witness.facts["cases"] == 8
    )


# -- who sees what ---------------------------------------------------------------------------------


def test_clients_who_collude_see_together(tmp_path: Path) -> None:
    plan = conference(
        g(name="alone"),
        g(collude=[["authors", "chairs"]], name="together"),
        g(release="sp", collude=[["authors", "chairs"]], name="other"),
        published=["who", "sp"],
    )
    plan["published"] = ["who", "rs"]
    plan["checks"] = [
        e(release="sp", name="alone"),
        e(release="sp", collude=[["authors", "chairs"]], name="together"),
    ]
    alone, together = asked(plan, tmp_path)
    assert alone.against.startswith("chairs who saw who ")
    assert together.against.startswith("authors and chairs together who saw who and rs ")
    assert (alone.status, together.status) == ("breached", "breached")


def test_what_a_client_has_already_tells_him_nothing(tmp_path: Path) -> None:
    """The chairs know SP: to them it is not new, to the authors it is,
    whether they may collude or not.
    """
    plan = conference(g(release="again"), published=["who", "sp"])
    plan["releases"]["again"] = {"query": "N(p) :- SP(s, p)", "to": ["chairs"]}
    assert one(plan, tmp_path).status == "holds"
    plan["releases"]["again"]["to"] = ["authors"]
    assert one(plan, tmp_path).status == "breached"
    plan["checks"][0]["g-safety"]["collude"] = [["authors", "chairs"]]
    assert one(plan, tmp_path).against.startswith("authors who saw who ")


def test_parts_of_a_group_may_collude(tmp_path: Path) -> None:
    """The chair has RP already, so the three together learn nothing; two of them do."""
    plan = conference(e(release=["rs", "sp"], collude=[["authors", "chairs", "chair"]]))
    plan["releases"]["rp"] = {"query": "V(r, p) :- RP(r, p)", "to": ["chair"]}
    plan["published"] = ["who", "rp"]
    verdict = one(plan, tmp_path)
    assert verdict.status == "breached" and "authors and chairs together" in verdict.against


def test_given_replaces_published(tmp_path: Path) -> None:
    plan = conference(
        g(release="who", given=[], name="a"),
        g(release="who", given=["who2"], name="b"),
        published=[],
    )
    plan["releases"]["who2"] = {"query": "W(x) :- RS(x, _)"}
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status) == ("breached", "holds")
    assert second.certificate is not None and second.certificate.kind == "rewriting"
    assert second.certificate.facts["rewriting"] == ["who(r) :- who2(r)"]


def test_a_dictionary_is_published_too(tmp_path: Path) -> None:
    plan = conference(
        g(release="n", dictionary=["RS.reviewer"], name="a"), g(release="n", name="b"), published=[]
    )
    plan["releases"]["n"] = {"query": "N(r) :- RS(r, s)"}
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status) == ("holds", "breached")
    plan["dictionary"] = ["RS.reviewer"]
    assert [verdict.status for verdict in asked(plan, tmp_path)] == ["holds", "holds"]


def test_published_constraints_are_known(tmp_path: Path) -> None:
    plan = conference(
        g(release="two", name="a"), g(release="again", given=["who", "two"], name="b")
    )
    plan["releases"]["again"] = {"constraint": "SP(c, p) -> RP(a, p)"}
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status) == ("breached", "holds")


# -- holds and undecided ---------------------------------------------------------------------------


def boxes(
    new: str,
    secret: str,
    published: list[str] | None = None,
    constraints: list[str] | None = None,
    **more: Any,
) -> dict[str, Any]:
    """Two tables R(a) and T(a) without domains."""
    releases = {
        "n": {"query": new},
        **{f"v{at}": {"query": text} for at, text in enumerate(published or [])},
    }
    tables = {"R": {"columns": ["a"], "rows": [["x"]]}, "T": {"columns": ["a"], "rows": [["y"]]}}
    return {
        "version": 1,
        "tables": tables,
        "constraints": constraints or [],
        "secrets": {"s": secret},
        "releases": releases,
        "published": [f"v{at}" for at in range(len(published or []))],
        "checks": [
            {"g-safety": {"secret": "s", "release": "n"}},
            {"e-safety": {"secret": "s", "release": "n"}},
        ],
        **more,
    }


def test_tables_that_nothing_connects(tmp_path: Path) -> None:
    first, second = asked(boxes("N(x) :- T(x)", "S(x) :- R(x)"), tmp_path)
    assert first.status == "breached"
    assert (
        second.status == "holds"
        and second.certificate is not None
        and second.certificate.kind == "separate"
    )
    _, second = asked(
        boxes("N(x) :- T(x)", "S(x) :- R(x)", constraints=["T(x) -> T(x)", "R(x), T(x) -> false"]),
        tmp_path,
    )
    assert second.status == "breached"


def test_two_unseen_values_make_a_difference(tmp_path: Path) -> None:
    """With one unseen value nothing is ruled out;
    with two it is: that is why `holds` needs a bound.
    """
    plan = boxes("N() :- T(x), T(y), x != y", "S(x) :- T(x)", fresh=0)
    plan["tables"]["T"]["rows"] = []
    assert asked(plan, tmp_path)[0].reason.code == "unseen-values"  # type: ignore[union-attr]
    plan["fresh"] = 1
    assert asked(plan, tmp_path)[0].status == "undecided"
    plan["fresh"] = 2
    assert asked(plan, tmp_path)[0].status == "breached"
    del plan["fresh"]
    assert asked(plan, tmp_path)[0].status == "breached"


def test_a_proved_number_of_unseen_values_suffices(tmp_path: Path) -> None:
    """No row of T can be there, whatever the world: two unseen values are proved to be enough."""
    plan = boxes("N() :- T(x), T(y)", "S(x) :- R(x)", constraints=["T(x) -> x = 'none' | x = 'y'"])
    plan["tables"]["T"]["rows"] = [["y"]]
    first, _ = asked(plan, tmp_path)
    assert first.status == "breached"
    plan = boxes("N() :- R('q')", "S(x) :- R(x)", ["V(x) :- R(x)"])
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status) == ("holds", "holds")


def test_a_secret_that_is_out_already(tmp_path: Path) -> None:
    first, second = asked(
        boxes("N(x) :- T(x)", "S(x) :- R(x)", ["V(x) :- R(x)"], ["R(x), T(x) -> false"]), tmp_path
    )
    assert (first.status, second.status) == ("holds", "holds")
    assert (
        first.vacuous and first.certificate is not None and first.certificate.kind == "one-secret"
    )


def test_over_a_domain_and_on_every_database(tmp_path: Path) -> None:
    plan = boxes("N(x) :- T(x)", "S(x) :- R(x)", constraints=["R(x) -> T(x)"])
    plan["tables"]["T"]["rows"] = [["x"]]
    for check in plan["checks"]:
        next(iter(check.values()))["over"] = "all"
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status) == ("breached", "breached")
    assert (
        first.scope == "schema" and first.witness is not None and "instance" in first.witness.facts
    )
    for name in ("R", "T"):
        plan["tables"][name]["domains"] = {"a": ["x", "y"]}
    for check in plan["checks"]:
        next(iter(check.values()))["over"] = "domain"
    first, second = asked(plan, tmp_path)
    assert (first.status, second.status, first.scope) == ("breached", "breached", "this domain")
    plan["releases"]["n"]["query"] = "N(x) :- T(x), T(y)"
    plan["releases"]["v"] = {"query": "V(x) :- T(x)"}
    plan["published"] = ["v"]
    for over in ("domain", "all"):
        for check in plan["checks"]:
            next(iter(check.values()))["over"] = over
        assert [verdict.status for verdict in asked(plan, tmp_path)] == ["holds", "holds"]


def test_on_every_database_what_is_not_found_is_undecided(tmp_path: Path) -> None:
    """V determines N on every database by an argument that is not looked for:
    nothing is claimed.
    """
    many = ", ".join(f"R(x{at})" for at in range(5)) + "".join(
        f", x{one} != x{two}" for one in range(5) for two in range(one)
    )
    plan = boxes(f"N() :- {many}", "S() :- R(x)", ["V() :- R('x')"])
    plan["checks"] = [{"g-safety": {"secret": "s", "release": "n", "over": "all"}}]
    verdict = one(plan, tmp_path)
    assert verdict.status in ("undecided", "breached")
    assert verdict.reason is None or verdict.reason.code == "every-database"


def test_too_many_possible_tuples(tmp_path: Path) -> None:
    rows = [[f"r{at}", f"c{at}"] for at in range(1000)]
    plan = conference(
        g(), tables__RS__rows=rows, tables__RP__domains={}, tables__RP__rows=[], published=[]
    )
    verdict = one(plan, tmp_path)
    assert (
        verdict.reason is not None
        and verdict.reason.code == "limit"
        and "possible tuples" in verdict.reason.text
    )


def test_time_is_up(tmp_path: Path) -> None:
    verdict = one(conference(e(seconds=0.00001)), tmp_path)
    assert verdict.reason is not None and verdict.reason.code == "time"


# -- answers from elsewhere ------------------------------------------------------------------------


def answers(folder: Path, **files: str) -> dict[str, Any]:
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, "utf-8")
    plan = boxes("N(y) :- R(x, y)", "S(x, y) :- R(x, y)", ["V(x) :- R(x, y)"])
    plan["tables"] = {"R": {"columns": ["x", "y"]}}
    plan["releases"]["n"]["answer"], plan["releases"]["v0"]["answer"] = "n.csv", "v.csv"
    plan["checks"] = plan["checks"][:1]
    return plan


def test_answers_without_data(tmp_path: Path) -> None:
    plan = answers(tmp_path, v="x\na\nb\n", n="y\nc\n")
    assert one(plan, tmp_path).status == "breached"
    plan["constraints"] = ["R(x, y), R(z, w) -> x = z"]
    assert "no database" in refused(plan, tmp_path).message
    plan["constraints"] = []
    plan["tables"]["R"]["rows"] = [["a", "c"]]
    assert "not what the data give" in refused(plan, tmp_path).message
    plan = answers(tmp_path, v="x,y\na,b\n", n="y\nc\n")
    assert "2 columns" in refused(plan, tmp_path).message


def test_answers_that_need_many_unseen_values(tmp_path: Path) -> None:
    """Eight people with numbers of their own, none of them seen: there is such a database."""
    (tmp_path / "v.csv").write_text("person\n" + "".join(f"p{at}\n" for at in range(8)), "utf-8")
    (tmp_path / "n.csv").write_text("yes\nyes\n", "utf-8")
    plan = boxes("N() :- R('p1', n)", "S(p, n) :- R(p, n)", ["V(p) :- R(p, n)"])
    plan["tables"] = {"R": {"columns": ["person", "number"], "key": ["number"]}}
    plan["releases"]["v0"]["answer"], plan["releases"]["n"]["answer"] = "v.csv", "n.csv"
    plan["checks"] = plan["checks"][:1]
    assert one(plan, tmp_path).status in ("holds", "undecided")


def test_a_secret_may_die_though_no_row_does(tmp_path: Path) -> None:
    """A and B split twenty values; who is paired with whom tells the split but for the side."""
    values = [f"v{at:02}" for at in range(20)]
    plan = boxes(
        "N(x, y) :- R(x), T(y); N(y, x) :- R(x), T(y)",
        "S(x) :- R(x)",
        ["V(x) :- R(x); V(x) :- T(x)"],
        ["R(x), T(x) -> false"],
    )
    for name, mine in (("R", values[:10]), ("T", values[10:])):
        plan["tables"][name] = {
            "columns": ["a"],
            "rows": [[value] for value in mine],
            "domains": {"a": values},
        }
    plan["checks"] = plan["checks"][1:]
    assert one(plan, tmp_path).status == "breached"


def test_contradictions_are_found_before_anything_is_judged(tmp_path: Path) -> None:
    plan = boxes("N() :- R(x)", "S(x) :- R(x)", constraints=["true -> R('a')", "R(x) -> false"])
    for name in ("R", "T"):
        plan["tables"][name]["domains"] = {"a": ["a", "x", "y"]}
    for check in plan["checks"]:
        next(iter(check.values()))["over"] = "domain"
    assert "no database" in refused(plan, tmp_path).message
    (tmp_path / "v.csv").write_text("x\n", "utf-8")
    (tmp_path / "yes.csv").write_text("x\nyes\n", "utf-8")
    (tmp_path / "n.csv").write_text("x\na\n", "utf-8")
    plan = boxes("N(x) :- T(x)", "S(x) :- R(x)", ["V() :- R(x)", "V(x) :- R(x)"])
    plan["tables"] = {"R": {"columns": ["a"]}, "T": {"columns": ["a"]}}
    for name, file in (("n", "n.csv"), ("v0", "yes.csv"), ("v1", "v.csv")):
        plan["releases"][name]["answer"] = file
    plan["checks"] = plan["checks"][1:]
    assert "no database" in refused(plan, tmp_path).message
    (tmp_path / "v.csv").write_text("x\na,b\n", "utf-8")
    assert "2 cells for 1 columns" in refused(plan, tmp_path).message


def test_queries_that_need_no_table(tmp_path: Path) -> None:
    for over in ("instance", "domain", "all"):
        plan = boxes("N('a') :- true; N(x) :- R(x)", "S() :- true; S() :- R('q')")
        for name in ("R", "T"):
            plan["tables"][name]["domains"] = {"a": ["x", "y"]}
        for check in plan["checks"]:
            next(iter(check.values()))["over"] = over
        assert [verdict.status for verdict in asked(plan, tmp_path)] == ["holds", "holds"]


# -- bad input -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "kind", "words"),
    [
        ({"constraints": ["RP(r, p), x != r -> false"]}, QueryError, "x is compared on the left"),
        (
            {"constraints": ["RS(r, c), RS(q, c) -> r = q"]},
            DataError,
            "RS('r1', 'c1') and RS('r2', 'c1')",
        ),
        (
            {"constraints": ["RS(r, c) -> SP(c, d), RP(r, d)", "true -> RS('r9', c)"]},
            DataError,
            "violate",
        ),
        (
            {"tables__RP__domains": {"reviewer": ["r1", "r2", "r3"]}},
            DataError,
            "row 4 of table 'RP' has 'r4' in reviewer",
        ),
        ({"tables__RP__key": ["paper"]}, DataError, "key paper of RP"),
        (
            {"tables__RP__foreign-keys": {"reviewer": "RX.reviewer"}},
            PlanError,
            "there is no table 'RX'",
        ),
        (
            {"tables__RP__foreign-keys": {"reviewer": "RS.revewer"}},
            PlanError,
            "no column 'revewer'",
        ),
        ({"tables__RP__foreign-keys": {"reviewer": "RS"}}, PlanError, "found 'RS'"),
        (
            {"secrets__reviewers": "SELECT count(*) FROM RP"},
            QueryError,
            "outside what view safety reads",
        ),
        (
            {"secrets__reviewers": "S(r) :- RP(r, p), p < 'p2'"},
            QueryError,
            "compares RP.paper by <",
        ),
        ({"secrets__reviewers": "S($x) :- RP(r, p)"}, QueryError, "$x is compared with no column"),
        (
            {
                "releases__rs": {
                    "query": "SELECT reviewer FROM RS GROUP BY reviewer HAVING count(*) > 1"
                }
            },
            QueryError,
            "outside what view safety reads",
        ),
        ({"releases__rs": {"constraint": "SP(c, p) -> RP('r1', p)"}}, DataError, "SP('c2', 'p2')"),
        ({"dictionary": ["RP"]}, PlanError, "'RP' is no column of a table"),
        ({"dictionary": ["RP.revewer"]}, PlanError, "no column 'revewer'"),
    ],
)
def test_bad_input_says_where_and_what(
    changes: dict[str, Any], kind: type[TacitError], words: str, tmp_path: Path
) -> None:
    error = refused(conference(g(), **changes), tmp_path)
    assert isinstance(error, kind) and words in error.message


def test_clients_that_get_nothing(tmp_path: Path) -> None:
    assert (
        "no release goes to 'chair'"
        in refused(conference(g(collude=[["authors", "chair"]])), tmp_path).message
    )


def test_over_domain_needs_domains(tmp_path: Path) -> None:
    assert "RS.subcom" in refused(conference(g(over="domain")), tmp_path).message


def test_constraints_that_never_end(tmp_path: Path) -> None:
    plan = boxes("N(y) :- R(x, y)", "S(x) :- R(x, y)", constraints=["R(x, y) -> R(y, z)"])
    plan["tables"] = {"R": {"columns": ["a", "b"], "rows": [["x", "x"]]}}
    error = refused(plan, tmp_path)
    assert (
        isinstance(error, QueryError) and error.code == "endless" and "R.b -> R.b" in error.message
    )
    plan["tables"]["R"]["domains"] = {"a": ["x", "y"], "b": ["x", "y"]}
    assert [verdict.status for verdict in asked(plan, tmp_path)] == ["breached", "breached"]


def test_duplicates_are_not_judged_and_that_is_said(tmp_path: Path) -> None:
    plan = conference(g(release="bag"))
    plan["releases"]["bag"] = {"query": "SELECT reviewer FROM RS"}
    verdict = one(plan, tmp_path)
    assert verdict.status == "holds"
    assert any(assumption.id == "published-as-sets" for assumption in verdict.assumptions)
    assert "DISTINCT" in verdict.warnings[0]


def test_values_beside_a_domain_of_another_table_do_not_matter(tmp_path: Path) -> None:
    """A large table with a key that nothing connects with the
    question is neither read nor grounded.
    """
    plan = conference(g())
    plan["tables"]["log"] = {"columns": ["id", "text"], "key": ["id"], "file": "no-such.csv"}
    assert one(plan, tmp_path).status == "breached"


def test_the_command_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def run() -> int:
        monkeypatch.setattr(sys, "argv", ["tacit", "check", str(tmp_path / "tacit.yaml"), "--json"])
        with pytest.raises(SystemExit) as done:
            main()
        return int(done.value.code or 0)

    (tmp_path / "tacit.yaml").write_text(yaml.safe_dump(conference(g(), e(name="odds"))), "utf-8")
    assert run() == 1
    assert [one["status"] for one in json.loads(capsys.readouterr().out)["verdicts"]] == [
        "breached",
        "breached",
    ]
    (tmp_path / "tacit.yaml").write_text(yaml.safe_dump(conference(g(over="domain"))), "utf-8")
    assert run() == 2
    assert json.loads(capsys.readouterr().out)["error"]["hint"].startswith("Add domains:")
