"""The questions of a plan about view safety: for each adversary and each value of a secret, one case."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import TYPE_CHECKING

from tacit.definitions.words import listed
from tacit.errors import DataError, TacitError
from tacit.model.release import View
from tacit.model.verdict import Assumption
from tacit.queries.facts import Fact
from tacit.queries.query import Query, Relation
from tacit.readings import Readings, no_nulls, untyped
from tacit.view_asking.adversaries import Sees, adversaries, given
from tacit.view_asking.data import ViewData, violated
from tacit.view_asking.limits import check_closed, check_endless, check_order, check_types
from tacit.view_asking.parameters import SecretValues
from tacit.view_asking.statements import Statements
from tacit.worlds.question import SafetyCase, SafetyQuestion
from tacit.worlds.setting import Seen, Setting
from tacit.worlds.worlds import answer, violations

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.plan.plan import Check, Plan

AS_SETS = Assumption("published-as-sets", "views are published without duplicate rows", "no")
NO_OTHER_VIEW = Assumption("no-other-release", "nothing else is out", "no")
MOST_BESIDE = 64  # possible rows of a table that does not matter and is counted all the same
EMPTY = Query("", ())


@dataclass(frozen=True, slots=True)
class Ground:
    """What all cases of a question share: over which databases, the tables that matter, their rows if known, and columns whose values are."""

    over: str
    tables: tuple[str, ...]
    instance: frozenset[Fact] | None
    dictionary: tuple[str, ...]


class ViewQuestions:
    """The questions of a plan about view safety. Tables are read once, and only those that a question speaks of."""

    def __init__(self, plan: Plan, readings: Readings, engine: Callable[[], Engine]) -> None:
        self.plan = plan
        self.readings = readings
        self.stated = Statements(plan, readings)
        self.data = ViewData(plan, readings, engine)

    def question(self, check: Check, only: Sees | None = None) -> SafetyQuestion:
        """The question that a check asks, of everybody or `only` of one adversary, with what they have seen and would see."""
        out = given(self.plan, check) if only is None else only[1]
        try:
            asked = list(adversaries(self.plan, check, out)) if only is None else [only]
            cases = tuple(self._cases(check, out, asked))
        except TacitError as error:
            raise error.at(self.plan.mark(*check.path)) from None
        bags = [name for name in (*out, *check.releases) if self.stated.is_bag(name)]
        assumed = (
            NO_OTHER_VIEW,
            *((AS_SETS,) if bags else ()),
            *no_nulls(self.plan.tables.values()),
            *untyped(self.readings.relations()),
        )
        warnings = (
            (
                f"{listed(bags)} would be published with duplicate rows: write SELECT DISTINCT, or publish {'it' if len(bags) == 1 else 'them'} as a set",
            )
            if bags
            else ()
        )
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

    def connected(self, check: Check, also: Sequence[str] = ()) -> list[str]:
        """The tables that a check speaks of, those in `also`, and all that constraints connect with them."""
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

    def _ground(self, check: Check, released: Sequence[str]) -> Ground:
        over, dictionary = str(check.parameters.get("over", "instance")), self._dictionary(check)
        mentioned = self.stated.connected(released, str(check.secret), dictionary)
        # Tables that nothing connects with the question do not matter; small ones are counted all the same.
        beside = [
            name
            for name, one in self.readings.relations().items()
            if name not in mentioned and (possible_rows(one) or MOST_BESIDE + 1) <= MOST_BESIDE
        ]
        tables = (*mentioned, *beside)
        if over == "domain":
            check_closed(tables, self.readings.relations())
        return Ground(
            over,
            tables,
            self._instance(tables, released) if over == "instance" else None,
            tuple(dictionary),
        )

    def _dictionary(self, check: Check) -> list[str]:
        return [*self.plan.dictionary, *check.dictionary]

    def _instance(self, tables: Sequence[str], released: Sequence[str]) -> frozenset[Fact] | None:
        """The rows of the tables, which satisfy all that is said about them; None where only answers of views are known."""
        views = [one for name in released if isinstance(one := self.plan.releases[name], View)]
        if all(self.data.is_empty(self.plan.tables[name]) for name in tables) and all(
            one.answer is not None for one in views
        ):
            return None
        facts = frozenset(fact for name in tables for fact in self.data.facts(name))
        setting = Setting(self.readings.relations(), (), (), (), EMPTY, instance=facts)
        for dependency, mark in self.stated.marked(released):
            if set(dependency.relations()) <= set(tables) and (
                broken := violations(dependency, setting)
            ):
                raise violated(dependency, broken, mark)
        return facts

    def _setting(self, seen: Sequence[str], new: Sequence[str], ground: Ground) -> Setting:
        """What somebody knows who has seen some releases and would see others, of no secret yet."""
        known = (*self.stated.dependencies, *self.stated.constraints(seen))
        matter = tuple(one for one in known if set(one.relations()) <= set(ground.tables))
        setting = Setting(
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
            published=(*self._seen(seen, setting, ground.over), *dictionary),
            new=tuple(self._seen(new, setting, ground.over)),
            new_dependencies=tuple(self.stated.constraints(new)),
        )

    def _seen(self, names: Sequence[str], setting: Setting, over: str) -> Iterator[Seen]:
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

    def _filed(self, release: View, query: Query, setting: Setting) -> Seen:
        """A view with the answer of its file, which is what the data give where there are any."""
        rows = self.data.answer(release, query)
        if setting.instance is not None and (found := answer(query, setting)) != rows:
            strange = sorted(map(str, found ^ rows))[0]
            raise DataError(
                f"{release.answer} is not what the data give for {release.name!r}: they differ in the row {strange}.",
                hint="Correct the file, or leave `answer` out.",
                mark=self.plan.mark("releases", release.name, "answer"),
            )
        return Seen(query, rows)

    def _answered(self, query: Query, setting: Setting, over: str) -> Seen:
        """A view with the answer that the data give; with none where all databases are looked at."""
        if over != "instance":
            return Seen(query, frozenset())
        if setting.instance is None:
            raise DataError(
                f"the answer of {query.name} is not known, because the tables have no rows.",
                hint="Give rows or a file to the tables.",
            )
        return Seen(query, answer(query, setting))


def possible_rows(relation: Relation) -> int | None:
    """How many different rows a table can have, where all its columns have a domain."""
    if any(name not in relation.domains for name in relation.columns):
        return None
    return prod(
        len(relation.domains[name]) + (name in relation.nullable) for name in relation.columns
    )
