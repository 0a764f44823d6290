"""Everything that has a name is in the documentation, links lead
somewhere, and words are chosen with care.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import click
import pytest
from snippets import PAGES, ROOT

import tacit
from tacit.cli import cli
from tacit.families.catalog import CHECKS, DEFINITIONS
from tacit.model.schema import ColumnType, DateUnit
from tacit.plan.read.hierarchies import READERS
from tacit.plan.read.keys import PlanKeys, ReleaseKeys, RoleKeys, SyntheticKeys, TableKeys

DOCS = ROOT / "docs"
WITHOUT_PICTURE = {"hipaa-identifiers"}  # it is about columns, and nothing is counted
HEADINGS = (
    "Example",
    "In words",
    "Formally",
    "Parameters",
    "Protects against",
    "Does not protect against",
    "Evidence",
    "Properties",
    "Exactness",
    "Differs from the paper",
    "References",
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
PACKAGE_NAME = re.compile(r"[A-Za-z0-9._-]+")
LINK = re.compile(r"\]\(([^)\s]+)\)")
LATER = "the check itself is not in this version"


def page(name: str) -> str:
    return (DOCS / name).read_text("utf-8")


def is_named(word: str, text: str) -> bool:
    """Whether a word stands in code: alone in backticks, or as the
    start or a part of what stands there.
    """
    return re.search(rf"`[^`\n]*(?<![\w-]){re.escape(word)}(?![\w-])[^`\n]*`", text) is not None


def section(heading: str, text: str) -> str:
    """What stands below a heading, up to the next of the same rank."""
    found = re.search(
        rf"^## {re.escape(heading)}\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL
    )
    assert found, f"there is no heading '## {heading}'"
    return found[1]


def commands(group: click.Group, above: str = "tacit") -> Iterator[tuple[str, click.Command]]:
    for name, command in group.commands.items():
        yield f"{above} {name}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{above} {name}")


def options(command: click.Command) -> list[str]:
    return [name for one in command.params if isinstance(one, click.Option) for name in one.opts]


@pytest.mark.parametrize(("name", "command"), list(commands(cli)))
def test_every_command_and_option_is_in_the_reference(name: str, command: click.Command) -> None:
    reference = page("reference/cli.md")
    own = section(name, reference)
    assert is_named(name, own)
    missing = [option for option in options(command) if not is_named(option, own)]
    assert not missing, f"docs/reference/cli.md says nothing about {missing} below '## {name}'"
    shared = section("Options that several commands have", reference)
    unexplained = [one for one in ("--json", "--report", "--audience") if not is_named(one, shared)]
    assert not unexplained


def test_every_word_that_an_option_takes_is_in_the_reference() -> None:
    reference = page("reference/cli.md")
    for name, command in commands(cli):
        for one in command.params:
            for word in one.type.choices if isinstance(one.type, click.Choice) else ():
                assert is_named(word, reference), f"{name} {one.opts[0]} {word}"


@pytest.mark.parametrize(
    ("heading", "keys"),
    [
        ("Top-level keys", PlanKeys),
        ("Tables", TableKeys),
        ("Releases", ReleaseKeys),
        ("Releases", SyntheticKeys),
        ("Roles", RoleKeys),
    ],
)
def test_every_key_of_the_plan_is_in_the_reference(heading: str, keys: type[PlanKeys]) -> None:
    text = section(heading, page("reference/plan.md"))
    missing = [key for key in keys.names() if not is_named(key, text)]
    assert not missing, f"docs/reference/plan.md says nothing about {missing} below '## {heading}'"


def test_every_way_to_write_a_hierarchy_and_every_type_is_in_the_reference() -> None:
    text = page("reference/plan.md")
    hierarchies = section("Hierarchies", text)
    for word in (*READERS, *get_args(DateUnit), '"*"', "right", "left"):
        assert word in hierarchies, word
    for word in get_args(ColumnType):
        assert is_named(word, section("Tables", text)), word


@pytest.mark.parametrize("name", CHECKS)
def test_every_check_with_its_keys_and_words_is_in_the_reference(name: str) -> None:
    text = section("Checks", page("reference/plan.md"))
    row = re.search(rf"^\| `{re.escape(name)}` \|.*$", text, re.MULTILINE)
    assert row, f"docs/reference/plan.md has no row for {name}"
    keys = [one.name for one in CHECKS[name].parameters]
    common = text[: text.index("| check | keys |")]  # what several checks take is explained once
    assert not [key for key in keys if not is_named(key, row[0]) and not is_named(key, common)]
    words = [word for one in CHECKS[name].parameters for word in one.choices]
    assert not [word for word in words if not is_named(word, row[0]) and not is_named(word, common)]


@pytest.mark.parametrize("name", CHECKS)
def test_the_reference_says_which_checks_are_in_this_version(name: str) -> None:
    text = page("reference/plan.md")
    row = re.search(rf"^\| `{re.escape(name)}` \|.*$", section("Checks", text), re.MULTILINE)
    assert row and LATER in text
    last = row[0].rstrip("| ").rpartition("|")[2].strip()
    assert last == (f"[yes](../definitions/{name}.md)" if name in DEFINITIONS else "later")


@pytest.mark.parametrize("name", DEFINITIONS)
def test_every_definition_has_a_page_with_all_its_parts(name: str) -> None:
    text = page(f"definitions/{name}.md")
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings == list(HEADINGS)
    assert all(section(heading, text).strip() for heading in HEADINGS)
    pictured = f"](../images/definitions/{name}.svg)" in section("Example", text)
    assert pictured or name in WITHOUT_PICTURE
    parameters = section("Parameters", text)
    keys = ["release", *(one.name for one in CHECKS[name].parameters)]
    assert not [key for key in keys if not is_named(key, parameters)]
    assert f"[{name}]({name}.md)" in page("definitions/README.md")
    assert re.search(
        rf"^\| `{name}` \|", section("Fields", page("reference/json.md")), re.MULTILINE
    )


@pytest.mark.parametrize("name", DEFINITIONS)
def test_what_a_definition_says_about_itself_is_on_its_page(name: str) -> None:
    definition = DEFINITIONS[name]
    properties = section("Properties", page(f"definitions/{name}.md"))
    assert ("**Monotone**" in properties) == definition.monotone
    assert ("**Monotone**, also when" in properties) == definition.monotone_with_suppression
    assert ("**Simulatable" in properties) == definition.simulatable


def test_every_public_name_is_in_the_reference() -> None:
    text = page("reference/python.md")
    missing = [name for name in tacit.__all__ if not is_named(name, text)]
    assert not missing, f"docs/reference/python.md says nothing about {missing}"
    unused = [
        name
        for name in tacit.__all__
        if not re.search(rf"^(>>>|\.\.\.).*\b{name}\b", text, re.MULTILINE)
    ]
    assert not unused, f"no example of docs/reference/python.md uses {unused}"


def test_every_dependency_earns_a_line() -> None:
    text = page("dependencies.md")
    lines = {"": PROJECT["dependencies"], **PROJECT["optional-dependencies"]}
    for extra, packages in lines.items():
        for requirement in packages:
            name = PACKAGE_NAME.match(requirement)[0]  # type: ignore[index]
            row = rf"^\|{f' `{extra}` .' if extra else ''}[^|]*`{re.escape(name)}`[^|]*\|[^|]+\|$"
            assert re.search(row, text, re.MULTILINE), (
                f"docs/dependencies.md does not say why {extra or 'we'} need {name}"
            )


def test_nobody_is_told_to_install_by_a_name_that_is_not_ours() -> None:
    files = [
        *PAGES,
        *(ROOT / "src").rglob("*.py"),
        *(ROOT / "examples").rglob("*.py"),
        *(ROOT / "benchmarks").rglob("*.py"),
    ]
    by_name = re.compile(
        r"(pipx?|uv|uvx|conda)\b[^\n]*\b(install|add|run)\b[^\n.]*[\s'\"]tacit\b(?!-)"
    )
    found = [
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in files
        for match in by_name.finditer(path.read_text("utf-8"))
    ]
    assert not found


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    for link in LINK.findall(text):
        if re.match(r"[a-z]+:", link):
            continue
        file, _, anchor = link.partition("#")
        target = (path.parent / file).resolve() if file else path
        assert target.exists(), f"{link}: there is no such file"
        if anchor:
            assert anchor in anchors(target), f"{link}: there is no such heading"


def anchors(path: Path) -> list[str]:
    """The headings of a page as links name them."""
    headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), re.MULTILINE)
    return [re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings]


@pytest.mark.parametrize(
    "path",
    sorted(path for path in (ROOT / "src/tacit/report").rglob("*") if path.suffix != ".pyc"),
    ids=lambda path: path.name,
)
def test_a_report_promises_no_more_than_was_checked(path: Path) -> None:
    if path.is_file():
        promises = re.findall(
            r"\b(?:anonymous|anonymi[sz]ed|safe|safely|compliant)\b",
            path.read_text("utf-8"),
            re.IGNORECASE,
        )
        assert not promises


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_pages_call_no_result_anonymous_safe_or_compliant(path: Path) -> None:
    text = re.sub(r'"(anonymous|safe|compliant)"', "", path.read_text("utf-8"))
    assert not re.findall(r"(?<![-\w])(?:anonymous|safe|compliant)\b", text, re.IGNORECASE)


def test_the_changelog_has_the_version_of_the_package() -> None:
    assert f"## {PROJECT['version']}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
