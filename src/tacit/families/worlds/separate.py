"""Separate: do the new views and the secret live in parts of the schema that nothing connects?"""

from __future__ import annotations

from collections.abc import Iterable

from tacit.families.worlds.universe import Sorts
from tacit.families.worlds.world_setting import WorldSetting, relations_in


def separate(setting: WorldSetting) -> bool:
    """Is there no chain of constraints and published views from a table of
    the new views to one of the secret?

    Then, with all worlds equally likely for a secret, what is published is independent of it, over
    every domain (Deutsch and Papakonstantinou, Lemma 2).
    """
    linked = Sorts()
    for dependency in setting.dependencies:
        linked.join(dependency.relations())
    for seen in setting.published:
        linked.join(relations_in([seen.query]))
    new = {linked.find(name) for name in _new(setting)}
    return not new & {linked.find(name) for name in relations_in([setting.secret])}


def _new(setting: WorldSetting) -> Iterable[str]:
    yield from relations_in(seen.query for seen in setting.new)
    for dependency in setting.new_dependencies:
        yield from dependency.relations()
