"""A policy pack stands for its checks, says what it covers, and promises nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import TacitError
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan
from tacit.plan.read.policies import built_in, load_policy

PLAN = """version: 1
tables:
  people: {columns: {zip: text, ill: text}, rows: [["1", flu], ["1", cold]], quasi-identifiers: [zip], sensitive: [ill]}
releases: {april: {table: people}, may: {table: people}}
checks:
- k-anonymity: {release: april, k: 2, name: first}
INCLUDE
- k-anonymity: {release: april, k: 3, name: last}
"""  # noqa: E501
HOUSE = """title: Rules of the house
source: The board
seen: The decision
checks:
- k-anonymity: {name: groups, k: 2}
covers:
- {clause: section 2, by: groups, how: 2-anonymity}
not-covered: [section 3]
"""


def plan_with(folder: Path, *includes: str) -> Plan:
    path = folder / "tacit.yaml"
    path.write_text(PLAN.replace("INCLUDE", "\n".join(f"- include: {one}" for one in includes)))
    return load_plan(path)


@pytest.mark.parametrize("name", built_in())
def test_every_pack_can_be_included_and_every_check_covers_a_clause(
    name: str, tmp_path: Path
) -> None:
    plan, policy = plan_with(tmp_path, f"{{policy: {name}, release: april}}"), load_policy(name)
    names = [check.name for check in plan.checks]
    own = [next(iter(one.values()))["name"] for one in policy.checks]
    assert names == ["first", *(f"{name}/{one}" for one in own), "last"]
    assert {one.by for one in policy.covers} == set(own) and policy.not_covered
    assert "complian" not in str(policy.to_json()).lower()
    assert plan.policies == {name: name}


def test_a_pack_included_twice_needs_names_that_differ(tmp_path: Path) -> None:
    april, may = "{policy: wp216, release: april}", "{policy: wp216, release: may"
    with pytest.raises(TacitError, match=r"two checks are named .* packs its own name"):
        plan_with(tmp_path, april, may + "}")
    plan = plan_with(tmp_path, april, may + ", name: in-may}")
    assert [one.name for one in plan.checks][3:5] == ["in-may/singling-out", "in-may/inference"]


def test_two_packs_never_have_one_name(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text(HOUSE)
    own = "{policy: house.yaml, release: april, name: wp216}"
    with pytest.raises(TacitError, match=r"another policy is named 'wp216' too"):
        plan_with(tmp_path, "{policy: wp216, release: april}", own)


def test_an_own_pack_is_a_file_of_the_owner(tmp_path: Path) -> None:
    (tmp_path / "house.yaml").write_text(HOUSE)
    plan = plan_with(tmp_path, "{policy: house.yaml, releases: [april]}")
    assert plan.checks[1].name == "house/groups" and plan.checks[1].parameters == {"k": 2}
    assert tmp_path / "house.yaml" in owners_files(plan)


@pytest.mark.parametrize(
    ("include", "said"),
    [
        ("wp216", "found 'wp216' in 'include'"),
        ("{policy: wp216}", "include needs 'policy' and 'release'"),
        ("{policy: wp21, release: april}", "there is no policy 'wp21'. Did you mean 'wp216'?"),
        ("{policy: wp216, release: april, k: 3}", "include takes no 'k'"),
        ("{policy: wp216, release: june}", "june"),
        ("{policy: wp216, release: [april, may]}", "tacit.yaml:7:28: k-anonymity judges one"),
        ("{policy: none.yaml, release: april}", "there is no policy 'none.yaml'"),
    ],
)
def test_a_wrong_include_is_refused_at_its_place(include: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(TacitError) as error:
        plan_with(tmp_path, include)
    assert said in str(error.value) and "tacit.yaml:7:" in str(error.value)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("k: 2}", "k: two}", "house.yaml:5"),
        ("k: 2}", "k: 2, release: april}", "a check of a policy has no 'release'"),
        ("name: groups, ", "", "needs a kind and a name"),
        ("by: groups", "by: group", "no check of the policy is named 'group'"),
        ("seen: The decision\n", "", "a policy needs the key 'seen'"),
        ("title", "titel", "unknown key 'titel'"),
        ("- k-anonymity: {name: groups, k: 2}", "- include: {name: groups}", "no check 'include'"),
        (HOUSE, "[1]", "not a mapping"),
        ("not-covered: [section 3]", "not-covered: [[3]]", "not-covered"),
        ("covers:\n- {clause: section 2, by: groups, how: 2-anonymity}", "covers: 3", "covers"),
    ],
)
def test_a_wrong_pack_is_refused_at_its_own_place(
    old: str, new: str, said: str, tmp_path: Path
) -> None:
    (tmp_path / "house.yaml").write_text(HOUSE.replace(old, new))
    with pytest.raises(TacitError) as error:
        plan_with(tmp_path, "{policy: house.yaml, release: april}")
    assert said in str(error.value) and "house.yaml:" in str(error.value)
