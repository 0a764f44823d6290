"""Assessments to draw: the demo, and any plan as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tacit import demo
from tacit.checking.assess import Assessment, assess
from tacit.plan.read.load import load_plan

Assess = Callable[[str], Assessment]


@pytest.fixture(scope="session")
def hospital(tmp_path_factory: pytest.TempPathFactory) -> Assessment:
    """The demo, with its portraits."""
    folder = tmp_path_factory.mktemp("hospital")
    demo.write(folder)
    return assess(load_plan(folder / "tacit.yaml"), depth="page")


@pytest.fixture
def assessed(tmp_path: Path) -> Assess:
    """The answers to a plan written as text."""

    def answers(plan: str) -> Assessment:
        (tmp_path / "tacit.yaml").write_text(plan, "utf-8")
        return assess(load_plan(tmp_path / "tacit.yaml"), depth="page")

    return answers
