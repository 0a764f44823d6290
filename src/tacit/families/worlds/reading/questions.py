"""The questions of a plan about view safety:
for each adversary and each value of a secret, one case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from math import prod

from tacit.engines.base import Engine
from tacit.errors import DataError, TacitError
from tacit.families.queries.facts import Fact
from tacit.families.queries.query import Query, Relation
from tacit.families.queries.reading.readings import Readings, readings_of
from tacit.families.queries.schema import derived
from tacit.families.words import listed
from tacit.families.worlds.question import SafetyCase, SafetyQuestion
from tacit.families.worlds.reading.data import ViewData, violated
from tacit.families.worlds.reading.limits import (
    check_closed,
    check_endless,
    check_order,
    check_types,
)
from tacit.families.worlds.reading.world_parameters import SecretValues
from tacit.families.worlds.reading.world_statements import Statements
from tacit.families.worlds.world_setting import PublishedView, WorldSetting
from tacit.families.worlds.worlds import answer, violations
from tacit.model.release import View
from tacit.model.verdict import Assumption
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

AS_SETS = Assumption("published-as-sets", "views are published without duplicate rows", "no")
NO_OTHER_VIEW = Assumption("no-other-release", "nothing else is published", "no")
MOST_BESIDE = 64  # possible rows of a table that does not matter and is counted all the same
EMPTY = Query("", ())

Sees = tuple[
    tuple[str, ...], list[str], list[str]
]  # clients, what they have seen, what they would see


@dataclass(frozen=True, slots=True)
class QuestionGround:
    """What all cases of a question share: over which databases, the tables that matter, their
    rows if known, and columns whose values are.
    """

    over: str
    tables: tuple[str, ...]
    instance: frozenset[Fact] | None
    dictionary: tuple[str, ...]


def view_questions_of(opened: OpenPlan) -> ViewQuestions:
    """The questions of an open plan about view safety."""
    return opened.once(
        ViewQuestions,
        lambda: ViewQuestions(opened.plan, readings_of(opened), lambda: opened.engine),
    )


class ViewQuestions:
    """The questions of a plan about view safety.
    Tables are read once, and only those that a question speaks of.
    """

    def __init__(self, plan: Plan, readings: Readings, engine: Callable[[], Engine]) -> None:
        self.plan = plan
        self.readings = readings
        self.stated = Statements(plan, readings)
        self.data = ViewData(plan, readings, engine)

    def question(self, check: Check, who: Sees) -> SafetyQuestion:
        """The question that a check asks about one adversary, with
        what they have seen and would see.
        """
        out = who[1]
        try:
            cases = tuple(self._cases(check, out, [who]))
        except TacitError as error:
            raise error.at(self.plan.mark(*check.path)) from None
        warnings = self.warnings([*out, *check.releases])
        assumed = (NO_OTHER_VIEW, *((AS_SETS,) if warnings else ()), *self.readings.assumptions())
        columns = self.stated.secret_columns(str(check.secret))
        return SafetyQuestion(
            str(check.secret),
            check.releases,
            tuple(out),
            cases,
            columns,
            self.plan.fresh,
            assumed,
            warnings,
        )

    def warnings(self, names: Sequence[str]) -> tuple[str, ...]:
        """What to mind about views that are looked at as sets."""
        bags = [name for name in names if self.stated.is_bag(name)]
        return (
            (
                (
                    f"{listed(bags)} would be published with duplicate rows: write SELECT "
                    f"DISTINCT, or publish {'it' if len(bags) == 1 else 'them'} as a set"
                ),
            )
            if bags
            else ()
        )

    def connected(self, check: Check, also: Sequence[str] = ()) -> list[str]:
        """The tables that a check speaks of, those in `also`, and all
        that constraints connect with them.
        """
        return self.stated.connected(
            check.releases, str(check.secret), self._dictionary(check), also
        )

    def _cases(
        self, check: Check, out: Sequence[str], asked: Sequence[Sees]
    ) -> Iterator[SafetyCase]:
        released, secret = [*out, *check.releases], str(check.secret)
        ground = self._ground(check, released)
        values = SecretValues(secret, self.stated, self.data)
        cases = values.cases(self._setting(out, check.releases, ground))
        secrets = [(one, self.stated.secret(secret, one)) for one in cases]
        check_types(
            [*self.stated.views(released), *(query for _, query in secrets)],
            self.readings.relations(),
        )
        everywhere = values.in_columns(cases)
        for who, seen, new in asked:
            base = self._setting(seen, new, ground)
            named = (*seen, *(f"{name} (its values)" for name in ground.dictionary))
            for one, query in secrets:
                setting = replace(base, secret=query, values=everywhere)
                check_order(setting)
                check_endless(setting, ground.over)
                yield SafetyCase(setting, who, named, tuple(new), one)

    def _ground(self, check: Check, released: Sequence[str]) -> QuestionGround:
        over, dictionary = str(check.parameters.get("over", "instance")), self._dictionary(check)
        mentioned = self.stated.connected(released, str(check.secret), dictionary)
        # Tables that nothing connects with the question do not matter;
        # small ones are counted all the same.
        beside = [
            name
            for name, one in self.readings.relations().items()
            if name not in mentioned and (possible_rows(one) or MOST_BESIDE + 1) <= MOST_BESIDE
        ]
        tables = (*mentioned, *beside)
        self._refuse_untold(tables)
        if over == "domain":
            check_closed(tables, self.readings.relations())
        return QuestionGround(
            over,
            tables,
            self._instance(tables, released) if over == "instance" else None,
            tuple(dictionary),
        )

    def _refuse_untold(self, tables: Sequence[str]) -> None:
        """A DataError where rows depend on each other in a way that no dependency says."""
        known = self.readings.known()
        for pair in known.shared:
            if set(pair.tables) <= set(tables):
                hint = (
                    "Take one of them out. If they are about different people, give their "
                    "columns different names."
                )
                raise DataError(
                    f"tables {' and '.join(pair.tables)} share rows, or may: {pair.because}.",
                    hint=hint,
                    mark=self.plan.mark("tables", pair.tables[1]),
                )
        behind = derived(self.plan.tables)
        for one, other in combinations(tables, 2):
            if {one, *behind.get(one, ())} & {other, *behind.get(other, ())}:
                raise DataError(
                    f"rows of {one} and {other} depend on each other by where they come from, and "
                    "how is not known here.",
                    hint="Ask about one of them.",
                    mark=self.plan.mark("tables", other),
                )
        for name in (one for one in known.views if one in tables):
            hint = (
                f"Say its key: tables: {{{name}: {{key: [COLUMN]}}}}; or ask about the tables "
                "that it reads."
            )
            raise DataError(
                f"{name} is a view of the source, and what its tables' keys say of its rows is "
                "not read.",
                hint=hint,
                mark=self.plan.mark("tables", name),
            )
        for group in known.outside:
            if len(group & set(tables)) > 1:
                hint = "Add them to the plan's tables, or write source-keys: ignore."
                raise DataError(
                    f"foreign keys of the source tie {listed(sorted(group & set(tables)))} over "
                    "tables that are not in the plan.",
                    hint=hint,
                )

    def _dictionary(self, check: Check) -> list[str]:
        return [*self.plan.dictionary, *check.dictionary]

    def _instance(self, tables: Sequence[str], released: Sequence[str]) -> frozenset[Fact] | None:
        """The rows of the tables, which satisfy all that is said about them;
        None where only answers of views are known.
        """
        views = [one for name in released if isinstance(one := self.plan.releases[name], View)]
        if all(self.data.is_empty(self.plan.tables[name]) for name in tables) and all(
            one.answer is not None for one in views
        ):
            return None
        facts = frozenset(fact for name in tables for fact in self.data.facts(name))
        setting = WorldSetting(self.readings.relations(), (), (), (), EMPTY, instance=facts)
        for dependency, mark in self.stated.marked(released):
            if set(dependency.relations()) <= set(tables) and (
                broken := violations(dependency, setting)
            ):
                raise violated(dependency, broken, mark)
        return facts

    def _setting(
        self, seen: Sequence[str], new: Sequence[str], ground: QuestionGround
    ) -> WorldSetting:
        """What somebody knows who has seen some releases and would see others, of no secret yet."""
        known = (*self.stated.dependencies, *self.stated.constraints(seen))
        matter = tuple(one for one in known if set(one.relations()) <= set(ground.tables))
        setting = WorldSetting(
            self.readings.relations(),
            matter,
            (),
            (),
            EMPTY,
            instance=ground.instance,
            also=ground.tables,
        )
        dictionary = (
            self._answered(self.stated.dictionary_view(name), setting, ground.over)
            for name in ground.dictionary
        )
        return replace(
            setting,
            published=(*self._published_views(seen, setting, ground.over), *dictionary),
            new=tuple(self._published_views(new, setting, ground.over)),
            new_dependencies=tuple(self.stated.constraints(new)),
        )

    def _published_views(
        self, names: Sequence[str], setting: WorldSetting, over: str
    ) -> Iterator[PublishedView]:
        """Views with their answers: those of their files, or what the data give."""
        for name in names:
            query, release = self.stated.view(name), self.plan.releases[name]
            if query is None or not isinstance(release, View):
                continue
            yield (
                self._filed(release, query, setting)
                if release.answer is not None and over == "instance"
                else self._answered(query, setting, over)
            )

    def _filed(self, release: View, query: Query, setting: WorldSetting) -> PublishedView:
        """A view with the answer of its file, which is what the data give where there are any."""
        rows = self.data.answer(release, query)
        if setting.instance is not None and (found := answer(query, setting)) != rows:
            strange = sorted(map(str, found ^ rows))[0]
            raise DataError(
                f"{release.answer} is not what the data give for {release.name!r}: they differ in "
                f"the row {strange}.",
                hint="Correct the file, or leave `answer` out.",
                mark=self.plan.mark("releases", release.name, "answer"),
            )
        return PublishedView(query, rows)

    def _answered(self, query: Query, setting: WorldSetting, over: str) -> PublishedView:
        """A view with the answer that the data give;
        with none where all databases are looked at.
        """
        if over != "instance":
            return PublishedView(query, frozenset())
        if setting.instance is None:
            raise DataError(
                f"the answer of {query.name} is not known, because the tables have no rows.",
                hint="Give rows or a file to the tables.",
            )
        return PublishedView(query, answer(query, setting))


def possible_rows(relation: Relation) -> int | None:
    """How many different rows a table can have, where all its columns have a domain."""
    if any(name not in relation.domains for name in relation.columns):
        return None
    return prod(
        len(relation.domains[name]) + (name in relation.nullable) for name in relation.columns
    )
