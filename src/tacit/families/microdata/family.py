"""Microdata as a family: generalized copies of a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from tacit.families.family import Answered, Depth, Family
from tacit.families.microdata.microdata import MicrodataQuestion
from tacit.families.release_kind import ReleaseKind, ReleaseRows
from tacit.families.words import listed, people
from tacit.model.release import Microdata
from tacit.plan.edit.notes import SUPPRESSED_NOTE, level_note

if TYPE_CHECKING:
    from tacit.families.definition import Definition
    from tacit.families.microdata.definitions.together.question import JointQuestion
    from tacit.model.holdings import Hand
    from tacit.model.jobs import Job
    from tacit.model.verdict import Verdict
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Check, Plan

Asked = Answered["MicrodataQuestion | JointQuestion"]


class MicrodataKind(ReleaseKind[Microdata]):
    """Generalized copies of a table, made here or found in a file."""

    type = Microdata
    shuffled = True
    keeps_people = True
    example = "k-anonymity: {release: %s, k: 4}"

    def tables(self, release: Microdata, opened: OpenPlan) -> tuple[str, ...]:
        """Its one table."""
        return (release.table,)

    def described(self, release: Microdata, plan: Plan) -> dict[str, Any]:
        """Its levels, hierarchies and roles; of one that was made elsewhere the roles."""
        table = plan.tables[release.table]
        roles = {
            "quasi": sorted(table.quasi_identifiers),
            "sensitive": sorted(table.sensitive),
            "insensitive": sorted(table.insensitive),
        }
        if release.file is not None:
            return {"microdata": table.today, "made": "elsewhere", **roles}
        levels = {column: height for column, height in release.generalization.items() if height}
        trees = {
            column: [type(table.hierarchies[column]).__name__, asdict(table.hierarchies[column])]
            for column in levels
            if column in table.hierarchies
        }
        return {"microdata": table.today, "levels": levels, "hierarchies": trees, **roles}

    def shown(self, release: Microdata, opened: OpenPlan) -> ReleaseRows:
        """Its rows: those of its file, or each value as the label of its level."""
        from tacit.families.answer_files import read_file
        from tacit.families.microdata.reading.source import source_of

        if release.file is not None:
            return read_file(opened.plan.folder / release.file, release.file)
        table = opened.plan.tables[release.table]
        columns = (*table.quasi_identifiers, *table.sensitive, *table.insensitive)
        rows = source_of(opened).released(release.name)
        return ReleaseRows(columns, (tuple(row[column] for column in columns) for row in rows))

    def in_a_line(self, release: Microdata, plan: Plan) -> str:
        """Its table, and what its columns show, or its file."""
        if release.file:
            return f"Microdata of {release.table}, found in {release.file}"
        specs = plan.tables[release.table].hierarchies
        levels = {name: level for name, level in release.generalization.items() if level}
        notes = {name: level_note(specs[name], level) for name, level in levels.items()}
        hidden = [name for name, note in notes.items() if note == SUPPRESSED_NOTE]
        said = [f"{name}: {note}" for name, note in notes.items() if note != SUPPRESSED_NOTE]
        said += [f"without {listed(hidden)}"] if hidden else []
        return f"Microdata of {release.table}, {', '.join(said) or 'as it is'}"

    def as_file(self, release: Microdata, file: str) -> str:
        """The file stands for the release."""
        return f"{{table: {release.table}, file: {file}}}"

    def is_file(self, release: Microdata) -> bool:
        """It may have been made elsewhere."""
        return release.file is not None


class MicrodataFamily(Family["MicrodataQuestion | JointQuestion"]):
    """Generalized copies of a table."""

    name = "microdata"
    judges = frozenset({"microdata"})
    same_people = True
    releases = (MicrodataKind(),)

    def question(
        self, check: Check, hand: Hand, opened: OpenPlan
    ) -> MicrodataQuestion | JointQuestion:
        """The groups of the release, and those of the copies that they hold too."""
        from tacit.families.microdata.reading.source import source_of

        if hand.names:
            from tacit.families.microdata.reading.several_releases import joint_questions_of

            return joint_questions_of(opened).question((*hand.names, *check.releases))
        return source_of(opened).question(check.releases[0])

    def answer(
        self,
        check: Check,
        definition: Definition,
        question: MicrodataQuestion | JointQuestion,
        opened: OpenPlan,
    ) -> Verdict:
        """The worst verdict of all readings of the values."""
        from tacit.families.microdata.definitions.reading_verdicts import answer_with
        from tacit.families.microdata.reading.source import source_of

        mark = opened.plan.mark(*check.path)
        with_files = definition.with_files(source_of(opened).lines)
        if isinstance(question, MicrodataQuestion):
            return answer_with(with_files, question, check.sensitive, mark)
        from tacit.families.microdata.definitions.microdata_definition import MicrodataDefinition
        from tacit.families.microdata.definitions.together.class_scores import answer_together

        assert isinstance(with_files, MicrodataDefinition)
        return answer_together(with_files, question, check.sensitive, mark)

    def looked_at(
        self, question: MicrodataQuestion | JointQuestion
    ) -> Mapping[str, tuple[int, str]]:
        """How many rows and people the table has."""
        own = question_alone_of(question)
        name = own.table.name
        return {name: (own.rows, f"{name}: {own.rows:,} rows, {people(own.people)}")}

    def pictured(self, answered: Sequence[Asked], job: Job, depth: Depth) -> list[Asked]:
        """A page shows the groups of each release, and who is exposed."""
        if depth != "page":
            return list(answered)
        from tacit.families.microdata.portrait import portraits

        job.step("looking for who is exposed", 1.0)
        questions = [question_alone_of(one.question) for one in answered if one.question]
        asked = {own.release: own for own in questions}
        found = portraits(asked, [one.verdict for one in answered])
        return [
            replace(one, picture=found[question_alone_of(one.question).release])
            if one.question
            else one
            for one in answered
        ]

    def next_steps(self, answered: Sequence[Asked], plan: str, kinds: Sequence[str]) -> list[str]:
        """A coarser release, unless something is published that it cannot be judged with; the
        attack."""
        breached = {
            own.release: own
            for one in answered
            if one.question is not None and one.verdict.status == "breached"
            for own in [question_alone_of(one.question)]
        }
        beside = {one.check.releases[0] for one in answered if one.verdict.subject.get("given")}
        coarser = [
            name
            for name, question in breached.items()
            if name not in beside
            and any(column in question.table.hierarchies for column in question.quasi)
        ]
        repair = [f"tacit anonymize {name} -o {name}.csv --plan {plan}" for name in coarser]
        attack = [f"tacit attack {name} --plan {plan}" for name in breached]
        return [*repair[:1], *attack[:1]]


def question_alone_of(question: MicrodataQuestion | JointQuestion) -> MicrodataQuestion:
    """The question about the release alone."""
    return question if isinstance(question, MicrodataQuestion) else question.asked


FAMILY = MicrodataFamily()
