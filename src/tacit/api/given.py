"""What Python code gives: made plain, or refused by the name of its argument."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tacit.errors import DataError, InputError, Mark, ParameterError, Problems
from tacit.families.parameters import number
from tacit.model.jobs import Job
from tacit.plan.read.arguments import assigned
from tacit.python_plan import labels_of

TEXT = "df.columns = df.columns.astype(str)"
FLAT = 'df.columns = ["_".join(map(str, one)) for one in df.columns]'


@contextmanager
def in_python() -> Iterator[None]:
    """Errors speak of arguments and values as Python writes them, whoever raises them.

    >>> with in_python():
    ...     raise InputError("--at is wrong.", hint="Use distance: equal.")
    Traceback (most recent call last):
    tacit.errors.InputError: at is wrong. Use distance="equal".
    """
    try:
        yield
    except (InputError, Problems) as error:
        for one in (error, *error):
            one.message = assigned(one.message.removeprefix("--"))
            one.hint = assigned(one.hint) if one.hint else one.hint
        raise


def columns_of(argument: str, given: Any, data: Any) -> Any:
    """The columns that an argument names, as a list: what can be read once only is read here.

    >>> columns_of("sensitive", (one for one in ["age", "zip"]), None)
    ['age', 'zip']
    """
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        return given
    columns = list(given)
    name = getattr(given, "name", None)
    labels = labels_of(data) if isinstance(name, str) else None
    there = [] if labels is None else list(labels)
    if name in there and not all(one in there for one in columns):
        raise ParameterError(
            f"{argument} has the values of a column, and takes its name.",
            parameter=argument,
            hint=f'Write {argument}="{name}".',
        )
    for place, one in enumerate(columns):
        if isinstance(one, int | float | tuple):
            raise DataError(
                f"{one!r} is no text, and columns are named by text.",
                hint=f"Rename the columns: {FLAT if isinstance(one, tuple) else TEXT}.",
                mark=Mark(f"{argument}[{place}]"),
            )
    return columns


def roles_of(data: Any, **roles: Any) -> dict[str, Any]:
    """The columns of each role, under the role's name in a plan; one without columns is left out,
    but for quasi-identifiers: there are none only where that is said.

    >>> roles_of(None, quasi_identifiers=[], sensitive=(), person="id")
    {'quasi-identifiers': [], 'person': 'id'}
    """
    found = {argument: columns_of(argument, one, data) for argument, one in roles.items()}
    return {
        argument.replace("_", "-"): one
        for argument, one in found.items()
        if argument == "quasi_identifiers" or one != []
    }


def texts_of(argument: str, given: Any, example: str) -> list[Any]:
    """One text or several, as a list.

    >>> texts_of("view", "SELECT 1", "")
    ['SELECT 1']
    >>> texts_of("view", 3, '["SELECT zip FROM data"]')
    Traceback (most recent call last):
    tacit.errors.ParameterError: view is of type int, and takes a text or several. Write for example view=["SELECT zip FROM data"].
    """  # noqa: E501
    if isinstance(given, str):
        return [given]
    if isinstance(given, Mapping | bytes) or not isinstance(given, Iterable):
        raise ParameterError(
            f"{argument} is of type {type(given).__name__}, and takes a text or several.",
            parameter=argument,
            hint=f"Write for example {argument}={example}.",
        )
    return list(given)


def views_of(given: Any) -> Mapping[str, Any] | list[Any]:
    """Views with their names, or in a list; there is one at least."""
    example = '["SELECT condition FROM data WHERE age < 30"]'
    named = isinstance(given, Mapping)
    views: Mapping[str, Any] | list[Any] = given if named else texts_of("views", given, example)
    if not views or (named and any(not isinstance(one, str) for one in views)):
        raise ParameterError(
            "views are named by text." if views else "views is empty, and nothing is shown.",
            parameter="views",
            hint=f"Write for example views={example}.",
        )
    return views


def refuse_none(**given: Any) -> None:
    """Arguments that must have a value."""
    for argument, one in given.items():
        if one is None:
            raise ParameterError(f"{argument} is None, and is needed.", parameter=argument)


def seconds_of(given: Any) -> float | None:
    """How long something may take; None is no limit."""
    return None if given is None else float(number("seconds", given, least=0))


def job_of(given: Job | None) -> Job:
    """The job that was given, or one that nobody watches."""
    if given is not None and not isinstance(given, Job):
        raise ParameterError(
            f"job: a value of type {type(given).__name__} is no job.",
            parameter="job",
            hint="Write job=tacit.progress().",
        )
    return given or Job()


def path_of(argument: str, given: Any) -> Path | None:
    """A file's path, or None."""
    if given is None or isinstance(given, str | Path):
        return None if given is None else Path(given)
    raise ParameterError(
        f"{argument}: a value of type {type(given).__name__} is no path of a file.",
        parameter=argument,
        hint=f'Write {argument}="people.csv"; df.to_csv("people.csv", index=False) makes one.',
    )


def one_person(given: Any) -> Sequence[Any]:
    """The values of the columns that tell who somebody is."""
    return list(given) if isinstance(given, list | tuple) else [given]
