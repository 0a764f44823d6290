"""Which column tells who somebody is, which a neighbour knows, which nobody may learn:
guesses with reasons.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tacit.families.identifiers.column_words import PERSON, words_of
from tacit.starter.column_words import NUMBER, WHO, Family, Meaning, Role, meaning_of
from tacit.starter.survey import ENOUGH, ColumnProfile

MOST_CODES = 20  # different numbers up to which they may be codes for categories
SHARED_BY = 5  # rows that a category of text has on average, at least
MOST_FALLBACKS = 8  # quasi-identifiers that are proposed where no name is known
PLEASE_CHECK = "PLEASE CHECK: "


@dataclass(frozen=True, slots=True)
class ColumnGuess:
    """A column with its role (None: it is not released) and the reason."""

    facts: ColumnProfile
    role: Role | None
    why: str
    family: Family = "other"

    @property
    def name(self) -> str:
        """The column's name."""
        return self.facts.name


def guess(columns: Sequence[ColumnProfile]) -> tuple[ColumnGuess, ...]:
    """Guess the role of every column from its name and its counts.

    What names do not tell is filled in cautiously: a column of different values for everybody
    counts as identifier, the last one with categories as sensitive, and where no column is known
    to neighbours by its name, all may be.

    >>> [
    ...     one.role
    ...     for one in guess(
    ...         [ColumnProfile("zip", "text", 99, 99, 7), ColumnProfile("ward", "text", 99, 99, 5)]
    ...     )
    ... ]
    ['quasi-identifier', 'sensitive']
    """
    guesses = [guess_alone(facts) for facts in columns]
    return tuple(with_something_to_release(with_quasi_identifiers(with_sensitive(guesses))))


def guess_alone(facts: ColumnProfile) -> ColumnGuess:
    """What a column's own name and counts say."""
    meaning = meaning_of(facts.name)
    if (
        meaning is WHO and facts.kind == "integer" and PERSON & set(words_of(facts.name))
    ):  # stays(patient): 1007, 1007, 1012
        meaning = NUMBER
    if not facts.name.strip():
        return ColumnGuess(facts, None, "it has no name by which a plan could call it")
    if facts.rows and not facts.values and (meaning is None or meaning.role != "identifier"):
        return ColumnGuess(facts, None, "no row has a value")
    if meaning is None or (
        facts.kind == "boolean" and meaning.role == "identifier"
    ):  # insured, member: true or false tells nobody apart
        return guess_from_counts(facts)
    if facts.is_date and meaning.role == "sensitive":
        return ColumnGuess(
            facts,
            "quasi-identifier",
            f"the date of {meaning.what} may be known; {counted(facts)}",
            "date",
        )
    why = f"its name suggests {meaning.what}; {counted(facts)}{too_telling(facts, meaning)}"
    return ColumnGuess(facts, meaning.role, why, meaning.family)


def guess_from_counts(facts: ColumnProfile) -> ColumnGuess:
    """What the counts say about a column whose name says nothing."""
    if facts.is_date:
        return ColumnGuess(
            facts, "quasi-identifier", f"dates may be known to others; {counted(facts)}", "date"
        )
    if facts.kind in ("text", "integer") and facts.is_nearly_unique:
        return ColumnGuess(facts, "identifier", f"it singles out rows: {counted(facts)}", "record")
    return ColumnGuess(facts, None, f"not recognised by name; {type_name(facts)}, {counted(facts)}")


def with_sensitive(guesses: Sequence[ColumnGuess]) -> list[ColumnGuess]:
    """Where no name tells what is sensitive: the last column of categories."""
    open_ones = [one for one in guesses if one.role is None and is_category(one.facts)]
    if any(one.role == "sensitive" for one in guesses) or not open_ones:
        return list(guesses)
    why = f"{PLEASE_CHECK}no name tells what is sensitive; this is the last column of categories; "
    chosen = ColumnGuess(open_ones[-1].facts, "sensitive", why + counted(open_ones[-1].facts))
    return [chosen if one is open_ones[-1] else one for one in guesses]


def with_quasi_identifiers(guesses: Sequence[ColumnGuess]) -> list[ColumnGuess]:
    """Where no name tells what others may know: all of it, up to a number that can be read."""
    if any(one.role == "quasi-identifier" for one in guesses):
        return list(guesses)
    may_be_known = [
        one for one in guesses if one.role is None and one.facts.distinct > 1 and one.name.strip()
    ]
    why = f"{PLEASE_CHECK}no name tells what others may know, so this may be known; "
    chosen = {
        one.name: ColumnGuess(one.facts, "quasi-identifier", why + counted(one.facts))
        for one in may_be_known
    }
    return [
        chosen[one.name] if one.name in list(chosen)[:MOST_FALLBACKS] else one for one in guesses
    ]


def with_something_to_release(guesses: Sequence[ColumnGuess]) -> list[ColumnGuess]:
    """Where all columns were left out because their values differ:
    a plan that releases nothing would meet any check.

    >>> [
    ...     one.role
    ...     for one in guess(
    ...         [ColumnProfile("a", "text", 2, 2, 2), ColumnProfile("b", "text", 2, 2, 2)]
    ...     )
    ... ]
    ['quasi-identifier', 'quasi-identifier']
    """
    identifiers = [one for one in guesses if one.role == "identifier"]
    by_counts = [one.name for one in identifiers if meaning_of(one.name) is None]
    sure = len(by_counts) < len(identifiers) and all(
        one.facts.values >= ENOUGH for one in identifiers
    )
    if sure or any(one.role not in ("identifier", None) for one in guesses):
        return list(guesses)
    why = f"{PLEASE_CHECK}it may be known, or be an identifier; "
    chosen = set(by_counts[:MOST_FALLBACKS])
    return [
        ColumnGuess(one.facts, "quasi-identifier", why + counted(one.facts))
        if one.name in chosen
        else one
        for one in guesses
    ]


def is_category(facts: ColumnProfile) -> bool:
    """A few values that several people share.

    >>> (
    ...     is_category(ColumnProfile("ward", "text", 12, 12, 4)),
    ...     is_category(ColumnProfile("jobs", "integer", 900, 900, 189)),
    ... )
    (True, False)
    """
    if facts.distinct < 2 or facts.is_nearly_unique or facts.is_date:
        return False
    return facts.distinct <= MOST_CODES or (
        facts.kind == "text" and facts.distinct * SHARED_BY <= facts.values
    )


def counted(facts: ColumnProfile) -> str:
    """How many different values there are, in words.

    >>> (
    ...     counted(ColumnProfile("a", "text", 12, 12, 12)),
    ...     counted(ColumnProfile("a", "text", 12, 10, 3)),
    ...     counted(ColumnProfile("a", "text", 0, 0, 0)),
    ... )
    ('all 12 values differ', '3 different values, 2 missing', 'no rows to count')
    """
    if not facts.rows:
        return "no rows to count"
    if facts.distinct == facts.values > 1:
        text = f"all {facts.values:,} values differ"
    else:
        text = f"{facts.distinct:,} different value{'s' if facts.distinct != 1 else ''}"
    return f"{text}, {facts.missing:,} missing" if facts.missing else text


def type_name(facts: ColumnProfile) -> str:
    """A column's type, in a word."""
    return {"integer": "whole numbers", "decimal": "numbers", "boolean": "true or false"}.get(
        facts.kind, facts.kind
    )


def too_telling(facts: ColumnProfile, meaning: Meaning) -> str:
    """A warning where the sensitive values themselves single people out."""
    if (
        meaning.role == "sensitive"
        and facts.kind == "text"
        and facts.is_nearly_unique
        and facts.rows > 1
    ):
        return "; such values may themselves say who it is"
    return ""


def key_of(guesses: Sequence[ColumnGuess]) -> ColumnGuess | None:
    """The identifier that has a value of its own in every row; people's numbers before others.

    >>> ids = [ColumnProfile("visit_id", "integer", 9, 9, 9), ColumnProfile("ssn", "text", 9, 9, 9)]
    >>> key_of(guess(ids)).name
    'ssn'
    """
    unique = [one for one in guesses if one.role == "identifier" and one.facts.is_unique]
    return min(unique, key=lambda one: PREFERRED.index(one.family), default=None)


def person_of(guesses: Sequence[ColumnGuess]) -> ColumnGuess | None:
    """The column that tells people apart: a number given to a person,
    even if repeated, else the key.
    """
    numbers = [
        one
        for one in guesses
        if one.family == "person" and one.facts.rows and not one.facts.missing
    ]
    return min(numbers, key=lambda one: -one.facts.distinct, default=None) or key_of(guesses)


PREFERRED: tuple[Family, ...] = (
    "person",
    "name",
    "record",
    "age",
    "birth",
    "postal",
    "place",
    "date",
    "other",
)
