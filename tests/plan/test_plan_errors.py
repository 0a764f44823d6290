"""What can be wrong with a plan: each error's place, what it says, and what it tells to write.

In the plans below » stands before the character that the caret must point at; it is taken out
before the plan is read. Several » are several problems, in the order of the file.
"""

from __future__ import annotations

import pytest

from tacit.errors import PlanError, Problems, TacitError
from tacit.plan.read.load import load_plan

HEAD = (
    "version: 1\n"
    "tables: {people: {quasi-identifiers: [zip, age], sensitive: [condition], hierarchies: "
    "{zip: zip.csv}}}\n"
)
VIEWS = HEAD + (
    'releases: {april: {table: people}, may: {table: people}, view: {query: "SELECT '
    '1"}}\n'
    'secrets: {cancer: "S() :- R(x)"}\n'
)


def problems(
    load, text: str, files: dict[str, str] | None = None, **options: bool
) -> list[TacitError]:
    with pytest.raises(TacitError) as raised:
        load(text, files, **options)
    return list(raised.value)


def assert_reported(load, text: str, *said: str, files: dict[str, str] | None = None) -> None:
    """Each » is a problem; `said` are parts of what each of them says."""
    places = []
    for line, words in enumerate(text.split("\n"), 1):
        while "»" in words:
            places.append((line, words.index("»") + 1))
            words = words.replace("»", "", 1)
    found = problems(load, text.replace("»", ""), files)
    assert [(error.mark.line, error.mark.column) for error in found] == places, "\n".join(
        map(str, found)
    )
    lines = text.replace("»", "").split("\n")
    for error, (line, column), words in zip(found, places, said, strict=True):
        first, shown, caret = str(error).split("\n")
        assert f"tacit.yaml:{line}:{column}: " in first
        assert words in first.split(": ", 1)[1]
        assert shown == "    " + lines[line - 1].replace("\t", " ")
        assert caret == " " * (4 + column - 1) + "^"
        assert error.hint


DOCUMENT = {
    "a tab": (
        "version: 1\ntables:\n»\tpeople: {}",
        "a tab where YAML wants spaces. Indent with spaces.",
    ),
    "a lone star": (
        "version: 1\ntables: {t: {hierarchies: {zip: »*}}}",
        'A lone star needs quotes: "*".',
    ),
    "an unclosed bracket": (
        "version: 1\npublished: [a, b\nfresh»: 1\n",
        "a bracket (opened at 2:12) is not closed",
    ),
    "an unclosed quote": ("version: 1\nsource: »'data\n", "a quote is not closed."),
    "a colon in text": (
        "version: 1\nsource: a»: b\n",
        "a text with a colon and a space in it needs quotes",
    ),
    "ragged indentation": (
        "version: 1\ntables:\n    a: {}\n  »b: {}\n",
        "this line does not line up",
    ),
    "a second document": ("version: 1\n»---\nversion: 1\n", "a second document (---) begins."),
    "an unknown alias": (
        "version: 1\nsource: »*data\n",
        "*data repeats a value that is not there.",
    ),
    "a strange start": (
        "version: 1\nsource: »@home\n",
        "a value cannot start with @. Write it in quotes.",
    ),
    "a list at the top": ("»- version: 1\n", "the plan is not a mapping of keys to values."),
    "a control character": (
        "version: 1\nsource: »\x07\n",
        "the character '\\x07' is not allowed in YAML.",
    ),
    "a tag": ("version: 1\nsource: »!!python/name:os.system x\n", "means nothing in a plan"),
    "a merge key": ("version: &v 1\n»<<: {fresh: 1}\n", "merge keys (<<) are not read."),
    "a list as key": ("version: 1\n? »[a]\n: b\n", "a list or mapping cannot be a key."),
    "an alias of itself": ("version: 1\npublished: »&a [*a]\n", "endless"),
    "bottomless nesting": (
        "version: 1\nfresh: " + "[" * 49 + "»" + "[" * 60,
        "nested deeper than 50 levels.",
    ),
    "keys that stand twice": (
        "version: 1\nfresh: 1\n»fresh: 2\ntables: {a: {}, »a: {}}\n",
        "the key 'fresh' stands twice, first at 2:1.",
        "the key 'a' stands twice, first at 4:10.",
    ),
}

KEYS = {
    "no version": ("»source: .\n", "the plan needs the key 'version'. Add version: 1"),
    "another version": (
        "version: »2\n",
        "found the number 2 in 'version'. Write 1: this Tacit reads version 1",
    ),
    "a version in quotes": ("version: »'1'\n", "found '1' in 'version'."),
    "an unknown key": ("version: 1\n»check: []\n", "unknown key 'check'. Did you mean 'checks'?"),
    "a key nothing is near to": (
        "version: 1\n»zzz: 1\n",
        "unknown key 'zzz'. Known: author, checks, constraints, dictionary, fresh,",
    ),
    "an unknown key of a table": (
        "version: 1\ntables: {t: {»quasi-identifier: [zip]}}\n",
        "unknown key 'quasi-identifier'. Did you mean 'quasi-identifiers'?",
    ),
    "a comma in a query": (
        "version: 1\nreleases: {v: {query: V(r) :- RS(r, »s)}}\n",
        "If a comma split your text, put the text in quotes.",
    ),
    "a number as a column": (
        "version: 1\ntables: {t: {sensitive: [a, »3]}}\n",
        "found the number 3 in 'sensitive'. Write a name, in quotes if it looks like a number",
    ),
    "a number as a name": (
        "version: 1\ntables: {»3: {}}\n",
        "the number 3 is a key where a name belongs. Write it in quotes.",
    ),
    "nothing where columns belong": (
        "version: 1\ntables: {t: {»person: }}\n",
        "found nothing in 'person'. Write a column or a list of columns, e.g. [zip, age].",
    ),
    "a mapping of checks": (
        "version: 1\n»checks: {k-anonymity: {k: 2}}\n",
        "Write a list: each check on a line",
    ),
    "a negative fresh": (
        "version: 1\nfresh: »-1\n",
        "found the number -1 in 'fresh'. Write a whole number",
    ),
    "a table that is text": (
        "version: 1\ntables: {t: »people.csv}\n",
        "found 'people.csv' in 't'. Write keys such",
    ),
    "an unknown default": (
        "version: 1\nroles: {a: {default: »no}}\n",
        "found 'no' in 'default'. Write deny or allow.",
    ),
    "a synthetic release without its needs": (
        (
            "version: 1\n"
            "tables: {t: }\n"
            "releases: {s: {table: t, »synthetic: {group: g, value: v, epsilon: 1}}}\n"
        ),
        "'synthetic' needs the key 'delta'. Add delta: 1e-5",
    ),
    "two problems at once": (
        "version: 1\nsource: »3\ntables: {t: {»sensitiv: a}}\nreleases: {r: {table: »x}}\n",
        "found the number 3 in 'source'.",
        "unknown key 'sensitiv'.",
        "there is no table 'x'.",
    ),
}

TABLES = {
    "a column twice in a role": (
        "version: 1\ntables: {t: {sensitive: [a, b, »a]}}\n",
        "'a' stands twice in 'sensitive'.",
    ),
    "a column with two roles": (
        "version: 1\ntables: {t: {quasi-identifiers: [zip, age], sensitive: [»age]}}\n",
        "'age' is in 'sensitive' and in 'quasi-identifiers'. A column has one role: remove one.",
    ),
    "columns that are not there": (
        "version: 1\n"
        "tables: {t: {columns: [name, zip], key: »nam, person: [»nme], quasi-identifiers: [»zap],"
        ' hierarchies: {»zipp: "*"}, domains: {»sex: [F, M]}, nullable: [»x]}}\n',
        "table 't' has no column 'nam'. Did you mean 'name'?",
        "no column 'nme'. Did you mean 'name'?",
        "no column 'zap'. Did you mean 'zip'?",
        "no column 'zipp'. Did you mean 'zip'?",
        "no column 'sex'. Known: name, zip.",
        "no column 'x'.",
    ),
    "a column declared twice": (
        "version: 1\ntables: {t: {columns: [a, »a]}}\n",
        "column 'a' stands twice.",
    ),
    "an unknown type": (
        "version: 1\ntables: {t: {columns: {a: »int}}}\n",
        "found 'int' in 'a'. Did you mean 'integer'? Write integer, decimal, text,",
    ),
    "rows of the wrong width": (
        "version: 1\ntables: {t: {columns: [a, b], rows: [[1, 2], »[3], [4]]}}\n",
        "this row has 1 cells for 2 columns (a, b), and so have 1 more rows.",
    ),
    "rows without columns": (
        "version: 1\ntables: {t: {»rows: [[1]]}}\n",
        "the rows of 't' have no columns.",
    ),
    "rows and a file": (
        "version: 1\ntables: {t: {file: t.csv, columns: [a], »rows: [[1]]}}\n",
        "table 't' has both rows and a file.",
    ),
    "a row that is no list": (
        "version: 1\ntables: {t: {columns: [a], rows: [»x]}}\n",
        "found 'x' in 'rows'. Write a row as a list",
    ),
    "columns of keys": (
        "version: 1\ntables: {t: {key: [a, »3]}, u: {key: [[a], [b, »b]]}, v: {key: »''}}\n",
        "found the number 3 in 'key'. Write the name of a column.",
        "'b' stands twice in the key.",
        "found '' in 'key'. Write the name of a column.",
    ),
    "half a list of keys": (
        "version: 1\ntables: {t: {»key: [a, [b]]}}\n",
        "found a list in 'key'. Write a list of columns, e.g. [name], or a list of such keys",
    ),
    "a domain with a value twice": (
        "version: 1\ntables: {t: {domains: {sex: [F, M, »F]}}}\n",
        "'F' stands twice in the domain.",
    ),
    "a domain with a missing value": (
        "version: 1\ntables: {t: {domains: {sex: [F, »~]}}}\n",
        "a missing value is not part of a domain.",
    ),
    "an unknown distance": (
        "version: 1\ntables: {t: {distances: {a: »numerical, b: {»tree: x}, c: {python: »f}}}}\n",
        "found 'numerical' in 'a'. Did you mean 'numeric'?",
        "unknown key 'tree'.",
        "found 'f' in 'python'. Write module:function",
    ),
    "bands that do not nest": (
        (
            "version: 1\n"
            "tables: {t: {hierarchies: {a: {ranges: [5, »12, 24]}, b: {ranges: [2, »3]}}}}\n"
        ),
        (
            "bands of 12 do not consist of whole bands of 5. Bands must nest: write 10 or 15 "
            "instead of 12."
        ),
        "write 4 instead of 3",
    ),
    "bands that shrink or vanish": (
        (
            "version: 1\n"
            "tables: {t: {hierarchies: {a: {ranges: [10, »5]}, b: {ranges: [»0, 5]}, c: "
            "{ranges: [»x]}}}}\n"
        ),
        "bands of 5 come after bands of 10. Write the widths of the bands from fine to coarse",
        "a band cannot be 0 wide.",
        "found 'x' in 'ranges'.",
    ),
    "units of time": (
        (
            "version: 1\n"
            "tables: {t: {hierarchies: {a: {dates: [year, »month]}, b: {dates: [»mnth]}}}}\n"
        ),
        "'month' comes after 'year'. From fine to coarse: day, month, quarter, year, decade.",
        "found 'mnth' in 'dates'. Did you mean 'month'?",
    ),
    "other hierarchies": (
        "version: 1\ntables: {t: {hierarchies: {a: {»range: [5]}, b: {mask: »up}, c: »5}}}\n",
        "unknown key 'range'. Did you mean 'ranges'?",
        "found 'up' in 'mask'. Write right or left.",
        "found the number 5 in 'c'. Write a file such as zip.csv,",
    ),
}

RELEASES = {
    "an unknown table": (
        HEAD + "releases: {a: {table: »peple}}\n",
        "there is no table 'peple'. Did you mean 'people'?",
    ),
    "no shape": (
        HEAD + "releases: {»a: {to: x}}\n",
        "release 'a' says nothing of what it is. Write {table:",
    ),
    "two shapes": (
        HEAD + "releases: {»a: {table: people, query: SELECT 1}}\n",
        "release 'a' says both table and query.",
    ),
    "keys of another shape": (
        HEAD
        + (
            "releases: {a: {table: people, »answer: x.csv}, b: {table: people, "
            "generalization: {}, »file: x.csv}}\n"
        ),
        (
            "'answer' does not go with 'table'. Beside 'table' goes 'generalization', 'file', "
            "'synthetic', 'method', 'suppress'"
        ),
        "'file' does not go with 'generalization'. Keep one of generalization and file.",
    ),
    "levels of other columns": (
        HEAD + "releases: {a: {table: people, generalization: {»zp: 1, »condition: 1, »age: 1}}}\n",
        "'zp' is not a quasi-identifier of 'people'. Did you mean 'zip'?",
        "'condition' is not a quasi-identifier of 'people'. Known: age, zip.",
        (
            "'age' has no hierarchy in 'people'. Give it one under hierarchies, e.g. "
            '{age: age.csv} or {age: "*"}.'
        ),
    ),
    "levels that are none": (
        HEAD
        + (
            "releases: {a: {table: people, generalization: {zip: »-1}}, b: {table: people, "
            "generalization: {zip: »1.5}}}\n"
        ),
        "found the number -1 in 'zip'. Write a level: 0 leaves",
        "found the number 1.5 in 'zip'. Write a level",
    ),
    "a level above the hierarchy": (
        "version: 1\ntables: {t: {quasi-identifiers: a, hierarchies: {a: {ranges: [5, 10]}}}}\n"
        "releases: {r: {table: t, generalization: {a: »4}}}\n",
        "'a' has no level 4. Write 0 to 3; 3 suppresses every value.",
    ),
    "a column of synthetic data": (
        "version: 1\ntables: {t: {columns: [from, to]}}\n"
        "releases: {r: {table: t, synthetic: {group: to, value: »form, epsilon: 1, delta: 0}}}\n",
        "table 't' has no column 'form'. Did you mean 'from'?",
    ),
    "a missing .sql file": (
        HEAD + "releases: {v: {query: »views/x.sql}}\n",
        "there is no file 'views/x.sql'. Paths are relative to the plan.",
    ),
    "no file of a pattern": (
        HEAD + "releases-from: [»views/*.sql]\n",
        "no file matches 'views/*.sql'.",
    ),
    "a release named ledger": (
        HEAD + "releases: {»ledger: {table: people}}\n",
        "'ledger' stands for all",
    ),
}

CHECKS = {
    "an unknown check": (
        VIEWS + "checks:\n- »k-anonimity: {release: april, k: 2}\n",
        (
            "there is no check 'k-anonimity'. Did you mean 'k-anonymity'? Checks: k-anonymity, "
            "l-diversity, t-closeness,"
        ),
    ),
    "a check without parameters": (
        VIEWS + "checks:\n- »k-anonymity\n- »l-diversity:\n",
        "k-anonymity has no parameters. Write k-anonymity: {release: NAME, k: 4}",
        (
            "l-diversity needs 'release', 'kind' and 'l'. Write l-diversity: {release: NAME, "
            "kind: distinct, l: 3}"
        ),
    ),
    "parameters that are not indented": (
        VIEWS + "checks:\n- k-anonymity:\n  »release: april\n  k: 2\n",
        "'release' stands beside 'k-anonymity', not in it. Indent the keys below it deeper",
    ),
    "an unknown parameter": (
        VIEWS + "checks:\n- k-anonymity: {release: april, k: 2, »sensitiv: condition}\n",
        "k-anonymity takes no 'sensitiv'. Did you mean 'sensitive'?",
    ),
    "values of the wrong kind": (
        VIEWS + "checks:\n"
        "- k-anonymity: {release: april, k: »'4'}\n"
        "- k-anonymity: {release: april, k: »2.5}\n"
        "- l-diversity: {release: april, kind: »entrpy, l: »two}\n"
        "- t-closeness: {release: april, t: »1e999999999}\n",
        "found '4' in 'k'. Write a whole number, e.g. 4, without quotes or leading zeros.",
        "found the number 2.5 in 'k'.",
        "found 'entrpy' in 'kind'. Did you mean 'entropy'? Write distinct, entropy or recursive.",
        "found 'two' in 'l'. Write a decimal such as 0.5 or a fraction in quotes such as \"1/3\".",
        "found '1e999999999' in 't'.",
    ),
    "thresholds that protect nobody": (
        VIEWS
        + (
            "checks:\n"
            "- k-anonymity: {release: april, k: »1}\n"
            "- l-diversity: {release: april, kind: distinct, l: »1}\n"
        ),
        "k=1 protects nobody",
        "l=1 protects nobody",
    ),
    "two releases for one": (
        VIEWS + "checks:\n- k-anonymity: {»release: [april, may], k: 2}\n",
        "k-anonymity judges one release, found 2. Ask once for each of them",
    ),
    "release and releases": (
        VIEWS + "checks:\n- gamma-privacy: {release: april, »releases: [may], gamma: 0.5}\n",
        "'release' and 'releases' are the same key.",
    ),
    "unknown names": (
        VIEWS
        + (
            "checks:\n"
            "- k-anonymity: {release: »aprl, k: 2}\n"
            "- e-safety: {releases: [view, »vew], secret: »cancr, given: [»x]}\n"
        ),
        "there is no release 'aprl'. Did you mean 'april'?",
        "there is no release 'vew'. Did you mean 'view'?",
        "there is no secret 'cancr'. Did you mean 'cancer'?",
        "there is no release 'x'.",
    ),
    "a release of the wrong kind": (
        VIEWS
        + (
            "checks:\n"
            "- k-anonymity: {release: »view, k: 2}\n"
            "- e-safety: {release: »april, secret: cancer}\n"
        ),
        "k-anonymity judges microdata; 'view' is a view. Checks that judge a view:",
        "e-safety judges a view or a constraint; 'april' is microdata.",
    ),
    "a column that is not sensitive": (
        VIEWS + "checks:\n- l-diversity: {release: april, kind: distinct, l: 2, sensitive: »zip}\n",
        "'zip' is not a sensitive column of 'people'. Known: condition.",
    ),
    "no sensitive column": (
        (
            "version: 1\n"
            "tables: {t: }\n"
            "releases: {r: {table: t}}\n"
            "checks:\n"
            "- »l-diversity: {release: r, kind: distinct, l: 2}\n"
        ),
        "l-diversity needs a sensitive column, and 't' has none.",
    ),
    "which of several sensitive columns": (
        "version: 1\ntables: {t: {sensitive: [a, b]}}\nreleases: {r: {table: t}}\nchecks:\n"
        "- k-anonymity: {release: r, k: 2}\n- risk: {release: r, at-most: 0.1}\n"
        "- l-diversity: {release: r, kind: distinct, l: 2}\n- »t-closeness: {release: r, t: 0.2}\n",
        "'t' has 2 sensitive columns, and t-closeness judges one. Add sensitive: a or b",
    ),
    "two checks of one name": (
        VIEWS
        + (
            "checks:\n"
            "- k-anonymity: {release: april, k: 2, name: a}\n"
            "- k-anonymity: {release: may, k: 2, name: »a}\n"
        ),
        "two checks are named 'a', the first in line 6. Rename one of them.",
    ),
    "collusion": (
        VIEWS + "checks:\n- g-safety: {release: view, secret: cancer, »collude: [a, b]}\n",
        "in 'collude'. Write a list of groups of clients, e.g. [[a, b]].",
    ),
    "unknown published": (
        VIEWS + "published: [ledger, »wiew]\n",
        "there is no release 'wiew'. Did you mean 'view'?",
    ),
    "a misspelt denial": (
        VIEWS + "roles: {nurses: {default: allow, deny: [»cancr]}}\n",
        "there is no release, secret or table 'cancr'. Did you mean 'cancer'?",
    ),
}

CASES = {**DOCUMENT, **KEYS, **TABLES, **RELEASES, **CHECKS}


@pytest.mark.parametrize(
    "text, said", [(text, said) for text, *said in CASES.values()], ids=list(CASES)
)
def test_errors_say_where_and_what_to_write(load, text, said):
    assert_reported(load, text, *said)


def test_a_broken_piece_does_not_make_its_name_unknown(load):
    text = """version: 1
tables: {t: {»sensitiv: a}}
releases: {r: {table: t, generalization: {zip: 1}}, s: {table: t, »fil: x}}
checks: [k-anonymity: {release: r, k: 2}, k-anonymity: {release: s, k: 2}]
published: [s]
"""
    assert_reported(load, text, "unknown key 'sensitiv'.", "unknown key 'fil'.")


def test_files_that_make_a_release_twice(load):
    files = {"views/wards.sql": "SELECT 1", "more/wards.sql": "SELECT 2", "more/none.sql": " \n"}
    text = "version: 1\nreleases-from: [views/*.sql, more/*.sql]\n"
    (empty, twice) = problems(load, text.replace("»", ""), files)
    assert empty.message == "'more/none.sql' is empty."
    assert (
        twice.message
        == "'more/wards.sql' makes a second release 'wards'; the first is in 'views/wards.sql'."
    )
    assert (twice.mark.line, twice.mark.column) == (2, 30)
    (clash,) = problems(
        load, "version: 1\nreleases: {wards: {query: SELECT 3}}\nreleases-from: views/*.sql\n"
    )
    assert "makes a second release 'wards'; the first is in 'releases'" in clash.message


@pytest.mark.parametrize(
    "source",
    [
        "postgresql://ann:hunter2@db/clinic",
        "postgresql://ann:hun/ter2@db/clinic",
        "postgresql://ann:hunter2@with@at@db/clinic",
        "postgresql://db/clinic?user=ann&password=hunter2",
        "postgresql://:hunter2@db",
        "mysql://ann:hunter2@db",
    ],
)
def test_a_password_is_refused_and_never_repeated(load, source):
    (error,) = problems(load, f"version: 1\nsource: {source}\n")
    assert (error.mark.line, error.mark.column) == (2, 9)
    assert (
        "never the plan" in error.hint and "PGPASSWORD" in error.hint and "~/.pgpass" in error.hint
    )
    for secret in ("hunter2", "hun/", "ter2", "with@at"):
        assert secret not in str(error) and secret not in str(error.to_json())


def test_a_password_stays_out_of_other_errors_too(load):
    broken = "{version: 1, source: ['postgresql://ann:hunter2@db'], fresh: x, published: [a, b"
    for text in (broken, broken + "]}"):
        with pytest.raises(TacitError) as raised:
            load(text)
        assert "hunter2" not in str(raised.value)
    address = "postgresql://ann:hunter2@db"
    for line in (
        f"fresh: {address}",
        f"? {address}\n: 1",
        f"published: [{address}]",
        f"source: *{address}",
    ):
        with pytest.raises(TacitError) as raised:
            load(f"version: 1\n{line}\n")
        assert "hunter2" not in str(raised.value)


@pytest.mark.parametrize(
    "source", ["postgresql://ann@db:5432/clinic", "postgresql://db:5432/clinic", "spark", "a@b:c"]
)
def test_other_sources_are_taken(load, source):
    assert load(f"version: 1\nsource: {source}\n").source == source


@pytest.mark.parametrize("text", ["", "# nothing yet\n", "---\n", "\n\n"])
def test_an_empty_plan_says_how_to_begin(load, text):
    (error,) = problems(load, text)
    assert error.message == "the plan is empty."
    assert "version: 1" in error.hint and "tacit init" in error.hint


def test_a_missing_plan_says_where_to_get_one(tmp_path):
    with pytest.raises(PlanError) as raised:
        load_plan(tmp_path / "tacit.yaml")
    assert "`tacit demo`" in raised.value.hint and "`tacit init DATA`" in raised.value.hint
    assert raised.value.mark.file == str(tmp_path / "tacit.yaml")


def test_a_folder_is_no_plan(tmp_path):
    with pytest.raises(PlanError, match="is a folder"):
        load_plan(tmp_path)


def test_a_file_that_is_not_utf8_says_where(tmp_path):
    path = tmp_path / "tacit.yaml"
    path.write_bytes(b"version: 1\nsource: caf\xe9\n")
    with pytest.raises(PlanError, match="byte 0xe9") as raised:
        load_plan(path)
    assert (raised.value.mark.line, raised.value.mark.column) == (2, 12)


def test_a_plan_that_begins_with_a_byte_order_mark_is_read(tmp_path):
    (tmp_path / "tacit.yaml").write_bytes(b"\xef\xbb\xbfversion: 1\r\nsource: x\r\n")
    assert load_plan(tmp_path / "tacit.yaml").source == "x"


def test_aliases_may_repeat_but_not_explode(load):
    assert (
        load("version: 1\nconstraints: [&c R(x) -> S(x), *c]\n").constraints
        == ("R(x) -> S(x)",) * 2
    )
    bomb = "version: 1\nx0: &x0 [a, b, c, d, e, f, g, h, i]\n"
    bomb += "".join(f"x{i + 1}: &x{i + 1} [{', '.join([f'*x{i}'] * 9)}]\n" for i in range(9))
    (error,) = problems(load, bomb)
    assert "far longer" in error.message


def test_a_plan_without_checks_is_an_error_only_where_checks_are_needed(load):
    assert load("version: 1\nchecks:\n").checks == ()
    (error,) = problems(load, "version: 1\nchecks: []\n", need_checks=True)
    assert error.message == "the plan asks nothing."
    assert error.hint == "Add e.g. checks: [k-anonymity: {release: april, k: 4}]"
    assert (error.mark.line, error.mark.column) == (2, 1)
    assert len(problems(load, "version: 1\n", need_checks=True)) == 1


def test_a_long_line_is_cut_behind_the_caret(load):
    (error,) = problems(load, "version: 1\nfresh: {" + "a: 1, " * 500 + "}\n")[:1]
    assert error.mark is not None and len(error.mark.text) < 300


def test_all_problems_come_in_one_error(load):
    with pytest.raises(Problems) as raised:
        load("version: 2\nfresh: x\n")
    assert len(list(raised.value)) == 2
