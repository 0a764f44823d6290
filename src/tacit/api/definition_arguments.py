"""Definitions as Python code names them: an object, or the name of a check with its parameters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError, did_you_mean
from tacit.families.catalog import CHECKS, DEFINITIONS, define, kinds_of
from tacit.families.definition import Definition
from tacit.families.registration import CheckKey, CheckKind

Exact = int | float | str | Decimal | Fraction
# Of a plan: what is published, the column, the check's name, and another table.
NOT_HERE = {"given", "collude", "sensitive", "name", "population"}


def parameters_of(kind: CheckKind) -> list[CheckKey]:
    """What a check takes where there is no plan."""
    return [one for one in kind.parameters if one.name not in NOT_HERE]


def argument_name(parameter: CheckKey) -> str:
    """A key of a plan as Python's argument."""
    return parameter.name.replace("-", "_")


PARAMETERS = {
    argument_name(one) for kind in kinds_of("microdata") for one in parameters_of(CHECKS[kind])
}


def definition_of(given: Any, parameters: Mapping[str, Any]) -> Definition:
    """The definition that `check` was given.

    >>> definition_of("k-anonymity", {"k": 4, "l": None})
    KAnonymity(k=4, missing='own-group')
    >>> definition_of("k-anonymity", {"l": 3})
    Traceback (most recent call last):
    tacit.errors.ParameterError: k-anonymity does not take l. It takes k and missing.
    """
    said = {name: one for name, one in parameters.items() if one is not None}
    if not isinstance(given, str):
        found = definitions_of(given, "definition")
        if said or len(found) != 1:
            raise ParameterError(
                f"{', '.join(said) or 'one definition'} belongs to the definition itself."
                if said
                else "check asks one definition.",
                parameter="definition",
                hint=(
                    f"Write {type(found[0]).__name__}({next(iter(said))}=...)."
                    if said
                    else "Use tacit.check_all for several."
                ),
            )
        return found[0]
    kinds = kinds_of("microdata")
    if given not in kinds:
        raise ParameterError(
            f"{given!r} is no check of one table.",
            parameter="definition",
            hint=did_you_mean(given, kinds),
        )
    takes = {argument_name(one): one for one in parameters_of(CHECKS[given])}
    for name in said:
        if name not in takes:
            raise ParameterError(
                f"{given} does not take {name}.",
                parameter=name,
                hint=f"It takes {' and '.join(takes)}.",
            )
    for name, one in takes.items():
        if one.required and name not in said:
            raise ParameterError(
                f"{given} needs {name}.",
                parameter=name,
                hint=f"Write for example {name}={python_text(one)}.",
            )
    return define(given, said)


def python_text(parameter: CheckKey) -> str:
    """A parameter's example as Python writes it."""
    if parameter.name == "measure":
        return '{"positive": 0.5}'
    return parameter.example if parameter.kind != "choice" else f'"{parameter.example}"'


def definitions_of(
    given: Any, argument: str, *, example: str = "KAnonymity(k=5)"
) -> tuple[Definition, ...]:
    """One definition or several, each an object.

    >>> definitions_of(["k-anonymity"], "require")
    Traceback (most recent call last):
    tacit.errors.ParameterError: require[0]: 'k-anonymity' is a text, not a definition. Write tacit.KAnonymity(k=4).
    """  # noqa: E501
    if isinstance(given, Definition):
        return (given,)
    if isinstance(given, str | type) or not isinstance(given, Sequence):
        raise no_definition(given, argument, example)
    if not given:
        raise ParameterError(
            f"{argument} is empty, and nothing would be checked.",
            parameter=argument,
            hint=f"Write [tacit.{example}].",
        )
    for place, one in enumerate(given):
        if not isinstance(one, Definition):
            raise no_definition(one, f"{argument}[{place}]", example)
    return tuple(given)


def no_definition(given: Any, argument: str, example: str) -> ParameterError:
    """What stands where a definition should, and what to write instead."""
    if isinstance(given, str) and given in DEFINITIONS:
        needed = [one for one in parameters_of(CHECKS[given]) if one.required]
        written = ", ".join(f"{argument_name(one)}={python_text(one)}" for one in needed)
        example = f"{DEFINITIONS[given].__name__}({written})"
    what = (
        f"{given!r} is a text"
        if isinstance(given, str)
        else f"{given.__name__} is a class"
        if isinstance(given, type)
        else f"this is a value of type {type(given).__name__}"
    )
    return ParameterError(
        f"{argument}: {what}, not a definition.", parameter=argument, hint=f"Write tacit.{example}."
    )


def refuse_unfitting(definitions: Sequence[Definition], sensitive: Sequence[str]) -> None:
    """Definitions about a sensitive column need one; some judge one alone."""
    for one in definitions:
        kind = CHECKS[one.check_name]
        if one.check_name not in kinds_of("microdata"):
            raise ParameterError(
                f"{one.check_name} does not judge one table.",
                parameter="definitions",
                hint=(
                    f"Views are asked about by tacit.perfect_privacy, view_safety and "
                    f"overlapping_views; a table by {', '.join(kinds_of('microdata'))}."
                ),
            )
        if one.needs_sensitive and not sensitive:
            raise ParameterError(
                f"{one.check_name} needs a sensitive column.",
                parameter="sensitive",
                hint='Give for example sensitive="condition".',
            )
        if kind.sensitive == "one" and len(sensitive) > 1:
            raise ParameterError(
                f"{one.check_name} judges one sensitive column, and sensitive has "
                f"{len(sensitive)}.",
                parameter="sensitive",
                hint=f'Give sensitive="{sensitive[0]}", and ask again for the others.',
            )
