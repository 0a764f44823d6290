"""Aware: what somebody learns who knows how the levels were chosen."""

from __future__ import annotations

from tacit.families.microdata.attacks.attack_scene import AttackedCheck, AttackScene
from tacit.families.microdata.attacks.minimality import minimality
from tacit.families.microdata.attacks.stories import Story
from tacit.families.microdata.lattice import Node
from tacit.families.microdata.recoded import Recoded
from tacit.families.microdata.repair.node_judge import NodeJudge
from tacit.families.microdata.runs.repair_results import NotRepaired
from tacit.families.microdata.runs.task import RepairTask


def minimality_stories(task: RepairTask, recoded: Recoded) -> tuple[Story, ...]:
    """What somebody learns who knows that these are the least levels
    that pass, for each sensitive column.
    """
    if recoded.generalization is None or task.suppress:
        return ()  # where rows may be dropped, other worlds lead to the same levels
    question = recoded.question()
    asked = tuple(AttackedCheck(one.definition, one.sensitive) for one in task.required)
    stories = (
        minimality(AttackScene(question, column, checks=asked, doubtful=bool(question.readings)))
        for column in question.sensitive
    )
    return tuple(story for story in stories if story is not None)


def is_silent(task: RepairTask, judge: NodeJudge, node: Node) -> bool:
    """Does knowing that no lower level passes change no belief, in
    any value? Unknown is not silent.

    Also a belief in a wrong value must not change:
    else that the levels were accepted would itself tell something.
    """
    if not task.raw.sensitive:
        return True  # sizes of groups are all that was looked at, and the attacker knows them
    recoded = judge.recoded(node)
    stories = minimality_stories(task, recoded)
    return bool(stories) and all(
        story.reason is None and not story.facts["any_change"] for story in stories
    )


def not_aware(task: RepairTask) -> NotRepaired:
    """There are releases that meet the checks, but none of which this was shown."""
    return NotRepaired(
        task.release,
        "the checks can be met, but for no minimal solution it was shown that an attacker who "
        "knows that no lower level passes learns nothing more",
        proved=False,
        advice=(
            "leave --aware out and read what such an attacker would learn",
            "use checks that look at group sizes only",
        ),
        repair=task.repair,
    )
