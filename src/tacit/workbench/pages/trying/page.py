"""Try a query as a role: would the gateway answer it, why, and how was it read? For the owner;
nothing runs unless it is allowed and asked for.
"""

from __future__ import annotations

import asyncio
import json
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from tacit.errors import InputError, TacitError
from tacit.families.queries.query import Relation
from tacit.gateway.policy.explanations import TriedQuery
from tacit.gateway.trial import PreparedPolicy, Trial
from tacit.plan.plan import Plan
from tacit.plan.read.values import is_short_number
from tacit.workbench.bench import Visit, stamps_of
from tacit.workbench.pages.ledger.entries import later
from tacit.workbench.pages.trying import result as trying_result
from tacit.workbench.pages.trying.roles import show_proposal
from tacit.workbench.parts.badges import badge
from tacit.workbench.parts.labels import aria
from tacit.workbench.parts.notices import notice, show_error
from tacit.workbench.parts.work_progress import show_work
from tacit.workbench.tasks import ledger as tasks_ledger

KEPT = "trying"  # in the book: the tries of each session, and the process that explains
MOST_TRIES = 12
IDLE_SECONDS = 600.0  # without a question, after which the process that explains is ended
KINDS = {"text": "Text", "number": "Number", "true": "True", "false": "False", "null": "NULL"}


@dataclass(frozen=True, slots=True)
class QueryParameter:
    """A value for a place in a query: `name` is empty where places are numbered."""

    name: str = ""
    kind: str = "text"
    text: str = ""


@dataclass(frozen=True, slots=True)
class TypedQuery:
    """What is asked, and as whom."""

    role: str = ""
    sql: str = ""
    parameters: tuple[QueryParameter, ...] = ()


@dataclass(slots=True)
class QueryDesk:
    """What one session has on its desk: the query, what came of it, and those before.
    It is gone with the session, and on no disk.
    """

    query: TypedQuery = field(default_factory=TypedQuery)
    tried: TriedQuery | None = None
    before: list[tuple[TypedQuery, TriedQuery]] = field(default_factory=list)

    def keep(self, query: TypedQuery, tried: TriedQuery) -> None:
        """Put a try on top of those before."""
        self.query, self.tried = query, tried
        self.before = [(query, tried), *(one for one in self.before if one[0] != query)][
            :MOST_TRIES
        ]


def values_of(parameters: Sequence[QueryParameter]) -> Sequence[Any] | dict[str, Any]:
    """Parameters as a decision takes them: a list, or by name where one has a name.

    >>> (
    ...     values_of([QueryParameter(text="Flu"), QueryParameter(kind="number", text="4")]),
    ...     values_of([QueryParameter("ward", "text", "A")]),
    ... )
    (['Flu', 4], {'ward': 'A'})
    >>> values_of([QueryParameter(kind="number", text="four")])
    Traceback (most recent call last):
    tacit.errors.InputError: parameter 1 is no number. Write it with digits, or choose another kind.
    """
    if not any(one.name for one in parameters):
        return [value_of(one, str(place)) for place, one in enumerate(parameters, 1)]
    if any(not one.name for one in parameters) or len({one.name for one in parameters}) < len(
        parameters
    ):
        raise InputError(
            "some parameters have a name, and others have none or the same.",
            hint="Name all of them, or none: then they are $1, $2, ... in this order.",
        )
    return {one.name: value_of(one, one.name) for one in parameters}


def value_of(parameter: QueryParameter, name: str) -> Any:
    """The value that a parameter stands for."""
    if parameter.kind in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[parameter.kind]
    if parameter.kind == "text":
        return parameter.text
    written = parameter.text.strip()
    try:
        found = (
            int(written)
            if written.lstrip("+-").isdigit()
            else Decimal(written if is_short_number(written) else "?")
        )
    except (InvalidOperation, ValueError):
        found = Decimal("NaN")
    if isinstance(found, Decimal) and not found.is_finite():
        raise InputError(
            f"parameter {name} is no number.", hint="Write it with digits, or choose another kind."
        )
    return found


# -- what is kept between visits -------------------------------------------------------------------


def desk_of(visit: Visit) -> QueryDesk:
    """The desk of a session; it is cleared when the session ends."""
    desks: dict[str, QueryDesk] = visit.book.kept.setdefault(KEPT, {})
    if visit.session.id not in desks:
        desks[visit.session.id] = QueryDesk()
        visit.session.on_end.append(lambda: desks.__delitem__(visit.session.id))
    return desks[visit.session.id]


def trial_of(visit: Visit, prepared: PreparedPolicy) -> Trial:
    """The process that explains by this policy; one for a plan, ended when nobody asks any more
    or the policy is another.
    """
    found: Trial | None = visit.book.kept.get(f"{KEPT} process")
    if found is None or found.policy.digest != prepared.policy.digest:
        if found is not None:
            found.close()
        found = visit.book.kept[f"{KEPT} process"] = Trial(prepared.policy)
        end_when_idle(found)
    return found


def end_when_idle(trial: Trial) -> None:
    """End a process that nobody has asked for a while; the next question starts it again."""

    def look() -> None:
        if time.monotonic() - trial.used > IDLE_SECONDS:
            trial.close()
        timer = threading.Timer(IDLE_SECONDS / 4, look)
        timer.daemon = True
        timer.start()

    look()


def policy_key(visit: Visit, plan: Plan) -> str:
    """Another plan, or other data, have another key."""
    return f"{visit.book.digest()} {sorted(stamps_of(plan))}"


# -- the page --------------------------------------------------------------------------------------


async def show(visit: Visit) -> None:
    """The page."""
    plan = await asyncio.to_thread(visit.book.plan)
    with ui.element("div").classes("stack").style("gap: .4rem"):
        ui.html("Try a query", tag="h1", sanitize=False)
        ui.label(
            "Would the gateway answer it? Nothing is run to find out: a decision looks at the "
            "query, the role and the plan, never at rows."
        ).classes("muted")
    if not plan.roles:
        show_proposal(plan, visit.link())
        if not plan.secrets:
            return
    key = await asyncio.to_thread(policy_key, visit, plan)
    work = visit.book.works.latest("roles", key)
    if work is None or (work.over and work.state != "done"):
        work = visit.book.works.start(
            "roles",
            "Reading the roles and the tables",
            tasks_ledger.read_roles,
            visit.book.path,
            visit.book.reach,
            key=key,
        )
    place = ui.element("div").classes("stack")
    if work.state == "done":
        with place:
            await bench(visit, work.result)
        return

    async def build(prepared: PreparedPolicy) -> None:
        with place:
            await bench(visit, prepared)

    def ready(work: Any) -> None:
        if work.state == "done":
            place.clear()
            later(build(work.result))

    with place:
        show_work(work, ready)


async def bench(visit: Visit, prepared: PreparedPolicy) -> None:
    """The editor, the tables at its side, and what came of the last query."""
    desk = desk_of(visit)
    roles = list(prepared.policy.roles)
    if desk.query.role not in roles:
        desk.query, desk.tried = replace(desk.query, role=roles[0]), None
    warnings(prepared)
    trial = trial_of(visit, prepared)
    Editor(visit, prepared, trial, desk)
    try:
        await asyncio.to_thread(trial.start)  # while the query is being written
    except TacitError as error:
        show_error(error)


def warnings(prepared: PreparedPolicy) -> None:
    """What the owner should know before."""
    for role, said in prepared.contradictions.items():
        for one in said:
            notice(f"Role {role}: {one} The gateway does not start with this; deny wins.", "warn")
    for one in prepared.policy.warnings:
        notice(f"{one[:1].upper()}{one[1:]}.", "warn")
    if prepared.policy.said:
        notice(
            "The source declares, and decisions take into account: "
            f"{'; '.join(prepared.policy.said)}.",
            "info",
        )
    if prepared.left_out:
        notice(
            f"Not tried here: {', '.join(prepared.left_out)}. A secret with parameters stands for "
            "many, and a query is judged against one.",
            "info",
        )


class Editor:
    """A query, its role and parameters; pressing Decide, or Ctrl+Enter, shows what comes of it."""

    def __init__(
        self, visit: Visit, prepared: PreparedPolicy, trial: Trial, desk: QueryDesk
    ) -> None:
        self.visit, self.prepared, self.trial, self.desk = visit, prepared, trial, desk
        self.parameters = list(desk.query.parameters)
        with ui.element("div").classes("trying"):
            with ui.element("section").classes("card").props('aria-label="The query"'):
                self._query()
            with ui.element("aside").classes("card").props('aria-label="Tables"'):
                self._tables()
        self.result = (
            ui.element("div").classes("stack").props('aria-live="polite" data-testid="result"')
        )
        self.recent = ui.element("div").classes("stack")
        self._show_result()
        self._show_recent()

    # -- what is asked -----------------------------------------------------------------------------

    def _query(self) -> None:
        names = {name: self._role_words(name) for name in self.prepared.policy.roles}
        label = "Role" if self.prepared.are_roles else "Secret that must not be learnt"
        self.role = (
            ui.select(names, value=self.desk.query.role, label=label, on_change=self._role_chosen)
            .props("outlined dense options-dense")
            .classes("w-full")
            .mark("role")
        )
        self.about = ui.label(self._about(self.desk.query.role)).classes("fine")
        self.sql = ui.textarea(
            "Query", value=self.desk.query.sql, placeholder=self._example()
        ).props(
            "outlined autogrow spellcheck=false autocapitalize=off autocomplete=off "
            'input-class="sql" data-testid="sql"'
        )
        self.sql.on(
            "keydown",
            self._decide,
            js_handler=(
                "(e) => { if (e.key === 'Enter' && (e.ctrlKey || e.metaKey)) { "
                "e.preventDefault(); emit(); } }"
            ),
        )
        self.places = ui.element("div").classes("stack").style("gap: .4rem")
        self._show_parameters()
        with ui.element("div").classes("toolbar"):
            self.button = ui.button("Decide", on_click=self._decide).props(
                'unelevated data-testid="decide" aria-keyshortcuts="Control+Enter"'
            )
            ui.label("or Ctrl+Enter").classes("fine")
            ui.button("Add a parameter", on_click=self._add_parameter).props("flat dense")
        self.busy = ui.label().classes("fine").props('role="status"')

    def _role_words(self, name: str) -> str:
        return (
            name
            if self.prepared.are_roles
            else name.capitalize()
            if name == "all secrets"
            else name
        )

    def _about(self, name: str) -> str:
        role = self.prepared.policy.roles[name]
        denied = f"must not learn {', '.join(role.denied)}" if role.denied else "is denied nothing"
        may = (
            "may ask all that says nothing about it"
            if role.default == "allow"
            else f"may ask what follows from {', '.join(role.allowed) or 'nothing'}"
        )
        said = (
            f"default {role.default}: {denied}; {may}."
            if self.prepared.are_roles
            else f"{denied}; {may}."
        )
        return f"{said[:1].upper()}{said[1:]}"

    def _example(self) -> str:
        table = next(iter(self.prepared.policy.relations.values()), None)
        return (
            f"SELECT {table.columns[0]} FROM {table.name} WHERE ..."
            if table is not None and table.columns
            else "SELECT ..."
        )

    def _role_chosen(self, event: Any) -> None:
        self.about.set_text(self._about(event.value))
        self.desk.query = replace(self.desk.query, role=event.value)

    # -- parameters --------------------------------------------------------------------------------

    def _show_parameters(self) -> None:
        self.places.clear()
        with self.places:
            for place, one in enumerate(self.parameters):
                with (
                    ui.element("div")
                    .classes("row parameter")
                    .props(f'role="group" aria-label="Parameter {place + 1}"')
                ):
                    ui.input(
                        "Name",
                        value=one.name,
                        placeholder=f"${place + 1}",
                        on_change=lambda e, place=place: self._change(
                            place, name=e.value.strip().lstrip("$")
                        ),
                    ).props("outlined dense").style("width: 7rem")
                    ui.select(
                        KINDS,
                        value=one.kind,
                        label="Kind",
                        on_change=lambda e, place=place: self._change(place, kind=e.value),
                    ).props("outlined dense options-dense").style("width: 7rem")
                    ui.input(
                        "Value",
                        value=one.text,
                        on_change=lambda e, place=place: self._change(place, text=e.value),
                    ).props("outlined dense autocomplete=off").classes("grow")
                    ui.button(icon="close", on_click=lambda place=place: self._remove(place)).props(
                        f'flat dense round aria-label="Remove parameter {place + 1}"'
                    )

    def _change(self, place: int, **values: Any) -> None:
        self.parameters[place] = replace(self.parameters[place], **values)

    def _add_parameter(self) -> None:
        self.parameters.append(QueryParameter())
        self._show_parameters()

    def _remove(self, place: int) -> None:
        del self.parameters[place]
        self._show_parameters()

    # -- help --------------------------------------------------------------------------------------

    def _tables(self) -> None:
        ui.html("Tables and views", tag="h2", sanitize=False)
        ui.label("Press a name to put it into the query.").classes("fine")
        with ui.element("div").classes("names"):
            for relation in self.prepared.policy.relations.values():
                self._table(relation)
            for name, query in self.prepared.policy.views.items():
                with ui.element("div").props(f'role="group" aria-label="View {aria(name)}"'):
                    with ui.element("div").classes("row relation"):
                        self._insertable(name)
                        ui.label("view").classes("fine")
                    ui.label(shortened(query)).classes("mono fine query")

    def _table(self, relation: Relation) -> None:
        with ui.element("div").props(f'role="group" aria-label="Table {aria(relation.name)}"'):
            with ui.element("div").classes("row relation"):
                self._insertable(relation.name)
                ui.label("table").classes("fine")
            with ui.element("ul"):
                for column in relation.columns:
                    with ui.element("li"):
                        self._insertable(column)
                        kind = relation.kinds.get(column, "")
                        ui.label(
                            f"{kind}{', may be NULL' if column in relation.nullable else ''}".strip(
                                ", "
                            )
                        ).classes("fine")

    def _insertable(self, name: str) -> None:
        ui.button(name, on_click=lambda: self._insert(name)).props(
            f'flat dense no-caps aria-label="Insert {aria(name)}"'
        ).classes("mono name")

    def _insert(self, name: str) -> None:
        plain = (
            name
            if name.replace("_", "").isalnum() and name.isascii() and not name[:1].isdigit()
            else '"' + name.replace('"', '""') + '"'
        )
        # At the cursor, in the browser: only it knows where that is.
        ui.run_javascript(
            f"const at = getHtmlElement({self.sql.id}), box = at.matches('textarea') ? at : "
            f"at.querySelector('textarea'); box.focus();box.setRangeText({json.dumps(plain)}, "
            "box.selectionStart, box.selectionEnd, 'end'); box.dispatchEvent(new Event('input'));"
        )

    # -- what comes of it --------------------------------------------------------------------------

    async def _decide(self, event: GenericEventArguments | None = None) -> None:
        query = TypedQuery(self.role.value, self.sql.value or "", tuple(self.parameters))
        self.desk.query = query
        self.result.clear()
        if not query.sql.strip():
            with self.result:
                show_error(
                    InputError(
                        "there is no query yet.", hint="Write a SELECT over the tables at the side."
                    )
                )
            return
        self.button.props("loading")
        self.busy.set_text("Deciding ...")
        try:
            tried = await asyncio.to_thread(
                self.trial.ask, query.role, query.sql, values_of(query.parameters)
            )
        except TacitError as error:
            with self.result:
                show_error(error)
            return
        finally:
            self.button.props(remove="loading")
            self.busy.set_text("")
        self.desk.keep(query, tried)
        self._show_result()
        self._show_recent()

    def _show_result(self) -> None:
        self.result.clear()
        if self.desk.tried is not None:
            with self.result:
                trying_result.show(
                    self.visit,
                    self.desk.query.sql,
                    values_of(self.desk.query.parameters),
                    self.desk.tried,
                    self.prepared,
                )

    def _show_recent(self) -> None:
        self.recent.clear()
        if not self.desk.before:
            return
        with self.recent, ui.element("section").classes("card").props('aria-label="Recent tries"'):
            with ui.element("div").classes("row between"):
                ui.html("Recent tries", tag="h2", sanitize=False)
                ui.button("Forget them", on_click=self._forget).props("flat dense")
            ui.label("They are kept for this session only, and written nowhere.").classes("fine")
            with ui.element("ul").classes("try-recent"):
                for query, tried in self.desk.before:
                    with ui.element("li"):
                        badge(
                            "holds" if tried.decision.allowed else "breached",
                            "allowed" if tried.decision.allowed else "refused",
                        )
                        ui.label(query.role).classes("fine")
                        ui.button(
                            " ".join(query.sql.split()),
                            on_click=lambda query=query: self._decide_again(query),
                        ).props("flat dense no-caps align=left").classes("mono query")

    def _forget(self) -> None:
        self.desk.before = []
        self._show_recent()

    async def _decide_again(self, query: TypedQuery) -> None:
        self.role.set_value(query.role)
        self.sql.set_value(query.sql)
        self.parameters = list(query.parameters)
        self._show_parameters()
        await self._decide()


def shortened(text: str, most: int = 200) -> str:
    """A text on one line, and not too long.

    >>> shortened("SELECT a\\n FROM b"), shortened("abcdef", 5)
    ('SELECT a FROM b', 'ab...')
    """
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 3]}..."
