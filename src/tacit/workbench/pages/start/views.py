"""Views, secrets and roles on the page Start:
what is answered, what nobody may learn, and who may ask.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.errors import InputError, TacitError
from tacit.plan.edit.editing import Wish
from tacit.plan.edit.wishes.check_wishes import AddRole, AddSecret, RemoveRole, RemoveSecret
from tacit.plan.edit.wishes.release_wishes import AddRelease, RemoveRelease
from tacit.workbench import drafts
from tacit.workbench.pages.start.fields import choice, entry, html, ticks, writing
from tacit.workbench.parts.notices import show_error
from tacit.workbench.parts.terms import headed

if TYPE_CHECKING:
    from tacit.workbench.bench import Visit
    from tacit.workbench.drafts import PlanDraft

DEFAULTS = {
    "deny": "only what follows from what is allowed",
    "allow": "all that tells nothing about what is denied",
}
MEANINGS = {
    "Views": "A view is the answer to a query that is given to others, such as a list of wards.",
    "Secrets": "A secret is a query whose answer nobody may learn from what is released.",
    "Roles": (
        "A role says what people who ask the gateway are answered. Secrets can be denied, "
        "views and tables allowed."
    ),
}


def view_wish(name: str, query: str) -> AddRelease:
    """The wish for a view, from what was written in its form.

    >>> view_wish(" wards ", "SELECT ward\\n  FROM stays;\\n")
    AddRelease(name='wards', keys={'query': 'SELECT ward\\n  FROM stays'})
    """
    return AddRelease(named(name), {"query": query_of(query)})


def secret_wish(name: str, query: str) -> AddSecret:
    """The wish for a secret, from what was written in its form."""
    return AddSecret(named(name), query_of(query))


def named(name: str) -> str:
    """A name that was written; an InputError where there is none."""
    if not (plain := " ".join(name.split())):
        raise InputError("it has no name yet.", hint="Write a short one, such as wards.")
    return plain


def query_of(text: str) -> str:
    """A query that was written; an InputError where there is none."""
    lines = [line.replace("\t", "  ").rstrip() for line in text.strip().rstrip(";").splitlines()]
    if not (query := "\n".join(lines).strip()):
        raise InputError(
            "it has no query yet.",
            hint="Write what would be asked of the database, such as SELECT ward FROM stays",
        )
    return query


class ViewsSection:
    """The section; what is added in it becomes a wish."""

    def __init__(self, visit: Visit, draft: PlanDraft, wish: Callable[..., Any]) -> None:
        self.visit, self.draft, self.wish = visit, draft, wish
        self._shown: object = None
        self._written: dict[str, str] = {}  # what stands in the forms
        self._ticked: dict[str, set[str]] = {"deny": set(), "allow": set()}
        self._words: dict[str, ui.label] = {}
        self._bodies: dict[str, ui.element] = {}
        self._said: dict[str, ui.element] = {}

    async def show(self) -> None:
        """The whole section."""
        with ui.element("section").classes("card").props('aria-labelledby="views-title"'):
            headed("Views, secrets and roles", "views-title", "view", "secret", "role")
            ui.label(
                "For answers to queries instead of whole tables. Leave it if you release only "
                "copies of the table."
            ).classes("muted")
            with ui.element("div").classes("panels"):
                for title, meaning in MEANINGS.items():
                    self._panel(title, meaning)
        await self.sync()

    def _panel(self, title: str, meaning: str) -> None:
        with ui.element("details").classes("panel") as panel:
            panel.props["data-testid"] = f"panel-{title.lower()}"
            with ui.element("summary"):
                html("span", title).classes("name")
                self._words[title] = ui.label().classes("muted")
            with ui.element("div").classes("stack inside"):
                ui.label(meaning).classes("fine")
                self._bodies[title] = ui.element("div").classes("stack")
                self._said[title] = ui.element("div").classes("said").props('aria-live="polite"')

    async def sync(self) -> None:
        """Show what the text says now."""
        values, views = self.draft.values(), self.draft.views()
        now = repr((views, values.get("secrets"), values.get("roles"), self.draft.tables()))
        if now == self._shown:
            return
        self._shown = now
        secrets, roles = entries(values.get("secrets")), entries(values.get("roles"))
        self._refill(
            "Views",
            {name: (query, RemoveRelease(name)) for name, query in views.items()},
            self._view_form,
        )
        self._refill(
            "Secrets",
            {name: (str(query), RemoveSecret(name)) for name, query in secrets.items()},
            self._secret_form,
        )
        self._refill(
            "Roles",
            {name: (rights(keys), RemoveRole(name)) for name, keys in roles.items()},
            self._role_form,
        )

    def _refill(
        self, title: str, listed: Mapping[str, tuple[str, Wish]], form: Callable[[], None]
    ) -> None:
        self._words[title].set_text(", ".join(listed) or "none yet")
        self._said[title].clear()
        self._bodies[title].clear()
        with self._bodies[title]:
            for name, (words, wish) in listed.items():
                with ui.element("div").classes("check-row"):
                    with ui.element("span"):
                        html("strong", name)
                    html("span", words).classes("muted mono given")
                    button = ui.button("Remove", on_click=lambda wish=wish: self.wish(wish)).props(
                        "flat dense no-caps"
                    )
                    button.props["aria-label"] = f"Remove {name}"
            form()

    def _view_form(self) -> None:
        self._query_form("view", "Views", examples(self.draft)[0], view_wish)

    def _secret_form(self) -> None:
        self._query_form("secret", "Secrets", examples(self.draft)[1], secret_wish)

    def _query_form(
        self, what: str, title: str, example: str, wish: Callable[[str, str], Wish]
    ) -> None:
        with ui.element("div").classes("row"):
            html("span", f"New {what}").classes("label")
            entry(
                self._written.get(f"{what} name", ""),
                f"Name of the new {what}",
                lambda text: self._write(f"{what} name", text),
                testid=f"{what}-name",
                placeholder="name",
                at_once=True,
            )
        writing(
            self._written.get(f"{what} query", ""),
            f"Query of the new {what}",
            lambda text: self._write(f"{what} query", text),
            testid=f"{what}-query",
            placeholder=example,
        )
        button = ui.button(
            f"Add the {what}",
            on_click=lambda: self._add(
                title,
                what,
                lambda: wish(
                    self._written.get(f"{what} name", ""), self._written.get(f"{what} query", "")
                ),
            ),
        )
        button.props(f'outline no-caps data-testid="add-{what}"').classes("beginning")

    def _role_form(self) -> None:
        secrets, others = self.draft.names("secrets"), [*self.draft.views(), *self.draft.tables()]
        for key, known in (("deny", secrets), ("allow", others)):
            self._ticked[key] &= set(known)
        with ui.element("div").classes("row"):
            html("span", "New role").classes("label")
            entry(
                self._written.get("role name", ""),
                "Name of the new role",
                lambda text: self._write("role name", text),
                testid="role-name-new",
                placeholder="name",
                at_once=True,
            )
            html("span", "is answered").classes("label")
            choice(
                DEFAULTS,
                self._written.setdefault("default", "deny"),
                "What the new role is answered",
                lambda one: self._write("default", one),
                testid="role-default",
            )
        if secrets:
            ticks(
                secrets,
                self._ticked["deny"],
                "Denied",
                lambda name, on: self._tick("deny", name, on=on),
                testid="deny",
            )
        else:
            ui.label("There is no secret yet that could be denied.").classes("fine")
        ticks(
            others,
            self._ticked["allow"],
            "Allowed",
            lambda name, on: self._tick("allow", name, on=on),
            testid="allow",
        )
        ui.button(
            "Add the role", on_click=lambda: self._add("Roles", "role", self._role_wish)
        ).props('outline no-caps data-testid="add-role"').classes("beginning")

    def _role_wish(self) -> AddRole:
        default = "allow" if self._written.get("default") == "allow" else "deny"
        chosen = {key: tuple(sorted(names)) for key, names in self._ticked.items()}
        return AddRole(
            named(self._written.get("role name", "")),
            default,  # type: ignore[arg-type]
            chosen["deny"],
            chosen["allow"],
        )

    def _write(self, key: str, text: str) -> None:
        self._written[key] = text

    def _tick(self, key: str, name: str, *, on: bool) -> None:
        (self._ticked[key].add if on else self._ticked[key].discard)(name)

    async def _add(self, title: str, what: str, wish: Callable[[], Wish]) -> None:
        """Add something, unless the plan could not be read any more with it."""
        said = self._said[title]
        said.clear()
        try:
            made = wish()
            drafts.refuse_harm(self.draft, self.visit.book, self.visit.bench, made)
        except TacitError as error:
            with said:
                show_error(error)
            return
        self._written = {
            key: text for key, text in self._written.items() if not key.startswith(what)
        }
        if what == "role":
            self._ticked = {"deny": set(), "allow": set()}
        await self.wish(made)


def examples(draft: PlanDraft) -> tuple[str, str]:
    """A view and a secret as they could be, with names of the plan.

    >>> from tacit.workbench.drafts import PlanDraft
    >>> examples(
    ...     PlanDraft(
    ...         "tables: {stays: {identifiers: [name], quasi-identifiers: [ward], sensitive: [condition]}}",
    ...         None,
    ...     )
    ... )
    ('SELECT ward FROM stays', "SELECT name FROM stays WHERE condition = '...'")
    """  # noqa: E501
    table = next(iter(draft.tables()), "stays")
    columns = {role: column for column, role in reversed(draft.roles(table).items())}
    who, what = columns.get("identifiers", "name"), columns.get("sensitive", "condition")
    return (
        f"SELECT {columns.get('quasi-identifiers', 'ward')} FROM {table}",
        f"SELECT {who} FROM {table} WHERE {what} = '...'",
    )


def entries(section: Any) -> dict[str, Any]:
    """The entries of a section, by their names."""
    return {str(name): one for name, one in section.items()} if isinstance(section, dict) else {}


def rights(keys: Any) -> str:
    """A role in words.

    >>> rights({"default": "allow", "deny": ["cancer"]}), rights({"allow": "flu"})
    ('all that tells nothing about what is denied; denied: cancer', 'only what follows from what is allowed; allowed: flu')
    """  # noqa: E501
    keys = keys if isinstance(keys, dict) else {}
    said = [DEFAULTS["allow" if keys.get("default") == "allow" else "deny"]]
    for key, words in (("deny", "denied"), ("allow", "allowed")):
        names = keys.get(key)
        if names:
            said.append(
                f"{words}: {', '.join(map(str, names)) if isinstance(names, list) else names}"
            )
    return "; ".join(said)
