"""Queries of every shape, made from a seed alone:
every clause may hold every kind of expression, subqueries and shadowing names among them.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from oracles.gateway import Schema, Table
from sql_shapes.expressions import (
    ANYWHERE,
    BOOLEAN,
    INTEGER,
    TEXT,
    TRUTHS,
    VALUES,
    Expressions,
    Name,
    Names,
    Sight,
)
from sql_shapes.schemas import is_equal, literal, quoted

JOINS = (
    "JOIN",
    "JOIN",
    "LEFT JOIN",
    "RIGHT JOIN",
    "FULL JOIN",
    ",",
    "CROSS JOIN",
    "USING",
    "NATURAL JOIN",
    "SEMI JOIN",
    "ANTI JOIN",
)
OPERATIONS = (
    "UNION ALL",
    "UNION",
    "INTERSECT",
    "EXCEPT",
    "INTERSECT ALL",
    "EXCEPT ALL",
    "UNION ALL BY NAME",
    "UNION BY NAME",
)
ODD_SPACES = (
    "\u200b",
    "\u2060",
    "\ufeff",
    "\u2028",
    "\u0085",
    "\u00a0",
    " {# x #} ",
    " /* x */ ",
    " -- x\n",
)


WINDOWED = ("PARTITION BY", "window ORDER BY", "window argument", "QUALIFY")
AGGREGATED = ("FILTER", "aggregate argument", "aggregate ORDER BY", "HAVING")
PLACES = (
    "statement",
    "EXISTS",
    "IN",
    "ANY, ALL",
    "scalar",
    "derived table",
    "CTE",
    "set operation",
    "LATERAL",
)
CLAUSES = (
    "DISTINCT",
    "DISTINCT ON",
    "WHERE",
    "GROUP BY",
    "GROUPING SETS",
    "GROUP BY ()",
    "GROUP BY ALL",
    "aggregates",
    "HAVING",
    "WINDOW",
    "QUALIFY",
    "ORDER BY",
    "LIMIT",
    "OFFSET",
    "LATERAL",
    "JOIN",
    "LEFT JOIN",
    "FULL JOIN",
    "USING",
    "NATURAL JOIN",
    "SEMI JOIN",
    "ANTI JOIN",
)
LEADS = {
    "EXISTS": "EXISTS",
    "IN": "IN subquery",
    "ANY, ALL": "ANY, ALL",
    "scalar": "scalar subquery",
}


Columns = list[tuple[str, str]]  # names and types
STARRED = ("statement", "EXISTS", "derived table", "LATERAL", "CTE")


@dataclass(frozen=True, slots=True)
class Item:
    """An item of a SELECT list as it is written, the name of its column, and its type."""

    text: str
    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Grouping:
    """How a query is grouped: what GROUP BY says, and what may be named beside aggregates."""

    text: str = ""
    names: Names = ()
    is_grouped: bool = False


@dataclass
class Queries(Expressions):
    """Writes queries over a schema."""

    schema: Schema = field(default_factory=lambda: Schema(()))
    guards: dict[str, str] = field(
        default_factory=dict
    )  # a condition for each table, by which most of its rows are left out
    ctes: dict[str, Columns] = field(default_factory=dict)
    aliases: int = 0
    within: tuple[str, str] = (
        "",
        "",
    )  # where a query stands, and what it must have: what else the statement is about
    also: str = ""  # another clause that it must have
    reached: bool = False  # has there been a query at that place?
    used: set[str] = field(default_factory=set)

    def some_type(self) -> str:
        """The type of some column."""
        return self.rng.choice(
            [column.type for table in self.schema.tables for column in table.columns]
        )

    def _has(self, likely: float, place: str, clause: str, *focused: str) -> bool:
        """Shall a query have a clause? Always where the statement is about it."""
        wanted = self.within[0] == place and clause in (self.within[1], self.also)
        wanted = (
            wanted
            or (self.aimed and self.focus[0] in (clause, *focused))
            or (self.lead != "" and self.level == 0 and clause == "WHERE")
        )
        if wanted or self.rng.random() < likely * self.busy / (1 + self.level / 2):
            self.places[place, clause] += 1
            return True
        return False

    # Whole queries

    def statement(self) -> str:
        """A statement."""
        types = [
            self.free("SELECT") if not at else self.some_type()
            for at in range(self.rng.choice((1, 1, 2, 2, 3)))
        ]
        text = self._whole(types, (), "statement")
        if self.rng.random() < 0.01:
            at = self.rng.choice([at for at, one in enumerate(text) if one == " "])
            text = text[:at] + self.rng.choice(ODD_SPACES) + text[at + 1 :]
        return text

    def query(self, types: Sequence[str], outer: Names, place: str) -> str:
        """A subquery; each one leaves fewer for others."""
        self.left -= 1
        self.level += 1
        text = self._whole(types, outer, place)
        self.level -= 1
        return text

    def _whole(self, types: Sequence[str], outer: Names, place: str) -> str:
        kind = self.rng.random() / self.busy * (1 + self.level)
        if (kind < 0.1 and self.left > 0) or self._first("CTE"):
            return self._with(types, outer, place)
        if (kind < 0.2 and self.left > 0) or self._first("set operation"):
            return self._operation(types, outer, place)
        if kind < 0.23 or self._first("VALUES") or (self.aimed and self.focus[0] == "VALUES"):
            self.places[place, "VALUES"] += 1
            return self._rows(types, outer)
        return self._select(types, outer, place)[0]

    def _first(self, place: str) -> bool:
        """Must a query stand at a place here, because none did so far?"""
        if self.within[0] != place or self.reached:
            return False
        self.reached = True
        return True

    def _with(self, types: Sequence[str], outer: Names, place: str) -> str:
        before, self.ctes = self.ctes, dict(self.ctes)
        texts = []
        for _ in range(self.rng.choice((1, 1, 2))):
            self.left -= 1
            name = self._shadowing("t")
            inner = [self.some_type() for _ in range(self.rng.choice((1, 2)))]
            self.level += 1
            text, columns = self._select(inner, outer, "CTE")
            self.level -= 1
            given = ""
            if self.rng.random() < 0.3:
                columns = [(self._column_name(), type_) for _, type_ in columns]
                given = f"({', '.join(quoted(one) for one, _ in columns)})"
            texts.append(
                f"{quoted(name)}{given} AS "
                f"{'MATERIALIZED ' if self.rng.random() < 0.1 else ''}({text})"
            )
            self.ctes[name] = columns
        self.places[place, "WITH"] += 1
        whole = self._select(types, outer, place)[0]
        self.ctes = before
        return f"WITH {'RECURSIVE ' if self.rng.random() < 0.2 else ''}{', '.join(texts)} {whole}"

    def _operation(self, types: Sequence[str], outer: Names, place: str) -> str:
        word = self.rng.choice(OPERATIONS[:6] if self.postgres else OPERATIONS)
        self.places[place, word] += 1
        parts = []
        for _ in range(2):
            self.left -= 1
            text = self._select(types, outer, "set operation")[0]
            parts.append(
                f"({text})"
                if " ORDER BY " in text
                or " LIMIT " in text
                or text.startswith("WITH")
                or self.rng.random() < 0.2
                else text
            )
        last = self._last(Sight(), ["1"], place) if self.rng.random() < 0.3 * self.busy else ""
        return f"{parts[0]} {word} {parts[1]}{last}"

    def _rows(self, types: Sequence[str], outer: Names) -> str:
        lines = [
            ", ".join(self.value(type_, Sight(outer=outer), "VALUES", 1) for type_ in types)
            for _ in range(self.rng.choice((1, 2, 2)))
        ]
        return "VALUES " + ", ".join(f"({line})" for line in lines)

    # SELECT

    def _select(self, types: Sequence[str], outer: Names, place: str) -> tuple[str, Columns]:
        """A SELECT with these types, and its columns."""
        source, names, guards = (
            self._from(outer, place) if self.rng.random() < 0.95 else ("", (), [])
        )
        sight = Sight(names, outer)
        grouping = self._grouping(sight, place)
        window = not grouping.is_grouped and (
            self.rng.random() < 0.12 * self.busy
            or (self.aimed and (self.focus[0] in WINDOWED or self.focus[1] == "window"))
        )
        before, self.named_window = (
            self.named_window,
            (window and self.rng.random() < 0.4) or self.within == (place, "WINDOW"),
        )
        shown = (
            Sight(grouping.names, outer, inside=names, aggregates=True)
            if grouping.is_grouped
            else replace(sight, windows=window)
        )
        items, grouping = self._items(types, shown, grouping, place)
        given = tuple(
            Name(quoted(one.name), quoted(one.name), one.type) for one in items if one.name
        )
        after = replace(shown, aliases=given)
        listed = (
            f"SELECT {self._distinct(after, place)}"
            f"{', '.join(one.text for one in items if one.text)}"
        )
        text = (
            f"{source[1:]} {listed}"
            if source and not self.postgres and self.rng.random() < 0.01
            else f"{listed}{source}"
        )  # DuckDB takes FROM first
        text += self._where(
            replace(sight, aliases=() if self.postgres or self.rng.random() < 0.7 else given),
            guards,
            place,
        )
        text += grouping.text + self._kept(after, grouping, place)
        late = (
            shown.aggregates
            or self.rng.random() < 0.04
            or (self.aimed and self.focus[1] == "aggregate")
        )
        text += self._last(
            replace(after, aggregates=late, inside=names),
            [str(at + 1) for at in range(len(items))],
            place,
        )
        self.named_window = before
        return text, [(one.name, one.type) for one in items]

    def _items(
        self, types: Sequence[str], shown: Sight, grouping: Grouping, place: str
    ) -> tuple[list[Item], Grouping]:
        """The SELECT list; and GROUP BY as it is then, because a key may be named by its alias
        or its number.
        """
        if (
            not grouping.is_grouped
            and shown.names
            and place in STARRED
            and self.rng.random() < 0.05
        ):
            self.kinds["SELECT", "star"] += 1
            alias = shown.names[0].full[: -len(shown.names[0].bare) - 1]
            chosen = (
                [one for one in shown.names if one.full == f"{alias}.{one.bare}"]
                if self.rng.random() < 0.5
                else list(shown.names)
            )
            star = "*" if len(chosen) == len(shown.names) else f"{alias}.*"
            return [
                Item("" if at else star, one.bare.strip('"'), one.type)
                for at, one in enumerate(chosen)
            ], grouping
        items = [self._item(type_, shown, grouping) for type_ in types]
        if not (
            grouping.text.startswith(" GROUP BY ") and grouping.names
        ) or grouping.text.endswith(")"):
            return items, grouping
        key = grouping.names[0]
        by = (
            "alias"
            if self.aimed and self.focus == ("GROUP BY", "alias")
            else self.rng.choice(("", "", "", "", "", "", "alias", "number of a column"))
        )
        if by:
            self.kinds["GROUP BY", by] += 1
            name = self._column_name()
            items[0] = Item(f"{key.full} AS {quoted(name)}", name, key.type)
            grouping = replace(
                grouping,
                text=grouping.text.replace(
                    f" GROUP BY {key.full}",
                    f" GROUP BY {quoted(name) if by == 'alias' else '1'}",
                    1,
                ),
            )
        return items, grouping

    def _item(self, type_: str, sight: Sight, grouping: Grouping) -> Item:
        """An item of the SELECT list."""
        value = self.value(type_, sight, "SELECT")
        if grouping.is_grouped and self.rng.random() < 0.4:
            value = next((one.full for one in grouping.names if one.type == type_), value)
        name = self._column_name() if self.rng.random() < 0.95 else ""
        return Item(f"{value} AS {quoted(name)}", name, type_) if name else Item(value, "", type_)

    def _distinct(self, sight: Sight, place: str) -> str:
        if self._has(0.05, place, "DISTINCT ON"):
            late = replace(
                sight,
                aggregates=sight.aggregates or self.focus == ("DISTINCT ON", "aggregate"),
                inside=sight.inside or sight.names,
            )
            return f"DISTINCT ON ({self.value(self.free('DISTINCT ON'), late, 'DISTINCT ON', 1)}) "
        return "DISTINCT " if self._has(0.2, place, "DISTINCT") else ""

    def _where(self, sight: Sight, guards: Sequence[str], place: str) -> str:
        conditions = list(guards)
        pairs = [
            (one.full, other.full)
            for one in sight.names
            for other in sight.outer
            if one.type == other.type and one.full != other.full
        ]
        if (
            pairs and self.rng.random() < 0.5
        ):  # what is not about the row outside tells no rows apart
            self.kinds["WHERE", "outer column"] += 1
            conditions.append(" = ".join(self.rng.choice(pairs)))
        if self._has(0.5, place, "WHERE"):
            conditions.append(self.value(BOOLEAN, sight, "WHERE"))
        elif self.rng.random() < 0.04:
            self.kinds["WHERE", "always false"] += 1
            conditions.append("1 = 0")
        if not conditions:
            return ""
        self.rng.shuffle(conditions)
        return " WHERE " + " AND ".join(conditions)

    def _grouping(self, sight: Sight, place: str) -> Grouping:
        if self._has(0.15, place, "GROUP BY"):
            keys = self._keys(sight, "GROUP BY")
            return Grouping(f" GROUP BY {', '.join(key.full for key in keys)}", keys, True)
        if self._has(0.04, place, "GROUPING SETS"):
            keys = self._keys(sight, "GROUPING SETS")
            listed = ", ".join(f"({key.full})" for key in keys)
            written = self.rng.choice(
                (
                    f"GROUPING SETS ({listed}, ())",
                    f"ROLLUP ({listed})",
                    f"CUBE ({listed})",
                    f"GROUPING SETS ({listed})",
                )
            )
            return Grouping(f" GROUP BY {written}", keys, True)
        if self._has(0.03, place, "GROUP BY ()"):
            return Grouping(" GROUP BY ()", (), True)
        if not self.postgres and self._has(0.05, place, "GROUP BY ALL"):
            return Grouping(" GROUP BY ALL", sight.names if self.rng.random() < 0.5 else (), True)
        about = self.focus[0] in AGGREGATED or (
            self.focus[1].startswith("aggregate") and self.focus[0] in ("SELECT", "HAVING")
        )
        return Grouping(
            "",
            (),
            (about and self.aimed)
            or self.within == (place, "HAVING")
            or self._has(0.12, place, "aggregates"),
        )

    def _keys(self, sight: Sight, at: str) -> Names:
        found = []
        for _ in range(self.rng.choice((1, 1, 2))):
            type_ = self.free(at)
            text = self.value(type_, sight, at)
            found.append(Name(text, text, type_))
        return tuple(found)

    def _kept(self, sight: Sight, grouping: Grouping, place: str) -> str:
        """HAVING, WINDOW and QUALIFY."""
        text = ""
        if grouping.is_grouped and self._has(0.35, place, "HAVING"):
            text += f" HAVING {self.value(BOOLEAN, sight, 'HAVING')}"
        if self.named_window:
            self.places[place, "WINDOW"] += 1
            text += f" WINDOW w AS ({self.window_parts(replace(sight, windows=False, aliases=()))})"
        if not self.postgres and self._has(0.3 if sight.windows else 0.03, place, "QUALIFY"):
            late = replace(sight, windows=True)
            some = self.value(BOOLEAN, late, "QUALIFY")
            text += (
                " QUALIFY "
                f"{some if ' OVER ' in some else f'{self.window(INTEGER, late)} >= 1 AND {some}'}"
            )
        return text

    def _last(self, sight: Sight, numbers: Sequence[str], place: str) -> str:
        """ORDER BY, LIMIT and OFFSET."""
        text = ""
        if self._has(0.3 if not self.places[place, "DISTINCT ON"] else 4.0, place, "ORDER BY"):
            way = self.rng.choice(("", "", " DESC", " NULLS FIRST"))
            text += (
                f" ORDER BY {self._order_key(sight, numbers)}{way}"
                if self.postgres or self.aimed or self.rng.random() < 0.95
                else " ORDER BY ALL"
            )
            if self.rng.random() < 0.4 and not text.endswith(" ALL"):
                text += f", {self.rng.choice(numbers)}"
        outer = Sight(outer=sight.outer)
        if self._has(0.4 if text else 0.06, place, "LIMIT"):
            text += (
                f" LIMIT {self._number(outer, 'LIMIT')}"
                if self.rng.random() < 0.95 or self.aimed
                else " FETCH FIRST 1 ROWS ONLY"
            )
        if self._has(0.12 if text else 0.02, place, "OFFSET"):
            text += f" OFFSET {self._number(outer, 'OFFSET')}"
        return text

    def _order_key(self, sight: Sight, numbers: Sequence[str]) -> str:
        if (self.rng.random() < 0.2 and self.focus[0] != "ORDER BY") or not (
            sight.names or sight.outer or sight.aliases
        ):
            self.kinds["ORDER BY", "number of a column"] += 1
            return self.rng.choice(numbers)
        return self.value(self.free("ORDER BY"), sight, "ORDER BY")

    def _number(self, sight: Sight, at: str) -> str:
        if self.rng.random() < 0.6 and self.focus[0] != at:
            self.kinds[at, "constant"] += 1
            return self.rng.choice(("0", "1", "1", "2"))
        return f"({self.value(INTEGER, sight, at)})"

    # FROM

    def _from(self, outer: Names, place: str) -> tuple[str, Names, list[str]]:
        """FROM, what it names, and the conditions that keep away from most rows."""
        text, names, guards = self._source(outer, place)
        wanted = (
            "LATERAL" in self.within
            or (self.aimed and self.focus[0] == "ON")
            or (self.within[0] == place and self.within[1] in JOINS)
        )
        for _ in range(
            max(
                wanted,
                self.rng.choice((0, 1, 1, 2))
                if self.rng.random() < self.busy / (1 + self.level)
                else 0,
            )
        ):
            text, names, guards = self._joined(text, names, guards, outer, place)
        return f" FROM {text}", names, guards

    def _joined(
        self, text: str, names: Names, guards: list[str], outer: Names, place: str
    ) -> tuple[str, Names, list[str]]:
        word = self.rng.choice(JOINS[:-2] if self.postgres else JOINS)
        if self.aimed and self.focus[0] == "ON":
            word = self.rng.choice(("JOIN", "LEFT JOIN", "FULL JOIN"))
        if self.within[0] == place and self.within[1] in JOINS and not self.places[self.within]:
            word = self.within[1]
        beside = (
            names + outer
            if word in (",", "CROSS JOIN", "JOIN", "LEFT JOIN")
            and (self.rng.random() < 0.3 or self.within[0] == "LATERAL")
            else None
        )
        other, more, others = self._source(outer, place, beside)
        if any(one.full == two.full for one in names for two in more):
            other, more, others = self._source(outer, place, beside)
        self.places[place, word if word != "," else "CROSS JOIN"] += 1
        if word in (",", "CROSS JOIN"):
            return (
                f"{text}{word if word == ',' else ' CROSS JOIN'} {other}",
                names + more,
                guards + others,
            )
        shared = sorted({one.bare for one in names} & {one.bare for one in more})
        if word == "USING" and shared:
            self.kinds["USING", "column"] += 1
            return (
                (
                    f"{text} {self.rng.choice(('', '', 'LEFT ', 'FULL '))}JOIN {other} USING "
                    f"({self.rng.choice(shared)})"
                ),
                names + more,
                guards + others,
            )
        if word == "NATURAL JOIN" and shared:
            return f"{text} NATURAL JOIN {other}", names + more, guards + others
        word = "JOIN" if word in ("USING", "NATURAL JOIN") else word
        on = self.value(BOOLEAN, Sight(names + more, outer), "ON")
        if word in ("SEMI JOIN", "ANTI JOIN"):
            return f"{text} {word} {other} ON {' AND '.join([on, *others])}", names, guards
        if self.rng.random() < 0.4:
            return f"{text} {word} {other} ON {' AND '.join([on, *others])}", names + more, guards
        return f"{text} {word} {other} ON {on}", names + more, guards + others

    def _source(
        self, outer: Names, place: str, beside: Names | None = None
    ) -> tuple[str, Names, list[str]]:
        """A table, a query or VALUES; `beside` is what a LATERAL one may name."""
        kind = self.rng.random()
        if self.ctes and kind < 0.5:
            name = self.rng.choice(list(self.ctes))
            return self._aliased(quoted(name), name, self.ctes[name])
        lateral = beside is not None and (
            self._first("LATERAL")
            or (self.within == (place, "LATERAL") and not self.places[self.within])
        )
        wanted = lateral or (beside is None and self._first("derived table"))
        if (kind > 1 - 0.2 * self.busy and self.left > 0 and self.level < 3) or wanted:
            types = [self.some_type() for _ in range(self.rng.choice((1, 2)))]
            where = "LATERAL" if beside is not None else "derived table"
            self.left -= 1
            self.places[place, where] += 1
            if self.rng.random() < 0.15 and not wanted:
                return self._values_source(types, beside or outer)
            self.level += 1
            text, columns = self._select(types, beside if beside is not None else outer, where)
            self.level -= 1
            return self._aliased(
                f"{'LATERAL ' if beside is not None else ''}({text})", None, columns
            )
        fresh = [table for table in self.schema.tables if table.name not in self.used]
        table = self.rng.choice(fresh if fresh and self.rng.random() < 0.85 else self.schema.tables)
        self.used.add(table.name)
        return self._table(table)

    def _values_source(self, types: Sequence[str], outer: Names) -> tuple[str, Names, list[str]]:
        """VALUES as a table; its columns have names of the engine's where they are given none."""
        text, alias = self._rows(types, outer), self._alias()
        if self.rng.random() < 0.2:
            names = [f"column{at + 1}" if self.postgres else f"col{at}" for at in range(len(types))]
            return (
                f"({text}) AS {quoted(alias)}",
                _named(alias, list(zip(names, types, strict=True))),
                [],
            )
        names = [self._column_name() for _ in types]
        return (
            f"({text}) AS {quoted(alias)}({', '.join(map(quoted, names))})",
            _named(alias, list(zip(names, types, strict=True))),
            [],
        )

    def _table(self, table: Table) -> tuple[str, Names, list[str]]:
        columns = [(column.name, column.type) for column in table.columns]
        guard = self.guards.get(table.name)
        if guard and self.rng.random() < 0.3:
            return self._aliased(
                f"(SELECT * FROM {quoted(table.name)} WHERE {guard})", None, columns
            )
        text, names, _ = self._aliased(quoted(table.name), table.name, columns)
        if not guard or self.rng.random() < 0.05:
            return text, names, []
        column = next(name for name in names if name.bare == names[0].bare)
        alias = (
            column.full.rpartition(".")[0]
            if '"' not in column.full
            else column.full[: -len(column.bare) - 1]
        )
        return text, names, [f"{alias}.{guard}"]

    def _aliased(
        self, text: str, name: str | None, columns: list[tuple[str, str]]
    ) -> tuple[str, Names, list[str]]:
        """A source under an alias; a table may go without."""
        kind = self.rng.random()
        if name is not None and kind < 0.4:
            if kind < 0.03 and not self.postgres and name not in self.ctes:  # by its schema
                return f"main.{text}", _named(name, columns, "main."), []
            return text, _named(name, columns), []
        alias = self._alias()
        return f"{text} AS {quoted(alias)}", _named(alias, columns), []

    # Names

    def _alias(self) -> str:
        self.aliases += 1
        return (
            self._shadowing(f"t{self.aliases}") if self.rng.random() < 0.15 else f"t{self.aliases}"
        )

    def _shadowing(self, fresh: str) -> str:
        """A name that means something else already, as it is or nearly."""
        names = [table.name for table in self.schema.tables] + [
            column.name for table in self.schema.tables for column in table.columns
        ]
        name = self.rng.choice([*names, *names, fresh, fresh])
        return self.rng.choice(
            (*[name] * 12, name.upper(), f"a.{name}")
        )  # what differs so little is mostly refused

    def _column_name(self) -> str:
        if self.rng.random() < 0.5:
            self.aliases += 1
            return f"c{self.aliases}"
        return self._shadowing("c")


def _named(alias: str, columns: Sequence[tuple[str, str]], schema: str = "") -> Names:
    return tuple(
        Name(f"{schema}{quoted(alias)}.{quoted(name)}", quoted(name), type_)
        for name, type_ in columns
        if name
    )


def writer(seed: str, schema: Schema, *, postgres: bool = False) -> Queries:
    """Whoever writes one statement from a seed."""
    rng = random.Random(seed)
    constants = {INTEGER: ["0", "1", "1", "2"], TEXT: ["'x'", "'1'"]}
    for table in schema.tables:
        for column in table.columns:
            constants[column.type] += [
                literal(value) for value in column.values if value is not None
            ]
    found = Queries(
        rng,
        constants,
        postgres,
        rng.choice((0, 0, 0, 0.5)),
        left=rng.choice((1, 2, 2, 3, 4)),
        schema=schema,
    )
    found.busy = rng.choice((0.05, 0.1, 0.1, 0.2, 0.3, 0.6))
    found.aim = rng.choice((0, 0, 0, 1))
    # What was read wrongly were mostly subqueries, aliases and aggregates: they come more often.
    found.focus = (
        rng.choice(ANYWHERE),
        rng.choice((*TRUTHS, *VALUES, *(*LEADS.values(), "alias", "aggregate") * 4)),
    )
    if rng.random() < 0.6:
        found.within = (
            rng.choice((*PLACES, *("statement",) * 7)),
            rng.choice(CLAUSES),
        )  # two clauses of one query, often
        found.also = rng.choice(("", *CLAUSES[:14]))
        if found.within[0] in LEADS and rng.random() < 0.5:
            found.focus = found.focus[0], LEADS[found.within[0]]
        elif found.within[0] in LEADS:  # and what the statement is about stands in that query
            found.aim, found.lead = 1, LEADS[found.within[0]]
    for table in schema.tables:
        if rng.random() < (
            0.4 if len(table.columns) > 1 else 0.15
        ):  # of a table with one column little is left
            column = rng.choice(table.columns)
            found.guards[table.name] = is_equal(column.name, rng.choice(column.values))
    return found
