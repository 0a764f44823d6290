"""Plans for tests: written to a folder and loaded."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tacit.plan.plan import Plan
from tacit.plan.read.load import load_plan

PLANS = Path(__file__).parent / "plans"


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Plan]:
    """Load a plan given as text; `files` stand beside it."""

    def load_text(text: str, files: dict[str, str] | None = None, **options: bool) -> Plan:
        for name, content in {"tacit.yaml": text, **(files or {})}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(content, encoding="utf-8")
        return load_plan(tmp_path / "tacit.yaml", **options)

    return load_text
