"""How a plan spells a value: as YAML that is read back as the same,
in one line or on lines of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

PLAIN = re.compile(r"(\.\./)*[A-Za-z_][A-Za-z0-9_./-]*")
NOT_PLAIN = {
    "y",
    "yes",
    "n",
    "no",
    "on",
    "off",
    "true",
    "false",
    "null",
}  # YAML reads these as something else
WIDEST = 100  # characters of a value in one line
STEP = "  "


def scalar(text: str) -> str:
    """A text as YAML: as it is where that is surely text, else in quotes.

    >>> print(scalar("zip"), scalar("yes"), scalar("1"), scalar('a "b": #c'), scalar("two\\nlines"))
    zip "yes" "1" "a \\"b\\": #c" "two\\u000alines"
    """
    if PLAIN.fullmatch(text) and text.lower() not in NOT_PLAIN:
        return text
    return '"' + "".join(map(escaped, text)) + '"'


def escaped(letter: str) -> str:
    """A letter between double quotes."""
    return "\\" + letter if letter in '"\\' else printed(letter)


def printed(text: str) -> str:
    """A text in one line; letters that cannot be printed by their number.

    >>> print(printed("two\\nlines"))
    two\\u000alines
    """

    def shown(letter: str) -> str:
        number = ord(letter)
        return (
            letter
            if letter.isprintable()
            else f"\\u{number:04x}"
            if number < 0x10000
            else f"\\U{number:08x}"
        )

    return "".join(map(shown, text))


def written(value: Any) -> str:
    """A value in one line of YAML, as a plan reads it back.

    >>> print(
    ...     written(
    ...         {
    ...             "release": "april",
    ...             "l": Fraction(14, 5),
    ...             "share": Fraction(1, 3),
    ...             "to": ["a", "b c"],
    ...         }
    ...     )
    ... )
    {release: april, l: 2.8, share: "1/3", to: [a, "b c"]}
    """
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    if isinstance(value, Fraction):
        return number(value)
    if isinstance(value, int | Decimal):
        return f"{value:f}" if isinstance(value, Decimal) else str(value)
    if isinstance(value, Mapping):
        return (
            "{" + ", ".join(f"{written(key)}: {written(one)}" for key, one in value.items()) + "}"
        )
    if isinstance(value, list | tuple | set | frozenset):
        return "[" + ", ".join(map(written, value)) + "]"
    return scalar(str(value))


def number(value: Fraction) -> str:
    """An exact number: a decimal where it has an end, else a fraction in quotes."""
    rest = value.denominator
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    if rest != 1:
        return f'"{value}"'
    digits = next(
        many
        for many in range(value.denominator.bit_length() + 1)
        if (value * 10**many).denominator == 1
    )
    return f"{Decimal(int(value * 10**digits)).scaleb(-digits):f}"


def block(value: Mapping[str, Any]) -> list[str]:
    """A mapping on lines of its own: long values and texts of several lines are easier to read so.

    >>> block({"query": "SELECT a\\nFROM t", "to": ["x"]})
    ['query: |-', '  SELECT a', '  FROM t', 'to: [x]']
    """
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, str) and is_literal(one):
            lines += [f"{scalar(key)}: |-", *(f"{STEP}{line}".rstrip() for line in one.split("\n"))]
        elif isinstance(one, Mapping) and len(written(one)) > WIDEST:
            lines += [f"{scalar(key)}:", *(STEP + line for line in block(one))]
        else:
            lines.append(f"{scalar(key)}: {written(one)}")
    return lines


def is_literal(text: str) -> bool:
    """Whether a text can stand line by line as it is:
    several lines, and no spaces that would be lost.
    """
    lines = text.split("\n")
    if len(lines) < 2 or not lines[0].strip() or not lines[-1].strip() or lines[0][:1].isspace():
        return False
    return all(line.replace("\t", "").isprintable() and line == line.rstrip() for line in lines)


def lines_of(value: Mapping[str, Any] | list[Any]) -> list[str]:
    """Entries or items, each on a line of its own."""
    if isinstance(value, list):
        return [f"- {item_text(one)}" for one in value]
    lines: list[str] = []
    for key, one in value.items():
        if isinstance(one, Opened):
            lines += [f"{scalar(key)}:", *(STEP + line for line in lines_of(one))]
        elif isinstance(one, Mapping) and one and (len(written(one)) > WIDEST or has_literal(one)):
            lines += [f"{scalar(key)}:", *(STEP + line for line in block(one))]
        else:
            lines += block({key: one})
    return lines


class Opened(dict[str, Any]):
    """A mapping that others will join: its entries get lines of their own where that can be."""


def item_text(item: Any) -> str:
    """An item on a line of its own: one key and its value need no braces.

    >>> item_text({"k-anonymity": {"release": "april", "k": 4}}), item_text("zip")
    ('k-anonymity: {release: april, k: 4}', 'zip')
    """
    if isinstance(item, Mapping) and len(item) == 1:
        return written(item)[1:-1]
    return written(item)


def has_literal(value: Mapping[str, Any]) -> bool:
    """Whether one of its values is a text of several lines."""
    return any(isinstance(one, str) and is_literal(one) for one in value.values())
