"""The milder model against brute force:
what it calls private is independent, whichever rows there are.
"""

from __future__ import annotations

import random
from typing import Any

import pytest

import tacit
from oracles import attributes as oracle

SCHEMA: oracle.Schema = {"r": ((1, 2), ((0, 1), (0, 1))), "t": ((1, 2), ((0, 1),))}
PLAN: dict[str, Any] = {
    "r": {
        "columns": {"k": "integer", "a": "integer", "b": "integer"},
        "key": ["k"],
        "domains": {"k": [1, 2], "a": [0, 1], "b": [0, 1]},
    },
    "t": {
        "columns": {"k": "integer", "c": "integer"},
        "key": ["k"],
        "domains": {"k": [1, 2], "c": [0, 1]},
    },
}


def random_query(rng: random.Random) -> oracle.Query:
    """One to three atoms that share a few variables;
    constants among the values of their columns.
    """
    atoms = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        name = rng.choice(["r", "r", "t"])
        key = rng.choice(["k", "j", "1", "2"])
        values = [
            rng.choice([f"x{rng.randint(0, 3)}", str(rng.randint(0, 1))]) for _ in SCHEMA[name][1]
        ]
        atoms.append((name, (key, *values)))
    variables = sorted({term for _, terms in atoms for term in terms if not term.isdigit()})
    head = tuple(rng.sample(variables, rng.randint(0, min(2, len(variables)))))
    unequal = (
        [(rng.choice(variables), rng.choice(["0", "1"]))]
        if variables and rng.random() < 0.2
        else []
    )
    return head, atoms, unequal


def datalog(query: oracle.Query) -> str:
    head, atoms, unequal = query
    body = [f"{name}({', '.join(terms)})" for name, terms in atoms] + [
        f"{one} != {two}" for one, two in unequal
    ]
    return f"Q({', '.join(head)}) :- {', '.join(body)}"


@pytest.mark.slow
def test_what_is_private_is_independent_whichever_rows_there_are() -> None:
    rng = random.Random(25)
    private = dependent = 0
    for _ in range(700):
        secret, view = random_query(rng), random_query(rng)
        verdict = tacit.perfect_privacy(
            secret=datalog(secret), view=datalog(view), schema=PLAN, model="attribute-independent"
        )
        independent = oracle.are_independent(secret, view, SCHEMA, rng)
        if verdict.status == "holds":
            private += 1
            assert independent, (datalog(secret), datalog(view))
        dependent += not independent
    assert private > 100
    assert dependent > 100


def test_keys_across_attributes_are_not_split() -> None:
    """With a key (a, b) the attributes of a row are not independent of those of others."""
    schema = {
        "r": {"columns": {"k": "integer", "a": "text", "b": "text"}, "key": [["k"], ["a", "b"]]}
    }
    verdict = tacit.perfect_privacy(
        secret="Q(k) :- r(k, 'x', b)",
        view="Q(k) :- r(k, a, 'y')",
        schema=schema,
        model="attribute-independent",
    )
    assert verdict.reason is not None
    assert verdict.reason.code == "attributes"


EMP: dict[str, Any] = {
    "emp": {"columns": {"name": "text", "dept": "text", "salary": "integer"}, "key": ["name"]}
}
PAY = "SELECT name, salary FROM emp"


def milder(secret: str, view: str, schema: dict[str, Any] = EMP) -> Any:
    return tacit.perfect_privacy(
        secret=secret, view=view, schema=schema, model="attribute-independent"
    )


def test_what_follows_from_a_view_that_holds_holds_too() -> None:
    """The same view with fewer columns."""
    rng = random.Random(26)
    tried = 0
    for _ in range(400):
        secret, (head, atoms, unequal) = random_query(rng), random_query(rng)
        if (
            not head
            or milder(datalog(secret), datalog((head, atoms, unequal)), PLAN).status != "holds"
        ):
            continue
        tried += 1
        fewer = head[: rng.randint(0, len(head) - 1)]
        assert milder(datalog(secret), datalog((fewer, atoms, unequal)), PLAN).status == "holds", (
            datalog(secret),
            head,
            fewer,
            atoms,
        )
    assert tried > 40


def test_who_is_in_the_table_is_public_for_secret_and_view_alike() -> None:
    for view in ("SELECT name FROM emp", "SELECT name, dept FROM emp", "SELECT dept FROM emp"):
        verdict = milder("SELECT name FROM emp", view)
        assert verdict.reason is not None and verdict.reason.code == "attributes", view
        assert "model: tuple-independent" in verdict.reason.text
        assert milder(PAY, view).status == "holds"


def test_a_row_that_a_secret_asks_for_is_public_where_it_asks_for_more() -> None:
    secret = "SELECT e.salary FROM emp e, staff s WHERE e.name = s.name"
    schema = {**EMP, "staff": {"columns": {"name": "text", "room": "text"}, "key": ["name"]}}
    assert milder(secret, "SELECT name, room FROM staff", schema).status == "holds"
    assert milder(secret, "SELECT name FROM staff", schema).status == "holds"


def test_an_order_that_publishes_the_ranks_does_not_hold() -> None:
    hidden = (
        "emp ORDER BY salary",
        "emp ORDER BY salary IS NULL",
        "(SELECT * FROM emp ORDER BY salary) t",
        "emp ORDER BY dept, salary DESC",
    )
    for rest in (*hidden, "emp WHERE name IN (SELECT name FROM emp ORDER BY salary)"):
        verdict = milder(PAY, f"SELECT name FROM {rest}")
        assert verdict.reason is not None and verdict.reason.code == "order", rest
    assert milder(PAY, "SELECT name FROM emp ORDER BY name").status == "holds"
    assert milder(PAY, "SELECT name, dept FROM emp ORDER BY dept").status == "holds"
