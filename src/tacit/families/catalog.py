"""The catalog of checks: what each asks about, and the keys it takes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal

from tacit.model.release import Constraint, Microdata, Release, Synthetic, View

Kind = Literal[
    "integer",
    "number",
    "epsilon",
    "choice",
    "list",
    "text",
    "file",
    "column",
    "names",
    "groups",
    "any",
]
ReleaseType = type[Microdata] | type[View] | type[Constraint] | type[Synthetic]


@dataclass(frozen=True, slots=True)
class Parameter:
    """A key of a check: what kind of value it holds, with an example of one."""

    name: str
    kind: Kind
    example: str
    choices: tuple[str, ...] = ()
    required: bool = True


@dataclass(frozen=True, slots=True)
class CheckKind:
    """What a kind of check is about.

    `about` are the kinds of release it can judge, `many` is whether it judges several together.
    `sensitive` is how many sensitive columns the release's table needs: "any" number, "some"
    (several are judged together), or "one" (the check names it where there are several).
    """

    name: str
    about: tuple[ReleaseType, ...]
    parameters: tuple[Parameter, ...]
    many: bool = False
    sensitive: Literal["any", "some", "one"] = "any"

    def keys(self) -> list[str]:
        """Every key that the check takes.

        >>> CHECKS["k-anonymity"].keys()
        ['release', 'releases', 'k', 'sensitive', 'missing', 'given', 'collude', 'name']
        """
        return ["release", "releases", *(parameter.name for parameter in self.parameters)]

    def example(self) -> str:
        """How the check is written.

        >>> CHECKS["l-diversity"].example()
        'l-diversity: {release: NAME, kind: distinct, l: 3}'
        """
        required = [f"{one.name}: {one.example}" for one in self.parameters if one.required]
        return f"{self.name}: {{{', '.join(['release: NAME', *required])}}}"


def integer(name: str, example: str = "2") -> Parameter:
    """A key that holds a whole number."""
    return Parameter(name, "integer", example)


def number(name: str, example: str = "0.5") -> Parameter:
    """A key that holds an exact number."""
    return Parameter(name, "number", example)


def choice(name: str, *choices: str) -> Parameter:
    """A key that holds one of a few words."""
    return Parameter(name, "choice", choices[0], choices)


def optional(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Keys that may be left out."""
    return tuple(replace(parameter, required=False) for parameter in parameters)


NAME = optional(Parameter("name", "text", "my-check"))
# What is out already, and who tells whom: every check is asked about what its recipients hold.
OUT = optional(Parameter("given", "names", "[ledger]"), Parameter("collude", "groups", "[[a, b]]"))
SECRET = Parameter("secret", "text", "NAME")
FOR_MICRODATA = optional(
    Parameter("sensitive", "column", "condition"),
    choice("missing", "own-group", "match-any", "error"),
)


def microdata(
    name: str, *parameters: Parameter, sensitive: Literal["any", "some", "one"] = "one"
) -> CheckKind:
    """A check of one generalized copy of a table."""
    return CheckKind(
        name, (Microdata,), (*parameters, *FOR_MICRODATA, *OUT, *NAME), sensitive=sensitive
    )


def together(name: str, about: tuple[ReleaseType, ...], *parameters: Parameter) -> CheckKind:
    """A check that judges several releases together."""
    return CheckKind(name, about, (*parameters, *OUT, *NAME), many=True)


def view_safety(name: str) -> CheckKind:
    """g-safety or e-safety: what a new view says beyond the published ones."""
    return together(
        name,
        (View, Constraint),
        SECRET,
        *optional(
            choice("over", "instance", "domain", "all"),
            Parameter("dictionary", "names", "[TABLE.COLUMN]"),
            number("seconds", "60"),
        ),
    )


def synthetic(name: str) -> CheckKind:
    """A check of one mechanism or of several together;
    without parameters those of the releases count.
    """
    required = Parameter("epsilon", "epsilon", "4.6"), number("delta", "1e-5")
    return together(name, (Synthetic,), *optional(*required))


CATALOG = (
    microdata("k-anonymity", integer("k", "4"), sensitive="any"),
    microdata(
        "l-diversity",
        choice("kind", "distinct", "entropy", "recursive"),
        number("l", "3"),
        *optional(
            number("c", "3"),
            Parameter("dont-care", "list", "[flu]"),
            Parameter("negative", "list", "[cancer]"),
            number("c2", "10"),
        ),
        sensitive="some",
    ),
    microdata(
        "t-closeness",
        number("t", "0.2"),
        *optional(choice("distance", "equal", "ordered", "hierarchical")),
    ),
    microdata("alpha-k", number("alpha"), integer("k")),
    microdata("k-e", integer("k"), number("e", "5000")),
    microdata("eps-m", number("epsilon", "1000"), number("m", "2")),
    microdata("variance", number("v", "100")),
    microdata("c-k-safety", number("c"), integer("k")),
    microdata("skyline", integer("l"), integer("k"), integer("m"), number("c")),
    microdata(
        "rho1-rho2",
        number("rho1", "0.1"),
        number("rho2"),
        *optional(Parameter("prior", "file", "prior.csv")),
    ),
    microdata("dissimilarity", number("epsilon", "0.1"), number("delta"), integer("k")),
    microdata(
        "semantic",
        Parameter("measure", "any", "{positive: 0.5}"),
        *optional(
            Parameter("protect", "any", "{equals: all}"),
            Parameter("against", "any", "{negations: 1}"),
        ),
    ),
    microdata(
        "risk",
        number("at-most", "0.1"),
        *optional(
            choice("attacker", "prosecutor", "journalist", "marketer"),
            Parameter("population", "text", "city"),
        ),
        sensitive="any",
    ),
    together("k-sind", (View, Microdata), integer("k"), *optional(number("seconds", "60"))),
    together(
        "k-rsind",
        (View, Microdata),
        integer("k"),
        *optional(choice("variant", "diverse", "literal"), number("seconds", "60")),
    ),
    together(
        "gamma-privacy",
        (View, Microdata),
        number("gamma"),
        *optional(number("epsilon", "0.02"), number("theta", "0.95"), number("seconds", "60")),
    ),
    together(
        "perfect-privacy",
        (View,),
        SECRET,
        *optional(
            choice("semantics", "set", "bag"),
            choice("model", "tuple-independent", "attribute-independent"),
            number("seconds"),
        ),
    ),
    view_safety("g-safety"),
    view_safety("e-safety"),
    synthetic("differential-privacy"),
    synthetic("probabilistic-dp"),
)
CHECKS = {kind.name: kind for kind in CATALOG}

CALLED: dict[ReleaseType, str] = {
    Microdata: "microdata",
    View: "a view",
    Constraint: "a constraint",
    Synthetic: "synthetic data",
}


def called(release: Release) -> str:
    """What a release is, in a word or two.

    >>> called(View("who", "V(r) :- RS(r, s)"))
    'a view'
    """
    return CALLED[type(release)]
