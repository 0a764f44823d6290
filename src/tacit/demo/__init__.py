"""The hospital example of Machanavajjhala (2008) (Table 3.1, with invented names), as files to
copy.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from tacit.engines.output import refusing, temporary_place

NAMES = ("inpatients.csv", "zip.csv", "age.csv", "tacit.yaml")


def write(folder: Path) -> list[str]:
    """Write the example's files, leaving alone those that are there; return the ones written."""
    with refusing(folder):
        folder.mkdir(parents=True, exist_ok=True)
    new = [name for name in NAMES if not (folder / name).exists()]
    for name in new:
        with temporary_place(folder / name) as place:
            place.write_text(files(__name__).joinpath(name).read_text("utf-8"), "utf-8")
    return new
