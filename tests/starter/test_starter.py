"""`tacit init`: whatever the table, the plan that is written loads, runs, and says why."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from pathlib import Path

import duckdb
import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit import cli
from tacit.checking.assess import Assessment, assess
from tacit.errors import DataError, EngineError, InputError
from tacit.families.microdata.runs.anonymize import anonymize
from tacit.families.microdata.runs.repair_results import Repaired
from tacit.model.schema import MaskHierarchy, RangeHierarchy
from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan
from tacit.plan.read.values import PASSWORD
from tacit.starter.coarsening import coarsen, widths
from tacit.starter.column_words import meaning_of
from tacit.starter.guessing import guess, guess_alone, key_of, person_of
from tacit.starter.plan_text import plan_text, scalar
from tacit.starter.start import Starter, start
from tacit.starter.survey import ColumnProfile, without_password

Run = Callable[..., tuple[int, str, str]]
REAL_DATA = Path(
    os.environ.get("TACIT_DATA") or Path(__file__).resolve().parents[3] / "shared" / "data"
)


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def tacit(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run the command line; give back its exit status and what it printed."""

    def run(*arguments: str) -> tuple[int, str, str]:
        monkeypatch.setattr("sys.argv", ["tacit", *arguments])
        status = cli.run()
        out, err = capsys.readouterr()
        return status, out, err

    return run


def csv(name: str, *lines: str) -> str:
    Path(name).write_text("\n".join(lines) + "\n", encoding="utf-8")
    return name


def roles(starter: Starter) -> dict[str, str | None]:
    return {one.name: one.role for one in starter.guesses}


def checked(starter: Starter) -> tuple[Plan, Assessment]:
    """The plan that was written, loaded and answered as `tacit check` would."""
    plan = load_plan(starter.plan, need_checks=True)
    return plan, assess(plan)


PATIENTS = [
    "patient_id,Name,zip,born,sex,ward,diagnosis",
    *(
        (
            f"{1000 + i},Somebody {i},0{1300 + i % 7},19{50 + i % 40}-0{1 + i % 9}-1{i % 9}"
            f",{'FM'[i % 2]},w{i % 3},d{i % 4}"
        )
        for i in range(60)
    ),
]


# What is written


def test_the_plan_of_a_hospital_has_the_roles_a_person_would_give() -> None:
    starter = start(csv("patients.csv", *PATIENTS))
    assert roles(starter) == {
        "patient_id": "identifier",
        "Name": "identifier",
        "zip": "quasi-identifier",
        "born": "quasi-identifier",
        "sex": "quasi-identifier",
        "ward": None,
        "diagnosis": "sensitive",
    }
    plan, answers = checked(starter)
    table = plan.tables["patients"]
    assert table.file == "patients.csv"
    assert table.keys == (("patient_id",),) and table.person == ("patient_id",)
    assert plan.releases["generalized"].generalization == {"zip": 2, "born": 2, "sex": 0}
    assert [verdict.label for verdict in answers] == [
        "5-anonymity",
        "3-diversity",
        "entropy 2-diversity",
    ]


@pytest.mark.parametrize(
    ("values", "labels"),
    [
        (["yes"] * 31 + ["no"] * 10, ["5-anonymity", "2-diversity", "recursive (10,2)-diversity"]),
        (["yes"] * 30 + ["no"] * 11, ["5-anonymity", "2-diversity", "recursive (9,2)-diversity"]),
        (
            ["well"] * 57 + ["flu", "flu", "cold"],
            ["5-anonymity", "3-diversity", "recursive (58,2)-diversity"],
        ),
        (["flu", "cold", "cough"], ["3-anonymity", "3-diversity", "entropy 2-diversity"]),
    ],
)
def test_no_check_is_proposed_that_the_whole_table_fails(
    values: list[str], labels: list[str]
) -> None:
    starter = start(
        csv(
            "some.csv",
            "age,diagnosis",
            *(f"{20 + i % 50},{value}" for i, value in enumerate(values)),
        )
    )
    found = anonymize(load_plan(starter.plan), "generalized")
    assert isinstance(found, Repaired)
    assert [verdict.label for verdict in found.verdicts] == labels


def test_every_column_stands_in_the_plan_with_its_reason() -> None:
    starter = start(csv("patients.csv", *PATIENTS))
    lines = starter.plan.read_text("utf-8").splitlines()
    for one in starter.guesses:
        assert any(re.search(rf"- {one.name} +# {re.escape(one.why)}$", line) for line in lines), (
            one.name
        )


def test_no_value_of_the_data_is_written_or_printed(tacit: Run) -> None:
    status, out, err = tacit("init", csv("patients.csv", *PATIENTS))
    text = Path("tacit.yaml").read_text("utf-8") + out + err
    values = {value for line in PATIENTS[1:] for value in line.split(",")} - {"F", "M"}
    assert status == 0
    assert [value for value in values if re.search(rf"\b{re.escape(value)}\b", text)] == []


def test_uncommenting_the_suggestion_releases_the_column() -> None:
    starter = start(csv("patients.csv", *PATIENTS))
    text = starter.plan.read_text("utf-8")
    starter.plan.write_text(
        text.replace("    # insensitive:\n    # ", "    insensitive:\n    "), "utf-8"
    )
    assert checked(starter)[0].tables["patients"].insensitive == ("ward",)


def test_a_plan_in_another_folder_finds_the_data(inside: Path) -> None:
    Path("data").mkdir()
    Path("plans/deep").mkdir(parents=True)
    Path("link").symlink_to("plans/deep")
    for plan in ("plans/deep/a.yaml", "link/b.yaml"):
        starter = start(csv("data/t.csv", *PATIENTS), plan=Path(plan))
        assert load_plan(plan).tables["t"].file == "../../data/t.csv"
        checked(starter)
    starter = start(str(inside / "data" / "t.csv"), plan=Path("c.yaml"))
    assert load_plan("c.yaml").tables["t"].file == "data/t.csv"


def test_a_plan_can_be_read_by_any_yaml_reader() -> None:
    start(csv("t.csv", "yes,zip,a: b", "1,2,3", "1,3,4", "2,3,4"))
    document = yaml.safe_load(Path("tacit.yaml").read_text("utf-8"))
    assert document["tables"]["t"]["quasi-identifiers"] == ["zip"]
    assert document["tables"]["t"]["sensitive"] == ["a: b"]


# The command


def test_a_plan_that_is_there_is_never_overwritten(tacit: Run) -> None:
    csv("patients.csv", *PATIENTS)
    for kind in (Path.write_text, lambda path, _: path.symlink_to("nowhere")):
        plan = Path("tacit.yaml")
        kind(plan, "mine")
        status, out, err = tacit("init", "patients.csv")
        assert (status, out) == (2, "")
        assert "tacit.yaml is there already; nothing was written. Use -o other.yaml" in err
        plan.unlink()
    assert sorted(os.listdir()) == ["patients.csv"]


def test_the_output_has_three_names_and_the_next_step_says_which(tacit: Run) -> None:
    csv("patients.csv", *PATIENTS)
    assert "correct the roles, then: tacit check\n" in tacit("init", "patients.csv")[1]
    for number, option in enumerate(("-o", "--output", "--plan")):
        _, out, _ = tacit("init", "patients.csv", option, f"{number}.yaml")
        assert (
            f"Next: read {number}.yaml, correct the roles, then: tacit check {number}.yaml" in out
        )
    texts = {Path(name).read_text("utf-8") for name in ("tacit.yaml", "0.yaml", "1.yaml", "2.yaml")}
    assert len(texts) == 1
    status, _, err = tacit("init", "patients.csv", "-o", "no/such/plan.yaml")
    assert status == 2 and "there is no folder no/such" in err


def test_the_plan_may_be_read_by_others_and_no_draft_is_left() -> None:
    before = os.umask(0o022)
    try:
        starter = start(csv("t.csv", *PATIENTS))
    finally:
        os.umask(before)
    assert stat.S_IMODE(starter.plan.stat().st_mode) == 0o644
    assert sorted(os.listdir()) == ["t.csv", "tacit.yaml"]


@pytest.mark.parametrize(
    "command", [("init", "patients.csv", "-o", "q.yaml"), ("demo", "d")], ids=["init", "demo"]
)
def test_a_folder_without_rights_is_told_by_the_name_that_was_given(
    tacit: Run, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    csv("patients.csv", *PATIENTS)
    for made in ("touch", "mkdir"):  # also root, who may write everywhere, runs this test
        monkeypatch.setattr(Path, made, refuse)
    status, out, err = tacit(*command)
    assert (status, out) == (2, "")
    assert err == (
        f"error: {command[-1]} cannot be written: permission denied. Write to a folder "
        "where you may.\n"
    )
    assert os.listdir() == ["patients.csv"]


def test_one_row_and_one_column_are_not_many(tacit: Run) -> None:
    assert "t: 1 row, 1 column\n" in tacit("init", csv("t.csv", "a", "1"))[1]


def test_the_report_of_the_demo_replaces_no_pipe(tacit: Run) -> None:
    os.mkfifo("pipe")
    status, out, err = tacit("demo", "d", "--report", "pipe")
    assert (status, out, err) == (
        2,
        "",
        "error: pipe is not a file. Name the file that is to be written.\n",
    )
    assert Path("pipe").is_fifo()


def test_a_file_system_without_links_gets_its_plan_too(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_links(*_: object) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "link", no_links)
    checked(start(csv("t.csv", *PATIENTS)))
    assert sorted(os.listdir()) == ["t.csv", "tacit.yaml"]


def test_json_tells_every_column(tacit: Run) -> None:
    status, out, err = tacit("init", csv("patients.csv", *PATIENTS), "--json")
    document = json.loads(out)
    assert status == 0 and err == ""
    assert (document["plan"], document["table"]) == ("tacit.yaml", "patients")
    assert document["columns"][2] == {
        "name": "zip",
        "type": "text",
        "role": "quasi-identifier",
        "why": "its name suggests a postal code; 7 different values",
        "distinct": 7,
        "missing": 0,
    }


def test_the_terminal_shows_names_with_brackets_as_they_are(tacit: Run) -> None:
    _, out, _ = tacit("init", csv("t.csv", "[red]zip[/red],x", "1,a", "2,a"))
    assert "[red]zip[/red]" in out


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("none.csv", "there is no file none.csv."),
        (".", ". is a folder. Give one of its files: tacit init a.csv"),
        ("t.pdf", "t.pdf is not a kind of file that Tacit knows. Use a file as CSV (.csv"),
        ("t.xlsx", "t.xlsx is no whole Excel workbook"),
        ("mysql://ann:secret@db/x", "mysql://... is not a place that Tacit knows."),
        ("empty.csv", "empty.csv is empty."),
        ("na\udcefve.csv", "the name of na?ve.csv is not UTF-8. Rename the file."),
        ("latin.csv", "latin.csv is not UTF-8 (byte 0xe9 in line 2)."),
        ("twice.csv", "twice.csv has two columns named 'a'"),
        ("ragged.csv", "the first line names 2 columns, this line has 3."),
        ("broken.parquet", "broken.parquet cannot be read"),
        ("broken.duckdb", "broken.duckdb cannot be opened as a DuckDB database."),
    ],
)
def test_bad_input_is_explained(tacit: Run, data: str, message: str) -> None:
    csv("a.csv", "a,b", "1,2")
    csv("twice.csv", "a,a", "1,2")
    csv("ragged.csv", "a,b", "1,2", "1,2,3")
    for name in ("t.pdf", "t.xlsx", "broken.parquet", "broken.duckdb"):
        csv(name, "nonsense" * 2000)
    Path("empty.csv").touch()
    Path("latin.csv").write_bytes(b"a,b\nJos\xe9,1\n")
    status, out, err = tacit("init", data)
    assert (status, out) == (2, "")
    assert message in err
    assert "secret" not in err and "Traceback" not in err
    assert not Path("tacit.yaml").exists()


# Tables of every shape


def test_weird_headers_come_back_as_they_were() -> None:
    names = [
        "a b: c",
        'q"uote',
        "yes",
        "1",
        "ünïcode 😀",
        "it's",
        "{x}",
        "#h",
        "- d",
        "*",
        "null",
        "~",
        "a\\b",
        "!t",
        "&a",
        "1e5",
        "%",
    ]
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    rows = [",".join(str(i % (2 + j % 4)) for j in range(len(names))) for i in range(40)]
    starter = start(csv("t.csv", header, *rows))
    table = checked(starter)[0].tables["t"]
    assert list(roles(starter)) == names
    assert table.sensitive == (names[-1],) and len(table.quasi_identifiers) == 8


def test_names_that_only_parquet_can_have() -> None:
    names = [
        "zip\ncode",
        "age\t",
        "sex\u2028",
        "condition # no\r",
        "race\x85",
        "x\x7f\ufeff",
        "country " + "x" * 2000,
        " ",
    ]
    columns = ", ".join(f"i % 5 AS {scalar_sql(name)}" for name in names)
    duckdb.sql(f"COPY (SELECT {columns} FROM range(30) t(i)) TO 't.parquet'")
    starter = start("t.parquet")
    table = checked(starter)[0].tables["t"]
    assert set(table.quasi_identifiers) == {names[0], names[1], names[2], names[4], names[6]}
    assert table.sensitive == (names[3],)
    assert roles(starter)[" "] is None


def scalar_sql(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def test_a_table_without_rows_is_planned_by_names(tacit: Run) -> None:
    status, _, err = tacit("init", csv("t.csv", "id,zip,age,date of birth,sex,diagnosis"))
    assert status == 0 and "the table has no rows" in err
    table = load_plan("tacit.yaml", need_checks=True).tables["t"]
    assert table.identifiers == ("id",) and not table.keys
    assert table.quasi_identifiers == ("zip", "age", "date of birth", "sex")
    assert tacit("check")[0] == 2
    csv("t.csv", "id,zip,age,date of birth,sex,diagnosis", "7,01234,30,1990-01-02,F,x")
    assert tacit("check")[0] == 1


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["diagnosis", "x", "y", "x"], {"diagnosis": "sensitive"}),
        (["age", "30", "31", "30"], {"age": "quasi-identifier"}),
        (["ward", "a", "b", "b"], {"ward": "sensitive"}),
        (["a", "1", "1"], {"a": None}),
        (["a,b", "1,x", "2,y", "3,z"], {"a": "quasi-identifier", "b": "quasi-identifier"}),
        (["a,zip", "1,", "2,"], {"a": "quasi-identifier", "zip": None}),
        (["a,zip,age,x", ",,,", ",,,"], {"a": None, "zip": None, "age": None, "x": None}),
        (["a", "1"], {"a": None}),
        (["age,income", "30,1", "31,1"], {"age": "quasi-identifier", "income": "sensitive"}),
    ],
    ids=[
        "only sensitive",
        "only known",
        "only categories",
        "constant",
        "all unique",
        "one missing",
        "all missing",
        "one value",
        "constant secret",
    ],
)
def test_small_tables_get_plans_that_run(lines: list[str], expected: dict[str, str | None]) -> None:
    starter = start(csv("t.csv", *lines))
    assert roles(starter) == expected
    _, answers = checked(starter)
    assert len(answers) == (3 if "sensitive" in expected.values() else 1)


@pytest.mark.slow
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    st.data(),
    st.lists(
        st.sampled_from(
            [
                "zip",
                "age",
                "born",
                "sex",
                "id",
                "salary",
                "x",
                "y y",
                "Größe",
                "city",
                "visit date",
                "lat",
            ]
        ),
        min_size=1,
        max_size=6,
        unique=True,
    ),
)
def test_any_table_gets_a_plan_that_runs(data: st.DataObject, names: list[str]) -> None:
    cell = st.sampled_from(
        [
            "",
            "0",
            "1",
            "-3",
            "2.5",
            "99999999",
            "01234",
            "12345",
            "2024-02-29",
            "2024-02-30",
            "1985-07-04 10:00:00",
            "a",
            "b",
            "?",
        ]
    )
    pools = [data.draw(st.lists(cell, min_size=1, max_size=4)) for _ in names]
    rows = data.draw(
        st.lists(st.tuples(*(st.sampled_from(pool) for pool in pools)), min_size=1, max_size=25)
    )
    Path("tacit.yaml").unlink(missing_ok=True)
    lines = [",".join(f'"{value}"' for value in row) for row in rows]
    starter = start(csv("t.csv", ",".join(f'"{name}"' for name in names), *lines))
    _, answers = checked(starter)
    assert len(answers) in (1, 3)


def test_a_file_without_a_line_of_names_is_noted(tacit: Run) -> None:
    _, _, err = tacit("init", csv("t.csv", "Jo,13053,28", "Al,13053,29"))
    assert "If the first line is data, put a line of names above it." in err


def test_an_unknown_separator_is_noted(tacit: Run) -> None:
    _, _, err = tacit("init", csv("t.csv", "zip^age", "13053^28"))
    assert "is the separator something else" in err


def test_a_decimal_comma_is_seen_beside_words_for_missing() -> None:
    starter = start(csv("t.csv", "weight;zip", "61,5;13053", "?;13053", "70,25;NA", "NA;13068"))
    weight = next(one.facts for one in starter.guesses if one.name == "weight")
    assert weight.kind == "decimal" and weight.missing == 2
    text = Path("tacit.yaml").read_text("utf-8")
    assert 'decimal: ","' in text and 'unknown: {"*": ["?", NA]}' in text


def test_a_file_can_be_given_another_table_name() -> None:
    assert start(csv("2024-05 final.csv", *PATIENTS)).table == "table_2024_05_final"
    assert start("2024-05 final.csv", plan=Path("b.yaml"), table="people").table == "people"
    checked(Starter(Path("b.yaml"), "people", 0, ()))
    with pytest.raises(DataError, match="cannot be the name of a table"):
        start("2024-05 final.csv", plan=Path("c.yaml"), table="a.b")


def test_parquet_keeps_its_types() -> None:
    duckdb.sql(
        """COPY (SELECT i AS id, DATE '1960-01-01' + INTERVAL (i * 30) DAY AS birth, i % 90 + 0.5::DOUBLE AS weight,
        CASE WHEN i = 3 THEN 'Infinity'::DOUBLE ELSE i END AS lat, i % 2 = 0 AS married, 10000 + i % 50 AS zip,
        {'flu': 0.5, 'cold': 0.5} AS outlook, (i % 3)::VARCHAR AS disease, 1e300 * i AS lon FROM range(200) t(i))
        TO 't.parquet'"""  # noqa: E501
    )
    starter = start("t.parquet")
    plan, _ = checked(starter)
    kinds = {one.name: one.facts.kind for one in starter.guesses}
    assert (
        kinds["birth"] == "timestamp"
        and kinds["married"] == "boolean"
        and kinds["outlook"] == "distribution"
    )
    table = plan.tables["t"]
    assert table.quasi_identifiers == ("birth", "lat", "married", "zip", "lon")
    assert table.hierarchies["zip"] == MaskHierarchy("right")
    assert [type(table.hierarchies[name]).__name__ for name in ("birth", "lat", "lon")] == [
        "DateHierarchy",
        "FlatHierarchy",
        "FlatHierarchy",
    ]


# Databases


def database(*tables: str) -> str:
    with duckdb.connect("clinic.duckdb") as connection:
        for name in tables:
            connection.execute(
                f"CREATE SCHEMA IF NOT EXISTS {name.split('.')[0] if '.' in name else 'main'}"
            )
            connection.execute(
                f"CREATE TABLE {name} AS SELECT 'p' || i AS person_no, 20 + i % 60 AS age, i % 4 "
                "AS disease FROM range(200) t(i)"
            )
    return "clinic.duckdb"


def test_the_only_table_of_a_database_is_taken() -> None:
    Path("plans").mkdir()
    starter = start(database("stays"), plan=Path("plans/tacit.yaml"))
    plan, _ = checked(starter)
    assert plan.source == "../clinic.duckdb"
    assert plan.tables["stays"].file is None and plan.tables["stays"].person == ("person_no",)


def test_of_several_tables_one_must_be_named(tacit: Run) -> None:
    status, _, err = tacit("init", database("stays", "care.visits"))
    assert status == 2 and "(there are: care.visits, stays)" in err
    for name in ("stays", "care.visits"):
        status, out, _ = tacit(
            "init", "clinic.duckdb", "--table", name, "-o", f"{name}.yaml", "--json"
        )
        assert status == 0 and json.loads(out)["table"] == name
        assert tacit("check", f"{name}.yaml")[0] in (0, 1)
    status, _, err = tacit("init", "clinic.duckdb", "--table", "stay")
    assert status == 2 and "Did you mean 'stays'?" in err


def test_a_database_without_tables_is_refused(tacit: Run) -> None:
    status, _, err = tacit("init", database())
    assert status == 2 and "clinic.duckdb has no tables" in err


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://ann:secret@db/clinic", "postgresql://ann@db/clinic"),
        ("postgresql://:secret@db/clinic", "postgresql://@db/clinic"),
        (
            "postgres://ann:s%40e@a:1,b:2/x?sslmode=require",
            "postgres://ann@a:1,b:2/x?sslmode=require",
        ),
        ("postgresql:///?user=a&password=secret&host=/tmp", "postgresql:///?user=a&host=/tmp"),
        ("postgresql://db/x?sslpassword=secret", "postgresql://db/x"),
        ("postgresql://db/x?pass%77ord=secret", "postgresql://db/x"),
        ("postgresql://db:5432/x", "postgresql://db:5432/x"),
    ],
)
def test_passwords_are_taken_out_of_addresses(url: str, expected: str) -> None:
    assert without_password(url) == expected
    assert not PASSWORD.search(expected)


@pytest.mark.slow
def test_a_postgres_table_is_planned_without_the_password(tacit: Run, postgres_url: str) -> None:
    import psycopg

    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(
            "CREATE TABLE starter_stays AS SELECT i AS patient_id, 20 + i % 60 AS age, '0' || "
            "(1000 + i % 9) AS plz, "
            "DATE '2024-01-01' + i % 99 AS seen, (ARRAY['flu', 'cold', 'angina'])[1 + i % 3] "
            "AS diagnose "
            "FROM generate_series(1, 300) i"
        )
        try:
            url = f"{postgres_url}&password=hunter2"
            status, _, err = tacit("init", url, "--table", "starter_stays")
            text = Path("tacit.yaml").read_text("utf-8")
            assert status == 0 and "the password was left out of the plan" in err
            assert "hunter2" not in text + err
            assert tacit("check")[0] in (0, 1)
            assert load_plan("tacit.yaml").tables["starter_stays"].quasi_identifiers == (
                "age",
                "plz",
                "seen",
            )
        finally:
            connection.execute("DROP TABLE starter_stays")


@pytest.mark.slow
def test_a_spark_table_is_planned(tacit: Run, spark_session: object) -> None:
    frame = spark_session.createDataFrame(  # type: ignore[attr-defined]
        [(i, 20 + i % 60, f"0{1000 + i % 9}", f"d{i % 3}") for i in range(300)],
        "id int, age int, zip string, disease string",
    )
    frame.createOrReplaceTempView("starter_stays")
    try:
        status, out, _ = tacit("init", "spark", "--json")
        assert status == 0 and json.loads(out)["table"] == "starter_stays"
        assert tacit("check")[0] in (0, 1)
    finally:
        spark_session.catalog.dropTempView("starter_stays")  # type: ignore[attr-defined]


# Real data


@pytest.mark.parametrize(
    ("file", "known", "secret"),
    [
        (
            "adult/adult.csv",
            {"age", "sex", "race", "native_country", "marital_status", "education"},
            {"salary_class"},
        ),
        ("heart/heart_cleveland.csv", {"age", "sex"}, {"num"}),
        ("commuters/tracts.csv", {"geoid_tract2010", "lat", "lon"}, {"nta_name"}),
    ],
)
def test_real_data_get_plans_that_run(file: str, known: set[str], secret: set[str]) -> None:
    if not (REAL_DATA / file).exists():
        pytest.skip(f"{file} is not here; set TACIT_DATA to the folder that has it")
    starter = start(str(REAL_DATA / file))
    found = roles(starter)
    assert known <= {name for name, role in found.items() if role == "quasi-identifier"}
    assert secret == {name for name, role in found.items() if role == "sensitive"}
    checked(starter)


# Guesses


@pytest.mark.parametrize(
    ("names", "role"),
    [
        (
            "name, Nachname, prénom, apellidos, patient name, CustomerName, e-mail, "
            "Telefonnummer, IBAN, SSN, mrn, passport_no, Versicherungsnummer, numéro de sécurité "
            "sociale, DNI, patientID, kunden_nr, Adresse, Straße, id, record id, uuid, customer",
            "identifier",
        ),
        (
            "age, Alter, âge, edad, sex, Geschlecht, sexe, zip, ZIPCode, PLZ, code postal, "
            "código_postal, dateOfBirth, DOB, Geburtsdatum, fecha de nacimiento, nationality, "
            "Staatsangehörigkeit, race, marital-status, Familienstand, estado civil, "
            "education_num, Beruf, city_name, Wohnort, país, native_country, language, country_id",
            "quasi-identifier",
        ),
        (
            "condition, disease, Diagnose, maladie, enfermedad, HIV_status, salary, netIncome, "
            "Haushaltseinkommen, revenu, religion, political_party, test_result, credit score, "
            "drug_name, Medikament, diagnosis_code",
            "sensitive",
        ),
        ("x, percentage, product_name, original, hours_per_week, fnlwgt, status, 中文, 123", None),
    ],
)
def test_names_in_four_languages(names: str, role: str | None) -> None:
    found = {name: meaning_of(name) for name in names.split(", ")}
    wrong = {name: one for name, one in found.items() if (one.role if one else None) != role}
    assert wrong == {}


def test_visits_of_the_same_patient_are_one_person() -> None:
    columns = [
        ColumnProfile("visit_id", "integer", 90, 90, 90),
        ColumnProfile("patient_id", "integer", 90, 90, 30),
        ColumnProfile("age", "integer", 90, 90, 40),
    ]
    guesses = guess(columns)
    key, person = key_of(guesses), person_of(guesses)
    assert key and person and (key.name, person.name) == ("visit_id", "patient_id")
    assert "30 people in 90 rows" in plan_text_of(columns)


def plan_text_of(columns: list[ColumnProfile]) -> str:
    from tacit.starter.survey import Look

    return plan_text(Look(".", "t", "t.csv", columns[0].rows, tuple(columns)), guess(columns))


@pytest.mark.parametrize(
    "kind, name, person",
    [
        ("integer", "patient", "patient"),
        ("text", "patient", "stay_no"),
        ("integer", "doctor", "stay_no"),
    ],
)
def test_a_column_of_numbers_that_is_called_as_people_are_tells_them_apart(
    kind: str, name: str, person: str
) -> None:
    found = person_of(
        guess(
            [ColumnProfile("stay_no", "integer", 90, 90, 90), ColumnProfile(name, kind, 90, 90, 30)]
        )
    )  # type: ignore[arg-type]
    assert found is not None and found.name == person


def test_doctors_are_not_the_people_of_a_table() -> None:
    guesses = guess(
        [
            ColumnProfile("doctor_id", "integer", 90, 90, 7),
            ColumnProfile("age", "integer", 90, 90, 40),
        ]
    )
    assert guesses[0].role == "identifier" and person_of(guesses) is None


def test_true_or_false_tells_nobody_apart() -> None:
    flag, number = guess(
        [
            ColumnProfile("insured", "boolean", 90, 90, 2),
            ColumnProfile("insured_id", "integer", 90, 90, 90),
        ]
    )
    assert (flag.role, number.role) == ("sensitive", "identifier")


def test_an_identifier_with_gaps_is_no_key() -> None:
    guesses = guess(
        [ColumnProfile("ssn", "text", 90, 80, 80), ColumnProfile("email", "text", 90, 90, 89)]
    )
    assert key_of(guesses) is None and person_of(guesses) is None


@given(
    st.decimals("-1e9", "1e9", places=3),
    st.decimals("0", "1e9", places=3),
    st.booleans(),
    st.sampled_from(["age", "birth", "other"]),
)
def test_bands_are_nested_and_not_wider_than_the_numbers(
    low: Decimal, span: Decimal, whole: bool, family: str
) -> None:
    if whole:
        low, span = low.to_integral_value(), span.to_integral_value()
    facts = ColumnProfile("x", "integer" if whole else "decimal", 99, 99, 50, low, low + span)
    found = widths(facts, family)
    assert found and all(width > 0 for width in found)
    assert all(coarse > fine and coarse % fine == 0 for fine, coarse in pairwise(found))
    assert not whole or all(width == width.to_integral_value() and width > 1 for width in found)
    if family == "other" and len(found) > 1:
        assert found[-1] <= span


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (17, 90, "5 10 20"),
        (1, 16, "2 10"),
        (13492, 1490400, "100000 500000 1000000"),
        (0, 1, "2"),
        (1950, 2005, "5 10 20"),
    ],
)
def test_bands_of_whole_numbers_are_round(low: int, high: int, expected: str) -> None:
    found = widths(ColumnProfile("x", "integer", 99, 99, 50, Decimal(low), Decimal(high)))
    assert " ".join(map(str, found)) == expected


def test_ages_are_banded_by_fives() -> None:
    for kind in ("integer", "decimal"):
        one = coarsen(guess_alone(ColumnProfile("age", kind, 9, 9, 4, Decimal(20), Decimal(24))))  # type: ignore[arg-type]
        assert one.spec == RangeHierarchy((Decimal(5), Decimal(10), Decimal(20))) and one.level == 2


def test_what_keeps_numbers_from_getting_bands_is_said() -> None:
    proposal = coarsen(
        guess_alone(ColumnProfile("age", "text", 100, 100, 40, Decimal(1), Decimal(7), numbers=97))
    )
    assert "3 of 100 values are no numbers" in proposal.note


def test_lost_leading_zeros_are_pointed_out() -> None:
    proposal = coarsen(
        guess_alone(ColumnProfile("zip", "integer", 100, 100, 40, Decimal(1305), Decimal(98765)))
    )
    assert "leading zeros" in proposal.note


@given(st.text(min_size=1))
def test_any_text_is_a_yaml_value_and_comes_back(text: str) -> None:
    assert yaml.safe_load(f"- {scalar(text)}  # comment") == [text]


def test_errors_are_the_ones_that_exit_with_2() -> None:
    with pytest.raises(InputError):
        start("none.csv")
    with pytest.raises((InputError, EngineError)):
        start("postgresql://nobody@127.0.0.1:1/x")


@pytest.mark.parametrize(
    "lines",
    [
        ["a,b", "x,y", "u,v"],
        ["name,b", "Ann,y", "Bo,v"],
        ["a,b,c", *(f"x{i},y{i},z{i}" for i in range(30))],
    ],
)
def test_a_plan_that_would_release_nothing_is_not_written(lines: list[str]) -> None:
    """Columns whose values all differ were all left out as identifiers;
    a release of no columns met every check.
    """
    assert "quasi-identifier" in roles(start(csv("t.csv", *lines))).values()
