"""Startup of the workbench: its bench, its sessions and its guard, put together for one server."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fastapi import FastAPI

from tacit.gateway.gateway import Gateway
from tacit.workbench.app.guard import Guard
from tacit.workbench.app.mount import mount
from tacit.workbench.app.owners import LedgerOwners
from tacit.workbench.app.sign_in import Entering
from tacit.workbench.app.workbench_sessions import WorkbenchSessions
from tacit.workbench.bench import PREFIX, Bench
from tacit.workbench.serve import is_loopback


class Pages:
    """The workbench of a server, and how one gets to it."""

    def __init__(
        self, entering: Entering, gateway: Gateway, *, near: bool, names: Sequence[str]
    ) -> None:
        self._entering = entering
        self._gateway = gateway
        self._near = near
        self._names = names

    def tell_the_way(self, url: str) -> None:
        """Say how the owner gets in: by a link on this machine, by a token elsewhere."""
        for name in self._names:
            self._gateway.tell(
                f"The workbench is at https://{name}{PREFIX}/ for users who are owners (tacit user "
                "add NAME --owner)."
            )
        if self._near:
            self._entering.tell_link()
        elif not self._names:
            self._gateway.tell(
                f"Nobody can open the workbench at {url}: name it with --workbench-hosts, or "
                "listen at 127.0.0.1."
            )


def open_workbench(
    app: FastAPI, gateway: Gateway, plan_path: Path, address: str, port: int
) -> Pages:
    """Put the workbench on the gateway's application, for a server that listens at an address."""
    options = gateway.options
    named = frozenset(name.strip() for name in options.workbench_hosts.split(",") if name.strip())
    here = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(
        address, address
    )  # who listens everywhere listens here too
    shown = f"[{here}]" if ":" in here else here
    bench = Bench(plan_path, gateway.tell, folder=options.folder)
    sessions = WorkbenchSessions(idle=60 * options.session_minutes)
    owners = LedgerOwners(plan_path)
    secure = bool(named)  # a proxy that offers it by a name does so by https
    entering = Entering(
        sessions,
        owners,
        tell=gateway.tell,
        address=lambda: f"http://{shown}:{port}",
        secure=secure,
        visitors=gateway.visitors,
    )

    def guarded(pages: Any) -> Guard:
        return Guard(
            pages,
            sessions,
            entering=entering,
            owners=owners,
            near_only=not named,
            hosts=named or None,
            secure=secure,
            upload_bytes=options.upload_bytes,
        )

    mount(app, bench, guarded, owners.close)
    return Pages(entering, gateway, near=is_loopback(here), names=sorted(named))
