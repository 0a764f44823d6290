"""Decisions: may a role have the answer of a query? By query, role and policy alone:
rows are never looked at.

A query is answered if it says nothing about any denied secret (perfect privacy; Machanavajjhala
2008, chapter 2) and, where the role's default is deny, if it can be computed from what the role is
allowed. Perfect privacy adds up: queries that say nothing one by one say nothing together, for one
user and for all of them, with any number of keys (conflict graph; see the documentation).
"""

from __future__ import annotations

import hashlib
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlglot import exp
from sqlglot.errors import SqlglotError

from tacit.errors import QueryError
from tacit.families.queries.datalog.dependencies import keys_of
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy, judge_of
from tacit.families.queries.logic.canonical import canonical_query
from tacit.families.queries.logic.covering import covers
from tacit.families.queries.logic.critical import Disclosed, NotDecided
from tacit.families.queries.logic.determinacy import ShownBodies
from tacit.families.queries.logic.rewriting import rewriting
from tacit.families.queries.logic.tableau import rules_of
from tacit.families.queries.query import Conjunctive, Query
from tacit.families.queries.sql.engines import check_engine
from tacit.families.queries.sql.sql_reader import read_tree
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.families.words import listed
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.bindings import BoundRole, BoundViews, Roles
from tacit.gateway.policy.cores import counts
from tacit.gateway.policy.coverage import SECONDS as COVERING_SECONDS
from tacit.gateway.policy.coverage import Covering
from tacit.gateway.policy.failures import may_fail
from tacit.gateway.policy.history import trace_of
from tacit.gateway.policy.missing_parts import hidden_from, missing
from tacit.gateway.policy.policy import GatewayPolicy, RolePolicy, scans
from tacit.gateway.policy.row_order import orders_by_result, with_total_order
from tacit.gateway.policy.shape import shape
from tacit.gateway.policy.sizes import check_sizes
from tacit.gateway.policy.statement import NOT_SHOWN, Statement, statement_of
from tacit.gateway.policy.value_spelling import check_spelling
from tacit.gateway.policy.values import Parameters
from tacit.model.deadline import Deadline

SECONDS = 4.0  # for one secret
REMEMBERED = 20_000
FEW = 8  # views that a refusal lists
FRESH = 5_000  # decisions after which a judge forgets the constants it saw


@dataclass(frozen=True, slots=True)
class Decision:
    """Allowed or not, why, and what runs. `key` is the same for queries that mean the same."""

    allowed: bool
    code: str
    message: str
    hint: str | None = None
    secret: str | None = None
    sql: str | None = None
    columns: tuple[str, ...] = ()
    key: str = ""
    trace: tuple[Conjunctive, ...] = ()  # what is there for every row of the answer

    @property
    def is_refusal(self) -> bool:
        """Refused by the policy; otherwise a query that is not allowed is wrong in itself."""
        return self.code in REFUSALS


REFUSALS = frozenset({"discloses", "undecided", "may-fail", "not-granted", "attribute"})
NAMES_SOMETHING = ("unknown-table", "unknown-column")  # errors that propose names
Outcome = tuple[str, str, str | None, str | None]  # code, message, hint, secret
ALLOWED: Outcome = (
    "allowed",
    "The query says nothing about what this role must not learn.",
    None,
    None,
)


class Decider:
    """Decides for one policy. Queries that mean the same are judged once."""

    def __init__(
        self, policy: GatewayPolicy, *, seconds: float = SECONDS, hides: bool = True
    ) -> None:
        self.policy = policy
        self.hides = hides  # from a role which other tables there are
        self.definition = PerfectPrivacy(seconds=seconds)
        self.keys = keys_of(policy.relations)
        self.rules = rules_of(policy.dependencies, policy.relations)
        self.bound = Roles(policy)
        self._covered: OrderedDict[str, bool] = OrderedDict()
        self._readings: dict[str, Query | None] = {}
        self._judge = judge_of(policy.relations, policy.known)
        self._judged = 0
        self._outcomes: OrderedDict[str, Outcome] = OrderedDict()
        self._unshown: dict[str, frozenset[str]] = {}

    def decide(
        self,
        role: str,
        sql: str,
        parameters: Parameters = (),
        asker: Asker | None = None,
        history: Sequence[Conjunctive] | None = None,
        spoken: str | None = None,
    ) -> Decision:
        """May the role have the answer, for whoever asks? Never raises for what somebody
        wrote, and never looks at rows that they did not get. `history` is what they got;
        `spoken` how the query is spelled, where not as the source does.
        """
        self._readings.clear()  # they serve one decision, which reads the same parts again
        try:
            granted = self.bound.of(role, asker)
            views = BoundViews(self.policy, asker)
            statement = statement_of(
                sql,
                parameters,
                self.policy.relations,
                views,
                self.policy.dialect,
                spoken,
                asker,
                self._hidden(role) if granted.role.default == "deny" and self.hides else None,
            )
            reading = self._read(statement)
            check_spelling(statement.tree, self.policy.spellings, statement.source)
            check_sizes(statement.tree, statement.source)
            # DuckDB keeps the order of a table. Who may know all of its rows but those that are
            # denied may see it; others could put two answers side by side.
            # So they could where keys are known, and what stands beside them is a secret.
            scans = (
                self.policy.dialect == "duckdb"
                and self.policy.roles[role].default == "allow"
                and not self.policy.known
            )
            tree = with_total_order(
                statement.tree,
                len(reading.columns),
                statement.source,
                scans=scans,
                dialect=self.policy.dialect,
            )
        except QueryError as error:
            if error.code == NOT_SHOWN:
                return Decision(False, *not_granted(self.policy.roles[role], error.message))
            return Decision(False, error.code, _placed(error), self._hint(role, error))
        except RecursionError:
            return Decision(
                False, "too-large", "The query is nested too deeply.", "Split it into several."
            )
        except (
            SqlglotError,
            ArithmeticError,
            AssertionError,
            AttributeError,
            LookupError,
            TypeError,
            ValueError,
        ):
            # sqlglot fails in many ways on trees that it made itself.
            # What is not understood is not answered.
            return Decision(
                False, "not-read", "This query is not read.", "Write it in another way."
            )
        key = self._key(granted, statement, reading)
        outcome = self._outcomes.get(key)
        if outcome is None:
            outcome = self._decided(granted, statement, reading)
            self._remember(key, outcome)
        else:
            self._outcomes.move_to_end(key)
        if (
            outcome[0] == "not-granted"
            and history
            and self._follows(granted, statement, reading, history)
        ):
            outcome = ALLOWED
        code, message, hint, secret = outcome
        if code != "allowed":
            return Decision(False, code, message, hint, secret, key=key)
        runs = tree.sql(dialect=self.policy.dialect, comments=False)
        try:
            check_engine(
                statement.source, runs, tree, self.policy.dialect
            )  # what was judged is what the database will read
        except QueryError as error:
            return Decision(False, error.code, _placed(error), self._hint(role, error))
        trace = () if history is None else trace_of(statement.tree, self._reader(statement))
        return Decision(True, code, message, hint, secret, runs, reading.columns, key, trace)

    def _reader(self, statement: Statement) -> Callable[[exp.Select], Query | None]:
        return self._covering(statement, None, ()).read

    def _hint(self, role: str, error: QueryError) -> str | None:
        """What to write instead. Names that are alike may be hidden from a role that is allowed
        some tables and views only: it is told those.
        """
        own = self.policy.roles[role]
        if error.code not in NAMES_SOMETHING:
            return error.hint
        if own.default == "deny":
            return not_granted(own)[2]
        hidden = self._hidden(role)
        columns = {one for name in hidden for one in self._columns(name)}
        said = set(re.findall(r"[\w.]+", error.hint or ""))
        return None if said & {*hidden, *columns} else error.hint

    def _columns(self, name: str) -> Sequence[str]:
        found = self.policy.relations.get(name)
        return found.columns if found is not None else ()

    def _hidden(self, role: str) -> frozenset[str]:
        """The tables and views of which a role is not told that they are there."""
        if role not in self._unshown:
            self._unshown[role] = hidden_from(self.policy.roles[role], self.policy)
        return self._unshown[role]

    def _read(self, statement: Statement) -> QueryUnderstanding:
        return read_tree(
            statement.tree,
            statement.source,
            self.policy.relations,
            name="query",
            dialect=self.policy.dialect,
        )

    # -- what queries that mean the same share -----------------------------------------------------

    def _key(self, bound: BoundRole, statement: Statement, reading: QueryUnderstanding) -> str:
        """One name for queries that differ only in names and order; others go by their text."""
        role = bound.role
        asks_parts = role.default == "deny"
        named = [*sorted(statement.named), orders_by_result(statement.tree)] if asks_parts else []
        fails = self._may_fail(statement, reading)
        if reading.exact is None or fails is not None:
            said: Any = statement.tree.sql(dialect=self.policy.dialect, comments=False)
        else:
            said = self._canonical(reading.exact), reading.order_shown
        return hashlib.sha256(
            repr((self.policy.digest, role.name, [*bound.values.items()], named, said)).encode()
        ).hexdigest()

    def _canonical(self, query: Query) -> Any:
        numbering = self._judge.numbering
        bodies = [body for part in query.parts if (body := numbering.body(part, 0)) is not None]
        constants = sorted({number for body in bodies for number in body.constants()})
        # Numbers of constants are the judge's own: what they stand for goes with them.
        return canonical_query(tuple(bodies), query.bag), [
            (number, repr(self._judge.symbols.constant(number))) for number in constants
        ]

    def _remember(self, key: str, outcome: Outcome) -> None:
        self._outcomes[key] = outcome
        if len(self._outcomes) > REMEMBERED:
            self._outcomes.popitem(last=False)
        self._judged += 1
        if self._judged % FRESH == 0:
            self._judge = judge_of(self.policy.relations, self.policy.known)

    # -- deciding ----------------------------------------------------------------------------------

    def _decided(
        self, bound: BoundRole, statement: Statement, reading: QueryUnderstanding
    ) -> Outcome:
        role = bound.role
        for name, secret in role.denied.items():
            if (refused := self._says(name, secret, reading)) is not None:
                return refused
        part, touched = self._may_fail(statement, reading), self._touched(statement)
        if part is not None and (refused := self._fails(role, part, touched)) is not None:
            return refused
        if role.default == "deny" and not self._granted(bound, statement, reading):
            why = missing(statement.tree, _views(role), self.policy.relations)
            return not_granted(role, why)
        return ALLOWED

    def _touched(self, statement: Statement) -> list[str]:
        """The tables that a query reads."""
        names = {
            node.name if not node.db else f"{node.db}.{node.name}"
            for node in statement.tree.find_all(exp.Table)
        }
        return sorted(names & set(self.policy.relations))

    def _may_fail(self, statement: Statement, reading: QueryUnderstanding) -> str | None:
        if computed := self.policy.computed.intersection(self._touched(statement)):
            return min(computed)
        return may_fail(statement.tree, converts=reading.converts)

    def _says(
        self, name: str, secret: QueryUnderstanding, reading: QueryUnderstanding
    ) -> Outcome | None:
        """The refusal where the query may say something about a secret;
        None where it says nothing.
        """
        found = self.definition.decide(self.policy.question(secret, reading), self._judge).found
        if isinstance(found, NotDecided):
            return (
                "undecided",
                (
                    f"That the query says nothing about {name} could not be shown "
                    f"({found.code}). {found.text}"
                ).strip(),
                None,
                name,
            )
        if not isinstance(found, Disclosed):
            return None
        if secret.is_exact and reading.is_exact:
            return (
                "discloses",
                f"The answer would say something about {name}, which this role must not learn.",
                f"Try a query that leaves out the rows about {name}.",
                name,
            )
        first = (*reading.approximations, *secret.approximations)[0]
        why = (
            f"Not read exactly: {' '.join(first.fragment.split())} ({first.text})."
            if reading.approximations
            else ""
        )
        return (
            "undecided",
            f"That the query says nothing about {name} could not be shown. {why}".strip(),
            f"Try a query that leaves out the rows about {name}.",
            name,
        )

    def _fails(self, role: RolePolicy, part: str, touched: Sequence[str]) -> Outcome | None:
        """The refusal where an expression could fail because of rows that were not judged;
        None where all rows may be known.
        """
        hint = f"Leave {part} out of conditions, or compute it in SELECT over one table."
        if role.default == "deny" and not set(touched) <= role.tables:
            return (
                "may-fail",
                (
                    f"{part} can fail, and whether it does may depend on rows that are not in "
                    "the answer."
                ),
                hint,
                None,
            )
        for whole in scans(self.policy, touched):
            for name, secret in role.denied.items():
                if self._says(name, secret, whole) is not None:
                    return (
                        "may-fail",
                        f"{part} can fail, and whether it does may say something about {name}.",
                        hint,
                        name,
                    )
        return None

    def _granted(self, bound: BoundRole, statement: Statement, reading: QueryUnderstanding) -> bool:
        """Can the answer be computed from what the role is allowed?"""
        role = bound.role
        if set(statement.named) <= set(role.allowed):
            return True
        views = _views(role)
        if self._is_covered(bound, statement, reading):
            return True
        if reading.exact is None or not orders_by_result(statement.tree):
            return False
        if reading.exact.bag:
            return covers(reading.exact, views, self.policy.relations) is not None
        if not self._is_set(statement.tree, reading.exact):
            return False
        if covers(reading.exact, views, self.policy.relations) is not None:
            return True
        return (
            rewriting(
                reading.exact,
                [replace(one, bag=False) for one in views],
                self.keys,
                self.policy.relations,
            )
            is not None
        )

    def _covering(
        self, statement: Statement, role: RolePolicy | None, history: Sequence[Conjunctive]
    ) -> Covering:
        views = tuple(_sets(role)) if role is not None else ()
        whole = role.whole if role is not None else {}
        return Covering(
            self.rules,
            self.policy.dialect,
            ShownBodies(views, tuple(history), whole),
            statement.source,
            Deadline(COVERING_SECONDS),
            self._readings,
        )

    def _follows(
        self,
        bound: BoundRole,
        statement: Statement,
        reading: QueryUnderstanding,
        history: Sequence[Conjunctive],
    ) -> bool:
        """Is the answer covered by the views and by what the user got?"""
        covering = self._covering(statement, bound.role, history)
        return covering.knowing(statement.tree, reading.exact).query(statement.tree)

    def _is_set(self, tree: exp.Query, exact: Query) -> bool:
        """Is no row of the answer there twice, also where rows of a table without a key are?"""
        select = tree.unnest()
        if isinstance(select, exp.Select) and counts(select):
            atoms = (atom for part in exact.parts for atom in part.atoms)
            return all(self.policy.relations[atom.relation].keys for atom in atoms)
        return isinstance(select, exp.Select)

    def _is_covered(
        self, bound: BoundRole, statement: Statement, reading: QueryUnderstanding
    ) -> bool:
        """Is the answer covered by the views? Asked once for all users and queries that are alike:
        only how constants compare matters.
        """
        key = shape(statement.tree, bound, self.bound.landmarks(bound.role.name))
        if key not in self._covered:
            self._covered[key] = self._follows(bound, statement, reading, ())
            if len(self._covered) > REMEMBERED:
                self._covered.popitem(last=False)
        return self._covered[key]


def _views(role: RolePolicy) -> list[Query]:
    """The views of a role that are read exactly."""
    return [
        replace(one.exact, name=name) for name, one in role.allowed.items() if one.exact is not None
    ]


def _sets(role: RolePolicy) -> list[Query]:
    """The same, each as a set where it was read as one: which rows they show is all that counts."""
    sets = {name: one.as_set for name, one in role.allowed.items()}
    return [
        replace(as_set, name=one.name) if (as_set := sets[one.name]) is not None else one
        for one in _views(role)
    ]


def not_granted(role: RolePolicy, why: str = "") -> Outcome:
    """The refusal of what is not seen to follow from what a role is
    allowed, with what is missing and where to ask instead.
    """
    names = sorted(role.allowed)
    if not names:
        return "not-granted", f"Role {role.name} is allowed nothing.", None, None
    may = ", ".join(names) if len(names) <= FEW else f"{len(names)} tables and views"
    words = (
        f"Role {role.name} may ask {may}, and of the rest only what is seen to follow from that. "
        f"{why}"
    ).strip()
    hint = f"Write {listed([f'FROM {name}' for name in names], 'or')}."
    return "not-granted", words, hint if len(names) <= FEW else None, None


def _placed(error: QueryError) -> str:
    """The message with the line and column that it speaks of."""
    at = (
        f" (line {error.mark.line}, column {error.mark.column})"
        if error.mark is not None and error.mark.line and error.mark.column
        else ""
    )
    return f"{error.message.rstrip('.')}{at}."
