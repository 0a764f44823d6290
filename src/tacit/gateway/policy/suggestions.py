"""Suggestions: the least views with which a role could ask a log of queries.

Every query is computed from a few cores (`cores`). Cores of the same tables and joins become one
view with the columns of all; a condition stays where all of them have it, and is left to be
computed from the view's rows otherwise. What is proposed was tried: with these views, and with none
of them left out, the queries are answered. The owner reads them; nothing is granted by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.tokenizer_core import TokenType

from tacit.errors import InputError, QueryError
from tacit.families.queries.sql.sql_reader import read_tree
from tacit.families.words import plural
from tacit.gateway.policy.asker import Asker
from tacit.gateway.policy.bindings import BoundViews
from tacit.gateway.policy.cores import Core, cores
from tacit.gateway.policy.decisions import Decider, Decision
from tacit.gateway.policy.policy import GatewayPolicy, contradictions, unchecked_policy
from tacit.gateway.policy.statement import statement_of
from tacit.model.deadline import look
from tacit.model.release import View
from tacit.plan.plan import Plan, Role

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.gateway.policy.statement import Statement

NOT_GRANTED = "not-granted"


@dataclass(frozen=True, slots=True)
class LoggedQuery:
    """A query of the log, with the line that it begins on."""

    line: int
    text: str


@dataclass(frozen=True, slots=True)
class SuggestedView:
    """A view to allow, and the lines of the queries that it is for."""

    name: str
    query: str
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class RefusedQuery:
    """A query that no view was found for, or that is refused whatever is allowed."""

    line: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Suggestions:
    """What a role would need for a log: of `queries` so many are answered `before` and `after`."""

    role: str
    queries: int
    before: int
    after: int
    allowed: tuple[str, ...]
    denied: tuple[str, ...]
    views: tuple[SuggestedView, ...]
    refused: tuple[RefusedQuery, ...]

    def to_json(self) -> dict[str, Any]:
        """As the documentation of the command has it."""
        return {
            "role": self.role,
            "queries": self.queries,
            "before": self.before,
            "after": self.after,
            "views": [
                {"name": one.name, "query": one.query, "lines": list(one.lines)}
                for one in self.views
            ],
            "refused": [
                {"line": one.line, "code": one.code, "message": one.message} for one in self.refused
            ],
        }

    def lines(self) -> Iterator[str]:
        """As a part of a plan, with all else as comments."""
        yield (
            f"# {self.role} may ask {self.before} of {plural('query', self.queries)} now, and "
            f"{self.after} with {'these views' if self.views else 'any view'}."
        )
        if self.views:
            yield "# Read what they show. Whoever has the role gets these rows and columns."
            yield "releases:"
        for view in self.views:
            yield f"  # for {plural('query', len(view.lines))}, {line_numbers(view.lines)}"
            yield f"  {view.name}: {{query: {in_quotes(view.query)}}}"
        if self.views:
            names = [*self.allowed, *(one.name for one in self.views)]
            yield "roles:"
            deny = f"deny: [{', '.join(self.denied)}], " if self.denied else ""
            yield f"  {self.role}: {{default: deny, {deny}allow: [{', '.join(names)}]}}"
        for one in self.refused:
            yield f"# line {one.line} stays refused ({one.code}): {' '.join(one.message.split())}"


def in_quotes(text: str) -> str:
    """A text between single quotes, as YAML has it.

    >>> print(in_quotes("a 'b' c"))
    'a ''b'' c'
    """
    return "'" + " ".join(text.split()).replace("'", "''") + "'"


def line_numbers(lines: Sequence[int]) -> str:
    """Which lines, the first few of them.

    >>> line_numbers([4]), line_numbers(range(1, 10))
    ('line 4', 'lines 1, 2, 3, 4, 5, ...')
    """
    some = ", ".join(map(str, lines[:5]))
    return f"line{'s' if len(lines) > 1 else ''} {some}{', ...' if len(lines) > 5 else ''}"


def logged_queries(text: str, dialect: str) -> list[LoggedQuery]:
    """The queries of a log, which stand apart by semicolons.

    >>> [(one.line, one.text) for one in logged_queries("SELECT 1;\\n\\nSELECT ';'", "duckdb")]
    [(1, 'SELECT 1'), (3, "SELECT ';'")]
    """
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except SqlglotError as error:
        raise InputError(
            f"the log is not read: {error}", hint="Write queries with a semicolon behind each."
        ) from None
    found: list[LoggedQuery] = []
    part: list[sqlglot.Token] = []
    for token in [*tokens, None]:
        if token is not None and token.token_type != TokenType.SEMICOLON:
            part.append(token)
        elif part:
            found.append(LoggedQuery(part[0].line, text[part[0].start : part[-1].end + 1]))
            part = []
    return found


def suggestions(
    plan: Plan,
    engine: Engine,
    role: str,
    queries: Sequence[LoggedQuery],
    attributes: Mapping[str, str],
    spoken: str | None = None,
) -> Suggestions:
    """The views that would let a role ask these queries, fewest columns and rows first found."""
    if role in plan.roles and plan.roles[role].default == "allow":
        raise InputError(
            f"role {role} may ask all but what is denied; views are for default: deny.",
            hint="Name a role with default: deny, or one that the plan does not have yet.",
        )
    own = plan.roles.get(role, Role(role))
    log = Log(unchecked_policy(with_role(plan, own), engine), role, queries, attributes, spoken)
    views: dict[str, View] = {}
    for drafts in (log.merged_views, log.single_views):
        missing = log.not_granted
        if not missing:
            break
        views |= {one.name: one for one in drafts(missing, {*plan.releases, *plan.tables, *views})}
        more = replace(own, allow=(*own.allow, *views))
        policy = unchecked_policy(
            with_role(replace(plan, releases={**plan.releases, **views}), more), engine
        )
        log.policy = policy_without_contradictions(policy, role, frozenset(views))
        log.decisions = log.decided()
    return log.least(views)


def with_role(plan: Plan, role: Role) -> Plan:
    """The plan with this role alone."""
    return replace(plan, roles={role.name: role})


def policy_without_contradictions(
    policy: GatewayPolicy, role: str, views: frozenset[str]
) -> GatewayPolicy:
    """The policy without those of these views that say something about what the role is denied."""
    says = {one.view for one in contradictions(policy)} & views
    return allowing(policy, role, [one for one in policy.roles[role].allowed if one not in says])


def allowing(policy: GatewayPolicy, role: str, names: Sequence[str]) -> GatewayPolicy:
    """The policy with only these of the tables and views that a role may ask."""
    own = policy.roles[role]
    fewer = replace(own, allowed={name: own.allowed[name] for name in names})
    return replace(policy, roles={**policy.roles, role: fewer})


class Log:
    """The queries of a log, decided by a policy that is made wider until they are answered."""

    def __init__(
        self,
        policy: GatewayPolicy,
        role: str,
        queries: Sequence[LoggedQuery],
        attributes: Mapping[str, str],
        spoken: str | None,
    ) -> None:
        self.policy, self.role, self.queries, self.spoken = policy, role, queries, spoken
        self.asker = Asker("you", attributes)
        self.decisions = self.decided()
        self.before = sum(one.allowed for one in self.decisions)

    def decided(self, policy: GatewayPolicy | None = None) -> list[Decision]:
        """What the gateway says to each query."""
        decider = Decider(policy or self.policy, hides=False)
        return [self._decide(decider, one) for one in self.queries]

    def _decide(self, decider: Decider, query: LoggedQuery) -> Decision:
        look()
        return decider.decide(self.role, query.text, (), self.asker, spoken=self.spoken)

    @property
    def not_granted(self) -> list[LoggedQuery]:
        """The queries for which a view is missing."""
        pairs = zip(self.queries, self.decisions, strict=True)
        return [query for query, one in pairs if one.code == NOT_GRANTED]

    # -- views -------------------------------------------------------------------------------------

    def merged_views(self, queries: Sequence[LoggedQuery], taken: set[str]) -> Iterator[View]:
        """One view for all cores of the same tables and joins."""
        alike: dict[str, list[Core]] = {}
        for query in queries:
            for core in self._cores(query):
                alike.setdefault(skeleton(core), []).append(core)
        for some in alike.values():
            yield self._view(merged(some), taken)

    def single_views(self, queries: Sequence[LoggedQuery], taken: set[str]) -> Iterator[View]:
        """Each query itself, where its cores are not enough."""
        seen: set[str] = set()
        for query in queries:
            text = self._statement(query).tree.sql(dialect=self.policy.dialect, comments=False)
            if text not in seen:
                seen.add(text)
                yield View(free_name("query", taken), text)

    def _statement(self, query: LoggedQuery) -> Statement:
        views = BoundViews(self.policy, self.asker)
        return statement_of(
            query.text,
            (),
            self.policy.relations,
            views,
            self.policy.dialect,
            self.spoken,
            self.asker,
        )

    def _cores(self, query: LoggedQuery) -> Iterator[Core]:
        """The cores of every SELECT whose rows stand for themselves, with tables called by name."""
        statement = self._statement(query)
        for select in selects(statement.tree):
            for core in cores(select) or ():
                yield called_by_name(self._with_read_conditions(core, statement))

    def _with_read_conditions(self, core: Core, statement: Statement) -> Core:
        """The core without conditions that no view is read with, such as LIKE: their columns are
        shown instead.
        """
        for at in reversed(range(len(core.conditions))):
            alone = replace(core, conditions=(core.conditions[at],), counted=False)
            if not self._is_read(alone, statement):
                core = core.without(at) or core
        return core

    def _is_read(self, core: Core, statement: Statement) -> bool:
        try:
            found = read_tree(
                core.tree(),
                statement.source,
                self.policy.relations,
                name="view",
                dialect=self.policy.dialect,
            )
        except QueryError:
            return False
        return found.exact is not None

    def _view(self, core: Core, taken: set[str]) -> View:
        tables = [one.node.name for one in core.sources]
        text = written(core, self.asker.attributes, self.policy.dialect)
        return View(free_name("-".join(dict.fromkeys(tables)), taken), text)

    # -- the least of them -------------------------------------------------------------------------

    def least(self, views: Mapping[str, View]) -> Suggestions:
        """Leave out every view without which the same queries are answered."""
        role = self.policy.roles[self.role]
        kept = [name for name in views if name in role.allowed]
        fixed = [name for name in role.allowed if name not in views]
        answered = [at for at, one in enumerate(self.decisions) if one.allowed]
        lines: dict[str, tuple[int, ...]] = {}
        for name in sorted(kept, key=lambda one: -len(views[one].query)):
            others = [one for one in kept if one != name]
            lost = self._lost(answered, [*fixed, *others])
            if lost:
                lines[name] = tuple(self.queries[at].line for at in lost)
            else:
                kept = others
        return Suggestions(
            self.role,
            len(self.queries),
            self.before,
            len(answered),
            tuple(fixed),
            tuple(role.denied),
            tuple(SuggestedView(name, views[name].query, lines[name]) for name in kept),
            tuple(
                RefusedQuery(query.line, one.code, one.message)
                for query, one in zip(self.queries, self.decisions, strict=True)
                if not one.allowed
            ),
        )

    def _lost(self, answered: Sequence[int], allowed: Sequence[str]) -> list[int]:
        """Which of these queries are refused where only these views are allowed."""
        decider = Decider(allowing(self.policy, self.role, allowed), hides=False)
        return [at for at in answered if not self._decide(decider, self.queries[at]).allowed]


def selects(tree: exp.Expr) -> Iterator[exp.Select]:
    """The SELECTs that an answer is put together from: sides of unions, and queries in FROM."""
    if isinstance(tree, exp.Subquery):
        yield from selects(tree.this)
    elif isinstance(tree, exp.SetOperation):
        yield from selects(tree.this)
        yield from selects(tree.expression)
    elif isinstance(tree, exp.Select):
        first = tree.args.get("from_")
        inner = [first.this] if first is not None else []
        inner += [one.this for one in tree.args.get("joins") or ()]
        inner = [one for one in inner if isinstance(one, exp.Subquery)]
        if inner:
            for one in inner:
                yield from selects(one)
        else:
            yield tree


# -- cores as views --------------------------------------------------------------------------------


def called_by_name(core: Core) -> Core:
    """The core with its tables called by their own names, in one order: sessions, sessions_2."""
    if any(one.find(exp.Query) is not None for one in core.conditions):
        return core  # a query inside may have tables of these names
    many: dict[str, int] = {}
    names: dict[str, str] = {}
    for one in sorted(core.sources, key=lambda source: (source.node.sql(), source.alias)):
        number = many[one.node.name] = many.get(one.node.name, 0) + 1
        names[one.alias] = one.node.name if number == 1 else f"{one.node.name}_{number}"

    def renamed(node: exp.Expr) -> exp.Expr:
        found = node.copy()
        for column in found.find_all(exp.Column):
            if column.table in names:
                column.set("table", exp.to_identifier(names[column.table], quoted=True))
        return found

    sources = []
    for one in core.sources:
        node = one.node.copy()
        node.set("alias", exp.TableAlias(this=exp.to_identifier(names[one.alias], quoted=True)))
        sources.append(replace(one, node=node))
    return replace(
        core,
        sources=tuple(sorted(sources, key=lambda source: source.alias)),
        conditions=tuple(map(renamed, core.conditions)),
        columns=tuple(one for one in map(renamed, core.columns) if isinstance(one, exp.Column)),
    )


def is_join(condition: exp.Expr) -> bool:
    """Does a condition compare tables with each other, or look into another query?"""
    return condition.find(exp.Query) is not None or (
        len({one.table for one in condition.find_all(exp.Column)}) > 1
    )


def skeleton(core: Core) -> str:
    """What cores have in common that become one view: tables and joins."""
    joins = sorted(one.sql() for one in core.conditions if is_join(one))
    return repr(([one.node.sql() for one in core.sources], joins))


def merged(some: Sequence[Core]) -> Core:
    """One core from which all of these can be computed."""
    common = set.intersection(*({one.sql() for one in core.conditions} for core in some))
    columns: dict[str, exp.Column] = {}
    for core in some:
        left = [one for one in core.conditions if one.sql() not in common]
        wanted = [*core.columns, *(one for node in left for one in node.find_all(exp.Column))]
        columns.update((one.sql(), one) for one in wanted)
    first = some[0]
    return replace(
        first,
        conditions=tuple(one for one in first.conditions if one.sql() in common),
        columns=tuple(columns[name] for name in sorted(columns)),
        counted=any(core.counted for core in some),
    )


def written(core: Core, attributes: Mapping[str, str], dialect: str) -> str:
    """The core as the text of a view, about whoever asks where it compares with their attributes.

    Columns that two tables share a name of are called by both: sessions_id.
    """
    names = [one.name for one in core.columns]
    shown = [
        one.copy()
        if names.count(one.name) == 1
        else exp.alias_(one.copy(), f"{one.table}_{one.name}", quoted=True)
        for one in core.columns
    ] or [exp.alias_(exp.Literal.number(1), "one", quoted=True)]
    tree = replace(core, columns=()).tree()
    tree.set("expressions", shown)
    for one in tree.find_all(exp.EQ):
        about_asker(one, attributes)
    return str(plainer(tree).sql(dialect=dialect, comments=False))


def plainer(tree: exp.Select) -> exp.Select:
    """The same view without parentheses and names that say nothing."""
    for node in list(tree.find_all(exp.Paren)):
        if isinstance(node.parent, exp.Where | exp.And) and not isinstance(node.this, exp.Or):
            node.replace(node.this)
    for table in tree.find_all(exp.Table):
        if table.alias == table.name:
            table.set("alias", None)
    if len(list(tree.find_all(exp.Table))) == 1:
        for column in tree.find_all(exp.Column):
            column.set("table", None)
    return tree


def about_asker(condition: exp.EQ, attributes: Mapping[str, str]) -> None:
    """Write `$user.id` for a constant that is the value of an attribute."""
    for side in (condition.this, condition.expression):
        other = condition.expression if side is condition.this else condition.this
        names = [name for name, value in attributes.items() if side.name == value]
        if isinstance(side, exp.Literal) and isinstance(other, exp.Column) and names:
            side.replace(exp.Var(this=f"$user.{names[0]}"))


def free_name(wanted: str, taken: set[str]) -> str:
    """A name that nothing else has, which is taken from now on."""
    at = 1
    while (name := f"{wanted}-{at}") in taken:
        at += 1
    taken.add(name)
    return name
