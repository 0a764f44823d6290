"""Judge of a node: do the required checks hold at a node of the lattice, if need be without some
rows?
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tacit.families.microdata.groups import Mask
from tacit.families.microdata.hierarchy import HierarchyLevel
from tacit.families.microdata.lattice import Lattice, Node
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.recoded import Recoded, as_it_is, generalized, nobody
from tacit.families.microdata.repair.requirements import Required
from tacit.families.microdata.rollup import RollupCells, Rollups
from tacit.model.deadline import look

if TYPE_CHECKING:
    from tacit.families.microdata.counts import Integers


@dataclass(frozen=True, slots=True)
class NodeOutcome:
    """What was found at a node: whether all checks hold, how many rows
    must go for that, or what stops it.

    `sizes` are the sizes of the groups that are left, for measures of utility that need them.
    """

    node: Node
    holds: bool
    suppressed: int
    stopped_by: Required | None
    sizes: Integers


@dataclass(frozen=True, slots=True)
class FailsBeside:
    """The check that fails together with what is published, and the groups that have to change.

    `cells` marks the cells of their people. `near` has pairs of a group that is published and a
    cell, for groups that are published with somebody who fails: where all their people are in one
    group of what was found, these can have each other's values.
    """

    required: Required
    cells: Mask
    near: Integers


class PublishedJudge(Protocol):
    """What is published: it is judged together with a release that holds by itself."""

    @property
    def is_monotone(self) -> bool:
        """Do levels above some that hold hold too?"""

    @property
    def names(self) -> list[str]:
        """What is published."""

    @property
    def open_(self) -> int:
        """How often it was not found out whether a check holds."""

    def stops(self, levels: Mapping[str, int]) -> Required | None:
        """The check that does not hold at some levels together with what is published."""

    def failing(self, recoded: Recoded) -> FailsBeside | None:
        """What does not hold for groups of their own, or without some rows, together with what is
        published; None where all hold.
        """


class NodeJudge:
    """Asks the required checks at nodes of the lattice; every node is asked once.

    `suppress` is how many rows may go. A node passes where, after dropping the groups that fail,
    all checks hold. Where a definition cannot say which groups must go, nothing is dropped on its
    account. `beside` is what is published.
    """

    def __init__(
        self,
        raw: MicrodataQuestion,
        required: Sequence[Required],
        lattice: Lattice,
        *,
        suppress: int = 0,
        beside: PublishedJudge | None = None,
    ) -> None:
        self.raw = raw
        self.beside = beside
        self.lattice = lattice
        self.suppress = suppress
        self.asked = 0
        self.required = sorted(required, key=lambda one: one.definition.needs_sensitive)
        self.least_group = max(
            (
                one.definition.least_group
                for one in required
                if one.definition.missing != "match-any"
            ),
            default=1,
        )
        self._outcomes: dict[Node, NodeOutcome] = {}
        self._kept_beside: dict[Node, Mask] = {}  # the groups that hold with what is published
        self._levels: dict[tuple[str, int], HierarchyLevel] = {}
        self._sizes: Rollups | None = None
        self._values: list[Rollups] = []

    @property
    def is_monotone(self) -> bool:
        """Does a node above one that passes pass too?"""
        beside_is = self.beside is None or (self.beside.is_monotone and not self.suppress)
        return beside_is and all(
            one.definition.is_monotone_for(reading)
            and (not self.suppress or type(one.definition).monotone_with_suppression)
            for one in self.required
            for reading in (self.raw, *self.raw.readings)
        )

    @property
    def is_thorough(self) -> bool:
        """Does no other way of dropping rows do better than dropping the groups that fail?"""
        return not self.suppress or (self.beside is None and self._alone)

    @property
    def _alone(self) -> bool:
        """Is every group judged alone? Then those that are left need not be asked again."""
        return all(one.definition.whole_groups_suffice for one in self.required)

    @property
    def _looks_at_values(self) -> bool:
        """Does any check look at sensitive values?"""
        return any(one.definition.needs_sensitive for one in self.required)

    def holds(self, node: Node) -> bool:
        """Do all checks hold at a node?"""
        return self.outcome(node).holds

    def outcome(self, node: Node) -> NodeOutcome:
        """What was found at a node."""
        if node not in self._outcomes:
            self.asked += 1
            outcome = self._early(node) or self._full(node)
            if self.beside is not None and outcome.holds:
                way = self._without_some if self.suppress else self._together
                outcome = way(outcome, self.beside)
            self._outcomes[node] = outcome
        return self._outcomes[node]

    def _together(self, outcome: NodeOutcome, beside: PublishedJudge) -> NodeOutcome:
        """The same with what is published: more is known then, so it is asked last."""
        stopped = beside.stops(self.lattice.named(outcome.node))
        return replace(outcome, holds=stopped is None, stopped_by=stopped)

    def _without_some(self, outcome: NodeOutcome, beside: PublishedJudge) -> NodeOutcome:
        """The same where rows may be dropped: the groups of people who fail together with what is
        published go too, until nobody fails or too many rows went.
        """
        node = outcome.node
        question = self._at_levels(node)
        groups, kept = question.groups(), self._kept(question)
        while True:
            look()
            rows = np.isin(groups.key_of_row, groups.keys[kept])
            recoded = generalized(self.raw, self.lattice.named(node), keep=rows)
            if (found := beside.failing(recoded)) is None:
                break
            kept &= ~np.isin(groups.keys, groups.key_of_row[recoded.rows[found.cells]])
            kept = self._kept(question, kept)
            gone = question.base.rows - rows_in(question, kept)
            if gone > self.suppress or not kept.any():
                return replace(outcome, holds=False, suppressed=gone, stopped_by=found.required)
        self._kept_beside[node] = kept
        stopped_by = self._stopping(question, kept)
        return NodeOutcome(
            node,
            stopped_by is None,
            question.base.rows - rows_in(question, kept),
            stopped_by,
            groups.sizes[kept],
        )

    def enough_people(self, node: Node, columns: Sequence[int] | None = None) -> bool:
        """Are there few enough people in groups that are too small for any check?

        This is necessary, cheap, and monotone also where rows may be suppressed.
        With some columns only it is cheaper still: groups of fewer columns are larger.
        """
        if columns is not None:
            node = tuple(
                level if place in columns else top
                for place, (level, top) in enumerate(zip(node, self.lattice.top, strict=True))
            )
        counts = self._group_sizes(node).counts
        return int(counts[counts < self.least_group].sum()) <= self.suppress

    def recoded_whole(self, node: Node) -> Recoded:
        """The release at a node with all rows, whether it passes or not."""
        return generalized(self.raw, self.lattice.named(node))

    def recoded(self, node: Node) -> Recoded:
        """The release at a node that passes, without the rows that must go."""
        outcome = self.outcome(node)
        if not outcome.suppressed:
            return self.recoded_whole(node)
        question = self._at_levels(node)
        groups, kept = question.groups(), self._kept_beside.get(node)
        kept = self._kept(question) if kept is None else kept
        rows = np.isin(groups.key_of_row, groups.keys[kept])
        return generalized(self.raw, self.lattice.named(node), keep=rows)

    def released(self, node: Node) -> MicrodataQuestion:
        """The question about the release at a node that passes:
        counted anew only where it must be.
        """
        if node in self._kept_beside:
            return only(self._at_levels(node), self._kept_beside[node])
        question = self._question(node)
        return only(question, self._kept(question)) if self.outcome(node).suppressed else question

    # -- one node ----------------------------------------------------------------------------------

    def _early(self, node: Node) -> NodeOutcome | None:
        """Fails before values are looked at, where groups are too small."""
        if not self._is_rolled_up or self.least_group == 1 or self.enough_people(node):
            return None
        stopped = next(
            one for one in self.required if one.definition.least_group == self.least_group
        )
        return NodeOutcome(node, False, 0, stopped, self._group_sizes(node).counts)

    def _full(self, node: Node) -> NodeOutcome:
        if not self.suppress:
            return self._without_suppression(node)
        question = self._question(node, values=self._looks_at_values)
        kept = self._kept(question)
        sizes = question.groups().sizes
        gone = question.base.rows - rows_in(question, kept)
        if gone > self.suppress or not kept.any():
            return NodeOutcome(node, False, gone, self._stopped_by(question), sizes)
        stopped = self._stopping(question, kept)
        return NodeOutcome(node, stopped is None, gone, stopped, sizes[kept])

    def _stopping(self, question: MicrodataQuestion, kept: Mask) -> Required | None:
        """The check that does not hold for some groups alone."""
        left = only(question, kept)
        return next((one for one in self.required if not one.holds(left)), None)

    def _without_suppression(self, node: Node) -> NodeOutcome:
        stopped = next(
            (one for one in self.required if not one.holds(self._needed(one, node))), None
        )
        sizes = (
            self._group_sizes(node).counts
            if self._is_rolled_up
            else self._question(node).groups().sizes
        )
        return NodeOutcome(node, stopped is None, 0, stopped, sizes)

    def _needed(self, one: Required, node: Node) -> MicrodataQuestion:
        """Definitions that look at no values are asked about counts without them."""
        return self._question(node, values=one.definition.needs_sensitive)

    def _stopped_by(self, question: MicrodataQuestion) -> Required | None:
        """The check on whose account most people would have to go."""

        def people(one: Required) -> int:
            failing = one.to_drop(question)
            return -1 if failing is None else int(question.groups().sizes[failing].sum())

        return max(self.required, key=people, default=None)

    def _kept(self, question: MicrodataQuestion, first: Mask | None = None) -> Mask:
        """The groups that are left when those that fail go, until none fails or too many rows went;
        where some went already, of the others.

        Where checks compare with the whole table, what is left must be asked again.
        """
        kept = np.ones(len(question.groups()), dtype=bool) if first is None else first.copy()
        while kept.any():
            look()
            part = only(question, kept)
            failing = np.zeros(int(kept.sum()), dtype=bool)
            for one in self.required:
                mask = one.to_drop(part)
                if mask is not None:
                    failing |= mask
            if not failing.any():
                break
            kept[np.flatnonzero(kept)[failing]] = False
            if self._alone:
                break  # those that are left do not change: they are asked once more, by `holds`
            if question.base.rows - rows_in(question, kept) > self.suppress:
                break
        return kept

    # -- the question at a node --------------------------------------------------------------------

    @property
    def _is_rolled_up(self) -> bool:
        """Can the counts of a node be added up? Not where people have several rows, or values
        are looked up.
        """
        return self.raw.base.persons is None and not any(
            one.definition.looks_up for one in self.required
        )

    def _question(self, node: Node, *, values: bool = True) -> MicrodataQuestion:
        if not self._is_rolled_up:
            return self._at_levels(node)
        if not values:
            return self._rolled_up(self.raw, self._size_rollups(), node, ())
        questions = [
            self._rolled_up(reading, rollups, node, reading.sensitive)
            for reading, rollups in zip(
                (self.raw, *self.raw.readings), self._value_rollups(), strict=True
            )
        ]
        return replace(questions[0], readings=tuple(questions[1:]))

    def _at_levels(self, node: Node) -> MicrodataQuestion:
        """The raw table at some levels, counted anew."""
        return replace(self.recoded_whole(node).question(), find=nobody)

    def _rolled_up(
        self, reading: MicrodataQuestion, rollups: Rollups, node: Node, sensitive: tuple[str, ...]
    ) -> MicrodataQuestion:
        base = rollups.at(node)
        levels = {
            name: self._level(rollups, name, height)
            for name, height in self.lattice.named(node).items()
        }
        own = {name: reading.levels[name] for name in sensitive}
        return replace(
            reading,
            base=base,
            levels={**levels, **own},
            sensitive=sensitive,
            readings=(),
            find=nobody,
            _cache={},
            _before={},
        )

    def _level(self, rollups: Rollups, name: str, height: int) -> HierarchyLevel:
        if (name, height) not in self._levels:
            self._levels[name, height] = as_it_is(rollups.shown(name, height))
        return self._levels[name, height]

    def _group_sizes(self, node: Node) -> RollupCells:
        return self._size_rollups().cells(node)

    def _size_rollups(self) -> Rollups:
        if self._sizes is None:
            self._sizes = Rollups(self.raw.base, self.raw.quasi, self.raw.hierarchies)
        return self._sizes

    def _value_rollups(self) -> list[Rollups]:
        if not self._values:
            self._values = [
                Rollups(reading.base, self.raw.quasi, self.raw.hierarchies, self.raw.sensitive)
                for reading in (self.raw, *self.raw.readings)
            ]
        return self._values


def only(question: MicrodataQuestion, kept: Mask) -> MicrodataQuestion:
    """The question about some groups alone, as if the others were not in the table."""
    if kept.all():
        return question
    asked = one_reading(question, kept)
    return replace(
        asked, readings=tuple(one_reading(reading, kept) for reading in question.readings)
    )


def one_reading(question: MicrodataQuestion, kept: Mask) -> MicrodataQuestion:
    """One reading of the question about some groups alone."""
    groups = question.groups()
    base = question.base.only(np.flatnonzero(np.isin(groups.key_of_row, groups.keys[kept])))
    people = base.rows if base.persons is None else base.people(np.arange(len(base)))
    fresh: dict[str, Any] = {"_cache": {}, "_before": {}}
    return replace(question, base=base, rows=base.rows, people=people, readings=(), **fresh)


def rows_in(question: MicrodataQuestion, kept: Mask) -> int:
    """How many rows some groups have."""
    if question.base.persons is None:
        return int(question.groups().sizes[kept].sum())
    groups = question.groups()
    inside = np.isin(groups.key_of_row, groups.keys[kept])
    return int(question.base.occurrences[inside].sum())
