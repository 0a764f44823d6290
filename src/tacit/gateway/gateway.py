"""Gateway: the plan's policy in force, with all that decides, runs and records;
replaced as a whole when the plan changes.
"""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.checking.recording.answer_book import AnswerBook
from tacit.engines.open import open_engine
from tacit.engines.sql import shapes
from tacit.errors import InputError, TacitError
from tacit.gateway.audit import Audit
from tacit.gateway.cache import Decided, Decisions, Key
from tacit.gateway.http.auth import TokenDoor
from tacit.gateway.http.formats import JsonEncoder
from tacit.gateway.last_used import LastUsed
from tacit.gateway.metrics import Metrics
from tacit.gateway.oidc import provider_of
from tacit.gateway.options import AUDIT, Options
from tacit.gateway.plan_watch import Watch
from tacit.gateway.policy.decisions import Decision
from tacit.gateway.policy.policy import ContradictoryRole, GatewayPolicy, policy_of
from tacit.gateway.policy.refusals import Refusal, busy
from tacit.gateway.query_runs import Places, check_powers
from tacit.gateway.query_sessions import QuerySessions
from tacit.gateway.quotas import Quotas
from tacit.gateway.shipping import Shipper, collector_of
from tacit.gateway.turns import NOBODY
from tacit.gateway.visitors import Visitors
from tacit.gateway.workers import DECIDER, Workers
from tacit.ledger.key import Key as OwnersKey
from tacit.ledger.key import key_file, read_key
from tacit.ledger.ledger import Ledger, NoLedger, open_ledger, store_of
from tacit.ledger.usage import SharedUsage
from tacit.ledger.users import Users
from tacit.plan.owned_files import owners_files
from tacit.plan.read.load import load_plan

if TYPE_CHECKING:
    from tacit.engines.base import Engine
    from tacit.gateway.http.requests import GatewayRequest
    from tacit.gateway.policy.asker import Asker
    from tacit.plan.plan import Plan

WATCH_SECONDS = 1.0
SHARE_SECONDS = 1.0  # how often gateways tell each other what users had
LAST_SHARE_SECONDS = 5.0
CUT_SHORT_SECONDS = 60.0  # how long it is remembered that a decision took too long
STREAM_SECONDS = 3600.0  # beyond its own time a query may wait for a slow client, and no longer
CUT_SHORT = Decision(
    False,
    "undecided",
    "Whether the query says anything that this role must not learn was not found out in time.",
    "Ask something simpler.",
)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A plan that was read, with its policy and a source on which it was found to be true."""

    plan: Plan
    policy: GatewayPolicy
    engine: Engine
    watch: Watch


@dataclass(frozen=True, slots=True)
class InForce:
    """The policy that is answered by, and what belongs to it."""

    plan: Plan
    policy: GatewayPolicy
    workers: Workers
    decisions: Decisions
    places: Places
    door: TokenDoor
    ledger: Ledger
    watch: Watch
    last_used: LastUsed
    book: AnswerBook
    usage: SharedUsage | None = None  # what users had of all gateways, where they share a ledger
    sessions: QuerySessions = field(default_factory=QuerySessions)

    def close(self) -> None:
        """Stop what is done under this policy."""
        self.places.close()
        self.workers.close()
        self.ledger.close()
        self.last_used.close()
        if self.usage is not None:
            self.usage.close()


class Gateway:
    """Everything behind the HTTP interface. Made in the server's loop by `start`, ended by `close`.

    While the plan's file is not the one that was read, or is broken, nothing is answered.
    """

    def __init__(
        self,
        plan_path: Path,
        options: Options | None = None,
        *,
        tell: Callable[[str], None] | None = None,
        decider: str = DECIDER,
        judge: Callable[[Plan, Engine], GatewayPolicy] = policy_of,
    ) -> None:
        self.options = options or Options()
        self.metrics = Metrics()
        self.quotas = Quotas(self.options)
        self.tell = tell or (lambda text: print(text, file=sys.stderr, flush=True))
        self._path = plan_path
        self._decider = decider
        self._judge = judge
        self._now: InForce | None = None
        self.host_names = frozenset(
            name.strip().lower() for name in self.options.hosts.split(",") if name.strip()
        )
        self.draining = False  # the gateway ends soon: nobody should send it more
        self._said = ""  # why there is no policy
        self._asked: dict[tuple[int, str, Key], asyncio.Future[Decided]] = {}
        self._reload = asyncio.Event()
        self._closing: set[asyncio.Future[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._sharing: asyncio.Task[None] | None = None
        self._unshared = False  # what users had could not be told to other gateways
        self.audit_file = self.options.audit or plan_path.parent / AUDIT
        to = self.options.audit_to
        shipper = None if to is None else Shipper(collector_of(to), self.tell)
        self.audit = Audit(
            self.audit_file,
            self.tell,
            key=key_if_any(plan_path.parent),
            most=self.options.audit_bytes,
            shipper=shipper,
        )
        if shipper is not None:
            self._show_shipping(shipper)
        self.visitors = Visitors(self.audit.put)
        self._provider = provider_of(self.options, self.tell)
        self._show_numbers()

    async def start(self, *, patient: bool = False) -> None:
        """Read the plan and start to answer, unless that is done;
        a TacitError where the plan cannot be used.

        `patient`: a plan that cannot be used yet is waited for, and nothing is answered until it
        can. Only roles that contradict themselves stop the start all the same: the owner believes
        that something is denied which is not.
        """
        if self._watching is not None:
            return
        try:
            self._now = await self._in_force(await asyncio.to_thread(self.load))
        except TacitError as error:
            if not patient or any(isinstance(one, ContradictoryRole) for one in error):
                raise
            self._said = str(error)
            self.tell(
                "No query is answered yet: "
                f"{' '.join(str(one).partition(chr(10))[0] for one in error)}"
            )
        self._watching = asyncio.create_task(self._watch())
        self._sharing = asyncio.create_task(self._share())

    def load(self) -> Loaded:
        """The plan's policy and its source; a TacitError that says what is wrong with them."""
        watch = Watch(self._path)
        plan = load_plan(self._path)
        refuse_audit(plan, self.audit_file)
        engine = open_engine(plan.source, plan.folder)
        try:
            if not self.options.allow_superuser:
                check_powers(engine)
            policy = self._judge(plan, engine)
            prepare(engine, plan, self.options.timeout)
        except BaseException:
            engine.close()
            raise
        return Loaded(plan, policy, engine, watch)

    def now(self) -> InForce:
        """The policy in force; a Refusal while there is none, or the
        plan's file is another one already.
        """
        now = self._now
        if now is None or now.watch.glanced():
            if now is not None:
                self._reload.set()
            raise busy(
                "policy",
                "the plan has changed or cannot be read; nothing is answered until it was read.",
            )
        return now

    def check(self, now: InForce) -> None:
        """Raise a Refusal if a policy is not the one in force any more."""
        if self.now() is not now:
            raise busy("policy", "the plan changed meanwhile.")

    async def decide_in_session(
        self, now: InForce, role: str, asked: GatewayRequest, asker: Asker, session: Hashable
    ) -> tuple[Decided, bool]:
        """The decision on a query, for whom the answers of a session count."""
        decided, cached = await self.decide(now, role, asked, asker)
        history = now.sessions.facts(session)
        if asked.session is None or decided.decision.code != "not-granted" or not history:
            return decided, cached
        async with now.workers.turn(asker.name):
            judged = await now.workers.judge(
                role, asked.sql, asked.parameters, asker, history, asked.dialect
            )
        self.check(now)
        if judged.decision is None:
            return decided, cached
        return Decided(judged.decision, judged.redacted), False

    async def decide(
        self, now: InForce, role: str, asked: GatewayRequest, asker: Asker | None = None
    ) -> tuple[Decided, bool]:
        """The decision on a query, and whether it was known already.
        It depends on role, query and policy alone, and on what these say of whoever asks.
        """
        key = (role, asked.sql, f"{asked.key}{now.policy.known_of(role, asker, asked.sql)}")
        if asked.session is not None:
            key = (*key[:2], f"{key[2]} in a session")
        if asked.dialect is not None:
            key = (*key[:2], f"{key[2]} as {asked.dialect}")
        found = now.decisions.find(key)
        if found is not None:
            return found, True
        # Who asks the same twice waits once; others do not wait for this user's turn.
        user = NOBODY if asker is None else asker.name
        place = (id(now), user, key)
        waiting = self._asked.get(place)
        if waiting is None:
            waiting = asyncio.ensure_future(self._judged_in_turn(now, user, key, asked, asker))
            self._asked[place] = waiting
            waiting.add_done_callback(lambda done: self._asked.pop(place, None))
            waiting.add_done_callback(lambda done: done.cancelled() or done.exception())
        decided = await asyncio.shield(waiting)
        self.check(now)
        return decided, False

    def reload(self) -> None:
        """Read the plan and the data again."""
        if self._now is not None:
            self._replace(None)
        self._reload.set()

    async def close(self) -> None:
        """Stop answering, and end all processes and connections."""
        if self._watching is not None and self._sharing is not None:
            self._watching.cancel()
            self._sharing.cancel()
            with suppress(TimeoutError):
                await asyncio.wait_for(self._exchange(self._now), LAST_SHARE_SECONDS)
        self._replace(None)
        await asyncio.gather(*self._closing, return_exceptions=True)
        await asyncio.to_thread(self.audit.close)

    async def _judged_in_turn(
        self, now: InForce, user: str, key: Key, asked: GatewayRequest, asker: Asker | None
    ) -> Decided:
        """The decision, when it is the user's turn; by then another may have asked the same."""
        async with now.workers.turn(user):
            found = now.decisions.find(key)
            return found if found is not None else await self._decide_anew(now, key, asked, asker)

    async def _decide_anew(
        self, now: InForce, key: Key, asked: GatewayRequest, asker: Asker | None
    ) -> Decided:
        judged = await now.workers.judge(
            key[0],
            asked.sql,
            asked.parameters,
            asker,
            None if asked.session is None else (),
            asked.dialect,
        )
        if judged.decision is None:
            decided = Decided(CUT_SHORT, judged.redacted, time.monotonic() + CUT_SHORT_SECONDS)
        else:
            decided = Decided(judged.decision, judged.redacted)
        now.decisions.keep(key, decided)
        return decided

    async def _in_force(self, found: Loaded) -> InForce:
        """Start processes and places for a plan that was read."""
        options, plan = self.options, found.plan
        shared = found.engine if found.engine.dialect != "postgres" else None

        def opened() -> Engine:
            engine = open_engine(plan.source, plan.folder)
            try:
                prepare(engine, plan, options.timeout)
            except BaseException:
                engine.close()
                raise
            return engine

        if shared is None:
            found.engine.close()
        ledger = await asyncio.to_thread(ledger_of_users, plan)
        self.audit.seal_with(ledger.key)
        workers = Workers(
            found.policy,
            options.deciders,
            options.decide_seconds,
            decider=self._decider,
            replaced=self.metrics.replaced.inc,
            each=options.user_decisions,
        )
        try:
            await asyncio.to_thread(workers.wait_until_ready)
        except BaseException:
            workers.close()
            ledger.close()
            raise
        places = Places(
            options.queries,
            options.wait,
            opened,
            shared=shared,
            each=options.user_queries,
            most_cell=options.cell_bytes,
            most_row=options.row_bytes,
            most_work=options.query_cost,
        )
        far, limits = "://" in plan.ledger, self.quotas.any
        door = TokenDoor(Users(ledger), far=far, provider=self._provider)
        if found.policy.said:
            self.tell(
                "The source declares, and decisions take into account: "
                f"{'; '.join(found.policy.said)}."
            )
        if options.query_cost is not None:
            self.tell(
                "Warning: with --query-cost, whether a query is answered depends on estimates, "
                "and so on rows that nobody may see."
            )
        for warning in found.policy.warnings:
            self.tell(f"Warning: {warning}")
        last_used = LastUsed(lambda: open_ledger(plan.ledger, plan.folder), self.tell)
        usage = SharedUsage(store_of(plan.ledger, plan.folder)) if far and limits else None
        made = InForce(
            plan,
            found.policy,
            workers,
            Decisions(options.cache),
            places,
            door,
            ledger,
            found.watch,
            last_used,
            AnswerBook(plan, ledger),
            usage,
        )
        await self._exchange(made)
        return made

    async def _share(self) -> None:
        """Tell other gateways what users had of this one, again and again."""
        while True:
            await asyncio.sleep(SHARE_SECONDS)
            await self._exchange(self._now)

    async def _exchange(self, now: InForce | None) -> None:
        """Tell other gateways what users had of this one, and hear what they had of all."""
        if now is None or now.usage is None:
            return
        untold = self.quotas.untold()
        try:
            self.quotas.learn(await asyncio.to_thread(now.usage.exchange, untold))
        except TacitError as error:
            self.quotas.keep(untold)
            if not self._unshared:
                self.tell(f"What users had cannot be told to other gateways: {error}")
            self._unshared = True
        else:
            self._unshared = False

    def _replace(self, new: InForce | None) -> None:
        old, self._now = self._now, new
        if old is not None:
            old.places.shut()
            closing = asyncio.get_running_loop().run_in_executor(None, old.close)
            self._closing.add(closing)
            closing.add_done_callback(self._closing.discard)

    async def _watch(self) -> None:
        """Look at the plan every second; read it again when it changed,
        and as long as it cannot be read.
        """
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._reload.wait(), WATCH_SECONDS)
            self._reload.clear()
            if self._now is None or await asyncio.to_thread(self._now.watch.changed):
                await self._read_again()

    async def _read_again(self) -> None:
        if self._now is not None:
            self.tell("The plan changed: nothing is answered until it was read.")
            self._replace(None)
        before = Watch(self._path)
        try:
            found = await asyncio.to_thread(self.load)
            new = await self._in_force(found)
        except TacitError as error:
            if str(error) != self._said:  # said once is enough, while nothing changes
                self.tell(f"The plan cannot be used, so nothing is answered: {error}")
            self._said = str(error)
            await self._until_changed(before)
            return
        except (
            Exception
        ) as error:  # a fault of ours must not leave an old policy in force, nor end the watching
            self.tell(f"The plan cannot be used, so nothing is answered: {type(error).__name__}")
            await self._until_changed(before)
            return
        self._replace(new)
        self._said = ""
        self.tell(f"The plan was read again: answering by policy {new.policy.digest}.")

    async def _until_changed(self, before: Watch) -> None:
        """Wait until it is worth to try again:
        the plan changed, someone asks for it, or half a minute has passed.
        """
        for _ in range(30):
            if self._reload.is_set() or await asyncio.to_thread(before.changed):
                return
            await asyncio.sleep(WATCH_SECONDS)

    def _show_shipping(self, shipper: Shipper) -> None:
        watch = self.metrics.watch
        waiting, lost = "Lines of the audit log that wait", "Lines that were not shipped"
        watch("tacit_audit_waiting", f"{waiting} to be shipped.", lambda: float(shipper.waiting))
        watch("tacit_audit_lost", f"{lost} for want of room.", lambda: float(shipper.lost))

    def _show_numbers(self) -> None:
        watch = self.metrics.watch
        watch(
            "tacit_policy_in_force",
            "1 while there is a policy to answer by.",
            lambda: float(self._now is not None),
        )
        watch(
            "tacit_audit_failing",
            "1 while the audit log cannot be written.",
            lambda: float(self.audit.failing),
        )
        watch(
            "tacit_decisions_remembered",
            "Decisions in the cache.",
            lambda: float(len(self._now.decisions)) if self._now else 0.0,
        )
        watch(
            "tacit_queries_running",
            "Queries that run now.",
            lambda: float(self._now.places.running) if self._now else 0.0,
        )
        watch(
            "tacit_queries_waiting",
            "Queries that wait for a place.",
            lambda: float(self._now.places.waiting) if self._now else 0.0,
        )
        watch(
            "tacit_decisions_waiting",
            "Queries that wait for their turn to be decided.",
            lambda: float(self._now.workers.turns.waiting) if self._now else 0.0,
        )


def refuse_audit(plan: Plan, audit: Path) -> None:
    """The audit log is a file of its own."""
    if any(
        audit.resolve() == one.resolve()
        for one in (*owners_files(plan), plan.folder / plan.ledger, key_file(plan.folder))
    ):
        raise InputError(
            f"the audit log would be written to {audit}.",
            hint=f"Name another file, for example {AUDIT}.",
        )


def key_if_any(folder: Path) -> OwnersKey | None:
    """The owner's key; None as long as there is none, or it cannot be read."""
    try:
        return read_key(folder)
    except InputError:
        return None


def ledger_of_users(plan: Plan) -> Ledger:
    """The ledger, where the users are; without one there is nobody to answer."""
    try:
        return open_ledger(plan.ledger, plan.folder)
    except NoLedger as error:
        hint = "Add one: tacit user add NAME --role ROLE; or correct `ledger:` in the plan."
        raise NoLedger(f"{error.message.rstrip('.')}, and so no users.", hint=hint) from None


def prepare(engine: Engine, plan: Plan, seconds: float) -> None:
    """Make an engine ready for strangers: rows that stand in the
    plan are stored, then it is locked.
    """
    engine.types_by_plan = True
    for table in plan.tables.values():
        if not engine.has(table.name) and (table.rows is not None or engine.dialect != "postgres"):
            engine.attach(table)
    engine.lock(seconds=seconds + STREAM_SECONDS)
    stream = engine.stream(shapes.ANYTHING)  # it answers, and what is imported late is there
    try:
        stream.begin()
        encoder = JsonEncoder()
        encoder.start(stream.schema)
        for batch in stream:
            encoder.batch(batch)
    finally:
        stream.close()


def refusal_of(decision: Decision) -> Refusal:
    """What a client is told about a query that is not answered:
    403 where the policy forbids it, 400 where it is wrong in itself.
    """
    status = 403 if decision.is_refusal else 400
    return Refusal(
        status, decision.code, decision.message, hint=decision.hint, secret=decision.secret
    )
