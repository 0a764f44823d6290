"""Corrections: what went out was wrong, and the new one takes its place;
who has both is asked about with both.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.checking.holdings.ledgers import is_begun, ledger_of
from tacit.checking.recording.output_files import refuse_files
from tacit.checking.recording.record import (
    Correction,
    RecordingResult,
    asked_about,
    once,
    unsaid,
    until_recorded,
    user,
)
from tacit.errors import InputError, did_you_mean
from tacit.families.words import listed
from tacit.ledger.entries import check_name
from tacit.model.jobs import Job
from tacit.model.recipients import Spellings, is_among
from tacit.model.verdict import Audience

if TYPE_CHECKING:
    from tacit.ledger.held_releases import Holding
    from tacit.plan.plan import Plan

EVERYBODY = "everybody"


@dataclass(frozen=True, slots=True)
class Corrected:
    """What came of a correction: as of recording;
    what it corrects, who has that, and who has nothing but that.
    """

    recorded: RecordingResult
    correction: Correction

    @property
    def exit_status(self) -> int:
        """0 recorded, 1 refused because a check is breached, 3 refused because one is undecided."""
        return self.recorded.exit_status

    @property
    def holders(self) -> tuple[str, ...]:
        """Who has what was wrong."""
        return recipients_of(self.correction.old)

    @property
    def left(self) -> tuple[str, ...]:
        """Who has what was wrong, and does not get the correction."""
        to = self.recorded.to
        return () if not to else tuple(one for one in self.holders if not is_among(one, to))

    @property
    def holders_text(self) -> str:
        """Who has the old one, and who has nothing else, in words."""
        left = (
            f"; {listed(self.left)} {'has' if len(self.left) == 1 else 'have'} only the old one"
            if self.left
            else ""
        )
        return (
            f"{listed(self.holders)} {'has' if len(self.holders) == 1 else 'have'} the old "
            f"one{left}"
        )

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit ledger correct --json` prints."""
        said = {
            "release": self.recorded.release,
            "wrong": self.correction.wrong,
            "corrects": list(self.correction.entries),
            "holders": list(self.holders),
            "left": list(self.left),
        }
        return {
            **said,
            **{
                key: value
                for key, value in self.recorded.to_json(audience).items()
                if key != "releases"
            },
        }

    def __str__(self) -> str:
        return str(self.recorded)


def correct(
    plan: Plan,
    release: str,
    wrong: str,
    *,
    to: Sequence[str] | None = None,
    by: str | None = None,
    answer: Path | None = None,
    output: Path | None = None,
    unjudged: bool = False,
    out_already: bool = False,
    note: str = "",
    job: Job | None = None,
) -> Corrected:
    """Record that a release takes the place of what went out under its name, if its checks hold for
    those who have both.

    `wrong` says what was wrong. `to` are those who get the correction (None: all who have what was
    wrong). The old one is judged as it was recorded: by the file with its answer, which the plan
    may keep under another name. `unjudged` records and writes also where that could not be decided;
    a breach is refused, unless it is `out_already`, which writes nothing.
    """
    begun, job, who = time.perf_counter(), job or Job(), user() if by is None else by
    if not wrong.strip():
        raise InputError(
            "a correction says what was wrong.",
            hint="Write it with --wrong TEXT, without personal values.",
        )
    check_name("person who records", who)
    correction = Correction(wrong.strip(), old_ones(plan, release))
    had = recipients_of(correction.old)
    to = Spellings(had).each(to) if to is not None else () if EVERYBODY in had else had
    own = asked_about(plan, (release,), to, out_already=out_already)
    for client in own.releases[release].to:
        check_name("recipient", client)
    refuse_files(own, release, answer, output, out_already=out_already)
    found = until_recorded(
        own,
        lambda: once(
            own,
            (release,),
            who,
            answer,
            output,
            note,
            job,
            out_already=out_already,
            unjudged=unjudged,
            correction=correction,
        ),
    )
    return Corrected(
        replace(
            found, seconds=time.perf_counter() - begun, unsaid=tuple(unsaid(plan, own, (release,)))
        ),
        correction,
    )


def old_ones(plan: Plan, release: str) -> tuple[Holding, ...]:
    """What went out under a name and was not corrected yet."""
    if not is_begun(plan):
        raise InputError(
            "nothing was recorded yet, so nothing can be corrected.",
            hint="tacit ledger record RELEASE begins the ledger.",
        )
    with ledger_of(plan) as ledger:
        held = ledger.held()
    found = tuple(one for one in held if one.release == release and one.corrected is None)
    if not found:
        raise InputError(
            f"the ledger has no release {release!r}.",
            hint=did_you_mean(release, sorted({one.release for one in held})),
        )
    return found


def recipients_of(old: Sequence[Holding]) -> tuple[str, ...]:
    """Who has some of it; everybody, where some of it is public."""
    return (
        (EVERYBODY,)
        if any(not one.to for one in old)
        else Spellings(()).each(sorted({client for one in old for client in one.to}))
    )
