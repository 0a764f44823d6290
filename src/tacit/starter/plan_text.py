"""The starter plan as text: YAML that any name can stand in, with the reason beside every guess."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from math import log2
from pathlib import Path

from tacit.engines.output import discard, refusing
from tacit.errors import InputError
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    FlatHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan.edit.spelling import printed, scalar
from tacit.starter.coarsening import HierarchyProposal, coarsen
from tacit.starter.guessing import PLEASE_CHECK, ColumnGuess, key_of, person_of
from tacit.starter.survey import Look

LONGEST_KEY = 1000  # characters; YAML gives up looking for the colon after 1024
COMMENT_FROM, COMMENT_UP_TO = 34, 70  # the columns between which the comments of a block begin
INDENT = "  "
ROOM = 3  # times as uneven as the whole table: how uneven groups may be

Line = tuple[str, str]  # what YAML reads, and the comment


def entry(name: str, value: str, indent: str) -> str:
    """A key and its value; a key that is too long for one line is marked as key.

    >>> entry("zip", "2", "  ")
    '  zip: 2'
    """
    key = scalar(name)
    if len(key) > LONGEST_KEY:
        return f"{indent}? {key}\n{indent}: {value}".rstrip()
    return f"{indent}{key}: {value}".rstrip()


def plan_text(
    look: Look,
    guesses: Sequence[ColumnGuess],
    *,
    written: str = "by tacit init",
    policy: str | None = None,
) -> str:
    """The whole plan; `written` says by what or where. Its checks are those of a `policy`, or
    some to begin with.
    """
    quasi = {one: proposal(look, one) for one in guesses if one.role == "quasi-identifier"}
    blocks = (
        heading(look, written),
        people(guesses),
        *(role_lines(role, guesses) for role in ROLES),
        others([one for one in guesses if one.role is None and one.name.strip()]),
        hierarchies(quasi),
        releases(look.table, quasi),
        checks([one for one in guesses if one.role == "sensitive"], look.rows)
        if policy is None
        else including(policy),
    )
    return "".join(f"{line}\n" for block in blocks for line in aligned(block))


def proposal(look: Look, guess: ColumnGuess) -> HierarchyProposal:
    """A hierarchy for a quasi-identifier: of a file beside the data that fits, else of its kind."""
    found = look.hierarchies.get(guess.name)
    if found is None:
        return coarsen(guess)
    folder = Path(look.file or "").parent
    spec = CsvHierarchy((folder / found.file).as_posix())
    note = f"a file beside the data that has all its values; level {found.height} is the highest"
    return HierarchyProposal(spec, found.level, note, f"level {found.level} of {found.height}")


def aligned(lines: Sequence[Line]) -> list[str]:
    """Lines with their comments below each other.

    >>> aligned([("checks:", ""), ("", "nothing"), ("  - a", "one"), ("  - bcd", "two")])
    ['checks:', '# nothing', '  - a                             # one', '  - bcd                           # two']
    """  # noqa: E501
    longest = max((len(code) for code, comment in lines if comment), default=0)
    at = min(max(COMMENT_FROM, longest + 2), COMMENT_UP_TO)

    def line(code: str, comment: str) -> str:
        before = code if not code.strip() else f"{code}  ".ljust(at)
        return f"{before}# {comment}" if comment else code

    return [line(code, comment) for code, comment in lines]


def heading(look: Look, written: str) -> list[Line]:
    """What this file is, what to do with it, and where the rows are."""
    size = (
        f"{look.rows:,} row{'s' * (look.rows != 1)}, {len(look.columns)} "
        f"column{'s' * (len(look.columns) != 1)}"
    )
    return [
        ("", f"A starter plan for {printed(look.shown)} ({size}), written {written}."),
        ("", "Roles are guessed from names and counts, and you know better:"),
        ("", "read them, correct them, then run: tacit check"),
        ("version: 1", ""),
        (f"source: {look.source if look.source == '.' else scalar(look.source)}", ""),
        ("tables:", ""),
        (entry(look.table, "", INDENT), ""),
        *([(entry("file", scalar(look.file), INDENT * 2), "")] if look.file else []),
        *([(f'{INDENT * 2}decimal: ","', "61,5 is a number")] if look.decimal_comma else []),
        *words_for_missing(look),
    ]


def words_for_missing(look: Look) -> list[Line]:
    """Words that count as missing, in one column or in all (`*`)."""
    if not look.unknown:
        return []
    listed = ", ".join(
        f"{scalar(name)}: [{', '.join(map(scalar, words))}]" for name, words in look.unknown.items()
    )
    where = " in every column" if "*" in look.unknown else ""
    return [(f"{INDENT * 2}unknown: {{{listed}}}", f"taken as missing{where}")]


def people(guesses: Sequence[ColumnGuess]) -> list[Line]:
    """What tells rows apart, and what tells people apart."""
    key, person = key_of(guesses), person_of(guesses)
    lines: list[Line] = []
    if key:
        lines.append((f"{INDENT * 2}key: [{scalar(key.name)}]", "its values all differ"))
    if person is None:
        return [
            *lines,
            (
                INDENT * 2,
                "person: none was found that tells people apart, so each row counts as one person",
            ),
        ]
    return [
        *lines,
        (f"{INDENT * 2}person: [{scalar(person.name)}]", f"who counts as one{who_counts(person)}"),
    ]


def who_counts(person: ColumnGuess) -> str:
    """What to know about the column that tells people apart."""
    if person.facts.distinct < person.facts.rows:
        return f": {person.facts.distinct:,} people in {person.facts.rows:,} rows"
    return (
        ""
        if person.family in ("person", "name")
        else "; leave it out if people can have several rows"
    )


ROLES = {
    "identifier": ("identifiers", "never released"),
    "quasi-identifier": ("quasi-identifiers", "what others may know about a person: generalized"),
    "sensitive": ("sensitive", "what nobody may learn about a person"),
}


def role_lines(role: str, guesses: Sequence[ColumnGuess]) -> list[Line]:
    """The columns of one role, each with the reason."""
    key, meaning = ROLES[role]
    chosen = [one for one in guesses if one.role == role]
    if not chosen:
        warning = PLEASE_CHECK if role == "quasi-identifier" else ""
        return [(INDENT * 2, f"{key}: {warning}none was recognized ({meaning})")]
    return [(f"{INDENT * 2}{key}:", meaning), *items(chosen, INDENT * 3)]


def items(guesses: Iterable[ColumnGuess], indent: str) -> list[Line]:
    """Columns as a list."""
    return [(f"{indent}- {scalar(one.name)}", one.why) for one in guesses]


def others(guesses: Sequence[ColumnGuess]) -> list[Line]:
    """Columns without a role, ready to be given one."""
    if not guesses:
        return []
    return [
        (
            INDENT * 2,
            (
                "Columns without a role are not released. What nobody can look up and "
                "everybody may learn"
            ),
        ),
        (INDENT * 2, "goes out as it is when you take away the # here:"),
        (f"{INDENT * 2}# insensitive:", ""),
        *items(guesses, f"{INDENT * 2}#   "),
    ]


def hierarchies(quasi: dict[ColumnGuess, HierarchyProposal]) -> list[Line]:
    """How each quasi-identifier becomes coarser."""
    if not quasi:
        return []
    flat = [one.name for one, way in quasi.items() if isinstance(way.spec, FlatHierarchy)]
    advice = [
        (
            INDENT * 3,
            f"For steps of your own name a file, as in {scalar(name)}: {scalar(name + '.csv')},",
        )
        for name in flat[:1]
    ]
    advice += (
        [(INDENT * 3, "that has a line for every value: value;level 1;level 2;*")] if flat else []
    )
    return [
        (f"{INDENT * 2}hierarchies:", "how values become coarser, level by level"),
        *advice,
        *(
            (entry(one.name, spec_text(way.spec), INDENT * 3), way.note)
            for one, way in quasi.items()
        ),
    ]


def spec_text(spec: HierarchySpec) -> str:
    """A hierarchy as the plan writes it.

    >>> spec_text(DateHierarchy(("month", "year"))), spec_text(MaskHierarchy("right"))
    ('{dates: [month, year]}', '{mask: right}')
    """
    if isinstance(spec, CsvHierarchy):
        return scalar(spec.file)
    if isinstance(spec, RangeHierarchy):
        return f"{{ranges: [{', '.join(f'{width:f}' for width in spec.widths)}]}}"
    if isinstance(spec, DateHierarchy):
        zone = f", zone: {spec.zone}" if spec.zone else ""
        return f"{{dates: [{', '.join(spec.units)}]{zone}}}"
    return f"{{mask: {spec.side}}}" if isinstance(spec, MaskHierarchy) else '"*"'


def releases(table: str, quasi: dict[ColumnGuess, HierarchyProposal]) -> list[Line]:
    """The table without identifiers, and a first coarser version of it."""
    raw = [
        ("releases:", ""),
        (f"{INDENT}raw: {{table: {scalar(table)}}}", "as it is, without identifiers: to compare"),
    ]
    if not quasi:
        return [*raw, (f"{INDENT}generalized: {{table: {scalar(table)}}}", "")]
    return [
        *raw,
        (f"{INDENT}generalized:", ""),
        (f"{INDENT * 2}table: {scalar(table)}", ""),
        (f"{INDENT * 2}generalization:", "levels; higher ones protect more and tell less"),
        *(
            (entry(one.name, str(way.level), INDENT * 3), way.level_note)
            for one, way in quasi.items()
        ),
    ]


def checks(sensitive: Sequence[ColumnGuess], rows: int) -> list[Line]:
    """Three questions to begin with, none of which the table as a whole fails;
    one where nothing is sensitive.
    """
    k = min(5, max(2, rows)) if rows else 5
    asked: list[Line] = [
        ("checks:", ""),
        (
            f"  - k-anonymity: {{release: generalized, k: {k}}}",
            f"nobody is one of fewer than {k} people",
        ),
    ]
    if not sensitive:
        return asked
    if len(sensitive) > 1:
        asked.append(
            (
                INDENT,
                (
                    "Each sensitive column, while the others are known; sensitive: COLUMN "
                    "asks for one:"
                ),
            )
        )
    is_binary = 0 < min(one.facts.distinct for one in sensitive) < 3
    many = 2 if is_binary else 3
    counts = [one.facts.counts for one in sensitive if len(one.facts.counts) > 1]
    c = starting_c(counts)
    spread, means = (
        (
            f"kind: recursive, c: {c}, l: 2",
            f"more than 1 in {c + 1} of a group lack its most frequent value",
        )
        if is_binary or not all(map(is_even, counts))
        else ("kind: entropy, l: 2", "values evenly spread in each group")
    )
    return [
        *asked,
        (
            f"  - l-diversity: {{release: generalized, kind: distinct, l: {many}}}",
            f"{many} different values in every group",
        ),
        (f"  - l-diversity: {{release: generalized, {spread}}}", means),
    ]


def including(policy: str) -> list[Line]:
    """The checks of a policy."""
    asked = f"  - include: {{policy: {scalar(policy)}, release: generalized}}"
    return [("checks:", ""), (asked, f"tacit policies {policy} says what it covers")]


def starting_c(counts: Iterable[Sequence[int]]) -> int:
    """The c of recursive (c,2)-diversity to begin with: 3, or what lets groups be three times as
    uneven as the whole table. The least that the table meets would leave hardly anything of it.

    >>> starting_c([(34014, 11208)]), starting_c([(5, 4)]), starting_c([(3, 1)])
    (10, 4, 10)
    """
    return max([3, *(ROOM * most // sum(others) + 1 for most, *others in counts)])


def is_even(counts: Sequence[int]) -> bool:
    """Is the entropy of a column well above that of two values alike, so that groups can have that?

    >>> is_even((5, 3, 2)), is_even((6, 2, 2)), is_even((97, 2, 1))
    (False, False, False)
    >>> is_even((3, 3, 2, 2))
    True
    """
    every = sum(counts)
    return -sum(many / every * log2(many / every) for many in counts) > 1.5


def refuse_existing(plan: Path) -> None:
    """A plan that is there stays as it is."""
    if os.path.lexists(plan):
        raise InputError(f"{plan} is there already; nothing was written.", hint="Use -o other.yaml")
    if not plan.parent.is_dir():
        raise InputError(
            f"there is no folder {plan.parent}.", hint=f"Make it first: mkdir -p {plan.parent}"
        )


def write_new(plan: Path, text: str) -> None:
    """Write a file as a whole or not at all, and never over another one."""
    draft = plan.with_name(f".{plan.name}.{os.getpid()}")
    try:
        with refusing(plan):
            draft.write_text(text, encoding="utf-8")
            publish(draft, plan)
    finally:
        discard(draft)


def publish(draft: Path, plan: Path) -> None:
    """Give a finished file its name. A link fails where the name is taken;
    some file systems have none.
    """
    try:
        os.link(draft, plan)
    except FileExistsError:
        refuse_existing(plan)
    except OSError:
        refuse_existing(plan)
        draft.rename(plan)
