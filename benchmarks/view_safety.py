"""View safety: conferences of 1,000 to 20,000 possible rows, exact counting, and a second question
about the same views.

    python -m benchmarks.view_safety growth [FILE.svg] | counting | again | one NAME SIZE

CPU seconds of one check in a process of its own, from the tables to the verdict. The peer is the
plain way: one call of the solver with everything that is known, stopped after ten seconds.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from examples.conference.generate import Conference, conference

from benchmarks.growth import Axis, chart, exponents
from benchmarks.meter import cpu, measured, require
from tacit.families.queries.read import read
from tacit.families.worlds.definitions.e_safety import ESafety
from tacit.families.worlds.definitions.g_safety import GSafety
from tacit.families.worlds.question import SafetyCase, SafetyQuestion
from tacit.families.worlds.world_setting import WorldSetting
from tacit.families.worlds.world_solver import find
from tacit.families.worlds.worlds import BASES, SettingWorlds, answer
from tacit.model.deadline import OutOfTime, until
from tacit.model.verdict import Verdict

PATIENCE = 10.0  # seconds of the plain way
GOALS = (1.0, 5.0, 30.0)
REPEATS = (5, 3, 2)
WHOLE = ((28, 30, 6), (68, 72, 12), (128, 142, 16))
SEPARATE = ((40, 50, 2), (100, 120, 2), (200, 200, 2))


@dataclass(frozen=True, slots=True)
class Kind:
    """A line of the picture: a definition, a conference, and the verdict it was made for."""

    definition: type[GSafety] | type[ESafety]
    sizes: Sequence[tuple[int, int, int]]
    expected: tuple[str, str]
    options: dict[str, Any]

    def question(self, size: int) -> Conference:
        """The conference of one size."""
        return conference(*self.sizes[size], **self.options)


KINDS = {
    "g-safety, breached": Kind(GSafety, WHOLE, ("breached", "world"), {}),
    "g-safety, holds": Kind(GSafety, WHOLE, ("holds", "rewriting"), {"safe": True}),
    "g-safety, breached, two reviewers": Kind(
        GSafety, WHOLE, ("breached", "world"), {"counted": True}
    ),
    "g-safety, holds, two reviewers": Kind(
        GSafety, WHOLE, ("holds", "rewriting"), {"safe": True, "counted": True}
    ),
    "e-safety, a secret dies": Kind(ESafety, WHOLE, ("breached", "secrets"), {}),
    "e-safety, holds by separation": Kind(
        ESafety, SEPARATE, ("holds", "separate"), {"kind": "separate", "counted": True}
    ),
}
COUNTED = (  # groups of up to 22 free rows; and chains that are longer than any enumeration goes
    ("groups", (16, 20, 4), 1.0),
    ("groups", (40, 50, 10), 2.0),
    ("program", (8, 60, 2), 1.0),
    ("program", (8, 400, 2), 5.0),
)


def asked(made: Conference, setting: WorldSetting) -> SafetyQuestion:
    case = SafetyCase(setting, (), made.published, made.new)
    return SafetyQuestion("reviewers", made.new, made.published, (case,), ("r",))


def judged(kind: Kind, made: Conference, setting: WorldSetting) -> Verdict:
    verdict = kind.definition(seconds=600).check(asked(made, setting))
    found = (verdict.status, getattr(verdict.evidence, "kind", ""))
    require(found == kind.expected, f"{made.new}: {found}, not {kind.expected}")
    return verdict


def one(name: str, size: int) -> dict[str, Any]:
    """One check with nothing known before, and its memory at most."""
    kind = KINDS[name]
    made = kind.question(size)
    setting = made.setting()
    seconds, _ = cpu(lambda: judged(kind, made, setting), REPEATS[size], before=BASES.kept.clear)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {
        "name": name,
        "tuples": len(BASES.of(setting).store.facts),
        "seconds": seconds,
        "goal": GOALS[size],
        "megabytes": megabytes,
    }


def plain(name: str, size: int) -> dict[str, Any]:
    """The same by one call of the solver."""
    setting = KINDS[name].question(size).setting()
    begun = time.process_time()
    found = SettingWorlds(setting)
    try:
        with until(PATIENCE):
            find(found.before, found.after, like=found.actual or frozenset())
        ended = True
    except OutOfTime:
        ended = False
    return {"seconds": time.process_time() - begun, "ended": ended}


def growth() -> list[dict[str, Any]]:
    """Every kind at every size, and the plain way for g-safety."""
    rows = []
    for name in KINDS:
        for size in range(len(GOALS)):
            row = alone("one", name, str(size))
            if name.startswith("g-safety"):
                row["peer"] = alone("plain", name, str(size))
            rows.append(row)
    return rows


def counting() -> list[dict[str, Any]]:
    """Odds that stay as they were, counted exactly."""
    rows = []
    for name, size, goal in COUNTED:
        made = conference(*size, kind=name)
        setting = made.setting()
        kind = Kind(ESafety, (size,), ("holds", "odds-equal"), {})
        seconds, _ = cpu(
            lambda kind=kind, made=made, setting=setting: judged(kind, made, setting),
            3,
            before=BASES.kept.clear,
        )
        parts = [len(part.tuples) for part in SettingWorlds(setting).parts]
        worlds = str(judged(kind, made, setting).measured["worlds_before"])
        rows.append(
            {
                "name": name,
                "free": sum(parts),
                "largest": max(parts),
                "seconds": seconds,
                "goal": goal,
                "worlds": len(worlds) - 1,
            }
        )
    return rows


def again() -> list[dict[str, Any]]:
    """A first check, and then one more about the same published views:
    another new view, another secret.
    """
    rows = []
    kind = KINDS["g-safety, breached"]
    made = kind.question(len(GOALS) - 1)
    setting = made.setting()
    first, _ = cpu(lambda: judged(kind, made, setting), 2, before=BASES.kept.clear)
    other_secret = replace(
        setting, secret=read("S(r) :- RP(r, 'p2')", setting.relations, name="secret").exact
    )
    new = read("V(r) :- RS(r, 'c1')", setting.relations, name="new").exact
    other_view = replace(
        setting, new=(replace(setting.new[0], query=new, rows=answer(new, setting)),)
    )
    for what, changed in (("another secret", other_secret), ("another view", other_view)):
        seconds, _ = cpu(lambda changed=changed: judged(kind, made, changed), 3)
        rows.append({"name": what, "first": first, "seconds": seconds})
    return rows


def alone(*arguments: str) -> Any:
    """What a part of this module measures in a process of its own."""
    return measured("benchmarks.view_safety", *arguments)


# --- the picture ----------------------------------------------------------------------------------


def drawn(rows: Sequence[dict[str, Any]]) -> str:
    """The growth as an SVG file, a line per kind of question."""
    from tacit.report.charts.portrait_chart import EXPOSED, MUTED

    colours = ("#9dbbdb", "#4a76a8", "#6bb5a8", "#0f766e", EXPOSED, MUTED)
    steepest = max(exponents(rows, "tuples").values())
    slowest = max(rows, key=lambda row: row["seconds"])
    title = (
        f"{slowest['tuples']:,} possible rows: {slowest['seconds']:.1f} s at most, growing no "
        f"faster than n^{steepest:.1f}"
    )
    across = Axis(
        "tuples", "possible rows", (900, 25_000), (1000, 2000, 5000, 10_000, 20_000), ",d"
    )
    up = Axis(
        "seconds",
        "CPU seconds of one check, cold",
        (0.02, 40),
        (0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20),
    )
    told = "; ".join(
        f"{row['name']}, {row['tuples']:,} rows: {row['seconds']:.2f} s" for row in rows
    )
    return chart(rows, dict(zip(KINDS, colours, strict=True)), across, up, title, told)


def main(what: str, *given: str) -> None:
    if what in ("one", "plain"):
        print(json.dumps({"one": one, "plain": plain}[what](given[0], int(given[1]))))
        return
    rows = {"growth": growth, "counting": counting, "again": again}[what]()
    found: dict[str, Any] = {"rows": rows}
    if what == "growth":
        found["exponents"] = exponents(rows, "tuples")
        if given:
            Path(given[0]).write_text(drawn(rows), "utf-8")
    print(json.dumps(found))


if __name__ == "__main__":
    main(*sys.argv[1:])
