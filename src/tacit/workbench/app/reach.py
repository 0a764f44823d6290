"""Reach: the pages read files below one folder, and so does every plan that they open or save."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import yaml

from tacit.errors import InputError, Mark
from tacit.plan.owned_files import folders_of, owners_files
from tacit.plan.plan import Plan
from tacit.plan.read.document import Document, parse, read_document
from tacit.plan.read.load import read_plan

VALUES = ("rows", "domains")  # of a table: what people have, and no names of files
HINT = (
    "The workbench reads only below one folder: put the file there, or start `tacit serve` "
    "with --folder on one above both."
)


def load_within(path: str | Path, folder: str | Path) -> Plan:
    """A plan whose files all lie below a folder, links followed; an InputError for any other."""
    return read_within(read_document(path), Path(path).parent, folder)


def text_within(text: str, file: Path, folder: str | Path) -> Plan:
    """The plan that a text would be as a file, if all that it names lies below a folder;
    a TacitError otherwise.
    """
    return read_within(parse(text, file.name), file.parent, folder)


def read_within(document: Document, place: Path, folder: str | Path) -> Plan:
    """A plan from its document. Names are looked at before anything that they name is read."""
    home = Path(folder).resolve()
    for text, mark in texts_of(document):
        if leads_out(text, place, home):
            raise outside(text, home, mark)
    plan = read_plan(document, place)
    for one in files_of(plan):
        if not one.resolve().is_relative_to(home):
            raise outside(one.name, home, None)
    refuse_code(plan)
    return plan


def texts_of(document: Document) -> Iterator[tuple[str, Mark]]:
    """All names and values of a plan that could be names of files, each with its place."""
    waiting: list[tuple[yaml.Node, bool]] = [(document.root, True)]
    seen: set[int] = set()  # an alias is the node itself once more
    while waiting:
        node, counts = waiting.pop()
        if id(node) in seen or not counts:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.ScalarNode):
            yield str(node.value), document.place(node.start_mark)
        elif isinstance(node, yaml.SequenceNode):
            waiting += [(one, True) for one in node.value]
        elif isinstance(node, yaml.MappingNode):
            for key, value in node.value:
                waiting += [(key, True), (value, getattr(key, "value", "") not in VALUES)]


def leads_out(text: str, place: Path, home: Path) -> bool:
    """Is a text a path that leads out of a folder, whether there is something or not? What stays
    below is looked at later.

    >>> home = Path("/srv/clinic")
    >>> [
    ...     leads_out(text, home, home)
    ...     for text in (
    ...         "/etc/passwd",
    ...         "../x.csv",
    ...         "a/../../x.csv",
    ...         "~/x",
    ...         "a/../b.csv",
    ...         "SELECT a / b FROM t",
    ...         "/srv/clinic/a.csv",
    ...     )
    ... ]
    [True, True, True, True, False, False, False]
    """
    if "\n" in text or "\0" in text:
        return False  # a query; files have no such names
    if text.startswith("~"):
        return True
    if not text.startswith("/") and ".." not in text.replace("\\", "/").split("/"):
        return False
    try:
        return not (place / text).resolve().is_relative_to(home)
    except (OSError, RuntimeError):
        return True


def files_of(plan: Plan) -> Iterator[Path]:
    """The files that a plan reads, whether they are there or not, and where it keeps its ledger."""
    yield from owners_files(plan)[1:]
    for folder in folders_of(plan):
        yield from (folder / table.file for table in plan.tables.values() if table.file)
    for release in plan.releases.values():
        if file := getattr(release, "file", None):
            yield plan.folder / file
    yield from (
        plan.folder / place
        for place in (plan.source, plan.ledger)
        if "://" not in place and place != "spark"
    )


def refuse_code(plan: Plan) -> None:
    """Raise an InputError for a plan that names code:
    who edits a plan on a page runs none by it.
    """
    for table in plan.tables.values():
        for column, way in table.distances.items():
            if isinstance(way, Mapping) and "python" in way:
                raise InputError(
                    f"the distance of {column} is a Python function, and pages run no code that a "
                    "plan names.",
                    hint="Use such a plan on the command line, or give a taxonomy.",
                    mark=plan.mark("tables", table.name, "distances", column),
                )


def outside(name: str, home: Path, mark: Mark | None) -> InputError:
    """A plan names something that pages do not reach."""
    return InputError(f"{name[:200]} is outside of {home.name}/.", hint=HINT, mark=mark)
