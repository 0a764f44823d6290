"""e-safety: do the odds between any two secrets stay, if all databases with the same secret are
equally likely? (Definition 1)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Literal

from tacit.families.definition import DefinitionFacts
from tacit.families.words import listed, plural
from tacit.families.worlds.counting import ENUMERATED, SecretTally, TuplePart, tally
from tacit.families.worlds.definitions.view_safety import (
    COUNTED_PARTS,
    COUNTED_STATES,
    MOST_UNSEEN,
    SECONDS,
    UNSEEN_VALUES,
    CaseOutcome,
    ViewSafety,
    counted,
    domains,
    numbers,
    open_names,
    pair_breach,
    shown_row,
    shown_secret,
    undecided,
    unseen,
    world_json,
    worlds_equal,
)
from tacit.families.worlds.matching import TooManyWays, Tuple
from tacit.families.worlds.over_domain import Databases, moved
from tacit.families.worlds.question import Over, SafetyCase
from tacit.families.worlds.separate import separate
from tacit.families.worlds.settled_rows import settled
from tacit.families.worlds.universe import unbounded
from tacit.families.worlds.unseen_values import USUAL, chosen
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.families.worlds.world_solver import NoWorld
from tacit.families.worlds.worlds import SettingWorlds, answer
from tacit.model.deadline import OutOfTime, look
from tacit.model.verdict import Assumption

MOST_STATES = 100_000
MOST_MEASURED = 300  # rows of a database whose worlds are counted though nothing depends on it
TRIED = 20  # databases that are looked at one by one where they are too many to enumerate
EQUALLY_LIKELY_WITNESSES = Assumption(
    "equiprobable-witnesses",
    "to the other side all databases with the same secret are equally likely",
    "cannot",
)


@dataclass(frozen=True, slots=True)
class ESafety(ViewSafety):
    """The new view leaves the odds between any two secrets as they were, whatever was believed
    about the secrets.

    The other side has no opinion on databases with the same secret: they are equally likely. So
    worlds are counted, over finite domains. `over` and `seconds` are as in g-safety; over all
    databases means over every finite domain.

    >>> ESafety(over="all").label
    'e-safety on every database'
    """

    over: Over = "instance"
    seconds: Any = SECONDS

    check_name: ClassVar[str] = "e-safety"
    measure: ClassVar[str] = "any change of the odds between two secrets"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="the answer of a secret query",
        against=(
            "who has seen the published views, knows the constraints and has an opinion on "
            "secrets only"
        ),
        measured="any change of the odds between two secrets",
        risks=("singling out", "linkability", "inference"),
        disclosures=("identity", "attribute", "membership"),
        composes=False,
    )

    def __post_init__(self) -> None:
        self._check_parameters()

    def _assumed(self) -> tuple[Assumption, ...]:
        return (EQUALLY_LIKELY_WITNESSES,)

    def _settled(self, case: SafetyCase) -> CaseOutcome | None:
        # Answers without data must be looked at: they may contradict each other.
        if not separate(case.setting) or (
            case.setting.instance is None and self.over == "instance"
        ):
            return None
        if self.over == "domain":
            Databases(case.setting).check()
        because = (
            f"{listed(case.new)} and {case.setting.secret.name} are about tables that "
            "nothing connects"
        )
        return CaseOutcome(
            "holds",
            "separate",
            because,
            {"by": "tables"},
            measured=self._measured(case.setting),
            case=case,
        )

    def _measured(self, setting: WorldSetting) -> dict[str, Any]:
        """What can be said of the worlds where they need not be looked at;
        nothing where that is work.
        """
        if (
            self.over != "instance"
            or len(setting.instance or ()) > MOST_MEASURED
            or unbounded(setting)
        ):
            return {}
        try:
            found = SettingWorlds(setting)
            return {
                "worlds_equal": found.ruled_out() is None,
                **counted(found),
            }
        except (TooManyWays, OutOfTime):
            return {}

    def _decided(self, case: SafetyCase, fresh: int | None) -> CaseOutcome:
        if self.over != "instance":
            return self._over_databases(case)
        outcome = None
        for setting, is_proved in chosen(case.setting, fresh, least=USUAL):
            before = outcome
            try:
                outcome = self._over_values(case, setting, is_proved)
            except NoWorld:
                continue  # answers without data may need more unseen values
            if outcome.status == "breached":
                return outcome
            if before is not None and outcome.kind == "not-counted":
                # it was answered with fewer unseen values, and that is as far as counting goes
                return before
        return outcome if outcome is not None else self._with_more(case, fresh)

    def _over_values(self, case: SafetyCase, setting: WorldSetting, is_proved: bool) -> CaseOutcome:
        """The answer where open columns have so many unseen values."""
        found = SettingWorlds(setting)
        found.stays()
        if not found.after or found.ruled_out() is None:
            measured = {"worlds_equal": True, **counted(found), **unseen_values(setting)}
            return worlds_equal(case, setting, is_proved, measured)
        outcome = self._by_parts(case, found)
        if outcome.status == "holds" and open_names(setting):
            return unseen(case, setting, open_names(setting), outcome.measured)
        return outcome

    def _by_parts(self, case: SafetyCase, found: SettingWorlds) -> CaseOutcome:
        """Parts that touch both the new views and the secret decide;
        each is counted, or searched for a secret that dies.
        """
        stays = found.stays()
        actual = found.secret_of(stays)
        mixed = [part for part in found.parts if not part.is_separate]
        measured: dict[str, Any] = {"worlds_equal": False, **unseen_values(found.setting)}
        if not mixed:
            because = (
                f"no chain of constraints and published rows leads from {listed(case.new)} to "
                f"{found.setting.secret.name}"
            )
            return CaseOutcome(
                "holds",
                "separate",
                because,
                {"by": "rows", "parts": len(found.parts)},
                measured={**measured, **counted(found)},
                case=case,
            )
        tallies: dict[int, SecretTally] = {}
        left: list[TuplePart] = []
        for part in sorted(mixed, key=lambda one: len(one.tuples)):
            if len(part.tuples) > ENUMERATED:
                looked = self._outcome_of_part(case, found, part, actual, stays, measured)
                if looked is True:
                    continue
                if looked is not None:
                    few = tally(part, most_states=COUNTED_STATES)
                    died = few.moved(of_part(actual, part)) if few is not None else None
                    return (
                        looked
                        if few is None or died is None
                        else self._odds(case, found, few, died, actual, measured)
                    )
            one = tally(part, most_states=MOST_STATES)
            if one is None:
                left.append(part)
                continue
            tallies[id(part)] = one
            if (secret := one.moved(of_part(actual, part))) is not None:
                return self._odds(case, found, one, secret, actual, measured)
        for part in left:
            if (dead := self._dies(case, found, part, actual, measured)) is not None:
                return dead
        if left:
            size = max(len(part.tuples) for part in left)
            text = (
                "No row became impossible or certain, no secret was found that dies, and the "
                f"worlds could not be counted: {plural('part', len(left))} of up to {size} tuples "
                "hang together. Close columns with domains: of fewer values, or ask for g-safety."
            )
            return undecided("not-counted", text, case, measured)
        because = (
            f"the odds between secrets stay as they were in {plural('part', len(mixed))} of "
            f"the database that {'matters' if len(mixed) == 1 else 'matter'}"
        )
        return CaseOutcome(
            "holds",
            "odds-equal",
            because,
            {"parts": len(mixed)},
            measured={**measured, **totals(found, tallies)},
            case=case,
        )

    def _outcome_of_part(
        self,
        case: SafetyCase,
        found: SettingWorlds,
        part: TuplePart,
        actual: frozenset[Tuple],
        stays: frozenset[int],
        measured: Mapping[str, Any],
    ) -> CaseOutcome | Literal[True] | None:
        """What can be of each row tells of a part:
        a secret that dies, or True where it has one secret only; None where it must be counted.
        """
        rows = dict(part.secret)
        after = settled([*part.before, *part.after], rows, stays)
        still_open = after.possible.keys() & after.avoidable.keys()
        # What is open after was open before, so only the other rows are asked about.
        before = settled(
            part.before,
            {row: ways for row, ways in rows.items() if row not in still_open},
            stays,
        )
        if not still_open and not before.possible.keys() & before.avoidable.keys():
            return True
        gone = [row for row in before.possible if row not in after.possible]
        kept = [row for row in before.avoidable if row not in after.avoidable]
        if not gone and not kept:
            return None
        world = before.possible[gone[0]] if gone else before.avoidable[kept[0]]
        died = found.secret_of((found.actual or frozenset()) - frozenset(part.tuples) | world)
        died = frozenset(row for row in died if row in rows) | (actual - frozenset(rows))
        return self._secrets(
            case, found, [(actual, None, None), (died, None, 0)], (gone, kept), measured
        )

    def _dies(
        self,
        case: SafetyCase,
        found: SettingWorlds,
        part: TuplePart,
        actual: frozenset[Tuple],
        measured: Mapping[str, Any],
    ) -> CaseOutcome | None:
        """Does the secret of a world that is ruled out have no world left?"""
        out = found.breaking(part.after)
        died = actual if out is None else found.secret_of(out)
        if died == actual or found.some([*found.after, *found.having(died)]) is not None:
            return None
        return self._secrets(
            case, found, [(actual, None, None), (died, None, 0)], ((), ()), measured
        )

    def _odds(
        self,
        case: SafetyCase,
        found: SettingWorlds,
        one: SecretTally,
        secret: frozenset[Tuple],
        actual: frozenset[Tuple],
        measured: Mapping[str, Any],
    ) -> CaseOutcome:
        """Two secrets whose odds move, with the numbers of worlds:
        of the whole database where all parts are counted.
        """
        others = [
            tally(part, most_states=MOST_STATES // 10)
            for part in found.parts
            if part is not one.part
        ]
        known = [each for each in others if each is not None]
        whole = len(known) == len(others)
        moved_secret = secret | (actual - frozenset(row for row, _ in one.part.secret))
        multiplicities: list[tuple[frozenset[Tuple], int | None, int | None]] = []
        for each in (actual, moved_secret):
            before, after = one.secrets[of_part(each, one.part)]
            if whole:
                rest = [other.secrets[of_part(each, other.part)] for other in known]
                before = before * prod(first for first, _ in rest) << found.free
                after = after * prod(second for _, second in rest) << found.free
            multiplicities.append((each, before, after))
        more = totals(found, {id(each.part): each for each in (*known, one)}) if whole else {}
        rows = [_settled_rows(each) for each in (one, *known)]
        gone, kept = ([row for pair in rows for row in pair[at]] for at in (0, 1))
        return self._secrets(case, found, multiplicities, (gone, kept), {**measured, **more})

    def _secrets(
        self,
        case: SafetyCase,
        found: SettingWorlds,
        secrets: Sequence[tuple[frozenset[Tuple], int | None, int | None]],
        rows: tuple[Sequence[Tuple], Sequence[Tuple]],
        measured: Mapping[str, Any],
    ) -> CaseOutcome:
        setting = found.setting
        listed_secrets = [
            {
                "rows": [list(row) for row in found.rows(secret)],
                **({"before": before} if before is not None else {}),
                **({"after": after} if after is not None else {}),
            }
            for secret, before, after in secrets
        ]
        plain = found.store.numbering.plain
        gone, kept = ([plain(row) for row in some] for some in rows)
        personal: dict[str, Any] = {"secrets": listed_secrets}
        if gone or kept:
            personal |= {
                "no_longer_possible": [list(row) for row in gone],
                "now_certain": [list(row) for row in kept],
            }
        story = died_story(gone, kept, setting) or odds_story(secrets, found)
        facts = {
            "multiplicities": [
                {key: one[key] for key in ("before", "after") if key in one}
                for one in listed_secrets
            ]
        }
        died = secrets[1][2] == 0
        because = (
            f"{listed(case.new)} {'rules' if len(case.new) == 1 else 'rule'} out a possible answer"
            if died
            else f"the odds between two secrets change with {listed(case.new)}"
        )
        assumptions = (UNSEEN_VALUES,) if open_names(setting) else ()
        return CaseOutcome(
            "breached",
            "secrets",
            because,
            facts,
            personal,
            measured,
            story,
            case=case,
            assumptions=assumptions,
        )

    # -- over a domain, on every database ----------------------------------------------------------

    def _over_databases(self, case: SafetyCase) -> CaseOutcome:
        for fresh in domains(case.setting, self.over):
            found = Databases(case.setting, fresh)
            if self.over == "domain":
                found.check()
            outcome = self._on_some(case, found)
            if outcome is not None and (outcome.status == "breached" or not found.universe.open):
                return outcome
        return undecided(
            "every-database",
            f"No domain with up to {MOST_UNSEEN} values beyond the constants has a counterexample, "
            f"and {listed(case.new)} could not be computed from what is published. Whether it "
            f"holds over "
            "every domain cannot be decided in general: ask over: domain or over: instance.",
            case,
        )

    def _on_some(self, case: SafetyCase, found: Databases) -> CaseOutcome | None:
        """Every piece of the databases by enumeration where it is small;
        else some databases, one by one.
        """
        if found.is_empty:
            return None
        pieces = [one for one in found.pieces() if one.secret and (one.new or one.new_conditions)]
        large = [one for one in pieces if len(one.tuples) > ENUMERATED - 4]
        for piece in pieces:
            look()
            if piece not in large and (odds := moved(piece)) is not None:
                return moved_breach(case, found, odds.instance, odds.secrets)
        if not large:
            because = "on no database over these domains do the odds between secrets change"
            return CaseOutcome("holds", "odds-equal", because, {"pieces": len(pieces)}, case=case)
        return self._one_by_one(case, found)

    def _one_by_one(self, case: SafetyCase, found: Databases) -> CaseOutcome:
        seen: list[frozenset[int]] = []
        while len(seen) < TRIED:
            pair = found.pair(seen)
            if pair is None and not seen:
                because = (
                    "on no database over these domains does it rule out a database with "
                    "another secret"
                )
                return CaseOutcome("holds", "no-counterexample", because, measured={}, case=case)
            if pair is None:
                break
            seen.append(pair.instance)
            on_one = self._by_parts(case, SettingWorlds(on_database(found, pair.instance)))
            if on_one.status == "breached":
                outcome = pair_breach(case, found, pair.instance, pair.world)
                facts = {key: value for key, value in outcome.facts.items() if key == "instance"}
                return CaseOutcome(
                    "breached",
                    on_one.kind,
                    f"on some database {on_one.because}",
                    {**facts, **on_one.facts, **on_one.personal},
                    {},
                    on_one.measured,
                    on_one.story,
                    case=case,
                )
        return undecided(
            "not-counted",
            f"{plural('database', len(seen))} were looked at one by one and none is a "
            "counterexample; there are too many to count. Use smaller domains, or ask for "
            "g-safety.",
            case,
        )


def unseen_values(setting: WorldSetting) -> dict[str, int]:
    """How many unseen values were looked at, where there are any."""
    return {"fresh": setting.fresh} if setting.fresh else {}


def of_part(secret: frozenset[Tuple], part: TuplePart) -> frozenset[Tuple]:
    """The rows of a secret that a part decides."""
    mine = {row for row, _ in part.secret}
    return frozenset(row for row in secret if row in mine)


def totals(found: SettingWorlds, tallies: Mapping[int, SecretTally]) -> dict[str, int]:
    """The numbers of worlds and plausible secrets, where every part could be counted."""
    if len(found.parts) > COUNTED_PARTS:
        return {}
    return numbers(
        found,
        [
            tallies.get(id(part)) or tally(part, most_states=MOST_STATES // 10)
            for part in found.parts
        ],
    )


def _settled_rows(one: SecretTally) -> tuple[list[Tuple], list[Tuple]]:
    """Rows of a part that are no longer possible, and rows that are now certain."""
    rows = [row for row, _ in one.part.secret]

    def which(at: int, there: bool) -> set[Tuple]:
        return {
            row
            for row in rows
            if any(
                numbers[at] and (row in secret) == there for secret, numbers in one.secrets.items()
            )
        }

    gone, kept = which(0, True) - which(1, True), which(0, False) - which(1, False)
    return sorted(gone), sorted(kept)


def died_story(
    gone: Sequence[tuple[Any, ...]], kept: Sequence[tuple[Any, ...]], setting: WorldSetting
) -> str | None:
    """What could be before and cannot be now."""
    name = setting.secret.name
    if gone == [()]:
        return f"Before, the answer of {name} could be yes. Now nobody believes that."
    if kept == [()]:
        return f"Before, the answer of {name} could be no. Now nobody believes that."
    told = []
    if gone:
        told.append(
            f"Before, {listed(few(gone))} could be in the answer of {name}. Now nobody "
            "believes that."
        )
    if kept:
        told.append(
            f"Before, {listed(few(kept))} could be missing from the answer of {name}. Now "
            f"everybody knows that {'it is' if len(kept) == 1 else 'they are'} there."
        )
    return " ".join(told) or None


def few(rows: Sequence[tuple[Any, ...]], most: int = 6) -> list[str]:
    """A few rows, and how many there are beside them."""
    shown = sorted(map(shown_row, rows))
    return shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} others"]


def odds_story(
    secrets: Sequence[tuple[frozenset[Tuple], int | None, int | None]], found: SettingWorlds
) -> str:
    """How the odds of two secrets move."""
    (one, before, after), (two, before_two, after_two) = secrets
    if before is None:
        return (
            f"Before, the answer of {found.setting.secret.name} could be "
            f"{shown_secret(found.rows(two), found.setting.secret)}. Now nobody "
            "believes that."
        )
    names = [shown_secret(found.rows(each), found.setting.secret) for each in (one, two)]
    return (
        f"Before, {names[0]} was the answer of {found.setting.secret.name} in {many(before)} and "
        f"{names[1]} in {many(before_two)}. Now {number(after)} and {number(after_two)} are left: "
        "the odds are no longer the same."
    )


def many(count: int | None) -> str:
    """A number of databases in words.

    >>> many(1), many(98602)
    ('1 database', '98,602 databases')
    """
    return f"{number(count)} database{'' if count == 1 else 's'}"


def number(count: int | None) -> str:
    """A number as a person reads it; very long ones are shortened."""
    if count is None:
        return "some"
    digits = f"{count:,}"
    return digits if len(digits) < 40 else f"about 10^{len(str(count)) - 1}"


def moved_breach(
    case: SafetyCase,
    found: Databases,
    instance: frozenset[int],
    secrets: Sequence[tuple[frozenset[Tuple], int, int]],
) -> CaseOutcome:
    """A database on which the odds of two secrets would move.
    Tuples elsewhere do not matter, and are left out.
    """
    plain = found.store.numbering.plain
    shown = [
        {"rows": [list(plain(row)) for row in secret], "before": before, "after": after}
        for secret, before, after in secrets
    ]
    data = found.facts(instance)
    facts = {
        "instance": world_json(data, None, found.setting.relations)["world"],
        "secrets": shown,
        "multiplicities": [{"before": before, "after": after} for _, before, after in secrets],
    }
    names = [
        shown_secret([plain(row) for row in secret], found.setting.secret)
        for secret, _, _ in secrets
    ]
    (_, before, after), (_, before_two, after_two) = secrets
    story = (
        f"If the database were {listed([str(one) for one in data]) or 'without any row'}: of those "
        f"that look the same {many(before)} {'has' if before == 1 else 'have'} {names[0]} as the "
        f"answer of {found.setting.secret.name}, and {many(before_two)} "
        f"{'has' if before_two == 1 else 'have'} {names[1]}. After {listed(case.new)}, "
        f"{number(after)} and {number(after_two)} are left."
    )
    return CaseOutcome(
        "breached",
        "secrets",
        f"on some database the odds between two secrets change with {listed(case.new)}",
        facts,
        story=story,
        case=case,
    )


def on_database(found: Databases, instance: frozenset[int]) -> WorldSetting:
    """The question about one database over the same domains."""
    setting = replace(
        found.setting, instance=frozenset(found.facts(instance)), fresh=len(found.universe.unseen)
    )
    return replace(
        setting,
        published=tuple(
            PublishedView(one.query, answer(one.query, setting)) for one in setting.published
        ),
        new=tuple(PublishedView(one.query, answer(one.query, setting)) for one in setting.new),
    )
