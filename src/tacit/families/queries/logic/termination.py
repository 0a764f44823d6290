"""Termination: can constraints ask for ever new values? If not, how many new values can they ask
for at most?

Weak acyclicity (Fagin, Kolaitis, Miller, Popa 2005) on the graph of columns, for constraints with
alternatives; Deutsch and Papakonstantinou call it stratified witnesses. An edge leads from where a
variable stands on the left of a constraint to where it stands on the right, and a *special* edge to
where the existential variables stand that are chosen for it. A cycle through a special edge may go
on for ever. It is a little finer than that:

- a variable of the left side has no more values than the column with the fewest where it stands, so
  all its columns must be on such a cycle, not just one;
- a column whose values are listed (closed) has no new values, nor
  has a variable that stands in one;
- a constraint that every database satisfies (one alternative is part
  of the left side) asks for nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from tacit.errors import QueryError
from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.query import Atom, Relations, Term, Variable

Position = tuple[str, str]  # relation and column
Columns = Collection[Position]
CAP = 10**9  # bounds are not followed beyond this


@dataclass(frozen=True, slots=True)
class Cycle:
    """Columns that feed each other with ever new values.

    `constraints[i]` leads from `positions[i]` to the next one (from the last to the first);
    `new[i]`: by a value that need not have been there before.
    """

    positions: tuple[Position, ...]
    constraints: tuple[str, ...]
    new: tuple[bool, ...]

    def __str__(self) -> str:
        shown = _shown(self.positions[0])
        following = (*self.positions[1:], self.positions[0])
        for position, text, new in zip(following, self.constraints, self.new, strict=True):
            shown += f" -> {_shown(position)} ({'new value, ' if new else ''}by `{text}`)"
        return shown


def endless(
    dependencies: Sequence[Dependency], relations: Relations, closed: Columns = ()
) -> Cycle | None:
    """A cycle along which the constraints may ask for ever new values, or None:
    closing under them ends.

    `closed` are columns whose values are all listed; those with `domains` are among them.

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> relations = {"R": Relation("R", ("a", "b")), "T": Relation("T", ("a",))}
    >>> print(endless(read_constraint("R(x, y) -> R(y, z)", relations), relations))
    R.b -> R.b (new value, by `R(x, y) -> R(y, z)`)
    >>> endless(read_constraint("R(x, y) -> R(y, z)", relations), relations, closed=[("R", "b")])
    >>> endless(read_constraint("R(x, y), T(y) -> R(y, z)", relations), relations)
    """
    flows = _flows(dependencies, relations, closed)
    return _cycle(flows, _ranks(flows))


def refuse_endless(
    dependencies: Sequence[Dependency], relations: Relations, closed: Columns = ()
) -> None:
    """Raise QueryError (code `endless`) with the cycle where the
    constraints may ask for ever new values.
    """
    cycle = endless(dependencies, relations, closed)
    if cycle is None:
        return
    columns = " or ".join(dict.fromkeys(map(_shown, cycle.positions)))
    raise QueryError(
        f"the constraints may ask for ever new values: {cycle}.",
        code="endless",
        hint=(
            f"List the values of {columns} with `domains:`, or drop or weaken a constraint on "
            "the cycle."
        ),
    )


def terminating(dependencies: Sequence[Dependency], relations: Relations) -> tuple[Dependency, ...]:
    """The dependencies without those that start a cycle of ever new values;
    closing under the rest ends.
    """
    kept = list(dependencies)
    while (cycle := endless(kept, relations)) is not None:
        guilty = {text for text, new in zip(cycle.constraints, cycle.new, strict=True) if new}
        kept = [one for one in kept if one.text not in guilty]
    return tuple(kept)


def new_values(
    dependencies: Sequence[Dependency], relations: Relations, start: int, closed: Columns = ()
) -> int | None:
    """How many values beyond `start` values can be needed at most, so that
    rows over these satisfy the constraints?

    Rows of a world are closed under the constraints inside that world: for every way to satisfy a
    left side one alternative holds in the world, and the rows that show it are taken along. The
    same rows serve all ways that agree on the variables which the alternative names. So there are
    not more values of an existential variable than there are values for these variables, and a
    column has no other values than those of the start and of the existential variables from which
    edges lead to it. `start` counts the constants of the constraints and the values of closed
    columns too. None: there is no bound (see `endless`). Never more than 10**9, which means "many".

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> relations = {
    ...     "RP": Relation("RP", ("r", "p")),
    ...     "RS": Relation("RS", ("r", "c")),
    ...     "SP": Relation("SP", ("c", "p")),
    ... }
    >>> constraints = read_constraint("RP(r, p) -> RS(r, c), SP(c, p)", relations)
    >>> (
    ...     new_values(constraints, relations, 5),
    ...     new_values(constraints, relations, 5, closed=[("RS", "c")]),
    ... )
    (25, 0)
    """
    flows = _flows(dependencies, relations, closed)
    ranks = _ranks(flows)
    if inf in ranks.values():
        return None
    found: dict[
        frozenset[Position], int
    ] = {}  # how many new values stand in exactly these columns at first
    made = sorted(
        ((flow, places) for flow in flows for places in flow.created),
        key=lambda one: min(ranks[place] for place in one[1]),
    )
    reaches = {places: _reached(places, flows, ranks) for _, places in made}
    for flow, places in made:  # by rank, so that what a value is chosen for has been counted before
        ways = 1
        for source in flow.frontier:
            column = _narrowest(source, ranks)
            there = sum(count for other, count in found.items() if column in reaches[other])
            ways = min(CAP, ways * (start + there))
        found[places] = min(CAP, found.get(places, 0) + ways)
    return min(CAP, sum(found.values()))


def _reached(
    start: frozenset[Position], flows: Sequence[_Flow], ranks: Mapping[Position, float]
) -> set[Position]:
    """The columns that values come to from some columns."""
    reached, before = set(start), -1
    while len(reached) > before:
        before = len(reached)
        for flow in flows:
            for source, targets in flow.moved:
                if _narrowest(source, ranks) in reached:
                    reached |= targets
    return reached


# -- where values go -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Flow:
    """What one alternative of one constraint does with values, as open columns.

    `moved`: for each variable of the left side in the alternative's rows, where it stands left and
    right. `frontier`: where the variables stand on the left for which the new values are chosen; no
    columns: only values that are there anyway. `created`: where each new value stands.
    """

    text: str
    moved: tuple[tuple[frozenset[Position], frozenset[Position]], ...]
    frontier: tuple[frozenset[Position], ...]
    created: tuple[frozenset[Position], ...]


def _flows(
    dependencies: Sequence[Dependency], relations: Relations, closed: Columns
) -> tuple[_Flow, ...]:
    listed = {(name, column) for name, relation in relations.items() for column in relation.domains}
    shut = listed | set(closed)
    return tuple(
        _flow(dependency, alternative, relations, shut)
        for dependency in dependencies
        if not any(_is_in_body(dependency, one) for one in dependency.alternatives)
        for alternative in dependency.alternatives
    )


def _flow(
    dependency: Dependency, alternative: Alternative, relations: Relations, shut: set[Position]
) -> _Flow:
    left, right = _places(dependency.atoms, relations), _places(alternative.atoms, relations)
    named = [one for one in alternative.variables() if one in left]
    compared = {term for one in alternative.comparisons for term in (one.left, one.right)}

    def source(variable: Variable) -> frozenset[Position]:
        # Where the alternative holds, the variable also has a value of the columns on the right.
        return (
            frozenset()
            if (left[variable] | right.get(variable, frozenset())) & shut
            else left[variable]
        )

    return _Flow(
        dependency.text,
        tuple((source(one), right[one] - shut) for one in named if one in right),
        tuple(source(one) for one in named if one in right or one in compared),
        tuple(places for one, places in right.items() if one not in left and not places & shut),
    )


def _places(atoms: Sequence[Atom], relations: Relations) -> dict[Variable, frozenset[Position]]:
    """The columns where each variable stands."""
    found: dict[Variable, set[Position]] = {}
    for atom in atoms:
        for column, term in zip(relations[atom.relation].columns, atom.terms, strict=True):
            if isinstance(term, Variable):
                found.setdefault(term, set()).add((atom.relation, column))
    return {variable: frozenset(places) for variable, places in found.items()}


def _is_in_body(dependency: Dependency, alternative: Alternative) -> bool:
    """Does the left side satisfy an alternative by itself?"""
    if any(left != right for left, right in alternative.equalities):
        return False
    given = {
        frozenset((one.left, one.right)) for one in dependency.comparisons if one.operator == "!="
    }
    universal = set(dependency.universal())
    for values in _into(alternative.atoms, dependency.atoms, universal, {}):
        if all(
            one.operator == "!="
            and frozenset((_put(one.left, values), _put(one.right, values))) in given
            for one in alternative.comparisons
        ):
            return True
    return False


def _into(
    atoms: Sequence[Atom], body: Sequence[Atom], fixed: set[Variable], values: dict[Variable, Term]
) -> Iterator[dict[Variable, Term]]:
    """The ways to send atoms to atoms of a body, the fixed variables to themselves."""
    if not atoms:
        yield values
        return
    for target in body:
        if target.relation != atoms[0].relation:
            continue
        extended = dict(values)
        pairs = zip(atoms[0].terms, target.terms, strict=True)
        if all(
            extended.setdefault(term, goal) == goal
            if isinstance(term, Variable) and term not in fixed
            else term == goal
            for term, goal in pairs
        ):
            yield from _into(atoms[1:], body, fixed, extended)


def _put(term: Term, values: Mapping[Variable, Term]) -> Term:
    return values.get(term, term) if isinstance(term, Variable) else term


# -- ranks and cycles ------------------------------------------------------------------------------


def _rank(places: frozenset[Position], ranks: Mapping[Position, float]) -> float:
    """How deep the values of a variable can be: not deeper than in any column where it stands."""
    return min((ranks.get(place, 0) for place in places), default=0)


def _narrowest(places: frozenset[Position], ranks: Mapping[Position, float]) -> Position | None:
    """The column by which the values of a variable are counted; None: it has none that are new."""
    return min(places, key=lambda place: (ranks.get(place, 0), place), default=None)


def _ranks(flows: Sequence[_Flow]) -> dict[Position, float]:
    """How often a new value is chosen for a new value until it stands in a column;
    inf where there is no end.

    The least solution. Finite ranks are at most the number of columns:
    they are lengths of paths without a cycle.
    """
    ranks: dict[Position, float] = {}
    for flow in flows:
        for places in (*flow.created, *(part for pair in flow.moved for part in pair)):
            ranks |= dict.fromkeys(places, 0)
    most = len(ranks)
    changed = True
    while changed:
        changed = False
        for flow in flows:
            for target, rank in _raised(flow, ranks):
                if rank > ranks[target]:
                    ranks[target] = inf if rank > most else rank
                    changed = True
    return ranks


def _raised(flow: _Flow, ranks: Mapping[Position, float]) -> Iterator[tuple[Position, float]]:
    for source, targets in flow.moved:
        rank = _rank(source, ranks)
        yield from ((target, rank) for target in targets)
    deepest = max((_rank(places, ranks) for places in flow.frontier), default=0)
    for created in flow.created:
        yield from ((target, deepest + 1) for target in created)


Edge = tuple[Position, Position, bool, str]


def _cycle(flows: Sequence[_Flow], ranks: Mapping[Position, float]) -> Cycle | None:
    """A shortest cycle with a special edge among the columns without a finite rank:
    there must be one.
    """
    edges: dict[Position, list[Edge]] = {}
    for edge in _edges(flows, ranks):
        edges.setdefault(edge[0], []).append(edge)
    special = [edge for found in edges.values() for edge in found if edge[2]]
    cycles = [
        [edge, *back] for edge in special if (back := _path(edge[1], edge[0], edges)) is not None
    ]
    if not cycles:
        return None
    found = min(cycles, key=lambda one: (len(one), str(one)))
    found = [*found[1:], found[0]]  # the new value comes last: it closes the cycle
    return Cycle(
        tuple(edge[0] for edge in found),
        tuple(edge[3] for edge in found),
        tuple(edge[2] for edge in found),
    )


def _edges(flows: Sequence[_Flow], ranks: Mapping[Position, float]) -> Iterator[Edge]:
    for flow in flows:
        moves = [(source, targets, False) for source, targets in flow.moved]
        moves += [(source, targets, True) for source in flow.frontier for targets in flow.created]
        for source, targets, special in moves:
            if _rank(source, ranks) == inf:
                yield from (
                    (here, there, special, flow.text)
                    for here in sorted(source)
                    for there in sorted(targets)
                )


def _path(
    start: Position, end: Position, edges: Mapping[Position, Sequence[Edge]]
) -> list[Edge] | None:
    """A shortest path along edges; empty where both ends are the same."""
    reached: dict[Position, list[Edge]] = {start: []}
    waiting = [start]
    for here in waiting:
        if here == end:
            return reached[here]
        for edge in edges.get(here, ()):
            if edge[1] not in reached:
                reached[edge[1]] = [*reached[here], edge]
                waiting.append(edge[1])
    return None


def _shown(position: Position) -> str:
    return ".".join(position)
