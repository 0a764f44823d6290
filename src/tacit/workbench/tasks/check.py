"""Tasks of checking: all verdicts of a plan with their cards and pictures, and its report, each
made in a process of its own.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tacit.checking.assess import Assessment, assess, selected
from tacit.families.catalog import kinds_of
from tacit.families.family import Answered, Question
from tacit.model.jobs import Job
from tacit.model.verdict import Audience
from tacit.plan.plan import Check
from tacit.report.html.page import render, section
from tacit.report.html.pages import render_page
from tacit.report.terminal.verdict_lines import by_release
from tacit.workbench.app.reach import load_within
from tacit.workbench.check_states import fingerprints, keys_of

ASSESSED = 0.8  # of the work is behind when all verdicts are there
BEGUN = 0.02  # before the first check: less would tell nothing about the time that is left
OVER = "done"  # what an assessment says at its end, which is not the end of this work


def check(job: Job, path: str, reach: str, only: Sequence[str] = ()) -> dict[str, Any]:
    """Answer the checks of a plan, or of some of its releases, as the pages keep and show them
    (for the owner).
    """
    text = Path(path).read_bytes()
    os.chdir(Path(path).parent)  # so that messages name files as the page does
    plan = load_within(path, reach)
    order, marks = (
        keys_of(plan),
        fingerprints(plan),
    )  # before the rows are read: what changes meanwhile is noticed
    asked = {id(one) for one in selected(plan, only)}
    keys = [key for key, one in zip(order, plan.checks, strict=True) if id(one) in asked]
    found = assess(plan, only=only, depth="page", job=most_of(job, selected(plan, only)))
    when = datetime.now(UTC).isoformat(timespec="seconds")
    by_verdict = {id(verdict): key for verdict, key in zip(found.verdicts, keys, strict=True)}
    parts, sections = by_release(found.answered), []
    for number, (name, answered) in enumerate(parts):
        job.step(f"drawing {name}", ASSESSED + (1 - ASSESSED) * number / len(parts))
        sections.append(drawn(name, answered, found, by_verdict))
    return {
        "when": when,
        "plan_digest": hashlib.sha256(text).hexdigest(),
        "plan_keys": order,
        "keys": keys,
        "verdicts": found.to_json("owner")["verdicts"],
        "fingerprints": {key: marks[key] for key in keys},
        "times": dict.fromkeys(keys, when),
        "sections": sections,
        "seconds": round(found.seconds, 3),
    }


def drawn(
    name: str, answered: Sequence[Answered[Question]], found: Assessment, keys: Mapping[int, str]
) -> dict[str, Any]:
    """What was found about a release, or several together:
    cards, figures and pictures, as JSON can hold them.
    """
    part = section(name, answered, found, "owner")
    verdicts = part.verdicts
    graphs = list(part.graphs) or [()] * len(verdicts)
    subject = verdicts[0].subject
    releases = subject.get("releases", subject.get("release", ()))
    return {
        "name": part.name,
        "releases": [releases] if isinstance(releases, str) else list(releases),
        "kinds": list(dict.fromkeys(verdict.check for verdict in verdicts)),
        "keys": [keys[id(verdict)] for verdict in verdicts],
        "status": part.status,
        "conclusion": part.conclusion,
        "silent": part.silent,
        "not_drawn": part.not_drawn,
        "figures": [list(one) for one in part.figures],
        "cards": [
            render_page("card.html", "owner", verdict=verdict, graphs=some)
            for verdict, some in zip(verdicts, graphs, strict=True)
        ],
        "charts": [{"title": one.title, "note": one.note, "svg": one.svg} for one in part.charts],
    }


def report(job: Job, path: str, reach: str, only: Sequence[str], audience: Audience) -> str:
    """The report of a plan's checks, or of some releases, as one page of HTML;
    for `shared` without any personal value.
    """
    os.chdir(Path(path).parent)
    plan = load_within(path, reach)
    found = assess(plan, only=only, depth="page", job=most_of(job, selected(plan, only)))
    job.step("writing the report", ASSESSED)
    return render(found, audience, plan)


def most_of(job: Job, checks: Sequence[Check]) -> Job:
    """A job for an assessment, which is the first part of this one: pictures are still to be drawn.

    Every check has its part of the way; within it the check's own steps count, which begin at 0
    again and again. A check whose table no check before it has counted has two parts, and so has
    the look at who is exposed when all are answered.
    """
    names = [f"{one.kind} of {', '.join(one.releases)}" for one in checks]
    weights = [2 if counts else 1 for counts in first_to_count(checks)]
    begins = [sum(weights[:number]) for number in range(len(weights) + 1)]
    whole = begins[-1] + 2
    at, reached = -1, 0.0

    def tell(text: str, share: float) -> None:
        nonlocal at, reached
        if text == OVER:
            return
        begun = at + 1 < len(names) and text == names[at + 1] and share == (at + 1) / len(names)
        at += begun
        if begun:
            behind, text = float(begins[at]), f"counting for {text}" if weights[at] > 1 else text
        elif share >= 1 and at + 1 == len(names):
            behind = float(begins[-1])
        else:
            behind = begins[max(at, 0)] + share * (weights[max(at, 0)] if names else 0)
        reached = max(reached, BEGUN + (ASSESSED - BEGUN) * min(1.0, behind / whole))
        job.step(text, reached)

    return Job(tell)


def first_to_count(checks: Sequence[Check]) -> list[bool]:
    """Which of some checks are the first ones about their release, and have to count its table."""
    seen: set[str] = set()
    found = []
    for one in checks:
        found.append(one.kind in kinds_of("microdata") and not seen.issuperset(one.releases))
        seen.update(one.releases)
    return found
