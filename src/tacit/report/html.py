"""The report as one page: no script, nothing fetched from anywhere, the same bytes for the same answers."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

import tacit
from tacit.assess import Assessment
from tacit.definitions.registry import DEFINITIONS
from tacit.definitions.words import people, plural
from tacit.errors import InputError
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Audience, Verdict, Witness
from tacit.report.charts import Chart, charts, noun
from tacit.report.terminal import WORDS, by_release, conclusion
from tacit.tables.hierarchy import value_text
from tacit.tables.portrait import Portrait

MOST_ROWS = 12  # of a table in the page

CHECKED = {"yes": "checked", "no": "not checked", "cannot": "cannot be checked"}
CERTAINTY = {
    "exact": "decided in exact arithmetic",
    "conservative": "may refuse what is private, never the reverse",
    "statistical": "holds with the stated confidence",
}
GLOSSARY = {
    "release": "What leaves the house: here a copy of a table in which some values are made coarser.",
    "quasi-identifiers": "Columns that a neighbour, a colleague or another list may know about a person, such as zip and age.",
    "sensitive": "A column whose value nobody may learn about a person.",
    "group": "All people whose quasi-identifiers look the same in the release. Nobody can tell them apart by these.",
    "belief": "How likely a person's value is to somebody who counts. Before: the share of it in the whole table. "
    "After: its share in the person's group.",
    "witness": "The least evidence of a breach that a person can follow and a program can check again.",
    "holds, breached, undecided": "The three answers of a check. Undecided never counts as holds.",
}


@dataclass(frozen=True, slots=True)
class Grid:
    """A small table of the page."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Section:
    """One release as the page shows it."""

    name: str
    status: str
    conclusion: str
    figures: Sequence[tuple[str, str]]
    verdicts: Sequence[Verdict]
    charts: Sequence[Chart]
    silent: bool


def write_report(assessment: Assessment, path: Path, audience: Audience) -> None:
    """Write the report to a file."""
    write_page(render(assessment, audience), path)


def write_page(text: str, path: Path) -> None:
    """Write a page to a file: whole, or not at all.

    Raises InputError where the folder is missing or may not be written to.
    """
    page = text.encode()
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.is_dir():
            raise IsADirectoryError(None, "it is a folder")
        with beside.open("xb") as file:
            file.write(page)
        beside.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    finally:
        with suppress(OSError):
            beside.unlink()


def cannot_write(path: Path, error: OSError) -> InputError:
    """Why there is no report, and what to do about it."""
    if isinstance(error, FileNotFoundError | NotADirectoryError) and not path.parent.is_dir():
        return InputError(
            f"the report cannot be written: there is no folder {path.parent}.", hint=f"Make it first: mkdir -p {path.parent}"
        )
    reason = (error.strerror or str(error)).lower()
    return InputError(f"the report cannot be written to {path}: {reason}.", hint="Choose another file with --report.")


def render(assessment: Assessment, audience: Audience) -> str:
    """The page as text; for a `shared` audience without any personal value."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"facts": facts, "grids": grids, "inline": Markup}
    template = environment.from_string(files("tacit.report").joinpath("page.html").read_text("utf-8"))
    assumptions = tuple(dict.fromkeys(one for verdict in assessment for one in verdict.assumptions))
    return template.render(
        plan=Path(assessment.plan).name,
        owner=audience == "owner",
        version=tacit.__version__,
        tables=tables(assessment),
        sections=[section(name, verdicts, assessment, audience) for name, verdicts in by_release(assessment)],
        unproved=[one for one in assumptions if one.checked != "yes"],
        glossary=glossary(assessment),
        words=WORDS,
        checked=CHECKED,
        certainty=CERTAINTY,
    )


def tables(assessment: Assessment) -> list[str]:
    """The tables that were looked at, each in a line."""
    lines = (
        f"{question.table.name}: {question.rows:,} rows, {people(question.people)}"
        for question in assessment.questions.values()
    )
    return list(dict.fromkeys(lines))


def section(name: str, verdicts: Sequence[Verdict], assessment: Assessment, audience: Audience) -> Section:
    """One release: what to do with it, why, and its pictures."""
    portrait = assessment.portraits.get(name)
    breached = [verdict for verdict in verdicts if verdict.status == "breached"]
    undecided = any(verdict.status == "undecided" for verdict in verdicts)
    return Section(
        name,
        "breached" if breached else "undecided" if undecided else "holds",
        conclusion(verdicts).plain,
        figures(portrait) if portrait else [],
        verdicts,
        charts(portrait, verdicts, audience) if portrait else [],
        silent=audience == "owner" and not all(simulatable(verdict) for verdict in breached),
    )


def simulatable(verdict: Verdict) -> bool:
    """Could the other side compute this answer without the rows? If not, a refusal tells them something."""
    return verdict.check in DEFINITIONS and DEFINITIONS[verdict.check].simulatable


def figures(portrait: Portrait) -> list[tuple[str, str]]:
    """The release in a few numbers."""
    found = [
        (f"{portrait.people:,}", "people"),
        (f"{portrait.groups:,}", "groups" if portrait.groups > 1 else "group"),
        (f"{portrait.smallest:,}", "in the smallest group"),
    ]
    for exposure in portrait.exposures:
        found.append((percent(exposure.greatest), f"greatest belief in anybody's {noun(exposure.sensitive)}"))
        found.append((f"{exposure.certain:,}", f"whose {noun(exposure.sensitive)} is certain"))
    return found


def facts(verdict: Verdict) -> list[tuple[str, str]]:
    """What a verdict speaks of, term by term."""
    return [
        ("Protects", verdict.protects),
        ("Against", verdict.against),
        ("Measure", verdict.measure),
        ("Measured", parameters(verdict.measured)),
        ("Required", parameters(verdict.required)),
    ]


def parameters(values: Mapping[str, Any]) -> str:
    """Measured or required numbers in a line.

    >>> parameters({"kind": "entropy", "l": Fraction(14, 5)})
    'kind = entropy, l = 2.8'
    """
    return ", ".join(f"{name} = {shown(value)}" for name, value in values.items())


def shown(value: Any) -> str:
    """A value as a reader would write it.

    >>> shown(Fraction(1, 3)), shown(13053), shown(None), shown({"name": "Bruce"}), shown(["a", "b"])
    ('1/3', '13053', '(missing)', 'name Bruce', 'a, b')
    """
    if value is None:
        return "(missing)"
    if isinstance(value, Fraction):
        return plain(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {shown(one)}" for name, one in value.items())
    if isinstance(value, list | tuple | set | frozenset):
        return ", ".join(shown(one) for one in value)
    return value_text(value)


def grids(witness: Witness) -> list[Grid]:
    """The witness as small tables: for a group what the release shows of it, else every fact of it."""
    if witness.kind != "group" or "values" not in witness.personal or "size" not in witness.facts:
        rows = [(noun(name), shown(value)) for name, value in {**witness.facts, **witness.personal}.items()]
        return [Grid(f"Witness: {witness.kind}", ("fact", "value"), rows)]
    return [group_grid(witness), *counts_grid(witness)]


def group_grid(witness: Witness) -> Grid:
    """What the release shows of a group, and how many people are in it."""
    values = witness.personal["values"]
    row = [*map(shown, values.values()), f"{witness.facts['size']:,}"]
    return Grid("Witness: the group", [*values, "people"], [row])


def counts_grid(witness: Witness) -> list[Grid]:
    """How many people of a group have which sensitive value."""
    counts = witness.personal.get("counts")
    if not counts:
        return []
    rows = [[shown(value), f"{number:,}"] for value, number in counts.items()]
    if len(rows) > MOST_ROWS:
        rows = [*rows[:MOST_ROWS], [f"and {plural('other value', len(rows) - MOST_ROWS)}", ""]]
    return [Grid("Its people", (str(witness.facts.get("sensitive", "value")), "people"), rows)]


def glossary(assessment: Assessment) -> dict[str, str]:
    """The words of this page, and how sure its verdicts are."""
    found = dict.fromkeys(verdict.certainty for verdict in assessment)
    return {**GLOSSARY, **{word: f"Of a verdict: {CERTAINTY[word]}." for word in found}}
