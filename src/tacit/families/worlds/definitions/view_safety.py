"""What g-safety and e-safety have in common:
who is asked about, how cases are put together, how worlds are told.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, ClassVar

from tacit.errors import DataError, ParameterError
from tacit.families.definition import Definition, check_seconds
from tacit.families.queries.facts import Fact
from tacit.families.queries.logic.rewriting import implied, rewriting
from tacit.families.queries.query import Query, Relations
from tacit.families.words import listed, plural
from tacit.families.worlds.counting import ENUMERATED, SecretTally, plausible, tally, worlds
from tacit.families.worlds.matching import TooManyWays
from tacit.families.worlds.over_domain import Databases
from tacit.families.worlds.question import Over, SafetyCase, SafetyQuestion
from tacit.families.worlds.universe import unbounded
from tacit.families.worlds.unseen_values import chosen, enough, further
from tacit.families.worlds.world_setting import WorldSetting
from tacit.families.worlds.world_solver import NoWorld
from tacit.families.worlds.worlds import SettingWorlds
from tacit.model.deadline import Deadline, OutOfTime, until
from tacit.model.verdict import Assumption, Certificate, Reason, Scope, Status, Verdict, Witness

SECONDS = 60
AFTERWARDS = 10.0  # seconds for what may decide without worlds, when the time for these is up
COUNTED_STATES, COUNTED_PARTS = 20_000, 300  # worlds are counted along the way where that is cheap
MOST_SHOWN = 12  # rows of a secret in a sentence
MOST_HINTED = 40  # unseen values that are worth trying
MOST_UNSEEN = 3  # over all databases: domains with up to so many values beyond the constants
CONSTRAINTS_KNOWN = Assumption(
    "constraints-known", "everybody knows the constraints, keys and domains", "yes"
)
UNSEEN_VALUES = Assumption(
    "unseen-values",
    "columns without a domain have the values that are seen and as many others as `fresh` says",
    "no",
)
SCOPES: Mapping[Over, Scope] = {"instance": "this data", "domain": "this domain", "all": "schema"}


Derivations = dict[tuple[tuple[str, ...], ...], list[str] | None]


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The answer for one case. `kind` is that of the certificate or
    witness, or the code of the reason.
    """

    status: Status
    kind: str
    because: str
    facts: Mapping[str, Any] = field(default_factory=dict)
    personal: Mapping[str, Any] = field(default_factory=dict)
    measured: Mapping[str, Any] = field(default_factory=dict)
    story: str | None = None
    vacuous: bool = False
    case: SafetyCase | None = None
    assumptions: tuple[Assumption, ...] = ()


class ViewSafety(Definition):
    """g-safety or e-safety: the parameters, and how the cases of a question make one verdict."""

    __slots__ = ()
    over: Over
    seconds: Any
    # Over one database the decision depends on its rows, so a refusal would disclose.
    simulatable: ClassVar[bool] = False
    measure: ClassVar[str]

    def _check_parameters(self) -> None:
        if self.over not in ("instance", "domain", "all"):
            raise ParameterError(
                f"there is no scope {self.over!r}.",
                parameter="over",
                hint="Use instance, domain or all.",
            )
        check_seconds(self.seconds)

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return {
            "instance": self.check_name,
            "domain": f"{self.check_name} over the domain",
            "all": f"{self.check_name} on every database",
        }[self.over]

    def check(self, question: SafetyQuestion, *, sensitive: str | None = None) -> Verdict:
        """Judge every case; one that is breached decides, else one that is undecided."""
        deadline = Deadline(self.seconds)
        known: Derivations = {}
        outcomes: list[CaseOutcome] = []
        for case in question.cases:
            outcome = self._case_outcome(case, question, deadline, known)
            outcomes.append(outcome)
            if outcome.status == "breached":
                break
        order = ("breached", "undecided", "holds")
        worst = min(outcomes, key=lambda one: (order.index(one.status), one.vacuous))
        return self._verdict(question, worst, outcomes)

    def _case_outcome(
        self, case: SafetyCase, question: SafetyQuestion, deadline: Deadline, known: Derivations
    ) -> CaseOutcome:
        # What follows from what is published rules out nothing.
        # That is asked first where worlds cannot prove it.
        beyond = self.over == "all" or (
            case.setting.instance is not None and bool(unbounded(case.setting))
        )
        try:
            with until(deadline):
                derived = self._derived(case, {}, known) if beyond else None
                outcome = derived or self._settled(case) or self._decided(case, question.fresh)
        except TooManyWays as error:
            outcome = undecided("limit", f"{sentence(error.what)} {SMALLER}", case)
        except OutOfTime:
            outcome = undecided(
                "time",
                f"{float(self.seconds):g} seconds were not enough. Allow more with seconds:, or "
                "ask about fewer tables.",
                case,
            )
        except NoWorld:
            raise DataError(
                "no database satisfies the constraints and gives "
                f"{listed([*case.given, *case.new])} these answers.",
                hint=(
                    "Correct the answer files, the constraints or the domains, or allow more "
                    "unseen values with fresh:."
                ),
            ) from None
        with suppress(OutOfTime), until(AFTERWARDS):
            if outcome.status == "undecided" or outcome.kind == "worlds-equal":
                outcome = self._derived(case, outcome.measured, known) or outcome
            if outcome.status == "undecided" and (how := fixed(case.setting)) is not None:
                return one_secret(case, outcome.measured, how)
        return outcome

    @abstractmethod
    def _decided(self, case: SafetyCase, fresh: int | None) -> CaseOutcome:
        """The answer by looking at worlds."""

    @abstractmethod
    def _over_values(self, case: SafetyCase, setting: WorldSetting, is_proved: bool) -> CaseOutcome:
        """The answer where open columns have so many unseen values."""

    def _with_more(self, case: SafetyCase, fresh: int | None) -> CaseOutcome:
        """The answer with more unseen values, where no database was found with few;
        NoWorld where there is none whatever their number.
        """
        tried = [*chosen(case.setting, fresh), *(more := further(case.setting, fresh))]
        for setting, is_proved in more:
            try:
                return self._over_values(case, setting, is_proved)
            except NoWorld:
                continue
        last, is_proved = tried[-1]
        if is_proved:
            raise NoWorld
        text = (
            f"No database with up to {plural('unseen value', last.fresh)} in "
            f"{listed(open_names(last))} satisfies the constraints and gives "
            f"{listed([*case.given, *case.new])} these answers. Allow more with fresh:, or correct "
            "the answer files."
        )
        return undecided("no-database", text, case)

    def _settled(self, case: SafetyCase) -> CaseOutcome | None:
        """The answer without looking at worlds, where there is one."""
        return None

    @staticmethod
    def _derived(
        case: SafetyCase, measured: Mapping[str, Any], known: Derivations
    ) -> CaseOutcome | None:
        """It holds where everything new can be computed from what is published;
        cases with other secrets need not ask again.
        """
        key = case.who, case.given, case.new
        if key not in known:
            known[key] = derived(case.setting)
        found = known[key]
        if found is None:
            return None
        because = (
            f"{listed(case.new)} {'says' if len(case.new) == 1 else 'say'} nothing that does "
            "not follow from what is published"
        )
        return CaseOutcome(
            "holds",
            "rewriting",
            because,
            {"rewriting": list(found)},
            measured={**measured, "worlds_equal": True},
            story=f"{'; '.join(found)}." if found else None,
            case=case,
        )

    def _verdict(
        self, question: SafetyQuestion, worst: CaseOutcome, outcomes: Sequence[CaseOutcome]
    ) -> Verdict:
        evidence: Certificate | Witness | Reason
        because, case = worst.because, worst.case
        if worst.status == "undecided":
            evidence = Reason(worst.kind, worst.because)
            because = "this could not be decided"
        else:
            facts, personal = dict(worst.facts), {**worst.personal, **values_of(case)}
            if case and case.values:
                # A parameter's value may come from the data, and so may what was found for it.
                facts, personal = {}, {**facts, **personal}
            if worst.status == "holds" and len(question.cases) > 1:
                personal = {}  # it holds for all of them, so none is named
            facts |= {
                "new": list(case.new) if case else [],
                **({"cases": len(question.cases)} if len(question.cases) > 1 else {}),
            }
            evidence = (Witness if worst.status == "breached" else Certificate)(
                worst.kind, facts, personal
            )
        names = list(question.releases)
        return Verdict(
            check=self.check_name,
            label=self.label,
            subject={
                "secret": question.secret,
                **({"release": names[0]} if len(names) == 1 else {"releases": names}),
                "given": list(question.given),
                "over": self.over,
            },
            status=worst.status,
            because=because,
            evidence=evidence,
            certainty="exact",
            scope=SCOPES[self.over],
            protects=f"the answer of {question.secret}",
            against=against([case] if case and worst.status != "holds" else question.cases),
            measure=self.measure,
            assumptions=(
                CONSTRAINTS_KNOWN,
                *self._assumed(),
                *worst.assumptions,
                *question.assumptions,
            ),
            measured=worst.measured,
            required={"over": self.over},
            story=worst.story,
            warnings=question.warnings,
            vacuous=worst.status == "holds" and all(one.vacuous for one in outcomes),
        )

    def _assumed(self) -> tuple[Assumption, ...]:
        return ()


SMALLER = (
    "List the values of columns with domains:, say with dictionary: that they are known, or "
    "ask about fewer tables."
)


def derived(setting: WorldSetting) -> list[str] | None:
    """How everything new can be computed from what is published, or None where that was not
    found."""
    views = [seen.query for seen in setting.published]
    found: list[str] = []
    for seen in setting.new:
        how = rewriting(seen.query, views, setting.dependencies, setting.relations)
        if how is None:
            return None
        found.append(str(how))
    for dependency in setting.new_dependencies:
        if not implied(dependency, setting.dependencies, setting.relations):
            return None
        found.append(f"{dependency.text} follows from the constraints")
    return found


def fixed(setting: WorldSetting) -> str | None:
    """How the secret itself can be computed from what is published, or None where that was not
    found."""
    how = rewriting(
        setting.secret,
        [seen.query for seen in setting.published],
        setting.dependencies,
        setting.relations,
    )
    return None if how is None else str(how)


def one_secret(
    case: SafetyCase, measured: Mapping[str, Any], how: str | None = None
) -> CaseOutcome:
    """What is published fixes the secret, so that nothing more can be learned."""
    because = "what is published fixes the secret, so there is nothing left to protect"
    return CaseOutcome(
        "holds",
        "one-secret",
        because,
        {"rewriting": [how]} if how else {},
        measured=measured,
        story=f"{how}." if how else None,
        vacuous=True,
        case=case,
    )


def undecided(
    code: str, text: str, case: SafetyCase, measured: Mapping[str, Any] | None = None
) -> CaseOutcome:
    """A case that was not decided, with what was tried."""
    return CaseOutcome("undecided", code, text, measured=measured or {}, case=case)


def worlds_equal(
    case: SafetyCase, setting: WorldSetting, is_proved: bool, measured: Mapping[str, Any]
) -> CaseOutcome:
    """Nothing is ruled out: it holds where so many unseen values are proved to be enough."""
    if not is_proved:
        return unseen(case, setting, open_names(setting), measured)
    because = "the same databases are possible before and after"
    return CaseOutcome("holds", "worlds-equal", because, measured=measured, case=case)


def unseen(
    case: SafetyCase,
    setting: WorldSetting,
    open_columns: Sequence[str],
    measured: Mapping[str, Any],
) -> CaseOutcome:
    """It holds as far as was looked, and nothing proves that this was far enough."""
    needed = enough(setting)
    is_near = needed is not None and setting.fresh < needed <= MOST_HINTED
    further = (
        f"fresh: {needed}, which is proved to be enough for g-safety"
        if is_near
        else f"fresh: {setting.fresh + 2}"
    )
    text = (
        f"It holds for up to {plural('unseen value', setting.fresh)} in {listed(open_columns)}; "
        "with more it may not. List the values with domains:, say with dictionary: that they are "
        f"known, or look further with {further}."
    )
    return undecided("unseen-values", text, case, measured)


# -- words -----------------------------------------------------------------------------------------


def against(cases: Sequence[SafetyCase]) -> str:
    """Who the adversary is; where several are asked about, each of them."""
    found = {case.who: case.given for case in cases}
    told = []
    for who, given in found.items():
        name = f"{listed(who)} together" if len(who) > 1 else (who[0] if who else "anyone")
        told.append(
            f"{name} who {f'saw {listed(given)} and ' if given else ''}knew the constraints"
        )
    return "; ".join(told)


def values_of(case: SafetyCase | None) -> dict[str, Any]:
    """The values of the secret's parameters in a case."""
    return {"parameters": dict(case.values)} if case and case.values else {}


def sentence(text: str) -> str:
    """A text as a sentence."""
    text = text.rstrip(".")
    return f"{text[:1].upper()}{text[1:]}."


def shown_row(row: Sequence[Any]) -> str:
    """A row as a person writes it.

    >>> shown_row(("r1",)), shown_row(("r1", 2)), shown_row(())
    ('r1', '(r1, 2)', 'yes')
    """
    if len(row) == 1:
        return str(row[0])
    return f"({', '.join(map(str, row))})" if row else "yes"


def shown_secret(rows: Iterable[Sequence[Any]], secret: Query) -> str:
    """The answer of a secret as a set, or yes or no.

    >>> from tacit.families.queries.query import Conjunctive, Variable
    >>> query = Query("S", (Conjunctive((Variable("x"),), ()),))
    >>> (
    ...     shown_secret([("r2",), ("r1",)], query),
    ...     shown_secret([], query),
    ...     shown_secret([], Query("S", (Conjunctive((), ()),))),
    ... )
    ('{r1, r2}', 'the empty answer', 'no')
    """
    found = sorted(map(shown_row, rows))
    if secret.parts and not secret.parts[0].head:
        return "yes" if found else "no"
    if len(found) > MOST_SHOWN:
        found = [*found[: MOST_SHOWN - 1], f"{len(found) - MOST_SHOWN + 1} more"]
    return f"{{{', '.join(found)}}}" if found else "the empty answer"


def fact_json(fact: Fact, relations: Relations) -> dict[str, Any]:
    """A row of a table as the contract writes it."""
    return {
        "relation": fact.relation,
        "columns": list(relations[fact.relation].columns),
        "values": list(fact.values),
    }


def describe_difference(world: Sequence[Fact], data: Iterable[Fact]) -> str:
    """How a database differs from another one."""
    there, here = set(world), set(data)
    more, less = (
        [one for one in world if one not in here],
        [one for one in data if one not in there],
    )
    said = [f"has {listed(some(more))}"] if more else []
    said += [f"lacks {listed(some(less))}"] if less else []
    return " and ".join(said) or "is the data itself"


def some(facts: Sequence[Fact], most: int = 4) -> list[str]:
    """A few rows, and how many there are beside them."""
    shown = [str(one) for one in sorted(facts, key=str)]
    return (
        shown if len(shown) <= most else [*shown[: most - 1], f"{len(shown) - most + 1} more rows"]
    )


def world_json(
    world: Sequence[Fact], data: Iterable[Fact] | None, relations: Relations
) -> dict[str, Any]:
    """A world, and where it differs from the data."""
    found: dict[str, Any] = {"world": [fact_json(one, relations) for one in world]}
    if data is not None:
        data = [one for one in data if one.relation in relations]
        there, here = set(world), set(data)
        found["added"] = [fact_json(one, relations) for one in world if one not in here]
        found["removed"] = [
            fact_json(one, relations) for one in sorted(data, key=str) if one not in there
        ]
    return found


# -- worlds ----------------------------------------------------------------------------------------


def domains(setting: WorldSetting, over: Over) -> range:
    """How many unseen values each column has, in the domains that
    are searched one after the other.
    """
    return range(1) if over == "domain" else range(MOST_UNSEEN + 1)


def open_names(setting: WorldSetting) -> list[str]:
    """The columns that may hold values that nobody has seen."""
    return sorted(
        f"{name}.{setting.relations[name].columns[at]}" for name, at in unbounded(setting)
    )


def counted(found: SettingWorlds) -> dict[str, int]:
    """The numbers of worlds and plausible secrets, where they are cheap to have."""
    if len(found.parts) > COUNTED_PARTS or any(
        len(part.tuples) > ENUMERATED - 4 for part in found.parts
    ):
        return {}
    return numbers(found, [tally(part, most_states=COUNTED_STATES) for part in found.parts])


def numbers(found: SettingWorlds, tallies: Sequence[SecretTally | None]) -> dict[str, int]:
    """The numbers of worlds and plausible secrets from those of the parts:
    all of them, or none where one part is not counted.
    """
    known = [one for one in tallies if one is not None]
    if len(known) < len(tallies):
        return {}
    before, after = worlds(known, found.free)
    first, second = plausible(known)
    return {
        "worlds_before": before,
        "worlds_after": after,
        "secrets_before": first,
        "secrets_after": second,
    }


def pair_breach(
    case: SafetyCase, found: Databases, instance: frozenset[int], world: frozenset[int]
) -> CaseOutcome:
    """A database on which the new view would rule out another one."""
    relations = found.setting.relations
    data = found.facts(instance)
    secrets = [
        [found.store.numbering.plain(row) for row in found.answer(found.secret, one)]
        for one in (instance, world)
    ]
    facts = {
        "instance": world_json(data, None, relations)["world"],
        **world_json(found.facts(world), data, relations),
        "secret": [list(row) for row in secrets[0]],
        "secret_in_world": [list(row) for row in secrets[1]],
    }
    shown = listed([str(one) for one in data]) or "no row at all"
    story = (
        f"If the database were {shown}, one that {describe_difference(found.facts(world), data)} "
        "would look the "
        f"same in what is published, and {listed(case.new)} would rule it out. The answer of "
        f"{found.setting.secret.name} is {shown_secret(secrets[0], found.setting.secret)} there, "
        f"and {shown_secret(secrets[1], found.setting.secret)} in the other."
    )
    because = f"on some database {listed(case.new)} would rule out one with another secret"
    return CaseOutcome(
        "breached",
        "world",
        because,
        facts,
        measured={"worlds_equal": False},
        story=story,
        case=case,
    )
