"""An entry under `checks`: which check of the catalog it is, and the values of its keys."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tacit.errors import did_you_mean
from tacit.families.catalog import CHECKS
from tacit.families.registration import CheckKey, CheckKind, Kind
from tacit.plan.plan import Check
from tacit.plan.read import values
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.values import UnfitError, either, quote_value, repeated

OWN_FIELDS = (
    "name",
    "secret",
    "sensitive",
    "given",
    "collude",
    "dictionary",
)  # of Check; the others are parameters


def read_check(entry: object, at: int, faults: Faults) -> Check | None:
    """The check at a position of the list, or None where something is wrong with it.

    >>> from tacit.plan.read.document import parse
    >>> faults = Faults(parse("checks: [k-anonymity: {release: april, k: 4}]"))
    >>> check = read_check({"k-anonymity": {"release": "april", "k": 4}}, 0, faults)
    >>> check.kind, check.releases, check.parameters
    ('k-anonymity', ('april',), {'k': 4})
    """
    kind = _kind(entry, at, faults)
    if kind is None or not isinstance(entry, dict):
        return None
    path = ("checks", at, kind.name)
    written = entry[kind.name]
    if not isinstance(written, dict | None):
        faults.add(
            f"found {quote_value(written)} in {kind.name!r}.", *path, hint=f"Write {kind.example()}"
        )
        return None
    before = len(faults)
    given = _parameters(kind, written or {}, path, faults)
    releases = _releases(kind, written or {}, path, faults)
    if len(faults) > before:
        return None
    own = {key: given.pop(key) for key in OWN_FIELDS if key in given}
    return Check(kind=kind.name, parameters=given, releases=releases, path=path, **own)


def _kind(entry: object, at: int, faults: Faults) -> CheckKind | None:
    """Which check an entry of the list asks for."""
    path = ("checks", at)
    names: list[Any] = list(entry) if isinstance(entry, dict) else [entry]
    known = [name for name in names if isinstance(name, str) and name in CHECKS]
    if isinstance(entry, dict) and len(entry) == 1 and known:
        return CHECKS[known[0]]
    if known and isinstance(entry, dict):
        key = next(name for name in names if name != known[0])
        hint = (
            f"Indent the keys below it deeper than {known[0]}, or write "
            f"{CHECKS[known[0]].example()}"
        )
        faults.add(
            f"{key!r} stands beside {known[0]!r}, not in it.", *path, key, hint=hint, key=True
        )
    elif known:
        faults.add(
            f"{known[0]} has no parameters.", *path, hint=f"Write {CHECKS[known[0]].example()}"
        )
    elif names and isinstance(names[0], str):
        near = did_you_mean(names[0], CHECKS)
        near = "" if near.startswith("Known") else near + " "
        faults.add(
            f"there is no check {names[0]!r}.",
            *path,
            names[0],
            hint=f"{near}Checks: {', '.join(CHECKS)}.",
            key=True,
        )
    else:
        faults.add(
            f"found {quote_value(entry)} in 'checks'.",
            *path,
            hint="Write e.g. k-anonymity: {release: april, k: 4}",
        )
    return None


def _parameters(
    kind: CheckKind, written: dict[Any, Any], path: KeyPath, faults: Faults
) -> dict[str, Any]:
    """The values of a check's keys; unknown and missing keys are noted."""
    known = {parameter.name: parameter for parameter in kind.parameters}
    given = {}
    for key, value in written.items():
        if key in known:
            given[key] = faults.fit((*path, key), READ[known[key].kind], value, known[key])
        elif key not in ("release", "releases"):
            hint = did_you_mean(str(key), kind.keys())
            faults.add(f"{kind.name} takes no {key!r}.", *path, key, hint=hint, key=True)
    missing = [
        name for name, parameter in known.items() if parameter.required and name not in written
    ]
    if "release" not in written and "releases" not in written:
        missing.insert(0, "release")
    if missing:
        needs = either([f"{key!r}" for key in missing], "and")
        faults.add(f"{kind.name} needs {needs}.", *path, hint=f"Write {kind.example()}", key=True)
    return given


def _releases(
    kind: CheckKind, written: dict[Any, Any], path: KeyPath, faults: Faults
) -> tuple[str, ...]:
    """`release: x`, `releases: [x]` and `release: [x]` are the same."""
    keys = [key for key in written if key in ("release", "releases")]
    if not keys:
        return ()
    if len(keys) == 2:
        hint = "Write all names under one of them."
        faults.add(
            "'release' and 'releases' are the same key.", *path, keys[1], hint=hint, key=True
        )
        return ()
    path = (*path, keys[0])
    instead = "the name of a release" + (" or a list of names" if kind.many else "")
    names = faults.fit(path, values.listed, written[keys[0]], instead)
    if names is None:
        return ()
    for at, name in enumerate(names):
        faults.fit((*path, at), values.text, name, "the name of a release")
    if not names:
        faults.add("the list of releases is empty.", *path, hint=f"Write {instead}.")
    elif len(names) > 1 and not kind.many:
        hint = "Ask once for each of them, in checks of their own."
        faults.add(f"{kind.name} judges one release, found {len(names)}.", *path, hint=hint)
    for at, name in repeated(name for name in names if isinstance(name, str)):
        faults.add(f"release {name!r} stands twice.", *path, at, hint="Remove one.")
    return names


def _read_list(value: object, parameter: CheckKey) -> tuple[Any, ...]:
    """Values, of any type: 1 and "1" differ."""
    written = value if isinstance(value, list) else [value]
    if any(one is None or isinstance(one, list | dict) for one in written):
        raise UnfitError(value, f"a list of values, e.g. {parameter.example}")
    return tuple(written)


def _read_names(value: object, parameter: CheckKey) -> tuple[str, ...]:
    instead = f"a list of names, e.g. {parameter.example}"
    return tuple(values.text(name, instead) for name in values.listed(value, instead))


def _read_groups(value: object, parameter: CheckKey) -> tuple[tuple[str, ...], ...]:
    """Clients who share what they get: a list of lists, each of two or more."""
    instead = f"a list of groups of clients, e.g. {parameter.example}"
    groups = values.items(value, instead)
    for group in groups:
        if not isinstance(group, list) or len(group) < 2 or repeated(map(str, group)):
            raise UnfitError(value if len(groups) > 1 else group, instead)
    return tuple(tuple(values.text(name, instead) for name in group) for group in groups)


READ: dict[Kind, Callable[[object, CheckKey], Any]] = {
    "integer": lambda value, one: values.whole(value, f"a whole number, e.g. {one.example}"),
    "number": lambda value, one: values.number(value),
    "epsilon": lambda value, one: values.epsilon(value),
    "choice": lambda value, one: values.choice(value, one.choices),
    "list": _read_list,
    "text": lambda value, one: values.text(value, f"a name, e.g. {one.example}"),
    "file": lambda value, one: values.text(value, f"the name of a file, e.g. {one.example}"),
    "column": lambda value, one: values.text(value, "the name of a column"),
    "names": _read_names,
    "groups": _read_groups,
    "any": lambda value, one: value,
}
