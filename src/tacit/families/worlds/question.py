"""A question of view safety: who would see what, of which secret, given what is published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from tacit.families.worlds.world_setting import WorldSetting
from tacit.model.verdict import Assumption

Over = Literal["instance", "domain", "all"]


@dataclass(frozen=True, slots=True)
class SafetyCase:
    """One adversary and one value of the secret's parameters.
    `who` are clients, nobody where it is the public.

    `given` and `new` are the names of the releases that this adversary has seen and would see.
    """

    setting: WorldSetting
    who: tuple[str, ...] = ()
    given: tuple[str, ...] = ()
    new: tuple[str, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)

    @property
    def parameters(self) -> str:
        """The values of the secret's parameters, as a person writes them."""
        return ", ".join(f"${name} = {value}" for name, value in self.values.items())


@dataclass(frozen=True, slots=True)
class SafetyQuestion:
    """What g-safety and e-safety are asked. Every case must hold.

    `fresh` is how many unseen values the owner asked for, None where that is left to the check.
    """

    secret: str
    releases: tuple[str, ...]
    given: tuple[str, ...]
    cases: tuple[SafetyCase, ...]
    columns: tuple[str, ...] = ()
    fresh: int | None = None
    assumptions: tuple[Assumption, ...] = ()
    warnings: tuple[str, ...] = ()

    def closed(self) -> Self:
        """The question itself: it looks nobody up."""
        return self
