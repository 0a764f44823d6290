"""Generate statements, judge each, and print what was covered:
`python -m sql_shapes --statements 20000 --seed 1`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import services
from sql_shapes.databases import databases
from sql_shapes.judging import Bench, Defect
from sql_shapes.minimising import minimised
from sql_shapes.queries import writer
from sql_shapes.schemas import SCHEMAS
from sql_shapes.tally import Tally

SHARE = 10  # with PostgreSQL one statement in so many goes there
NAMES = (*SCHEMAS, *("two", "crossed") * 4)  # mostly the smallest
ON_POSTGRES = ("two", "crossed", "words", "nulls", "keyed")


def main() -> int:
    """Run, print, and say by the exit status whether anything is wrong."""
    asked = arguments()
    tally = Tally()
    begun = time.monotonic()
    with (
        tempfile.TemporaryDirectory() as folder,
        maybe_postgres(asked.postgres) as server,
        closing(Benches(Path(folder), server)) as benches,
    ):
        for number in range(asked.first, asked.first + asked.statements):
            if asked.seconds and time.monotonic() - begun > asked.seconds:
                break
            bench, name, postgres = benches.at(number)
            made = writer(f"{asked.seed} {number}", SCHEMAS[name], postgres=postgres)
            sql = made.statement()
            if asked.print:
                print(f"{number} {name}: {sql}", flush=True)
            outcome = bench.statement(sql)
            tally.add(made, outcome)
            for defect in outcome.defects:
                print(
                    "\n"
                    f"{defect.kind}: seed {asked.seed}, number {number}, schema "
                    f"{name}{', PostgreSQL' if postgres else ''}\n"
                    f"  {defect.sql}\n"
                    f"  {defect.about}",
                    flush=True,
                )
                print(f"  shorter: {shorter(bench, defect)}", flush=True)
    print(tally.said(time.monotonic() - begun))
    return 1 if tally.defects else 0


def shorter(bench: Bench, defect: Defect) -> str:
    """As short a statement as has the same defect."""
    return minimised(
        defect.sql,
        lambda sql: any(
            one.kind == defect.kind for one in bench.statement(sql, list(bench.secrets)).defects
        ),
        bench.dialect,
    )


def arguments() -> argparse.Namespace:
    """What is asked on the command line."""
    parser = argparse.ArgumentParser(prog="python -m sql_shapes", description=__doc__)
    parser.add_argument(
        "--statements", type=int, default=1000, help="how many statements (default: 1000)"
    )
    parser.add_argument("--seed", default="1", help="another seed, other statements (default: 1)")
    parser.add_argument(
        "--first", type=int, default=0, help="the number of the first statement, to run one again"
    )
    parser.add_argument("--seconds", type=float, default=0, help="stop after so many seconds")
    parser.add_argument(
        "--postgres", action="store_true", help=f"one statement in {SHARE} runs on PostgreSQL"
    )
    parser.add_argument("--print", action="store_true", help="print each statement before it runs")
    return parser.parse_args()


@contextmanager
def maybe_postgres(wanted: bool) -> Iterator[str | None]:
    """A PostgreSQL server, where one is asked for and found."""
    with ExitStack() as stack:
        server = None
        if wanted:
            try:
                server = stack.enter_context(services.postgres())
            except services.UnavailableError as reason:
                print(f"{reason}; all statements run on DuckDB")
        yield server


class Benches:
    """A bench for each schema, made when first asked for."""

    def __init__(self, folder: Path, server: str | None) -> None:
        self.folder, self.server = folder, server
        self._made: dict[tuple[str, bool, bool], Bench] = {}
        self._open = ExitStack()  # databases of PostgreSQL, kept while they are used

    def close(self) -> None:
        """Leave PostgreSQL."""
        self._open.close()

    def at(self, number: int) -> tuple[Bench, str, bool]:
        """The bench for a statement by its number, its schema, and whether it is PostgreSQL's."""
        postgres = self.server is not None and number % SHARE == SHARE - 1
        names = ON_POSTGRES if postgres else NAMES
        name = names[(number // SHARE if postgres else number) % len(names)]
        return self.bench(name, closed=number % 3 > 0, postgres=postgres), name, postgres

    def bench(self, name: str, *, closed: bool, postgres: bool = False) -> Bench:
        """The bench of a schema with closed or open domains."""
        key = name, closed, postgres
        if key not in self._made:
            same = next(
                (
                    bench.lab
                    for (other, _, on), bench in self._made.items()
                    if (other, on) == (name, postgres)
                ),
                None,
            )
            url = self._postgres(name) if postgres else None
            lab = same or databases(SCHEMAS[name], url)
            self._made[key] = Bench(
                SCHEMAS[name],
                lab,
                self.folder / f"{name}{closed}{postgres}",
                closed=closed,
                url=url,
            )
        return self._made[key]

    def _postgres(self, name: str) -> str:
        import psycopg

        assert self.server is not None
        url = self._open.enter_context(services.database(self.server))
        with psycopg.connect(url, autocommit=True) as owner:
            for table in SCHEMAS[name].tables:
                columns = ", ".join(f'"{column.name}" {column.type}' for column in table.columns)
                owner.execute(f'CREATE TABLE "{table.name}" ({columns})')
        return url


if __name__ == "__main__":
    sys.exit(main())
