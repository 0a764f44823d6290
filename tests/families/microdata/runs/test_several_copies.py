"""tacit attack tells what several copies of one table leave of somebody's values."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from checking.keeping import plan_of
from tacit.families.microdata.attacks.stories import Story
from tacit.families.microdata.runs.attack import attack

PEOPLE = [
    ["Ann", 21, "A1", "flu"],
    ["Bob", 24, "A2", "asthma"],
    ["Cat", 22, "B1", "asthma"],
    ["Dan", 27, "B2", "asthma"],
    ["Eve", 33, "A1", "gout"],
    ["Fay", 38, "A2", "flu"],
    ["Gus", 31, "B1", "gout"],
    ["Hal", 36, "B2", "asthma"],
]
PLAN: dict[str, Any] = {
    "version": 1,
    "tables": {
        "patients": {
            "columns": ["name", "age", "zone", "condition"],
            "rows": PEOPLE,
            "key": ["name"],
            "identifiers": ["name"],
            "quasi-identifiers": ["age", "zone"],
            "sensitive": ["condition"],
            "hierarchies": {"age": {"ranges": [10]}, "zone": {"mask": "right"}},
        }
    },
    "releases": {
        "april": {"table": "patients", "generalization": {"age": 1, "zone": 2}, "to": ["bank"]},
        "may": {"table": "patients", "generalization": {"age": 2, "zone": 1}, "to": ["bank"]},
    },
    "published": ["april"],
}


def story(target: str | None = None, **more: Any) -> Story | None:
    found = attack(plan_of({**PLAN, **more}), "may", target=target)
    return next((one for one in found.stories if one.attack == "second release"), None)


def test_the_story_goes_from_each_copy_to_both() -> None:
    told = story()
    assert told is not None and told.person is not None
    assert told.person.identity == {"name": "Cat"} and told.value == "asthma"
    assert [one.belief for one in told.steps] == [
        Fraction(1, 2),
        Fraction(3, 4),
        Fraction(3, 4),
        Fraction(1),
    ]
    assert told.facts == {"releases": ["april", "may"], "fewer": 4, "certain": 2, "people": 8}
    assert told.text is not None and "Cat" in told.text
    assert "Cat" not in str(told.to_json("shared"))


def test_a_target_has_a_story_of_their_own() -> None:
    told = story("Ann")
    assert told is not None and told.person is not None
    assert told.person.identity == {"name": "Ann"} and told.after == Fraction(1, 2)
    assert told.text is not None and "is left with asthma or flu" in told.text


def test_where_nobody_has_another_copy_there_is_no_such_story() -> None:
    other = {**PLAN["releases"], "april": {**PLAN["releases"]["april"], "to": ["press"]}}
    assert story(releases=other) is None
    assert story(published=[]) is None
