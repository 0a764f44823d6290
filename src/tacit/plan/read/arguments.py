"""A plan from the arguments of a Python function: no text in between; errors name the argument."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from math import isfinite
from typing import Any, get_args

import yaml

from tacit.errors import Mark, PlanError
from tacit.model.schema import HierarchySpec
from tacit.plan.read.document import Faults, KeyPath, as_written
from tacit.plan.read.keys import ReleaseKeys, SyntheticKeys, TableKeys
from tacit.plan.read.syntax import DEEPEST, TOO_DEEP
from tacit.plan.read.values import LONGEST_NUMBER

KEYS = {
    f"'{one}'": f"'{one.replace('-', '_')}'"
    for keys in (TableKeys, ReleaseKeys, SyntheticKeys)
    for one in keys.names()
}
VALUE = re.compile(r"\[[^][{}]*\]|\{(?:[^][{}]|\[[^][{}]*\])*\}")  # a list or mapping in a hint
# Keys that messages write with their value; at the beginning of one stands what is wrong instead.
ASSIGNED = re.compile(
    r"(?<=[ (])(kind|distance|measure|protect|against|prior|outside|missing|hierarchies|semantics|"
    r"model|guarantee|mechanism|c|c2|negative|range|equals|in): "
    rf"({VALUE.pattern}|\d[\d./e-]*\d|\d|[a-z][\w./-]*\w)(?=[\s,.;)]|$)"
)
HYPHENS = re.compile(r"\b(at-most|dont-care)\b")
KEPT = (bool, str, Decimal, *get_args(HierarchySpec))  # what the readers of a plan take as it is


@dataclass(frozen=True, slots=True)
class Arguments:
    """What a function was given, laid out as a plan. `names` says from which argument comes what
    begins with a path; "" says that the next step is its name.

    >>> given = Arguments("f", {"tables": {"R": {"key": 3}}}, {("tables",): "schema"})
    >>> str(given.mark("tables", "R", "key")), str(given.mark("at-most")), str(given.mark())
    ("schema['R']['key']", 'at_most', 'f')
    """

    file: str  # the function
    given: Mapping[str, Any]
    names: Mapping[KeyPath, str]

    def mark(self, *path: str | int, key: bool = False) -> Mark:
        """The argument that a path of the plan came from, and the place in it."""
        known = max((one for one in ((), *self.names) if path[: len(one)] == one), key=len)
        name, steps = self.names.get(known, ""), path[len(known) :]
        if not name and steps:
            name, steps = str(steps[0]).replace("-", "_"), steps[1:]
        return Mark((name or self.file) + "".join(f"[{step!r}]" for step in steps))

    def has(self, *path: str | int) -> bool:
        """Whether the path leads somewhere."""
        node: Any = self.given
        for step in path:
            try:
                node = node[step]
            except (KeyError, IndexError, TypeError):
                return False
        return True

    def spelled(self, text: str) -> str:
        """A message with keys and values as Python writes them."""
        return spelled(text)

    def values(self, faults: Faults) -> dict[Any, Any]:
        """The whole as dicts, lists and scalars, exact as they were given."""
        try:
            value: dict[Any, Any] = plan_value(self.given)
        except PlanError as error:
            raise error.at(self.mark()) from None
        return value


def spelled(text: str) -> str:
    """A message about a plan with keys and values as Python writes them.

    >>> print(spelled("found 3 in 'at-most'. Write a mapping, e.g. {zip: [1, full]}."))
    found 3 in 'at_most'. Write a mapping, e.g. {"zip": [1, "full"]}.
    """
    for key, argument in KEYS.items():
        text = text.replace(key, argument)
    return assigned(VALUE.sub(lambda found: python_value(found[0]), text))


def assigned(text: str) -> str:
    """A message with keys that have a value as arguments; all else stays as it is.

    >>> print(assigned("[a] is wrong. Write at-most, or measure: {positive: 0.5}."))
    [a] is wrong. Write at_most, or measure={"positive": 0.5}.
    """
    text = ASSIGNED.sub(lambda found: f"{found[1]}={_argument(found[2])}", text)
    return HYPHENS.sub(lambda found: found[0].replace("-", "_"), text)


def _argument(text: str) -> str:
    if VALUE.fullmatch(text):
        return python_value(text)
    return text if text[0].isdigit() else json.dumps(text)


def python_value(text: str) -> str:
    """A list or mapping of a plan as Python writes it; what is none stays.

    >>> python_value("{dates: [month, year]}"), python_value("[...]")
    ('{"dates": ["month", "year"]}', '[...]')
    """
    if "..." in text:
        return text
    try:
        value = yaml.load(text, Loader=yaml.BaseLoader)
    except yaml.YAMLError:
        return text
    return json.dumps(_unquoted(value), default=_plain, ensure_ascii=False)


def _unquoted(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _unquoted(one) for key, one in value.items()}
    return [_unquoted(one) for one in value] if isinstance(value, list) else as_written(value)


def _plain(value: Any) -> float | str:
    return float(value) if isinstance(value, Decimal) else str(value)


def plan_value(value: Any, depth: int = 0) -> Any:
    """A Python value as a plan has it: numbers stay exact, and so do functions
    and hierarchies, and what plans have no type for is text.

    >>> from fractions import Fraction
    >>> plan_value({"k": 4, "l": 2.8, "c": (Fraction(1, 3), None)})
    {'k': 4, 'l': Decimal('2.8'), 'c': ['1/3', None]}
    """
    if depth > DEEPEST:
        raise PlanError(f"an argument is {TOO_DEEP}.")
    if hasattr(value, "tolist"):  # as numpy and pandas have it
        value = value.tolist()
    if value is None or callable(value) or isinstance(value, KEPT):
        return value
    if isinstance(value, int):
        return value if abs(value) < 10**LONGEST_NUMBER else Decimal(value)
    if isinstance(value, float):
        return Decimal(repr(value)) if isfinite(value) else str(value)
    if isinstance(value, Mapping):
        return {str(key): plan_value(one, depth + 1) for key, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, bytes):
        return [plan_value(one, depth + 1) for one in value]
    return str(value)
