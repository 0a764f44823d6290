"""Bounded: what is known of a person whose beliefs are known between bounds only.

Who passes a definition is convex: a mean of distributions that pass, passes too. This holds of
every definition that asks for beliefs: each limits linear functions of them from above, or one that
is concave (entropy, variance) from below. So a few distributions tell of all between the bounds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor

from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.together.person_view import (
    AskedRelease,
    Needs,
    PersonView,
    Score,
)

Interval = tuple[Fraction, Fraction]
PARTS = 10**9  # beliefs are whole numbers of such parts
AWAY = (10**2, 10**4, 10**6)  # how far the distributions lie that show a breach, in bounds
NARROW = Fraction(1, 100)
NO_VALUE = -1  # the code of a value that is missing
Weights = Mapping[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class BoundedView:
    """What is known of a person: `low` are the least beliefs, in parts, in all that they can have,
    `high` the greatest, and `slack` is what the least ones leave. `chances` are the bounds of the
    greatest chance.
    """

    seen: PersonView
    low: Weights
    high: Weights
    chances: Interval = (Fraction(0), Fraction(0))

    @property
    def column(self) -> str:
        """The sensitive column."""
        return self.seen.column

    @property
    def key(self) -> object:
        """What a score is made of: equal ones have the same."""
        return self.seen.key, tuple(self.low.items()), tuple(self.high.items()), self.chances

    @property
    def is_narrow(self) -> bool:
        """Are the bounds so close that integers are worth counting where they leave it open?"""
        return self.slack <= PARTS * NARROW and self.chances[1] - self.chances[0] <= NARROW

    @property
    def slack(self) -> int:
        """The parts that are not accounted for."""
        return PARTS - sum(self.low.values())

    @property
    def told(self) -> PersonView:
        """What is told of the person: about what is, or where that is not known the least."""
        if not self.low:
            return replace(self.seen, chance=self.chances[0])
        return self._middle if self.is_narrow else self._with(self._level())

    @property
    def _middle(self) -> PersonView:
        each, more = divmod(self.slack, len(self.low))
        lows = enumerate(self.low.items())
        return self._with({code: low + each + (at < more) for at, (code, low) in lows})

    def scores(self, definition: MicrodataDefinition) -> tuple[Score, ...] | None:
        """How a definition scores it: the worst that can be where it passes, about what is where it
        fails; None where the bounds leave that open.
        """
        needs: frozenset[Needs] = definition.asks_together
        if "chances" in needs:
            low, high = (tuple(definition.scores(one)) for one in self._ends())
            return high if not fails(high) else low if fails(low) else None
        if definition.only_greatest and NO_VALUE not in self.low:
            return self._greatest_scores(definition)
        if not self.is_narrow:
            return None
        corners = [tuple(definition.scores(one)) for one in self._corners()]
        if not any(map(fails, corners)):
            return _worst(corners)
        middle = tuple(definition.scores(self._middle))
        if fails(middle) and (self._is_short(definition) or self._breaks(definition)):
            return middle
        return None

    def _greatest_scores(self, definition: MicrodataDefinition) -> tuple[Score, ...] | None:
        """The same where only the greatest belief counts."""
        corners = [tuple(definition.scores(self._with(self._filled(one)))) for one in self.low]
        if not any(map(fails, corners)):
            return _worst(corners)
        least = tuple(definition.scores(self._with(self._level())))
        return least if fails(least) else None

    def _filled(self, first: int) -> Weights:
        """Where one value has all that it can have."""
        parts, left = dict(self.low), self.slack
        for code in (first, *parts):
            more = min(left, self.high[code] - parts[code])
            parts[code], left = parts[code] + more, left - more
        return parts

    def _level(self) -> Weights:
        """Where the greatest belief is least."""
        low, high = 0, PARTS
        while low < high:
            middle = (low + high) // 2
            if sum(self._up_to(middle).values()) >= PARTS:
                high = middle
            else:
                low = middle + 1
        return self._up_to(low)

    def _up_to(self, level: int) -> dict[int, int]:
        return {code: min(self.high[code], max(low, level)) for code, low in self.low.items()}

    def _ends(self) -> Iterator[PersonView]:
        return (replace(self.seen, chance=one) for one in self.chances)

    def _corners(self) -> Iterator[PersonView]:
        """All between the bounds are means of these: one value has all that is left."""
        for code in self.low:
            yield self._with({**self.low, code: self.low[code] + self.slack})

    def _is_short(self, definition: MicrodataDefinition) -> bool:
        """Are the rows too few, whatever is believed?"""
        sure = self._surely()
        return fails(definition.scores(sure)) and not fails(
            definition.scores(replace(sure, rows=self._rows()))
        )

    def _surely(self) -> PersonView:
        return self._with(_everybody(self.seen.about))

    def _rows(self) -> int:
        return self.seen.about.question.rows + 1

    def _breaks(self, definition: MicrodataDefinition) -> bool:
        """Do all between the bounds fail, whatever the rows?

        Let m be the mean of the corners, q a distribution that passes, and take r times the way
        from m to each corner away from q. If all these pass, and the mean x of r + 1 parts, one of
        them q and r of them m, fails, no p between the bounds passes: x is a mean of p and them.
        """
        many, slack, rows = len(self.low), self.slack, self._rows()
        middle = {code: low * many + slack for code, low in self.low.items()}  # in parts / many
        for start in _starts(self.seen.about, NO_VALUE in self.low):
            whole = sum(start.values())
            for r in AWAY if whole else ():
                codes = {*start, *middle}
                x = {
                    code: r * middle.get(code, 0) * whole + start.get(code, 0) * many * PARTS
                    for code in codes
                }
                if not fails(definition.scores(self._with(x, rows))):
                    continue
                away = [
                    {
                        code: start.get(code, 0) * many * PARTS
                        + r * whole * slack * (code in self.low)
                        - r * whole * slack * many * (code == corner)
                        for code in codes
                    }
                    for corner in self.low
                ]
                if all(
                    min(one.values()) >= 0 and not fails(definition.scores(self._with(one, rows)))
                    for one in away
                ):
                    return True
        return False

    def _with(self, parts: Weights, rows: int | None = None) -> PersonView:
        """The same with these beliefs, in any parts."""
        weights = {code: parts[code] for code in sorted(parts) if code >= 0 and parts[code]}
        known = self.seen.rows if rows is None else rows
        return replace(self.seen, weights=weights, total=sum(parts.values()), rows=known)


def bounded(
    seen: PersonView,
    bounds: Mapping[int, tuple[Fraction, Fraction]],
    chances: tuple[Fraction, Fraction],
) -> BoundedView:
    """What is known between bounds of the belief in each code that somebody can have."""
    least = sum((low for low, _ in bounds.values()), Fraction(0))
    rest = sum((high for _, high in bounds.values()), Fraction(0))
    # What others have at most leaves something, and what they have at least takes something.
    low, high = {}, {}
    for code, (one, other) in sorted(bounds.items()):
        low[code] = max(floor(one * PARTS), PARTS - ceil((rest - other) * PARTS), 0)
        high[code] = min(ceil(other * PARTS), PARTS - floor((least - one) * PARTS), PARTS)
    return BoundedView(seen, low, high, chances)


def scores_of(
    definition: MicrodataDefinition, seen: PersonView | BoundedView
) -> tuple[Score, ...] | None:
    """How a definition scores what is known of a person; None where bounds leave it open."""
    if isinstance(seen, BoundedView):
        return seen.scores(definition)
    return tuple(definition.scores(seen))


def _worst(corners: Iterable[tuple[Score, ...]]) -> tuple[Score, ...]:
    """The worst score of each name."""
    worst: dict[str, Score] = {}
    for score in (score for corner in corners for score in corner):
        last = worst.get(score.name)
        worst[score.name] = score if last is None or score.worse > last.worse else last
    return tuple(worst.values())


def fails(scores: Iterable[Score]) -> bool:
    """Does any of them?"""
    return any(one.fails for one in scores)


def _everybody(about: AskedRelease) -> dict[int, int]:
    """What is believed of everybody without any release."""
    return {code: people for code, people in enumerate(about.whole) if people}


def _starts(about: AskedRelease, with_missing: bool) -> Iterator[dict[int, int]]:
    """Distributions that pass if any does: what everybody has, and all values alike."""
    for start in (_everybody(about), dict.fromkeys(range(len(about.values)), 1)):
        yield {NO_VALUE: 1 + sum(start.values()) // 100, **start} if with_missing else start
