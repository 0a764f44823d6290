"""What a killed writer leaves is removed and told, and what is written is its owner's."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tacit.engines.output import sweep, temporary_place

KILLED = """\
import os, signal, sys
from pathlib import Path
from tacit.engines.output import temporary_place
with temporary_place(Path(sys.argv[1])) as place:
    place.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_what_a_kill_left_is_removed_when_it_is_old_enough(tmp_path: Path) -> None:
    ran = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path / "april.csv")])
    assert ran.returncode == -signal.SIGKILL
    (left,) = tmp_path.iterdir()
    (tmp_path / "mine.tmp").touch()
    assert sweep(tmp_path) == []  # somebody may be writing it
    old = time.time() - 7_200
    for one in tmp_path.iterdir():
        os.utime(one, (old, old))
    assert sweep(tmp_path) == [left.name]
    assert [one.name for one in tmp_path.iterdir()] == ["mine.tmp"]


def test_a_new_file_is_its_owners_and_an_old_one_stays_as_open_as_it_was(tmp_path: Path) -> None:
    for name in ("new", "old"):
        if name == "old":
            (tmp_path / name).touch(0o644)
            (tmp_path / name).chmod(0o644)
        with temporary_place(tmp_path / name) as place:
            place.write_text("x")
    assert (tmp_path / "new").stat().st_mode & 0o777 == 0o600
    assert (tmp_path / "old").stat().st_mode & 0o777 == 0o644
