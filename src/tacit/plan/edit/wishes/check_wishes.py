"""Wishes about what is asked and told: checks, secrets, roles at the gateway."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tacit.plan.edit import splicing
from tacit.plan.edit.lookup import check_at, checks_about, refuse_taken, section_of
from tacit.plan.edit.notes import check_comment
from tacit.plan.read import tree


@dataclass(frozen=True, slots=True)
class AddCheck:
    """One more question: a kind of the catalog with its parameters, `release` among them."""

    kind: str
    parameters: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with the check behind the others."""
        root = tree.read(text)
        return splicing.append(
            text, ("checks",), {self.kind: dict(self.parameters)}, in_lines=not root.flow
        )


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
        return renoted_check(text, self.at, check_comment(kind, now))


@dataclass(frozen=True, slots=True)
class RemoveCheck:
    """One question less."""

    at: int

    def applied(self, text: str) -> str:
        """The text without the check at that place of the list."""
        check_at(text, self.at)
        return splicing.remove(text, ("checks",), self.at)[0]


@dataclass(frozen=True, slots=True)
class AddSecret:
    """A secret that the plan did not have: the query whose answer nobody may learn."""

    name: str
    query: str

    def applied(self, text: str) -> str:
        """The text with the secret."""
        refuse_taken(text, "secrets", self.name)
        after = ("version", "source", "source-keys", "ledger", "tables", "constraints")
        return splicing.put(text, ("secrets", self.name), self.query, after=after)


@dataclass(frozen=True, slots=True)
class RemoveSecret:
    """No such secret. Checks about it go with it, and so does its name where roles deny it."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the secret."""
        section_of(text, "secrets", self.name)
        for at in reversed(checks_about(text, self.name)):
            text = splicing.remove(text, ("checks",), at)[0]
        for role in tree.values_of(text).get("roles") or {}:
            for key in ("deny", "allow"):
                text, _ = splicing.without_name(text, ("roles", role, key), self.name)
        return splicing.drop(text, ("secrets", self.name))


@dataclass(frozen=True, slots=True)
class AddRole:
    """A role at the gateway that the plan did not have:
    what it is told if nothing else is said, and what is denied and allowed to it.
    """

    name: str
    default: Literal["allow", "deny"] = "deny"
    deny: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()

    def applied(self, text: str) -> str:
        """The text with the role."""
        refuse_taken(text, "roles", self.name)
        lists = {"deny": list(self.deny), "allow": list(self.allow)}
        keys = {"default": self.default, **{key: names for key, names in lists.items() if names}}
        return splicing.put(text, ("roles", self.name), keys)


@dataclass(frozen=True, slots=True)
class RemoveRole:
    """No such role at the gateway."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the role."""
        section_of(text, "roles", self.name)
        return splicing.drop(text, ("roles", self.name))


def renoted_check(text: str, at: int, before: str) -> str:
    """The comment behind a check, where it said what was asked before."""
    kind, now = check_at(text, at)
    return (
        splicing.renoted(text, ("checks", at), ((before,), check_comment(kind, now)))
        if before and check_comment(kind, now)
        else text
    )
