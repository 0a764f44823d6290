"""Synthetic people: choosing the noise, drawing one large group, the whole command and study, and
other private histograms.

    python -m benchmarks.synthetic noise | sizes | group | command | methods

CPU seconds, each part in a process of its own; memory is the peak beyond what imports and input
take. The peers: NumPy's dense Dirichlet-multinomial for one group; for all groups OpenDP's
thresholded Laplace and SmartNoise SQL, which publish histograms.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from importlib.util import find_spec
from itertools import pairwise
from math import ceil, inf
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.__main__ import ROOT, measured
from benchmarks.meter import Meter
from benchmarks.overlap import require
from tacit.families.synthetic.cells import Domain, DomainCells
from tacit.families.synthetic.drawing.group_drawing import draw
from tacit.families.synthetic.drawing.randomness import Randomness
from tacit.families.synthetic.occupied_cells import Integers, OccupiedCells
from tacit.families.synthetic.promise.losses import Epsilon
from tacit.families.synthetic.promise.noise import Chooser, NoisePromise
from tacit.families.synthetic.promise.terms import Mechanism, Noise, Terms

PEOPLE, CELLS, DELTA = 10**6, 10**4, Fraction("1e-6")  # of Table 4.1
ALPHAS = {5: 5.5309, 10: 2.1662, 20: 0.9350, 50: 0.3394}  # by e^epsilon, rounded up
STUDY = Terms(Epsilon.read("4.6"), Fraction("1e-5"))  # of section 4.6
SIZES = 10_000
LARGE = 8_000_000  # cells of the large group
SPREAD = 200_000  # cells from the workplace, on average
CHANGED = (
    2,
    2,
    1,
    # how far histograms are apart that differ in one person's value:
    # cells that change, by how much together, and each
)
SMARTNOISE = "TACIT_SMARTNOISE"  # a Python that has SmartNoise SQL
alone = partial(measured, "benchmarks.synthetic")


# -- choosing the noise ----------------------------------------------------------------------------


def noise() -> list[dict[str, Any]]:
    """The noise of Table 4.1, each from nothing."""
    return [alone("chosen", str(ratio)) for ratio in ALPHAS]


def chosen(ratio: int) -> dict[str, Any]:
    """The least noise for a million people; beside it one look at delta.
    The next amount below must not do.
    """
    terms, cells = Terms(Epsilon.read(f"ln({ratio})"), DELTA), DomainCells.alike(CELLS)
    begun = time.process_time()
    alpha = Chooser(terms).noise(PEOPLE, cells).alpha
    seconds = time.process_time() - begun
    assert alpha is not None
    promise = NoisePromise(terms, PEOPLE, PEOPLE, cells)
    begun = time.process_time()
    spent = promise.spent(alpha, Fraction(ratio))
    look = time.process_time() - begun
    below = promise.spent(alpha * Fraction(9999, 10_000), Fraction(ratio))
    require(
        spent.high <= DELTA < below.low,
        f"alpha {float(alpha)} for a ratio of {ratio} is not the least",
    )
    require(
        ceil(alpha * 10**4) / 10**4 == ALPHAS[ratio],
        f"alpha {float(alpha)} for a ratio of {ratio} is not {ALPHAS[ratio]}",
    )
    return {"ratio": ratio, "alpha": float(alpha), "seconds": seconds, "look": look, "goal": 2.0}


def sizes() -> list[dict[str, Any]]:
    """The noise for ten thousand sizes of groups, from small to large as a release chooses it."""
    return [alone("every")]


def every() -> dict[str, Any]:
    """All sizes; then delta once more for each, by a promise that knows nothing of the search,
    and for some with a thousandth less noise.
    """
    cells, wanted = DomainCells.alike(CELLS), spaced(SIZES, PEOPLE)
    chooser = Chooser(STUDY)
    begun = time.process_time()
    found = [chooser.noise(size, cells).alpha for size in wanted]
    seconds = time.process_time() - begun
    ratio, kept, least = STUDY.epsilon.ratio, 0, 0
    begun = time.process_time()
    for size, alpha in zip(wanted, found, strict=True):
        assert alpha is not None
        kept += NoisePromise(STUDY, size, size, cells).spent(alpha, ratio[0]).high <= STUDY.delta
    look = time.process_time() - begun
    some = list(zip(wanted, found, strict=True))[:: SIZES // 100]
    for size, alpha in some:
        assert alpha is not None
        least += (
            NoisePromise(STUDY, size, size, cells).spent(alpha * Fraction(999, 1000), ratio[1]).low
            > STUDY.delta
        )
    require(kept == SIZES, f"the promise is kept for {kept:,} of {SIZES:,} sizes only")
    require(
        least == len(some),
        f"{len(some) - least} of {len(some)} sizes have more noise than they need",
    )
    return {"sizes": SIZES, "seconds": seconds, "kept": kept, "look": look, "goal": 60.0}


def spaced(number: int, most: int) -> list[int]:
    """So many different sizes from 1 to the most, as evenly on a logarithmic scale as whole
    numbers can be.
    """
    points = number
    while len(found := np.unique(np.geomspace(1, most, points).round().astype(np.int64))) < number:
        points += number // 100
    chosen_ones: list[int] = found[
        np.linspace(0, len(found) - 1, number).round().astype(np.int64)
    ].tolist()
    return chosen_ones


# -- one large group -------------------------------------------------------------------------------


def group() -> list[dict[str, Any]]:
    """A million people over eight million cells: the urn, and NumPy over all cells in two ways."""
    draws = np.random.default_rng(8)
    held = OccupiedCells.of(draws.exponential(SPREAD, PEOPLE).astype(np.int64) % LARGE)
    begun = time.process_time()
    alpha = Chooser(STUDY).noise(PEOPLE, DomainCells.alike(LARGE)).alpha
    choosing = time.process_time() - begun
    with TemporaryDirectory() as folder:
        np.savez(Path(folder) / "held.npz", places=held.places, counts=held.counts)
        rows = [
            min(
                (alone("large", name, folder, str(alpha)) for _ in range(3)),
                key=lambda row: row["seconds"],
            )
            for name in LARGE_GROUP
        ]
    return [row | {"choosing": choosing, "alpha": float(alpha or 0)} for row in rows]


def large(name: str, folder: str, alpha: str) -> dict[str, Any]:
    stored = np.load(Path(folder) / "held.npz")
    held = OccupiedCells(stored["places"], stored["counts"])
    begun = Meter()
    found = LARGE_GROUP[name](held, Fraction(alpha))
    row = begun.row()
    require(found.people == PEOPLE, f"{name} drew {found.people:,} people")
    return {"name": name, **row, "occupied": len(found.places)}


def by_urn(held: OccupiedCells, alpha: Fraction) -> OccupiedCells:
    return draw(held, Domain(LARGE), STUDY, Noise(alpha=alpha), Randomness.system()).held


def by_dirichlet(held: OccupiedCells, alpha: Fraction) -> OccupiedCells:
    """As it is usually written: a share for every cell, then a multinomial draw."""
    dense, draws = np.full(LARGE, float(alpha)), np.random.default_rng()
    dense[held.places] += held.counts
    shares = draws.dirichlet(dense)
    shares /= (
        shares.sum()
    )  # in one of three draws they add up to 1 + 4e-12, which multinomial refuses
    counts = draws.multinomial(PEOPLE, shares)
    places = np.flatnonzero(counts)
    return OccupiedCells(places, counts[places])


def by_gamma(held: OccupiedCells, alpha: Fraction) -> OccupiedCells:
    """The same with as little memory as NumPy allows:
    gammas in place of the counts, and divided there.
    """
    dense, draws = np.full(LARGE, float(alpha)), np.random.default_rng()
    dense[held.places] += held.counts
    draws.standard_gamma(dense, out=dense)
    dense /= dense.sum()
    counts = draws.multinomial(PEOPLE, dense)
    places = np.flatnonzero(counts)
    return OccupiedCells(places, counts[places])


LARGE_GROUP: dict[str, Callable[[OccupiedCells, Fraction], OccupiedCells]] = {
    "tacit": by_urn,
    "numpy, dirichlet": by_dirichlet,
    "numpy, in place": by_gamma,
}


# -- the whole command and study -------------------------------------------------------------------


def command() -> list[dict[str, Any]]:
    """`tacit synthesize` on all flows, and the study with all its methods."""
    with TemporaryDirectory() as folder:
        name = prepared(Path(folder))
        plan = ["--plan", f"{folder}/tacit.yaml"]
        asked = {
            "tacit synthesize": [
                "tacit",
                "synthesize",
                "homes",
                "-o",
                f"{folder}/homes.csv",
                *plan,
                "--json",
            ],
            "the same, by histogram": [
                "tacit",
                "synthesize",
                "histogram",
                "-o",
                f"{folder}/histogram.csv",
                *plan,
                "--json",
            ],
            "the whole study": [
                "examples.commuters.study",
                "--data",
                f"{folder}/data",
                "--out",
                f"{folder}/results",
            ],
        }
        return [
            {"name": what, "data": name, "goal": 60.0, **alone("run", *arguments)}
            for what, arguments in asked.items()
        ]


def prepared(folder: Path) -> str:
    """The plan of the example and its data."""
    from examples.commuters.data import HERE, prepare

    (folder / "tacit.yaml").write_text((HERE / "tacit.yaml").read_text("utf-8"), "utf-8")
    return prepare(folder / "data")


def run(*arguments: str) -> dict[str, Any]:
    """Wall-clock and CPU seconds of a command with all its processes,
    and the most memory of one of them.
    """
    begun = time.perf_counter()
    ended = subprocess.run(
        [sys.executable, "-m", *arguments], cwd=ROOT, capture_output=True, text=True
    )
    wall = time.perf_counter() - begun
    require(ended.returncode == 0, f"{' '.join(arguments)}: {ended.stderr}")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "wall": wall,
        "seconds": used.ru_utime + used.ru_stime,
        "megabytes": used.ru_maxrss / 1024,
    }


# -- other private histograms ----------------------------------------------------------------------


@dataclass(frozen=True)
class Counted:
    """The flows as every method gets them: counts by group and value, sorted by group, of so
    many groups and values.
    """

    group: Integers
    value: Integers
    count: Integers
    groups: int
    values: int

    @classmethod
    def load(cls, folder: Path) -> Counted:
        """From the file that all methods get."""
        stored = np.load(folder / "flows.npz")
        return cls(
            stored["group"],
            stored["value"],
            stored["count"],
            int(stored["groups"]),
            int(stored["values"]),
        )

    def held(self) -> list[OccupiedCells]:
        """The people of each group."""
        ends = np.searchsorted(self.group, np.arange(self.groups + 1))
        return [OccupiedCells(self.value[a:b], self.count[a:b]) for a, b in pairwise(ends.tolist())]


Rows = tuple[Integers, Integers, Integers]


def by_tacit(mechanism: Mechanism, counted: Counted) -> Rows:
    """Noise chosen and people drawn for each group."""
    terms = Terms(STUDY.epsilon, STUDY.delta, mechanism=mechanism)
    chooser, domain, randomness = (
        Chooser(terms, counted.groups),
        Domain(counted.values),
        Randomness.system(),
    )
    every_one = counted.held()
    noises = {
        people: chooser.noise(people, domain.cells)
        for people in sorted({held.people for held in every_one})
    }
    found = [draw(held, domain, terms, noises[held.people], randomness).held for held in every_one]
    group = np.repeat(np.arange(counted.groups), [len(held.places) for held in found])
    return (
        group,
        np.concatenate([held.places for held in found]),
        np.concatenate([held.counts for held in found]),
    )


def by_opendp(counted: Counted) -> Rows:
    """OpenDP's thresholded Laplace, with the least scale and threshold
    that its own privacy map allows.

    Tables are neighbours as they are for Tacit: one person has another value.
    Keys are pairs of group and value, so this is one call for all groups.
    """
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.map_domain(dp.atom_domain(T="i64"), dp.atom_domain(T="i64")),
        dp.l01inf_distance(dp.absolute_distance(T="i64")),
    )
    release = partial(dp.m.make_laplace_threshold, *space)
    scale = dp.binary_search(
        lambda scale: release(scale, 1000).map(CHANGED)[0] <= float(STUDY.epsilon),
        bounds=(0.01, 100.0),
    )
    threshold = dp.binary_search(
        lambda least: release(scale, least).map(CHANGED)[1] <= float(STUDY.delta), bounds=(2, 1000)
    )
    keys = (counted.group * counted.values + counted.value).tolist()
    answer = release(scale, threshold)(dict(zip(keys, counted.count.tolist(), strict=True)))
    places, counts = np.fromiter(answer.keys(), np.int64), np.fromiter(answer.values(), np.int64)
    return places // counted.values, places % counted.values, counts


METHODS: dict[str, tuple[str, Callable[[Counted], Rows]]] = {
    "dirichlet": ("Tacit, dirichlet", partial(by_tacit, "dirichlet")),
    "geometric": ("Tacit, geometric", partial(by_tacit, "geometric")),
    "opendp": ("OpenDP, thresholded Laplace", by_opendp),
}


def methods() -> dict[str, Any]:
    """Every method on the flows, in time, memory and error; and why one is missing."""
    from examples.commuters.data import commuters

    with TemporaryDirectory() as place:
        folder = Path(place)
        data = commuters(None, folder)
        flows, rows, skipped = data.flows.summed, [], []
        np.savez(
            folder / "flows.npz",
            group=flows.group,
            value=flows.value,
            count=flows.count,
            groups=len(flows.groups),
            values=len(flows.values),
        )
        if missing := missing_opendp():
            skipped.append(missing)
        for name, (words, _) in METHODS.items():
            if not (name == "opendp" and missing):
                rows.append(
                    {
                        "name": words,
                        **alone("method", name, place),
                        **errors(data, folder / f"{name}.npz"),
                    }
                )
        python = smartnoise()
        if python is None:
            skipped.append(NO_SMARTNOISE)
        else:
            rows.append(
                {
                    "name": "SmartNoise SQL, thresholded Laplace",
                    **by_smartnoise(python, place),
                    **errors(data, folder / "smartnoise.npz"),
                }
            )
    terms = {"epsilon": str(STUDY.epsilon), "delta": f"{float(STUDY.delta):g}"}
    return {
        "data": data.name,
        "people": data.flows.people,
        "groups": len(data.flows.groups),
        **terms,
        "rows": rows,
        "skipped": skipped,
    }


def method(name: str, place: str) -> dict[str, Any]:
    folder = Path(place)
    counted = Counted.load(folder)
    if name == "opendp":
        import opendp.prelude  # noqa: F401
    begun = Meter()
    group_of, value, count = METHODS[name][1](counted)
    row = begun.row()
    np.savez(folder / f"{name}.npz", group=group_of, value=value, count=count)
    return row


def missing_opendp() -> str:
    if find_spec("opendp"):
        return ""
    return "OpenDP is not installed: pip install 'tacit-privacy[bench]'."


NO_SMARTNOISE = (
    "SmartNoise SQL is left out: it asks for OpenDP below 0.15 and so for an environment of its "
    f"own. Make one, pip install smartnoise-sql there, and name its Python in {SMARTNOISE}, or "
    "make it .venv/smartnoise."
)


def smartnoise() -> str | None:
    """A Python that has SmartNoise SQL."""
    named = [os.environ.get(SMARTNOISE), str(ROOT / ".venv" / "smartnoise" / "bin" / "python")]
    for python in named:
        if (
            python
            and Path(python).is_file()
            and not subprocess.run([python, "-c", "import snsql"], capture_output=True).returncode
        ):
            return python
    return None


def by_smartnoise(python: str, place: str) -> dict[str, Any]:
    """A changed value is a row less and a row more, each in a count of its own:
    half of epsilon for a row, and all of delta.

    Both counts may tell e^(epsilon/2). Only a cell that the person is alone in can show who is
    there, and in each table they are in one cell: so delta is that of one row, which is what
    SmartNoise's threshold is made from.
    """
    asked = [
        python,
        "-m",
        "benchmarks.smartnoise_histogram",
        place,
        str(float(STUDY.epsilon) / 2),
        str(float(STUDY.delta)),
    ]
    ended = subprocess.run(asked, cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, Any] = json.loads(ended.stdout.splitlines()[-1])
    return found


def errors(data: Any, path: Path) -> dict[str, Any]:
    """Medians over the groups of each band of sizes:
    the error of the mean commute (of groups that have one), and total variation.
    """
    from tacit.families.synthetic.utility.flow_comparison import compare
    from tacit.families.synthetic.utility.flows import Flows

    stored = np.load(path)
    flows = Flows(
        data.flows.groups, data.flows.values, stored["group"], stored["value"], stored["count"]
    )
    utility = compare(data.flows, flows, data.positions, queries=0, group_queries=0)
    bands = []
    for band in utility.bands:
        inside = (utility.groups.people >= band.least) & (
            utility.groups.people <= (band.most or inf)
        )
        silent = int((utility.groups.drawn[inside] == 0).sum())
        bands.append(
            {
                "sizes": band.label,
                "groups": band.groups,
                "silent": silent,
                "miles": None if np.isnan(band.error) else band.error,
                "variation": band.total_variation,
            }
        )
    return {"published": flows.people, "bands": bands, "variation": float(utility.total_variation)}


ALONE: dict[str, Callable[..., dict[str, Any]]] = {
    "chosen": lambda ratio: chosen(int(ratio)),
    "every": every,
    "large": large,
    "run": run,
    "method": method,
    "methods": methods,
}


def main(what: str, *given: str) -> None:
    if what in ALONE:
        print(json.dumps(ALONE[what](*given)))
        return
    print(
        json.dumps(
            {"rows": {"noise": noise, "sizes": sizes, "group": group, "command": command}[what]()}
        )
    )


if __name__ == "__main__":
    main(*sys.argv[1:])
