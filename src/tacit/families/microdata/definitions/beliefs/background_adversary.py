"""Adversaries: what the other side may know beside the quasi-identifiers. (Machanavajjhala 2008,
3.7)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tacit.errors import ParameterError
from tacit.families.definition import EQUALLY_LIKELY
from tacit.families.microdata.definitions.beliefs.prior import (
    FilePrior,
    FittedPrior,
    Rows,
    fit,
    own_distribution,
    read_prior,
)
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.words import everybodys, listed, plural
from tacit.model.verdict import Assumption


@dataclass(frozen=True, slots=True)
class BackgroundAdversary:
    """What the other side may know beside quasi-identifiers: all of this together.

    `negations`: so many values that a person does not have. `known_people`: the values of so many
    others. `implications`: so many statements "if A has this, B has that". `prior`: what is
    believed before the release (None: that everybody is like the whole table); a file's name until
    it is read.
    """

    negations: int = 0
    known_people: int = 0
    implications: int = 0
    prior: FilePrior | str | None = None

    def fitted(self, question: MicrodataQuestion, column: str) -> FittedPrior:
        """What is believed about the people of a table before the release."""
        if self.prior is None:
            return own_distribution(question, column)
        if isinstance(self.prior, str):
            message = f"the prior {self.prior} was not read."
            raise ParameterError(message, parameter="prior", hint="Use definition.with_files(...).")
        return fit(self.prior, question, column)

    def also_knows(self, column: str) -> str:
        """The end of a sentence: what they know beside.

        >>> BackgroundAdversary(negations=1, known_people=2).also_knows("condition")
        ', and can rule out 1 condition for a person, and knows the condition of 2 others'
        """
        parts = []
        if self.negations:
            parts.append(f"can rule out {plural(column, self.negations)} for a person")
        if self.known_people:
            others = "1 other" if self.known_people == 1 else f"{self.known_people} others"
            parts.append(f"knows the {column} of {others}")
        if self.implications:
            parts.append(
                f"knows {plural('implication', self.implications)} between people's {column}"
            )
        return "".join(f", and {part}" for part in parts)

    def said(self, question: MicrodataQuestion, column: str) -> str:
        """Who it is, in words."""
        quasi = listed(question.quasi)
        who = f"who is in the table, and {everybodys(question.quasi)}"
        if isinstance(self.prior, FilePrior) and self.prior.tells_apart:
            who = "that a person is in the table" + (f", and their {quasi}" if quasi else "")
        prior = f", and believes {self.prior.file}" if isinstance(self.prior, FilePrior) else ""
        return f"anyone who knows {who}{prior}{self.also_knows(column)}"

    def assumptions(self, question: MicrodataQuestion, *, compares: bool) -> tuple[Assumption, ...]:
        """What a verdict about them relies on."""
        if isinstance(self.prior, FilePrior):
            mine = prior_assumptions(self.prior, question)
            return mine if self.prior.tells_apart else (EQUALLY_LIKELY, *mine)
        own = Assumption(
            "own-distribution",
            "before the release everybody is believed to be like the whole table",
            "cannot",
        )
        return (EQUALLY_LIKELY, *((own,) if compares else ()))

    def required(self) -> dict[str, Any]:
        """As a verdict repeats it."""
        prior = self.prior.file if isinstance(self.prior, FilePrior) else self.prior
        shown = {
            "negations": self.negations,
            "known-people": self.known_people,
            "implications": self.implications,
            "prior": prior,
        }
        return {name: value for name, value in shown.items() if value}


def prior_assumptions(prior: FilePrior, question: MicrodataQuestion) -> tuple[Assumption, ...]:
    """What Theorem 3.1 presumes; the frequencies of values alone tell nobody apart."""
    believed = Assumption("prior", f"before the release {prior.file} is believed", "cannot")
    if not prior.tells_apart:
        return (believed,)
    inside = listed([*prior.columns])
    others = [name for name in question.quasi if name not in prior.columns]
    found = [
        believed,
        Assumption(
            "random-sample",
            f"the table is a random sample of the many people that {prior.file} describes",
            "cannot",
        ),
        Assumption("others-unknown", "it is not known who else is in the table", "cannot"),
    ]
    if others:
        verb = "is" if len(others) == 1 else "are"
        text = f"{listed(others)} {verb} independent of {inside}"
        found.append(Assumption("independent", text, "cannot"))
    return tuple(found)


def with_prior(adversary: BackgroundAdversary, read: Callable[[str], Rows]) -> BackgroundAdversary:
    """The same adversary with the prior read from its file."""
    if not isinstance(adversary.prior, str):
        return adversary
    return replace(adversary, prior=read_prior(read(adversary.prior), adversary.prior))
