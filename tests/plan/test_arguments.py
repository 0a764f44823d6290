"""What Python code gives is read like a plan: exactly, without text in between, and errors name the
argument.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest

import tacit
from tacit.errors import TacitError
from tacit.model.schema import FlatHierarchy
from tacit.plan.read.arguments import Arguments, plan_value
from tacit.plan.read.document import Faults, read_document
from tacit.plan.read.load import load_plan, read_plan

EXAMPLE_PLANS = [
    path
    for path in sorted((Path(__file__).parents[2] / "examples").glob("*/*.yaml"))
    if "version: 1\n" in path.read_text("utf-8")  # others are of other programs
]

STAYS = {"columns": ["name", "ward"], "rows": [["Ann", "w1"]], "domains": {"ward": ["w1", "w2"]}}
JOBS = pandas.DataFrame({"work": ["mill"] * 3, "home": ["north", "north", "south"]})


def safety(**given: Any) -> Any:
    usual: dict[str, Any] = {
        "secret": "S(n) :- stays(n, 'w1')",
        "new": "N(w) :- stays(n, w)",
        "tables": {"stays": STAYS},
    }
    return tacit.view_safety(**{**usual, **given})


def people(**given: Any) -> Any:
    usual: dict[str, Any] = {"group": "work", "value": "home", "domain": ["north", "south"]}
    return tacit.synthesize(JOBS, **{**usual, "epsilon": 1, "delta": 0, **given})


def generalized(**given: Any) -> Any:
    usual: dict[str, Any] = {"quasi_identifiers": ["work"], "sensitive": "home"}
    usual["hierarchies"] = {"work": FlatHierarchy()}
    return tacit.check(JOBS, tacit.KAnonymity(k=2), **{**usual, **given})


def coarser(**given: Any) -> Any:
    usual: dict[str, Any] = {"quasi_identifiers": ["work"], "hierarchies": {"work": "*"}}
    return tacit.anonymize(JOBS, [tacit.KAnonymity(k=2)], **{**usual, **given})


def viewed(**given: Any) -> Any:
    usual: dict[str, Any] = {"views": ["SELECT home FROM data"], "key": "work"}
    definitions = [tacit.GammaPrivacy(gamma=1)]
    return tacit.overlapping_views(
        JOBS, definitions=definitions, sensitive="home", **{**usual, **given}
    )


def nested() -> dict[str, Any]:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    return loop


WRONG: list[tuple[Callable[..., Any], str, Any, str]] = [
    (safety, "over", "some", "over: found 'some' in 'over'."),
    (safety, "seconds", -1, "seconds: -1 seconds are no time."),
    (safety, "fresh", "a", "fresh: found 'a' in 'fresh'."),
    (safety, "new", "SELEC", "new:1:1: SELEC is not a query."),
    (safety, "secret", "SELEC", "secret:1:1: SELEC is not a query."),
    (safety, "tables", {"stays": {**STAYS, "kye": 3}}, "tables['stays']['kye']: unknown key"),
    (
        safety,
        "tables",
        {"stays": {**STAYS, "rows": [["Ann"]]}},
        "tables['stays']['rows'][0]: this row has 1 cells",
    ),
    (safety, "tables", nested(), "view_safety: an argument is nested deeper than"),
    (safety, "constraints", ["x"], "constraints[0]: 'x'"),
    (people, "epsilon", -1, "epsilon: found the number -1 in 'epsilon'."),
    (people, "domain", {"fiel": "x"}, "domain['fiel']: unknown key"),
    (people, "mechanism", "laplace", "mechanism: found 'laplace'"),
    (generalized, "hierarchies", {"work": 3}, "hierarchies['work']: found the number 3"),
    (generalized, "quasi_identifiers", ["home"], "sensitive[0]: 'home' is in 'sensitive' and"),
    (generalized, "generalization", {"home": 1}, "generalization['home']: 'home' is not a quasi"),
    (generalized, "generalization", {"work": 2}, "generalization['work']: 'work' has no level 2"),
    (coarser, "method", "mondrain", "method: found 'mondrain' in 'method'. Did you mean"),
    (coarser, "suppress", 2, "suppress: found the number 2"),
    (coarser, "utility", "los", "utility: found 'los'"),
    (coarser, "weights", {"work": -1}, "weights['work']: a weight cannot be negative"),
    (coarser, "at_most", {"wrok": 1}, "at_most['wrok']: 'wrok' is not a quasi-identifier"),
    (viewed, "views", ["SELEC"], "views[0]: SELEC is not a query."),
    (viewed, "views", {"first": "SELEC"}, "views['first']: SELEC is not a query."),
    (viewed, "key", 3, "key: found the number 3 in 'key'."),
]


@pytest.mark.parametrize(("function", "argument", "value", "says"), WRONG)
def test_an_error_names_the_argument(
    function: Callable[..., Any], argument: str, value: Any, says: str
) -> None:
    with pytest.raises(TacitError) as caught:
        function(**{argument: value})
    text = str(caught.value)
    assert text.startswith(says) and "yaml" not in text.lower()


def test_numbers_stay_exact_and_arrays_are_lists() -> None:
    assert plan_value([0.1, Fraction(1, 3), Decimal("0.10"), 10**70, float("nan")]) == [
        Decimal("0.1"),
        "1/3",
        Decimal("0.10"),
        Decimal(10**70),
        "nan",
    ]
    assert plan_value(np.array([1, 2])) == plan_value(pandas.Series([1, 2])) == [1, 2]
    assert plan_value({1: np.float64(0.5), "day": datetime.date(2020, 1, 2)}) == {
        "1": Decimal("0.5"),
        "day": "2020-01-02",
    }
    assert type(plan_value(np.int64(3))) is int and plan_value(np.bool_(True)) is True
    third = Fraction(1, 3)
    assert people(epsilon=third).verdicts[0].required["epsilon"] == third
    assert [one.status for one in safety(seconds=np.int64(9))] == ["breached", "breached"]


@pytest.mark.parametrize("path", EXAMPLE_PLANS)
def test_a_plan_given_as_values_is_the_plan_of_the_file(path: Path) -> None:
    document = read_document(path)
    given = Arguments(str(path), document.values(Faults(document)), {})
    by_values, by_file = read_plan(given, path.parent), load_plan(path)
    for name in ("tables", "releases", "checks", "secrets", "roles", "constraints", "published"):
        assert getattr(by_values, name) == getattr(by_file, name)
