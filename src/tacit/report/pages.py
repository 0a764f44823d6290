"""Pages: one head, one style and one way to write a file for every report.

A page is one file: no script, nothing fetched from anywhere, the same bytes for the same answers.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined
from markupsafe import Markup

import tacit
from tacit.errors import InputError
from tacit.model.numbers import percent
from tacit.model.verdict import Audience
from tacit.report import crowds, queries, worlds
from tacit.report.cards import CERTAINTY, CHECKED, facts, grids
from tacit.report.scoping import scoped
from tacit.report.share_charts import limit_text
from tacit.report.terminal import WORDS
from tacit.report.world_charts import counts_chart


def render_page(template: str, audience: Audience, **values: Any) -> str:
    """A page as text. `template` extends base.html and says in its blocks what is its own."""
    environment = Environment(
        loader=FunctionLoader(lambda name: files("tacit.report").joinpath(name).read_text("utf-8")),
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
    )  # fmt: skip
    environment.filters |= {
        "facts": facts, "grids": grids, "inline": Markup, "percent": percent, "about_queries": queries.is_about_queries,
        "disclosure": queries.disclosure, "pairs": queries.subgoal_pairs, "because": queries.because, "words": queries.words, "title": worlds.title,
        "about_worlds": worlds.is_about_worlds, "told": worlds.story, "evidence": worlds.evidence, "reasons": worlds.reasons, "counts": worlds.counts,
        "counted": worlds.counted, "counts_chart": counts_chart,
        "about_overlaps": crowds.is_about_overlaps, "above": crowds.above, "smallest_crowds": crowds.smallest_crowds, "may_have": crowds.may_have,
        "advice": crowds.advice, "left_out": crowds.left_out, "limit": limit_text,
        "classes": queries.classes_text, "width": lambda share: f"{float(share):.2%}",
    }  # fmt: skip
    environment.globals |= {
        "owner": audience == "owner", "version": tacit.__version__, "words": WORDS, "checked": CHECKED, "certainty": CERTAINTY,
    }  # fmt: skip
    return environment.get_template(template).render(**values)


def style(scope: str, dark: str) -> str:
    """The style of the reports for what is below the selector `scope`, dark below the selector `dark`.

    >>> ":where(.body--dark) .report {" in style(".report", ".body--dark")
    True
    """
    return scoped(files("tacit.report").joinpath("style.css").read_text("utf-8"), scope, dark)


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
