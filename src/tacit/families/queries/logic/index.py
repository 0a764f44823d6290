"""Index: many secrets against many views, looking only at pairs of
subgoals that can be one tuple.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from tacit.families.queries.logic.canonical import Key, canonical_query
from tacit.families.queries.logic.constraints import Side
from tacit.families.queries.logic.critical import Judge, Pair, Verdict
from tacit.families.queries.logic.numbered import NUMBERED_NULL, Body
from tacit.families.queries.logic.prepare import Prepared
from tacit.families.queries.logic.unify import Unifier
from tacit.families.queries.logic.valuations import Question
from tacit.families.queries.query import Query, Relations
from tacit.model.deadline import OutOfTime, until

Status = Literal["disclosed", "private", "undecided"]
FRESH = -(10**9)  # far below the variables of any query


@dataclass(frozen=True, slots=True)
class Hit:
    """A secret of which some subgoal can meet one of the view: its number, and what was decided."""

    secret: int
    status: Status


Shape = tuple[int, ...]  # the terms of an atom, variables numbered -1, -2, ... by first appearance


@dataclass(frozen=True, slots=True)
class Entry:
    """A subgoal in the index.

    `simple`: no comparison, domain or NULL is about it. `rigid`: any tuple that fits is critical,
    also because no key can make atoms of its query equal. `shape`: that of its own terms.
    `critical` remembers which shapes of tuples are.
    """

    owner: Prepared
    secret: int
    part: int
    atom: int
    simple: bool
    rigid: bool
    named: frozenset[int]
    shape: Shape
    critical: dict[Shape, bool] = field(default_factory=dict, compare=False)


class SecretIndex:
    """Secrets made ready once, found by relation and constants.

    >>> from tacit.families.queries.query import Atom, Conjunctive, Constant, Relation, Variable
    >>> n, w = Variable("n"), Variable("w")
    >>> relations = {"D": Relation("D", ("name", "illness", "ward"))}
    >>> def ill(name, with_):
    ...     return Query(name, (Conjunctive((n,), (Atom("D", (n, Constant(with_), w)),)),))
    >>> index = SecretIndex([ill("cancer", "cancer"), ill("flu", "flu")], relations)
    >>> index.against(ill("V", "flu"))
    [Hit(secret=1, status='disclosed')]
    """

    def __init__(
        self, secrets: Sequence[Query], relations: Relations, *, seconds: float | None = None
    ) -> None:
        self.secrets = tuple(secrets)
        self.relations = relations
        self.seconds = seconds
        self.judge = Judge(relations)
        self._keys: dict[Query, Key] = {}
        self._decided: dict[tuple[Key, Key], Status] = {}
        self._ready: list[Prepared | None] = []
        self._unready: list[int] = []
        self._groups: dict[str, dict[Shape, list[Entry]]] = {}
        for number, secret in enumerate(self.secrets):
            self._add(number, secret)

    def _add(self, number: int, secret: Query) -> None:
        try:
            with until(self.seconds):
                ready = self.judge.prepared(secret, 0)
        except OutOfTime:
            self._ready.append(None)
            self._unready.append(number)
            return
        self._ready.append(ready)
        for entry in self._entries(ready, number):
            relation, _ = ready.parts[entry.part].atoms[entry.atom]
            self._groups.setdefault(relation, {}).setdefault(entry.shape, []).append(entry)

    def _entries(self, ready: Prepared, number: int) -> Iterator[Entry]:
        named = frozenset().union(*(body.constants() for body in ready.parts))
        for part, body in enumerate(ready.parts):
            simple = _is_simple(body)
            loose = simple and not _may_be_chased(self.judge, body)
            for atom, (_, terms) in enumerate(body.atoms):
                rigid = loose and all(_stuck(body, atom, rival) for rival in ready.rivals)
                shape = shape_of(terms)
                critical = (
                    {shape: True} if ready.minimal or not ready.rivals else {}
                )  # nothing is made equal
                yield Entry(ready, number, part, atom, simple, rigid, named, shape, critical)

    def against(self, view: Query) -> list[Hit]:
        """The secrets that a view can meet, in order; all others are private without a search.

        `verdict` tells the whole story of one of them.
        """
        try:
            with until(self.seconds):
                shown = self.judge.prepared(view, 1)
        except OutOfTime:
            return [Hit(number, "undecided") for number in range(len(self.secrets))]
        found: set[int] = set()
        open_: dict[int, list[tuple[Entry, Entry]]] = {}
        for entry in self._entries(shown, -1):
            relation, _ = shown.parts[entry.part].atoms[entry.atom]
            columns = self.judge.anchors[relation]
            for other, entries in self._groups.get(relation, {}).items():
                met = unified(other, entry.shape, columns)
                if met is not None:
                    self._meet(entries, entry, met, found, open_)
        hits = {number: Hit(number, "disclosed") for number in found}
        hits.update((number, Hit(number, "undecided")) for number in self._unready)
        for number, pairs in open_.items():
            if number not in hits:
                status = self._decide(number, shown, pairs)
                if status is not None:
                    hits[number] = Hit(number, status)
        return [hits[number] for number in sorted(hits)]

    def verdict(self, secret: int, view: Query) -> Verdict:
        """The verdict of one secret and one view, with witness or certificate."""
        return self.judge.judge(self.secrets[secret], [view], seconds=self.seconds)

    def _meet(
        self,
        entries: Sequence[Entry],
        view: Entry,
        met: tuple[Shape, Shape],
        found: set[int],
        open_: dict[int, list[tuple[Entry, Entry]]],
    ) -> None:
        """Sort the subgoals that unify with one of the view: decided at once, or to be searched."""
        decided = view.simple and self._is_critical(view, met[1])
        for entry in entries:
            if entry.secret not in found:
                if decided and (entry.rigid or (entry.simple and self._is_critical(entry, met[0]))):
                    found.add(entry.secret)
                else:
                    open_.setdefault(entry.secret, []).append((entry, view))

    def _is_critical(self, entry: Entry, tuple_: Shape) -> bool:
        """Is a tuple of this shape critical without any other subgoal being that tuple? False:
        perhaps.
        """
        if entry.rigid:
            return True
        # a constant that the query does not name is to it like any new value
        key = shape_of(
            [term if term in entry.named else -1 - abs(term) * 2 - (term >= 0) for term in tuple_]
        )
        known = entry.critical.get(key)
        if known is None:
            side = Side(
                entry.owner.parts[entry.part], entry.atom, entry.owner.rivals, entry.owner.minimal
            )
            question = Question([side], self.judge.keys, self.judge.symbols)
            state = question.start()
            fresh = {term: FRESH + term for term in key if term < 0}
            joined = state.classes.join_all(
                question.tuple_of(0), [fresh.get(term, term) for term in key]
            )
            version = state.classes.version
            # a key that makes more terms equal may reach the other query:
            # that is left to the search
            alone = joined and question.propagate(state) and state.classes.version == version
            valuation = question.valuation(state) if alone else None
            known = valuation is not None and question.conflict(state, valuation) is None
            entry.critical[key] = known
        return known

    def _decide(
        self, number: int, shown: Prepared, pairs: Sequence[tuple[Entry, Entry]]
    ) -> Status | None:
        """What a search says; None where no pair can meet after all."""
        hidden = self._ready[number]
        assert hidden is not None
        keys = self._key(hidden), self._key(shown)
        if keys in self._decided:
            return self._decided[keys]
        met = False
        try:
            with until(self.seconds):
                for one, two in pairs:
                    pair = Pair(hidden.parts[one.part], one.atom, shown.parts[two.part], two.atom)
                    question, state = self.judge.asked(pair, hidden, shown)
                    if state is not None:
                        met = True
                        if question.solve(state) is not None:
                            self._decided[keys] = "disclosed"
                            return "disclosed"
        except OutOfTime:
            return "undecided"
        if met:
            self._decided[keys] = "private"
        return "private" if met else None

    def _key(self, ready: Prepared) -> Key:
        key = self._keys.get(ready.query)
        if key is None:
            key = self._keys[ready.query] = canonical_query(ready.parts, ready.query.bag)
        return key


def shape_of(terms: Sequence[int]) -> Shape:
    """The terms with variables numbered by first appearance.

    >>> shape_of((-8, 3, -2, -8))
    (-1, 3, -2, -1)
    """
    numbers: dict[int, int] = {}
    return tuple(
        [term if term >= 0 else numbers.setdefault(term, -1 - len(numbers)) for term in terms]
    )


def unified(one: Shape, two: Shape, columns: Sequence[int]) -> tuple[Shape, Shape] | None:
    """Two shapes after their terms in some columns are made equal, or None where they cannot be.

    >>> unified((-1, -1), (-1, 7), (0, 1)), unified((-1, -1), (3, 7), (0, 1))
    (((7, 7), (7, 7)), None)
    """
    if not all(
        one[column] == two[column] or one[column] < 0 or two[column] < 0 for column in columns
    ):
        return None
    classes = Unifier()
    far = -1 - len(one)  # the second shape's variables begin after the first one's
    apart = [term if term >= 0 else term + far for term in two]
    if not all(classes.join(one[column], apart[column]) for column in columns):
        return None
    return tuple(map(classes.find, one)), tuple(map(classes.find, apart))


def _is_simple(body: Body) -> bool:
    """Is nothing said of the variables but where they stand?"""
    nulls = body.maybe or any(NUMBERED_NULL in terms for _, terms in body.atoms)
    return not (body.comparisons or body.domains or nulls)


def _may_be_chased(judge: Judge, body: Body) -> bool:
    """Are there two atoms of a relation with a key?"""
    keyed = [relation for relation, _ in body.atoms if relation in judge.keys]
    return len(set(keyed)) < len(keyed)


def _stuck(body: Body, place: int, rival: Body) -> bool:
    """Does the rival need an atom that can go nowhere once the atom at a place is the tuple?

    Without self-joins always, and in maximal-row tableaux (Lemma 2.10).
    """
    others = [atom for number, atom in enumerate(body.atoms) if number != place]
    left = {relation for relation, _ in others}
    if any(relation not in left for relation, _ in rival.atoms):
        return True
    mine = body.atoms[place][1]
    return any(
        all(relation != other or _apart(terms, theirs, mine) for other, theirs in others)
        for relation, terms in rival.atoms
    )


def _apart(terms: tuple[int, ...], theirs: tuple[int, ...], mine: tuple[int, ...]) -> bool:
    """Does a constant keep an atom from another one, also when the
    tuple's terms take other values?
    """
    return any(
        term >= 0 and term != other and (other >= 0 or other not in mine)
        for term, other in zip(terms, theirs, strict=True)
    )
