"""The catalog of checks: what each asks about, the keys it takes, and how one is read from the plan."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

from tacit.errors import did_you_mean
from tacit.model.release import Constraint, Microdata, Release, Synthetic, View
from tacit.plan import values
from tacit.plan.document import Faults, KeyPath
from tacit.plan.plan import Check
from tacit.plan.values import UnfitError, either, found, repeated

Kind = Literal[
    "integer", "number", "epsilon", "choice", "list", "text", "file", "column", "names", "groups", "any"
]
ReleaseType = type[Microdata] | type[View] | type[Constraint] | type[Synthetic]

OWN_FIELDS = (
    "name",
    "secret",
    "sensitive",
    "given",
    "collude",
    "dictionary",
)  # of Check; the others are parameters


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
    return CheckKind(name, (Microdata,), (*parameters, *FOR_MICRODATA, *OUT, *NAME), sensitive=sensitive)


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
    """A check of one mechanism or of several together; without parameters those of the releases count."""
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
            choice("attacker", "prosecutor", "journalist", "marketer"), Parameter("population", "text", "city")
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


def read_check(entry: object, at: int, faults: Faults) -> Check | None:
    """The check at a position of the list, or None where something is wrong with it.

    >>> from tacit.plan.document import parse
    >>> faults = Faults(parse("checks: [k-anonymity: {release: april, k: 4}]"))
    >>> check = read_check({"k-anonymity": {"release": "april", "k": 4}}, 0, faults)
    >>> check.kind, check.releases, check.parameters
    ('k-anonymity', ('april',), {'k': 4})
    """
    kind = _kind(entry, at, faults)
    if kind is None or not isinstance(entry, dict):
        return None
    path = ("checks", at, kind.name)
    written = entry[kind.name]
    if not isinstance(written, dict | None):
        faults.add(
            f"found {found(written)} in {kind.name!r}.", *path, hint=f"Write {kind.example()}"
        )
        return None
    before = len(faults)
    given = _parameters(kind, written or {}, path, faults)
    releases = _releases(kind, written or {}, path, faults)
    if len(faults) > before:
        return None
    own = {key: given.pop(key) for key in OWN_FIELDS if key in given}
    return Check(kind=kind.name, parameters=given, releases=releases, path=path, **own)


def _kind(entry: object, at: int, faults: Faults) -> CheckKind | None:
    """Which check an entry of the list asks for."""
    path = ("checks", at)
    names: list[Any] = list(entry) if isinstance(entry, dict) else [entry]
    known = [name for name in names if isinstance(name, str) and name in CHECKS]
    if isinstance(entry, dict) and len(entry) == 1 and known:
        return CHECKS[known[0]]
    if known and isinstance(entry, dict):
        key = next(name for name in names if name != known[0])
        hint = f"Indent the keys below it deeper than {known[0]}, or write {CHECKS[known[0]].example()}"
        faults.add(
            f"{key!r} stands beside {known[0]!r}, not in it.", *path, key, hint=hint, key=True
        )
    elif known:
        faults.add(
            f"{known[0]} has no parameters.", *path, hint=f"Write {CHECKS[known[0]].example()}"
        )
    elif names and isinstance(names[0], str):
        near = did_you_mean(names[0], CHECKS)
        near = "" if near.startswith("Known") else near + " "
        faults.add(
            f"there is no check {names[0]!r}.",
            *path,
            names[0],
            hint=f"{near}Checks: {', '.join(CHECKS)}.",
            key=True,
        )
    else:
        faults.add(
            f"found {found(entry)} in 'checks'.",
            *path,
            hint="Write e.g. k-anonymity: {release: april, k: 4}",
        )
    return None


def _parameters(
    kind: CheckKind, written: dict[Any, Any], path: KeyPath, faults: Faults
) -> dict[str, Any]:
    """The values of a check's keys; unknown and missing keys are noted."""
    known = {parameter.name: parameter for parameter in kind.parameters}
    given = {}
    for key, value in written.items():
        if key in known:
            given[key] = faults.fit((*path, key), READ[known[key].kind], value, known[key])
        elif key not in ("release", "releases"):
            hint = did_you_mean(str(key), kind.keys())
            faults.add(f"{kind.name} takes no {key!r}.", *path, key, hint=hint, key=True)
    missing = [
        name for name, parameter in known.items() if parameter.required and name not in written
    ]
    if "release" not in written and "releases" not in written:
        missing.insert(0, "release")
    if missing:
        needs = either([f"{key!r}" for key in missing], "and")
        faults.add(f"{kind.name} needs {needs}.", *path, hint=f"Write {kind.example()}", key=True)
    return given


def _releases(
    kind: CheckKind, written: dict[Any, Any], path: KeyPath, faults: Faults
) -> tuple[str, ...]:
    """`release: x`, `releases: [x]` and `release: [x]` are the same."""
    keys = [key for key in written if key in ("release", "releases")]
    if not keys:
        return ()
    if len(keys) == 2:
        hint = "Write all names under one of them."
        faults.add(
            "'release' and 'releases' are the same key.", *path, keys[1], hint=hint, key=True
        )
        return ()
    path = (*path, keys[0])
    instead = "the name of a release" + (" or a list of names" if kind.many else "")
    names = faults.fit(path, values.listed, written[keys[0]], instead)
    if names is None:
        return ()
    for at, name in enumerate(names):
        faults.fit((*path, at), values.text, name, "the name of a release")
    if not names:
        faults.add("the list of releases is empty.", *path, hint=f"Write {instead}.")
    elif len(names) > 1 and not kind.many:
        hint = "Ask once for each of them, in checks of their own."
        faults.add(f"{kind.name} judges one release, found {len(names)}.", *path, hint=hint)
    for at, name in repeated(name for name in names if isinstance(name, str)):
        faults.add(f"release {name!r} stands twice.", *path, at, hint="Remove one.")
    return names


def _read_list(value: object, parameter: Parameter) -> tuple[Any, ...]:
    """Values, of any type: 1 and "1" differ."""
    written = value if isinstance(value, list) else [value]
    if any(one is None or isinstance(one, list | dict) for one in written):
        raise UnfitError(value, f"a list of values, e.g. {parameter.example}")
    return tuple(written)


def _read_names(value: object, parameter: Parameter) -> tuple[str, ...]:
    instead = f"a list of names, e.g. {parameter.example}"
    return tuple(values.text(name, instead) for name in values.listed(value, instead))


def _read_groups(value: object, parameter: Parameter) -> tuple[tuple[str, ...], ...]:
    """Clients who share what they get: a list of lists, each of two or more."""
    instead = f"a list of groups of clients, e.g. {parameter.example}"
    groups = values.items(value, instead)
    for group in groups:
        if not isinstance(group, list) or len(group) < 2 or repeated(map(str, group)):
            raise UnfitError(value if len(groups) > 1 else group, instead)
    return tuple(tuple(values.text(name, instead) for name in group) for group in groups)


READ: dict[Kind, Callable[[object, Parameter], Any]] = {
    "integer": lambda value, one: values.whole(value, f"a whole number, e.g. {one.example}"),
    "number": lambda value, one: values.number(value),
    "epsilon": lambda value, one: values.epsilon(value),
    "choice": lambda value, one: values.choice(value, one.choices),
    "list": _read_list,
    "text": lambda value, one: values.text(value, f"a name, e.g. {one.example}"),
    "file": lambda value, one: values.text(value, f"the name of a file, e.g. {one.example}"),
    "column": lambda value, one: values.text(value, "the name of a column"),
    "names": _read_names,
    "groups": _read_groups,
    "any": lambda value, one: value,
}
