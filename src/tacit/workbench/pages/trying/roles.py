"""Lines for a plan that has no roles:
who could ask the gateway what, in names that the plan has.
"""

from __future__ import annotations

from nicegui import ui

from tacit.engines.sql.shapes_drafted import shown_where
from tacit.families.queries.query_parameters import parameters
from tacit.model.release import View
from tacit.plan.edit.editing import Wish, rewritten
from tacit.plan.edit.wishes.check_wishes import AddRole, AddSecret
from tacit.plan.plan import Plan
from tacit.workbench.pages.trying.result import box

EMPTY = "version: 1\n"
DIALECT = "duckdb"


def show_proposal(plan: Plan, start: str) -> None:
    """What to write where the plan has no roles;
    `start` is the address of the page with the form.
    """
    with ui.element("section").classes("card").props('aria-label="Roles" data-testid="no-roles"'):
        ui.html("The plan has no roles", tag="h2", sanitize=False)
        ui.label(
            "So nobody may ask the gateway anything. Say who may ask what, by form on the page "
            "Start or in the text of the plan, for example:"
        )
        ui.html(box(proposal(plan), "Lines for the plan"), sanitize=False)
        for secret in denied(plan):
            ui.label(f"Nurses may ask all that says nothing about {secret}.").classes("muted")
        for name in allowed(plan):
            ui.label(
                f"Clerks may ask all that follows from {name}, and nothing else: name what they "
                "may know."
            ).classes("muted")
        if not denied(plan):
            ui.label(
                "To deny something, say first what must not be learnt, e.g. secrets: {cancer: "
                "\"SELECT name FROM patients WHERE condition = 'Cancer'\"}."
            ).classes("muted")
        ui.link("Say who may ask what on the page Start", start)
        if plan.secrets:
            ui.label(
                "Below you can try queries against each secret all the same, as if somebody might "
                "ask all but what says something about it."
            ).classes("muted")


def proposal(plan: Plan) -> str:
    """Roles, and a secret where the plan has none, as lines that can be put into the plan.

    A role can be denied and allowed what is a query: a table, a secret, or a view.
    Clerks are denied nothing, so that what they are allowed contradicts nothing.
    """
    made = secret_of(plan)
    wishes: list[Wish] = [made] if made else []
    wishes += [AddRole("nurses", "allow", deny=(secret,)) for secret in denied(plan)]
    wishes += [AddRole("clerks", "deny", allow=(name,)) for name in allowed(plan)]
    return rewritten(EMPTY, *wishes).removeprefix(EMPTY).strip()


def denied(plan: Plan) -> list[str]:
    """A secret that a role can be denied, if there is one."""
    made = secret_of(plan)
    return (
        [made.name]
        if made
        else [name for name, text in plan.secrets.items() if is_plain(plan, name, text)][:1]
    )


def allowed(plan: Plan) -> list[str]:
    """A view that a role can be allowed, else a table."""
    views = [one.name for one in plan.of(View).values() if is_plain(plan, one.name, one.query)]
    return (views or list(plan.tables))[:1]


def is_plain(plan: Plan, name: str, query: str) -> bool:
    """Whether a role can name a query: it stands for one, and no table has its name."""
    return name not in plan.tables and not parameters(query)


def secret_of(plan: Plan) -> AddSecret | None:
    """What the plan says is sensitive, and whose it is, as a secret;
    None where it does not say, or has secrets.
    """
    for table in plan.tables.values() if not plan.secrets else ():
        if table.sensitive:
            columns = [*table.identifiers[:1], table.sensitive[0]]
            asked = shown_where(table.name, columns, None, DIALECT)
            name = table.sensitive[0]
            return AddSecret(
                f"{name}-of-{table.name}" if name in plan.tables or name in plan.releases else name,
                asked.sql(dialect=DIALECT),
            )
    return None
