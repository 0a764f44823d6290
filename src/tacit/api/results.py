"""Results of the Python functions: tables with what is proved of them, as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

from tacit.model.pictures import Gauge, gauges_chart, gauges_html
from tacit.model.verdict import Verdict, raise_unless_held


def rows_text(table: Any) -> str:
    """How many rows a table has, in words."""
    return "no table" if table is None else f"{len(table)} rows"


def verdicts_html(verdicts: tuple[Verdict, ...]) -> str:
    """Verdicts one below the other."""
    return "".join(verdict._repr_html_() for verdict in verdicts)


@dataclass(frozen=True, slots=True, repr=False)
class Anonymized:
    """A table for which all checks hold, of the same kind as the one given, in random order.

    Where there is none, `table` is None and `because` and `advice` say why; the verdicts are then
    those of the coarsest release. `generalization` has the levels where whole columns were recoded.
    `details` has all that `tacit anonymize --json` prints.
    """

    table: Any
    verdicts: tuple[Verdict, ...]
    utility: Mapping[str, Any] | None
    generalization: Mapping[str, int] | None
    because: str
    advice: tuple[str, ...]
    details: Mapping[str, Any]

    @property
    def loss(self) -> float | None:
        """The detail that is gone, from 0 (none) to 1 (all); None where there is no table."""
        return None if self.utility is None else float(self.utility["after"]["loss"])

    def raise_for_status(self) -> None:
        """Raise NotMet where no table was found."""
        if self.table is None:
            raise_unless_held(self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit anonymize --json` prints; for the owner."""
        return dict(self.details)

    def gauges(self) -> list[Gauge]:
        """The detail that each column lost, from 0 to 1."""
        columns = (self.utility or {}).get("columns", {})
        return [Gauge(name, float(one["loss_decimal"])) for name, one in columns.items()]

    def said(self) -> str:
        """What was found, in a line."""
        loss = "" if self.loss is None else f", loss {self.loss:.3g}"
        return f"{rows_text(self.table)}{loss}: {self.because}"

    def __repr__(self) -> str:
        return f"<Anonymized {self.said()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows, to the owner."""
        advice = "".join(f"<br>{escape(one)}" for one in self.advice)
        bars = gauges_html(self.gauges(), whole=1)
        lost = f"<br>Detail lost, by column:<br>{bars}" if bars else ""
        return f"<div>{escape(self.said())}{advice}{lost}{verdicts_html(self.verdicts)}</div>"

    def plot(self) -> Any:
        """The detail that each column lost, as an Altair chart (the extra `notebook`)."""
        return gauges_chart(self.gauges(), "Detail lost, by column", whole=1)


@dataclass(frozen=True, slots=True, repr=False)
class FurtherViews:
    """Further views with which gamma-privacy holds, or the reason why there are none.

    `status` is `holds` (without any), `restored`, `impossible`, `none` or `not-found`. `views` are
    SQL by name. The last of `verdicts` is about all views together. `because` is about somebody who
    knows why the views came, where that was asked. `details` has all that `tacit restore --json`
    prints.
    """

    status: str
    views: Mapping[str, str]
    verdicts: tuple[Verdict, ...]
    because: str
    advice: tuple[str, ...]
    details: Mapping[str, Any]

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit restore --json` prints; for the owner."""
        return dict(self.details)

    def __repr__(self) -> str:
        return f"<FurtherViews {self.status}: {len(self.views)} views, {self.because}>"

    def _repr_html_(self) -> str:
        """What a notebook shows, to the owner."""
        told = "".join(f"<li><code>{escape(one)}</code></li>" for one in self.views.values())
        return f"<div>{escape(self.status)}<ul>{told}</ul>{verdicts_html(self.verdicts)}</div>"


@dataclass(frozen=True, slots=True, repr=False)
class SyntheticTable:
    """Synthetic people, as a table of the kind that was given, in random order.

    Where a check does not hold, `table` is None; a check holds always, unless more is asked than
    the mechanism is given. `details` has all that `tacit synthesize --json` prints; what compares
    with the true table (`utility`) is for the owner only.
    """

    table: Any
    verdicts: tuple[Verdict, ...]
    warnings: tuple[str, ...]
    details: Mapping[str, Any]

    def raise_for_status(self) -> None:
        """Raise NotMet unless all checks hold."""
        raise_unless_held(self.verdicts)

    def to_json(self) -> dict[str, Any]:
        """The object that `tacit synthesize --json` prints; for the owner."""
        return dict(self.details)

    def said(self) -> str:
        """What was found, in a line."""
        verdicts = ", ".join(f"{one.label} {one.status}" for one in self.verdicts)
        return f"{rows_text(self.table)}: {verdicts}"

    def __repr__(self) -> str:
        return f"<SyntheticTable {self.said()}>"

    def _repr_html_(self) -> str:
        """What a notebook shows, to the owner."""
        notes = "".join(f"<br>Note: {escape(one)}" for one in self.warnings)
        return f"<div>{escape(self.said())}{notes}{verdicts_html(self.verdicts)}</div>"
