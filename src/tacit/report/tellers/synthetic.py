"""How answers about synthetic data are told."""

from __future__ import annotations

from collections.abc import Sequence

from tacit.families.family import Answered, Question
from tacit.model.verdict import Audience
from tacit.report.charts.curves import checked_curves
from tacit.report.charts.portrait_chart import Chart
from tacit.report.tellers.teller import VERDICT_WORDS, Teller

MECHANISM_WORDS = {
    "epsilon, e^epsilon": (
        "How much likelier an output may become by one person's value: at most e^epsilon times."
    ),
    "delta": "How far that may fail: what is spent beyond it, as a chance.",
    "alpha": "The noise: so many invented people stand in every cell before anybody is drawn.",
    "neighbouring tables": (
        "Two tables that differ in one person's value; everybody stays in their group."
    ),
    **VERDICT_WORDS,
}


class SyntheticTeller(Teller):
    """What a mechanism spends, as a curve."""

    words = MECHANISM_WORDS

    def charts(self, answered: Sequence[Answered[Question]], audience: Audience) -> list[Chart]:
        """The curve of every promise that holds."""
        return checked_curves([one.verdict for one in answered])


TELLER = SyntheticTeller()
