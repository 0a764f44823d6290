"""Every SQL shape on DuckDB, PostgreSQL and Spark:
equal answers, and the answers of plain Python.
"""

from __future__ import annotations

import inspect
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from sqlglot import exp, parse_one

from conformance.odd_tables import EMPTY, PEOPLE, TABLES, TRICKY, WORDS, many
from services import ENGINES, open_kind
from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes, shapes_coded, shapes_stored, shapes_text
from tacit.model.schema import Table

Rows = list[tuple[Any, ...]]
Ask = Callable[[Engine], exp.Expression]


@pytest.fixture(params=ENGINES, scope="module")
def loaded(request: pytest.FixtureRequest) -> Iterator[Engine]:
    """An engine of each kind that holds all the tables."""
    with open_kind(request.param, request) as engine:
        for table in TABLES:
            engine.attach(table)
        for name, relation in RELATIONS.items():
            engine.put_map(name, relation)
        yield engine


@pytest.fixture(scope="module")
def judge() -> Iterator[Engine]:
    """DuckDB with the same tables: what the others must agree with."""
    with DuckDB() as engine:
        for table in TABLES:
            engine.attach(table)
        for name, relation in RELATIONS.items():
            engine.put_map(name, relation)
        yield engine


def sizes(table: Table, names: list[str]) -> dict[str, int]:
    return {name: len(values(table, name)) + 1 for name in names}


def values(table: Table, *names: str) -> list[Any]:
    """The dictionary, by plain Python: distinct values without None, sorted by code point."""
    found = {
        tuple(row[list(table.columns).index(name)] for name in names) for row in table.rows or ()
    }
    known = sorted(row for row in found if None not in row)
    return [row[0] for row in known] if len(names) == 1 else known


def coded(table: str, keys: list[list[str]], *person: str) -> Ask:
    by_name = {one.name: one for one in TABLES}
    names = [name for key in keys for name in key]
    return lambda engine: shapes_coded.coded_counts(
        table,
        sizes(by_name[table], names),
        keys=keys,
        person=person,
        collations=engine.collations(table),
    )


def summed(table: str, keys: list[list[str]], **more: Any) -> Ask:
    by_name = {one.name: one for one in TABLES}
    names = [name for key in keys for name in key]
    return lambda engine: shapes_coded.coded_sums(
        table, sizes(by_name[table], names), keys=keys, collations=engine.collations(table), **more
    )


def levelled(engine: Engine) -> exp.Select:
    """Rows as labels: words by a relation, illnesses as they are."""
    rows = shapes_coded.levelled_rows(
        "many",
        sizes(many(), ["word", "condition"]),
        keys=[["word"], ["condition"]],
        levels={"word": ("labels of words", 2)},
        collations=engine.collations("many"),
    )
    return shapes.sorted_rows(rows, ["k0", "k1"])


def first_of_codes(*codes: int) -> Ask:
    """The first combinations with some words, and one illness."""
    return lambda engine: shapes_coded.first_coded(
        "many",
        ["word", "condition", "number"],
        {"word": codes, "condition": [0]},
        sizes(many(), ["word", "condition"]),
        collations=engine.collations("many"),
        limit=20,
    )


def found(table: str, columns: list[str], equal: dict[str, Any], limit: int = 100) -> Ask:
    return lambda engine: shapes.matching(
        table, columns, equal, collations=engine.collations(table), limit=limit
    )


def listed(table: str, *columns: str) -> Ask:
    return lambda engine: shapes.dictionary(table, columns, engine.collations(table))


def labels_of(name: str) -> dict[str, Any]:
    """A label for each code of a column of `many`:
    tricky ones in turn, and no label for the first.
    """
    number = np.arange(len(values(many(), name)))
    return {
        "code": number,
        "label": [None, *(f"{TRICKY[i % len(TRICKY)]}!" for i in number[1:])],
        "number": number // 2,
    }


def cells_of(*names: str) -> dict[str, Any]:
    """Three in four combinations of `many`, each with one of five groups;
    those that occur often have two.
    """
    table = many()
    place = {
        name: {value: i for i, value in enumerate([*values(table, name), None])} for name in names
    }
    found: Counter[int] = Counter()
    for row in table.rows or ():
        code = 0
        for name in names:
            code = code * len(place[name]) + place[name][row[list(table.columns).index(name)]]
        found[code] += 1
    cells = [(code, code % 5, 0, n // 2) for code, n in sorted(found.items()) if code % 4]
    cells += [(code, (code + 1) % 5, n // 2, n) for code, n in sorted(found.items()) if code % 4]
    columns = np.array(cells, dtype=np.int64).T
    return dict(zip(("k0", "number", "after", "upto"), columns, strict=True))


RELATIONS: dict[str, dict[str, Any]] = {
    "labels of words": labels_of("word"),
    "labels of ages": labels_of("age"),
    "left out": {"n0": np.array([0, 3]), "n1": np.array([1, 0])},
    "cells": cells_of("word", "age"),
    "whole cells": {
        name: column[: len(column) // 2]
        for name, column in cells_of("word", "age").items()
        if name in ("k0", "number")
    },
    "groups": {
        "number": np.arange(5),
        "l0": list(TRICKY[20:25]),
        "l1": ["*", None, "", "it's", "😀"],
    },
}


def regrouped(cells: str, *, divided: bool, columns: list[str]) -> Ask:
    return lambda engine: shapes_coded.regrouped(
        "many",
        columns,
        sizes=sizes(many(), ["word", "age"]),
        keys=[["word", "age"]],
        cells=cells,
        groups="groups",
        labels={"word": 0, "age": 1},
        divided=divided,
        collations=engine.collations("many"),
    )


def told_apart(engine: Engine) -> exp.Select:
    """Rows of `many` by two conditions, what is shown of some of them, a label and a key."""
    age, word, dose = (shapes.column(name, "t") for name in ("age", "word", "dose"))
    young, small = (
        exp.LT(this=age, expression=shapes.literal(1)),
        exp.LT(this=dose, expression=shapes.literal(Decimal("0.05"))),
    )
    outputs = {
        "b0": shapes_stored.bits(
            [young, small, *([exp.false()] * 57), word.is_(exp.null()).not_()]
        ),
        "s0": shapes_stored.text_where(young.copy(), word.copy(), engine.collation),
        "s1": shapes_stored.text_where(small.copy(), age.copy(), engine.collation),
        "s2": shapes_stored.text_where(
            exp.true(), exp.column("label", table="d0"), engine.collation
        ),
        "v": shapes_stored.as_read(
            shapes.column("condition", "t"), "NULLIF({c}, 'cold')", engine.dialect
        ),
        "k0": shapes.column("number", "t"),
    }
    labels = shapes_coded.labelled("many", "word", "labels of words", engine.collations("many"))
    return shapes_stored.stored_rows(
        "many",
        outputs,
        labels={"d0": (labels, word.copy())},
        where=age.copy().is_(exp.null()).not_(),
    )


def known_first(engine: Engine, **equal: Any) -> exp.Select:
    collations = {name: engine.collation for name in ("s0", "v") if engine.collation}
    return shapes.ordered(
        told_apart(engine),
        ["k0", "s0", "v"],
        equal=equal,
        by=["s0", "k0", "v"],
        collations=collations,
        limit=200,
    )


EVERY = list(PEOPLE.columns)
FIRST = {
    "a text": ("name", "Ana"),
    "a quote": ("name", "it's"),
    "a backslash": ("name", "a\\b"),
    "an emoji": ("name", "😀"),
    "no value": ("name", None),
    "the empty text": ('a "b"', ""),
    "upper case only": ('a "b"', "X"),
    "a negative number": ("it's", -1),
    "a number that no float holds": ("it's", 9007199254740993),
    "the least integer": ("it's", -9223372036854775808),
    "a decimal": ("Größe", Decimal("1.5")),
    "a large decimal": ("Größe", Decimal("123456789012.34")),
    "a decimal with an exponent": ("Größe", Decimal("0E+3")),
    "a leap day": ("order", date(2024, 2, 29)),
    "the first day": ("order", date(1, 1, 1)),
    "a time that summer time skips": ("seen at", datetime(2024, 3, 31, 2, 30)),
    "a microsecond": ("seen at", datetime(2024, 3, 31, 2, 30, 0, 1)),
    "a truth": ("back`tick", True),
}

SORTED: dict[str, Ask] = {
    "levelled_rows": levelled,
    "first_coded": first_of_codes(0, 2),
    "first_coded, with missing values": first_of_codes(0, sizes(many(), ["word"])["word"] - 1),
    "first_coded, only missing values": first_of_codes(sizes(many(), ["word"])["word"] - 1),
    "row_count": lambda _: shapes.row_count("many"),
    "columns_of": lambda _: shapes.columns_of("many", ["number"]).order_by(
        *shapes.order_by(["number"], {})
    ),
    "distinct_among_first": lambda _: shapes.distinct_among_first("people", EVERY, 1000),
    "different_rows": lambda _: shapes.different_rows(shapes.columns_of("people", EVERY)),
    "page": lambda engine: shapes.page(
        "words",
        ["word"],
        by=["word"],
        descending=True,
        collations=engine.collations("words"),
        offset=2,
        limit=5,
    ),
    "unread_value": lambda _: shapes_stored.unread_value(
        "people", "it's", shapes_stored.nothing_like("it's")
    ),
    "one_value": lambda _: shapes_stored.one_value(shapes_stored.typed_text("-5", "BIGINT")),
    "row_count of an empty table": lambda _: shapes.row_count("empty"),
    "distinct_count": lambda _: shapes.distinct_count("people", EVERY),
    "distinct_count of one column": lambda _: shapes.distinct_count("words", ["word"]),
    "missing_counts": lambda _: shapes.missing_counts("people", EVERY),
    "missing_counts of an empty table": lambda _: shapes.missing_counts("empty", ["name", "age"]),
    "dictionary of text": listed("words", "word"),
    "dictionary of two columns": listed("many", "first", "number"),
    "dictionary of an empty table": listed("empty", "name"),
    **{f"dictionary of {name}": listed("people", name) for name in EVERY},
    "coded_counts in one integer": coded("many", [["word", "age", "condition"]]),
    "coded_counts in three integers": coded("many", [["word", "age"], ["dose"], ["condition"]]),
    "coded_counts by person": coded("many", [["word"], ["age", "condition"]], "number"),
    "coded_counts by person in two columns": coded("many", [["condition"]], "first", "number"),
    "coded_counts of people themselves": coded("many", [["number"]], "number"),
    "coded_counts of odd names": coded("people", [EVERY[:3], EVERY[3:]], "name"),
    "coded_counts of a table named as an alias": coded("d0", [["t"], ["p"]], "t"),
    "coded_counts of an empty table": coded("empty", [["name", "age"]], "name"),
    "coded_sums": summed("many", [["word"], ["condition"]], amount="age"),
    "coded_sums of rows": summed("many", [["word", "age"]]),
    "coded_sums of some": summed("many", [["word"], ["age"]], amount="number", between=(3, 9)),
    "coded_sums of an empty table": summed("empty", [["name"]], amount="age"),
    "amount_faults of whole numbers": lambda _: shapes.amount_faults(
        "people", "it's", 2**33, whole=True
    ),
    "amount_faults of decimals": lambda _: shapes.amount_faults(
        "people", "Größe", 2**33, whole=False
    ),
    "amount_faults of an empty table": lambda _: shapes.amount_faults(
        "empty", "age", 1, whole=True
    ),
    "coded_counts of no columns": coded("people", [[]]),
    **{
        f"matching {what}": found("people", EVERY, {name: value})
        for what, (name, value) in FIRST.items()
    },
    "matching all of them, NULL last": found("people", EVERY, {}),
    "matching a few": found(
        "many", ["number", "word"], {"condition": "flu", "dose": None}, limit=7
    ),
    "kinds_of_text": lambda _: shapes_text.kinds_of_text(
        "looks", dict.fromkeys(["whole", "part", "mixed", "none"])
    ),
    "kinds_of_text of an empty table": lambda _: shapes_text.kinds_of_text("empty", {"name": None}),
    "kinds_of_text of declared dates and times": lambda _: (
        exp.select("*")
        .from_(shapes_text.kinds_of_text("written_dates", {"day": "date"}).subquery("a"))
        .join(
            shapes_text.kinds_of_text("written_dates", {"day": "timestamp"}).subquery("b"),
            join_type="cross",
        )
    ),
    "blank_counts": lambda _: shapes_text.blank_counts("blanks", ["text"]),
    "without_blanks": lambda _: shapes_text.without_blanks(
        shapes.columns_of("blanks", ["n", "text"]), ["n", "text"], ["text"]
    ).order_by(*shapes.order_by(["n"], {})),
    "line_end_count": lambda _: shapes_text.line_end_count("blanks", "text"),
    "lost_counts": lambda engine: shapes_stored.lost_counts(
        "people", {"it's": "{c} < 0", "name": "{c} = 'Ana'"}, engine.dialect
    ),
    "column_facts": lambda _: shapes_text.column_facts(
        "people", {name: str(kind) for name, kind in PEOPLE.columns.items()}
    ),
    "column_facts of tricky text": lambda _: shapes_text.column_facts("words", {"word": "text"}),
    "column_facts of numbers as text": lambda _: shapes_text.column_facts(
        "looks", dict.fromkeys(("whole", "part", "mixed"), "text")
    ),
    "column_facts of dates as text": lambda _: shapes_text.column_facts(
        "written_dates", {"day": "text"}
    ),
    "column_facts of an empty table": lambda _: shapes_text.column_facts(
        "empty", {"name": "text", "age": "integer"}
    ),
    "typed": lambda _: shapes_text.typed(
        "looks", {"whole": "BIGINT", "part": "DECIMAL(38, 20)", "mixed": "TEXT", "none": "DATE"}
    ).order_by(*shapes.order_by(["whole"], {})),
    "ordered, what is shown last where nothing is": known_first,
    "ordered, of one class": lambda engine: known_first(engine, b0=1 + (1 << 59), s1=None, v="flu"),
    "ordered, of one text": lambda engine: known_first(engine, s0="it's"),
    "literal": lambda _: exp.select(
        *(exp.alias_(shapes.literal(v), f"c{i}") for i, v in enumerate(TRICKY))
    ),
}

UNSORTED: dict[str, Ask] = {
    "whole_table": lambda _: shapes.whole_table("people"),
    "values_where": lambda _: shapes_stored.values_where(
        "blanks",
        shapes.column("text", "t"),
        shapes_text.shows_nothing(shapes.column("text", "t")),
    ),
    "typed_text like a column": lambda engine: shapes_stored.stored_rows(
        "people", {"v": shapes_stored.typed_text("Ana", "TEXT", engine.dialect, like="name")}
    ),
    "label_of": lambda engine: shapes_stored.stored_rows(
        "many",
        {"v": shapes_stored.label_of("d0", shapes.column("word", "t"), "nothing")},
        labels={
            "d0": (
                shapes_coded.labelled("many", "word", "labels of words", engine.collations("many")),
                shapes.column("word", "t"),
            )
        },
    ),
    "reworded": lambda _: shapes_text.reworded(
        "words", ["word"], {"word": ["Zoe", "it's"]}, ["word"]
    ),
    "word_counts": lambda _: shapes_text.word_counts("words", "word", ["zoe", "a"]),
    "comma_counts": lambda _: shapes_text.comma_counts(
        shapes.columns_of("words", ["word"]), ["word"]
    ),
    "distinct_rows": lambda _: shapes.distinct_rows("people", EVERY),
    "recoded": lambda engine: shapes_coded.recoded(
        "many",
        ["word", "age", "dose", "condition"],
        labels={"word": "labels of words"},
        missing={"word": (None, 0)},
        constants={"dose": "it's *"},
        collations=engine.collations("many"),
    ),
    "recoded, groups left out": lambda engine: shapes_coded.recoded(
        "many",
        ["word", "age", "condition"],
        labels={"word": "labels of words", "age": "labels of ages"},
        missing={"word": ("gone", 3), "age": (None, 0)},
        as_is=["age"],
        left_out="left out",
        collations=engine.collations("many"),
    ),
    "regrouped": regrouped(
        "whole cells", divided=False, columns=["age", "condition", "word", "first"]
    ),
    "regrouped, combinations divided": regrouped("cells", divided=True, columns=["word", "age"]),
    "stored_rows with labels, bits, texts and a reading": told_apart,
    "stored_rows over distinct values": lambda _: shapes_stored.stored_rows(
        "people",
        {"b0": shapes_stored.bits([shapes.column(name, "t").is_(exp.null()) for name in EVERY])},
        over={name: shapes.column(name, "t") for name in EVERY},
    ),
    "missing_rows of a table in itself": lambda _: shapes_stored.missing_rows(
        "people", EVERY, "people", EVERY
    ),
    "missing_rows of numbers among words, none shown": lambda _: shapes_stored.missing_rows(
        "people", ["it's"], "words", ["word"]
    ).limit(0),
    "tallied": lambda engine: shapes.tallied(told_apart(engine), ["b0", "s0", "s1", "s2", "v"]),
    "tallied columns of a table": lambda _: shapes.tallied(
        shapes.columns_of("people", EVERY), EVERY, 100
    ),
    "a view in SQL, in small letters": lambda _: parse_one(
        "SELECT Name, COUNT(*) AS n FROM People GROUP BY Name"
    ),
}


NUMBERS = (
    "row_count",
    "missing_counts of an empty table",
    "coded_counts by person in two columns",
    "coded_counts of an empty table",
)


def answer(engine: Engine, ask: Ask) -> Rows:
    return list(engine.rows(ask(engine)))


@pytest.mark.parametrize("case", SORTED)
def test_every_engine_gives_the_same_rows_in_the_same_order(
    loaded: Engine, judge: Engine, case: str
) -> None:
    expected = answer(judge, SORTED[case])
    assert answer(loaded, SORTED[case]) == expected
    assert expected or "empty" in case


@pytest.mark.parametrize("case", UNSORTED)
def test_every_engine_gives_the_same_rows(loaded: Engine, judge: Engine, case: str) -> None:
    assert Counter(answer(loaded, UNSORTED[case])) == Counter(answer(judge, UNSORTED[case]))


@pytest.mark.parametrize(
    "word", [word for word in TRICKY if not word.isascii() or not word.isalnum()]
)
def test_every_text_finds_itself(loaded: Engine, word: str) -> None:
    assert answer(loaded, found("words", ["word"], {"word": word})) == [(word,)]


def test_text_is_sorted_by_code_point(loaded: Engine) -> None:
    assert [row[0] for row in answer(loaded, listed("words", "word"))] == [
        *values(WORDS, "word"),
        None,
    ]


def test_codes_are_positions_in_the_dictionary(loaded: Engine) -> None:
    table, columns, person = many(), ("word", "condition"), ("first", "number")
    place = {
        name: {value: i for i, value in enumerate([*values(table, name), None])} for name in columns
    }
    people = {key: i for i, key in enumerate(values(table, *person))}
    index = {name: i for i, name in enumerate(table.columns)}
    expected: Counter[tuple[int, ...]] = Counter()
    for row in table.rows or ():
        word, condition, *who = (row[index[name]] for name in (*columns, *person))
        if tuple(who) in people:
            expected[place["word"][word], place["condition"][condition], people[tuple(who)]] += 1
    arrays = loaded.numbers(coded("many", [["word"], ["condition"]], *person)(loaded))
    assert list(zip(*(a.tolist() for a in arrays), strict=True)) == [
        (*key, n) for key, n in sorted(expected.items())
    ]


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_are_the_rows_as_arrays(loaded: Engine, case: str) -> None:
    query = SORTED[case](loaded)
    arrays = loaded.numbers(query)
    assert [str(array.dtype) for array in arrays] == ["int64"] * len(query.selects)
    assert list(zip(*(array.tolist() for array in arrays), strict=True)) == answer(
        loaded, SORTED[case]
    )


def test_numbers_refuse_what_is_missing(loaded: Engine) -> None:
    with pytest.raises(Exception, match="answered with something else"):
        loaded.numbers(shapes.distinct_rows("people", ["it's"]))


def test_columns_have_the_same_types(loaded: Engine, judge: Engine) -> None:
    for table in TABLES:
        assert loaded.columns(table.name) == judge.columns(table.name)
    assert loaded.columns(EMPTY.name) == {"name": "text", "age": "integer"}


def test_every_public_shape_has_a_case(judge: Engine) -> None:
    modules = (shapes, shapes_coded, shapes_stored, shapes_text)
    public = {
        name
        for module in modules
        for name, one in inspect.getmembers(module, inspect.isfunction)
        if one.__module__ == module.__name__
    }
    called: set[str] = set()

    def note(frame: Any, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename in {module.__file__ for module in modules}:
            called.add(frame.f_code.co_name)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        for ask in (*SORTED.values(), *UNSORTED.values()):
            judge.sql(ask(judge))
        # A table that is read through other SQL and one that is made from values.
        judge.attach(Table("times", columns={"x": None}, rows=((0.5,),)))
        judge.sql(
            shapes_stored.read_through(
                shapes.row_count("t"), {"t": shapes_stored.reading("t", {"x": "{c}"}, "duckdb")}
            )
        )
    finally:
        sys.setprofile(before)
    assert public - called == set(), "add a case for each of these to SORTED or UNSORTED"


def test_dates_are_told_from_what_only_looks_like_them(loaded: Engine) -> None:
    rows, values, different, shortest, longest, digits, numbers, dates = answer(
        loaded, SORTED["column_facts of dates as text"]
    )[0]
    assert (rows, values, different, shortest, longest) == (12, 11, 11, 8, 25)
    assert (digits, numbers, dates) == (1, 1, 6)
