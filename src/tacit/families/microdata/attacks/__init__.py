"""Attacks: what somebody who sees a release can make of it.
Adding one means a module and a line here.
"""

from __future__ import annotations

from collections.abc import Callable

from tacit.families.microdata.attacks.attack_scene import AttackScene
from tacit.families.microdata.attacks.background_knowledge import background
from tacit.families.microdata.attacks.homogeneity import homogeneity
from tacit.families.microdata.attacks.linking import linking
from tacit.families.microdata.attacks.minimality import minimality
from tacit.families.microdata.attacks.proximity import proximity
from tacit.families.microdata.attacks.stories import Story

Attacker = Callable[[AttackScene], Story | None]
ATTACKS: tuple[Attacker, ...] = (homogeneity, background, linking, proximity, minimality)
