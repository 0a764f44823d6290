"""The console of the command line: shows what is in the data without obeying it, and goes on
when its reader has left.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from tacit.cli.printing import arriving, hang_up
from tacit.report.escaping import CONTROL, escaped


class CarefulConsole(Console):
    """A console for texts that others wrote.

    A value of the data may hold what a terminal obeys: codes that go back and write another verdict
    over this one. Brackets and colons in it are no markup either.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(highlight=False, markup=False, emoji=False, **options)

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """As rich does, with every text escaped before it is laid out."""
        if isinstance(renderable, str):
            renderable = escaped(renderable)
        elif isinstance(renderable, Text):
            renderable = escaped_text(renderable)
        return super().render(renderable, options)

    def print(self, *objects: Any, **options: Any) -> None:
        """As rich does; a full disk is said."""
        with arriving(self.file):
            super().print(*objects, **options)

    def on_broken_pipe(self) -> None:
        """Go on: the report is still to be written, and the exit status is that of the verdicts
        (rich would end with 1).
        """
        self.quiet = True
        hang_up(self.file)


def escaped_text(text: Text) -> Text:
    """A text with its styles, what a terminal would obey escaped.

    >>> escaped_text(Text("a", style="bold").append("\\x1b[2Kb")).plain
    'a\\\\u001b[2Kb'
    """
    if not (found := list(CONTROL.finditer(text.plain))):
        return text
    shown, start = text.blank_copy(), 0
    for one in found:
        shown.append_text(text[start : one.start()]).append(escaped(one.group()))
        start = one.end()
    return shown.append_text(text[start:])
