"""A query as a small picture: its subgoals as boxes, lines where columns must be equal, and the
subgoals that a verdict is about.

The picture is SVG by itself: no script, nothing fetched. Its own colours are those of a white page;
a page with `style.css` gives them its theme by the classes of the elements.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from tacit.families.queries.logic.attribute_independent import (
    Role,
    split_attributes,
    split_relations,
)
from tacit.families.queries.query import Atom, Conjunctive, Constant, Query, Relations
from tacit.families.queries.question import QueryQuestion
from tacit.families.queries.understanding import QueryUnderstanding
from tacit.families.words import plural
from tacit.report.charts.portrait_chart import (
    EXPOSED,
    FONT,
    INK,
    LETTER,
    MUTED,
    SHELTERED,
    SIZE,
    Chart,
    shortened,
)
from tacit.report.charts.query_layout import (
    DOT,
    HEAD,
    LINE,
    MOST_COLUMNS,
    PAD,
    Box,
    GraphLayout,
    Join,
    layout,
    more_columns,
)
from tacit.report.charts.query_marks import MATTERS, Marks, critical, paired

MOST_SUBGOALS = 12
MOST_CONDITIONS = 5
MOST_VIEWS = 4  # pictures of views beside that of the secret
LETTERS = 56  # of a line below the boxes
LEFT, EDGE = 3, 14  # around the picture: marks stand out of their boxes
ROW = 24
BOX, BOX_LINE, MARKED = "#ffffff", "#b8c2cc", "#fdece4"
HOW = (
    "Boxes are the tables as the query uses them. Lines join columns that must be "
    "equal; ● is in the answer; any: nothing is asked of the column."
)


@dataclass(frozen=True, slots=True)
class QueryDrawing:
    """A query that is to be drawn: its parts over some relations, whether it is the query
    itself, and the marks of its subgoals.
    """

    role: str
    name: str
    parts: tuple[Conjunctive, ...]
    relations: Relations
    exact: bool = True
    marks: Marks = ()  # type: ignore[assignment]


# -- of a verdict ----------------------------------------------------------------------------------


def graphs(question: QueryQuestion, facts: Mapping[str, Any], model: str = "") -> tuple[Chart, ...]:
    """The secret and the views of a question, each as a picture;
    `facts` is what a witness or certificate says.

    Of several views the one is drawn that tells, or else those that
    share a subgoal with the secret.
    """
    pairs = [pair for pair in facts.get("pairs", ()) if isinstance(pair, Mapping)]
    views = [one for one in question.views if one.name == facts.get("view", one.name)] or list(
        question.views
    )
    shared = [one for one in views if any(pair["of"] == one.name for pair in pairs)] or views
    secret = drawn("secret", question.secret, question.relations, model)
    found = [
        with_marks(
            secret, facts, "critical_tuple", "instance_secret", [pair["secret"] for pair in pairs]
        )
    ]
    key = "critical_tuple_of_view" if "critical_tuple_of_view" in facts else "critical_tuple"
    for one in shared[:MOST_VIEWS]:
        view = drawn("view", one, question.relations, model)
        found.append(
            with_marks(
                view,
                facts,
                key,
                "instance_view",
                [pair["view"] if pair["of"] == one.name else "" for pair in pairs],
            )
        )
    return tuple(chart(one, how=not number) for number, one in enumerate(found))


def drawn(
    role: str, reading: QueryUnderstanding, relations: Relations, model: str = ""
) -> QueryDrawing:
    """A query as it was judged: itself or its supports;
    over one relation for each attribute where these are independent.
    """
    queries: Sequence[Query] = [reading.exact] if reading.exact is not None else reading.supports
    if model == "attribute-independent":
        side: Role = "secret" if role == "secret" else "view"
        queries, relations = (
            [split_attributes(query, relations, role=side)[0] for query in queries],
            split_relations(relations),
        )
    parts = [part for query in queries for part in query.parts]
    # What a support would show is not what the query shows.
    shown = parts if reading.is_exact else [replace(part, head=()) for part in parts]
    return QueryDrawing(role, reading.name, tuple(shown), relations, reading.is_exact)


def with_marks(
    query: QueryDrawing, facts: Mapping[str, Any], row: str, instance: str, pairs: Sequence[str]
) -> QueryDrawing:
    """A query with the subgoals marked that the evidence is about."""
    if row in facts:
        marks = critical(query.parts, query.relations, facts[row], facts.get(instance, ()))
    else:
        marks = paired(query.parts, pairs)
    return replace(query, marks=marks)


def chart(query: QueryDrawing, *, how: bool = True) -> Chart:
    """A query as a picture, with what it shows in words; `how`: also how to read such a picture."""
    kept = kept_subgoals(query)
    return Chart(title(query), note(query, sum(map(len, kept)), how=how), svg(query, kept))


def title(query: QueryDrawing) -> str:
    """What the picture shows, in a sentence."""
    many = sum(len(part.atoms) for part in query.parts)
    who = f"{query.role} {query.name}"
    matter = sum(mark == MATTERS for mark in dict(query.marks).values())
    if matter:
        return (
            f"{who}: {'the marked box' if matter == 1 else 'each marked box'} can be "
            "the row that matters"
        )
    if query.marks:
        return (
            f"{who}: {len(query.marks)} of {plural('box', many)} could be a row of the other query"
        )
    return f"{who}: {plural('box', many)}" if many else f"{who}: it depends on no table"


def note(query: QueryDrawing, shown: int, *, how: bool = True) -> str:
    """How to read the picture, and what is not in it."""
    many = sum(len(part.atoms) for part in query.parts)
    said = [HOW] if how else []
    if how and MATTERS in dict(query.marks).values():
        said.append("+ marks a box that the row marked + in the tables can be.")
    elif how and query.marks:
        said.append("Numbers mark boxes that could be one row with the box of the same number.")
    if not query.exact:
        said.append(
            "The query is not read exactly: drawn are its supports, which have all rows that it "
            "depends on."
        )
    elif len(query.parts) > 1:
        said.append(f"Its answer has the rows of {len(query.parts)} queries, one below the other.")
    if shown < many:
        said.append(
            f"{shown} of its {many} boxes are drawn: the marked ones and those nearest to them, "
            "or the first."
        )
    return " ".join(said)


def kept_subgoals(query: QueryDrawing) -> list[list[int]]:
    """The subgoals that are drawn, part by part:
    all, or of many the marked ones and those that hang together with them.
    """
    every = [
        (number, place)
        for number, part in enumerate(query.parts)
        for place in range(len(part.atoms))
    ]
    if len(every) > MOST_SUBGOALS:
        every = nearest(query, every)[:MOST_SUBGOALS]
    return [
        sorted(place for at, place in every if at == number) for number in range(len(query.parts))
    ]


def nearest(query: QueryDrawing, every: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Subgoals in the order in which joins lead to them from the marked ones, or from the first."""
    order = [one for one in every if one in dict(query.marks)] or list(every[:1])
    for number, place in order:
        part = query.parts[number]
        terms = set(part.atoms[place].terms)
        order += [
            (number, other)
            for other, atom in enumerate(part.atoms)
            if (number, other) not in order
            and any(term in terms and not isinstance(term, Constant) for term in atom.terms)
        ]
    return [*order, *(one for one in every if one not in order)]


# -- the picture -----------------------------------------------------------------------------------


def svg(query: QueryDrawing, kept: Sequence[Sequence[int]]) -> str:
    """The picture, parts one below the other."""
    pieces: list[str] = []
    top, width = 2, 0
    for number, (part, chosen) in enumerate(zip(query.parts, kept, strict=True)):
        if number:
            word = "or" if query.exact else "and also"
            pieces.append(text(LEFT, top + ROW // 2, word, "muted", weight=600))
            top += ROW + 6
        for line in (head_text(part, query.exact), *condition_texts(part)):
            pieces.append(
                text(LEFT, top + ROW // 2, line, "ink" if line.startswith("answer") else "muted")
            )
            width = max(width, LETTER * len(line))
            top += ROW
        top += 10 if chosen else 0
        placed = layout(part, query.relations, chosen)
        pieces += picture(
            placed,
            {place: mark for (at, place), mark in dict(query.marks).items() if at == number},
            top,
        )
        top += placed.height + (EDGE if chosen else 0)
        width = max(width, placed.width)
    if not query.parts:
        pieces.append(text(LEFT, top + ROW // 2, "no table", "muted"))
        top, width = top + ROW, LETTER * len("no table")
    wide, high = width + LEFT + EDGE, top + 4
    label = escape(f"{title(query)}. {describe_graph(query, kept)}")
    root = (
        f'<svg role="img" class="query-graph" width="{wide}" height="{high}" viewBox="0 0 '
        f'{wide} {high}" style="min-width: {wide * 7 // 10}px; max-width: {wide}px" '
        f'aria-label="{label}"'
    )
    return (
        f'{root} font-family="{escape(FONT)}" '
        f'font-size="{SIZE}"><title>{escape(title(query))}</title>{"".join(pieces)}</svg>'
    )


def picture(placed: GraphLayout, marks: Mapping[int, str], top: int) -> Iterable[str]:
    """Lines first, so that boxes stand upon them."""
    yield f'<g transform="translate({LEFT} {top})">'
    yield from map(line, placed.joins)
    for box in placed.boxes:
        yield from subgoal(box, marks.get(box.number, ""))
    yield "</g>"


def line(join: Join) -> str:
    """A curve in the gap behind a layer."""
    (x, y), (right, below) = join.start, join.end
    reach = 40 if join.back else (right - x) // 2
    far = right + reach if join.back else right - reach
    dots = "".join(
        f'<circle class="graph-dot" cx="{at}" cy="{height}" r="3.5" fill="{SHELTERED}"/>'
        for at, height in (join.start, join.end)
    )
    return (
        f'<path class="graph-line" d="M{x} {y}C{x + reach} {y} {far} {below} {right} {below}" '
        f'fill="none" stroke="{SHELTERED}" stroke-width="2"/>{dots}'
    )


def subgoal(box: Box, mark: str) -> Iterable[str]:
    """A box with its table, its columns and its mark."""
    matters = mark == MATTERS
    kind = "graph-matters" if matters else "graph-pair" if mark else "graph-box"
    stroke = EXPOSED if matters else SHELTERED if mark else BOX_LINE
    dashes = ' stroke-dasharray="6 4"' if mark and not matters else ""
    fill = MARKED if matters else BOX
    yield (
        f'<rect class="{kind}" x="{box.x}" y="{box.y}" width="{box.width}" '
        f'height="{box.height}" rx="7" fill="{fill}" stroke="{stroke}" '
        f'stroke-width="{3 if mark else 1.5}"{dashes}/>'
    )
    yield text(box.x + PAD, box.y + HEAD // 2, box.table, "ink", weight=700)
    for cell in box.cells:
        y = box.at(cell.place)
        if cell.shown:
            yield f'<circle class="graph-ink" cx="{box.x + PAD + 4}" cy="{y}" r="4" fill="{INK}"/>'
        yield text(box.x + PAD + DOT, y, cell.column, "muted")
        yield text(
            box.x + box.width - PAD,
            y,
            cell.value or "any",
            "ink" if cell.value else "muted",
            weight=600 if cell.value else 400,
            end=True,
        )
    if box.left_out:
        yield text(
            box.x + PAD + DOT,
            box.y + HEAD + LINE * len(box.cells) + LINE // 2,
            more_columns(box.left_out),
            "muted",
        )
    if mark:
        yield badge(box, mark, stroke, matters)


def badge(box: Box, mark: str, colour: str, matters: bool) -> str:
    """The mark of a box, on its upper right corner."""
    shown = shortened(mark, 8)
    wide = max(22, LETTER * len(shown) + 10)
    x, kind = box.x + box.width - wide + 8, "graph-badge" if matters else "graph-badge graph-number"
    return (
        f'<rect class="{kind}" x="{x}" y="{box.y - 11}" width="{wide}" height="22" rx="11" '
        f'fill="{colour}"/>'
        f'<text class="graph-on" x="{x + wide / 2:g}" y="{box.y}" dy=".35em" text-anchor="middle" '
        f'font-weight="700" fill="#ffffff">{escape(shown)}</text>'
    )


def text(x: int, y: int, words: str, kind: str, *, weight: int = 400, end: bool = False) -> str:
    """A text whose middle is at a height."""
    anchor = ' text-anchor="end"' if end else ""
    bold = f' font-weight="{weight}"' if weight != 400 else ""
    return (
        f'<text class="graph-{kind}" x="{x}" y="{y}" dy=".35em"{anchor}{bold} '
        f'fill="{INK if kind == "ink" else MUTED}">{escape(words)}</text>'
    )


# -- words -----------------------------------------------------------------------------------------


def head_text(part: Conjunctive, exact: bool) -> str:
    """What the answer has.

    >>> from tacit.families.queries.query import Variable
    >>> (
    ...     head_text(Conjunctive((Variable("name"), Constant(1)), ()), True),
    ...     head_text(Conjunctive((), ()), True),
    ... )
    ('answer: name, 1', 'answer: yes or no')
    """
    if not exact:
        return "rows that it depends on"
    return shortened(f"answer: {', '.join(map(str, part.head)) or 'yes or no'}", LETTERS)


def condition_texts(part: Conjunctive) -> list[str]:
    """What is asked beside the subgoals."""
    shown = [shortened(f"where {one}", LETTERS) for one in part.comparisons[:MOST_CONDITIONS]]
    left = len(part.comparisons) - len(shown)
    return [*shown, *([f"and {plural('more condition', left)}"] if left else [])]


def describe_graph(query: QueryDrawing, kept: Sequence[Sequence[int]]) -> str:
    """The picture in words, for who does not see it."""
    found = []
    for number, (part, chosen) in enumerate(zip(query.parts, kept, strict=True)):
        said = [head_text(part, query.exact)]
        for place in chosen:
            mark = dict(query.marks).get((number, place))
            said.append(
                f"{atom_text(part.atoms[place], query.relations)}"
                f"{f', marked {mark}' if mark else ''}"
            )
        found.append("; ".join([*said, *condition_texts(part)]))
    left = sum(len(part.atoms) for part in query.parts) - sum(map(len, kept))
    return " or ".join(found) + (f"; and {plural('more box', left)}" if left else "") + "."


def atom_text(atom: Atom, relations: Relations) -> str:
    """A subgoal in a line; of a wide table only the constants.

    >>> from tacit.families.queries.query import Relation, Variable
    >>> wide = Relation("R", tuple("abcdefgh"))
    >>> atom_text(Atom("R", (Constant("x"), *map(Variable, "bcdefgh"))), {"R": wide})
    "R (a 'x', and 7 more columns)"
    """
    columns = relations[atom.relation].columns
    if len(columns) <= MOST_COLUMNS:
        return str(atom)
    fixed = [
        f"{column} {term}"
        for column, term in zip(columns, atom.terms, strict=True)
        if isinstance(term, Constant)
    ]
    return f"{atom.relation} ({', '.join([*fixed, more_columns(len(columns) - len(fixed))])})"
