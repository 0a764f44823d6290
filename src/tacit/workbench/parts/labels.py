"""Labels: texts that stand in an element's attributes, for screen readers and tests."""

from __future__ import annotations


def aria(text: str) -> str:
    """A text that can stand between double quotes in `props`.

    A quote or a backslash would end it, and what follows could then be run as a script.

    >>> print(aria('a "b" :x=alert(1) ' + chr(92)))
    a 'b' :x=alert(1) /
    """
    return " ".join(text.replace('"', "'").replace("\\", "/").split())
