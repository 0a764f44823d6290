"""Check states: the last verdicts of a plan, which of them still speak of the plan as it is, and
what changed since the check before.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from tacit.checking.publications import all_out
from tacit.errors import TacitError
from tacit.families.catalog import define
from tacit.model.release import Release
from tacit.model.schema import CsvHierarchy
from tacit.plan.owned_files import folders_of, owners_files
from tacit.plan.read.references import LEDGER

if TYPE_CHECKING:
    from tacit.model.schema import Table
    from tacit.model.verdict import Waiver
    from tacit.plan.plan import Check, Plan
    from tacit.workbench.bench import Book
    from tacit.workbench.work import Work

Checked = dict[str, Any]
State = Literal["breached", "unchecked", "stale", "undecided", "holds", "none"]
KIND = "check"
ADOPTED = "checks that were kept"
# What to look at first. A release holds only if every check was
# asked of it as it is now, and holds.
URGENCY: tuple[State, ...] = ("breached", "unchecked", "stale", "undecided", "holds")
RANK = {"holds": 0, "undecided": 1, "breached": 2}
ASKED = (
    "subject",
    "required",
    "scope",
    "protects",
    "against",
    "measure",
)  # what a verdict says of its question
Kind = Literal["new", "worse", "better", "gone", "asked differently", "changed"]


# -- which check is which, and what it depends on --------------------------------------------------


def keys_of(plan: Plan) -> list[str]:
    """A name for every check, in the plan's order, that stays the
    same when its numbers are changed.
    """
    seen: Counter[str] = Counter()
    found = []
    for check in plan.checks:
        parts = (
            check.kind,
            check.name or "",
            *check.releases,
            check.secret or "",
            check.sensitive or "",
        )
        key = " | ".join(parts)
        seen[key] += 1
        found.append(key if seen[key] == 1 else f"{key} | {seen[key]}")
    return found


def fingerprints(plan: Plan) -> dict[str, str]:
    """For every check something that changes when what it asks, or what it looks at, does.
    Rows of a database are not looked at.
    """
    own = Path(plan.file).resolve()  # of the plan itself only what a check asks counts
    stamps = {
        path: stamp
        for one in owners_files(plan)
        if (path := one.resolve()) != own and (stamp := stamp_of(path))
    }
    return {
        key: fingerprint(check, plan, stamps)
        for key, check in zip(keys_of(plan), plan.checks, strict=True)
    }


def fingerprint(check: Check, plan: Plan, stamps: Mapping[Path, tuple[int, ...]]) -> str:
    """The digest of a check, its releases, their tables and files;
    of queries all tables, secrets and constraints.
    """
    releases = [plan.releases[name] for name in check.releases]
    asked = (
        check.kind,
        sorted(check.parameters.items()),
        check.releases,
        check.secret,
        check.sensitive,
        check.given,
        check.collude,
        check.dictionary,
    )
    alone = (
        all(one.of_table for one in releases)
        and not set(all_out(plan)) - set(check.releases)
        and not check.given
    )
    tables = (
        [plan.tables[one.of_table] for one in releases if one.of_table]
        if alone
        else list(plan.tables.values())
    )
    around: tuple[Any, ...] = (
        ()
        if alone
        else (
            plan.constraints,
            plan.secrets.get(check.secret or ""),
            [
                plan.releases[name]
                for name in (*plan.published, *(check.given or ()))
                if name in plan.releases
            ],
            plan.published,
            plan.dictionary,
            plan.fresh,
        )
    )
    files = set(files_of(check, tables, releases, plan)) if alone else set(stamps)
    looked_at = sorted((path.name, stamps[path]) for path in files if path in stamps)
    released = [stamp_of(plan.folder / one.answer_file) for one in releases if one.answer_file]
    ledger = head_of(plan) if LEDGER in (*all_out(plan), *(check.given or ())) else None
    said = repr(
        (
            plan.source,
            plan.source_keys,
            asked,
            releases,
            tables,
            around,
            looked_at,
            released,
            ledger,
            *(one for one in plan.waive if one.check == check.name),  # its card shows it
        )
    )
    return hashlib.sha256(said.encode()).hexdigest()


def files_of(
    check: Check, tables: Iterable[Table], releases: Iterable[Release], plan: Plan
) -> Iterator[Path]:
    """The files behind some tables, and those that a check or a release names."""
    named = [
        text
        for value in check.parameters.values()
        for text in ([value] if isinstance(value, str) else [])
    ]
    for table in [
        *tables,
        *(plan.tables[name] for name in named if name in plan.tables),
    ]:  # a population is a table too
        named += [table.file or "", f"{table.name}.csv", f"{table.name}.parquet"]
        named += [
            spec.file for spec in table.hierarchies.values() if isinstance(spec, CsvHierarchy)
        ]
        named += [
            text
            for value in table.distances.values()
            if isinstance(value, Mapping)
            for text in value.values()
            if isinstance(text, str)
        ]
    for release in releases:
        named += release.files()
    for name in named:
        if name and "\0" not in name:
            yield from ((folder / name).resolve() for folder in folders_of(plan))
    yield (plan.folder / plan.source).resolve()  # a database's file


def unwatched(plan: Plan) -> str:
    """What to say where rows can change and nobody here would notice;
    nothing where the rows are in files.
    """
    if "://" not in plan.source and plan.source != "spark":
        return ""
    return (
        "The rows are in a database, and its changes are not noticed here: these verdicts are "
        "of the rows at that time. Check again before a release."
    )


def head_of(plan: Plan) -> str | None:
    """What changes when the ledger grows; None where none was begun."""
    from tacit.checking.holdings.ledgers import is_begun, ledger_of

    try:
        if not is_begun(plan):
            return None
        with ledger_of(plan) as ledger:
            return ledger.head()
    except TacitError:
        return "it cannot be read"


def stamp_of(path: Path) -> tuple[int, ...] | None:
    """What changes whenever a file is written: also where its size and its own time are set
    back, the system's time is not.
    """
    with suppress(OSError, ValueError):
        found = path.stat()
        return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
    return None


# -- what is known now -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CheckState:
    """A check of the plan and what is known of it:
    its state now, its last verdict, if there is one, and what a waiver of the plan says of it.
    """

    key: str
    check: Check
    state: State
    verdict: Mapping[str, Any] | None = None
    when: str | None = None
    waiver: str = ""


@dataclass(frozen=True, slots=True)
class VerdictChange:
    """What became of a check since the last verdicts but one.
    `changed`: its status is the same, of another release or other data.
    """

    kind: Kind
    check: str
    subject: str
    before: str | None
    now: str | None
    differently: bool = False  # asked another question than before, so that the two do not compare


def answers(plan: Plan, checked: Checked | None) -> list[CheckState]:
    """Every check of the plan, in its order, with what is known of it."""
    verdicts = by_key(checked)
    now, then = fingerprints(plan), (checked or {}).get("fingerprints", {})
    times = (checked or {}).get("times", {})
    waivers = {one.check: waiver_words(one, datetime.now(UTC).date()) for one in plan.waive}
    found = []
    for key, check in zip(keys_of(plan), plan.checks, strict=True):
        verdict = verdicts.get(key)
        state: State = (
            "unchecked"
            if verdict is None
            else "stale"
            if now[key] != then.get(key)
            else verdict["status"]
        )
        said = waivers.get(check.name or "", "") if state not in ("holds", "unchecked") else ""
        found.append(CheckState(key, check, state, verdict, times.get(key), said))
    return found


def waiver_words(waiver: Waiver, today: date) -> str:
    """What a waiver says of a check that does not hold.

    >>> from tacit.model.verdict import Waiver
    >>> waiver = Waiver("small", "agreed with the board", "A. Bee", date(2030, 1, 31))
    >>> waiver_words(waiver, date(2030, 1, 31))
    'Waived by A. Bee until 2030-01-31: agreed with the board'
    >>> waiver_words(waiver, date(2030, 2, 1))
    'The waiver by A. Bee ended on 2030-01-31 and does not count'
    """
    if today > waiver.until:
        return f"The waiver by {waiver.by} ended on {waiver.until.isoformat()} and does not count"
    return str(waiver)


def state_of(found: Iterable[CheckState]) -> State:
    """What a release is, all its checks together.

    >>> state_of([])
    'none'
    """
    states = {one.state for one in found}
    return next((state for state in URGENCY if state in states), "none")


def by_key(checked: Checked | None) -> dict[str, Mapping[str, Any]]:
    """The verdicts by the names of their checks."""
    return dict(zip(checked["keys"], checked["verdicts"], strict=True)) if checked else {}


def changes(checked: Checked | None, before: Checked | None) -> list[VerdictChange]:
    """What is new, worse, better, gone or asked differently since the check before, or the same
    of something that changed.
    """
    if checked is None or before is None:
        return []
    now, then = by_key(checked), by_key(before)
    found = []
    for key in (*now, *(key for key in then if key not in now)):
        one, old = now.get(key), then.get(key)
        same_mark = checked["fingerprints"].get(key) == before["fingerprints"].get(key)
        if one is None or old is None or one["status"] != old["status"] or not same_mark:
            shown = one or old
            assert shown is not None
            found.append(
                VerdictChange(
                    kind_of(old, one),
                    check_label(shown),
                    subject(shown),
                    status_of(old),
                    status_of(one),
                    is_asked_differently(old, one),
                )
            )
    return found


def is_asked_differently(old: Mapping[str, Any] | None, one: Mapping[str, Any] | None) -> bool:
    """Do two verdicts of one check answer different questions?"""
    return (
        old is not None
        and one is not None
        and any(old.get(part) != one.get(part) for part in ASKED)
    )


def status_of(verdict: Mapping[str, Any] | None) -> str | None:
    """The status of a verdict, where there is one."""
    return str(verdict["status"]) if verdict else None


def kind_of(old: Mapping[str, Any] | None, one: Mapping[str, Any] | None) -> Kind:
    """Which way a verdict went."""
    if old is None:
        return "new"
    if one is None:
        return "gone"
    if one["status"] == old["status"]:
        return "asked differently" if is_asked_differently(old, one) else "changed"
    return "worse" if RANK[one["status"]] > RANK[old["status"]] else "better"


def check_label(verdict: Mapping[str, Any]) -> str:
    """How a verdict's check is called: two of one kind are told apart by what they require."""
    if verdict["name"]:
        return str(verdict["name"])
    try:
        return define(verdict["check"], verdict["required"]).label
    except (TacitError, TypeError, ValueError):
        return str(verdict["check"])


def subject(verdict: Mapping[str, Any]) -> str:
    """The releases that a verdict is about, in words."""
    named = verdict["subject"].get("release", verdict["subject"].get("releases", ""))
    return named if isinstance(named, str) else ", ".join(named)


def sections_of(checked: Checked | None, release: str) -> list[Mapping[str, Any]]:
    """The parts of the last verdicts that are about a release, alone or with others."""
    return [one for one in (checked or {}).get("sections", ()) if release in one["releases"]]


# -- keeping ---------------------------------------------------------------------------------------


def merged(old: Checked | None, new: Checked) -> Checked:
    """The verdicts of a check of some releases put among the others;
    those that the plan does not ask for any more are left out.
    """
    asked, order = set(new["keys"]), new["plan_keys"]
    if old is None or asked >= set(order):
        return new
    kept = {
        key: verdict for key, verdict in by_key(old).items() if key not in asked and key in order
    }
    verdicts = {**kept, **by_key(new)}
    keys = [key for key in order if key in verdicts]
    both = [
        one
        for one in old["sections"]
        if not set(one["keys"]) & asked and set(one["keys"]) <= set(order)
    ] + list(new["sections"])
    return {
        **new,
        "keys": keys,
        "verdicts": [verdicts[key] for key in keys],
        "fingerprints": {**{key: old["fingerprints"][key] for key in kept}, **new["fingerprints"]},
        "times": {**{key: old["times"][key] for key in kept}, **new["times"]},
        "sections": sorted(both, key=lambda one: order.index(one["keys"][0])),
    }


async def adopt(book: Book) -> None:
    """Keep the verdicts of all checks that have ended since somebody looked:
    whoever comes first, each once.
    """
    adopted: set[str] = book.kept.setdefault(ADOPTED, set())
    for work in reversed(book.works.all()):
        if work.kind == KIND and work.state == "done" and work.id not in adopted:
            adopted.add(work.id)
            await asyncio.to_thread(keep, book, work.result)


def keep(book: Book, result: Checked) -> None:
    """Put verdicts among the last ones, on disk. Blocks."""
    book.keep(merged(book.checked, result))


def checking(book: Book) -> list[Work]:
    """The checks that run."""
    return [one for one in book.works.running() if one.kind == KIND]


def start(book: Book, only: Sequence[str] = ()) -> Work:
    """Check the plan, or some of its releases; what runs already for the same is not begun
    again, unless it was told to stop.
    """
    from tacit.workbench.tasks.check import check

    key = ", ".join(only)
    running = next((one for one in checking(book) if one.key == key and not one.stops), None)
    title = f"Checking {key}" if only else "Checking the plan"
    return running or book.works.start(
        KIND, title, check, str(book.path), str(book.reach), tuple(only), key=key
    )
