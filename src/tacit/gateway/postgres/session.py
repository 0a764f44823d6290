"""The session: one client's messages answered in order, from signing in to the end.

The decision, the places where queries run and the audit log are the gateway's own, as over HTTP.
Nothing is ever written, so a transaction is a word: it is begun, it fails, it ends.
"""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

import pyarrow as pa

from tacit.gateway.admission import Admitted, Run, admitted, event_of, limited
from tacit.gateway.gateway import refusal_of
from tacit.gateway.http.app import where
from tacit.gateway.http.requests import MOST_LETTERS as MOST_QUERY
from tacit.gateway.http.requests import Value, asked_of, read_value
from tacit.gateway.policy.refusals import Refusal
from tacit.gateway.postgres import wire
from tacit.gateway.postgres.answer_messages import AnswerRows, KnownRows, RunRows
from tacit.gateway.postgres.catalogs import Catalog
from tacit.gateway.postgres.postgres_errors import Trouble, trouble_of
from tacit.gateway.postgres.rows import CopyEncoder, Described, RowEncoder, columns_of, split_rows
from tacit.gateway.postgres.settings import REPORTED, Settings
from tacit.gateway.postgres.statement_parameters import parameter_types
from tacit.gateway.postgres.statements import Command, command_of, split
from tacit.gateway.postgres.types import WireValue, type_of
from tacit.gateway.query_runs import Gone

if TYPE_CHECKING:
    from tacit.gateway.gateway import Gateway, InForce
    from tacit.gateway.http.formats import Piece
    from tacit.gateway.postgres.client_line import ClientLine
    from tacit.gateway.postgres.server import PostgresDoor
    from tacit.gateway.postgres.signing_in import SignedIn

Found = TypeVar("Found")

PATH = "postgres"  # in the audit log and the counters
MOST_PREPARED, MOST_PORTALS = 1_000, 100
MOST_LETTERS = 10_000_000  # of all prepared statements of a session
IDLE_SECONDS = 60.0  # a portal that nobody reads gives its place back


@dataclass(slots=True)
class PreparedStatement:
    """A statement: its text, what it asks for, and the types of its parameters that were given.
    `described` are the types of its columns as a client was told them before it gave values.
    """

    sql: str
    command: Command
    types: tuple[int, ...] = ()
    described: tuple[int, ...] | None = None
    inferred: tuple[str, tuple[int, ...]] = ("", ())  # by which policy, and the types


def ending() -> Trouble:
    """What a client is told when its session ends because the gateway does."""
    return Trouble("57P01", "the gateway ends; connect again.", fatal=True)


@dataclass(slots=True)
class Portal:
    """A statement with its values, and its rows once they were asked for."""

    prepared: PreparedStatement
    values: tuple[Value, ...] = ()
    formats: Sequence[int] = ()
    rows: AnswerRows | None = None
    rest: memoryview = field(default_factory=lambda: memoryview(b""))
    sent: int = 0
    done: bool = False
    late: bool = False
    timer: asyncio.TimerHandle | None = None


class PostgresSession:
    """One client that has signed in."""

    def __init__(
        self, gateway: Gateway, door: PostgresDoor, line: ClientLine, who: SignedIn
    ) -> None:
        self._gateway = gateway
        self._door = door
        self._line = line
        self._who = who
        self._settings = Settings(who.user.name)
        self._statements: dict[str, PreparedStatement] = {}
        self._portals: dict[str, Portal] = {}
        self._state = "I"
        self._skipping = False  # after an error, until the next Sync
        self._stop: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._cancelled = False
        self._ending = False
        self._between = False  # all was answered, and nothing has been asked since
        self._sql = ""
        line.gone.add_done_callback(lambda _: self._stopped())

    @property
    def user(self) -> str:
        """The name of who has signed in."""
        return self._who.user.name

    def cancel(self) -> None:
        """Stop what is being done for the client."""
        self._cancelled = True
        self._stopped()

    def end_soon(self) -> None:
        """End the session as soon as all that was asked is answered, and no transaction is open."""
        self._ending = True
        if self._between and self._state == "I":
            self._line.send(wire.fields_of(b"E", ending().fields()))
            self._line.close()

    async def serve(self, process: int, secret: bytes) -> None:
        """Greet, and answer until the client leaves."""
        for name, value in self._who.settings.items():
            try:
                self._settings.begin(name, value)
            except Trouble as trouble:
                trouble.fatal = True
                raise
        for name, value in self._settings.reported():
            self._line.send(wire.parameter_status(name, value))
        self._line.send(wire.backend_key(process, secret), wire.ready("I"))
        await self._line.flush()
        self._between = True
        try:
            while not isinstance(message := await self._line.receive(), wire.Terminate):
                self._between = False
                await self._answer(message)
        finally:
            await self._close_portals()

    async def _answer(self, message: wire.Message) -> None:
        if isinstance(message, wire.Sync):
            self._skipping = False
            if self._state == "I":
                await self._close_portals()
            await self._ready()
            return
        if self._skipping:
            return
        state = "00000"
        self._cancelled = False
        if self._stop.done() and not self._line.gone.done():
            self._stop = asyncio.get_running_loop().create_future()
        try:
            await self._handle(message)
        except Trouble as trouble:
            state = self._failed(trouble)
        except Refusal as refusal:
            state = self._failed(trouble_of(refusal, self._sql))
        except Gone:
            if self._line.gone.done() or not self._cancelled:
                raise
            state = self._failed(Trouble("57014", "canceling statement due to user request"))
        except wire.WireError:
            raise
        except Exception as error:
            number = secrets.token_hex(6)
            self._gateway.tell(
                f"Fault {number}: {type(error).__name__} while answering {PATH}.{where(error)}"
            )
            state = self._failed(
                Trouble(
                    "XX000",
                    f"something went wrong here (fault {number}).",
                    hint="Tell the owner this number.",
                )
            )
        if state != "00000":
            self._skipping = not isinstance(message, wire.QueryMessage)
            await self._close_portals()
            await self._line.flush()  # a client may wait for it before it says Sync
        if isinstance(message, wire.QueryMessage | wire.Execute) or state != "00000":
            self._gateway.metrics.request(PATH, 0, state)
        if isinstance(message, wire.QueryMessage):
            await self._ready()

    def _failed(self, trouble: Trouble) -> str:
        if trouble.fatal:
            raise trouble
        self._line.send(wire.fields_of(b"E", trouble.fields()))
        self._state = "E" if self._state != "I" else "I"
        return trouble.state

    async def _ready(self) -> None:
        self._line.send(wire.ready(self._state))
        await self._line.flush()
        self._between = True
        if self._ending and self._state == "I":
            raise ending()

    def _stopped(self) -> None:
        if not self._stop.done():
            self._stop.set_result(None)

    # -- messages ----------------------------------------------------------------------------------

    async def _handle(self, message: wire.Message) -> None:
        self._sql = ""
        if isinstance(message, wire.QueryMessage):
            await self._simple(message.sql)
        elif isinstance(message, wire.Parse):
            await self._parse(message)
        elif isinstance(message, wire.Bind):
            await self._bind(message)
        elif isinstance(message, wire.Describe):
            await self._describe(message)
        elif isinstance(message, wire.Execute):
            await self._execute(self._portal(message.portal), message.rows)
        elif isinstance(message, wire.Close):
            await self._close(message)
        elif isinstance(message, wire.Flush):
            await self._line.flush()
        elif isinstance(message, wire.FunctionCall):
            raise Trouble("0A000", "functions are not called by their number.")
        elif isinstance(message, wire.Password):
            raise Trouble("08P01", "no password was asked for.", fatal=True)

    async def _simple(self, sql: str) -> None:
        """Statements one after the other; the first that fails is the last."""
        check_length(sql)
        await self._forget("")
        found = await self._read(sql, lambda: split(sql))
        if not found:
            self._line.send(wire.EMPTY)
        for one in found:
            await self._line.let_others()
            self._sql = one
            portal = Portal(PreparedStatement(one, await self._command(one)))
            try:
                if await self._open(portal) and portal.rows is not None:
                    self._line.send(wire.row_description(columns_of(portal.rows.schema)))
                await self._execute(portal, 0)
            finally:
                await self._end(portal, portal.done)

    async def _parse(self, message: wire.Parse) -> None:
        check_length(message.sql)
        self._sql = message.sql
        if len(found := await self._read(message.sql, lambda: split(message.sql))) > 1:
            raise Trouble("42601", "a prepared statement is one statement.")
        sql = found[0] if found else ""
        if message.name and message.name in self._statements:
            raise Trouble("42P05", f'there is a prepared statement "{message.name}" already.')
        size = sum(len(one.sql) for one in self._statements.values()) + len(sql)
        if len(self._statements) >= MOST_PREPARED or size > MOST_LETTERS:
            raise Trouble("53400", "this session has prepared too many statements.")
        command = await self._command(sql)
        self._statements[message.name] = PreparedStatement(sql, command, message.types)
        self._line.send(wire.PARSE_COMPLETE)

    async def _bind(self, message: wire.Bind) -> None:
        prepared = self._statement(message.statement)
        self._sql = prepared.sql
        if message.portal and message.portal in self._portals:
            raise Trouble("42P03", f'there is a portal "{message.portal}" already.')
        await self._forget(message.portal)
        if len(self._portals) >= MOST_PORTALS:
            raise Trouble("53400", "this session has opened too many portals.")
        types = await self._types(prepared)
        if len(message.values) != len(types):
            raise Trouble(
                "08P01",
                f"there are {len(message.values)} values for {len(types)} parameters.",
            )
        if len(message.formats) not in (0, 1, len(types)):
            raise Trouble("08P01", "there are more or fewer formats than parameters.")
        formats = list(message.formats or (0,))
        formats = formats * len(types) if len(formats) == 1 else formats
        values = tuple(
            read_value(WireValue(data, form, number).value())
            for data, form, number in zip(message.values, formats, types, strict=True)
        )
        self._portals[message.portal] = Portal(prepared, values, message.results)
        self._line.send(wire.BIND_COMPLETE)

    async def _describe(self, message: wire.Describe) -> None:
        if message.kind == "S":
            await self._describe_statement(self._statement(message.name))
            return
        portal = self._portal(message.name)
        self._sql = portal.prepared.sql
        if await self._open(portal) and portal.rows is not None:
            self._line.send(wire.row_description(columns_of(portal.rows.schema, portal.formats)))
        else:
            self._line.send(wire.NO_DATA)

    async def _describe_statement(self, prepared: PreparedStatement) -> None:
        """Types of parameters and columns, before there are values: as for NULLs. What values
        change about the decision is decided when they are there.
        """
        self._sql = prepared.sql
        types = await self._types(prepared)
        schema = await self._schema(prepared, len(types))
        self._line.send(wire.parameter_description(types))
        if schema is None:
            self._line.send(wire.NO_DATA)
            return
        prepared.described = tuple(map(type_of, schema))
        self._line.send(wire.row_description(columns_of(schema)))

    async def _close(self, message: wire.Close) -> None:
        if message.kind == "S":
            self._statements.pop(message.name, None)
        else:
            await self._forget(message.name)
        self._line.send(wire.CLOSE_COMPLETE)

    # -- statements and portals --------------------------------------------------------------------

    def _statement(self, name: str) -> PreparedStatement:
        found = self._statements.get(name)
        if found is None:
            raise Trouble("26000", f'there is no prepared statement "{name}".')
        return found

    def _portal(self, name: str) -> Portal:
        found = self._portals.get(name)
        if found is None:
            raise Trouble("34000", f'there is no portal or cursor "{name}".')
        return found

    async def _types(self, prepared: PreparedStatement) -> tuple[int, ...]:
        """The types of parameters: as the client says, else by where they stand."""
        policy = self._now().policy
        if prepared.inferred[0] != policy.digest:
            asked = (prepared.sql, policy.relations, policy.dialect)
            found = await self._read(prepared.sql, lambda: parameter_types(*asked))
            prepared.inferred = (policy.digest, found)
        _, found = prepared.inferred
        said = prepared.types
        return tuple(
            said[at] if at < len(said) and said[at] else number for at, number in enumerate(found)
        )

    async def _read(self, sql: str, read: Callable[[], Found]) -> Found:
        """What is read in a text; others must not wait for what is long."""
        return await self._door.readers.read_if_long(self._who.user.name, sql, read)

    async def _command(self, sql: str) -> Command:
        return await self._read(sql, lambda: command_of(sql))

    async def _forget(self, name: str) -> None:
        portal = self._portals.pop(name, None)
        if portal is not None:
            await self._end(portal, portal.done)

    async def _close_portals(self) -> None:
        while self._portals:
            await self._forget(next(iter(self._portals)))

    async def _end(self, portal: Portal, finished: bool) -> None:
        if portal.timer is not None:
            portal.timer.cancel()
        rows, portal.rows = portal.rows, None
        if rows is not None:
            await rows.end(finished)

    def _wait_for_reader(self, portal: Portal) -> None:
        """Give the place of a portal back when nobody reads it for a while."""

        def expire() -> None:
            portal.late = True
            task = asyncio.ensure_future(self._end(portal, False))
            self._door.keep(task)

        portal.timer = asyncio.get_running_loop().call_later(IDLE_SECONDS, expire)

    # -- what a statement does ---------------------------------------------------------------------

    async def _open(self, portal: Portal) -> bool:
        """Begin to answer a portal, so that it is known what its rows look like; has it any?"""
        command = portal.prepared.command
        if portal.rows is not None or portal.done:
            return portal.rows is not None
        if command.kind in ("fetch", "move"):
            self._check_state(command)
            cursor = self._portal(command.name)
            return await self._open_cursor(portal, cursor) if command.kind == "fetch" else False
        if command.kind not in ("query", "show"):
            return False
        self._check_state(command)
        if command.kind == "show":
            portal.rows = KnownRows(self._shown(command.name), portal.formats)
            return True
        catalog, now = await self._catalog()
        if await catalog.answers(command.query, self._who.user.name):
            table = await self._about_catalogs(catalog, command.query, portal.values)
            portal.rows = await asyncio.to_thread(KnownRows, table, portal.formats)
        else:
            portal.rows = await self._run(
                now, command.query, portal.values, RowEncoder(portal.formats)
            )
        self._check_described(portal)
        return True

    async def _open_cursor(self, portal: Portal, cursor: Portal) -> bool:
        await self._open(cursor)
        if cursor.rows is None:
            raise self._no_rows(cursor)
        portal.rows = _Borrowed(cursor)
        return True

    def _check_described(self, portal: Portal) -> None:
        """The columns are of the types that the client was told before it gave values."""
        told = portal.prepared.described
        assert portal.rows is not None
        if told is not None and told != tuple(map(type_of, portal.rows.schema)):
            raise Trouble(
                "0A000",
                "with these values the columns have other types than the statement was described "
                "with.",
                hint="Write a CAST around the parameters.",
            )

    def _no_rows(self, portal: Portal) -> Trouble:
        if portal.late:
            return Trouble(
                "34000",
                f"nobody read the rows for {IDLE_SECONDS:.0f} seconds, so the query was ended.",
                hint="Ask again, and read all rows.",
            )
        return Trouble("55000", "this portal has no more rows.")

    async def _execute(self, portal: Portal, most: int) -> None:
        command = portal.prepared.command
        self._sql = portal.prepared.sql
        if command.kind == "empty":
            self._line.send(wire.EMPTY)
            return
        if command.kind == "copy":
            self._check_state(command)
            await self._copy(command, portal.values)
            return
        if portal.done:
            self._line.send(wire.complete("SELECT 0"))
            return
        if portal.sent:
            await self._catalog()  # whoever reads on is a user still
        if await self._open(portal):
            if command.kind == "fetch":
                await self._fetch(self._portal(command.name), command.count)
            else:
                await self._send(portal, most)
            return
        if portal.late:
            raise self._no_rows(portal)
        if command.kind == "move":
            await self._fetch(self._portal(command.name), command.count, quiet=True)
            return
        self._line.send(wire.complete(await self._do(command, portal.values)))

    async def _send(self, portal: Portal, most: int) -> None:
        if portal.timer is not None:
            portal.timer.cancel()
        count, finished = await self._stream(portal, most)
        if finished:
            tag = "SHOW" if portal.prepared.command.kind == "show" else f"SELECT {count}"
            self._line.send(wire.complete(tag))
            await self._finish(portal)
        else:
            self._line.send(wire.SUSPENDED)
            self._wait_for_reader(portal)

    async def _fetch(self, cursor: Portal, most: int | None, *, quiet: bool = False) -> None:
        """Rows of a cursor. It stays open: at its end it has no more."""
        await self._catalog()  # whoever reads on is a user still
        if cursor.timer is not None:
            cursor.timer.cancel()
        if quiet:
            await self._open(cursor)
        if cursor.rows is None:
            raise self._no_rows(cursor)
        count = 0
        if most is None or most > 0:
            count, _ = await self._stream(cursor, most or 0, quiet=quiet)
        self._line.send(wire.complete(f"{'MOVE' if quiet else 'FETCH'} {count}"))
        self._wait_for_reader(cursor)

    async def _stream(self, portal: Portal, most: int, *, quiet: bool = False) -> tuple[int, bool]:
        """Send rows, at most so many (0: all): how many it were, and whether that is the end."""
        rows, count = portal.rows, 0
        assert rows is not None
        while True:
            piece: Piece | None = [portal.rest] if len(portal.rest) else await rows.next()
            portal.rest = memoryview(b"")
            if piece is None:
                total = rows.count
                count = total - portal.sent if not most else count
                portal.sent = total
                return count, True
            if most:
                whole = memoryview(b"".join(piece)) if len(piece) > 1 else memoryview(piece[0])
                first, portal.rest, some = split_rows(whole, most - count)
                count, portal.sent, piece = count + some, portal.sent + some, [first]
            else:
                rows.work()
            if not quiet:
                self._line.send(*piece)
                await self._line.flush() if sum(map(len, piece)) > FLUSH_BYTES else None
            if most and count >= most:
                return count, False

    async def _finish(self, portal: Portal) -> None:
        portal.done = True
        await self._end(portal, True)

    # -- the session's own commands ----------------------------------------------------------------

    def _check_state(self, command: Command) -> None:
        """In a transaction that failed nothing is done until it is ended."""
        if self._state == "E" and command.kind not in ("rollback", "commit", "rollback to"):
            raise Trouble(
                "25P02",
                "current transaction is aborted, commands ignored until end of transaction block",
            )

    async def _do(self, command: Command, values: tuple[Value, ...]) -> str:
        """Do what a command of the session asks for; what is said at its end."""
        self._check_state(command)
        kind, tag = command.kind, command.tag
        if kind == "begin":
            self._state = "T"
        elif kind in ("commit", "rollback"):
            tag = "ROLLBACK" if self._state == "E" else tag
            self._state = "I"
            await self._close_portals()
        elif kind == "rollback to":
            self._state = "T" if self._state == "E" else self._state
        elif kind == "set":
            self._set(command.name, command.value)
        elif kind == "reset":
            self._settings.reset() if command.name == "all" else self._set(command.name, None)
        elif kind == "deallocate":
            if command.name:
                self._statement(command.name)
                del self._statements[command.name]
            else:
                self._statements.clear()
        elif kind == "close":
            await self._close_cursor(command.name)
        elif kind == "discard":
            self._settings.reset()
            self._statements.clear()
            await self._close_portals()
        elif kind == "declare":
            self._declare(command, values)
        return tag

    def _set(self, name: str, value: str | None) -> None:
        self._settings.change(name, value)
        if name in REPORTED:
            told = wire.parameter_status(REPORTED[name], self._settings.get(name))
            self._line.send(told)

    async def _close_cursor(self, name: str) -> None:
        if name:
            self._portal(name)
            await self._forget(name)
        else:
            await self._close_portals()

    def _declare(self, command: Command, values: tuple[Value, ...]) -> None:
        if self._state == "I":
            raise Trouble("25P01", "DECLARE CURSOR can only be used in transaction blocks")
        if command.name in self._portals:
            raise Trouble("42P03", f'there is a cursor "{command.name}" already.')
        if len(self._portals) >= MOST_PORTALS:
            raise Trouble("53400", "this session has opened too many cursors.")
        query = Command("query", query=command.query)
        self._portals[command.name] = Portal(PreparedStatement(command.query, query), values)

    def _shown(self, name: str) -> pa.Table:
        if name == "all":
            known = self._settings.all()
            said = {"name": list(known), "setting": list(known.values())}
            return pa.table({**said, "description": [""] * len(known)})
        return pa.table({name: [self._settings.get(name)]})

    async def _copy(self, command: Command, values: tuple[Value, ...]) -> None:
        """Rows of a query as data of a COPY."""
        encoder = CopyEncoder(command.copy)
        _, now = await self._catalog()
        self._sql = command.query
        rows = await self._run(now, command.query, values, encoder)
        finished = False
        try:
            form = int(command.copy.format == "binary")
            self._line.send(wire.copy_out(len(rows.schema), form))
            self._line.send(encoder.head())
            while (piece := await rows.next()) is not None:
                rows.work()
                self._line.send(*piece)
                await self._line.flush()
            self._line.send(encoder.foot(), wire.COPY_DONE, wire.complete(f"COPY {rows.count}"))
            finished = True
        finally:
            await rows.end(finished)

    # -- the gateway -------------------------------------------------------------------------------

    def _now(self) -> InForce:
        return self._gateway.now()

    async def _catalog(self) -> tuple[Catalog, InForce]:
        """What the role may know of, and the policy in force; the user has to be one still."""
        now = self._now()
        if not await now.door.has(self._who.user):
            raise Trouble("28P01", "this user's token was revoked or replaced.", fatal=True)
        if self._who.role not in now.policy.roles:
            raise Trouble("28000", "the plan has this role no more.", fatal=True)
        return self._door.catalog(now, self._who), now

    async def _about_catalogs(
        self, catalog: Catalog, sql: str, values: tuple[Value, ...]
    ) -> pa.Table:
        """What a question about the catalogs is answered with."""
        settings, user = self._settings.all(), self._who.user.name
        with limited(self._gateway):
            return await catalog.table(sql, values, settings, user, self._stop)

    async def _admitted(
        self, now: InForce, sql: str, values: tuple[Value, ...], path: str
    ) -> Admitted:
        """Have decided what is asked."""
        self._gateway.audit.check()
        one = await admitted(
            self._gateway,
            now,
            self._who.user,
            asked_of(sql, values, self._who.role),
            path=path,
            address=self._line.address,
            began=time.perf_counter(),
        )
        await self._gateway.audit.written(event_of(self._gateway, one))
        if not one.decided.decision.allowed:
            raise refusal_of(one.decided.decision)
        self._gateway.check(one.now)
        return one

    async def _run(
        self, now: InForce, sql: str, values: tuple[Value, ...], encoder: Described
    ) -> RunRows:
        """Decide, and run; the first rows are there when this returns."""
        one = await self._admitted(now, sql, values, PATH)
        options, wished = self._gateway.options, self._settings.timeout()
        run = await Run.begin(
            self._gateway,
            one,
            encoder,
            self._stop,
            limit=options.row_limit,
            seconds=min(options.timeout, wished or options.timeout),
        )
        rows = RunRows(run, encoder, options.row_limit)
        try:
            await rows.begin()
        except BaseException:
            await rows.end(False)
            raise
        return rows

    async def _schema(self, prepared: PreparedStatement, count: int) -> pa.Schema | None:
        """What a statement's rows look like, whatever its parameters are; None: it has none."""
        command, unknown = prepared.command, (None,) * count
        if command.kind == "show":
            return self._shown(command.name).schema
        if command.kind == "fetch":
            cursor = self._portal(command.name)
            await self._open(cursor)
            return cursor.rows and cursor.rows.schema
        if command.kind != "query":
            return None
        self._check_state(command)
        catalog, now = await self._catalog()
        if await catalog.answers(command.query, self._who.user.name):
            return (await self._about_catalogs(catalog, command.query, unknown)).schema
        one = await self._admitted(now, command.query, unknown, f"{PATH} describe")
        assert one.decided.decision.sql is not None
        return await self._door.schema(now, one.decided.decision.sql, self._stop, one.user.name)


FLUSH_BYTES = 65_536


def check_length(sql: str) -> None:
    """Refuse a text that is longer than a query may be, before any of it is looked at."""
    if len(sql) > MOST_QUERY:
        raise Trouble(
            "54000",
            f"the text is longer than {MOST_QUERY} letters.",
            hint="Send less at a time.",
        )


class _Borrowed:
    """The rows of a cursor, for the FETCH that shows what they look like."""

    def __init__(self, cursor: Portal) -> None:
        assert cursor.rows is not None
        self.schema = cursor.rows.schema
        self.count = 0

    def work(self) -> None:
        """Nothing: the cursor does it."""

    async def next(self) -> Piece | None:
        """Nothing: they are sent from the cursor."""
        return None

    async def end(self, finished: bool) -> None:
        """Nothing: the cursor stays open."""
