"""A page's style, for a part of another page:
its rules hold below one element, and its dark colours follow a class.

It reads rules, rules within `@media`, and nothing else: all that the report's style has.
"""

from __future__ import annotations

import re

WHOLE_PAGE = (":root", "html", "body")
PREFERS_DARK = "@media (prefers-color-scheme: dark)"


def scoped(css: str, scope: str, dark: str) -> str:
    """The rules of `css` for what is below `scope`, a selector.
    Where a rule asks for a dark screen it asks for `dark`, a selector of an ancestor.

    >>> print(scoped(":root { --ink: #000; } h1, p a { margin: 0; }", ".report", ".night"))
    .report { --ink: #000; }
    .report h1, .report p a { margin: 0; }
    >>> print(
    ...     scoped(
    ...         "@media (prefers-color-scheme: dark) { body { color: #fff; } } @media print { p { color: #000; } }",
    ...         ".report",
    ...         ".night",
    ...     )
    ... )
    :where(.night) .report { color: #fff; }
    @media print { .report p { color: #000; } }
    """  # noqa: E501
    return "\n".join(
        _rule(head, body, scope, dark)
        for head, body in _rules(re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL))
    )


def _rule(head: str, body: str, scope: str, dark: str) -> str:
    if head == PREFERS_DARK:
        # :where() weighs nothing, so that the rules below still win, as on a page of its own.
        return scoped(body, f":where({dark}) {scope}", dark)
    if head.startswith("@"):
        return f"{head} {{ {scoped(body, scope, dark)} }}"
    return (
        f"{', '.join(_below(selector.strip(), scope) for selector in head.split(','))} {{ {body} }}"
    )


def _below(selector: str, scope: str) -> str:
    return scope if selector in WHOLE_PAGE else f"{scope} {selector}"


def _rules(css: str) -> list[tuple[str, str]]:
    """What stands before and within each pair of outer braces."""
    found, depth, start, opened = [], 0, 0, 0
    for at, letter in enumerate(css):
        if letter == "{":
            depth += 1
            opened = at if depth == 1 else opened
        elif letter == "}":
            depth -= 1
            if depth == 0:
                found.append((css[start:opened].strip(), css[opened + 1 : at].strip()))
                start = at + 1
    return found
