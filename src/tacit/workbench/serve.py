"""Serving: a plan's gateway on a port of this machine, until it is told to stop."""

from __future__ import annotations

import asyncio
import errno
import gc
import ipaddress
import logging
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.engines.output import sweep
from tacit.errors import EngineError, InputError, MissingExtra
from tacit.gateway.options import Options
from tacit.gateway.systemd import notify

if TYPE_CHECKING:
    import uvicorn
    from fastapi import FastAPI

    from tacit.gateway.gateway import Gateway
    from tacit.gateway.postgres.server import PostgresDoor
    from tacit.gateway.tls import TlsCertificate
    from tacit.workbench.app.startup import Pages

PACKAGES = ("fastapi", "uvicorn", "httptools", "pyarrow", "prometheus_client")
WEB_PACKAGES = ("nicegui",)
MOST_CONNECTIONS = 1_000
MOST_MESSAGE = 4 << 20  # bytes of what a page says at once
KEEP_ALIVE_SECONDS = 30
END_SECONDS = 10
LOOK_SECONDS = 0.1
SWITCH_SECONDS = (
    0.0005  # threads that read long answers must not hold up decisions for Python's usual 5 ms
)

__all__ = ["Options", "serve"]


def serve(plan_path: Path, *, tell: Callable[[str], None] | None = None, **options: Any) -> None:
    """Answer by a plan until SIGINT or SIGTERM; SIGHUP reads plan and data again. Blocks.

    `options` are the fields of Options, `tell` gets what the operator should know, a line at a time
    (default: standard error). What is wrong with plan, source, users or port is raised as a
    TacitError before anything is answered.
    """
    need_packages()
    chosen = Options(**options)
    if not Path(plan_path).parent.is_dir():
        raise InputError(
            f"there is no folder {Path(plan_path).parent}.",
            hint=f"Make it first: mkdir -p {Path(plan_path).parent}",
        )
    say = tell or (lambda text: print(text, file=sys.stderr, flush=True))
    with ExitStack() as places:
        place = places.enter_context(listening(chosen))
        other = None
        if chosen.postgres_port is not None:
            other = places.enter_context(listening(replace(chosen, port=chosen.postgres_port)))
        run(Path(plan_path), chosen, place, say, other)


def run(
    plan_path: Path,
    options: Options,
    place: socket.socket,
    tell: Callable[[str], None],
    postgres_place: socket.socket | None = None,
) -> None:
    """Serve on sockets that listen already."""
    from tacit import __version__
    from tacit.gateway.gateway import Gateway
    from tacit.gateway.http.app import create_app
    from tacit.gateway.tls import certificate_of

    use_uvloop()
    if left := sweep(plan_path.parent):
        tell(f"Removed what a killed process left half-written: {', '.join(left)}.")
    sys.setswitchinterval(SWITCH_SECONDS)
    certificate = certificate_of(options)

    async def main() -> None:
        gateway = Gateway(plan_path, options, tell=tell)
        with_pages = has_pages(options)
        try:
            # Before uvicorn, which would log what is wrong as a traceback.
            await gateway.start(patient=with_pages)
            app = create_app(gateway, version=__version__)
            links = add_pages(app, gateway, plan_path, place) if with_pages else None
            async with postgres_door(gateway, postgres_place, certificate) as door:
                await serving(app, gateway, place, links, certificate, door)
        finally:
            await gateway.close()

    asyncio.run(main())


@asynccontextmanager
async def postgres_door(
    gateway: Gateway, place: socket.socket | None, certificate: TlsCertificate | None
) -> AsyncIterator[PostgresDoor | None]:
    """Answer PostgreSQL's clients at a socket that listens already, if there is one."""
    if place is None:
        yield None
        return
    from tacit.gateway.postgres.server import PostgresDoor

    door = PostgresDoor(gateway, certificate.context if certificate else None)
    server = await door.listen(place)
    gateway.tell(
        f"PostgreSQL's clients connect to postgresql://NAME@{shown_address(place)}/ROLE, with "
        "their token as password."
    )
    try:
        yield door
    finally:
        server.close()
        door.close()


async def serving(
    app: FastAPI,
    gateway: Gateway,
    place: socket.socket,
    pages: Pages | None = None,
    certificate: TlsCertificate | None = None,
    door: PostgresDoor | None = None,
) -> None:
    """Have uvicorn serve an application until it is told to stop."""
    server = server_for(
        app,
        gateway.options,
        pages=pages is not None,
        certificate=certificate,
        ending=lambda: drain(gateway, door),
    )
    loop = asyncio.get_running_loop()

    def reload() -> None:
        if certificate is not None:
            try:
                certificate.load()
            except InputError as error:
                gateway.tell(f"The certificate is not read again: {error}")
        gateway.reload()

    if hasattr(signal, "SIGHUP"):
        with suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(signal.SIGHUP, reload)
    scheme, address = "https" if certificate else "http", place.getsockname()[0]
    url = f"{scheme}://{shown_address(place)}"
    announce = asyncio.create_task(told_when_ready(server, gateway, url, address, pages))
    try:
        await server.serve(sockets=[place])
    finally:
        announce.cancel()
        gc.unfreeze()


async def told_when_ready(
    server: uvicorn.Server, gateway: Gateway, url: str, address: str, pages: Pages | None
) -> None:
    """Say where the gateway listens as soon as it does, and how the owner gets to the pages."""
    while not server.started:
        await asyncio.sleep(0.01)
    gc.collect()
    # what is there now stays; looking through it again and again would hold up requests
    gc.freeze()
    if not is_loopback(address) and not url.startswith("https:"):
        gateway.tell(
            f"Warning: {address} can be reached from other machines, and tokens and answers travel "
            "in the clear: put a TLS proxy in front."
        )
    notify("READY=1")
    gateway.tell(f"Tacit answers at {url} (interface: {url}/docs).")
    if pages is not None:
        pages.tell_the_way(url)


async def drain(gateway: Gateway, door: PostgresDoor | None) -> None:
    """Say that the gateway ends, and answer on while that gets about; then PostgreSQL's clients
    get what they have asked for.
    """
    gateway.draining = True
    notify("STOPPING=1")
    await asyncio.sleep(gateway.options.drain_seconds)
    if door is not None:
        await door.drain(END_SECONDS)


def shown_address(place: socket.socket) -> str:
    """Address and port of a socket, as they stand in a URL."""
    address, port = place.getsockname()[:2]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


def has_pages(options: Options) -> bool:
    """Are the pages served too? MissingExtra where they are asked for and not installed."""
    from importlib.util import find_spec

    if options.workbench is False:
        return False
    missing = next((package for package in WEB_PACKAGES if find_spec(package) is None), None)
    if missing is None:
        return True
    if options.workbench:
        raise MissingExtra(missing, extra="web", purpose="workbenches")
    return False


def add_pages(app: FastAPI, gateway: Gateway, plan_path: Path, place: socket.socket) -> Pages:
    """Put the workbench on the application."""
    from tacit.workbench.app.startup import open_workbench

    address, port = place.getsockname()[:2]
    return open_workbench(app, gateway, plan_path, address, port)


def server_for(
    app: FastAPI,
    options: Options,
    *,
    pages: bool = False,
    certificate: TlsCertificate | None = None,
    ending: Callable[[], Awaitable[None]] | None = None,
) -> uvicorn.Server:
    """The server: no access log (the audit log has what is needed), no words about itself,
    limits on everything. `ending` is done before it stops to listen.
    """
    import uvicorn

    from tacit.gateway.http.protocol import LimitedConnection

    logging.getLogger("uvicorn.error").addFilter(keep_quiet)
    config = uvicorn.Config(
        app,
        http=LimitedConnection,
        ws="websockets-sansio" if pages else "none",
        ws_max_size=MOST_MESSAGE,
        lifespan="on",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=bool(options.proxies),
        forwarded_allow_ips=options.proxies or None,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=END_SECONDS,
    )

    if certificate is not None:
        config.load()
        config.ssl = certificate.context  # read again with SIGHUP, which uvicorn's own is not

    class Server(uvicorn.Server):
        """A server that ends when it is told to, at once when it is told twice, and does not raise
        the signal once more afterwards.
        """

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """Have clients leave before nobody listens any more."""
            if ending is not None:
                self.server_state.default_headers.append((b"connection", b"close"))
                done, told = asyncio.ensure_future(ending()), len(self._captured_signals)
                while not done.done() and len(self._captured_signals) == told:
                    await asyncio.wait({done}, timeout=LOOK_SECONDS)
                done.cancel()
            await super().shutdown(sockets)

        @contextmanager
        def capture_signals(self) -> Iterator[None]:
            loop = asyncio.get_running_loop()
            with suppress(NotImplementedError, RuntimeError, ValueError):  # not in the main thread
                for number in (signal.SIGINT, signal.SIGTERM):
                    loop.add_signal_handler(number, self.handle_exit, number, None)
            yield

    return Server(config)


def keep_quiet(record: logging.LogRecord) -> bool:
    """Leave out what uvicorn says about an answer that we cut on purpose, and tracebacks:
    they may hold values of people.
    """
    gone = bool(
        record.exc_info and record.exc_info[1] and "No response returned" in str(record.exc_info[1])
    )  # a page that was left early
    record.exc_info = record.exc_text = None
    return (
        not gone
        and "without completing response" not in record.getMessage()
        and "lifespan" not in record.getMessage()
    )


class listening:  # noqa: N801 (reads as a word of the with statement)
    """A socket that listens, closed at the end;
    an EngineError where the port is taken or not ours.
    """

    def __init__(self, options: Options) -> None:
        self._options = options

    def __enter__(self) -> socket.socket:
        host, port = self._options.host, self._options.port
        try:
            family, *_, address = socket.getaddrinfo(
                host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
            )[0]
            self._socket = socket.socket(family, socket.SOCK_STREAM)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._socket.bind(address)
            self._socket.listen(2048)
            self._socket.setblocking(False)
        except OSError as error:
            raise EngineError(
                f"the gateway cannot listen at {host}:{port}: {error.strerror or error}.",
                hint=instead_of(error),
            ) from None
        return self._socket

    def __exit__(self, *_: object) -> None:
        self._socket.close()


def instead_of(error: OSError) -> str:
    """What to write where the gateway cannot listen: another host, or another port.

    >>> instead_of(socket.gaierror(-2, "Name or service not known"))
    '--host is an address of this machine: 127.0.0.1 for its own programs, 0.0.0.0 for all its networks.'
    """  # noqa: E501
    if isinstance(error, socket.gaierror) or error.errno == errno.EADDRNOTAVAIL:
        return (
            "--host is an address of this machine: 127.0.0.1 for its own programs, 0.0.0.0 "
            "for all its networks."
        )
    return "Choose another with --port, or end what listens there."


def need_packages() -> None:
    """Raise MissingExtra unless all packages of the gateway are there."""
    from importlib.util import find_spec

    for package in PACKAGES:
        if find_spec(package) is None:
            raise MissingExtra(package, extra="gateway", purpose="gateways")


def use_uvloop() -> None:
    """Take the faster event loop where it is installed."""
    with suppress(ImportError):
        import uvloop

        asyncio.set_event_loop_policy(uvloop.EventLoopPolicy())


def is_loopback(address: str) -> bool:
    """Does only this machine reach an address?"""
    try:
        return ipaddress.ip_address(address).is_loopback
    except ValueError:
        return False
