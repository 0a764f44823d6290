"""View safety as a family: views on a database with constraints."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from tacit.errors import TacitError
from tacit.families.catalog import kinds_of
from tacit.families.family import Answered, Family, about
from tacit.families.queries.dependency import joined
from tacit.families.queries.family import secret_and_new
from tacit.families.scope import CheckScope, tied
from tacit.families.worlds.question import SafetyQuestion
from tacit.families.worlds.reading.questions import view_questions_of
from tacit.model.holdings import Hand, HeldRelease
from tacit.model.verdict import Assumption
from tacit.plan.open_plan import OpenPlan
from tacit.plan.plan import Check


class WorldsFamily(Family[SafetyQuestion]):
    """Views on a database with constraints."""

    name = "worlds"
    judges = frozenset({"view", "constraint"})
    has_all_adversaries = True
    is_advised = True

    def question(self, check: Check, hand: Hand, opened: OpenPlan) -> SafetyQuestion:
        """The cases of one adversary."""
        sees = hand.who, list(hand.names), list(hand.new)
        return view_questions_of(opened).question(about(check, *hand.new), sees)

    def question_for_all(
        self, check: Check, hands: Sequence[Hand], opened: OpenPlan
    ) -> SafetyQuestion:
        """The cases of all adversaries, as far as what they hold can be judged; what could not be
        is said.
        """
        found = [self.question(check, hand, opened) for hand in hands]
        given = tuple(dict.fromkeys(name for one in found for name in one.given))
        assumed = [
            *(one for each in found for one in each.assumptions),
            *(one for hand in hands for one in hand.assumptions),
        ]
        warned = [
            *view_questions_of(opened).warnings([*given, *check.releases]),
            *(one.text.rstrip(".") for hand in hands for one in hand.problems),
        ]
        return replace(
            found[0],
            releases=check.releases,
            given=given,
            cases=tuple(case for one in found for case in one.cases),
            assumptions=tuple(dict.fromkeys(assumed)),
            warnings=tuple(dict.fromkeys(warned)),
        )

    def needs_answers(self, check: Check) -> bool:
        """Unless it is asked over all databases."""
        return str(check.parameters.get("over", "instance")) == "instance"

    def scope(
        self,
        check: Check,
        opened: OpenPlan,
        held: Sequence[HeldRelease],
        shared: Sequence[Collection[str]],
    ) -> CheckScope:
        """All tables that constraints, or views that are published, connect with its own."""
        more = [name for one in held for name in one.tables]
        own = [name for name in more if name in opened.plan.tables]
        known = frozenset(view_questions_of(opened).connected(check, own)).union(more)
        known = frozenset(tied(known, joined(map(set, shared))))
        return CheckScope(known, known)

    def secret_tables(self, check: Check, opened: OpenPlan) -> set[str]:
        """The tables that the secret speaks of; it may have parameters."""
        if check.secret is None:
            return set()
        example = view_questions_of(opened).stated.example(check.secret)
        return {atom.relation for part in example.parts for atom in part.atoms}

    def has_in_question(self, held: HeldRelease, opened: OpenPlan) -> bool:
        """Views and rules that can be stated."""
        if held.shape not in self.judges or held.release not in opened.plan.releases:
            return False
        stated = view_questions_of(opened).stated
        try:
            stated.view(held.release)
            stated.constraint(held.release)
        except TacitError:
            return False
        return True

    def not_compared(self, held: HeldRelease, *, knows_people: bool) -> Assumption | None:
        """What a release does not show may have changed."""
        return Assumption(
            "same-data",
            f"nothing that {held.release_text} does not show has changed since it went out",
            "no",
        )

    def cannot_judge(
        self, check: Check, hand: Hand, names: Sequence[str], opened: OpenPlan
    ) -> None:
        """All of them can be stated, and the secret asked."""
        reader = view_questions_of(opened)
        reader.stated.views(names)
        reader.stated.constraints(names)
        if check.secret is not None:
            seen = [one for one in names if one not in hand.new]
            asked = Check(
                kinds_of(self.name)[0], secret=check.secret, releases=hand.new, path=check.path
            )
            reader.question(asked, (hand.who, seen, list(hand.new)))

    def advice(self, check: Check, names: Sequence[str], new: Sequence[str]) -> str:
        """View safety of what is new."""
        return (
            "Ask g-safety or e-safety, which take rules and views that are published: "
            f"{secret_and_new(check, new)}."
        )

    def next_steps(
        self, answered: Sequence[Answered[SafetyQuestion]], plan: str, kinds: Sequence[str]
    ) -> list[str]:
        """The possible databases of the first breached check that can be called by a name."""
        verdicts = [one.verdict for one in answered]
        nameless = [verdict.check for verdict in verdicts if not verdict.name]
        called = [
            verdict.name or verdict.check
            for verdict in verdicts
            if verdict.status == "breached"
            and verdict.scope == "this data"
            and (verdict.name or nameless.count(verdict.check) == 1)
        ]
        return [f"tacit explain {name} --worlds --plan {plan}" for name in called[:1]]


FAMILY = WorldsFamily()
