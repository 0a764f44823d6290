"""The catalog: every kind of release that is registered, its checks, and their definitions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any

from tacit.errors import ParameterError
from tacit.families.definition import Definition, Risk
from tacit.families.identifiers.registration import REGISTRATION as IDENTIFIERS
from tacit.families.microdata.registration import REGISTRATION as MICRODATA
from tacit.families.overlaps.registration import REGISTRATION as OVERLAPS
from tacit.families.queries.registration import REGISTRATION as QUERIES
from tacit.families.registration import CheckKind, PlannedRelease, Registration
from tacit.families.synthetic.registration import REGISTRATION as SYNTHETIC
from tacit.families.worlds.registration import REGISTRATION as WORLDS

FAMILIES: dict[str, Registration] = {}  # in the order of the docs
CHECKS: dict[str, CheckKind] = {}
FAMILY_OF: dict[str, str] = {}  # the family of each check
RELEASE_KEYS: dict[str, type[PlannedRelease]] = {}  # by the key of a plan that says what it is


class Definitions(MutableMapping[str, type[Definition]]):
    """Definitions by the name of their check; each is loaded when it is first asked for.

    A command that asks one question should not wait for all the others to be read.
    """

    def __init__(self) -> None:
        self._homes: dict[str, str] = {}
        self._loaded: dict[str, type[Definition]] = {}

    def add(self, name: str, home: str) -> None:
        """A definition by its module and class, below `tacit.families` if it is one of ours."""
        self._homes[name] = home

    def __getitem__(self, name: str) -> type[Definition]:
        if name not in self._loaded:
            module, _, kind = self._homes[name].rpartition(".")
            inside = module.split(".")[0] in FAMILIES
            path = f"tacit.families.{module}" if inside else module
            self._loaded[name] = getattr(import_module(path), kind)
        return self._loaded[name]

    def __setitem__(self, name: str, definition: type[Definition]) -> None:
        self._homes.setdefault(name, "")
        self._loaded[name] = definition

    def __delitem__(self, name: str) -> None:
        del self._homes[name]
        self._loaded.pop(name, None)

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, name: object) -> bool:
        return name in self._homes


DEFINITIONS = Definitions()


def register(registration: Registration) -> None:
    """Add a kind of release: plans, checks, the ledger, reports and pages know it from here on."""
    FAMILIES[registration.name] = registration
    RELEASE_KEYS.update(registration.keys)
    for check in registration.checks:
        CHECKS[check.name] = check
        FAMILY_OF[check.name] = registration.name
        DEFINITIONS.add(check.name, check.definition)


for _registration in (MICRODATA, QUERIES, WORLDS, OVERLAPS, SYNTHETIC, IDENTIFIERS):
    register(_registration)


def kinds_of(family: str) -> tuple[str, ...]:
    """The checks of a family.

    >>> kinds_of("worlds")
    ('g-safety', 'e-safety')
    """
    return tuple(check.name for check in FAMILIES[family].checks)


def risks_of(check: str) -> tuple[Risk, ...]:
    """Which of singling out, linkability and inference a check addresses.

    >>> risks_of("k-anonymity"), risks_of("t-closeness")
    (('singling out',), ('inference',))
    """
    return DEFINITIONS[check].place.risks if check in DEFINITIONS else ()


def define(kind: str, parameters: Mapping[str, Any]) -> Definition:
    """The definition that a plan's check asks for; parameters carry the names of the plan file.

    >>> define("k-anonymity", {"k": 4})
    KAnonymity(k=4, missing='own-group')
    """
    named = {key.replace("-", "_"): value for key, value in parameters.items()}
    try:
        return DEFINITIONS[kind](**named)
    except ParameterError as error:  # it says at_most, as Python does
        for key in parameters:
            said = key.replace("-", "_")
            error.message = error.message.replace(said, key)
            error.hint = error.hint and error.hint.replace(said, key)
        raise
