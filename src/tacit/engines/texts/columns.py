"""Columns of text on their way into an engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

Texts = Sequence[str | None]


@dataclass(frozen=True, slots=True)
class TextColumns:
    """The names of a table's columns, and its rows, some at a time, as texts by column.

    `notes` say what was changed on the way, for the owner.
    """

    names: tuple[str, ...]
    chunks: Iterator[Mapping[str, Texts]]
    notes: tuple[str, ...] = ()
