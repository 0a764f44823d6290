"""What the gateway counts, for Prometheus: requests, decisions, queries.
No names of users, roles or tables.
"""

from __future__ import annotations

from collections.abc import Callable

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

SECONDS = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 60)


class Metrics:
    """The counters of one gateway."""

    content_type = CONTENT_TYPE_LATEST

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        self._requests = Counter(
            "tacit_requests",
            "Requests by path and status.",
            ["path", "status"],
            registry=self._registry,
        )
        self._decisions = Counter(
            "tacit_decisions", "Decisions by code.", ["code", "cached"], registry=self._registry
        )
        self._seconds = Histogram(
            "tacit_decision_seconds",
            "Time from the request to its decision.",
            ["cached"],
            buckets=SECONDS,
            registry=self._registry,
        )
        self._queries = Counter(
            "tacit_queries", "Queries by how they ended.", ["outcome"], registry=self._registry
        )
        self._query_seconds = Histogram(
            "tacit_query_seconds",
            "Time from the request to the end of the answer.",
            buckets=SECONDS,
            registry=self._registry,
        )
        self._rows = Counter("tacit_rows", "Rows that were answered.", registry=self._registry)
        self._limited = Counter(
            "tacit_limited",
            "Requests that were more than one user's share, by the limit.",
            ["limit"],
            registry=self._registry,
        )
        self.replaced = Counter(
            "tacit_deciders_replaced",
            "Deciding processes that hung or died.",
            registry=self._registry,
        )

    def watch(self, name: str, text: str, value: Callable[[], float]) -> None:
        """Show a number that someone else keeps."""
        Gauge(name, text, registry=self._registry).set_function(value)

    def request(self, path: str, status: int, state: str = "") -> None:
        """Count a request by its status, or, over PostgreSQL's protocol, by its SQLSTATE."""
        self._requests.labels(path, state or str(status)).inc()

    def decision(self, code: str, cached: bool, seconds: float) -> None:
        """Count a decision."""
        known = "yes" if cached else "no"
        self._decisions.labels(code, known).inc()
        self._seconds.labels(known).observe(seconds)

    def query(self, outcome: str, rows: int, seconds: float) -> None:
        """Count a query that was run."""
        self._queries.labels(outcome).inc()
        self._rows.inc(rows)
        self._query_seconds.observe(seconds)

    def limited(self, limit: str) -> None:
        """Count a request that was more than a user's share."""
        self._limited.labels(limit).inc()

    def text(self) -> bytes:
        """All of it, as Prometheus reads it."""
        return bytes(generate_latest(self._registry))
