"""Drafts: the text of a plan that somebody works on, shared by all tabs until it is saved."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import join, normpath
from typing import TYPE_CHECKING, Any

from tacit.engines.open import DATABASE_FILES
from tacit.errors import InputError, PlanError, Problems, QueryError, TacitError, did_you_mean
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.queries.reading.readings import Readings
from tacit.families.queries.schema import relations_of
from tacit.gateway.options import AUDIT
from tacit.model.release import Synthetic, View
from tacit.plan.edit.editing import Wish, rewritten
from tacit.plan.edit.spelling import Opened
from tacit.plan.edit.wishes.table_wishes import AddTable
from tacit.plan.known_tables import KnownTables
from tacit.plan.read.tables import ROLES
from tacit.plan.read.tree import values_of
from tacit.starter.plan_text import plan_text, write_new
from tacit.starter.survey import table_name, without_password
from tacit.workbench.app.reach import text_within

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.families.queries.understanding import QueryUnderstanding
    from tacit.plan.plan import Plan
    from tacit.starter.profile import Profile
    from tacit.workbench.bench import Bench, Book

KEPT = "draft"
OWN_LOG = Path(AUDIT).stem
MOST_UNDONE = 50
STRANGE = ("unknown-column", "unknown-table")


@dataclass
class PlanDraft:
    """A plan's text as it is being worked on;
    `was` is what its file said when that began, None if there was no file.
    """

    text: str
    was: str | None
    version: int = 0
    before: list[str] = field(default_factory=list)  # texts to go back to, the last one last
    chosen: str = ""  # the table that was looked at last
    profiles: dict[str, Profile] = field(default_factory=dict)
    _read: tuple[str, dict[Any, Any]] = (
        "",
        {},
    )  # a text and its values: it is asked for them again and again

    @property
    def is_changed(self) -> bool:
        """Whether there is something to save."""
        return self.text != self.was

    def change(self, text: str) -> None:
        """Work on with another text."""
        if text != self.text:
            self.before = [*self.before[1 - MOST_UNDONE :], self.text]
            self.text = text
            self.version += 1

    def undo(self) -> None:
        """Work on with the text before the last change."""
        if self.before:
            self.text = self.before.pop()
            self.version += 1

    def wish(self, *wishes: Wish) -> None:
        """Fulfil wishes in the text; a TacitError where it cannot be read that far."""
        self.change(rewritten(self.text, *wishes))

    def values(self) -> dict[Any, Any]:
        """The plan as dicts and lists, as far as it can be read; empty where it is no YAML."""
        text = self.text
        if self._read[0] != text:
            try:
                self._read = text, values_of(text)
            except TacitError:
                self._read = text, {}
        return self._read[1]

    def table(self, name: str) -> Mapping[Any, Any]:
        """What the text says about a table."""
        entry = self._section("tables").get(name)
        return entry if isinstance(entry, dict) else {}

    def tables(self) -> list[str]:
        """The names of the tables."""
        return self.names("tables")

    def files(self) -> dict[str, str]:
        """The files that tables are in or could be in, from the plan's folder, each with its table.

        >>> PlanDraft("source: data\\ntables: {a: {file: ./x.csv}, b: }", None).files()
        {'data/x.csv': 'a', 'data/b.csv': 'b', 'data/b.parquet': 'b'}
        """
        source = source_of(self)
        is_database = "://" in source or source.endswith(DATABASE_FILES)
        home, usual = (".", ()) if is_database else (source, (".csv", ".parquet"))
        files = (
            (
                name,
                [str(self.table(name)["file"])]
                if self.table(name).get("file")
                else [f"{name}{one}" for one in usual],
            )
            for name in self.tables()
        )
        return {normpath(join(home, file)): name for name, found in files for file in found}

    def roles(self, table: str) -> dict[str, str]:
        """The role of each column of a table that has one."""
        entry = self.table(table)
        found: dict[str, str] = {}
        for role in ROLES:
            listed = entry.get(role)
            for column in (
                [listed] if isinstance(listed, str) else listed if isinstance(listed, list) else ()
            ):
                found.setdefault(str(column), role)
        return found

    def hierarchies(self, table: str) -> list[str]:
        """The columns of a table that have a hierarchy."""
        entry = self.table(table).get("hierarchies")
        return [str(column) for column in entry] if isinstance(entry, dict) else []

    def names(self, section: str) -> list[str]:
        """The names in a section of the plan."""
        return [str(name) for name in self._section(section)]

    def _section(self, name: str) -> dict[Any, Any]:
        """A section of the plan that has names; empty where it is none."""
        entries = self.values().get(name)
        return entries if isinstance(entries, dict) else {}

    def _releases(self) -> Iterator[tuple[str, dict[Any, Any]]]:
        """The releases as they are written."""
        entries = self._section("releases").items()
        return ((str(name), one) for name, one in entries if isinstance(one, dict))

    def views(self) -> dict[str, str]:
        """The releases that are answers to queries, with their queries."""
        return {name: str(one["query"]) for name, one in self._releases() if "query" in one}

    def synthetic(self, table: str | None = None) -> dict[str, dict[Any, Any]]:
        """The releases of made-up people, of one table or of all, as they are written."""
        return {
            name: one
            for name, one in self._releases()
            if isinstance(one.get("synthetic"), dict) and table in (None, one.get("table"))
        }

    def releases(self, table: str) -> dict[str, dict[Any, Any]]:
        """The copies of a table that are to be released."""
        return {
            name: one
            for name, one in self._releases()
            if one.get("table") == table and "file" not in one and "synthetic" not in one
        }


def draft_of(book: Book) -> PlanDraft | None:
    """The draft of a plan: the one that is being worked on, else one with the text of its file;
    None if there is neither.
    """
    draft = book.kept.get(KEPT)
    text = book.text() if book.exists else None
    if isinstance(draft, PlanDraft):
        follow(draft, text)
        return draft
    if text is None:
        return None
    book.kept[KEPT] = draft = PlanDraft(text, text)
    return draft


def follow(draft: PlanDraft, there: str | None) -> bool:
    """Take the text that the file has by now, if nothing here is unsaved;
    whether both have changed, so that somebody must choose.

    >>> draft = PlanDraft("version: 1", "version: 1")
    >>> follow(draft, "version: 1  # by hand"), draft.text
    (False, 'version: 1  # by hand')
    """
    if there is None or draft.was is None or there == draft.was:
        return False
    if draft.is_changed and there != draft.text:
        return True
    draft.change(there)
    draft.before.clear()  # what others wrote is not undone here
    draft.was = there
    return False


def settle(draft: PlanDraft, there: str, *, mine: bool) -> None:
    """Both have changed: go on with the text here, or with the file's."""
    draft.was = there
    if not mine:
        draft.change(there)


def begin(book: Book, profile: Profile) -> PlanDraft:
    """A draft for a table that no plan speaks of yet."""
    draft = PlanDraft(plan_text(profile.look, profile.guesses, written="on the page Start"), None)
    draft.profiles[profile.look.table] = profile
    book.kept[KEPT] = draft
    return draft


def add_table(draft: PlanDraft, folder: Path, profile: Profile) -> str:
    """Add a table that was looked at to a draft whose plan lies in `folder`, with the roles and
    hierarchies that are proposed; its name there.
    """
    refuse_apart(draft, folder, profile.look.source)
    own = draft.files().get(normpath(profile.look.file)) if profile.look.file else None
    if own is not None:
        raise InputError(
            f"{profile.look.file} is in the plan already, as the table {own}.",
            hint="Choose it under Table.",
        )
    look = replace(profile.look, file=file_beside(draft, folder, profile.look.file))
    taken = draft.tables() if look.file else []  # a table of a database is called as it is
    name = next(
        name
        for name in (look.table, *(f"{look.table}_{number}" for number in range(2, 1000)))
        if name not in taken
    )
    keys = values_of(plan_text(look, profile.guesses))["tables"][look.table] or {}
    draft.wish(
        AddTable(
            name,
            Opened(
                {key: Opened(one) if isinstance(one, dict) else one for key, one in keys.items()}
            ),
        )
    )
    draft.profiles[name] = replace(profile, look=replace(look, table=name))
    draft.chosen = name
    return name


def file_beside(draft: PlanDraft, folder: Path, file: str | None) -> str | None:
    """A file as the tables of a draft name theirs: from the folder that they are in.
    Outside of it, where it is not the plan's, pages reach none.
    """
    home = folder_of_tables(draft, folder)
    if not file or home == folder:
        return file
    found = Path(os.path.relpath(folder / file, home)).as_posix()
    if found.startswith("../"):
        raise InputError(
            f"{file} is outside of {source_of(draft)}, where the tables of this plan are.",
            hint="Put it there, and choose it there.",
        )
    return found


def folder_of_tables(draft: PlanDraft, folder: Path) -> Path:
    """Where the files of a draft's tables lie:
    in the folder that `source` names, else beside the plan.
    """
    home = folder / source_of(draft)
    return (
        home
        if "://" not in source_of(draft) and home.is_dir() and not home.samefile(folder)
        else folder
    )


def refuse_apart(draft: PlanDraft, folder: Path, source: str) -> None:
    """Raise an InputError if tables of a source ("." for files) cannot be in the same plan as
    the others: it has one source.
    """
    here = source_of(draft)
    is_together = (
        "://" not in here
        if source == "."
        else os.path.normpath(folder / here) == os.path.normpath(folder / source)
    )
    if not is_together:
        mine, other = (
            "files" if (folder / one).is_dir() else without_password(one) for one in (here, source)
        )
        raise InputError(
            f"a plan has one source: its tables are in {mine} here, and this one is in {other}.",
            hint="Begin a new plan with it.",
        )


def source_of(draft: PlanDraft) -> str:
    """Where the tables of a draft are."""
    return str(draft.values().get("source") or ".")


def problems(text: str, book: Book, bench: Bench) -> TacitError | None:
    """What is wrong with a text as the plan of a book, with its lines; None if it is a plan."""
    try:
        text_within(text, book.path, bench.folder)
    except TacitError as error:
        return error
    return None


@dataclass(frozen=True, slots=True)
class Opinion:
    """What there is to say about a text: why it is no plan, or else what its tables do not have."""

    wrong: TacitError | None = None
    strange: TacitError | None = None

    @property
    def lines(self) -> list[int]:
        """The lines that it speaks of."""
        said = [one for error in (self.wrong, self.strange) if error for one in error]
        return sorted({one.mark.line for one in said if one.mark and one.mark.line})


def opinion(draft: PlanDraft, book: Book, bench: Bench) -> Opinion:
    """What is to be said about a draft's text."""
    try:
        plan = text_within(draft.text, book.path, bench.folder)
    except TacitError as error:
        return Opinion(wrong=error)
    return Opinion(strange=strangers(draft, plan))


def refuse_harm(draft: PlanDraft, book: Book, bench: Bench, wish: Wish) -> None:
    """Raise what is wrong with a wish, if the plan could be read before it and not after it.
    Lines are those of a text that nobody sees: they are left out.
    """
    after = problems(rewritten(draft.text, wish), book, bench)
    if after is not None and problems(draft.text, book, bench) is None:
        for one in (after, *after):
            one.mark = None
        raise after


def strangers(draft: PlanDraft, plan: Plan) -> TacitError | None:
    """Columns that a plan speaks of although their table has none of that name, as far as tables
    were looked at.
    """
    found: list[TacitError] = []
    for name, table in plan.tables.items():
        profile = draft.profiles.get(name)
        if profile is None or profile.look.file != table.file:
            continue
        known = {one.name: one.kind for one in profile.look.columns}
        parts = parts_of(table, known)
        places: dict[str, Iterable[str]] = {
            "identifiers": table.identifiers,
            "quasi-identifiers": table.quasi_identifiers,
            "sensitive": table.sensitive,
            "insensitive": table.insensitive,
            "person": table.person,
            "hierarchies": table.hierarchies,
        }
        for key, columns in places.items():
            for at, column in enumerate(columns):
                for one in parts.get(column, (column,)):
                    if one not in known:
                        mark = plan.mark(
                            "tables", name, key, column if key == "hierarchies" else at
                        )
                        found.append(
                            PlanError(
                                f"table {name!r} has no column {one!r}.",
                                hint=did_you_mean(one, known),
                                mark=mark,
                            )
                        )
    found += (
        error
        for release in plan.of(Synthetic).values()
        for error in strange_columns(draft, plan, release)
    )
    found += strange_queries(draft, plan)
    return Problems(found) if found else None


def strange_queries(draft: PlanDraft, plan: Plan) -> Iterator[TacitError]:
    """Secrets and views that speak of what no table has, where all tables were looked at:
    a query may be about any of them.
    """
    looks = {
        name: profile.look
        for name, profile in draft.profiles.items()
        if name in plan.tables and profile.look.file == plan.tables[name].file
    }
    if len(looks) < len(plan.tables):
        return
    readings = Readings(plan, known_columns)
    readings.take(
        KnownTables(
            relations_of(
                plan.tables,
                {
                    name: {one.name: one.kind for one in look.columns}
                    for name, look in looks.items()
                },
            ),
            {},
        )
    )
    asked: list[tuple[Callable[[str], QueryUnderstanding], str, tuple[str, ...]]] = [
        (readings.secret, name, ("secrets", name)) for name in plan.secrets
    ]
    asked += [(readings.view, name, ("releases", name, "query")) for name in plan.of(View)]
    for read, name, place in asked:
        try:
            read(name)
        except QueryError as error:
            if error.code in STRANGE:
                yield PlanError(f"{name}: {error.message}", hint=error.hint, mark=plan.mark(*place))
        except TacitError:
            continue  # something else is wrong, and what asks it says so


def known_columns() -> Engine:
    """The columns are known: no source is asked."""
    raise InputError("this table was not looked at.")


def strange_columns(draft: PlanDraft, plan: Plan, release: Synthetic) -> Iterator[TacitError]:
    """The columns of a synthetic release that its table does not have."""
    profile, table = draft.profiles.get(release.table), plan.tables[release.table]
    known = (
        [one.name for one in profile.look.columns]
        if profile and profile.look.file == table.file
        else None
    )
    for key in ("group", "value", "count"):
        column = getattr(release, key)
        if known is not None and column is not None and column not in known:
            yield PlanError(
                f"table {release.table!r} has no column {column!r}.",
                hint=did_you_mean(column, known),
                mark=plan.mark("releases", release.name, "synthetic", key),
            )


def save(draft: PlanDraft, book: Book) -> None:
    """Write the draft as the plan; a TacitError where it is none, or where somebody else changed
    the file meanwhile.
    """
    if draft.was is None:
        text_within(draft.text, book.path, book.reach)
        write_new(book.path, draft.text)
    else:
        book.save(draft.text, was=draft.was)
    draft.was = draft.text


def new_plan(bench: Bench, folder: Path, table: str) -> Path:
    """Where a plan for a new table will lie: where the one that is served is to be, else a name
    beside the others that is free.
    """
    name = table_name(Path(f"{table}.csv"))
    names = ["tacit.yaml", f"{name}.yaml", *(f"{name}-{number}.yaml" for number in range(2, 1000))]
    for place in (
        *([bench.home] if bench.home.parent == folder else []),
        *(bench.inside(folder / one) for one in names),
    ):
        if not place.exists() and KEPT not in bench.book(place).kept:
            return place
    raise InputError("there are too many plans of that name.", hint="Rename the file.")


def unsaved(bench: Bench) -> set[Path]:
    """The plans that somebody has changed and not saved, also those that have no file yet."""
    found = ((book.path, book.kept.get(KEPT)) for book in bench.books())
    return {path for path, draft in found if isinstance(draft, PlanDraft) and draft.is_changed}


def data_files(
    bench: Bench, folder: Path, endings: tuple[str, ...], *, most: int = 200
) -> list[str]:
    """The files of some kinds below the bench's folder, as a plan in `folder` names them;
    what leads outside, and the gateway's audit log, are left out.
    """
    from tacit.workbench.bench import walk

    found: list[str] = []
    for place in sorted(walk(bench.folder)):
        name = place.name.lower()
        if not name.endswith(endings) or name.startswith(OWN_LOG) or len(found) >= most:
            continue
        try:
            bench.inside(place)
        except InputError:
            continue
        found.append(Path(os.path.relpath(place, folder)).as_posix())
    return sorted(found, key=lambda name: (name.startswith(".."), name))
