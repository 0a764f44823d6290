"""The dossier of a release that went out: its report with the ledger's entry, under a keyed hash.

Whoever has the data, the plan, the ledger and its key makes the same page with the same hash.
"""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, date, datetime
from itertools import zip_longest
from pathlib import Path
from typing import Any

from tacit.checking.assess import assess
from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.recording.recheck import LedgerComparison
from tacit.checking.recording.release_identity import definition_of
from tacit.errors import InputError, TacitError, did_you_mean
from tacit.families.family import kind_of
from tacit.ledger.checked_rows import Changed
from tacit.ledger.entries import GIVES, Entry, canonical, time_text
from tacit.ledger.key import Key
from tacit.ledger.paging import size
from tacit.model.jobs import Job
from tacit.model.verdict import Audience, Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.owned_files import read_files
from tacit.plan.plan import Plan
from tacit.report.html.cards import HtmlGrid
from tacit.report.html.page import Sealing, render
from tacit.report.html.record_page import (
    asked_packs,
    check_name,
    measured_text,
    shown,
    versions,
)
from tacit.report.trials import tried_on

FORMAT = 2
SAID = re.compile(r'<meta name="tacit-dossier" content="([^"]*)">')
# Texts of a plan are escaped in the page, so that none of them looks like this.
SEAL = re.compile(r'<code class="seal">([^<]*)</code>')
UNSEALED = "not sealed yet"
PIECE = 1 << 20


@dataclass(frozen=True, slots=True)
class Sources:
    """What a dossier was made from, and with which versions: files by their keyed hashes, the entry
    by its own, verdicts in words without personal values. A shared one names no file that its
    report does not speak of.
    """

    format: int
    release: str
    entry: int
    made: str
    audience: Audience
    versions: str
    files: Mapping[str, str]
    hash: str
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Dossier:
    """The page, its hash, and what it was made from."""

    text: str
    seal: str
    sources: Sources


@dataclass(frozen=True, slots=True)
class DossierVerified:
    """What differs between a dossier and what its inputs give now; nothing where it is the same."""

    release: str
    entry: int
    seal: str
    differs: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit dossier verify --json` prints."""
        return {
            "release": self.release,
            "entry": self.entry,
            "hash": self.seal,
            "same": not self.differs,
            "differs": list(self.differs),
        }


def make_dossier(
    plan: Plan,
    release: str,
    audience: Audience = "owner",
    *,
    entry: int | None = None,
    made: date | None = None,
    made_with: str | None = None,
    job: Job | None = None,
) -> Dossier:
    """The dossier of a release that the ledger has, by its last entry (or this one), as it was
    `made` on a day with some versions (default: today, with those that are here).

    Raises an InputError where the ledger has no such release or was changed, and where plan or
    data give something else today than what went out.
    """
    job = job or Job()
    with ledger_of(plan) as ledger:
        if not ledger.verify(None, job).intact:
            raise InputError(
                "the ledger was changed.", hint="tacit ledger verify says what was changed."
            )
        found = entry_of(list(ledger.entries()), release, entry)
        key = ledger.key
    day = made or datetime.now(UTC).date()
    if not any(release in one.releases for one in plan.checks):
        raise InputError(
            f"the plan has no check of {release}, so a dossier of it would say nothing.",
            hint="Add one to checks: tacit policies lists some to begin with.",
        )
    refuse_changed(plan, found, key, job)
    assessment = assess(plan, only=(release,), job=job, depth="page", today=day)
    files = file_hashes(plan, key)
    if audience == "shared":
        told = told_files(plan, release, job)
        files = {one if one in told else alias(one, key): digest for one, digest in files.items()}
    sources = Sources(
        FORMAT,
        release,
        found.number,
        day.isoformat(),
        audience,
        made_with or versions(),
        files,
        found.hash,
        tuple(in_words(one) for one in assessment.verdicts),
    )
    about = [entry_grid(found)]
    if audience == "shared":  # the owner's has the SHA-256 of each
        about.append(HtmlGrid("Files, by keyed hash", ["file", "hash"], list(files.items())))
    sealing = Sealing(canonical(asdict(sources)), about, UNSEALED, sources.versions)
    tried = tried_on(plan, assessment, job, day)
    page = render(assessment, audience, plan, tried, day, sealing)
    seal = seal_of(page, key)
    return Dossier(SEAL.sub(f'<code class="seal">{seal}</code>', page, count=1), seal, sources)


def verify_dossier(path: Path, plan: Plan, job: Job | None = None) -> DossierVerified:
    """Make a dossier again from the plan, its files and its ledger, and say what differs.

    Raises an InputError where the file is no dossier, or its inputs cannot be read.
    """
    text = text_of(path)
    sources, seal = read_sources(text, path)
    differs = list(differences(text, sources, seal, plan, job))
    return DossierVerified(sources.release, sources.entry, seal, tuple(differs))


def differences(text: str, then: Sources, seal: str, plan: Plan, job: Job | None) -> Iterator[str]:
    """What differs, the inputs first."""
    try:
        with ledger_of(plan) as ledger:
            key, entries = ledger.key, size(ledger)
    except Changed as error:
        yield f"the ledger: {error.message}"
        return
    changed = seal_of(text, key) != seal
    if changed:
        yield "the file is not as it was made, or it was made with another key"
    yield from other_files(plan, key, then.files)
    try:
        now = make_dossier(
            plan,
            then.release,
            then.audience,
            entry=then.entry,
            made=date.fromisoformat(then.made),
            made_with=then.versions,
            job=job,
        )
    except TacitError as error:
        yield f"it cannot be made again: {error.message}"
        return
    if now.sources.hash != then.hash:
        yield f"entry {then.entry} of the ledger is another one"
    if changed and now.seal == seal:
        yield f"line {first_other_line(text, now.text)} of the file is the first that differs"
    for one in now.sources.verdicts:
        if one not in then.verdicts:
            yield f"a verdict is another one now: {one}"
    if now.seal != seal:
        if entries > then.entry:
            yield f"the ledger has entries after {then.entry}, with which it is judged now"
        if then.versions != versions():
            yield f"it was made with {then.versions}, and here is {versions()}"
        yield f"the hash of the dossier made now is {now.seal}"


def other_files(plan: Plan, key: Key, then: Mapping[str, str]) -> Iterator[str]:
    """What differs among the files of the plan, by the names that its owner knows."""
    files = file_hashes(plan, key)
    names = {alias(one, key): one for one in files}
    then = {names.get(one, one): digest for one, digest in then.items()}
    refuse_missing(plan, files, then)
    for name in sorted({*files, *then}):
        if name not in files:
            yield f"{name} is not among the files of the plan any more"
        elif name not in then:
            yield f"{name} was not among the files of the plan"
        elif files[name] != then[name]:
            yield f"{name} has other content"


def first_other_line(text: str, other: str) -> int:
    """The number of the first line in which two texts that differ do so.

    >>> first_other_line("a\\nb\\n", "a\\nc\\n"), first_other_line("a", "a\\n")
    (2, 2)
    """
    lines = zip_longest(text.split("\n"), other.split("\n"))
    return next(number for number, (one, two) in enumerate(lines, 1) if one != two)


def entry_of(entries: list[Entry], release: str, number: int | None) -> Entry:
    """The entry by which a release went out: the last one, or that of a number."""
    given = [one for one in entries if one.kind in GIVES]
    own = [one for one in given if one.release == release and number in (None, one.number)]
    if own:
        return own[-1]
    if number is not None:
        raise InputError(
            f"the ledger has no entry {number} of the release {release!r}.",
            hint="tacit ledger list shows the entries.",
        )
    raise InputError(
        f"the ledger has no release {release!r}.",
        hint=did_you_mean(release, sorted({one.release for one in given}))
        or "A dossier is of a release that was recorded: tacit ledger record RELEASE.",
    )


def refuse_changed(plan: Plan, entry: Entry, key: Key, job: Job) -> None:
    """A report of something else than what went out would mislead."""
    release, hint = entry.release, "Put it back as it was, or record what is new."
    if release not in plan.releases:
        raise InputError(f"the plan has no release {release!r} any more.", hint=hint)
    if definition_of(plan, release, key) != entry.definition:
        raise InputError(
            f"the plan says something else under {release} than what went out.", hint=hint
        )
    with OpenPlan(plan, job) as opened:
        causes = LedgerComparison(opened, key, ()).changed(entry)
    for one in causes:
        if one.code == "data-changed":
            raise InputError(f"{one.text}.", hint=hint)


def file_hashes(plan: Plan, key: Key) -> dict[str, str]:
    """The plan and its files by keyed hashes: without the key nobody can confirm a guess."""
    found = {}
    for path in read_files(plan):
        if path.is_file():
            digest = key.begin("dossier file")
            try:
                with path.open("rb") as file:
                    while piece := file.read(PIECE):
                        digest.update(piece)
            except OSError as error:
                raise InputError(f"{path} cannot be read: {error.strerror}.") from None
            found[shown(path, plan.folder)] = digest.hexdigest()
    return found


def told_files(plan: Plan, release: str, job: Job) -> set[str]:
    """The files that a report of this release speaks of to others: the plan, those of its tables
    and checks, and its own.
    """
    own = plan.releases[release]
    with OpenPlan(plan, job) as opened:
        tables = kind_of(own).tables(own, opened)
    checks = tuple(one for one in plan.checks if release in one.releases)
    part = replace(
        plan,
        tables={name: plan.tables[name] for name in tables},
        releases={release: own},
        checks=checks,
        policies=asked_packs(plan, [one.name or "" for one in checks]),
    )
    return {shown(path, plan.folder) for path in read_files(part)}


def alias(name: str, key: Key) -> str:
    """What stands for the name of a file that others need not know of."""
    return f"another file, {key.mac('dossier file name', name.encode())[:8]}"


def refuse_missing(plan: Plan, now: Mapping[str, str], then: Mapping[str, str]) -> None:
    """Raise an InputError where the plan is what it was, and a file of it is not there."""
    own = shown(Path(plan.file), plan.folder)
    missing = [name for name in then if name not in now]
    if missing and now.get(own) == then.get(own):
        raise InputError(f"there is no {missing[0]} any more.", hint="Put it back as it was.")


def in_words(verdict: Verdict) -> str:
    """A verdict in a line, without personal values."""
    measured = measured_text(verdict)
    return f"{check_name(verdict)}: {verdict.status}" + (f", {measured}" if measured else "")


def entry_grid(entry: Entry) -> HtmlGrid:
    """The ledger's entry, fact by fact."""
    judged = ", ".join(f"{one.name or one.check} {one.status}" for one in entry.verdicts)
    rows = [
        ("number", str(entry.number)),
        ("recorded at", time_text(entry.at)),
        ("kind", entry.kind),
        ("by", entry.by),
        ("to", ", ".join(entry.to) or "everybody"),
        ("verdicts then", judged),
        ("Tacit then", entry.version or ""),
        ("note", entry.note),
        ("what was wrong before", entry.wrong),
        ("keyed hash of the entry", entry.hash),
    ]
    return HtmlGrid("The ledger's entry", ["fact", "value"], [one for one in rows if one[1]])


def seal_of(text: str, key: Key) -> str:
    """The keyed hash of a page, whatever stands in the place of its hash."""
    return key.mac("dossier", SEAL.sub(UNSEALED, text, count=1).encode())


def text_of(path: Path) -> str:
    """A dossier's file, with the very ends of lines that it has."""
    try:
        return path.read_bytes().decode("utf-8")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise not_one(path) from None


def read_sources(text: str, path: Path) -> tuple[Sources, str]:
    """What a dossier says of its inputs, and its hash."""
    said, seal = SAID.search(text), SEAL.search(text)
    if said is None or seal is None:
        raise not_one(path)
    try:
        values = json.loads(html.unescape(said[1]))
        if values["format"] != FORMAT:
            raise InputError(
                f"{path} was written by another Tacit: format {values['format']}.",
                hint="Verify it with the Tacit that made it.",
            )
        found = Sources(**{**values, "verdicts": tuple(values["verdicts"])})
        date.fromisoformat(found.made)
        sorted(found.files)
        known = found.audience in ("owner", "shared") and isinstance(found.files, dict)
        known = known and isinstance(found.versions, str)
    except (ValueError, TypeError, KeyError):
        raise not_one(path) from None
    if not known:
        raise not_one(path)
    return found, seal[1]


def not_one(path: Path) -> InputError:
    """The error about what is no dossier."""
    return InputError(
        f"{path} is no dossier, or its description cannot be read.",
        hint="tacit dossier make RELEASE -o FILE.html writes one. A PDF is not verified.",
    )
