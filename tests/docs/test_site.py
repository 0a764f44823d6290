"""The documentation as a site: built without a warning, and without anything of another host."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from snippets import ROOT

import tacit

pytest.importorskip("mkdocs", reason="no mkdocs: make .venv/docs")


@pytest.mark.slow
def test_the_site_is_built_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", tmp_path]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    for page in tmp_path.rglob("*.html"):
        text = page.read_text("utf-8")
        assert not re.findall(r'(?:src|<link[^>]*href)="?https?://', text), page
    names = (tmp_path / "reference" / "python-names.html").read_text("utf-8")
    assert not [name for name in tacit.__all__ if f'id="{name.lower()}"' not in names]
