"""Errors teach: what was found, where, and what to write instead; and they form one tree."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from tacit import errors
from tacit.errors import (
    DataError,
    EngineError,
    InputError,
    Mark,
    MissingExtra,
    ParameterError,
    PlanError,
    Problems,
    TacitError,
    did_you_mean,
    raise_all,
)

ALL = [one for _, one in inspect.getmembers(errors, inspect.isclass) if issubclass(one, Exception)]


def test_nobody_is_told_to_install_the_package_of_a_stranger() -> None:
    """On the public index the project's name belongs to somebody else."""
    root = Path(__file__).parents[1]
    files = [
        path
        for folder in ("src", "docs", "examples", "benchmarks", "tests")
        for path in (root / folder).rglob("*")
        if path.suffix in (".py", ".md", ".html")
    ]
    wrong = [
        str(path)
        for path in (*files, root / "README.md", root / "Makefile")
        if re.search(r"install[^\n]{0,40}tacit" r"\[", path.read_text("utf-8", "ignore"))
    ]
    assert not wrong


def test_all_errors_descend_from_one() -> None:
    assert all(issubclass(one, TacitError) for one in ALL)


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    """Every class stands in the drawing, under its own parent."""
    drawn: list[tuple[int, str]] = []
    for line in (errors.__doc__ or "").splitlines():
        found = re.match(r"^([\s│├└─]*)([A-Z]\w+)", line)
        if found and issubclass(getattr(errors, found.group(2), type(None)), Exception):
            drawn.append((len(found.group(1)), found.group(2)))
    assert {name for _, name in drawn} == {one.__name__ for one in ALL}
    for number, (depth, name) in enumerate(drawn):
        parents = [other for other_depth, other in drawn[:number] if other_depth < depth]
        if parents:
            assert issubclass(getattr(errors, name), getattr(errors, parents[-1])), (
                f"{name} below {parents[-1]}"
            )


@pytest.mark.parametrize("kind", [InputError, PlanError, DataError, ParameterError])
def test_wrong_input_is_a_value_error(kind: type[TacitError]) -> None:
    assert issubclass(kind, ValueError)
    assert not issubclass(EngineError, ValueError)


def test_a_missing_extra_is_an_import_error_with_the_command_to_run() -> None:
    error = MissingExtra("pyspark", extra="spark", purpose="Spark sources")
    assert isinstance(error, ImportError)
    assert (
        str(error)
        == "Spark sources need the package pyspark. Run: pip install 'tacit-privacy[spark]'"
    )


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        (Mark("a.yaml"), "a.yaml"),
        (Mark("a.yaml", 3), "a.yaml:3"),
        (Mark("a.yaml", 3, 7), "a.yaml:3:7"),
        (Mark("a.yaml", 3, None), "a.yaml:3"),
    ],
)
def test_a_place_prints_as_editors_know_it(mark: Mark, text: str) -> None:
    assert str(mark) == text


def test_the_caret_stands_below_the_column() -> None:
    error = PlanError(
        "k=1 protects nobody.", hint="Use k >= 2.", mark=Mark("p.yaml", 2, 8, "    k: 1")
    )
    first, line, caret = str(error).splitlines()
    assert first == "p.yaml:2:8: k=1 protects nobody. Use k >= 2."
    assert line[caret.index("^")] == "1"


def test_without_a_place_there_is_only_the_message() -> None:
    assert str(TacitError("wrong.")) == "wrong."
    assert str(TacitError("wrong.", hint="Do it.")) == "wrong. Do it."


def test_a_place_is_added_once() -> None:
    error = DataError("wrong.")
    assert error.at(None) is error
    assert error.at(Mark("a", 1)).at(Mark("b", 2)).mark == Mark("a", 1)


def test_the_json_of_an_error() -> None:
    whole = PlanError("m", hint="h", mark=Mark("p.yaml", 2, 8, "text")).to_json()
    assert whole == {"message": "m", "file": "p.yaml", "line": 2, "column": 8, "hint": "h"}
    assert TacitError("m").to_json() == {
        "message": "m",
        "file": None,
        "line": None,
        "column": None,
        "hint": None,
    }


def test_a_parameter_error_says_which_parameter() -> None:
    error = ParameterError("k=1 protects nobody.", parameter="k", hint="Use k >= 2.")
    assert (error.parameter, error.hint, str(error)) == (
        "k",
        "Use k >= 2.",
        "k=1 protects nobody. Use k >= 2.",
    )


def test_several_problems_are_told_in_one_go() -> None:
    one, two, three = TacitError("1"), TacitError("2"), TacitError("3")
    nested = Problems([one, Problems([two, three])])
    assert list(nested) == [one, two, three]
    assert str(nested) == "1\n2\n3"
    assert nested.to_json()["message"] == "1"


def test_raising_what_was_collected() -> None:
    raise_all([])
    alone = DataError("alone")
    with pytest.raises(DataError) as caught:
        raise_all(iter([alone]))
    assert caught.value is alone
    with pytest.raises(Problems) as several:
        raise_all([alone, PlanError("other")])
    assert len(list(several.value)) == 2


def test_one_error_is_a_list_of_itself() -> None:
    error = TacitError("x")
    assert list(error) == [error]


@pytest.mark.parametrize(
    ("word", "known", "hint"),
    [
        (
            "quasi-identifier",
            ["quasi-identifiers", "sensitive"],
            "Did you mean 'quasi-identifiers'?",
        ),
        ("Zip", ["zip", "age"], "Did you mean 'zip'?"),
        ("zzz", ["b", "a"], "Known: a, b."),
        ("zzz", [], ""),
    ],
)
def test_hints_name_the_nearest_word(word: str, known: list[str], hint: str) -> None:
    assert did_you_mean(word, known) == hint


def test_an_error_survives_being_sent_to_another_process() -> None:
    """pytest-xdist and process pools pickle errors."""
    import pickle

    for error in (
        DataError("m", hint="h", mark=Mark("f", 1)),
        ParameterError("m", parameter="k", hint="h"),
        MissingExtra("psycopg", extra="postgres", purpose="PostgreSQL sources"),
        Problems([TacitError("1"), TacitError("2")]),
    ):
        again = pickle.loads(pickle.dumps(error))
        assert type(again) is type(error)
        assert str(again) == str(error)
