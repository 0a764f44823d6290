"""Verdicts about queries as a page and the terminal show them:
small tables of the rows that matter, and of the answers.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.microdata.hierarchy import value_text
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Constant
from tacit.model.verdict import Verdict, subject_text

SOURCE = "Machanavajjhala, Defining and Enforcing Privacy in Data Sharing, 2008"
FRESH = re.compile(r"('|&#39;|)_fresh(\d+)\1")
NEW = "_fresh"  # how values that occur in neither query begin
NO_ROWS = "no rows"
MOST_COLUMNS = 6  # of a table; of wider ones those are left out in which any new value will do
LEFT_OUT = "..."


@dataclass(frozen=True, slots=True)
class MarkedRows:
    """A few rows of a table or an answer;
    `marks` has + for a row that is added, - for one that goes, else nothing.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    marks: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EvidenceSide:
    """What one of the two queries depends on:
    the tables with the row that matters, and its answers without and with it.
    """

    role: str
    name: str
    tables: tuple[MarkedRows, ...]
    without: MarkedRows | None = None
    with_: MarkedRows | None = None


@dataclass(frozen=True, slots=True)
class Disclosure:
    """The evidence that a view says something about a secret.

    `path` has the rows that lead from the one that matters to the secret to the one that matters to
    the view, where these differ: each excludes the next.
    """

    sides: tuple[EvidenceSide, EvidenceSide]
    path: tuple[MarkedRows, ...] = ()
    total: bool = False
    claim: str = ""
    prior: str = ""
    before: Fraction | None = None
    after: Fraction | None = None
    changes: tuple[str, ...] = ()
    new_values: bool = False

    @property
    def left_out(self) -> bool:
        """Are there columns that are not shown?"""
        return any(
            LEFT_OUT in rows.head
            for rows in (*self.path, *(one for side in self.sides for one in side.tables))
        )

    @property
    def takes_away(self) -> bool:
        """Does an answer lose a row?"""
        return any("-" in side.without.marks for side in self.sides if side.without)


@dataclass(frozen=True, slots=True)
class SubgoalPair:
    """Two subgoals that could be one row, and the homomorphism by which one of the queries does
    without that row.
    """

    secret: str
    view: str
    without: str
    mapping: str


def disclosure(verdict: Verdict) -> Disclosure | None:
    """The evidence of a breach between queries as tables; None for any other verdict."""
    if verdict.witness is None or "critical_tuple" not in verdict.witness.facts:
        return None
    facts = verdict.witness.facts
    secret, view = str(verdict.subject["secret"]), str(facts["view"])
    of_view = facts.get("critical_tuple_of_view", facts["critical_tuple"])
    executed, free = facts.get("executed", {}), free_values(facts)
    return Disclosure(
        sides=(
            side(
                "secret",
                secret,
                facts["instance_secret"],
                facts["critical_tuple"],
                executed.get("secret"),
                free,
            ),
            side("view", view, facts["instance_view"], of_view, executed.get("view"), free),
        ),
        path=tables(facts["path"], None, free) if len(facts.get("path", ())) > 2 else (),
        total=facts.get("disclosure") == "total",
        claim=claim_text(secret, facts.get("claim", ())),
        prior=facts.get("prior", ""),
        before=facts.get("before"),
        after=facts.get("after"),
        changes=tuple(facts.get("changes", ())),
        new_values=any(NEW in cell for row in all_rows(facts) for cell in text_row(row["values"])),
    )


def legend(found: Iterable[Disclosure]) -> str:
    """What the marks and the new values mean."""
    marks, gone = (
        "+ marks the row that matters, and what it adds to an answer",
        "; - what it takes away",
    )
    new = " _fresh1, _fresh2, ... stand for any values that occur in neither query."
    wide = " Columns that are left out (...) have such values too."
    asked = list(found)
    marks += (gone if any(one.takes_away for one in asked) else "") + "."
    return (
        marks
        + (new if any(one.new_values for one in asked) else "")
        + (wide if any(one.left_out for one in asked) else "")
    )


def because(verdict: Verdict) -> str:
    """What was found; rows of wide tables in short."""
    return with_short_rows(verdict.because, verdict)


def words(verdict: Verdict) -> str:
    """The story without the changes that would help, which are shown by themselves;
    rows of wide tables in short.
    """
    changes = verdict.witness.facts.get("changes", ()) if verdict.witness else ()
    return with_short_rows(
        (verdict.story or "").removesuffix(f" It would hold if you {' or '.join(changes)}."),
        verdict,
    )


def with_short_rows(text: str, verdict: Verdict) -> str:
    """A text in which rows of wide tables stand with the values that something depends on."""
    facts = verdict.witness.facts if verdict.witness else {}
    if "critical_tuple" not in facts:
        return text
    free = free_values(facts)
    for row in all_rows(facts):
        text = text.replace(str(Fact(row["relation"], tuple(row["values"]))), short_row(row, free))
    return text


def short_row(row: Mapping[str, Any], free: Collection[str]) -> str:
    """A row in words; of a wide table only the values that something
    depends on, with their columns.

    >>> short_row(
    ...     {"relation": "R", "columns": list("abcdefg"), "values": ["x", *["_fresh1"] * 6]},
    ...     {"_fresh1"},
    ... )
    "R(a: 'x', ...)"
    """
    fact = Fact(row["relation"], tuple(row["values"]))
    kept = [
        (column, value)
        for column, value in zip(row["columns"], row["values"], strict=True)
        if value not in free
    ]
    if len(row["columns"]) <= MOST_COLUMNS or len(kept) == len(row["columns"]):
        return str(fact)
    return (
        f"{row['relation']}"
        f"({', '.join([*(f'{column}: {Constant(value)}' for column, value in kept), LEFT_OUT])}"
        ")"
    )


def side(
    role: str,
    name: str,
    instance: Sequence[Mapping[str, Any]],
    critical: Mapping[str, Any],
    executed: Any,
    free: Collection[str] = (),
) -> EvidenceSide:
    """A query, the rows beside which a row matters to it, and what that row does to its answer."""
    if executed is None:
        return EvidenceSide(role, name, tables(instance, critical, free))
    without, with_ = (
        Counter(map(text_row, executed["without"])),
        Counter(map(text_row, executed["with"])),
    )
    return EvidenceSide(
        role,
        name,
        tables(instance, critical, free),
        answer("answer without +", executed["without"], without - with_, "-"),
        answer("answer with +", executed["with"], with_ - without, "+"),
    )


def tables(
    facts: Iterable[Mapping[str, Any]],
    critical: Mapping[str, Any] | None,
    free: Collection[str] = (),
) -> tuple[MarkedRows, ...]:
    """Some rows, table by table; the critical one is marked and comes last, as it is added last."""
    all_facts = [*facts, *([critical] if critical else [])]
    found = []
    for relation in dict.fromkeys(fact["relation"] for fact in all_facts):
        here = [fact for fact in all_facts if fact["relation"] == relation]
        marks = tuple("+" if fact is critical else "" for fact in here)
        head, *rows = narrowed(
            [tuple(here[0]["columns"]), *(text_row(fact["values"]) for fact in here)], free
        )
        found.append(MarkedRows(relation, head, tuple(rows), marks))
    return tuple(found)


def narrowed(rows: list[tuple[str, ...]], free: Collection[str]) -> list[tuple[str, ...]]:
    """A wide table, its head first, without the columns that have free values only.

    >>> narrowed(
    ...     [tuple("abcdefg"), ("x", *(f"_fresh{number}" for number in range(6)))],
    ...     {f"_fresh{number}" for number in range(1, 6)},
    ... )
    [('a', 'b', '...'), ('x', '_fresh0', '...')]
    """
    kept = [at for at in range(len(rows[0])) if not all(row[at] in free for row in rows[1:])]
    if len(rows[0]) <= MOST_COLUMNS or len(kept) == len(rows[0]):
        return rows
    return [(*(row[at] for at in kept), LEFT_OUT) for row in rows]


def free_values(facts: Mapping[str, Any]) -> set[str]:
    """New values that stand in one place only: nothing depends on them."""
    distinct = {(row["relation"], text_row(row["values"])) for row in all_rows(facts)}
    seen = Counter(value for _, values in distinct for value in values)
    answers = [
        row for one in facts.get("executed", {}).values() for rows in one.values() for row in rows
    ]
    shown = {value for row in (*answers, facts.get("claim", ())) for value in text_row(row)}
    return {
        value
        for value, times in seen.items()
        if value.startswith(NEW) and times == 1 and value not in shown
    }


def answer(
    caption: str, rows: Sequence[Sequence[Any]], differ: Counter[tuple[str, ...]], mark: str
) -> MarkedRows:
    """The answer of a query; rows that the other answer does not have are marked."""
    left, texts, marks = differ.copy(), [text_row(row) for row in rows], []
    for row in texts:
        marks.append(mark if left[row] > 0 else "")
        left[row] -= 1
    return (
        MarkedRows(caption, (), tuple(texts), tuple(marks))
        if texts
        else MarkedRows(caption, (), ((NO_ROWS,),), ("",))
    )


def text_row(values: Iterable[Any]) -> tuple[str, ...]:
    """A row in words.

    >>> text_row(["_fresh1", 3, None, ""])
    ('_fresh1', '3', 'NULL', "''")
    """
    return tuple("NULL" if value is None else value_text(value) or "''" for value in values)


def value_words(text: str) -> str:
    """A text for people in which new values are words. Evidence and command line keep them as they
    are, since that is how they are replayed.

    >>> value_words("the row stays('_fresh1', 'cancer', '_fresh2')")
    "the row stays(value 1, 'cancer', value 2)"
    """
    return FRESH.sub(r"value \2", text)


def claim_text(secret: str, claim: Sequence[Any]) -> str:
    """What is believed.

    >>> claim_text("cancer", ["Ann"]), claim_text("cancer", [])
    ('cancer has the row (Ann)', 'cancer is true')
    """
    return f"{secret} has the row ({', '.join(text_row(claim))})" if claim else f"{secret} is true"


def all_rows(facts: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """All rows of a witness."""
    rows = [
        facts["critical_tuple"],
        *facts["instance_secret"],
        *facts["instance_view"],
        *facts.get("path", ()),
    ]
    return rows + ([facts["critical_tuple_of_view"]] if "critical_tuple_of_view" in facts else [])


def subgoal_pairs(verdict: Verdict) -> list[SubgoalPair]:
    """Why it holds, pair by pair; nothing where no two subgoals can be one row."""
    if verdict.certificate is None:
        return []
    secret = str(verdict.subject["secret"])
    found = []
    for pair in verdict.certificate.facts.get("pairs", ()):
        view = pair["of"] if isinstance(pair["of"], str) else "a view"
        moved = ", ".join(
            f"{one} -> {image}" for one, image in pair["homomorphism"].items() if one != image
        )
        more = f", and {pair['further']} more" if pair["further"] else ""
        found.append(
            SubgoalPair(
                pair["secret"],
                pair["view"],
                secret if pair["absorbed_by"] == "secret" else view,
                (moved or "as it is") + more,
            )
        )
    return found


def classes_text(verdict: Verdict) -> str:
    """The query classes and the bound on the work, in a line, with the source."""
    classes = verdict.measured.get("class")
    if not classes:
        return ""
    names = {"secret": verdict.subject["secret"], "view": subject_text(verdict.subject)}
    found = [
        f"Query classes of {names[role]}: {', '.join(classes[role])}"
        for role in ("secret", "view")
        if classes[role]
    ]
    if len(found) == 2 and classes["secret"] == classes["view"]:
        found = [f"Query classes of both: {', '.join(classes['view'])}"]
    if "bound" in verdict.measured:
        theorem = verdict.measured["theorem"]
        of = "" if " is " in theorem else f" of {SOURCE}"
        found.append(
            "How the work grows with the number of tables in both queries (n) and of columns (r): "
            f"{verdict.measured['bound']} ({theorem}{of})"
        )
    return ". ".join([*found, ""]).strip()
