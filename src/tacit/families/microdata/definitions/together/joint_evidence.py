"""Joint evidence: what several releases together say of somebody: who it is, which groups, what is
left.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.families.microdata.definitions.together.person_view import PersonView
from tacit.families.microdata.definitions.together.question import JointQuestion
from tacit.families.microdata.hierarchy import value_text
from tacit.families.microdata.microdata import Person
from tacit.families.words import change, known_facts, listed, mention, name_of, plural, saying
from tacit.model.numbers import percent

SHOWN = 4  # values in a story


@dataclass(frozen=True, slots=True, eq=False)
class KnownPerson:
    """Somebody of a class, a combination of theirs, and what is known of them.

    `value` is the one that is believed most, where beliefs were asked.
    """

    joint: JointQuestion
    seen: PersonView
    row: int
    person: Person
    value: int | None

    def personal(self) -> dict[str, Any]:
        """As evidence for the owner."""
        copies = {
            one.name: one.labels(self.joint.base, self.row)
            for one in self.joint.copies
            if one.has(self.row)
        }
        found: dict[str, Any] = {
            "person": dict(self.person.identity),
            "known": dict(self.person.known),
            "values": copies.get(self.joint.names[-1], {}),
            "groups": copies,
        }
        if self.seen.about.column:
            found["possible"] = [self.seen.about.values[code] for code in self.seen.values]
        if self.value is not None:
            before, after = self._moved(self.value)
            shares = {code: self.seen.share(code) for code in self.seen.weights}
            found["beliefs"] = {
                value_text(self.seen.about.values[code]): share for code, share in shares.items()
            }
            found |= {"value": self.seen.about.values[self.value], "before": before, "after": after}
        return found

    def _moved(self, value: int) -> tuple[Fraction, Fraction]:
        whole = self.seen.about.whole
        return Fraction(whole[value], max(1, sum(whole))), self.seen.share(value)

    def story(self) -> str:
        """What somebody learns."""
        return (
            f"Anyone who has {listed(self.joint.names)} and knows that {name_of(self.person)} "
            f"{known_facts(self.person.known)} {self._learned()}."
        )

    def _learned(self) -> str:
        name, about = mention(self.person), self.seen.about
        if self.value is not None:
            before, after = self._moved(self.value)
            sure = "knows" if after == 1 else f"believes with {percent(after)}"
            says = saying(about.column, about.values[self.value])
            return f"now {sure} that {name} {says}. Belief {change(before, after)}"
        if self.seen.rows:
            return f"can narrow {name} down to {plural('row', self.seen.rows)} of a release"
        if self.seen.chance:
            return f"can find {name}'s row with {percent(self.seen.chance)}"
        some = [value_text(about.values[code]) for code in self.seen.values]
        more = [f"{len(some) - SHOWN} more"] if len(some) > SHOWN else []
        if not some:
            return f"can rule out every {about.column} for {name}"
        return (
            f"can rule out all others, so that {name} "
            f"{saying(about.column, listed([*some[:SHOWN], *more], 'or'))}"
        )


def tell(joint: JointQuestion, class_: int, seen: PersonView) -> KnownPerson:
    """Somebody of a class; if there is one, who has the value that is believed most."""
    rows = np.flatnonzero(joint.releases.class_of == class_)
    weights, column = seen.weights, seen.about.column
    value = max(weights, key=lambda code: (weights[code], -code)) if weights else None
    if value is not None:
        own = joint.values(seen.about.question, column)[joint.tuple_of[rows]] == value
        rows = rows[own] if own.any() else rows
    row = int(rows[0])
    known = joint.known(row)
    if joint.who is not None:
        return KnownPerson(joint, seen, row, Person(joint.who(row), known), value)
    looked = known if value is None else {**known, column: joint.base.value(column, row)}
    identity = next(iter(joint.asked.find(looked, 1)), {})
    return KnownPerson(joint, seen, row, Person(identity, known), value)
