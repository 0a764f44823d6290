"""A report is also a PDF file, to print and sign."""

from __future__ import annotations

from pathlib import Path

import pytest

from tacit.errors import InputError, MissingExtra
from tacit.report.html.pages import write_page
from tacit.report.html.pdf import as_pdf


def test_a_page_is_written_as_pdf_where_its_name_says_so(tmp_path: Path) -> None:
    page = '<p>Hello <img src="http://127.0.0.1:9/x.png" alt=""></p>'
    try:
        as_pdf("<p>Hello</p>")
    except (MissingExtra, InputError) as error:
        pytest.skip(str(error))
    write_page(page, tmp_path / "report.PDF")
    assert (tmp_path / "report.PDF").read_bytes().startswith(b"%PDF-")


def test_without_the_extra_the_command_to_run_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "weasyprint", None)
    with pytest.raises(MissingExtra, match=r"tacit-privacy\[pdf\]"):
        write_page("<p>Hello</p>", tmp_path / "report.pdf")
    assert not list(tmp_path.iterdir())
