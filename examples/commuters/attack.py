"""An outsider's attacks on the synthetic people, by the tool anonymeter:
singling out, linking, and inference.

    python -m examples.commuters.study people --out FOLDER      (with Tacit) draws them from one half of the workers
    python examples/commuters/attack.py FOLDER                  (with anonymeter, which needs an environment of its own)

anonymeter 1.1 asks for NumPy below 1.27 and Tacit for 2.0 or later, so this file imports nothing of
Tacit. Each attack is tried on people who were used and on others who were not: only what works
better on the former is a risk.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

NUMBERS = ["work_lat", "work_lon", "home_lat", "home_lon"]
WORK, HOME = ["work_lat", "work_lon"], ["home_lat", "home_lon"]
NEIGHBOURS = 10
CONFIDENCE = 0.95


def attacks(used: Any, control: Any, published: Any, number: int) -> Iterator[tuple[str, Any]]:
    """Each attack by name, evaluated."""
    from anonymeter.evaluators import InferenceEvaluator, LinkabilityEvaluator, SinglingOutEvaluator

    one = SinglingOutEvaluator(
        used[NUMBERS],
        published[NUMBERS],
        n_attacks=number,
        n_cols=len(NUMBERS),
        control=control[NUMBERS],
        max_attempts=100 * number,
        seed=1,
    )
    one.evaluate(mode="multivariate")
    yield "singling out: a condition that fits one person", one
    two = LinkabilityEvaluator(
        used[NUMBERS],
        published[NUMBERS],
        aux_cols=(WORK, HOME),
        n_attacks=number,
        n_neighbors=NEIGHBOURS,
        control=control[NUMBERS],
    )
    two.evaluate(n_jobs=1)
    yield "linking: which home belongs to which work", two
    columns = [*WORK, "home_district"]
    three = InferenceEvaluator(
        used[columns],
        published[columns],
        aux_cols=WORK,
        secret="home_district",
        n_attacks=number,
        control=control[columns],
    )
    three.evaluate(n_jobs=1)
    yield "inference: the district somebody lives in", three


def told(folder: Path, number: int) -> list[dict[str, Any]]:
    """Every attack on every published file, and on the used people
    themselves as if they were published.
    """
    import pandas

    used, control = (
        pandas.read_csv(folder / name, dtype={"work": str, "home": str})
        for name in ("used.csv", "control.csv")
    )
    found = []
    for path in (folder / "used.csv", *sorted(folder.glob("synthetic-*.csv"))):
        published = pandas.read_csv(path, dtype={"work": str, "home": str})
        name = (
            "the people themselves" if path.stem == "used" else path.stem.removeprefix("synthetic-")
        )
        for attack, evaluator in attacks(used, control, published, number):
            results, risk = (
                evaluator.results(confidence_level=CONFIDENCE),
                evaluator.risk(confidence_level=CONFIDENCE),
            )
            found.append(
                {
                    "published": name,
                    "attack": attack,
                    "risk": round(risk.value, 4),
                    "low": round(risk.ci[0], 4),
                    "high": round(risk.ci[1], 4),
                    "used": round(results.attack_rate.value, 4),
                    "control": round(results.control_rate.value, 4),
                    "blind": round(results.baseline_rate.value, 4),
                }
            )
            print(f"{name}: {attack}: {found[-1]['risk']:.1%}", file=sys.stderr, flush=True)
    return found


def table(found: Sequence[dict[str, Any]]) -> str:
    """The risks in Markdown."""
    lines = [
        (
            "| published | attack | succeeds on used people | on others | guessing blindly | "
            "risk (95 %) |"
        ),
        "| :-- | :-- | --: | --: | --: | --: |",
    ]
    for one in found:
        cells = [f"{one[kind]:.1%}" for kind in ("used", "control", "blind")]
        lines.append(
            f"| {one['published']} | {one['attack']} | {' | '.join(cells)} | {one['risk']:.1%} "
            f"({one['low']:.1%} to {one['high']:.1%}) |"
        )
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """Attack the files of a folder."""
    parser = argparse.ArgumentParser(prog="attack.py", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="with used.csv, control.csv and synthetic-*.csv")
    parser.add_argument("--attacks", type=int, default=1000, help="of each kind (default: 1000)")
    asked = parser.parse_args(arguments)
    if not (asked.folder / "used.csv").is_file():
        print(
            f"{asked.folder} has no used.csv. Write it: python -m examples.commuters.study people "
            f"--out {asked.folder}",
            file=sys.stderr,
        )
        return 2
    try:
        import anonymeter  # noqa: F401
    except ImportError:
        print(
            "anonymeter is not installed. In an environment of its own: pip install anonymeter",
            file=sys.stderr,
        )
        return 2
    warnings.filterwarnings("ignore")
    found = told(asked.folder, asked.attacks)
    (asked.folder / "attack.json").write_text(json.dumps(found, indent=1) + "\n", "utf-8")
    print(table(found))
    return 0


if __name__ == "__main__":
    sys.exit(main())
