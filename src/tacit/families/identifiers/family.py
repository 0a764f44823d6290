"""Direct identifiers as a family: what any release shows that has rows, column by column."""

from __future__ import annotations

from collections.abc import Mapping

from tacit.families.family import Family, kind_of
from tacit.families.identifiers.question import IdentifierQuestion, question_of
from tacit.families.words import plural
from tacit.model.holdings import Hand
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check


class IdentifierFamily(Family[IdentifierQuestion]):
    """Columns that say who somebody is. Which these are does not depend on what else is
    published."""

    name = "identifiers"
    alone = True

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> IdentifierQuestion:
        """The rows as they go out."""
        release = opened.plan.releases[check.releases[0]]
        shown = kind_of(release).shown(release, opened)
        about = release.of_table or release.name
        return question_of(release.name, shown.columns, shown.rows, opened.today.year, about)

    def looked_at(self, question: IdentifierQuestion) -> Mapping[str, tuple[int, str]]:
        """Its table, or a view itself."""
        line = f"{question.about}: {plural('row', question.rows)}"
        return {question.about: (question.rows, line)}


FAMILY = IdentifierFamily()
