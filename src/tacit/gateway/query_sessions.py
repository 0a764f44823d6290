"""Sessions: what users got a short while ago, for decisions about what they ask next."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterable

from tacit.families.queries.query import Conjunctive

SECONDS = 60.0  # rows may change: what was there is believed no longer than that
MOST_FACTS = 300  # of one session
MOST_SESSIONS = 2_000


class QuerySessions:
    """Facts by session, the last ones of each; forgotten with the policy they belong to."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._kept: OrderedDict[Hashable, deque[tuple[float, Conjunctive]]] = OrderedDict()

    def put(self, session: Hashable, facts: Iterable[Conjunctive]) -> None:
        """Somebody got rows of which these facts speak.

        >>> sessions = QuerySessions()
        >>> sessions.put("s", [Conjunctive((), ())])
        >>> len(sessions.facts("s")), len(sessions.facts("t"))
        (1, 0)
        """
        kept = self._kept.setdefault(session, deque(maxlen=MOST_FACTS))
        self._kept.move_to_end(session)
        kept.extend((self._clock(), one) for one in facts)
        while len(self._kept) > MOST_SESSIONS:
            self._kept.popitem(last=False)

    def facts(self, session: Hashable) -> tuple[Conjunctive, ...]:
        """What is known in a session, each once."""
        kept = self._kept.get(session)
        if kept is None:
            return ()
        since = self._clock() - SECONDS
        while kept and kept[0][0] < since:
            kept.popleft()
        return tuple(dict.fromkeys(one for _, one in kept))
