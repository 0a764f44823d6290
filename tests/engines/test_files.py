"""CSV files that are not UTF-8: what they are, and the command that helps."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from tacit.engines.files import csv_shape
from tacit.errors import DataError

TEXT = "name,age,condition\nZoë,23,Flu\n"
TOLD = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16LE",
    "utf-16-be": "UTF-16BE",
    "utf-32": "UTF-32",
    "latin-1": "LATIN1",
}


@pytest.mark.parametrize("encoding", TOLD)
def test_the_advice_for_a_file_in_another_encoding_makes_it_readable(
    tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "my table.csv"
    path.write_bytes(TEXT.encode(encoding))
    with pytest.raises(DataError, match=r"my table\.csv is .*UTF-8") as raised:
        csv_shape(path)
    assert raised.value.hint is not None
    command = raised.value.hint.removeprefix("Convert it first, for example: ")
    assert shlex.split(command)[:3] == ["iconv", "-f", TOLD[encoding]]
    if shutil.which("iconv") is None:
        pytest.skip("no iconv: apt install libc-bin")
    subprocess.run(["sh", "-c", command], cwd=tmp_path, check=True)
    assert (tmp_path / "converted.csv").read_text("utf-8-sig") == TEXT


def test_the_mark_of_utf_16_is_named_for_either_order_of_bytes(tmp_path: Path) -> None:
    path = tmp_path / "u.csv"
    path.write_bytes(b"\xfe\xff" + TEXT.encode("utf-16-be"))
    with pytest.raises(
        DataError,
        match=(
            r"u\.csv is UTF-16, and not UTF-8\. Convert it first, for example: iconv -f "
            r"UTF-16 -t UTF-8"
        ),
    ):
        csv_shape(path)
