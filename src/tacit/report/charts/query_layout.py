"""Where the subgoals of a query stand in a picture:
boxes in layers, and lines between columns that must be equal.

Layers are the distances from one subgoal in the join graph, so that every join is within a layer or
between neighbours, and its line stays in the gap behind a layer: it never runs across a box.
Lengths are pixels that we set ourselves.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from tacit.families.queries.query import Conjunctive, Constant, Relation, Relations, Term, Variable
from tacit.report.charts.portrait_chart import LETTER, shortened

MOST_COLUMNS = 6  # of a table that is shown whole
MOST_LINES = 9  # of a box
TEXT = 18  # letters of a name or value
BOLD = 9  # the width of a bold letter
HEAD, LINE, FOOT = 32, 22, 10  # heights within a box
PAD, DOT, BETWEEN = (
    12,
    16,
    16,
)  # widths within a box: its edges, the dot of what is shown, between name and value
GAP = 20  # between boxes of a layer
GUTTER = 48  # between layers, where the lines are

Place = tuple[int, int]  # a subgoal and one of its columns


@dataclass(frozen=True, slots=True)
class Cell:
    """A line of a box: a column, and what the query asks of it.
    `place` is the column's place; `value` is empty where any will do.
    """

    place: int
    column: str
    value: str
    shown: bool = False
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Box:
    """A subgoal: its table, the columns that are drawn and how
    many are not, and where it stands.
    """

    number: int
    table: str
    cells: tuple[Cell, ...]
    left_out: int
    width: int
    x: int = 0
    y: int = 0

    @property
    def height(self) -> int:
        """Its height with all lines."""
        return HEAD + LINE * (len(self.cells) + bool(self.left_out)) + FOOT

    def at(self, place: int) -> int:
        """The height at which a column stands; one that is not drawn stands among the last line."""
        line = next(
            (line for line, cell in enumerate(self.cells) if cell.place == place), len(self.cells)
        )
        return self.y + HEAD + LINE * line + LINE // 2


@dataclass(frozen=True, slots=True)
class Join:
    """A line between two columns that must be equal: from the right edge of a box to the left
    one of the next layer, or back to its own layer.
    """

    start: tuple[int, int]
    end: tuple[int, int]
    back: bool


@dataclass(frozen=True, slots=True)
class GraphLayout:
    """Where everything stands, from 0, 0 on."""

    boxes: tuple[Box, ...]
    joins: tuple[Join, ...]
    width: int
    height: int


def layout(
    part: Conjunctive, relations: Relations, kept: Sequence[int] | None = None
) -> GraphLayout:
    """The subgoals of a conjunctive query, or those of them that are kept, each with its place.

    >>> from tacit.families.queries.query import Atom
    >>> x, y, z = map(Variable, "xyz")
    >>> tables = {"R": Relation("R", ("a", "b")), "S": Relation("S", ("c",))}
    >>> found = layout(
    ...     Conjunctive((x,), (Atom("R", (x, y)), Atom("S", (y,)), Atom("S", (z,)))), tables
    ... )
    >>> [(box.table, box.x, box.y) for box in found.boxes], len(found.joins)
    ([('R', 0, 0), ('S', 121, 11), ('S', 0, 106)], 1)
    """
    chosen = list(range(len(part.atoms))) if kept is None else sorted(kept)
    boxes = {number: box(part, number, relations[part.atoms[number].relation]) for number in chosen}
    spots = meeting_places(part, chosen)
    placed: dict[int, Box] = {}
    level: dict[int, int] = {}
    top = width = 0
    for group in components(chosen, spots):
        layers = layered(group, neighbours(spots))
        level |= {number: depth for depth, layer in enumerate(layers) for number in layer}
        stood = stand([[boxes[number] for number in layer] for layer in layers], top)
        placed |= {one.number: one for one in stood}
        top = max(one.y + one.height for one in stood) + GAP
        width = max(
            width,
            max(one.x + one.width for one in stood) + (GUTTER if loops(layers[-1], spots) else 0),
        )
    lines = tuple(join for spot in spots.values() for join in joins(spot, placed, level))
    return GraphLayout(
        tuple(placed[number] for number in sorted(placed)), lines, width, max(0, top - GAP)
    )


# -- what a box says -------------------------------------------------------------------------------


def box(part: Conjunctive, number: int, relation: Relation) -> Box:
    """A subgoal as a box. Of a wide table the columns are left out of which nothing is asked,
    and of a long list the last ones.
    """
    atom, uses = part.atoms[number], used(part)
    cells = [
        cell(place, column, term, part, uses)
        for place, (column, term) in enumerate(zip(relation.columns, atom.terms, strict=True))
    ]
    if len(cells) > MOST_COLUMNS:
        asked = [one for one in cells if one.value or one.shown]
        # What is compared or joined says more than what is only shown.
        first = sorted(
            asked,
            key=lambda one: (
                not (one.joined or isinstance(atom.terms[one.place], Constant)),
                one.place,
            ),
        )[:MOST_LINES]
        drawn = sorted(first, key=lambda one: one.place)
    else:
        drawn = cells
    left_out = len(cells) - len(drawn)
    table = shortened(atom.relation, 2 * TEXT)
    names = max([len(one.column) for one in drawn], default=0)
    values = max([len(one.value) or 3 for one in drawn], default=0)
    inside = max(
        DOT + LETTER * names + BETWEEN + BOLD * values,
        BOLD * len(table) + 2 * DOT,
        LETTER * len(more_columns(left_out)) + DOT,
    )
    return Box(number, table, tuple(drawn), left_out, 2 * PAD + inside)


def cell(
    place: int, column: str, term: Term, part: Conjunctive, uses: Mapping[Variable, int]
) -> Cell:
    """What is asked of a column."""
    name = shortened(column, TEXT)
    if isinstance(term, Constant):
        return Cell(place, name, shortened(str(term), TEXT))
    joined, shown = uses[term] > 1, term in part.head
    compared = any(term in (one.left, one.right) for one in part.comparisons)
    return Cell(
        place,
        name,
        shortened(str(term), TEXT) if joined or shown or compared else "",
        shown,
        joined,
    )


def used(part: Conjunctive) -> Counter[Variable]:
    """In how many places of the subgoals each variable stands."""
    return Counter(term for atom in part.atoms for term in atom.terms if isinstance(term, Variable))


def more_columns(number: int) -> str:
    """How many columns are not drawn.

    >>> more_columns(1), more_columns(3), more_columns(0)
    ('and 1 more column', 'and 3 more columns', '')
    """
    return f"and {number} more column{'s' if number > 1 else ''}" if number else ""


# -- which subgoals hang together ------------------------------------------------------------------


def meeting_places(part: Conjunctive, chosen: Sequence[int]) -> dict[Variable, list[Place]]:
    """Where each variable stands that stands in several places."""
    found: dict[Variable, list[Place]] = {}
    for number in chosen:
        for place, term in enumerate(part.atoms[number].terms):
            if isinstance(term, Variable):
                found.setdefault(term, []).append((number, place))
    return {variable: places for variable, places in found.items() if len(places) > 1}


def neighbours(spots: Mapping[Variable, Sequence[Place]]) -> dict[int, set[int]]:
    """Which subgoals share a variable."""
    found: dict[int, set[int]] = {}
    for places in spots.values():
        together = {number for number, _ in places}
        for number in together:
            found.setdefault(number, set()).update(together - {number})
    return found


def components(chosen: Iterable[int], spots: Mapping[Variable, Sequence[Place]]) -> list[list[int]]:
    """Subgoals that hang together, in the order of their first ones."""
    near, seen, found = neighbours(spots), set[int](), []
    for number in chosen:
        if number not in seen:
            group = sorted(distances(number, near))
            seen.update(group)
            found.append(group)
    return found


def distances(start: int, near: Mapping[int, set[int]]) -> dict[int, int]:
    """How many joins lead from one subgoal to each that hangs together with it."""
    found, waiting = {start: 0}, deque([start])
    while waiting:
        here = waiting.popleft()
        for there in sorted(near.get(here, ())):
            if there not in found:
                found[there] = found[here] + 1
                waiting.append(there)
    return found


def layered(group: Sequence[int], near: Mapping[int, set[int]]) -> list[list[int]]:
    """A group in layers by the distance from the subgoal from which it is least deep;
    those near each other stand at the same height.

    >>> layered([0, 1, 2], {0: {1}, 1: {0, 2}, 2: {1}})
    [[1], [0, 2]]
    """
    root = min(group, key=lambda number: (max(distances(number, near).values()), number))
    depth = distances(root, near)
    layers = [
        [number for number in group if depth[number] == one]
        for one in range(max(depth.values()) + 1)
    ]
    for before, layer in pairwise(layers):
        layer.sort(key=lambda number: (middle(number, before, near), number))
    return layers


def middle(number: int, before: Sequence[int], near: Mapping[int, set[int]]) -> float:
    """How far down in the layer before its neighbours stand."""
    places = [place for place, other in enumerate(before) if other in near[number]]
    return sum(places) / len(places)


# -- where boxes and lines stand -------------------------------------------------------------------


def stand(layers: Sequence[Sequence[Box]], top: int) -> list[Box]:
    """Boxes with their places: layers from left to right, each as wide as its widest box and in
    the middle of the height.
    """
    heights = [sum(one.height for one in layer) + GAP * (len(layer) - 1) for layer in layers]
    found, x = [], 0
    for layer, height in zip(layers, heights, strict=True):
        wide = max(one.width for one in layer)
        y = top + (max(heights) - height) // 2
        for one in layer:
            found.append(replace(one, x=x, y=y, width=wide))
            y += one.height + GAP
        x += wide + GUTTER
    return found


def loops(layer: Sequence[int], spots: Mapping[Variable, Sequence[Place]]) -> bool:
    """Is there a line that starts and ends at a layer?"""
    return any(sum(number in layer for number, _ in places) > 1 for places in spots.values())


def joins(
    places: Sequence[Place], boxes: Mapping[int, Box], level: Mapping[int, int]
) -> list[Join]:
    """The lines of one variable: from each place to the next, layer by layer and from above."""
    order = sorted(
        places, key=lambda one: (level[one[0]], boxes[one[0]].y, boxes[one[0]].at(one[1]))
    )
    found = []
    for (here, from_), (there, to) in pairwise(order):
        one, other, back = boxes[here], boxes[there], level[here] == level[there]
        end = other.x + other.width if back else other.x
        found.append(Join((one.x + one.width, one.at(from_)), (end, other.at(to)), back))
    return found
