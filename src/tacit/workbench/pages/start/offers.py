"""The checks that can be added on the page Start, by the worry that they answer."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from tacit.errors import InputError
from tacit.plan.edit.wishes.check_wishes import AddCheck

ROW = "Somebody finds a person's row"
VALUE = "Somebody learns a person's value"
ALIKE = "The values of a group are too much alike"
BACKGROUND = "Somebody knows more than the release"
BELIEF = "Somebody's belief about a person changes"
VIEWS = "Answers to queries tell a secret"
MADE_UP = "Made-up people tell about true ones"
AGAIN = "A next release tells more than the first"
NAMED = "A direct identifier is left in by oversight"


@dataclass(frozen=True, slots=True)
class Offer:
    """A check that can be added here: its parameters with values to begin with, the worry that
    it answers, and the sentence that it would prove.

    It is asked `of` a copy of the table, of views or of synthetic data (of `several` together), and
    some are about a secret.
    """

    kind: str
    parameters: Mapping[str, Any]
    worry: str
    sentence: str
    of: Literal["copies", "views", "synthetic"] = "copies"
    several: bool = False
    about_secret: bool = False
    name: str = ""

    @property
    def words(self) -> str:
        """The name of the definition, and the sentence."""
        return f"{self.name or self.kind}: {self.sentence}"

    @property
    def fewest(self) -> int:
        """Of how many releases it can be asked at least.
        One set of synthetic data is asked about for itself.
        """
        return 2 if self.several and self.of == "synthetic" else 1

    def wish(self, releases: Sequence[str], secret: str) -> AddCheck:
        """The wish for such a check.

        >>> OFFERED["gamma"].wish(["men", "older"], "").parameters
        {'releases': ['men', 'older'], 'gamma': Fraction(1, 2)}
        """
        if not releases or (self.about_secret and not secret):
            raise InputError(
                "it is not said what the check is about.",
                hint="Choose a release." if secret or not self.about_secret else "Choose a secret.",
            )
        what: dict[str, Any] = {"secret": secret} if self.about_secret else {}
        asked = {"releases": list(releases)} if self.several else {"release": releases[0]}
        return AddCheck(self.kind, {**what, **asked, **self.parameters})


OFFERED = {
    "k": Offer("k-anonymity", {"k": 5}, ROW, "everybody looks like at least k - 1 others"),
    "risk": Offer(
        "risk",
        {"at-most": Fraction(1, 5)},
        ROW,
        "nobody's row is found with a higher chance than this",
    ),
    "alpha": Offer(
        "alpha-k",
        {"alpha": Fraction(1, 2), "k": 5},
        ROW,
        "everybody looks like k - 1 others, and no value has a larger share of them than alpha",
    ),
    "distinct": Offer(
        "l-diversity",
        {"kind": "distinct", "l": 3},
        VALUE,
        "people who look alike have at least l different values",
        name="distinct l-diversity",
    ),
    "entropy": Offer(
        "l-diversity",
        {"kind": "entropy", "l": 2},
        VALUE,
        "values are spread as evenly in each group as l equally frequent ones",
        name="entropy l-diversity",
    ),
    "recursive": Offer(
        "l-diversity",
        {"kind": "recursive", "c": 3, "l": 2},
        VALUE,
        "the most frequent value of a group is not much more frequent than the others",
        name="recursive (c,l)-diversity",
    ),
    "closeness": Offer(
        "t-closeness",
        {"t": Fraction(1, 5)},
        VALUE,
        "values are distributed in each group nearly as in the whole table",
    ),
    "ke": Offer(
        "k-e",
        {"k": 3, "e": 1},
        ALIKE,
        "each group has k different numbers, which are at least e apart from end to end",
    ),
    "variance": Offer(
        "variance", {"v": 1}, ALIKE, "the numbers of each group have at least this variance"
    ),
    "eps-m": Offer(
        "eps-m",
        {"epsilon": 1, "m": 2},
        ALIKE,
        "at most one in m of a group has a number within epsilon of a person's",
    ),
    "unlike": Offer(
        "dissimilarity",
        {"epsilon": Fraction(1, 10), "delta": Fraction(1, 2), "k": 3},
        ALIKE,
        "of k people or more, at least the share delta has values unlike a person's",
    ),
    "implications": Offer(
        "c-k-safety",
        {"c": Fraction(7, 10), "k": 1},
        BACKGROUND,
        'who knows k statements such as "if Ann has flu, so has Bob" is less certain than c',
    ),
    "skyline": Offer(
        "skyline",
        {"l": 1, "k": 1, "m": 0, "c": Fraction(7, 10)},
        BACKGROUND,
        "who rules out l values and knows k other people is less certain than c",
    ),
    "rho": Offer(
        "rho1-rho2",
        {"rho1": Fraction(1, 10), "rho2": Fraction(1, 2)},
        BELIEF,
        "nobody's belief goes from below rho1 to above rho2",
    ),
    "semantic": Offer(
        "semantic",
        {"measure": {"positive": Fraction(1, 2)}},
        BELIEF,
        "nobody is surer of a value than a limit, whatever you say that they know",
    ),
    "invariance": Offer(
        "m-invariance",
        {"m": 2, "kind": "values"},
        AGAIN,
        "nobody loses a value that earlier releases left open, and everybody keeps at least m",
    ),
    "identifiers": Offer(
        "hipaa-identifiers",
        {},
        NAMED,
        "no column is known to show one of the eighteen identifiers that HIPAA lists",
    ),
    "perfect": Offer(
        "perfect-privacy",
        {},
        VIEWS,
        "the view tells nothing at all about the secret",
        of="views",
        about_secret=True,
    ),
    "guess": Offer(
        "g-safety",
        {},
        VIEWS,
        "the view rules out no answer to the secret and proves none",
        of="views",
        about_secret=True,
    ),
    "evidence": Offer(
        "e-safety",
        {},
        VIEWS,
        "the view makes no answer to the secret likelier than another",
        of="views",
        about_secret=True,
    ),
    "gamma": Offer(
        "gamma-privacy",
        {"gamma": Fraction(1, 2)},
        VIEWS,
        "after all views together nobody's value is likelier than gamma",
        of="views",
        several=True,
    ),
    "sind": Offer(
        "k-sind",
        {"k": 2},
        VIEWS,
        "after all views together everybody could have what k - 1 others could have",
        of="views",
        several=True,
    ),
    "rsind": Offer(
        "k-rsind",
        {"k": 2},
        VIEWS,
        "after all views together everybody could have swapped values with k - 1 others",
        of="views",
        several=True,
    ),
    "dp": Offer(
        "differential-privacy",
        {},
        MADE_UP,
        "one person's value changes the chance of any result by little",
        of="synthetic",
    ),
    "pdp": Offer(
        "probabilistic-dp",
        {},
        MADE_UP,
        "the same, but for results that are rare",
        of="synthetic",
    ),
    "dp-all": Offer(
        "differential-privacy",
        {"epsilon": 2, "delta": Fraction(1, 100_000)},
        MADE_UP,
        "several together change by no more than epsilon and delta",
        of="synthetic",
        several=True,
        name="differential-privacy of several",
    ),
    "pdp-all": Offer(
        "probabilistic-dp",
        {"epsilon": 2, "delta": Fraction(1, 100_000)},
        MADE_UP,
        "several together, but for results that are rare",
        of="synthetic",
        several=True,
        name="probabilistic-dp of several",
    ),
}


def offer_of(kind: str, keys: Mapping[Any, Any]) -> Offer | None:
    """What is said here of a check of a plan.

    >>> offer_of("l-diversity", {"kind": "entropy"}).name
    'entropy l-diversity'
    """
    fitting = [one for one in OFFERED.values() if one.kind == kind]
    several = isinstance(keys.get("releases"), list)
    return min(
        fitting,
        key=lambda one: (
            one.parameters.get("kind") != keys.get("kind"),
            one.several != several,
        ),
        default=None,
    )


def by_worry(keys: Collection[str]) -> dict[str, dict[str, str]]:
    """Some of the offers in words, by the worry that they answer.

    >>> by_worry({"k"})
    {"Somebody finds a person's row": {'k': 'k-anonymity: everybody looks like at least k - 1 others'}}
    """  # noqa: E501
    found: dict[str, dict[str, str]] = {}
    for key, offer in OFFERED.items():
        if key in keys:
            found.setdefault(offer.worry, {})[key] = offer.words
    return found
