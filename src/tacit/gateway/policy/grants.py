"""Grants: the views of a role as statements for a database that is to enforce them itself."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from tacit.engines.open import open_engine
from tacit.engines.sql.shapes import whole_table
from tacit.engines.sql.shapes_granted import granted, quoted
from tacit.errors import InputError, QueryError, did_you_mean
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.read import read
from tacit.families.queries.understanding import QueryText
from tacit.gateway.policy.asker import bound, bound_to_nothing, parameters_of
from tacit.gateway.policy.policy import (
    Contradiction,
    GatewayPolicy,
    contradictions,
    unchecked_policy,
)
from tacit.gateway.policy.table_names import TableNames
from tacit.plan.plan import Plan


@dataclass(frozen=True, slots=True)
class Grants:
    """What a role is granted: each view with its query, and what was left out and why."""

    role: str
    denied: tuple[str, ...]
    tables: tuple[str, ...]
    views: tuple[tuple[str, str], ...]
    left_out: tuple[Contradiction, ...]

    def statements(self) -> Iterator[str]:
        """The SQL, one statement each."""
        return granted(self.role, self.tables, self.views)

    def sql(self) -> str:
        """The statements with comments, as a file that psql runs."""
        about = (
            f", that say nothing about {', '.join(self.denied)} (perfect privacy)"
            if self.denied
            else ""
        )
        lines = [f"-- {_comment(f'Role {self.role}: its allowed views{about}.')}"]
        lines += [f"-- The role has to be there: CREATE ROLE {_comment(quoted(self.role))};"]
        lines += [
            (
                "-- What is granted to everybody (PUBLIC) is granted to this role too, so the "
                "tables are taken from both."
            )
        ]
        lines += [
            f"-- Left out: {_comment(one.view)} {_comment(one.said)}. {_comment(one.why)}"
            for one in self.left_out
        ]
        lines += [f"{one};" for one in self.statements()]
        return "\n".join(lines) + "\n"

    def to_json(self) -> dict[str, Any]:
        """What `tacit grants --json` prints."""
        left = [
            {
                "view": one.view,
                "secret": one.secret,
                "status": one.verdict.status,
                "because": one.why,
            }
            for one in self.left_out
        ]
        return {
            "role": self.role,
            "deny": list(self.denied),
            "views": [name for name, _ in self.views],
            "left_out": left,
            "statements": list(self.statements()),
        }


def grants(plan: Plan, role: str) -> Grants:
    """The statements for a role's allowed views, of those that say
    nothing about what it is denied.
    """
    if role not in plan.roles:
        raise InputError(
            f"the plan has no role {role!r}.",
            hint=did_you_mean(role, plan.roles) or "Add roles: to the plan.",
        )
    if not plan.source.startswith(("postgresql://", "postgres://")):
        raise InputError(
            "only PostgreSQL knows users and rights.",
            hint="Use tacit serve, which answers by the same rules on every source.",
            mark=plan.mark("source"),
        )
    if not plan.roles[role].allow:
        mark = plan.mark("roles", role)
        raise InputError(
            f"role {role} is allowed no view.",
            hint=(
                "Name views under allow; a database cannot decide about queries, only about views."
            ),
            mark=mark,
        )
    with open_engine(plan.source, plan.folder) as engine:
        policy = unchecked_policy(plan, engine)
    found = policy.roles[role]
    if found.parameters:
        raise InputError(
            f"what role {role} may ask depends on whoever asks (${found.parameters[0]}), which a "
            "view of the database does not know.",
            hint="Use tacit serve, which knows its users.",
            mark=plan.mark("roles", role),
        )
    left_out = tuple(one for one in contradictions(policy) if one.role == role)
    kept = [name for name in found.allowed if name not in {one.view for one in left_out}]
    views = tuple((name, written(name, policy)) for name in kept)
    return Grants(role, tuple(found.denied), tuple(policy.relations), views, left_out)


def written(name: str, policy: GatewayPolicy) -> str:
    """The query of a view or table with the plan's views in it written out; one that speaks of
    whoever asks as for nobody.
    """
    views = {other: for_nobody(text, policy) for other, text in policy.views.items()}
    names = TableNames(policy.relations, views, policy.dialect, QueryText("", name))
    return names.resolved(whole_table(name)).sql(dialect=policy.dialect, comments=False)


def for_nobody(text: str, policy: GatewayPolicy) -> str:
    """A view without who asks: its columns and tables are the same for everybody."""
    asked = parameters_of(text)
    if not asked:
        return text
    if not is_datalog(text):
        return bound_to_nothing(text)
    for value in ("7", "2000-01-01", "true", "x"):
        found = bound(text, dict.fromkeys(asked, value))
        with suppress(QueryError):
            read(found, policy.relations, name="view", dialect=policy.dialect)
            break
    return found


def _comment(text: str) -> str:
    """Text on one line."""
    return " ".join(text.split())
