"""hipaa-identifiers: does a release show one of the eighteen? (45 CFR 164.514(b)(2)(i))"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from tacit.families.definition import Definition, DefinitionFacts
from tacit.families.identifiers.finding import IdentifierFinding, findings
from tacit.families.identifiers.question import IdentifierQuestion
from tacit.families.parameters import whole
from tacit.families.words import plural
from tacit.model.verdict import Assumption, Certificate, Verdict, Witness

RECOGNISED = Assumption(
    "recognised", "identifiers of the eighteen kinds have a name or a form that is known", "no"
)
NO_KNOWLEDGE = Assumption(
    "no-actual-knowledge",
    "nobody who releases it knows that what is left could identify somebody",
    "no",
)
MOST_TOLD = 3  # columns in a sentence


@dataclass(frozen=True, slots=True)
class HipaaIdentifiers(Definition):
    """No column of the release is known, by its name or by a value, to hold one of the eighteen
    kinds of identifiers that the safe harbor method of HIPAA removes.

    Of zip codes three digits may stay, of dates the year, of ages all up to 89 and a category 90 or
    older. `year` is the one in which people are as old as years of birth say; default: the
    year of the question.

    >>> HipaaIdentifiers(year=2026).label
    'none of the eighteen identifiers'
    """

    year: int | None = None

    check_name: ClassVar[str] = "hipaa-identifiers"
    place: ClassVar[DefinitionFacts] = DefinitionFacts(
        protects="who a row is about",
        against="who reads the release",
        measured="columns that hold direct identifiers",
        risks=("singling out",),
        disclosures=("identity",),
    )

    def __post_init__(self) -> None:
        if self.year is not None:
            because = "is no year of a release"
            object.__setattr__(self, "year", whole("year", self.year, least=1900, because=because))

    @property
    def label(self) -> str:
        """What is asked, in a few words."""
        return "none of the eighteen identifiers"

    def check(self, question: IdentifierQuestion, *, sensitive: str | None = None) -> Verdict:
        """Look at the name and the values of every column."""
        year = self.year or question.year
        found = [
            one
            for name, values in question.columns.items()
            for one in findings(name, values, question.rows, year)
        ]
        columns = list(dict.fromkeys(one.column for one in found))
        said: dict[str, Any] = {
            "check": self.check_name,
            "label": self.label,
            "subject": {"release": question.release},
            "certainty": "conservative",
            "protects": "who a row is about",
            "against": "anyone who reads the release",
            "measure": "whether the name or a value of a column is known to hold an identifier",
            "assumptions": (RECOGNISED, NO_KNOWLEDGE),
            "measured": {"columns": len(columns)},
            "required": {"columns": 0, "year": year},
        }
        looked = {"columns_looked_at": len(question.columns), "rows": question.rows}
        if not found:
            return Verdict(
                status="holds",
                because=f"of {plural('column', len(question.columns))} none is known to show one",
                evidence=Certificate("columns", looked),
                vacuous=not question.rows or not question.columns,
                **said,
            )
        return Verdict(
            status="breached",
            because=sentence(found),
            evidence=Witness("columns", {**facts(found), **looked}, personal(found)),
            story=story(found),
            **said,
        )


def sentence(found: list[IdentifierFinding]) -> str:
    """Which columns show what, without any value."""
    told = [f"{one.column} shows {one.kind}, by {one.how}" for one in found[:MOST_TOLD]]
    more = len(found) - MOST_TOLD
    return "; ".join([*told, *([f"and {more} more"] if more > 0 else [])])


def story(found: list[IdentifierFinding]) -> str:
    """One value of the first column."""
    first = found[0]
    return f"{first.column} shows, for example, {first.values[0]}."


def facts(found: list[IdentifierFinding]) -> dict[str, Any]:
    """What is found, column by column, without any value."""
    return {
        "identifiers": [
            f"{one.column}: {one.kind}, by {one.how}, {plural('value', len(one.values))}"
            for one in found
        ]
    }


def personal(found: list[IdentifierFinding]) -> dict[str, Any]:
    """A value of each column that shows one."""
    return {"examples": {one.column: str(one.values[0]) for one in reversed(found)}}
