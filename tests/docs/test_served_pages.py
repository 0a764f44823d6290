"""The pages about the gateway and the workbench print what a reader gets:
a server is started, and asked with curl and Python.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from served import read
from snippets import ROOT, SERVED, agrees, blocks, plain_environment

pytest.importorskip("fastapi")
pytest.importorskip("httpx")
needs_curl = pytest.mark.skipif(shutil.which("curl") is None, reason="no curl: apt install curl")


@needs_curl
@pytest.mark.parametrize("page", SERVED, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_about_the_gateway_shows_is_what_a_reader_gets(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if page.name == "workbench.md":
        pytest.importorskip("nicegui")
    monkeypatch.chdir(tmp_path)
    for name in set(os.environ) - set(plain_environment()):
        monkeypatch.delenv(name)
    for block, command, expected, printed in read(blocks(page), tmp_path):
        if expected or command == "python":
            assert agrees(printed, expected), f"{block.name}: {command}\n{printed}"
