"""Valuations: look for values of the variables of one or two queries that nothing absorbs.

A tuple is critical for a query if some valuation needs it: the tuple is among the rows that the
valuation makes, and without it the row of the answer is gone. So a question is a set of equations
(the tuple is this atom of the secret and that atom of the view), and an answer is a valuation under
which no *rival* (a part of the query itself) finds the same row without the tuple.

The search is lazy. It takes the most general valuation of what was decided so far: different terms
get different values, new ones where the column allows it. If a rival finds the row by a
homomorphism, every other solution must break a condition of that homomorphism: send one of its
facts to the tuple as well, make a known value NULL, turn a comparison round, or tell two terms
apart that are equal only by the choice of values. Each is tried, the earlier ones excluded in the
later. The conditions are all that the homomorphism needs, so no solution is lost, on domains of any
size; the valuation at the end is a witness by itself. On large domains without comparisons and
NULLs only the first kind of condition occurs: that is the conflict-driven form of Theorem 2.5, with
the domains jointly large. At most one new value per variable is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from tacit.families.queries.logic.chase import Keys
from tacit.families.queries.logic.comparisons import paths
from tacit.families.queries.logic.homomorphism import FactIndex, Pattern, homomorphism
from tacit.families.queries.logic.numbered_queries import (
    NUMBERED_NULL,
    NumberedAtom,
    NumberedBody,
    Symbols,
)
from tacit.families.queries.logic.term_constraints import Literal, QuerySide, State, TermConstraints
from tacit.families.queries.logic.unify import Unifier, may_unify
from tacit.model.deadline import look

LONGEST, MOST = 40, 400  # conditions that are remembered: their length, their number


@dataclass(frozen=True, slots=True)
class Absorption:
    """A homomorphism that finds the row without the tuple:
    which side, which rival, each of its atoms' image.
    """

    side: int
    rival: NumberedBody
    images: tuple[int, ...]


@dataclass(slots=True)
class Valuation:
    """Values for the terms: constants, or negative numbers that stand for new values.

    `ranks` places them in the order where there are order comparisons.
    """

    classes: Unifier
    chosen: dict[int, int]
    ranks: dict[int, tuple[int, int]] = field(default_factory=dict)

    def value(self, term: int) -> int:
        """The value of a term."""
        root = self.classes.find(term)
        return root if root >= 0 else self.chosen.get(root, root)

    def row(self, terms: Sequence[int]) -> tuple[int, ...]:
        """The values of a tuple of terms."""
        return tuple([self.value(term) for term in terms])

    def compare(self, operator: str, one: int, two: int) -> bool:
        """Does a comparison hold of two values?"""
        if NUMBERED_NULL in (one, two):
            return False
        if operator == "!=":
            return one != two
        return operator == "<=" if one == two else self.ranks[one] < self.ranks[two]


class ValuationSearch(TermConstraints):
    """One or two queries, and the search for valuations of both."""

    def __init__(
        self,
        sides: Sequence[QuerySide],
        keys: Keys,
        symbols: Symbols,
        written: Sequence[NumberedBody] = (),
    ) -> None:
        """`written`: the queries before they were cut;
        new values must suit what they compare, too.
        """
        super().__init__(sides, keys, symbols, written)
        self.absorptions: list[Absorption] = []

    # --- the most general valuation of a state --------------------------------------------------

    def valuation(self, state: State) -> Valuation | None:
        """Values for everything: different where nothing says equal,
        new where the column allows it.
        """
        chosen = self._finite(state) if state.classes.domains else {}
        if chosen is None:
            return None
        found = Valuation(state.classes, chosen)
        if self.ordered:
            self._rank(state, found)
        return found

    def _finite(self, state: State) -> dict[int, int] | None:
        """Values for the classes with a domain, by search; new ones first."""
        classes = state.classes
        open_ = sorted(
            (root for root in classes.domains), key=lambda root: (len(classes.domains[root]), -root)
        )
        unequal: dict[int, list[int]] = {}
        for one, two in state.unequal:
            left, right = classes.find(one), classes.find(two)
            unequal.setdefault(left, []).append(right)
            unequal.setdefault(right, []).append(left)
        chosen: dict[int, int] = {}
        stack = [self._options(state, open_[0], chosen)] if open_ else []
        steps = 0
        while stack:
            steps += 1
            if steps % 256 == 0:
                look()
            root = open_[len(stack) - 1]
            value = next(stack[-1], None)
            if value is None:
                stack.pop()
                if stack:
                    del chosen[open_[len(stack) - 1]]
                continue
            if not self._allowed(state, root, value, chosen, unequal):
                continue
            chosen[root] = value
            if len(chosen) == len(open_):
                return chosen
            stack.append(self._options(state, open_[len(stack)], chosen))
        return chosen if not open_ else None

    def _options(self, state: State, root: int, chosen: Mapping[int, int]) -> Iterator[int]:
        """The values of a class: first those that make it differ from everything, last NULL."""
        domain = state.classes.domains[root]
        used = set(chosen.values())
        named = self.named
        for wanted in ((False, False), (True, False), (False, True), (True, True)):
            for value in sorted(domain):
                if (value in named, value in used) == wanted:
                    yield value
        if root in state.classes.maybe:
            yield NUMBERED_NULL

    def _allowed(
        self,
        state: State,
        root: int,
        value: int,
        chosen: Mapping[int, int],
        unequal: Mapping[int, list[int]],
    ) -> bool:
        if any(
            value == (other if other >= 0 else chosen.get(other)) for other in unequal.get(root, ())
        ):
            return False
        if value == NUMBERED_NULL:
            return True
        key = self.symbols.key
        for other, strict in state.reached.get(root, {}).items():
            bound = other if other >= 0 else chosen.get(other)
            if bound is not None and not (
                key(value) < key(bound) or (value == bound and not strict)
            ):
                return False
        for other, found in state.reached.items():
            bound = other if other >= 0 else chosen.get(other)
            if root not in found or bound is None:
                continue
            if not (key(bound) < key(value) or (value == bound and not found[root])):
                return False
        return True

    def _rank(self, state: State, found: Valuation) -> None:
        """Place new values between the constants:
        as low as possible below an upper bound, else above all.
        """
        roots = dict.fromkeys(
            state.classes.find(term) for side in self.sides for term in side.body.variables()
        )
        met = self.named.union(found.chosen.values(), (root for root in roots if root >= 0)) - {
            NUMBERED_NULL
        }
        constants = sorted(met, key=self.symbols.key)
        for number, constant in enumerate(constants):
            found.ranks[constant] = (number, 0)
        edges = {(found.value(left), found.value(right)) for left, right, _ in state.order}
        reached = paths((left, right, False) for left, right in edges if left != right)
        new = [root for root in roots if root < 0 and root not in found.chosen]
        # a value with more values above it comes earlier, which respects every edge
        new.sort(key=lambda root: -len(reached.get(root, ())))
        for place, root in enumerate(new, 1):
            below = [
                found.ranks[other][0]
                for other, above in reached.items()
                if root in above and other in found.ranks
            ]
            bounded = any(other >= 0 for other in reached.get(root, ()))
            gap = max(below, default=-1) if bounded else len(constants)
            found.ranks[root] = (gap, place)

    # --- conflicts ------------------------------------------------------------------------------

    def conflict(self, state: State, found: Valuation) -> list[Literal] | None:
        """Why a valuation is no solution, as conditions of which every solution meets one;
        None if it is one.
        """
        if found.chosen:
            clash = self._squeezed(state, found) or self._accident(state, found)
            if clash is not None:
                return clash
        for number, side in enumerate(self.sides):
            if side.rivals and not (side.minimal and _tells_apart(found, side)):
                literals = self._absorbed(state, found, number, side)
                if literals is not None:
                    return literals
        return None

    def _squeezed(self, state: State, found: Valuation) -> list[Literal] | None:
        """Chosen values that leave one value only to a term of an
        open column, such as 1 <= y <= 1.
        """
        for low, above in state.reached.items():
            for middle in above:
                if middle >= 0 or middle in found.chosen:
                    continue
                for high in state.reached.get(middle, ()):
                    if low != high and found.value(low) == found.value(high) >= 0:
                        one, two = (low, middle) if low < 0 else (middle, high)
                        return [Literal("equal", one, two), Literal("less", one, two)]
        return None

    def _accident(self, state: State, found: Valuation) -> list[Literal] | None:
        """Chosen values that break a key or make an atom the tuple that must not be."""
        for side in self.sides:
            seen: dict[tuple[str, tuple[int, ...], tuple[int, ...]], tuple[int, ...]] = {}
            for relation, terms in side.body.atoms:
                for key in self.keys.get(relation, ()):
                    other = seen.setdefault(
                        (relation, key, found.row([terms[column] for column in key])), terms
                    )
                    if found.row(other) != found.row(terms):
                        apart = [Literal("unequal", other[column], terms[column]) for column in key]
                        same = [
                            Literal("equal", one, two)
                            for one, two in zip(other, terms, strict=True)
                            if found.value(one) != found.value(two)
                        ]
                        # all of `same` is needed, so its first condition stands for the rest:
                        # the next valuation comes back here until the atoms are one tuple
                        return [
                            literal for literal in apart if not self._same(state, literal)
                        ] + same[:1]
        for number, atom in state.apart:
            terms, wanted = self.sides[number].body.atoms[atom][1], self.tuple_of(number)
            if found.row(terms) == found.row(wanted):
                apart = [
                    Literal("unequal", one, two) for one, two in zip(terms, wanted, strict=True)
                ]
                return [literal for literal in apart if not self._same(state, literal)]
        return None

    def facts(self, found: Valuation, side: int) -> tuple[NumberedAtom, list[NumberedAtom]]:
        """The tuple and the rows of a side, one per atom (atoms may make the same row)."""
        body = self.sides[side].body
        rows = [(relation, found.row(terms)) for relation, terms in body.atoms]
        chosen = self.sides[side].chosen
        assert chosen is not None
        return rows[chosen], rows

    def _absorbed(
        self, state: State, found: Valuation, number: int, side: QuerySide
    ) -> list[Literal] | None:
        """The conditions of a homomorphism from a rival to the rows without the tuple, negated."""
        critical, rows = self.facts(found, number)
        find = state.classes.find
        wanted = [find(term) for term in self.tuple_of(number)]
        kept = [place for place, row in enumerate(rows) if row != critical]
        safe: list[int] = []
        unsafe: list[int] = []
        for place in kept:
            relation, terms = side.body.atoms[place]
            free = (
                relation == critical[0]
                and (number, place) not in state.apart
                and may_unify([find(term) for term in terms], wanted)
            )
            (unsafe if free else safe).append(place)
        order = safe + unsafe
        facts = FactIndex([rows[place] for place in order])
        head = found.row(side.body.head)
        for rival in side.rivals:
            fixed = _fixed(rival, head)
            if fixed is None:
                continue
            images = self._sent(
                found, side.body if rival is side.body else None, rival, facts, fixed, critical
            )
            if images is not None:
                at = _own(rival is side.body, rows, [order[image] for image in images])
                self.absorptions.append(Absorption(number, rival, tuple(at)))
                literals = dict.fromkeys(self._conditions(number, rival, at))
                self._learn(
                    [literal for literal in literals if not self._is_false(self.root, literal)]
                )
                return [literal for literal in literals if not self._is_false(state, literal)]
        return None

    def _sent(
        self,
        found: Valuation,
        own: NumberedBody | None,
        rival: NumberedBody,
        facts: FactIndex,
        fixed: Mapping[int, int],
        critical: NumberedAtom,
    ) -> list[int] | None:
        """A homomorphism from a rival. Where values are chosen, one that
        moves little needs few conditions.
        """
        pattern = Pattern(rival.atoms, rival.comparisons, rival.known)
        if own is not None and found.chosen:
            rest = [
                terms for relation, terms in own.atoms if (relation, found.row(terms)) != critical
            ]
            still = {term: found.value(term) for terms in rest for term in terms if term < 0}
            images = homomorphism(pattern, facts, {**still, **fixed}, compare=found.compare)
            if images is not None:
                return images
        return homomorphism(pattern, facts, fixed, compare=found.compare)

    def _conditions(
        self, number: int, rival: NumberedBody, images: Sequence[int]
    ) -> Iterator[Literal]:
        """What every solution breaks that is not absorbed by this
        homomorphism, in the terms of the query.
        """
        body = self.sides[number].body
        for image in dict.fromkeys(images):
            yield Literal("tuple", number, image)
        at: dict[int, int] = {}
        matches = [zip(rival.head, body.head, strict=True)]
        matches += [
            zip(terms, body.atoms[image][1], strict=True)
            for (_, terms), image in zip(rival.atoms, images, strict=True)
        ]
        for match in matches:
            for term, target in match:
                first = term if term >= 0 else at.setdefault(term, target)
                if first != target:
                    yield Literal("unequal", first, target)
        for variable in rival.known:
            if at.get(variable, NUMBERED_NULL) < 0:
                yield Literal("equal", at[variable], NUMBERED_NULL)
        for left, operator, right in rival.comparisons:
            one, two = at.get(left, left), at.get(right, right)
            if operator == "!=":
                yield Literal("equal", one, two)
            elif operator == "<":
                yield Literal("at-most", two, one)
            else:
                yield Literal("less", two, one)

    def _learn(self, literals: Sequence[Literal]) -> None:
        """Remember what every solution breaks one of; long conditions cost more than they save."""
        if len(literals) <= LONGEST and len(self.learned) < MOST:
            self.learned.append(tuple(literals))

    # --- search ---------------------------------------------------------------------------------

    def solve(self, state: State) -> tuple[State, Valuation] | None:
        """A valuation that nothing absorbs, or None.
        `absorptions` then has the homomorphisms that show it.
        """
        if not self.propagate(state):
            return None
        self.root = state.copy()
        stack: list[tuple[State, list[Literal]]] = []
        current: State | None = state
        while True:
            if current is not None:
                look()
                found = self.valuation(current)
                if found is not None:
                    literals = self.conflict(current, found)
                    if literals is None:
                        return current, found
                    stack.append((current, literals[::-1]))
            current = None
            while stack and current is None:
                before, literals = stack[-1]
                if not literals:
                    stack.pop()
                    continue
                literal = literals.pop()
                child = before.copy()
                if self.add(child, literal):
                    current = child
                if not self.add_opposite(before, literal):
                    stack.pop()
            if current is None:
                return None


def _tells_apart(found: Valuation, side: QuerySide) -> bool:
    """Do all terms have values of their own? Then the rows are the
    body itself under other names.
    """
    named = set().union(*(rival.constants() for rival in side.rivals), side.body.constants())
    variables = side.body.variables()
    values = {found.value(variable) for variable in variables}
    return len(values) == len(variables) and named.isdisjoint(values)


def _own(same: bool, rows: Sequence[NumberedAtom], images: list[int]) -> list[int]:
    """Of atoms that make the same row, an atom of the query itself is best sent to itself."""
    if not same:
        return images
    return [place if rows[place] == rows[image] else image for place, image in enumerate(images)]


def _fixed(rival: NumberedBody, head: Sequence[int]) -> dict[int, int] | None:
    """Where the head sends the rival's variables, or None where its constants say no."""
    fixed: dict[int, int] = {}
    for term, value in zip(rival.head, head, strict=True):
        if (term if term >= 0 else fixed.setdefault(term, value)) != value:
            return None
    return fixed
