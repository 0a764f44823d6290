"""Options: how a gateway is run."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tacit.errors import ParameterError

AUDIT = "tacit-audit.jsonl"


@dataclass(frozen=True, slots=True)
class Options:
    """How a gateway is run; what it answers is up to the plan.

    `timeout` are the seconds that the database may work on one query, `row_limit` the most rows of
    an answer, `queries` how many run at the same time, `wait` the seconds that others wait for
    their turn. `deciders` processes decide, each query within `decide_seconds`, and `cache`
    decisions are remembered. `proxies` are the addresses (with commas) whose word on the client's
    address is taken. When it is told to end it says for `drain_seconds` that it is not ready, and
    answers on. `hosts` are the names (with commas) that requests may call it by (none: any).
    `csv_harmless`: texts of CSV that a spreadsheet would run get an apostrophe. `audit` is the
    log's file, beside the plan by default; with `audit_bytes` it is moved away at that size,
    and its lines are sent to the collector `audit_to` too.
    `workbench`: the pages
    for the owner too (default: where they are installed). They reach files below `folder` (the
    plan's), answer to the names `workbench_hosts` (with commas; this machine's own are always among
    them), forget who is idle for `session_minutes`, and take files of up to `upload_bytes`.
    One user has at most `user_queries` of the queries and `user_decisions` of the deciders at once
    (None: half of them), asks `user_requests` times a minute, and has `user_seconds` and
    `user_bytes` of answers a day (None: as much as they like). An answer has `answer_bytes`,
    a row of it `row_bytes`, and one value `cell_bytes`. What the database expects to be more work
    than `query_cost` is not run.
    `postgres_port` is where PostgreSQL's clients connect (None: nowhere). With `tls_certificate`
    and `tls_key`, files in PEM, both ports speak TLS, and nothing else.
    `oidc_issuer` is the identity provider whose tokens for `oidc_audience` are taken too, by the
    keys at `oidc_keys` (an address or a file; default: where it says itself); the claims
    `oidc_user` and `oidc_roles` say who it is in which roles, `oidc_attributes` (NAME=CLAIM, with
    commas) their attributes.
    """

    host: str = "127.0.0.1"
    port: int = 8321
    audit: Path | None = None
    audit_queries: Literal["redacted", "full"] = "redacted"
    allow_superuser: bool = False
    timeout: float = 60.0
    row_limit: int = 1_000_000
    queries: int = 8
    wait: float = 10.0
    deciders: int = 2
    decide_seconds: float = 5.0
    cache: int = 10_000
    proxies: str = ""
    metrics_token: str | None = field(default=None, repr=False)
    workbench: bool | None = None
    folder: Path | None = None
    workbench_hosts: str = ""
    session_minutes: float = 60.0
    upload_bytes: int = 2 << 30
    postgres_port: int | None = None
    tls_certificate: Path | None = None
    tls_key: Path | None = None
    user_queries: int | None = None
    user_decisions: int | None = None
    user_requests: int | None = None
    user_seconds: float | None = None
    user_bytes: int | None = None
    answer_bytes: int | None = None
    row_bytes: int = 1 << 20
    cell_bytes: int | None = None
    query_cost: float | None = None
    audit_bytes: int | None = None
    audit_to: str | None = None
    drain_seconds: float = 0.0
    hosts: str = ""
    csv_harmless: bool = False
    oidc_issuer: str | None = None
    oidc_audience: str = ""
    oidc_keys: str | None = None
    oidc_user: str = "sub"
    oidc_roles: str = "roles"
    oidc_attributes: str = ""

    def __post_init__(self) -> None:
        for name in (
            "timeout",
            "row_limit",
            "queries",
            "wait",
            "deciders",
            "decide_seconds",
            "cache",
            "session_minutes",
            "upload_bytes",
            "user_queries",
            "user_decisions",
            "user_requests",
            "user_seconds",
            "user_bytes",
            "answer_bytes",
            "row_bytes",
            "cell_bytes",
            "query_cost",
            "audit_bytes",
        ):
            value = getattr(self, name)
            if value is not None and not 0 < value < 2**53:
                raise ParameterError(
                    f"{name.replace('_', '-')} = {value} is out of range.",
                    parameter=name,
                    hint="Use a number above 0.",
                )
        if not 0 <= self.drain_seconds < 2**53:
            raise ParameterError(
                f"drain-seconds = {self.drain_seconds} is out of range.",
                parameter="drain_seconds",
                hint="Use a number from 0.",
            )
        for name in ("port", "postgres_port"):
            if not 0 <= (getattr(self, name) or 0) < 65536:
                raise ParameterError(
                    f"{name.replace('_', '-')} = {getattr(self, name)} is no port.",
                    parameter=name,
                    hint="Use a number from 0 (any that is free) to 65535.",
                )
        if (self.tls_certificate is None) != (self.tls_key is None):
            raise ParameterError(
                "a certificate and its key belong together.",
                parameter="tls_certificate",
                hint="Give --tls-certificate and --tls-key, or neither.",
            )
        if self.oidc_issuer is not None and not self.oidc_audience:
            raise ParameterError(
                "which tokens of the identity provider are for this gateway is not said.",
                parameter="oidc_audience",
                hint="Give --oidc-audience: without it, tokens for every program would open it.",
            )
        if self.audit_to is not None:
            from tacit.gateway.shipping import collector_of

            collector_of(self.audit_to)
        if self.audit_queries not in ("redacted", "full"):
            raise ParameterError(
                f"audit-queries = {self.audit_queries!r} is not known.",
                parameter="audit_queries",
                hint="Use redacted or full.",
            )
