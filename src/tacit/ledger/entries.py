"""Entries: what the ledger says about one release, as it is hashed and printed."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from typing import Any, Literal, NamedTuple, get_args

from tacit.errors import InputError

Kind = Literal["release", "withdrawal", "correction"]
GIVES: frozenset[Kind] = frozenset(
    {"release", "correction"}
)  # kinds by which somebody gets something
Shape = str  # what a release is, in a word: view, microdata, synthetic, constraint, ...

MOST_LETTERS = 200  # of a name
MOST_NOTE = 2_000
WORD = re.compile(r"[a-z][a-z-]{0,40}")
HEX = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class LedgerVerdict:
    """One verdict as it was when the release went out, without personal values."""

    check: str
    name: str | None
    status: str
    certainty: str
    label: str | None = None  # with what was required, such as 5-anonymity; older ones say less

    @property
    def question_text(self) -> str:
        """What was asked, in words.

        >>> LedgerVerdict("k-anonymity", "census", "holds", "exact", "5-anonymity").question_text
        '5-anonymity (census)'
        """
        asked = self.label or self.check
        return f"{asked} ({self.name})" if self.name else asked


class Tie(NamedTuple):
    """What tells a table whatever a plan calls it:
    a keyed hash of its file, its bytes, its place in a database or its people.
    """

    table: str
    by: str
    hash: str


@dataclass(frozen=True, slots=True)
class EntryDraft:
    """What is to be recorded. `to` lists the recipients, nobody means the public.

    `plan`, `definition` and `answer` are keyed hashes: of the plan file, of the release as the plan
    writes it, and of what was handed out; so is `people`, of who is in the table and what everybody
    knows of them (None: not compared). `spent` is what a synthetic release costs, written exactly:
    {"epsilon": "23/5", "delta": "1/100000", "guarantee": "dp"}. `version` is the Tacit that judged
    it (None: one that did not say so yet). A correction says what was `wrong`, and which entries it
    `corrects`. `ties` tell its tables under other names. `query` is what was asked, of an answer
    that the gateway gave and that no plan has.
    """

    kind: Kind
    release: str
    shape: Shape
    tables: tuple[str, ...]
    to: tuple[str, ...]
    by: str
    plan: str
    definition: str
    answer: str | None
    verdicts: tuple[LedgerVerdict, ...] = ()
    spent: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    people: str | None = None
    version: str | None = None
    corrects: tuple[int, ...] = ()
    wrong: str = ""
    ties: tuple[Tie, ...] = ()
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry(EntryDraft):
    """What was recorded: the draft, its number and time, the hash of
    the entry before it and its own.
    """

    number: int
    at: datetime
    before: str
    hash: str

    def to_json(self) -> dict[str, Any]:
        """The object that `--json` prints; without `hash` it is what the hash is made of."""
        return {**content(self), "hash": self.hash}


def content(entry: Entry) -> dict[str, Any]:
    """All that an entry says, except its own hash."""
    plain = {one.name: getattr(entry, one.name) for one in fields(entry) if one.name != "hash"}
    judged = [
        {one.name: getattr(verdict, one.name) for one in fields(verdict)}
        for verdict in entry.verdicts
    ]
    return {
        **plain,
        "tables": list(entry.tables),
        "to": list(entry.to),
        "corrects": list(entry.corrects),
        "ties": [list(one) for one in entry.ties],
        "verdicts": judged,
        "spent": dict(entry.spent),
        "at": time_text(entry.at),
    }


def canonical(value: object) -> str:
    """JSON with one way to write each value: keys in order, no spaces, ASCII only.

    >>> canonical({"b": 1, "a": "ü"})
    '{"a":"\\\\u00fc","b":1}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def parsed(body: str, own: str) -> Entry:
    """The entry that was written as canonical JSON; `own` is its hash, checked by the caller.
    Older ones say less.
    """
    said = json.loads(body)
    if unknown := sorted(said.keys() - Entry.__dataclass_fields__.keys()):
        raise InputError(
            f"entry {said.get('number')} was written by a newer Tacit: it says {unknown[0]}.",
            hint="Use the Tacit that wrote it, or a newer one.",
        )
    return Entry(
        **{
            **said,
            "tables": tuple(said["tables"]),
            "to": tuple(said["to"]),
            "corrects": tuple(said.get("corrects", ())),
            "ties": tuple(Tie(*one) for one in said.get("ties", ())),
            "verdicts": tuple(LedgerVerdict(**one) for one in said["verdicts"]),
            "at": datetime.fromisoformat(said["at"]),
        },
        hash=own,
    )


def time_text(at: datetime) -> str:
    """A time in UTC, always equally long.

    >>> time_text(datetime(2026, 4, 1, 12, tzinfo=UTC))
    '2026-04-01T12:00:00.000000Z'
    """
    return at.astimezone(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def identity(entry: EntryDraft) -> str:
    """A hash that is the same for entries which give the same thing to the same recipients.

    An answer that is not known is like no other, so that two of them count twice; a constraint says
    the same each time.
    """
    known = entry.answer is not None or entry.shape == "constraint"
    said = [
        entry.release,
        entry.shape,
        list(entry.tables),
        list(entry.to),
        entry.definition,
        entry.answer,
        dict(entry.spent),
        entry.people,
        None if known else getattr(entry, "number", None),
    ]
    return hashlib.sha256(canonical(said).encode()).hexdigest()


def checked(draft: EntryDraft) -> EntryDraft:
    """The draft with tables and recipients in order;
    an InputError where it could not be kept or found again.
    """
    if draft.kind not in get_args(Kind) or not WORD.fullmatch(draft.shape):
        raise InputError(
            f"the ledger has no entries of kind {draft.kind!r} and shape {draft.shape!r}.",
            hint=f"Kinds: {', '.join(get_args(Kind))}; a shape is a word, such as view.",
        )
    if isinstance(draft.tables, str) or isinstance(draft.to, str):
        raise InputError("tables and recipients are lists of names.", hint="Write to=('clinic',).")
    for what, name in (("release", draft.release), ("person who records", draft.by)):
        check_name(what, name)
    for what, names in (("table", draft.tables), ("recipient", draft.to)):
        for name in names:
            check_name(what, name)
    for what, value in (
        ("plan", draft.plan),
        ("definition", draft.definition),
        ("answer", draft.answer),
        ("people", draft.people),
    ):
        if not (isinstance(value, str) and HEX.fullmatch(value)) and (
            value is not None or what not in ("answer", "people")
        ):
            raise InputError(
                f"the hash of the {what} is not one that the owner's key made.",
                hint="Pass what Key.mac returns.",
            )
    if (draft.kind == "correction") != bool(draft.corrects and draft.wrong.strip()):
        raise InputError(
            "a correction says what was wrong, and which entries it corrects.",
            hint="Write --wrong TEXT.",
        )
    _check_texts(draft)
    return replace(
        draft,
        tables=tuple(sorted(set(draft.tables))),
        to=tuple(sorted(set(draft.to))),
        spent=dict(draft.spent),
    )


def check_name(what: str, name: object) -> None:
    """A name has letters, fits into a line and means the same in every database.

    >>> check_name("release", "april\\n")
    Traceback (most recent call last):
    tacit.errors.InputError: 'april\\n' cannot be the name of a release. Write a line of at most 200 letters, without spaces around it.
    """  # noqa: E501
    if not (
        isinstance(name, str)
        and 0 < len(name) <= MOST_LETTERS
        and name == name.strip()
        and is_plain(name)
    ):
        shown = repr(name) if len(repr(name)) <= MOST_LETTERS else "this"
        raise InputError(
            f"{shown} cannot be the name of a {what}.",
            hint=f"Write a line of at most {MOST_LETTERS} letters, without spaces around it.",
        )


def is_plain(text: str) -> bool:
    """Can every database keep it in a line? No control characters, no
    ends of lines, no halves of letters.

    >>> is_plain("naïve\u00a0name"), is_plain("a\\0b")
    (True, False)
    """
    return text.isprintable() or not {"Cc", "Cs", "Zl", "Zp"} & set(map(unicodedata.category, text))


def _check_texts(draft: EntryDraft) -> None:
    """Nothing but text, so that what is read again is what was written."""
    judged = [getattr(verdict, one.name) for verdict in draft.verdicts for one in fields(verdict)]
    ties = [text for one in draft.ties for text in one]
    texts = [
        *draft.spent,
        *draft.spent.values(),
        *(one for one in judged if one is not None),
        draft.note,
        draft.wrong,
        draft.query,
        *ties,
        draft.version or "",
    ]
    if not all(isinstance(one, str) for one in texts):
        raise InputError(
            "verdicts, what is spent and the note are texts.", hint="Write numbers as '23/5'."
        )
    if any(
        len(text) > MOST_NOTE or not all(map(is_plain, text.split("\n")))
        for text in (draft.note, draft.wrong)
    ):
        raise InputError(
            f"a note is a text of at most {MOST_NOTE:,} letters.",
            hint="Say it shorter, without control characters and without personal values.",
        )
