"""The examples of the documentation run, and print what the pages say."""

from __future__ import annotations

import doctest
import json
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from snippets import (
    PAGES,
    ROOT,
    RUN,
    Block,
    agrees,
    blocks,
    is_run,
    plain_environment,
    prepare,
    run,
    steps,
)

from tacit.cli import cli
from tacit.errors import TacitError
from tacit.families.catalog import DEFINITIONS
from tacit.plan.read.load import load_plan

ALL = [block for page in PAGES for block in blocks(page)]


def named(block: Block) -> str:
    return block.name


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder to run examples in."""
    monkeypatch.chdir(tmp_path)
    for name in set(os.environ) - set(plain_environment()):
        monkeypatch.delenv(name)
    return tmp_path


@pytest.mark.parametrize("path", [path for path in RUN if blocks(path)], ids=relative)
def test_what_a_page_shows_is_what_a_reader_gets(path: Path, folder: Path) -> None:
    """One page from top to bottom: its files, its commands, its Python."""
    names: dict[str, object] = {}
    for block in blocks(path):
        prepare(block, folder)
        if block.language == "console":
            for step in steps(block):
                check_step(step.command, step.output, block)
        elif block.language == "python":
            check_python(block, names)


def check_step(command: str, expected: str | None, block: Block) -> None:
    if not is_run(command):
        return
    printed = run(command)
    if expected is not None:
        assert agrees(printed, expected), f"{block.name}: {command}\n{printed}"


def check_python(block: Block, names: dict[str, object]) -> None:
    test = doctest.DocTestParser().get_doctest(
        block.text, names, block.name, str(block.page), block.line
    )
    assert test.examples, f"{block.name}: a Python block has no >>>"
    said: list[str] = []
    doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
    names.update(test.globs)
    assert not said, "".join(said)


@pytest.mark.parametrize("block", [block for block in ALL if block.is_plan], ids=named)
def test_a_whole_plan_loads_unless_the_page_says_it_is_wrong(block: Block, tmp_path: Path) -> None:
    assert block.file, f"{block.name}: the line above a plan names its file, such as `tacit.yaml`:"
    for other in blocks(block.page):
        if other.language in ("csv", "sql") and other.file:
            prepare(other, tmp_path)
    path = tmp_path / "tacit.yaml"
    path.write_text(block.text, "utf-8")
    if block.file.startswith("wrong"):
        with pytest.raises(TacitError):
            load_plan(path)
    else:
        load_plan(path)


def evidence_part(page: Path) -> str:
    """What a page says about evidence."""
    found = re.search(r"^(#+) Evidence\n(.*?)(?=^\1 |\Z)", page.read_text("utf-8"), re.M | re.S)
    assert found, page
    return found[2]


@pytest.mark.parametrize("name", DEFINITIONS)
def test_the_page_of_a_definition_explains_all_evidence_of_its_example(
    name: str, folder: Path
) -> None:
    page = ROOT / "docs" / "definitions" / f"{name}.md"
    for block in blocks(page):
        prepare(block, folder)
    explained = evidence_part(page)
    if "README.md#evidence" in explained:  # what the definitions of one table share
        explained += evidence_part(page.parent / "README.md")
    for verdict in json.loads(run("tacit check --json --audience owner"))["verdicts"]:
        evidence = verdict.get("witness") or verdict.get("certificate") or verdict["reason"]
        words = {*evidence, *verdict["measured"]} - {"kind"}
        missing = [word for word in words if f"`{word.removesuffix('_decimal')}`" not in explained]
        assert not missing, f"docs/definitions/{name}.md does not say what {missing} means"


@pytest.mark.parametrize(
    "block", [block for block in ALL if block.language in ("sh", "console", "bash")], ids=named
)
def test_commands_and_options_exist(block: Block) -> None:
    for words in tacit_commands(block):
        command: click.Command = cli
        name = "tacit"
        while isinstance(command, click.Group) and words and not words[0].startswith("-"):
            assert words[0] in command.commands, f"there is no command: {name} {words[0]}"
            command, name, words = command.commands[words[0]], f"{name} {words[0]}", words[1:]
        known = {
            option for one in command.params if isinstance(one, click.Option) for option in one.opts
        } | {"--help", "-h"}
        strange = [
            word for word in words if word.startswith("-") and word.partition("=")[0] not in known
        ]
        assert not strange, f"{name} has no option {strange}"


def tacit_commands(block: Block) -> Iterator[list[str]]:
    """The words after `tacit` in every line of a block that calls it."""
    for line in block.text.replace("\\\n", " ").splitlines():
        found = re.match(r"(?:\$ )?(?:[A-Z_]+=\S+ )*(?:\S*/)?tacit (.*)", line)
        if found:
            words = shlex.split(found[1], comments=True)
            stop = next(
                (at for at, word in enumerate(words) if word in ("|", ">", "&&", "||", ";")),
                len(words),
            )
            yield words[:stop]


def test_make_targets_that_pages_name_exist() -> None:
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for block in ALL:
        if block.language in ("sh", "console", "bash"):
            for target in re.findall(r"^(?:\$ )?make ([\w-]+)", block.text, re.MULTILINE):
                assert re.search(rf"^{target}:", makefile, re.MULTILINE), (
                    f"{block.name}: make {target}"
                )
