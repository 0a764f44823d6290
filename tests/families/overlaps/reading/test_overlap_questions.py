"""From plans to questions about overlapping views:
classes and answers as brute force has them, and every error.
"""

from __future__ import annotations

import csv
import json
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from oracles import overlap as oracle
from oracles.overlap_cases import KINDS, PRIVATE, Case, Draw
from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import DataError, QueryError, TacitError
from tacit.families.overlaps.overlap import merged
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.reading.questions import OverlapQuestions
from tacit.families.queries.reading.readings import Readings
from tacit.plan.plan import Check, Plan
from tacit.plan.read.document import parse
from tacit.plan.read.load import read_plan
from thorough import THOROUGH

GAMMA, SIND = "gamma-privacy", "k-sind"


def planned(plan: dict[str, Any], folder: Path) -> Plan:
    """A plan without its checks: these are made here, so that no definition is needed."""
    return read_plan(
        parse(
            json.dumps(
                {key: value for key, value in plan.items() if key != "checks"}, ensure_ascii=False
            )
        ),
        folder,
    )


def asks(plan: Plan, engine: Engine, kind: str = GAMMA, *releases: str) -> OverlapQuestion:
    questions = OverlapQuestions(plan, Readings(plan, lambda: engine), lambda: engine)
    return questions.question(
        Check(kind, releases=releases or tuple(plan.releases), path=("releases",))
    )


@contextmanager
def asked(
    plan: dict[str, Any], folder: Path, kind: str = GAMMA, *releases: str
) -> Iterator[OverlapQuestion]:
    """The question of a plan that reads files or rows."""
    with DuckDB(folder=folder) as engine:
        yield asks(planned(plan, folder), engine, kind, *releases)


# -- against brute force ---------------------------------------------------------------------------


def drawn(kind: str, number: int) -> Case:
    """A random case, whatever its beliefs are."""
    return Draw(random.Random(f"asking/{kind}/{number}"), KINDS[kind]).case(f"{kind} {number}")


def values_of(case: Case, kind: str) -> tuple[Any, ...]:
    if case.domain is not None:
        return tuple(sorted(case.domain))
    return (
        oracle.published(case.views, case.answers) if kind == GAMMA else oracle.in_data(case.truth)
    )


def is_outside(case: Case, values: tuple[Any, ...]) -> bool:
    """Has somebody whom a view could show, or shows, a value that is none of the values?"""
    covered = oracle.covered(case.people, case.views, values)
    return any(
        value not in values
        and (
            key in covered
            or any(view.puts(case.people[key], value) is not None for view in case.views)
        )
        for key, value in case.truth.items()
    )


def compare(
    case: Case, question: OverlapQuestion, kind: str, data: bool = True, *, lookups: bool = True
) -> None:
    """A question has the classes, rows and answers that the oracle's views have."""
    overlap, values = question.overlap, values_of(case, kind)
    assert overlap.values == values
    people = oracle.covered(case.people, case.views, values) if kind == GAMMA else case.people
    classes: dict[Any, int] = {}
    rows: dict[int, Any] = {}
    found = {
        (key[0] if len(key) == 1 else key): (class_, value)
        for key, class_, value in question.everyone()
    }
    assert list(found) == sorted(people)
    for key, (class_, value) in found.items():
        puts = tuple(
            tuple(view.puts(people[key], value) for value in values) for view in case.views
        )
        assert classes.setdefault(puts, class_) == class_
        for view, (outputs, own) in enumerate(
            zip(overlap.outputs[class_].tolist(), puts, strict=True)
        ):
            for number, row in zip(outputs, own, strict=True):
                assert (number == 0) == (row is None)
                if row is not None:
                    assert rows.setdefault(number, (view, row)) == (view, row)
        if data:
            assert (None if value is None else values[value]) == (
                case.truth[key] if case.truth[key] in values else None
            )
    assert len(set(rows.values())) == len(rows)
    assert sorted(classes.values()) == list(range(len(overlap.sizes)))
    assert overlap.sizes.tolist() == [
        Counter(one for one, _ in found.values())[class_] for class_ in range(len(classes))
    ]
    counts = Counter({row: int(overlap.shown[number]) for number, row in rows.items()})
    if not values:  # nothing is published of anybody
        assert not overlap.shown.any()
        return
    assert +counts == Counter(
        {
            (view, row): many
            for view, answer in enumerate(case.answers)
            for row, many in answer.items()
        }
    )
    assert overlap.shown.sum() == sum(counts.values())
    if overlap.current is not None:
        assert data
        now = Counter((class_, value) for class_, value in found.values())
        assert overlap.current.tolist() == [
            [now[class_, value] for value in range(len(values))] for class_ in range(len(classes))
        ]
    else:
        assert not data or is_outside(case, values)
    if lookups:
        check_lookups(case, question, found, rows)


def check_lookups(
    case: Case, question: OverlapQuestion, found: dict[Any, tuple[int, Any]], rows: dict[int, Any]
) -> None:
    if question.overlap.outputs.size:
        assert len(merged(question.overlap).sizes) == len(question.overlap.sizes)
    for number, (view, row) in rows.items():
        name, told = question.row(number)
        columns = case.queries[view].columns or ("1",)
        assert name == f"v{view + 1}" and list(told) == list(columns)
        shown = {column: None if told[column] is None else str(told[column]) for column in told}
        assert shown == dict(
            zip(
                columns,
                (None if cell is None else str(cell) for cell in unordered(case, view, row)),
                strict=True,
            )
        )
    for class_ in range(1 if len(question.overlap.sizes) else 0):
        members = sorted(key for key, (own, _) in found.items() if own == class_)
        assert [
            one[0] if len(one) == 1 else one for one in question.members(class_, 100)
        ] == members
        assert len(question.members(class_, 1)) == 1
        assert question.class_of([members[0]] if len(question.key) == 1 else members[0]) == class_
    assert question.class_of(["nobody"] * len(question.key)) is None


def unordered(case: Case, view: int, row: tuple[Any, ...]) -> tuple[Any, ...]:
    """A row of the oracle, which has the private value last, as the query has it."""
    query = case.queries[view]
    if not query.columns:
        return (1,)
    public = iter(row)
    shown = {column: next(public) for column in query.columns if column != PRIVATE}
    return tuple(row[-1] if column == PRIVATE else shown[column] for column in query.columns)


RANDOM = (
    "gamma",
    "gamma-domain",
    "sind",
    "sind-numbers",
    "numbers",
    "missing",
    "sind-missing",
    "two-keys",
)


@contextmanager
def emptied(engine: DuckDB) -> Iterator[DuckDB]:
    """An engine for one case; to open another takes longer than to ask."""
    try:
        yield engine
    finally:
        engine.connection.execute("DROP TABLE IF EXISTS people")
        engine._attached.clear()


def judge(kind: str, numbers: range, folder: Path) -> int:
    """Compare random cases with brute force; how many gamma-privacy could not be asked about."""
    refused = 0
    with DuckDB(folder=folder) as one:
        for number in numbers:
            case, lookups = (
                drawn(kind, number),
                number % 3 == 0,
            )  # these take as long as all the rest
            with emptied(one) as engine:
                plan = planned(case.to_plan(), folder)
                compare(case, asks(plan, engine, SIND), SIND, lookups=lookups)
                values = values_of(case, GAMMA)
                tests = any(
                    query.where is not None and PRIVATE in query.where.sql()
                    for query in case.queries
                )
                if tests and (is_outside(case, values) or not values):
                    refused += 1
                    with pytest.raises(DataError, match="which values condition can have"):
                        asks(plan, engine, GAMMA)
                else:
                    compare(case, asks(plan, engine, GAMMA), GAMMA, lookups=lookups)
    return refused


@pytest.mark.sampled
@pytest.mark.parametrize("kind", RANDOM)
def test_classes_rows_and_answers_are_those_of_brute_force(kind: str, tmp_path: Path) -> None:
    assert judge(kind, range(15), tmp_path) < 12


@pytest.mark.parametrize("kind", ["sind", "sind-numbers", "sind-missing"])
def test_values_that_a_condition_does_not_tell_apart_are_tried_once(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.families.overlaps.reading.people_classes.FEW_VALUES", 0)
    judge(kind, range(100, 110), tmp_path)


def test_many_values_are_tried_on_what_the_condition_looks_at(tmp_path: Path) -> None:
    rows = [[f"p{at}", "M", at % 30, "1", f"v{at % 150:03}"] for at in range(450)]
    queries = (
        "SELECT age FROM patients WHERE condition > 'v100' AND age > 10 OR condition = 'v003'",
        "SELECT 1 FROM patients WHERE condition LIKE '%5'",
    )
    with asked(patients(*queries, rows=rows), tmp_path, SIND) as question:
        assert question.overlap.outputs.shape == (30, 2, 150)
        selected = sum((row[4] > "v100" and row[2] > 10) or row[4] == "v003" for row in rows)
        assert question.overlap.shown.sum() == selected + 45
        class_ = question.class_of(["p41"])
        assert class_ is not None and [
            len(set(row)) for row in question.overlap.outputs[class_].tolist()
        ] == [2, 2]
        assert question.members(class_, 100) == [
            (name,) for name in sorted(row[0] for row in rows if row[2] == 11)
        ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", RANDOM)
def test_they_are_in_many_cases(kind: str, tmp_path: Path) -> None:
    judge(kind, range(1000, 1000 + 30 * THOROUGH), tmp_path)


# -- answers from files ----------------------------------------------------------------------------


def write_people(case: Case, folder: Path, *, private: bool) -> dict[str, Any]:
    """A plan whose table is a file, perhaps without the private
    column, and whose answers are files.
    """
    for name, text in case.answer_files().items():
        (folder / name).write_text(text, "utf-8")
    names = [*case.columns, *([PRIVATE] if private else [])]
    with (folder / "people.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows([row[: len(names)] for row in case.rows])
    plan = case.to_plan(answer_files=True)
    table = plan["tables"]["people"]
    del table["rows"]
    table["columns"] = {
        "zip": "text",
        "age": "integer",
        PRIVATE: "text" if isinstance(case.rows[0][-1], str) else "integer",
    }
    return plan


def of_people(case: Case, at: int) -> Counter[Any]:
    """What a view shows of the people it selects besides their private value."""
    puts = (case.views[at].puts(row, None) for row in case.people.values())
    return Counter(
        row[:-1] if case.views[at].shows_private else row for row in puts if row is not None
    )


def of_answer(case: Case, at: int) -> Counter[Any]:
    """The same as the answer has it."""
    return Counter(
        row[:-1] if case.views[at].shows_private else row for row in case.answers[at].elements()
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["told", "gamma-domain", "numbers"])
def test_answers_alone_are_enough(kind: str, tmp_path: Path) -> None:
    for number in range(8):
        case = drawn(kind, number)
        plan = write_people(case, tmp_path, private=False)
        if any(of_people(case, at) != of_answer(case, at) for at in range(len(case.queries))):
            with pytest.raises(DataError, match=r"'v[1-4]' selects"), asked(plan, tmp_path):
                pass
            continue
        with asked(plan, tmp_path) as question:
            compare(case, question, GAMMA, data=False)
            assert question.overlap.current is None
            assert all(answer.file == f"v{at}.csv" for at, answer in enumerate(question.answers, 1))
            assert question.members(0, 1, value=0) == [] if len(question.overlap.sizes) else True


def test_answers_beside_the_data_must_be_what_the_data_give(tmp_path: Path) -> None:
    wrong = 0
    for number in range(12):
        case = drawn("told", number)
        plan = write_people(case, tmp_path, private=True)
        expected = [oracle.answer(case.people, case.truth, view) for view in case.views]
        if expected == case.answers:
            with asked(plan, tmp_path, SIND) as question:
                assert question.overlap.current is not None
                assert question.overlap.shown.sum() == sum(map(Counter.total, expected))
            continue
        wrong += 1
        at = next(at for at, one in enumerate(expected) if one != case.answers[at])
        with (
            pytest.raises(
                DataError,
                match=f"v{at + 1}.csv is not what the data give for 'v{at + 1}': the row ",
            ) as caught,
            asked(plan, tmp_path, SIND),
        ):
            pass
        assert caught.value.mark is not None
    assert wrong > 2


PATIENTS: dict[str, Any] = {
    "columns": ["name", "sex", "age", "zip", "condition"],
    "key": ["name"],
    "sensitive": ["condition"],
    "rows": [
        ["Alan", "M", 23, "13053", "Heart"],
        ["Bob", "M", 24, "13053", "SARS"],
        ["Clark", "M", 25, "13068", "Viral"],
        ["Donald", "M", 26, "13068", "SARS"],
        ["Ellen", "F", 27, "14850", "Viral"],
        ["Fen", "F", 28, "14850", "SARS"],
        ["Garcia", "F", 28, None, "Flu"],
    ],
}


def patients(*queries: str, **more: Any) -> dict[str, Any]:
    """The plan of the paper's patients with some views v1, v2, ...; `more` changes the table."""
    table = {key: value for key, value in {**PATIENTS, **more}.items() if value is not None}
    return {
        "version": 1,
        "tables": {"patients": table},
        "releases": {f"v{at}": {"query": one} for at, one in enumerate(queries, 1)},
    }


def with_answer(plan: dict[str, Any], folder: Path, text: str, name: str = "v1") -> dict[str, Any]:
    (folder / "answer.csv").write_text(text, "utf-8")
    plan["releases"][name]["answer"] = "answer.csv"
    return plan


@pytest.mark.parametrize(
    "text",
    [
        "zip,condition\n14850,SARS\n14850,Viral\n,Flu\n",
        "condition;zip\nFlu;\nViral;14850\nSARS;14850\n",
        "Condition,ZIP\nSARS,14850\nViral,14850\nFlu,\n",
        "place,illness\n14850,SARS\n14850,Viral\n,Flu\n",
    ],
)
def test_a_header_may_have_another_order_or_other_names(text: str, tmp_path: Path) -> None:
    plan = with_answer(
        patients("SELECT zip, condition FROM patients WHERE sex = 'F'"), tmp_path, text
    )
    with asked(plan, tmp_path) as question:
        assert question.overlap.shown.sum() == 3


def test_cells_are_read_as_the_columns_have_them(tmp_path: Path) -> None:
    columns = {
        "name": "text",
        "born": "date",
        "dose": "decimal",
        "smokes": "boolean",
        "wage": "decimal",
    }
    rows = [["a", "2000-01-02", "1.50", True, "10"], ["b", "2000-01-03", "2.25", False, "20.5"]]
    plan = patients(
        "SELECT born, dose, smokes, dose * 2, wage FROM patients",
        columns=columns,
        rows=rows,
        sensitive=["wage"],
    )
    with_answer(
        plan,
        tmp_path,
        "born,dose,smokes,double,wage\n"
        "2000-01-03,2.250,FALSE,4.5,20.50\n"
        "2000-01-02,1.5,true,3,10.0\n",
    )
    with asked(plan, tmp_path) as question:
        assert question.overlap.sizes.tolist() == [1, 1] and question.overlap.shown.sum() == 2


FILES = {
    "fewer columns": ("condition\nSARS\n", "has 1 columns, and 'v1' has 2"),
    "columns that moved": (
        "condition,place\nSARS,14850\n",
        "has the column 'condition' in another place",
    ),
    "a row too many": (
        "zip,condition\n14850,SARS\n14850,Viral\n,Flu\n,Flu\n",
        r"the row \(nothing, Flu\) stands 2 times in the file and once in the data",
    ),
    "a row too few": (
        "zip,condition\n14850,SARS\n14850,Viral\n",
        r"the row \(nothing, Flu\) stands 0 times in the file and once in the data",
    ),
    "a place of nobody": (
        "zip,condition\n14850,SARS\n14850,Viral\n99999,Flu\n",
        r"the row \(99999, Flu\) stands once in the file and 0 times in the data",
    ),
    "an unknown value": (
        "zip,condition\n14850,SARS\n14850,Viral\n,Gout\n",
        r"the row \(nothing, Gout\) stands once in the file and 0 times",
    ),
    "a ragged line": ("zip,condition\n14850,SARS,1\n", "this line has 3"),
    "nothing": ("", "is empty"),
}


@pytest.mark.parametrize("what", FILES)
def test_an_answer_that_is_wrong_is_named(what: str, tmp_path: Path) -> None:
    text, message = FILES[what]
    plan = with_answer(
        patients("SELECT zip, condition FROM patients WHERE sex = 'F'"), tmp_path, text
    )
    with pytest.raises(DataError, match=message) as caught, asked(plan, tmp_path):
        pass
    assert caught.value.mark is not None and caught.value.hint


ALONE = {
    "too many rows": (
        "zip,condition\n14850,x\n14850,y\n,x\n,y\n",
        "answer.csv has 4 rows, and 'v1' selects 3 people",
    ),
    "too few rows": (
        "zip,condition\n14850,x\n",
        "answer.csv has 1 rows, and 'v1' selects 3 people",
    ),
    "other people": (
        "zip,condition\n14850,x\n,y\n,x\n",
        r"answer.csv has 1 rows that show \(14850\), and 'v1' selects 2 such people",
    ),
    "a place of nobody": (
        "zip,condition\n13053,x\n14850,y\n,x\n",
        r"has the row \(13053, x\), and nobody whom 'v1' selects can give it",
    ),
}


@pytest.mark.parametrize("what", ALONE)
def test_an_answer_without_data_must_fit_the_people(what: str, tmp_path: Path) -> None:
    text, message = ALONE[what]
    with (tmp_path / "patients.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [PATIENTS["columns"][:-1], *(row[:-1] for row in PATIENTS["rows"])]
        )
    plan = with_answer(
        patients(
            "SELECT zip, condition FROM patients WHERE sex = 'F'",
            rows=None,
            columns={"zip": "text"},
        ),
        tmp_path,
        text,
    )
    with pytest.raises(DataError, match=message) as caught, asked(plan, tmp_path):
        pass
    assert caught.value.mark is not None and caught.value.hint


def test_conditions_on_the_private_column_without_data_need_a_domain(tmp_path: Path) -> None:
    with (tmp_path / "patients.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [PATIENTS["columns"][:-1], *(row[:-1] for row in PATIENTS["rows"])]
        )
    query = "SELECT age FROM patients WHERE condition <> 'x' AND sex = 'F'"
    plan = with_answer(patients(query, rows=None, columns={"zip": "text"}), tmp_path, "age\n28\n")
    with (
        pytest.raises(
            DataError, match="which values condition can have is not known: 'v1' tests it"
        ),
        asked(plan, tmp_path),
    ):
        pass
    plan["tables"]["patients"]["domains"] = {"condition": ["y", "x", "z"]}
    with asked(plan, tmp_path) as question:
        assert question.overlap.values == ("x", "y", "z") and question.is_declared_domain
        assert question.overlap.sizes.tolist() == [1, 2] and question.overlap.shown.tolist() == [
            0,
            0,
            1,
        ]
        assert question.overlap.outputs.tolist() == [[[0, 1, 1]], [[0, 2, 2]]]
    (tmp_path / "answer.csv").write_text("age\n28\n28\n28\n", "utf-8")
    with (
        pytest.raises(DataError, match=r"has 3 rows that show \(28\), and 'v1' selects 2 such"),
        asked(plan, tmp_path),
    ):
        pass
    del plan["releases"]["v1"]["answer"]
    with (
        pytest.raises(DataError, match=r"has no column 'condition', and 'v1' has no answer"),
        asked(plan, tmp_path),
    ):
        pass


# -- microdata -------------------------------------------------------------------------------------


def same(one: OverlapQuestion, other: OverlapQuestion) -> None:
    """Two questions that are the same but for the numbers of classes and rows."""
    left, right = list(one.everyone()), list(other.everyone())
    assert [(key, value) for key, _, value in left] == [(key, value) for key, _, value in right]
    classes = {(mine, theirs) for (_, mine, _), (_, theirs, _) in zip(left, right, strict=True)}
    assert len(classes) == len(one.overlap.sizes) == len(other.overlap.sizes)
    rows = {
        pair
        for mine, theirs in classes
        for pair in zip(
            one.overlap.outputs[mine].ravel().tolist(),
            other.overlap.outputs[theirs].ravel().tolist(),
            strict=True,
        )
    }
    assert len({mine for mine, _ in rows}) == len({theirs for _, theirs in rows}) == len(rows)
    assert all(one.overlap.shown[mine] == other.overlap.shown[theirs] for mine, theirs in rows)


ZIPS = {"13053": ["1305*", "*"], "13068": ["1306*", "*"], "14850": ["1485*", "*"]}
QUASI = {
    "quasi-identifiers": ["zip", "age", "sex"],
    "hierarchies": {"zip": {"mask": "right"}, "age": {"ranges": [2, 6]}, "sex": "*"},
}
LEVELS = [
    ({}, "SELECT zip, age, sex, condition FROM patients"),
    ({"sex": 1}, "SELECT zip, age, condition FROM patients"),
    ({"zip": 2, "age": 1, "sex": 1}, "SELECT left(zip, 3), age // 2, condition FROM patients"),
    ({"zip": 5, "age": 2}, "SELECT age // 6, sex, condition FROM patients"),
    ({"zip": 1, "age": 3, "sex": 1}, "SELECT left(zip, 4), condition FROM patients"),
]


@pytest.mark.parametrize(("levels", "query"), LEVELS)
def test_microdata_is_a_view_of_its_levels(
    levels: dict[str, int], query: str, tmp_path: Path
) -> None:
    other = "SELECT condition FROM patients WHERE age < 26"
    plan = patients(query, other, **QUASI)
    plan["releases"]["april"] = {"table": "patients", "generalization": levels}
    checked = planned(plan, tmp_path)
    for kind in (GAMMA, SIND):
        with DuckDB(folder=tmp_path) as engine:
            same(
                asks(checked, engine, kind, "april", "v2"), asks(checked, engine, kind, "v1", "v2")
            )
            same(
                asks(checked, engine, kind, "v2", "april"), asks(checked, engine, kind, "v2", "v1")
            )
            question = asks(checked, engine, kind, "april")
            assert question.class_of(["Garcia"]) is not None and len(list(question.everyone())) == 7


def test_insensitive_columns_are_released_as_they_are(tmp_path: Path) -> None:
    plan = patients(
        "SELECT sex, condition, age FROM patients",
        **{"quasi-identifiers": ["sex"], "insensitive": ["age"]},
    )
    plan["releases"]["april"] = {"table": "patients"}
    checked = planned(plan, tmp_path)
    with DuckDB() as engine:
        april = asks(checked, engine, SIND, "april")
        assert april.answers[0].columns == ("sex", "condition", "age")
        same(april, asks(checked, engine, SIND, "v1"))


def test_two_microdata_releases_are_judged_together(tmp_path: Path) -> None:
    plan = patients(
        "SELECT left(zip, 4), condition FROM patients",
        "SELECT age // 2, sex, condition FROM patients",
        **QUASI,
    )
    plan["releases"] |= {
        "april": {"table": "patients", "generalization": {"zip": 1, "age": 3, "sex": 1}},
        "may": {"table": "patients", "generalization": {"zip": 5, "age": 1}},
    }
    checked = planned(plan, tmp_path)
    with DuckDB() as engine:
        same(asks(checked, engine, GAMMA, "april", "may"), asks(checked, engine, GAMMA, "v1", "v2"))


RELEASED = (
    "zip,age,condition\n"
    "1305*,22-23,Heart\n"
    "1305*,24-25,SARS\n"
    "1306*,24-25,Viral\n"
    "1306*,26-27,SARS\n"
    "1485*,26-27,Viral\n"
    "1485*,28-29,SARS\n"
    ",28-29,Flu\n"
)


@pytest.mark.parametrize("data", [True, False])
def test_microdata_from_elsewhere_has_the_levels_that_its_labels_have(
    data: bool, tmp_path: Path
) -> None:
    (tmp_path / "released.csv").write_text(RELEASED, "utf-8")
    plan = patients("SELECT left(zip, 4), age // 2, condition FROM patients", **QUASI)
    plan["releases"]["found"] = {"table": "patients", "file": "released.csv"}
    plan["releases"]["april"] = {
        "table": "patients",
        "generalization": {"zip": 1, "age": 1, "sex": 1},
    }
    if not data:
        (tmp_path / "v1.csv").write_text(
            "z,a,condition\n"
            + "\n".join(
                line[:4] + "," + str(age // 2) + "," + line.split(",")[2]
                for line, age in zip(
                    RELEASED.split("\n")[1:-2], (23, 24, 25, 26, 27, 28), strict=True
                )
            )
            + "\n,14,Flu\n",
            "utf-8",
        )
        plan["releases"]["v1"]["answer"] = "v1.csv"
        with (tmp_path / "patients.csv").open("w", newline="") as file:
            csv.writer(file).writerows(
                [PATIENTS["columns"][:-1], *(row[:-1] for row in PATIENTS["rows"])]
            )
        plan["tables"]["patients"] |= {"columns": {"zip": "text"}}
        del plan["tables"]["patients"]["rows"]
    checked = planned(plan, tmp_path)
    with DuckDB(folder=tmp_path) as engine:
        found = asks(checked, engine, GAMMA, "found")
        assert (
            found.answers[0].file == "released.csv" and (found.overlap.current is not None) == data
        )
        same(found, asks(checked, engine, GAMMA, "april" if data else "v1"))


FOUND = {
    "fewer rows": (
        RELEASED.replace(",28-29,Flu\n", ""),
        "has 6 rows, and table patients 7: who was left out is not known",
    ),
    "nobody's column": (
        RELEASED.replace("zip,", "zap,"),
        "has a column 'zap', and table patients has not",
    ),
    "a label of no level": (
        RELEASED.replace("22-23", "21-23"),
        "does not show age as a level of its hierarchy would: '21-23' is a label of no level",
    ),
    "other counts": (
        RELEASED.replace("22-23", "24-25"),
        "does not show age as a level of its hierarchy would: no level has these labels as often",
    ),
    "other values": (
        RELEASED.replace("Flu", "Gout"),
        (
            r"is not what the data give for 'found': the row \(nothing, 28-29, Gout\) stands "
            r"once in the file"
        ),
    ),
}


@pytest.mark.parametrize("what", FOUND)
def test_microdata_from_elsewhere_that_does_not_fit_is_an_error(what: str, tmp_path: Path) -> None:
    text, message = FOUND[what]
    (tmp_path / "released.csv").write_text(text, "utf-8")
    plan = patients("SELECT 1 FROM patients", **QUASI)
    plan["releases"]["found"] = {"table": "patients", "file": "released.csv"}
    with pytest.raises(DataError, match=message) as caught, asked(plan, tmp_path, GAMMA, "found"):
        pass
    assert caught.value.mark is not None and caught.value.hint


# -- what cannot be asked --------------------------------------------------------------------------

QUERIES = {
    "SELECT count(*) FROM patients": (
        r"'v1' shows COUNT\(\*\), which is computed from many rows. SELECT 1 FROM patients "
        r"WHERE ... publishes how many"
    ),
    ("SELECT sum(age), condition FROM patients GROUP BY condition"): (
        "'v1' groups rows. SELECT 1 FROM patients WHERE"
    ),
    "SELECT condition FROM patients GROUP BY condition HAVING count(*) > 1": "'v1' groups rows",
    ("SELECT condition FROM patients WHERE age > (SELECT avg(age) FROM patients)"): (
        "'v1' has a subquery, which looks at other rows"
    ),
    "SELECT condition FROM patients WHERE name IN (SELECT name FROM patients)": "has a subquery",
    "SELECT condition FROM patients WHERE EXISTS (SELECT 1 FROM patients)": "has a subquery",
    ("SELECT condition FROM patients p JOIN patients q ON p.name = q.name"): (
        "'v1' joins tables. Write SELECT ... FROM one table"
    ),
    "SELECT condition FROM patients, patients AS q": "'v1' joins tables",
    "SELECT condition FROM (SELECT * FROM patients)": "'v1' is not a view of a table alone",
    ("SELECT condition FROM patients UNION ALL SELECT condition FROM patients"): (
        "'v1' combines queries. .* with OR in WHERE"
    ),
    "WITH p AS (SELECT * FROM patients) SELECT condition FROM p": "'v1' has a WITH query",
    ("SELECT DISTINCT condition FROM patients"): (
        "'v1' is DISTINCT, and views are published with their repeated rows here. Leave "
        "DISTINCT out"
    ),
    "SELECT condition FROM patients LIMIT 3": "'v1' has a LIMIT",
    "SELECT condition FROM patients OFFSET 3": "'v1' has an OFFSET",
    "SELECT condition, row_number() OVER () FROM patients": "'v1' has a window",
    "SELECT condition FROM patients QUALIFY row_number() OVER () = 1": "'v1' has a QUALIFY",
    "SELECT condition FROM patients TABLESAMPLE 10%": "draws a sample",
    ("SELECT condition FROM patients WHERE random() < 0.5"): (
        r"RANDOM\(\) does not depend "
        r"on the data alone"
    ),
    ("SELECT condition FROM patients WHERE age < extract(year FROM now())"): (
        "does not depend on the data alone"
    ),
    "SELECT condition, current_date FROM patients": "does not depend on the data alone",
    ("SELECT upper(condition) FROM patients"): (
        "'v1' computes with condition, which is private. Show condition itself"
    ),
    "SELECT condition, condition FROM patients": "'v1' shows condition twice",
    "SELECT * EXCLUDE (age) FROM patients": r"'v1' changes the columns of \*",
    ("SELECT condition FROM patients ORDER BY name"): (
        "'v1' is sorted by name, which it does not show: that would tell whose rows they are"
    ),
    "SELECT sex AS name, condition FROM patients p ORDER BY p.name": "is sorted by p.name",
    "SELECT condition FROM pateints": "there is no table 'pateints'. Did you mean 'patients'",
    ("SELECT condition FROM patients WHERE agee > 3"): (
        "table 'patients' has no column 'agee'. Did you mean 'age'"
    ),
    "SELECT agee FROM patients": "table 'patients' has no column 'agee'",
    ("SELECT age + 1 AS older, condition FROM patients WHERE older > 3"): (
        "no column 'older'. It is a name given in SELECT"
    ),
    "SELECT q.condition FROM patients p": "there is no table 'q' in this query. Known: p",
    "SELECT condition FROM patients AS p(a, b)": "does more in FROM than name a table",
    "SELECT 1": "'v1' is not about a table",
    "SELECT condition FROM read_csv('x.csv')": "not a view of a table alone",
    "SELECT condition FROM patients WHERE": "does not parse|syntax",
    "SELECT condition FROM patients WHERE age = $age": "a parameter has no value here|parameter",
    ("SELECT condition FROM patients WHERE nofunction(age)"): (
        "'v1': DuckDB could not answer: .*nofunction"
    ),
    "SELECT condition FROM patients WHERE age > true AND sex": "DuckDB could not answer",
    "SELECT list_sum([age]), condition FROM patients": "is not a function that Tacit knows",
    "V(c) :- patients(n, s, a, z, c)": "'v1' is Datalog, which speaks of sets",
    "DELETE FROM patients": "is not a query",
    "SELECT condition FROM v2": "'v1' is a view of the release 'v2'",
}


@pytest.mark.parametrize("query", QUERIES)
def test_a_view_that_is_not_read_is_named_with_what_to_write(query: str, tmp_path: Path) -> None:
    plan = patients(query, "SELECT condition FROM patients")
    with (
        pytest.raises(TacitError, match=QUERIES[query].replace(". ", ".[ ]")) as caught,
        asked(plan, tmp_path, GAMMA, "v1"),
    ):
        pass
    assert str(caught.value.mark).startswith("tacit.yaml:1:")
    assert caught.value.hint or "DuckDB" in caught.value.message or "parse" in caught.value.message


ALL = "SELECT condition FROM patients"
TABLES: dict[str, tuple[dict[str, Any], str]] = {
    "no sensitive column": (
        {"sensitive": None},
        "needs one sensitive column, and 'patients' has none. Add sensitive",
    ),
    "two sensitive columns": (
        {"sensitive": ["zip", "condition"]},
        r"needs one sensitive column, and 'patients' has 2 \(zip, condition\). Keep one",
    ),
    "repeated keys": (
        {"key": ["sex"]},
        r"\(sex\) is declared a key of patients, but 7 rows have only 2 different values",
    ),
    "a missing key": (
        {"key": ["zip", "age"]},
        "'zip' tells people apart, but 1 of 7 rows of patients have none",
    ),
    "no rows": ({"rows": []}, "table patients has no rows"),
    "several rows": ({"person": ["sex"]}, "some people have several rows in patients"),
    "a short domain": (
        {"domains": {"condition": ["Flu", "SARS", "Viral"]}},
        "has 1 value that the domain does not list",
    ),
    "a wrong domain": (
        {
            "domains": {"age": [1], "condition": ["x"]},
            "columns": {"name": None, "sex": None, "age": None, "zip": None, "condition": "date"},
        },
        "is no date, and",
    ),
    "no nulls": (
        {"rows": [*PATIENTS["rows"], ["Zoe", "F", 30, "1", None]], "nullable": ["zip"]},
        "some rows of table patients have no condition",
    ),
    "several columns": (
        {"distances": {"condition": {"variational": ["age"]}}},
        "'condition' is made of several columns",
    ),
}


@pytest.mark.parametrize("what", TABLES)
def test_a_table_that_is_not_one_of_people_is_refused(what: str, tmp_path: Path) -> None:
    more, message = TABLES[what]
    with pytest.raises(TacitError, match=message) as caught, asked(patients(ALL, **more), tmp_path):
        pass
    assert caught.value.mark is not None and caught.value.hint


def test_views_of_different_tables_are_not_judged_together(tmp_path: Path) -> None:
    plan = patients(ALL, "SELECT condition FROM others")
    plan["tables"]["others"] = PATIENTS
    with (
        pytest.raises(
            TacitError, match="'v1' is about table 'patients', and 'v2' about 'others'"
        ) as caught,
        asked(plan, tmp_path),
    ):
        pass
    assert caught.value.hint and caught.value.mark


def test_a_private_value_that_no_view_shows_needs_a_domain(tmp_path: Path) -> None:
    tested = patients(ALL + " WHERE sex = 'M'", "SELECT 1 FROM patients WHERE condition = 'Flu'")
    with (
        pytest.raises(
            DataError,
            match=r"1 person in the views has one that no view shows. Add domains: \{condition",
        ),
        asked(tested, tmp_path),
    ):
        pass
    counted = patients(ALL + " WHERE sex = 'M'", "SELECT 1 FROM patients WHERE age > 27")
    with asked(counted, tmp_path) as question:
        assert (
            question.overlap.values == ("Heart", "SARS", "Viral")
            and question.overlap.current is None
        )
        assert "no view publishes the condition of 1 person" in question.warnings[0]
        assert question.overlap.shown.sum() == 4 + 2
        assert [one.id for one in question.assumptions][-1] == "values-as-seen"


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "patients.csv").write_text("nam,age,condition\nx,1,flu\n", "utf-8")
    plan = patients(ALL, rows=None, columns=None)
    with (
        pytest.raises(DataError, match=r"has no column 'name'. Did you mean 'nam'"),
        asked(plan, tmp_path),
    ):
        pass
    (tmp_path / "patients.csv").write_text("name,age,conditions\nx,1,flu\n", "utf-8")
    with (
        pytest.raises(
            DataError, match=r"has no column 'condition', and 'v1' has no answer.*'conditions'"
        ),
        asked(plan, tmp_path),
    ):
        pass


def test_dates_in_a_file_are_text_until_the_plan_says_so(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("name,born,ill\na,1990-02-01,x\nb,1991-03-01,y\n", "utf-8")
    query = "SELECT ill FROM people WHERE born >= DATE '1990-01-01'"
    table: dict[str, Any] = {"key": ["name"], "sensitive": ["ill"]}
    plan = {
        "version": 1,
        "tables": {"people": table},
        "releases": {"v": {"query": query}},
        "checks": [{GAMMA: {"release": "v", "gamma": 1}}],
    }
    with pytest.raises(QueryError, match=r"columns: \{COLUMN: date\}"), asked(plan, tmp_path):
        pass
    table["columns"] = {"born": "date"}
    with asked(plan, tmp_path) as question:
        assert question.overlap.people == 2


def test_values_that_are_not_numbers_are_refused(tmp_path: Path) -> None:
    plan = patients(
        "SELECT wage FROM people", key=["name"], sensitive=["wage"], rows=None, columns=None
    )
    plan["tables"] = {"people": plan["tables"].pop("patients")}
    with DuckDB(folder=tmp_path) as engine:
        engine.connection.execute(
            "CREATE TABLE people AS SELECT * FROM (VALUES ('a', 1.5::DOUBLE), ('b', 'nan'), ('c', "
            "0.1)) AS t(name, wage)"
        )
        engine._read_plainly("people")
        with pytest.raises(
            DataError, match=r"wage of people has values that are not numbers \(NaN\)"
        ):
            asks(planned(plan, tmp_path), engine)
        engine.connection.execute("UPDATE people SET wage = 2 WHERE name = 'b'")
        plan["tables"]["people"]["domains"] = {"wage": ["0.1", 1.5, 2, 7]}
        plan["tables"]["people"]["columns"] = {"wage": "decimal"}
        plan["releases"]["v1"]["query"] = "SELECT name FROM people WHERE wage < 1.5"
        question = asks(planned(plan, tmp_path), engine)
        assert question.overlap.values == (0.1, 1.5, 2.0, 7.0)
        assert question.overlap.shown.tolist() == [0, 0, 0, 1] and question.members(
            2, 5, value=0
        ) == [("c",)]


def test_more_classes_than_can_be_judged_are_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tacit.families.overlaps.reading.people_classes.MOST_CLASSES", 3)
    with (
        pytest.raises(
            DataError, match="the views tell 6 classes of people apart, and up to 3 are judged"
        ),
        asked(patients("SELECT age, condition FROM patients"), tmp_path),
    ):
        pass
    monkeypatch.setattr("tacit.families.overlaps.reading.people_classes.MOST_CLASSES", 30)
    monkeypatch.setattr("tacit.families.overlaps.reading.people_classes.MOST_CELLS", 20)
    with (
        pytest.raises(DataError, match="6 classes of people with 4 values in 1 view are too many"),
        asked(patients("SELECT age, condition FROM patients"), tmp_path),
    ):
        pass
    monkeypatch.setattr("tacit.families.overlaps.reading.people_classes.MOST_BITS", 3)
    with (
        pytest.raises(
            DataError, match="condition has 4 values, and the conditions would be tried with each"
        ),
        asked(patients(ALL + " WHERE condition <> 'x'"), tmp_path),
    ):
        pass


# -- what can --------------------------------------------------------------------------------------

SAME = [
    "SELECT condition FROM patients WHERE sex = 'M'",
    "select CONDITION from PATIENTS where SEX = 'M'",
    'SELECT "condition" FROM "patients" WHERE "sex" = \'M\' ORDER BY condition',
    "SELECT p.condition FROM patients p WHERE p.sex = 'M' ORDER BY 1",
    "SELECT patients.condition AS ill FROM patients WHERE patients.sex = 'M' ORDER BY ill DESC",
    "SELECT (condition) FROM main.patients AS x WHERE x.sex IN ('M', 'X') ORDER BY x.condition",
    "(SELECT condition FROM patients WHERE lower(sex) = 'm' AND (zip IS NULL OR zip IS NOT NULL))",
    "CREATE VIEW male AS SELECT condition FROM patients WHERE NOT (sex <> 'M')",
    "FROM patients SELECT condition WHERE sex LIKE 'M%' -- men",
]


@pytest.mark.parametrize("query", SAME)
def test_a_view_can_be_written_in_many_ways(query: str, tmp_path: Path) -> None:
    checked = planned(patients(query, SAME[0]), tmp_path)
    with DuckDB() as engine:
        same(asks(checked, engine, SIND, "v1"), asks(checked, engine, SIND, "v2"))


def test_views_in_files_are_read_and_errors_point_into_them(tmp_path: Path) -> None:
    (tmp_path / "male.sql").write_text(
        "SELECT condition\nFROM patients\nWHERE sex = 'M'\n", "utf-8"
    )
    (tmp_path / "wrong.sql").write_text(
        "SELECT condition\nFROM patients\nWHERE sexx = 'M'\n", "utf-8"
    )
    plan = patients(SAME[0]) | {"releases-from": ["wrong.sql"]}
    plan["releases"]["v2"] = {"query": "male.sql"}
    checked = planned(plan, tmp_path)
    with DuckDB(folder=tmp_path) as engine:
        same(asks(checked, engine, SIND, "v1"), asks(checked, engine, SIND, "v2"))
        with pytest.raises(TacitError, match="no column 'sexx'") as caught:
            asks(checked, engine, SIND, "wrong")
        assert str(caught.value.mark) == "wrong.sql:3:7"


def test_all_columns_can_be_shown(tmp_path: Path) -> None:
    checked = planned(patients("SELECT * FROM patients", "SELECT p.* FROM patients p"), tmp_path)
    with DuckDB() as engine:
        question = asks(checked, engine, GAMMA, "v1", "v2")
    assert (
        question.answers[0].columns == tuple(PATIENTS["columns"])
        and question.answers[0].private == 4
    )
    assert question.overlap.sizes.tolist() == [1] * 7


def test_only_people_who_are_selected_are_told_apart_by_what_is_shown(tmp_path: Path) -> None:
    with asked(
        patients("SELECT zip, 10 // (age - 23), condition FROM patients WHERE age > 24"),
        tmp_path,
        SIND,
    ) as question:
        assert sorted(question.overlap.sizes.tolist()) == [1, 1, 1, 2, 2]
        assert question.class_of(["Alan"]) == question.class_of(["Bob"])


def test_a_condition_that_is_not_known_selects_nobody(tmp_path: Path) -> None:
    with asked(
        patients(ALL + " WHERE zip <> '13053'", ALL + " WHERE NOT zip <> '13053'"), tmp_path
    ) as question:
        assert question.overlap.people == 6 and question.class_of(["Garcia"]) is None


def test_a_view_of_nobody_is_a_warning(tmp_path: Path) -> None:
    with asked(
        patients(ALL, ALL + " WHERE age > 90", "SELECT zip FROM patients WHERE condition = 'gout'"),
        tmp_path,
    ) as question:
        assert question.warnings == ("v2 selects nobody", "v3 selects nobody")


def test_missing_private_values_are_a_value_and_come_last(tmp_path: Path) -> None:
    rows = [*PATIENTS["rows"], ["Zoe", "F", 30, "1", None]]
    for more in ({}, {"domains": {"condition": ["Viral", "SARS", "Heart", "Flu"]}}):
        queries = (
            "SELECT condition FROM patients WHERE age > 25",
            "SELECT 1 FROM patients WHERE condition IS NULL OR condition = 'Flu'",
        )
        with asked(patients(*queries, rows=rows, **more), tmp_path, SIND) as question:
            assert question.overlap.values == ("Flu", "Heart", "SARS", "Viral", None)
            assert question.members(0, 9, value=4) == [] and question.members(1, 9, value=4) == [
                ("Zoe",)
            ]
            assert question.overlap.outputs[1].tolist() == [[1, 2, 3, 4, 5], [6, 0, 0, 0, 6]]
            assert question.overlap.shown.tolist() == [0, 1, 0, 2, 1, 1, 2]
            assert question.meanings == ((0, 4), (1, 4), (2, 4), (3, 4))


def test_what_is_relied_on_is_said(tmp_path: Path) -> None:
    plan = patients(ALL, ALL + " WHERE age < 26")
    with asked(plan, tmp_path, GAMMA, "v1") as question:
        assert [(one.id, one.checked) for one in question.assumptions] == [
            ("no-other-release", "no"),
            ("public-columns-known", "cannot"),
            ("one-row-per-person", "no"),
        ]
        assert question.assumptions[1].text == "everybody knows everybody's sex, age and zip"
        assert question.public == ("sex", "age", "zip") and question.key == ("name",)


def test_spellings_and_unknown_words_are_pointed_out(tmp_path: Path) -> None:
    rows = [["a", "M", 1, "1", "Flu"], ["b", "M", 2, "1", "flu"], ["c", "M", 3, "1", "?"]]
    with asked(patients(ALL, rows=rows), tmp_path) as question:
        assert question.meanings == ((1, 2, 0),) or len(question.meanings) == 1
        assert (
            "1 value written like another" in question.warnings[0]
            and "1 value that may mean unknown" in question.warnings[1]
        )
    with asked(patients(ALL, rows=rows, **{"as-written": ["condition"]}), tmp_path) as question:
        assert len(question.meanings) == 3 and question.warnings == ()


def test_fewer_views_are_the_same_classes_with_less_to_see(tmp_path: Path) -> None:
    queries = [
        ALL + " WHERE sex = 'M'",
        "SELECT age, condition FROM patients WHERE age > 25",
        "SELECT 1 FROM patients WHERE zip = '13053'",
    ]
    checked = planned(patients(*queries), tmp_path)
    with DuckDB() as engine:
        whole = asks(checked, engine, SIND)
        for many in (1, 2, 3):
            part = asks(checked, engine, SIND, *whole.releases[:many]).overlap
            seen = merged(whole.seen(many))
            assert seen.views == part.views and sorted(seen.sizes.tolist()) == sorted(
                part.sizes.tolist()
            )
            assert seen.shown.tolist() == part.shown.tolist() and seen.values == part.values
        assert whole.seen(0).outputs.shape[1] == 0


def test_everyone_can_be_looked_up_a_few_at_a_time(tmp_path: Path) -> None:
    with asked(patients(ALL + " WHERE age > 24"), tmp_path, GAMMA) as question:
        assert [key for key, _, _ in question.everyone(2)] == [("Clark",), ("Donald",)]
        assert question.members(0, 0) == [] and question.members(0, 2) == [("Clark",), ("Donald",)]


def test_a_table_in_a_schema_of_a_database(tmp_path: Path) -> None:
    import duckdb

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(
            "CREATE SCHEMA ward; CREATE TABLE ward.patients AS SELECT * FROM (VALUES ('a', 1, "
            "'x'), ('b', 2, 'y'), ('c', 3, 'x')) AS t(name, age, condition)"
        )
    queries = (
        "SELECT condition FROM ward.patients WHERE age < 3",
        "SELECT patients.condition FROM ward.patients WHERE ward.patients.age > 1",
    )
    plan = patients(*queries, rows=None, columns=None)
    plan["tables"] = {"ward.patients": plan["tables"].pop("patients")}
    with DuckDB(tmp_path / "clinic.duckdb", folder=tmp_path) as engine:
        question = asks(planned(plan, tmp_path), engine)
        assert question.overlap.sizes.tolist() == [1, 1, 1] and question.table == "ward.patients"
        assert list(question.everyone()) == [(("a",), 0, 0), (("b",), 2, 1), (("c",), 1, 0)]


@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_asks_the_same(
    kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    name = f"patients_{kind}"
    queries = (
        f"SELECT age, condition FROM {name} WHERE sex = 'M' OR zip IS NULL",
        f"SELECT zip FROM {name} WHERE condition < 'S' AND age > 24",
        f"SELECT 1 FROM {name} p WHERE p.condition IS NULL OR p.age BETWEEN 24 AND 27",
        f"SELECT lower(sex), condition FROM {name}",
    )
    plan = patients(
        *queries,
        rows=[*PATIENTS["rows"], ["it's", "f", 30, "1", None], ["😀", "ß", 31, "", "A\\b"]],
        **QUASI,
    )
    plan["tables"] = {name: plan["tables"].pop("patients")}
    plan["releases"]["april"] = {"table": name, "generalization": {"zip": 3, "age": 1}}
    checked = planned(plan, tmp_path)
    source = {"postgres": "postgresql://localhost/clinic", "spark": "spark"}.get(kind, ".")
    with DuckDB() as judge, open_kind(kind, request, tmp_path) as engine:
        for check in (SIND, GAMMA):
            one, other = (
                asks(replace(checked, source=source), engine, check),
                asks(checked, judge, check),
            )
            assert one.overlap.values == other.overlap.values and one.answers == other.answers
            for field in ("outputs", "sizes", "shown", "current"):
                assert (
                    getattr(one.overlap, field).tolist() == getattr(other.overlap, field).tolist()
                )
            assert list(one.everyone()) == list(other.everyone())
            assert one.class_of(["it's"]) == other.class_of(["it's"]) and one.members(
                1, 3
            ) == other.members(1, 3)
