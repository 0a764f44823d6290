"""Shapes over codes: each combination of values as a few integers, counted, added up, or
replaced by labels.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from sqlglot import exp

from tacit.engines.sql.shapes import column, distinct_rows, grouped, order_by, table_of


def coded_counts(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Count rows by combination, with every combination packed into a few integers.

    A value's code is its position in `dictionary`; NULL has the last code, `sizes[column] - 1`.
    Each list of columns in `keys` becomes one integer in mixed radix (the caller sees to it that
    it fits into 63 bits). So a single GROUP BY over integers does the work, and what comes back
    are numbers, sorted. With `person` columns the person's code is one more number; rows without
    a person are left out.
    """
    outputs = [f"k{i}" for i in range(len(keys))] + (["person"] if person else [])
    return grouped(
        coded_rows(table, sizes, keys=keys, person=person, collations=collations), outputs
    )


def coded_rows(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    carried: Sequence[str] = (),
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Every row with its packed combination k0, k1, ..., its person, and the carried columns as
    c0, c1, ...
    """
    collations = collations or {}
    names = [name for key in keys for name in key]
    alias = {name: f"d{i}" for i, name in enumerate(names)}
    query = exp.select(
        *(exp.alias_(packed(key, sizes, alias), f"k{i}") for i, key in enumerate(keys)),
        *(exp.alias_(column(name, "t"), f"c{i}") for i, name in enumerate(carried)),
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name in names:
        query = query.join(
            numbered(table, [name], collations).subquery(alias[name], copy=False),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
            copy=False,
        )
    if person:
        people = numbered(table, person, collations).subquery("p")
        query = query.join(people, on=exp.and_(*same_person(person)), join_type="inner").select(
            exp.alias_(exp.column("code", table="p"), "person")
        )
    return query


def levelled_rows(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    levels: Mapping[str, tuple[str, int]],
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Every row with its labels, packed into k0, k1, ... like values in `coded_rows`.

    `levels[column]` names a relation (code, number) with the number of the label of each code, and
    has that of a missing value. Other columns are as they are, and columns of one label (`sizes`)
    are not looked at.
    """
    names = [name for key in keys for name in key if sizes[name] > 1]
    alias = {name: f"d{i}" for i, name in enumerate(names)}
    absent = {name: levels[name][1] if name in levels else sizes[name] - 1 for name in names}
    query = exp.select(
        *(
            exp.alias_(
                packed([name for name in key if sizes[name] > 1], sizes, alias, absent), f"k{i}"
            )
            for i, key in enumerate(keys)
        )
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name in names:
        codes = numbered(table, [name], collations or {})
        if name in levels:
            codes = renumbered(codes, levels[name][0])
        query = query.join(
            codes.subquery(alias[name], copy=False),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
            copy=False,
        )
    return query


def renumbered(codes: exp.Select, relation: str) -> exp.Select:
    """A dictionary with its codes replaced by the numbers that a relation has for them."""
    return (
        exp.select(exp.column("v0", table="n"), exp.alias_(exp.column("number", table="m"), "code"))
        .from_(codes.subquery("n", copy=False))
        .join(
            exp.alias_(table_of(relation), "m", table=True),
            on=exp.column("code", table="m").eq(exp.column("code", table="n")),
        )
    )


def first_coded(
    table: str,
    columns: Sequence[str],
    among: Mapping[str, Sequence[int]],
    sizes: Mapping[str, int],
    *,
    collations: Mapping[str, str] | None = None,
    limit: int,
) -> exp.Select:
    """The first different combinations of some columns whose codes are among the given ones.

    By codes and not by values, which not every engine compares with what it wrote (floats).
    """
    collations = collations or {}
    query = (
        exp.select(*(exp.alias_(column(name, "t"), name, quoted=True) for name in columns))
        .from_(exp.alias_(table_of(table), "t", table=True))
        .distinct()
    )
    for at, (name, codes) in enumerate(among.items()):
        known = [exp.Literal.number(code) for code in codes if code < sizes[name] - 1]
        absent = column(name, "t").is_(exp.null())
        if not known:
            query = query.where(absent)
            continue
        chosen = (
            exp.select("v0", "code")
            .from_(numbered(table, [name], collations).subquery("n", copy=False))
            .where(exp.column("code").isin(*known))
        )
        some_absent = len(known) < len(codes)
        query = query.join(
            chosen.subquery(f"d{at}", copy=False),
            on=column(name, "t").eq(exp.column("v0", table=f"d{at}")),
            join_type="left" if some_absent else "inner",
        )
        if some_absent:
            found = exp.column("code", table=f"d{at}").is_(exp.null()).not_()
            query = query.where(exp.or_(found, absent))
    return (
        exp.select(*(column(name) for name in columns))
        .from_(query.subquery("s", copy=False))
        .order_by(*order_by(columns, collations))
        .limit(limit)
    )


def coded_sums(
    table: str,
    sizes: Mapping[str, int],
    *,
    keys: Sequence[Sequence[str]],
    amount: str | None = None,
    between: tuple[int, int] | None = None,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """Add up a column of whole numbers by combination, packed as in `coded_counts`;
    without one, count rows.

    With `between`, only combinations whose first integer is from the one number to the other.
    """
    outputs = [f"k{i}" for i in range(len(keys))]
    rows = coded_rows(
        table, sizes, keys=keys, carried=[amount] if amount else [], collations=collations
    )
    many: exp.Expr = exp.Count(this=exp.Star())
    if amount:
        # Row by row first: DuckDB adds up BIGINT in wider integers, PostgreSQL in decimals.
        many = exp.cast(exp.Sum(this=exp.cast(exp.column("c0"), "BIGINT")), "BIGINT")
    query = exp.select(*(exp.column(name) for name in outputs), exp.alias_(many, "n")).from_(
        rows.subquery("c", copy=False), copy=False
    )
    if between is not None:
        low, high = (exp.Literal.number(number) for number in between)
        query = query.where(exp.Between(this=exp.column("k0"), low=low, high=high), copy=False)
    names = [exp.column(name) for name in outputs]
    return query.group_by(*names, copy=False).order_by(*(name.copy() for name in names), copy=False)


def numbered(table: str, columns: Sequence[str], collations: Mapping[str, str]) -> exp.Select:
    """The dictionary with its codes: v0, v1, ... and code."""
    rank = exp.Window(
        this=exp.RowNumber(), order=exp.Order(expressions=order_by(columns, collations))
    )
    code = exp.Sub(this=exp.cast(rank, "BIGINT"), expression=exp.Literal.number(1))
    return exp.select(
        *(exp.alias_(column(name), f"v{i}") for i, name in enumerate(columns)),
        exp.alias_(code, "code"),
    ).from_(known_rows(table, columns))


def known_rows(table: str, columns: Sequence[str]) -> exp.Subquery:
    """The distinct combinations without NULL, to select from."""
    known = exp.and_(*(column(name).is_(exp.null()).not_() for name in columns))
    return distinct_rows(table, columns).where(known).subquery("s")


def packed(
    key: Sequence[str],
    sizes: Mapping[str, int],
    alias: Mapping[str, str],
    absent: Mapping[str, int] | None = None,
) -> exp.Expression:
    """Codes in mixed radix, the first column the most significant. NULL has the code in `absent`,
    or the last one.
    """
    total: exp.Expression = exp.cast(exp.Literal.number(0), "BIGINT")
    for name in key:
        code = exp.Coalesce(
            this=exp.column("code", table=alias[name]),
            expressions=[exp.Literal.number((absent or {}).get(name, sizes[name] - 1))],
        )
        total = exp.Add(
            this=exp.Mul(this=exp.paren(total), expression=exp.Literal.number(sizes[name])),
            expression=code,
        )
    return total


def same_person(person: Sequence[str]) -> list[exp.Expression]:
    """The join of a row with its person."""
    return [column(name, "t").eq(exp.column(f"v{i}", table="p")) for i, name in enumerate(person)]


def recoded(
    table: str,
    columns: Sequence[str],
    *,
    labels: Mapping[str, str],
    missing: Mapping[str, tuple[str | None, int]],
    constants: Mapping[str, str] | None = None,
    as_is: Collection[str] = (),
    left_out: str | None = None,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """The rows of a table in random order, each value of some columns
    replaced by the label of its code.

    `labels[column]` names a relation (code, label, number) of the column's codes as in
    `dictionary`; `missing` has the label and the number of NULL. `constants` are columns with one
    label for all. Columns in `as_is` have numbers, and show their values. Rows are left out whose
    numbers, one for each column of `labels` in order, stand in the relation `left_out` (n0, n1,
    ...).

    >>> print(recoded("t", ["sex", "ill"], labels={}, missing={}, constants={"sex": "*"}).sql())
    SELECT '*' AS "sex", "t"."ill" AS "ill" FROM "t" AS t ORDER BY RAND()
    """
    alias = {name: f"d{i}" for i, name in enumerate(labels)}
    query = exp.select(
        *(
            exp.alias_(shown(name, alias, missing, constants or {}, as_is), name, quoted=True)
            for name in columns
        )
    ).from_(exp.alias_(table_of(table), "t", table=True))
    for name, relation in labels.items():
        query = query.join(
            labelled(table, name, relation, collations or {}).subquery(alias[name]),
            on=column(name, "t").eq(exp.column("v0", table=alias[name])),
            join_type="left",
        )
    if left_out is not None:
        numbers = (
            exp.Coalesce(
                this=exp.column("number", table=alias[name]),
                expressions=[exp.Literal.number(missing[name][1])],
            )
            for name in labels
        )
        same = [exp.column(f"n{i}", table="s").eq(number) for i, number in enumerate(numbers)]
        query = query.join(
            exp.alias_(table_of(left_out), "s", table=True), on=exp.and_(*same), join_type="left"
        )
        query = query.where(exp.column("n0", table="s").is_(exp.null()))
    return query.order_by(exp.Rand())


def shown(
    name: str,
    alias: Mapping[str, str],
    missing: Mapping[str, tuple[str | None, int]],
    constants: Mapping[str, str],
    as_is: Collection[str],
) -> exp.Expr:
    """What a recoded table shows in a column:
    one label for all, the value's label, or the value.
    """
    if name in constants:
        return exp.Literal.string(constants[name])
    if name not in alias or name in as_is:
        return column(name, "t")
    label = exp.column("label", table=alias[name])
    if missing[name][0] is None:
        return label
    absent = column(name, "t").is_(exp.null())
    return exp.Case().when(absent, exp.Literal.string(str(missing[name][0]))).else_(label)


def labelled(table: str, name: str, relation: str, collations: Mapping[str, str]) -> exp.Select:
    """A column's values v0 with the labels and the numbers that a relation has for their codes."""
    return (
        exp.select(
            exp.column("v0", table="n"),
            exp.column("label", table="m"),
            exp.column("number", table="m"),
        )
        .from_(numbered(table, [name], collations).subquery("n"))
        .join(
            exp.alias_(table_of(relation), "m", table=True),
            on=exp.column("code", table="m").eq(exp.column("code", table="n")),
        )
    )


def regrouped(
    table: str,
    columns: Sequence[str],
    *,
    sizes: Mapping[str, int],
    keys: Sequence[Sequence[str]],
    person: Sequence[str] = (),
    cells: str,
    groups: str,
    labels: Mapping[str, int],
    divided: bool,
    collations: Mapping[str, str] | None = None,
) -> exp.Select:
    """The rows of a table in random order, each with the labels of the
    group that its combination is in.

    `cells` names a relation (k0, k1, ..., person, number): the group of a combination, packed as in
    `coded_counts`; rows without one are left out. `groups` is (number, l0, l1, ...), and `labels`
    says which of them stands in which column. Where `divided`, the rows of a combination are dealt
    to several groups at random: `cells` then has `after` and `upto`, of the rows from 1 on.
    """
    parts = [*(f"k{i}" for i in range(len(keys))), *(["person"] if person else [])]
    carried = [name for name in columns if name not in labels]
    rows = coded_rows(
        table, sizes, keys=keys, person=person, carried=carried, collations=collations
    )
    same: list[exp.Expr] = [
        exp.column(part, table="s").eq(exp.column(part, table="r")) for part in parts
    ]
    if divided:
        rows = dealt(rows, parts)
        same += [
            exp.GT(this=exp.column("place", table="r"), expression=exp.column("after", table="s")),
            exp.LTE(this=exp.column("place", table="r"), expression=exp.column("upto", table="s")),
        ]
    place = {name: exp.column(f"c{i}", table="r") for i, name in enumerate(carried)}
    place |= {name: exp.column(f"l{i}", table="g") for name, i in labels.items()}
    return (
        exp.select(*(exp.alias_(place[name], name, quoted=True) for name in columns))
        .from_(rows.subquery("r"))
        .join(exp.alias_(table_of(cells), "s", table=True), on=exp.and_(*same))
        .join(
            exp.alias_(table_of(groups), "g", table=True),
            on=exp.column("number", table="g").eq(exp.column("number", table="s")),
        )
        .order_by(exp.Rand())
    )


def dealt(rows: exp.Select, parts: Sequence[str]) -> exp.Select:
    """Rows with their place, from 1 on, among those that are alike
    in some columns, drawn at random.
    """
    # The draw is a column of its own: DuckDB wants to sort a window by nothing that changes.
    drawn = exp.select(exp.Star(), exp.alias_(exp.Rand(), "draw")).from_(rows.subquery("a"))
    place = exp.Window(
        this=exp.RowNumber(),
        partition_by=[exp.column(part) for part in parts],
        order=exp.Order(expressions=[exp.column("draw")]),
    )
    return exp.select(exp.Star(), exp.alias_(place, "place")).from_(drawn.subquery("b"))
