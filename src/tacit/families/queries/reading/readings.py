"""A plan's queries, read once: its secrets and views, over the tables as
the plan or the source describes them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING

from tacit.errors import EngineError, InputError, TacitError, did_you_mean
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.dependency import joined
from tacit.families.queries.explain import Explanation, explained
from tacit.families.queries.query_classes import classes_of
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.read import read
from tacit.families.queries.reading.domains import check_domains
from tacit.families.queries.schema import derived
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.model.release import Synthetic, View
from tacit.model.schema import Table
from tacit.model.verdict import Assumption
from tacit.plan.known_tables import KnownTables, known_tables

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.queries.query import Relations
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Check, Plan

NO_NULLS = Assumption(
    "no-nulls", "no value is ever missing where the plan does not say nullable", "no"
)
UNTYPED = Assumption(
    "untyped-as-written",
    "columns without a type hold what constants look like: text where they are quoted, "
    "else numbers",
    "no",
)
AS_SEEN = Assumption(
    "nullable-as-seen", "columns in which no value is missing now will never miss one", "no"
)
DIALECTS = {"postgresql": "postgres", "spark": "spark"}


class Readings:
    """The queries of a plan. The source is asked for all tables that it has."""

    def __init__(self, plan: Plan, engine: Callable[[], Engine]) -> None:
        self.plan = plan
        self._engine = engine
        self._known: KnownTables | None = None
        self._compared: set[str] = set()  # tables whose domains were compared with the data
        self._readings: dict[tuple[str, str], QueryUnderstanding] = {}

    @property
    def dialect(self) -> str:
        """The SQL that the plan's queries are written in: the source's."""
        return dialect_of(self.plan.source)

    def question(self, check: Check) -> QueryQuestion:
        """The question that a check asks about a secret and some views."""
        self._check_domains()
        views = tuple(self.view(name) for name in check.releases)
        secret = self.secret(str(check.secret))
        return QueryQuestion(
            secret,
            views,
            self.relations(),
            self.dialect,
            self.tied(self.known().given),
            self.assumptions(),
            self.known().warnings,
            others=self._views(),
            known=self.known().keys,
            derived=derived(self.plan.tables),
        )

    def _check_domains(self) -> None:
        """Closed domains are compared with the data, once, where these are at hand."""
        known = self.known()
        looked = [name for name in known.looked_at if name in self.plan.tables]
        for table in (self.plan.tables[name] for name in looked):
            if table.domains and table.name not in self._compared:
                self._compared.add(table.name)
                relation = known.relations[table.name]
                check_domains(self.plan, self._engine(), table, relation)

    def assumptions(self) -> tuple[Assumption, ...]:
        """What is assumed of the tables."""
        known = self.known()
        seen = (AS_SEEN,) if known.looked_at and self.dialect != "postgres" else ()
        unseen = [table for table in self.plan.tables.values() if table.name not in known.looked_at]
        return (*seen, *no_nulls(unseen), *untyped(known.relations), *known.assumptions)

    def secret(self, name: str) -> QueryUnderstanding:
        """A secret as read."""
        return self._read("secrets", name, self.plan.secrets[name], None)

    def view(self, name: str) -> QueryUnderstanding:
        """A release that is a view, as read."""
        release = self.plan.releases[name]
        assert isinstance(release, View)
        return self._read("releases", name, release.query, release.query_file)

    def explained(self, name: str) -> Explanation:
        """How a secret, a view, or a query that stands nowhere in the plan is read."""
        if name in self.plan.secrets:
            reading = self.secret(name)
        elif isinstance(self.plan.releases.get(name), View):
            reading = self.view(name)
        elif name.split()[1:]:
            reading = self.read_as(name, "query")
        else:
            if isinstance(self.plan.releases.get(name), Synthetic):
                raise InputError(
                    f"{name} is synthetic data: there is no query to explain.",
                    hint=f"Ask tacit check --only {name}, or tacit synthesize {name} -o FILE.",
                )
            known = [
                *self.plan.secrets,
                *self.plan.of(View),
            ]
            hint = did_you_mean(name, known) or 'Write a query: tacit explain "SELECT ..."'
            raise InputError(f"the plan has no secret and no view {name!r}.", hint=hint)
        queries = [reading.exact] if reading.exact is not None else list(reading.supports)
        found = {
            query.name: sorted(classes.names) for query in queries if (classes := classes_of(query))
        }
        return explained(reading, self.relations(), found)

    def relations(self) -> Relations:
        """The tables as queries speak of them."""
        return self.known().relations

    def known(self) -> KnownTables:
        """What everybody knows of the tables."""
        if self._known is None:
            self._known = known_tables(self.plan, self._engine)
        return self._known

    def take(self, known: KnownTables) -> None:
        """Read queries over these tables instead of asking the source what they are like."""
        self._known = known

    def tied(
        self, by_tables: Collection[frozenset[str]] | None = None
    ) -> tuple[frozenset[str], ...]:
        """Groups of tables whose rows constraints and foreign keys tie
        together, or that share rows; or `by_tables` with those that constraints tie.
        """
        groups: list[Collection[str]] = list(self.known().tied if by_tables is None else by_tables)
        for at, text in enumerate(self.plan.constraints):
            try:
                groups += [set(one.relations()) for one in read_constraint(text, self.relations())]
            except TacitError as error:
                raise error.at(self.plan.mark("constraints", at)) from None
        return joined(groups)

    def _read(self, section: str, name: str, text: str, file: str | None) -> QueryUnderstanding:
        if (section, name) not in self._readings:
            # Its own name stays among them: a view that leads back to itself is found out.
            # Tables come first.
            views = {
                other: query
                for other, query in self._views().items()
                if other != name or name not in self.plan.tables
            }
            try:
                found = read(
                    text,
                    self.relations(),
                    name=name,
                    dialect=self.dialect,
                    views=views,
                    file=file,
                    explain=syntax(self.dialect),
                )
            except TacitError as error:
                # An error in a file of its own points there; one in the plan at the plan.
                where = (section, name) if section == "secrets" else (section, name, "query")
                raise error if file else error.at(self.plan.mark(*where)) from None
            self._readings[section, name] = found
        return self._readings[section, name]

    def read_as(self, text: str, name: str) -> QueryUnderstanding:
        """A query over the plan's tables, read under a name."""
        return read(
            text,
            self.relations(),
            name=name,
            dialect=self.dialect,
            views=self._views(),
            explain=syntax(self.dialect),
        )

    def _views(self) -> dict[str, str]:
        """Views that another query may name."""
        return {name: one.query for name, one in self.plan.of(View).items()}


def readings_of(opened: OpenPlan) -> Readings:
    """The queries of an open plan."""
    return opened.once(Readings, lambda: Readings(opened.plan, lambda: opened.engine))


def syntax(dialect: str) -> Callable[[str], None] | None:
    """A reader of SQL that has the last word on its syntax;
    only DuckDB's is at hand without a server.
    """
    if dialect != "duckdb":
        return None

    def read_by_duckdb(sql: str) -> None:
        import duckdb

        try:
            duckdb.extract_statements(sql)
        except duckdb.Error as error:
            raise EngineError(f"DuckDB says: {str(error).splitlines()[0]}") from None

    return read_by_duckdb


def untyped(relations: Relations) -> tuple[Assumption, ...]:
    """What is assumed where a column has no type."""
    some = any(
        name not in relation.kinds for relation in relations.values() for name in relation.columns
    )
    return (UNTYPED,) if some else ()


def no_nulls(tables: Iterable[Table]) -> tuple[Assumption, ...]:
    """What is assumed where columns are named and not said to be nullable or never so."""
    return (NO_NULLS,) if any(table.columns and table.nullable is None for table in tables) else ()


def dialect_of(source: str) -> str:
    """The dialect of a source.

    >>> dialect_of("postgresql://db/clinic"), dialect_of("spark"), dialect_of("clinic.duckdb")
    ('postgres', 'spark', 'duckdb')
    """
    return DIALECTS.get(source.partition(":")[0], "duckdb")
