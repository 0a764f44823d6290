"""Bench and books: what the pages stand on. A book is one plan file with its text, its last
verdicts, its open source and its work.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar
from urllib.parse import quote

from tacit.engines.open import open_engine
from tacit.errors import InputError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.plan.owned_files import owners_files
from tacit.plan.plan import Plan
from tacit.workbench.app.reach import load_within, text_within
from tacit.workbench.app.workbench_sessions import WorkbenchSession
from tacit.workbench.downloads import Savings
from tacit.workbench.work import Works

PREFIX = "/workbench"
STATE = ".tacit-workbench"  # beside the plan: the last verdicts, for the owner only
PLANS = (".yaml", ".yml")
MOST_PLANS = 200
CLOSE_SECONDS = 2.0
IDLE_SECONDS = 900.0  # an open source that nobody asked for so long is closed

P = ParamSpec("P")
T = TypeVar("T")


class Bench:
    """One folder, all that the pages may reach of this machine's disk, and the books in it."""

    def __init__(
        self, plan: Path, tell: Callable[[str], None], *, folder: Path | None = None
    ) -> None:
        self.home = plan.resolve()
        self.folder = (folder or plan.parent).resolve()
        self.tell = tell
        if not self.home.is_relative_to(self.folder):
            raise InputError(
                f"{plan} is not below {folder}.", hint="Name a folder above the plan with --folder."
            )
        self.savings = Savings()
        self.themes: dict[str, bool | None] = {}  # by session: dark, light, or as the system is
        self._books: dict[Path, Book] = {}

    def book(self, path: Path | None = None) -> Book:
        """The book of a plan file below the folder (default: the one that is served)."""
        place = self.inside(path or self.home)
        if place not in self._books:
            self._books[place] = Book(place, self)
        return self._books[place]

    def books(self) -> list[Book]:
        """The books that somebody has opened."""
        return list(self._books.values())

    def inside(self, path: Path | str) -> Path:
        """A path below the folder, links followed; an InputError for any other."""
        place = (self.folder / path).resolve()
        if not place.is_relative_to(self.folder) or STATE in place.parts:
            raise InputError(
                f"{Path(path).name} is not below the plan's folder.",
                hint="Only files in that folder can be reached from here.",
            )
        return place

    def plans(self) -> list[Path]:
        """The plan files below the folder, by name; at most some hundred."""
        found: list[Path] = []
        for place in sorted(walk(self.folder)):
            with suppress(InputError):
                if place.suffix in PLANS and looks_like_a_plan(self.inside(place)):
                    found.append(place)
            if len(found) >= MOST_PLANS:
                break
        return found

    def name(self, path: Path) -> str:
        """What a file below the folder is called on pages."""
        return (
            path.relative_to(self.folder).as_posix()
            if path.is_relative_to(self.folder)
            else path.name
        )

    async def keep_house(self) -> None:
        """Close sources that nobody uses, until cancelled."""
        while True:
            await asyncio.sleep(IDLE_SECONDS / 10)
            for book in list(self._books.values()):
                await asyncio.to_thread(book.close_if_idle)

    def close(self) -> None:
        """Stop all work and close all sources."""
        for book in self._books.values():
            book.close()


class Book:
    """A plan file, as all pages and tabs share it."""

    def __init__(self, path: Path, bench: Bench) -> None:
        self.path = path
        self.folder = path.parent
        self.reach = bench.folder
        self.name = bench.name(path)
        self.works = Works(bench.tell)
        self.kept: dict[
            str, Any
        ] = {}  # what pages leave for other pages: the last written file of a release, and the like
        self._lock = threading.RLock()
        self._thread = ThreadPoolExecutor(
            1, thread_name_prefix="tacit-book"
        )  # who waits for a slow source holds up nobody else
        self._source: MicrodataSource | None = None
        self._stamps: object = None
        self._used = time.monotonic()

    @property
    def exists(self) -> bool:
        """Is there such a file yet?"""
        return self.path.is_file()

    def text(self) -> str:
        """The plan as it is written; empty where there is none yet."""
        try:
            return self.path.read_text("utf-8")
        except FileNotFoundError:
            return ""
        except (OSError, UnicodeDecodeError):
            raise InputError(
                f"{self.path.name} cannot be read as text.", hint="Save it as UTF-8."
            ) from None

    def plan(self) -> Plan:
        """The plan; a TacitError that says what is wrong with it, and where."""
        return load_within(self.path, self.reach)

    def digest(self) -> str:
        """Something that changes when the plan's text does."""
        return hashlib.sha256(self.text().encode()).hexdigest()

    def save(self, text: str, *, was: str) -> None:
        """Write the plan, whole or not at all; a TacitError if it is none, or if somebody
        changed the file since it was `was`.
        """
        text_within(text, self.path, self.reach)
        with self._lock:
            if self.text() != was:
                raise InputError(
                    f"{self.path.name} was changed meanwhile, by hand or in another tab.",
                    hint="Load the page again; your text is still in it until then.",
                )
            beside = self.path.with_name(f".{self.path.name}.{os.getpid()}.part")
            try:
                beside.write_text(text, "utf-8")
                if self.path.exists():
                    beside.chmod(self.path.stat().st_mode & 0o777)
                beside.replace(self.path)
            except OSError as error:
                raise InputError(
                    f"{self.path.name} cannot be written: {(error.strerror or str(error)).lower()}."
                ) from None
            finally:
                with suppress(OSError):
                    beside.unlink()

    @property
    def checked(self) -> dict[str, Any] | None:
        """The last verdicts."""
        return next(iter(self._history()), None)

    @property
    def before(self) -> dict[str, Any] | None:
        """The verdicts before the last ones."""
        return next(iter(self._history()[1:]), None)

    def keep(self, checked: dict[str, Any]) -> None:
        """Remember verdicts as the last ones, on disk and for the owner only."""
        with self._lock:
            folder = self.folder / STATE
            folder.mkdir(mode=0o700, exist_ok=True)
            (folder / ".gitignore").write_text("*\n", "utf-8")
            place = self._state()
            beside = place.with_suffix(f".{os.getpid()}.part")
            with open(
                os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8"
            ) as file:
                json.dump([checked, *self._history()[:1]], file, ensure_ascii=False)
            beside.replace(place)

    async def ask(
        self,
        function: Callable[Concatenate[MicrodataSource, P], T],
        *arguments: P.args,
        **named: P.kwargs,
    ) -> T:
        """Run `function(source, ...)` on the plan's open source, in a thread;
        one question after the other.
        """

        def asked() -> T:
            with self._lock:
                return function(self._opened(), *arguments, **named)

        return await asyncio.get_running_loop().run_in_executor(self._thread, asked)

    def close(self) -> None:
        """Stop the work and close the source."""
        self.works.close()
        self._thread.shutdown(wait=False, cancel_futures=True)
        if self._lock.acquire(timeout=CLOSE_SECONDS):
            self._shut()
            self._lock.release()

    def close_if_idle(self) -> None:
        """Close the source if nobody has asked for long."""
        if self._source is not None and time.monotonic() - self._used > IDLE_SECONDS:
            with self._lock:
                self._shut()

    def _opened(self) -> MicrodataSource:
        plan = self.plan()
        stamps = [self.digest(), *stamps_of(plan)]
        if self._source is None or stamps != self._stamps:
            self._shut()
            self._source, self._stamps = (
                MicrodataSource(plan, open_engine(plan.source, plan.folder)),
                stamps,
            )
        self._used = time.monotonic()
        return self._source

    def _shut(self) -> None:
        if self._source is not None:
            self._source.engine.close()
            self._source = None

    def _state(self) -> Path:
        return self.folder / STATE / f"{self.path.name}.json"

    def _history(self) -> list[dict[str, Any]]:
        try:
            found = json.loads(self._state().read_text("utf-8"))
            return found if isinstance(found, list) else []
        except (OSError, ValueError):
            return []


@dataclass(frozen=True, slots=True)
class Visit:
    """Who looks at which plan."""

    bench: Bench
    book: Book
    session: WorkbenchSession

    def link(self, page: str = "", name: str = "") -> str:
        """The path of a page below the workbench's, about something of
        the plan where `name` says what.
        """
        return "/".join(
            ["", *([page] if page else [""]), *([quote(name, safe="")] if name else [])]
        )


def stamps_of(plan: Plan) -> Iterator[tuple[str, int, int]]:
    """Size and time of the files that a plan reads, so that changed data are noticed."""
    for path in sorted(owners_files(plan)):
        with suppress(OSError):
            found = path.stat()
            yield str(path), found.st_size, found.st_mtime_ns


def walk(folder: Path) -> Iterator[Path]:
    """The files below a folder; hidden ones, and folders that no plan stands in, are left out."""
    for place, folders, files in os.walk(folder):
        folders[:] = [
            one
            for one in sorted(folders)
            if not one.startswith(".") and one not in ("node_modules", "__pycache__")
        ]
        yield from (Path(place, one) for one in files if not one.startswith("."))


def looks_like_a_plan(path: Path) -> bool:
    """Does a YAML file begin like a plan?"""
    with suppress(OSError):
        with path.open("rb") as file:
            head = file.read(64 << 10)
        return any(
            line.startswith((b"version:", b"tables:", b"releases:")) for line in head.splitlines()
        )
    return False
