"""Files of other programs: every value is kept, or the file is refused with what to do."""

import gzip
import json
import math
from datetime import date
from decimal import Decimal

import pytest

from tacit.engines.attach import reworded
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes
from tacit.errors import DataError
from tacit.model.schema import Table

ROWS = (("01305", 28, Decimal("61.5")), ("13053", None, Decimal("70")), ("zwölf", 9, None))
CSV = "zip,age,kg\n01305,28,61.5\n13053,,70\nzwölf,9,\n"


def rows_of(folder, file, **keys):
    with DuckDB(folder=folder) as engine:
        table = Table("t", file=file, **keys)
        engine.attach(table)
        names = list(engine.columns("t"))
        return engine.columns("t"), list(engine.rows(shapes.columns_of("t", names)))


def excel(path, rows, *, sheets=1):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for at in range(sheets):
        sheet = book.active if not at else book.create_sheet()
        for row in rows:
            sheet.append(row)
    book.save(path)


def write(folder, ending):
    """The same rows in a file of each kind; the name of the file."""
    path = folder / f"t{ending}"
    records = [
        {"zip": "01305", "age": 28, "kg": 61.5},
        {"zip": "13053", "age": None, "kg": 70},
        {"zip": "zwölf", "age": 9, "kg": None},
    ]
    frame = {name: [one[name] for one in records] for name in ("zip", "age", "kg")}
    if ending == ".csv.gz":
        path.write_bytes(gzip.compress(CSV.encode()))
    elif ending == ".csv.zst":
        pa = pytest.importorskip("pyarrow")
        with pa.CompressedOutputStream(str(path), "zstd") as stream:
            stream.write(CSV.encode())
    elif ending == ".jsonl":
        path.write_text("\n".join(map(json.dumps, records)), encoding="utf-8")
    elif ending in (".feather", ".arrow"):
        pa = pytest.importorskip("pyarrow")
        table = pa.table({**frame, "kg": pa.array([61.5, 70, None], pa.float32())})
        if ending == ".feather":
            from pyarrow import feather

            feather.write_feather(table, path)
        else:
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as out:
                out.write_table(table)
    elif ending == ".xlsx":
        excel(path, [["zip", "age", "kg"], *([*one.values()] for one in records)])
    else:
        pyreadstat = pytest.importorskip("pyreadstat")
        pd = pytest.importorskip("pandas")
        writer = {".sav": "write_sav", ".dta": "write_dta", ".xpt": "write_xport"}[ending]
        getattr(pyreadstat, writer)(pd.DataFrame(frame), str(path))
    return path.name


@pytest.mark.parametrize(
    "ending",
    [".csv.gz", ".csv.zst", ".jsonl", ".feather", ".arrow", ".xlsx", ".sav", ".dta", ".xpt"],
)
def test_the_same_rows_come_out_of_every_kind_of_file(tmp_path, ending):
    kinds, rows = rows_of(tmp_path, write(tmp_path, ending))
    assert kinds == {"zip": "text", "age": "integer", "kg": "decimal"}
    assert [(zip_, age, kg if kg is None else Decimal(str(kg))) for zip_, age, kg in rows] == [
        *ROWS
    ]


def test_numbers_of_json_lines_keep_every_digit(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"n": 0.12345678901234567890}\n{"n": 100000000000000001}\n')
    _, rows = rows_of(tmp_path, "t.jsonl")
    assert rows == [(Decimal("0.12345678901234567890"),), (Decimal(100000000000000001),)]


def test_what_json_lines_nest_is_json(tmp_path):
    (tmp_path / "t.jsonl").write_text('{"a": {"x": 1.0}, "b": [1, "é"], "c": true}\n{"a": null}\n')
    _, rows = rows_of(tmp_path, "t.jsonl")
    assert rows == [('{"x": 1.0}', '[1, "é"]', "true"), (None, None, None)]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"a": 1}\n{"a": \n', r"t.jsonl:2: this line is not JSON"),
        ("[1]\n", r"t.jsonl:1: this line is no object"),
        ('{"a": 1, "a": 2}\n', r"'a' stands twice in this line"),
        ("", r"t.jsonl has no columns"),
        ('{"a": 1, "A": 2}\n', r"two columns named 'A'"),
    ],
)
def test_json_lines_that_are_none_are_refused_with_their_line(tmp_path, text, said):
    (tmp_path / "t.jsonl").write_text(text)
    with pytest.raises(DataError, match=said):
        rows_of(tmp_path, "t.jsonl")


def test_dates_and_truths_of_excel_are_written_as_in_csv(tmp_path):
    excel(
        tmp_path / "t.xlsx", [["born", "ok", "n"], [date(2024, 2, 29), True, 3.0], [None, False, 4]]
    )
    kinds, rows = rows_of(tmp_path, "t.xlsx")
    assert kinds == {"born": "text", "ok": "text", "n": "integer"}
    assert rows == [("2024-02-29", "true", 3), (None, "false", 4)]
    kinds, rows = rows_of(tmp_path, "t.xlsx", columns={"born": "date"})
    assert rows[0][0] == date(2024, 2, 29)


@pytest.mark.parametrize(
    ("rows", "sheets", "said"),
    [
        ([["a", "b"], [1, "=A2+1"]], 1, "cell B2 has a formula, and no value"),
        (
            [["a"], [12345678901234567]],
            1,
            "column 'a' of t.xlsx has numbers of more than 15 digits",
        ),
        ([["a"], [1]], 2, "t.xlsx has 2 sheets with values: Sheet, Sheet1"),
        ([["a", None], [1, 2]], 1, "column 2 of t.xlsx has no name"),
        ([], 1, "t.xlsx is empty"),
    ],
)
def test_workbooks_that_could_be_misread_are_refused(tmp_path, rows, sheets, said):
    pytest.importorskip("python_calamine")
    excel(tmp_path / "t.xlsx", rows, sheets=sheets)
    with pytest.raises(DataError, match=said):
        rows_of(tmp_path, "t.xlsx")


@pytest.mark.parametrize("ending", [".xlsx", ".feather", ".sav", ".dta", ".csv.gz", ".csv.zst"])
def test_a_file_that_is_not_what_its_name_says_is_refused(tmp_path, ending):
    (tmp_path / f"t{ending}").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(DataError):
        rows_of(tmp_path, f"t{ending}")


def test_labels_count_where_every_value_has_its_own(tmp_path):
    pyreadstat, pd = pytest.importorskip("pyreadstat"), pytest.importorskip("pandas")
    frame = pd.DataFrame({"sex": [1, 2, math.nan], "age": [30, 40, 50]})
    labels = {"sex": {1: "men", 2: "women"}, "age": {30: "thirty"}}
    pyreadstat.write_sav(frame, str(tmp_path / "t.sav"), variable_value_labels=labels)
    _, rows = rows_of(tmp_path, "t.sav")
    assert rows == [("men", 30), ("women", 40), (None, 50)]


def test_words_for_missing_are_taken_out_before_types_are_looked_at(tmp_path):
    (tmp_path / "t.csv").write_text("ca,thal,num\n0.0,?,1\n?,3,NA\n2.0,7,?\n")
    kinds, _ = rows_of(tmp_path, "t.csv")
    assert set(kinds.values()) == {"text"}
    kinds, rows = rows_of(tmp_path, "t.csv", unknown={"*": ("?",), "num": ("NA",)})
    assert kinds == {"ca": "decimal", "thal": "integer", "num": "integer"}
    assert [row[1] for row in rows] == [None, 3, 7]
    kinds, _ = rows_of(tmp_path, "t.csv", unknown={"num": ("NA", "?")}, sensitive=("num",))
    assert kinds["num"] == "text"  # of a sensitive column the check decides


def test_words_for_missing_are_taken_out_of_parquet_too(tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"a": ["?", "x"], "n": [99, 1]}), tmp_path / "t.parquet")
    assert rows_of(tmp_path, "t.parquet", unknown={"*": ("?",)})[1] == [(None, 99), ("x", 1)]
    with pytest.raises(DataError, match="'n' of table t is no text in its file"):
        rows_of(tmp_path, "t.parquet", unknown={"n": (99,)})
    with pytest.raises(DataError, match="has no column 'm'"):
        rows_of(tmp_path, "t.parquet", unknown={"m": (99,)})


def test_decimal_commas_count_where_the_whole_column_is_numbers(tmp_path):
    (tmp_path / "t.csv").write_text("kg;what;n\n61,5;1,5 mg;1\n-70;2,5;2\n")
    kinds, rows = rows_of(tmp_path, "t.csv", decimal_comma=True)
    assert kinds == {"kg": "decimal", "what": "text", "n": "integer"}
    assert rows == [(Decimal("61.5"), "1,5 mg", 1), (Decimal(-70), "2,5", 2)]
    assert rows_of(tmp_path, "t.csv")[0]["kg"] == "text"


def test_a_table_that_is_no_file_says_missing_by_null():
    with DuckDB() as engine:
        with pytest.raises(DataError, match="is for tables that are files"):
            engine.attach(Table("t", columns={"a": None}, rows=(("?",),), unknown={"*": ("?",)}))
        engine.attach(Table("s", columns={"a": None}, rows=(("?",),)))
        assert reworded(engine, "s", Table("s")) is None
