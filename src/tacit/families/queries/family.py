"""Views against secrets as a family: what queries tell, whatever the data are."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import Any

from tacit.errors import TacitError
from tacit.families.family import Family, about, tables_of
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.datalog.dependencies import read_constraint
from tacit.families.queries.dependency import joined
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.reading.readings import dialect_of, readings_of
from tacit.families.queries.reading.trees import expanded, needed_views, tree_of
from tacit.families.queries.reading.trees import tables_of as tables_in
from tacit.families.queries.understanding import spoken_of
from tacit.families.release_kind import ReleaseKind, ReleaseRows
from tacit.families.scope import CheckScope, tied, tied_in
from tacit.model.holdings import Hand, HeldRelease
from tacit.model.release import Constraint, View
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check, Plan

SHORT = 160  # letters of a query in a line


class ViewKind(ReleaseKind[View]):
    """Queries whose answers are published."""

    type = View
    keeps_people = True
    example = "perfect-privacy: {secret: NAME, release: %s}"

    def tables(self, release: View, opened: OpenPlan) -> tuple[str, ...]:
        """The tables that the query reads."""
        plan = opened.plan
        if is_datalog(release.query):
            return tuple(sorted(spoken_of(readings_of(opened).view(release.name))))
        try:
            return tuple(sorted(tables_in(plan, expanded(plan, release.name))))
        except TacitError as error:
            in_file = release.query_file is not None
            raise (
                error if in_file else error.at(plan.mark("releases", release.name, "query"))
            ) from None

    def described(self, release: View, plan: Plan) -> dict[str, Any]:
        """Its query with those that it names."""
        others = {
            other: spaced(plan.releases[other].query)  # type: ignore[attr-defined]
            for other in sorted(needed_views(plan, release.name))
        }
        return {"query": spaced(release.query), "sql": dialect_of(plan.source), "views": others}

    def shown(self, release: View, opened: OpenPlan) -> ReleaseRows:
        """The rows that the query has today."""
        from tacit.engines.sql.shapes_ordered import in_order

        columns = readings_of(opened).view(release.name).columns
        tree = tree_of(opened.plan, release.name, readings_of(opened))
        if tree is None:
            return ReleaseRows(columns or ("yes",), iter(()))
        for table in tables_in(opened.plan, tree):
            opened.engine.attach_once(opened.plan.tables[table])
        rows = opened.engine.rows(in_order(tree, len(columns) or 1))
        return ReleaseRows(columns or ("yes",), rows)

    def in_a_line(self, release: View, plan: Plan) -> str:
        """Its query, as far as it is short."""
        query = " ".join(release.query.split())
        return f"View: {query if len(query) <= SHORT else query[: SHORT - 1] + '…'}"

    def columns(self, release: View, opened: OpenPlan) -> tuple[str, ...]:
        """The columns that the query names."""
        return readings_of(opened).view(release.name).columns


class ConstraintKind(ReleaseKind[Constraint]):
    """Rules that are made public."""

    type = Constraint
    answer = "none"
    example = "g-safety: {secret: NAME, release: %s}"

    def tables(self, release: Constraint, opened: OpenPlan) -> tuple[str, ...]:
        """The tables that the rule speaks of."""
        try:
            read = read_constraint(release.constraint, readings_of(opened).relations())
        except TacitError as error:
            mark = opened.plan.mark("releases", release.name, "constraint")
            raise error.at(mark) from None
        return tuple(sorted({name for one in read for name in one.relations()}))

    def in_a_line(self, release: Constraint, plan: Plan) -> str:
        """The rule."""
        return f"Constraint: {release.constraint}"

    def described(self, release: Constraint, plan: Plan) -> dict[str, Any]:
        """The rule."""
        return {"constraint": spaced(release.constraint)}


def spaced(text: str) -> str:
    r"""A text in which spaces and new lines do not matter, as far as that is certain.

    >>> spaced("SELECT a\n  FROM r  WHERE b = 'x  y'"), spaced("S(x) :- R(x)\nS(x) :- T(x) ")
    ("SELECT a FROM r WHERE b = 'x  y'", 'S(x) :- R(x)\nS(x) :- T(x)')
    """
    text = text.strip().removesuffix(";").strip()
    if is_datalog(text) or "--" in text or "/*" in text or "$" in text or "\\" in text:
        return text
    parts = re.split(r"""('[^']*'|"[^"]*"|`[^`]*`)""", text)
    return "".join(part if at % 2 else re.sub(r"\s+", " ", part) for at, part in enumerate(parts))


class QueryFamily(Family[QueryQuestion]):
    """Views against secrets, without data."""

    name = "queries"
    judges = frozenset({"view", "constraint"})
    is_advised = True
    releases = (ViewKind(), ConstraintKind())

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> QueryQuestion:
        """The secret and all views; rules that are published tie tables together as those do that
        everybody knows.
        """
        names, plan = hand.together, opened.plan
        rules = [name for name in names if isinstance(plan.releases[name], Constraint)]
        views = tuple(name for name in names if name not in rules)
        question = readings_of(opened).question(about(check, *views))
        tied_too = [*question.tied, *tied_by(rules, opened)]
        return replace(question, tied=joined(tied_too)) if rules else question

    def needs_answers(self, check: Check) -> bool:
        """No row is looked at."""
        return False

    def scope(
        self,
        check: Check,
        opened: OpenPlan,
        held: Sequence[HeldRelease],
        shared: Sequence[Collection[str]],
    ) -> CheckScope:
        """Views matter about tables that are tied to the secret's, and rules also about those of
        the views.
        """
        rules = [one.tables for one in held if one.shape == "constraint"]
        groups = joined([*tied_in(opened), *shared, *rules])
        secret = tied(self.secret_tables(check, opened), groups)
        views = [name for one in check.releases for name in tables_of(one, opened)]
        return CheckScope(frozenset(secret), frozenset(tied([*secret, *views], groups)))

    def secret_tables(self, check: Check, opened: OpenPlan) -> set[str]:
        """The tables that the secret speaks of."""
        return spoken_of(readings_of(opened).secret(str(check.secret)))

    def cannot_judge(
        self, check: Check, hand: Hand, names: Sequence[str], opened: OpenPlan
    ) -> None:
        """All of them are views that can be read."""
        for name in names:
            readings_of(opened).view(name)

    def advice(self, check: Check, names: Sequence[str], new: Sequence[str]) -> str:
        """Perfect privacy of what is new."""
        return f"Ask perfect-privacy, which reads more queries: {secret_and_new(check, new)}."


def secret_and_new(check: Check, new: Sequence[str]) -> str:
    """How a check of a secret and some releases is written.

    >>> from tacit.plan.plan import Check
    >>> secret_and_new(Check("k-sind"), ["late"])
    '{secret: NAME, release: late}'
    """
    asked = f"release: {new[0]}" if len(new) == 1 else f"releases: [{', '.join(new)}]"
    return f"{{secret: {check.secret or 'NAME'}, {asked}}}"


def tied_by(rules: Sequence[str], opened: OpenPlan) -> Iterator[set[str]]:
    """The tables that rules of the plan tie together."""
    relations = readings_of(opened).relations()
    for name in rules:
        release = opened.plan.releases[name]
        assert isinstance(release, Constraint)
        yield from (set(one.relations()) for one in read_constraint(release.constraint, relations))


FAMILY = QueryFamily()
