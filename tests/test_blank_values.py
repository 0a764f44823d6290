"""Text in which nothing can be read is no value, of microdata and overlapping views;
SQL views see what the database sees.
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import tacit as tc
from commands import Ran
from tacit.engines.duckdb.engine import DuckDB
from tacit.engines.sql import shapes, shapes_stored, shapes_text
from tacit.model.text import is_blank

Run = Callable[..., Ran]

PLAN = """
version: 1
tables:
  people: {file: FILE, key: [name], identifiers: [name], quasi-identifiers: [zip], sensitive: [ill], hierarchies: {zip: "*"}}
releases:
  out: {table: people}
  ills: {query: "SELECT ill FROM people"}
checks:
  - l-diversity: {release: out, kind: distinct, l: 2}
  - gamma-privacy: {release: ills, gamma: 0.5}
"""  # noqa: E501


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["people.csv", "people.parquet"])
def plan(request: pytest.FixtureRequest, folder: Path) -> Path:
    """A plan of a table in which one of two people has a blank condition, and one a blank place."""
    blank = "  "
    if request.param.endswith(".csv"):
        (folder / "people.csv").write_text(
            f'name,zip,ill\nAnn,1,flu\nBo,1,"{blank}"\nCy,"{blank}",cold\nDi,"{blank}",flu\n'
        )
    else:
        duckdb.execute(
            "COPY (SELECT * FROM (VALUES ('Ann', '1', 'flu'), ('Bo', '1', ''), ('Cy', '', 'cold'), "
            "('Di', '', 'flu')) AS t(name, zip, ill)) "
            f"TO '{folder / 'people.parquet'}' (FORMAT parquet)"
        )
    (folder / "tacit.yaml").write_text(PLAN.replace("FILE", request.param))
    return folder


def test_a_blank_value_is_no_diversity_and_it_is_said(plan: Path, tacit: Run) -> None:
    diversity, gamma = tacit("check", "--json").json["verdicts"]
    assert (diversity["status"], diversity["measured"]["l"]) == ("breached", "1")
    assert (
        "ill is blank in 1 of 4 rows: empty text or spaces, taken as missing"
        in diversity["warnings"]
    )
    assert gamma["status"] == "breached"  # flu, flu, and one who may have it as well
    assert any("ill is blank for some people" in one for one in gamma["warnings"])


def test_what_is_printed_in_python_says_it_too() -> None:
    data = pd.DataFrame({"zip": ["1", "1", " ", " "]})
    verdict = tc.check(data, tc.KAnonymity(k=2), quasi_identifiers=["zip"])
    said = "Note: zip is blank in 2 of 4 rows"
    assert verdict.status == "holds" and said in str(verdict) and said in verdict._repr_html_()


@pytest.mark.parametrize("output", ["out.csv", "out.parquet"])
def test_a_table_with_blank_values_is_anonymized(plan: Path, tacit: Run, output: str) -> None:
    (plan / "tacit.yaml").write_text(
        (plan / "tacit.yaml").read_text().replace("gamma: 0.5", "gamma: 1")
    )
    ran = tacit("anonymize", "out", "-o", output)
    assert ran.status == 0, ran.err
    assert duckdb.execute(
        f"SELECT count(*), count(ill), count(DISTINCT zip) FROM '{plan / output}'"
    ).fetchall() == [(4, 3, 1)]


def test_every_character_is_blank_for_the_engine_where_it_is_for_python() -> None:
    """Also before and behind a letter: most texts are told by their first character."""
    engine = DuckDB()
    characters = [chr(code) for code in range(1, 0x3200)]
    texts = ["", *(text for one in characters for text in (one, f" {one}", f"{one}x", f"x{one}"))]
    engine.connection.execute("CREATE TABLE texts (text VARCHAR)")
    engine.put("texts", pd.DataFrame({"text": texts}))
    found = engine.rows(
        shapes_stored.values_where(
            "texts",
            shapes.column("text", "t"),
            shapes_text.shows_nothing(shapes.column("text", "t")),
        )
    )
    engine_says = sorted({text for text, *_ in found})
    assert engine_says == sorted({text for text in texts if is_blank(text)})
    engine.close()


def test_sql_views_see_blank_values_as_the_database_does(folder: Path, tacit: Run) -> None:
    """'' and NULL are two answers of a view, whatever microdata make of them, and in whatever
    order the checks are asked.
    """
    (folder / "people.csv").write_text('name,ill\nAnn,flu\nBo,"  "\n')
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  people: {key: [name], identifiers: [name], sensitive: [ill], domains: {name: [Ann, Bo], "
        'ill: [flu, "  "]}}\n'
        "secrets: {who: \"S(n) :- people(n, '  ')\"}\n"
        "releases:\n"
        "  out: {table: people}\n"
        '  all: {query: "V(n, i) :- people(n, i)"}\n'
        "checks:\n"
        "  - k-anonymity: {release: out, k: 2}\n"
        "  - g-safety: {secret: who, release: all}\n"
    )
    found = tacit("check", "--json").json["verdicts"]
    assert [one["status"] for one in found] == ["holds", "breached"]


def test_a_blank_person_is_nobody(folder: Path, tacit: Run) -> None:
    (folder / "people.csv").write_text('name,zip\nAnn,1\n"  ",1\n')
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  people: {person: [name], quasi-identifiers: [zip]}\n"
        "releases:\n"
        "  out: {table: people}\n"
        "checks:\n"
        "  - k-anonymity: {release: out, k: 2}\n"
    )
    ran = tacit("check")
    assert (
        ran.status == 2
        and "tells people apart, but 1 rows of people have none" in ran.err.replace("\n", " ")
    )


@pytest.mark.parametrize(
    "one, other",
    [
        ("café", "cafe\u0301"),
        ("flu", "fl\u200bu"),
        ("flu", "ｆｌｕ"),
        ("flu", "FLU"),
        ("flu", "flu\u00a0"),
        ("office", "oﬃce"),
        ("straße", "STRASSE"),
    ],
)
def test_two_ways_to_write_a_word_are_no_diversity(one: str, other: str) -> None:
    data = pd.DataFrame({"zip": ["1", "1"], "ill": [one, other]})
    verdict = tc.check(
        data, tc.LDiversity(kind="distinct", l=2), quasi_identifiers=["zip"], sensitive="ill"
    )
    assert verdict.status != "holds" and any(
        "merge-spelling: [ill]" in warning for warning in verdict.warnings
    )


@pytest.mark.parametrize(
    "word",
    [
        ".",
        "#N/A",
        "TBD",
        "refused",
        "?",
        "-",
        "n/a",
        "Prefer not to say",
        "Ｎ／Ａ",
        "—",
        "<NA>",
        "not stated",
    ],
)
def test_words_for_unknown_are_asked_about(word: str) -> None:
    data = pd.DataFrame({"zip": ["1", "1"], "ill": ["flu", word]})
    verdict = tc.check(
        data, tc.LDiversity(kind="distinct", l=2), quasi_identifiers=["zip"], sensitive="ill"
    )
    assert verdict.status != "holds" and any(
        "unknown: {ill: [...]}" in warning for warning in verdict.warnings
    )


# -- files that are not what their names say, or not one thing -------------------------------------


def check_file(folder: Path, tacit: Run, data: bytes, columns: str = "") -> Ran:
    (folder / "t.csv").write_bytes(data)
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        f"  t: {{quasi-identifiers: [a]{columns}}}\n"
        "releases:\n"
        f"  out: {{table: t}}\n"
        "checks:\n"
        f"  - k-anonymity: {{release: out, k: 2}}\n"
    )
    return tacit("check")


def test_a_field_may_be_as_long_as_it_is(folder: Path, tacit: Run) -> None:
    assert check_file(folder, tacit, b"a,b\n1," + b"x" * 200_000 + b"\n1,y\n").status == 0


@pytest.mark.parametrize(
    "data, said",
    [
        (b"a,b\r\n1,2\n1,2\r\n", "line 1 ends with CR LF, and line 2 with LF"),
        (b"a,b\n1,2\r\n1,2\n", "line 1 ends with LF, and line 2 with CR LF"),
    ],
)
def test_mixed_line_ends_are_named(folder: Path, tacit: Run, data: bytes, said: str) -> None:
    ran = check_file(folder, tacit, data)
    assert ran.status == 2 and said in ran.err.replace("\n", " ") and "tr -d" in ran.err


def test_line_ends_inside_quotes_are_values(folder: Path, tacit: Run) -> None:
    assert check_file(folder, tacit, b'a,b\n1,"x\r\ny"\n1,2\n').status == 0


@pytest.mark.parametrize(
    "data, said",
    [
        (gzip.compress(b"a\n1\n", mtime=0), "compressed by gzip"),
        (b"PK\x03\x04xx", "a ZIP archive"),
        (b"PAR1xx", "a Parquet file"),
    ],
)
def test_files_that_are_no_text_are_named(folder: Path, tacit: Run, data: bytes, said: str) -> None:
    ran = check_file(folder, tacit, data)
    assert ran.status == 2 and said in ran.err


@pytest.mark.parametrize(
    "kind, value",
    [
        ("date", "2024-01-01 10:00"),
        ("timestamp", "2024-01-01 10:00:00.1234567"),
        ("timestamp", "2024-01-01T10:00:00+02:00"),
        ("date", "2024-1-1"),
    ],
)
def test_a_declared_date_keeps_all_that_is_written_or_is_refused(
    folder: Path, tacit: Run, kind: str, value: str
) -> None:
    ran = check_file(folder, tacit, f"a\n{value}\n{value}\n".encode(), f", columns: {{a: {kind}}}")
    assert (
        ran.status == 2
        and f"column 'a' of table t is declared {kind}, but 2 of its 2 values are not"
        in ran.err.replace("\n", " ")
    )


def test_two_columns_of_one_name_in_parquet_are_refused(folder: Path, tacit: Run) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table([[1, 2], [1, 1]], names=["a", "a"]), folder / "t.parquet")
    (folder / "tacit.yaml").write_text(
        "version: 1\n"
        "tables:\n"
        "  t: {quasi-identifiers: [a]}\n"
        "releases:\n"
        "  out: {table: t}\n"
        "checks:\n"
        "  - k-anonymity: {release: out, k: 2}\n"
    )
    ran = tacit("check")
    assert ran.status == 2 and "t.parquet has two columns named 'a' (columns 1 and 2)" in ran.err


@pytest.mark.parametrize(
    "what, said",
    [
        ("decimal", "numbers of more than 38 digits"),
        ("half", "floats of 16 bits"),
        ("nano", "finer than microseconds"),
        ("list", "numbers of more than 38 digits"),
        ("struct", "floats of 16 bits"),
    ],
)
def test_columns_of_parquet_that_cannot_be_read_exactly_are_refused_where_they_are_used(
    folder: Path, tacit: Run, what: str, said: str
) -> None:
    from decimal import Decimal

    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    odd = {
        "decimal": pa.array([Decimal("1." + "1" * 30)] * 2, pa.decimal256(50, 30)),
        "half": pa.array([np.float16(0.1)] * 2, pa.float16()),
        "nano": pa.array([1, 2], pa.timestamp("ns")),
        "list": pa.array([[Decimal("1." + "1" * 30)]] * 2, pa.list_(pa.decimal256(50, 30))),
        "struct": pa.array([{"a": np.float16(0.1)}] * 2, pa.struct([("a", pa.float16())])),
    }[what]
    pq.write_table(pa.table({"a": [1, 1], "odd": odd}), folder / "t.parquet")
    plan = (
        "version: 1\n"
        "tables:\n"
        "  t: {quasi-identifiers: [a]MORE}\n"
        "releases:\n"
        "  out: {table: t}\n"
        "checks:\n"
        "  - k-anonymity: {release: out, k: 2}\n"
    )
    (folder / "tacit.yaml").write_text(plan.replace("MORE", ""))
    assert tacit("check").status == 0
    (folder / "tacit.yaml").write_text(plan.replace("MORE", ", sensitive: [odd]"))
    ran = tacit("check")
    assert (
        ran.status == 2
        and "column 'odd' of table t has" in ran.err
        and said in ran.err.replace("\n", " ")
    )
