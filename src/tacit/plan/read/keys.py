"""The keys of the plan file and what each may hold, as pydantic models with errors in our words."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from fractions import Fraction
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, PlainValidator, ValidationError

from tacit.errors import did_you_mean
from tacit.families.catalog import RELEASE_KEYS
from tacit.plan.read import values
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.values import UnfitError, quote_value


def _be(read: Callable[..., Any], *words: Any) -> BeforeValidator:
    """Read a value by one of the functions of `values` before pydantic looks at it."""
    return BeforeValidator(lambda value: read(value, *words))


def _version(value: object) -> int:
    if value == 1 and isinstance(value, int) and not isinstance(value, bool):
        return value
    raise UnfitError(value, "1: this Tacit reads version 1 of the plan file")


Name = Annotated[str, _be(values.text, "a name, in quotes if it looks like a number or true")]
File = Annotated[str | None, _be(values.text, "the name of a file")]
Query = Annotated[str, _be(values.text, "a query in quotes, e.g. \"S(r) :- RP(r, 'p1')\"")]
Columns = Annotated[
    tuple[Name, ...], _be(values.listed, "a column or a list of columns, e.g. [zip, age]")
]
Names = Annotated[tuple[Name, ...], _be(values.listed, "a name or a list of names, e.g. [april]")]
Column = Annotated[str | None, _be(values.text, "the name of a column")]
Number = Annotated[Fraction, PlainValidator(values.number)]
Level = Annotated[
    int, _be(values.whole, "a level: 0 leaves the values as they are, 1 is the first step")
]


REGISTERED = "\0registered"  # no key of a file
METHODS = ("lattice", "mondrian", "window")
UTILITIES = ("loss", "height", "discernibility", "average-group", "kl")
GUARANTEES = ("dp", "pdp")
MECHANISMS = ("dirichlet", "geometric")
OUTSIDE = ("error", "drop")
SOURCE_KEYS = ("read", "ignore")
STEPS = ("synthetic", "shrink", "miles")  # in a release; its keys are numbers of miles


class Keys(BaseModel):
    """A mapping of the plan file: these keys and no others.

    pydantic converts freely ("1" to 1);
    every field is therefore first read by `values`, which does not.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    @classmethod
    def names(cls) -> list[str]:
        """The keys as they are written in the file.

        >>> RoleKeys.names()
        ['default', 'deny', 'allow', 'record']
        """
        return [field.alias or name for name, field in cls.model_fields.items()]

    def written(self) -> dict[str, Any]:
        """What the file gives, under the file's own names."""
        fields = type(self).model_fields
        return {
            fields[n].alias or n: getattr(self, n) for n in fields if n in self.model_fields_set
        }


class TableKeys(Keys):
    """`tables: {NAME: {...}}`. What needs a closer look than a type is read in `tables`."""

    file: File = None
    columns: Any = None
    rows: Any = None
    key: Any = None
    person: Columns = ()
    identifiers: Columns = ()
    quasi_identifiers: Columns = Field((), alias="quasi-identifiers")
    sensitive: Columns = ()
    insensitive: Columns = ()
    hierarchies: Annotated[
        dict[Name, Any], _be(values.mapping, "column: hierarchy, e.g. {zip: zip.csv}")
    ] = {}
    domains: Annotated[
        dict[Name, Any], _be(values.mapping, "column: [values], e.g. {sex: [F, M]}")
    ] = {}
    nullable: Annotated[
        tuple[Name, ...] | None,
        _be(values.listed, "a list of columns; [] if no value is ever missing"),
    ] = None
    distances: Annotated[
        dict[Name, Any], _be(values.mapping, "column: distance, e.g. {salary: numeric}")
    ] = {}
    unknown: Annotated[
        dict[Name, Any], _be(values.mapping, 'column: [values], e.g. {condition: ["?", unknown]}')
    ] = {}
    decimal: Annotated[str, _be(values.choice, (".", ","))] = "."
    merge_spelling: Columns = Field((), alias="merge-spelling")
    as_written: Columns = Field((), alias="as-written")
    foreign_keys: Annotated[
        dict[Name, Name], _be(values.mapping, "column: table.column, e.g. {ward: wards.id}")
    ] = Field({}, alias="foreign-keys")
    snapshot_of: Annotated[str | None, _be(values.text, "the name of a table")] = Field(
        None, alias="snapshot-of"
    )
    derived_from: Annotated[
        tuple[Name, ...], _be(values.listed, "a list of tables, e.g. [visits]")
    ] = Field((), alias="derived-from")


class SyntheticKeys(Keys):
    """`synthetic: {...}` of a release: the mechanism and its parameters.
    Which go together is read in `synthetic`.
    """

    group: Column = Field(examples=["destination"])
    value: Column = Field(examples=["origin"])
    count: Column = None
    epsilon: Annotated[Fraction | str, PlainValidator(values.epsilon)] = Field(examples=["4.6"])
    delta: Number = Field(examples=["1e-5"])
    guarantee: Annotated[str, _be(values.choice, GUARANTEES)] = "dp"
    mechanism: Annotated[str, _be(values.choice, MECHANISMS)] = "dirichlet"
    domain: Any = None
    outside: Annotated[str, _be(values.choice, OUTSIDE)] = "error"
    prior: Annotated[str, _be(values.text, "uniform or the name of a file")] = "uniform"
    coarsen: File = None
    shrink: Any = None
    accept: Annotated[Fraction | None, PlainValidator(values.number)] = None


class ReleaseKeys(Keys):
    """`releases: {NAME: {...}}`. Which keys go together is read in `releases`."""

    table: Annotated[str | None, _be(values.text, "the name of a table")] = None
    generalization: Annotated[
        dict[Name, Level], _be(values.mapping, "column: level, e.g. {zip: 2, age: 1}")
    ] = {}
    method: Annotated[str, _be(values.choice, METHODS)] = "lattice"
    suppress: Annotated[Fraction, PlainValidator(values.share)] = Fraction(0)
    utility: Annotated[str, _be(values.choice, UTILITIES)] = "loss"
    weights: Annotated[
        dict[Name, Number], _be(values.mapping, "column: weight, e.g. {age: 2, zip: 0.5}")
    ] = {}
    at_most: Annotated[
        dict[Name, Level], _be(values.mapping, "column: the highest level, e.g. {zip: 3}")
    ] = Field({}, alias="at-most")
    file: File = None
    query: Annotated[
        str | None, _be(values.text, "a query in quotes, or the name of a .sql file")
    ] = None
    answer: File = None
    constraint: Annotated[
        str | None, _be(values.text, 'a constraint in quotes, e.g. "R(x, y) -> S(y)"')
    ] = None
    synthetic: Annotated[
        SyntheticKeys | None,
        _be(values.mapping, "the mechanism's keys, e.g. {group: ..., value: ...}"),
    ] = None
    to: Annotated[
        tuple[Name, ...], _be(values.listed, "a client or a list of clients, e.g. [authors]")
    ] = ()
    registered: dict[str, Any] = Field({}, validation_alias=REGISTERED)

    @classmethod
    def names(cls) -> list[str]:
        """The keys as they are written in the file, those of registered kinds too."""
        return [name for name in (*super().names(), *RELEASE_KEYS) if name != "registered"]


class RoleKeys(Keys):
    """`roles: {NAME: {...}}`: who may ask the gateway what."""

    default: Annotated[str, _be(values.choice, ("deny", "allow"))] = "deny"
    deny: Names = ()
    allow: Names = ()
    record: Annotated[str, _be(values.choice, ("nothing", "answers"))] = "nothing"


class WaiverKeys(Keys):
    """An entry of `waive`: which check, and who accepts for how long that it does not hold."""

    check: Name = Field(examples=["small-wards"])
    reason: Annotated[str, _be(values.text, "why, in a sentence")] = Field(
        examples=["the board agreed on 3 May"]
    )
    by: Annotated[str, _be(values.text, "who answers for it")] = Field(examples=["A. Bee"])
    until: Annotated[date, BeforeValidator(values.day)] = Field(examples=["2030-01-31"])


def _table(value: object) -> dict[Any, Any]:
    """A table without keys is a file of that name."""
    return values.mapping({} if value is None else value, TABLE)


def _release(value: object) -> dict[Any, Any]:
    """A release; keys that a kind of release registered are kept apart."""
    found = values.mapping(value, RELEASE)
    registered = {key: found[key] for key in found if key in RELEASE_KEYS}
    if not registered:
        return found
    return {REGISTERED: registered, **{key: found[key] for key in found if key not in registered}}


def _section(of: str) -> BeforeValidator:
    return _be(values.mapping, f"a mapping of names to {of}")


CHECKS = "a list: each check on a line of its own, after a dash"
TABLE = "keys such as {file: people.csv, quasi-identifiers: [zip, age]}"
RELEASE = 'keys such as {table: people, generalization: {zip: 2}} or {query: "SELECT ..."}'
WAIVER = "keys such as {check: NAME, reason: ..., by: ..., until: 2030-01-31}"
ROLE = "keys such as {default: deny, allow: [wards]}"


class PlanKeys(Keys):
    """The whole file. Checks are read by the catalog in `checks`."""

    version: Annotated[int, BeforeValidator(_version)] = Field(examples=["1"])
    source: Annotated[
        str, _be(values.text, "a folder, a database file, postgresql://... or spark")
    ] = "."
    source_keys: Annotated[str, _be(values.choice, SOURCE_KEYS)] = Field(
        "read", alias="source-keys"
    )
    ledger: Annotated[
        str, _be(values.text, "a file beside the plan, or postgresql://host/database")
    ] = "tacit-ledger.sqlite"
    organisation: Annotated[str, _be(values.text, "who publishes, as a report names it")] = ""
    author: Annotated[str, _be(values.text, "who asks, as a report names them")] = ""
    question: Annotated[str, _be(values.text, "what is asked, in a sentence or two")] = ""
    tables: Annotated[dict[Name, Annotated[TableKeys, _be(_table)]], _section("tables")] = {}
    constraints: Annotated[
        tuple[Annotated[str, _be(values.text, "a constraint in quotes")], ...],
        _be(values.listed, 'a list of constraints, e.g. ["R(x, y) -> S(y)"]'),
    ] = ()
    secrets: Annotated[dict[Name, Query], _section("queries")] = {}
    releases: Annotated[
        dict[Name, Annotated[ReleaseKeys, _be(_release)]], _section("releases")
    ] = {}
    releases_from: Annotated[
        tuple[Annotated[str, _be(values.text, "a pattern of file names")], ...],
        _be(values.listed, "a list of patterns, e.g. [views/*.sql]"),
    ] = Field((), alias="releases-from")
    published: Names = ()
    dictionary: Names = ()
    checks: Annotated[list[Any], _be(values.items, CHECKS)] = []
    waive: Annotated[
        tuple[Annotated[WaiverKeys, _be(values.mapping, WAIVER)], ...],
        _be(values.items, "a list: each waiver on a line of its own, after a dash"),
    ] = ()
    fresh: Annotated[int | None, _be(values.whole, "a whole number, e.g. 2")] = None
    roles: Annotated[
        dict[Name, Annotated[RoleKeys, _be(values.mapping, ROLE)]], _section("roles")
    ] = {}


@dataclass(frozen=True, slots=True)
class FileKeys:
    """What could be read of a file, and the paths of the pieces that could not."""

    keys: PlanKeys
    broken: frozenset[KeyPath]

    def broken_names(self, section: str) -> set[str]:
        """Names of a section that are there but could not be read: they are not unknown."""
        return {str(path[1]) for path in self.broken if path[0] == section and len(path) == 2}

    def is_whole(self, section: str) -> bool:
        """Whether every name of a section is known."""
        return (section,) not in self.broken


def read_keys(data: dict[Any, Any], faults: Faults) -> FileKeys:
    """Read the file's keys; note what is wrong and read on without the pieces at fault.

    A piece is a table, a release, a secret or a role; elsewhere a whole key of the file.
    """
    data = _with_text_keys(data, (), faults)
    sections = set(PlanKeys.names()) - {"version"}  # `checks:` with nothing below it asks nothing
    data = {key: value for key, value in data.items() if value is not None or key not in sections}
    broken: set[KeyPath] = set()
    try:
        return FileKeys(PlanKeys.model_validate(data), frozenset())
    except ValidationError as error:
        for one in error.errors(include_url=False):
            path: KeyPath = tuple(one["loc"])
            _note(one["type"], path, one["input"], one.get("ctx", {}), faults)
            broken.add(path[:2] if path[0] in NAMED and len(path) > 1 else path[:1])
    return FileKeys(
        PlanKeys.model_validate({**_without(data, broken), "version": 1}), frozenset(broken)
    )


NAMED = ("tables", "releases", "secrets", "roles")


def _with_text_keys(value: Any, path: KeyPath, faults: Faults) -> Any:
    """Leave out keys that are not text; in lists (rows, checks) a key may be any value."""
    if not isinstance(value, dict) or (path[:1] == ("releases",) and path[2:] == STEPS):
        return value
    for key in value:
        if not isinstance(key, str):
            words = f"{quote_value(key)} is a key where a name belongs."
            faults.add(words, *path, key, hint="Write it in quotes.", key=True)
    return {
        key: _with_text_keys(one, (*path, key), faults)
        for key, one in value.items()
        if isinstance(key, str)
    }


def _without(data: dict[Any, Any], broken: set[KeyPath]) -> dict[Any, Any]:
    whole = {key: value for key, value in data.items() if (key,) not in broken}
    for section in NAMED:
        if section in whole:
            whole[section] = {
                key: value for key, value in whole[section].items() if (section, key) not in broken
            }
    return whole


def _model(path: KeyPath) -> type[Keys]:
    """The model that a mapping at this path is read by."""
    if path[2:] == ("synthetic",):
        return SyntheticKeys
    by_section: dict[str, type[Keys]] = {
        "tables": TableKeys,
        "releases": ReleaseKeys,
        "roles": RoleKeys,
        "waive": WaiverKeys,
    }
    return by_section[str(path[0])] if path else PlanKeys


def _note(kind: str, path: KeyPath, value: Any, context: dict[str, Any], faults: Faults) -> None:
    """One of pydantic's errors in our words."""
    *above, last = path
    if kind == "extra_forbidden":
        hint = did_you_mean(str(last), _model(tuple(above)).names())
        # {query: V(r) :- RS(r, s)}: YAML ends a value without quotes at the comma
        if value is None:
            hint += " If a comma split your text, put the text in quotes."
        faults.add(f"unknown key {last!r}.", *path, hint=hint, key=True)
    elif kind == "missing":
        example = _example(_model(tuple(above)), str(last))
        named = [f"{step!r}" for step in above if isinstance(step, str)]
        where = named[-1] if named else "the plan"
        faults.add(
            f"{where} needs the key {last!r}.", *above, hint=f"Add {last}: {example}", key=True
        )
    elif last == "[key]":
        faults.add("a name cannot be empty.", *above, hint="Give it one.", key=True)
    else:
        faults.unfit(context["error"], *path)


def _example(model: type[Keys], key: str) -> str:
    return next(
        str(field.examples[0])
        for name, field in model.model_fields.items()
        if name == key and field.examples
    )
