"""What is said of a repair in words and numbers, for the terminal and the page alike."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from tacit.engines.output import FORMATS
from tacit.families.microdata.hierarchy import SUPPRESSED, value_text
from tacit.families.microdata.runs.level_labels import level_labels
from tacit.families.microdata.runs.repair_results import Choice, Repaired
from tacit.families.microdata.utility.shares import rounded_up
from tacit.families.words import listed, plural
from tacit.model.numbers import percent, plain
from tacit.model.verdict import Audience
from tacit.plan.edit.spelling import scalar
from tacit.plan.edit.spelling import written as spelled
from tacit.plan.plan import Check, Plan

LOOKED_AT, FIRST = 100_000, 50  # cells among which an example of a value and of a row is looked for
NAMES = {
    "loss": ("loss", "detail that is gone: 0 none, 1 all"),
    "height": ("height", "steps of generalization, all columns together"),
    "discernibility": ("discernibility", "pairs of rows that look alike"),
    "average_group": ("average group", "rows that look alike, on average"),
    "kl": ("KL divergence", "distance of the table from a guess by the release"),
}
UNJUDGED = (
    "it was not written: a check cannot judge it together with what is published, and the "
    "reason above says what can be asked instead. To write it all the same: --unjudged."
)
BREAKS = (
    "it was not written: together with what is published it breaks a check. The search looks "
    "for levels beside what is published with the method lattice, and where no rows are dropped."
)
INSISTED = (
    "it was written because you insisted (--unjudged): what it tells together with what is "
    "published is not known."
)
RISKS = {
    "risk": "How easily a row is picked out",
    "belief": "How sure one can be of a value",
    "dropped": "Share of the rows that are dropped",
}
FAR = 2  # times the greatest risk of the solutions: a draft beyond would press them together
LEAST = {
    "loss": "loses less",
    "height": "takes fewer steps",
    "discernibility": "leaves fewer rows alike",
    "average-group": "has smaller groups on average",
    "kl": "is nearer to the table",
}


@dataclass(frozen=True, slots=True)
class RecodedColumn:
    """What became of one quasi-identifier; `level` is None where
    each group has labels of its own.
    """

    name: str
    level: int | None
    height: int
    example: tuple[str, str] | None
    loss: Fraction
    moved: float

    @property
    def steps(self) -> str:
        """The level in words."""
        if self.level is None:
            return "by group"
        if not self.level:
            return "as it is"
        return f"level {self.level} of {self.height}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One measure of utility: of the table as it is, and of the release."""

    name: str
    before: str
    after: str
    says: str
    chosen: bool = False


def columns(found: Repaired, audience: Audience) -> list[RecodedColumn]:
    """The quasi-identifiers, in the plan's order; for the owner each with an example."""
    recoded, told = found.recoded, found.utility["columns"]
    levels = recoded.generalization
    return [
        RecodedColumn(
            name,
            None if levels is None else levels.get(name, 0),
            recoded.raw.hierarchies[name].height,
            example(found, name) if audience == "owner" else None,
            Fraction(told[name]["loss"]),
            float(told[name]["moved"]),
        )
        for name in recoded.raw.quasi
    ]


def example(found: Repaired, column: str) -> tuple[str, str] | None:
    """The value of a column that the release shows otherwise most often, and what it shows;
    None where it shows all.
    """
    recoded = found.recoded
    values, labels = recoded.raw.base.dictionaries[column], recoded.labels[column]
    here = slice(LOOKED_AT)
    pairs = (
        recoded.raw.base.codes(column)[recoded.rows[here]] * len(labels)
        + recoded.codes[column][here]
    )
    ways, which = np.unique(pairs, return_inverse=True)
    often = np.bincount(which, weights=recoded.counts[here], minlength=len(ways))
    for place in np.argsort(-often, kind="stable").tolist():
        value, label = divmod(int(ways[place]), len(labels))
        if value < len(values) and written(values[value]) != written(labels[label]):
            return written(values[value]), written(labels[label])
    return None


def example_row(found: Repaired) -> tuple[str, str]:
    """One row as it is, and as the release shows it:
    one of the first in which most columns differ.
    """
    recoded = found.recoded
    base = recoded.raw.base
    cell = max(range(min(FIRST, len(recoded.rows))), key=lambda place: changed(found, place))
    before = []
    for name in recoded.raw.quasi:
        code = int(base.codes(name)[recoded.rows[cell]])
        values = base.dictionaries[name]
        before.append(written(values[code] if code < len(values) else None))
    after = [
        written(recoded.labels[name][int(recoded.codes[name][cell])]) for name in recoded.raw.quasi
    ]
    return ", ".join(before), ", ".join(after)


def changed(found: Repaired, cell: int) -> int:
    """In how many columns a cell shows something else than its rows have."""
    recoded = found.recoded
    count = 0
    for name in recoded.raw.quasi:
        values: tuple[Any, ...] = (*recoded.raw.base.dictionaries[name], None)
        value = values[int(recoded.raw.base.codes(name)[recoded.rows[cell]])]
        count += written(value) != written(recoded.labels[name][int(recoded.codes[name][cell])])
    return count


def written(value: Any) -> str:
    """A value as a reader sees it."""
    return "(missing)" if value is None else value_text(value)


def figures(found: Repaired) -> list[Figure]:
    """The measures of utility that apply, before and after."""
    utility = found.utility
    before, after = utility["before"], utility["after"]
    # Groups of their own are found by other means; no measure is kept small there.
    kept = key_of(utility["measure"]) if found.recoded.generalization is not None else None
    told = [
        Figure(name, number(before.get(key)), number(after[key]), says, key == kept)
        for key, (name, says) in NAMES.items()
        if key in after
    ]
    asked = utility["range_queries"]
    if int(asked["queries"]):
        half, most = percent(asked["median_error"]), percent(asked["ninth_decile_error"])
        says = f"error of random counts, median; nine of ten: {most}"
        told.append(Figure("range queries", "0 %", half, says))
    moved = max((float(one["moved"]) for one in utility["columns"].values()), default=0.0)
    told.append(
        Figure(
            "marginals",
            "0 %",
            percent(moved),
            "how far a single column's distribution moved, at most",
        )
    )
    return told


def key_of(measure: str) -> str:
    """A measure as a key of the JSON."""
    return measure.replace("-", "_")


def number(value: str | float | None) -> str:
    """A cost as a person reads it: few digits, rounded up.

    >>> (
    ...     number("0.498815"),
    ...     number("222882126"),
    ...     number("15081/10"),
    ...     number(8.42596),
    ...     number(0.5),
    ...     number(None),
    ... )
    ('0.4989', '222,882,126', '1,508.1', '8.426', '0.5', '')
    """
    if value is None:
        return ""
    found = float(Fraction(value)) if isinstance(value, str) and "/" in value else float(value)
    digits = next((digits for limit, digits in ((1, 4), (10, 3), (100, 2)) if found <= limit), 1)
    text = rounded_up(found, digits)
    whole, point, rest = text.partition(".")
    return f"{int(whole):,}{point}{rest}" if whole.isdigit() else text


def proof(found: Repaired) -> str:
    """Whether something better could exist."""
    because = because_of(found)
    if not found.proved:
        why = found.unproved or "the search was not complete"
        return f"Not proved to be the best: {why}.{because}"
    asked, every = found.nodes
    return (
        f"No other choice of levels {LEAST[found.utility['measure']]}: proved by asking {asked:,} "
        f"of {plural('way', every)} to choose them.{because}"
    )


def because_of(found: Repaired) -> str:
    """What the release costs because of what is published; nothing where nothing was counted
    with.
    """
    if not found.because_of:
        return ""
    given, levels = found.because_of["given"], found.because_of["generalization"]
    if levels == found.recoded.generalization:
        return f" {listed(given)}, which is published, does not make it lose more."
    low = ", ".join(f"{name} {level}" for name, level in levels.items() if level)
    cost = next((one.cost for one in found.choices if one.chosen), None)
    more = f", at {found.because_of['cost']:.4g} instead of {cost:.4g}" if cost is not None else ""
    return (
        f" Because {listed(given)} is published it loses more: else {low or 'the table as it is'} "
        f"would do{more}."
    )


def not_judged(found: Repaired) -> str:
    """Why a release was not written, or is written all the same."""
    if found.is_judged:
        return ""
    if any(verdict.status == "breached" for verdict in found.verdicts):
        return BREAKS
    return INSISTED if found.output else UNJUDGED


def dropping_told(found: Repaired) -> str:
    """What dropping a few rows would save; nothing where that is little or was not asked."""
    few = found.dropping
    if few is None:
        return ""
    saved = percent(1 - Fraction(few.cost) / Fraction(few.whole), down=True)
    measure = NAMES[key_of(found.utility["measure"])][0]
    return (
        f"Dropping {plural('row', few.suppressed)} "
        f"({percent(Fraction(few.suppressed, few.rows))}) of people who stand out lowers the "
        f"{measure} by {saved}, from {number(few.whole)} to {number(few.cost)}."
    )


def describe_dropped_rows(found: Repaired) -> str:
    """How many rows were dropped of those that may be."""
    rows, gone = found.recoded.raw.base.rows, found.recoded.suppressed
    allowed = int(found.repair.suppress * rows)
    if not allowed:
        return f"all {rows:,} rows are released"
    return (
        f"{gone:,} of {plural('row', rows)} dropped; {allowed:,} "
        f"({percent(found.repair.suppress)}) may be"
    )


def group_sizes(found: Repaired) -> Any:
    """How many people each group has."""
    return found.recoded.question().groups().sizes


def describe_local_groups(found: Repaired) -> str:
    """The groups of a local recoding in words."""
    sizes = group_sizes(found)
    low, high = int(sizes.min()), int(sizes.max())
    each = f"{low:,} people" if low == high else f"{low:,} to {high:,} people"
    return f"{plural('group', len(sizes))} of {each}, each with labels of its own"


def describe_method(found: Repaired) -> str:
    """How the release was made, and what was asked of it."""
    repair = found.repair
    parts = [
        "whole columns, by levels"
        if found.recoded.generalization is not None
        else describe_local_groups(found)
    ]
    parts += [f"{name} counts {plain(weight)}" for name, weight in repair.weights.items()]
    parts += [f"{name} at most level {level}" for name, level in repair.at_most.items()]
    return f"{repair.method}: {'; '.join(parts)}"


def describe_levels(levels: Mapping[str, int], labels: Mapping[str, Sequence[Any]]) -> str:
    """Levels in a line, each as the labels of one of the column's values have it.

    >>> describe_levels({"zip": 1, "age": 0, "sex": 1}, {"zip": ("13053", "1305*", "*")})
    'zip: 1305*; sex: level 1'
    >>> describe_levels({"zip": 0}, {})
    'nothing is generalized'
    """
    raised = {name: level for name, level in levels.items() if level}
    return describe_each(raised, labels) or "nothing is generalized"


def describe_each(levels: Mapping[str, int], labels: Mapping[str, Sequence[Any]]) -> str:
    """What columns show at their levels, in a line."""
    return "; ".join(
        f"{name}: {level_words(labels.get(name, ()), level)}" for name, level in levels.items()
    )


def level_words(labels: Sequence[Any], level: int) -> str:
    """What a column shows at a level, by the labels of one of its values;
    the level's number where these may not be shown.

    >>> age = (36, "30-39", "*")
    >>> level_words(age, 0), level_words(age, 1), level_words(age, 2), level_words((), 2)
    ('as it is', '30-39', 'not shown', 'level 2')
    """
    if not level:
        return "as it is"
    if not labels:
        return f"level {level}"
    return "not shown" if labels[level] == SUPPRESSED else written(labels[level])


def labels_for(found: Repaired, audience: Audience) -> dict[str, tuple[Any, ...]]:
    """What levels show of frequent values, for `level_words`; nothing for a `shared` audience."""
    return level_labels(found.recoded.raw) if audience == "owner" else {}


def some(choices: Sequence[Choice], most: int) -> list[tuple[int, Choice]]:
    """The solutions that are listed, numbered by their cost:
    the cheapest, the chosen, those of least risk.
    """
    numbered = list(enumerate(choices, 1))
    if len(numbered) <= most:
        return numbered
    chosen = [one for one in numbered if one[1].chosen]
    front = [
        *undominated(numbered, risk_of)[: most // 2],
        *undominated(numbered, belief_of)[: most // 2 - 1],
    ]
    first = dict((*chosen, *front, *numbered))
    return sorted(list(first.items())[:most], key=lambda one: one[0])


def risk_of(choice: Choice) -> Fraction:
    """The chance to pick somebody's row out."""
    return choice.risk


def belief_of(choice: Choice) -> Fraction:
    """The greatest belief in anybody's value."""
    return choice.belief or Fraction(0)


def risk_by(kind: str, choice: Choice, rows: int) -> Fraction:
    """What a solution risks, by one of the RISKS."""
    if kind == "dropped":
        return Fraction(choice.suppressed, max(1, rows))
    return risk_of(choice) if kind == "risk" else belief_of(choice)


def risks_drawn(choices: Sequence[Choice], rows: int) -> tuple[str, ...]:
    """The RISKS by which solutions differ, first one that tells most of them apart: where rows
    are dropped the smallest groups are often just as large as is allowed.
    """
    differ = {kind: len({risk_by(kind, one, rows) for one in choices}) for kind in RISKS}
    most = max(differ.values())
    if most < 2:
        return ("risk", "belief") if any(one.belief is not None for one in choices) else ("risk",)
    found = [kind for kind, several in differ.items() if several > 1]
    return tuple(sorted(found, key=lambda kind: 3 * differ[kind] < most))


def is_far(risk: Fraction, others: Sequence[Fraction]) -> bool:
    """Does a draft stand so far from the solutions that no scale tells these apart with it?"""
    return risk > FAR * max(others)


def undominated(
    numbered: Sequence[tuple[int, Choice]], risk: Callable[[Choice], Fraction]
) -> list[tuple[int, Choice]]:
    """Those to which no other is better both in cost and in risk, the cheapest first."""
    front: list[tuple[int, Choice]] = []
    for place, choice in sorted(numbered, key=lambda one: (one[1].cost, risk(one[1]))):
        if not front or risk(choice) < risk(front[-1][1]):
            front.append((place, choice))
    return front


def describe_choices(found: Repaired) -> str:
    """What the list of other solutions is."""
    several = len(found.choices)
    if several < 2:
        return (
            (
                "There is no other minimal solution: whatever else meets the checks "
                "generalizes some of these columns further."
            )
            if found.all_choices
            else ""
        )
    if not found.all_choices:
        return (
            "Solutions that were seen, none coarser than another; there may be others: "
            f"{several:,}."
        )
    return (
        f"All minimal solutions: {several:,}. In each, no level can be lower as long as the "
        "others stay."
    )


def describe_aware_attacker(found: Repaired) -> list[str]:
    """What somebody would learn who knows how the levels were chosen, one
    sentence for each sensitive column.
    """
    if found.aware:
        return [f"{story.headline[0].upper()}{story.headline[1:]}." for story in found.aware]
    if not found.recoded.raw.sensitive:
        return ["No column is sensitive; the sizes of groups tell nobody's value."]
    if found.recoded.generalization is None:
        return ["What somebody learns who knows how groups were found is not computed."]
    if found.repair.suppress:
        return [
            (
                "What somebody learns who knows how the levels were chosen is not computed "
                "where rows may be dropped."
            )
        ]
    return ["What somebody learns who knows how the levels were chosen was not computed."]


def describe_unwritten_columns(found: Repaired) -> str:
    """The columns that are not in the output."""
    table = found.recoded.raw.table
    named = [name for name in found.not_written if name in table.identifiers]
    other = [name for name in found.not_written if name not in table.identifiers]
    parts = (
        [f"{listed(named)} ({'identifier' if len(named) == 1 else 'identifiers'})"] if named else []
    )
    parts += [f"{listed(other)} (no role)"] if other else []
    return "; ".join(parts)


def columns_written(found: Repaired) -> list[str]:
    """The columns of the output."""
    raw = found.recoded.raw
    return [*raw.quasi, *raw.sensitive, *raw.table.insensitive]


def snippet(found: Repaired, plan: Plan) -> list[str]:
    """Lines for the plan with which the file that was written can be checked;
    none where it is a table.
    """
    if found.output is None or Path(found.output).suffix.lower() not in FORMATS:
        return []
    name = f"{found.release}-written"
    file = Path(os.path.relpath(found.output, plan.folder)).as_posix()
    lines = [
        "releases:",
        (
            f"  {scalar(name)}: {{table: {scalar(found.recoded.raw.table.name)}, file: "
            f"{scalar(file)}}}"
        ),
        "checks:",
    ]
    return [
        *lines,
        *(
            f"  - {check_line(check, name, found.release)}"
            for check in plan.checks
            if found.release in check.releases
        ),
    ]


def describe_conclusion(found: Repaired) -> str:
    """What may be said of the release: of checks that were not asked nothing is known."""
    if not found.is_judged:
        return "not decided"
    return (
        "meets the checks that were asked" if found.not_asked else "meets the checks of this plan"
    )


def describe_unasked_checks(found: Repaired) -> str:
    """The checks of the plan that were not asked, and what to do about them;
    nothing where all were.
    """
    if not found.not_asked:
        return ""
    they = "it holds" if len(found.not_asked) == 1 else "they hold"
    return (
        f"The search does not ask {listed(found.not_asked)}. Whether {they} is not known: ask "
        "with tacit check before it leaves."
    )


def check_line(check: Check, release: str, before: str = "") -> str:
    """The same check, about another release in place of the one it was about `before`.

    >>> check_line(
    ...     Check("l-diversity", {"kind": "entropy", "l": Fraction(14, 5)}, sensitive="condition"),
    ...     "file",
    ... )
    'l-diversity: {release: file, kind: entropy, l: 2.8, sensitive: condition}'
    """
    several = [release if name == before else name for name in check.releases]
    about = {"releases": several} if len(several) > 1 else {"release": release}
    told = {
        **about,
        **check.parameters,
        **({"sensitive": check.sensitive} if check.sensitive else {}),
    }
    return f"{check.kind}: {spelled(told)}"
