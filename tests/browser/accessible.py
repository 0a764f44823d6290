"""Accessibility: axe-core looks at a page as a screen reader meets it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

ROOT = Path(__file__).parents[2]
GRAVE = ("serious", "critical")


def axe_path() -> Path | None:
    """Where axe-core is: TACIT_AXE, or where `make` puts it."""
    places = [
        os.environ.get("TACIT_AXE"),
        ROOT / ".venv" / "node" / "node_modules" / "axe-core" / "axe.min.js",
    ]
    return next((Path(place) for place in places if place and Path(place).is_file()), None)


def faults(page: Page) -> list[str]:
    """The serious and critical faults of a page, each with what it is about.

    The script is run in the page as a debugger would, so the page's own
    rules about scripts stay as they are.
    """
    path = axe_path()
    assert path is not None
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(path.read_text("utf-8") + "; undefined")
    found: dict[str, Any] = page.evaluate(
        "() => axe.run(document, {resultTypes: ['violations'], preload: false})"
    )
    return [told(one) for one in found["violations"] if one["impact"] in GRAVE]


def told(violation: dict[str, Any]) -> str:
    """A fault in words: its rule, and the elements."""
    nodes = "\n    ".join(
        (
            f"{' '.join(map(str, node['target']))}: {node['html'][:160]} "
            f"({'; '.join(text for kind in ('any', 'all') for text in [one['message'] for one in node[kind]])[:200]})"  # noqa: E501
        )
        for node in violation["nodes"][:8]
    )
    return (
        f"{violation['impact']} {violation['id']}: {violation['help']}, "
        f"{len(violation['nodes'])} "
        f"times\n    {nodes}"
    )


def assert_accessible(page: Page) -> None:
    """No serious or critical fault."""
    found = faults(page)
    assert not found, f"{page.url}\n" + "\n".join(found)
