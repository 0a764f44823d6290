"""What a person reads in the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from tacit.checking.assess import Assessment
from tacit.families.family import Answered, Question
from tacit.families.words import listed, plural
from tacit.model.verdict import Audience, Verdict, subject_text
from tacit.plan.plan import Check
from tacit.report.tellers import Teller, teller_of
from tacit.report.terminal.text_parts import INDENT, STYLES, WORDS, hanging, personal, two_sides

MOST_SENTENCES = 4  # about queries: many views make many adversaries
MOST_PARTNERS = 2  # releases that a headline names


def show(assessment: Assessment, console: Console, audience: Audience = "owner") -> None:
    """Print the verdicts, release by release, and what they rest on."""
    show_tables(assessment, console, audience)
    owner = audience == "owner"
    told: dict[str, Verdict] = {}
    for release, answered in by_release(assessment.answered):
        console.print()
        verdicts = [one.verdict for one in answered]
        console.print(headline(release, verdicts, assessment.verdicts))
        for number, one in enumerate(answered):
            before = verdicts[number - 1] if number else None
            if before is not None and teller_of(before.check).has_tables(before, owner):
                console.print()
            is_told = teller_of(one.verdict.check).repeats
            first = told.setdefault(same_story(one.verdict), one.verdict) if is_told else None
            again = None if first is one.verdict else first
            show_verdict(one.verdict, console, audience, again, one)
    show_legend(assessment.verdicts, console, owner)
    show_assumptions(assessment.verdicts, console)


def show_tables(assessment: Assessment, console: Console, audience: Audience) -> None:
    """Who is in which table, and who must not learn what."""
    counted = assessment.looked_at()
    if not counted and any(
        teller_of(one.check).names_plan and teller_of(one.check).has_rows(one)
        for one in assessment.verdicts
    ):
        counted = [Path(assessment.plan).name]
    owner = personal(audience)
    for text in counted:
        console.print(two_sides(text, owner))
        owner = Text("")
    for name in ("protects", "against", "measure"):
        label = {"protects": "Secret", "against": "Adversary", "measure": "Measure"}[name]
        for sentence in sentences(assessment.verdicts, name):
            console.print(hanging(label, sentence, 11))
            label = ""


def sentences(verdicts: Sequence[Verdict], name: str) -> list[str]:
    """What verdicts say of their secrets, adversaries or measures;
    of many views only the first few.
    """
    found = list(dict.fromkeys(getattr(verdict, name) for verdict in verdicts))
    if len(found) <= MOST_SENTENCES or not all("secret" in verdict.subject for verdict in verdicts):
        return found
    return [*found[: MOST_SENTENCES - 1], f"and {len(found) - MOST_SENTENCES + 1} more like these"]


def by_release(
    answered: Iterable[Answered[Question]],
) -> list[tuple[str, list[Answered[Question]]]]:
    """Answers by what they judge, in the plan's order."""
    found: dict[str, list[Answered[Question]]] = {}
    for one in answered:
        found.setdefault(subject_text(one.verdict.subject), []).append(one)
    return list(found.items())


def conclusion(verdicts: Sequence[Verdict], every: Sequence[Verdict] = ()) -> Text:
    """What to do with a release. `every` verdict counts:
    also of a check that judges it together with others.
    """
    statuses = {verdict.status for verdict in verdicts if verdict.fails}
    if "breached" in statuses:
        return Text("DO NOT RELEASE", style=STYLES["breached"])
    if "undecided" in statuses:
        return Text("not decided", style=STYLES["undecided"])
    if joint := not_together(verdicts, every):
        own = (
            "meet their own checks"
            if len(judged_releases(verdicts[0])) > 1
            else "meets its own checks"
        )
        return Text(f"{own}, {joint}", style=STYLES["undecided"])
    about = set(judged_releases(verdicts[0])) if verdicts else set()
    if waived := [
        one for one in every or verdicts if one.waived and about & set(judged_releases(one))
    ]:
        return Text(f"{plural('check', len(waived))} waived", style=STYLES["undecided"])
    return Text("meets the checks of this plan", style=STYLES["holds"])


def not_together(verdicts: Sequence[Verdict], every: Sequence[Verdict]) -> str:
    """With which other releases what is judged here does not hold, in words;
    nothing where there are none.
    """
    own = judged_releases(verdicts[0]) if verdicts else []
    for status, words in (
        ("breached", "not together with"),
        ("undecided", "not decided together with"),
    ):
        for one in every:
            others = [name for name in judged_releases(one) if name not in own]
            if (
                one.status == status
                and one.fails
                and others
                and set(own) < set(judged_releases(one))
            ):
                return f"{words} {listed(others) if len(others) <= MOST_PARTNERS else 'others'}"
    return ""


def judged_releases(verdict: Verdict) -> list[str]:
    """The releases that a verdict is about."""
    named = verdict.subject.get("releases", verdict.subject.get("release", ()))
    return [named] if isinstance(named, str) else list(named)


def headline(release: str, verdicts: Sequence[Verdict], every: Sequence[Verdict] = ()) -> Grid:
    """A release and what to do with it."""
    return two_sides(Text(heading(release, verdicts), style="bold"), conclusion(verdicts, every))


def heading(release: str, verdicts: Sequence[Verdict]) -> str:
    """What was judged. Releases that are seen together say so."""
    first = verdicts[0]
    names = first.subject.get("releases", ())
    is_one = teller_of(first.check).names_together and len(names) > 1
    together = is_one and subject_text(first.subject) == release
    return f"{listed(names)} together" if together else release


def show_verdict(
    verdict: Verdict,
    console: Console,
    audience: Audience,
    before: Verdict | None = None,
    answered: Answered[Question] | None = None,
) -> None:
    """One verdict in a line, and below it what it rests on; `before` has told the same story."""
    owner, teller = audience == "owner", teller_of(verdict.check)
    said = Text(f"{teller.title(verdict, owner)}   ", style="bold").append(
        teller.because(verdict), style="not bold"
    )
    line = Grid.grid(padding=(0, 2, 0, 0), expand=True)
    line.add_column(width=INDENT - 4)
    line.add_column(ratio=1)
    line.add_column(justify="right", no_wrap=True)
    line.add_row(
        Text(
            WORDS[verdict.status] + (" waived" if verdict.waived else ""),
            style=STYLES[verdict.status],
        ),
        said,
        Text(verdict.certainty, style="dim"),
    )
    console.print(Padding(line, (0, 0, 0, 2)))
    teller.show(answered or Answered(Check(verdict.check), verdict), console, owner, before)
    notes = []
    notes += [f"Reason ({verdict.reason.code}): {verdict.reason.text}"] if verdict.reason else []
    notes += [f"{one.removesuffix('.')}." for one in verdict.remarks]
    for note in notes:
        console.print(Padding(Text(note), (0, 4, 0, INDENT)))


def show_legend(verdicts: Sequence[Verdict], console: Console, owner: bool) -> None:
    """What the tables' marks and new values mean, once for each kind of release."""
    by_teller: dict[Teller, list[Verdict]] = {}
    for verdict in verdicts:
        by_teller.setdefault(teller_of(verdict.check), []).append(verdict)
    for teller, some in by_teller.items():
        if text := teller.legend(some, owner):
            console.print()
            console.print(Text(text, style="dim"))


def same_story(verdict: Verdict) -> str:
    """Equal for breaches of one secret by the same evidence:
    views together disclose what one of them does.
    """
    return f"{verdict.label} {verdict.subject.get('secret')} {verdict.evidence!r}"


def show_assumptions(verdicts: Iterable[Verdict], console: Console) -> None:
    """What the verdicts rely on and cannot prove."""
    found = list(dict.fromkeys(one for verdict in verdicts for one in verdict.assumptions))
    console.print()
    for label, checked in (
        ("Assumed, not checked:", ("no", "cannot")),
        ("Assumed and checked:", ("yes",)),
    ):
        texts = [one.text for one in found if one.checked in checked]
        if texts:
            console.print(hanging(label, "; ".join(texts) + ".", 2))


def show_next(steps: Iterable[str], console: Console) -> None:
    """The next steps, in one line."""
    console.print(hanging("Next:", "  |  ".join(steps), 2))
