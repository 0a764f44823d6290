"""What Spark's catalog declares of a table: keys and foreign keys, as DESCRIBE TABLE EXTENDED
lists them. Spark does not enforce them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from tacit.model.schema import SourceKeys, SourceReference

BEGIN = "# Constraints"
KEY = re.compile(r"(PRIMARY KEY|UNIQUE) \(([^)]*)\)")
FOREIGN_KEY = re.compile(r"FOREIGN KEY \(([^)]*)\) REFERENCES (\S+) \(([^)]*)\)")


def constraints_in(described: Iterable[Sequence[str | None]]) -> Iterator[str]:
    """The constraints among the rows of DESCRIBE TABLE EXTENDED:
    all that follow their heading, up to an empty row.

    >>> list(
    ...     constraints_in(
    ...         [
    ...             ("id", "int"),
    ...             ("", ""),
    ...             ("# Constraints", ""),
    ...             ("pk", "PRIMARY KEY (id) NOT ENFORCED"),
    ...             ("", ""),
    ...             ("Owner", "ann"),
    ...         ]
    ...     )
    ... )
    ['PRIMARY KEY (id) NOT ENFORCED']
    """
    inside = False
    for name, said, *_ in described:
        inside = name == BEGIN or (inside and bool(name))
        if inside and name != BEGIN:
            yield said or ""


def keys_in(said: Iterable[str]) -> SourceKeys:
    """The keys among constraints.

    >>> keys_in(["PRIMARY KEY (id) NOT ENFORCED RELY", "UNIQUE (ward, bed) NOT ENFORCED"]).keys
    (('id',), ('ward', 'bed'))
    """
    found = [(match.group(1), names(match.group(2))) for one in said if (match := KEY.match(one))]
    never = frozenset(name for kind, key in found if kind == "PRIMARY KEY" for name in key)
    return SourceKeys(tuple(key for _, key in found), never, enforced=not found)


def references_in(
    said: Iterable[str], entry: str, known: Iterable[str]
) -> Iterator[SourceReference]:
    """The foreign keys among constraints. A table may be named without its catalog:
    it is each of the `known` entries that ends so, else itself.

    >>> [
    ...     one.other
    ...     for one in references_in(
    ...         ["FOREIGN KEY (pid) REFERENCES main.people (id) NOT ENFORCED"],
    ...         "spark/c.main.visits",
    ...         ["spark/c.main.people"],
    ...     )
    ... ]
    ['spark/c.main.people']
    """
    entries = list(known)
    for match in filter(None, map(FOREIGN_KEY.match, said)):
        other = match.group(2).replace("`", "").lower()
        meant = [one for one in entries if f".{one.partition('/')[2]}".endswith(f".{other}")] or [
            f"spark/{other}"
        ]
        yield from (
            SourceReference(entry, names(match.group(1)), one, names(match.group(3)))
            for one in meant
        )


def names(listed: str) -> tuple[str, ...]:
    """The columns of a list."""
    return tuple(one.strip().strip("`") for one in listed.split(","))
