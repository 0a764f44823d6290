"""Story: what one attack makes of a release; it ends in one pair, belief before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from html import escape
from typing import Any

from tacit.errors import did_you_mean
from tacit.families.microdata.microdata import Person
from tacit.model.pictures import Gauge, gauges_chart, gauges_html
from tacit.model.verdict import Audience, as_json, with_decimals


@dataclass(frozen=True, slots=True)
class StoryStep:
    """How sure somebody is who knows this much: everything above it, and what `knowing` says."""

    knowing: str
    belief: Fraction


@dataclass(frozen=True, slots=True, repr=False)
class Story:
    """One attack on one release.

    `headline` and `facts` name nobody and no value, `text`, `person`, `value` and `steps` are for
    the owner only. `before` and `after` are the beliefs in the value of the worst-off person (or
    which row is theirs); None where the attack was not computed, and `reason` says why. `people` is
    how many are concerned.

    >>> story = Story(
    ...     "homogeneity",
    ...     "4 of 12 people",
    ...     before=Fraction(5, 12),
    ...     after=Fraction(1),
    ...     people=4,
    ...     text="Bruce has Cancer.",
    ...     person=Person({"name": "Bruce"}, {}),
    ...     value="Cancer",
    ... )
    >>> (
    ...     story.to_json("shared")["after"],
    ...     "value" in story.to_json("shared"),
    ...     story.to_json()["value"],
    ... )
    ('1', False, 'Cancer')
    """

    attack: str
    headline: str
    sensitive: str | None = None
    text: str | None = None
    person: Person | None = None
    value: Any = None
    before: Fraction | None = None
    after: Fraction | None = None
    people: int = 0
    steps: tuple[StoryStep, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    reason: str | None = None

    def __repr__(self) -> str:
        return f"<Story {self.attack}: {self.headline}>"

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object of `tacit attack --json`; `shared` leaves personal values out."""
        document: dict[str, Any] = {
            "attack": self.attack,
            "headline": self.headline,
            "sensitive": self.sensitive,
        }
        if audience == "owner":
            person = self.person or Person({}, {})
            document |= {
                "text": self.text,
                "person": as_json(person.identity),
                "known": as_json(person.known),
                "value": as_json(self.value),
                "steps": [
                    {"knowing": one.knowing, **with_decimals({"belief": one.belief})}
                    for one in self.steps
                ],
            }
        document |= with_decimals(
            {"before": self.before, "after": self.after, "people": self.people}
        )
        if self.reason:
            document["reason"] = self.reason
        return {**document, "facts": with_decimals(self.facts)}


@dataclass(frozen=True, slots=True, repr=False)
class Attack:
    """All stories about a release, or about one person in it (`target`)."""

    release: str
    stories: tuple[Story, ...]
    people: int
    target: Mapping[str, Any] | None = None
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self, audience: Audience = "owner") -> dict[str, Any]:
        """The object that `tacit attack --json` prints."""
        shown = (
            {"target": as_json(self.target)}
            if self.target is not None and audience == "owner"
            else {}
        )
        return {
            "release": self.release,
            **shown,
            "stories": [story.to_json(audience) for story in self.stories],
            "warnings": list(self.warnings),
            "seconds": round(self.seconds, 3),
        }

    def path(self, sensitive: str | None) -> tuple[StoryStep, ...]:
        """How the belief in one column moves with each piece of knowledge, as the stories tell it.

        Each step knows all that stands above it;
        only what follows from the levels stands for itself.
        """
        chains = {
            story.attack: story.steps for story in self.stories if story.sensitive == sensitive
        }
        main = chains.get("background knowledge") or chains.get("homogeneity", ())
        levels = (
            StoryStep(f"with the release, {one.knowing}", one.belief)
            for one in chains.get("minimality", ())[2:]
        )
        return (*main, *levels) if main else ()

    def gauges(self) -> list[Gauge]:
        """How sure somebody becomes in each story, beside how sure they were before."""
        several = len({one.sensitive for one in self.stories if one.sensitive}) > 1
        return [
            Gauge(
                f"{one.attack} of {one.sensitive}" if several and one.sensitive else one.attack,
                float(one.after),
                float(one.before),
                compared="before",
            )
            for one in self.stories
            if one.before is not None and one.after is not None
        ]

    def __repr__(self) -> str:
        told = ", ".join(story.attack for story in self.stories)
        return f"<Attack on {self.release}: {told}>"

    def _repr_html_(self) -> str:
        """What a notebook shows, to the owner."""
        told = "".join(
            f"<li><b>{escape(one.attack)}</b>: {escape(one.text or one.headline)}</li>"
            for one in self.stories
        )
        return f"<div>{gauges_html(self.gauges(), whole=1)}<ul>{told}</ul></div>"

    def plot(self) -> Any:
        """Beliefs after and (as a line) before, as an Altair chart (the extra `notebook`)."""
        return gauges_chart(self.gauges(), f"How sure somebody becomes: {self.release}", whole=1)

    def __getitem__(self, name: str) -> Story:
        """The first story of an attack."""
        for story in self.stories:
            if story.attack == name:
                return story
        known = dict.fromkeys(story.attack for story in self.stories)
        raise KeyError(f"no story is called {name!r}. {did_you_mean(name, known)}")
