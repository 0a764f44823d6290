"""Fixtures that several folders share: the audience, the services, an engine of each kind, and
the command line.
"""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import services
from commands import tacit  # noqa: F401 (a fixture)
from tacit.engines.base import Engine

SHARE = 5  # of a test with many cases, `make test` runs one in so many


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Of a test that is `sampled`, most cases are slow. Files with slow tests go first: workers
    get whole files, and one of minutes at the end would leave the other idle.
    """
    cases: Counter[str] = Counter()
    for item in items:
        if item.get_closest_marker("sampled"):
            test = item.nodeid.partition("[")[0]
            if cases[test] % SHARE:
                item.add_marker(pytest.mark.slow)
            cases[test] += 1
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)
    for item in items:
        if "browser" in item.nodeid:
            # On a busy machine Chromium now and then drops a click or a navigation of its own
            # accord. One that fails twice is ours; the summary counts what was tried again.
            item.add_marker(pytest.mark.flaky(reruns=1))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Workers get whole files, but for what needs Spark: one of them gets all of it, as each
    Spark takes half a minute to start and warm up.
    """
    from xdist.scheduler import LoadFileScheduling

    class OneSpark(LoadFileScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return "spark" if "spark" in nodeid.lower() else super()._split_scope(nodeid)

    return OneSpark(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.fixture(autouse=True)
def as_the_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where CI is set Tacit shows no personal values; a test says so itself where it means that."""
    monkeypatch.delenv("CI", raising=False)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a PostgreSQL server; one for each worker of pytest-xdist."""
    try:
        with services.postgres() as url:
            yield url
    except services.UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="module")
def postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of an empty database on it;
    one for each module, so that no test depends on which others ran before.
    """
    with services.database(postgres_server) as url:
        yield url


@pytest.fixture
def ledger_url(postgres_url: str) -> Iterator[str]:
    """The URL of an empty schema of its own in that database: a ledger fits one key only."""
    import psycopg

    schema = f"ledger_{uuid.uuid4().hex}"
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"CREATE SCHEMA {schema}")
    yield postgres_url + "&options=" + quote(f"-csearch_path={schema}")
    with psycopg.connect(postgres_url, autocommit=True) as admin:
        admin.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture(scope="session")
def spark_server() -> Iterator[Any]:
    """A small Spark in this machine, shared by all tests of a worker."""
    try:
        services.need_spark()
    except services.UnavailableError as reason:
        pytest.skip(str(reason))
    from tacit.engines.spark.session import start_session

    session = start_session("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", 2)
    yield session
    session.stop()


@pytest.fixture(scope="module")
def spark_session(spark_server: Any) -> Iterator[Any]:
    """Its session, without the views that another module left there."""
    yield spark_server
    for one in spark_server.catalog.listTables():
        if one.isTemporary:
            spark_server.catalog.dropTempView(one.name)


@pytest.fixture(params=services.ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine of each kind in turn; those that read files look into `tmp_path`."""
    with services.open_kind(request.param, request, tmp_path) as opened:
        yield opened
