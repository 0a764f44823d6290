"""Verdicts made by hand as an assessment, and the pictures of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.checking.assess import Assessment
from tacit.families.family import Answered
from tacit.families.microdata.portrait import Portrait
from tacit.families.overlaps.family import OverlapPicture
from tacit.families.overlaps.stages import Stages
from tacit.model.verdict import Verdict, subject_text
from tacit.plan.plan import Check


def assessment_of(
    plan: str, verdicts: Sequence[Verdict], stages: Mapping[str, Stages] | None = None
) -> Assessment:
    """An assessment of some verdicts, without questions."""
    return Assessment(plan, tuple(_answered(verdict, stages or {}) for verdict in verdicts))


def _answered(verdict: Verdict, stages: Mapping[str, Stages]) -> Answered[Any]:
    found = stages.get(subject_text(verdict.subject))
    picture = None if found is None else OverlapPicture(found)
    return Answered(Check(verdict.check, name=verdict.name), verdict, picture=picture)


def portraits(assessment: Assessment) -> dict[str, Portrait]:
    """The pictures of microdata, by release."""
    return {
        subject_text(one.verdict.subject): one.picture
        for one in assessment.answered
        if isinstance(one.picture, Portrait)
    }


def stages(assessment: Assessment) -> dict[str, Stages]:
    """The beliefs release by release, by the releases that were judged together."""
    return {
        subject_text(one.verdict.subject): one.picture.stages
        for one in assessment.answered
        if isinstance(one.picture, OverlapPicture) and one.picture.stages is not None
    }


def drawn_as(assessment: Assessment, picture: object) -> Assessment:
    """The same answers with another picture, or with none."""
    return replace(
        assessment, answered=tuple(replace(one, picture=picture) for one in assessment.answered)
    )
