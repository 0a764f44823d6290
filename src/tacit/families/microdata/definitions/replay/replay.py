"""Replay: re-check a verdict's evidence on the released rows, the slow and obvious way.

Nothing here is shared with the checkers: whoever does not trust them reads these lines instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any

from tacit.errors import ParameterError
from tacit.families.microdata.definitions.replay.replay_background import CHECKS, replay_background
from tacit.families.microdata.definitions.replay.replay_beliefs import replay_beliefs
from tacit.families.microdata.definitions.replay.replay_diversity import (
    entropy_at_least,
    negative_holds,
    recursive_holds,
)
from tacit.families.microdata.definitions.replay.replay_neighbours import (
    RECOUNTS,
    replay_neighbours,
)
from tacit.families.microdata.definitions.replay.replay_together import replay_together
from tacit.model.verdict import Reason, Verdict

Row = Mapping[str, Any]


def replay(
    verdict: Verdict,
    rows: Iterable[Row | None],
    quasi: Sequence[str],
    person: Sequence[str] = (),
    *,
    distance: Callable[[Any, Any], Any] | None = None,
    population: Iterable[Row] = (),
    published: Mapping[str, Iterable[Row | None]] | None = None,
) -> bool:
    """Does the evidence of a verdict about microdata stand up on the released rows?

    A witness is recounted, and must violate what was required. For a certificate every group is
    counted again, and must meet it. `distance` is asked where values are compared by something that
    the rows do not show: a taxonomy, a hierarchy, a function of your own. `population` are the
    recoded rows of the population, where a risk was asked about one. `published` are the rows of
    the other releases by name, where the verdict is about several together: the first row of each
    is the same person's, and so on, and None stands for who is not in that release.

    >>> from tacit.model.verdict import Witness
    >>> verdict = Verdict(
    ...     check="k-anonymity",
    ...     label="2-anonymity",
    ...     subject={"release": "r"},
    ...     status="breached",
    ...     because="",
    ...     evidence=Witness("group", {"size": 1}, {"values": {"zip": "130**"}}),
    ...     measured={"k": 1},
    ...     required={"k": 2},
    ... )
    >>> replay(verdict, [{"zip": "130**"}, {"zip": "148**"}, {"zip": "148**"}], ["zip"])
    True
    """
    if "secret" in verdict.subject:
        raise ParameterError(
            f"{verdict.check} is not about released rows.",
            parameter="verdict",
            hint="Its evidence was replayed before it was shown.",
        )
    if not isinstance(verdict.evidence, Reason) and "releases" in verdict.evidence.facts:
        return replay_together(verdict, rows, quasi, published or {}, distance)
    released = [row for row in rows if row is not None]
    if verdict.check in ("semantic", "rho1-rho2"):
        return replay_beliefs(verdict, released, quasi, person)
    if verdict.check in CHECKS:
        return replay_background(verdict, released, quasi, person)
    if verdict.check in RECOUNTS:
        return replay_neighbours(verdict, released, quasi, person, distance)
    if verdict.check == "risk":
        return replay_risk(verdict, released, quasi, person, population)
    if verdict.witness is not None:
        return replay_witness(verdict, released, person)
    protected = verdict.certificate.facts.get("sensitive", [None]) if verdict.certificate else []
    return all(
        meets(
            verdict,
            group_of(row, released, known_columns(quasi, protected, column), verdict),
            column,
            person,
        )
        for column in protected
        for row in released
    )


def replay_risk(
    verdict: Verdict,
    released: Sequence[Row],
    quasi: Sequence[str],
    person: Sequence[str],
    population: Iterable[Row],
) -> bool:
    """Count every group, and what it hides in, and compute the risk again."""
    everybody = list(population)
    shown = {tuple(row[name] for name in quasi): row for row in released}.values()
    sizes = [people(group_of(row, released, quasi, verdict), person) for row in shown]
    if everybody:
        hidden = [len(group_of(row, everybody, quasi, verdict)) for row in shown]
    else:
        hidden = sizes
    risk = Fraction(1, min(hidden))
    if verdict.required["attacker"] == "marketer":
        risk = sum(
            (Fraction(*pair) for pair in zip(sizes, hidden, strict=True)), Fraction(0)
        ) / sum(sizes)
    claimed = verdict.witness.facts["size"] if verdict.witness else min(hidden)
    allowed = risk <= verdict.required["risk"]
    return bool(
        risk == verdict.measured["risk"]
        and claimed == min(hidden)
        and allowed == (verdict.status == "holds")
    )


def replay_witness(verdict: Verdict, released: Sequence[Row], person: Sequence[str]) -> bool:
    """Recount the group that a witness shows; it must violate what was required."""
    assert verdict.witness is not None
    facts, personal = verdict.witness.facts, verdict.witness.personal
    group = group_of(personal["values"], released, list(personal["values"]), verdict)
    column = facts.get("sensitive")
    return (
        people(group, person) == facts["size"]
        and (column is None or dict(personal["counts"]) == counted(group, column, person))
        and not meets(verdict, group, column, person)
    )


def known_columns(
    quasi: Sequence[str], protected: Sequence[str | None], column: str | None
) -> list[str]:
    """What the attacker knows: the quasi-identifiers, and the other
    sensitive columns (Definition 3.11).
    """
    return [*quasi, *(name for name in protected if name is not None and name != column)]


def group_of(values: Row, rows: Sequence[Row], quasi: Sequence[str], verdict: Verdict) -> list[Row]:
    """The rows that cannot be told apart from the given values."""
    any_matches = verdict.required.get("missing") == "match-any"

    def agrees(row: Row, name: str) -> bool:
        missing = row[name] is None or values[name] is None
        return row[name] == values[name] or (any_matches and missing)

    return [row for row in rows if all(agrees(row, name) for name in quasi)]


def people(group: Sequence[Row], person: Sequence[str]) -> int:
    """How many people some rows belong to."""
    return len({tuple(row[name] for name in person) for row in group}) if person else len(group)


def counted(group: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, int]:
    """How many people of a group have each sensitive value that is known.

    Where people have several values everybody is given one, the frequent values first.
    """
    known = [row for row in group if row[column] is not None]
    having = {
        row[column]: people([one for one in known if one[column] == row[column]], person)
        for row in known
    }
    left = people(known, person)
    cells = {}
    for value in sorted(having, key=lambda value: (-having[value], value)):
        cells[value] = min(having[value], left)
        left -= cells[value]
    return {value: number for value, number in cells.items() if number}


def values_of_people(group: Sequence[Row], column: str, person: Sequence[str]) -> list[set[Any]]:
    """The known values of everybody who has one."""
    values: dict[Any, set[Any]] = {}
    for number, row in enumerate(group):
        if row[column] is not None:
            values.setdefault(tuple(row[name] for name in person) if person else number, set()).add(
                row[column]
            )
    return list(values.values())


def careful(
    group: Sequence[Row], column: str, person: Sequence[str], required: Mapping[str, Any]
) -> Mapping[str, Any]:
    """Somebody with several values may mean a protected one;
    then nothing in the group may be disclosed.
    """
    values = values_of_people(group, column, person)
    several = any(len(one) > 1 for one in values)
    protected = set().union(*values) - set(required.get("dont-care", ()))
    return {**required, "dont-care": ()} if several and protected else required


def only_value(group: Sequence[Row], column: str, person: Sequence[str]) -> dict[Any, int]:
    """How many people have each value and no other."""
    single = [next(iter(one)) for one in values_of_people(group, column, person) if len(one) == 1]
    return {value: single.count(value) for value in single}


def meets(
    verdict: Verdict, group: Sequence[Row], column: str | None, person: Sequence[str]
) -> bool:
    """Does one group meet what the check requires?"""
    required = verdict.required
    if column is None:
        return bool(people(group, person) >= required["k"])
    cells = counted(group, column, person)
    if required["kind"] == "recursive":
        return recursive_holds(cells, careful(group, column, person, required)) and negative_holds(
            only_value(group, column, person), people(group, person), required
        )
    counts = sorted(cells.values(), reverse=True)
    if required["kind"] == "distinct":
        return bool(len(counts) >= required["l"])
    return bool(counts) and entropy_at_least(counts, required["l"])
