"""Perfect privacy: do the views say anything at all about the secret,
to anyone? (Machanavajjhala 2008, chapter 2)
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

from tacit.errors import EngineError, ParameterError
from tacit.families.definition import Definition, DefinitionFacts, check_seconds
from tacit.families.queries.definitions.perfect_changes import changes
from tacit.families.queries.definitions.perfect_evidence import (
    MOST_ROWS,
    MOST_ROWS_BY_TEXT,
    Answer,
    BeliefMove,
    EvidenceDatabase,
    Executed,
    by_logic,
    concrete,
    moved,
    rows_of,
    views_named,
)
from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.attribute_independent import (
    Role,
    asks_existence,
    split_attributes,
    split_relations,
    tied,
)
from tacit.families.queries.logic.critical import (
    Disclosed,
    NotDecided,
    Private,
    SecretJudge,
    SettledPair,
    is_empty,
)
from tacit.families.queries.logic.known_keys import (
    KnownKeys,
    keys_of,
    reduced,
    shown,
    with_keys,
)
from tacit.families.queries.query import Query, Relations
from tacit.families.queries.query_classes import bound, classes_of
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.sql.public_order import order_beyond_rows
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.families.queries.value_families import doubtful
from tacit.families.words import listed, plural
from tacit.model.deadline import Deadline, OutOfTime, is_over, until
from tacit.model.numbers import percents
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict, Witness

SECONDS = 60.0
ROWS_INDEPENDENT = Assumption(
    "rows-independent",
    "whether one row is there says nothing about the others, but for keys",
    "cannot",
)
ATTRIBUTES_INDEPENDENT = Assumption(
    "attributes-independent",
    "which rows there are is no secret, and the attributes of a row say nothing about each other",
    "cannot",
)
INSTEAD = "Ask for g-safety or e-safety."
BOUND = (
    "The queries depend on a common row, but constraints may exclude the databases in which "
    f"they do. {INSTEAD}"
)
SCHEMA_KNOWN = Assumption("schema-known", "everybody knows the tables, keys and domains", "yes")


@dataclass(frozen=True, slots=True)
class PerfectPrivacy(Definition):
    """The answers of the views change nobody's belief about the secret's
    answer, whatever they believed before.

    Beliefs may be any that take rows as independent of each other, given the keys. `semantics`
    reads both queries as sets or bags instead of as they are written. With `model`
    attribute-independent the attributes of a row are independent too, and which rows there are is
    public: that is milder, and for owners who find that two queries on one table with a key always
    disclose each other. `seconds` limits the search; then the verdict is undecided.

    >>> PerfectPrivacy().label
    'perfect privacy'
    >>> PerfectPrivacy(semantics="list")
    Traceback (most recent call last):
    tacit.errors.ParameterError: there are no semantics 'list'. Use set or bag, or leave it out.
    """

    semantics: Literal["set", "bag"] | None = None
    model: Literal["tuple-independent", "attribute-independent"] = "tuple-independent"
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "perfect-privacy"
    simulatable: ClassVar[bool] = True
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="the answer of a secret query",
        against="who sees the views and believes anything that takes rows as independent",
        measured="any change of belief",
        risks=("singling out", "linkability", "inference"),
        disclosures=("identity", "attribute", "membership"),
        composes=True,
    )

    def __post_init__(self) -> None:
        if self.semantics not in (None, "set", "bag"):
            raise ParameterError(
                f"there are no semantics {self.semantics!r}.",
                parameter="semantics",
                hint="Use set or bag, or leave it out.",
            )
        if self.model not in ("tuple-independent", "attribute-independent"):
            raise ParameterError(
                f"there is no model {self.model!r}.",
                parameter="model",
                hint="Use tuple-independent or attribute-independent.",
            )
        check_seconds(self.seconds)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return (
            "perfect privacy"
            if self.model == "tuple-independent"
            else "perfect privacy (attribute-independent)"
        )

    def check(self, question: QueryQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look for a tuple on which both the secret and a view depend."""
        deadline = Deadline(self.seconds)
        said = self._constant_parts(question)
        ruling = self.decide(question)
        if isinstance(ruling.found, NotDecided):
            return self._undecided(
                ruling.found.code, ruling.found.text or "The search met its limit.", said
            )
        if isinstance(ruling.found, Disclosed):
            assert ruling.secret is not None and ruling.view is not None
            relations = self._queries(question.secret, question.relations, "secret")[1]
            with until(deadline):
                return self._disclosed(
                    question,
                    ruling.secret,
                    ruling.view,
                    question.views[ruling.place],
                    ruling.found,
                    relations,
                    said,
                )
        return self._holds(question, ruling, said)

    def decide(self, question: QueryQuestion, judge: SecretJudge | None = None) -> Ruling:
        """The decision by itself: no witness is executed and nothing is told.
        `judge` remembers queries that it saw before.
        """
        deadline = Deadline(self.seconds)
        secrets, relations = self._queries(question.secret, question.relations, "secret")
        views = [
            (place, query)
            for place, one in enumerate(question.views)
            for query in self._queries(one, question.relations)[0]
        ]
        asked = [query for _, query in views]
        if text := tied_together(secrets, asked, question.tied, question.derived):
            return Ruling(NotDecided("constraints", text))
        if self.model == "attribute-independent" and (outside := outside_the_model(question)):
            return Ruling(outside)
        if reason := doubtful([*secrets, *asked], relations):
            text = (
                f"{reason[0].upper()}{reason[1:]}, so constants may not mean what they look "
                "like. Give the column a type."
            )
            return Ruling(NotDecided("types", text))
        judge = judge or (
            judge_of(relations, question.known)
            if self.model == "tuple-independent"
            else SecretJudge(relations)
        )
        pairs: tuple[SettledPair, ...] = ()
        for secret in secrets:
            with until(deadline):
                found = judge.judge(
                    self._reduced(secret, question.secret, question),
                    [self._reduced(view, question.views[at], question) for at, view in views],
                    seconds=float(self.seconds),
                )
                if isinstance(found, Disclosed):
                    found = self._possible(found, secret, asked, question)
            if not isinstance(found, Private):
                at = views[found.view] if isinstance(found, Disclosed) else (0, None)
                return Ruling(found, secret, at[1], at[0])
            pairs += found.pairs
        if relation := nullable_key(secrets, asked, relations):
            text = (
                f"A key of {relation} may be NULL: rows that share it exclude each other only "
                "where it is not, which is not decided."
            )
            return Ruling(NotDecided("nullable-key", text))
        return Ruling(
            Private(pairs, not pairs),
            said_of=tuple(question.views[place].name for place, _ in views),
        )

    def _reduced(self, query: Query, reading: QueryUnderstanding, question: QueryQuestion) -> Query:
        """The query as it is judged given known keys. Where rows are sorted by what they do not
        show, all that is in them is judged.
        """
        shows_order = reading.language == "datalog" or reading.order_shown
        if self.model != "tuple-independent" or not shows_order:
            return query
        return reduced(query, question.relations, question.known)

    def _possible(
        self, found: Disclosed, secret: Query, views: Sequence[Query], question: QueryQuestion
    ) -> Disclosed | NotDecided:
        """The disclosure, on databases that there can be."""
        asked, known = [secret, *views], question.known
        if bound_by([*question.tied, question.derived], asked):
            return NotDecided("constraints", BOUND)
        if not bound_by([{*known.columns, *(one[0] for one in known.foreign)}], asked):
            return found
        if self.model != "tuple-independent":
            return NotDecided("constraints", BOUND)
        try:
            there = shown(found, secret, views[found.view], question.relations, known)
        except OutOfTime:
            return NotDecided("time-limit", f"not decided within {self.seconds:g} seconds")
        return there or NotDecided("constraints", BOUND)

    # -- what is asked -----------------------------------------------------------------------------

    def _queries(
        self, reading: QueryUnderstanding, relations: Relations, role: Role = "view"
    ) -> tuple[list[Query], Relations]:
        """The query itself, or its supports;
        over split relations where attributes are independent.
        """
        read: Sequence[Query] = [reading.exact] if reading.exact is not None else reading.supports
        if self.semantics is not None and reading.exact is not None:
            read = [replace(reading.exact, bag=self.semantics == "bag")]
        if self.model == "tuple-independent":
            return list(read), relations
        return [
            split_attributes(query, relations, role=role)[0] for query in read
        ], split_relations(relations)

    def _constant_parts(self, question: QueryQuestion) -> dict[str, Any]:
        names = [view.name for view in question.views]
        exact = question.secret.is_exact and all(view.is_exact for view in question.views)
        warnings = list(question.warnings)
        if question.secret.exact is not None and is_empty(
            question.secret.exact, question.relations
        ):
            warnings.append(
                f"the answer of {question.secret.name} is empty on every database: it "
                "protects nothing"
            )
        warnings += [
            (
                f"{view.name} is sorted by {view.sorted_by}, which tells more than its rows: "
                "publish them in another order"
            )
            for view in question.views
            if view.sorted_by is not None
        ]
        return {
            "check": self.check_name,
            "label": self.label,
            "subject": {
                "secret": question.secret.name,
                "release" if len(names) == 1 else "releases": names[0]
                if len(names) == 1
                else names,
            },
            "certainty": "exact" if exact else "conservative",
            "scope": "schema",
            "protects": f"the answer of {question.secret.name}",
            "against": f"anyone who sees {listed(names)}, whatever they believe",
            "measure": "any change of belief",
            "assumptions": (
                SCHEMA_KNOWN,
                ROWS_INDEPENDENT if self.model == "tuple-independent" else ATTRIBUTES_INDEPENDENT,
                *keys_known(question.known),
                *question.assumptions,
            ),
            "measured": {
                "class": {
                    "secret": class_names(question.secret),
                    "view": class_names(*question.views),
                },
                **bounds(question),
            },
            "required": {
                **({"semantics": self.semantics} if self.semantics else {}),
                "model": self.model,
            },
            "warnings": tuple(warnings),
        }

    # -- what is answered --------------------------------------------------------------------------

    def _holds(self, question: QueryQuestion, ruling: Ruling, said: dict[str, Any]) -> Verdict:
        assert isinstance(ruling.found, Private)
        pairs, gate, said_of = ruling.found.pairs, ruling.found.gate_only, ruling.said_of
        empty = question.secret.exact is not None and is_empty(
            question.secret.exact, question.relations
        )
        if gate:
            because = "no row can matter to both the secret and a view"
        else:
            because = (
                f"{plural('pair', len(pairs))} of subgoals could be one row, and none of "
                "these rows matters to both"
            )
        facts = {
            "gate_only": gate,
            "pairs": [
                {
                    "secret": str(one.secret),
                    "view": str(one.view),
                    "of": said_of[one.view_number],
                    "absorbed_by": one.absorbed_by,
                    "homomorphism": dict(one.homomorphism),
                    "further": one.further,
                }
                for one in pairs
            ],
        }
        return Verdict(
            status="holds",
            because=because,
            evidence=Certificate("homomorphisms", facts),
            vacuous=empty,
            **said,
        )

    def _disclosed(
        self,
        question: QueryQuestion,
        secret: Query,
        view: Query,
        reading: QueryUnderstanding,
        found: Disclosed,
        relations: Relations,
        said: dict[str, Any],
    ) -> Verdict:
        exact = question.secret.is_exact and reading.is_exact
        by_text, reason = None, "With independent attributes there is no single row to try."
        if self.model == "tuple-independent":
            by_text, reason = self._execution(question, secret, view, reading, found)
        if by_text is not None and all(one.differs for one in by_text.executed):
            return self._breached(
                question,
                secret,
                view,
                reading,
                found,
                relations,
                by_text,
                {**said, "certainty": "exact"},
            )
        # With semantics or a model that are not those of the text, the
        # text's own answer proves nothing.
        if exact and (self.semantics is not None or by_text is None):
            return self._breached(question, secret, view, reading, found, relations, None, said)
        fragments = [*question.secret.approximations, *reading.approximations]
        code = (
            "time-limit"
            if by_text is None and is_over()
            else fragments[0].code
            if fragments
            else "witness-not-confirmed"
        )
        about = (
            f" Not read exactly: {fragments[0].fragment} ({fragments[0].text})."
            if fragments
            else ""
        )
        return self._undecided(
            code,
            "The queries may depend on a common row, but no case was found where both do. "
            f"{reason}{about}",
            said,
        )

    def _execution(
        self,
        question: QueryQuestion,
        secret: Query,
        view: Query,
        reading: QueryUnderstanding,
        found: Disclosed,
    ) -> tuple[ExecutedPair | None, str]:
        """Both queries executed on the rows that were found; or why they could not be."""
        made = concrete(rows_at(found), question.relations)
        try:
            named = views_named((question.secret.text, reading.text), question.others)
            with EvidenceDatabase(question.relations, question.dialect, named) as bench:
                executed = (
                    bench.executed(
                        question.secret,
                        secret,
                        found.instance_secret,
                        found.secret_tuple,
                        made,
                        found.instead_secret,
                    ),
                    bench.executed(
                        reading,
                        view,
                        found.instance_view,
                        found.view_tuple,
                        made,
                        found.instead_view,
                    ),
                )
                if not all(one.differs for one in executed):
                    return ExecutedPair(
                        executed, None
                    ), "On the rows that were found the queries' own answers do not change."
                exact = question.secret.is_exact and reading.is_exact
                of_secret = (
                    by_logic(secret) if exact else bench.by_text(question.secret, secret, made)
                )
                of_view = by_logic(view) if exact else bench.by_text(reading, view, made)
                most = MOST_ROWS if exact else MOST_ROWS_BY_TEXT
                belief = believed(found, question.relations, of_secret, of_view, most)
        except EngineError as error:
            return None, error.message
        return ExecutedPair(executed, belief), ""

    def _breached(
        self,
        question: QueryQuestion,
        secret: Query,
        view: Query,
        reading: QueryUnderstanding,
        found: Disclosed,
        relations: Relations,
        tried: ExecutedPair | None,
        said: dict[str, Any],
    ) -> Verdict:
        executed = tried.executed if tried is not None else None
        belief = (
            tried.belief
            if tried is not None
            else believed(found, relations, by_logic(secret), by_logic(view), MOST_ROWS)
        )
        keyed = bool(relations[found.secret_tuple.relation].keys)
        facts: dict[str, Any] = {
            "critical_tuple": fact_json(found.secret_tuple, relations),
            **(
                {"critical_tuple_of_view": fact_json(found.view_tuple, relations)}
                if keyed or found.view_tuple != found.secret_tuple
                else {}
            ),
            **({"path": [fact_json(one, relations) for one in found.path]} if found.path else {}),
            "instance_secret": [fact_json(one, relations) for one in found.instance_secret],
            "instance_view": [fact_json(one, relations) for one in found.instance_view],
            "view": reading.name,
            **{
                name: fact_json(row, relations)
                for name, row in (
                    ("instead_secret", found.instead_secret),
                    ("instead_view", found.instead_view),
                )
                if row is not None
            },
        }
        if executed is not None:
            facts["executed"] = {
                name: {"columns": list(asked.columns), "without": one.without, "with": one.with_}
                for name, asked, one in zip(
                    ("secret", "view"), (question.secret, reading), executed, strict=True
                )
            }
        if belief is not None:
            facts |= {
                "disclosure": "total" if belief.total else "partial",
                "prior": f"{coins(belief.rows)} there or not by a fair coin",
                "claim": list(belief.claim),
                "before": belief.before,
                "after": belief.after,
            }
        proposed = self._changes(question, view, reading, relations) if reading.is_exact else []
        if proposed:
            facts["changes"] = proposed
        return Verdict(
            status="breached",
            because=because(found, question.secret.name, reading.name),
            evidence=Witness("tuple", facts),
            story=story(found, question.secret.name, reading.name, belief, proposed),
            **said,
        )

    def _changes(
        self,
        question: QueryQuestion,
        view: Query,
        reading: QueryUnderstanding,
        relations: Relations,
    ) -> list[str]:
        """Small changes of one view after which the whole question would be answered with holds;
        those that are found in time.
        """
        secrets = self._queries(question.secret, question.relations)[0]
        others = [
            query
            for one in question.views
            if one is not reading
            for query in self._queries(one, question.relations)[0]
        ]

        judge = SecretJudge(relations)

        def are_private(asked: Sequence[Query]) -> bool:
            return all(
                isinstance(judge.judge(secret, asked, seconds=1.0), Private) for secret in secrets
            )

        if not are_private(others):  # whatever becomes of this one
            return []
        return changes(
            secrets[0], view, reading.columns, relations, lambda changed: are_private([changed])
        )

    def _undecided(self, code: str, text: str, said: dict[str, Any]) -> Verdict:
        return Verdict(
            status="undecided",
            because="this could not be decided",
            evidence=Reason(code, text),
            **said,
        )


@dataclass(frozen=True, slots=True)
class Ruling:
    """What was found: nothing, or between which part of the secret and which query of which
    view; `said_of` names the views of pairs.
    """

    found: Private | Disclosed | NotDecided
    secret: Query | None = None
    view: Query | None = None
    place: int = 0
    said_of: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExecutedPair:
    """What came out when both queries were executed, and how a
    belief moves by their own answers.
    """

    executed: tuple[Executed, Executed]
    belief: BeliefMove | None


def rows_at(found: Disclosed) -> list[Fact]:
    """All rows that a disclosure speaks of."""
    rows = [
        *found.instance_secret,
        *found.instance_view,
        found.secret_tuple,
        found.view_tuple,
        *found.path,
        *(one for one in (found.instead_secret, found.instead_view) if one is not None),
    ]
    return list(dict.fromkeys(rows))


def believed(
    found: Disclosed, relations: Relations, secret: Answer, view: Answer, most: int
) -> BeliefMove | None:
    """How the belief in a row of the secret's answer moves, where the rows are few enough to try
    all sets of them in time.
    """
    if len(rows_at(found)) > most or found.instead_secret is not None:
        return None
    try:
        claims = rows_of(secret([*found.instance_secret, found.secret_tuple]))
        return moved(rows_at(found), relations, secret, view, claims)
    except (
        OutOfTime,
        EngineError,
    ):  # a belief tells the breach better; the rows themselves are what proves it
        return None


def tied_relation(question: QueryQuestion) -> str | None:
    """A relation of the question whose attributes cannot be independent of each other."""
    read = [
        query
        for one in (question.secret, *question.views)
        for query in ([one.exact] if one.exact else one.supports)
    ]
    return next((name for query in read if (name := tied(query, question.relations))), None)


def outside_the_model(question: QueryQuestion) -> NotDecided | None:
    """Why independent attributes cannot say what is asked, if so:
    keys tie them together, rows are public, and so is their order.
    """
    if name := tied_relation(question):
        return NotDecided(
            "attributes",
            f"A key of {name} ties several attributes together, so they are not independent of "
            "each other.",
        )
    secret = question.secret
    asked = (
        asks_existence(one, question.relations)
        for one in ([secret.exact] if secret.exact else secret.supports)
    )
    if name := next(filter(None, asked), None):
        text = (
            f"{secret.name} asks which rows {name} has, and with independent attributes that "
            "is public. Ask with model: tuple-independent."
        )
        return NotDecided("attributes", text)
    for view in question.views:
        by = order_beyond_rows(view.text, question.dialect) if view.language == "sql" else None
        if by is not None:
            text = (
                f"{view.name} sorts by {by}, which it does not show. With independent "
                "attributes the order of its rows tells more than they do. Leave ORDER "
                "BY out."
            )
            return NotDecided("order", text)
    return None


def used(queries: Sequence[Query]) -> set[str]:
    """The relations that queries speak of."""
    return {atom.relation for query in queries for part in query.parts for atom in part.atoms}


def nullable_key(
    secrets: Sequence[Query], views: Sequence[Query], relations: Relations
) -> str | None:
    """A relation in both the secret and a view that has a key with a nullable column."""
    return next(
        (name for name in sorted(used(secrets) & used(views)) if relations[name].uniques), None
    )


def tied_together(
    secrets: Sequence[Query],
    views: Sequence[Query],
    tied: Sequence[frozenset[str]],
    derived: Mapping[str, Collection[str]],
) -> str | None:
    """Why a view may say something of the secret by a constraint:
    rows of tied tables are not independent, nor are derived rows of what they come from.

    Tables that are tied among themselves, but not to the other side, are
    one more thing that side depends on.
    """
    sides = [used(secrets), used(views)]
    (ours, bound_ours), (theirs, bound_theirs) = (depends(one, tied, derived) for one in sides)
    if both := (ours & bound_theirs) | (theirs & bound_ours):
        named = [
            one for one in sorted(sides[0] | sides[1]) if both & depends({one}, tied, derived)[0]
        ]
        return (
            f"Rows of {listed(named)} depend on each other by a constraint, foreign key or values "
            "that everybody knows, or by where they come from, and perfect privacy takes only "
            f"keys, and foreign keys into known keys, into account. "
            f"{INSTEAD if derived.keys().isdisjoint(named) else ''}"
        ).strip()
    return None


def depends(
    tables: Collection[str], tied: Sequence[frozenset[str]], derived: Mapping[str, Collection[str]]
) -> tuple[set[str], set[str]]:
    """The tables that some depend on, with themselves; and which of these are tied to others,
    derived, or what others are derived from.

    >>> [sorted(one) for one in depends({"R", "E"}, [], {"E": {"D"}})]
    [['D', 'E', 'R'], ['D', 'E']]
    """
    found, bound = set(tables), set[str]()
    while True:
        groups = [group for group in tied if not group.isdisjoint(found)]
        groups += [frozenset({name, *derived[name]}) for name in found if name in derived]
        bound = bound.union(*groups)
        if bound <= found:
            return found, bound
        found |= bound


def bound_by(tied: Sequence[Collection[str]], queries: Sequence[Query]) -> bool:
    """Do constraints say which rows of the queries' tables there can be? Then a witness may be
    no possible database.
    """
    return any(not used(queries).isdisjoint(group) for group in tied)


def judge_of(relations: Relations, known: KnownKeys) -> SecretJudge:
    """A judge of queries over some tables, given which keys there are."""
    return SecretJudge(with_keys(relations, known), frozenset(map(keys_of, known.columns)))


def keys_known(known: KnownKeys) -> tuple[Assumption, ...]:
    """What is assumed where keys are known."""
    if not known:
        return ()
    named = listed([f"{table}.{column}" for table, column in known.columns.items()])
    return (
        Assumption("keys-known", f"everybody knows which values of {named} there are", "cannot"),
    )


def class_names(*readings: QueryUnderstanding) -> list[str]:
    """The query classes of Figure 2.3 that all of some queries are in."""
    found: frozenset[str] | None = None
    for reading in readings:
        classes = classes_of(reading.exact) if reading.exact is not None else None
        names: frozenset[str] = classes.names if classes is not None else frozenset()
        found = names if found is None else found & names
        if not found:  # no further query changes that: there may be a thousand
            break
    return sorted(found or ())


def bounds(question: QueryQuestion) -> dict[str, str]:
    """How much work the decision can be, and the theorem that says so;
    of several views the first.
    """
    secret, view = question.secret.exact, question.views[0].exact
    if secret is None or view is None:
        return {}
    found = bound(secret, view, question.relations)
    return {"bound": found.formula, "theorem": found.source}


def fact_json(fact: Fact, relations: Relations) -> dict[str, Any]:
    """A tuple as the contract writes it, with the names of its columns.

    >>> from tacit.families.queries.query import Relation
    >>> fact_json(Fact("D", ("_fresh1", 3)), {"D": Relation("D", ("name", "ward"))})
    {'relation': 'D', 'columns': ['name', 'ward'], 'values': ['_fresh1', 3]}
    """
    return {
        "relation": fact.relation,
        "columns": list(relations[fact.relation].columns),
        "values": list(fact.values),
    }


def because(found: Disclosed, secret: str, view: str) -> str:
    """What was found."""
    if found.secret_tuple == found.view_tuple:
        return f"whether there is a row {found.secret_tuple} can matter to {secret} and to {view}"
    return (
        f"rows {found.secret_tuple} and {found.view_tuple} exclude each other; one matters to "
        f"{secret}, the other to {view}"
    )


def story(
    found: Disclosed, secret: str, view: str, belief: BeliefMove | None, proposed: Sequence[str]
) -> str:
    """The same as a person would tell it."""
    told = [
        f"{company_of_row(found.instance_secret)} the row {found.secret_tuple}"
        f"{in_place_of(found.instead_secret)} changes the answer of {secret}. "
        f"{company_of_row(found.instance_view)} the row {found.view_tuple}"
        f"{in_place_of(found.instead_view)} changes the answer of {view}."
    ]
    if belief is not None:
        first, second = percents(belief.before, belief.after)
        claim = (
            f"that {secret} has the row ({', '.join(map(str, belief.claim))})"
            if belief.claim
            else f"that {secret} is true"
        )
        told.append(
            f"If {coins(belief.rows)} there or not by a fair coin, the belief {claim} moves from "
            f"{belief.before} ({first}) to {belief.after} ({second}) for some answer of {view}."
        )
        if belief.total:
            told.append(
                f"Among these rows some answer of {view} fixes the whole answer of {secret}."
            )
    if proposed:
        told.append(f"It would hold if you {' or '.join(proposed)}.")
    return " ".join(told)


def company_of_row(facts: Sequence[Fact]) -> str:
    """In which company a row is added."""
    return f"Beside {listed([str(one) for one in facts])}" if facts else "On its own"


def in_place_of(row: Fact | None) -> str:
    """Which row there is otherwise, where the key is known to be there."""
    return f" in the place of {row}" if row is not None else ""


def coins(rows: int) -> str:
    """The rows of a simple prior.

    >>> coins(1), coins(5)
    ('the one possible row is', 'each of 5 possible rows is')
    """
    return "the one possible row is" if rows == 1 else f"each of {rows} possible rows is"
