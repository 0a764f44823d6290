"""Wishes about releases: what they are made of, how coarse they are, what they are called."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tacit.plan.edit import splicing
from tacit.plan.edit.lookup import checks_of, mentions, refuse_taken, section_of, spec_at
from tacit.plan.edit.notes import level_note, level_notes


@dataclass(frozen=True, slots=True)
class AddRelease:
    """A release that the plan did not have: `keys` as in the plan, e.g.
    table and generalization, or query.
    """

    name: str
    keys: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with the release."""
        refuse_taken(text, "releases", self.name)
        after = ("version", "source", "source-keys", "ledger", "tables", "constraints", "secrets")
        return splicing.put(text, ("releases", self.name), self.keys, after=after)


@dataclass(frozen=True, slots=True)
class SetRelease:
    """One key of a release: its query, whom it goes to, how it is anonymized;
    None takes the key away.
    """

    name: str
    key: str
    value: Any

    def applied(self, text: str) -> str:
        """The text with that key."""
        section_of(text, "releases", self.name)
        path = ("releases", self.name, self.key)
        return (
            splicing.drop(text, path)
            if self.value is None
            else splicing.put(text, path, self.value)
        )


@dataclass(frozen=True, slots=True)
class SetLevels:
    """How coarse a release is: a level for each column.
    Columns that are not named are as they are.
    """

    name: str
    levels: Mapping[str, int]

    def applied(self, text: str) -> str:
        """The text with those levels and no others."""
        entry = section_of(text, "releases", self.name)
        now = entry.get("generalization")
        path = ("releases", self.name, "generalization")
        if not isinstance(now, Mapping):
            return (
                splicing.put(text, path, dict(self.levels), after=("table",))
                if self.levels
                else text
            )
        for column in now:
            if column not in self.levels:
                text = splicing.drop(text, (*path, column))
        for column, level in self.levels.items():
            spec = spec_at(text, str(entry.get("table")), column)
            notes = (level_notes(spec, now.get(column)), level_note(spec, level)) if spec else None
            text = splicing.put(text, (*path, column), level, notes=notes)
        return text


@dataclass(frozen=True, slots=True)
class SetSynthetic:
    """The keys of a synthetic release: these and no others.
    What is said already stays as it is written.
    """

    name: str
    keys: Mapping[str, Any]

    def applied(self, text: str) -> str:
        """The text with those keys.

        >>> from decimal import Decimal
        >>> text = "releases:\\n  map: {table: jobs, synthetic: {group: to, value: from, accept: 4, epsilon: 1, delta: 1e-5}}  # mine\\n"
        >>> print(
        ...     SetSynthetic(
        ...         "map", {"group": "to", "value": "from", "epsilon": 2, "delta": Decimal("1e-5")}
        ...     )
        ...     .applied(text)
        ...     .splitlines()[1]
        ... )
          map: {table: jobs, synthetic: {group: to, value: from, epsilon: 2, delta: 1e-5}}  # mine
        """  # noqa: E501
        section_of(text, "releases", self.name)
        return splicing.with_keys(text, ("releases", self.name, "synthetic"), self.keys)


@dataclass(frozen=True, slots=True)
class RenameRelease:
    """Another name for a release, also where checks, roles and the
    list of published ones speak of it.
    """

    name: str
    to: str

    def applied(self, text: str) -> str:
        """The text with the new name."""
        section_of(text, "releases", self.name)
        if self.to == self.name:
            return text
        refuse_taken(text, "releases", self.to)
        for path in mentions(text, self.name):
            text = (
                splicing.put(text, path, self.to)
                if isinstance(path[-1], str)
                else splicing.put_item(text, path, self.to)
            )
        return splicing.rename(text, ("releases", self.name), self.to)


@dataclass(frozen=True, slots=True)
class RemoveRelease:
    """No such release. Checks of it alone go with it, and so does its name everywhere else."""

    name: str

    def applied(self, text: str) -> str:
        """The text without the release."""
        section_of(text, "releases", self.name)
        for at in reversed(checks_of(text, self.name)):
            text = splicing.remove(text, ("checks",), at)[0]
        for path in reversed(list(mentions(text, self.name))):
            if isinstance(path[-1], int):
                text = splicing.remove(text, path[:-1], path[-1])[0]
            else:
                text = splicing.drop(text, path)
        return splicing.drop(text, ("releases", self.name))
