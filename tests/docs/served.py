"""Pages on which a gateway runs: its commands in order, `tacit serve &` in the background, curl
and Python against it.
"""

from __future__ import annotations

import doctest
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from snippets import Block, prepare, printed_by, steps, tidy

PORT = "127.0.0.1:8321"  # as the pages write it; the gateway of a test takes one that is free
TOKEN = re.compile(r"\btacit_[\w-]{43}(?![\w-])")
SHELL = ("curl", "tail", "head", "cat", "grep", "sleep")
LONGEST = 60


class Reader:
    """Somebody who does what a page says, in one shell:
    tokens are remembered, and one server may run, with `pages` for the owner or without.
    """

    def __init__(self, *, pages: bool = False) -> None:
        self.token = ""
        self._pages = pages
        self._server: subprocess.Popen[str] | None = None
        self._address = PORT
        self._told: list[str] = []
        self._ready = threading.Event()

    def does(self, command: str) -> str:
        """What a command prints, tidy; the port is that of the page."""
        if command.startswith("tacit serve") and command.endswith("&"):
            return self._serves(command.removesuffix("&"))
        if command == "kill %1":
            return self.stops()
        if export := re.fullmatch(r"export ([A-Z_]+)=tacit_\S+", command):
            os.environ[export[1]] = self.token
            return ""
        if command.startswith("tacit "):
            printed = printed_by(command)
            if tokens := TOKEN.findall(printed):
                self.token = tokens[-1]
            return tidy(printed)
        assert command.split()[0] in SHELL, f"nobody here knows {command}"
        ran = subprocess.run(
            ["bash", "-c", self._here(command)], capture_output=True, text=True, timeout=LONGEST
        )
        return self._there(ran.stdout + ran.stderr)

    def asks(self, block: Block, names: dict[str, object]) -> str:
        """Run a block of Python; what is not as the page says."""
        test = doctest.DocTestParser().get_doctest(
            self._here(block.text), names, block.name, str(block.page), block.line
        )
        assert test.examples, f"{block.name}: a Python block has no >>>"
        said: list[str] = []
        doctest.DocTestRunner().run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
        return self._there("".join(said))

    def stops(self) -> str:
        """End the gateway; what it said since it was started."""
        server, self._server = self._server, None
        if server is not None:
            server.send_signal(signal.SIGTERM)
            try:
                server.wait(LONGEST)
            except subprocess.TimeoutExpired:
                server.kill()
        self._address = PORT
        return ""

    def _serves(self, command: str) -> str:
        """Start a gateway; what it says until it answers, or why it does not."""
        words = [
            sys.executable,
            "-m",
            "tacit",
            *shlex.split(command)[1:],
            "--port",
            "0",
            "--workbench" if self._pages else "--no-workbench",
        ]
        self._told, self._ready = [], threading.Event()
        self._server = subprocess.Popen(
            words, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True, env=os.environ
        )
        threading.Thread(target=self._listen, args=(self._server,), daemon=True).start()
        assert self._ready.wait(LONGEST), "the gateway did not start"
        return self._there("".join(self._told))

    def _listen(self, server: subprocess.Popen[str]) -> None:
        assert server.stderr is not None
        for line in server.stderr:
            self._told.append(line)
            if found := re.search(r"answers at http://(\S+)", line):
                self._address = found[1]
            if re.search("Open the workbench: " if self._pages else "answers at ", line):
                self._ready.set()
        self._ready.set()

    def _here(self, text: str) -> str:
        return text.replace(PORT, self._address)

    def _there(self, text: str) -> str:
        return tidy(text.replace("\r", "").replace(self._address, PORT))


@contextmanager
def reading(*, pages: bool) -> Iterator[Reader]:
    """A reader, whose server ends with the page, and whose shell forgets its tokens."""
    before = dict(os.environ)
    reader = Reader(pages=pages)
    try:
        yield reader
    finally:
        reader.stops()
        os.environ.clear()
        os.environ.update(before)


def read(blocks: list[Block], folder: Path) -> Iterator[tuple[Block, str, str, str]]:
    """A page from top to bottom: for each command what it was to print and what it printed;
    for Python what went wrong.
    """
    names: dict[str, object] = {}
    with reading(pages=any(block.page.name == "workbench.md" for block in blocks)) as reader:
        for block in blocks:
            prepare(block, folder)
            if block.language == "console":
                for step in steps(block):
                    yield block, step.command, step.output or "", reader.does(step.command)
            elif block.language == "python":
                yield block, "python", "", reader.asks(block, names)
