"""Python as people expect it: names, signatures, results that show themselves, errors that name
arguments.
"""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import pandas
import polars
import pytest

import tacit
from tacit.api.definition_arguments import PARAMETERS, parameters_of
from tacit.errors import TacitError
from tacit.families.catalog import CHECKS, kinds_of

PEOPLE = pandas.DataFrame(
    {
        "name": ["Bruce", "Ann", "Cy", "Dee"],
        "zip": ["13053", "13053", "13068", "13068"],
        "age": [28, 29, 31, 37],
        "condition": ["flu", "flu", "cold", "cough"],
    }
)
ROLES: dict[str, Any] = {"quasi_identifiers": ["zip", "age"], "sensitive": "condition"}
LEVELS: dict[str, Any] = {"zip": {"mask": "right"}, "age": {"ranges": [10]}}


def anonymized(data: Any = PEOPLE) -> Any:
    return tacit.anonymize(data, tacit.KAnonymity(k=2), hierarchies=LEVELS, **ROLES)


def results() -> dict[str, Any]:
    jobs = PEOPLE.rename(columns={"zip": "work"})
    views = ["SELECT condition FROM data WHERE age < 30", "SELECT condition FROM data"]
    return {
        "verdict": tacit.check(PEOPLE, "k-anonymity", k=2, **ROLES),
        "assessment": tacit.check_all(PEOPLE, [tacit.KAnonymity(k=2)], **ROLES),
        "anonymized": anonymized(),
        "nothing": tacit.anonymize(PEOPLE, tacit.KAnonymity(k=9), **ROLES),
        "attack": tacit.attack(PEOPLE, person="name", target="Bruce", **ROLES),
        "profile": tacit.profile(PEOPLE),
        "views": tacit.restore(PEOPLE, views, gamma="3/4", key="name", sensitive="condition"),
        "synthetic": tacit.synthesize(jobs, group="work", value="condition", epsilon=1, delta=0),
    }


RESULTS = results()


def test_only_public_names_are_listed_and_each_is_there() -> None:
    shown = [name for name in dir(tacit) if not name.startswith("__")]
    assert shown == tacit.__all__
    assert all(getattr(tacit, name) is not None for name in shown)


def test_every_parameter_of_every_check_is_in_the_signature() -> None:
    taken = inspect.signature(tacit.check).parameters
    shared = set(inspect.signature(tacit.check_all).parameters) - {"definitions"}
    assert not (PARAMETERS | shared) - set(taken)
    for name in ("check", "check_all", "anonymize", "attack", "profile", "restore", "synthesize"):
        signature = inspect.signature(getattr(tacit, name))
        assert all(one.kind is not one.VAR_KEYWORD for one in signature.parameters.values()), name


EXAMPLES: dict[str, dict[str, Any]] = {
    "k-anonymity": {"k": 2},
    "l-diversity": {"kind": "distinct", "l": 2},
    "t-closeness": {"t": 0.5},
    "alpha-k": {"alpha": 0.5, "k": 2},
    "k-e": {"k": 2, "e": 3},
    "eps-m": {"epsilon": 3, "m": 2},
    "variance": {"v": 1},
    "m-invariance": {"m": 2, "kind": "values"},
    "c-k-safety": {"c": 0.5, "k": 1},
    "skyline": {"l": 1, "k": 1, "m": 0, "c": 0.5},
    "rho1-rho2": {"rho1": 0.1, "rho2": 0.5},
    "dissimilarity": {"epsilon": 0.1, "delta": 0.5, "k": 2},
    "semantic": {"measure": {"positive": 0.5}},
    "risk": {"at_most": 0.5},
}


@pytest.mark.parametrize("kind", kinds_of("microdata"))
def test_every_check_can_be_asked_by_its_name(kind: str) -> None:
    given = EXAMPLES[kind]
    named = tacit.check(PEOPLE, kind, quasi_identifiers="zip", sensitive="age", **given)
    assert named.check == kind and set(given) <= {
        one.name.replace("-", "_") for one in parameters_of(CHECKS[kind])
    }


@pytest.mark.parametrize("kind", RESULTS)
def test_a_result_shows_itself_in_a_line_that_names_nobody(kind: str) -> None:
    shown = repr(RESULTS[kind])
    assert "\n" not in shown and len(shown) < 300
    assert not [one for one in ("Bruce", "13053", "flu", "cough") if one in shown]


@pytest.mark.parametrize("kind", RESULTS)
def test_a_notebook_gets_html_that_loads_nothing(kind: str) -> None:
    html = RESULTS[kind]._repr_html_()
    assert html.startswith("<div>") and "<script" not in html and "http" not in html
    json.dumps(RESULTS[kind].to_json())


def test_a_value_is_escaped_in_html() -> None:
    odd = PEOPLE.assign(condition="<script>alert(1)</script>")
    assert "<script" not in tacit.attack(odd, **ROLES)._repr_html_()
    assert "<script" not in tacit.profile(odd.rename(columns={"age": "<script>"}))._repr_html_()


@pytest.mark.parametrize("kind", ["verdict", "assessment", "anonymized", "attack", "profile"])
def test_a_result_is_drawn_as_a_chart(kind: str) -> None:
    altair = pytest.importorskip("altair", reason="needs the extra notebook")
    chart = RESULTS[kind].plot()
    assert isinstance(chart, altair.LayerChart) and chart.to_dict()["layer"]


def test_the_picture_has_what_was_measured_and_what_is_required() -> None:
    (gauge,) = RESULTS["verdict"].gauges()
    assert (gauge.value, gauge.border, gauge.tone) == (1, 2, "breached")


def test_what_does_not_hold_is_raised_with_its_verdicts() -> None:
    with pytest.raises(tacit.NotMet, match="2-anonymity is breached") as caught:
        RESULTS["verdict"].raise_for_status()
    assert caught.value.verdicts == (RESULTS["verdict"],)
    with pytest.raises(tacit.NotMet):
        RESULTS["assessment"].raise_for_status()
    with pytest.raises(tacit.NotMet):
        RESULTS["nothing"].raise_for_status()
    RESULTS["anonymized"].raise_for_status()
    tacit.check(PEOPLE, "k-anonymity", k=2, quasi_identifiers="zip").raise_for_status()


def test_what_is_waived_is_not_raised(tmp_path: Path) -> None:
    plan = tmp_path / "tacit.yaml"
    plan.write_text(
        "version: 1\n"
        "tables: {t: {quasi-identifiers: [zip], columns: [zip], rows: [['1'], ['2']]}}\n"
        "releases: {april: {table: t}}\n"
        "checks: [k-anonymity: {release: april, k: 2, name: mine}]\n"
    )
    with pytest.raises(tacit.NotMet, match="2-anonymity is breached"):
        tacit.load(plan).check().raise_for_status()
    plan.write_text(
        plan.read_text() + "waive: [{check: mine, reason: a test, by: Ann, until: 2999-01-01}]\n"
    )
    waived = tacit.load(plan).check()
    assert waived.exit_status == 0 and waived[0].status == "breached"
    waived.raise_for_status()


def test_undecided_is_not_met() -> None:
    verdict = tacit.Verdict("a", "a", {}, "undecided", "no time", tacit.Reason("budget", "none"))
    with pytest.raises(tacit.NotMet, match="undecided: no time"):
        verdict.raise_for_status()


def test_an_assessment_is_a_frame() -> None:
    frame = RESULTS["assessment"].to_frame()
    assert frame.loc[0, "status"] == "breached" and frame.loc[0, "measured"] == {"k": 1}


def test_numbers_are_numbers() -> None:
    assert isinstance(RESULTS["anonymized"].loss, float) and RESULTS["nothing"].loss is None


def test_the_table_is_of_the_kind_that_came_in() -> None:
    frame = polars.from_pandas(PEOPLE)
    assert isinstance(anonymized().table, pandas.DataFrame)
    assert isinstance(anonymized(frame).table, polars.DataFrame)
    assert type(anonymized(frame.to_arrow()).table).__module__ == "pyarrow.lib"


def test_the_transformer_takes_the_rows_that_it_was_fitted_to() -> None:
    made = tacit.KAnonymizer(k=2, sensitive="condition", hierarchies=LEVELS)
    assert len(made.fit_transform(PEOPLE)) == 4
    assert len(made.transform(PEOPLE.copy())) == 4
    with pytest.raises(TacitError, match="other rows"):
        made.transform(PEOPLE.iloc[:2])
    with pytest.raises(tacit.NotMet):
        tacit.KAnonymizer(k=9, hierarchies=LEVELS).fit(PEOPLE)
    with pytest.raises(TacitError, match="after fit"):
        tacit.KAnonymizer(hierarchies=LEVELS).transform(PEOPLE)
    require = tacit.LDiversity(kind="distinct", l=2)
    alone = tacit.KAnonymizer(k=2, require=require, sensitive="condition", hierarchies=LEVELS)
    assert [one.check for one in alone.fit(PEOPLE).result_.verdicts][1] == "l-diversity"
    again = tacit.KAnonymizer().set_params(**made.get_params())
    assert again.get_params() == made.get_params()


def test_a_y_that_would_not_line_up_is_refused() -> None:
    made = tacit.KAnonymizer(
        k=2, sensitive="condition", insensitive="name", person="name", hierarchies=LEVELS
    )
    assert sorted(made.fit_transform(PEOPLE)["name"]) == sorted(PEOPLE["name"])
    for call in (made.fit, made.fit_transform):
        with pytest.raises(TacitError, match="y would not line up"):
            call(PEOPLE, [1, 0, 1, 0])


def test_the_transformer_is_one_of_scikit_learn() -> None:
    pytest.importorskip("sklearn", reason="no scikit-learn: pip install scikit-learn")
    from sklearn.base import clone
    from sklearn.pipeline import make_pipeline

    made = make_pipeline(clone(tacit.KAnonymizer(k=2, hierarchies=LEVELS)))
    assert "KAnonymizer" in made._repr_html_()
    assert len(made.fit_transform(PEOPLE)) == 4


WRONG: list[tuple[Any, dict[str, Any], str]] = [
    ("k-anonymity", {}, "k-anonymity needs k. Write for example k=4."),
    ("k-anonimity", {"k": 2}, "Did you mean 'k-anonymity'?"),
    ("l-diversity", {"l": 2}, 'Write for example kind="distinct".'),
    ("k-anonymity", {"k": 2, "t": 1}, "k-anonymity does not take t."),
    (tacit.KAnonymity, {}, "KAnonymity is a class, not a definition."),
    (tacit.KAnonymity(k=2), {"k": 3}, "Write KAnonymity(k=...)."),
    (["k-anonymity"], {}, "definition[0]: 'k-anonymity' is a text"),
    (3, {}, "this is a value of type int, not a definition."),
    (tacit.GammaPrivacy(gamma=1), {}, "gamma-privacy does not judge one table."),
    ("t-closeness", {"t": 1, "sensitive": ()}, 'Give for example sensitive="condition".'),
    ("t-closeness", {"t": 1, "sensitive": ["condition", "name"]}, "judges one sensitive column"),
    ("k-anonymity", {"k": 2, "sensitive": "conditon"}, "Did you mean 'condition'?"),
    ("k-anonymity", {"k": 2, "quasi_identifiers": ["zp"]}, "quasi_identifiers[0]: the table has"),
    ("k-anonymity", {"k": 2, "key": "id"}, "key[0]: the table has no column 'id'."),
    ("k-anonymity", {"k": 2, "sensitive": "zip"}, "in 'quasi_identifiers'. A column has one role"),
    ("k-anonymity", {"k": 2, "hierarchies": "zip.csv"}, 'e.g. {"zip": "zip.csv"}.'),
    ("k-anonymity", {"k": 2, "hierarchies": {"zip": {"mask": 1}}}, "hierarchies['zip']"),
    ("k-anonymity", {"k": 2, "generalization": {"zip": 1}}, 'e.g. {"zip": "zip.csv"} or'),
    ("k-anonymity", {"k": 2, "quasi_identifiers": [0]}, "quasi_identifiers[0]: 0 is no text"),
    ("k-anonymity", {"k": 2, "quasi_identifiers": None}, "or [] for none."),
    ("k-anonymity", {"k": 2, "published": [PEOPLE.head(2)]}, "published[0]: published has 2 rows"),
    ("k-anonymity", {"k": 2, "published": PEOPLE}, "Write published=[copy]."),
    ("k-anonymity", {"k": 2, "hierarchies": {"zip": "z.csv"}}, "in Python at the current one."),
    ([], {}, "definition is empty, and nothing would be checked."),
    ("k-anonymity", {"k": 2, "sensitive": PEOPLE["condition"]}, 'Write sensitive="condition".'),
    ("k-anonymity", {"k": 2, "quasi_identifiers": [("a", "b")]}, '["_".join(map(str, one)) for'),
    ("k-anonymity", {"k": 2, "distances": {"conditon": "discrete"}}, "distances['conditon']: the"),
    ("k-anonymity", {"k": 2, "published": [{"zip": "1"}]}, "published[0]['zip']: found '1'"),
    ("k-anonymity", {"k": 2, "name": 3}, "name is 3, and a table is called by text."),
    ("k-anonymity", {"k": "1/2"}, "k=0.5 is not a whole number."),
    ("risk", {"at_most": 2}, "at_most=2 is out of range. Use 0 < at_most <= 1."),
    ("l-diversity", {"kind": "distinct", "l": 2, "dont_care": ["flu"]}, "Leave dont_care out, or"),
    ("semantic", {"measure": 0.5}, 'Write for example measure={"positive": 0.5}.'),
    ("t-closeness", {"t": 1, "distance": "hierarchical"}, 'or use distance="equal".'),
]


@pytest.mark.parametrize(("definition", "given", "says"), WRONG)
def test_an_error_names_the_argument_and_what_to_write(
    definition: Any, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(TacitError) as caught:
        tacit.check(PEOPLE, definition, **{**ROLES, **given})
    assert says in str(caught.value) and "yaml" not in str(caught.value).lower()


VIEWS = ["SELECT condition FROM data WHERE age < 30"]
OVERLAPPING: dict[str, Any] = {"key": "name", "sensitive": "condition"}
SYNTHETIC = {"group": "zip", "value": "condition", "epsilon": 1, "delta": 0}
STAYS = {"stays": ["name", "ward"]}
ELSEWHERE: list[tuple[str, dict[str, Any], str]] = [
    ("attack", {**ROLES, "link": PEOPLE}, "link: a value of type DataFrame is no path of a file."),
    ("attack", {**ROLES, "job": 3}, "Write job=tacit.progress()."),
    ("anonymize", {**ROLES, "require": tacit.KAnonymity(k=2), "seconds": "x"}, "seconds: 'x' is"),
    ("restore", {**OVERLAPPING, "gamma": 1, "views": []}, "views is empty, and nothing is shown."),
    ("restore", {**OVERLAPPING, "gamma": 1, "views": None}, "views is of type NoneType"),
    ("restore", {**OVERLAPPING, "gamma": 1, "views": {1: VIEWS[0]}}, "views are named by text."),
    ("restore", {**OVERLAPPING, "gamma": 1, "views": VIEWS, "further": "x"}, "further: 'x' is no"),
    ("restore", {**OVERLAPPING, "gamma": 1, "views": VIEWS, "columns": ["ag"]}, "columns[0]: the"),
    ("restore", {"key": "name", "sensitive": "cond", "gamma": 1, "views": VIEWS}, "sensitive: the"),
    (
        "synthesize",
        {"group": "zip", "value": "age", "epsilon": None, "delta": 0},
        "epsilon is None",
    ),
    (
        "synthesize",
        {"group": "zip", "value": "age", "epsilon": 1, "delta": 0, "domain": 3},
        "domain",
    ),
]


@pytest.mark.parametrize(("function", "given", "says"), ELSEWHERE)
def test_every_function_refuses_by_argument(
    function: str, given: dict[str, Any], says: str
) -> None:
    with pytest.raises(TacitError) as caught:
        getattr(tacit, function)(PEOPLE, **given)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"view": None}, "view is of type NoneType, and takes a text or several."),
        ({"view": {"a": "SELECT ward FROM stays"}}, "view is of type dict"),
        ({"schema": {"stays": 3}}, "schema['stays'] is no list of columns."),
        ({"schema": {"stays": "name"}}, "schema['stays'] is no list of columns."),
    ],
)
def test_views_and_schemas_of_the_wrong_kind_are_told(given: dict[str, Any], says: str) -> None:
    asked: dict[str, Any] = {
        "secret": "SELECT name FROM stays",
        "view": "SELECT ward FROM stays",
        "schema": STAYS,
    }
    with pytest.raises(TacitError) as caught:
        tacit.perfect_privacy(**{**asked, **given})
    assert says in str(caught.value)


@pytest.mark.parametrize("once", [iter, lambda names: (one for one in names)])
def test_columns_that_can_be_read_only_once_are_read(once: Any) -> None:
    found = tacit.check(PEOPLE, "k-anonymity", k=2, quasi_identifiers=once(["zip", "age"]))
    assert found == tacit.check(PEOPLE, "k-anonymity", k=2, quasi_identifiers=["zip", "age"])
    people = PEOPLE.assign(name=["Bruce", "Bruce", "Cy", "Cy"])
    shown = tacit.check(people, "k-anonymity", k=2, quasi_identifiers="zip", person=once(["name"]))
    assert shown.measured == {"k": 1}


def test_numbers_of_numpy_are_numbers() -> None:
    import numpy

    assert tacit.TCloseness(t=numpy.float64(0.1)) == tacit.TCloseness(t="1/10")
    assert tacit.KAnonymity(k="5").k == tacit.KAnonymity(k=numpy.int64(5)).k == 5
    assert type(tacit.KAnonymity(k=numpy.float32(5)).k) is int


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (PEOPLE.set_index("zip"), "It is in the index: give df.reset_index()."),
        (PEOPLE.rename(columns={"zip": 0}), "Known: age, condition, name."),
        (pandas.concat({"zip": PEOPLE}, axis=1), "The table calls columns by tuples: "),
    ],
)
def test_a_column_that_is_elsewhere_is_found(data: pandas.DataFrame, says: str) -> None:
    with pytest.raises(TacitError) as caught:
        tacit.check(data, "k-anonymity", k=2, quasi_identifiers="zip")
    assert says in str(caught.value)


def test_a_column_without_a_name_is_told() -> None:
    with pytest.raises(TacitError, match=r"^column 2 of the table has no name. Give it one."):
        tacit.profile(PEOPLE.rename(columns={"zip": ""}))


def test_a_data_frame_comes_back_with_all_digits() -> None:
    from decimal import Decimal

    long = {"n": [10**30 + 1, None, 5, 6], "d": [Decimal("12345678901234567890.5"), None] * 2}
    data = PEOPLE.assign(**{name: pandas.Series(one, dtype=object) for name, one in long.items()})
    found = tacit.anonymize(
        data, tacit.KAnonymity(k=2), quasi_identifiers="zip", insensitive=["n", "d"]
    ).table
    for name, values in long.items():
        assert sorted(map(str, found[name])) == sorted(map(str, values))
        assert {type(one) for one in found[name]} == {type(one) for one in values}


def test_a_story_is_found_by_the_name_of_its_attack() -> None:
    assert RESULTS["attack"]["linking"].attack == "linking"
    with pytest.raises(KeyError, match="no story is called 'link'"):
        RESULTS["attack"]["link"]


def test_nothing_to_release_is_an_error() -> None:
    with pytest.raises(TacitError, match=r"^quasi_identifiers is empty"):
        tacit.KAnonymizer().fit(PEOPLE)
    with pytest.raises(TacitError, match=r"^data: table data has no rows"):
        tacit.check(PEOPLE.head(0), "k-anonymity", k=2, **ROLES)


def test_what_is_no_plan_is_told() -> None:
    with pytest.raises(TacitError, match=r"^path: a DataFrame is no path"):
        tacit.load(PEOPLE)  # type: ignore[arg-type]
    with pytest.raises(TacitError, match=r"^require is empty"):
        tacit.anonymize(PEOPLE, [], **ROLES)


def test_a_table_that_polars_has_not_computed_yet_is_read() -> None:
    lazy = polars.from_pandas(PEOPLE).lazy()
    assert tacit.check(lazy, "k-anonymity", k=2, **ROLES).status == "breached"


def test_a_target_is_looked_up_by_an_argument(tmp_path: Path) -> None:
    with pytest.raises(TacitError, match="looked up by person or key"):
        tacit.attack(PEOPLE, target="Bruce", **ROLES)
    with pytest.raises(TacitError, match=r"^target: none of the 4 people"):
        tacit.attack(PEOPLE, target="Zoe", person="name", **ROLES)
    with pytest.raises(TacitError, match=r"^link: there is no file"):
        tacit.attack(PEOPLE, link=tmp_path / "none.csv", **ROLES)


def test_polars_without_arrow_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = polars.from_pandas(PEOPLE)
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install"):
        tacit.check(frame, "k-anonymity", k=2, **ROLES)


def test_progress_is_drawn_where_somebody_watches(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    tacit.anonymize(
        PEOPLE, tacit.KAnonymity(k=2), hierarchies=LEVELS, job=tacit.progress(), **ROLES
    )
    assert capsys.readouterr().err.endswith("100 % done\n")
