"""Scores of several releases: what they tell together of everybody, scored by a definition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

from tacit.errors import DataError, Mark
from tacit.families.definition import EQUALLY_LIKELY
from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.reading_verdicts import answer_with
from tacit.families.microdata.definitions.together.bounded_view import (
    BoundedView,
    bounded,
    scores_of,
)
from tacit.families.microdata.definitions.together.class_worlds import (
    ClassWorlds,
    fewest_rows,
    greatest_chances,
)
from tacit.families.microdata.definitions.together.joint_evidence import tell
from tacit.families.microdata.definitions.together.leftover import leftover
from tacit.families.microdata.definitions.together.person_view import (
    COUNTED,
    SHOWN,
    AskedRelease,
    Needs,
    PersonView,
    Score,
    weighed,
)
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.overlaps.counting.average_beliefs import Interval
from tacit.families.overlaps.overlap import Integers
from tacit.families.words import listed, people
from tacit.model.deadline import look
from tacit.model.verdict import Assumption, Certificate, Reason, Verdict, Witness

UNIFORM = Assumption(
    "uniform-worlds", "all worlds that fit the releases are equally likely", "cannot"
)


@dataclass(frozen=True, slots=True, eq=False)
class ClassScore:
    """A class of people with what is known of them, and the score of a definition."""

    class_: int
    seen: PersonView | BoundedView
    score: Score


def refuse(definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None) -> None:
    """Raise DataError where a definition, or the table, cannot be read for several releases."""
    question = joint.asked
    if not definition.asks_together:
        raise DataError(f"{definition.alone_because}.")
    if definition.missing == "match-any":
        raise DataError("groups overlap where missing values match any other.")
    if question.base.persons is not None:
        raise DataError("people have several rows, and a world gives everybody one.")
    if "signature" in definition.asks_together and not joint.releases.are_whole:
        raise DataError("it compares whole rows, and some release does not show them.")
    if definition.knows_the_rest and sensitive is None and len(question.sensitive) > 1:
        raise DataError(
            "several sensitive columns, each given the others (Definition 3.11), are judged for "
            "one release."
        )


def answer_together(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    sensitive: str | None,
    mark: Mark | None = None,
) -> Verdict:
    """Does a definition hold for who has all releases, under every reading of the values?

    Raises DataError where it cannot be asked about several.
    """
    refuse(definition, joint, sensitive)
    return answer_with(definition, joint.asked, sensitive, mark, partial(judge, definition, joint))


def answer_beside(
    definition: MicrodataDefinition, joint: JointQuestion, sensitive: str | None
) -> Verdict:
    """The same; where it cannot be asked about several, a release that holds alone is undecided."""
    out = joint.names[:-1]
    try:
        verdict = answer_together(definition, joint, sensitive)
    except DataError as error:
        verdict = answer_with(definition, joint.asked, sensitive, None)
        why = (
            f"{definition.check_name} cannot judge {listed(joint.names)} together: {error.message}"
        )
        if verdict.status == "holds":
            verdict = replace(
                verdict,
                status="undecided",
                because=f"by itself it holds; together with {listed(out)} it could not be decided",
                evidence=Reason("does-not-compose", why),
                story=None,
                vacuous=False,
            )
    return replace(verdict, subject={**verdict.subject, "given": out})


def judge(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    question: MicrodataQuestion,
    sensitive: str | None = None,
) -> Verdict:
    """The same under one reading; `question` is the one that is asked, alone and read so."""
    alone = definition.check(question, sensitive=sensitive)
    base = replace(
        alone,
        because="",
        evidence=Certificate("worlds"),
        status="holds",
        certainty="exact",
        against=f"{alone.against}, and has {listed(joint.names)}",
        assumptions=tuple(
            UNIFORM if one.id == EQUALLY_LIKELY.id else one
            for one in (*alone.assumptions, *joint.assumptions)
        ),
        story=None,
        vacuous=False,
    )
    column = sensitive or (question.sensitive[0] if question.sensitive else None)
    worlds = joint.counted if definition.asks_together & COUNTED else joint.possible
    worst = worst_by_name(definition, joint, question, column, worlds)
    if worst.is_close:
        worlds = joint.counted_exactly
        worst = worst_by_name(definition, joint, question, column, worlds)
    failing = [one for one in worst.found.values() if one.score.fails]
    measured = {name: one.score.value for name, one in worst.found.items()}
    if worst.unknown and not failing:
        if alone.status == "breached" and not definition.averages:
            return _breached_alone(alone, joint)
        return _undecided(base, joint, worlds, worst)
    verdict = (
        _breached(definition, joint, base, failing[0], worst, measured)
        if failing
        else _holds(joint, base, column, worst, measured or dict(alone.measured))
    )
    if column is None or not definition.needs_sensitive:
        return verdict
    assert not isinstance(verdict.evidence, Reason)
    shown = worlds if worlds.shares is None or worlds.is_exact else joint.possible
    left = {"left": leftover(joint, question, column, shown)}
    evidence = replace(verdict.evidence, personal={**verdict.evidence.personal, **left})
    return replace(verdict, evidence=evidence)


@dataclass(slots=True)
class ScoreTally:
    """The worst score of each name, and how many people fail, or are not known about."""

    found: dict[str, ClassScore]
    below: int = 0
    unknown: int = 0
    open: int = 0  # of these, people whose beliefs are known between bounds that leave it open

    @property
    def is_close(self) -> bool:
        """Would integers decide what bounds leave open, and nothing else does?"""
        return bool(self.open) and not any(one.score.fails for one in self.found.values())


def worst_by_name(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    question: MicrodataQuestion,
    column: str | None,
    worlds: ClassWorlds,
) -> ScoreTally:
    """The worst scores over all classes; the first class where several are as bad.

    What is known in part proves no breach, and where worlds are counted no hold either.
    """
    tally, sizes = ScoreTally({}), joint.releases.sizes.tolist()
    scored: dict[Any, tuple[Score, ...] | None] = {}
    views = known_of(definition, joint, question, column, worlds)
    if definition.averages:
        return _averaged(definition, joint, question, column, list(views))
    for class_, seen in enumerate(views):
        if seen is None:
            tally.unknown += sizes[class_]
            continue
        key = seen.key
        if key not in scored:
            scored[key] = scores_of(definition, seen)
        scores = scored[key]
        if scores is None:
            tally.unknown += sizes[class_]
            tally.open += sizes[class_] if seen.is_narrow else 0
            continue
        fails = any(score.fails for score in scores)
        if fails and not worlds.known[class_] and not definition.asks_together & (COUNTED | SHOWN):
            tally.unknown += sizes[class_]
            continue
        tally.below += sizes[class_] if fails else 0
        for score in scores:
            last = tally.found.get(score.name)
            if last is None or (score.fails, score.worse) > (last.score.fails, last.score.worse):
                tally.found[score.name] = ClassScore(class_, seen, score)
    return tally


def _averaged(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    question: MicrodataQuestion,
    column: str | None,
    views: list[PersonView | BoundedView | None],
) -> ScoreTally:
    """The score of the mean chance of everybody."""
    tally, sizes = ScoreTally({}), joint.releases.sizes.tolist()
    known = [(seen.chances, size) for seen, size in zip(views, sizes, strict=True) if seen]
    tally.unknown = sum(size for seen, size in zip(views, sizes, strict=True) if seen is None)
    if tally.unknown:
        return tally
    low, high = (
        sum((chances[end] * size for chances, size in known), Fraction(0)) / sum(sizes)
        for end in (0, 1)
    )
    mean = PersonView(AskedRelease(question, column or ""), chance=low)
    view = mean if low == high else bounded(mean, {}, (low, high))
    scores = scores_of(definition, view)
    if scores is None:
        tally.unknown = sum(sizes)
        tally.open = sum(sizes) if view.is_narrow else 0
    for score in scores or ():
        tally.found[score.name] = ClassScore(0, mean, score)
    return tally


def known_of(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    question: MicrodataQuestion,
    column: str | None,
    worlds: ClassWorlds,
) -> Iterator[PersonView | BoundedView | None]:
    """What is known of each class; None where worlds should have been counted and were not."""
    needs, releases = definition.asks_together, joint.releases
    about = AskedRelease(question, column or "")
    value_of = joint.values(question, column) if column is not None else None
    # Between bounds there are pairs that no world has.
    shown = worlds if worlds.shares is None or worlds.is_exact else joint.possible
    rows = fewest_rows(releases, shown).tolist() if "rows" in needs else None
    chances = greatest_chances(releases, worlds) if "chances" in needs else None
    signatures = None
    if "signature" in needs and value_of is not None:
        signatures = releases.signatures(value_of).tolist()
    before = values_before(joint, value_of) if "lost" in needs and value_of is not None else None
    for class_ in range(len(releases.sizes)):
        look()
        if needs & COUNTED and not (worlds.known[class_] and shown.known[class_]):
            yield None if value_of is None else only_value(joint, about, needs, class_, value_of)
            continue
        codes = [] if value_of is None else value_of[shown.tuples[shown.of(class_)]].tolist()
        bounds: dict[int, Interval] = {}
        if "beliefs" in needs and value_of is not None:
            bounds = _bounds(worlds, class_, value_of, set(codes))
        is_exact = all(low == high for low, high in bounds.values())
        weights = weighed({code: low for code, (low, _) in bounds.items()}) if is_exact else {}
        values = {code for code in codes if code >= 0}
        kept = None if before is None else before[class_]
        if before is not None and kept is None:
            yield None
            continue
        chance = (Fraction(0),) * 2 if chances is None else chances[class_]
        seen = PersonView(
            about,
            tuple(sorted(values)),
            {code: weights[code] for code in sorted(weights) if code >= 0},
            sum(weights.values()),
            0 if rows is None else rows[class_],
            chance[0],
            0 if signatures is None else signatures[class_],
            None if kept is None else len(kept - values),
        )
        yield seen if is_exact and chance[0] == chance[1] else bounded(seen, bounds, chance)


def _bounds(
    worlds: ClassWorlds, class_: int, value_of: Integers, codes: set[int]
) -> dict[int, Interval]:
    """How likely each of the codes is that somebody of a class can have."""
    assert worlds.shares is not None
    if len(codes) == 1:
        return dict.fromkeys(codes, (Fraction(1), Fraction(1)))
    span, found = worlds.of(class_), dict.fromkeys(codes, (Fraction(0), Fraction(0)))
    for code, (low, high) in zip(
        value_of[worlds.tuples[span]].tolist(), worlds.shares[span], strict=True
    ):
        if code in codes:
            least, most = found[code]
            found[code] = least + low, min(most + high, Fraction(1))
    return found


def values_before(
    joint: JointQuestion, value_of: Integers, class_: int | None = None
) -> list[frozenset[int] | None] | None:
    """For each class, or one, the values that the earlier releases leave its people, None where
    that is not known; None where nothing is published.
    """
    if (earlier := joint.before) is None:
        return None
    rows = joint.releases.examples
    some = rows if class_ is None else rows[class_ : class_ + 1]
    return [earlier.values(row, value_of) for row in some.tolist()]


def only_value(
    joint: JointQuestion,
    about: AskedRelease,
    needs: frozenset[Needs],
    class_: int,
    value_of: Integers,
) -> PersonView | None:
    """What is known of a class whose worlds were not counted, where all of them agree on one
    value: that is believed for certain. None where they do not, or more is asked.
    """
    found = joint.possible
    codes = set(value_of[found.tuples[found.of(class_)]].tolist())
    if not found.known[class_] or len(codes) > 1 or codes == {-1} or "chances" in needs:
        return None
    rows = joint.fewest_possible_rows[class_] if "rows" in needs else 0
    [code] = codes
    return PersonView(about, (code,), {code: 1}, 1, rows)


# -- verdicts --------------------------------------------------------------------------------------


def _constant_parts(joint: JointQuestion, column: str) -> dict[str, Any]:
    return {
        "releases": joint.names,
        "people": int(joint.releases.sizes.sum()),
        "kinds": len(joint.releases.sizes),
        **({"sensitive": column} if column else {}),
    }


def _holds(
    joint: JointQuestion,
    base: Verdict,
    column: str | None,
    worst: ScoreTally,
    measured: dict[str, Any],
) -> Verdict:
    told = [_sentence(one.score, breached=False) for one in worst.found.values()]
    return replace(
        base,
        because=f"with {listed(joint.names)} together {listed(told) or 'nothing is learned'}",
        evidence=Certificate("worlds", _constant_parts(joint, column or "")),
        measured=measured,
        vacuous=not told,
    )


def _breached(
    definition: MicrodataDefinition,
    joint: JointQuestion,
    base: Verdict,
    worst: ClassScore,
    tally: ScoreTally,
    measured: dict[str, Any],
) -> Verdict:
    facts = {
        **_constant_parts(joint, worst.seen.column if definition.needs_sensitive else ""),
        "size": int(joint.releases.sizes[worst.class_]),
        "people_below": tally.below,
        **({"people_unknown": tally.unknown} if tally.unknown else {}),
        "fails": worst.score.name,
    }
    because = f"with {listed(joint.names)} together {_sentence(worst.score, breached=True)}"
    if definition.averages:
        return replace(
            base,
            status="breached",
            because=because,
            evidence=Witness("worlds", facts),
            measured=measured,
        )
    seen = worst.seen.told if isinstance(worst.seen, BoundedView) else worst.seen
    told = tell(joint, worst.class_, seen)
    return replace(
        base,
        status="breached",
        because=because,
        evidence=Witness("person", facts, told.personal()),
        measured=measured,
        story=f"{told.story()} {'At least ' if tally.unknown else ''}{tally.below:,} of "
        f"{people(facts['people'])} fail {definition.label} by the releases together.",
    )


def _sentence(score: Score, *, breached: bool) -> str:
    """A score in words."""
    if not score.limit:
        return score.text
    if breached:
        return f"{score.text} for a person, {score.limit}"
    return f"{'at most' if score.at_most else 'at least'} {score.text} for everybody"


def _breached_alone(alone: Verdict, joint: JointQuestion) -> Verdict:
    """What the release tells by itself. Whoever has other copies, too, knows no less: what a group
    shows is the mean of what all releases tell of its people, and a mean of what passes, passes.
    """
    because = f"{alone.because}; what {listed(joint.names)} tell together could not be counted"
    return replace(alone, because=because)


def _undecided(
    base: Verdict, joint: JointQuestion, worlds: ClassWorlds, tally: ScoreTally
) -> Verdict:
    code, why = (
        ("time", f"the time was up ({joint.seconds:g} seconds)")
        if worlds.is_late
        else ("too-many", "the worlds of people who hang together are too many to count")
    )
    text = (
        f"What {listed(joint.names)} tell together of {people(tally.unknown)} is not known: {why}. "
        "Distinct l-diversity, k-e and k-anonymity ask only which worlds there are, and are "
        "decided for much larger tables; coarser releases have fewer kinds of people. "
        "gamma-privacy with epsilon and theta limits the greatest belief by worlds drawn at random."
    )
    return replace(
        base,
        status="undecided",
        because=f"with {listed(joint.names)} together this could not be counted",
        evidence=Reason(code, text),
        measured={},
    )
