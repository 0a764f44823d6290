"""The least generalization of Adult (30,162 rows, 2,160 nodes):
the search alone, the whole command, and anjana.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.data import ADULT_QUASI, adult_folder
from benchmarks.meter import cpu

PEER_REPEATS = 3  # of a peer and of ours beside it
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "five": ("k-anonymity", {"k": 5}),
    "entropy": ("l-diversity", {"kind": "entropy", "l": 4}),
    "recursive": ("l-diversity", {"kind": "recursive", "c": 3, "l": 4}),
}


def raw_question(folder: Path, table: str) -> Any:
    """The table of a plan, counted, as it is."""
    from tacit.engines.open import open_engine
    from tacit.families.microdata.reading.source import count_table
    from tacit.plan.read.load import load_plan

    plan = load_plan(folder / "tacit.yaml")
    with open_engine(plan.source, plan.folder) as engine:
        engine.attach(plan.tables[table])
        counted = count_table(engine, plan.tables[table], plan)
    levels = {
        name: counted.hierarchies[name].level(0) for name in plan.tables[table].quasi_identifiers
    }
    return counted.question(table, levels)


def lattice_of(raw: Any) -> Any:
    from tacit.families.microdata.lattice import Lattice

    return Lattice(raw.quasi, tuple(raw.hierarchies[name].height for name in raw.quasi))


def searched(raw: Any, kinds: Sequence[str], utility: str, *, every: bool = False) -> Any:
    """One search, from nothing but the counts of the table."""
    from tacit.families.catalog import define
    from tacit.families.microdata.repair.costs import cost_by
    from tacit.families.microdata.repair.node_judge import NodeJudge
    from tacit.families.microdata.repair.requirements import Required
    from tacit.families.microdata.repair.search import search

    judge = NodeJudge(raw, [Required(define(*KINDS[kind])) for kind in kinds], lattice_of(raw))
    return search(judge, cost_by(judge, utility), every=every)


def search_alone(folder: Path) -> dict[str, Any]:
    raw = raw_question(folder, "adult")
    rows = []
    for kind in KINDS:
        for utility, every in (("loss", False), ("discernibility", False), ("loss", True)):
            seconds, found = cpu(
                lambda kind=kind, utility=utility, every=every: searched(
                    raw, (kind,), utility, every=every
                )
            )
            rows.append(
                {
                    "kind": kind,
                    "utility": utility,
                    "every": every,
                    "seconds": seconds,
                    "node": found.best,
                    "cost": found.cost,
                    "asked": found.asked,
                    "minimal": len(found.minimal),
                }
            )
    return {"rows": rows}


def command(folder: Path, release: str, name: str, repeats: int = 3) -> dict[str, Any]:
    """The whole cold command: CPU seconds (the least of a few) and peak memory."""
    times = []
    with TemporaryDirectory() as out:
        for number in range(repeats):
            target = Path(out) / f"{number}-{name}"
            line = [
                sys.executable,
                "-m",
                "tacit",
                "anonymize",
                release,
                "-o",
                str(target),
                "--plan",
                str(folder / "tacit.yaml"),
                "--json",
            ]
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            found = json.loads(
                subprocess.run(line, check=True, capture_output=True, text=True).stdout
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return {
        "seconds": min(times),
        "megabytes": after.ru_maxrss / 1024,
        "generalization": found["generalization"],
    }


def anjana(folder: Path) -> dict[str, Any]:
    """The same table and hierarchies in anjana, and ours in the same process;
    nodes compared by loss.

    anjana's functions for diversity ask for 5-anonymity too, and so do we here. They take a frame
    and return one: `whole` is our call that does the same and also checks what it made, `search` is
    the search alone. Every time is the least of the same number of runs.
    """
    try:
        import pandas
        from anjana.anonymity import entropy_l_diversity, k_anonymity, recursive_c_l_diversity
        from anjana.anonymity.utils import utils
    except ImportError:
        return {"skipped": "anjana is not installed: pip install 'tacit-privacy[bench]'"}
    raw = raw_question(folder, "adult")
    frame = pandas.read_csv(folder / "adult.csv")
    trees = {
        name: dict(pandas.read_csv(folder / f"{name}.csv", sep=";", header=None))
        for name in ADULT_QUASI
    }
    common = {
        "ident": [],
        "quasi_ident": list(ADULT_QUASI),
        "k": 5,
        "supp_level": 0,
        "hierarchies": trees,
    }
    theirs: dict[str, Callable[[], Any]] = {
        "five": lambda: k_anonymity(frame, **common),
        "entropy": lambda: entropy_l_diversity(frame, sens_att="occupation", l_div=4, **common),
        "recursive": lambda: recursive_c_l_diversity(
            frame, sens_att="occupation", c=3, l_div=4, **common
        ),
    }
    rows = []
    for kind, work in theirs.items():
        with redirect_stdout(sys.stderr):  # it prints what it finds
            peer, table = cpu(work, PEER_REPEATS)
        kinds = tuple(dict.fromkeys(("five", kind)))
        alone, found = cpu(lambda kinds=kinds: searched(raw, kinds, "loss"), PEER_REPEATS)
        whole, made = cpu(lambda kinds=kinds: frame_to_frame(folder, frame, kinds), PEER_REPEATS)
        assert tuple(made.generalization.values()) == found.best
        node = utils.get_transformation(table, list(ADULT_QUASI), trees) if len(table) else None
        rows.append(
            {
                "kind": kind,
                "peer": peer,
                "search": alone,
                "whole": whole,
                "theirs": node,
                "ours": found.best,
                "loss": found.cost,
                "their_loss": loss(raw, node),
            }
        )
    return {"rows": rows}


def frame_to_frame(folder: Path, frame: Any, kinds: Sequence[str]) -> Any:
    """Our call that takes a frame and returns one."""
    import tacit
    from tacit.families.catalog import define

    return tacit.anonymize(
        frame,
        [define(*KINDS[kind]) for kind in kinds],
        quasi_identifiers=ADULT_QUASI,
        sensitive="occupation",
        hierarchies={name: str((folder / f"{name}.csv").resolve()) for name in ADULT_QUASI},
    )


def loss(raw: Any, node: list[int] | None) -> float | None:
    """What a peer's node loses by our measure."""
    from tacit.families.microdata.recoded import generalized
    from tacit.families.microdata.utility.measures import measure

    return (
        None
        if node is None
        else measure("loss").cost(generalized(raw, lattice_of(raw).named(tuple(map(int, node)))))
    )


def main(what: str) -> None:
    folder = adult_folder()
    if folder is None:
        print(
            json.dumps(
                {
                    "skipped": (
                        "Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv"
                    )
                }
            )
        )
        return
    ways = {
        "search": search_alone,
        "anjana": anjana,
        "command": lambda folder: command(folder, "five", "adult-five.csv"),
    }
    print(json.dumps(ways[what](folder)))


if __name__ == "__main__":
    main(*sys.argv[1:])
