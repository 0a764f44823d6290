"""Pages: one head, one style and one way to write a file for every report.

A page is one file: no script, nothing fetched from anywhere, the same bytes for the same answers
of the same day.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

import tacit
from tacit.engines.output import check_file, temporary_place
from tacit.families.catalog import risks_of
from tacit.model.numbers import percent, percent_exactly, percents
from tacit.model.verdict import Audience, Verdict
from tacit.report import crowds, world_evidence
from tacit.report.charts.world_chart import counts_chart
from tacit.report.escaping import escaped
from tacit.report.html.cards import CERTAINTY, CHECKED, grids
from tacit.report.html.pdf import as_pdf
from tacit.report.html.scoped_style import scoped
from tacit.report.query_evidence import value_words
from tacit.report.tellers import teller_of


def render_page(template: str, audience: Audience, **values: Any) -> str:
    """A page as text. `template` extends base.html and says in its blocks what is its own."""
    environment = Environment(
        loader=FunctionLoader(
            lambda name: files("tacit.report.html").joinpath(name).read_text("utf-8")
        ),
        autoescape=True,
        finalize=named_values,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["percents"] = percents
    environment.filters |= {
        "facts": facts,
        "grids": grids,
        "inline": Markup,
        "percent": percent,
        "teller": lambda verdict: teller_of(verdict.check),
        "above": crowds.above,
        "smallest_crowds": crowds.smallest_crowds,
        "may_have": crowds.may_have,
        "advice": crowds.advice,
        "left_out": crowds.left_out,
        "counted": world_evidence.counted,
        "counts_chart": counts_chart,
        "limit": percent_exactly,
        "width": lambda share: f"{float(share):.2%}",
        "longest_word": lambda text: max(map(len, text.split()), default=0),
    }
    environment.globals |= {
        "owner": audience == "owner",
        "version": tacit.__version__,
        "checked": CHECKED,
        "certainty": CERTAINTY,
    }
    return escaped(environment.get_template(template).render(**values))


def named_values(value: Any) -> Any:
    """What a page shows, with new values in words, also where they stand in a picture."""
    return type(value)(value_words(value)) if isinstance(value, str) else value


def facts(verdict: Verdict) -> list[tuple[str, str]]:
    """What a verdict speaks of, term by term."""
    spoken_of = [
        ("Protects", verdict.protects),
        ("Against", verdict.against),
        ("Measure", verdict.measure),
        ("Addresses", ", ".join(risks_of(verdict.check))),
    ]
    return [*spoken_of, *teller_of(verdict.check).facts(verdict)]


def style(scope: str, dark: str) -> str:
    """The style of the reports for what is below the selector `scope`,
    dark below the selector `dark`.

    >>> ":where(.body--dark) .report {" in style(".report", ".body--dark")
    True
    """
    return scoped(files("tacit.report.html").joinpath("style.css").read_text("utf-8"), scope, dark)


def write_page(text: str, path: Path) -> None:
    """Write a page to a file, whole or not at all; as PDF where its name ends so.

    Raises a TacitError where the folder is missing or may not be written
    to, and where the path is no file.
    """
    check_file(path, ())
    content = as_pdf(text) if path.suffix.lower() == ".pdf" else text.encode("utf-8")
    with temporary_place(path) as place:
        place.write_bytes(content)
