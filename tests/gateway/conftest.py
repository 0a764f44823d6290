"""Gateways that several tests share: one that decides, and one that allows everything (the
decision is not what is tested).
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from gateway.live import FAKE, Live, live


@pytest.fixture(scope="module")
def gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A gateway as it is."""
    with live(tmp_path_factory.mktemp("gateway")) as running:
        yield running


@pytest.fixture(scope="module")
def open_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    """A gateway whose decision is a stand-in that allows everything."""
    with live(
        tmp_path_factory.mktemp("open"),
        decider=FAKE,
        decide_seconds=2,
        timeout=3,
        wait=1,
        queries=4,
        user_queries=4,
    ) as running:
        yield running
