"""Restore: find further views for a check of a plan, ask the check
again with them, and write them down.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

from tacit.checking.holdings.holdings import holdings_of
from tacit.checking.publications import out_already
from tacit.engines import output as place
from tacit.engines.base import Engine
from tacit.errors import EngineError, InputError, ParameterError, PlanError, did_you_mean
from tacit.families.catalog import define
from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy
from tacit.families.overlaps.definitions.overlap_definition import has, person, person_label
from tacit.families.overlaps.restore.aware_adversary import Aware, aware
from tacit.families.overlaps.restore.disclosed_views import DisclosedViews
from tacit.families.overlaps.restore.known_sets import Stuck
from tacit.families.overlaps.restore.restorations import Limits, Restoration, RestorationTally
from tacit.families.overlaps.restore.restore import restored
from tacit.families.overlaps.restore.robust_views import withstanding
from tacit.families.overlaps.restore.table_listing import Lists
from tacit.families.overlaps.runs.adversary_verdicts import (
    AdversaryView,
    answer_for_adversaries,
    extended,
    recipients,
    verdict_about,
)
from tacit.families.overlaps.runs.restore_results import (
    NOT_KNOWN,
    AwareBelief,
    FurtherView,
    NotRestored,
    Restored,
    SearchExtent,
)
from tacit.families.overlaps.runs.restore_scene import (
    Choices,
    RestoreScene,
    chosen_columns,
    scene_of,
)
from tacit.families.overlaps.runs.view_drafts import draft, free_names
from tacit.families.overlaps.stages import stages
from tacit.families.words import listed, people, plural
from tacit.model.jobs import Job
from tacit.model.numbers import plain
from tacit.model.verdict import Verdict
from tacit.plan.open_plan import OpenPlan
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Check, Plan
from tacit.plan.read.references import LEDGER

KIND = "gamma-privacy"
SECONDS = 60.0
VIEWS, MOST_VIEWS = 3, 6
NAMED = 6  # people of a set that are named


def restore(
    plan: Plan,
    name: str | None = None,
    output: str | None = None,
    *,
    views: int = VIEWS,
    columns: Sequence[str] | None = None,
    seconds: float | None = None,
    against_aware: bool = False,
    with_stages: bool = False,
    job: Job | None = None,
    engine: Engine | None = None,
) -> Restored | NotRestored:
    """Look for the fewest further views with which a gamma-privacy check of a plan holds.

    `name` is the check's, needed where there are several. Conditions are on the public `columns`
    (all but keys and identifiers). Where an `output` is named, a draft for the plan is written
    there. `against_aware` also asks what somebody believes who knows how the views are chosen; the
    search is then limited by what it judges and not by `seconds`, which no adversary could replay.
    `engine` has the plan's tables already; without it the plan's source is opened.
    """
    begun, job = time.perf_counter(), job or Job()
    if not 1 <= views <= MOST_VIEWS:
        raise ParameterError(
            f"{plural('further view', views)}: between 1 and {MOST_VIEWS} are tried.",
            parameter="views",
            hint=f"Use for example {VIEWS}.",
        )
    if output is not None:
        place.check_file(Path(output), owners_files(plan))
    check = the_check(plan, name)
    with OpenPlan(plan, job) as opened:
        if engine is not None:
            opened.engine = engine
        found = solve(opened, check, views, columns, seconds, against_aware, with_stages, job)
    if isinstance(found, Restored) and output is not None and found.views and not found.exit_status:
        with place.temporary_place(Path(output)) as file:
            file.write_text(found.draft, "utf-8")
        found = replace(found, output=output)
    job.step("done", 1.0)
    return replace(found, seconds=time.perf_counter() - begun)


def the_check(plan: Plan, name: str | None) -> Check:
    """The check to restore, by its name or its releases, or the only one of its kind."""
    known = [check for check in plan.checks if check.kind == KIND]
    if not known:
        raise PlanError(
            "the plan has no gamma-privacy check, so there is nothing to restore.",
            hint="Add one, for example - gamma-privacy: {releases: [first, second], gamma: 0.5}",
        )
    if name is None:
        if len(known) > 1:
            names = listed([called_by(check) for check in known])
            raise InputError(
                f"the plan has {len(known)} gamma-privacy checks: {names}.",
                hint=f"Say which: tacit restore {called_by(known[0])}.",
            )
        return known[0]
    found = [check for check in known if check.name == name] or [
        check for check in known if not check.name and called_by(check) == name
    ]
    if len(found) > 1:
        raise InputError(
            f"the plan has {len(found)} gamma-privacy checks of {name} without a name.",
            hint="Give one of them name: NAME in the plan.",
        )
    if not found and name == KIND and len(known) == 1:
        return known[0]
    if not found:
        called_so = [check.name for check in known if check.name]
        hint = " ".join(filter(None, (did_you_mean(name, called_so), describe_unnamed(known))))
        raise InputError(f"the plan has no gamma-privacy check named {name!r}.", hint=hint)
    return found[0]


def called_by(check: Check) -> str:
    """What a check is called by on the command line: its name, else its releases."""
    return check.name or ",".join(check.releases)


def describe_unnamed(known: Sequence[Check]) -> str:
    """How to call the checks that have no name."""
    nameless = [check for check in known if not check.name]
    if not nameless:
        return ""
    if len(known) == 1:
        return "It has one without a name: write tacit restore alone."
    return (
        "Those without a name are called by their releases: "
        f"{listed([called_by(check) for check in nameless], 'or')}."
    )


def solve(
    opened: OpenPlan,
    check: Check,
    views: int,
    columns: Sequence[str] | None,
    seconds: float | None,
    against_aware: bool,
    with_stages: bool,
    job: Job,
) -> Restored | NotRestored:
    """Ask the check, look for views, and ask the check again."""
    definition = define(check.kind, check.parameters)
    assert isinstance(definition, GammaPrivacy)
    job.step("counting the tables that fit", 0.0)
    now = answer_for_adversaries(opened, check, definition)
    before, question = now.verdict, now.seen[0].question
    if before.status == "holds":
        many = question.overlap.people
        return Restored(
            check.releases,
            (before,),
            worlds_before=worlds(before),
            worlds_after=worlds(before),
            people_before=many,
            people_after=many,
        )
    if against_aware:
        refuse_several(now.seen)
    scene = scene_of(opened, question, definition.gamma)
    others = [scene.seen_as(one.question) for one in now.seen[1:]]
    choices = scene.candidates(chosen_columns(scene, columns))
    if (
        open_ := next((one for one in now.seen if one.verdict.status == "undecided"), None)
    ) is not None:
        some = f" for {open_.called}" if others else ""
        return NotRestored(
            check.releases,
            (before,),
            "not-found",
            f"the tables that fit could not be counted{some}, so nothing could be compared "
            "with them",
        )
    limits = Limits(views=views, seconds=None if against_aware else seconds or SECONDS)
    lists = Lists(scene.out)
    found = restored(
        scene.out,
        choices.members,
        limits=limits,
        with_classes=bool(scene.conditions),
        lists=lists,
        others=[one.out for one in others],
        job=job,
    )
    if found.whose:
        scene, before = others[found.whose - 1], verdict_about(opened, check, now.seen[found.whose])
    if found.status not in ("restored", "not-found"):
        return not_restored(
            check, scene, before, found, looked_at(choices, found), views, several=bool(others)
        )
    known, fewest = None, len(found.views)
    if against_aware:
        found, known = asked_aware(scene, choices, found, limits, lists, seconds, job)
    if found.status != "restored":
        return not_restored(
            check, scene, before, found, looked_at(choices, found), views, several=bool(others)
        )
    result = confirmed(scene, check, definition, before, found, choices, with_stages, job)
    if isinstance(result, NotRestored):
        return result
    result = replace(
        result,
        looked=replace(
            looked_at(choices, found), fewer=fewest if 0 < fewest < len(found.views) else None
        ),
    )
    if known is not None:
        result = replace(result, aware=describe_aware_reader(scene, known, definition.gamma))
        if not result.exit_status:
            result = replace(
                result,
                verdicts=(
                    before,
                    replace(result.verdicts[1], assumptions=result.verdicts[1].assumptions[:-1]),
                ),
            )
    return result


def refuse_several(seen: Sequence[AdversaryView]) -> None:
    """Who knows how views are chosen is asked about where all see the same:
    the choice depends on what others see, too.
    """
    if len(seen) > 1:
        who = listed([f"{one.called} ({listed(sorted(one.views))})" for one in seen])
        raise InputError(
            "somebody who knows how views are chosen can be asked about only where all who are "
            f"judged see the same releases, and these do not: {who}.",
            hint=(
                "Leave that out (--aware): views are then looked for that hold for each of "
                "them, as long as they do not know how they were chosen."
            ),
        )


def asked_aware(
    scene: RestoreScene,
    choices: Choices,
    found: Restoration,
    limits: Limits,
    lists: Lists,
    seconds: float | None,
    job: Job,
) -> tuple[Restoration, Aware | None]:
    """Views that withstand somebody who knows how they are chosen;
    where there are none, what such a one believes of those found.
    """
    job.step("asking as somebody who knows the search", 0.0)
    best = withstanding(
        scene.out, choices.members, found.above, views=limits.views, lists=lists, job=job
    )
    if best is not None:
        fewest = found.status == "restored" and len(found.views) == len(best.views)
        changed = replace(
            found,
            status="restored",
            views=best.views,
            classes=(),
            after=None,
            tables_after=None,
            most_tables=False,
            proved=found.proved and fewest,
        )
        return changed, Aware(
            "holds", best.worst, best.person, best.meaning, best.same, best.fitting
        )
    if found.status != "restored":
        return found, None

    def withstands_nothing(other: DisclosedViews) -> bool:
        """Is there nothing for this table either that withstands? Else
        its further views would be those.
        """
        return (
            withstanding(other, choices.members, found.above, views=limits.views, lists=lists)
            is None
        )

    known = aware(
        scene.out,
        choices.members,
        found,
        limits=limits,
        with_classes=bool(scene.conditions),
        seconds=seconds,
        lists=lists,
        job=job,
        only=withstands_nothing,
    )
    return found, known


# -- with the further views ------------------------------------------------------------------------


def confirmed(
    scene: RestoreScene,
    check: Check,
    definition: GammaPrivacy,
    before: Verdict,
    found: Restoration,
    choices: Choices,
    with_stages: bool,
    job: Job,
) -> Restored | NotRestored:
    """The further views as SQL, and what the check itself says with
    them about everybody who gets them.
    """
    job.step("asking the check with all views", 0.95)
    views = further_views(scene, check, found, choices)
    plan, more = extended(scene.opened.plan, check, views)
    first = frozenset([*scene.question.releases, *(one.name for one in views)])
    with OpenPlan(plan, job) as opened:
        opened.engine = scene.opened.engine
        then = answer_for_adversaries(opened, more, definition, first)
        after, own = then.verdict, next(one for one in then.seen if one.views == first)
        if after.status == "undecided":
            because = "further views were found, but the check could not be answered with them"
            return NotRestored(
                check.releases,
                (before, after),
                "not-found",
                because,
                advice=("give the check more time (seconds: in the plan)",),
            )
        tables = (found.tables_after, worlds(own.verdict))
        if after.status != "holds" or (None not in tables and tables[0] != tables[1]):
            raise EngineError(
                "the database selects other people with these conditions than Tacit does.",
                hint="Nothing was written. Please report this.",
            )
        drawn = stages(own.question, job) if with_stages else None
    after = replace(after, assumptions=(*after.assumptions, NOT_KNOWN))
    return Restored(
        check.releases,
        (before, after),
        views,
        draft(check, views),
        worlds(before),
        worlds(own.verdict),
        scene.question.overlap.people,
        own.question.overlap.people,
        of_classes=bool(found.classes),
        to_record=to_record(scene.opened, check, views),
        stages=drawn,
        seen_by=tuple(
            (one.called, one.question.releases)
            for one in then.seen
            if len(then.seen) > 1 or one.question.releases != more.releases
        ),
    )


def further_views(
    scene: RestoreScene, check: Check, found: Restoration, choices: Choices
) -> tuple[FurtherView, ...]:
    """What was found as views with names, for those who get the releases of the check."""
    conditions = [
        *(choices.conditions[one] for one in found.views),
        *(scene.signs(one) for one in found.classes),
    ]
    rows = [
        *(int(choices.members[one].sum()) for one in found.views),
        *(int(scene.out.overlap.sizes[one]) for one in found.classes),
    ]
    plan = scene.opened.plan
    names, to = free_names(plan.releases, len(conditions)), recipients(plan, check)
    return tuple(
        FurtherView(name, scene.query(condition), many, scene.names_people(condition), to)
        for name, condition, many in zip(names, conditions, rows, strict=True)
    )


def to_record(opened: OpenPlan, check: Check, views: Sequence[FurtherView]) -> tuple[str, ...]:
    """The releases to record together, where the check asks the ledger:
    those that it does not have yet.
    """
    if LEDGER not in out_already(check, opened.plan):
        return ()
    recorded = {one.release for one in holdings_of(opened).held(check) if one.entry is not None}
    return (
        *(name for name in check.releases if name not in recorded),
        *(one.name for one in views),
    )


def worlds(verdict: Verdict) -> int | None:
    """How many tables fit, where they were counted."""
    found = verdict.measured.get("worlds")
    return found if isinstance(found, int) else None


# -- in words --------------------------------------------------------------------------------------


def looked_at(choices: Choices, found: Restoration) -> SearchExtent:
    """What the search went through."""
    return SearchExtent(
        choices.columns,
        choices.considered,
        len(choices.conditions),
        tuple(describe_sets(one) for one in found.tallies),
        found.judged,
        found.proved,
        found.most_tables,
        choices.thinned,
        classes=sum(isinstance(one, Mapping) for one in choices.conditions),
    )


def describe_sets(tally: RestorationTally) -> dict[str, object]:
    """What became of all sets of so many views."""
    return {
        "views": tally.views,
        "sets": tally.sets,
        "judged": tally.judged,
        "ruled_out": dict(tally.ruled_out),
        "left": tally.left,
    }


def not_restored(
    check: Check,
    scene: RestoreScene,
    before: Verdict,
    found: Restoration,
    looked: SearchExtent,
    views: int,
    *,
    several: bool,
) -> NotRestored:
    """Why there are no further views."""
    gamma, for_all = plain(scene.out.gamma), " for everybody who gets them" if several else ""
    story, advice = "", tuple[str, ...]()
    if found.status == "impossible":
        assert found.stuck is not None
        because, story = describe_stuck(scene, found.stuck, before)
        accept = () if before.measured.get("gamma") == 1 else (f"or accept a gamma above {gamma}",)
        advice = (
            (
                "publish fewer of these releases, or coarser ones; what is published cannot "
                "be undone"
            ),
            *accept,
        )
    elif found.status == "none":
        because = (
            f"no set of up to {plural('view', views)} with conditions on "
            f"{listed(looked.columns)} brings every share to {gamma} or less{for_all}"
        )
        advice = (
            *more_views(views),
            "or allow conditions on other columns (--columns)",
            f"or accept a gamma above {gamma}",
        )
    else:
        because = (
            f"no further views were found that bring every share to {gamma}{for_all}; not all "
            "sets could be judged"
        )
        advice = (
            "give it more time (--seconds)",
            "or fewer columns (--columns)",
            f"or accept a gamma above {gamma}",
        )
    if found.status == "impossible":
        return NotRestored(
            check.releases, (before,), "impossible", because, story, advice, worlds(before)
        )
    return NotRestored(
        check.releases, (before,), found.status, because, story, advice, worlds(before), looked
    )


def more_views(views: int) -> tuple[str, ...]:
    """That more views may be tried."""
    return (f"try more views (--views {views + 1})",) if views < MOST_VIEWS else ()


def describe_stuck(scene: RestoreScene, stuck: Stuck, before: Verdict) -> tuple[str, str]:
    """Why no further view helps: without names, and with them."""
    question, gamma = scene.question, plain(scene.out.gamma)
    who = [person_label(scene.keys[one]) for one in stuck.people[:NAMED]]
    names = listed(
        [*who, *([f"{len(stuck.people) - NAMED:,} others"] if len(stuck.people) > NAMED else [])]
    )
    stays = "whatever else is published"
    if before.measured.get("gamma") == Fraction(1):
        return (
            (
                f"somebody has the same {question.sensitive} in every table that fits, and "
                f"keeps it {stays}"
            ),
            before.story or "",
        )
    if stuck.possible is not None:
        many = plural(question.sensitive, stuck.possible)
        return (
            f"somebody can have {many} only, and one of them has a share above {gamma} {stays}",
            (
                f"In the tables that fit {names} "
                f"{'has one of ' if stuck.possible > 1 else 'has '}{many}."
            ),
        )
    if stuck.value is not None:
        some = f"{stuck.count:,} of {people(len(stuck.people))}"
        value = scene.values[stuck.value]
        return (
            (
                f"in every table that fits {some} have the same {question.sensitive}, more "
                f"than {gamma} of them, {stays}"
            ),
            (
                f"Of {names}, {stuck.count:,} "
                f"{has(question, value).replace('has ', 'have ', 1)} in every table that fits."
            ),
        )
    return (
        f"what the views show adds up to more than shares of {gamma} for everybody can, {stays}",
        "",
    )


def describe_aware_reader(scene: RestoreScene, found: Aware, gamma: Fraction) -> AwareBelief:
    """What somebody believes who knows the search, in words."""
    limit = plain(gamma)
    if found.worst is None or found.person is None or found.meaning is None:
        return AwareBelief("undecided", found.because, same=found.same, asked=found.asked)
    which = (
        "tables that fit all views"
        if found.epsilon is None
        else "tables drawn from those that fit all views"
    )
    same = f"{found.same:,} of the {found.asked:,} {which} lead to the same further views"
    share = plain(found.worst) if found.worst.denominator < 1000 else f"{float(found.worst):.4g}"
    ends = {
        "holds": f"nobody is believed to have a value with more than {limit}",
        "breached": f"somebody is believed to have a value with {share}",
        "undecided": f"the largest share among these is {share}, too close to {limit} to tell",
    }
    around = (
        ""
        if found.epsilon is None
        else f" (within {plain(found.epsilon)}, with a confidence of 0.95)"
    )
    value = scene.values[scene.out.meanings[found.meaning][0]]
    key = scene.keys[found.person]
    story = (
        f"{person_label(key)} {has(scene.question, value)} in {share} of them."
        if found.status == "breached"
        else ""
    )
    return AwareBelief(
        found.status,
        f"{same}; {ends[found.status]}{around}",
        found.worst,
        found.same,
        found.asked,
        found.epsilon,
        person(scene.question, key) if found.status == "breached" else None,
        value,
        story,
    )
