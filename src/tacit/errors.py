"""The tree of errors: everything Tacit raises on purpose, with what to write instead.

TacitError
├── InputError (ValueError)       something the user wrote or pointed at is wrong; exit status 2
│   ├── PlanError                 in the plan file: carries line and column
│   ├── DataError                 in a table, a hierarchy or a released file
│   ├── QueryError                in a query: carries a code that the documentation explains
│   └── ParameterError            a threshold that protects nobody or is out of range
├── EngineError                   the database refused: no connection, no rights, no disk
│   └── GatewayError              a gateway cannot be asked: no connection, a wrong token, no place free
├── Refused                       a gateway does not answer a query: carries its code and the secret
├── NotMet                        raise_for_status: checks that do not hold, with their verdicts
├── MissingExtra (ImportError)    an optional package is not installed
└── Problems                      several of the above, found in one go
"""  # noqa: E501

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in a file; lines and columns count from 1, `text` is the line itself."""

    file: str
    line: int | None = None
    column: int | None = None
    text: str | None = None

    def __str__(self) -> str:
        """Print as path:line:column, leaving out what is unknown.

        >>> str(Mark("tacit.yaml", 3, 7))
        'tacit.yaml:3:7'
        """
        return ":".join(str(part) for part in (self.file, self.line, self.column) if part)


def _again(kind: type[TacitError], state: dict[str, Any], args: tuple[Any, ...]) -> TacitError:
    """An error that was sent to another process."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(state)
    return error


class TacitError(Exception):
    """Anything Tacit raises on purpose: what was found, where, and what to do about it.

    >>> error = TacitError(
    ...     "k=1 protects nobody.", hint="Use k >= 2.", mark=Mark("tacit.yaml", 2, 9, "    k: 1")
    ... )
    >>> print(error)
    tacit.yaml:2:9: k=1 protects nobody. Use k >= 2.
            k: 1
                ^
    """

    def __init__(self, message: str, *, hint: str | None = None, mark: Mark | None = None) -> None:
        self.message = message
        self.hint = hint
        self.mark = mark
        super().__init__(message)

    def __reduce__(self) -> tuple[Any, ...]:
        return _again, (type(self), self.__dict__.copy(), self.args)

    def at(self, mark: Mark | None) -> TacitError:
        """The same error with a place, unless it has one already."""
        self.mark = self.mark or mark
        return self

    def __str__(self) -> str:
        place = f"{self.mark}: " if self.mark else ""
        lines = [place + " ".join(part for part in (self.message, self.hint) if part)]
        if self.mark and self.mark.text is not None and self.mark.column:
            lines += ["    " + self.mark.text, "    " + " " * (self.mark.column - 1) + "^"]
        return "\n".join(lines)

    def __iter__(self) -> Iterator[TacitError]:
        yield self

    def to_json(self) -> dict[str, object]:
        """The object that `--json` prints.

        >>> TacitError("no table 'x'", hint="Add it.").to_json()["hint"]
        'Add it.'
        """
        mark = self.mark or Mark("")
        return {
            "message": self.message,
            "file": mark.file or None,
            "line": mark.line,
            "column": mark.column,
            "hint": self.hint,
        }


class InputError(TacitError, ValueError):
    """Something the user wrote or pointed at is wrong."""


class PlanError(InputError):
    """The plan file, or an argument in the place of one, is wrong at a place."""


class DataError(InputError):
    """A table, a hierarchy or a released file is wrong."""


class QueryError(InputError):
    """A query that is wrong or is not read at all; `code` is explained in the documentation.

    >>> QueryError("there is no table 'wrads'.", code="unknown-table").code
    'unknown-table'
    """

    def __init__(
        self, message: str, *, code: str, hint: str | None = None, mark: Mark | None = None
    ) -> None:
        self.code = code
        super().__init__(message, hint=hint, mark=mark)


class ParameterError(InputError):
    """A threshold that protects nobody or lies outside its range; `parameter` names it."""

    def __init__(
        self, message: str, *, parameter: str | None = None, hint: str | None = None
    ) -> None:
        self.parameter = parameter
        super().__init__(message, hint=hint)


class EngineError(TacitError):
    """The engine refused: no connection, no rights, no disk, or SQL it does not know."""


class GatewayError(EngineError):
    """A gateway cannot be asked, whatever the query says; `code` tells programs why.

    >>> GatewayError("nobody answers at https://clinic.example.", code="unreachable").code
    'unreachable'
    """

    def __init__(self, message: str, *, code: str, hint: str | None = None) -> None:
        self.code = code
        super().__init__(message, hint=hint)


class Refused(TacitError):
    """A gateway does not answer a query in this role;
    `code` is explained in the documentation, `secret` is what forbids it.

    >>> Refused("it would say something about cancer.", code="discloses", secret="cancer").secret
    'cancer'
    """

    def __init__(
        self, message: str, *, code: str, secret: str | None = None, hint: str | None = None
    ) -> None:
        self.code = code
        self.secret = secret
        super().__init__(message, hint=hint)


class NotMet(TacitError):
    """Checks that were to hold do not; `verdicts` are theirs. It names nobody.

    >>> NotMet("2-anonymity is breached: a group of 1 person, 2 required.", verdicts=()).verdicts
    ()
    """

    def __init__(self, message: str, *, verdicts: tuple[Any, ...]) -> None:
        self.verdicts = verdicts
        super().__init__(message)


def install_command(extra: str) -> str:
    """How to install what an extra needs. The distribution is called tacit-privacy:
    on the public index `tacit` belongs to somebody else.

    >>> install_command("solve")
    "pip install 'tacit-privacy[solve]'"
    """
    return f"pip install 'tacit-privacy[{extra}]'"


class MissingExtra(TacitError, ImportError):
    """An optional package is needed and not installed.

    >>> print(MissingExtra("psycopg", extra="postgres", purpose="PostgreSQL sources"))
    PostgreSQL sources need the package psycopg. Run: pip install 'tacit-privacy[postgres]'
    """

    def __init__(self, package: str, *, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} need the package {package}.",
            hint=f"Run: {install_command(extra)}",
        )


class Problems(TacitError):
    """Several problems found in one go, in the order of the file.

    >>> print(Problems([TacitError("one"), TacitError("two")]))
    one
    two
    """

    def __init__(self, problems: Iterable[TacitError]) -> None:
        self.problems = tuple(one for problem in problems for one in problem)
        first = self.problems[0]
        super().__init__(first.message, hint=first.hint, mark=first.mark)

    def __iter__(self) -> Iterator[TacitError]:
        return iter(self.problems)

    def __str__(self) -> str:
        return "\n".join(str(problem) for problem in self.problems)


def raise_all(problems: Iterable[TacitError]) -> None:
    """Raise what was collected: nothing, the one problem, or all of them together."""
    found = tuple(problems)
    if len(found) == 1:
        raise found[0]
    if found:
        raise Problems(found)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or else all of them.

    >>> did_you_mean("quasi-identifier", ["quasi-identifiers", "sensitive"])
    "Did you mean 'quasi-identifiers'?"
    >>> did_you_mean("zzz", ["a", "b"])
    'Known: a, b.'
    """
    import difflib

    names = list(known)
    near = difflib.get_close_matches(
        str(word).lower(), [name.lower() for name in names], n=1, cutoff=0.6
    )
    if near:
        return f"Did you mean {next(n for n in names if n.lower() == near[0])!r}?"
    return f"Known: {', '.join(sorted(names))}." if names else ""
