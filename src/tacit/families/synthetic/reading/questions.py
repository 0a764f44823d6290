"""From a plan's check of synthetic releases to the question about them:
scenes, what they rely on, and what to mind.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tacit.engines.base import Engine
from tacit.engines.identity import shared_rows
from tacit.errors import PlanError, TacitError
from tacit.families.microdata.hierarchy import value_text
from tacit.families.synthetic.cells import DomainCells
from tacit.families.synthetic.question import Planned, Sort, SyntheticQuestion
from tacit.families.synthetic.reading.synthetic_scene import SyntheticScene, scene_of
from tacit.families.words import people as some_people
from tacit.families.words import spoken
from tacit.model.jobs import Job
from tacit.model.numbers import plain
from tacit.model.release import Synthetic
from tacit.model.verdict import Assumption
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

LARGE = 50  # an epsilon that promises next to nothing
SHOWN = 3  # values that a story may use


def synthetic_questions_of(opened: OpenPlan) -> SyntheticQuestions:
    """The questions of an open plan about synthetic releases."""
    return opened.once(
        SyntheticQuestions, lambda: SyntheticQuestions(opened.plan, opened.engine, opened.job)
    )


class SyntheticQuestions:
    """The questions of a plan about synthetic releases. Each release is read and counted once."""

    def __init__(self, plan: Plan, engine: Engine, job: Job | None = None) -> None:
        self.plan = plan
        self.engine = engine
        self.job = job or Job()
        self._scenes: dict[str, SyntheticScene] = {}
        self._planned: dict[str, Planned] = {}

    def question(self, check: Check) -> SyntheticQuestion:
        """The question that a check asks."""
        try:
            self._check_together(check)
            return SyntheticQuestion(tuple(self.planned(name) for name in check.releases), self.job)
        except TacitError as error:
            raise error.at(self.plan.mark(*check.path)) from None

    def scene(self, name: str) -> SyntheticScene:
        """A release with the data behind it."""
        if name not in self._scenes:
            release = self.plan.releases[name]
            assert isinstance(release, Synthetic)
            try:
                self._scenes[name] = scene_of(release, self.plan, self.engine, self.job)
            except TacitError as error:
                raise error.at(self.plan.mark("releases", name, "synthetic")) from None
        return self._scenes[name]

    def planned(self, name: str) -> Planned:
        """A release as far as its promise depends on it."""
        if name not in self._planned:
            scene = self.scene(name)
            release = scene.release
            labels = (
                weakest(scene, next(iter(scene.sizes)))
                if scene.sizes and scene.public.is_shared
                else ()
            )
            self._planned[name] = Planned(
                name,
                release.table,
                release.group,
                release.value,
                scene.terms,
                sorts(scene, self.job),
                labels,
                tuple(assumptions(scene)),
                tuple(warnings(scene)),
                scene.outside.people,
            )
        return self._planned[name]

    def _check_together(self, check: Check) -> None:
        """Releases that are judged together are about the same people."""
        tables = {
            name: one.table
            for name in check.releases
            if isinstance(one := self.plan.releases[name], Synthetic)
        }
        first = next(iter(tables))
        for name, table in tables.items():
            if table != tables[first] and not self._share_rows(table, tables[first]):
                raise PlanError(
                    f"{first!r} is made of table {tables[first]!r}, and {name!r} of {table!r}: "
                    "what they spend adds up only for the same people.",
                    hint="Ask about them in checks of their own.",
                    mark=self.plan.mark(*check.path, "releases"),
                )
        for name in check.releases:
            self._check_alike(check, first, name)

    def _share_rows(self, one: str, other: str) -> bool:
        """Do two tables have the same people, or may they? What is
        spent of them adds up then too.
        """
        both = [self.plan.tables[name] for name in (one, other)]
        if any(table.rows is not None for table in both):
            return False
        for table in both:
            self.engine.attach_once(table)
        return any(shared_rows(self.engine, [one, other]))

    def _check_alike(self, check: Check, first: str, name: str) -> None:
        """Releases add up only where they protect the same column, and
        none publishes it as its groups.
        """
        one, other = self.plan.releases[first], self.plan.releases[name]
        assert isinstance(one, Synthetic) and isinstance(other, Synthetic)
        groups = {
            release.group
            for each in check.releases
            if isinstance(release := self.plan.releases[each], Synthetic)
        }
        if other.value in groups:
            words = (
                f"{name!r} protects {other.value!r}, by which people are grouped in another "
                "release: how many people each has is published."
            )
        elif other.value != one.value:
            words = f"{first!r} protects {one.value!r}, and {name!r} protects {other.value!r}."
        elif (other.count is None) != (one.count is None):
            words = (
                f"{first!r} and {name!r} do not count the same people: one of them has a "
                "count column."
            )
        else:
            return
        raise PlanError(
            words,
            hint="Ask about them in checks of their own.",
            mark=self.plan.mark(*check.path, "releases"),
        )


def weakest(scene: SyntheticScene, group: Any) -> tuple[Any, ...]:
    """A few values of a group that noise covers least: the ones to tell a story with;
    none where only the data say which there are.
    """
    if scene.public.origin is None:
        return ()
    domain = scene.domain(group)
    places = np.arange(domain.size) if domain.places is None else domain.places
    weights, keeps = (
        np.zeros(domain.size, np.int64) if one is None else one
        for one in (domain.weights, domain.keeps)
    )
    return tuple(
        scene.values[int(places[at])]
        for at in np.lexsort((np.arange(domain.size), weights, keeps))[:SHOWN]
    )


def sorts(scene: SyntheticScene, job: Job) -> tuple[Sort, ...]:
    """The groups of a scene by how many people and which cells they have; the greatest first."""
    found: dict[tuple[int, DomainCells], list[Any]] = {}
    for done, (group, people) in enumerate(scene.sizes.items()):
        if done % 1000 == 0:
            job.step(f"looking at the groups of {scene.release.name}", done / len(scene.sizes))
        found.setdefault((people, scene.domain(group).cells), []).append(group)
    ordered = sorted(found.items(), key=lambda one: -one[0][0])
    shared = scene.public.is_shared
    return tuple(
        Sort(
            people,
            cells,
            len(groups),
            value_text(groups[0]),
            () if shared else weakest(scene, groups[0]),
        )
        for (people, cells), groups in ordered
    )


def assumptions(scene: SyntheticScene) -> Iterator[Assumption]:
    """What a promise about the release relies on."""
    release, public = scene.release, scene.public
    group, value = spoken(release.group), spoken(release.value)
    yield Assumption(
        "public-group-sizes", f"everybody may know how many people each {group} has", "cannot"
    )
    if release.count:
        yield Assumption("one-row-per-person", f"nobody is counted twice in {release.count}", "no")
    else:
        yield Assumption(
            "one-row-per-person", "each row is one person", "yes" if scene.true.checked else "no"
        )
    if public.origin is None:
        yield Assumption(
            "public-domain", f"everybody may know which values of {value} somebody has", "no"
        )
    else:
        named = list(
            dict.fromkeys(
                [*([] if public.origin == "domains" else [public.origin]), *release.files()]
            )
        )
        where = " and ".join(named) if named else "the domain in the plan"
        yield Assumption(
            "public-domain",
            f"{where} {'are' if len(named) > 1 else 'is'} public, and not made from this data",
            "cannot",
        )
    if release.outside == "drop":
        yield Assumption(
            "public-outside",
            f"everybody may know whose {value} is outside of the domain of their {group}",
            "cannot",
        )


def warnings(scene: SyntheticScene) -> Iterator[str]:
    """What the owner should mind."""
    release, terms = scene.release, scene.terms
    if float(terms.epsilon) > LARGE:
        yield f"an epsilon of {terms.epsilon} promises next to nothing; from 0.1 to 10 is usual"
    if terms.delta > 0 and terms.delta * scene.people >= 1:
        yield (
            f"delta is {plain(terms.delta)}, and the table has {some_people(scene.people)}: "
            "publishing people as they are, each with that chance, would keep the promise. Write "
            f"a delta far below 1/{scene.people}"
        )
    if scene.outside.people:
        yield (
            f"whose {spoken(release.value)} is outside of the domain of their "
            f"{spoken(release.group)} is left out"
        )
    if len(scene.values) == 1:
        yield f"there is one {'region' if release.coarsen else 'value'} only: everybody has it"
    yield from scene.public.warnings
