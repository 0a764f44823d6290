"""Policy packs: checks that a document asks for, with what they cover of it and what not."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit.errors import ParameterError, PlanError, TacitError, did_you_mean
from tacit.plan.plan import Check
from tacit.plan.read import values
from tacit.plan.read.checks import read_check
from tacit.plan.read.document import Document, Faults, parse, read_text

INCLUDE = "include"
EXAMPLE = "include: {policy: small-groups-10, release: april}"
OWN_NAME = f"Give one of the packs its own name: {INCLUDE}: {{..., name: april}}"
KEYS = ("policy", "release", "releases", "name")
PACK_KEYS = ("title", "source", "seen", "checks", "covers", "not-covered")
CLAUSE_KEYS = ("clause", "by", "how")


@dataclass(frozen=True, slots=True)
class PolicyClause:
    """A clause of a document, the check that covers it, and how."""

    clause: str
    by: str
    how: str


@dataclass(frozen=True, slots=True)
class PolicyPack:
    """A pack. `seen` says what of the source its author could read; `checks` are entries of a
    plan without their release.
    """

    name: str
    title: str
    source: str
    seen: str
    checks: tuple[Any, ...]
    covers: tuple[PolicyClause, ...]
    not_covered: tuple[str, ...]
    document: Document

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit policies --json` lists."""
        return {
            "policy": self.name,
            "title": self.title,
            "source": self.source,
            "seen": self.seen,
            "checks": [check_text(one) for one in self.checks],
            "covers": [{"clause": c.clause, "by": c.by, "how": c.how} for c in self.covers],
            "not_covered": list(self.not_covered),
        }


def check_text(entry: Mapping[str, Any]) -> str:
    """A check of a pack in a line.

    >>> check_text({"k-anonymity": {"name": "cells", "k": 11}})
    'cells: k-anonymity, k 11'
    """
    ((kind, keys),) = entry.items()
    given = "".join(f", {key} {value}" for key, value in keys.items() if key != "name")
    return f"{keys['name']}: {kind}{given}"


def built_in() -> list[str]:
    """The names of the packs that come with Tacit."""
    found = (one.name for one in files("tacit.plan").joinpath("policies").iterdir())
    return sorted(name.removesuffix(".yaml") for name in found if name.endswith(".yaml"))


def load_policy(word: str, folder: Path = Path()) -> PolicyPack:
    """A pack by its name, or from a file that is relative to a folder.

    >>> load_policy("us-cms-11").checks
    ({'k-anonymity': {'name': 'cells', 'k': 11}},)
    """
    if word.endswith((".yaml", ".yml")):
        hint = "Paths are relative to the plan."
        text = read_text(folder / word, word, what="policy", hint=hint)
        return read_policy(Path(word).stem, parse(text, word, policy=True))
    if word not in built_in():
        near = did_you_mean(word, built_in())
        raise PlanError(f"there is no policy {word!r}.", hint=f"{near} Own packs end in .yaml.")
    text = files("tacit.plan").joinpath("policies", f"{word}.yaml").read_text("utf-8")
    return read_policy(word, parse(text, f"{word}.yaml"))


def read_policy(name: str, document: Document) -> PolicyPack:
    """A pack from its file; what is wrong with it is raised together, each with its place."""
    faults = Faults(document)
    found = document.values(faults)
    for key in found:
        if key not in PACK_KEYS:
            hint = did_you_mean(str(key), PACK_KEYS)
            faults.add(f"unknown key {key!r}.", key, hint=hint, key=True)
    for key in PACK_KEYS:
        if key not in found:
            faults.add(f"a policy needs the key {key!r}.", hint=f"Add {key}: ...")
    faults.raise_all()
    texts = {
        key: faults.fit((key,), values.text, found[key], "a text in quotes")
        for key in ("title", "source", "seen")
    }
    checks = faults.fit(("checks",), values.items, found["checks"], "a list of checks") or []
    names = [_name(entry, at, faults) for at, entry in enumerate(checks)]
    for at, twice in values.repeated(one for one in names if one):
        faults.add(f"two checks are named {twice!r}.", "checks", at, hint="Rename one of them.")
    for at, entry in enumerate(checks):
        if names[at]:
            _refuse(entry, at, faults)
    covers = tuple(_clauses(found["covers"], names, faults))
    left = faults.fit(
        ("not-covered",), values.listed, found["not-covered"], "a list of what is not covered"
    )
    for at, one in enumerate(left or ()):
        faults.fit(("not-covered", at), values.text, one, "a text in quotes")
    if not checks:
        faults.add("the policy asks nothing.", "checks", hint="Write a list of checks.")
    faults.raise_all()
    return PolicyPack(
        name,
        texts["title"] or "",
        texts["source"] or "",
        texts["seen"] or "",
        tuple(checks),
        covers,
        tuple(left or ()),
        document,
    )


def _name(entry: object, at: int, faults: Faults) -> str | None:
    """The name of a check of a pack: it needs one, and leaves the release to the plan."""
    keys = next(iter(entry.values())) if isinstance(entry, dict) and len(entry) == 1 else None
    if not isinstance(keys, dict) or "name" not in keys:
        hint = "Write e.g. k-anonymity: {name: groups, k: 10}"
        faults.add("a check of a policy needs a kind and a name.", "checks", at, hint=hint)
        return None
    for key in ("release", "releases"):
        if key in keys:
            hint = "The plan says it, where it includes the policy."
            faults.add(f"a check of a policy has no {key!r}.", "checks", at, hint=hint)
    return faults.fit(("checks", at), values.text, keys["name"], "a name")


def _refuse(entry: Mapping[str, Any], at: int, faults: Faults) -> None:
    """What is wrong with a check of a pack, whatever release it will be asked of."""
    from tacit.families.catalog import define

    ((kind, keys),) = entry.items()
    check = read_check({kind: {**keys, "release": "any"}}, at, faults)
    try:
        if check is not None:
            define(check.kind, check.parameters)
    except ParameterError as error:
        first = (error.parameter or "").replace("_", "-").partition(".")[0]
        faults.take(error.at(faults.document.mark("checks", at, kind, first)))


def _clauses(written: object, names: list[str | None], faults: Faults) -> Iterator[PolicyClause]:
    """What a pack covers; every clause names one of its checks."""
    hint = "Write a list of {clause: ..., by: NAME OF A CHECK, how: ...}."
    for at, one in enumerate(written if isinstance(written, list) else [written]):
        fits = isinstance(one, dict) and set(one) == set(CLAUSE_KEYS)
        if not fits or not all(isinstance(text, str) for text in one.values()):
            faults.add("found something else in 'covers'.", "covers", at, hint=hint)
        elif one["by"] not in names:
            near = did_you_mean(one["by"], [name for name in names if name])
            message = f"no check of the policy is named {one['by']!r}."
            faults.add(message, "covers", at, "by", hint=near)
        else:
            yield PolicyClause(one["clause"], one["by"], one["how"])


def is_include(entry: object) -> bool:
    """Does an entry of `checks` stand for those of a policy?"""
    return isinstance(entry, dict) and list(entry) == [INCLUDE]


def prefix_of(keys: Mapping[str, Any]) -> str:
    """What comes before the names of the checks of an included policy.

    >>> prefix_of({"policy": "rules/house.yaml"}), prefix_of({"policy": "wp216", "name": "april"})
    ('house', 'april')
    """
    return str(keys.get("name", Path(keys["policy"]).stem))


def included(entry: Mapping[str, Any], at: int, folder: Path, faults: Faults) -> list[Check]:
    """The checks of the policy that an entry includes, each named after the policy."""
    path, keys = ("checks", at, INCLUDE), entry[INCLUDE]
    if not isinstance(keys, dict):
        faults.add(
            f"found {values.quote_value(keys)} in {INCLUDE!r}.", *path, hint=f"Write {EXAMPLE}"
        )
        return []
    before = len(faults)
    for key in keys:
        if key not in KEYS:
            hint = did_you_mean(str(key), KEYS)
            faults.add(f"{INCLUDE} takes no {key!r}.", *path, key, hint=hint, key=True)
    if "policy" not in keys or not {"release", "releases"} & set(keys):
        faults.add(f"{INCLUDE} needs 'policy' and 'release'.", *path, hint=f"Write {EXAMPLE}")
    word = faults.fit((*path, "policy"), values.text, keys.get("policy", "-"), "a policy's name")
    faults.fit((*path, "name"), values.text, keys.get("name", "-"), "a name")
    if len(faults) > before or word is None:
        return []
    try:
        policy = load_policy(word, folder)
    except TacitError as error:
        for one in error:
            if one.mark is not None and one.mark.line:  # a place in the pack's own file
                faults.take(one)
            else:
                faults.add(one.message, *path, "policy", hint=one.hint)
        return []
    released = {key: keys[key] for key in ("release", "releases") if key in keys}
    return list(_checks(policy, prefix_of(keys), released, path, faults))


def _checks(
    policy: PolicyPack, prefix: str, released: Mapping[str, Any], path: Any, faults: Faults
) -> Iterator[Check]:
    """The pack by itself was read before: what is wrong now is what the entry says of releases."""
    own = Faults(policy.document)
    for number, entry in enumerate(policy.checks):
        ((kind, keys),) = entry.items()
        check = read_check({kind: {**keys, **released}}, number, own)
        if check is not None:
            # A step that is not in the file: places are those of the entry, checks stay apart.
            place = (*path, f"#{number + 1}")
            yield replace(check, name=f"{prefix}/{check.name}", path=place)
    for error in own.found:
        faults.add(error.message, *path, next(iter(released)), hint=error.hint)
