"""Replay of verdicts about beliefs: everything that may be known is tried, one after the other.

Nothing here is shared with the checkers. A witness is believed only if the released rows, with what
it says is known, give the belief that it shows, and that is too much. A certificate is tried
against every adversary; one that rests on a prior needs that prior, which is not among the released
rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, combinations_with_replacement
from math import exp
from typing import Any

from tacit.errors import DataError
from tacit.families.microdata.definitions.replay.replay_background import replay_background
from tacit.model.verdict import Verdict

Row = Mapping[str, Any]
Counts = Mapping[Any, int]
Shares = Mapping[Any, Fraction]


def replay_beliefs(
    verdict: Verdict, rows: Sequence[Row], quasi: Sequence[str], person: Sequence[str] = ()
) -> bool:
    """Does the evidence of a semantic or a rho1-rho2 verdict stand up on the released rows?"""
    if any("implications" in one for one in adversaries(verdict.required)):
        return replay_background(as_safety(verdict), rows, quasi, person)
    if verdict.witness is not None:
        return replay_witness(verdict, rows, person)
    if verdict.certificate is None:
        return True
    column = verdict.certificate.facts["sensitive"][0]
    prior = shares(rows, column, person)
    secrets = list(predicates(verdict.required.get("protect", {"equals": "all"}), list(prior)))
    return all(
        not too_much(verdict.required, predicate, negated, prior, after)
        for group in groups(rows, quasi, verdict)
        for adversary in adversaries(verdict.required)
        for negated, left in knowledge(counted(group, column, person), list(prior), adversary)
        for predicate in secrets
        if (after := belief(left, predicate, {})) is not None
    )


def as_safety(verdict: Verdict) -> Verdict:
    """A verdict against implications as the one of c-k-safety that it was."""
    against = adversaries(verdict.required)
    if len(against) > 1:
        raise beyond_the_rows()
    return replace(
        verdict,
        check="c-k-safety",
        required={"c": verdict.required["positive"], "k": against[0]["implications"]},
        measured={"belief": verdict.measured["positive"]},
    )


def replay_witness(verdict: Verdict, rows: Sequence[Row], person: Sequence[str]) -> bool:
    """Recount the group, take out what is known, and compare the belief that is left."""
    assert verdict.witness is not None
    facts, told = verdict.witness.facts, verdict.witness.personal
    group = [
        row
        for row in rows
        if all(agree(row[name], value, verdict) for name, value in told["values"].items())
    ]
    counts = counted(group, facts["sensitive"], person)
    if verdict.certainty == "conservative":  # people with several values count with one
        counts = {
            value: min(number, told["counts"].get(value, 0)) for value, number in counts.items()
        }
    negated, known = told.get("negated", []), told.get("known_people", {})
    predicate = told["value"] if isinstance(told["value"], list) else [told["value"]]
    left = {
        value: number - known.get(value, 0)
        for value, number in counts.items()
        if value not in negated
    }
    after = belief(left, predicate, told.get("likelier", {}))
    limits = adversaries(verdict.required)
    return (
        len(people(group, person)) == facts["size"]
        and {value: number for value, number in counts.items() if number} == dict(told["counts"])
        and all(number >= 0 for number in left.values())
        and any(
            len(negated) <= one.get("negations", 0)
            and sum(known.values()) <= one.get("known-people", 0)
            for one in limits
        )
        and after == told["after"]
        and is_breach(
            verdict.required,
            told["before"],
            told["after"],
            self_negated=bool({*negated} & {*predicate}),
        )
    )


def adversaries(required: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """What may be known."""
    against = required.get("against", {"prior": required["prior"]} if "prior" in required else {})
    return list(against) if isinstance(against, list | tuple) else [against]


def knowledge(
    counts: Counts, domain: Sequence[Any], adversary: Mapping[str, Any]
) -> Iterator[tuple[tuple[Any, ...], Counts]]:
    """Every way to rule out values and to know people, with what it leaves of a group."""
    if "prior" in adversary:
        raise beyond_the_rows()
    for number in range(adversary.get("negations", 0) + 1):
        for negated in combinations(domain, min(number, len(domain))):
            for others in range(adversary.get("known-people", 0) + 1):
                for known in combinations_with_replacement(list(counts), others):
                    left = {value: n - known.count(value) for value, n in counts.items()}
                    if min(left.values(), default=0) >= 0:
                        yield negated, {v: n for v, n in left.items() if v not in negated}


def beyond_the_rows() -> DataError:
    """A certificate that holds for other reasons than what was released."""
    return DataError(
        "this verdict rests on more than the released rows.",
        hint="Check the release again, with the prior at hand.",
    )


def belief(
    counts: Counts, predicate: Iterable[Any], likelier: Mapping[Any, Fraction]
) -> Fraction | None:
    """The share of the worlds in which a person satisfies a predicate (Theorem 3.1)."""
    weights = {
        v: n * likelier.get(v, Fraction(0) if likelier else Fraction(1)) for v, n in counts.items()
    }
    total = sum(weights.values())
    return (
        sum((weights.get(v, Fraction(0)) for v in predicate), Fraction(0)) / total
        if total
        else None
    )


def too_much(
    required: Mapping[str, Any],
    predicate: frozenset[Any],
    negated: Sequence[Any],
    prior: Shares,
    after: Fraction,
) -> bool:
    """Is that belief a breach for somebody who believed in the prior
    and could rule out some values?
    """
    left = {value: share for value, share in prior.items() if value not in negated}
    before = sum((left.get(v, Fraction(0)) for v in predicate), Fraction(0)) / sum(left.values())
    return is_breach(required, before, after, self_negated=bool({*negated} & predicate))


def is_breach(
    required: Mapping[str, Any], before: Fraction, after: Fraction, *, self_negated: bool
) -> bool:
    """The measures of 3.7, word by word; who negates a predicate is not told so by the release."""
    found = []
    if "positive" in required:
        found.append(after >= required["positive"])
    if "negative" in required:
        found.append(after < required["negative"] and not self_negated)
    if "uninformative" in required:
        found.append(abs(after - before) > required["uninformative"])
    if "ratio" in required:
        found.append(before != after and is_factor_above(required["ratio"], before, after))
    if "rho1" in required:
        low, high = required["rho1"], required["rho2"]
        found.append(before < low and after > high)
        found.append(before > 1 - low and after < 1 - high)
    return any(found)


def is_factor_above(limit: Any, before: Fraction, after: Fraction) -> bool:
    """Is one belief more than so many times the other? Here e^x is a float:
    close calls are not replayed.
    """
    low, high = sorted((before, after))
    if isinstance(limit, str):
        return low == 0 or float(high / low) > exp(float(Fraction(limit.removeprefix("e^"))))
    return bool(high > low * limit)


def predicates(protect: Mapping[str, Any], domain: Sequence[Any]) -> Iterator[frozenset[Any]]:
    """The secret statements as sets of values."""
    wanted = protect.get("equals", [])
    for value in domain if wanted == "all" else wanted:
        if value not in protect.get("dont-care", []):
            yield frozenset([value])
    for values in protect.get("in", []):
        yield frozenset(values)
    for low, high in protect.get("range", []):
        yield frozenset(value for value in domain if low <= value <= high)
    if "within" in protect:
        for x in domain:
            yield frozenset(value for value in domain if abs(value - x) <= protect["within"])


def groups(rows: Sequence[Row], quasi: Sequence[str], verdict: Verdict) -> Iterator[list[Row]]:
    """Every group of the release, once."""
    for key in dict.fromkeys(tuple(row[name] for name in quasi) for row in rows):
        yield [
            row
            for row in rows
            if all(agree(row[name], value, verdict) for name, value in zip(quasi, key, strict=True))
        ]


def agree(one: Any, other: Any, verdict: Verdict) -> bool:
    """Can two values not be told apart?"""
    any_matches = verdict.required.get("missing") == "match-any" and None in (one, other)
    return bool(one == other) or any_matches


def people(group: Sequence[Row], person: Sequence[str]) -> set[Any]:
    """Who is in a group."""
    return {tuple(row[name] for name in person) if person else at for at, row in enumerate(group)}


def counted(group: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, int]:
    """How many people of a group have each value that is known."""
    known = dict.fromkeys(row[column] for row in group if row[column] is not None)
    return {
        value: len(people([row for row in group if row[column] == value], person))
        for value in known
    }


def shares(rows: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, Fraction]:
    """What the whole table says: the belief before, where there is no other."""
    counts = counted(rows, column, person)
    return {value: Fraction(number, sum(counts.values())) for value, number in counts.items()}
