"""What a plan's text says of its tables, releases and checks, also
where no plan could be loaded from it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tacit.errors import InputError, Mark
from tacit.model.schema import HierarchySpec
from tacit.plan.read.document import Faults, KeyPath, parse
from tacit.plan.read.hierarchies import read_hierarchy
from tacit.plan.read.tree import document, names_in, values_of


def section_of(text: str, section: str, name: str) -> dict[Any, Any]:
    """A table or release as it is written; an InputError where there is none."""
    entries = values_of(text).get(section)
    if not isinstance(entries, dict) or name not in entries:
        raise InputError(
            f"the plan has no {section.removesuffix('s')} {name!r}.", hint="Load the page again."
        )
    entry = entries[name]
    return entry if isinstance(entry, dict) else {}


def refuse_taken(text: str, section: str, name: str) -> None:
    """An InputError where a name stands for something already."""
    entries = values_of(text).get(section)
    if isinstance(entries, dict) and name in entries:
        mark = parse(text).mark(section, name, key=True)
        hint = "Choose another name."
        raise InputError(
            f"there is a {section.removesuffix('s')} {name!r} already.",
            hint=hint,
            mark=Mark("tacit.yaml", mark.line, mark.column),
        )


def releases_of(text: str, table: str) -> list[str]:
    """The names of a table's releases."""
    entries = values_of(text).get("releases")
    if not isinstance(entries, dict):
        return []
    return [
        name for name, one in entries.items() if isinstance(one, dict) and one.get("table") == table
    ]


def check_at(text: str, at: int) -> tuple[str, dict[Any, Any]]:
    """The kind of the check at a place of the list, and what is written about it."""
    checks = values_of(text).get("checks")
    entry = checks[at] if isinstance(checks, list) and 0 <= at < len(checks) else None
    if not isinstance(entry, dict) or len(entry) != 1:
        raise InputError(
            f"the plan has no check number {at + 1} that can be changed here.",
            hint="Load the page again.",
        )
    ((kind, keys),) = entry.items()
    return str(kind), keys if isinstance(keys, dict) else {}


def written_checks(text: str) -> Iterator[tuple[int, Any, dict[Any, Any]]]:
    """The checks that say anything: their place in the list, their
    kind, and what is written about them.
    """
    for at, entry in enumerate(values_of(text).get("checks") or ()):
        for kind, keys in entry.items() if isinstance(entry, dict) else ():
            if isinstance(keys, dict):
                yield at, kind, keys


def checks_of(text: str, release: str) -> list[int]:
    """The places of the checks that ask about this release and no other."""
    return [
        at
        for at, _, keys in written_checks(text)
        if names_in(keys.get("release", keys.get("releases"))) == [release]
    ]


def checks_about(text: str, secret: str) -> list[int]:
    """The places of the checks that ask about this secret."""
    return [at for at, _, keys in written_checks(text) if keys.get("secret") == secret]


def mentions(text: str, release: str) -> Iterator[KeyPath]:
    """Where else the name of a release stands."""
    values = values_of(text)
    yield from named_in(values.get("published"), ("published",), release)
    for at, kind, keys in written_checks(text):
        for key in ("release", "releases", "given"):
            yield from named_in(keys.get(key), ("checks", at, kind, key), release)
    roles = values.get("roles")
    for role, keys in roles.items() if isinstance(roles, dict) else ():
        for key in ("deny", "allow") if isinstance(keys, dict) else ():
            yield from named_in(keys.get(key), ("roles", role, key), release)


def named_in(value: Any, path: KeyPath, name: str) -> Iterator[KeyPath]:
    """The places of a name in a list of names."""
    if value == name:
        yield path
    elif isinstance(value, list):
        yield from ((*path, at) for at, one in enumerate(value) if one == name)


def spec_at(text: str, table: str, column: str) -> HierarchySpec | None:
    """The hierarchy that a column has now, if it can be read."""
    entries = values_of(text).get("tables")
    entry = entries.get(table) if isinstance(entries, dict) else None
    known = entry.get("hierarchies") if isinstance(entry, dict) else None
    if not isinstance(known, dict) or column not in known:
        return None
    return read_hierarchy(
        known[column], ("tables", table, "hierarchies", column), Faults(document(text))
    )
