"""Prior: what is believed before the release, a distribution f(q,
s) of quasi-identifiers and value.

It comes from a file with one line per combination; the last thing a line says is its `probability`.
Quasi-identifiers without a column there are taken as independent of those with one and of the
sensitive value. So a file with the sensitive column only says how frequent each value is.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.errors import DataError, Mark, did_you_mean
from tacit.families.microdata.counts import Counts
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.words import listed
from tacit.model.numbers import exact, plain

PROBABILITY = "probability"
FORM = "Its first line names the columns, for example: ward,condition,probability"

Rows = Sequence[tuple[int, Sequence[str]]]
Cell = tuple[Any, ...]  # values of the prior's quasi-identifiers
Shares = dict[int, Fraction]  # by the sensitive value's code


@dataclass(frozen=True, slots=True)
class PriorLine:
    """A line of the file: its number, its cells as text, and their probability."""

    number: int
    cells: tuple[str, ...]
    probability: Fraction


@dataclass(frozen=True, slots=True)
class FilePrior:
    """A distribution as a file gives it: which columns, and a probability for each combination."""

    file: str
    columns: tuple[str, ...]
    lines: tuple[PriorLine, ...]

    @property
    def tells_apart(self) -> bool:
        """Does it say more than how frequent each value is?"""
        return len(self.columns) > 1


def read_prior(rows: Rows, file: str) -> FilePrior:
    """A prior from the numbered lines of a CSV file, the first of which names the columns.

    >>> prior = read_prior(
    ...     [(1, ["condition", "probability"]), (2, ["flu", "0.9"]), (3, ["cold", "1/10"])], "p.csv"
    ... )
    >>> prior.columns, [str(line.probability) for line in prior.lines]
    (('condition',), ['9/10', '1/10'])
    """
    if len(rows) < 2:
        raise DataError(f"the prior {file} is empty.", hint=FORM, mark=Mark(file))
    number, header = rows[0]
    for name in header:
        if list(header).count(name) > 1:
            message = f"{file} has two columns named {name!r}."
            raise DataError(message, hint="Rename one of them.", mark=Mark(file, number))
    if PROBABILITY not in header:
        message = f"the prior {file} has no column {PROBABILITY!r}."
        raise DataError(message, hint=FORM, mark=Mark(file, number))
    at = list(header).index(PROBABILITY)
    lines = [read_line(line, cells, len(header), at, file) for line, cells in rows[1:]]
    check_once(lines, file)
    total = sum(line.probability for line in lines)
    if total != 1:
        raise DataError(
            f"the probabilities of {file} sum to {plain(total)}, not to 1.",
            hint="Write fractions such as 1/3 where decimals would be rounded.",
            mark=Mark(file),
        )
    return FilePrior(file, tuple(name for name in header if name != PROBABILITY), tuple(lines))


def read_line(number: int, cells: Sequence[str], width: int, at: int, file: str) -> PriorLine:
    """One line: as many cells as the header, and a probability that is one."""
    mark = Mark(file, number)
    if len(cells) != width:
        message = f"this line has {len(cells)} cells, the first line has {width}."
        raise DataError(message, hint=FORM, mark=mark)
    try:
        probability = exact(cells[at])
    except ValueError as error:
        raise DataError(f"{PROBABILITY}: {error}.", mark=mark) from None
    if probability < 0:
        message = f"the probability {plain(probability)} is negative."
        raise DataError(message, hint="Probabilities are 0 or more.", mark=mark)
    return PriorLine(number, tuple(cell for i, cell in enumerate(cells) if i != at), probability)


def check_once(lines: Sequence[PriorLine], file: str) -> None:
    """No combination stands in two lines."""
    seen: dict[tuple[str, ...], int] = {}
    for line in lines:
        first = seen.setdefault(line.cells, line.number)
        if first != line.number:
            raise DataError(
                f"({', '.join(line.cells)}) stands in line {first} already.",
                hint="Keep one of the two lines, with the sum of both.",
                mark=Mark(file, line.number),
            )


@dataclass(frozen=True, slots=True)
class FittedPrior:
    """A prior for one table: values in place of texts.

    `columns` are the quasi-identifiers it tells apart, `domain` the sensitive values by code, those
    of the table first. `joint` is f(q, s); `blocks` is f(q*, s), the sum over all q of the prior
    that the release shows as q*; `labels` gives each q its q*.
    """

    columns: tuple[str, ...]
    domain: tuple[Any, ...]
    joint: Mapping[Cell, Shares]
    blocks: Mapping[Cell, Shares]
    labels: Mapping[Cell, Cell]

    def before(self, cell: Cell) -> Shares:
        """f(s|q) for every s."""
        total = sum(self.joint[cell].values())
        return {s: share / total for s, share in self.joint[cell].items()}

    def units(self, cell: Cell) -> Shares:
        """f(q,s) / f(q*,s), which is f(s|q) / f(s|q*) up to a factor that is the same for all s."""
        block = self.blocks[self.labels[cell]]
        return {s: share / block[s] for s, share in self.joint[cell].items() if share}


def own_distribution(question: MicrodataQuestion, sensitive: str) -> FittedPrior:
    """The prior where none is given: how frequent each value is in the whole table."""
    domain = question.base.dictionaries[sensitive]
    counts = question.before(sensitive)
    total = max(1, sum(counts.values()))  # nobody's value is known: no value has a share
    shares = {code: Fraction(counts.get(value, 0), total) for code, value in enumerate(domain)}
    return FittedPrior((), domain, {(): shares}, {(): shares}, {(): ()})


def fit(prior: FilePrior, question: MicrodataQuestion, sensitive: str) -> FittedPrior:
    """Match a prior with a table: its columns, its values, and whether it covers the data."""
    check_columns(prior, question, sensitive)
    columns = tuple(name for name in question.quasi if name in prior.columns)
    texts = {
        name: [line.cells[at] for line in prior.lines] for at, name in enumerate(prior.columns)
    }
    values = {
        name: read_values(prior, name, at, question.base) for at, name in enumerate(prior.columns)
    }
    check_no_gap(prior, texts[sensitive], sensitive)
    domain = extended(question.base.dictionaries[sensitive], values[sensitive].values())
    codes = {value: code for code, value in enumerate(domain)}
    cells = list(
        zip(*([values[name][text] for text in texts[name]] for name in columns), strict=True)
    )
    joint: dict[Cell, Shares] = {}
    for line, cell, text in zip(
        prior.lines, cells or [()] * len(prior.lines), texts[sensitive], strict=True
    ):
        shares = joint.setdefault(cell, dict.fromkeys(range(len(domain)), Fraction(0)))
        shares[codes[values[sensitive][text]]] += line.probability
    labels = label_cells(prior, question, columns, joint)
    blocks: dict[Cell, Shares] = {}
    for cell, shares in joint.items():
        block = blocks.setdefault(labels[cell], dict.fromkeys(range(len(domain)), Fraction(0)))
        for s, share in shares.items():
            block[s] += share
    fitted = FittedPrior(columns, domain, joint, blocks, labels)
    check_covers(prior, fitted, question, sensitive)
    return fitted


def check_columns(prior: FilePrior, question: MicrodataQuestion, sensitive: str) -> None:
    """The prior is about quasi-identifiers and the sensitive column."""
    known = (*question.quasi, sensitive, PROBABILITY)
    for name in prior.columns:
        if name not in known:
            raise DataError(
                f"{name!r} in {prior.file} is neither a quasi-identifier of {question.table.name} "
                f"nor the sensitive column {sensitive!r}.",
                hint=did_you_mean(name, known),
                mark=Mark(prior.file, 1),
            )
    if sensitive not in prior.columns:
        message = f"the prior {prior.file} has no column {sensitive!r}, the sensitive one."
        raise DataError(message, hint=FORM, mark=Mark(prior.file, 1))


def check_no_gap(prior: FilePrior, texts: Sequence[str], sensitive: str) -> None:
    """Every line says which sensitive value it is about."""
    for line, text in zip(prior.lines, texts, strict=True):
        if not text:
            raise DataError(
                f"this line has no {sensitive}.",
                hint="A prior is about the people whose value is known.",
                mark=Mark(prior.file, line.number),
            )


def read_values(prior: FilePrior, column: str, at: int, base: Counts) -> dict[str, Any]:
    """For every text of a column the value that it means; an empty cell is a missing value."""
    dictionary = base.dictionaries[column]
    known = {value_text(value): value for value in dictionary}
    for value, variants in base.raw.get(column, {}).items():
        known.update({value_text(variant): value for variant in variants})
    same = {value: value for value in dictionary}  # 28.0 is the 28 of the table
    read = reader(dictionary)
    found: dict[str, Any] = {"": None}
    for line in prior.lines:
        text = line.cells[at]
        if text in found:
            continue
        try:
            value = known[text] if text in known else read(text)
        except (ValueError, InvalidOperation):
            raise DataError(
                f"{text!r} is no value of column {column!r}, whose values are like "
                f"{value_text(dictionary[0])!r}.",
                mark=Mark(prior.file, line.number),
            ) from None
        found[text] = same.get(value, value)
    return found


def reader(dictionary: Sequence[Any]) -> Callable[[str], Any]:
    """How to read a value that the table does not have, by the type of those it has."""
    first = dictionary[0] if dictionary else ""
    if isinstance(first, bool | str):
        return str
    if isinstance(first, datetime.datetime):
        return datetime.datetime.fromisoformat
    if isinstance(first, datetime.date):
        return datetime.date.fromisoformat
    if isinstance(first, int):
        return lambda text: int(text) if "." not in text else whole_or_decimal(text)
    return float if isinstance(first, float) else Decimal


def whole_or_decimal(text: str) -> int | Decimal:
    """A number of a column of whole numbers, which 28.0 is too."""
    value = Decimal(text)
    return int(value) if value == value.to_integral_value() else value


def extended(dictionary: tuple[Any, ...], more: Any) -> tuple[Any, ...]:
    """The values of a table, then those of the prior that it does not have."""
    known = {None, *dictionary}
    return (*dictionary, *dict.fromkeys(value for value in more if value not in known))


def label_cells(
    prior: FilePrior,
    question: MicrodataQuestion,
    columns: Sequence[str],
    joint: Mapping[Cell, Shares],
) -> dict[Cell, Cell]:
    """For every combination of the prior what the release would show of it."""
    shown: list[dict[Any, Any]] = []
    for at, name in enumerate(columns):
        values = tuple(dict.fromkeys(cell[at] for cell in joint))
        try:
            shown.append(dict(zip(values, question.labels(name, values), strict=True)))
        except DataError as error:
            message = f"{error.message} It stands in {prior.file}."
            raise DataError(message, hint=error.hint, mark=Mark(prior.file)) from None
    return {cell: tuple(shown[at][value] for at, value in enumerate(cell)) for cell in joint}


def check_covers(
    prior: FilePrior, fitted: FittedPrior, question: MicrodataQuestion, sensitive: str
) -> None:
    """What occurs in the table is possible: a prior of 0 would be a contradiction."""
    base = question.base
    names = (*fitted.columns, sensitive)
    codes = np.stack([base.codes(name) for name in names])
    codes = np.unique(codes[:, codes[-1] < base.size(sensitive) - 1], axis=1)
    for row in codes.T.tolist():
        *cell, value = (
            (*base.dictionaries[name], None)[code] for name, code in zip(names, row, strict=True)
        )
        if not fitted.joint.get(tuple(cell), {}).get(row[-1]):
            found = zip(names, (*cell, value), strict=True)
            said = listed(
                [f"{name} {'missing' if one is None else value_text(one)!r}" for name, one in found]
            )
            raise DataError(
                f"the prior {prior.file} gives no probability to {said}, which occurs in table "
                f"{question.table.name}.",
                hint="Add a line for it: what is in the table cannot be impossible.",
                mark=Mark(prior.file),
            )
