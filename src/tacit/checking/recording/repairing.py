"""Repairing: the file of an entry, written again where a kill or a full disk kept it from coming
after the entry. The ledger stays as it is.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tacit.checking.holdings.ledgers import ledger_of
from tacit.checking.recording.output_files import handed_out, refuse_files, written
from tacit.errors import DataError, InputError, did_you_mean
from tacit.families.family import kind_of
from tacit.model.jobs import Job
from tacit.plan.open_plan import OpenPlan

if TYPE_CHECKING:
    from tacit.ledger.entries import Entry
    from tacit.plan.plan import Plan


def repair(plan: Plan, number: int, output: Path, job: Job | None = None) -> Entry:
    """Write what went out by an entry, if plan and data give that very answer still; the entry.

    A DataError, and nothing is written, where they give another one.
    """
    with ledger_of(plan) as ledger:
        entry, key = ledger.entry(number), ledger.key
    if entry.kind == "withdrawal":
        raise InputError(
            f"entry {number} says that {entry.release} is given out no more: it has no file.",
            hint="Name the entry of what went out; tacit ledger list shows them.",
        )
    if entry.release not in plan.releases:
        raise InputError(
            f"entry {number} is about {entry.release!r}, which is not in {plan.file}.",
            hint=did_you_mean(entry.release, plan.releases),
        )
    kind = kind_of(plan.releases[entry.release])
    if kind.answer == "file" or entry.answer is None:
        raise InputError(
            f"entry {number} was recorded with a file that was there already.",
            hint="Give that file out: the entry is about it.",
        )
    refuse_files(plan, entry.release, None, output, out_already=False)
    with OpenPlan(plan, job) as opened, written(output) as place:
        found = handed_out(opened, entry.release, key, None, place, out_already=False)
        if found.digest != entry.answer:
            raise DataError(
                f"plan and data give another answer than entry {number} recorded; nothing was "
                "written.",
                hint=(
                    f"If nobody got it: tacit ledger withdraw {entry.release}. If somebody did: "
                    f"tacit ledger correct {entry.release} records today's answer."
                ),
            )
    return entry
