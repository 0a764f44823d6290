"""Critical: do a secret and some views depend on each other, whatever anyone believes?

A tuple is critical for a query if adding it changes the answer on some instance that satisfies the
keys. Secret and views are independent under every belief about independent tuples exactly if no
tuple is critical for both (Miklau and Suciu 2004; Machanavajjhala 2008, Theorem 2.1), or with
keys, if no critical tuples of both agree on the columns that all keys of their relation share. What
this corrects of Machanavajjhala (2008): domains must be large for both queries jointly (Theorem
2.5),
queries are chased before homomorphisms are sought (Theorem 2.8), and several candidate keys connect
tuples that share no key value (Theorems 2.1, 2.7, 2.8).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Literal

from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.chase import anchor, key_places, path
from tacit.families.queries.logic.numbered_queries import NumberedBody, Symbols, TermNumbering
from tacit.families.queries.logic.prepare import Folded, PreparedQuery, normalised, prepare
from tacit.families.queries.logic.realise import realised
from tacit.families.queries.logic.term_constraints import QuerySide, State
from tacit.families.queries.logic.unify import Unifier, may_unify
from tacit.families.queries.logic.valuations import Absorption, Valuation, ValuationSearch
from tacit.families.queries.logic.witness import Instance, collapsed
from tacit.families.queries.query import Atom, Constant, Query, Relations, Term
from tacit.model.deadline import OutOfTime, look, until

__all__ = [
    "Disclosed",
    "Fact",
    "NotDecided",
    "Private",
    "SecretJudge",
    "SettledPair",
    "Verdict",
    "is_empty",
    "judge",
]


@dataclass(frozen=True, slots=True)
class SettledPair:
    """Two subgoals that could be one tuple, and why that tuple is not critical for both.

    `absorbed_by` finds its rows without the tuple by `homomorphism` (variable, image). When further
    subgoals are the tuple too, `further` more homomorphisms were needed.
    """

    secret: Atom
    view: Atom
    view_number: int
    absorbed_by: Literal["secret", "view"]
    homomorphism: tuple[tuple[str, str], ...]
    further: int = 0

    def __str__(self) -> str:
        mapped = ", ".join(f"{variable} -> {image}" for variable, image in self.homomorphism)
        return (
            f"{self.secret} and {self.view}: the {self.absorbed_by} does without by "
            f"{mapped or 'itself'}"
        )


@dataclass(frozen=True, slots=True)
class Disclosed:
    """Secret and view depend on each other.

    `secret_tuple` added to `instance_secret` changes the secret's answer, `view_tuple` added to
    `instance_view` that of the view with number `view`. With several candidate keys `path` leads
    from one tuple to the other, each sharing a key with the next.
    """

    secret_tuple: Fact
    view_tuple: Fact
    path: tuple[Fact, ...]
    instance_secret: tuple[Fact, ...]
    instance_view: tuple[Fact, ...]
    view: int
    instead_secret: Fact | None = None  # what stands there otherwise, where every key has a row
    instead_view: Fact | None = None


@dataclass(frozen=True, slots=True)
class Private:
    """Nothing is disclosed. `gate_only`: no two subgoals could be one
    tuple, so nothing had to be absorbed.
    """

    pairs: tuple[SettledPair, ...]
    gate_only: bool


@dataclass(frozen=True, slots=True)
class NotDecided:
    """A limit was met: `code` names it in the documentation."""

    code: str
    text: str


Verdict = Private | Disclosed | NotDecided


def judge(
    secret: Query, views: Sequence[Query], relations: Relations, *, seconds: float | None = None
) -> Verdict:
    """Do the views, seen together, say anything about the secret?

    Exact for unions of conjunctive queries with comparisons, NULLs, finite and large domains, and
    any number of keys per relation, read as sets or bags. Deciding is hard in general (complete for
    the second level of the polynomial hierarchy): `seconds` limits it, and the answer is then
    NotDecided.

    >>> from tacit.families.queries.query import Atom, Conjunctive, Constant, Relation, Variable
    >>> n, i, d, w = map(Variable, "nidw")
    >>> wards = {"D": Relation("D", ("name", "illness", "ward"))}
    >>> cancer = Query("S", (Conjunctive((n,), (Atom("D", (n, Constant("cancer"), w)),)),))
    >>> flu = Query("V", (Conjunctive((w,), (Atom("D", (n, Constant("flu"), w)),)),))
    >>> judge(cancer, [flu], wards)
    Private(pairs=(), gate_only=True)
    >>> everything = Query("V", (Conjunctive((w,), (Atom("D", (n, d, w)),)),))
    >>> print(judge(cancer, [everything], wards).secret_tuple)
    D('_fresh1', 'cancer', '_fresh2')
    """
    return SecretJudge(relations).judge(secret, views, seconds=seconds)


def is_empty(query: Query, relations: Relations) -> bool:
    """Is the query's answer empty on every database? Such a secret protects nothing.

    >>> from tacit.families.queries.query import (
    ...     Atom,
    ...     Comparison,
    ...     Conjunctive,
    ...     Constant,
    ...     Relation,
    ...     Variable,
    ... )
    >>> x = Variable("x")
    >>> part = Conjunctive(
    ...     (x,),
    ...     (Atom("R", (x,)),),
    ...     (Comparison(x, "<", Constant(1)), Comparison(Constant(2), "<", x)),
    ... )
    >>> is_empty(Query("S", (part,)), {"R": Relation("R", ("a",))})
    True
    """
    numbering, keys = TermNumbering(relations, Symbols()), key_places(relations)
    bodies = (numbering.body(part, 0) for part in query.parts)
    return all(body is None or normalised(body, numbering, keys) is None for body in bodies)


@dataclass(frozen=True, slots=True)
class AtomPair:
    """An atom of the secret and one of a view that may be one tuple,
    or two that depend on each other.
    """

    secret_part: NumberedBody
    secret_atom: int
    view_part: NumberedBody
    view_atom: int


class SecretJudge:
    """Judges many questions about the same relations; queries are prepared once.
    The rows of `public` relations are no secret, whoever asks.
    """

    def __init__(self, relations: Relations, public: Collection[str] = ()) -> None:
        self.relations = relations
        self.public = frozenset(public)
        self.symbols = Symbols()
        self.numbering = TermNumbering(relations, self.symbols)
        self.keys = key_places(relations)
        self.anchors = {name: anchor(relation) for name, relation in relations.items()}
        self._prepared: dict[tuple[Query, int], PreparedQuery] = {}

    def judge(
        self, secret: Query, views: Sequence[Query], *, seconds: float | None = None
    ) -> Verdict:
        """Do the views, seen together, say anything about the secret? See `judge`.

        The tuples that are critical for several views together are those critical for one of them,
        so views are asked about one by one.
        """
        settled: list[SettledPair] = []
        try:
            with until(seconds):
                look()
                hidden = self.prepared(secret, 0)
                for number, view in self.that_may_meet(secret, views):
                    answer = self.between(hidden, self.prepared(view, 1), number)
                    if not isinstance(answer, list):
                        return answer
                    settled += answer
        except OutOfTime:
            return NotDecided(
                "time-limit",
                f"not decided within {seconds:g} seconds" if seconds is not None else "",
            )
        return Private(tuple(settled), not settled)

    def that_may_meet(self, secret: Query, views: Sequence[Query]) -> Iterator[tuple[int, Query]]:
        """The views of which some subgoal could be one tuple with one of the secret's as far as
        their constants say, as they are written, with their numbers.

        What makes a query ready only equates terms and cuts subgoals off, so those that cannot
        meet now never will. Of many views few have to be made ready.
        """
        ours = [
            (relation, found, self.anchors[relation])
            for relation, found in _atoms_by_relation(secret).items()
            if relation not in self.public
        ]
        for number, view in enumerate(views):
            look()
            theirs = _atoms_by_relation(view)
            for relation, found, columns in ours:
                if relation in theirs and _some_may_be_one(found, theirs[relation], columns):
                    yield number, view
                    break

    def prepared(self, query: Query, parity: int) -> PreparedQuery:
        """The query made ready, from memory if it was asked about before."""
        place = query, parity
        found = self._prepared.get(place)
        if found is None:
            found = prepare(query, self.numbering, self.keys, parity)
            self._prepared[place] = found
        return found

    # --- one secret and one view ----------------------------------------------------------------

    def between(
        self, secret: PreparedQuery, view: PreparedQuery, number: int
    ) -> list[SettledPair] | Disclosed | NotDecided:
        """The pairs that were settled, or what is disclosed."""
        settled: list[SettledPair] = []
        for pair in self.pairs(secret.parts, view.parts):
            question, state = self.asked(pair, secret, view)
            if state is None:
                continue
            solution = question.solve(state)
            if solution is not None:
                return self._disclosed(question, *solution, secret, view, number)
            settled += self._settled(pair, question.absorptions, number)
        return settled + self._folded(secret, view, number)

    def pairs(
        self, secrets: Sequence[NumberedBody], views: Sequence[NumberedBody]
    ) -> Iterator[AtomPair]:
        """The pairs of subgoals that may unify as far as constants say;
        with keys, on the anchor only.
        """
        for view_part in views:
            by_relation: dict[str, list[int]] = {}
            for place, (relation, _) in enumerate(view_part.atoms):
                if relation not in self.public:
                    by_relation.setdefault(relation, []).append(place)
            for secret_part in secrets:
                for place, (relation, terms) in enumerate(secret_part.atoms):
                    for other in by_relation.get(relation, ()):
                        columns = self.anchors[relation]
                        wanted = view_part.atoms[other][1]
                        if may_unify(
                            [terms[one] for one in columns], [wanted[one] for one in columns]
                        ):
                            yield AtomPair(secret_part, place, view_part, other)

    def asked(
        self, pair: AtomPair, secret: PreparedQuery, view: PreparedQuery
    ) -> tuple[ValuationSearch, State | None]:
        """The question whether a pair is critical for both; no state where the two cannot meet."""
        sides = (
            QuerySide(pair.secret_part, pair.secret_atom, secret.rivals, secret.minimal),
            QuerySide(pair.view_part, pair.view_atom, view.rivals, view.minimal),
        )
        return self._met(
            pair, ValuationSearch(sides, self.keys, self.symbols, (*secret.raw, *view.raw))
        )

    def _met(
        self, pair: AtomPair, question: ValuationSearch
    ) -> tuple[ValuationSearch, State | None]:
        state = question.start()
        relation, terms = pair.secret_part.atoms[pair.secret_atom]
        wanted = pair.view_part.atoms[pair.view_atom][1]
        met = all(
            state.classes.join(terms[column], wanted[column]) for column in self.anchors[relation]
        )
        return question, state if met and question.propagate(state) else None

    # --- what is told ---------------------------------------------------------------------------

    def _settled(
        self, pair: AtomPair, absorptions: Sequence[Absorption], number: int
    ) -> list[SettledPair]:
        if not absorptions:  # the two can only meet by values that the domains or keys exclude
            return []
        first, sides = absorptions[0], (pair.secret_part, pair.view_part)
        secret = self.numbering.words(pair.secret_part, pair.secret_atom)
        view = self.numbering.words(pair.view_part, pair.view_atom)
        mapped = self._mapped(first, sides[first.side])
        return [SettledPair(secret, view, number, _side(first.side), mapped, len(absorptions) - 1)]

    def _mapped(self, absorption: Absorption, body: NumberedBody) -> tuple[tuple[str, str], ...]:
        rival, found = absorption.rival, {}
        for (_, terms), image in zip(rival.atoms, absorption.images, strict=True):
            for term, target in zip(terms, body.atoms[image][1], strict=True):
                if term < 0:
                    found[str(self.numbering.term(rival, term))] = str(
                        self.numbering.term(body, target)
                    )
        return tuple(found.items())

    def _folded(self, secret: PreparedQuery, view: PreparedQuery, number: int) -> list[SettledPair]:
        """The pairs with subgoals that were cut off: the rest of the query says the same."""
        settled: list[SettledPair] = []
        for side, (one, two) in enumerate(((secret, view), (view, secret))):
            for folded in one.folded:
                others = (
                    [*two.parts, *(other.whole for other in two.folded)]
                    if side == 0
                    else list(two.parts)
                )
                settled += self._folded_pairs(folded, others, side, number)
        return settled

    def _folded_pairs(
        self, folded: Folded, others: Sequence[NumberedBody], side: int, number: int
    ) -> Iterator[SettledPair]:
        mapped = tuple(
            (
                str(self.numbering.term(folded.source, variable)),
                str(self.numbering.term(folded.whole, image)),
            )
            for variable, image in folded.homomorphism.items()
        )
        for pair in self.pairs(
            *(([folded.whole], others) if side == 0 else (others, [folded.whole]))
        ):
            atom = pair.secret_atom if side == 0 else pair.view_atom
            if folded.whole.origins[atom] in folded.kept:
                continue
            if self.meets(pair):
                secret = self.numbering.words(pair.secret_part, pair.secret_atom)
                view = self.numbering.words(pair.view_part, pair.view_atom)
                yield SettledPair(secret, view, number, _side(side), mapped)

    def meets(self, pair: AtomPair) -> bool:
        """Can the two subgoals meet at all?"""
        if not self.keys and not any(
            _says_more(body) for body in (pair.secret_part, pair.view_part)
        ):
            terms, wanted = (
                pair.secret_part.atoms[pair.secret_atom][1],
                pair.view_part.atoms[pair.view_atom][1],
            )
            return Unifier().join_all(terms, wanted)  # nothing else can keep them apart
        bare = (
            QuerySide(pair.secret_part, pair.secret_atom),
            QuerySide(pair.view_part, pair.view_atom),
        )
        return self._met(pair, ValuationSearch(bare, self.keys, self.symbols))[1] is not None

    def _disclosed(
        self,
        question: ValuationSearch,
        state: State,
        found: Valuation,
        secret: PreparedQuery,
        view: PreparedQuery,
        number: int,
    ) -> Disclosed | NotDecided:
        state, found = collapsed(question, state, found)
        values = realised(question, found, self.numbering)
        if values is None:
            return NotDecided(
                "no-value-between",
                "the views meet only at a value between two that have none between them",
            )
        tuples, instances = [], []
        for side, prepared in enumerate((secret, view)):
            critical, rows = question.facts(found, side)
            fact = Fact(critical[0], tuple(values[value] for value in critical[1]))
            facts = [
                Fact(relation, tuple(values[value] for value in row)) for relation, row in rows
            ]
            row = tuple(
                values[value] if value in values else self.symbols.constant(value).value
                for value in found.row(question.sides[side].body.head)
            )
            instance = Instance(prepared, self.numbering)
            smallest = instance.smallest(facts, fact, row)
            assert instance.depends(smallest, fact, row), "a witness must change the answer"
            tuples.append(fact)
            instances.append(smallest)
        return Disclosed(
            tuples[0], tuples[1], self._path(*tuples), instances[0], instances[1], number
        )

    def _path(self, secret: Fact, view: Fact) -> tuple[Fact, ...]:
        relation = self.relations[secret.relation]
        if len(relation.keys) < 2 or secret == view:
            return ()
        return tuple(
            Fact(secret.relation, values) for values in path(relation, secret.values, view.values)
        )


@lru_cache(maxsize=4096)
def _atoms_by_relation(query: Query) -> dict[str, list[tuple[Term, ...]]]:
    """The subgoals of all parts as they are written."""
    found: dict[str, list[tuple[Term, ...]]] = {}
    for part in query.parts:
        for atom in part.atoms:
            found.setdefault(atom.relation, []).append(atom.terms)
    return found


def _some_may_be_one(
    ours: Sequence[tuple[Term, ...]], theirs: Sequence[tuple[Term, ...]], columns: Sequence[int]
) -> bool:
    """May some subgoals agree in these columns? Two constants do if they are equal."""
    for one, other in product(ours, theirs):
        for column in columns:
            left, right = one[column], other[column]
            if isinstance(left, Constant) and isinstance(right, Constant) and left != right:
                break
        else:
            return True
    return False


def _says_more(body: NumberedBody) -> bool:
    """Is more said of the variables than where they stand?"""
    return bool(body.comparisons or body.domains or body.maybe)


def _side(number: int) -> Literal["secret", "view"]:
    return "secret" if number == 0 else "view"
