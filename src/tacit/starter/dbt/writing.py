"""The plan of a dbt project: its tables, models as releases, and what is asked about them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import yaml

from tacit.engines.sql import shapes_inlined
from tacit.errors import InputError, did_you_mean
from tacit.families.catalog import CHECKS, FAMILY_OF, kinds_of
from tacit.starter.dbt.manifest import DbtNode, DbtProject, WantedVerdict
from tacit.starter.dbt.queries import UnreadableError, kept, query_of

HEAD = "# Made by tacit dbt from manifest.json: change the dbt project, and run it again.\n"


@dataclass(slots=True)
class DbtPlan:
    """A plan in the making. `wanted` has the test behind each check, None for those that come
    from exposures; `notes` say what is not asked, and why.
    """

    project: DbtProject
    source: str | None
    tables: dict[str, dict[str, Any]] = field(default_factory=dict)
    secrets: dict[str, str] = field(default_factory=dict)
    releases: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: list[dict[str, Any]] = field(default_factory=list)
    wanted: list[WantedVerdict | None] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    owners: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The file."""
        place: dict[str, Any] = {"source": self.source}
        if self.source is None:  # for the dialect; no database is asked
            place = {"source": "postgresql://localhost/postgres", "source-keys": "ignore"}
            place = place if self.project.adapter == "postgres" else {}
        parts = {
            "version": 1,
            **place,
            "tables": self.tables,
            "secrets": self.secrets,
            "releases": self.releases,
            "checks": self.checks,
        }
        written = {name: part for name, part in parts.items() if part}
        return HEAD + yaml.safe_dump(written, sort_keys=False, allow_unicode=True, width=1000)

    def attempt(self, what: str, step: Callable[[], None]) -> None:
        """Do a step, or say why what it is for is not asked."""
        try:
            step()
        except UnreadableError as error:
            self.notes.append(f"{what} is not checked: {error}.")

    def table(self, node: DbtNode) -> str:
        """A table that the database keeps."""
        name = node.relation
        if self.owners.setdefault(name, node.id) != node.id:
            raise UnreadableError(f"two databases have a table {name}")
        if name not in self.tables:
            keys: dict[str, Any] = {}
            if self.source is None:
                if node.columns is None:
                    raise UnreadableError(
                        f"the columns of {node.name} are not known; run dbt docs generate, or "
                        "give --source"
                    )
                keys["columns"] = list(node.columns)
            if node.keys:
                keys["key"] = [[one] for one in node.keys]
            keys |= {role: list(columns) for role, columns in node.roles.items()}
            if node.reads:
                behind = {one.id: one for one in self.project.behind(node)}
                self.tables[name] = {}
                keys["derived-from"] = [self.table(one) for one in behind.values()]
            self.tables[name] = keys
        return name

    def query(self, node: DbtNode) -> str:
        """The SQL of a node, with the tables that it reads."""
        found = query_of(self.project, node)
        for one in kept(self.project, node).values():
            self.table(one)
        return found

    def view(self, node: DbtNode) -> str:
        """A model as a view."""
        if node.name not in self.releases:
            self.releases[node.name] = {"query": self.query(node)}
        return node.name

    def copy(self, node: DbtNode, wanted: WantedVerdict) -> str:
        """The rows of a model, all of whose columns are shown."""
        if self.source is None:
            raise UnreadableError("it needs the rows; give --source")
        if wanted.rows is None:
            raise UnreadableError(f"{node.name} was not built; run dbt run, then dbt compile")
        hidden = node.roles.get("identifiers", ())
        if hidden:
            raise UnreadableError(f"{node.name} shows {', '.join(hidden)}, which is tagged pii")
        given = {one for columns in node.roles.values() for one in columns}
        bare = [one for one in node.columns or () if one not in given]
        if bare or not given:
            raise UnreadableError(
                f"{bare[0] if bare else 'no column'} of {node.name} has "
                f"{'no' if bare else 'a'} role; write quasi_identifier, sensitive or insensitive "
                "in its meta"
            )
        name = f"rows of {node.name}"
        self.releases[name] = {"table": self.table(node)}
        return name


def plan_of(project: DbtProject, source: str | None = None) -> DbtPlan:
    """The plan of a project: every exposure, and every model marked `release`, against every
    secret; and what the tests `tacit.verdict` ask.
    """
    plan = DbtPlan(project, source)
    for node in project.marked("secret", ("analysis",)):
        plan.attempt(f"the secret {node.name}", lambda node=node: declare(plan, node))  # type: ignore[misc]
    for node in project.nodes.values():
        if node.kind in ("seed", "source"):
            plan.attempt(f"the secret of {node.name}", lambda node=node: link(plan, node))  # type: ignore[misc]
    shown = {f"exposure {name}": reads for name, reads in project.exposures.items()}
    shown |= {f"model {one.name}": (one.id,) for one in project.marked("release", ("model",))}
    for what, reads in shown.items():
        plan.attempt(what, lambda what=what, reads=reads: against_all(plan, what, reads))  # type: ignore[misc]
    for wanted in project.wanted:
        plan.attempt(f"the test {wanted.test}", lambda wanted=wanted: ask(plan, wanted))  # type: ignore[misc]
    return plan


def declare(plan: DbtPlan, node: DbtNode) -> None:
    """A secret that somebody wrote as an analysis."""
    plan.secrets[node.name] = plan.query(node)


def link(plan: DbtPlan, node: DbtNode) -> None:
    """The secrets of a table: who has which value of each sensitive column."""
    who = (*node.roles.get("identifiers", ()), *node.roles.get("quasi-identifiers", ()))
    for column in node.roles.get("sensitive", ()):
        plan.table(node)
        query = shapes_inlined.distinct_of(node.place, (*who, column))
        plan.secrets[f"{node.name}.{column}"] = query.sql(dialect=plan.project.adapter)


def against_all(plan: DbtPlan, what: str, reads: Iterable[str]) -> None:
    """Models together, against every secret."""
    shown = [plan.view(plan.project.nodes[one]) for one in reads if one in plan.project.nodes]
    for secret in plan.secrets if shown else ():
        asked = {"secret": secret, "releases": list(shown), "name": f"{what}: {secret}"}
        plan.checks.append({"perfect-privacy": asked})
        plan.wanted.append(None)


def ask(plan: DbtPlan, wanted: WantedVerdict) -> None:
    """A test `tacit.verdict`, as a check."""
    families = ("microdata", "queries")
    kinds = [kind for family in families for kind in kinds_of(family)]
    if wanted.check not in CHECKS or FAMILY_OF[wanted.check] not in families:
        raise InputError(
            f"the test {wanted.test} asks for {wanted.check!r}.",
            hint=did_you_mean(wanted.check, kinds),
        )
    node = plan.project.nodes[wanted.model]
    rows = FAMILY_OF[wanted.check] == "microdata"
    asked: Mapping[str, Any] = {
        "release": plan.copy(node, wanted) if rows else plan.view(node),
        **wanted.parameters,
        "name": wanted.test,
    }
    plan.checks.append({wanted.check: asked})
    plan.wanted.append(wanted)
