"""Plans of every kind, with their tables: those of the documentation, so that a reader can look
at the same pages.
"""

from __future__ import annotations

import shutil
from pathlib import Path

from snippets import ROOT, blocks, prepare

from browser.tables import write_census
from tacit import demo

PAGES = {
    "views": "views",
    "worlds": "view-safety",
    "overlaps": "overlapping-views",
    "synthetic": "synthetic-data",
    "ledger": "ledger",
}
GATEWAY = ROOT / "examples" / "gateway"
CENSUS = """\
version: 1
tables:
  people:
    person: [name]
    identifiers: [name]
    quasi-identifiers: [age, workclass, education, marital_status, race, sex, native_country]
    sensitive: [occupation]
    hierarchies:
      age: {ranges: [5, 10, 20, 40]}
      workclass: "*"
      education: "*"
      marital_status: "*"
      race: "*"
      sex: "*"
      native_country: "*"
releases:
  public: {table: people}
checks:
  - k-anonymity: {release: public, k: 5}
  - l-diversity: {release: public, kind: distinct, l: 4}
"""


def write_demo(folder: Path) -> Path:
    """The hospital of `tacit demo`: generalized tables."""
    demo.write(folder)
    return folder / "tacit.yaml"


def write_hospital(folder: Path) -> Path:
    """The hospital of examples/gateway: roles and secrets."""
    folder.mkdir(exist_ok=True)
    for name in ("tacit.yaml", "stays.csv", "wards.csv"):
        shutil.copy(GATEWAY / name, folder)
    return folder / "tacit.yaml"


def write_census_plan(folder: Path) -> Path:
    """A census of made-up people, of which a release is to be 4-diverse;
    several ways lead there.
    """
    folder.mkdir(exist_ok=True)
    write_census(folder / "people.csv", 3_000)
    (folder / "tacit.yaml").write_text(CENSUS, "utf-8")
    return folder / "tacit.yaml"


def write_documented(kind: str, folder: Path) -> Path:
    """The first plan of a page of the documentation, and all files of that page."""
    folder.mkdir(exist_ok=True)
    seen: set[str] = set()
    for block in blocks(ROOT / "docs" / "how-to" / f"{PAGES[kind]}.md"):
        if block.file and block.file not in seen and not block.changes:
            seen.add(block.file)
            prepare(block, folder)
    return folder / "tacit.yaml"


def write_plan(kind: str, folder: Path) -> Path:
    """A plan of some kind in a folder:
    demo, hospital, census, or of a page of the documentation.
    """
    writers = {"demo": write_demo, "hospital": write_hospital, "census": write_census_plan}
    return writers[kind](folder) if kind in writers else write_documented(kind, folder)
