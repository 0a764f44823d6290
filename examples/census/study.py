"""Tables 3.9 to 3.12 and Figures 3.1 to 3.8 of Machanavajjhala (2008), computed anew.

    python examples/census/study.py --data FOLDER --out FOLDER [--lands
    FOLDER] [--only tables|times|utility]

`--data` has adult.csv, `--lands` a table shaped like Lands End (`python -m benchmarks.data FOLDER`
writes one). Writes tables.md, results.json and one SVG file for each figure into `--out`.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import drawing
from measuring import (
    ADULT,
    DIVERSITIES,
    HERE,
    KINDS,
    LANDS,
    MEASURES,
    Data,
    Tell,
    Times,
    Utility,
    facts,
    homogeneity,
    times,
    utility,
    write_sample,
)
from printed import PRINTED

from tacit.errors import InputError, TacitError
from tacit.families.microdata.attacks.all_minimal import AllMinimal, Average

PARTS = ("tables", "times", "utility")
SENSITIVE = "occupation"
LIKE_LANDS = "a table drawn like Lands End"  # the real one is not public
# The quasi-identifiers of Figures 3.3 to 3.6; 3.7 and 3.8 use the first three.
QUASI = {
    "3.3": ADULT[:3],
    "3.4": ADULT[:4],
    "3.5": ADULT[:5],
    "3.6": (*ADULT[:5], "workclass", "native_country"),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the parts that are asked for."""
    asked = options(arguments)
    try:
        adult, lands = adult_data(asked.data), lands_data(asked.lands)
        asked.out.mkdir(parents=True, exist_ok=True)
        tell = teller()
        if asked.only in (None, "tables"):
            study_tables(adult, lands, asked.out, tell)
        if asked.only in (None, "times"):
            study_times(adult, lands, asked.out, asked.repeat, tell)
        if asked.only in (None, "utility"):
            study_utility(adult, asked.out, tell)
    except TacitError as error:
        print(error, file=sys.stderr)
        return 2
    print(f"written to {asked.out}")
    return 0


def options(arguments: Sequence[str] | None) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder with adult.csv")
    parser.add_argument("--out", type=Path, required=True, help="the folder for tables and figures")
    parser.add_argument("--lands", type=Path, help="a folder with a table shaped like Lands End")
    parser.add_argument("--only", choices=PARTS, help="one part of the study")
    parser.add_argument(
        "--repeat", type=int, default=3, help="runs of which the least time counts (default: 3)"
    )
    return parser.parse_args(arguments)


def adult_data(folder: Path) -> Data:
    """Where adult.csv is: in the folder, or in its subfolder adult."""
    for place in (folder, folder / "adult"):
        if (place / "adult.csv").is_file():
            return Data(HERE / "tacit.yaml", place, "adult")
    raise InputError(
        f"--data: {folder} has no adult.csv.",
        hint="prepare.py makes it of the files that UCI publishes; see README.md.",
    )


def lands_data(folder: Path | None) -> Data | None:
    """The table shaped like Lands End, where one is given."""
    if folder is None:
        return None
    if not (folder / "tacit.yaml").is_file():
        raise InputError(
            f"--lands: {folder} has no tacit.yaml.",
            hint="Write the table with: python -m benchmarks.data FOLDER",
        )
    return Data(folder / "tacit.yaml", folder, "lands")


def teller() -> Tell:
    """Says on the terminal what is being done, and since when."""
    begun = time.perf_counter()
    return lambda text: print(f"{time.perf_counter() - begun:6.1f} s  {text}", file=sys.stderr)


def keep(out: Path, part: str, values: Any) -> None:
    """Put the numbers of one part into results.json, beside those of the others."""
    path = out / "results.json"
    known = json.loads(path.read_text("utf-8")) if path.exists() else {}
    path.write_text(json.dumps({**known, part: values}, indent=1) + "\n", "utf-8")


# -- Tables 3.9 to 3.12 ----------------------------------------------------------------------------


def study_tables(adult: Data, lands: Data | None, out: Path, tell: Tell) -> None:
    """Homogeneity of all minimal k-anonymous tables."""
    found = {"Adult": homogeneity(adult, ADULT[:5], "salary_class", tell)}
    if lands is not None:
        found[LIKE_LANDS] = homogeneity(lands, LANDS[:5], "cost", tell)
    numbers = {"Adult": ("3.9", "3.11"), LIKE_LANDS: ("3.10", "3.12")}
    lines = [line for name, one in found.items() for line in two_tables(name, numbers[name], one)]
    lines += ["| what the text says of Adult | ours | printed |", "|:--|--:|--:|"]
    lines += [f"| {' | '.join(line)} |" for line in facts(adult, tell)]
    (out / "tables.md").write_text("\n".join(lines) + "\n", "utf-8")
    keep(
        out,
        "tables",
        {name: {str(k): one.to_json() for k, one in by_k.items()} for name, by_k in found.items()},
    )


def two_tables(
    name: str, numbers: tuple[str, str], found: Mapping[int, AllMinimal]
) -> Iterator[str]:
    """Groups of one value, and groups nearly so, as Markdown."""
    certain, near = numbers
    yield from one_table(
        f"Table {certain}: homogeneity attack, {name}",
        certain,
        {k: one.certain for k, one in found.items()},
    )
    yield from one_table(
        f"Table {near}: 95 % homogeneity attack, {name}",
        near,
        {k: one.near for k, one in found.items()},
    )


def one_table(title: str, number: str, found: Mapping[int, Average]) -> Iterator[str]:
    """Our numbers and the printed ones side by side."""
    yield f"**{title}**\n"
    yield (
        "| k | tables affected | groups, average | people, average | printed: tables | groups "
        "| tuples |"
    )
    yield "|--:|--:|--:|--:|--:|--:|--:|"
    for k, one in found.items():
        ours = f"{one.affected}/{one.total} | {float(one.groups):.2f} | {float(one.people):,.2f}"
        yield f"| {k} | {ours} | {' | '.join(PRINTED[number][k])} |"
    yield ""


# -- Figures 3.1 and 3.2 ---------------------------------------------------------------------------


def study_times(adult: Data, lands: Data | None, out: Path, repeats: int, tell: Tell) -> None:
    """Running times by the size of the quasi-identifier."""
    found = {"Adult": list(times(adult, ADULT, SENSITIVE, repeats, tell))}
    if lands is not None:
        found[LIKE_LANDS] = list(times(lands, LANDS, "cost", repeats, tell))
    for (name, one), number in zip(found.items(), ("3.1", "3.2"), strict=False):
        write_figure(out, number, drawing.running_times(one, name, number))
    lines = [line for name, one in found.items() for line in time_table(name, one)]
    (out / "times.md").write_text("\n".join(lines) + "\n", "utf-8")
    keep(out, "times", {name: [asdict(line) for line in one] for name, one in found.items()})


def time_table(name: str, found: Sequence[Times]) -> Iterator[str]:
    """The times as Markdown."""
    yield f"**{name}, CPU seconds**\n"
    yield (
        "| columns | tables in the lattice | counting | all 6-anonymous | all entropy "
        "6-diverse | ratio of the whole |"
    )
    yield "|--:|--:|--:|--:|--:|--:|"
    for one in found:
        yield (
            f"| {one.columns} | {one.nodes:,} | {one.counting:.2f} | {one.anonymous:.3f} | "
            f"{one.diverse:.3f} | {one.ratio:.2f} |"
        )
    yield ""


def write_figure(out: Path, number: str, picture: str) -> None:
    """One figure as a file."""
    (out / f"figure-{number}.svg").write_text(picture, "utf-8")


# -- Figures 3.3 to 3.8 ----------------------------------------------------------------------------


def study_utility(adult: Data, out: Path, tell: Tell) -> None:
    """Utility of the best tables, on a sample and on the whole."""
    with TemporaryDirectory() as folder:
        part = Path(folder) / "sample"
        part.mkdir()
        sample = write_sample(adult, part)
        small = {
            number: list(utility(sample, quasi, SENSITIVE, tell)) for number, quasi in QUASI.items()
        }
        rows = sum(1 for _ in (part / "adult.csv").open(encoding="utf-8")) - 1
    words = f"a 5 % sample of {rows:,} rows"
    for number, found in small.items():
        write_figure(out, number, drawing.costs(found, number, MEASURES[:3], words))
    first_three = list(QUASI.values())[:3]
    whole = [list(utility(adult, quasi, SENSITIVE, tell)) for quasi in first_three]
    write_figure(out, "3.7", drawing.divergences(list(small.values())[:3], "3.7", words))
    write_figure(out, "3.8", drawing.divergences(whole, "3.8", "all rows"))
    parts = [(one, words) for one in small.values()] + [(one, "all rows") for one in whole]
    lines = [line for one, rows_used in parts for line in utility_table(one, rows_used)]
    (out / "utility.md").write_text("\n".join(lines) + "\n", "utf-8")
    keep(out, "utility", {"sample": as_values(small.values()), "whole": as_values(whole)})


def as_values(found: Iterable[Sequence[Utility]]) -> list[dict[str, Any]]:
    """Everything in one list."""
    return [asdict(one) for part in found for one in part]


def utility_table(found: Sequence[Utility], sample: str) -> Iterator[str]:
    """The least costs for one quasi-identifier as Markdown;
    a dash where no table meets the definition.
    """
    yield (
        f"**Q = {{{drawing.spoken(found[0].quasi)}}}, {sample}; KL-divergence with Q "
        f"suppressed: {found[0].base:.2f}**\n"
    )
    yield "| k = l | " + " | ".join(f"{name}: {kind}" for name in MEASURES for kind in KINDS) + " |"
    yield "|--:|" + "--:|" * (len(MEASURES) * len(KINDS))
    for degree in DIVERSITIES:
        line = {one.kind: one for one in found if one.degree == degree}
        yield (
            f"| {degree} | "
            + " | ".join(shown(line[kind], name) for name in MEASURES for kind in KINDS)
            + " |"
        )
    yield ""


def shown(one: Utility, name: str) -> str:
    """A cost as text."""
    if not one.least:
        return "–"
    return (
        f"{one.least[name]:.2f}" if name in ("kl", "average-group") else f"{one.least[name]:,.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
