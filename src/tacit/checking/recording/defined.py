"""Defined: what a release is, apart from its name, its recipients and its answer, so that a
change of it is found out.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from tacit.checking.holdings.trees import needed_views
from tacit.families.queries.datalog.read import is_datalog
from tacit.families.queries.reading.readings import dialect_of
from tacit.model.release import Constraint, Microdata, Synthetic, View

if TYPE_CHECKING:
    from tacit.ledger.entries import Shape
    from tacit.ledger.key import Key
    from tacit.model.release import Release
    from tacit.plan.plan import Plan

SHAPES: Mapping[type, Shape] = {
    View: "view",
    Microdata: "microdata",
    Synthetic: "synthetic",
    Constraint: "constraint",
}


def shape_of(release: Release) -> Shape:
    """What a release is, in the ledger's words.

    >>> shape_of(View("who", "V(r) :- RS(r, s)"))
    'view'
    """
    return SHAPES[type(release)]


def definition_of(plan: Plan, name: str, key: Key) -> str:
    """The keyed hash of what a release is: equal as long as it is the same one."""
    return key.mac(
        "definition", json.dumps(described(plan, name), sort_keys=True, default=str).encode()
    )


def described(plan: Plan, name: str) -> dict[str, Any]:
    """What makes a release: its query with those that it names, its levels and roles, its
    mechanism, or its rule.

    Files with answers are left out: whether an answer is the same one is compared by itself.
    """
    release = plan.releases[name]
    if isinstance(release, View):
        others = {
            other: spaced(plan.releases[other].query)  # type: ignore[union-attr]
            for other in sorted(needed_views(plan, name))
        }
        return {"query": spaced(release.query), "sql": dialect_of(plan.source), "views": others}
    if isinstance(release, Constraint):
        return {"constraint": spaced(release.constraint)}
    if isinstance(release, Synthetic):
        return {
            "synthetic": {
                key: value for key, value in asdict(release).items() if key not in ("name", "to")
            }
        }
    table = plan.tables[release.table]
    roles = {
        "quasi": sorted(table.quasi_identifiers),
        "sensitive": sorted(table.sensitive),
        "insensitive": sorted(table.insensitive),
    }
    if release.file is not None:
        return {"microdata": release.table, "made": "elsewhere", **roles}
    levels = {column: height for column, height in release.generalization.items() if height}
    trees = {
        column: [type(table.hierarchies[column]).__name__, asdict(table.hierarchies[column])]
        for column in levels
        if column in table.hierarchies
    }
    return {"microdata": release.table, "levels": levels, "hierarchies": trees, **roles}


def spaced(text: str) -> str:
    r"""A text in which spaces and new lines do not matter, as far as that is certain.

    >>> spaced("SELECT a\n  FROM r  WHERE b = 'x  y'"), spaced("S(x) :- R(x)\nS(x) :- T(x) ")
    ("SELECT a FROM r WHERE b = 'x  y'", 'S(x) :- R(x)\nS(x) :- T(x)')
    """
    text = text.strip().removesuffix(";").strip()
    if is_datalog(text) or "--" in text or "/*" in text or "$" in text or "\\" in text:
        return text
    parts = re.split(r"""('[^']*'|"[^"]*"|`[^`]*`)""", text)
    return "".join(part if at % 2 else re.sub(r"\s+", " ", part) for at, part in enumerate(parts))
