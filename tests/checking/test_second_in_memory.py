"""Copies of a data frame that are published, judged together with a new one in Python."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

import pandas
import pytest

import tacit
from oracles import together as oracle
from tacit.errors import DataError, ParameterError, PlanError

PEOPLE = pandas.DataFrame(
    {
        "age": [21, 24, 22, 27, 33, 38, 31, 36],
        "zone": ["A1", "A2", "B1", "B2", "A1", "A2", "B1", "B2"],
        "condition": ["flu", "asthma", "asthma", "asthma", "gout", "flu", "gout", "asthma"],
    }
)
ROLES: dict[str, Any] = {
    "quasi_identifiers": ["age", "zone"],
    "sensitive": "condition",
    "hierarchies": {"age": {"ranges": [10]}, "zone": {"mask": "right"}},
    "generalization": {"age": 2, "zone": 1},
}
APRIL = PEOPLE.assign(age=PEOPLE.age.map(lambda age: f"{age // 10}0-{age // 10}9"), zone="*")
DISTINCT = tacit.LDiversity(kind="distinct", l=2)


def check(definition: Any = DISTINCT, data: Any = PEOPLE, **more: Any) -> Any:
    return tacit.check(data, definition, **{**ROLES, **more})


@pytest.mark.parametrize(
    "out", [APRIL, APRIL.sample(frac=1, random_state=1), {"age": 1, "zone": 2}]
)
def test_a_copy_that_is_out_is_given_as_a_table_or_by_its_levels(out: Any) -> None:
    assert check().status == "holds"
    found = check(published=[out])
    assert found.status == "breached" and found.measured == {"l": 1}
    assert found.subject == {"release": "data", "given": ["published"]}


def test_two_copies_that_are_out_count_both() -> None:
    found = check(published=[{"age": 2, "zone": 2}, APRIL])
    assert found.status == "breached"
    assert found.subject["given"] == ["published 1", "published 2"]


def test_polars_and_arrow_tables_are_taken_too() -> None:
    polars = pytest.importorskip("polars")
    assert check(
        data=polars.from_pandas(PEOPLE), published=[polars.from_pandas(APRIL)]
    ).measured == {"l": 1}


@pytest.mark.parametrize(
    ("out", "why"),
    [
        (APRIL.iloc[1:], "published has 7 rows, and table data 8"),
        (APRIL.assign(age="young"), "'young' is a label of no level"),
        (APRIL.assign(condition=["gout", *APRIL.condition[1:]]), "stands once in the published"),
        (APRIL.assign(ward=1), "has a column 'ward'"),
    ],
)
def test_a_copy_that_does_not_fit_is_an_error(out: Any, why: str) -> None:
    with pytest.raises(DataError, match=why.replace(" in the published", "")):
        check(published=[out])


def test_what_is_out_is_a_list_of_levels_of_the_table() -> None:
    with pytest.raises(ParameterError, match="published is a list"):
        check(published=APRIL)
    with pytest.raises(PlanError, match="not a quasi-identifier"):
        check(published=[{"salary": 1}])
    for level in ("1", True, 1.0, -1, 9):
        with pytest.raises(PlanError, match=r"published\[0\]"):
            check(published=[{"age": level}])


def test_the_table_is_not_called_like_a_copy_of_it() -> None:
    for name in ("published", "tacit published"):
        with pytest.raises(ParameterError, match="a copy that is published is called"):
            check(published=[APRIL], name=name)
    assert check(published=[APRIL], name="published 1").status == "breached"


def test_what_says_who_is_who_is_among_the_assumptions() -> None:
    def assumed(out: Any, **more: Any) -> set[str]:
        found = check(data=PEOPLE.assign(id=range(8)), published=[out], **more)
        return {one.id for one in found.assumptions} & {"same-rows", "same-key"}

    assert assumed(APRIL) == {"same-rows"}
    assert assumed(APRIL, key="id") == {"same-rows"}
    assert assumed({"age": 1, "zone": 2}, key="id") == set()
    assert assumed(APRIL.assign(id=range(8)), key="id") == {"same-key"}
    assert assumed(APRIL.assign(id=range(8)), person="id") == {"same-key"}


def test_copies_with_a_key_and_levels_are_judged_together() -> None:
    data = PEOPLE.assign(id=range(8))
    found = check(
        data=data, key="id", published=[{"age": 1, "zone": 2}, data.assign(age="*", zone="*")]
    )
    assert found.status == "breached" and found.measured == {"l": 1}


def test_what_is_not_defined_for_several_is_undecided() -> None:
    found = check(tacit.CKSafety(c=0.9, k=1), published=[{"age": 2, "zone": 2}])
    assert found.status in ("undecided", "breached")
    found = check(tacit.KAnonymity(k=2, missing="match-any"), published=[{"age": 2, "zone": 2}])
    assert found.status == "undecided" and found.reason is not None
    assert found.reason.code == "does-not-compose"


# -- people who joined or left ---------------------------------------------------------------------


def snapshots(
    rng: random.Random,
) -> tuple[pandas.DataFrame, pandas.DataFrame, list[Any], list[Any]]:
    """A table, a copy of what it was, and both as the oracle takes them."""
    many = rng.randint(3, 7)
    values = [rng.choice("uvw") for _ in range(many)]
    now = [rng.random() < 0.8 for _ in range(many)]
    now[0] = True
    then = [rng.random() < 0.8 or not now[at] for at in range(many)]
    seen = {values[at] for at in range(many) if now[at]}
    values = [one if one in seen else values[0] for one in values]
    groups = [rng.choice("xy") for _ in range(many)]
    labels = [rng.choice(["p", "q"]) for _ in range(many)]
    data = pandas.DataFrame(
        [(at, groups[at], values[at]) for at in range(many) if now[at]],
        columns=["id", "group", "value"],
    )
    out = pandas.DataFrame(
        [(at, labels[at], values[at]) for at in range(many) if then[at]],
        columns=["id", "group", "value"],
    )
    releases = [
        oracle.Release([labels[at] if then[at] else None for at in range(many)], [0]),
        oracle.Release([groups[at] if now[at] else None for at in range(many)], [0]),
    ]
    return data, out, [(one,) for one in values], releases


@pytest.mark.slow
@pytest.mark.parametrize(
    ("definition", "kind", "asked"),
    [
        (tacit.LDiversity(kind="distinct", l=2), "l-diversity", {"kind": "distinct", "l": 2}),
        (tacit.KAnonymity(k=2), "k-anonymity", {"k": 2}),
        (tacit.AlphaK(alpha="0.9", k=1), "alpha-k", {"alpha": Fraction(9, 10), "k": 1}),
    ],
)
def test_with_a_key_people_may_have_joined_or_left(definition: Any, kind: str, asked: Any) -> None:
    rng, seen = random.Random(5), set()
    for _ in range(40):
        data, out, values, releases = snapshots(rng)
        if not {*data.id} & {*out.id}:
            continue
        found = tacit.check(
            data,
            definition,
            quasi_identifiers=["group"],
            sensitive="value",
            key="id",
            published=[out],
        )
        breaks = oracle.fails(kind, asked, {})
        known = oracle.known(values, releases)
        assert found.status == ("breached" if any(map(breaks, known)) else "holds"), str(found)
        seen.add(found.status)
    assert seen == {"breached", "holds"}


def test_what_a_key_cannot_match_is_an_error() -> None:
    now = pandas.DataFrame({"id": [1, 2], "zone": ["a", "a"], "value": ["u", "v"]})
    then = pandas.DataFrame({"id": [1, 3], "zone": ["*", "*"], "value": ["u", "v"]})
    roles: dict[str, Any] = {"quasi_identifiers": ["zone"], "sensitive": "value", "key": "id"}
    definition = tacit.KAnonymity(k=2)
    for out, why in (
        (then.assign(value=["v", "v"]), "value of 1 person is another one in published"),
        (then.assign(id=[1, 1]), "1 row of published with the id of another"),
        (then.assign(id=[1, None]), "has no id"),
        (then.assign(value=["u", "w"]), "1 value of value that nobody has now"),
        (then.drop(columns="value"), "does not show their value"),
        (then.assign(ward=1), "has a column 'ward'"),
        (then.assign(id=["1", "3"]), "nobody of published is in data, by id"),
        (then.iloc[:0], "nobody of published is in data, by id"),
    ):
        with pytest.raises(DataError, match=why):
            tacit.check(now, definition, published=[out], **roles)


def test_who_left_before_the_last_copy_is_known_by_another_one() -> None:
    now = pandas.DataFrame({"id": [1, 2], "zone": ["a", "a"], "value": ["u", "v"]})
    between = pandas.DataFrame({"id": [2, 3], "zone": ["a", "a"], "value": ["v", "u"]})
    first = pandas.DataFrame({"id": [3, 4], "zone": ["a", "b"], "value": ["u", "v"]})
    roles: dict[str, Any] = {"quasi_identifiers": ["zone"], "sensitive": "value", "key": "id"}
    found = tacit.check(now, DISTINCT, published=[first, between], **roles)
    assert found.status == "breached" and found.witness is not None
    assert found.witness.facts["people"] == 4 and found.witness.facts["people_below"] == 4
    with pytest.raises(DataError, match="nobody of published is in data"):
        tacit.check(now, DISTINCT, published=[first], **roles)


def test_a_quasi_identifier_may_be_part_of_the_key() -> None:
    now = pandas.DataFrame({"id": [1, 1], "zone": ["a", "b"], "value": ["u", "v"]})
    roles: dict[str, Any] = {
        "quasi_identifiers": ["zone"],
        "sensitive": "value",
        "key": ["id", "zone"],
        "hierarchies": {"zone": "*"},
        "generalization": {"zone": 1},
    }
    found = tacit.check(now, DISTINCT, published=[now], **roles)
    assert found.status == "breached" and found.measured == {"l": 1}
