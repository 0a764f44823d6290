"""The sentences of verdicts: what is known about a person, in words a data steward uses."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.families.microdata.hierarchy import SUPPRESSED, value_text
from tacit.families.microdata.microdata import Person
from tacit.model.numbers import percent, percents

# How people say a column's value; a column that matches none is "whose <column> is <value>".
SAYINGS: tuple[tuple[str, str], ...] = (
    (r"age", "is {}"),
    (r"nationality|sex|gender|race|ethnicity|religion|marital_status", "is {}"),
    (r"(native|birth|home)_country|country_of_(birth|origin)", "comes from {}"),
    (
        r"zip.*|post(al)?_?code|plz|city|town|county|district|region|state|country|address",
        "lives in {}",
    ),
    (r"birth.*|born|date_of_birth|dob|year_of_birth", "was born {}"),
    (r".*(condition|disease|diagnosis|illness|disorder)", "has {}"),
    (r"(monthly_|yearly_|annual_)?(salary|income|wage)", "earns {}"),
    (r"occupation|job|profession", "works as {}"),
)
# Values that say nothing without the name of their column: numbers that stand for words, too.
NAMELESS = re.compile(r"[\W\d_]*|other|unknown|none|n/?a", re.IGNORECASE)

NO_NOUN = re.compile(
    r"^(is|has|was|had|can|does) |[^aeiou]ed$|\W$"
)  # is smoker, vaccinated, size (cm)


def listed(parts: Sequence[str], last: str = "and") -> str:
    """Words as a list.

    >>> listed(["zip", "age", "nationality"])
    'zip, age and nationality'
    """
    if len(parts) < 2:
        return "".join(parts)
    return f"{', '.join(parts[:-1])} {last} {parts[-1]}"


def people(number: int) -> str:
    """A number of people.

    >>> people(1), people(4591581)
    ('1 person', '4,591,581 people')
    """
    return "1 person" if number == 1 else f"{number:,} people"


def plural(word: str, number: int) -> str:
    """A noun with its number.

    >>> plural("condition", 1), plural("salary", 3)
    ('1 condition', '3 salaries')
    >>> plural("salary_class", 2)
    '2 salary classes'
    >>> plural("diagnosis", 2)
    '2 diagnoses'

    Columns whose name is not a noun are described by their values.

    >>> plural("vaccinated", 1), plural("is_smoker", 2), plural("salary €", 0)
    ('1 value of vaccinated', '2 values of is smoker', '0 values of salary €')
    """
    word = spoken(word)
    if NO_NOUN.search(word):
        return f"{number:,} value{'' if number == 1 else 's'} of {word}"
    if re.search(r"[^aeiou]y$", word):
        many = word[:-1] + "ies"
    elif word.endswith("sis"):
        many = word[:-2] + "es"
    else:
        many = word + ("es" if re.search(r"(s|x|z|ch|sh)$", word) else "s")
    return f"{number:,} {word if number == 1 else many}"


def spoken(column: str) -> str:
    """A column's name as a person says it.

    >>> spoken("marital_status")
    'marital status'
    """
    return column.replace("_", " ").strip() or column


def saying(column: str, value: Any) -> str:
    """One fact about a person.

    >>> saying("age", 31), saying("zip", "13053"), saying("ward", "B2"), saying("zip", None)
    ('is 31', 'lives in 13053', 'has ward B2', 'has no known zip')
    >>> saying("sex", "Female"), saying("sex", 1.0), saying("race", "Other")
    ('is Female', 'has sex 1.0', 'has race Other')
    """
    if value is None:
        return f"has no known {spoken(column)}"
    for pattern, form in SAYINGS:
        if re.fullmatch(pattern, column.lower()):
            if form == "is {}" and column.lower() != "age" and NAMELESS.fullmatch(str(value)):
                break
            return form.format(value_text(value))
    return f"has {spoken(column)} {value_text(value)}"


def known_facts(known: Mapping[str, Any]) -> str:
    """What the attacker knows about a person, facts of the same kind joined.

    >>> known_facts({"zip": "13053", "age": 31, "nationality": "American"})
    'is 31, American and lives in 13053'
    >>> known_facts({"zip": "*", "age": "30-39"})  # of a file in which zip is not shown
    'is 30-39'
    """
    said = sorted(
        (saying(column, value) for column, value in known.items() if value != SUPPRESSED),
        key=lambda one: one[:3] != "is ",
    )
    parts = [one if i == 0 or one[:3] != "is " else one[3:] for i, one in enumerate(said)]
    return listed(parts) if parts else "is in the table"


def name_of(person: Person) -> str:
    """How to call a person.

    >>> name_of(Person({"name": "Bruce"}, {})), name_of(Person({}, {}))
    ('Bruce', 'a person')
    """
    return " ".join(value_text(value) for value in person.identity.values()) or "a person"


def mention(person: Person) -> str:
    """How to call a person a second time.

    >>> mention(Person({"name": "Bruce"}, {})), mention(Person({}, {}))
    ('Bruce', 'this person')
    """
    return name_of(person) if person.identity else "this person"


def beliefs(before: tuple[int, int], after: tuple[int, int]) -> str:
    """A belief before and after, as percent and as the counts behind it.

    >>> beliefs((5, 12), (2, 3))
    'Belief 41 % (5/12) -> 67 % (2/3)'
    """
    first, second = percents(Fraction(*before), Fraction(*after))
    return f"Belief {first} ({before[0]}/{before[1]}) -> {second} ({after[0]}/{after[1]})"


def change(before: Fraction, after: Fraction) -> str:
    """A belief before and after.

    >>> change(Fraction(1, 7), Fraction(4, 9)), change(Fraction(4, 9), Fraction(4, 9))
    ('14 % -> 45 %', '45 % as before')
    """
    return (
        " -> ".join(percents(before, after)) if before != after else f"{percent(after)} as before"
    )


def everybodys(quasi: tuple[str, ...]) -> str:
    """The attacker's outside knowledge.

    >>> everybodys(("zip", "age"))
    "everybody's zip and age"
    """
    return f"everybody's {listed(quasi)}" if quasi else "nothing else"
