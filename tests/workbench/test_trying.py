"""Trying queries: what a page keeps between visits, and how parameters are read.
The page itself: tests/browser.
"""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree

import pytest

pytest.importorskip("nicegui")

from gateway.gateway_plans import HOSPITAL, policy
from tacit.errors import InputError
from tacit.gateway.policy.explanations import Explainer
from tacit.gateway.trial import PreparedPolicy
from tacit.plan.read.load import load_plan
from tacit.workbench.bench import Bench, Visit
from tacit.workbench.pages.trying import page as trying
from tacit.workbench.pages.trying import result as trying_result
from tacit.workbench.pages.trying.page import (
    MOST_TRIES,
    QueryDesk,
    QueryParameter,
    TypedQuery,
    desk_of,
    trial_of,
    values_of,
)
from tacit.workbench.pages.trying.roles import proposal


def visit(folder: Path, name: str = "s") -> Visit:
    (folder / "tacit.yaml").write_text(HOSPITAL, "utf-8")
    session: Any = SimpleNamespace(id=name, user="owner", on_end=[])
    bench = Bench(folder / "tacit.yaml", lambda text: None)
    return Visit(bench, bench.book(), session)


def test_parameters_are_values_of_their_kinds_by_place_or_by_name() -> None:
    kinds = [
        QueryParameter(kind="number", text=" -4 "),
        QueryParameter(kind="number", text="2.50"),
        QueryParameter(kind="true"),
        QueryParameter(kind="false"),
        QueryParameter(kind="null"),
        QueryParameter(text="4"),
    ]
    assert values_of(kinds) == [-4, Decimal("2.50"), True, False, None, "4"]
    assert values_of([QueryParameter("ward", text="A"), QueryParameter("age", "number", "30")]) == {
        "ward": "A",
        "age": 30,
    }
    for wrong in (
        [QueryParameter("a"), QueryParameter()],
        [QueryParameter("a"), QueryParameter("a")],
        *(
            [QueryParameter(kind="number", text=text)]
            for text in ("x", "", "1e999999999", "nan", "Infinity", "9" * 5000)
        ),
    ):
        with pytest.raises(InputError):
            values_of(wrong)


def test_parameters_reach_the_decision(tmp_path: Path) -> None:
    explainer = Explainer(policy(tmp_path))
    sql = "SELECT name FROM patients WHERE illness = $what AND age > $age"
    values = values_of([QueryParameter("what", text="flu"), QueryParameter("age", "number", "20")])
    assert explainer.decide("nurses", sql, values).decision.allowed
    assert not explainer.decide("nurses", sql, {**dict(values), "what": "cancer"}).decision.allowed  # type: ignore[call-overload]


def test_wide_lines_have_a_name_and_are_reached_by_keyboard() -> None:
    for label in ("The secret <cancer>: conditions 1", 'say "no"'):
        element = ElementTree.fromstring(trying_result.box("a < b", label, "try-wrap"))
        assert element.text == "a < b" and element.attrib == {
            "class": "try-box try-wrap",
            "tabindex": "0",
            "role": "region",
            "aria-label": label,
        }


def test_tries_are_kept_for_a_session_and_gone_with_it(tmp_path: Path) -> None:
    one = visit(tmp_path)
    other = Visit(one.bench, one.book, SimpleNamespace(id="other", user="owner", on_end=[]))  # type: ignore[arg-type]
    desk = desk_of(one)
    tried: Any = object()
    for number in range(MOST_TRIES + 5):
        desk.keep(TypedQuery("nurses", f"SELECT {number}"), tried)
    desk.keep(TypedQuery("nurses", "SELECT 7"), tried)
    assert (
        desk_of(one) is desk
        and len(desk.before) == MOST_TRIES
        and desk.before[0][0].sql == "SELECT 7"
        and desk.query.sql == "SELECT 7"
    )
    assert [query.sql for query, _ in desk.before].count("SELECT 7") == 1
    assert desk_of(other) == QueryDesk()  # somebody else sees nothing of it
    for end in one.session.on_end:
        end()
    assert desk_of(one) == QueryDesk()
    assert not list(tmp_path.rglob("*SELECT*")) and not (tmp_path / ".tacit-workbench").exists()


def test_one_process_explains_for_all_and_another_policy_has_another(tmp_path: Path) -> None:
    one = visit(tmp_path)
    found = policy(tmp_path)
    first = trial_of(one, PreparedPolicy(found, True, {}))
    assert trial_of(visit_again(one), PreparedPolicy(found, True, {})) is first
    changed = policy(
        tmp_path,
        HOSPITAL.replace("deny: [cancer], allow: [staff, flu]", "deny: [cancer], allow: [staff]"),
    )
    second = trial_of(one, PreparedPolicy(changed, True, {}))
    assert second is not first and second.policy.digest != first.policy.digest
    first.close()
    second.close()


def visit_again(before: Visit) -> Visit:
    return Visit(before.bench, before.book, before.session)


def test_a_process_that_nobody_asks_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trying, "IDLE_SECONDS", -1.0)
    ended: list[bool] = []
    monkeypatch.setattr(
        trying.threading,
        "Timer",
        lambda seconds, look: SimpleNamespace(daemon=False, start=lambda: None),
    )
    monkeypatch.setattr(trying.Trial, "close", lambda self: ended.append(True))
    trial_of(visit(tmp_path), PreparedPolicy(policy(tmp_path), True, {}))
    assert ended == [True]


def test_another_plan_and_other_data_have_another_key(tmp_path: Path) -> None:
    one = visit(tmp_path)
    key = trying.policy_key(one, one.book.plan())
    assert trying.policy_key(one, one.book.plan()) == key
    (tmp_path / "tacit.yaml").write_text(HOSPITAL + "# changed\n", "utf-8")
    assert trying.policy_key(one, one.book.plan()) != key


MICRODATA = """version: 1
tables:
  "my order": {rows: [[Ann, 30, flu], [Bob, 40, cancer]], columns: {name: text, age: integer, condition: text}, identifiers: [name], quasi-identifiers: [age], sensitive: [condition]}
releases:
  raw: {table: my order}
"""  # noqa: E501
NO_SENSITIVE = (
    "version: 1\n"
    "tables:\n"
    "  wards: {columns: {ward: text}, rows: [[A]]}\n"
    "releases:\n"
    "  raw: {table: wards}\n"
)
WITHOUT = HOSPITAL.split("roles:")[0]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (MICRODATA, ["deny: [condition]", 'allow: ["my order"]', '\\"my order\\"']),
        (
            MICRODATA.replace("raw: {table", "condition: {table"),
            ['deny: ["condition-of-my order"]', 'allow: ["my order"]'],
        ),
        (NO_SENSITIVE, ["allow: [wards]"]),
        (WITHOUT, ["deny: [cancer]", "allow: [flu]"]),
        (WITHOUT.replace("'flu'\"", '$what"'), ["deny: [cancer]", "allow: [staff]"]),
        (WITHOUT.replace("'cancer'\"", '$what"'), ["allow: [flu]"]),
    ],
)
def test_the_gateway_accepts_the_roles_that_are_proposed(
    tmp_path: Path, text: str, lines: list[str]
) -> None:
    (tmp_path / "tacit.yaml").write_text(text, "utf-8")
    proposed = proposal(load_plan(tmp_path / "tacit.yaml"))
    assert all(line in proposed for line in lines) and "raw" not in proposed
    found = policy(
        tmp_path, f"{text}{proposed}\n"
    )  # loads the plan, and reads its roles as the gateway does
    assert list(found.roles) == (["nurses", "clerks"] if "nurses" in proposed else ["clerks"])
