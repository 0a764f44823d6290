"""Registration: what a plan may say of one kind of release: its checks with their keys."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from tacit.model.release import Release

Kind = Literal[
    "integer",
    "number",
    "epsilon",
    "choice",
    "list",
    "text",
    "file",
    "column",
    "names",
    "groups",
    "any",
]


@dataclass(frozen=True, slots=True)
class CheckKey:
    """A key of a check: what kind of value it holds, with an example of one."""

    name: str
    kind: Kind
    example: str
    choices: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class CheckKind:
    """What a kind of check is about.

    `definition` is the module and class of its definition, below `tacit.families`. `about` are the
    kinds of release it can judge, `many` is whether it judges several together.
    `sensitive` is how many sensitive columns the release's table needs: "any" number, "some"
    (several are judged together), or "one" (the check names it where there are several).
    """

    name: str
    definition: str
    about: tuple[type[Release], ...]
    parameters: tuple[CheckKey, ...]
    many: bool = False
    sensitive: Literal["any", "some", "one"] = "any"

    def keys(self) -> list[str]:
        """Every key that the check takes.

        >>> CheckKind("k-anonymity", "", (), (integer("k"), *NAME)).keys()
        ['release', 'releases', 'k', 'name']
        """
        return ["release", "releases", *(parameter.name for parameter in self.parameters)]

    def example(self) -> str:
        """How the check is written.

        >>> CheckKind("k-anonymity", "", (), (integer("k", "4"), *NAME)).example()
        'k-anonymity: {release: NAME, k: 4}'
        """
        required = [f"{one.name}: {one.example}" for one in self.parameters if one.required]
        return f"{self.name}: {{{', '.join(['release: NAME', *required])}}}"


def integer(name: str, example: str = "2") -> CheckKey:
    """A key that holds a whole number."""
    return CheckKey(name, "integer", example)


def number(name: str, example: str = "0.5") -> CheckKey:
    """A key that holds an exact number."""
    return CheckKey(name, "number", example)


def choice(name: str, *choices: str) -> CheckKey:
    """A key that holds one of a few words."""
    return CheckKey(name, "choice", choices[0], choices)


def optional(*parameters: CheckKey) -> tuple[CheckKey, ...]:
    """Keys that may be left out."""
    return tuple(replace(parameter, required=False) for parameter in parameters)


NAME = optional(CheckKey("name", "text", "my-check"))
# What is published, and who tells whom: every check is asked about what its recipients hold.
OUT = optional(CheckKey("given", "names", "[ledger]"), CheckKey("collude", "groups", "[[a, b]]"))
SECRET = CheckKey("secret", "text", "NAME")


class PlannedRelease(Release):
    """A release that a plan has under a key that its family registered."""

    __slots__ = ()

    @classmethod
    @abstractmethod
    def from_plan(cls, name: str, written: Any, to: tuple[str, ...]) -> Self:
        """The release as a plan writes it; raises InputError where that is wrong."""


@dataclass(frozen=True, slots=True)
class Registration:
    """One kind of release: its checks, the keys of a plan that say what a release is, where these
    are not among those that the plan has by itself, and the module whose FAMILY does the rest.
    """

    name: str
    checks: tuple[CheckKind, ...]
    keys: Mapping[str, type[PlannedRelease]] = field(default_factory=dict)
    module: str = ""  # default: the family of that name in this folder

    @property
    def home(self) -> str:
        """The module whose FAMILY does the rest; it is loaded when it is first asked for."""
        return self.module or f"tacit.families.{self.name}.family"


def joint_check(
    name: str, definition: str, about: tuple[type[Release], ...], *parameters: CheckKey
) -> CheckKind:
    """A check that judges several releases together."""
    return CheckKind(name, definition, about, (*parameters, *OUT, *NAME), many=True)
