"""g-safety: does a new view rule out any database that could have been the one? (Deutsch and
Papakonstantinou, Definition 2)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.families.definition import DefinitionFacts
from tacit.families.words import listed
from tacit.families.worlds.definitions.view_safety import (
    MOST_UNSEEN,
    SECONDS,
    UNSEEN_VALUES,
    CaseOutcome,
    ViewSafety,
    counted,
    describe_difference,
    domains,
    one_secret,
    open_names,
    pair_breach,
    shown_secret,
    undecided,
    unseen,
    world_json,
    worlds_equal,
)
from tacit.families.worlds.over_domain import Databases
from tacit.families.worlds.question import Over, SafetyCase
from tacit.families.worlds.unseen_values import chosen
from tacit.families.worlds.world_replay import fits, is_ruled_out
from tacit.families.worlds.world_setting import WorldSetting
from tacit.families.worlds.world_solver import NoWorld
from tacit.families.worlds.worlds import SettingWorlds

REPLAYED = 60  # a world of up to so many rows is checked once more the plain way before it is shown


@dataclass(frozen=True, slots=True)
class GSafety(ViewSafety):
    """The new view changes nobody's belief about the secret, whatever
    they believed about the database.

    It holds where the same databases stay possible, or where only one secret was plausible before
    (Lemma 1 of the paper leaves the second case out). `over` is one database (instance), every
    database over the domains of the columns (domain), or every database (all). `seconds` limits the
    search; then the verdict is undecided.

    >>> GSafety().label, GSafety(over="domain").label
    ('g-safety', 'g-safety over the domain')
    >>> GSafety(over="world")
    Traceback (most recent call last):
    tacit.errors.ParameterError: there is no scope 'world'. Use instance, domain or all.
    """

    over: Over = "instance"
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "g-safety"
    measure: ClassVar[str] = "any change of belief, for any belief about the database"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="the answer of a secret query",
        against=(
            "who has seen the published views, knows the constraints and believes anything "
            "about the database"
        ),
        measured="any change of belief",
        risks=("singling out", "linkability", "inference"),
        disclosures=("identity", "attribute", "membership"),
        composes=True,
    )

    def __post_init__(self) -> None:
        self._check_parameters()

    def _decided(self, case: SafetyCase, fresh: int | None) -> CaseOutcome:
        if self.over != "instance":
            return self._over_databases(case)
        outcome = None
        for setting, is_proved in chosen(case.setting, fresh):
            try:
                outcome = self._over_values(case, setting, is_proved)
            except NoWorld:
                continue  # answers without data may need more unseen values
            if outcome.status == "breached":
                break
        return outcome if outcome is not None else self._with_more(case, fresh)

    def _over_values(self, case: SafetyCase, setting: WorldSetting, is_proved: bool) -> CaseOutcome:
        """The answer where open columns have so many unseen values."""
        found = SettingWorlds(setting)
        found.stays()
        out = found.ruled_out()
        measured: dict[str, Any] = {"worlds_equal": out is None, **counted(found)}
        if setting.fresh:
            measured["fresh"] = setting.fresh
        if out is not None:
            return self._ruled_out(case, found, out, measured, is_proved)
        return worlds_equal(case, setting, is_proved, measured)

    def _ruled_out(
        self,
        case: SafetyCase,
        found: SettingWorlds,
        out: frozenset[int],
        measured: Mapping[str, Any],
        is_proved: bool,
    ) -> CaseOutcome:
        """A world goes. That breaches unless every world has the same secret."""
        setting = found.setting
        secret, other = found.secret_of(found.stays()), out
        if found.secret_of(out) == secret:
            differing = found.other_secret(secret)
            if differing is None and is_proved:
                return one_secret(case, measured)
            if differing is None:
                return unseen(case, setting, open_names(setting), measured)
            other = differing
        return breach(case, found, out, other, measured)

    def _over_databases(self, case: SafetyCase) -> CaseOutcome:
        searched = 0
        for fresh in domains(case.setting, self.over):
            found = Databases(case.setting, fresh)
            if self.over == "domain":
                found.check()
            pair = found.pair()
            if pair is not None:
                return pair_breach(case, found, pair.instance, pair.world)
            searched = max(searched, found.undetermined)
            if not found.universe.open:
                because = (
                    "on no database over these domains does it rule out a database with "
                    "another secret"
                )
                return CaseOutcome(
                    "holds", "no-counterexample", because, {"tuples": searched}, case=case
                )
        return undecided(
            "every-database",
            f"No database with up to {MOST_UNSEEN} values beyond the constants is a "
            f"counterexample, and {listed(case.new)} could not be computed from what is published. "
            "Whether it holds on every database cannot be decided in general: ask over: domain or "
            "over: instance.",
            case,
        )


def breach(
    case: SafetyCase,
    found: SettingWorlds,
    out: frozenset[int],
    other: frozenset[int],
    measured: Mapping[str, Any],
) -> CaseOutcome:
    """A world that was possible and no longer is;
    `other` is one with another secret, perhaps the same.
    """
    setting = found.setting
    world, data = found.facts(out), setting.instance
    if len(world) <= REPLAYED and not (fits(setting, world) and is_ruled_out(setting, world)):
        raise AssertionError(
            "the world that was found is none, or is not ruled out: "
            f"{listed([str(one) for one in world])}"
        )
    personal = world_json(world, data, setting.relations)
    personal["secret_in_world"] = [list(row) for row in found.rows(found.secret_of(out))]
    news = listed(case.new)
    rules = "rules" if len(case.new) == 1 else "rule"
    how = (
        f"that {describe_difference(world, data)}"
        if data is not None
        else f"with {listed([str(one) for one in world[:4]]) or 'no row at all'}"
    )
    story = [f"A database {how} fits everything that is published. {news} {rules} it out."]
    if data is not None:
        personal["secret"] = [
            list(row) for row in found.rows(found.secret_of(found.actual or frozenset()))
        ]
    if other is out:
        story.append(
            f"In it the answer of {setting.secret.name} is "
            f"{shown_secret(found.rows(found.secret_of(out)), setting.secret)}."
        )
    else:
        personal["other_secret"] = [list(row) for row in found.rows(found.secret_of(other))]
        story.append(
            "Other secrets are plausible, such as "
            f"{shown_secret(found.rows(found.secret_of(other)), setting.secret)}: whoever thought "
            "that database likely thinks differently of them now."
        )
    assumptions = (UNSEEN_VALUES,) if open_names(setting) else ()
    because = f"{news} {rules} out a possible database"
    return CaseOutcome(
        "breached",
        "world",
        because,
        {"rows": len(world)},
        personal,
        measured,
        " ".join(story),
        case=case,
        assumptions=assumptions,
    )
