"""Fields: what was typed into them, as what can be worked with."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from nicegui import ui
    from nicegui.events import GenericEventArguments


def whole(typed: float | None) -> int:
    """A whole number from a field; 0 where it is empty, or holds one that is too large.

    >>> whole(12.0), whole(None), whole(float("1e999")), whole(float("nan"))
    (12, 0, 0, 0)
    """
    return int(typed) if typed is not None and math.isfinite(typed) else 0


def take_typed(field: ui.select) -> Callable[[], None]:
    """Let a field of several names take what was typed when it is left, too: without this only
    Enter does, and all else is gone without a word. Whoever reads the field calls what is returned
    first.
    """
    typed = ""

    def type_on(event: GenericEventArguments) -> None:
        nonlocal typed
        typed = str(event.args or "").strip()

    def take() -> None:
        nonlocal typed
        if typed and typed not in field.value:
            field.set_options(
                [*dict.fromkeys([*field.options, typed])], value=[*field.value, typed]
            )
        typed = ""

    def chosen() -> None:
        nonlocal typed
        typed = ""  # it was there to find one, or Enter has taken it

    field.on("input-value", type_on)
    # A list that opens as the field is left holds back its blur, so Tab counts by itself.
    field.on("keydown.tab", take)
    field.on("blur", take)
    field.on_value_change(chosen)
    return take
