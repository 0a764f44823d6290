"""Qualified names: a query in which every name can mean one thing only, so that the database reads
it as it was judged.

Databases differ in where they look for a name: in the aliases of SELECT, in the tables beside, in
the query around; with the case of letters or without. So all of that is decided here, once: every
column says of which table it is, every table of the query has a name that no other one has,
everything that is shown has a name, all in quotes. Whoever looks this up comes to the same result.
What the database would have made of the text itself does not matter, because the text never reaches
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import count

from sqlglot import exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.qualify import qualify
from sqlglot.schema import MappingSchema

from tacit.engines.sql.shapes import table_of
from tacit.errors import QueryError
from tacit.families.queries.query import Relations
from tacit.families.queries.sql.name_scope import start_of
from tacit.families.queries.understanding import QueryText

Env = Mapping[str, str]
SOURCES = (exp.Table, exp.Subquery, exp.Values, exp.Lateral)


def plain(name: str) -> str:
    """A name as databases compare it: without the case of a to z.

    >>> plain("Wards") == plain("WARDS"), plain("\\u212aeys") == plain("keys")
    (True, False)
    """
    return "".join(one.lower() if one.isascii() else one for one in name)


def qualified(
    tree: exp.Query, relations: Relations, columns: Sequence[str], dialect: str, source: QueryText
) -> exp.Query:
    """The query with all names written out; `columns` are the names of its result.
    Tables have the plan's names already.
    """
    tables = {f"r{number}": name for number, name in enumerate(relations)}
    found = _placed(_folded(tree.copy(), dialect), {name: place for place, name in tables.items()})
    schema: dict[str, object] = {
        place: {_fold(one, dialect): "TEXT" for one in relations[name].columns}
        for place, name in tables.items()
    }
    try:
        found = qualify(
            found,
            dialect=dialect,
            schema=MappingSchema(schema, dialect=dialect, normalize=False),
            identify=True,
        )
    except SqlglotError as error:
        raise QueryError(
            "the names in this query are not clear: "
            f"{str(error).splitlines()[0].split(' Line: ')[0]}",
            code="names",
            hint=HINT,
        ) from None
    assert isinstance(found, exp.Query)
    _one_side(found)
    _parenthesised(found)
    Renaming(source, dialect).query(found, {})
    _by_number(found)
    _check_columns(found, source)
    _name_result(found, columns)
    for node in found.find_all(exp.Table):
        if node.name in tables:
            real = table_of(tables[node.name])
            node.set("this", real.this)
            node.set("db", real.args.get("db"))
    return found


HINT = "Give each table an alias, write alias.column, and name what you compute: AS ..."


def _fold(name: str, dialect: str) -> str:
    return name if dialect == "postgres" else plain(name)


def _folded(tree: exp.Query, dialect: str) -> exp.Query:
    """All names as the database folds them; PostgreSQL keeps those in quotes."""
    for one in tree.find_all(exp.Identifier):
        if isinstance(one.parent, exp.Table) and one.arg_key in ("this", "db"):
            continue  # the plan's own
        if dialect != "postgres" or not one.quoted:
            one.set("this", plain(one.name))
        one.set("quoted", True)
    return tree


def _placed(tree: exp.Query, places: Mapping[str, str]) -> exp.Query:
    """Tables under names of one part: sqlglot's schema has no others beside names of two."""
    for node in tree.find_all(exp.Table):
        name = f"{node.db}.{node.name}" if node.db else node.name
        if name in places:
            node.set("this", exp.to_identifier(places[name], quoted=True))
            node.set("db", None)
    return tree


def _one_side(tree: exp.Query) -> None:
    """COALESCE(a.x, b.x) behind JOIN ... ON a.x = b.x is a.x (b.x behind RIGHT JOIN):
    that is what USING becomes.
    """
    for select in tree.find_all(exp.Select):
        sides: dict[frozenset[str], str] = {}
        for join in select.args.get("joins") or ():
            side, kind = str(join.side).upper(), str(join.kind).upper()
            on = join.args.get("on")
            if side == "FULL" or kind in ("SEMI", "ANTI") or on is None:
                continue
            for equal in on.flatten() if isinstance(on, exp.And) else [on]:
                if (
                    isinstance(equal, exp.EQ)
                    and isinstance(equal.this, exp.Column)
                    and isinstance(equal.expression, exp.Column)
                ):
                    pair = frozenset({equal.this.sql(), equal.expression.sql()})
                    right = join.this.alias_or_name
                    own = (
                        equal.this
                        if (equal.this.table == right) == (side == "RIGHT")
                        else equal.expression
                    )
                    sides.setdefault(pair, own.sql())
        for node in list(select.find_all(exp.Coalesce)):
            both = [node.this, *node.expressions]
            if (
                len(both) == 2
                and all(isinstance(one, exp.Column) for one in both)
                and node.find_ancestor(exp.Select) is select
            ):
                chosen = sides.get(frozenset(one.sql() for one in both))
                if chosen is not None and len(select.args.get("joins") or ()) == 1:
                    node.replace(next(one for one in both if one.sql() == chosen).copy())


def _parenthesised(tree: exp.Query) -> None:
    """Conditions that are part of a comparison in parentheses:
    sqlglot writes NOT without, and the database would read another tree.
    """
    for node in list(tree.find_all(exp.Not, exp.Predicate)):
        above = node.parent
        if (
            isinstance(above, exp.Predicate | exp.Binary)
            and not isinstance(above, exp.Connector)
            and not isinstance(node, exp.SubqueryPredicate)
        ):
            node.replace(exp.Paren(this=node.copy()))


class Renaming:
    """Gives every table of a query a name of its own, and its columns with it."""

    def __init__(self, source: QueryText, dialect: str) -> None:
        self.source = source
        self.dialect = dialect
        self.numbers = count(1)

    def query(self, node: exp.Expr, env: Env) -> None:
        """Rename the tables of a query; `env` has those of the queries around it."""
        for cte in (node.args.get("with_") or exp.With()).expressions:
            self.query(cte.this, env)
        if isinstance(node, exp.SetOperation):
            self.query(node.this, env)
            self.query(node.expression, env)
        elif isinstance(node, exp.Subquery):
            self._refuse_joins(node)
            self.query(node.this, env)
        elif isinstance(node, exp.Select):
            self._select(node, env)
        elif not isinstance(node, exp.Values):
            raise self._unclear(node)

    def _select(self, node: exp.Select, outer: Env) -> None:
        env = dict(outer)
        first = node.args.get("from_")
        for one in [
            *([first.this] if first else []),
            *(join.this for join in node.args.get("joins") or ()),
        ]:
            if not isinstance(one, SOURCES) or not one.alias:
                raise self._unclear(one)
            self._inside(
                one, env if self.dialect == "duckdb" or isinstance(one, exp.Lateral) else outer
            )
            env[one.alias] = name = f"t{next(self.numbers)}"
            one.args["alias"].set("this", exp.to_identifier(name, quoted=True))
        for key, part in node.args.items():
            if key not in ("from_", "with_"):
                for child in part if isinstance(part, list) else [part]:
                    if isinstance(child, exp.Expr):
                        self._expression(
                            child.args.get("on") if isinstance(child, exp.Join) else child, env
                        )

    def _inside(self, node: exp.Expr, env: Env) -> None:
        self._refuse_joins(node)
        if isinstance(node, exp.Lateral | exp.Subquery):
            self.query(node.this, env)
        elif isinstance(node, exp.Values):
            for one in node.expressions:
                self._expression(one, env)

    def _expression(self, node: exp.Expr | None, env: Env) -> None:
        pending = [node] if node is not None else []
        while pending:
            one = pending.pop()
            if isinstance(one, exp.Query):
                self.query(one, env)
            elif isinstance(one, exp.Column):
                if one.table:
                    if one.table not in env:
                        raise self._unclear(one)
                    one.set("table", exp.to_identifier(env[one.table], quoted=True))
            else:
                pending += list(one.iter_expressions())

    def _refuse_joins(self, node: exp.Expr) -> None:
        if node.args.get("joins") or (
            isinstance(node, exp.Subquery) and not isinstance(node.this, exp.Query)
        ):
            raise QueryError(
                "joins in parentheses are not read here.",
                code="not-read",
                hint="Write them without.",
                mark=self.source.mark(start_of(node)),
            )

    def _unclear(self, node: exp.Expr) -> QueryError:
        return QueryError(
            f"{' '.join(node.sql().split())} is not clear in this query.",
            code="names",
            hint=HINT,
            mark=self.source.mark(start_of(node)),
        )


def _outputs(tree: exp.Query) -> list[exp.Expr]:
    """What the result shows, as the first of several SELECTs names it."""
    while isinstance(tree, exp.Subquery | exp.SetOperation):
        tree = tree.this
    return list(tree.selects)


def _by_number(tree: exp.Query) -> None:
    """ORDER BY a name of the result as ORDER BY its number:
    whether a name is one of the result is then no question.
    """
    for part in tree.find_all(exp.Query):
        order = part.args.get("order")
        names = [one.alias_or_name for one in _outputs(part)] if order is not None else []
        for one in order.expressions if order is not None else ():
            if (
                isinstance(one.this, exp.Column)
                and not one.this.table
                and names.count(one.this.name) == 1
            ):
                one.set("this", exp.Literal.number(names.index(one.this.name) + 1))


def _check_columns(tree: exp.Query, source: QueryText) -> None:
    """Every column says of which table it is."""
    for node in tree.find_all(exp.Column):
        if not node.table or isinstance(node.this, exp.Star):
            raise _unqualified(node, source)
    for star in tree.find_all(exp.Star):
        if not isinstance(star.parent, exp.Count):
            raise QueryError(
                "* is not clear here.",
                code="names",
                hint="Name the columns.",
                mark=source.mark(start_of(star)),
            )


def _unqualified(node: exp.Column, source: QueryText) -> QueryError:
    """A column without its table. Inside of ORDER BY it may also be one of
    the result, and databases differ.
    """
    said, hint = "is not clear in this query", HINT
    if isinstance(node.find_ancestor(exp.Order, exp.Query), exp.Order):
        said, hint = (
            "may mean the table's column or the result's, here inside of ORDER BY",
            "Order by columns of the result alone, or say of which table it is: alias.column.",
        )
    return QueryError(
        f"{node.name} {said}.", code="names", hint=hint, mark=source.mark(start_of(node))
    )


def _name_result(tree: exp.Query, columns: Sequence[str]) -> None:
    """The result's columns under the names that were read."""
    outputs = _outputs(tree)
    if len(outputs) != len(columns):
        raise QueryError("the columns of this query are not clear.", code="names", hint=HINT)
    for one, name in zip(outputs, columns, strict=True):
        if isinstance(one, exp.Alias):
            one.set("alias", exp.to_identifier(name, quoted=True))
        else:
            one.replace(exp.alias_(one.copy(), exp.to_identifier(name, quoted=True)))
