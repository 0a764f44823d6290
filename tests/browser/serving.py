"""`tacit serve` for tests in a browser: a process of its own, its one-time link, and an end that
leaves nothing behind.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

START_SECONDS = 180
END_SECONDS = 60
LINK = re.compile(r"http://\S+/workbench/enter\S+")
ADDRESS = re.compile(r"answers at (http://[^\s/]+)")


@dataclass
class Served:
    """A server that runs: its process, its plan, and what it has said so far."""

    process: subprocess.Popen[str]
    plan: Path
    said: list[str] = field(default_factory=list)
    heard: threading.Condition = field(default_factory=threading.Condition)
    used: set[str] = field(default_factory=set)
    stopping: bool = False

    @property
    def folder(self) -> Path:
        """Where the plan is, and all that the pages may reach."""
        return self.plan.parent

    @property
    def text(self) -> str:
        """All that it said."""
        return "".join(self.said)

    def link(self) -> str:
        """A link to the workbench that nobody has followed yet:
        when one was, the next is printed.
        """
        found = self._wait(
            lambda: next((one for one in LINK.findall(self.text) if one not in self.used), None)
        )
        self.used.add(found)
        return found

    @property
    def address(self) -> str:
        """Where the gateway answers, without a path."""
        return self._wait(lambda: next(iter(ADDRESS.findall(self.text)), None))

    def url(self, path: str = "") -> str:
        """A page of the workbench."""
        return f"{self.address}/workbench/{path}"

    def listen(self) -> None:
        """Read what it says, to its end."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            with self.heard:
                self.said.append(line)
                self.heard.notify_all()
        with self.heard:
            self.heard.notify_all()

    def stop(self) -> None:
        """Ask it to stop as an operator does, but once: who asks again does not want to wait."""
        if not self.stopping:
            self.stopping = True
            self.process.send_signal(signal.SIGCONT)  # a test that failed may have paused it
            self.process.send_signal(signal.SIGINT)

    def end(self) -> int:
        """Stop it; its exit status."""
        self.stop()
        try:
            return self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(END_SECONDS)
            raise AssertionError(
                f"tacit serve did not end after {END_SECONDS} s:\n{self.text}"
            ) from None

    def _wait(self, look: Callable[[], str | None]) -> str:
        with self.heard:
            self.heard.wait_for(lambda: look() or self.process.poll() is not None, START_SECONDS)
            found = look()
        assert found, f"tacit serve did not say where it is:\n{self.text}"
        return found


@contextmanager
def serving(
    plan: Path, *arguments: str, program: Sequence[str] = ("-m", "tacit")
) -> Iterator[Served]:
    """Serve a plan on a free port; at the end it must stop cleanly,
    and must not have met a fault.
    """
    command = [sys.executable, *program, "serve", str(plan), "--port", "0", *arguments]
    apart = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("TACIT_", "PYTEST", "NICEGUI"))
    }
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env=apart,
    )
    served = Served(process, plan)
    listener = threading.Thread(target=served.listen, daemon=True)
    listener.start()
    try:
        yield served
    finally:
        status = served.end() if process.poll() is None else process.returncode
        listener.join(END_SECONDS)
    assert status == 0, f"tacit serve ended with {status}:\n{served.text}"
    assert "Traceback" not in served.text and "Fault" not in served.text, served.text
