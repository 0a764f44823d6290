"""Binding: the views and secrets of a role for whoever asks; for those who are alike, read once."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import sqlglot
from sqlglot.errors import SqlglotError

from tacit.errors import QueryError
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.gateway.policy.asker import (
    Asker,
    Landmarks,
    bound,
    landmarks,
    literals,
    orders_texts,
    parameters_of,
    rebound,
)
from tacit.gateway.policy.policy import SAMPLES, GatewayPolicy, RolePolicy, read_bound

REMEMBERED = 200


@dataclass(frozen=True, slots=True)
class BoundRole:
    """A role for one of its users. `pattern` says how their values compare."""

    role: RolePolicy
    values: Mapping[str, str]
    pattern: tuple[Any, ...] = ()


class Roles:
    """The roles of a policy, for anybody."""

    def __init__(self, policy: GatewayPolicy) -> None:
        self._policy = policy
        self._read: OrderedDict[Any, BoundRole] = OrderedDict()
        self._marks: dict[str, Landmarks] = {}

    def of(self, name: str, asker: Asker | None) -> BoundRole:
        """A role for whoever asks; a QueryError where they lack an attribute, or have one that is
        no value of the column it is compared with.
        """
        role = self._policy.roles[name]
        if not role.parameters:
            return BoundRole(role, {})
        values = (asker or Asker("")).values(role.parameters)
        pattern = self.landmarks(name).pattern(list(values.values()))
        known = self._read.get((name, pattern))
        if known is None:
            known = self._read[name, pattern] = BoundRole(
                self._bound(role, values), values, pattern
            )
            if len(self._read) > REMEMBERED:
                self._read.popitem(last=False)
        if known.values == values:
            return known
        old, new = list(known.values.values()), list(values.values())

        def put(readings: Mapping[str, QueryUnderstanding]) -> dict[str, QueryUnderstanding]:
            return {
                one: rebound(reading, old, new) if one in role.texts else reading
                for one, reading in readings.items()
            }

        again = replace(role, denied=put(known.role.denied), allowed=put(known.role.allowed))
        return BoundRole(again, values, pattern)

    def landmarks(self, name: str) -> Landmarks:
        """Every constant that the texts of a role could compare a value with."""
        if name not in self._marks:
            role, policy = self._policy.roles[name], self._policy
            texts = [
                *(one.text for one in (*role.denied.values(), *role.allowed.values())),
                *policy.views.values(),
                *map(str, policy.dependencies),
            ]
            domains = [
                str(value)
                for relation in policy.relations.values()
                for values in relation.domains.values()
                for value in values
            ]
            written = [one for text in texts for one in literals(text, policy.dialect)]
            ordered = any(_orders_texts(text, policy.dialect) for text in texts)
            self._marks[name] = landmarks([*written, *domains], ordered=ordered)
        return self._marks[name]

    def _bound(self, role: RolePolicy, values: Mapping[str, str]) -> RolePolicy:
        policy = self._policy
        views = {name: text for name, text in policy.views.items() if name not in policy.relations}

        def put(readings: Mapping[str, QueryUnderstanding]) -> dict[str, QueryUnderstanding]:
            return {
                name: read_bound(
                    policy.relations, policy.dialect, views, name, role.texts[name], values
                )
                if name in role.texts
                else reading
                for name, reading in readings.items()
            }

        try:
            return replace(role, denied=put(role.denied), allowed=put(role.allowed))
        except QueryError:
            raise QueryError(
                f"what role {role.name} may ask cannot be read with your attributes.",
                code="attribute",
                hint="Ask the owner: an attribute is compared with a column of another type.",
            ) from None


def _orders_texts(text: str, dialect: str) -> bool:
    sample = bound(text, {one: SAMPLES.get(one, ("x",))[0] for one in parameters_of(text)})
    try:
        return orders_texts(sqlglot.parse_one(sample, read=dialect))
    except SqlglotError:
        return bool(re.search(r"[<>]", sample.replace("->", "").replace("<>", "")))


class BoundViews(Mapping[str, str]):
    """The plan's views, each for whoever asks when it is looked at."""

    def __init__(self, policy: GatewayPolicy, asker: Asker | None) -> None:
        self._views = policy.views
        self._numbers = policy.numbers
        self._asker = asker or Asker("")

    def __getitem__(self, name: str) -> str:
        text = self._views[name]
        names = parameters_of(text)
        if not names:
            return text
        return bound(text, self._asker.values(names), self._numbers.get(name, ()))

    def __iter__(self) -> Iterator[str]:
        return iter(self._views)

    def __len__(self) -> int:
        return len(self._views)
