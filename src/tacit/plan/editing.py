"""Edit a plan's text by one wish at a time: comments, order and spelling of everything else stay.

A wish is a value that says what should be different. It takes its consequences with it: a column that is
no quasi-identifier any more has no level, and a release that is gone is asked about by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import reduce
from pathlib import Path
from typing import Any, Literal, Protocol

from tacit.errors import InputError, Mark
from tacit.model.numbers import plain as shown_number
from tacit.model.schema import (
    CsvHierarchy,
    DateHierarchy,
    HierarchySpec,
    MaskHierarchy,
    RangeHierarchy,
)
from tacit.plan import splicing
from tacit.plan.document import Faults, parse
from tacit.plan.hierarchies import height, read_hierarchy
from tacit.plan.load import read_plan
from tacit.plan.plan import Plan
from tacit.plan.tables import ROLES

RoleKey = Literal["identifiers", "quasi-identifiers", "sensitive", "insensitive"]
ORDER = ("file", "columns", "key", "person", *ROLES)  # a new key of a table comes behind the last of those before it
LEVELS = ("generalization", "at-most", "weights")  # of a release: they are about quasi-identifiers


class Wish(Protocol):
    """Something that should be different in a plan."""

    def applied(self, text: str) -> str:
        """The text with the wish fulfilled, whether or not a plan with that text can be loaded."""
        ...


def edited(text: str, *wishes: Wish, file: str = "tacit.yaml", folder: Path = Path(".")) -> str:
    """The text after the wishes; the PlanError with its place where no plan could have it.

    `folder` is where the plan lies: its queries in .sql files are read from there.

    >>> text = "version: 1\\ntables:\\n  t: {sensitive: [flu], quasi-identifiers: [zip]}  # mine\\n"
    >>> print(edited(text, SetRole("t", "zip", "insensitive")).splitlines()[2])
      t: {sensitive: [flu], quasi-identifiers: [], insensitive: [zip]}  # mine
    """
    found = rewritten(text, *wishes)
    loaded(found, file=file, folder=folder)
    return found


def rewritten(text: str, *wishes: Wish) -> str:
    """The text after the wishes, which may still have errors: they can be shown at their lines."""
    return reduce(lambda now, wish: wish.applied(now), wishes, text)


def loaded(text: str, *, file: str = "tacit.yaml", folder: Path = Path(".")) -> Plan:
    """The plan that a text is; a TacitError that says what is wrong with it, and where."""
    return read_plan(parse(text, file), folder)


def spec_value(spec: HierarchySpec) -> Any:
    """A hierarchy as the plan writes it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> spec_value(MaskHierarchy("right")), spec_value(CsvHierarchy("zip.csv")), spec_value(FlatHierarchy())
    ({'mask': 'right'}, 'zip.csv', '*')
    """
    if isinstance(spec, CsvHierarchy):
        return spec.file
    if isinstance(spec, RangeHierarchy):
        return {"ranges": list(spec.widths)}
    if isinstance(spec, DateHierarchy):
        return {"dates": list(spec.units)}
    return {"mask": spec.side} if isinstance(spec, MaskHierarchy) else "*"


@dataclass(frozen=True, slots=True)
class AddTable:
    """A table that the plan did not have."""

    name: str
    keys: Mapping[str, Any] = field(default_factory=dict)

    def applied(self, text: str) -> str:
        """The text with the table. Comments at the end of the last one stay with that one."""
        refuse_taken(text, "tables", self.name, "table")
        tables = splicing.find(splicing.read(text), ("tables",))
        last = tables.value[-1][0] if tables and tables.kind == "mapping" and tables.value else None
        _, end, _ = table_span(text, last.value) if last else (0, 0, 0)
        before = text[splicing.line_start(text, last.start) : last.start] if last else ""
        if not end or before.strip():
            return splicing.put(text, ("tables", self.name), self.keys, after=("version", "source", "ledger"))
        return splicing.insert_lines(text, end - 1, [before + line for line in splicing.lines_of({self.name: self.keys})])


@dataclass(frozen=True, slots=True)
class SetRole:
    """A column with another role, or with none (None: it is not released).

    What was written behind the column goes with it. Levels are taken away from what is no
    quasi-identifier any more, and settings about sensitive values from what is not sensitive any more.
    """

    table: str
    column: str
    role: RoleKey | None

    def applied(self, text: str) -> str:
        """The text with the column under its role and no other."""
        entry = section_of(text, "tables", self.table)
        now = [role for role in ROLES if self.column in names_in(entry.get(role))]
        if now == ([self.role] if self.role else []):
            return text
        is_block = self.writes_blocks(text)
        text, note = self.released(text)
        if self.role:
            text, remark = uncommented(text, self.table, self.column)
            after = ORDER[: ORDER.index(self.role)]
            path = ("tables", self.table, self.role)
            text = splicing.append(text, path, self.column, note=note or remark, in_lines=is_block, after=after)
            if (note or remark) and not is_in_lines(text, path):
                text = commented(text, self.table, self.column, note or remark)
        elif note:
            text = commented(text, self.table, self.column, note)
        if "quasi-identifiers" in now and self.role != "quasi-identifiers":
            text = self.without_levels(text)
        if "sensitive" in now and self.role != "sensitive":
            text = self.without_spelling(text)
        return text

    def writes_blocks(self, text: str) -> bool:
        """Whether the roles of this table are written with each column on a line of its own."""
        return any(is_in_lines(text, ("tables", self.table, role)) for role in ROLES)

    def released(self, text: str) -> tuple[str, str]:
        """The text with the column under no role, and what was written behind it."""
        note = ""
        for role in ROLES:
            text, said = without_name(text, ("tables", self.table, role), self.column)
            note = note or said
        return text, note

    def without_levels(self, text: str) -> str:
        """The releases of the table without levels and weights of the column."""
        for name in releases_of(text, self.table):
            for key in LEVELS:
                text = splicing.drop(text, ("releases", name, key, self.column))
        return text

    def without_spelling(self, text: str) -> str:
        """The table without what only sensitive columns have."""
        path = ("tables", self.table)
        for key in ("merge-spelling", "as-written"):
            text, _ = without_name(text, (*path, key), self.column)
        return splicing.drop(text, (*path, "unknown", self.column))


@dataclass(frozen=True, slots=True)
class SetPerson:
    """Whether a column is one of those that tell people apart."""

    table: str
    column: str
    on: bool = True

    def applied(self, text: str) -> str:
        """The text with or without the column under `person`."""
        path = ("tables", self.table, "person")
        has = self.column in names_in(section_of(text, "tables", self.table).get("person"))
        if has == self.on:
            return text
        if self.on:
            return splicing.append(text, path, self.column, after=ORDER[: ORDER.index("person")])
        return without_name(text, path, self.column)[0]


@dataclass(frozen=True, slots=True)
class SetHierarchy:
    """Another way for a column's values to become coarser, or none.

    Levels that it does not have become its highest one. Comments that described the one before describe it.
    """

    table: str
    column: str
    spec: HierarchySpec | None

    def applied(self, text: str) -> str:
        """The text with that hierarchy."""
        section_of(text, "tables", self.table)
        path = ("tables", self.table, "hierarchies", self.column)
        before = spec_at(text, self.table, self.column)
        if self.spec is None:
            if splicing.find(splicing.read(text), path) is None:
                return text
            return self.with_levels(splicing.drop(text, path), before, 0)
        notes = ((described(before),), described(self.spec)) if before else None
        text = splicing.put(text, path, spec_value(self.spec), after=ORDER, notes=notes)
        top = height(self.spec)
        return self.with_levels(text, before, top)

    def with_levels(self, text: str, before: HierarchySpec | None, top: int | None) -> str:
        """The releases of the table with no level of this column above the top one."""
        for name in releases_of(text, self.table):
            for key in ("generalization", "at-most"):
                levels = section_of(text, "releases", name).get(key)
                if not isinstance(levels, Mapping) or self.column not in levels:
                    continue
                path = ("releases", name, key, self.column)
                level = levels[self.column]
                if self.spec is None or not isinstance(level, int):
                    text = splicing.drop(text, path)
                    continue
                now = level if top is None else min(level, top)
                text = splicing.put(text, path, now)
                text = splicing.renoted(text, path, (level_notes(before, level), level_note(self.spec, now)))
        return text


@dataclass(frozen=True, slots=True)
class AddRelease:
    """A release that the plan did not have: `keys` as in the plan, e.g. table and generalization, or query."""

    name: str
    keys: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with the release."""
        refuse_taken(text, "releases", self.name, "release")
        after = ("version", "source", "ledger", "tables", "constraints", "secrets")
        return splicing.put(text, ("releases", self.name), self.keys, after=after)


@dataclass(frozen=True, slots=True)
class AddSecret:
    """A secret that the plan did not have: the query whose answer nobody may learn."""

    name: str
    query: str

    def applied(self, text: str) -> str:
        """The text with the secret."""
        refuse_taken(text, "secrets", self.name, "secret")
        after = ("version", "source", "ledger", "tables", "constraints")
        return splicing.put(text, ("secrets", self.name), self.query, after=after)


@dataclass(frozen=True, slots=True)
class AddRole:
    """A role at the gateway that the plan did not have: what it is told if nothing else is said, and what is denied and allowed to it."""

    name: str
    default: Literal["allow", "deny"] = "deny"
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """The text with the role."""
        refuse_taken(text, "roles", self.name, "role")
        lists = {"deny": list(self.deny), "allow": list(self.allow)}
        keys = {"default": self.default, **{key: names for key, names in lists.items() if names}}
        return splicing.put(text, ("roles", self.name), keys)


@dataclass(frozen=True, slots=True)
class SetRelease:
    """One key of a release: its query, whom it goes to, how it is anonymized; None takes the key away."""

    name: str
    key: str
    value: Any

    def applied(self, text: str) -> str:
        """The text with that key."""
        section_of(text, "releases", self.name)
        path = ("releases", self.name, self.key)
        return splicing.drop(text, path) if self.value is None else splicing.put(text, path, self.value)


@dataclass(frozen=True, slots=True)
class SetSynthetic:
    """The keys of a synthetic release: these and no others. What is said already stays as it is written."""

    name: str
    keys: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with those keys.

        >>> from decimal import Decimal
        >>> text = "releases:\\n  map: {table: jobs, synthetic: {group: to, value: from, accept: 4, epsilon: 1, delta: 1e-5}}  # mine\\n"
        >>> print(SetSynthetic("map", {"group": "to", "value": "from", "epsilon": 2, "delta": Decimal("1e-5")}).applied(text).splitlines()[1])
          map: {table: jobs, synthetic: {group: to, value: from, epsilon: 2, delta: 1e-5}}  # mine
        """
        section_of(text, "releases", self.name)
        return with_keys(text, ("releases", self.name, "synthetic"), self.keys)


@dataclass(frozen=True, slots=True)
class SetDomain:
    """The values that a column can have, in the order of the list."""

    table: str
    column: str
    values: tuple[Any, ...]

    def applied(self, text: str) -> str:
        """The text with that list."""
        section_of(text, "tables", self.table)
        return splicing.put(text, ("tables", self.table, "domains", self.column), list(self.values), after=ORDER)


@dataclass(frozen=True, slots=True)
class SetLevels:
    """How coarse a release is: a level for each column. Columns that are not named are as they are."""

    name: str
    levels: Mapping[str, int]

    def applied(self, text: str) -> str:
        """The text with those levels and no others."""
        entry = section_of(text, "releases", self.name)
        now = entry.get("generalization")
        path = ("releases", self.name, "generalization")
        if not isinstance(now, Mapping):
            return splicing.put(text, path, dict(self.levels), after=("table",)) if self.levels else text
        for column in now:
            if column not in self.levels:
                text = splicing.drop(text, (*path, column))
        for column, level in self.levels.items():
            spec = spec_at(text, str(entry.get("table")), column)
            notes = (level_notes(spec, now.get(column)), level_note(spec, level)) if spec else None
            text = splicing.put(text, (*path, column), level, notes=notes)
        return text


@dataclass(frozen=True, slots=True)
class RenameRelease:
    """Another name for a release, also where checks, roles and the list of published ones speak of it."""

    name: str
    to: str

    def applied(self, text: str) -> str:
        """The text with the new name."""
        section_of(text, "releases", self.name)
        if self.to == self.name:
            return text
        refuse_taken(text, "releases", self.to, "release")
        for path in mentions(text, self.name):
            text = splicing.put(text, path, self.to) if isinstance(path[-1], str) else put_item(text, path, self.to)
        return splicing.rename(text, ("releases", self.name), self.to)


@dataclass(frozen=True, slots=True)
class RemoveRelease:
    """No such release. Checks of it alone go with it, and so does its name everywhere else."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the release."""
        section_of(text, "releases", self.name)
        for at in reversed(list(checks_of(text, self.name))):
            text = splicing.remove(text, ("checks",), at)[0]
        for path in reversed(list(mentions(text, self.name))):
            if isinstance(path[-1], int):
                text = splicing.remove(text, path[:-1], path[-1])[0]
            else:
                text = splicing.drop(text, path)
        return splicing.drop(text, ("releases", self.name))


@dataclass(frozen=True, slots=True)
class RemoveSecret:
    """No such secret. Checks about it go with it, and so does its name where roles deny it."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the secret."""
        values = values_of(text)
        if self.name not in (values.get("secrets") or {}):
            raise InputError(f"the plan has no secret {self.name!r}.", hint="Load the page again.")
        for at, entry in reversed(list(enumerate(values.get("checks") or ()))):
            if any(isinstance(keys, dict) and keys.get("secret") == self.name for keys in (entry.values() if isinstance(entry, dict) else ())):
                text = splicing.remove(text, ("checks",), at)[0]
        for role in values.get("roles") or {}:
            for key in ("deny", "allow"):
                text, _ = without_name(text, ("roles", role, key), self.name)
        return splicing.drop(text, ("secrets", self.name))


@dataclass(frozen=True, slots=True)
class RemoveRole:
    """No such role at the gateway."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the role."""
        section_of(text, "roles", self.name)
        return splicing.drop(text, ("roles", self.name))


@dataclass(frozen=True, slots=True)
class AddCheck:
    """One more question: a kind of the catalog with its parameters, `release` among them."""

    kind: str
    parameters: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with the check behind the others."""
        root = splicing.read(text)
        return splicing.append(text, ("checks",), {self.kind: dict(self.parameters)}, in_lines=not root.flow)


@dataclass(frozen=True, slots=True)
class SetCheck:
    """Other parameters for the check at a place of the list; None takes a parameter away."""

    at: int
    parameters: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with those parameters."""
        kind, now = check_at(text, self.at)
        path = ("checks", self.at, kind)
        for name, value in self.parameters.items():
            if value is not None:
                text = splicing.put(text, (*path, name), value)
            elif name in now:
                text = splicing.drop(text, (*path, name))
        return renoted_check(text, self.at, asked(kind, now))


@dataclass(frozen=True, slots=True)
class RemoveCheck:
    """One question less."""

    at: int

    def applied(self, text: str) -> str:
        """The text without the check at that place of the list."""
        check_at(text, self.at)
        return splicing.remove(text, ("checks",), self.at)[0]


# What stands where


def values_of(text: str) -> dict[Any, Any]:
    """The plan as dicts and lists; what cannot be read is left out."""
    return splicing.plain(text)


def section_of(text: str, section: str, name: str) -> dict[Any, Any]:
    """A table or release as it is written; an InputError where there is none."""
    entries = values_of(text).get(section)
    if not isinstance(entries, dict) or name not in entries:
        raise InputError(f"the plan has no {section.removesuffix('s')} {name!r}.", hint="Load the page again.")
    entry = entries[name]
    return entry if isinstance(entry, dict) else {}


def with_keys(text: str, path: tuple[str | int, ...], keys: Mapping[str, Any]) -> str:
    """A mapping with these keys and no others; a mapping in it that was one before is changed key by key too, so that its comments stay."""
    now: Any = values_of(text)
    for step in path:
        now = now.get(step) if isinstance(now, dict) else None
    if not isinstance(now, dict) or not now or not all(isinstance(key, str) for key in (*now, *keys)):
        return splicing.put(text, path, dict(keys))
    for key, value in keys.items():
        inner = (*path, key)
        text = with_keys(text, inner, value) if isinstance(value, Mapping) else splicing.put(text, inner, value)
    for key in now:
        if key not in keys:
            text = splicing.drop(text, (*path, key))
    return text


def refuse_taken(text: str, section: str, name: str, what: str) -> None:
    """A name that stands for something already."""
    entries = values_of(text).get(section)
    if isinstance(entries, dict) and name in entries:
        mark = parse(text).mark(section, name, key=True)
        hint = "Choose another name."
        raise InputError(f"there is a {what} {name!r} already.", hint=hint, mark=Mark("tacit.yaml", mark.line, mark.column))


def names_in(value: Any) -> list[Any]:
    """A list of names; one text alone stands for a list of one."""
    return [value] if isinstance(value, str) else value if isinstance(value, list) else []


def without_name(text: str, path: tuple[str | int, ...], name: str) -> tuple[str, str]:
    """A list of names without one of them, and the comment that stood behind it."""
    note = ""
    while (node := splicing.find(splicing.read(text), path)) is not None:
        if node.kind == "alias":
            if name in names_in(reduce(lambda there, step: there[step], path, values_of(text))):
                raise splicing.by_hand()
            break
        if node.kind == "scalar":
            return (splicing.put(text, path, []), note) if node.value == name else (text, note)
        places = [at for at, one in enumerate(node.value) if one.kind == "scalar" and one.value == name]
        if node.kind != "list" or not places:
            break
        text, said = splicing.remove(text, path, places[0])
        note = note or said
    return text, note


def is_in_lines(text: str, path: tuple[str | int, ...]) -> bool:
    """Whether a list has each item on a line of its own."""
    node = splicing.find(splicing.read(text), path)
    return node is not None and node.kind == "list" and not node.flow


def table_span(text: str, table: str) -> tuple[int, int, int]:
    """Where a table's entry begins and ends, with the comments behind it, and how far its keys are indented."""
    found = splicing.trail(splicing.read(text), ("tables", table))
    key, node = found[-1]
    if node.kind != "mapping" or node.flow or key is None or len(found) < 3:
        return 0, 0, 0
    indent = splicing.column_of(text, node.value[0][0].start)
    end = splicing.line_after(text, node.end)
    while (line := text[end : splicing.line_after(text, end)]).strip().startswith("#") and line.startswith(" " * indent):
        end = splicing.line_after(text, end)
    return key.end, end, indent


def commented(text: str, table: str, column: str, note: str) -> str:
    """A column that has no place any more, as a comment at the end of its table: ready to be taken back."""
    _, end, indent = table_span(text, table)
    if not end:
        return text
    return splicing.insert_lines(text, end - 1, [f"{' ' * indent}# - {splicing.scalar(column)}  # {note}"])


def uncommented(text: str, table: str, column: str) -> tuple[str, str]:
    """The text without the comment that keeps a column, and what was written behind it."""
    start, end, _ = table_span(text, table)
    kept = re.compile(rf"^[ ]*#[ ]*- {re.escape(splicing.scalar(column))}[ ]*(?:#[ ]*([^\n\r]*))?(?:\r\n|\n|\Z)", re.MULTILINE)
    found = kept.search(text, start, end)
    if found is None:
        return text, ""
    return text[: found.start()] + text[found.end() :], (found[1] or "").strip()


def releases_of(text: str, table: str) -> list[str]:
    """The names of a table's releases."""
    entries = values_of(text).get("releases")
    if not isinstance(entries, dict):
        return []
    return [name for name, one in entries.items() if isinstance(one, dict) and one.get("table") == table]


def check_at(text: str, at: int) -> tuple[str, dict[Any, Any]]:
    """The kind of the check at a place of the list, and what is written about it."""
    checks = values_of(text).get("checks")
    entry = checks[at] if isinstance(checks, list) and 0 <= at < len(checks) else None
    if not isinstance(entry, dict) or len(entry) != 1:
        raise InputError(f"the plan has no check number {at + 1} that can be changed here.", hint="Load the page again.")
    ((kind, keys),) = entry.items()
    return str(kind), keys if isinstance(keys, dict) else {}


def checks_of(text: str, release: str) -> Iterator[int]:
    """The places of the checks that ask about this release and no other."""
    for at, entry in enumerate(values_of(text).get("checks") or ()):
        for keys in entry.values() if isinstance(entry, dict) else ():
            if isinstance(keys, dict) and names_in(keys.get("release", keys.get("releases"))) == [release]:
                yield at


def mentions(text: str, release: str) -> Iterator[tuple[str | int, ...]]:
    """Where else the name of a release stands."""
    values = values_of(text)
    yield from named_in(values.get("published"), ("published",), release)
    for at, entry in enumerate(values.get("checks") or ()):
        for kind, keys in entry.items() if isinstance(entry, dict) else ():
            for key in ("release", "releases", "given"):
                if isinstance(keys, dict):
                    yield from named_in(keys.get(key), ("checks", at, kind, key), release)
    roles = values.get("roles")
    for role, keys in roles.items() if isinstance(roles, dict) else ():
        for key in ("deny", "allow"):
            if isinstance(keys, dict):
                yield from named_in(keys.get(key), ("roles", role, key), release)


def named_in(value: Any, path: tuple[str | int, ...], name: str) -> Iterator[tuple[str | int, ...]]:
    """The places of a name in a list of names."""
    if value == name:
        yield path
    elif isinstance(value, list):
        yield from ((*path, at) for at, one in enumerate(value) if one == name)


def put_item(text: str, path: tuple[str | int, ...], name: str) -> str:
    """Another text in the place of an item."""
    node = splicing.find(splicing.read(text), path)
    if node is None or node.kind != "scalar":
        raise splicing.by_hand()
    return text[: node.start] + splicing.scalar(name) + text[node.end :]


def described(spec: HierarchySpec) -> str:
    """A hierarchy in words, as the comment behind it says it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> described(RangeHierarchy((5, 10))), described(DateHierarchy(("month", "year"))), described(FlatHierarchy())
    ('bands 5, 10 wide, then *', 'month, year, then *', 'one step: suppressed')
    """
    match spec:
        case RangeHierarchy(widths):
            return f"bands {', '.join(map(shown_number, widths))} wide, then *"
        case DateHierarchy(units):
            return f"{', '.join(units)}, then *"
        case MaskHierarchy(side):
            return f"the {'last' if side == 'right' else 'first'} characters hidden one by one"
        case CsvHierarchy(file):
            return f"the levels in {file}"
    return "one step: suppressed"


def level_note(spec: HierarchySpec, level: int) -> str:
    """A level in words, as the comment behind it says it.

    >>> from tacit.model.schema import FlatHierarchy
    >>> level_note(RangeHierarchy((5, 10)), 2), level_note(DateHierarchy(("month", "year")), 1), level_note(FlatHierarchy(), 1)
    ('bands 10 wide', 'the month', 'suppressed')
    """
    if level == 0:
        return "as it is"
    if level == height(spec):
        return "suppressed"
    match spec:
        case RangeHierarchy(widths) if level <= len(widths):
            return f"bands {shown_number(widths[level - 1])} wide"
        case DateHierarchy(units) if level <= len(units):
            return f"the {units[level - 1]}"
        case MaskHierarchy():
            return f"{level} character{'s' * (level != 1)} hidden"
    return f"level {level}"


def level_notes(spec: HierarchySpec | None, level: Any) -> tuple[str, ...]:
    """How a comment about a level may begin."""
    if spec is None or not isinstance(level, int):
        return ()
    longest = (f"{level} of {length} characters hidden" for length in range(level, 13)) if isinstance(spec, MaskHierarchy) else ()
    return level_note(spec, level), *longest


def spec_at(text: str, table: str, column: str) -> HierarchySpec | None:
    """The hierarchy that a column has now, if it can be read."""
    entries = values_of(text).get("tables")
    entry = entries.get(table) if isinstance(entries, dict) else None
    known = entry.get("hierarchies") if isinstance(entry, dict) else None
    if not isinstance(known, dict) or column not in known:
        return None
    return read_hierarchy(known[column], ("tables", table, "hierarchies", column), Faults(splicing.document(text)))


def asked(kind: str, parameters: Mapping[str, Any]) -> str:
    """What a check asks for, as the comment behind it says it; empty where it has none.

    >>> asked("k-anonymity", {"k": 5}), asked("l-diversity", {"kind": "distinct", "l": 3})
    ('nobody is one of fewer than 5 people', '3 different values in every group')
    """
    if kind == "k-anonymity":
        return f"nobody is one of fewer than {parameters.get('k')} people"
    if kind == "l-diversity" and parameters.get("kind") == "distinct":
        return f"{parameters.get('l')} different values in every group"
    return ""


def renoted_check(text: str, at: int, before: str) -> str:
    """The comment behind a check, where it said what was asked before."""
    kind, now = check_at(text, at)
    return splicing.renoted(text, ("checks", at), ((before,), asked(kind, now))) if before and asked(kind, now) else text
