"""Grow the conference: a plan of any size, with CSV files, or the question itself for a benchmark.

python examples/conference/generate.py FOLDER [--kind whole|separate|groups|program] [--reviewers
40] [--papers 50]
    [--subcommittees 8] [--seed 1] [--safe] [--counted]
"""

from __future__ import annotations

import argparse
import csv
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tacit.families.worlds.world_setting import WorldSetting

Rows = tuple[tuple[str, ...], ...]
COLUMNS = {
    "RS": ("reviewer", "subcom"),
    "SP": ("subcom", "paper"),
    "RP": ("reviewer", "paper"),
    "NEXT": ("paper", "following"),
}
CONSTRAINTS = (
    "RP[reviewer] in RS[reviewer]",
    "RP[paper] in SP[paper]",
    "RP(r, p) -> RS(r, c), SP(c, p)",
    "SP[subcom] in RS[subcom]",
)
TWO_REVIEWERS = (
    "RP(a, p), RP(b, p), RP(r, p), a != b -> r = a | r = b",
    "SP(c, p) -> RP(a, p), RP(b, p), a != b",
)
VIEWS = {
    "who": "V(r) :- RS(r, c)",
    "subcommittees": "V(c) :- RS(r, c)",
    "papers": "V(p) :- SP(c, p)",
    "active": "V(r) :- RP(r, p)",
    "rs": "V(r, c) :- RS(r, c)",
    "sp": "V(c, p) :- SP(c, p)",
    "at-home": "V(r) :- RP(r, p), RS(r, c), SP(c, p)",
    "second": "V(r) :- RP(r, p), SP('c2', p)",
    "shared": "V(p, q) :- RP(r, p), RP(r, q), p != q",
    "program": "V(p, q) :- NEXT(p, q)",
    "neighbours": "V(p, q) :- NEXT(p, q), RP(r, p), RP(r, q)",
}
KINDS = {
    "whole": (
        "Who serves and what was submitted is published; is the list of subcommittees safe, or "
        "(--safe) who has reviewed for their own?"
    ),
    "separate": (
        "The subcommittees are published; would the reviewers of another subcommittee's papers say "
        "anything of the first paper?"
    ),
    "groups": "Every paper has two reviewers; would it be safe to say which papers share one?",
    "program": "The same of papers that follow each other in the program.",
}


@dataclass(frozen=True, slots=True)
class Conference:
    """A conference and a question about it, in the words of a plan."""

    tables: Mapping[str, Rows]
    constraints: tuple[str, ...]
    secret: str
    published: tuple[str, ...]
    new: tuple[str, ...]

    def setting(self) -> WorldSetting:
        """The question as the engine of view safety takes it."""
        from dataclasses import replace

        from tacit.families.queries.datalog.dependencies import read_constraint
        from tacit.families.queries.facts import Fact
        from tacit.families.queries.query import Relation
        from tacit.families.queries.read import read
        from tacit.families.worlds.world_setting import PublishedView, WorldSetting
        from tacit.families.worlds.worlds import answer

        relations = {
            name: Relation(name, COLUMNS[name], kinds=dict.fromkeys(COLUMNS[name], "text"))
            for name in self.tables
        }
        queries = {
            name: read(text, relations, name=name).exact
            for name, text in {**VIEWS, "secret": self.secret}.items()
            if self._has(text)
        }
        known = tuple(one for text in self.constraints for one in read_constraint(text, relations))
        facts = frozenset(Fact(name, row) for name, rows in self.tables.items() for row in rows)
        setting = WorldSetting(relations, known, (), (), queries["secret"], instance=facts)
        seen = {
            name: PublishedView(queries[name], answer(queries[name], setting))
            for name in (*self.published, *self.new)
        }
        return replace(
            setting,
            published=tuple(seen[name] for name in self.published),
            new=tuple(seen[name] for name in self.new),
        )

    def _has(self, text: str) -> bool:
        """Are all tables of a query here?"""
        return "NEXT" not in text or "NEXT" in self.tables

    def write(self, folder: Path, checks: Sequence[str] = ("g-safety", "e-safety")) -> None:
        """The plan and its tables as files."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, rows in self.tables.items():
            with (folder / f"{name}.csv").open("w", newline="", encoding="utf-8") as file:
                csv.writer(file).writerows([COLUMNS[name], *rows])
        (folder / "tacit.yaml").write_text(self.plan(checks), "utf-8")

    def plan(self, checks: Sequence[str]) -> str:
        """The text of the plan."""
        lines = ["version: 1", "tables:"]
        lines += [
            (
                f"  {name}: {{file: {name}.csv, columns: "
                f"{{{', '.join(f'{one}: text' for one in COLUMNS[name])}}}, nullable: []}}"
            )
            for name in self.tables
        ]
        lines += ["constraints:", *(f"  - {text}" for text in self.constraints)]
        lines += ["secrets:", f'  reviewers: "{self.secret}"', "releases:"]
        lines += [f'  {name}: {{query: "{VIEWS[name]}"}}' for name in (*self.published, *self.new)]
        lines += [f"published: [{', '.join(self.published)}]", "checks:"]
        lines += [
            f"  - {check}: {{secret: reviewers, release: [{', '.join(self.new)}]}}"
            for check in checks
        ]
        return "\n".join(lines) + "\n"


def conference(
    reviewers: int,
    papers: int,
    subcommittees: int,
    *,
    kind: str = "whole",
    safe: bool = False,
    counted: bool = False,
    seed: int = 1,
) -> Conference:
    """A conference of some size.

    `whole` publishes reviewers, subcommittees and papers: every reviewer may serve anywhere and
    review any paper. The new view says who serves where, or with `safe` something that follows from
    the constraints. The other kinds publish all of RS and SP, so that only reviewers of a paper's
    own subcommittee may have reviewed it. With `counted` every paper has two reviewers.
    """
    counted = counted or kind in ("groups", "program")
    if reviewers < 2 * subcommittees or papers < subcommittees or subcommittees < 2:
        raise SystemExit("Use at least two subcommittees, with two reviewers and a paper for each.")
    rng = random.Random(seed)
    names = {
        letter: [f"{letter}{number}" for number in range(1, many + 1)]
        for letter, many in (("r", reviewers), ("p", papers), ("c", subcommittees))
    }
    serves = {c: names["r"][at::subcommittees] for at, c in enumerate(names["c"])}
    handles = {c: names["p"][at::subcommittees] for at, c in enumerate(names["c"])}
    reviewed = sorted(
        (r, p)
        for c, mine in handles.items()
        for p in mine
        for r in _chosen(serves[c], counted, rng)
    )
    tables: dict[str, Rows] = {
        "RS": tuple((r, c) for c, mine in serves.items() for r in mine),
        "SP": tuple((c, p) for c, mine in handles.items() for p in mine),
        "RP": tuple(reviewed),
    }
    if kind == "program":
        tables["NEXT"] = tuple(step for mine in handles.values() for step in pairwise(mine))
    constraints = (*CONSTRAINTS, *(TWO_REVIEWERS if counted else ()))
    first = [mine[0] for mine in handles.values()]
    secret = "; ".join(
        f"S(r) :- RP(r, '{p}')" for p in (first if kind in ("groups", "program") else first[:1])
    )
    published, new = {
        "whole": (
            ("who", "subcommittees", "papers", "active"),
            ("at-home",) if safe else ("rs", "sp"),
        ),
        "separate": (("rs", "sp"), ("second",)),
        "groups": (("rs", "sp"), ("shared",)),
        "program": (("rs", "sp", "program"), ("neighbours",)),
    }[kind]
    return Conference(tables, constraints, secret, published, new)


def _chosen(serving: Sequence[str], counted: bool, rng: random.Random) -> list[str]:
    """The reviewers of a paper."""
    return rng.sample(serving, 2 if counted else rng.randint(1, min(3, len(serving))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=" ".join(f"{kind}: {text}" for kind, text in KINDS.items()),
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kind", choices=KINDS, default="whole")
    for name, usual in (("reviewers", 40), ("papers", 50), ("subcommittees", 8), ("seed", 1)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    parser.add_argument(
        "--safe",
        action="store_true",
        help="whole: ask about a view that follows from the constraints",
    )
    parser.add_argument(
        "--counted", action="store_true", help="every paper has exactly two reviewers"
    )
    given = vars(parser.parse_args())
    conference(**{name: value for name, value in given.items() if name != "folder"}).write(
        given["folder"]
    )


if __name__ == "__main__":
    main()
