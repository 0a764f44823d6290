"""The notebooks run from top to bottom, and show what they store."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))


def test_every_family_has_a_notebook() -> None:
    from tacit.families.catalog import FAMILIES

    assert {path.stem for path in NOTEBOOKS} >= set(FAMILIES)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_and_shows_what_it_stores(path: Path) -> None:
    cells = json.loads(path.read_text("utf-8"))["cells"]
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] == "code":
            shown = run("".join(cell["source"]), names)
            stored = [
                "".join(one["data"]["text/plain"])
                for one in cell["outputs"]
                if one["output_type"] == "execute_result"
            ]
            assert stored == ([] if shown is None else [repr(shown)])


def run(source: str, names: dict[str, Any]) -> Any:
    """Run a cell, and give what its last line is worth."""
    *body, last = ast.parse(source).body
    if not isinstance(last, ast.Expr):
        body, last = [*body, last], None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    return (
        None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )
