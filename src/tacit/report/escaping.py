"""Escaping: what is in the data is shown to people, and obeyed by no terminal, picture or page."""

from __future__ import annotations

import re
from typing import Any

# What a terminal obeys and XML cannot hold: control characters but line ends and tabs, what turns
# the direction of writing around, halves of surrogate pairs.
CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)


def escaped(text: str) -> str:
    """A text with control characters by their number.

    >>> print(escaped("Ann\\x1b[1A\\x1b[2K holds"))
    Ann\\u001b[1A\\u001b[2K holds
    """
    return CONTROL.sub(lambda found: f"\\u{ord(found.group()):04x}", text)


def escaped_inside(value: Any) -> Any:
    """The same for all texts in lists and dicts.

    >>> escaped_inside({"values": [{"name": "\\x00", "people": 3}]})
    {'values': [{'name': '\\\\u0000', 'people': 3}]}
    """
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {key: escaped_inside(one) for key, one in value.items()}
    return [escaped_inside(one) for one in value] if isinstance(value, list | tuple) else value
