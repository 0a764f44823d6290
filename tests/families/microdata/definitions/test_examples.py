"""Least examples of what once went wrong, or easily could.
Each was found by brute force or by reading.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit
from asking import Desk, question
from oracles import microdata as oracle
from tacit.errors import DataError, ParameterError
from tacit.families.definition import Definition
from tacit.families.microdata.definitions.k_anonymity import KAnonymity
from tacit.families.microdata.definitions.l_diversity import LDiversity
from tacit.families.microdata.definitions.reading_verdicts import answer_with
from tacit.model.verdict import Verdict


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    opened = Desk(tmp_path_factory.mktemp("desk"))
    yield opened
    opened.engine.close()


def table(columns: str, *rows: str) -> list[dict[str, Any]]:
    """Rows as people write them; - is missing.

    >>> table("zip condition", "13053 flu", "- cold")
    [{'zip': '13053', 'condition': 'flu'}, {'zip': None, 'condition': 'cold'}]
    """
    names = columns.split()
    return [
        dict(zip(names, (None if one == "-" else one for one in row.split()), strict=True))
        for row in rows
    ]


def check(
    desk: Desk,
    definition: Definition,
    rows: Sequence[Mapping[str, Any]],
    *,
    quasi: Sequence[str] = ("zip",),
    sensitive: Sequence[str] = ("condition",),
    person: Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    levels: Mapping[str, int] | None = None,
    asked: str | None = None,
    types: Mapping[str, str] | None = None,
) -> Verdict:
    kinds = types or dict.fromkeys(rows[0], "text")
    with desk.counted(
        rows, quasi=quasi, sensitive=sensitive, person=person, hierarchies=hierarchies, types=kinds
    ) as counted:
        return definition.check(question(counted, levels), sensitive=asked)


# -- missing values -----------------------------------------------------------------------------


def test_a_missing_value_is_not_a_star_that_somebody_wrote(desk: Desk) -> None:
    """The release shows "*" and nothing: two groups, of two people and of one."""
    rows = table("zip condition", "* flu", "* cold", "- flu")
    verdict = check(desk, KAnonymity(k=2), rows)
    assert (verdict.status, verdict.measured["k"]) == ("breached", 1)


def test_a_released_file_with_stars_and_empty_cells_has_two_groups(tmp_path: Path) -> None:
    (tmp_path / "people.csv").write_text("zip,condition\n13053,flu\n13068,cold\n13068,flu\n")
    (tmp_path / "out.csv").write_text("zip,condition\n*,flu\n*,cold\n,flu\n")
    (tmp_path / "tacit.yaml").write_text(
        "version: 1\n"
        "tables: {people: {quasi-identifiers: [zip], sensitive: [condition]}}\n"
        "releases: {out: {table: people, file: out.csv}}\n"
        "checks: [{k-anonymity: {release: out, k: 2}}]\n"
    )
    assert tacit.load(tmp_path / "tacit.yaml").check()[0].status == "breached"


def test_a_suppressed_column_also_hides_who_has_no_value(desk: Desk) -> None:
    rows = table("zip condition", "13053 flu", "13068 cold", "- flu")
    verdict = check(desk, KAnonymity(k=3), rows, hierarchies={"zip": "*"}, levels={"zip": 1})
    assert verdict.status == "holds"


def test_below_the_star_a_missing_value_is_a_group_of_its_own(desk: Desk) -> None:
    rows = table("zip condition", "13053 flu", "13052 cold", "- flu")
    verdict = check(
        desk, KAnonymity(k=2), rows, hierarchies={"zip": {"mask": "right"}}, levels={"zip": 4}
    )
    assert verdict.witness is not None
    assert (verdict.measured["k"], verdict.witness.personal["values"]) == (1, {"zip": None})


def test_a_column_without_any_value_is_suppressed_like_others(desk: Desk) -> None:
    """At the level that suppresses the column everybody reads "*",
    also where nobody has a value.
    """
    rows = table("zip condition", "- flu")
    verdict = check(desk, KAnonymity(k=2), rows, hierarchies={"zip": "*"}, levels={"zip": 1})
    assert verdict.witness is not None
    assert verdict.witness.personal["values"] == {"zip": "*"}


def test_the_one_who_matches_anybody_may_be_judged_by_the_values_of_others(desk: Desk) -> None:
    """The group of the person without a zip is everybody;
    its most frequent value is somebody else's.
    """
    rows = table("zip condition", "- flu", "13053 cold", "13068 cold")
    verdict = check(desk, LDiversity(kind="entropy", l=2, missing="match-any"), rows)
    assert verdict.witness is not None
    assert (verdict.status, verdict.measured["l"]) == ("breached", Decimal("1.8898"))
    assert verdict.witness.personal["values"] == {"zip": None}
    assert verdict.witness.personal["counts"] == {"cold": 2, "flu": 1}
    holds = check(desk, LDiversity(kind="distinct", l=2, missing="match-any"), rows)
    assert (holds.status, holds.measured["l"]) == ("holds", 2)


def test_matching_is_not_transitive(desk: Desk) -> None:
    """(a,-) and (-,x) match, (a,-) and (a,y) match, (-,x) and (a,y) do not."""
    rows = table("zip age condition", "a - flu", "- x cold", "a y hiv")
    verdict = check(desk, KAnonymity(k=3, missing="match-any"), rows, quasi=("zip", "age"))
    assert verdict.witness is not None
    assert (verdict.measured["k"], verdict.witness.facts["groups_below"]) == (2, 2)


@pytest.mark.parametrize("missing", ["own-group", "match-any"])
def test_missing_sensitive_values_are_no_diversity(desk: Desk, missing: Any) -> None:
    rows = table("zip condition", "a flu", "a -", "a -")
    verdict = check(desk, LDiversity(kind="distinct", l=2, missing=missing), rows)
    assert (verdict.status, verdict.measured["l"]) == ("breached", 1)


@pytest.mark.parametrize(
    ("definition", "measured"),
    [
        (LDiversity(kind="distinct", l=2), 0),
        (LDiversity(kind="entropy", l=2), Decimal(1)),
        (LDiversity(kind="recursive", l=2, c=3), 1),
    ],
    ids=["distinct", "entropy", "recursive"],
)
def test_a_group_in_which_nothing_is_known(
    desk: Desk, definition: Definition, measured: Any
) -> None:
    rows = table("zip condition", "a flu", "a cold", "b -", "b -")
    verdict = check(desk, definition, rows)
    assert verdict.witness is not None
    assert (verdict.status, verdict.measured["l"]) == ("breached", measured)
    assert (verdict.witness.personal["counts"], verdict.witness.facts["size"]) == ({}, 2)


def test_the_replay_of_a_group_in_which_nothing_is_known(desk: Desk) -> None:
    rows = table("zip condition", "b -", "b -")
    verdict = check(desk, LDiversity(kind="entropy", l=2), rows)
    assert tacit.replay(verdict, rows, ["zip"])


def test_missing_error_refuses_missing_quasi_identifiers(desk: Desk) -> None:
    rows = table("zip condition", "a flu", "- flu")
    with pytest.raises(DataError, match="missing in 1 rows"):
        check(desk, KAnonymity(k=2, missing="error"), rows)


# -- people -------------------------------------------------------------------------------------


def test_a_person_with_three_rows_is_one_person(desk: Desk) -> None:
    rows = table(
        "name zip condition", "Ann a flu", "Ann a flu", "Ann a flu", "Bob b flu", "Cid b flu"
    )
    verdict = check(desk, KAnonymity(k=2), rows, person=("name",))
    assert verdict.witness is not None
    assert (verdict.measured["k"], verdict.witness.facts["people"]) == (1, 3)
    assert verdict.witness.personal["person"] == {"name": "Ann"}


def test_persons_may_be_told_apart_by_two_columns(desk: Desk) -> None:
    rows = table(
        "house name zip condition", "1 Ann a flu", "2 Ann a flu", "2 Bob a flu", "2 Bob a flu"
    )
    verdict = check(desk, KAnonymity(k=3), rows, person=("house", "name"))
    assert (verdict.status, verdict.measured["k"]) == ("holds", 3)


def test_someone_with_every_value_adds_no_diversity(desk: Desk) -> None:
    """Counted by rows the group would be 3-diverse. Everybody may well have the flu."""
    rows = table("name zip condition", "Ann a flu", "Ann a cold", "Ann a hiv", "Bob a flu")
    verdict = check(desk, LDiversity(kind="distinct", l=2), rows, person=("name",))
    assert (verdict.status, verdict.certainty, verdict.measured["l"]) == (
        "breached",
        "conservative",
        1,
    )


def test_a_value_that_people_have_elsewhere_is_still_a_value(desk: Desk) -> None:
    """Ann and Bob have the flu in a and a cold in b: before the release each value is as likely."""
    rows = table("name zip condition", "Ann a flu", "Bob a flu", "Ann b cold", "Bob b cold")
    verdict = check(desk, LDiversity(kind="distinct", l=2), rows, person=("name",))
    assert (verdict.status, verdict.measured["l"], verdict.certainty) == ("breached", 1, "exact")


def test_people_in_several_failing_groups_are_counted_once(desk: Desk) -> None:
    rows = table(
        "name zip condition", "Ann a flu", "Ann b flu", "Ann c flu", "Bob d flu", "Cid d flu"
    )
    verdict = check(desk, KAnonymity(k=2), rows, person=("name",))
    assert verdict.witness is not None
    facts = verdict.witness.facts
    assert (facts["groups_below"], facts["people_below"], facts["people"]) == (3, 1, 3)


def test_overlapping_groups_count_nobody_twice(desk: Desk) -> None:
    rows = table("zip condition", "a flu", "b flu", "c flu", "- flu")
    verdict = check(desk, KAnonymity(k=3, missing="match-any"), rows)
    assert verdict.witness is not None
    facts = verdict.witness.facts
    assert (facts["size"], facts["groups_below"], facts["people_below"], facts["people"]) == (
        2,
        3,
        3,
        4,
    )


def test_a_row_without_a_person_is_refused(desk: Desk) -> None:
    rows = table("name zip condition", "Ann a flu", "- a flu")
    with pytest.raises(DataError, match="tells people apart"):
        check(desk, KAnonymity(k=2), rows, person=("name",))


# -- several sensitive columns ------------------------------------------------------------------


def test_the_story_names_somebody_of_the_witness_group(desk: Desk) -> None:
    """Definition 3.11: the group is known by the other sensitive column too."""
    rows = table(
        "name zip condition job",
        "Ann a flu cook",
        "Bob a cold cook",
        "Cid a flu nurse",
        "Dan a hiv cook",
    )
    verdict = check(
        desk,
        LDiversity(kind="distinct", l=2),
        rows,
        sensitive=("condition", "job"),
        person=("name",),
    )
    assert verdict.witness is not None
    values, named = verdict.witness.personal["values"], verdict.witness.personal["person"]["name"]
    row = next(row for row in rows if row["name"] == named)
    assert {name: row[name] for name in values} == values


def product_table(*counts: Sequence[int]) -> list[dict[str, Any]]:
    """Columns s0, s1, ... that are independent:
    given the others, each has its counts in every group.
    """
    rows = []
    for values in itertools.product(*(range(len(one)) for one in counts)):
        times = 1
        for one, value in zip(counts, values, strict=True):
            times *= one[value]
        rows += [{"zip": "a", **{f"s{i}": f"v{value}" for i, value in enumerate(values)}}] * times
    return rows


def test_the_witness_is_the_column_that_fails_although_both_round_to_the_same(desk: Desk) -> None:
    """e^H is 3.571673 for s0 and 3.571652 for s1;
    at 3.57166 only s1 fails, and both read 3.5716.
    """
    rows = product_table((8, 3, 3, 3), (4, 2, 2, 1))
    least = Fraction("3.57166")
    assert oracle.entropy_holds((8, 3, 3, 3), least)
    assert not oracle.entropy_holds((4, 2, 2, 1), least)
    verdict = check(desk, LDiversity(kind="entropy", l=least), rows, sensitive=("s0", "s1"))
    assert verdict.witness is not None
    assert (verdict.status, verdict.measured["l"]) == ("breached", Decimal("3.5716"))
    assert (verdict.witness.facts["sensitive"], verdict.witness.facts["groups_below"]) == ("s1", 4)
    assert not oracle.entropy_holds(verdict.witness.personal["counts"].values(), least)


def test_asking_for_one_column_ignores_the_others(desk: Desk) -> None:
    rows = table("zip condition job", "a flu cook", "a cold nurse")
    together = check(desk, LDiversity(kind="distinct", l=2), rows, sensitive=("condition", "job"))
    alone = check(
        desk,
        LDiversity(kind="distinct", l=2),
        rows,
        sensitive=("condition", "job"),
        asked="condition",
    )
    assert (together.status, together.measured["l"]) == ("breached", 1)
    assert (alone.status, alone.measured["l"]) == ("holds", 2)


# -- thresholds ---------------------------------------------------------------------------------


def with_counts(*counts: int) -> list[dict[str, Any]]:
    return [
        {"zip": "a", "condition": f"v{i}"} for i, count in enumerate(counts) for _ in range(count)
    ]


@pytest.mark.parametrize(
    ("counts", "l"),
    [((2, 2, 2), 3), ((4, 1, 1, 1, 1), 4), ((1,) * 7, 7), ((5, 5), 2), ((8, 2, 2, 2, 2), 4)],
)
def test_entropy_at_equality_holds(desk: Desk, counts: tuple[int, ...], l: int) -> None:  # noqa: E741
    rows = with_counts(*counts)
    exactly = check(desk, LDiversity(kind="entropy", l=l), rows)
    assert (exactly.status, exactly.measured["l"]) == ("holds", Decimal(l))
    assert (
        check(desk, LDiversity(kind="entropy", l=Fraction(l) + Fraction(1, 10**30)), rows).status
        == "breached"
    )


@pytest.mark.parametrize(
    ("counts", "l", "c"), [((3, 1, 1), 2, "1.5"), ((10, 1, 1, 1), 4, 10), ((2, 1, 1), 3, 2)]
)
def test_recursive_at_equality_is_breached(
    desk: Desk,
    counts: tuple[int, ...],
    l: int,  # noqa: E741
    c: Any,
) -> None:
    rows = with_counts(*counts)
    assert check(desk, LDiversity(kind="recursive", l=l, c=c), rows).status == "breached"
    slightly_more = Fraction(c) + Fraction(1, 10**30)
    assert check(desk, LDiversity(kind="recursive", l=l, c=slightly_more), rows).status == "holds"


def test_a_breach_is_not_told_with_the_number_that_was_required(desk: Desk) -> None:
    """Counts 500 and 501 are 1.9999990-diverse: never "entropy 2.000 in a group, 2 required"."""
    verdict = check(desk, LDiversity(kind="entropy", l=2), with_counts(500, 501))
    assert verdict.status == "breached"
    assert verdict.measured["l"] == Decimal("1.9999")
    assert "2.0" not in verdict.because


def test_an_enormous_threshold_is_not_met_and_does_not_crash(desk: Desk) -> None:
    rows = with_counts(3, 2)
    assert check(desk, LDiversity(kind="entropy", l="1e400"), rows).status == "breached"
    assert check(desk, LDiversity(kind="distinct", l=10**30), rows).status == "breached"
    assert check(desk, KAnonymity(k=10**30), rows).status == "breached"
    assert check(desk, LDiversity(kind="recursive", l=10**30, c="1e400"), rows).status == "breached"
    assert check(desk, LDiversity(kind="recursive", l=2, c="1e400"), rows).status == "holds"
    assert (
        check(desk, LDiversity(kind="recursive", l=2, c=Fraction(1, 10**400)), rows).status
        == "breached"
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda: KAnonymity(k=1),
        lambda: KAnonymity(k=True),
        lambda: KAnonymity(k=Fraction(5, 2)),  # type: ignore[arg-type]
        lambda: LDiversity(kind="distinct", l=1),
        lambda: LDiversity(kind="distinct", l="2.5"),
        lambda: LDiversity(kind="recursive", l=2),
        lambda: LDiversity(kind="recursive", l=2, c=0),
        lambda: LDiversity(kind="entropy", l="nan"),
        lambda: LDiversity(kind="entropy", l="1/0"),
        lambda: LDiversity(kind="entropy", l=2, c=3),
        lambda: LDiversity(kind="other", l=2),  # type: ignore[arg-type]
    ],
)
def test_thresholds_that_protect_nobody_or_make_no_sense_are_refused(make: Any) -> None:
    with pytest.raises(ParameterError):
        make()


@pytest.mark.parametrize(
    "make", [KAnonymity, lambda **given: LDiversity(kind="distinct", l=2, **given)]
)
def test_an_unknown_way_to_read_missing_values_is_refused(make: Any) -> None:
    """missing="match_any" must not silently mean own-group."""
    with pytest.raises((ParameterError, TypeError)):
        make(**({"k": 2} if make is KAnonymity else {}), missing="match_any")


def test_decimal_thresholds_are_decimals(desk: Desk) -> None:
    """r1 = 7 and a tail of 100: 7 < 0.07 * 100 is false, but true in floats (7.000000000000001)."""
    assert 7 < 0.07 * 100
    rows = with_counts(7, *[7] * 14, 2)
    assert check(desk, LDiversity(kind="recursive", l=2, c=0.07), rows).status == "breached"
    assert (
        check(desk, LDiversity(kind="recursive", l=2, c=Decimal("0.07")), rows).status == "breached"
    )
    assert check(desk, LDiversity(kind="recursive", l=2, c="0.0700000001"), rows).status == "holds"


# -- don't-care values, and values that must not be ruled out ------------------------------------


def test_dont_care_values_may_be_frequent(desk: Desk) -> None:
    """Definition 3.9: 4 < 3 * 2 is asked of the sick only;
    without the exception 10 < 3 * 2 fails.
    """
    rows = [{"zip": "a", "condition": one} for one in ["healthy"] * 10 + ["flu"] * 4 + ["hiv"] * 2]
    plain = LDiversity(kind="recursive", l=3, c=3)
    assert check(desk, plain, rows).status == "breached"
    assert (
        check(desk, LDiversity(kind="recursive", l=3, c=3, dont_care=["healthy"]), rows).status
        == "holds"
    )
    assert (
        check(desk, LDiversity(kind="recursive", l=3, c=2, dont_care=["healthy"]), rows).status
        == "breached"
    )


def test_someone_who_is_healthy_and_sick_is_not_counted_as_healthy_only(desk: Desk) -> None:
    """Either value may be meant: if Ann is sick, everybody in the group is known to be."""
    rows = table("name zip condition", "Ann a healthy", "Ann a sick")
    verdict = check(
        desk, LDiversity(kind="recursive", l=2, c=3, dont_care=["healthy"]), rows, person=("name",)
    )
    assert (verdict.status, verdict.certainty) == ("breached", "conservative")


def test_someone_with_two_values_does_not_keep_a_value_from_being_ruled_out(desk: Desk) -> None:
    """If both mean the flu, HIV is ruled out for everybody in the group."""
    rows = table("name zip condition", "Ann a HIV", "Ann a flu", "Bob a HIV", "Bob a flu")
    definition = LDiversity(
        kind="recursive", l=2, c=3, dont_care=["HIV", "flu"], negative=["HIV"], c2=50
    )
    verdict = check(desk, definition, rows, person=("name",))
    assert verdict.status == "breached"


def test_rows_without_a_value_are_tuples_of_the_block_too(desk: Desk) -> None:
    """Definition 3.10: one of ten tuples has HIV. That is 10 percent, not 50."""
    rows = [{"zip": "a", "condition": one} for one in ["HIV", "flu", *[None] * 8]]
    ten, fifty = (
        LDiversity(kind="recursive", l=2, c=3, negative=["HIV"], c2=c2) for c2 in (10, 50)
    )
    assert check(desk, ten, rows).status == "holds"
    verdict = check(desk, fifty, rows)
    assert (verdict.status, verdict.measured["c2"]) == ("breached", 10)


def test_the_largest_l_that_holds_is_measured_also_where_a_group_has_nothing_to_protect(
    desk: Desk,
) -> None:
    rows = [{"zip": "a", "condition": f"v{i}"} for i in range(5)] + [
        {"zip": "b", "condition": "healthy"}
    ]
    verdict = check(desk, LDiversity(kind="recursive", l=2, c=3, dont_care=["healthy"]), rows)
    assert (verdict.status, verdict.measured["l"]) == ("holds", 5)


def test_a_release_with_nothing_to_protect_holds_vacuously(desk: Desk) -> None:
    rows = table("zip condition", "a healthy", "b healthy")
    verdict = check(desk, LDiversity(kind="recursive", l=2, c=3, dont_care=["healthy"]), rows)
    assert (verdict.status, verdict.vacuous) == ("holds", True)


# -- spelling, and words that mean unknown --------------------------------------------


def answer(
    desk: Desk, definition: Definition, rows: list[dict[str, Any]], **declared: Any
) -> Verdict:
    """What a plan's check answers: the table as it is written, and as it may be meant."""
    with desk.counted(
        rows,
        quasi=("zip",),
        sensitive=("condition",),
        types=dict.fromkeys(rows[0], "text"),
        declared=declared,
    ) as counted:
        return answer_with(definition, question(counted), None, None)


@pytest.mark.parametrize(
    "values",
    [
        ["Cancer", "cancer"],
        ["Cancer", "cancer "],
        ["heart disease", "Heart  Disease"],
        ["Cancer", "unknown"],
        ["Cancer", "?"],
        ["Cancer", "N/A"],
    ],
)
def test_spelling_variants_and_unknown_are_no_diversity_unless_the_owner_says_so(
    desk: Desk, values: list[str]
) -> None:
    rows = [{"zip": "a", "condition": value} for value in values]
    verdict = answer(desk, LDiversity(kind="distinct", l=2), rows)
    assert (verdict.status, verdict.measured["l"]) == ("breached", 1)
    assert verdict.warnings
    told = answer(desk, LDiversity(kind="distinct", l=2), rows, as_written=("condition",))
    assert (told.status, told.measured["l"]) == ("holds", 2)


def test_a_word_that_means_unknown_does_not_make_room_for_spelling_variants(desk: Desk) -> None:
    """As written 50,1,1,2 and without "unknown" 2,2 are diverse enough;
    with it, and flu once, 50,2,2 are not.
    """
    rows = with_values({"unknown": 50, "flu": 1, "Flu": 1, "cold": 2})
    least = (
        Fraction(oracle.entropy_value([50, 1, 1, 2])) + Fraction(oracle.entropy_value([50, 2, 2]))
    ) / 2
    assert answer(desk, LDiversity(kind="entropy", l=least), rows).status == "breached"


def test_what_is_measured_does_not_count_spelling_variants_either(desk: Desk) -> None:
    rows = with_values({"Cancer": 1, "cancer": 1, "flu": 1})
    verdict = answer(desk, LDiversity(kind="distinct", l=2), rows)
    assert (verdict.status, verdict.measured["l"]) == ("holds", 2)


def with_values(counts: dict[str, int]) -> list[dict[str, Any]]:
    return [
        {"zip": "a", "condition": value} for value, count in counts.items() for _ in range(count)
    ]


def test_the_owner_may_say_which_words_mean_unknown(desk: Desk) -> None:
    rows = with_values({"flu": 2, "not asked": 5})
    assert answer(desk, LDiversity(kind="distinct", l=2), rows).status == "holds"
    told = answer(
        desk, LDiversity(kind="distinct", l=2), rows, unknown={"condition": ("not asked",)}
    )
    assert (told.status, told.measured["l"]) == ("breached", 1)


def test_the_owner_may_merge_spelling_variants(desk: Desk) -> None:
    rows = with_values({"Flu": 1, "flu": 1, "cold": 3})
    told = answer(desk, LDiversity(kind="distinct", l=3), rows, merge_spelling=("condition",))
    assert told.witness is not None
    assert (told.status, told.measured["l"]) == ("breached", 2)
    assert sorted(told.witness.personal["counts"].values()) == [2, 3]


# -- monotone, or not ---------------------------------------------------------------------------

ENTROPY, RECURSIVE = {"kind": "entropy", "l": 2}, {"kind": "recursive", "l": 2, "c": "1.5"}


def coarser_still_holds(
    desk: Desk,
    definition: LDiversity,
    rows: list[dict[str, Any]],
    *,
    quasi: Sequence[str] = ("zip",),
    person: Sequence[str] = (),
) -> bool:
    """It holds for the rows as they are;
    does it with zip suppressed? Where not, nobody may claim that it is monotone.
    """
    with desk.counted(
        rows,
        quasi=quasi,
        sensitive=("condition",),
        person=person,
        hierarchies={"zip": "*"},
        types=dict.fromkeys(rows[0], "text"),
    ) as counted:
        fine, coarse = question(counted), question(counted, {"zip": 1})
        assert definition.check(fine).status == "holds"
        holds = definition.check(coarse).status == "holds"
        assert holds or not definition.is_monotone_for(fine)
        return holds


@pytest.mark.parametrize("parameters", [ENTROPY, RECURSIVE], ids=["entropy", "recursive"])
def test_somebody_in_two_groups_is_one_person_when_they_merge(
    desk: Desk, parameters: dict[str, Any]
) -> None:
    """Ann has y in both groups, the others have x: {x, y} and {x, y} become {x, x, y}."""
    rows = table("name zip condition", "Bob a x", "Ann a y", "Cid b x", "Ann b y")
    definition = LDiversity(**parameters)
    holds = coarser_still_holds(desk, definition, rows, person=("name",))
    assert not holds


def test_people_who_have_another_value_in_another_group_may_all_have_the_same_one(
    desk: Desk,
) -> None:
    rows = table("name zip condition", "Ann a x", "Bob a y", "Ann b y", "Bob b x")
    definition = LDiversity(kind="distinct", l=2)
    assert not coarser_still_holds(desk, definition, rows, person=("name",))


@pytest.mark.parametrize("parameters", [ENTROPY, RECURSIVE], ids=["entropy", "recursive"])
def test_groups_that_overlap_do_not_merge_like_groups_that_do_not(
    desk: Desk, parameters: dict[str, Any]
) -> None:
    """Without zip the person of unknown age joins those aged c, and
    does not bring along the one aged d.
    """
    rows = table("zip age condition", "a c x", "a c y", "b - x", "b d y")
    definition = LDiversity(**parameters, missing="match-any")
    holds = coarser_still_holds(desk, definition, rows, quasi=("zip", "age"))
    assert not holds


def test_with_suppression_entropy_and_recursive_diversity_are_not_monotone(desk: Desk) -> None:
    """Blocks {x2,y1,z1} and {x5} under (3,3) lose 5 of 9 rows apart and 9 merged."""
    rows = [{"zip": "a", "condition": one} for one in "xxyz"] + [{"zip": "b", "condition": "x"}] * 5
    definition = LDiversity(kind="recursive", l=3, c=3)
    apart = check(desk, definition, rows, hierarchies={"zip": "*"})
    merged = check(desk, definition, rows, hierarchies={"zip": "*"}, levels={"zip": 1})
    assert apart.witness is not None
    assert merged.witness is not None
    assert (apart.witness.facts["people_below"], merged.witness.facts["people_below"]) == (5, 9)
    assert not LDiversity.monotone_with_suppression
