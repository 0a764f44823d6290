"""Attacks: what somebody who sees a release can make of it. Adding one means a module and a line here."""

from __future__ import annotations

from collections.abc import Callable

from tacit.attacks.background import background
from tacit.attacks.homogeneity import homogeneity
from tacit.attacks.linking import linking
from tacit.attacks.minimality import minimality
from tacit.attacks.proximity import proximity
from tacit.attacks.scene import Scene
from tacit.attacks.stories import Story

Attacker = Callable[[Scene], Story | None]
ATTACKS: tuple[Attacker, ...] = (homogeneity, background, linking, proximity, minimality)
