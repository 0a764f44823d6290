"""How SQL that others wrote is read, and how strict perfect privacy
is between pairs of such queries.

    python -m benchmarks.sql_corpus FOLDER [--pairs] [--seconds 0.5]

FOLDER is the unpacked source distribution of sqlglot, whose tests hold TPC-H, TPC-DS and a few
hundred small queries with their schemas. Other folders with *.sql files may follow: they have no
schema, so every table and column is taken to exist (the test is that each file is read or refused
with a code).
"""

from __future__ import annotations

import argparse
import ast
import random
import re
import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.errors import QueryError
from tacit.families.queries.query import Query, Relation, Relations
from tacit.families.queries.read import read
from tacit.families.queries.understanding import QueryUnderstanding

KINDS = {
    "bigint": "integer",
    "int": "integer",
    "integer": "integer",
    "double": "decimal",
    "decimal": "decimal",
    "float": "decimal",
    "string": "text",
    "text": "text",
    "varchar": "text",
    "char": "text",
    "date": "date",
    "datetime": "timestamp",
    "timestamp": "timestamp",
    "boolean": "boolean",
}
OPTIMIZER = (
    "eliminate_ctes",
    "eliminate_joins",
    "eliminate_subqueries",
    "isolate_table_selects",
    "merge_subqueries",
    "optimize_joins",
    "optimizer",
    "pushdown_cte_alias_columns",
    "pushdown_predicates",
    "pushdown_projections",
    "qualify_columns",
    "unnest_subqueries",
)


@dataclass(frozen=True)
class Corpus:
    """Queries of one origin with their schema;
    without one, tables are made up as they are named.
    """

    name: str
    queries: tuple[str, ...]
    relations: Relations | None
    judged: bool = False  # the schema fits every query, so that pairs of them can be judged


def relations_from(schema: Mapping[str, Mapping[str, Any]], nullable: bool) -> Relations:
    """Relations from sqlglot's way to write a schema."""
    found = {}
    for name, columns in schema.items():
        kinds = {}
        for column, kind in columns.items():
            known = KINDS.get(re.split(r"[(<]", str(kind).lower())[0].strip())
            if known:
                kinds[column] = known
        missing = frozenset(columns) if nullable else frozenset()
        found[name] = Relation(name, tuple(columns), nullable=missing, kinds=kinds)
    return found


def statements(path: Path) -> list[str]:
    """The statements of a fixture, without comments."""
    text = "\n".join(
        line for line in path.read_text("utf-8").split("\n") if not re.match(r"\s*(#|--)", line)
    )
    return [one.strip() for one in text.split(";") if one.strip()]


def assigned(path: Path, name: str) -> Any:
    """A dictionary that a Python file assigns to a name or attribute, its constants only."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == name
            and isinstance(node.value, ast.Dict)
        ):
            return plain(node.value)
    raise SystemExit(f"{path} has no {name}")


def plain(node: ast.expr) -> Any:
    if isinstance(node, ast.Dict):
        return {
            plain(key): plain(value)
            for key, value in zip(node.keys, node.values, strict=True)
            if key is not None
        }
    return node.value if isinstance(node, ast.Constant) else "unknown"


def sqlglot_corpora(folder: Path) -> Iterator[Corpus]:
    """What sqlglot's tests hold; each fixture is a query followed by its
    rewriting, and we take the first.
    """
    tests = folder / "tests"
    fixtures = tests / "fixtures" / "optimizer"
    for name, constant in (("tpc-h", "TPCH_SCHEMA"), ("tpc-ds", "TPCDS_SCHEMA")):
        found = statements(fixtures / name / f"{name}.sql")[::2]
        yield Corpus(
            name.upper(),
            tuple(found),
            relations_from(assigned(tests / "helpers.py", constant), False),
            True,
        )
    schema = relations_from(assigned(tests / "test_optimizer.py", "self.schema"), True)
    small = [one for name in OPTIMIZER for one in statements(fixtures / f"{name}.sql")]
    yield Corpus("optimizer fixtures", tuple(dict.fromkeys(small)), schema)
    lines = (tests / "fixtures" / "identity.sql").read_text("utf-8").split("\n")
    yield Corpus("identity fixtures", tuple(line for line in lines if line.strip()), None)


def loose_files(folder: Path) -> Corpus:
    """Every *.sql file below a folder, statement by statement."""
    found = [one for path in sorted(folder.rglob("*.sql")) for one in statements_of_any(path)]
    return Corpus(folder.name, tuple(dict.fromkeys(found)), None)


def statements_of_any(path: Path) -> list[str]:
    try:
        return statements(path)
    except UnicodeDecodeError:
        return []


def made_up(sql: str) -> Relations:
    """Relations for a query without a schema: every table has every column that the query names."""
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        trees = [one for one in sqlglot.parse(sql, read="duckdb") if one is not None]
    except (SqlglotError, RecursionError):
        return {}
    names = dict.fromkeys(
        column.name for tree in trees for column in tree.find_all(exp.Column) if column.name != "*"
    )
    tables = {
        ".".join(part.name for part in table.parts[-2:])
        for tree in trees
        for table in tree.find_all(exp.Table)
        if table.name
    }
    owned = {
        name: [
            c.name
            for tree in trees
            for c in tree.find_all(exp.Column)
            if c.table == name.split(".")[-1]
        ]
        for name in tables
    }
    if len(tables) == 1:
        return {name: Relation(name, tuple(names) or ("a",)) for name in tables}
    return {name: Relation(name, tuple(dict.fromkeys(owned[name])) or ("a",)) for name in tables}


@dataclass
class Outcome:
    """How the queries of a corpus were read."""

    readings: list[QueryUnderstanding]
    shared: list[Query]  # those read exactly by the schema of the corpus
    counts: Counter[str]
    codes: Counter[str]
    refused: Counter[str]
    seconds: float


def examined(corpus: Corpus) -> Outcome:
    outcome = Outcome([], [], Counter(), Counter(), Counter(), 0.0)
    begun = time.perf_counter()
    for number, sql in enumerate(corpus.queries, 1):
        relations = made_up(sql) if corpus.relations is None else corpus.relations
        fits = corpus.relations is not None
        try:
            try:
                reading = read(sql, relations, name=f"q{number}")
            except QueryError as error:
                if corpus.judged or error.code not in ("unknown-table", "unknown-column"):
                    raise
                fits, reading = (
                    False,
                    read(sql, made_up(sql), name=f"q{number}"),
                )  # some fixtures bring no schema
        except QueryError as error:
            outcome.counts["refused"] += 1
            if "--why" in sys.argv:
                print(f"{corpus.name} q{number}: {error.code}: {error.message}")
            outcome.refused[error.code] += 1
            continue
        outcome.readings.append(reading)
        if reading.exact is not None:
            outcome.shared += [reading.exact] if fits else []
            outcome.counts["exact, as a bag" if reading.exact.bag else "exact, as a set"] += 1
        else:
            outcome.counts["by supports"] += 1
            outcome.codes.update({one.code for one in reading.approximations})
    outcome.seconds = time.perf_counter() - begun
    return outcome


def show(corpus: Corpus, outcome: Outcome) -> None:
    counts = outcome.counts
    exact = counts["exact, as a bag"] + counts["exact, as a set"]
    print(
        f"| {corpus.name} | {len(corpus.queries)} | {exact} | {counts['by supports']} | "
        f"{counts['refused']} | {1000 * outcome.seconds / max(len(corpus.queries), 1):.1f} ms |"
    )


def show_codes(corpora: list[tuple[Corpus, Outcome]]) -> None:
    for title, which in (("approximated", "codes"), ("refused", "refused")):
        for corpus, outcome in corpora:
            found = ", ".join(
                f"{code} {count}" for code, count in getattr(outcome, which).most_common()
            )
            print(f"{corpus.name}, {title}: {found or 'none'}")


def pairs(corpus: Corpus, outcome: Outcome, seconds: float, most: float) -> Counter[str]:
    """Each query as the secret and each other one as the view:
    private, disclosed, maybe, or not decided.
    """
    from tacit.families.queries.logic.critical import Disclosed, NotDecided, judge

    assert corpus.relations is not None
    found: Counter[str] = Counter()
    ends = time.perf_counter() + most
    asked = [
        (secret, view)
        for secret in outcome.readings
        for view in outcome.readings
        if secret is not view
    ]
    random.Random(0).shuffle(asked)  # what is left out for lack of time is left out at random
    for secret, view in asked:
        if time.perf_counter() > ends:
            found["not asked"] += 1
            continue
        verdict = judge(secret.enclosed, [view.enclosed], corpus.relations, seconds=seconds)
        if isinstance(verdict, Disclosed):
            found["disclosed" if secret.is_exact and view.is_exact else "maybe"] += 1
        else:
            found["not decided" if isinstance(verdict, NotDecided) else "private"] += 1
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, nargs="?")
    parser.add_argument("more", type=Path, nargs="*")
    parser.add_argument("--pairs", action="store_true", help="also judge all pairs")
    parser.add_argument("--why", action="store_true", help="print every refusal")
    parser.add_argument("--seconds", type=float, default=0.5, help="limit for each pair")
    parser.add_argument("--most", type=float, default=300, help="limit for all pairs of a corpus")
    given = parser.parse_args()
    if given.folder is None or not (given.folder / "tests" / "fixtures" / "optimizer").is_dir():
        print(
            "skipped: give the folder of sqlglot's unpacked source distribution "
            "(pip download --no-deps --no-binary :all: sqlglot)",
            file=sys.stderr,
        )
        return
    corpora = [*sqlglot_corpora(given.folder), *map(loose_files, given.more)]
    print("| queries | number | exact | by supports | refused | time each |")
    print("|---|---|---|---|---|---|")
    done = []
    for corpus in corpora:
        outcome = examined(corpus)
        show(corpus, outcome)
        done.append((corpus, outcome))
    show_codes(done)
    if given.pairs:
        for corpus, outcome in done:
            if corpus.judged:
                found = pairs(corpus, outcome, given.seconds, given.most)
                shown = ", ".join(f"{word} {count}" for word, count in found.most_common())
                print(f"{corpus.name}, {sum(found.values())} pairs: {shown}")


if __name__ == "__main__":
    main()
