"""Files of hierarchies beside the data: matched by their values, and looked over."""

import random

import pytest

from tacit.engines.files import read_rows
from tacit.errors import InputError
from tacit.plan.read.load import load_plan
from tacit.starter.grouping import ValueGroups, groups_of
from tacit.starter.hierarchy_files import matches, oddities
from tacit.starter.start import start


def write(folder, **files):
    for name, text in files.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return {f"{name}.csv": folder / f"{name}.csv" for name in files}


def test_a_file_is_matched_by_its_values_and_not_by_its_name(tmp_path):
    files = write(
        tmp_path,
        levels="F;*\nM;*\n",
        ages="age;five;ten\n17;[15, 20);[10, 20)\n22;[20, 25);[20, 30)\n",
        list="F\nM\n",
        data="F;17\nF;22\n",
    )
    found = matches(files, {"sex": ["F", "M"], "age": [17, 22], "ward": ["A"]})
    assert {column: one.file for column, one in found.items()} == {
        "sex": "levels.csv",
        "age": "ages.csv",
    }
    assert (found["age"].height, found["age"].level) == (2, 1)


def test_of_several_files_the_one_called_after_the_column_counts(tmp_path):
    files = write(tmp_path, a="F;*\nM;*\n", hierarchy_sex="F;x;*\nM;x;*\nD;x;*\n")
    assert matches(files, {"sex": ["F", "M"]})["sex"].file == "hierarchy_sex.csv"


def test_intervals_are_one_value_where_semicolons_separate(tmp_path):
    files = write(tmp_path, h="17;[15, 20);[10, 20)\n18;[15, 20);[10, 20)\n")
    assert read_rows(files["h.csv"])[0][1] == ["17", "[15, 20)", "[10, 20)"]


def test_init_takes_the_files_beside_the_data_and_says_what_is_odd(tmp_path):
    rows = "".join(f"{age},{sex}\n" for age in (20, 25, 30) for sex in "FM")
    write(
        tmp_path,
        people="age,sex\n" + rows,
        hierarchy_age="20;20-24;20-29;*\n25;20-24;20-29;*\n30;30-34;30-39;*\n",
        other="x;y\n",
    )
    made = start(str(tmp_path / "people.csv"), plan=tmp_path / "tacit.yaml")
    odd = 'hierarchy_age.csv: "20-24" (level 1) is the label of 25, which is not in it.'
    assert odd in made.notes
    plan = load_plan(tmp_path / "tacit.yaml")
    assert plan.tables["people"].hierarchies["age"].file == "hierarchy_age.csv"


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["a;x;*", "b;*;*", "c;x;*"], "b: * already below level 2, where others have a label."),
        (["a;all;*", "b;all;*"], "Level 1 has one label for everything"),
        (["a;p;*", "b;q;*", "c;r;*"], "Level 1 joins no values"),
        (["a;p;x", "b;p;y", "c;q;y"], "The highest level has several labels"),
        (["a;p;*", "b;p;*", "c;q;*", "z;q;*"], "no row has it: z."),
        (["5;<5;*", "3;<5;*", "6;5+;*"], '"<5" (level 1) is the label of 5, which is not in it.'),
    ],
)
def test_what_is_odd_is_said(lines, said):
    rows = [(at, line.split(";")) for at, line in enumerate(lines, 1)]
    assert any(said in odd for odd in oddities([*"abc356"], rows))


def test_an_ordinary_hierarchy_has_nothing_odd():
    rows = [(1, ["a", "x", "*"]), (2, ["b", "x", "*"]), (3, ["c", "y", "*"])]
    assert list(oddities("abc", rows)) == []


def test_groups_stay_nested_whatever_is_grouped_and_can_be_read_again():
    for seed in range(200):
        rng = random.Random(seed)
        names = [f"v{at}" for at in range(rng.randint(1, 6))]
        groups = ValueGroups(tuple((name, rng.randint(1, 9)) for name in names))
        for _ in range(rng.randint(0, 6)):
            level = rng.randint(1, groups.height + 1)
            if level > groups.height:
                groups = groups.with_level()
            items = [item.name for item in groups.items(level)]
            groups = groups.grouped(
                level, rng.sample(items, rng.randint(1, len(items))), rng.choice("pqr")
            )
        for fine, coarse in zip(groups.levels, groups.levels[1:], strict=False):
            assert len(set(zip(fine, coarse, strict=True))) == len(set(fine))
        for level in range(1, groups.height + 1):
            assert sum(item.rows for item in groups.items(level)) == sum(
                n for _, n in groups.values
            )
        lines = [line.split(";") for line in groups.text().splitlines()]
        assert groups_of(groups.values, lines).text() == groups.text()


def test_a_group_needs_values_and_a_name():
    with pytest.raises(InputError, match="nothing is ticked"):
        ValueGroups((("a", 1),)).grouped(1, [], "x")
    with pytest.raises(InputError, match="has no name"):
        ValueGroups((("a", 1),)).grouped(1, ["a"], " ")
