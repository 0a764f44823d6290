"""Write into the pages what their commands print today:
python tests/docs/refresh.py [PAGE.md ...]. Read the diff afterwards.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
from pathlib import Path
from unittest.mock import patch

from served import Reader, reading
from snippets import (
    FENCE,
    RUN,
    SERVED,
    Block,
    agrees,
    is_run,
    plain_environment,
    prepare,
    run,
    steps,
)

SECONDS = '"seconds": 0.007'  # what tidy() leaves of a time is no time


def refreshed(page: Path, folder: Path, reader: Reader | None = None) -> str:
    """The text of a page with the output of its console blocks made new;
    commands without output stay so.

    With a reader a gateway runs where the page starts one.
    """

    def again(found: re.Match[str]) -> str:
        changes = bool(found["change"])
        block = Block(page, 0, found["language"], found["text"], found["file"], changes=changes)
        prepare(block, folder)
        if block.language != "console":
            return found[0]
        return found[0].replace(found["text"], "".join(refreshed_steps(block, reader)))

    return FENCE.sub(again, page.read_text("utf-8"))


def refreshed_steps(block: Block, reader: Reader | None = None) -> list[str]:
    """The commands of a console block as they are written, each with what it prints."""
    written = re.findall(r"^\$ (?:.*\\\n)*.*\n", block.text, re.MULTILINE)
    parts = []
    for line, step in zip(written, steps(block), strict=True):
        output = step.output
        if reader is not None or is_run(step.command):
            printed = reader.does(step.command) if reader is not None else run(step.command)
            if output is not None and not agrees(printed, output):
                output = left_out(printed, output).replace('"seconds": 0.0', SECONDS)
        parts.append(line + (f"{output}\n" if output is not None else ""))
    return parts


def left_out(printed: str, before: str) -> str:
    """What is printed now, without the lines that the page left out: each part that it shows still
    begins and ends with the same line. Else all of it.

    >>> left_out("head\\nholds\\nnow 3\\nas ever\\ntail", "...\\nholds\\nnow 2\\nas ever\\n...")
    '...\\nholds\\nnow 3\\nas ever\\n...'
    """
    lines, shown, at = printed.split("\n"), [], 0
    parts = [part.split("\n") for part in re.split(r"^\.\.\.$", before, flags=re.MULTILINE)]
    for part in (list(filter(None, part)) for part in parts):
        if part:
            if part[0] not in lines[at:]:
                return printed
            first = lines.index(part[0], at)
            if part[-1] not in lines[first:]:
                return printed
            at = lines.index(part[-1], first) + 1
            shown.append("\n".join(lines[first:at]))
        else:
            shown.append("")
    return "\n...\n".join(shown).strip("\n")


def main() -> None:
    """Refresh every page that needs no database server."""
    here = Path.cwd()
    with patch.dict(os.environ, plain_environment(), clear=True):
        for page in (
            page for page in (*RUN, *SERVED) if not sys.argv[1:] or page.name in sys.argv[1:]
        ):
            with (
                tempfile.TemporaryDirectory() as folder,
                reading(pages=page.name == "workbench.md") as reader,
            ):
                os.chdir(folder)
                text = refreshed(page, Path(folder), reader if page in SERVED else None)
                os.chdir(here)
            if text != page.read_text("utf-8"):
                page.write_text(text, "utf-8")
                sys.stdout.write(f"{page}\n")


if __name__ == "__main__":
    main()
