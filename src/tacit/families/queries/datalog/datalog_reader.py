"""Datalog: rules such as S(n) :- P(i, n), D(i, 'cancer'), n != 'Ann',
read as unions of conjunctive queries.

Constants are quoted or numbers, bare words are variables, _ is a variable of its own; `;` or a new
line separates the rules of a union. A line that ends inside parentheses, after a comma, `:-` or a
comparison, or before a comma, goes on in the next one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from tacit.errors import QueryError, did_you_mean
from tacit.families.queries.kinds import Clash, family, family_of, fitted, number
from tacit.families.queries.query import (
    Atom,
    Comparison,
    Constant,
    Operator,
    Query,
    Relation,
    Relations,
    Term,
    Variable,
)
from tacit.families.queries.sql.bodies import Condition, Equal, NotNull, QueryBody, constrained
from tacit.families.queries.sql.result_rows import Algebra, ResultColumn, ResultRows
from tacit.families.queries.sql.supports import conjunctive
from tacit.families.queries.understanding import QueryText, QueryUnderstanding

TOKEN = re.compile(
    r"""
    (?P<space>[^\S\n]+|(?:\#|%)[^\n]*)
  | (?P<line>\n)
  | (?P<text>'(?:[^'\n]|'')*'|"(?:[^"\n]|"")*")
  | (?P<number>[+-]?(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d{1,3})?(?![\w.]))
  | (?P<parameter>\$\w*)
  | (?P<word>[^\W\d]\w*(?:\.[^\W\d]\w*)*)
  | (?P<sign>:-|->|<=|>=|!=|<>|[=<>(),;|])
    """,
    re.VERBOSE,
)
EXAMPLE = "S(name) :- P(id, name), D(id, 'cancer')"
Kind = Literal["line", "text", "number", "parameter", "word", "sign", "end"]


@dataclass(frozen=True, slots=True)
class DatalogToken:
    """A word, sign or constant, with its place in the text."""

    kind: Kind
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Placed:
    """A term, or an atom's relation, with its place."""

    term: Term
    start: int


@dataclass(frozen=True, slots=True)
class PlacedAtom:
    """An atom as written."""

    relation: str
    terms: tuple[Placed, ...]
    start: int


@dataclass(frozen=True, slots=True)
class PlacedComparison:
    """A comparison as written: =, !=, <, <=, with > and >= turned round."""

    left: Placed
    operator: Literal["=", "!=", "<", "<="]
    right: Placed
    start: int


@dataclass(frozen=True, slots=True)
class DatalogRule:
    """One rule as written."""

    head: PlacedAtom
    atoms: tuple[PlacedAtom, ...]
    comparisons: tuple[PlacedComparison, ...]


def is_datalog(text: str) -> bool:
    """Is a query written in Datalog?

    >>> is_datalog("S(x) :- R(x)"), is_datalog("SELECT ':-' FROM r")
    (True, False)
    """
    return ":-" in re.sub(r"'[^']*'|\"[^\"]*\"", "", text)


def read_datalog(
    text: str, relations: Relations, *, name: str, file: str | None = None
) -> QueryUnderstanding:
    """Read a Datalog query, which is always exact and a set.

    >>> reading = read_datalog(
    ...     "S(x) :- R(x, y), y != 1", {"R": Relation("R", ("a", "b"))}, name="s"
    ... )
    >>> print(reading.exact)
    s(x) :- R(x, y), y != 1
    """
    rules = parsed(QueryText(text, file or name), relations)
    bodies, columns = bodies_of(rules, QueryText(text, file or name), relations)
    exact = Query(name, tuple(dict.fromkeys(map(conjunctive, bodies))))
    return QueryUnderstanding(name, text, "datalog", columns, (exact,), exact)


def rows_of(text: QueryText, algebra: Algebra) -> ResultRows:
    """A Datalog view as rows for a query over it."""
    rules = parsed(text, algebra.relations)
    bodies, names = bodies_of(rules, text, algebra.relations)
    kinds = kinds_in(rules[0], algebra.relations)
    columns = [
        ResultColumn(name, _head_kind(placed.term, kinds))
        for name, placed in zip(names, rules[0].head.terms, strict=True)
    ]
    return ResultRows(tuple(columns), tuple(bodies), bags=False, distinct=True)


def parsed(text: QueryText, relations: Relations) -> list[DatalogRule]:
    """The rules of a query, each checked against the relations."""
    parser = Parser(text)
    rules = parser.rules()
    for rule in rules:
        check_head(rule, rules[0], text)
        check_atoms(rule.atoms, text, relations)
        check_safe(rule, text)
    return rules


class Parser:
    """Reads tokens into atoms, comparisons and rules; constraints are made of the same pieces."""

    def __init__(self, text: QueryText) -> None:
        self.text = text
        self.tokens = list(tokens(text))
        self.at = 0
        self.unnamed = 0

    def rules(self) -> list[DatalogRule]:
        """All rules of a union."""
        found: list[DatalogRule] = []
        while True:
            while self.here.kind == "line" or self.here.text == ";":
                self.at += 1
            if self.here.kind == "end":
                break
            found.append(self.rule())
            if self.here.kind not in ("line", "end") and self.here.text != ";":
                raise self.wrong("a comma, or ; before the next rule")
        if not found:
            raise QueryError(
                "there is no rule here.",
                code="syntax",
                hint=f"Write e.g. {EXAMPLE}",
                mark=self.text.mark(0),
            )
        return found

    def rule(self) -> DatalogRule:
        """head :- literal, literal, ..."""
        head = self.atom("the head of a rule")
        self.skip_lines()
        self.take(":-", f":- after {head.relation}(...)")
        atoms, comparisons = self.literals()
        return DatalogRule(head, atoms, comparisons)

    def literals(self) -> tuple[tuple[PlacedAtom, ...], tuple[PlacedComparison, ...]]:
        """Atoms and comparisons, separated by commas."""
        atoms: list[PlacedAtom] = []
        comparisons: list[PlacedComparison] = []
        while True:
            self.skip_lines()
            if self.here.kind == "word" and self.tokens[self.at + 1].text == "(":
                atoms.append(self.atom("a subgoal"))
            elif self.here.kind == "word" and self.here.text == "true" and not self._compared():
                self.at += 1
            else:
                comparisons.append(self.comparison())
            if not self.goes_on(","):
                return tuple(atoms), tuple(comparisons)

    def _compared(self) -> bool:
        return self.tokens[self.at + 1].text in ("=", "!=", "<>", "<", "<=", ">", ">=")

    def goes_on(self, sign: str) -> bool:
        """Take a sign, also from the beginning of the next line."""
        ahead = self.at
        while self.tokens[ahead].kind == "line":
            ahead += 1
        if self.tokens[ahead].text != sign or self.tokens[ahead].kind != "sign":
            return False
        self.at = ahead + 1
        return True

    def atom(self, what: str) -> PlacedAtom:
        """relation(term, term, ...)"""
        name = self.here
        if name.kind != "word":
            raise self.wrong(what)
        self.at += 1
        self.take("(", f"( after {name.text}")
        terms: list[Placed] = []
        self.skip_lines()
        if self.here.text != ")":
            terms.append(self.term())
            while self.goes_on(","):
                self.skip_lines()
                terms.append(self.term())
        self.skip_lines()
        self.take(")", f"a comma or ) in {name.text}(...)")
        return PlacedAtom(name.text, tuple(terms), name.start)

    def comparison(self) -> PlacedComparison:
        """term = term, and the like"""
        left = self.term()
        sign = self.here
        if sign.text not in ("=", "!=", "<>", "<", "<=", ">", ">="):
            raise self.wrong("a comparison such as x != 'a', or a subgoal such as R(x, y)")
        self.at += 1
        self.skip_lines()
        right = self.term()
        if sign.text in (">", ">="):
            left, right = right, left
        operator: Literal["=", "!=", "<", "<="] = {"<>": "!=", ">": "<", ">=": "<="}.get(
            sign.text, sign.text
        )  # type: ignore[assignment]
        return PlacedComparison(left, operator, right, sign.start)

    def term(self) -> Placed:
        """A variable or a constant."""
        token = self.here
        if token.kind == "parameter":
            raise QueryError(
                f"{token.text} is a parameter, and has no value here.",
                code="parameter",
                hint="Write a constant, e.g. 'p1'.",
                mark=self.text.mark(token.start),
            )
        if token.kind == "word" and token.text in ("true", "false"):
            raise QueryError(
                f"{token.text} is no variable.",
                code="syntax",
                hint=f"Put it in quotes: '{token.text}'.",
                mark=self.text.mark(token.start),
            )
        if token.kind not in ("word", "text", "number") or (
            "." in token.text and token.kind == "word"
        ):
            raise self.wrong("a variable or a constant")
        self.at += 1
        if token.kind == "number":
            return Placed(Constant(number(token.text)), token.start)
        if token.kind == "text":
            quote = token.text[0]
            return Placed(Constant(token.text[1:-1].replace(quote * 2, quote)), token.start)
        if token.text == "_":
            self.unnamed += 1
            return Placed(Variable(f"_~{self.unnamed}"), token.start)
        return Placed(Variable(token.text), token.start)

    @property
    def here(self) -> DatalogToken:
        """The token at hand."""
        return self.tokens[self.at]

    def skip_lines(self) -> None:
        """Pass over line ends where a rule cannot end."""
        while self.here.kind == "line":
            self.at += 1

    def take(self, sign: str, what: str) -> None:
        """Pass over a sign that must stand here."""
        if self.here.text != sign or self.here.kind != "sign":
            raise self.wrong(what)
        self.at += 1

    def wrong(self, what: str) -> QueryError:
        """The error where something else should stand."""
        found = {"end": "the end", "line": "the end of the line"}.get(
            self.here.kind, repr(self.here.text)
        )
        return QueryError(
            f"found {found}.",
            code="syntax",
            hint=f"Write {what}.",
            mark=self.text.mark(self.here.start),
        )


def tokens(text: QueryText) -> Iterator[DatalogToken]:
    """The words of a Datalog text."""
    at = 0
    while at < len(text.text):
        found = TOKEN.match(text.text, at)
        if found is None:
            raise _bad_character(text, at)
        kind: Kind = found.lastgroup  # type: ignore[assignment]
        if kind != "space":  # type: ignore[comparison-overlap]
            yield DatalogToken(kind, found.group(), at)
        at = found.end()
    # One more than needed, so that looking one token ahead is always possible.
    yield DatalogToken("end", "", len(text.text))
    yield DatalogToken("end", "", len(text.text))


def _bad_character(text: QueryText, at: int) -> QueryError:
    character = text.text[at]
    if character in "'\"":
        return QueryError(
            "this quote is not closed.",
            code="syntax",
            hint="Close it in the same line.",
            mark=text.mark(at),
        )
    hint = (
        "Put words and dates in quotes: 'cancer', '2020-01-01'."
        if character.isdigit()
        else f"Write e.g. {EXAMPLE}"
    )
    return QueryError(
        f"{character!r} cannot stand here.", code="syntax", hint=hint, mark=text.mark(at)
    )


def check_head(rule: DatalogRule, first: DatalogRule, text: QueryText) -> None:
    """The rules of a union have one name and one number of columns."""
    if rule.head.relation != first.head.relation:
        raise QueryError(
            f"the rules of a union have one name, and here are {first.head.relation!r} and "
            f"{rule.head.relation!r}.",
            code="union",
            hint=f"Write {first.head.relation}(...) :- ...",
            mark=text.mark(rule.head.start),
        )
    if len(rule.head.terms) != len(first.head.terms):
        raise QueryError(
            f"{rule.head.relation} has {len(first.head.terms)} columns in the first rule and "
            f"{len(rule.head.terms)} here.",
            code="arity",
            hint="All rules of a union need as many columns.",
            mark=text.mark(rule.head.start),
        )


def check_atoms(atoms: Sequence[PlacedAtom], text: QueryText, relations: Relations) -> None:
    """Every atom is of a known relation, with a term for each column that can be a value of it."""
    kinds: dict[Variable, tuple[str, str]] = {}
    for atom in atoms:
        relation = relations.get(atom.relation)
        if relation is None:
            raise QueryError(
                f"there is no table {atom.relation!r}.",
                code="unknown-table",
                hint=did_you_mean(atom.relation, relations),
                mark=text.mark(atom.start),
            )
        if len(atom.terms) != len(relation.columns):
            signature = f"{relation.name}({', '.join(relation.columns)})"
            raise QueryError(
                f"{relation.name} has {len(relation.columns)} columns, and {len(atom.terms)} "
                "stand here.",
                code="arity",
                hint=(
                    f"Write a term for each column of {signature}; _ for those that do not matter."
                ),
                mark=text.mark(atom.start),
            )
        for column, placed in zip(relation.columns, atom.terms, strict=True):
            _check_kind(relation, column, placed, kinds, text)


def _check_kind(
    relation: Relation,
    column: str,
    placed: Placed,
    kinds: dict[Variable, tuple[str, str]],
    text: QueryText,
) -> None:
    kind = relation.kinds.get(column)
    here = f"{relation.name}.{column}"
    found = family(kind)
    if isinstance(placed.term, Constant):
        fit_constant(placed, kind, here, text)
    elif found is not None:
        there, other = kinds.setdefault(placed.term, (here, found))
        if other != found:
            raise QueryError(
                f"{placed.term} joins {there} ({other}) with {here} ({found}), which are "
                "never equal.",
                code="type-clash",
                hint="Use two variables, or correct the types.",
                mark=text.mark(placed.start),
            )


def fit_constant(placed: Placed, kind: str | None, where: str, text: QueryText) -> Constant:
    """A constant as a value of a column; in Datalog 1 and '1' differ."""
    assert isinstance(placed.term, Constant)
    value, wanted = placed.term.value, family(kind)
    try:
        fits, fit = fitted(value, kind)
        if not fits or (wanted == "number" and isinstance(value, str)):
            raise Clash
    except Clash:
        instead = (
            f"'{value}'"
            if wanted == "text"
            else {"number": "a number without quotes", "date": "'2020-12-31'"}.get(
                wanted or "", "another constant"
            )
        )
        raise QueryError(
            f"{placed.term} is no value of {where}, which is {kind}.",
            code="type-clash",
            hint=f"Write {instead}.",
            mark=text.mark(placed.start),
        ) from None
    return Constant(fit)


def check_safe(rule: DatalogRule, text: QueryText) -> None:
    """Every variable stands in a subgoal, or is equal to something that does."""
    bound = {placed.term for atom in rule.atoms for placed in atom.terms}
    equal = [one for one in rule.comparisons if one.operator == "="]
    grown = True
    while grown:
        before = len(bound)
        for one in equal:
            sides = (one.left.term, one.right.term)
            if any(isinstance(side, Constant) or side in bound for side in sides):
                bound.update(sides)
        grown = len(bound) > before
    for placed in rule.head.terms:
        if isinstance(placed.term, Variable) and placed.term not in bound:
            raise QueryError(
                f"{shown(placed.term)} stands in the head only.",
                code="unsafe",
                hint=f"Use it in a subgoal, or quote it: '{shown(placed.term)}'.",
                mark=text.mark(placed.start),
            )
    for one in rule.comparisons:
        for placed in (one.left, one.right):
            if isinstance(placed.term, Variable) and placed.term not in bound:
                raise QueryError(
                    f"{shown(placed.term)} is compared and stands in no subgoal.",
                    code="unsafe",
                    hint=f"Use it in a subgoal, or quote it: '{shown(placed.term)}'.",
                    mark=text.mark(placed.start),
                )


def shown(variable: Variable) -> str:
    """A variable as it was written."""
    return variable.name.split("~")[0]


def bodies_of(
    rules: Sequence[DatalogRule], text: QueryText, relations: Relations
) -> tuple[list[QueryBody], tuple[str, ...]]:
    """The bodies of the rules that can be satisfied, and the names of the columns."""
    found = [_body(rule, text, relations) for rule in rules]
    names = tuple(
        shown(placed.term) if isinstance(placed.term, Variable) else f"col{at}"
        for at, placed in enumerate(rules[0].head.terms)
    )
    return [body for body in found if body is not None], names


def _body(rule: DatalogRule, text: QueryText, relations: Relations) -> QueryBody | None:
    kinds = kinds_in(rule, relations)
    atoms = tuple(placed_atom(atom, text, relations) for atom in rule.atoms)
    head = tuple(placed.term for placed in rule.head.terms)
    conditions = [condition(one, kinds, text) for one in rule.comparisons]
    times: dict[Variable, int] = {}
    for atom in atoms:
        for term in atom.terms:
            if isinstance(term, Variable):
                times[term] = times.get(term, 0) + 1
    joins: list[Condition] = [NotNull(variable) for variable, count in times.items() if count > 1]
    return constrained(QueryBody(head, atoms), [*joins, *conditions], relations)[0]


def placed_atom(atom: PlacedAtom, text: QueryText, relations: Relations) -> Atom:
    """An atom with its constants as values of their columns."""
    relation = relations[atom.relation]
    terms = [
        fit_constant(placed, relation.kinds.get(column), f"{relation.name}.{column}", text)
        if isinstance(placed.term, Constant)
        else placed.term
        for column, placed in zip(relation.columns, atom.terms, strict=True)
    ]
    return Atom(relation.name, tuple(terms))


def kinds_in(rule: DatalogRule, relations: Relations) -> dict[Variable, str]:
    """The type of each variable, where a column tells; = passes it on."""
    found: dict[Variable, str] = {}
    for atom in rule.atoms:
        relation = relations[atom.relation]
        for column, placed in zip(relation.columns, atom.terms, strict=True):
            if isinstance(placed.term, Variable) and column in relation.kinds:
                found.setdefault(placed.term, relation.kinds[column])
    for one in rule.comparisons:
        for here, there in ((one.left.term, one.right.term), (one.right.term, one.left.term)):
            if (
                one.operator == "="
                and isinstance(here, Variable)
                and isinstance(there, Variable)
                and there in found
            ):
                found.setdefault(here, found[there])
    return found


def _head_kind(term: Term, kinds: dict[Variable, str]) -> str | None:
    if isinstance(term, Variable):
        return kinds.get(term)
    named = family_of(term.value)
    return "decimal" if named == "number" else named


def condition(one: PlacedComparison, kinds: dict[Variable, str], text: QueryText) -> Condition:
    """A comparison whose sides are of one kind."""
    sides: list[Term] = []
    for placed, beside in ((one.left, one.right), (one.right, one.left)):
        if isinstance(placed.term, Constant) and isinstance(beside.term, Variable):
            sides.append(fit_constant(placed, kinds.get(beside.term), str(beside.term), text))
        else:
            sides.append(placed.term)
    families = [_family(term, kinds) for term in sides]
    if None not in families and families[0] != families[1]:
        raise QueryError(
            f"{one.left.term} {one.operator} {one.right.term} compares {families[0]} with "
            f"{families[1]}.",
            code="type-clash",
            hint="Compare what is of one kind.",
            mark=text.mark(one.left.start),
        )
    if one.operator == "=":
        return Equal(sides[0], sides[1])
    operator: Operator = one.operator
    return Comparison(sides[0], operator, sides[1])


def _family(term: Term, kinds: dict[Variable, str]) -> str | None:
    return family_of(term.value) if isinstance(term, Constant) else family(kinds.get(term))


# Kept together for the reader of constraints, which has the same atoms and comparisons.
__all__ = [
    "DatalogRule",
    "Parser",
    "Placed",
    "PlacedAtom",
    "PlacedComparison",
    "check_atoms",
    "check_safe",
    "condition",
    "is_datalog",
    "kinds_in",
    "placed_atom",
    "read_datalog",
    "rows_of",
    "shown",
    "tokens",
]
