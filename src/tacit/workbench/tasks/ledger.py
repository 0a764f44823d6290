"""Tasks of the ledger and of trying queries:
what runs in a process of its own, the same functions as the command line's.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.holdings.shares import Holder, holders
from tacit.checking.recording import corrections
from tacit.checking.recording import record as recording
from tacit.checking.recording.current_verdicts import Standings, standings
from tacit.errors import TacitError
from tacit.gateway.trial import FirstRows, PreparedPolicy, first_rows, prepared
from tacit.ledger.checked_rows import Changed
from tacit.ledger.entries import Entry
from tacit.ledger.paging import reaching
from tacit.ledger.verify import Fault, Verified
from tacit.model.jobs import Job
from tacit.model.verdict import Audience, Verdict
from tacit.report.dossier import Dossier, make_dossier
from tacit.workbench.app.reach import load_within


@dataclass(frozen=True, slots=True)
class Recording:
    """What the owner wants to record. `to` None: as the plan says; nobody: the public.
    Files are named as seen from the plan's folder.
    """

    releases: tuple[str, ...]
    to: tuple[str, ...] | None
    by: str
    note: str = ""
    answer: str | None = None
    output: str | None = None
    out_already: bool = False
    is_upload: bool = False  # the answer was sent for this only, and is removed afterwards


@dataclass(frozen=True, slots=True)
class RecordedNow:
    """What came of it: entries, or none and the verdicts that do not hold."""

    asked: Recording
    to: tuple[str, ...]
    entries: tuple[Entry, ...]
    verdicts: tuple[Verdict, ...]
    because: str

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """The verdicts that do not hold."""
        return tuple(one for one in self.verdicts if one.status != "holds")


def record(job: Job, path: Path, reach: Path, asked: Recording) -> RecordedNow:
    """Judge releases together with what is published, and record them if all checks hold."""
    os.chdir(path.parent)  # so that messages name files as the page does
    answer = Path(asked.answer) if asked.answer else None
    try:
        found = recording.record(
            load_within(path, reach),
            *asked.releases,
            to=asked.to,
            by=asked.by,
            answer=answer,
            output=Path(asked.output) if asked.output else None,
            out_already=asked.out_already,
            note=asked.note,
            job=job,
        )
    except TacitError as error:
        raise in_words_of_the_page(error, asked) from None
    finally:
        if answer is not None and asked.is_upload:
            with suppress(OSError):
                answer.unlink()
                answer.parent.rmdir()
    return RecordedNow(asked, found.to, found.entries, found.assessment.verdicts, found.because)


@dataclass(frozen=True, slots=True)
class Correcting:
    """What the owner says of a correction. Files are named as seen from the plan's folder."""

    release: str
    wrong: str
    by: str
    answer: str | None = None
    output: str | None = None
    unjudged: bool = False


@dataclass(frozen=True, slots=True)
class CorrectedNow:
    """What came of a correction: an entry, or none and the verdicts that do not hold;
    `told` says who has the old one.
    """

    asked: Correcting
    to: tuple[str, ...]
    entries: tuple[Entry, ...]
    verdicts: tuple[Verdict, ...]
    because: str
    told: str


def correct(job: Job, path: Path, reach: Path, asked: Correcting) -> CorrectedNow:
    """Judge a correction for those who have both, and record it if all checks hold."""
    os.chdir(path.parent)  # so that messages name files as the page does
    answer, output = (
        Path(asked.answer) if asked.answer else None,
        Path(asked.output) if asked.output else None,
    )
    found = corrections.correct(
        load_within(path, reach),
        asked.release,
        asked.wrong,
        by=asked.by,
        answer=answer,
        output=output,
        unjudged=asked.unjudged,
        job=job,
    )
    done = found.recorded
    return CorrectedNow(
        asked, done.to, done.entries, done.assessment.verdicts, done.because, found.holders_text
    )


def in_words_of_the_page(error: TacitError, asked: Recording) -> TacitError:
    """An error of the command line as somebody reads it who has no options, and who sent a file
    under its own name.
    """

    def said(text: str) -> str:
        if asked.is_upload and asked.answer is not None:
            text = text.replace(asked.answer, Path(asked.answer).name)
        return text.replace(
            "record with --out-already what is published in any case",
            "say that it is published already",
        )

    for one in error:
        one.message, one.hint = said(one.message), said(one.hint) if one.hint else one.hint
    return error


def withdraw(
    job: Job, path: Path, reach: Path, release: str, to: Sequence[str] | None, by: str, note: str
) -> recording.Withdrawn:
    """Record that a release is given out no more."""
    job.step(f"withdrawing {release}", 0.5)
    return recording.withdraw(load_within(path, reach), release, to=to, by=by, note=note)


def verify(job: Job, path: Path, reach: Path, expect: str | None, users: int) -> Verified:
    """Has anybody changed the ledger?"""
    try:
        with ledger_of(load_within(path, reach)) as ledger:
            return ledger.verify(expect, job, users=users)
    except Changed as error:  # so much that there is no chain to walk along
        return Verified(0, "", (Fault("schema", None, error.message),), ())


def who_holds(job: Job, path: Path, reach: Path) -> tuple[Holder, ...]:
    """What everybody, each recipient and each coalition holds."""
    plan = load_within(path, reach)
    job.step("reading what is published", 0.1)
    with ledger_of(plan) as ledger:
        return holders(plan, ledger)


def judge_again(job: Job, path: Path, reach: Path) -> Standings:
    """What the plan's checks say of all that is published."""
    return standings(load_within(path, reach), job)


def entries_of(job: Job, path: Path, reach: Path, client: str, release: str | None) -> array[int]:
    """The numbers of the entries that reached a client."""
    with ledger_of(load_within(path, reach)) as ledger:
        return reaching(ledger, client, release=release, job=job)


def dossier(
    job: Job, path: Path, reach: Path, release: str, number: int, audience: Audience
) -> Dossier:
    """The dossier of a release, by an entry of the ledger."""
    os.chdir(path.parent)  # so that messages name files as the page does
    return make_dossier(load_within(path, reach), release, audience, entry=number, job=job)


def read_roles(job: Job, path: Path, reach: Path) -> PreparedPolicy:
    """The roles of a plan, ready to try queries by."""
    return prepared(load_within(path, reach), job)


def run_query(
    job: Job,
    path: Path,
    reach: Path,
    role: str,
    sql: str,
    parameters: Sequence[Any] | Mapping[str, Any],
) -> FirstRows:
    """The first rows of a query, if the role may have it."""
    return first_rows(load_within(path, reach), role, sql, parameters, job)
