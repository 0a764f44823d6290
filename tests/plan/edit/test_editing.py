"""Edits of a plan's text: the wish is in the values, and everything else
is as it was, character by character.
"""

from __future__ import annotations

import copy
import random
import re
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tacit.errors import InputError, PlanError, TacitError
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.edit.editing import edited, loaded, rewritten
from tacit.plan.edit.spelling import scalar, written
from tacit.plan.edit.wishes.check_wishes import (
    AddCheck,
    AddRole,
    AddSecret,
    RemoveCheck,
    RemoveRole,
    RemoveSecret,
    SetCheck,
)
from tacit.plan.edit.wishes.release_wishes import (
    AddRelease,
    RemoveRelease,
    RenameRelease,
    SetLevels,
    SetRelease,
)
from tacit.plan.edit.wishes.table_wishes import AddTable, SetHierarchy, SetPerson, SetRole
from tacit.plan.read.document import Faults, parse, plain_values

DEMO = Path(__file__).parents[3] / "src" / "tacit" / "demo"
EXAMPLES = Path(__file__).parents[3] / "examples"
PLANS = [
    DEMO / "tacit.yaml",
    *(one for one in sorted(EXAMPLES.glob("*/*.yaml")) if "version: 1\n" in one.read_text("utf-8")),
]
ROLES = ("identifiers", "quasi-identifiers", "sensitive", "insensitive")

PLAN = """\
# the head
version: 1   # first
source: .
tables:
  people:                       # who
    file: people.csv
    person: name                # one name alone
    identifiers: [name, 'ssn']  # two
    quasi-identifiers:          # listed
      - zip                     # about zip
      # a line between
      - age
    sensitive: [ condition ]
    hierarchies:
      # how
      zip: {mask: right}        # the last characters hidden one by one; level 5 hides all
      age:
        ranges: [5, 10]         # years
    unknown: {condition: ["?"]}

releases:
  april: {table: people, generalization: {zip: 2, age: 1}, to: [authors]}
  may:
    table: people
    generalization:
      zip: 1                    # 1 of 5 characters hidden
    # the end of may
  view: {query: "SELECT zip FROM people"}
published: [april]
checks:
  - k-anonymity: {release: april, k: 4}    # nobody is one of fewer than 4 people
  # about may
  - l-diversity:
      release: may              # this
      kind: distinct
      l: 2
roles:
  nurse: {default: deny, allow: [view]}    # the last
"""


def values(text: str) -> dict[Any, Any]:
    document = parse(text)
    return plain_values(document, Faults(document))


def comments(text: str) -> list[str]:
    return sorted(
        found[1].strip()
        for line in text.splitlines()
        if (found := re.search(r"(?:^|\s)#(.*)", line))
    )


def changed(before: str, after: str) -> list[str]:
    """The lines that are in one text and not in the other."""
    old, new = before.splitlines(), after.splitlines()
    return [f"-{line}" for line in old if line not in new] + [
        f"+{line}" for line in new if line not in old
    ]


def test_a_role_changes_two_places_and_what_depends_on_it() -> None:
    text = edited(PLAN, SetRole("people", "zip", "insensitive"))
    assert changed(PLAN, text) == [
        "-      - zip                     # about zip",
        "-  april: {table: people, generalization: {zip: 2, age: 1}, to: [authors]}",
        "-    generalization:",
        "-      zip: 1                    # 1 of 5 characters hidden",
        "+    insensitive:",
        "+      - zip  # about zip",
        "+  april: {table: people, generalization: {age: 1}, to: [authors]}",
        "+    generalization: {}",
    ]


def test_a_role_given_back_takes_its_comment_back() -> None:
    without = edited(PLAN, SetRole("people", "zip", None))
    assert "    # - zip  # about zip\n" in without
    again = edited(without, SetRole("people", "zip", "quasi-identifiers"))
    assert "      - age\n      - zip  # about zip\n" in again and "# - zip" not in again


def test_the_last_of_a_list_leaves_an_empty_one() -> None:
    text = rewritten(PLAN, SetRole("people", "condition", None))
    assert "    sensitive: []\n" in text and "unknown: {}" in text
    with pytest.raises(PlanError, match="needs a sensitive column") as raised:
        edited(PLAN, SetRole("people", "condition", None))
    assert raised.value.mark is not None and raised.value.mark.line == 33
    both = SetRole("people", "condition", None), SetRole("people", "age", "sensitive")
    assert "    sensitive:\n      - age\n" in edited(PLAN, *both)


def test_one_text_alone_becomes_a_list() -> None:
    assert "    person: [name, ssn]                # one name alone" in edited(
        PLAN, SetPerson("people", "ssn")
    )
    assert "    person: []                # one name" in edited(
        PLAN, SetPerson("people", "name", on=False)
    ).replace("[]  ", "[]")


def test_a_hierarchy_and_its_comments() -> None:
    text = edited(PLAN, SetHierarchy("people", "zip", FlatHierarchy()))
    assert '      zip: "*"                  # one step: suppressed\n' in text
    assert (
        "generalization: {zip: 1, age: 1}" in text
        and "      zip: 1                    # suppressed" in text
    )
    text = edited(PLAN, SetHierarchy("people", "age", CsvHierarchy("age levels.csv")))
    assert '      age: "age levels.csv"         # years\n' in text
    text = edited(PLAN, SetHierarchy("people", "age", None), SetHierarchy("people", "zip", None))
    assert "    hierarchies: {}\n      # how\n" in text and "zip: 2" not in text
    again = edited(text, SetHierarchy("people", "age", DateHierarchy(("month", "year"))))
    assert "    hierarchies:\n      age: {dates: [month, year]}\n      # how\n" in again


def test_releases_are_added_renamed_and_removed() -> None:
    query = "SELECT zip\nFROM people\nWHERE age > 3"
    text = edited(
        PLAN, AddRelease("long", {"query": query}), AddRelease("raw", {"table": "people"})
    )
    assert (
        "  long:\n"
        "    query: |-\n"
        "      SELECT zip\n"
        "      FROM people\n"
        "      WHERE age > 3\n"
        "  raw: {table: people}\n"
        "published"
    ) in text
    assert values(text)["releases"]["long"] == {"query": query}
    text = edited(PLAN, RenameRelease("april", "by april"), RenameRelease("may", "2024"))
    assert 'published: ["by april"]' in text and 'release: "2024"           # this' in text
    text = edited(PLAN, RemoveRelease("may"), RemoveRelease("view"))
    assert (
        "# about may" in text
        and "l-diversity" not in text
        and "allow: []" in text
        and "# the end of may" in text
    )
    with pytest.raises(InputError, match="already"):
        edited(PLAN, AddRelease("may", {"table": "people"}))
    with pytest.raises(InputError, match="no release 'june'"):
        edited(PLAN, RemoveRelease("june"))


def test_a_multiline_query_is_replaced_as_one() -> None:
    text = edited(PLAN, AddRelease("long", {"query": "SELECT zip\nFROM people"}))
    text = edited(
        text, SetRelease("long", "query", "SELECT age\nFROM people\n\nWHERE zip = 'a: #b'")
    )
    assert (
        values(text)["releases"]["long"]["query"]
        == "SELECT age\nFROM people\n\nWHERE zip = 'a: #b'"
    )
    assert "    query: |-\n      SELECT age\n" in text
    assert edited(text, SetRelease("long", "to", ["x"]), SetRelease("long", "to", None)) == text


def test_checks_are_added_changed_and_removed() -> None:
    text = edited(
        PLAN,
        SetCheck(0, {"k": 7}),
        AddCheck("t-closeness", {"release": "may", "t": Fraction(1, 5)}),
    )
    assert "k: 7}    # nobody is one of fewer than 7 people" in text
    assert "      l: 2\n  - t-closeness: {release: may, t: 0.2}\nroles" in text
    assert edited(PLAN, SetCheck(1, {"l": Fraction(14, 5), "kind": "entropy"})).count("l: 2.8") == 1
    text = edited(PLAN, RemoveCheck(0), RemoveCheck(0))
    assert "checks: []\n  # about may\n" in text
    assert "checks:\n  - k-anonymity: {release: april, k: 2}\n" in edited(
        text, AddCheck("k-anonymity", {"release": "april", "k": 2})
    )
    with pytest.raises(InputError, match=r"tacit\.yaml:31:38: k=1 protects nobody"):
        edited(PLAN, SetCheck(0, {"k": 1}))
    with pytest.raises(InputError, match="no check number 3"):
        edited(PLAN, RemoveCheck(2))


def test_levels_keep_their_places() -> None:
    text = edited(PLAN, SetLevels("may", {"zip": 3, "age": 2}))
    assert "      zip: 3                    # 3 characters hidden\n      age: 2\n" in text
    assert "generalization: {age: 2}" in edited(PLAN, SetLevels("april", {"age": 2}))
    assert "raw: {table: people, generalization: {age: 1}}" in edited(
        PLAN, AddRelease("raw", {"table": "people"}), SetLevels("raw", {"age": 1})
    )


def test_views_secrets_and_roles_are_added_and_taken_away() -> None:
    was = PLAN
    text = edited(
        was,
        AddRelease("wards", {"query": "SELECT zip\nFROM people"}),
        AddSecret("flu", "SELECT name FROM people WHERE condition = 'flu'"),
    )
    text = edited(
        text,
        AddRole("nurse9", "allow", deny=("flu",)),
        AddRole("clerk9", allow=("wards",)),
        AddCheck("perfect-privacy", {"secret": "flu", "release": "wards"}),
    )
    plan = loaded(text)
    assert (
        plan.secrets["flu"].startswith("SELECT name")
        and plan.releases["wards"].query == "SELECT zip\nFROM people"
    )  # type: ignore[union-attr]
    assert (
        plan.roles["nurse9"].default,
        plan.roles["nurse9"].deny,
        plan.roles["clerk9"].allow,
    ) == ("allow", ("flu",), ("wards",))
    assert set(comments(was)) <= set(comments(text)) and text.index("secrets:") < text.index(
        "releases:"
    )
    for wish in (AddSecret("flu", "SELECT 1"), AddRole("nurse9")):
        with pytest.raises(InputError, match="already"):
            edited(text, wish)
    text = edited(text, RemoveSecret("flu"))
    assert (
        "flu" not in loaded(text).secrets
        and loaded(text).roles["nurse9"].deny == ()
        and not any(one.kind == "perfect-privacy" for one in loaded(text).checks)
    )
    text = edited(text, RemoveRole("nurse9"), RemoveRole("clerk9"), RemoveRelease("wards"))
    before, after = values(was), values(text)
    assert {key: one for key, one in after.items() if one} == {
        key: one for key, one in before.items() if one
    }
    for gone in (RemoveSecret("flu"), RemoveRole("nurse9")):
        with pytest.raises(InputError, match="has no"):
            edited(text, gone)


def test_sections_that_are_missing_are_made() -> None:
    text = "version: 1\n"
    text = edited(
        text,
        AddTable("people", {"file": "people.csv"}),
        SetRole("people", "zip", "quasi-identifiers"),
    )
    text = edited(
        text,
        SetHierarchy("people", "zip", MaskHierarchy("right")),
        AddRelease("out", {"table": "people"}),
    )
    text = edited(
        text, SetLevels("out", {"zip": 1}), AddCheck("k-anonymity", {"release": "out", "k": 2})
    )
    plan = loaded(text)
    assert plan.tables["people"].quasi_identifiers == ("zip",) and plan.checks[0].parameters == {
        "k": 2
    }
    assert text.splitlines()[0] == "version: 1"


def test_a_table_without_keys_gets_some() -> None:
    text = edited(
        "version: 1\ntables:\n  people:   # mine\n  wards:\n", SetRole("people", "zip", "sensitive")
    )
    assert text == "version: 1\ntables:\n  people:   # mine\n    sensitive: [zip]\n  wards:\n"


def test_flow_style_and_windows_line_ends_stay() -> None:
    text = "{version: 1, tables: {t: {sensitive: a, quasi-identifiers: [b, c]}}, checks: []}"
    assert edited(text, SetRole("t", "b", "sensitive"), SetPerson("t", "d")) == (
        "{version: 1, tables: {t: {sensitive: [a, b], quasi-identifiers: [c], person: "
        "[d]}}, checks: []}"
    )
    windows = PLAN.replace("\n", "\r\n")
    text = edited(
        windows,
        SetRole("people", "zip", "insensitive"),
        AddCheck("k-anonymity", {"release": "may", "k": 2}),
    )
    assert "\n" not in text.replace("\r\n", "") and "      - zip  # about zip\r\n" in text
    assert edited("version: 1\ntables:\n  t: {}", AddRelease("a", {"table": "t"})).endswith(
        "releases:\n  a: {table: t}"
    )


def test_lists_over_several_lines_keep_their_comments() -> None:
    text = (
        "version: 1\n"
        "tables:\n"
        "  t:\n"
        "    sensitive: [\n"
        "      a,  # first\n"
        "      b,  # second\n"
        "      c   # "
        "third\n    ]\n"
    )
    for column in "abc":
        after = edited(text, SetRole("t", column, None))
        assert (
            comments(after) == comments(text)
            and column not in values(after)["tables"]["t"]["sensitive"]
        )
    after = edited(text, SetRole("t", "d", "sensitive"))
    assert comments(after) == comments(text) and values(after)["tables"]["t"]["sensitive"] == list(
        "abcd"
    )


def test_aliases_are_left_to_the_hand() -> None:
    text = "version: 1\ntables:\n  t: {sensitive: &s [a, b]}\n  u: {sensitive: *s}\n"
    assert values(edited(text, SetRole("t", "c", "sensitive")))["tables"]["t"]["sensitive"] == [
        "a",
        "b",
        "c",
    ]
    with pytest.raises(PlanError, match="written with anchors"):
        edited(text, SetRole("u", "c", "sensitive"))


def test_a_text_that_is_no_yaml_is_an_error_with_its_line() -> None:
    with pytest.raises(PlanError) as raised:
        rewritten("version: 1\ntables: [\n", SetRole("t", "a", "sensitive"))
    assert raised.value.mark is not None and raised.value.mark.line


@pytest.mark.parametrize(
    "value",
    [
        "a",
        "no",
        "1",
        "é",
        "a: b",
        "#x",
        'q"',
        "two\nlines",
        "",
        " ",
        "~",
        "*",
        "-",
        "{",
        "null",
        "2020-01-01",
        True,
        None,
        4,
        Fraction(1, 3),
        Fraction(1, 8),
        {"a": ["b", {"c": 1}]},
    ],
)
def test_what_is_written_is_read_back(value: Any) -> None:
    read = values(
        f"x: {written(value)}\ny: [{written(value)}, 1]\nz: {{{scalar('a b')}: {written(value)}}}"
    )
    assert read["x"] == read["y"][0] == read["z"]["a b"]
    assert str(read["x"]) == str(value) or Fraction(str(read["x"])) == value


# Random plans in random spelling, random wishes: the values are what a dictionary would say.

COLUMNS = ["name", "zip", "age", "no", "a b", "x: y#z", "flu"]
COMMENTS = ["", "", "", "  # why", "   # a: 'b', [c", "  # - zip"]


def random_plan(rng: random.Random) -> dict[str, Any]:
    names = rng.sample(COLUMNS, rng.randint(3, 7))
    roles: dict[str, list[str]] = {}
    for name in names:
        roles.setdefault(rng.choice([*ROLES, ""]), []).append(name)
    table: dict[str, Any] = {
        "file": "t.csv",
        **{role: roles[role] for role in ROLES if role in roles},
    }
    quasi = roles.get("quasi-identifiers", [])
    if quasi and rng.random() < 0.8:
        table["hierarchies"] = {
            name: rng.choice(["*", {"ranges": [5, 10]}, {"mask": "right"}, "h.csv"])
            for name in quasi
        }
    if rng.random() < 0.5:
        table["person"] = [rng.choice(names)]
    levels = {
        name: rng.randint(0, 1) for name in table.get("hierarchies", {}) if rng.random() < 0.7
    }
    releases: dict[str, Any] = {
        "raw": {"table": "t"},
        "out": {"table": "t", "generalization": levels},
        "v": {"query": "SELECT zip FROM t"},
    }
    checks: list[Any] = [
        {"k-anonymity": {"release": rng.choice(["raw", "out"]), "k": rng.randint(2, 9)}}
        for _ in range(rng.randint(0, 2))
    ]
    if "sensitive" in roles:
        checks.append({"l-diversity": {"release": "out", "kind": "distinct", "l": 2}})
    plan: dict[str, Any] = {
        "version": 1,
        "tables": {"t": table, "other": None},
        "releases": releases,
    }
    if rng.random() < 0.5:
        plan["published"] = ["raw"]
    plan["checks"] = checks
    if rng.random() < 0.5:
        plan["roles"] = {"nurse": {"allow": ["v"], "deny": ["out"]}}
    return plan


def spelt(value: Any, rng: random.Random, indent: int, flowing: float) -> str:
    """A value as somebody might write it, beginning behind its key or dash."""
    if isinstance(value, dict | list) and value and rng.random() > flowing:
        pad = "\n" + " " * indent
        lines = []
        pairs = value.items() if isinstance(value, dict) else enumerate(value)
        for key, one in pairs:
            if rng.random() < 0.15:
                lines.append("# between")
            inner = spelt(one, rng, indent + 2, flowing)
            if isinstance(value, list) and isinstance(one, dict) and len(one) == 1:
                ((only, rest),) = one.items()
                lines.append(f"- {scalar(only)}:{spelt(rest, rng, indent + 4, flowing)}")
            else:
                lines.append((f"{scalar(key)}:" if isinstance(value, dict) else "-") + inner)
        head = rng.choice(COMMENTS) if indent else ""
        return head + pad + pad.join(lines) if indent else "\n".join(lines)
    if isinstance(value, dict | list):
        return f"{rng.choice([' ', '   '])}{flow(value, rng)}{rng.choice(COMMENTS)}"
    if value is None:
        return rng.choice(COMMENTS)
    return f" {flow(value, rng)}{rng.choice(COMMENTS)}"


def flow(value: Any, rng: random.Random) -> str:
    comma, pad = rng.choice([", ", ",", " , "]), rng.choice(["", "", " "])
    if isinstance(value, dict):
        return f"{{{pad}{comma.join(f'{scalar(key)}: {flow(one, rng)}' for key, one in value.items())}{pad}}}"  # noqa: E501
    if isinstance(value, list):
        return f"[{pad}{comma.join(flow(one, rng) for one in value)}{pad}]"
    if isinstance(value, str) and rng.random() < 0.2:
        return "'" + value.replace("'", "''") + "'"
    return written(value)


def random_wish(plan: dict[str, Any], rng: random.Random) -> Any:
    column = rng.choice(COLUMNS)
    quasi = [
        name
        for name in plan["tables"]["t"].get("quasi-identifiers", [])
        if name in plan["tables"]["t"].get("hierarchies", {})
    ]
    release = rng.choice(list(plan["releases"]) or ["raw"])
    wishes: list[Any] = [
        SetRole("t", column, rng.choice([*ROLES, None])),
        SetRole("t", column, rng.choice([*ROLES, None])),
        SetPerson("t", column, rng.random() < 0.5),
        SetHierarchy(
            "t",
            column,
            rng.choice(
                [
                    None,
                    FlatHierarchy(),
                    RangeHierarchy((2, 4)),
                    MaskHierarchy("left"),
                    CsvHierarchy("a b.csv"),
                ]
            ),
        ),
        AddRelease(
            f"new {rng.randint(0, 99)}", rng.choice([{"table": "t"}, {"query": "SELECT 1\nFROM t"}])
        ),
        RenameRelease(release, f"name{rng.randint(0, 99)}"),
        RemoveRelease(release),
        AddCheck("k-anonymity", {"release": release, "k": rng.randint(2, 9)}),
    ]
    if plan["releases"].get("out"):
        wishes.append(
            SetLevels("out", {name: rng.randint(0, 1) for name in quasi if rng.random() < 0.6})
        )
    if plan["checks"]:
        at = rng.randrange(len(plan["checks"]))
        wishes += [
            RemoveCheck(at),
            SetCheck(
                at,
                {rng.choice(["k", "name"]): rng.choice([3, 5])}
                if "k-anonymity" in plan["checks"][at]
                else {"l": 3},
            ),
        ]
    return rng.choice(wishes)


def expected(plan: dict[str, Any], wish: Any) -> dict[str, Any]:
    """What a wish means, on dictionaries."""
    new = copy.deepcopy(plan)
    table, releases = new["tables"]["t"], new["releases"]
    mine = [one for one in releases.values() if one.get("table") == "t"]
    match wish:
        case SetRole(_, column, role):
            had = {one for one in ROLES if column in table.get(one, [])}
            if had == ({role} if role else set()):
                return new
            for one in had:
                table[one].remove(column)
            if role:
                table.setdefault(role, []).append(column)
            if "quasi-identifiers" in had:
                for one in mine:
                    one.get("generalization", {}).pop(column, None)
        case SetPerson(_, column, on):
            now = table.get("person", [])
            if on and column not in now:
                table["person"] = [*now, column]
            elif not on and column in now:
                table["person"] = [one for one in now if one != column]
        case SetHierarchy(_, column, None):
            if column in table.get("hierarchies", {}):
                del table["hierarchies"][column]
                for one in mine:
                    one.get("generalization", {}).pop(column, None)
        case SetHierarchy(_, column, spec):
            words = {
                FlatHierarchy: "*",
                RangeHierarchy: {"ranges": [2, 4]},
                MaskHierarchy: {"mask": "left"},
                CsvHierarchy: "a b.csv",
            }
            table.setdefault("hierarchies", {})[column] = words[type(spec)]
        case AddRelease(name, keys):
            releases[name] = dict(keys)
        case RenameRelease(name, to):
            new["releases"] = {to if one == name else one: keys for one, keys in releases.items()}
            swap_everywhere(new, name, to)
        case RemoveRelease(name):
            del releases[name]
            new["checks"] = [
                one for one in new["checks"] if next(iter(one.values()))["release"] != name
            ]
            swap_everywhere(new, name, None)
        case AddCheck(kind, keys):
            new["checks"].append({kind: dict(keys)})
        case SetLevels(_, levels):
            if levels or "generalization" in releases["out"]:
                releases["out"]["generalization"] = dict(levels)
        case SetCheck(at, keys):
            next(iter(new["checks"][at].values())).update(keys)
        case RemoveCheck(at):
            del new["checks"][at]
    return new


def swap_everywhere(plan: dict[str, Any], name: str, to: str | None) -> None:
    lists = [
        plan.get("published"),
        *(keys[one] for keys in plan.get("roles", {}).values() for one in ("allow", "deny")),
    ]
    for one in lists:
        if one is not None:
            one[:] = [to if item == name else item for item in one if item != name or to]
    for check in plan["checks"]:
        for keys in check.values():
            if keys["release"] == name and to:
                keys["release"] = to


def outcome(text: str) -> str:
    try:
        loaded(text)
        return ""
    except TacitError as error:
        assert error.mark is not None
        return "error"


@pytest.mark.parametrize("seed", range(200))
def test_random_wishes_mean_what_they_say(seed: int) -> None:
    rng = random.Random(seed)
    plan = random_plan(rng)
    text = spelt(plan, rng, 0, 0.0 if rng.random() < 0.3 else rng.random()) + "\n"
    text = text if text.startswith(("version", "#", "{")) else text.lstrip()
    text = text.replace("\n", "\r\n") if rng.random() < 0.15 else text
    assert values(text) == plan
    for _ in range(4):
        wish = random_wish(plan, rng)
        try:
            after = rewritten(text, wish)
        except InputError as error:
            assert "already" in str(error) or not plan["releases"]
            continue
        wanted = expected(plan, wish)
        assert values(after) == wanted, (wish, text, after)
        if wanted == plan:
            assert after == text
        if isinstance(wish, AddRelease | RenameRelease | AddCheck | SetCheck) or (
            isinstance(wish, SetPerson) and wish.on
        ):
            assert comments(after) == comments(text)
        assert (
            rewritten(
                after,
                *(
                    [wish]
                    if isinstance(wish, SetRole | SetPerson | SetHierarchy | SetLevels | SetCheck)
                    else []
                ),
            )
            == after
        )
        if outcome(after) == "":
            assert edited(text, wish) == after
        else:
            with pytest.raises(TacitError):
                edited(text, wish)
        text, plan = after, wanted


@pytest.mark.parametrize(
    "path",
    PLANS,
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_wishes_that_are_fulfilled_change_nothing(path: Path) -> None:
    text = path.read_text("utf-8")
    plan = values(text)
    for name, table in (plan.get("tables") or {}).items():
        for role in ROLES:
            for column in (table or {}).get(role) or ():
                assert rewritten(text, SetRole(name, column, role)) == text  # type: ignore[arg-type]
    for name, release in (plan.get("releases") or {}).items():
        assert rewritten(text, RenameRelease(name, name)) == text
        for key, value in release.items():
            assert rewritten(text, SetRelease(name, key, value)) == text
        if "generalization" in release:
            assert rewritten(text, SetLevels(name, release["generalization"])) == text
    for at, check in enumerate(plan.get("checks") or ()):
        assert rewritten(text, SetCheck(at, next(iter(check.values())))) == text


@pytest.mark.parametrize(
    "path",
    PLANS,
    ids=lambda path: f"{path.parent.name}-{path.stem}",
)
def test_every_column_of_an_example_can_get_every_role(path: Path) -> None:
    text = path.read_text("utf-8")
    for name, table in (values(text).get("tables") or {}).items():
        for role in ROLES:
            for column in (table or {}).get(role) or ():
                for other in (*ROLES, None):
                    after = rewritten(text, SetRole(name, column, other))  # type: ignore[arg-type]
                    given = [
                        one
                        for one in ROLES
                        if column in (values(after)["tables"][name].get(one) or ())
                    ]
                    assert given == ([other] if other else [])
                    assert set(comments(text)) - set(comments(after)) <= {
                        one
                        for one in comments(text)
                        if column in one or "level" in one or "band" in one
                    }
