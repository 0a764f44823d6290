"""From a plan to the question what several microdata releases of one table say together."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from tacit.errors import DataError
from tacit.families.microdata.counts import Counts, count
from tacit.families.microdata.definitions.together.grouped import grouped
from tacit.families.microdata.definitions.together.question import Copy, JointQuestion
from tacit.families.microdata.fused_columns import fuse_all, unfused
from tacit.families.microdata.reading.declared_distances import parts_of
from tacit.families.microdata.reading.found_levels import found_levels
from tacit.families.microdata.reading.source import source_of
from tacit.families.overlaps.reading.answer_rows import FileRows, read_answer
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.model.verdict import Assumption

if TYPE_CHECKING:
    from tacit.families.microdata.microdata import MicrodataQuestion
    from tacit.families.microdata.reading.source import MicrodataSource
    from tacit.families.microdata.recoded import Recoded
    from tacit.model.schema import Table
    from tacit.plan.open_plan import OpenPlan

NOWHERE = "what was found"  # the file of a release that levels do not describe
SAME_ROWS = Assumption(
    "same-rows",
    "each row is one person, and a row of the table is the same person in every release",
    "no",
)


def joint_questions_of(opened: OpenPlan) -> JointQuestions:
    """The questions of an open plan about several releases of one table."""
    return opened.once(JointQuestions, lambda: JointQuestions(source_of(opened), opened.job))


class JointQuestions:
    """The questions about several releases of a table; each table is counted once.

    `given` has the rows of releases that are in no file.
    """

    def __init__(
        self, source: MicrodataSource, job: Job, given: Mapping[str, FileRows] | None = None
    ) -> None:
        self.source = source
        self.job = job
        self.found: dict[str, Recoded] = {}  # releases that a search has made, by name
        self._given = dict(given or {})
        self._bases: dict[str, Counts] = {}
        self._asked: dict[tuple[str, ...], JointQuestion] = {}

    def question(self, names: Sequence[str]) -> JointQuestion:
        """The question about some releases, the last of which is asked about."""
        key = tuple(names)
        if key not in self._asked:
            self._asked[key] = self._read(key)
        return self._asked[key]

    def _read(self, names: tuple[str, ...]) -> JointQuestion:
        joint = self._read_at_levels(names)
        recoded = self.found.get(names[-1])
        if recoded is None or self._release(names[-1]).file != NOWHERE:
            return joint
        return grouped(joint, recoded).joint

    def _read_at_levels(self, names: tuple[str, ...]) -> JointQuestion:
        plan = self.source.plan
        table = plan.tables[self._release(names[-1]).table]
        own = [plan.tables[self._release(name).table] for name in names]
        if any(one.name != table.name for one in own):
            return self._snapshots(names, own)
        questions = [self._question(name, table) for name in names]
        columns = (*table.sensitive, *table.insensitive)
        return JointQuestion(
            questions[-1][0],
            [
                Copy(
                    name,
                    {one: question.levels[one] for one in question.quasi if one in shown},
                    frozenset(columns) & frozenset(shown),
                )
                for name, (question, shown) in zip(names, questions, strict=True)
            ],
            self._base(table),
            columns,
            () if self._is_who_known(names, table) else (SAME_ROWS,),
            job=self.job,
        )

    def _is_who_known(self, names: Sequence[str], table: Table) -> bool:
        """Does a key or person say who is who in all of them? Rows that are given have none."""
        return bool(table.naming) and not any(name in self._given for name in names)

    def _snapshots(self, names: Sequence[str], tables: Sequence[Table]) -> JointQuestion:
        """The same of releases of one table at several times, matched by its key."""
        from tacit.families.microdata.reading.snapshots import (
            joint_of_snapshots,
            same_key,
            shown_by,
        )

        key = tables[-1].naming
        for one in tables:
            if one.today != tables[-1].today:
                raise DataError(
                    f"it is a release of {one.name}, not of {tables[-1].name}, and nothing says "
                    f"who is who in both. If it is {tables[-1].name} at another time, say so: "
                    f"tables: {{{one.name}: {{snapshot-of: {tables[-1].today}}}}}."
                )
        asked = [self._question(*pair) for pair in zip(names, tables, strict=True)]
        copies = [shown_by(self.source, *one, key) for one in asked[:-1]]
        joint = joint_of_snapshots(self.source, asked[-1][0], key, copies, self.job)
        who = same_key(key, sorted({one.name for one in tables}))
        return replace(joint, assumptions=(*joint.assumptions, who))

    def _question(self, name: str, table: Table) -> tuple[MicrodataQuestion, Collection[str]]:
        """The question about a release of the table alone, and the columns that it shows."""
        release = self._release(name)
        columns = (*table.sensitive, *table.insensitive)
        if release.file == NOWHERE:  # its groups are known, see `found`
            return self.source.raw(name), (*table.quasi_identifiers, *columns)
        if release.file is None and name not in self._given:
            return self.source.question(name), (*table.quasi_identifiers, *columns)
        self.source.raw(name)  # counts the table
        if name not in self._given:
            self._given[name] = read_answer(self.source.plan.folder, str(release.file))
        levels = found_levels(self._given[name], release, self.source, columns, self._base(table))
        return self.source.raw(name, levels), levels

    def _release(self, name: str) -> Microdata:
        release = self.source.plan.releases[name]
        assert isinstance(release, Microdata)
        return release

    def _base(self, table: Table) -> Counts:
        """The combinations of all that releases are made of, with values as they are written."""
        if table.name not in self._bases:
            engine = self.source.reader
            parts = parts_of(table, engine.columns(table.name))
            columns = [*table.quasi_identifiers, *table.sensitive, *table.insensitive]
            self._bases[table.name] = fuse_all(
                count(engine, table.name, unfused(columns, parts)), parts
            )
        return self._bases[table.name]
