"""A file's name is a name: on no way in or out is it taken for a pattern of names."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest
import yaml

import tacit as tacit_package
from commands import Ran
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.open import open_engine
from tacit.engines.spark.engine import Spark
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError
from tacit.model.schema import Table

Run = Callable[..., Ran]

# Each beside files that it would mean as a pattern.
NAMES = {
    "vendor[1]": ["vendor1"],
    "people*": ["people", "people2"],
    "a?b": ["axb"],
    "[ab]": ["a", "b"],
    "[!a]": ["b"],
    "**": ["c"],
    "{a,b}": ["a", "b"],
    "~home": [],
    "100%": [],
    "it's": [],
    "new\nline": [],
    "[": [],
    "a[b": [],
    "[[]x]": ["[x]"],
    "s3:": [],
    "é": [],
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("ending", [".csv", ".parquet"])
@pytest.mark.parametrize("name", NAMES)
def test_a_file_is_the_one_of_that_name(folder: Path, name: str, ending: str) -> None:
    for number, one in enumerate([name, *NAMES[name]]):
        write(folder / f"{one}{ending}", [number])
    with DuckDB(folder=folder) as engine:
        engine.attach(Table("t", file=f"{name}{ending}"))
        assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(0,)]
        engine.lock()
        assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(0,)]


def test_a_folder_is_the_one_of_that_name(folder: Path) -> None:
    for number, one in enumerate(["d[1]", "d1", "year=2024"]):
        (folder / one).mkdir()
        write(folder / one / "t.parquet", [number])
    for number, one in enumerate(["d[1]", "d1", "year=2024"]):
        with DuckDB(folder=folder / one) as engine:
            engine.attach(Table("t"))
            assert engine.native_types("t") == {"n": "INTEGER"}
            assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(number,)]


def test_a_name_that_duckdb_would_divide_is_refused(folder: Path) -> None:
    (folder / "a\\[1].csv").write_text("n\n1\n")
    with (
        DuckDB(folder=folder) as engine,
        pytest.raises(DataError, match="its path has a backslash beside one of"),
    ):
        engine.attach(Table("t", file="a\\[1].csv"))


@pytest.mark.slow
def test_spark_reads_the_file_of_that_name_or_none(folder: Path, spark_session: object) -> None:
    for name in (
        "vendor[1]",
        "people*",
        "{a,b}",
        "a,b",
        "100%",
        "%41",
        "a#b",
        " a b ",
        "it's",
        "~",
        "é",
    ):
        for number, one in enumerate([name, *NAMES.get(name, ["a", "b"])]):
            write(folder / f"{one}.csv", [number])
        with Spark(session=spark_session, folder=folder) as engine:
            engine.attach(Table("t", file=f"{name}.csv"))
            assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(0,)]
        for ending in ("csv", "parquet"):
            (folder / f"out{name}.{ending}").unlink(missing_ok=True)
            with Spark(session=spark_session, folder=folder) as engine:
                engine.attach(Table("t", file=f"{name}.csv"))
                engine.save(shapes.columns_of("t", ["n"]), str(folder / f"out{name}.{ending}"))
                engine.attach(Table("again", file=f"out{name}.{ending}"))
                assert list(engine.rows(shapes.columns_of("again", ["n"]))) == [(0,)]
    for name in ("_people", ".people", "a:b"):
        write(folder / f"{name}.csv", [1])
        with (
            Spark(session=spark_session, folder=folder) as engine,
            pytest.raises(DataError, match="Spark does not read"),
        ):
            engine.attach(Table("t", file=f"{name}.csv"))


PLAN = """
version: 1
source: "d[1]"
tables:
  people: {file: "p*.csv", quasi-identifiers: [zip], sensitive: [ill], hierarchies: {zip: "d[1]/z?.csv"}}
  all: {file: "all[1].csv", quasi-identifiers: [zip]}
releases:
  out: {table: people, generalization: {zip: 1}}
  found: {table: people, file: "f[1].csv"}
checks:
  - k-anonymity: {release: out, k: 2}
  - k-anonymity: {release: found, k: 2}
  - risk: {release: out, attacker: journalist, population: all, at-most: 1/2}
"""  # noqa: E501


def test_every_file_of_a_plan_is_the_one_of_its_name(folder: Path, tacit: Run) -> None:
    """Tables, hierarchies, microdata from elsewhere, populations and outputs;
    each has a neighbour that would be found as a pattern.
    """
    for place in (folder / "d[1]", folder / "d1"):
        place.mkdir()
    (folder / "d[1]" / "p*.csv").write_text("zip,ill\n13053,flu\n13054,cold\n")
    (folder / "d[1]" / "people.csv").write_text("zip,ill\n99999,flu\n")
    (folder / "d1" / "p*.csv").write_text("zip,ill\n99999,flu\n")
    (folder / "d[1]" / "z?.csv").write_text("13053;1305*\n13054;1305*\n")
    (folder / "d[1]" / "zz.csv").write_text("13053;x\n13054;y\n")
    (folder / "d[1]" / "all[1].csv").write_text("zip\n13053\n13054\n13053\n")
    (folder / "d[1]" / "all1.csv").write_text("zip\n1\n")
    (folder / "f[1].csv").write_text("zip,ill\n1305*,flu\n1305*,cold\n")
    (folder / "f1.csv").write_text("zip,ill\n1,flu\n2,cold\n")
    (folder / "tacit.yaml").write_text(PLAN)
    ran = tacit("check", "--json")
    assert [one["status"] for one in ran.json["verdicts"]] == ["holds", "holds", "holds"], (
        ran.out + ran.err
    )
    (folder / "out1.csv").write_text("kept")
    ran = tacit("anonymize", "out", "-o", "out[1].csv")
    assert ran.status == 0, ran.err
    assert sorted((folder / "out[1].csv").read_text().split()) == [
        "1305*,cold",
        "1305*,flu",
        "zip,ill",
    ]
    assert (folder / "out1.csv").read_text() == "kept"


def test_an_answer_is_the_file_of_its_name(folder: Path, tacit: Run) -> None:
    (folder / "people.csv").write_text("name,sex,ill\nAnn,F,flu\nBo,F,cold\n")
    (folder / "a[1].csv").write_text("ill\nflu\ncold\n")
    (folder / "a1.csv").write_text("ill\nother\nother\n")
    (folder / "tacit.yaml").write_text(
        "version: 1\ntables:\n  people: {key: [name], sensitive: [ill]}\nreleases:\n"
        '  women: {query: "SELECT ill FROM people WHERE sex = \'F\'", answer: "a[1].csv"}\n'
        "checks:\n  - gamma-privacy: {release: women, gamma: 0.5}\n"
    )
    ran = tacit("check", "--json")
    assert [one["status"] for one in ran.json["verdicts"]] == ["holds"], ran.out + ran.err


def test_an_answer_that_is_recorded_has_no_column_of_its_folder(folder: Path, tacit: Run) -> None:
    """DuckDB reads a column from a folder that is called year=2024."""
    (folder / "year=2024").mkdir()
    (folder / "people.csv").write_text("name,sex,ill\nAnn,F,flu\nBo,F,cold\nCy,M,flu\n")
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  people: {key: [name], sensitive: [ill]}\n"
        "releases:\n"
        '  sexes: {query: "SELECT sex FROM people", to: clinic}\n'
        "checks:\n  - gamma-privacy: {release: sexes, gamma: 0.9}\n"
    )
    assert tacit("ledger", "begin").status == 0
    ran = tacit("ledger", "record", "sexes", "--output", "year=2024/out.csv")
    assert ran.status == 0, ran.err
    assert sorted((folder / "year=2024" / "out.csv").read_text().split()) == ["F", "F", "M", "sex"]


def test_init_looks_at_the_file_of_that_name(folder: Path, tacit: Run) -> None:
    (folder / "[ab].csv").write_text("zip,ill\n" + "13053,flu\n13053,cold\n" * 5)
    for other in ("a.csv", "b.csv"):
        (folder / other).write_text("zip,ill\n1,x\n")
    ran = tacit("init", "[ab].csv", "--json")
    assert ran.status == 0, ran.err
    assert "10 rows" in (folder / "tacit.yaml").read_text()
    assert tacit("check").status in (0, 1)


ODD = [
    "v[1]",
    "p*",
    "a?",
    "{a,b}",
    "it's",
    'say "hi"',
    "back\\slash",
    "~",
    "100%",
    "%41",
    "a#b",
    " a b ",
    "e\u0301",
    "-dash",
    "s3:",
    "$HOME",
    "a;b",
    "<b>",
    "tab\tx",
    "md:x",
    "a\nb",
]


@pytest.mark.sampled
@pytest.mark.parametrize("name", ODD)
def test_any_name_goes_all_the_way(folder: Path, tacit: Run, name: str) -> None:
    """From a table to a plan, a release, a report, and to the check of what was written, which
    the plan names as the terminal said.
    """
    rows = [("13053", 20 + i, ill) for i in range(6) for ill in ("flu", "cold")]
    (folder / f"{name}.csv").write_text(
        "zip,age,ill\n" + "".join(f"{zip_},{age},{ill}\n" for zip_, age, ill in rows)
    )
    (folder / "a.csv").write_text("zip,age,ill\n1,1,x\n")
    ran = tacit("init", "--", f"{name}.csv")
    assert ran.status == 0, ran.err
    plan = folder / "tacit.yaml"
    assert "12 rows" in plan.read_text()
    release = next(one for one in yaml.safe_load(plan.read_text())["releases"] if one != "raw")
    for output in (f"out {name}.csv", f"out {name}.parquet"):
        ran = tacit("anonymize", release, "-o", output, "--report", f"r {name}.html")
        assert (
            ran.status == 0 and (folder / output).exists() and (folder / f"r {name}.html").exists()
        ), ran.err
    table = yaml.safe_load(plan.read_text())["releases"][release]["table"]
    plan.write_text(
        f"{plan.read_text()}\n".replace(
            "releases:\n",
            "releases:\n"
            f"  one: {{table: {json.dumps(table)}, file: {json.dumps(f'out {name}.csv')}}}\n"
            f"  two: {{table: {json.dumps(table)}, file: {json.dumps(f'out {name}.parquet')}}}\n",
            1,
        ).replace(
            "checks:\n",
            "checks:\n"
            "  - k-anonymity: {release: one, k: 2}\n"
            "  - k-anonymity: {release: two, k: 2}\n",
            1,
        )
    )
    ran = tacit("check", "--json")
    found = {one["subject"]["release"]: one["status"] for one in ran.json["verdicts"]}
    assert found["one"] == found["two"] == "holds", ran.out + ran.err


@pytest.mark.parametrize(
    "name", ["db[1]", "d*", "~x", "it's", "md:x", "sqlite:x", "postgres:x", "%41", "a b"]
)
def test_a_database_is_the_file_of_its_name(folder: Path, name: str) -> None:
    """`md:` and `sqlite:` are names of services to DuckDB, and a plan names a file."""
    for number, one in enumerate([name, "db1", "dx", "x"]):
        with duckdb.connect(str(folder / f"{one}.duckdb")) as made:
            made.execute(f"CREATE TABLE t AS SELECT {number} AS n")
    with open_engine(f"{name}.duckdb", Path()) as engine:
        engine.attach(Table("t"))
        assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(0,)]
        engine.save(shapes.columns_of("t", ["n"]), "made")
    with duckdb.connect(str(folder / f"{name}.duckdb"), read_only=True) as made:
        assert made.execute("SELECT n FROM made").fetchall() == [(0,)]


def test_a_backslash_is_a_letter_of_a_name_or_refused(folder: Path) -> None:
    (folder / "a").mkdir()
    for number, one in enumerate(["a\\b", "a/b"]):
        write(folder / f"{one}.csv", [number])
        write(folder / f"{one}.parquet", [number])
    for ending in ("csv", "parquet"):
        with DuckDB(folder=folder) as engine:
            engine.attach(Table("t", file=f"a\\b.{ending}"))
            assert list(engine.rows(shapes.columns_of("t", ["n"]))) == [(0,)]
    (folder / "a\\b.duckdb").write_bytes(b"")
    with pytest.raises(EngineError, match="its path has a backslash"):
        open_engine("a\\b.duckdb", folder)


def test_only_these_functions_hand_a_name_to_an_engine() -> None:
    """`sql_file` (and `sql_place` to write) for DuckDB and `spark_path` for Spark:
    nobody else gives a path to an engine.
    """
    here = Path(tacit_package.__file__).parent
    texts = {
        path.relative_to(here).as_posix(): path.read_text(encoding="utf-8")
        for path in here.rglob("*.py")
    }
    readers = re.compile(
        r"(read_csv|read_parquet|parquet_schema|parquet_scan|read_json|read_text|glob)\(\{(?!sql_file\()|session\.read\.\w+\((?!\s*spark_path\()|(COPY|ATTACH) "  # noqa: E501
        r"[^\n]*\{quoted\(|FROM '\{"
    )
    assert not [
        f"{name}: {found[0]}" for name, text in texts.items() for found in readers.finditer(text)
    ]


def write(path: Path, numbers: list[int]) -> None:
    """A file with one column n."""
    if path.suffix == ".csv":
        path.write_text("n\n" + "".join(f"{one}\n" for one in numbers))
        return
    values = ", ".join(f"({one})" for one in numbers)
    place = str(path).replace("'", "''")
    duckdb.execute(f"COPY (SELECT * FROM (VALUES {values}) AS t(n)) TO '{place}' (FORMAT parquet)")
