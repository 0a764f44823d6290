"""Every definition x every published thing x every way of publishing x recipient:
what is published is judged, or the check is undecided.

Each published thing is built so that it breaks the secret of the check together with what is new,
so `holds` is wrong in every cell; except where it is about other people, or went to somebody else:
there the check must hold.
"""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Iterator, Mapping
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import yaml

from checking.keeping import plan_of
from tacit.checking.assess import assess
from tacit.families.catalog import DEFINITIONS, kinds_of
from tacit.model.verdict import Verdict

Document = dict[str, Any]
Keep = Callable[..., None]

PEOPLE = [
    ["Ann", 20, 1],
    ["Bob", 21, 2],
    ["Cat", 22, 3],
    ["Dan", 23, 4],
    ["Eve", 24, 1],
    ["Fay", 25, 2],
    ["Gus", 26, 3],
    ["Hal", 27, 4],
]
TABLE = {
    "columns": {"name": "text", "age": "integer", "pay": "integer"},
    "key": ["name"],
    "person": ["name"],
    "identifiers": ["name"],
    "quasi-identifiers": ["age"],
    "sensitive": ["pay"],
    "hierarchies": {"age": "*"},
    "domains": {"pay": [1, 2, 3, 4]},
}
CLUBS = {
    "columns": ["club", "city"],
    "rows": [["chess", "a"], ["golf", "b"], ["golf", "b"]],
    "quasi-identifiers": ["club"],
    "sensitive": ["city"],
    "domains": {"city": ["a", "b"]},
}
MECHANISM = {"group": "age", "value": "pay", "epsilon": 1, "delta": 0}
ABOUT_PEOPLE: Document = {
    "version": 1,
    "tables": {"people": {**TABLE, "rows": PEOPLE}, "clubs": CLUBS},
    "secrets": {"low": "SELECT DISTINCT name FROM people WHERE pay = 1"},
    "releases": {
        "coarse": {"table": "people", "generalization": {"age": 1}},
        "pays": {"query": "SELECT pay FROM people"},
        "noisy": {"table": "people", "synthetic": MECHANISM},
        "view": {"query": "SELECT name, pay FROM people"},
        "microdata": {"table": "people", "generalization": {}},
        "synthetic": {"table": "people", "synthetic": {**MECHANISM, "epsilon": 9}},
        "rule": {"constraint": "people(n, 20, p) -> p = 1"},
        "other view": {"query": "SELECT club, city FROM clubs"},
        "other microdata": {"table": "clubs"},
        "other synthetic": {
            "table": "clubs",
            "synthetic": {"group": "club", "value": "city", "epsilon": 9, "delta": 0},
        },
        "other rule": {"constraint": "clubs(c, d) -> d != 'x'"},
    },
}
# Guests alone say nothing of members; together with who is both, or
# that guests are members, they do.
ABOUT_TWO_TABLES: Document = {
    "version": 1,
    "tables": {
        "members": {
            "columns": ["name", "town"],
            "rows": [["a", "x"], ["b", "y"]],
            "domains": {"name": ["a", "b", "c"], "town": ["x", "y"]},
            "quasi-identifiers": ["name"],
            "sensitive": ["town"],
        },
        "guests": {
            "columns": ["name"],
            "rows": [["a"], ["c"]],
            "domains": {"name": ["a", "b", "c"]},
        },
        "clubs": CLUBS,
    },
    "secrets": {"member": "S(n) :- members(n, t)"},
    "releases": {
        "list": {"query": "V(n) :- guests(n)"},
        "again": {"query": "V(n) :- guests(n), guests(n)"},
        "view": {"query": "V(n) :- guests(n), members(n, t)"},
        "microdata": {"table": "members"},
        "synthetic": {
            "table": "members",
            "synthetic": {"group": "name", "value": "town", "epsilon": 9, "delta": 0},
        },
        "rule": {"constraint": "guests(n) -> members(n, t)"},
        **{name: one for name, one in ABOUT_PEOPLE["releases"].items() if name.startswith("other")},
    },
}
IN_LINE = {
    **ABOUT_TWO_TABLES["tables"],
    "guests": {**ABOUT_TWO_TABLES["tables"]["guests"], "rows": [["a"]]},
}  # what the rule says is true of these

PARAMETERS: Mapping[str, Document] = {
    "k-anonymity": {"k": 4},
    "l-diversity": {"kind": "distinct", "l": 4},
    "t-closeness": {"t": 0.1},
    "alpha-k": {"alpha": 0.5, "k": 4},
    "k-e": {"k": 4, "e": 1},
    "eps-m": {"epsilon": 1, "m": 1.2},
    "variance": {"v": 1},
    "m-invariance": {"m": 2, "kind": "values"},
    "c-k-safety": {"c": 0.9, "k": 1},
    "skyline": {"l": 0, "k": 0, "m": 0, "c": 0.9},
    "rho1-rho2": {"rho1": 0.4, "rho2": 0.6},
    "dissimilarity": {"epsilon": 1, "delta": 0.1, "k": 1},
    "risk": {"at-most": 0.25},
    "semantic": {"measure": {"positive": 0.9}},
    "gamma-privacy": {"gamma": 0.5},
    "k-sind": {"k": 3},
    "k-rsind": {"k": 2},
    "perfect-privacy": {"secret": "member"},
    "g-safety": {"secret": "member"},
    "e-safety": {"secret": "member"},
    "differential-privacy": {},
    "probabilistic-dp": {},
    "hipaa-identifiers": {},
}
ALONE = {"c-k-safety", "dissimilarity"}  # as they are asked here, of one release only
SHAPES = ("view", "microdata", "synthetic", "rule")
WAYS = ("published", "ledger", "ledger beside the plan", "given", "given the ledger")
KNOWN = (
    ((), ()),
    ((), ("bank",)),
    (("bank",), ()),
    (("bank",), ("bank",)),
    (("BANK ",), ("bank",)),
)  # who has the published thing, who gets the new one
UNKNOWN = ((("press",), ("bank",)),)


# Of g-safety a view that tells anything new is breached whatever else is published;
# so it is asked about one that tells nothing, beside the list.
GROUPS = {
    "people": {
        *kinds_of("microdata"),
        *kinds_of("overlaps"),
        *kinds_of("synthetic"),
        *kinds_of("identifiers"),
    },
    "two tables": {"perfect-privacy", "e-safety"},
    "nothing new": {"g-safety"},
}


def asked() -> list[str]:
    """The definitions; those of synthetic data need a library of their own."""
    try:
        import flint  # noqa: F401
    except ImportError:
        return [kind for kind in PARAMETERS if kind not in kinds_of("synthetic")]
    return list(PARAMETERS)


def new_release(kind: str) -> str:
    return (
        "coarse"
        if kind in (*kinds_of("microdata"), *kinds_of("identifiers"))
        else "pays"
        if kind in kinds_of("overlaps")
        else "noisy"
        if kind in kinds_of("synthetic")
        else "again"
        if kind == "g-safety"
        else "list"
    )


def right(kind: str, shape: str) -> tuple[str, str | None]:
    """The one right outcome: status, and the code where it is undecided."""
    if kind in kinds_of(
        "identifiers"
    ):  # which columns are shown depends on nothing that is published
        return "holds", None
    if kind in kinds_of("overlaps") and shape in ("view", "microdata"):
        return "breached", None
    if kind in kinds_of("microdata") and shape == "microdata" and kind not in ALONE:
        return "breached", None
    if kind in kinds_of("worlds") and shape in ("view", "rule"):
        return ("holds" if kind == "g-safety" else "breached"), None
    if kind == "perfect-privacy" and shape in ("view", "rule"):
        return ("breached", None) if shape == "view" else ("undecided", "constraints")
    return (
        "undecided",
        "composition"
        if kind in kinds_of("synthetic") and shape == "synthetic"
        else "does-not-compose",
    )


def document_of(
    group: str, out: str, way: str, to: tuple[str, ...] = (), new_to: tuple[str, ...] = ()
) -> Document:
    """A plan with all checks of a group, and one release that is published in some way."""
    found = copy.deepcopy(ABOUT_PEOPLE if group == "people" else ABOUT_TWO_TABLES)
    kinds = [kind for kind in asked() if kind in GROUPS[group]]
    if out == "rule" and group != "people":
        found["tables"] = copy.deepcopy(IN_LINE)
    found["releases"][out]["to"] = list(to)
    for kind in kinds:
        found["releases"][new_release(kind)]["to"] = list(new_to)
    also = ["list"] if group == "nothing new" else []
    given = {
        "given": {"given": [out, *also]},
        "given the ledger": {"given": ["ledger", *also]},
    }.get(way, {})
    found["checks"] = [
        {kind: {"release": new_release(kind), **PARAMETERS[kind], **given}} for kind in kinds
    ]
    found["published"] = [*{"published": [out], "ledger": ["ledger"]}.get(way, []), *also]
    return found


@pytest.fixture
def verdicts(kept: Keep, monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[Verdict, ...]]:
    """The verdicts of a plan where something is published in some way."""

    def judged(
        document: Document, out: str, way: str, to: tuple[str, ...] = ()
    ) -> tuple[Verdict, ...]:
        plan = plan_of(document)
        monkeypatch.setattr(
            "tacit.checking.publications.has_ledger", lambda plan: way == "ledger beside the plan"
        )
        kept(plan, [(out, to)] if "ledger" in way else [])
        return assess(plan).verdicts

    return judged


def test_the_matrix_has_every_definition() -> None:
    assert set(PARAMETERS) == set(DEFINITIONS)


@pytest.mark.slow
@pytest.mark.parametrize("group", list(GROUPS))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_published_about_the_same_people_is_judged_or_the_check_is_undecided(
    verdicts: Any, shape: str, way: str, group: str
) -> None:
    for to, new_to in KNOWN:
        for found in verdicts(document_of(group, shape, way, to, new_to), shape, way, to):
            told = (found.status, found.reason.code if found.reason else None)
            assert told == right(found.check, shape), (
                found.check,
                to,
                new_to,
                str(found),
                found.reason,
            )
            if found.status == "undecided" and told[1] != "constraints":
                assert found.reason is not None and shape in found.reason.text, found.reason
            elif found.status == "holds":
                assert shape in found.subject["given"]  # it was judged


@pytest.mark.slow
@pytest.mark.parametrize("group", list(GROUPS))
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("shape", SHAPES)
def test_what_is_about_other_people_or_went_to_others_changes_nothing(
    verdicts: Any, shape: str, way: str, group: str
) -> None:
    for out, (to, new_to) in [(shape, one) for one in UNKNOWN] + [
        (f"other {shape}", one) for one in (((), ()), ((), ("bank",)))
    ]:
        for found in verdicts(document_of(group, out, way, to, new_to), out, way, to):
            assert found.status == "holds", (found.check, out, to, new_to, str(found), found.reason)


@pytest.mark.sampled
@pytest.mark.parametrize("group", ["people", "two tables"])
@pytest.mark.parametrize("way", ["published", "ledger", "ledger beside the plan"])
@pytest.mark.parametrize("shape", SHAPES)
def test_given_nothing_is_a_question_of_its_own_and_says_so(
    verdicts: Any, shape: str, way: str, group: str
) -> None:
    document = document_of(group, shape, way)
    for check in document["checks"]:
        next(iter(check.values()))["given"] = []
    for found in verdicts(document, shape, way):
        assert found.status == "holds"
        [note] = [one for one in found.warnings if "`given` of this check leaves it out" in one]
        assert note.startswith(shape) and ("as the ledger says" in note) == (way != "published")
        assert [one.id for one in found.assumptions].count("given-only") == 1


# -- advice: after a refusal, only steps that work -------------------------------------------------


def steps(kind: str, text: str) -> list[Document]:
    """The checks that a reason says can be asked in the place of one that could not be decided."""
    found: list[Document] = []
    if together := re.search(
        r"Ask gamma-privacy or k-sind of (?:both|all), releases: (\[.+?\])", text
    ):
        found += [
            {one: {"releases": yaml.safe_load(together[1]), **PARAMETERS[one]}}
            for one in ("gamma-privacy", "k-sind")
        ]
    if views := re.search(
        r"Ask (g-safety or e-safety|perfect-privacy), which .+?: (\{.+?\})", text
    ):
        found += [{one: yaml.safe_load(views[2])} for one in views[1].split(" or ")]
    if spent := re.search(r"for example (epsilon: \S+, delta: [^\s.]+(?:\.\d+)?)", text):
        found.append({kind: {"release": new_release(kind), **yaml.safe_load(f"{{{spent[1]}}}")}})
    return found


def undecided(verdicts: Any) -> Iterator[tuple[str, str, Verdict]]:
    for group, shape in product(GROUPS, SHAPES):
        for found in verdicts(document_of(group, shape, "published"), shape, "published"):
            if found.status == "undecided":
                yield group, shape, found


@pytest.mark.slow
def test_after_a_refusal_each_step_that_is_named_works(verdicts: Any) -> None:
    taken = set()
    for group, shape, found in undecided(verdicts):
        assert found.reason is not None
        for check in steps(found.check, found.reason.text):
            [(kind, asked)] = check.items()
            document = document_of(group, shape, "published")
            if asked.get("secret") == "NAME":
                asked |= {"secret": next(iter(document["secrets"])), "seconds": 2}
            [judged] = verdicts({**document, "checks": [check]}, shape, "published")
            assert judged.reason is None or judged.reason.code == "time", (
                found.check,
                shape,
                check,
                judged.reason,
            )
            taken.add((found.check, shape, kind))
        if not steps(found.check, found.reason.text) and found.reason.code == "does-not-compose":
            assert "No definition judges " in found.reason.text and "Ask " not in found.reason.text
    assert {
        ("l-diversity", "view", "gamma-privacy"),
        ("dissimilarity", "microdata", "gamma-privacy"),
        ("gamma-privacy", "rule", "g-safety"),
    } <= taken


def test_no_step_leads_in_a_circle(verdicts: Any) -> None:
    """A published list with DISTINCT: views of one table do not take it,
    and what takes it takes no microdata.
    """
    document = document_of("people", "view", "published")
    document["releases"]["view"]["query"] = "SELECT DISTINCT pay FROM people WHERE age = 20"
    for found in verdicts(document, "view", "published"):
        if found.check in kinds_of("identifiers"):
            continue
        assert found.reason is not None and found.reason.code == "does-not-compose"
        named = steps(found.check, found.reason.text)
        assert not named or found.check in kinds_of("overlaps"), (found.check, found.reason)
        if not named:
            assert "DISTINCT" in found.reason.text or found.check in kinds_of("synthetic"), (
                found.reason
            )


# -- the same people under another name, by plain `published` --------------------------------------


@pytest.mark.parametrize("copied", [False, True])
def test_people_of_another_name_are_found_without_a_ledger(tmp_path: Path, copied: bool) -> None:
    text = "\n".join(["name,age,pay", *(",".join(map(str, row)) for row in PEOPLE)]) + "\n"
    for name in ("people.csv", "copy.csv"):
        (tmp_path / name).write_text(text)
    document = document_of("people", "view", "published")
    table = {key: value for key, value in TABLE.items() if key != "columns"}
    document["tables"] |= {
        "people": {**table, "file": "people.csv"},
        "staff": {**table, "file": "copy.csv" if copied else "people.csv"},
    }
    document["releases"]["view"]["query"] = "SELECT name, pay FROM staff"
    for found in assess(plan_of(document, tmp_path)).verdicts:
        assert found.check in kinds_of("identifiers") or (
            found.status == "undecided"
            and found.reason is not None
            and "have the same people, or may" in found.reason.text
        ), (str(found), found.reason)


# -- tables with what is known about both releases -------------------------------------------------

SECOND = next(
    (
        path
        for up in Path(__file__).resolve().parents
        if (path := up / "shared" / "cases" / "second.json").is_file()
    ),
    None,
)


@pytest.mark.slow
@pytest.mark.skipif(SECOND is None, reason="the tables of shared/cases are not in this clone")
def test_a_second_release_is_judged_together_with_the_first(tmp_path: Path) -> None:
    assert SECOND is not None
    cases = json.loads(SECOND.read_text("utf-8"))
    assert len(cases) == 60
    for number, case in enumerate(cases):
        folder = tmp_path / str(number)
        folder.mkdir()
        for name, text in case["files"].items():
            (folder / name).write_text(text, "utf-8")
        [found] = assess(plan_of(case["plan"], folder)).verdicts
        assert found.status == case["expect"], (number, str(found))
        assert found.subject == {"release": "may", "given": ["april"]}


# -- steps that commands name ----------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_commands_name_no_step_that_cannot_help_beside_what_is_out(
    tacit: Any, folder: Path
) -> None:
    pytest.importorskip("flint")
    document = document_of("people", "view", "published")
    document["checks"] = [
        {"k-anonymity": {"release": "coarse", "k": 9}},
        {"differential-privacy": {"release": "noisy"}},
    ]
    Path("tacit.yaml").write_text(json.dumps(document), "utf-8")
    checked = tacit("check")
    assert checked.status == 1 and "tacit anonymize" not in checked.out  # it would not write
    drawn = tacit("synthesize", "noisy", "-o", "noisy.csv", "--report", "r.html")
    assert drawn.status == 3 and not Path("noisy.csv").exists()
    assert "change epsilon" not in drawn.out + Path("r.html").read_text(
        "utf-8"
    ).lower() and "tacit check tacit.yaml --only noisy" in " ".join(drawn.out.split())


@pytest.mark.parametrize(
    "kind", ["k-anonymity", "gamma-privacy", "e-safety", "perfect-privacy", "differential-privacy"]
)
def test_one_check_that_cannot_judge_what_is_out_keeps_no_other_from_its_verdict(
    verdicts: Any, kind: str
) -> None:
    if kind not in asked():
        pytest.skip("python-flint is not installed")
    group = next(name for name, kinds in GROUPS.items() if kind in kinds)
    document = document_of(group, "microdata", "published")
    found = verdicts(document, "microdata", "published")
    assert len(found) == len(document["checks"]) and kind in [one.check for one in found]


@pytest.mark.parametrize("kind", ["g-safety", "e-safety"])
def test_a_published_view_that_view_safety_cannot_read_leaves_it_undecided_and_aborts_nothing(
    verdicts: Any, kind: str
) -> None:
    document = document_of(
        "nothing new" if kind == "g-safety" else "two tables", "view", "published"
    )
    document["releases"]["view"]["query"] = (
        "SELECT town, COUNT(*) AS people FROM members GROUP BY town"
    )
    [found] = [one for one in verdicts(document, "view", "published") if one.check == kind]
    assert (
        found.status == "undecided"
        and found.reason is not None
        and found.reason.code == "does-not-compose"
    ), found.reason
    assert "Ask perfect-privacy, which reads more queries: {secret: member" in found.reason.text
    [step] = steps(kind, found.reason.text)
    assert verdicts({**document, "checks": [step]}, "view", "published")[0].reason is None
