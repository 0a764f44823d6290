"""The study of Machanavajjhala's (2008) chapter 4:
how much noise it takes, and what is left of the commutes.

python -m examples.commuters.study table-4.1     the noise of Table 4.1, printed and ours
python -m examples.commuters.study               section 4.6: all methods on the flows, with Figures 4.1 to 4.4
python -m examples.commuters.study people        files for attack.py
"""  # noqa: E501

from __future__ import annotations

import argparse
import csv
import json
import math
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from examples.commuters import drawing
from examples.commuters.data import Commuters, commuters
from examples.commuters.methods import METHODS, Drawn, run, table_4_1

from tacit.errors import TacitError
from tacit.families.synthetic.promise.terms import CannotPromise
from tacit.families.synthetic.utility.flow_comparison import compare
from tacit.families.synthetic.utility.flow_utility import BANDS, FlowUtility
from tacit.families.synthetic.utility.flows import Flows

SHOWN = 120  # workplaces in the figures, as in Machanavajjhala (2008)
PEOPLE = 20_000  # in each file for the attack
SLOW = ("shrunk", "algorithm-5", "near")


@dataclass(frozen=True)
class Result:
    """What a method cost and left, as the tables show it."""

    method: str
    words: str
    epsilon: str
    alpha: tuple[float, float, float] | None  # least, median and greatest
    threshold: int | None
    prior: float  # people for each workplace, on average
    delta: float
    delta_of_one: float
    holds: bool
    guarantee: str
    errors: tuple[float | None, ...]  # medians by band, in miles
    unanswered: tuple[int, ...]  # workplaces of each band of which nothing is published
    far: float  # the share of synthetic people beyond the 99 % of the true ones
    variation: float
    seconds: float


# -- measuring -------------------------------------------------------------------------------------


def measured(data: Commuters, drawn: Drawn, utility: FlowUtility, seconds: float) -> Result:
    """The numbers of one method."""
    alphas = sorted(float(one.alpha) for one in drawn.noises if one.alpha is not None)
    thresholds = [one.threshold for one in drawn.noises if one.threshold is not None]
    errors, unanswered = [], []
    for least, most in BANDS:
        inside = (data.flows.sizes >= least) & (data.flows.sizes <= (most or math.inf))
        known = utility.groups.errors[inside & ~np.isnan(utility.groups.errors)]
        errors.append(float(np.median(known)) if len(known) else None)
        unanswered.append(int((inside & np.isnan(utility.groups.errors)).sum()))
    return Result(
        drawn.method.name,
        drawn.method.words,
        str(drawn.method.terms.epsilon),
        (alphas[0], float(np.median(alphas)), alphas[-1]) if alphas else None,
        max(thresholds, default=None),
        float(np.mean(drawn.priors)),
        drawn.delta,
        max(drawn.spent),
        drawn.holds,
        drawn.method.terms.guarantee,
        tuple(errors),
        tuple(unanswered),
        utility.beyond_far / max(1, utility.drawn),
        float(utility.total_variation),
        seconds,
    )


def study(
    data: Commuters, seed: int, tell: Callable[[str], None]
) -> list[tuple[Result, FlowUtility]]:
    """Every method on the same flows, as many at once as there are processors;
    the slow ones begin.
    """
    order = sorted(range(len(METHODS)), key=lambda at: METHODS[at].name not in SLOW)
    with ProcessPoolExecutor() as pool:
        asked = {at: pool.submit(tried, at, data, seed) for at in order}
        found = []
        for at, method in enumerate(METHODS):
            one = asked[at].result()
            tell(
                f"{method.name}: {one}"
                if isinstance(one, str)
                else f"{method.name}: {one[0].seconds:.1f} s"
            )
            if not isinstance(one, str):
                found.append(one)
    return found


def tried(at: int, data: Commuters, seed: int) -> tuple[Result, FlowUtility] | str:
    """One method, or why it cannot promise what it should."""
    begun = time.perf_counter()
    try:
        drawn = run(METHODS[at], data, seed)
    except CannotPromise as cannot:
        return str(cannot)
    seconds = time.perf_counter() - begun
    utility = compare(data.flows, drawn.flows, data.positions, queries=0, group_queries=0)
    return measured(data, drawn, utility, seconds), utility


# -- what is printed -------------------------------------------------------------------------------


def printed_table() -> str:
    """Table 4.1 with two rows of ours."""
    rows = list(table_4_1())
    lines = [
        ("e^epsilon", *(f"{ratio}" for ratio, *_ in rows)),
        (":--", *("--:" for _ in rows)),
        ("epsilon-dp (Theorem 4.1)", *(f"{pure:.0f}" for _, pure, *_ in rows)),
        (
            "pdp, delta 10^-6, as Machanavajjhala (2008) bounds it (Theorem 4.2)",
            *(f"{printed:.4f}" for _, _, printed, _, _ in rows),
        ),
        ("pdp, delta 10^-6, by the rigorous tail", *(f"{float(tail):.4f}" for *_, tail, _ in rows)),
        (
            "(epsilon, delta)-dp, delta 10^-6, by the exact curve",
            *(f"{float(curve):.5g}" for *_, curve in rows),
        ),
    ]
    return as_table(lines)


def as_table(lines: Sequence[Sequence[str]]) -> str:
    """Lines in Markdown."""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def noise_table(found: Sequence[Result]) -> str:
    """What each method costs, and whether its promise is kept."""
    heads = [
        "method",
        "what is drawn",
        "epsilon",
        "alpha: least, median, greatest",
        "prior people a workplace",
        "promise kept for all workplaces together?",
    ]
    lines = [heads, [":--", ":--", "--:", "--:", "--:", ":--"]]
    for one in found:
        noise = (
            ", ".join(f"{alpha:.4f}" for alpha in one.alpha)
            if one.alpha
            else f"threshold {one.threshold}"
        )
        kept = (
            f"yes, delta {one.delta:.1e}"
            if one.holds
            else f"**not shown**: delta up to {one.delta:.1e}, up to {one.delta_of_one:.1e} of one"
        )
        lines.append(
            [
                one.method,
                one.words,
                f"{one.epsilon} {one.guarantee}",
                noise,
                f"{one.prior:.0f}" if one.alpha else "",
                kept,
            ]
        )
    return as_table(lines)


def error_table(found: Sequence[Result], data: Commuters) -> str:
    """The median error of the mean commute by size of workplace, and what else is left."""
    counts = [
        int(((data.flows.sizes >= least) & (data.flows.sizes <= (most or math.inf))).sum())
        for least, most in BANDS
    ]
    heads = [
        "method",
        *(f"{band(*one)} jobs ({many})" for one, many in zip(BANDS, counts, strict=True)),
        "too far",
        "total variation",
    ]
    lines = [heads, [":--", *("--:" for _ in heads[1:])]]
    for one in found:
        cells = [
            ("" if error is None else f"{error:.2f}")
            + (f" ({missing} without answer)" if missing else "")
            for error, missing in zip(one.errors, one.unanswered, strict=True)
        ]
        lines.append([one.method, *cells, f"{one.far:.1%}", f"{one.variation:.2f}"])
    return as_table(lines)


def band(least: int, most: int | None) -> str:
    """A band of sizes in words."""
    return f"over {least - 1:,}" if most is None else f"{least:,} to {most:,}"


def as_json(found: Sequence[Result], data: Commuters, seed: int) -> str:
    """Everything that was measured."""
    methods = [
        {**{name: getattr(one, name) for name in Result.__dataclass_fields__}} for one in found
    ]
    whole: dict[str, Any] = {
        "data": data.name,
        "jobs": data.flows.people,
        "workplaces": len(data.flows.groups),
        "tracts": len(data.codes),
        "districts": data.regions[0],
        "outside": data.outside,
        "seed": seed,
        "bands": [band(*one) for one in BANDS],
        "methods": methods,
    }
    return json.dumps(whole, indent=1) + "\n"


# -- files for the attack --------------------------------------------------------------------------


def halves(data: Commuters, seed: int) -> tuple[Flows, Flows]:
    """The workers in two halves at random: one to publish, and one that is kept away from it."""
    draw = np.random.default_rng(seed)
    every = data.flows.summed
    used = draw.binomial(every.count, 0.5)
    return replace(every, count=used).summed, replace(every, count=every.count - used).summed


def write_people(data: Commuters, folder: Path, seed: int, tell: Callable[[str], None]) -> None:
    """used.csv, control.csv and the synthetic people of some methods:
    a line for each of some people, with public facts about the places.
    """
    used, control = halves(data, seed)
    folder.mkdir(parents=True, exist_ok=True)
    lived = replace(data, flows=used)
    write_some(data, used, folder / "used.csv", seed)
    write_some(data, control, folder / "control.csv", seed)
    for method in METHODS:
        if method.name in ("dp", "districts", "histogram"):
            write_some(
                data, run(method, lived, seed).flows, folder / f"synthetic-{method.name}.csv", seed
            )
            tell(f"{method.name} drawn")


def write_some(data: Commuters, flows: Flows, path: Path, seed: int) -> None:
    """Some people at random, in a random order."""
    people = np.repeat(np.arange(len(flows.count)), flows.count)
    chosen = Random(seed).sample(people.tolist(), min(PEOPLE, len(people)))
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(
            ("work", "work_lat", "work_lon", "home", "home_lat", "home_lon", "home_district")
        )
        for row in chosen:
            there, home = int(data.work[flows.group[row]]), int(flows.value[row])
            writer.writerow(
                (
                    data.codes[there],
                    data.latitude[there],
                    data.longitude[there],
                    data.codes[home],
                    data.latitude[home],
                    data.longitude[home],
                    data.districts[home],
                )
            )


# -- the command -----------------------------------------------------------------------------------


def teller() -> Callable[[str], None]:
    """Says on the terminal what has been done, and since when."""
    begun = time.perf_counter()
    return lambda text: print(
        f"{time.perf_counter() - begun:6.1f} s  {text}", file=sys.stderr, flush=True
    )


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(
        prog="python -m examples.commuters.study", description=(__doc__ or "").splitlines()[0]
    )
    parser.add_argument(
        "what",
        nargs="?",
        choices=("commuters", "table-4.1", "people"),
        default="commuters",
        help="the study (default), Table 4.1, or files for attack.py",
    )
    parser.add_argument(
        "--data", type=Path, help="the folder with New York's flows.csv and tracts.csv"
    )
    parser.add_argument(
        "--city", action="store_true", help="the generated city, even where New York is here"
    )
    parser.add_argument(
        "--seed", type=int, default=1, help="of the draws (default: 1); a release is never seeded"
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("commuters-results"),
        help="folder for what is written (default: commuters-results)",
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run what is asked for."""
    asked = options(arguments)
    try:
        if asked.what == "table-4.1":
            print(printed_table())
            return 0
        with tempfile.TemporaryDirectory() as scratch:
            data = commuters(asked.data, Path(scratch), city=asked.city)
        if asked.what == "people":
            write_people(data, asked.out, asked.seed, teller())
        else:
            print(
                f"{data.name}: {data.flows.people:,} jobs in {len(data.flows.groups):,} of "
                f"{len(data.codes):,} tracts; {data.outside} who live elsewhere left out\n"
            )
            write_study(data, asked.seed, asked.out)
    except TacitError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"\nwritten to {asked.out}")
    return 0


def write_study(data: Commuters, seed: int, out: Path) -> None:
    """Run it, print the tables, and write results.json and the pictures."""
    found = study(data, seed, teller())
    results = [one for one, _ in found]
    print(f"{noise_table(results)}\n\n{error_table(results, data)}")
    out.mkdir(parents=True, exist_ok=True)
    (out / "results.json").write_text(as_json(results, data, seed), "utf-8")
    shown = sorted(
        Random(seed).sample(range(len(data.flows.groups)), min(SHOWN, len(data.flows.groups)))
    )
    for one, utility in found:
        if one.method in drawing.FIGURES:
            (out / f"{drawing.FIGURES[one.method]}.svg").write_text(
                drawing.commutes(one.words, utility, shown), "utf-8"
            )
    (out / "errors.svg").write_text(
        drawing.errors(
            [(one.method, one.errors) for one in results], [band(*one) for one in BANDS]
        ),
        "utf-8",
    )


if __name__ == "__main__":
    sys.exit(main())
