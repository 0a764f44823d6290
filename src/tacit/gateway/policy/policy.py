"""Policy: what each role must not learn and may ask, ready to decide by.
It comes from the plan and the schema; never from rows.

Which columns may be NULL is taken from the plan or the database's own declarations. What is not
declared may be NULL, whatever the rows are like now: what is private where NULL is possible is
private where it is not, and a refusal must not tell whether one is there.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import TYPE_CHECKING, Literal

from tacit.engines.base import SQL_TYPES
from tacit.engines.sql import shapes
from tacit.errors import DataError, PlanError, QueryError, TacitError, raise_all
from tacit.families.queries.datalog.dependencies import inclusion, read_constraint
from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
from tacit.families.queries.dependency import Dependency
from tacit.families.queries.logic.known_keys import KnownKeys
from tacit.families.queries.query import Constant, Relation, Relations
from tacit.families.queries.query_parameters import parameters
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.reading.domains import check_domains
from tacit.families.queries.reading.readings import Readings
from tacit.families.queries.schema import derived
from tacit.families.queries.sql.engines import can_ask
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.gateway.policy.asker import WHOLE, Asker, bound, check_places, parameters_of
from tacit.gateway.policy.clock import asks_clock
from tacit.gateway.policy.cores import WholeRows, whole_rows
from tacit.gateway.policy.value_spelling import Spellings
from tacit.model.release import View
from tacit.model.verdict import Verdict
from tacit.plan.known_tables import KnownTables, known_tables

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.model.schema import Table
    from tacit.plan.plan import Plan, Role

SECONDS = 20.0  # to judge one allowed view at the start
PARAMETER_HINTS = {
    "deny": (
        "Put the parameter's column into the answer of the secret: S(r, p) :- RP(r, p) covers "
        "every paper."
    ),
    # The same advice about a view would grant everybody's rows.
    "allow": (
        "Write the value into the view, and name a view for each value that the role may ask "
        "for: SELECT ... WHERE ward = 'A'; or take it from whoever asks: WHERE ward = $user.ward."
    ),
}


@dataclass(frozen=True, slots=True)
class RolePolicy:
    """A role: the answers that it must not learn, and the tables and views that it may ask;
    `tables` are those of them that are whole tables. `parameters` are what its texts say of whoever
    asks ($user.id), which are read for some values here; `texts` are the texts with them.
    """

    name: str
    default: Literal["deny", "allow"]
    denied: Mapping[str, QueryUnderstanding]
    allowed: Mapping[str, QueryUnderstanding]
    tables: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)
    whole: Mapping[str, WholeRows] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class GatewayPolicy:
    """All that decides. `tied` are groups of tables that constraints tie together, `views` what a
    query may name beside tables.

    `computed` are tables whose columns the database computes when they are read: what they compute
    may fail. `said` are the keys and foreign keys that the source declares, a sentence each.
    `dependencies` are foreign keys and constraints, which every database satisfies. `numbers` are
    the parameters of each view that are compared with numbers alone. `known` are the tables of
    which everybody knows which keys there are, `derived` those whose rows may depend on others.
    """

    relations: Relations
    dialect: str
    views: Mapping[str, str]
    tied: tuple[frozenset[str], ...]
    roles: Mapping[str, RolePolicy]
    digest: str
    warnings: tuple[str, ...] = ()
    computed: frozenset[str] = frozenset()
    said: tuple[str, ...] = ()
    spellings: Spellings = field(default_factory=dict)
    dependencies: tuple[Dependency, ...] = ()
    numbers: Mapping[str, frozenset[str]] = field(default_factory=dict)
    known: KnownKeys = field(default_factory=KnownKeys)
    derived: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def question(self, secret: QueryUnderstanding, *views: QueryUnderstanding) -> QueryQuestion:
        """Do these queries say anything about the secret?"""
        return QueryQuestion(
            secret,
            views,
            self.relations,
            self.dialect,
            self.tied,
            others=self.views,
            known=self.known,
            derived=self.derived,
        )

    def known_of(self, role: str, asker: Asker | None, sql: str) -> str:
        """What a decision depends on of whoever asks, by the role or the query itself, as text."""
        names = [
            *(self.roles[role].parameters if role in self.roles else ()),
            *(one for text in self.views.values() for one in parameters_of(text)),
        ]
        by_clock = asks_clock(sql)
        if asker is None or not (names or by_clock):
            return ""
        now = asker.now if by_clock or "now" in names else None
        return repr((asker.name, sorted(asker.attributes.items()), now))


def policy_of(plan: Plan, engine: Engine) -> GatewayPolicy:
    """The policy of a plan on its source, as the gateway decides by it.

    Raises TacitError where the plan contradicts itself (an allowed view says something about what
    is denied) or the data do (a declared key, domain or NOT NULL does not hold): every decision
    would rest on it.
    """
    found = unchecked_policy(plan, engine)
    raise_all(refused.error(plan) for refused in contradictions(found))
    return found


def unchecked_policy(plan: Plan, engine: Engine) -> GatewayPolicy:
    """The policy as it is written, whether or not what it allows says
    something about what it denies.
    """
    if not plan.roles:
        hint = "Add e.g. roles: {nurses: {default: allow, deny: [cancer]}}"
        raise PlanError(
            "the plan has no roles, so nobody may ask anything.", hint=hint, mark=plan.mark()
        )
    known = declared_tables(plan, engine)
    relations = known.relations
    check_data(plan, engine, relations)
    readings = Readings(plan, lambda: engine)
    readings.take(known)
    views = {name: one.query for name, one in plan.of(View).items()}
    texts = Texts(plan, relations, readings.dialect, views)
    roles = {name: texts.role(role) for name, role in plan.roles.items()}
    computed = frozenset(
        name for name, table in plan.tables.items() if table.rows is None and engine.computes(name)
    )
    found = GatewayPolicy(
        relations,
        readings.dialect,
        views,
        readings.tied(known.given),
        roles,
        "",
        (
            *warnings(plan, known, engine.look_like),
            *map(computed_warning, sorted(computed)),
            *parser_warnings(readings.dialect),
        ),
        computed,
        known.said if plan.source_keys != "ignore" else (),
        dependencies=dependencies_of(plan, known),
        numbers=texts.numbers,
        known=known.keys,
        derived=derived(plan.tables),
    )
    found = replace(found, spellings={name: engine.spellings(name) for name in relations})
    return replace(found, digest=digest(found))


def dependencies_of(plan: Plan, known: KnownTables) -> tuple[Dependency, ...]:
    """The foreign keys and constraints, without those that need an order."""
    relations = known.relations
    foreign = [
        inclusion(name, one.columns, one.table, one.references, relations)
        for name, keys in known.foreign_keys.items()
        for one in keys
        if name in relations and one.table in relations
    ]
    written = [one for text in plan.constraints for one in read_constraint(text, relations)]
    return tuple(dict.fromkeys([*foreign, *written]))


def digest(policy: GatewayPolicy) -> str:
    """A short name of all that decides: another policy has another."""
    said = (
        sorted(
            (
                name,
                one.columns,
                one.keys,
                repr(one.domains),
                sorted(one.nullable),
                repr(one.kinds),
                one.uniques,
            )
            for name, one in policy.relations.items()
        ),
        policy.dialect,
        sorted(policy.views.items()),
        sorted(sorted(group) for group in policy.tied),
        sorted(policy.computed),
        repr(policy.known),
        sorted((name, sorted(one)) for name, one in policy.derived.items()),
        sorted(map(str, policy.dependencies)),
        sorted((name, sorted(one.items())) for name, one in policy.spellings.items()),
        [
            (
                one.name,
                one.default,
                sorted((key, value.text) for key, value in one.denied.items()),
                sorted((key, value.text) for key, value in one.allowed.items()),
            )
            for one in policy.roles.values()
        ],
    )
    return hashlib.sha256(repr(said).encode()).hexdigest()[:16]


# -- what everybody knows of the tables ------------------------------------------------------------


def declared_tables(plan: Plan, engine: Engine) -> KnownTables:
    """The tables as the plan and the source declare them:
    types by the source, NULL wherever nothing forbids it.
    """
    known = known_tables(plan, lambda: engine, by_rows=False)
    for name, relation in known.relations.items():
        twice = [
            column
            for column in relation.columns
            if sum(column.casefold() == other.casefold() for other in relation.columns) > 1
        ]
        if twice:
            hint = "Rename one of them, or make a view without it."
            raise DataError(
                f"columns {' and '.join(twice)} of table {name} differ only in case.",
                hint=hint,
                mark=plan.mark("tables", name),
            )
    check_apart(plan, known)
    return known


def check_apart(plan: Plan, known: KnownTables) -> None:
    """No two tables share rows: one that shows another's would be judged as if it did not."""
    for pair in known.shared:
        first, name = pair.tables
        raise PlanError(
            f"tables {first} and {name} share rows, or may, and would be judged as if they did "
            f"not: {pair.because}.",
            hint=(
                f'Take one of them out; a view of {first} is a release: {{query: "SELECT ... '
                f'FROM {first}"}}.'
            ),
            mark=plan.mark("tables", name),
        )


def check_data(plan: Plan, engine: Engine, relations: Relations) -> None:
    """What the plan declares is true now.
    It is the owner who reads this error, before anybody may ask.
    """
    for name, relation in relations.items():
        table = plan.tables[name]
        rows = (
            engine.value(shapes.row_count(name)) if table.keys or table.nullable is not None else 0
        )
        for at, key in enumerate(table.keys):
            if (
                all(column not in relation.nullable for column in key)
                and engine.value(shapes.distinct_count(name, key)) < rows
            ):
                hint = (
                    "Remove the repeated rows, or the key; nothing can be decided by a key "
                    "that is none."
                )
                raise DataError(
                    f"({', '.join(key)}) is declared a key of {name}, and rows share it.",
                    hint=hint,
                    mark=plan.mark("tables", name, "key", at),
                )
        check_values(plan, engine, table, relation)


def check_values(plan: Plan, engine: Engine, table: Table, relation: Relation) -> None:
    """Columns without NULL have none, and values are of their domains."""
    never = [column for column in relation.columns if column not in relation.nullable]
    if never:
        _, *missing = next(engine.rows(shapes.missing_counts(table.name, never)))
        for column, number in zip(never, missing, strict=True):
            if number:
                hint = f"Fill it in, or say nullable: [{column}]."
                raise DataError(
                    f"column {column} of table {table.name} is missing in some rows.",
                    hint=hint,
                    mark=plan.mark("tables", table.name),
                )
    check_domains(plan, engine, table, relation)


def computed_warning(name: str) -> str:
    """What the owner should know of a view of the database."""
    return (
        f"{name} is computed by the database when it is read, which may fail: whoever must "
        "not know all of it is refused; store it as a table"
    )


def parser_warnings(dialect: str) -> Iterator[str]:
    """What the owner should know where the database's own parser cannot be asked."""
    if not can_ask(dialect):
        yield (
            "the package pglast is not here, so that PostgreSQL's own parser is not asked "
            "whether it reads queries as they are judged: pip install 'tacit-privacy[postgres]'"
        )


def warnings(
    plan: Plan, known: KnownTables, look_like: Mapping[str, Mapping[str, str]]
) -> Iterator[str]:
    """What the owner should know before opening the door.
    `look_like` are the types of columns that the plan gives none, as rows would have it.
    """
    if plan.source_keys == "ignore":
        yield (
            "source-keys: ignore in the plan leaves keys and foreign keys of the source out "
            f"of every decision ({'; '.join(known.said) or 'it declares none'}): whoever "
            "knows them may learn what is denied"
        )
    for table, types in look_like.items():
        some = {
            name: kind
            for name, kind in types.items()
            if kind != "TEXT" and name not in plan.tables[table].domains
        }
        if some:
            written = ", ".join(f"{name}: {written_type(kind)}" for name, kind in some.items())
            yield (
                f"the plan gives no type to columns of table {table} that do not look like "
                "text, and are text here all the same: types must not depend on rows. Write "
                f"columns: {{{written}}}"
            )
    stated = [*plan.constraints, *(name for name, one in plan.tables.items() if one.foreign_keys)]
    if stated and any(role.default == "deny" and role.allow for role in plan.roles.values()):
        yield (
            "roles with default: deny may get what follows from the constraints and foreign keys "
            "of the plan, which are not looked at in the data: they have to be true"
        )
    for role in plan.roles.values():
        if role.default == "deny" and not role.allow:
            yield f"role {role.name} may ask nothing: default is deny and nothing is allowed"
        if role.default == "allow" and not role.deny:
            yield f"role {role.name} may ask everything: default is allow and nothing is denied"


def written_type(sql_type: str) -> str:
    """A column's type as a plan has it.

    >>> written_type("BIGINT"), written_type("DECIMAL(38, 2)")
    ('integer', '"decimal(38, 2)"')
    """
    named = next((name for name, one in SQL_TYPES.items() if one == sql_type), None)
    return named or f'"{sql_type.lower()}"'


# -- roles -----------------------------------------------------------------------------------------


# Values that nobody has, of each type, with which texts about whoever asks are read at the start.
ANY_SAMPLES = ("91827364554637{0}", "sample {0}", "1777-07-07 07:07:0{0}", "true")
SAMPLES = {"user": ("sample user",), "now": ("2777-07-07 07:07:07",)}


def read_shown(
    text: str, relations: Relations, name: str, dialect: str, views: Mapping[str, str]
) -> QueryUnderstanding:
    """A text of a role, read; where it falls into disjoint cases, also as a set."""
    found = read(text, relations, name=name, dialect=dialect, views=views)
    if found.exact is None or not found.exact.bag or len(found.exact.parts) < 2:
        return found
    each_once = f"SELECT DISTINCT * FROM (\n{text}\n) AS each_once"
    try:
        again = read(each_once, relations, name=name, dialect=dialect, views=views)
    except QueryError:
        return found  # e.g. a view that has columns of the same name
    return replace(found, as_set=again.exact)


def read_bound(
    relations: Relations,
    dialect: str,
    views: Mapping[str, str],
    name: str,
    text: str,
    values: Mapping[str, str],
) -> QueryUnderstanding:
    """A text about whoever asks, read for one of them."""
    known = {
        other: bound(query, values) for other, query in views.items() if _is_bound(query, values)
    }
    return read_shown(bound(text, values), relations, name, dialect, known)


def is_number_in(reading: QueryUnderstanding, value: str) -> bool:
    """Was a value read as a number wherever it stands?"""
    terms = {
        term
        for query in (*reading.supports, *((reading.exact,) if reading.exact is not None else ()))
        for part in query.parts
        for term in (
            *(term for atom in part.atoms for term in atom.terms),
            *(term for one in part.comparisons for term in (one.left, one.right)),
        )
    }
    return (
        WHOLE.fullmatch(value) is not None
        and Constant(int(value)) in terms
        and Constant(value) not in terms
    )


def _is_bound(text: str, values: Mapping[str, str]) -> bool:
    return set(parameters_of(text)) <= set(values)


class Texts:
    """The queries that roles name, read."""

    def __init__(
        self, plan: Plan, relations: Relations, dialect: str, views: Mapping[str, str]
    ) -> None:
        self.plan = plan
        self.relations = relations
        self.dialect = dialect
        self.views = views
        self.numbers: dict[str, frozenset[str]] = {}

    def role(self, role: Role) -> RolePolicy:
        """A role with what it names."""
        denied = {name: self._reading(name, role, "deny", at) for at, name in enumerate(role.deny)}
        allowed = {
            name: self._reading(name, role, "allow", at) for at, name in enumerate(role.allow)
        }
        default: Literal["deny", "allow"] = "allow" if role.default == "allow" else "deny"
        texts = {name: self._text(name) or "" for name in (*role.deny, *role.allow)}
        return RolePolicy(
            role.name,
            default,
            denied,
            allowed,
            frozenset(name for name in role.allow if name in self.relations),
            tuple(dict.fromkeys(one for text in texts.values() for one in self._asks(text))),
            {name: text for name, text in texts.items() if self._asks(text)},
            {
                name: whole
                for name in role.allow
                if (whole := self._whole_rows(texts[name])) is not None
            },
        )

    def _whole_rows(self, text: str) -> WholeRows | None:
        sample = bound(text, dict.fromkeys(parameters_of(text), "x"))
        return whole_rows(sample, self.relations, self.dialect)

    def _asks(self, text: str, above: frozenset[str] = frozenset()) -> Iterator[str]:
        """What a text, or a view that it names, says of whoever asks."""
        yield from parameters_of(text)
        words = set(re.findall(r"\w+", text))
        for name, query in self.views.items():
            if name in words and name not in above:
                yield from self._asks(query, above | {name})

    def _reading(self, name: str, role: Role, key: str, at: int) -> QueryUnderstanding:
        mark = self.plan.mark("roles", role.name, key, at)
        text = self._text(name)
        if name in self.relations and (name in self.plan.secrets or name in self.views):
            raise PlanError(
                f"{name} is a table and also a secret or a release.",
                hint="Rename one of them: it is not clear which one is meant.",
                mark=mark,
            )
        if text is None:
            hint = "Name a table, a secret, or a release that is a query."
            raise PlanError(
                f"{name} is no query, so nobody can be {'denied' if key == 'deny' else 'allowed'} "
                "it.",
                hint=hint,
                mark=mark,
            )
        asks = tuple(dict.fromkeys(self._asks(text)))
        if parameters(bound(text, dict.fromkeys(parameters_of(text), "x"))):
            hint = PARAMETER_HINTS[key]
            raise PlanError(
                f"{name} has parameters, and the gateway judges one query.", hint=hint, mark=mark
            )
        try:
            # Tables come first where a view has a table's name.
            views = {
                other: query for other, query in self.views.items() if other not in self.relations
            }
            if not asks:
                return read_shown(text, self.relations, name, self.dialect, views)
            check_places(text, self.dialect)
            return replace(self._sample(name, text, asks, views), text=text)
        except TacitError as error:
            raise error.at(mark) from None

    def _sample(
        self, name: str, text: str, asks: Sequence[str], views: Mapping[str, str]
    ) -> QueryUnderstanding:
        """A text read with some values for whoever asks, of whichever type fits."""
        choices = [SAMPLES.get(one, ANY_SAMPLES) for one in asks]
        for values in product(*choices):
            sample = {
                one: value.format(at)
                for at, (one, value) in enumerate(zip(asks, values, strict=True))
            }
            try:
                found = read_bound(self.relations, self.dialect, views, name, text, sample)
                self.numbers[name] = frozenset(
                    one for one, value in sample.items() if is_number_in(found, value)
                )
                return found
            except QueryError as error:
                if error.code != "type-clash" or values == tuple(one[-1] for one in choices):
                    raise
        raise AssertionError("there is a last choice")

    def _text(self, name: str) -> str | None:
        """The query that a name stands for;
        a secret comes before a release, and both before a table.
        """
        if name in self.plan.secrets:
            return self.plan.secrets[name]
        if name in self.views:
            return self.views[name]
        return (
            shapes.whole_table(name).sql(dialect=self.dialect) if name in self.relations else None
        )


class ContradictoryRole(PlanError):
    """A role is allowed what it is denied.
    Nobody should serve that, not even while it is being mended.
    """


@dataclass(frozen=True, slots=True)
class Contradiction:
    """An allowed view that says something about what the same role is denied, or may;
    `at` is its place under `allow`.
    """

    role: str
    at: int
    view: str
    secret: str
    verdict: Verdict

    @property
    def why(self) -> str:
        """The explanation, as the owner reads it."""
        if self.verdict.reason is not None:
            return (
                f"{self.verdict.because} ({self.verdict.reason.code}): {self.verdict.reason.text}"
            )
        return self.verdict.story or self.verdict.because

    @property
    def said(self) -> str:
        """What the view does to the secret."""
        return (
            f"{'discloses' if self.verdict.status == 'breached' else 'may disclose'} {self.secret}"
        )

    def error(self, plan: Plan) -> ContradictoryRole:
        """The contradiction as an error at its place in the plan."""
        hint = (
            f"Deny wins, so nobody could ask it: take {self.view} from allow, or change the view."
        )
        mark = plan.mark("roles", self.role, "allow", self.at)
        return ContradictoryRole(
            f"role {self.role} is allowed {self.view}, which {self.said}: {self.why}",
            hint=hint,
            mark=mark,
        )


def contradictions(policy: GatewayPolicy) -> Iterator[Contradiction]:
    """Allowed views that say something about what the same role is denied."""
    for role in policy.roles.values():
        for at, (name, view) in enumerate(role.allowed.items()):
            for secret, denied in role.denied.items():
                verdict = PerfectPrivacy(seconds=SECONDS).check(policy.question(denied, view))
                if verdict.status != "holds":
                    yield Contradiction(role.name, at, name, secret, verdict)


def scans(policy: GatewayPolicy, names: Sequence[str]) -> list[QueryUnderstanding]:
    """Whole tables, as queries."""
    return [
        read(
            shapes.whole_table(name).sql(dialect=policy.dialect),
            policy.relations,
            name=name,
            dialect=policy.dialect,
        )
        for name in names
    ]
