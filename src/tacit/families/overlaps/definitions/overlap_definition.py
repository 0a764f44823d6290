"""What gamma-privacy, k-SIND and k-RSIND have in common:
who is protected from whom, and how people and tables are told.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from tacit.errors import DataError, MissingExtra
from tacit.families.definition import Definition
from tacit.families.microdata.hierarchy import value_text
from tacit.families.overlaps.question import OverlapQuestion
from tacit.families.overlaps.system import NoTable, system_of
from tacit.families.words import listed, people, saying, spoken
from tacit.model.deadline import OutOfTime, until
from tacit.model.numbers import percent, percent_exactly

SECONDS = 60
MOST_NAMED = 1000  # people named in a verdict
MOST_SAID = 5  # people named in a sentence
MOST_LISTED = 100_000  # people up to whom all crowds are listed

# Some people of a crowd: their class, the value that they have now (None:
# any), and how many of these (None: all).
Members = tuple[int, int | None, int | None]


class OverlapDefinition(Definition):
    """A definition about several views of one table, judged together."""

    __slots__ = ()
    needs_sensitive: ClassVar[bool] = True
    # What is decided depends on the answers of the views, so a refusal would disclose.
    simulatable: ClassVar[bool] = False


def described(question: OverlapQuestion) -> dict[str, Any]:
    """The fields of a verdict that do not depend on what was found."""
    names = list(question.releases)
    return {
        "subject": {"release": names[0]} if len(names) == 1 else {"releases": names},
        "protects": f"each person's {spoken(question.sensitive)}",
        "against": f"anyone who sees {views(question)} and knows {public(question)}",
        "warnings": question.warnings,
    }


def views(question: OverlapQuestion) -> str:
    """What was seen, in a word or two: views, or also microdata."""
    many, what = len(question.releases), question.called
    return {1: f"the {what}", 2: f"both {what}s"}.get(many, f"all {many} {what}s")


def public(question: OverlapQuestion) -> str:
    """What everybody knows."""
    return (
        f"everybody's {listed([spoken(name) for name in question.public])}"
        if question.public
        else "who is in the table"
    )


def person(question: OverlapQuestion, key: Sequence[Any]) -> dict[str, Any]:
    """A person by the columns of the key."""
    return dict(zip(question.key, key, strict=True))


def person_label(key: Sequence[Any]) -> str:
    """How to call a person.

    >>> person_label(("Donald",)), person_label((7, "B"))
    ('Donald', '7 B')
    """
    return " ".join(value_text(one) for one in key if one is not None)


def has(question: OverlapQuestion, value: Any) -> str:
    """That somebody has a value, in words."""
    return saying(question.sensitive, value)


def having(question: OverlapQuestion) -> str:
    """That somebody has some value, in words: `has a value`, or `has a value of ward` where
    people do not say it shorter.
    """
    told, column = has(question, "..."), spoken(question.sensitive)
    return (
        f"has a value of {column}"
        if told == f"has {column} ..."
        else told.replace("...", "a value")
    )


def keys(question: OverlapQuestion, class_: int, limit: int, value: int | None = None) -> list[Any]:
    """People of a class as JSON has them."""
    return [key_json(one) for one in question.members(class_, limit, value)]


def key_json(key: Sequence[Any]) -> Any:
    """A key as JSON has it: the value of its column, or a list of values."""
    return key[0] if len(key) == 1 else list(key)


def crowds_json(question: OverlapQuestion, crowds: Sequence[Sequence[Members]]) -> dict[str, Any]:
    """The crowds as lists of keys; not of very many people."""
    if question.overlap.people > MOST_LISTED:
        return {}
    waiting: dict[tuple[int, int | None], list[Any]] = defaultdict(list)
    by_value = any(value is not None for crowd in crowds for _, value, _ in crowd)
    for key, class_, value in question.everyone():
        waiting[class_, value if by_value else None].append(key_json(key))
    found: list[list[Any]] = []
    for crowd in crowds:
        own: list[Any] = []
        for class_, value, many in crowd:
            there = waiting[class_, value]
            own += there[:many]
            del there[:many]
        found.append(own)
    return {"sets": found}


def counted_sizes(sizes: Sequence[int]) -> dict[int, int]:
    """How many crowds there are of each size.

    >>> counted_sizes([3, 1, 3])
    {1: 1, 3: 2}
    """
    return dict(sorted(Counter(sizes).items()))


def known_for_certain(question: OverlapQuestion) -> list[str]:
    """A crowd hides who somebody is, and not what they have:
    a warning where the sums alone show that.
    """
    try:
        system = system_of(question.overlap)
    except NoTable:
        raise no_table(question) from None
    sizes = question.overlap.sizes
    certain = (system.low.reshape(len(sizes), -1) == sizes[:, None]).any(axis=1) & (sizes > 0)
    many = int(sizes[certain].sum())
    if not many:
        return []
    return [
        (
            f"the {spoken(question.sensitive)} of {people(many)} follows from the views, "
            "whatever their crowd: ask gamma-privacy too"
        )
    ]


def crowd_story(
    question: OverlapQuestion, crowd: Sequence[int], size: int
) -> tuple[dict[str, Any], str]:
    """A crowd that is too small: who is in it and what they may have, as evidence and in words."""
    members = [key for class_ in crowd for key in question.members(class_, MOST_NAMED)][:MOST_NAMED]
    names = [person_label(key) for key in members[:MOST_SAID]]
    names += [f"{size - len(names):,} more"] if size > len(names) else []
    if size == 1:
        story = f"Nobody could swap values with {listed(names)} in every table that fits."
    else:
        story = (
            f"{listed(names)} could swap values with each other, and with nobody else, in "
            "every table that fits."
        )
    return {
        "people": [key_json(key) for key in members],
        **may_have(question, crowd[0]),
    }, story


def may_have(question: OverlapQuestion, class_: int) -> dict[str, Any]:
    """The values that people of a class have in some table, where that is found in time."""
    from tacit.families.overlaps.counting.possible_cells import possible

    asked = np.zeros((len(question.overlap.sizes), len(question.overlap.values)), dtype=bool)
    asked[class_] = True
    try:
        can = possible(question.overlap, question.job, asked=asked).can[class_]
    except (OutOfTime, MissingExtra):
        return {}
    return {
        "values": [
            value
            for value, is_possible in zip(question.overlap.values, can.tolist(), strict=True)
            if is_possible
        ]
    }


def no_table(question: OverlapQuestion) -> DataError:
    """The answers contradict each other: which of them."""
    from tacit.families.overlaps.counting.possible_cells import contradiction

    try:
        with until(SECONDS):
            names = contradiction(question.overlap, [one.first for one in question.answers] or None)
    except (OutOfTime, MissingExtra):
        names = question.releases
    if len(names) == 1:
        message = f"no table gives {names[0]!r} this answer."
    else:
        message = (
            f"the answers of {listed([repr(name) for name in names])} contradict each other: "
            "no table gives all of them."
        )
    return DataError(message, hint="Correct the answer files, or leave one of the releases out.")


def shared_tables(share: Fraction, tables: int | None, *, is_exact: bool = True) -> str:
    """How many tables a share is, or is at least.

    >>> shared_tables(Fraction(4, 5), 45), shared_tables(Fraction(2, 3), None, is_exact=False)
    ('In 36 of the 45 tables', 'In at least 66 % of the tables')
    """
    if tables is not None and tables < 10**9:
        if tables == 1:
            return "In the only table"
        return (
            f"In {int(share * tables):,} of the {tables:,} tables"
            if share < 1
            else f"In all {tables:,} tables"
        )
    if share == 1:
        return "In all tables"
    if is_exact and (share * 10_000).denominator == 1:
        return f"In {percent_exactly(share)} of the tables"
    return f"In {'more than' if is_exact else 'at least'} {percent(share, down=True)} of the tables"
