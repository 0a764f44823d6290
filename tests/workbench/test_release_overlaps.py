"""The page of overlapping views, without a browser: who everybody is, in which order, since when
they are exposed, and how small crowds are.
"""

from __future__ import annotations

import random
import stat
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tacit.errors import InputError
from tacit.families.overlaps.class_standing import (
    by_belief,
    by_since,
    by_size,
    since_when,
    standing,
)
from tacit.families.overlaps.stages import Largest, Stage, Stages
from tacit.model.jobs import Cancelled, Job
from tacit.workbench.bench import STATE, Bench
from tacit.workbench.everybody import PeopleFile, write_people
from tacit.workbench.pages.release.overlaps import (
    ALIKE,
    SHARE,
    SINCE,
    asked_limit,
    class_of,
    columns_of,
    course_rows,
    crowd_rows,
    describe_exposed,
    is_above,
    is_restorable,
    is_stale,
    limit_from,
    may_have,
    order_of,
    people_in,
    person_row,
    stamp_of,
    verdicts_of,
)
from tacit.workbench.tasks.check import check
from tacit.workbench.tasks.overlaps import OverlapPeople, everybody

HALF = Fraction(1, 2)
PLAN = """\
version: 1
tables:
  patients:
    columns: [name, sex, age, condition]
    key: [name]
    sensitive: [condition]
    rows: [[Alan, M, 23, Heart], [Bob, M, 24, SARS], [Clark, M, 25, Viral], [Donald, M, 26, SARS],
           [Ellen, F, 27, Viral], [Fen, F, 28, SARS], [Garcia, F, 28, Flu]]
releases:
  male:      {query: "SELECT condition FROM patients WHERE sex = 'M'"}
  age26to28: {query: "SELECT condition FROM patients WHERE age BETWEEN 26 AND 28"}
checks:
  - gamma-privacy: {releases: [male, age26to28], gamma: 0.5}
  - k-sind: {releases: [male, age26to28], k: 3}
"""
BOTH = ["male", "age26to28"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The example of the paper, checked."""
    folder = tmp_path_factory.mktemp("paper").resolve()
    (folder / "tacit.yaml").write_text(PLAN, "utf-8")
    Bench(folder / "tacit.yaml", print).book().keep(
        check(Job(), str(folder / "tacit.yaml"), str(folder))
    )
    return folder


@pytest.fixture(scope="module")
def looked(folder: Path) -> OverlapPeople:
    """Everybody in it, counted."""
    return everybody(Job(), str(folder / "tacit.yaml"), str(folder), BOTH, str(folder / STATE))


@pytest.fixture
def file(folder: Path, looked: OverlapPeople) -> PeopleFile:
    return PeopleFile(folder / STATE / looked.file, len(looked.key), looked.stages.sizes)


# -- everybody -------------------------------------------------------------------------------------


def test_the_most_exposed_come_first_and_the_row_says_since_when(
    looked: OverlapPeople, file: PeopleFile
) -> None:
    assert columns_of(looked) == [
        "name",
        SHARE,
        "of value",
        "before age26to28",
        SINCE,
        "truly has",
        ALIKE,
        "could be in",
    ]
    rows = [
        person_row(looked, one, HALF)
        for one in file.page(0, 10, order_of(looked, SHARE, True, HALF))
    ]
    assert rows[0] == (
        "Donald",
        "80 %",
        "SARS",
        "50 %",
        "age26to28",
        "SARS",
        "1 person",
        "male, age26to28",
    )
    assert rows[1] == ("Alan", "40 %", "SARS", "50 %", "", "Heart", "3 people", "male")
    assert rows[4] == (
        "Ellen",
        "40 %",
        "SARS",
        "nothing known",
        "",
        "Viral",
        "3 people",
        "age26to28",
    )
    assert [is_above(looked, row, HALF) for row in rows] == [True, *[False] * 6]
    assert looked.people == file.count() == 7 and looked.asked == HALF
    assert describe_exposed(looked, HALF) == "1 person is above 50 % after all releases."
    assert describe_exposed(looked, Fraction(1, 3)) == "7 people are above 1/3 after all releases."
    assert describe_exposed(looked, Fraction(9, 10)) == "Nobody is above 90 % after all releases."


def test_one_person_release_by_release(looked: OverlapPeople, file: PeopleFile) -> None:
    [donald] = file.page(0, 5, search="ona")
    [ellen] = file.page(0, 5, search="ELLEN")
    assert course_rows(looked, donald[1]) == [
        ("male", "50 %", "SARS"),
        ("age26to28", "80 %", "SARS"),
    ]
    assert course_rows(looked, ellen[1]) == [
        ("male", "", "nothing known: in none of the releases so far"),
        ("age26to28", "40 %", "SARS"),
    ]
    assert may_have(looked, donald[1]) == "In all fitting tables: SARS 80 %, Viral 20 %."
    assert class_of(person_row(looked, donald, HALF)) == donald[1]


def test_orders(looked: OverlapPeople, file: PeopleFile) -> None:
    def names(column: str, backwards: bool) -> list[Any]:
        return [
            key[0]
            for key, _, _ in file.page(
                0, 10, order_of(looked, column, backwards, HALF), backwards=backwards
            )
        ]

    assert (
        names("name", False)
        == ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia"]
        == names("name", True)[::-1]
    )
    assert names(SHARE, False)[-1] == "Donald" == names(SINCE, True)[0] == names(ALIKE, False)[0]
    assert names(ALIKE, True)[-1] == "Donald"


def test_only_the_owner_can_read_the_file_and_the_last_one_stays(
    folder: Path, looked: OverlapPeople
) -> None:
    place = folder / STATE / looked.file
    assert (
        stat.S_IMODE(place.stat().st_mode) == 0o600
        and stat.S_IMODE(place.parent.stat().st_mode) == 0o700
    )
    again = everybody(Job(), str(folder / "tacit.yaml"), str(folder), BOTH, str(folder / STATE))
    left = list(place.parent.glob("*.people"))
    assert left == [place.parent / again.file] and "Donald" not in again.file
    assert not list(place.parent.glob("*.part"))
    with pytest.raises(InputError, match="looked up again"):
        PeopleFile(place, 1, looked.stages.sizes).page(0, 5)
    (place.parent / again.file).rename(place)  # for the tests that come after this one


def test_a_check_that_is_gone_is_said(folder: Path) -> None:
    with pytest.raises(InputError, match="no check of these releases together"):
        everybody(Job(), str(folder / "tacit.yaml"), str(folder), ["male"], str(folder / STATE))


def test_nothing_is_left_of_work_that_was_cancelled(tmp_path: Path) -> None:
    job = Job()
    job.cancel()
    with pytest.raises(Cancelled):
        write_people(tmp_path / "some.people", [(("a",), 0, None)], 1, 1, job)
    assert not list(tmp_path.iterdir())


def test_pages_are_those_of_a_sorted_list(tmp_path: Path) -> None:
    rng = random.Random(5)
    letters = ["a", "b", "_", "%", "\\", "1", " "]
    for _ in range(60):
        classes, many = rng.randint(1, 6), rng.randint(0, 40)
        keys = sorted(
            {
                tuple("".join(rng.choices(letters, k=rng.randint(1, 3))) for _ in range(2))
                for _ in range(many)
            }
        )
        people = [(key, rng.randrange(classes), rng.choice([None, 0, 1])) for key in keys]
        sizes = [sum(class_ == one for _, class_, _ in people) for one in range(classes)]
        assert write_people(tmp_path / "some.people", people, 2, len(people), Job()) == len(people)
        file = PeopleFile(tmp_path / "some.people", 2, sizes)
        for _ in range(12):
            search = rng.choice(["", *letters, "ab", "A", "b 1"])
            order = rng.choice([None, rng.sample(range(classes), classes)])
            offset, limit, backwards = (
                rng.randint(0, 12),
                rng.randint(1, 12),
                rng.random() < 0.3 and order is None,
            )
            wanted = [one for one in people if search.casefold() in " ".join(one[0]).casefold()]
            assert file.count(search) == len(wanted)
            if order is not None:
                wanted.sort(key=lambda one, order=order: order.index(one[1]))
            assert (
                file.page(offset, limit, order, search, backwards)
                == wanted[:: -1 if backwards else 1][offset : offset + limit]
            )


# -- since when ------------------------------------------------------------------------------------


def course(*beliefs: list[str | None], unseen: bool = True) -> Stages:
    """Stages by hand: for each release the beliefs of the classes, None where nothing is known
    or was not counted.
    """
    found = []
    for number, column in enumerate(beliefs):
        known = {
            class_: Largest(0, Fraction(one), Fraction(one))
            for class_, one in enumerate(column)
            if one is not None
        }
        found.append(
            Stage(
                f"v{number}",
                known,
                frozenset(range(len(column))) - set(known) if unseen else frozenset(),
                missing="" if unseen else "too long",
            )
        )
    return Stages("condition", ("SARS", "Flu"), tuple(range(1, len(beliefs[0]) + 1)), tuple(found))


@pytest.mark.parametrize(
    ("beliefs", "since"),
    [
        (["4/5"], 0),
        (["1/2"], None),
        (["1/3", "4/5"], 1),
        (["4/5", "4/5"], 0),
        (["4/5", "1/3"], None),
        (["4/5", "1/3", "3/5"], 2),
        ([None, "4/5"], 1),
        ([None], None),
    ],
)
def test_since_when_somebody_is_above(beliefs: list[str | None], since: int | None) -> None:
    assert since_when(course(*([one] for one in beliefs)), 0, HALF) == (since, True)


def test_since_when_against_a_walk_through_all_releases() -> None:
    rng = random.Random(3)
    for _ in range(2000):
        steps = [rng.choice(["1/4", "1/2", "3/4", "1"]) for _ in range(rng.randint(1, 5))]
        above = [Fraction(one) > HALF for one in steps]
        expected = next((place for place in range(len(steps)) if all(above[place:])), None)
        assert since_when(course(*([one] for one in steps)), 0, HALF) == (expected, True)


def test_a_release_that_was_not_counted_leaves_open_since_when() -> None:
    stages = course([None], ["4/5"], unseen=False)
    assert since_when(stages, 0, HALF) == (1, False)
    looked = OverlapPeople(("name",), None, stages, ("v0", "v1"), np.array([[True, True]]), "", 1)
    row = person_row(looked, (("Ann",), 0, None), HALF)
    assert row == (
        "Ann",
        "80 %",
        "SARS",
        "not counted",
        "v1, or before",
        "not known",
        "1 person",
        "v0, v1",
    )
    assert course_rows(looked, 0)[0] == ("v0", "", "not counted: too long")
    alone = OverlapPeople(("name",), None, course([None]), ("v0",), np.array([[True]]), "", 1)
    assert person_row(alone, (("Ann",), 0, 1), HALF) == (
        "Ann",
        "not counted",
        "",
        "",
        "Flu",
        "1 person",
    )


def test_orders_of_classes() -> None:
    stages = course(
        ["4/5", "1/5", None, "1"], ["4/5", "3/4", None, "2/5"], ["3/4", "1", None, "1/2"]
    )
    assert by_belief(stages) == [1, 0, 3, 2]
    assert by_since(stages, HALF) == [0, 1, 3, 2]
    assert by_size(stages) == [0, 1, 2, 3]
    assert (
        standing(stages, 1, HALF).before == Fraction(3, 4)
        and standing(stages, 2, HALF).belief is None
    )


# -- what verdicts say -----------------------------------------------------------------------------


def test_verdicts_are_found_by_their_checks(folder: Path) -> None:
    book = Bench(folder / "tacit.yaml", print).book()
    checked = book.checked
    assert checked is not None
    [section] = checked["sections"]
    verdicts = verdicts_of(checked, section)
    assert [one["check"] for one in verdicts] == ["gamma-privacy", "k-sind"]
    assert asked_limit(verdicts) == HALF and asked_limit(verdicts[1:]) is None
    assert [is_restorable(one) for one in verdicts] == [True, False]
    assert crowd_rows(verdicts[0]) == []
    assert crowd_rows(verdicts[1]) == [
        ("1", "Donald"),
        ("3", "Alan, Bob and Clark"),
        ("3", "Ellen, Fen and Garcia"),
    ]
    assert (
        people_in(section, verdicts) == 7 == people_in({"figures": []}, verdicts)
        and people_in({"figures": []}, verdicts[:1]) is None
    )
    assert len(stamp_of(checked, section)) > 100


def test_what_was_judged_earlier_is_not_counted_as_it_is_now(tmp_path: Path) -> None:
    (tmp_path / "tacit.yaml").write_text(PLAN, "utf-8")
    bench = Bench(tmp_path / "tacit.yaml", print)
    book = bench.book()
    book.keep(check(Job(), str(tmp_path / "tacit.yaml"), str(tmp_path)))
    checked = book.checked
    assert checked is not None
    visit: Any = type("Visit", (), {"book": book, "bench": bench})
    assert not is_stale(visit, checked, checked["sections"][0])
    (tmp_path / "tacit.yaml").write_text(PLAN.replace("gamma: 0.5", "gamma: 0.7"), "utf-8")
    assert is_stale(visit, checked, checked["sections"][0])


def test_crowds_of_many_people_are_told_by_size() -> None:
    found = {"check": "k-rsind", "measured": {"k": "1", "sizes": {"1": "2", "30": "1"}}}
    assert crowd_rows(found) == [("1", "2 such crowds"), ("30", "1 such crowd")]


@pytest.mark.parametrize(
    ("status", "largest", "may"),
    [("breached", "4/5", True), ("breached", "1", False), ("holds", "1/2", False)],
)
def test_what_is_certain_stays_certain(status: str, largest: str, may: bool) -> None:
    verdict = {
        "check": "gamma-privacy",
        "status": status,
        "measured": {"gamma": largest},
        "subject": {"releases": ["a", "b"]},
    }
    assert is_restorable(verdict) is may


@pytest.mark.parametrize(
    ("typed", "limit"),
    [
        (50, HALF),
        (33.3, Fraction(333, 1000)),
        (0, Fraction(0)),
        (100.0, Fraction(1)),
        (-1, None),
        (101, None),
        (None, None),
    ],
)
def test_limits_are_read_as_they_are_written(typed: Any, limit: Fraction | None) -> None:
    assert limit_from(typed) == limit
