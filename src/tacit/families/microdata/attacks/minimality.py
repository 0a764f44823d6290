"""Minimality: what somebody learns who knows that the levels are the least that pass (Wong et al.
2007).

A release whose levels are minimal says more than it shows: with any column one level lower some
check would have failed. The attacker knows everybody's quasi-identifiers, so each way to hand out a
group's values to its people is a world, and those in which a lower node passes all checks are ruled
out.

Counted exactly. People of a group whom no lower node tells apart are a block, and worlds are
counted by how many of each value a block has. A lower node splits groups, it never mixes them, so
each group has its own list of worlds, each with the lower nodes that fail there; groups meet only
in the question which nodes fail anywhere.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import accumulate
from math import comb

import numpy as np

from tacit.families.definition import Definition
from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.attacks.stories import Story, StoryStep
from tacit.families.microdata.counts import Counts
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.groups import group
from tacit.families.microdata.hierarchy import HierarchyLevel, hierarchy
from tacit.families.microdata.microdata import MicrodataQuestion, Person
from tacit.families.words import known_facts, mention, name_of, people, saying, spoken
from tacit.model.deadline import look
from tacit.model.numbers import percents

NAME = "minimality"
MOST = 20_000  # worlds times lower nodes
MOST_BLOCKS = 60
MOST_ROWS = 200_000
MOST_ASKED = 3_000  # different groups that a definition is asked about
# Checks that look at each group by itself. Others compare groups with the whole table.
LOCAL = ("k-anonymity", "l-diversity", "alpha-k", "k-e", "eps-m", "variance", "dissimilarity")

Row = tuple[int, ...]  # how many people of a block have each value
World = tuple[Row, ...]
Shares = dict[int, int]  # by set of nodes that fail (bits), how many worlds


class TooManyWorlds(Exception):
    """There are more worlds than we are ready to count."""


@dataclass(frozen=True, slots=True)
class LowerNode:
    """A lower node: one column one level lower, and the labels that its values get there."""

    column: str
    level: HierarchyLevel


@dataclass(frozen=True, slots=True)
class GroupBlocks:
    """One group: the blocks of people whom no lower node tells apart, and what they really have.

    `parts[n]` has for lower node n the subgroup that each block falls into.
    """

    rows: tuple[tuple[int, ...], ...]
    real: World
    parts: tuple[tuple[int, ...], ...]

    @property
    def sizes(self) -> Row:
        """How many people each block has."""
        return tuple(map(sum, self.real))

    @property
    def values(self) -> Row:
        """How many people of the group have each value."""
        return tuple(map(sum, zip(*self.real, strict=True)))


@dataclass(slots=True)
class WorldTally:
    """A group's worlds by the nodes that fail in them;
    `having` counts people with a value, by block.
    """

    worlds: Shares = field(default_factory=dict)
    having: dict[int, dict[tuple[int, int], int]] = field(default_factory=dict)


def minimality(scene: AttackScene) -> Story | None:
    """Whose value becomes more likely for an attacker who knows that the levels are minimal."""
    reason = obstacle(scene)
    if reason is None and not len(scene.cells.owner):
        return None
    if reason is None:
        nodes = lower_nodes(scene.question)
        rules = [one.definition for one in scene.checks]
        judge = BlockJudge(scene, rules)
        if not judge.holds_everywhere(scene.question.levels):
            reason = (
                "the release does not meet its checks, so its levels are not the least that pass"
            )
        elif any(
            judge.holds_everywhere({**scene.question.levels, node.column: node.level})
            for node in nodes
        ):
            reason = (
                "the levels are not minimal: a level could be lower and the checks would still hold"
            )
    if reason is not None:
        return not_computed(scene, reason)
    open_nodes = [node for node in nodes if not fails_by_size(scene.question, node, rules)]
    try:
        crowds = crowds_of(scene, open_nodes)
        beliefs = posterior(crowds, len(open_nodes), judge) if open_nodes else None
    except TooManyWorlds:
        return not_computed(
            scene,
            f"there are too many worlds to count: more than {MOST:,}, or too many different "
            "groups in them",
        )
    return describe_gainer(scene, crowds, beliefs, len(nodes))


def obstacle(scene: AttackScene) -> str | None:
    """Why this attack cannot be computed here, or None."""
    question = scene.question
    if not scene.levels_known:
        return "the release is a file, and its levels are not known"
    if not scene.checks:
        return "no check says which levels would do"
    if len(question.base) > MOST_ROWS:
        return f"the table has more than {MOST_ROWS:,} different rows"
    if not lower_nodes(question):
        return "nothing is generalized, so no level could be lower"
    if question.base.persons is not None:
        return "people have several rows"
    if scene.doubtful or scene.column in question.base.with_missing:
        return f"some values of {scene.column} are missing or may mean unknown"
    for one in scene.checks:
        name = one.definition.check_name
        if name not in LOCAL:
            return f"{name} compares groups with the whole table"
        if getattr(one.definition, "missing", "own-group") != "own-group":
            return f"{name} reads missing values with missing: match-any or error"
        if (
            one.definition.needs_sensitive
            and len(question.sensitive) > 1
            and one.sensitive != scene.column
        ):
            return f"{name} looks at other sensitive columns too"
    return None


def not_computed(scene: AttackScene, reason: str) -> Story:
    """A story that could not be told, with the reason."""
    return Story(NAME, f"not computed: {reason}", scene.column, reason=reason)


def lower_nodes(question: MicrodataQuestion) -> list[LowerNode]:
    """The nodes directly below the release in the lattice: one column one level lower."""
    nodes = []
    for name in question.quasi:
        levels = question.hierarchies[name].levels if name in question.hierarchies else ()
        height = next((i for i, level in enumerate(levels) if level is question.levels[name]), 0)
        if height:
            nodes.append(LowerNode(name, levels[height - 1]))
    return nodes


def fails_by_size(
    question: MicrodataQuestion, node: LowerNode, rules: Sequence[Definition]
) -> bool:
    """Does a lower node fail whatever the values are, because a group is too small?"""
    k = max((rule.k for rule in rules if isinstance(rule, KAnonymity)), default=0)
    levels = {**question.levels, node.column: node.level}
    return int(group(question.base, question.quasi, levels).sizes.min()) < k


class BlockJudge:
    """Asks the plan's own definitions whether a group with some values passes;
    each question once.
    """

    def __init__(self, scene: AttackScene, rules: Sequence[Definition]) -> None:
        self.scene = scene
        self.rules = rules
        self.known: dict[Row, bool] = {}
        self.asked = 0
        self.level = hierarchy(scene.column, scene.groups.dictionary).level(0)

    def passes(self, counts: Row) -> bool:
        """Do all checks hold for a group in which so many people have each value?"""
        if counts not in self.known:
            simple = [simply(rule, counts) for rule in self.rules]
            self.known[counts] = False not in simple and all(
                self.ask(rule, counts)
                for rule, known in zip(self.rules, simple, strict=True)
                if known is None
            )
        return self.known[counts]

    def ask(self, rule: Definition, counts: Row) -> bool:
        """Put one group to a definition:
        it takes about a millisecond, and is not done without end.
        """
        self.asked += 1
        if self.asked > MOST_ASKED:
            raise TooManyWorlds
        return rule.check(self.alone(counts), sensitive=self.scene.column).status == "holds"

    def alone(self, counts: Row) -> MicrodataQuestion:
        """A table of one group."""
        question, column = self.scene.question, self.scene.column
        codes = np.flatnonzero(np.array(counts))
        occurrences = np.array([counts[code] for code in codes.tolist()], dtype=np.int64)
        size = question.base.size(column)
        base = Counts(
            {column: question.base.dictionaries[column]},
            {column: size},
            ((column,),),
            (codes,),
            occurrences,
        )
        rows = int(occurrences.sum())
        return MicrodataQuestion(
            question.release,
            question.table,
            (),
            (column,),
            base,
            {column: self.level},
            rows,
            rows,
            measure=question.measure,
            hierarchies=question.hierarchies,
        )

    def holds_everywhere(self, levels: Mapping[str, HierarchyLevel]) -> bool:
        """Do all checks hold at some levels for the table as it is?"""
        asked = replace(
            self.scene.question, levels=levels, find=lambda values, limit: [], _cache={}
        )
        return all(
            rule.check(asked, sensitive=self.scene.column).status == "holds" for rule in self.rules
        )


def simply(rule: Definition, counts: Row) -> bool | None:
    """The answer of definitions that are one sum; None for the others.

    >>> simply(KAnonymity(k=3), (1, 1)), simply(LDiversity(kind="distinct", l=2), (1, 1, 0))
    (False, True)
    >>> (
    ...     simply(LDiversity(kind="recursive", c=2, l=2), (2, 0, 1)),
    ...     simply(LDiversity(kind="entropy", l=2), (1, 1)),
    ... )
    (False, None)
    """
    if isinstance(rule, KAnonymity):
        return sum(counts) >= rule.k
    if isinstance(rule, LDiversity) and rule.kind == "distinct":
        return bool(sum(count > 0 for count in counts) >= rule.l)
    if (
        isinstance(rule, LDiversity)
        and rule.kind == "recursive"
        and not (rule.dont_care or rule.negative)
    ):
        frequent = sorted(counts, reverse=True)
        return bool(frequent[0] < rule.c * sum(frequent[int(rule.l) - 1 :]))
    return None


def crowds_of(scene: AttackScene, nodes: Sequence[LowerNode]) -> list[GroupBlocks]:
    """The groups of the release with their blocks."""
    base, groups = scene.question.base, scene.groups
    labels = [node.level.codes[base.codes(node.column)].tolist() for node in nodes]
    width = len(groups.dictionary)
    codes, people_there = base.codes(scene.column).tolist(), base.occurrences.tolist()
    blocks: list[dict[tuple[int, ...], tuple[list[int], list[int]]]] = [
        {} for _ in range(len(groups))
    ]
    for row, number in enumerate(np.searchsorted(groups.keys, groups.key_of_row).tolist()):
        key = tuple(label[row] for label in labels)
        rows, counts = blocks[number].setdefault(key, ([], [0] * width))
        rows.append(row)
        counts[codes[row]] += people_there[row]
    return [
        GroupBlocks(
            tuple(tuple(rows) for rows, _ in found.values()),
            tuple(tuple(counts) for _, counts in found.values()),
            tuple(tuple(key[i] for key in found) for i in range(len(nodes))),
        )
        for found in blocks
    ]


def posterior(
    crowds: Sequence[GroupBlocks], nodes: int, judge: BlockJudge
) -> list[dict[tuple[int, int], Fraction]]:
    """For each group, block and value the share of the worlds kept in which a person has it.

    Worlds are kept in which every lower node fails somewhere. Each group is weighed with how often
    the other groups make up for the nodes that do not fail in it.
    """
    budget = [MOST]
    tallies = [tally(crowd, nodes, judge, budget) for crowd in crowds]
    every = (1 << nodes) - 1
    nothing: Shares = {0: 1}
    before = list(accumulate((one.worlds for one in tallies), either, initial=nothing))
    after = list(accumulate((one.worlds for one in reversed(tallies)), either, initial=nothing))[
        ::-1
    ]
    total = before[-1].get(every, 0)
    found = []
    for number, (crowd, own) in enumerate(zip(crowds, tallies, strict=True)):
        look()
        others = either(before[number], after[number + 1])
        beliefs: dict[tuple[int, int], Fraction] = {}
        for failed, having in own.having.items():
            weight = sum(ways for mask, ways in others.items() if mask | failed == every)
            for (block, value), count in having.items():
                share = Fraction(count * weight, total * crowd.sizes[block])
                beliefs[block, value] = beliefs.get((block, value), Fraction(0)) + share
        found.append(beliefs)
    return found


def either(one: Shares, other: Shares) -> Shares:
    """How many pairs of worlds there are by the nodes that fail in either.

    >>> either({0: 2, 1: 1}, {1: 3})
    {1: 9}
    """
    found: Shares = {}
    for left, ways in one.items():
        look()
        for right, more in other.items():
            found[left | right] = found.get(left | right, 0) + ways * more
    return found


def tally(crowd: GroupBlocks, nodes: int, judge: BlockJudge, budget: list[int]) -> WorldTally:
    """Count a group's worlds by which lower nodes fail in them."""
    if len(crowd.sizes) > MOST_BLOCKS:
        raise TooManyWorlds
    found = WorldTally()
    for world, ways in worlds(crowd.sizes, crowd.values):
        look()
        budget[0] -= max(1, nodes)
        if budget[0] < 0:
            raise TooManyWorlds
        failed = sum(1 << n for n in range(nodes) if fails(world, crowd.parts[n], judge))
        found.worlds[failed] = found.worlds.get(failed, 0) + ways
        having = found.having.setdefault(failed, {})
        for block, row in enumerate(world):
            for value, count in enumerate(row):
                if count:
                    having[block, value] = having.get((block, value), 0) + ways * count
    return found


def fails(world: World, part: tuple[int, ...], judge: BlockJudge) -> bool:
    """Does a subgroup of a lower node fail in a world?"""
    subgroups: dict[int, Row] = {}
    for block, name in enumerate(part):
        so_far = subgroups.get(name)
        row = world[block]
        subgroups[name] = row if so_far is None else tuple(map(sum, zip(so_far, row, strict=True)))
    return not all(judge.passes(counts) for counts in subgroups.values())


def worlds(sizes: Row, values: Row) -> Iterator[tuple[World, int]]:
    """All ways to hand out a group's values to its blocks, each with how
    many assignments to people it is.

    >>> list(worlds((1, 1), (1, 1)))
    [(((0, 1), (1, 0)), 1), (((1, 0), (0, 1)), 1)]
    >>> sum(ways for _, ways in worlds((2, 2), (2, 1, 1)))
    12
    """
    if not sizes:
        yield (), 1
        return
    for row, ways in handfuls(sizes[0], values):
        rest = tuple(have - taken for have, taken in zip(values, row, strict=True))
        for world, more in worlds(sizes[1:], rest):
            yield (row, *world), ways * more


def handfuls(size: int, values: Row) -> Iterator[tuple[Row, int]]:
    """The ways to take some values for the people of a block, and to hand them out among these."""
    if not values:
        if not size:
            yield (), 1
        return
    later = sum(values[1:])
    for taken in range(max(0, size - later), min(size, values[0]) + 1):
        for row, ways in handfuls(size - taken, values[1:]):
            yield (taken, *row), ways * comb(size, taken)


def describe_gainer(
    scene: AttackScene,
    crowds: Sequence[GroupBlocks],
    beliefs: list[dict[tuple[int, int], Fraction]] | None,
    nodes: int,
) -> Story:
    """The story of the person whose true value gains most."""
    changes = list(changed(crowds, beliefs))
    found = best(scene, crowds, changes)
    crowd, name = crowds[found.number], scene.groups.dictionary[found.value]
    share, after = found.share, found.after
    person = scene.place.person if scene.place else member(scene, crowd, found.block, found.value)
    before = scene.before(name)
    word = spoken(scene.column)
    concerned = sum(one.people for one in changes if one.gain > 0)
    first, second = percents(share, after)
    headline = "knowing how the levels were chosen does not help an attacker"
    if concerned:
        headline = (
            f"knowing how the levels were chosen makes the true {word} of {concerned:,} of "
            f"{people(scene.question.people)} more likely"
        )
    if scene.place is not None:
        headline = f"knowing how the levels were chosen moves the belief from {first} to {second}"
    sure = "is certain" if after == 1 else f"believes with {second}"
    return Story(
        NAME,
        headline,
        scene.column,
        f"Anyone who knows that {name_of(person)} {known_facts(person.known)} believes with "
        f"{first} that {mention(person)} {saying(scene.column, name)}; whoever also knows that no "
        f"lower level passes {sure}. Belief {first} -> {second}.",
        person,
        name,
        share,
        after,
        people=concerned if scene.place is None else int(after > share),
        steps=(
            StoryStep("before the release", before),
            StoryStep("with the release", share),
            StoryStep("knowing how the levels were chosen", after),
        ),
        facts={
            "lower_nodes": nodes,
            "gain": found.gain,
            "checks": len(scene.checks),
            "any_change": any_change(crowds, beliefs),
        },
    )


def any_change(
    crowds: Sequence[GroupBlocks], beliefs: Sequence[Mapping[tuple[int, int], Fraction]] | None
) -> bool:
    """Does the belief in any value, true or not, of any person change?"""
    return beliefs is not None and any(
        beliefs[number].get((block, value), Fraction(0)) != Fraction(count, sum(crowd.sizes))
        for number, crowd in enumerate(crowds)
        for block in range(len(crowd.sizes))
        for value, count in enumerate(crowd.values)
    )


@dataclass(frozen=True, slots=True)
class BeliefChange:
    """What becomes of the belief in the true value of some people of a block."""

    number: int
    block: int
    value: int
    people: int
    share: Fraction
    after: Fraction

    @property
    def gain(self) -> Fraction:
        """By how much the belief rises."""
        return self.after - self.share


def changed(
    crowds: Sequence[GroupBlocks], beliefs: Sequence[Mapping[tuple[int, int], Fraction]] | None
) -> Iterator[BeliefChange]:
    """The belief in everybody's true value: its share in the group, and among the worlds kept."""
    for number, crowd in enumerate(crowds):
        total = sum(crowd.sizes)
        for block, row in enumerate(crowd.real):
            for value, count in enumerate(row):
                if count:
                    share = Fraction(crowd.values[value], total)
                    after = share if beliefs is None else beliefs[number][block, value]
                    yield BeliefChange(number, block, value, count, share, after)


def best(
    scene: AttackScene, crowds: Sequence[GroupBlocks], changes: Sequence[BeliefChange]
) -> BeliefChange:
    """The greatest gain (then the greatest belief, then the first), or the target's own."""
    if scene.place is None:
        return max(changes, key=lambda one: (one.gain, one.after))
    row, value = scene.place.row, scene.groups.dictionary.index(scene.place.value)
    number = scene.place.number
    block = next(i for i, rows in enumerate(crowds[number].rows) if row in rows)
    return next(
        one for one in changes if (one.number, one.block, one.value) == (number, block, value)
    )


def member(scene: AttackScene, crowd: GroupBlocks, block: int, value: int) -> Person:
    """The first person of a block who has a value."""
    base = scene.question.base
    row = next(row for row in crowd.rows[block] if int(base.codes(scene.column)[row]) == value)
    known = {name: base.value(name, row) for name in scene.question.quasi}
    return scene.question.somebody(known, scene.column, scene.groups.dictionary[value])
