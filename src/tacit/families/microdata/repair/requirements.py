"""Requirements: the checks that a repair must meet, asked of one candidate release after the
other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
from tacit.families.microdata.definitions.reading_verdicts import answer_with
from tacit.families.microdata.groups import Mask
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.model.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Required:
    """A check that must hold: a definition, and the sensitive column that it is asked for (None:
    as it likes).
    """

    definition: MicrodataDefinition
    sensitive: str | None = None

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return (
            f"{self.definition.label} of {self.sensitive}"
            if self.sensitive
            else self.definition.label
        )

    def column(self, question: MicrodataQuestion) -> str | None:
        """The sensitive column to ask for: the one named, or the only one."""
        if self.sensitive is None and len(question.sensitive) == 1:
            return question.sensitive[0]
        return self.sensitive

    def failing(self, question: MicrodataQuestion) -> Mask | None:
        """Which groups fail under some reading of the values;
        None where they are not judged one by one.
        """
        return self._under_some_reading(self.definition.failing, question)

    def to_drop(self, question: MicrodataQuestion) -> Mask | None:
        """Which groups go first, under some reading of the values; None where that is not known."""
        return self._under_some_reading(self.definition.to_drop, question)

    def _under_some_reading(
        self, asked: Callable[..., Mask | None], question: MicrodataQuestion
    ) -> Mask | None:
        found = asked(question, sensitive=self.column(question))
        for reading in question.readings:
            mask = asked(reading, sensitive=self.column(reading))
            if mask is None or found is None:
                return None
            found = np.logical_or(found, mask)
        return found

    def ask(self, question: MicrodataQuestion) -> Verdict:
        """The definition's own verdict."""
        return answer_with(self.definition, question, self.sensitive, None)

    def holds(self, question: MicrodataQuestion) -> bool:
        """Does it hold? By groups where that can be told, else by the verdict."""
        failing = self.failing(question)
        return not failing.any() if failing is not None else self.ask(question).status == "holds"


class NotOneByOne(Exception):
    """A definition cannot say which groups fail:
    what somebody learns in one depends on the others.
    """

    def __init__(self, required: Required) -> None:
        super().__init__(required.label)
        self.required = required


def failing_groups(question: MicrodataQuestion, required: Sequence[Required]) -> Mask:
    """Which groups fail some check, under some reading of the values."""
    found = np.zeros(len(question.groups()), dtype=bool)
    for one in required:
        mask = one.failing(question)
        if mask is None:
            raise NotOneByOne(one)
        found |= mask
    return found


def all_hold(question: MicrodataQuestion, required: Sequence[Required]) -> bool:
    """Do all checks hold? Their own verdicts say so."""
    return all(one.ask(question).status == "holds" for one in required)
