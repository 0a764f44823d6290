"""Disjunctive chase: a tableau (rows with variables) made to satisfy rules with alternatives,
branch by branch.

Deutsch and Papakonstantinou (section 3, Example 4). A tableau stands for the databases that contain
an image of its rows. Where a rule's left side matches, the tableau goes on once for each
alternative; where only some values of the variables make it match, it goes on twice: with two terms
equal, and with them apart. What contradicts itself is closed. So every database of the tableau that
satisfies the rules is one of some branch, and a branch in which nothing is left to do satisfies the
rules whatever its variables stand for.

There are two readings. Usually different variables may stand for the same value. In the *injective*
one (possible-world templates, Definition 3) they stand for different values, though each may be any
constant; a variable that an alternative introduces is then one that is there already, or is
different from all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import count, islice

from tacit.families.queries.dependency import Alternative, Dependency
from tacit.families.queries.kinds import family, family_of
from tacit.families.queries.query import NULL, Atom, Comparison, Constant, Relations, Term, Variable
from tacit.model.deadline import look

Pair = frozenset[Term]  # two terms that are not the same
Values = Mapping[Variable, Term]
FAN = 64  # branches of a step that are looked at before another step is preferred
MOST = 20_000  # branches of one step


@dataclass(frozen=True)
class ChaseTableau:
    """Rows over constants and variables, with pairs of terms that are not the same;
    beside NULL: is known.
    """

    atoms: tuple[Atom, ...] = ()
    apart: frozenset[Pair] = frozenset()

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """Every variable of a row, in order, each once."""
        return tuple(
            dict.fromkeys(
                term for atom in self.atoms for term in atom.terms if isinstance(term, Variable)
            )
        )

    @cached_property
    def tables(self) -> dict[str, list[tuple[Term, ...]]]:
        """The rows of each relation."""
        found: dict[str, list[tuple[Term, ...]]] = {}
        for atom in self.atoms:
            found.setdefault(atom.relation, []).append(atom.terms)
        return found

    @property
    def known(self) -> frozenset[Variable]:
        """The variables that are not NULL."""
        return frozenset(
            term
            for pair in self.apart
            if NULL in pair
            for term in pair
            if isinstance(term, Variable)
        )

    @property
    def comparisons(self) -> tuple[Comparison, ...]:
        """What is known and different, in a fixed order."""
        sure = self.known
        pairs = [sorted(pair, key=_order) for pair in self.apart if NULL not in pair]
        found = [
            pair
            for pair in pairs
            if all(isinstance(term, Constant) or term in sure for term in pair)
        ]
        return tuple(
            Comparison(one, "!=", two)
            for one, two in sorted(found, key=lambda pair: list(map(str, pair)))
        )

    def __str__(self) -> str:
        return ", ".join(map(str, (*self.atoms, *self.comparisons))) or "true"


@dataclass(frozen=True, slots=True)
class Way:
    """An alternative of a rule; variables in `known` are not NULL."""

    alternative: Alternative
    known: frozenset[Variable] = frozenset()


@dataclass(frozen=True, slots=True)
class DisjunctiveRule:
    """Whatever satisfies the atoms and comparisons satisfies one of the ways.

    `watched` has no ways and asks for nothing but an answer: every branch says whether the left
    side matches. `urgent`: it is met before any other rule, however many branches that takes.
    """

    atoms: tuple[Atom, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    known: frozenset[Variable] = frozenset()
    ways: tuple[Way, ...] = ()
    watched: bool = False
    urgent: bool = False


@dataclass(frozen=True, slots=True)
class Match:
    """A left side sent to rows: certain, or possible when some terms are equal and others apart."""

    values: Values
    equal: Values = field(default_factory=dict)
    apart: frozenset[Pair] = frozenset()

    @property
    def is_certain(self) -> bool:
        """Does it match whatever the variables stand for?"""
        return not self.equal and not self.apart


class LimitMet(Exception):
    """There were more steps than allowed; nothing is decided."""


def has_order(comparisons: Iterable[Comparison]) -> bool:
    """Is anything but != among the comparisons?"""
    return any(one.operator != "!=" for one in comparisons)


def rules_of(dependencies: Iterable[Dependency]) -> tuple[DisjunctiveRule, ...]:
    """Dependencies as rules. Those with an order comparison are left
    out, which keeps more databases.
    """
    return tuple(
        DisjunctiveRule(one.atoms, one.comparisons, one.known, tuple(map(Way, one.alternatives)))
        for one in dependencies
        if not has_order(one.comparisons)
        and not any(has_order(way.comparisons) for way in one.alternatives)
    )


class Chase:
    """The steps of a chase with some rules.

    >>> from tacit.families.queries.datalog.dependencies import read_constraint
    >>> from tacit.families.queries.query import Relation
    >>> relations = {"T": Relation("T", ("a", "b")), "R": Relation("R", ("a", "b"))}
    >>> chase = Chase(
    ...     rules_of(read_constraint("T(x, y) -> R(x, z) | x != y", relations)), relations
    ... )
    >>> start = chase.tableau([Atom("T", (Variable("x"), Variable("y")))])
    >>> for one in chase.branches(start):
    ...     print(one)
    T(x, y), x != y
    T(x, y), R(x, z~1)
    """

    def __init__(
        self,
        rules: Sequence[DisjunctiveRule],
        relations: Relations,
        *,
        injective: bool = False,
        splits: bool = True,
        work: int | None = None,
    ) -> None:
        self.rules = tuple(sorted(rules, key=lambda rule: not rule.urgent))
        self.relations = relations
        self.injective = injective
        self.splits = splits
        self.work = work  # rows that may still be looked at; LimitMet after that

    def tableau(
        self,
        atoms: Iterable[Atom],
        comparisons: Iterable[Comparison] = (),
        known: Iterable[Variable] = (),
    ) -> ChaseTableau | None:
        """A tableau to begin with, or None where it contradicts itself."""
        apart = [pair for one in comparisons for pair in _inequalities(one.left, one.right)]
        return self._with(ChaseTableau(), atoms, [*apart, *((term, NULL) for term in known)])

    def branches(self, start: ChaseTableau | None, limit: int = 10_000) -> Iterator[ChaseTableau]:
        """The finished branches, one by one, depth first; LimitMet after so many steps."""
        waiting = [] if start is None else [start]
        for number in count(1):
            look()
            if not waiting:
                return
            if number > limit:
                raise LimitMet
            here = waiting.pop()
            following = self.step(here)
            if following is None:
                yield here
            else:
                waiting += following

    def step(self, tableau: ChaseTableau) -> list[ChaseTableau] | None:
        """The tableaux to go on with in its place (none:
        it is closed), or None where it is finished.

        The step with the fewest branches is taken. LimitMet where all of them have far too many.
        """
        best: list[ChaseTableau] | None = None
        most, wide = FAN, None
        for rule in self.rules:
            if rule.watched:
                continue
            for match in self._matches(rule, tableau, certain=True):
                if self._satisfied(rule, match.values, tableau):
                    continue
                if rule.urgent:
                    return self._all_ways(rule, match.values, tableau)
                found = list(islice(self._ways(rule, match.values, tableau), most))
                if len(found) < 2:
                    return found
                if len(found) < most:
                    best, most = found, len(found)
                elif wide is None:
                    wide = rule, match.values
        if best is None and wide is not None:
            best = self._all_ways(*wide, tableau)
        if best is not None or not self.splits:
            return best
        return self._split(tableau)

    def certain(self, rule: DisjunctiveRule, tableau: ChaseTableau) -> Iterator[Values]:
        """The ways in which a left side matches whatever the variables stand for."""
        return (match.values for match in self._matches(rule, tableau, certain=True))

    # -- matching ----------------------------------------------------------------------------------

    def _matches(
        self,
        rule: DisjunctiveRule,
        tableau: ChaseTableau,
        *,
        certain: bool,
        values: Values | None = None,
    ) -> Iterator[Match]:
        for sent, equal in self._sent(rule.atoms, tableau, dict(values or {}), {}, certain):
            needed = self._needed(rule.comparisons, rule.known, sent, equal, tableau)
            if needed is not None and not (certain and needed):
                yield Match({one: _end(term, equal) for one, term in sent.items()}, equal, needed)

    def _sent(
        self,
        atoms: Sequence[Atom],
        tableau: ChaseTableau,
        values: dict[Variable, Term],
        equal: Values,
        certain: bool,
    ) -> Iterator[tuple[dict[Variable, Term], Values]]:
        """Atoms sent to rows: the values of their variables, and the
        terms of rows that this makes equal.
        """
        if not atoms:
            yield values, equal
            return
        for row in tableau.tables.get(atoms[0].relation, ()):
            look()
            if self.work is not None:
                self.work -= 1
                if self.work < 0:
                    raise LimitMet
            extended, joined = dict(values), equal
            for term, goal in zip(atoms[0].terms, row, strict=True):
                here = extended.setdefault(term, goal) if isinstance(term, Variable) else term
                if here == goal:
                    continue
                found = None if certain else self._joined(here, goal, joined, tableau)
                if found is None:
                    break
                joined = found
            else:
                yield from self._sent(atoms[1:], tableau, extended, joined, certain)

    def _joined(self, one: Term, two: Term, equal: Values, tableau: ChaseTableau) -> Values | None:
        """What is equal when two more terms are, or None where that cannot be."""
        one, two = _end(one, equal), _end(two, equal)
        if one == two:
            return equal
        if isinstance(one, Constant) or (isinstance(two, Variable) and _number(one) < _number(two)):
            one, two = two, one  # names that were given outlive those that were invented
        if isinstance(one, Constant) or self._apart(one, two, tableau):
            return None
        if self.injective and two in equal.values():
            return None  # another variable is this constant
        found = {**equal, one: two}
        if any(len({_end(term, found) for term in pair}) == 1 for pair in tableau.apart):
            return None
        return found

    def _apart(self, one: Term, two: Term, tableau: ChaseTableau) -> bool:
        """Are two terms never the same?"""
        if isinstance(one, Variable) and isinstance(two, Variable) and self.injective:
            return one != two
        if isinstance(one, Constant) and isinstance(two, Constant):
            return one != two
        return frozenset((one, two)) in tableau.apart

    def _needed(
        self,
        comparisons: Sequence[Comparison],
        known: Iterable[Variable],
        values: Values,
        equal: Values,
        tableau: ChaseTableau,
    ) -> frozenset[Pair] | None:
        """The pairs that must be apart and need not be; None where one cannot be."""
        pairs = [pair for one in comparisons for pair in _inequalities(one.left, one.right)]
        pairs += [(one, NULL) for one in known if one in values]
        needed = set()
        for one, two in pairs:
            left, right = _end(_put(one, values), equal), _end(_put(two, values), equal)
            if left == right:
                return None
            if not self._apart(left, right, tableau):
                needed.add(frozenset((left, right)))
        return frozenset(needed)

    def _satisfied(self, rule: DisjunctiveRule, values: Values, tableau: ChaseTableau) -> bool:
        """Does an alternative hold whatever the variables stand for?"""
        return any(
            all(
                _put(left, values) == _put(right, values)
                for left, right in way.alternative.equalities
            )
            and any(self._matches(_as_rule(way), tableau, certain=True, values=values))
            for way in rule.ways
        )

    # -- steps -------------------------------------------------------------------------------------

    def _split(self, tableau: ChaseTableau) -> list[ChaseTableau] | None:
        """Two terms equal, and apart, where that decides whether a rule is asked for something."""
        for rule in self.rules:
            for match in self._matches(rule, tableau, certain=False):
                if match.is_certain:
                    continue
                after = self._with(self._put_equal(tableau, match.equal), (), match.apart)
                if after is None or (
                    not rule.watched and self._satisfied(rule, match.values, after)
                ):
                    continue
                pairs: list[Pair] = [frozenset(pair) for pair in match.equal.items()]
                one, two = sorted(min([*pairs, *match.apart], key=_written), key=_order)
                equal = self._put_equal(tableau, {one: two}) if isinstance(one, Variable) else None
                found = (equal, self._with(tableau, (), [(one, two)]))
                return [new for new in found if new is not None]
        return None

    def _ways(
        self, rule: DisjunctiveRule, values: Values, tableau: ChaseTableau
    ) -> Iterator[ChaseTableau]:
        return (new for way in rule.ways for new in self._alternative(way, values, tableau))

    def _all_ways(
        self, rule: DisjunctiveRule, values: Values, tableau: ChaseTableau
    ) -> list[ChaseTableau]:
        found = list(islice(self._ways(rule, values, tableau), MOST))
        if len(found) == MOST:
            raise LimitMet
        return found

    def _alternative(
        self, way: Way, values: Values, tableau: ChaseTableau
    ) -> Iterator[ChaseTableau]:
        """The tableau with one alternative."""
        equal: Values = {}
        for left, right in way.alternative.equalities:
            found = self._joined(_put(left, values), _put(right, values), equal, tableau)
            if found is None:
                return
            equal = found
        after = self._put_equal(tableau, equal)
        if after is None:
            return
        values = {one: _end(term, equal) for one, term in values.items()}
        new = [one for one in way.alternative.variables() if one not in values]
        for chosen in self._chosen(new, after):
            put = {**values, **chosen}
            atoms = [
                Atom(atom.relation, tuple(_put(term, put) for term in atom.terms))
                for atom in way.alternative.atoms
            ]
            apart = [
                pair
                for one in way.alternative.comparisons
                for pair in _inequalities(one.left, one.right)
            ]
            apart += [(one, NULL) for one in way.known]
            result = self._with(
                after, atoms, [(_put(one, put), _put(two, put)) for one, two in apart]
            )
            if result is not None:
                yield result

    def _chosen(
        self, new: Sequence[Variable], tableau: ChaseTableau
    ) -> Iterator[dict[Variable, Term]]:
        """What new variables stand for: each for itself, or in the injective reading also for
        one that is there.
        """
        first = 1 + max([_number(one) for one in tableau.variables], default=0)
        fresh = [
            Variable(f"{one.name.split('~')[0]}~{number}") for number, one in enumerate(new, first)
        ]
        if not self.injective:
            yield dict(zip(new, fresh, strict=True))
            return

        def choose(at: int, there: tuple[Term, ...]) -> Iterator[dict[Variable, Term]]:
            if at == len(new):
                yield {}
                return
            for term in (*there, fresh[at]):
                further = there if term in there else (*there, term)
                yield from ({new[at]: term, **rest} for rest in choose(at + 1, further))

        yield from choose(0, tableau.variables)

    def _put_equal(self, tableau: ChaseTableau | None, equal: Values) -> ChaseTableau | None:
        """The tableau with some variables replaced, or None where that cannot be."""
        if not equal or tableau is None:
            return tableau
        atoms = [
            Atom(atom.relation, tuple(_end(term, equal) for term in atom.terms))
            for atom in tableau.atoms
        ]
        apart = [tuple(_end(term, equal) for term in pair) for pair in tableau.apart]
        return self._with(ChaseTableau(), atoms, apart)

    def _with(
        self, tableau: ChaseTableau | None, atoms: Iterable[Atom], apart: Iterable[Iterable[Term]]
    ) -> ChaseTableau | None:
        """The tableau with more rows and pairs, or None where it contradicts itself."""
        if tableau is None:
            return None
        kept = set(tableau.apart)
        for pair in map(frozenset, (*apart, *self._not_null(atoms := tuple(atoms)))):
            if len(pair) == 1:
                return None
            if any(isinstance(term, Variable) for term in pair):
                kept.add(pair)
        if not all(map(self._fits, atoms)):
            return None
        result = ChaseTableau(tuple(dict.fromkeys((*tableau.atoms, *atoms))), frozenset(kept))
        return result if self._of_one_kind(result) else None

    def _not_null(self, atoms: Iterable[Atom]) -> Iterator[tuple[Term, Term]]:
        for atom in atoms:
            relation = self.relations.get(atom.relation)
            if relation is not None:
                for column, term in zip(relation.columns, atom.terms, strict=True):
                    if column not in relation.nullable or any(
                        column in key for key in relation.keys
                    ):
                        yield term, NULL

    def _fits(self, atom: Atom) -> bool:
        """Can the constants of a row stand in their columns?"""
        relation = self.relations.get(atom.relation)
        if relation is None:
            return True
        for column, term in zip(relation.columns, atom.terms, strict=True):
            if isinstance(term, Constant) and term != NULL:
                if _clash(term.value, relation.kinds.get(column)):
                    return False
                values = relation.domains.get(column)
                if values is not None and term not in map(Constant, values):
                    return False
        return True

    def _of_one_kind(self, tableau: ChaseTableau) -> bool:
        """A variable does not stand in columns of different kinds, unless it is NULL."""
        found: dict[Term, str] = {}
        for atom in tableau.atoms:
            relation = self.relations.get(atom.relation)
            if relation is None or not relation.kinds:
                continue
            for column, term in zip(relation.columns, atom.terms, strict=True):
                wanted = family(relation.kinds.get(column))
                sure = (
                    isinstance(term, Variable)
                    and wanted is not None
                    and frozenset((term, NULL)) in tableau.apart
                )
                if sure and found.setdefault(term, wanted or "") != wanted:
                    return False
        return True


def _inequalities(left: Term, right: Term) -> tuple[tuple[Term, Term], ...]:
    """What left != right says: they are not the same, and both are known."""
    return (left, right), (left, NULL), (right, NULL)


def _clash(value: object, kind: str | None) -> bool:
    """Can a value never stand in a column of a kind? Where in doubt it can."""
    plain = {"number", "text", "boolean"}
    wanted = family(kind)
    if wanted not in plain or not isinstance(value, str | bool | int | float | Decimal):
        return False
    return wanted != ("number" if isinstance(value, float) else family_of(value))


def _as_rule(way: Way) -> DisjunctiveRule:
    return DisjunctiveRule(way.alternative.atoms, way.alternative.comparisons, way.known)


def _put(term: Term, values: Values) -> Term:
    return values.get(term, term) if isinstance(term, Variable) else term


def _end(term: Term, equal: Values) -> Term:
    """What a term was made equal to, at last."""
    while isinstance(term, Variable) and term in equal:
        term = equal[term]
    return term


def _number(variable: Variable) -> int:
    """The number behind the ~, if there is one."""
    tail = variable.name.rpartition("~")[2]
    return int(tail) if tail.isdecimal() else 0


def _order(term: Term) -> tuple[bool, str]:
    """Variables first."""
    return isinstance(term, Constant), str(term)


def _written(pair: Iterable[Term]) -> list[str]:
    return sorted(map(str, pair))
