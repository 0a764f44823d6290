"""What can be wrong with the files and the table of a synthetic release:
where it is, and what it says.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.engines.duckdb.engine import DuckDB
from tacit.errors import TacitError
from tacit.families.synthetic.reading.questions import SyntheticQuestions
from tacit.plan.read.load import load_plan

JOBS = "place,home,n\nmill,a,1\nmill,b,2\nyard,a,3\n"
D = "home,lat,lon\na,40,-74\nb,40.1,-74\nmill,40,-74\nyard,40,-74\n"
WITHIN = "domain: {file: d.csv, within: 30}"


def asked(folder: Path, options: str, files: dict[str, str], table: str = "jobs: ") -> str:
    """What is said of a release with these options and files."""
    for name, text in {"jobs.csv": JOBS, **files}.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "tacit.yaml").write_text(
        f"version: 1\ntables: {{{table}}}\n"
        "releases:\n"
        "  s:\n"
        "    table: jobs\n"
        "    synthetic:\n"
        "      group: place\n"
        "      value: home\n"
        "      epsilon: 1\n"
        "      delta: 1e-3\n"
        + "".join(f"      {line.strip()}\n" for line in options.split(";") if line.strip())
        + "checks:\n- differential-privacy: {release: s}\n"
    )
    plan = load_plan(folder / "tacit.yaml")
    with DuckDB(folder=folder) as engine, pytest.raises(TacitError) as raised:
        SyntheticQuestions(plan, engine).question(plan.checks[0])
    error = raised.value
    assert error.hint, str(error)
    return str(error).split("\n")[0].replace(str(folder) + "/", "")


FILES: dict[str, tuple[str, dict[str, str], str]] = {
    "no such file": (
        "domain: d.csv",
        {},
        "tacit.yaml:11:15: there is no file d.csv. Check the path",
    ),
    "an empty file": ("domain: d.csv", {"d.csv": ""}, "d.csv: d.csv is empty."),
    "an empty domain": (
        "domain: d.csv",
        {"d.csv": "home\n\n"},
        "d.csv: d.csv has no lines below its first.",
    ),
    "a value twice": (
        "domain: d.csv",
        {"d.csv": "home\na\nb\n\nc\nb\n"},
        "d.csv:6: 'b' stands twice in d.csv. Keep one of the lines.",
    ),
    "a line without a value": (
        "domain: d.csv",
        {"d.csv": "home,x\na,1\n,2\n"},
        "d.csv:3: this line has no home. Fill it in",
    ),
    "a ragged line": (
        "domain: d.csv",
        {"d.csv": "home,x\na,1\nb,2,3\n"},
        "d.csv:3: the first line names 2 columns, this line has 3.",
    ),
    "another column": (
        "domain: {file: d.csv, value: hme}",
        {"d.csv": "home,x\na,1\n"},
        "d.csv:1: d.csv has no column 'hme'. Did you mean 'home'?",
    ),
    "values that are not listed": (
        "domain: d.csv",
        {"d.csv": "home\nb\nc\n"},
        (
            "tacit.yaml:8:14: home of 2 people in table jobs is not in d.csv: 'a'. Add the "
            "values to the domain, or write outside: drop"
        ),
    ),
    "values that are not listed, counted": (
        "count: n;domain: d.csv",
        {"d.csv": "home\nc\n"},
        "home of 6 people in table jobs is not in d.csv: 'a' and 1 more.",
    ),
    "nobody inside": (
        "domain: d.csv;outside: drop",
        {"d.csv": "home\nc\n"},
        "nobody in table jobs is inside the domain of s.",
    ),
    "nobody at all": (
        "count: n",
        {"jobs.csv": "place,home,n\nmill,a,0\n"},
        "tacit.yaml:11:14: n is 0 in every row of table jobs: there is nobody.",
    ),
    "a prior without a value": (
        "domain: d.csv;prior: p.csv",
        {"d.csv": D, "p.csv": "home,weight\na,1\nb,2\nmill,1\n"},
        "p.csv: p.csv has no line for 'yard'. It needs a line for each value.",
    ),
    "a prior with another value": (
        "domain: d.csv;prior: p.csv",
        {"d.csv": "home\na\nb\n", "p.csv": "home,weight\na,1\nx,2\nb,1\n"},
        "p.csv:3: 'x' is no value of s. Remove the line, or add it to the domain.",
    ),
    "a prior twice": (
        "domain: d.csv;prior: p.csv",
        {"d.csv": "home\na\nb\n", "p.csv": "home,weight\na,1\nb,2\na,1\n"},
        "p.csv:4: 'a' stands twice in p.csv.",
    ),
    "a weight of 0": (
        "prior: p.csv",
        {"p.csv": "home,weight\na,1\nb,0\n"},
        "p.csv:3: weight is 0. Write a number above 0",
    ),
    "a weight below 0": (
        "prior: p.csv",
        {"p.csv": "home,weight\na,-1\nb,1\n"},
        "p.csv:2: weight is -1.",
    ),
    "a weight of words": (
        "prior: p.csv",
        {"p.csv": "home,weight\na,1\nb,much\n"},
        "p.csv:3: weight is 'much', which is no number.",
    ),
    "a weight that is not there": (
        "prior: p.csv",
        {"p.csv": "home,weight\na,1\nb,\n"},
        "p.csv:3: this line has no weight.",
    ),
    "a weight that is too long": (
        "prior: p.csv",
        {"p.csv": "home,weight\na,1e-999999999\nb,1\n"},
        "p.csv:2: weight is '1e-999999999', which is no number.",
    ),
    "no weights": (
        "domain: d.csv;prior: p.csv",
        {"d.csv": "home\na\nb\n", "p.csv": "home\na\nb\n"},
        (
            "p.csv:1: p.csv has no column of its own for weights. Name it weight in the first "
            "line; it has: home."
        ),
    ),
    "no region of a value": (
        "domain: d.csv;coarsen: r.csv",
        {"d.csv": "home\na\nb\nc\n", "r.csv": "home,region\na,N\nb,N\n"},
        "r.csv: r.csv has no line for 'c'.",
    ),
    "an empty region": (
        "coarsen: r.csv",
        {"r.csv": "home,region\na,N\nb,\n"},
        "r.csv:3: this line has no region.",
    ),
    "one column of regions": (
        "coarsen: r.csv",
        {"r.csv": "region\na\nb\n"},
        "r.csv:1: r.csv has no column of its own for regions.",
    ),
    "densities of 0": (
        "coarsen: r.csv",
        {"r.csv": "home,region,density\nb,N,1\na,S,0\n"},
        "r.csv:3: the densities of region 'S' are all 0.",
    ),
    "a density below 0": (
        "coarsen: r.csv",
        {"r.csv": "home,region,density\nb,N,1\na,S,-2\n"},
        "r.csv:3: density is -2.",
    ),
    "a prior of values where there are regions": (
        "coarsen: r.csv;prior: p.csv",
        {"r.csv": "home,region\na,N\nb,S\n", "p.csv": "home,weight\na,1\nb,2\n"},
        "p.csv:2: 'a' is no region of s. Remove the line, or add it to the regions of r.csv.",
    ),
    "a chance of 0": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,1\nb,0\n"},
        "k.csv:3: keep is 0. Write a chance above 0 and up to 1",
    ),
    "a chance below 0": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,-0.1\nb,1\n"},
        "k.csv:2: keep is -0.1.",
    ),
    "a chance above 1": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,1.01\nb,1\n"},
        "k.csv:2: keep is 1.01.",
    ),
    "a chance of words": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,1\nb,seldom\n"},
        "k.csv:3: keep is 'seldom', which is no number.",
    ),
    "a chance too small": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,1\nb,1e-12\n"},
        "k.csv:3: keep is less than one in 1,000,000,000.",
    ),
    "no chance of a value": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "home,keep\na,1\n"},
        "k.csv: k.csv has no line for 'b'.",
    ),
    "no chance of a pair": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "place,home,keep\nmill,a,1\nmill,b,1\nyard,b,1\n"},
        (
            "k.csv: k.csv has no chance for group 'yard' and 'a'. It needs a line for every "
            "group and value; add: yard,a,1"
        ),
    ),
    "no chance of a group": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "place,home,keep\nmill,a,1\nmill,b,1\n"},
        "k.csv: k.csv has no chance for group 'yard' and 'a'.",
    ),
    "a pair twice": (
        "domain: d.csv;shrink: k.csv",
        {
            "d.csv": "home\na\nb\n",
            "k.csv": "place,home,keep\nmill,a,1\nmill,b,1\nyard,b,1\nyard,a,1\nmill,a,0.5\n",
        },
        "k.csv:6: this group and value stand in a line above already.",
    ),
    "a pair of another value": (
        "domain: d.csv;shrink: k.csv",
        {"d.csv": "home\na\nb\n", "k.csv": "place,home,keep\nmill,a,1\nmill,x,1\n"},
        "k.csv:3: 'x' is no value of s.",
    ),
    "a latitude out of range": (
        "domain: d.csv",
        {"d.csv": "home,lat,lon\na,40,-74\nb,91,0\n"},
        "d.csv:3: lat is '91'. Write degrees from -90 to 90",
    ),
    "a longitude out of range": (
        "domain: d.csv",
        {"d.csv": "home,lat,lon\na,40,-74\nb,9,181\n"},
        "d.csv:3: lon is '181'.",
    ),
    "a latitude of words": (
        "domain: d.csv",
        {"d.csv": "home,lat,lon\na,40N,-74\nb,9,0\n"},
        "d.csv:2: lat is '40N'.",
    ),
    "a latitude that is none": (
        "domain: d.csv",
        {"d.csv": "home,lat,lon\na,nan,-74\nb,9,0\n"},
        "d.csv:2: lat is 'nan'.",
    ),
    "no coordinates": (
        WITHIN,
        {"d.csv": "home\na\nb\n"},
        (
            "tacit.yaml:11:7: distances need coordinates, and d.csv has no columns called "
            "latitude and longitude."
        ),
    ),
    "a value without coordinates": (
        WITHIN,
        {"d.csv": D.replace("b,40.1,-74", "b,,")},
        "d.csv:3: this line has no coordinates, and distances from here are asked for.",
    ),
    "a group without coordinates": (
        WITHIN,
        {"d.csv": D.replace("yard", "x")},
        (
            "tacit.yaml:11:7: d.csv has no coordinates of group 'yard', and distances from "
            "there are asked for. Add them to the file, or name another"
        ),
    ),
    "groups without coordinates": (
        "domain: {file: d.csv, groups: g.csv}",
        {"d.csv": D, "g.csv": "place\nmill\nyard\n"},
        "distances need coordinates, and g.csv has no columns",
    ),
    "a group twice": (
        "domain: {file: d.csv, groups: g.csv}",
        {"d.csv": D, "g.csv": "place,lat,lon\nmill,1,1\nyard,1,1\nmill,2,2\n"},
        "g.csv:4: 'mill' stands twice in g.csv.",
    ),
    "people too far away": (
        WITHIN,
        {"d.csv": D.replace("40.1", "50")},
        (
            "tacit.yaml:11:37: home of 1 person in table jobs is more than 30 miles from their "
            "place, the first 'b' of 'mill'. Write outside: drop"
        ),
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("case", FILES)
def test_a_bad_file_is_told_with_its_line(tmp_path: Path, case: str) -> None:
    options, files, said = FILES[case]
    assert said in asked(tmp_path, options, files)


def test_a_file_in_another_encoding(tmp_path: Path) -> None:
    (tmp_path / "e.csv").write_bytes(b"home\na\nb\nM\xfcnchen\n")
    assert "e.csv:4:2: e.csv is not UTF-8 (byte 0xfc in line 4)." in asked(
        tmp_path, "domain: e.csv", {}
    )


TABLES: dict[str, tuple[str, str, str, str]] = {
    "no rows": ("", "jobs: ", "place,home\n", "table jobs has no rows."),
    "no such column": (
        "",
        "jobs: ",
        "place,hme\nmill,a\n",
        "tacit.yaml:8:14: table jobs has no column 'home'. Did you mean 'hme'?",
    ),
    "no group": (
        "",
        "jobs: ",
        "place,home\n,a\nmill,b\n,b\n",
        (
            "tacit.yaml:7:14: column 'place' is the group of s, and 2 rows of table jobs have "
            "none. Fill it in"
        ),
    ),
    "no value": (
        "",
        "jobs: ",
        "place,home\nmill,\nmill,b\n",
        (
            "tacit.yaml:8:14: column 'home' is the value of s, and 1 row of table jobs has "
            "none. Fill it in, leave those rows out, or give them a value"
        ),
    ),
    "a negative count": (
        "count: n",
        "jobs: ",
        "place,home,n\nmill,a,-2\nmill,b,1\n",
        "tacit.yaml:11:14: column 'n' of table jobs counts people, and is negative in 1 row.",
    ),
    "a part of a person": (
        "count: n",
        "jobs: ",
        "place,home,n\nmill,a,2.5\nmill,b,0.5\nmill,b,3\n",
        "counts people, and is not a whole number in 2 rows.",
    ),
    "no count": (
        "count: n",
        "jobs: ",
        "place,home,n\nmill,a,2\nmill,b,\n",
        "counts people, and has no number in 1 row.",
    ),
    "too many people": (
        "count: n",
        "jobs: ",
        "place,home,n\nmill,a,99999999999\n",
        "counts people, and is above 8,589,934,592 in 1 row.",
    ),
    "a count of words": (
        "count: n",
        "jobs: ",
        "place,home,n\nmill,a,two\n",
        "counts people, and is text. Name a column of whole numbers",
    ),
    "somebody twice": (
        "",
        "jobs: {person: id}",
        "place,home,id\nmill,a,1\nmill,b,2\nyard,b,1\n",
        (
            "tacit.yaml:2:25: table jobs has 3 rows and 2 different id: what is promised holds "
            "for a row"
        ),
    ),
    "a person without a name": (
        "",
        "jobs: {person: id}",
        "place,home,id\nmill,a,1\nmill,b,\n",
        "column 'id' tells people apart, but 1 rows of jobs have none.",
    ),
    "a key twice": (
        "",
        "jobs: {key: [id]}",
        "place,home,id\nmill,a,1\nmill,b,1\n",
        "(id) is declared a key of jobs, but 2 rows have only 1 different values.",
    ),
    "a domain without a value": (
        "",
        "jobs: {domains: {home: [a]}}",
        "place,home\nmill,a\nmill,b\n",
        "home of 1 person in table jobs is not in its domain: 'b'.",
    ),
    "a domain of another kind": (
        "",
        "jobs: {domains: {home: [a]}}",
        "place,home\nmill,1\n",
        "'a' in column 'home' of table jobs is not of type integer.",
    ),
}


@pytest.mark.parametrize("case", TABLES)
def test_a_bad_table_is_told_with_how_many_rows(tmp_path: Path, case: str) -> None:
    options, table, rows, said = TABLES[case]
    assert said in asked(tmp_path, options, {"jobs.csv": rows}, table)


def test_a_value_of_another_kind(tmp_path: Path) -> None:
    said = asked(
        tmp_path, "domain: d.csv", {"jobs.csv": "place,home\nmill,1\n", "d.csv": "home\n1\n\n1x\n"}
    )
    assert (
        "d.csv:4: '1x' is no value of 'home', which is integer in the table. Write it as "
        "the table has it"
    ) in said


def test_releases_of_two_tables_are_not_judged_together(tmp_path: Path) -> None:
    (tmp_path / "jobs.csv").write_text(JOBS)
    (tmp_path / "others.csv").write_text(JOBS + "yard,b,4\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\ntables: {jobs: , others: }\nreleases:\n"
        + "".join(
            (
                f"  {name}: {{table: {table}, synthetic: {{group: place, value: home, epsilon: "
                f"1, delta: 0}}}}\n"
            )
            for name, table in (("a", "jobs"), ("b", "others"))
        )
        + "checks:\n- differential-privacy: {releases: [a, b], epsilon: 2, delta: 0}\n"
    )
    plan = load_plan(tmp_path / "tacit.yaml")
    with DuckDB(folder=tmp_path) as engine, pytest.raises(TacitError) as raised:
        SyntheticQuestions(plan, engine).question(plan.checks[0])
    assert (
        "'a' is made of table 'jobs', and 'b' of 'others'" in str(raised.value)
        and raised.value.mark is not None
        and raised.value.mark.line == 7
    )


def test_a_row_of_a_parquet_file_is_told(
    tmp_path: Path, load_rows: Callable[[Path, str], None]
) -> None:
    load_rows(tmp_path / "d.parquet", "SELECT unnest(['a', 'b', 'a']) AS home")
    assert "d.parquet:3: 'a' stands twice in d.parquet." in asked(tmp_path, "domain: d.parquet", {})


@pytest.fixture
def load_rows() -> Callable[[Path, str], None]:
    import duckdb

    return lambda path, query: duckdb.sql(query).write_parquet(str(path))
