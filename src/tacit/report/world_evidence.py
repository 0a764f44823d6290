"""Verdicts about possible worlds as a page and the terminal show them:
two databases side by side, two secrets and their odds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.families.words import listed, plural
from tacit.model.verdict import Verdict
from tacit.report.query_evidence import NEW, NO_ROWS, MarkedRows, text_row

MOST_ROWS = 10  # of a table that differ
BESIDE = 3  # rows of a table that are the same in both databases and are shown beside those
MOST_IN_SECRET = 6
YES, NO, EMPTY = "yes", "no", "the empty answer"

Facts = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Database:
    """One of two databases: its tables where they differ, and the secret's answer on it."""

    title: str
    tables: tuple[MarkedRows, ...]
    answer: MarkedRows | None = None


@dataclass(frozen=True, slots=True)
class Odds:
    """Two secrets with their numbers of worlds;
    `before` and `after` are the shares of the first among both.
    """

    secrets: MarkedRows
    before: Fraction | None = None
    after: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What changes with a new view. `same` names tables in which the databases do not differ,
    `more` has further answers of the secret.
    """

    databases: tuple[Database, ...] = ()
    same: str = ""
    odds: Odds | None = None
    more: tuple[MarkedRows, ...] = ()
    made_up: bool = False
    new_values: bool = False


def is_fictional(verdict: Verdict) -> bool:
    """Has the verdict nothing from the owner's rows? Over domains and all databases, if no
    parameter took its value from the data.
    """
    return verdict.scope != "this data" and not parameters(verdict)


def title(verdict: Verdict, owner: bool = False) -> str:
    """What was asked: about worlds also for which value of the secret's parameters, and against
    whom if not everybody.
    """
    rest = verdict.label.removeprefix(verdict.check)
    values = (
        ", ".join(
            f"${name} = {text_row([value])[0]}" for name, value in parameters(verdict).items()
        )
        if owner
        else ""
    )
    who = listed([one.partition(" who ")[0] for one in verdict.against.split("; ")])
    against = f" against {who}" if who not in ("", "anyone") else ""
    return (
        f"{verdict.check} of "
        f"{verdict.subject['secret']}{f' for {values}' if values else ''}{rest}{against}"
    )


def parameters(verdict: Verdict) -> Mapping[str, Any]:
    """The values of the secret's parameters."""
    shown = verdict.witness or verdict.certificate
    return shown.personal.get("parameters", {}) if shown else {}


def story(verdict: Verdict, owner: bool) -> str:
    """What happened, in words, for the owner."""
    return (verdict.story or "") if owner else ""


def counts(verdict: Verdict) -> list[tuple[str, int, int]]:
    """What was counted before and after: databases, plausible secrets."""
    found = [
        (word, verdict.measured.get(f"{key}_before"), verdict.measured.get(f"{key}_after"))
        for word, key in (("database", "worlds"), ("secret", "secrets"))
    ]
    return [
        (word, before, after)
        for word, before, after in found
        if before is not None and after is not None
    ]


def counted(verdict: Verdict) -> str:
    """What was counted, in a line."""
    return counts_text(counts(verdict))


def counts_text(numbers: Iterable[tuple[str, int, int]]) -> str:
    """Numbers before and after.

    >>> counts_text([("database", 2559, 4), ("secret", 16, 1)])
    '2,559 -> 4 databases, 16 -> 1 secret'
    """
    return ", ".join(f"{before:,} -> {plural(word, after)}" for word, before, after in numbers)


def measured(verdict: Verdict) -> str:
    """What was measured, in a line."""
    equal = verdict.measured.get("worlds_equal")
    same = (
        []
        if equal is None
        else ["the same databases are possible" if equal else "not the same databases are possible"]
    )
    fresh = verdict.measured.get("fresh")
    return "; ".join(
        [
            *same,
            *([counted(verdict)] if counts(verdict) else []),
            *([plural("unseen value", fresh)] if fresh else []),
        ]
    )


def databases_text(verdict: Verdict) -> str:
    """About which databases it was asked."""
    over = str(verdict.required.get("over", "instance"))
    return {
        "instance": "about these data",
        "domain": "about every database over the domains",
        "all": "about every database",
    }.get(over, over)


def reasons(verdict: Verdict) -> list[str]:
    """Why it holds, beyond the sentence: how the new is computed from the old."""
    return list(verdict.certificate.facts.get("rewriting", ())) if verdict.certificate else []


def evidence(verdict: Verdict, owner: bool) -> Evidence | None:
    """The evidence of a breach as tables;
    None for any other verdict, and where all of it is personal.
    """
    witness = verdict.witness
    if witness is None or not (owner or is_fictional(verdict)):
        return None
    facts = {**witness.facts, **witness.personal}
    if witness.kind == "world" and "world" in facts:
        return _ruled_out(facts, verdict)
    if witness.kind == "secrets" and "secrets" in facts:
        return _moved(facts, verdict)
    return None


def legend(found: Iterable[Evidence]) -> str:
    """What the marks and the new values mean."""
    asked = list(found)
    texts = []
    if any(len(one.databases) > 1 for one in asked):
        texts.append(
            "- marks rows that only the database on the left has, + rows that only the one has "
            "that is ruled out."
        )
    if any(one.odds and "-" in one.odds.secrets.marks for one in asked):
        texts.append("- before a secret: it was plausible and no longer is.")
    if any(one.new_values for one in asked):
        texts.append("_fresh1, _fresh2, ... stand for any other value.")
    return " ".join(texts)


# -- a world that is ruled out ---------------------------------------------------------------------


def _ruled_out(facts: Mapping[str, Any], verdict: Verdict) -> Evidence:
    world, made_up = facts["world"], "instance" in facts
    data = facts["instance"] if made_up else _data(facts)
    boolean = any(
        () in _answers(facts[key])
        for key in ("secret", "secret_in_world", "other_secret")
        if key in facts
    )
    right = f"was possible, is ruled out by {_news(facts, verdict)}"
    asked = f"answer of {verdict.subject['secret']}"
    if data is None:
        tables = tuple(_table(name, world, (), "") for name in _relations(world))
        return Evidence(
            (Database(right, tables, _answer(asked, facts["secret_in_world"], (), "", boolean)),),
            new_values=_has_new(world),
        )
    differing = [name for name in _relations(world, data) if _of(world, name) != _of(data, name)]
    shown = _relations(world, data) if made_up else differing
    left_secret, right_secret = facts.get("secret", ()), facts["secret_in_world"]
    sides = (
        Database(
            "a database" if made_up else "the data",
            tuple(_table(name, data, world, "-") for name in shown),
            _answer(asked, left_secret, right_secret, "-", boolean),
        ),
        Database(
            right,
            tuple(_table(name, world, data, "+") for name in shown),
            _answer(asked, right_secret, left_secret, "+", boolean),
        ),
    )
    same = [
        f"{name} ({plural('row', len(_of(world, name)))})"
        for name in _relations(world, data)
        if name not in shown
    ]
    more = (
        (
            _answer(
                f"{asked} in another possible database",
                facts["other_secret"],
                left_secret,
                "+",
                boolean,
            ),
        )
        if "other_secret" in facts
        else ()
    )
    return Evidence(
        sides, listed(same), more=more, made_up=made_up, new_values=_has_new(world, data)
    )


def _news(facts: Mapping[str, Any], verdict: Verdict) -> str:
    """What rules it out: of several releases those that this adversary sees."""
    names = facts.get("new") or verdict.subject.get("releases") or [verdict.subject["release"]]
    return listed(list(names)) if "new" in facts or len(names) == 1 else "what is new"


def _data(facts: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """The data: the world without what is added and with what is removed;
    None where they are not known.
    """
    if "added" not in facts or "removed" not in facts:
        return None
    added = {_key(fact) for fact in facts["added"]}
    return [*(fact for fact in facts["world"] if _key(fact) not in added), *facts["removed"]]


def _key(fact: Mapping[str, Any]) -> tuple[Any, ...]:
    return fact["relation"], text_row(fact["values"])


def _relations(*databases: Facts) -> list[str]:
    return list(dict.fromkeys(fact["relation"] for facts in databases for fact in facts))


def _of(facts: Facts, relation: str) -> set[tuple[str, ...]]:
    return {text_row(fact["values"]) for fact in facts if fact["relation"] == relation}


def _has_new(*databases: Facts) -> bool:
    return any(
        cell.startswith(NEW)
        for facts in databases
        for fact in facts
        for cell in text_row(fact["values"])
    )


def _table(relation: str, here: Facts, there: Facts, mark: str) -> MarkedRows:
    """A table of one database; rows that the other does not have are marked.
    Of large tables only these are shown, and a few others.
    """
    head = next(tuple(fact["columns"]) for fact in (*here, *there) if fact["relation"] == relation)
    other = _of(there, relation)
    rows = sorted(_of(here, relation))
    marked = [row for row in rows if mark and row not in other]
    same = [row for row in rows if not mark or row in other]
    many = len(rows) > MOST_ROWS
    kept = {*marked[:MOST_ROWS], *(same[:BESIDE] if many and mark else same[:MOST_ROWS])}
    found = [(row, mark if row in marked else "") for row in rows if row in kept]
    left = len(rows) - len(kept)
    lines = [row for row, _ in found] + ([_rest(left, len(head))] if left else [])
    marks = [one for _, one in found] + ([""] if left else [])
    return (
        MarkedRows(relation, head, tuple(lines), tuple(marks))
        if lines
        else MarkedRows(relation, head, (_padded(NO_ROWS, len(head)),), ("",))
    )


def _rest(number: int, wide: int) -> tuple[str, ...]:
    return _padded(f"and {number:,} more", wide)


def _padded(text: str, wide: int) -> tuple[str, ...]:
    return (text, *([""] * (wide - 1)))


# -- answers of the secret -------------------------------------------------------------------------


def _answers(rows: Iterable[Sequence[Any]]) -> list[tuple[str, ...]]:
    return sorted(text_row(row) for row in rows)


def _answer(
    caption: str,
    rows: Iterable[Sequence[Any]],
    others: Iterable[Sequence[Any]],
    mark: str,
    boolean: bool,
) -> MarkedRows:
    """The secret's answer; rows that the other answer does not have are marked."""
    mine, other = _answers(rows), _answers(others)
    if boolean:
        return MarkedRows(caption, (), ((YES if mine else NO,),), (mark if mine != other else "",))
    missing = Counter(mine) - Counter(other)
    shown = sorted(mine, key=lambda row: row not in missing)[:MOST_ROWS] or [(NO_ROWS,)]
    marks = [mark if row in missing else "" for row in shown]
    left = len(mine) - len(shown)
    if left > 0:
        shown, marks = [*shown, _rest(left, len(shown[0]))], [*marks, ""]
    return MarkedRows(caption, (), tuple(shown), tuple(marks))


def secret_text(rows: Iterable[Sequence[Any]], *, boolean: bool = False) -> str:
    """An answer of the secret as a set.

    >>> (
    ...     secret_text([("r2",), ("r1",)]),
    ...     secret_text([]),
    ...     secret_text([()], boolean=True),
    ...     secret_text([(1, None)]),
    ... )
    ('{r1, r2}', 'the empty answer', 'yes', '{(1, NULL)}')
    """
    found = _answers(rows)
    if boolean or found == [()]:
        return YES if found else NO
    shown = [row[0] if len(row) == 1 else f"({', '.join(row)})" for row in found]
    if len(shown) > MOST_IN_SECRET:
        shown = [*shown[: MOST_IN_SECRET - 1], f"{len(shown) - MOST_IN_SECRET + 1} more"]
    return f"{{{', '.join(shown)}}}" if shown else EMPTY


# -- secrets whose odds move -----------------------------------------------------------------------


def _moved(facts: Mapping[str, Any], verdict: Verdict) -> Evidence:
    secrets = facts["secrets"]
    boolean = any(() in _answers(one["rows"]) for one in secrets)
    name, made_up = verdict.subject["secret"], "instance" in facts
    numbers = [
        aligned([when, *(_number(one, when) for one in secrets)]) for when in ("before", "after")
    ]
    rows = [
        (secret_text(one["rows"], boolean=boolean), *number)
        for one, *number in zip(secrets, *(each[1:] for each in numbers), strict=True)
    ]
    marks = tuple("-" if one.get("after") == 0 else "" for one in secrets)
    table = MarkedRows(
        "databases by their secret",
        (f"answer of {name}", *(each[0] for each in numbers)),
        tuple(rows),
        marks,
    )
    databases: tuple[Database, ...] = ()
    if made_up:
        tables = tuple(
            _table(relation, facts["instance"], (), "")
            for relation in _relations(facts["instance"])
        )
        databases = (Database("a database" if tables else "a database without any row", tables),)
    more = [
        (f"no longer possible in the answer of {name}", "no_longer_possible", "-"),
        (f"now certain in the answer of {name}", "now_certain", "+"),
    ]
    # Of a yes/no question the two secrets say it all.
    settled = (
        []
        if boolean
        else [(caption, facts[key], mark) for caption, key, mark in more if facts.get(key)]
    )
    shown = [row for one in secrets for row in one["rows"]] + [
        row for _, rows, _ in settled for row in rows
    ]
    new = any(cell.startswith(NEW) for row in shown for cell in text_row(row)) or _has_new(
        facts.get("instance", ())
    )
    return Evidence(
        databases,
        odds=Odds(table, _share(secrets, "before"), _share(secrets, "after")),
        more=tuple(_answer(caption, rows, (), mark, False) for caption, rows, mark in settled),
        made_up=made_up,
        new_values=new,
    )


def aligned(texts: Sequence[str]) -> list[str]:
    """Texts that end at one place.

    >>> aligned(["after", "800"])
    ['after', '  800']
    """
    wide = max(map(len, texts))
    return [text.rjust(wide) for text in texts]


def _number(one: Mapping[str, Any], key: str) -> str:
    number = one.get(key)
    if number is None:
        return "possible"
    return f"{number:,}" if number or one.get("before") is not None else "impossible"


def _share(secrets: Sequence[Mapping[str, Any]], key: str) -> Fraction | None:
    """The first of two secrets among the databases that have one of them."""
    numbers = [one[key] for one in secrets if one.get(key) is not None]
    return Fraction(numbers[0], sum(numbers)) if len(numbers) == 2 and sum(numbers) else None
