"""Others: adversaries who see other views of the same people, for whom
further views have to hold as well.

Who sees less is not safe because one who sees more is:
a further view can tell most to somebody who lacks what explains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from tacit.families.overlaps.restore.disclosed_views import DisclosedViews, Flags
from tacit.families.overlaps.restore.judging_views import CandidateJudge, CandidateOutcome, Set
from tacit.families.overlaps.restore.known_sets import Stuck, known_set
from tacit.model.jobs import Job


class Others:
    """Adversaries beside the one for whom views are looked for.
    `members` has a row for each candidate: whom it shows.
    """

    def __init__(self, outs: Sequence[DisclosedViews], members: Flags, job: Job) -> None:
        self.outs = tuple(outs)
        self.judges = [CandidateJudge(out, members, job=job) for out in outs]

    def __bool__(self) -> bool:
        return bool(self.judges)

    def hold(self, views: Set) -> bool | None:
        """Do some candidates hold for all of them? None where that could not be counted, and
        nobody is known to be above gamma.
        """
        return _all(
            _holds(judge, judge.touched(views), _judge_tables(judge, views))
            for judge in self.judges
        )

    def hold_with(self, shown: Sequence[Flags]) -> bool | None:
        """The same of views that are no candidates, by whom they show."""
        return _all(
            _holds(judge, judge.touched_by(shown), judge.of_views(shown)) for judge in self.judges
        )

    def stuck(self) -> tuple[int, Stuck] | None:
        """The first of them whom no view at all helps, and why."""
        for number, judge in enumerate(self.judges):
            if (found := stuck(judge)) is not None:
                return number, found
        return None


def considered(out: DisclosedViews, members: Flags) -> Flags:
    """The candidates that are looked at: not those of nobody, nor any with which somebody in a view
    could have a further value.

    Where somebody's value is not pinned down by a view, a value that is new to all views would be
    one that they may have.
    """
    new = out.value >= len(out.overlap.values) if out.is_open else np.zeros(out.people, dtype=bool)
    found: Flags = members.any(axis=1) & ~members[:, new].any(axis=1)
    return found


def stuck(judge: CandidateJudge) -> Stuck | None:
    """Why no view at all helps, where that is so already."""
    out = judge.out
    for piece in judge.above:
        if judge.before[piece][0].hopeless or judge.is_unfair_piece(piece):
            person, many = judge.few_values(piece)
            few = Stuck((person,), possible=many) if many * out.gamma < 1 else Stuck()
            return known_set(out, out.pieces[piece]) or few
    return None


def _judge_tables(judge: CandidateJudge, views: Set) -> CandidateOutcome:
    """From lists where tables are few, else counted."""
    found = judge.by_masks([views])[0]
    if found is None:
        found = judge.by_list(views[:-1], np.array(views[-1:], dtype=np.int64))[0][0]
    return judge.by_count(views)[0] if found is None else found


def _holds(judge: CandidateJudge, touched: frozenset[int], found: CandidateOutcome) -> bool | None:
    """Is everybody at gamma or below: those whom the views touch, and all others as they were?"""
    if found.unfair:
        return False
    shares = [
        found.worst,
        *(one.worst for number, (one, _) in enumerate(judge.before) if number not in touched),
    ]
    if any(share is not None and share > judge.out.gamma for share in shares):
        return False
    return None if None in shares else True


def _all(each: Iterable[bool | None]) -> bool | None:
    """All of them; None where some are not known and none is known not to."""
    found = True
    for one in each:
        if one is False:
            return False
        found = found and one is True
    return found or None
