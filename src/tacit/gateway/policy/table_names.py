"""Table names: which table or view of the plan a name in a query means; views are written out."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count

from sqlglot import exp

from tacit.engines.sql.shapes import table_of
from tacit.errors import QueryError, did_you_mean
from tacit.families.queries.datalog.datalog_reader import is_datalog
from tacit.families.queries.query import Relations
from tacit.families.queries.read import read
from tacit.families.queries.sql.name_scope import DEFAULT_SCHEMAS, start_of
from tacit.families.queries.sql.parse import parsed
from tacit.families.queries.sql.to_sql import to_sql
from tacit.families.queries.understanding import QueryText
from tacit.gateway.policy.qualified_names import plain

MOST_NODES = 20_000  # of a tree, views written out


class TableNames:
    """What the names of tables in a query stand for.
    Only letters from a to z have a case: look-alikes are other names.
    """

    def __init__(
        self,
        relations: Relations,
        views: Mapping[str, str],
        dialect: str,
        source: QueryText,
        hidden: Collection[str] = (),
    ) -> None:
        self.relations = relations
        taken = set(map(plain, relations))
        self._texts = views  # looked at when a view is named: they may be about whoever asks
        self.views = {name: None for name in views if plain(name) not in taken}
        self.dialect = dialect
        self.source = source
        self._shown = [name for name in (*relations, *views) if name not in hidden]
        self.named: list[str] = []
        self.numbers = count(1)

    def resolved(self, tree: exp.Query, above: Sequence[str] = ()) -> exp.Query:
        """The tree with tables under the plan's names and views written out."""
        self._check_local(tree)
        local = {}
        for one in tree.find_all(exp.CTE):
            local[plain(one.alias)] = name = f"w{next(self.numbers)}"
            one.args["alias"].set("this", exp.to_identifier(name, quoted=True))
        for node in [
            one for one in tree.find_all(exp.Table) if isinstance(one.this, exp.Identifier)
        ]:
            if not node.db and plain(node.name) in local:
                # By the name that only this one has: in the database case may tell two apart.
                node.set("alias", node.args.get("alias") or exp.TableAlias(this=node.this.copy()))
                node.set("this", exp.to_identifier(local[plain(node.name)], quoted=True))
                continue
            name = self._name(node)
            if not above:
                self.named.append(name)
            called = node.args.get("alias") or exp.TableAlias(
                this=exp.to_identifier(node.name, quoted=True)
            )
            if name in self.views:
                self._write_out(node, name, called, above)
            else:
                found = table_of(name)
                node.set("this", found.this)
                node.set("db", found.args.get("db"))
                node.set("catalog", None)
                node.set("alias", called)
        if sum(1 for _ in tree.walk()) > MOST_NODES:
            raise QueryError(
                "with its views written out the query is too large.",
                code="too-large",
                hint="Ask for less at once.",
            )
        return tree

    def _check_local(self, tree: exp.Query) -> None:
        """WITH gives new names only: whoever reads the query need not ask which of two is meant."""
        given = [plain(one.alias) for one in tree.find_all(exp.CTE)]
        for one in tree.find_all(exp.CTE):
            if plain(one.alias) in {plain(name.rpartition(".")[2]) for name in self._shown}:
                hint = "Choose another name."
                raise QueryError(
                    f"WITH {one.alias}: the plan has a table or view of that name.",
                    code="ambiguous-table",
                    hint=hint,
                    mark=self.source.mark(start_of(one)),
                )
        if len(set(given)) < len(given):
            raise QueryError(
                "WITH gives a name twice.", code="ambiguous-table", hint="Give each its own name."
            )

    def unknown(self, tree: exp.Query) -> list[str]:
        """The names, as they are written, of nothing that is shown."""
        local = {plain(one.alias) for one in tree.find_all(exp.CTE)}
        return sorted(
            {
                written_name(node)
                for node in tree.find_all(exp.Table)
                if isinstance(node.this, exp.Identifier)
                and (node.db or plain(node.name) not in local)
                and self._found(node, self._shown) is None
            }
        )

    def _found(self, node: exp.Table, names: Collection[str]) -> str | None:
        """Which of some names is meant."""
        wanted = [written_name(node)]
        wanted += [node.name] if node.db and plain(node.db) in DEFAULT_SCHEMAS else []
        for one in wanted if not node.catalog else []:
            for known in names:
                if plain(known) == plain(one):
                    return known
        return None

    def _name(self, node: exp.Table) -> str:
        found = self._found(node, [*self.relations, *self.views])
        if found is not None:
            return found
        written = written_name(node)
        hint = did_you_mean(written, self._shown)
        raise QueryError(
            f"there is no table {written!r}.",
            code="unknown-table",
            hint=hint,
            mark=self.source.mark(start_of(node)),
        )

    def _write_out(
        self, node: exp.Table, name: str, called: exp.TableAlias, above: Sequence[str]
    ) -> None:
        if name in above:
            raise QueryError(f"view {name} is defined by itself.", code="recursion")
        if not set(node.args) <= {"this", "db", "catalog", "alias", "joins"} and any(
            node.args[one]
            for one in node.args
            if one not in ("this", "db", "catalog", "alias", "joins")
        ):
            raise QueryError(
                f"view {name} cannot be read in this way.",
                code="not-read",
                hint="Name it as you would a table.",
            )
        inner, columns = self._view(name)
        if columns and not called.args.get("columns"):
            called = exp.TableAlias(
                this=called.this.copy(),
                columns=[exp.to_identifier(one, quoted=True) for one in columns],
            )
        written = exp.Subquery(this=self.resolved(inner, (*above, name)), alias=called.copy())
        if joins := node.args.get("joins"):
            written.set("joins", joins)
        node.replace(written)

    def _view(self, name: str) -> tuple[exp.Query, tuple[str, ...]]:
        """The tree of a view, and the names of its columns where its text does not give them."""
        text = QueryText(self._texts[name], name)
        columns: tuple[str, ...] = ()
        if is_datalog(text.text):
            reading = read(text.text, self.relations, name=name)
            assert reading.exact is not None
            columns, text = (
                reading.columns,
                QueryText(to_sql(reading.exact, self.relations, self.dialect), name),
            )
        tree = parsed(text, self.dialect)
        assert isinstance(tree, exp.Query)
        return tree, columns


def written_name(node: exp.Table) -> str:
    """A table's name as a query writes it."""
    return f"{node.db}.{node.name}" if node.db else str(node.name)
