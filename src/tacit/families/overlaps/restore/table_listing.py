"""Table listing: all tables that fit, written out, so that thousands of further views are judged
at once.

A table is a row of values, one for each person. A further view keeps the rows that give it its true
answer, and the beliefs are the shares of what is left. Counts stay below 2**53, so floats hold them
exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from tacit.families.overlaps.overlap import NOTHING, Integers
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags
from tacit.model.deadline import look

Tables = np.ndarray[Any, np.dtype[np.int8]]
Floats = np.ndarray[Any, np.dtype[np.floating[Any]]]
MOST_LISTED = 50_000  # tables of one list
MOST_VALUES = 120  # a value is a small integer in a list
# people in no view that a further view may show here: 12! times the tables of a list is below 2**52
MOST_ADDED = 12
AT_ONCE = 3_000_000  # views times tables that are looked at in one go


@dataclass(frozen=True, slots=True, eq=False)
class TableListing:
    """The tables of some people: `pieces` that are in it, the
    `people`, and their values in each table.
    """

    pieces: frozenset[int]
    people: Integers
    tables: Tables


@dataclass(frozen=True, slots=True, eq=False)
class ListVerdict:
    """What a list says about some further views, each by itself.

    `top` of the `tables`, or where `added` people are counted together of `tables` times their
    number, is the largest belief. `few` is the least number of values that anybody may have.
    `beliefs` are the shares of all people of the list, by meaning.
    """

    tables: Integers
    top: Integers
    of: Integers
    few: Integers
    beliefs: Floats
    kept: Flags | None = None


class Lists:
    """The lists of the pieces of what is published.
    They do not depend on what is true, only on what is shown.
    """

    def __init__(self, out: DisclosedViews, most: int = MOST_LISTED) -> None:
        self.out = out
        self.most = most
        self._found: dict[int, Tables | None] = {}

    def of_piece(self, piece: int) -> Tables | None:
        """The tables of one piece; None where they are too many."""
        if piece not in self._found:
            self._found[piece] = listed_piece(self.out, piece, self.most)
        return self._found[piece]

    def start(self) -> TableListing:
        """A list about nobody: there is one such table."""
        return TableListing(
            frozenset(), np.zeros(0, dtype=np.int64), np.zeros((1, 0), dtype=np.int8)
        )

    def joined(self, listing: TableListing, pieces: frozenset[int]) -> TableListing | None:
        """A list with more pieces in it: all combinations. None where they are too many."""
        if self.out.values > MOST_VALUES:
            return None
        tables, people = listing.tables, [listing.people]
        for piece in sorted(pieces - listing.pieces):
            look()
            more = self.of_piece(piece)
            if more is None or len(tables) * len(more) > self.most:
                return None
            tables = np.hstack(
                [np.repeat(tables, len(more), axis=0), np.tile(more, (len(tables), 1))]
            )
            people.append(np.flatnonzero(self.out.piece_of == piece))
        return TableListing(listing.pieces | pieces, np.concatenate(people), tables)


def listed_piece(out: DisclosedViews, piece: int, most: int) -> Tables | None:
    """The tables of a piece, person by person; None where they are too many on the way.

    >>> from fractions import Fraction
    >>> from tacit.families.overlaps.overlap import overlap_of
    >>> views = overlap_of("xy", ["xy", "xy"], [[0], [0, 1], [1]])
    >>> out = DisclosedViews(
    ...     views, np.array([0, 1, 2]), np.array([0, 1, 0]), Fraction(1, 2), ((0,), (1,))
    ... )
    >>> listed_piece(out, 0, 10).tolist()
    [[0, 1, 0], [1, 0, 1]]
    """
    people = np.flatnonzero(out.piece_of == piece)
    outputs = out.overlap.outputs[out.class_of[people]]
    rows, numbers = np.unique(outputs, return_inverse=True)
    numbers = numbers.reshape(outputs.shape)
    left = np.zeros((1, len(rows)), dtype=np.int32)
    for person, value in enumerate(out.value[people].tolist()):
        np.add.at(left[0], numbers[person, :, value], 1)
    wide = outputs.shape[2]
    tables = np.zeros((1, len(people)), dtype=np.int8)
    # Those in most views come first: what they have rules out the most.
    for person in np.argsort(-(outputs != NOTHING).any(axis=2).sum(axis=1), kind="stable").tolist():
        look()
        grown, rest = [], []
        for value in range(wide):
            mine = numbers[person, outputs[person, :, value] != NOTHING, value]
            fits = np.flatnonzero((left[:, mine] > 0).all(axis=1))
            with_it, without = tables[fits], left[fits]
            with_it[:, person] = value
            without[:, mine] -= 1
            grown.append(with_it)
            rest.append(without)
        tables, left = np.concatenate(grown), np.concatenate(rest)
        if len(tables) > 4 * most:
            return None
    done = (left[:, rows != NOTHING] == 0).all(axis=1)
    tables = tables[done]
    return tables[np.lexsort(tables.T[::-1])] if len(tables) <= most else None


def judge_listed(
    out: DisclosedViews, listing: TableListing, members: Flags, *, keep: bool = False
) -> ListVerdict:
    """Judge further views, one by one, that touch no other pieces than those of the list.

    People of a view who are in no list are in no other view either: with `f` of them and `left` of
    each value to go round, they can have them in f! / prod(left!) ways.
    """
    parts = [
        _judge_piece(out, listing, members[some], keep)
        for some in _batches(len(members), len(listing.tables))
    ]
    joined = {
        name: np.concatenate([getattr(one, name) for one in parts])
        for name in ("tables", "top", "of", "few", "beliefs")
    }
    return ListVerdict(
        **joined,
        kept=np.concatenate([one.kept for one in parts if one.kept is not None]) if keep else None,
    )


def judged_masks(out: DisclosedViews, listing: TableListing, kept: Flags) -> ListVerdict:
    """Judge sets of further views that add nobody, from the tables that each set keeps."""
    parts = [
        _judged_masks(out, listing, kept[some]) for some in _batches(len(kept), len(listing.tables))
    ]
    return ListVerdict(
        **{
            name: np.concatenate([getattr(one, name) for one in parts])
            for name in ("tables", "top", "of", "few", "beliefs")
        }
    )


def _judged_masks(out: DisclosedViews, listing: TableListing, kept: Flags) -> ListVerdict:
    meaning = np.concatenate(
        [np.isin(listing.tables, same) for same in out.meanings], axis=1
    ).astype(np.float32)
    cells = (kept.astype(np.float32) @ meaning).reshape(
        len(kept), len(out.meanings), len(listing.people)
    )
    tables = kept.sum(axis=1)
    few = (cells > 0).sum(axis=1).min(axis=1, initial=len(out.meanings))
    top = cells.max(axis=(1, 2), initial=0.0).astype(np.int64)
    return ListVerdict(tables, top, tables, few, np.zeros((len(kept), 0), dtype=np.float32))


def is_exact(added: int) -> bool:
    """Can views be judged here that add so many people?"""
    return added <= MOST_ADDED


def _batches(many: int, tables: int) -> Iterator[slice]:
    step = max(1, AT_ONCE // max(tables, 1))
    for at in range(0, max(many, 1), step):
        look()
        yield slice(at, at + step)


def _judge_piece(
    out: DisclosedViews, listing: TableListing, members: Flags, keep: bool
) -> ListVerdict:
    inside = members[:, listing.people].astype(np.float32)
    added = members.sum(axis=1) - members[:, listing.people].sum(axis=1)
    answers = out.counts(members)
    fits = np.ones((len(members), len(listing.tables)), dtype=bool)
    left = []
    for value in range(out.values):
        shown = inside @ (listing.tables == value).T.astype(np.float32)
        rest = answers[:, value, None].astype(np.float32) - shown
        fits &= rest >= 0
        left.append(rest)
    weight: Floats = _ways(added, left, fits) if added.any() else fits.astype(np.float32)
    meaning = np.concatenate(
        [np.isin(listing.tables, same) for same in out.meanings], axis=1
    ).astype(weight.dtype)
    tables: Floats = weight.sum(axis=1, dtype=np.float64)
    cells = (
        (weight @ meaning)
        .astype(np.float64)
        .reshape(len(members), len(out.meanings), len(listing.people))
    )
    top, of = cells.max(axis=(1, 2), initial=0.0), tables.copy()
    few = (cells > 0).sum(axis=1).min(axis=1, initial=len(out.meanings))
    if added.any():
        # Each of the added people has the same chances:
        # together they have what is left, on average.
        shares = np.stack(
            [sum((weight * left[value]).sum(axis=1) for value in same) for same in out.meanings],
            axis=1,
        )
        some = added > 0
        higher = some & (shares.max(axis=1) > top * added)
        top[higher], of[higher] = shares.max(axis=1)[higher], (tables * added)[higher]
        few[some] = np.minimum(few, (shares > 0).sum(axis=1))[some]
    beliefs = cells.transpose(0, 2, 1) / tables[:, None, None]
    return ListVerdict(
        tables.astype(np.int64),
        top.astype(np.int64),
        of.astype(np.int64),
        few,
        beliefs.astype(np.float32),
        fits if keep else None,
    )


def _ways(added: Integers, left: Sequence[Floats], fits: Flags) -> Floats:
    """In how many ways the people who are added can have what is left;
    the quotients are whole numbers below 2**53, so exact.
    """
    factorials = np.array([float(factorial(one)) for one in range(MOST_ADDED + 1)])
    below = np.ones(fits.shape)
    for rest in left:
        below *= factorials[np.where(fits, rest, 0).astype(np.int64)]
    found: Floats = np.where(fits, factorials[added][:, None] / below, 0.0)
    return found


def narrowed(
    out: DisclosedViews, listing: TableListing, view: Flags, most: int = MOST_LISTED
) -> TableListing | None:
    """The list with one further view, and the people whom it adds; None where that is too long."""
    found = judge_listed(out, listing, view[None], keep=True)
    assert found.kept is not None
    tables = listing.tables[found.kept[0]]
    added = np.setdiff1d(np.flatnonzero(view), listing.people)
    if not len(added):
        return TableListing(listing.pieces, listing.people, tables)
    if int(found.tables[0]) > most:
        return None
    inside = np.isin(listing.people, np.flatnonzero(view))
    answer = out.counts(view[None])[0]
    left = answer - np.stack(
        [(tables[:, inside] == value).sum(axis=1) for value in range(out.values)], axis=1
    )
    kinds, kind = np.unique(left, axis=0, return_inverse=True)
    grown = []
    for number, one in enumerate(kinds):
        orders, mine = _orders(one), tables[kind.reshape(-1) == number]
        grown.append(
            np.hstack([np.repeat(mine, len(orders), axis=0), np.tile(orders, (len(mine), 1))])
        )
    return TableListing(
        listing.pieces, np.concatenate([listing.people, added]), np.concatenate(grown)
    )


def _orders(counts: Integers) -> Tables:
    """All orders of a multiset of values.

    >>> _orders(np.array([1, 2])).tolist()
    [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    """
    rows = np.zeros((1, 0), dtype=np.int8)
    left = counts[None, :].copy()
    for _ in range(int(counts.sum())):
        grown, rest = [], []
        for value in range(len(counts)):
            some = left[:, value] > 0
            grown.append(
                np.hstack([rows[some], np.full((int(some.sum()), 1), value, dtype=np.int8)])
            )
            after = left[some]
            after[:, value] -= 1
            rest.append(after)
        rows, left = np.concatenate(grown), np.concatenate(rest)
    return rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows
