"""A change of the plan, or of a query's file, is noticed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tacit.gateway.plan_watch import Watch


@pytest.fixture
def plan(tmp_path: Path) -> Path:
    (tmp_path / "views").mkdir()
    (tmp_path / "views" / "a.sql").write_text("SELECT 1")
    (tmp_path / "two words.sql").write_text("SELECT 2")
    path = tmp_path / "tacit.yaml"
    path.write_text('releases-from: [views/*.sql]\nsecrets: {s: "two words.sql"}\n')
    return path


def test_nothing_changed(plan: Path) -> None:
    watch = Watch(plan)
    assert not watch.glanced() and not watch.changed()


def test_the_same_text_again_is_no_change(plan: Path) -> None:
    watch = Watch(plan)
    os.utime(plan, ns=(1, 1))
    assert watch.glanced() and not watch.changed() and not watch.glanced()


@pytest.mark.parametrize("written", ['{s: "q[1].sql"}', "\n  s: q[1].sql"])
def test_a_name_that_could_be_a_pattern_is_a_name(plan: Path, written: str) -> None:
    for name in ("q[1].sql", "q1.sql"):
        (plan.parent / name).write_text("SELECT 1")
    plan.write_text(f"releases-from: []\nsecrets: {written}\n")
    watch = Watch(plan)
    (plan.parent / "q[1].sql").write_text("SELECT 2")
    assert watch.changed()


@pytest.mark.parametrize("file", ["tacit.yaml", "views/a.sql", "two words.sql", "views/new.sql"])
def test_a_file_that_changed_or_is_new(plan: Path, file: str) -> None:
    watch = Watch(plan)
    (plan.parent / file).write_text("SELECT 3")
    assert watch.changed()


def test_other_text_of_the_same_length_at_the_same_time(plan: Path) -> None:
    watch = Watch(plan)
    before = plan.stat()
    plan.write_text(plan.read_text().replace("s:", "t:"))
    os.utime(plan, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert watch.changed()


def test_a_plan_that_is_gone(plan: Path) -> None:
    watch = Watch(plan)
    plan.unlink()
    assert watch.glanced() and watch.changed()
