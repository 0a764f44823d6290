"""Asking a definition about a microdata release:
a verdict holds only if it holds under every reading of the values.

What is reported is the worst reading, and the verdict says which that is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from tacit.errors import DataError, Mark, PlanError
from tacit.families.definition import Definition
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.microdata.value_readings import ValueReading
from tacit.model.numbers import exact
from tacit.model.verdict import Certificate, Reason, Verdict, Witness

WORST_FIRST = ("breached", "undecided", "holds")
# What a definition measures: is more of it worse, or less?
MORE_IS_WORSE = {
    "t": True,
    "alpha": True,
    "risk": True,
    "belief": True,
    "positive": True,
    "uninformative": True,
    "ratio": True,
    "k": False,
    "l": False,
    "c2": False,
    "e": False,
    "m": False,
    "v": False,
    "negative": False,
}
Read = tuple[ValueReading, Verdict]


def answer_with(
    definition: Definition,
    question: MicrodataQuestion,
    sensitive: str | None,
    mark: Mark | None,
    check: Callable[..., Verdict] | None = None,
) -> Verdict:
    """Ask one definition; errors point at the check. `check` is asked in the place of its own."""
    if definition.needs_sensitive and not question.sensitive:
        raise PlanError(
            f"{definition.check_name} needs a sensitive column, and table {question.table.name} "
            "has none.",
            hint="Name it under the table: sensitive: [condition]",
            mark=mark,
        )
    if sensitive is None and len(question.sensitive) == 1:
        sensitive = question.sensitive[0]
    readings = (question, *question.readings) if definition.needs_sensitive else (question,)
    try:
        ask = check or definition.check
        found = [
            (one.reading, ask(one.asked_by(definition), sensitive=sensitive)) for one in readings
        ]
    except DataError as error:
        raise error.at(mark) from None
    verdict = worst_reading(found)
    if verdict.status == "holds" and (reason := undecidable(definition, question)) is not None:
        because = "the values can be read in too many ways"
        return replace(
            verdict,
            status="undecided",
            because=because,
            evidence=reason,
            measured={},
            story=None,
            vacuous=False,
        )
    return verdict


def undecidable(definition: Definition, question: MicrodataQuestion) -> Reason | None:
    """Why a definition cannot hold: some readings of the values are not tried, and may be worse
    than those that are.
    """
    enough = definition.extreme_spellings_suffice and question.untried == "spellings"
    if (
        not question.untried
        or not definition.needs_sensitive
        or definition.strictest_is_worst
        or enough
    ):
        return None
    columns = ", ".join(question.sensitive)
    return Reason(
        "many-readings",
        f"{columns} has so many values that may mean unknown, or differ only in spelling, that not "
        f"all their readings are tried. Say merge-spelling: [{columns}], as-written: [{columns}] "
        "or unknown: under the table.",
    )


def worst_reading(found: Sequence[Read]) -> Verdict:
    """The worst of the verdicts under several readings of the values:
    each number is the worst of all, and each sentence says of which.
    """
    status = min((verdict.status for _, verdict in found), key=WORST_FIRST.index)
    among = [one for one in found if one[1].status == status]
    if len(found) == 1 or status == "undecided":
        return among[0][1]
    # Where readings are equally bad, the strictest says it.
    strictest_first = list(reversed(among))
    worst: dict[str, Read] = {}
    for name in among[0][1].measured:
        # The reading that is worst by one number speaks for all by which it is as bad as any.
        worst[name] = max(
            [*worst.values(), *strictest_first], key=lambda one: badness(name, one[1].measured)
        )
    chosen = list(worst.values()) or strictest_first[:1]
    if status == "breached":
        chosen = chosen[:1]  # a witness is one group, under one reading
        worst = dict.fromkeys(worst, chosen[0])
    reading, verdict = chosen[0]
    sentences = dict.fromkeys(
        f"{one.because} ({describe_reading(how, len(found))})" for how, one in chosen
    )
    return replace(
        verdict,
        because=", and ".join(sentences),
        measured={name: one.measured[name] for name, (_, one) in worst.items()},
        **evidence_of(strictest_first, reading, verdict),
    )


def badness(name: str, measured: Mapping[str, Any]) -> Fraction | float:
    """How bad a measured number is."""
    value = measured[name]
    found = float("inf") if value == "infinite" else exact(value)
    return found if MORE_IS_WORSE[name] else -found


def describe_reading(reading: ValueReading, many: int) -> str:
    """Which of the readings this is."""
    return f"the worst of {many} readings: {reading.text()}"


def evidence_of(found: Sequence[Read], reading: ValueReading, verdict: Verdict) -> dict[str, Any]:
    """The evidence and story of the worst reading;
    of a greatest belief, those of the reading in which it is greatest.
    """
    assert not isinstance(verdict.evidence, Reason)
    story, evidence, how = verdict.story, verdict.evidence, reading
    if "greatest_belief" in evidence.facts:
        how, surest = max(found, key=lambda one: greatest_belief(one[1]))
        assert surest.certificate is not None
        story, evidence = (
            surest.story,
            replace(surest.certificate, facts={**evidence.facts, **surest.certificate.facts}),
        )
    facts = {**evidence.facts, "reading": reading.text()}
    personal = {**evidence.personal, "read": how.values()}
    kind = Certificate if isinstance(evidence, Certificate) else Witness
    return {"evidence": kind(evidence.kind, facts, personal), "story": story}


def greatest_belief(verdict: Verdict) -> Fraction:
    """How certain somebody can become where a verdict holds."""
    return (
        Fraction(verdict.certificate.facts.get("greatest_belief", 0))
        if verdict.certificate
        else Fraction(0)
    )
