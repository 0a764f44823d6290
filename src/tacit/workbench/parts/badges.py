"""Badges: a verdict's status as a word, a sign and a colour."""

from __future__ import annotations

from nicegui import ui

WORDS = {
    "holds": "holds",
    "breached": "breached",
    "undecided": "undecided",
    "unchecked": "not yet checked",
    "stale": "checked before the last change",
}


def badge(status: str, text: str = "") -> ui.label:
    """A badge for holds, breached, undecided, unchecked or stale; `text` says it in other words."""
    kind = status if status in ("holds", "breached", "undecided") else "unchecked"
    return ui.label(text or WORDS.get(status, status)).classes(f"badge {kind}")
