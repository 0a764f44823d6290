"""Telling systemd how far a service is."""

from __future__ import annotations

import os
import socket
from contextlib import suppress

PLACE = "NOTIFY_SOCKET"  # where systemd listens, if it started us with Type=notify


def notify(state: str) -> None:
    """Tell systemd a state, such as READY=1; nothing where it does not listen."""
    name = os.environ.get(PLACE, "")
    if name[:1] not in ("/", "@"):
        return
    address = f"\0{name[1:]}" if name.startswith("@") else name  # @ is Linux' namespace of its own
    with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as way:
        way.setblocking(False)
        way.sendto(state.encode(), address)
