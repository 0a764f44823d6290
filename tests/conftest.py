"""Fixtures that several folders share: the services, and an engine of each kind."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import services
from tacit.engines.base import Engine


@pytest.fixture(scope="session")
def postgres_url() -> Iterator[str]:
    """The URL of an empty PostgreSQL database; one for each worker of pytest-xdist."""
    try:
        with services.postgres() as url:
            yield url
    except services.UnavailableError as reason:
        pytest.skip(str(reason))


@pytest.fixture(scope="session")
def spark_session() -> Iterator[object]:
    """A small Spark in this machine, shared by all tests of a worker."""
    try:
        services.need_spark()
    except services.UnavailableError as reason:
        pytest.skip(str(reason))
    from tacit.engines.spark import start_session

    session = start_session("local[2]")
    session.conf.set("spark.sql.shuffle.partitions", 2)
    yield session
    session.stop()


@pytest.fixture(params=services.ENGINES)
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    """An engine of each kind in turn; those that read files look into `tmp_path`."""
    with services.open_kind(request.param, request, tmp_path) as opened:
        yield opened
