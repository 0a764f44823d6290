"""Draw the picture of each definition's example, as its report has it:
python tests/docs/pictures.py. Look at them afterwards.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from html import unescape
from pathlib import Path
from unittest.mock import patch

from snippets import ROOT, blocks, plain_environment, prepare, run

from tacit.families.catalog import DEFINITIONS

# Which picture of the report says most; else what is believed of each person.
BELIEFS = 3
CHOSEN = {
    "k-anonymity": 4,
    "risk": 0,
    "g-safety": 0,
    "e-safety": 1,
    "gamma-privacy": 2,
    "k-sind": 2,
    "k-rsind": 2,
    "differential-privacy": 0,
    "probabilistic-dp": 0,
    "m-invariance": 1,
}
TARGET = ROOT / "docs" / "images" / "definitions"
SVG = re.compile(r'<svg role="img" (.*?)</svg>', re.DOTALL)


def pictures(name: str, folder: Path) -> list[str]:
    """The pictures of the report on the example of a definition's page."""
    written = set()
    for block in blocks(ROOT / "docs" / "definitions" / f"{name}.md"):
        if block.file and block.file not in written:
            written.add(block.file)
            prepare(block, folder)
    run("tacit check --audience owner --report report.html")
    return [found[0] for found in SVG.finditer((folder / "report.html").read_text("utf-8"))]


def standing_alone(svg: str) -> str:
    """A picture as a file of its own, on white."""
    white = '<rect width="100%" height="100%" fill="#fff"/><g '
    return svg.replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1).replace(
        "<g ", white, 1
    )


def main() -> None:
    """Write one picture a definition, and say its title for the page."""
    here = Path.cwd()
    TARGET.mkdir(parents=True, exist_ok=True)
    with patch.dict(os.environ, plain_environment(), clear=True):
        for name in sys.argv[1:] or (one for one in DEFINITIONS if one != "hipaa-identifiers"):
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)
                chosen = pictures(name, Path(folder))[CHOSEN.get(name, BELIEFS)]
                os.chdir(here)
            (TARGET / f"{name}.svg").write_text(standing_alone(chosen) + "\n", "utf-8")
            title = re.search(r"<title>(.*?)</title>", chosen)
            sys.stdout.write(f"{name}: {unescape(title[1]) if title else ''}\n")


if __name__ == "__main__":
    main()
