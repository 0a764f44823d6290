"""Release: what goes out. A view, microdata, synthetic data, or a published constraint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Literal, Self

Method = Literal["lattice", "mondrian", "window"]


class Release:
    """What goes out. `shape` is its kind in a word, as the ledger writes it; `called` says
    it to a reader.
    """

    __slots__ = ()
    shape: ClassVar[str]
    called: ClassVar[str]
    name: str
    to: tuple[str, ...]

    @property
    def answer_file(self) -> str | None:
        """The file of the plan that has what was published; None where the data give it."""
        return None

    @property
    def of_table(self) -> str | None:
        """The one table that it is made from; None where it may be about any."""
        return None

    def files(self) -> tuple[str, ...]:
        """The owner's files that the release is made from."""
        return ()

    def given_to(self, to: tuple[str, ...]) -> Self:
        """The same release for other recipients."""
        return replace(self, to=to)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Repair:
    """How a microdata release is to be generalized until its checks hold.

    `suppress` is the share of rows that may be dropped, `weights` say how much each column matters,
    `at_most` is the highest level allowed for a column.
    """

    method: Method = "lattice"
    suppress: Fraction = Fraction(0)
    utility: str = "loss"
    weights: Mapping[str, Fraction] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Microdata(Release):
    """A generalized copy of a table, made by levels or found in a file that someone else made."""

    shape: ClassVar[str] = "microdata"
    called: ClassVar[str] = "microdata"
    name: str
    table: str
    generalization: Mapping[str, int] = field(default_factory=dict)
    file: str | None = None
    to: tuple[str, ...] = ()
    repair: Repair = Repair()

    @property
    def answer_file(self) -> str | None:
        """The file, where someone else made it."""
        return self.file

    @property
    def of_table(self) -> str:
        """The table that it is a copy of."""
        return self.table


@dataclass(frozen=True, slots=True)
class View(Release):
    """A query, and its answer where that came from elsewhere."""

    shape: ClassVar[str] = "view"
    called: ClassVar[str] = "a view"
    name: str
    query: str
    query_file: str | None = None
    answer: str | None = None
    to: tuple[str, ...] = ()

    @property
    def answer_file(self) -> str | None:
        """The file with the answer."""
        return self.answer

    def files(self) -> tuple[str, ...]:
        """The query's file, and that of its answer."""
        return tuple(name for name in (self.query_file, self.answer) if name)


@dataclass(frozen=True, slots=True)
class Constraint(Release):
    """A constraint that is made public."""

    shape: ClassVar[str] = "constraint"
    called: ClassVar[str] = "a constraint"
    name: str
    constraint: str
    to: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublicDomain:
    """The public file that lists the values of synthetic data, and where they are.

    None stands for the usual column (named like the value, `lat`, `lon`; else the first). `groups`
    is the file with the places of the groups (None: the same file), `within` how many miles from
    its group a value may be.
    """

    file: str
    value: str | None = None
    latitude: str | None = None
    longitude: str | None = None
    groups: str | None = None
    within: Fraction | None = None


@dataclass(frozen=True, slots=True)
class MilesKept:
    """The chance of an empty cell to be kept as a step function of its distance:
    up to so many miles this much, in order.
    """

    steps: tuple[tuple[Fraction, Fraction], ...]
    beyond: Fraction | None = None


@dataclass(frozen=True, slots=True)
class Synthetic(Release):
    """A mechanism's output: which table and columns, what is promised,
    and the mechanism with its options.

    `epsilon` is an exact number, or text such as `ln(50)`. `prior`, `coarsen` and `shrink` are
    public files (None: a uniform prior, the values as they are, all cells kept); `accept` is the
    gamma of gamma-Good.
    """

    shape: ClassVar[str] = "synthetic"
    called: ClassVar[str] = "synthetic data"
    name: str
    table: str
    group: str
    value: str
    epsilon: Fraction | str
    delta: Fraction
    count: str | None = None
    guarantee: Literal["dp", "pdp"] = "dp"
    mechanism: Literal["dirichlet", "geometric"] = "dirichlet"
    domain: PublicDomain | None = None
    outside: Literal["error", "drop"] = "error"
    prior: str | None = None
    coarsen: str | None = None
    shrink: str | MilesKept | None = None
    accept: Fraction | None = None
    to: tuple[str, ...] = ()

    @property
    def of_table(self) -> str:
        """The table whose people are drawn anew."""
        return self.table

    def files(self) -> tuple[str, ...]:
        """The public files that the release names.

        >>> Synthetic(
        ...     "s",
        ...     "jobs",
        ...     "to",
        ...     "from",
        ...     "ln(50)",
        ...     Fraction(0),
        ...     domain=PublicDomain("tracts.csv"),
        ...     prior="people.csv",
        ... ).files()
        ('tracts.csv', 'people.csv')
        """
        domain = self.domain
        named = (
            domain and domain.file,
            domain and domain.groups,
            self.prior,
            self.coarsen,
            self.shrink if isinstance(self.shrink, str) else None,
        )
        return tuple(name for name in named if name)
