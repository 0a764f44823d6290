"""Fixtures of the tests in a browser. Each visitor is asked at the end:
did anything leave this machine, did a page complain?
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from browser.plans import write_plan
from browser.serving import Served, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from browser.visiting import Visitor

HERE = Path(__file__).parent
PACKAGES = {"playwright": "test", "nicegui": "web", "uvicorn": "gateway"}


def missing() -> str | None:
    """What is not here that a browser needs, and how to get it."""
    for package, extra in PACKAGES.items():
        if importlib.util.find_spec(package) is None:
            return f"no {package}: pip install '.[{extra}]'"
    from browser.visiting import chromium_path

    return (
        None
        if chromium_path()
        else "no Chromium: apt install chromium, or name one in TACIT_CHROMIUM"
    )


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave these tests out, with a reason, where there is no browser."""
    reason = missing()
    if reason is not None:
        for item in items:
            if HERE in item.path.parents:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Any:
    """Where a test fails, its report has what the open pages say."""
    report = yield
    if report.when == "call" and report.failed:
        for one in getattr(item, "visitors", ()):
            for page in one.context.pages:
                report.sections.append((f"on the page {page.url}", page.inner_text("body")[:3000]))
    return report


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """One Chromium for a module."""
    from browser.visiting import chromium

    with chromium() as running:
        yield running


@pytest.fixture
def visit(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Callable[..., Visitor]]:
    """Have somebody come: `visit(width=390, theme="dark")`."""
    from browser.visiting import visitor

    came: list[Visitor] = []
    request.node.visitors = came

    def come(**options: Any) -> Visitor:
        came.append(visitor(browser, **options))
        return came[-1]

    yield come
    for one in came:
        one.context.close()
    strayed = [url for one in came for url in one.strayed]
    complaints = [text for one in came for text in one.complaints]
    assert not strayed, f"left this machine: {strayed}"
    assert not complaints, "\n".join(complaints)


@pytest.fixture(scope="module")
def serve() -> Iterator[Callable[..., Served]]:
    """Serve a plan until the end of the module: `serve(plan)`."""
    running: list[Served] = []
    with ExitStack() as stack:

        def start(plan: Path, *arguments: str, **options: Any) -> Served:
            asked = ("--workbench", "--deciders", "1", *arguments)
            running.append(stack.enter_context(serving(plan, *asked, **options)))
            return running[-1]

        yield start
        for one in running:  # all at once: each takes a second
            one.stop()


@pytest.fixture(scope="module")
def demo(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The hospital of `tacit demo`, served."""
    return serve(write_plan("demo", tmp_path_factory.mktemp("demo")))


@pytest.fixture(scope="module")
def hospital(serve: Callable[..., Served], tmp_path_factory: pytest.TempPathFactory) -> Served:
    """The hospital of examples/gateway, which has roles, served."""
    return serve(write_plan("hospital", tmp_path_factory.mktemp("hospital")))
