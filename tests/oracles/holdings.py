"""Who holds what, and what that means for a new release, by trying every set of clients.

Written from the definition of a check with a ledger, sharing no code with Tacit. What is published
went to some clients or to everybody. A set of clients is an adversary if it is empty (the public),
has one client, or is part of a group that colludes. It holds what went to everybody or to one of
its clients, and gets of the new releases those that go to everybody or to one of its clients. A
check that judges its list together also judges it as a whole: where no adversary gets all of it,
all its recipients together are one more.

A new release is breached if some adversary who gets something new learns too much from all that it
then has. How much is too much is for the oracles of the definitions, which are handed in.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

Clients = frozenset[str]


def adversaries(clients: Collection[str], collude: Sequence[Collection[str]]) -> Iterator[Clients]:
    """All sets of clients that act as one.

    >>> sorted(map(sorted, adversaries("abc", ["ab"])))
    [[], ['a'], ['a', 'b'], ['b'], ['c']]
    """
    for many in range(len(clients) + 1):
        for some in itertools.combinations(sorted(clients), many):
            if many < 2 or any(set(some) <= set(group) for group in collude):
                yield frozenset(some)


def reaches(to: Collection[str], some: Clients) -> bool:
    """Does a release get to one of them? One that is addressed to nobody is public."""
    return not to or bool(set(to) & some)


def hands(
    new: Mapping[str, Collection[str]],
    out: Sequence[tuple[str, Collection[str]]],
    collude: Sequence[Collection[str]],
    *,
    together: bool,
) -> set[tuple[frozenset[str], frozenset[str]]]:
    """What adversaries who get something new have: what is published, and what they get."""
    clients = {client for to in (*new.values(), *(to for _, to in out)) for client in to}
    sets = list(adversaries(clients, collude))
    if together and not any(all(reaches(to, some) for to in new.values()) for some in sets):
        sets.append(frozenset(client for to in new.values() for client in to))
    found = set()
    for some in sets:
        gets = frozenset(name for name, to in new.items() if reaches(to, some))
        has = frozenset(name for name, to in out if reaches(to, some) and name not in new)
        if gets:
            found.add((has, gets))
    return found


def is_breached(
    new: Mapping[str, Collection[str]],
    out: Sequence[tuple[str, Collection[str]]],
    collude: Sequence[Collection[str]],
    learns_too_much: Callable[[frozenset[str], frozenset[str]], bool],
    *,
    together: bool = True,
) -> bool:
    """Is there an adversary who learns too much?

    >>> (
    ...     is_breached({"n": ["a"]}, [("o", ["b"])], [], lambda has, gets: "o" in has),
    ...     is_breached({"n": ["a"]}, [("o", [])], [], lambda has, gets: "o" in has),
    ... )
    (False, True)
    """
    return any(
        learns_too_much(has, gets) for has, gets in hands(new, out, collude, together=together)
    )


def status(
    new: Mapping[str, Collection[str]],
    out: Sequence[tuple[str, Collection[str]]],
    collude: Sequence[Collection[str]],
    learns_too_much: Callable[[frozenset[str], frozenset[str]], bool],
    changed: Collection[str],
) -> str:
    """The verdict where the data have changed since, so that some of what is published had other
    answers.

    Who learns too much even without it breaches; who holds some of it is not known about, also
    where it is an old answer of what is new.

    >>> [
    ...     status({"n": []}, [("o", [])], [], lambda has, gets: bad, changed)
    ...     for bad, changed in [(True, "o"), (False, "o"), (False, "x"), (False, "n")]
    ... ]
    ['breached', 'undecided', 'holds', 'holds']
    """
    found = set()
    clients = {client for to in (*new.values(), *(to for _, to in out)) for client in to}
    sets = list(adversaries(clients, collude))
    if not any(all(reaches(to, some) for to in new.values()) for some in sets):
        sets.append(frozenset(client for to in new.values() for client in to))
    for some in sets:
        gets = frozenset(name for name, to in new.items() if reaches(to, some))
        has = frozenset(name for name, to in out if reaches(to, some))
        if gets and learns_too_much(has - gets - set(changed), gets):
            found.add("breached")
        elif gets and has & set(changed):
            found.add("undecided")
    return next((one for one in ("breached", "undecided") if one in found), "holds")
