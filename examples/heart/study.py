"""How many compromised disclosures of heart disease records can be restored, and how many Tacit and
blind search restore.

    python -m examples.heart.study [--samples N] [--seconds S] [--evaluations B] [--data FOLDER]
    [--out FOLDER] python -m examples.heart.study people --output examples/heart/patients.csv

The first prints a table and writes results.json and restored.svg;
the second writes the patients with an id, for tacit.yaml.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import random
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from fractions import Fraction
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from tacit.errors import InputError, TacitError
from tacit.families.overlaps.counting.average_beliefs import beliefs
from tacit.families.overlaps.overlap import Integers, overlap_of
from tacit.families.overlaps.restore.candidates import Candidates, candidates
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews
from tacit.families.overlaps.restore.restore import Limits, Restoration, RestoreSearch, restored
from tacit.families.overlaps.restore.table_listing import Lists
from tacit.model.jobs import Job

HERE = Path(__file__).parent
FILE = "heart/heart_cleveland.csv"
PUBLIC, RANGES = ("age", "sex", "chol"), ("age", "chol")
SENSITIVE = {"cp": "chest pain", "num": "diagnosis"}
GAMMAS = (Fraction(1, 2), Fraction(3, 5))
OUT = (2, 3)  # views that are published
PEOPLE = (12, 16)  # in a sample, before those in no view are left out
FEWEST = 3  # people of a view
FURTHER = 2  # views that may be added
CONDITIONS = 3_000
LISTED, COUNTED = 400_000, 20_000  # sets that the exhaustive search judges
DRAWS = 2  # runs of each random search
TRIES = 200  # ranges that are drawn for a sample before another is taken
WORDS = {
    "sex": {"0.0": "female", "1.0": "male"},
    "cp": {
        "1.0": "typical angina",
        "2.0": "atypical angina",
        "3.0": "non-anginal pain",
        "4.0": "asymptomatic",
    },
}
Row = Mapping[str, str]


# -- what is published -----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """What is private, how much may be believed, and how many views are published."""

    sensitive: str
    gamma: Fraction
    out: int

    @property
    def name(self) -> str:
        """The setting in a few words."""
        return f"{SENSITIVE[self.sensitive]}, gamma {float(self.gamma)}, {self.out} views"


SETTINGS = tuple(
    Setting(sensitive, gamma, out) for sensitive in SENSITIVE for gamma in GAMMAS for out in OUT
)


@dataclass(frozen=True, slots=True, eq=False)
class Compromised:
    """A disclosure whose views are gamma-private one by one and not together;
    `worst` is the largest belief.
    """

    out: DisclosedViews
    worst: Fraction
    choices: Candidates


def compromised(rows: Sequence[Row], setting: Setting, seed: int) -> Iterator[Compromised]:
    """Compromised disclosures of samples of the rows, without end
    and the same for the same seed.
    """
    rng = random.Random(f"{setting.name} {seed}")
    while True:
        sample = rng.sample(rows, rng.randint(*PEOPLE))
        views = drawn_views(sample, setting, rng)
        if views is None:
            continue
        # Who is in no view is not in question:
        # nothing is said about them, and no further view shows them.
        inside = [person for person in range(len(sample)) if any(person in view for view in views)]
        out = disclosed(
            [sample[person][setting.sensitive] for person in inside],
            [[inside.index(one) for one in view] for view in views],
            setting.gamma,
        )
        worst = max(share[1] for _, _, share in beliefs(out.overlap).shares())
        if worst > setting.gamma:
            columns = {name: [float(sample[person][name]) for person in inside] for name in PUBLIC}
            yield Compromised(
                out,
                worst,
                candidates(
                    {**columns, "sex": [str(one) for one in columns["sex"]]}, most=CONDITIONS
                ),
            )


def drawn_views(
    sample: Sequence[Row], setting: Setting, rng: random.Random
) -> list[list[int]] | None:
    """Random ranges, each gamma-private by itself, that hang together;
    None where the sample seems to have none.
    """
    views: list[list[int]] = []
    for _ in range(TRIES):
        column = rng.choice(RANGES)
        known = [float(row[column]) for row in sample]
        low, high = sorted(rng.sample(sorted(set(known)), 2))
        view = [person for person, value in enumerate(known) if low <= value <= high]
        shown = Counter(sample[person][setting.sensitive] for person in view)
        private = len(view) >= FEWEST and max(shown.values()) <= setting.gamma * len(view)
        meets = not views or any(set(view) & set(other) for other in views)
        if private and meets and view not in views:
            views.append(view)
        if len(views) == setting.out:
            return views
    return None


def disclosed(
    values: Sequence[str], views: Sequence[Sequence[int]], gamma: Fraction
) -> DisclosedViews:
    """Some views, by the people whom they show, with what these people have.

    >>> out = disclosed(["a", "b", "a"], [[0, 1], [1, 2]], Fraction(1, 2))
    >>> out.people, out.overlap.shown.tolist(), out.is_true()
    (3, [0, 1, 1, 1, 1], True)
    """
    names = sorted(set(values))
    answers = [[values[person] for person in view] for view in views]
    members = [
        [number for number, view in enumerate(views) if person in view]
        for person in range(len(values))
    ]
    overlap = overlap_of(names, answers, members)
    value = np.array([names.index(one) for one in values])
    return DisclosedViews(
        overlap,
        np.arange(len(values)),
        value,
        gamma,
        tuple((number,) for number in range(len(names))),
    )


# -- what is found ---------------------------------------------------------------------------------


class Blind(RestoreSearch):
    """Search that ranks nothing and rules nothing out:
    sets in a random order, each judged exactly.
    """

    def guess(self, order: Integers, waiting: Sequence[int], *_: Any, **__: Any) -> list[int]:
        """All of them, as they come: no time is spent on ranks that are not used."""
        return list(waiting)


def blind(
    case: Compromised, limits: Limits, seed: int, *, facts: bool = False, most: int | None = None
) -> Restoration:
    """Look for views at random; with `facts` those are left out that
    cannot be in a set that restores.
    """
    lists = None if most is None else Lists(case.out, most)
    return Blind(
        case.out,
        case.choices.members,
        limits=limits,
        order="blind",
        seed=seed,
        pruned=facts,
        with_classes=False,
        lists=lists,
        others=(),
        job=Job(),
    ).run()


@dataclass(slots=True)
class Tried:
    """How a kind of search did:
    restored disclosures (on average, where it is random), evaluations until each.
    """

    restored: float = 0.0
    until: list[int] = field(default_factory=list)

    def note(self, found: Sequence[Restoration]) -> None:
        """Add some runs on one disclosure."""
        self.restored += sum(one.status == "restored" for one in found) / len(found)
        self.until += [one.first for one in found if one.first is not None]


@dataclass(slots=True)
class Tally:
    """What became of the disclosures of one setting."""

    setting: Setting
    compromised: int = 0
    certain: int = 0  # somebody's value is known: nothing helps
    impossible: int = 0  # proved that no further views help, whatever they are
    none: int = 0  # proved that no views of the kind help
    undecided: int = 0
    by_size: dict[int, int] = field(default_factory=dict)  # restorable, by the fewest views that do
    people: list[int] = field(default_factory=list)
    thinned: int = 0
    kept: list[tuple[int, int]] = field(default_factory=list)  # tables before and after
    tacit: Tried = field(default_factory=Tried)
    facts: Tried = field(default_factory=Tried)
    blind: Tried = field(default_factory=Tried)
    tacit_timed: Tried = field(default_factory=Tried)
    blind_timed: Tried = field(default_factory=Tried)

    @property
    def restorable(self) -> int:
        """How many can be restored."""
        return sum(self.by_size.values())


@dataclass(frozen=True, slots=True)
class Effort:
    """How much is tried: disclosures of each setting, exact evaluations, equal
    time, time for an exhaustive search.
    """

    samples: int
    evaluations: int
    seconds: float
    longest: float


def settle(case: Compromised, tally: Tally, longest: float) -> bool:
    """Can it be restored at all? All sets of up to so many views are
    judged or ruled out, if time allows.
    """
    limits = Limits(views=FURTHER, listed=LISTED, counted=COUNTED, seconds=longest)
    found = restored(case.out, case.choices.members, limits=limits, with_classes=False)
    tally.compromised += 1
    tally.people.append(case.out.people)
    tally.thinned += bool(case.choices.thinned)
    if found.status == "impossible":
        tally.certain += case.worst == 1
        tally.impossible += case.worst < 1
    elif found.status == "none":
        tally.none += 1
    elif found.status == "restored":
        tally.by_size[len(found.views)] = tally.by_size.get(len(found.views), 0) + 1
        tally.kept.append((found.tables_before or 0, found.tables_after or 0))
        return True
    else:
        tally.undecided += 1
    return False


def compare(case: Compromised, tally: Tally, effort: Effort) -> None:
    """Let each kind of search try, with as many exact evaluations and then with as much time."""
    few = Limits(views=FURTHER, listed=effort.evaluations, counted=effort.evaluations)
    # Without lists of tables every set is counted by itself: an evaluation is the same for all.
    tally.tacit.note(
        [
            restored(
                case.out,
                case.choices.members,
                limits=few,
                with_classes=False,
                lists=Lists(case.out, 0),
            )
        ]
    )
    tally.facts.note([blind(case, few, seed, facts=True, most=0) for seed in range(DRAWS)])
    tally.blind.note([blind(case, few, seed, most=0) for seed in range(DRAWS)])
    timed = Limits(views=FURTHER, seconds=effort.seconds)
    tally.tacit_timed.note(
        [restored(case.out, case.choices.members, limits=timed, with_classes=False)]
    )
    tally.blind_timed.note([blind(case, timed, 0)])


def study(
    rows: Sequence[Row],
    settings: Sequence[Setting],
    effort: Effort,
    seed: int,
    tell: Callable[[str], None],
) -> list[Tally]:
    """All settings."""
    found = []
    for number, setting in enumerate(settings, 1):
        tally = Tally(setting)
        cases = compromised(rows, setting, seed)
        while tally.compromised < effort.samples:
            case = next(cases)
            if settle(case, tally, effort.longest):
                compare(case, tally, effort)
            tell(
                f"{number} of {len(settings)}: {setting.name}: {tally.compromised} of "
                f"{effort.samples}, {tally.restorable} restorable"
            )
        found.append(tally)
    return found


# -- what is written -------------------------------------------------------------------------------


HEADS = (
    "private column, gamma, views out",
    "compromised",
    "certain",
    "impossible",
    "none of ≤ 2 views",
    "undecided",
    "**restorable**",
    "Tacit",
    "facts only",
    "blind",
    "Tacit, same time",
    "blind, same time",
    "tables kept",
)


def table(found: Sequence[Tally]) -> str:
    """The numbers as a table in Markdown, with a line for all settings together."""
    lines = [cells(one.setting.name, [one]) for one in found] + [cells("**all**", found)]
    rule = ["--:" if at else ":--" for at in range(len(HEADS))]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(HEADS), rule, *lines])


def cells(name: str, some: Sequence[Tally]) -> list[str]:
    """A line of the table: some settings together."""
    whole = sum(one.compromised for one in some)
    restorable = sum(one.restorable for one in some)
    kept = [after / before for one in some for before, after in one.kept]
    counts = [
        whole,
        *(
            sum(getattr(one, kind) for one in some)
            for kind in ("certain", "impossible", "none", "undecided")
        ),
    ]
    tried = [
        sum(getattr(one, kind).restored for one in some)
        for kind in ("tacit", "facts", "blind", "tacit_timed", "blind_timed")
    ]
    return [
        name,
        *map(str, counts),
        f"**{restorable} ({restorable / whole:.0%})**",
        *(f"{one:.1f}".removesuffix(".0") for one in tried),
        f"{median(kept):.0%}" if kept else "",
    ]


def evaluations(found: Sequence[Tally]) -> str:
    """How many exact evaluations each search took until the first set that restores."""
    told = []
    for kind, name in (("tacit", "Tacit"), ("facts", "facts only"), ("blind", "blind")):
        until = [many for one in found for many in getattr(one, kind).until]
        told.append(f"{name} {median(until):.0f}" if until else f"{name} never")
    return (
        "Evaluations until the first that restores, median of those that found one: "
        + ", ".join(told)
        + "."
    )


def as_json(found: Sequence[Tally], effort: Effort, seed: int) -> str:
    """Everything that was counted."""
    settings = [
        {
            **asdict(one),
            "setting": {**asdict(one.setting), "gamma": str(one.setting.gamma)},
            "restorable": one.restorable,
        }
        for one in found
    ]
    whole = {
        "data": "UCI heart disease, Cleveland",
        "columns": PUBLIC,
        "seed": seed,
        "effort": asdict(effort),
        "settings": settings,
    }
    return json.dumps(whole, indent=1) + "\n"


def told_sum(found: Sequence[Tally], kind: str) -> str:
    """How many disclosures a kind of search restored;
    random ones restore a part of one on average.
    """
    return f"{sum(getattr(one, kind).restored for one in found):.1f}".removesuffix(".0")


BARS = {
    "restorable at all": "#1f4468",
    "restored by Tacit": "#c2410c",
    "restored by blind search": "#9dbbdb",
}


def bars(found: Sequence[Tally], effort: Effort) -> str:
    """An SVG file: shares of the compromised disclosures, a panel for each private column."""
    from tacit.report.charts.portrait_chart import FAINT, FONT, INK, MUTED, SIZE, picture

    rows = [
        {
            "of": SENSITIVE[one.setting.sensitive],
            "setting": f"γ {float(one.setting.gamma)}, {one.setting.out} views",
            "kind": kind,
            "share": many / one.compromised,
        }
        for one in found
        for kind, many in zip(
            BARS, (one.restorable, one.tacit.restored, one.blind.restored), strict=True
        )
    ]
    whole, restorable = sum(one.compromised for one in found), sum(one.restorable for one in found)
    title = (
        f"{restorable} of {whole} compromised disclosures can be restored: Tacit restores "
        f"{told_sum(found, 'tacit')}, blind search {told_sum(found, 'blind')}"
    )
    note = (
        f"shares of the compromised disclosures; searches with {effort.evaluations} exact "
        "evaluations for sets of one view and of two; dashed: the paper's best"
    )
    axis = {
        "labelColor": MUTED,
        "titleColor": MUTED,
        "titleFontWeight": 400,
        "labelFontSize": 12,
        "titleFontSize": 12,
        "gridColor": FAINT,
        "domainColor": FAINT,
        "tickColor": FAINT,
    }
    y = {
        "field": "share",
        "type": "quantitative",
        "title": None,
        "scale": {"domain": [0, 1]},
        "axis": {"format": ".0%", "values": [0, 0.2, 0.4, 0.6, 0.8, 1]},
    }
    colour = {
        "field": "kind",
        "type": "nominal",
        "sort": list(BARS),
        "scale": {"domain": list(BARS), "range": list(BARS.values())},
        "legend": {
            "title": None,
            "orient": "top",
            "labelColor": INK,
            "labelFontSize": 13,
            "labelLimit": 280,
            "symbolSize": 120,
            # Names are drawn a little wider than they are measured.
            "columnPadding": 40,
        },
    }
    place = {
        "x": {
            "field": "setting",
            "type": "nominal",
            "sort": None,
            "title": None,
            "axis": {"grid": False, "labelAngle": 0},
            "scale": {"paddingInner": 0.25},
        },
        "xOffset": {"field": "kind", "sort": list(BARS), "scale": {"domain": list(BARS)}},
        "y": y,
        "color": colour,
    }
    panels = [
        {
            "width": 400,
            "height": 240,
            "title": {"text": name, "fontSize": 12, "fontWeight": 400, "color": MUTED, "offset": 8},
            "layer": [
                {
                    "data": {"values": [row for row in rows if row["of"] == name]},
                    "mark": "bar",
                    "encoding": place,
                },
                {
                    "data": {"values": [{"share": 0.6}]},
                    "mark": {"type": "rule", "strokeDash": [4, 4], "color": INK},
                    "encoding": {"y": y},
                },
            ],
        }
        for name in dict.fromkeys(row["of"] for row in rows)
    ]
    spec = {
        "title": {
            "text": title,
            "subtitle": note,
            "anchor": "start",
            "color": INK,
            "fontSize": SIZE + 1,
            "fontWeight": 600,
            "subtitleColor": MUTED,
            "subtitleFontSize": 12,
            "offset": 14,
        },
        "padding": 16,
        "hconcat": panels,
        "spacing": 36,
        "config": {
            "aria": False,
            "background": "white",
            "font": FONT,
            "view": {"stroke": None},
            "axis": axis,
        },
    }
    told = "; ".join(
        f"{row['of']}, {row['setting']}, {row['kind']}: {row['share']:.0%}" for row in rows
    )
    return (
        picture(spec, title, told).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1)
        + "\n"
    )


# -- the command -----------------------------------------------------------------------------------


def heart(folder: Path | None) -> list[dict[str, str]]:
    """The records: in the folder that is named, in that of TACIT_DATA, or beside the repository."""
    folders = (
        [folder]
        if folder
        else [
            Path(one)
            for one in (os.environ.get("TACIT_DATA"), HERE.parents[2] / "shared" / "data")
            if one
        ]
    )
    for path in (folder / name for folder in folders for name in (FILE, Path(FILE).name)):
        if path.is_file():
            with path.open(encoding="utf-8", newline="") as lines:
                return list(csv.DictReader(lines))
    raise InputError(
        f"{Path(FILE).name} is not here.",
        hint="Name its folder with --data or in TACIT_DATA; README.md says where it comes from.",
    )


def write_people(rows: Sequence[Row], path: Path) -> None:
    """The patients with an id, and sex and chest pain in words."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(("id", *rows[0]))
        for number, row in enumerate(rows, 1):
            writer.writerow(
                (
                    number,
                    *(
                        WORDS.get(name, {}).get(
                            value, "" if value == "?" else value.removesuffix(".0")
                        )
                        for name, value in row.items()
                    ),
                )
            )


def teller() -> Callable[[str], None]:
    """Says on the terminal what is being done, and since when."""
    begun = time.perf_counter()
    end = "\r" if sys.stderr.isatty() else "\n"
    return lambda text: print(
        f"{time.perf_counter() - begun:6.1f} s  {text}", end=end, file=sys.stderr, flush=True
    )


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.heart.study", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("study", "people"),
        default="study",
        help="the study, or the patients with an id for tacit.yaml",
    )
    parser.add_argument(
        "--samples",
        type=int,
        default=8,
        help="compromised disclosures of each of the 8 settings (default: 8)",
    )
    parser.add_argument(
        "--evaluations",
        type=int,
        default=10,
        help="sets of each number of views that a search may judge (default: 10)",
    )
    parser.add_argument(
        "--seconds", type=float, default=1, help="equal time for each search (default: 1)"
    )
    parser.add_argument(
        "--longest",
        type=float,
        default=10,
        help="seconds to settle whether a disclosure can be restored at all (default: 10)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the samples (default: 1)")
    parser.add_argument("--data", type=Path, help=f"the folder with {FILE}")
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("heart-results"),
        help="folder for results.json and restored.svg (default: heart-results)",
    )
    parser.add_argument(
        "--output", type=Path, default=HERE / "patients.csv", help="people: the file to write"
    )
    asked = parser.parse_args(arguments)
    if asked.samples < 1 or asked.evaluations < 1:
        parser.error("--samples and --evaluations are at least 1")
    return asked


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for."""
    asked = options(arguments)
    try:
        rows = heart(asked.data)
        if asked.what == "people":
            write_people(rows, asked.output)
            print(f"{len(rows)} patients written to {asked.output}")
            return 0
        effort = Effort(asked.samples, asked.evaluations, asked.seconds, asked.longest)
        found = study(rows, SETTINGS, effort, asked.seed, teller())
        print(f"\n{table(found)}\n\n{evaluations(found)}")
        asked.out.mkdir(parents=True, exist_ok=True)
        (asked.out / "results.json").write_text(as_json(found, effort, asked.seed), "utf-8")
        (asked.out / "restored.svg").write_text(bars(found, effort), "utf-8")
    except TacitError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"written to {asked.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
