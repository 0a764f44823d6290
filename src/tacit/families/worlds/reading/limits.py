"""What view safety cannot judge, said before it is tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from tacit.errors import InputError, QueryError
from tacit.families.queries.logic.termination import refuse_endless
from tacit.families.queries.query import Atom, Comparison, Query, Relation, Variable
from tacit.families.queries.value_families import doubtful
from tacit.families.words import listed
from tacit.families.worlds.universe import unbounded
from tacit.families.worlds.world_setting import WorldSetting


def check_types(queries: Sequence[Query], relations: Mapping[str, Relation]) -> None:
    """Constants are compared with columns of a known type."""
    if reason := doubtful(queries, relations):
        raise QueryError(
            f"{reason}, so constants may not mean what they look like.",
            code="types",
            hint="Give the column a type under columns.",
        )


def check_closed(mentioned: Sequence[str], relations: Mapping[str, Relation]) -> None:
    """All values of all columns are known."""
    missing = [
        f"{name}.{column}"
        for name in mentioned
        for column in relations[name].columns
        if column not in relations[name].domains
    ]
    if missing:
        table, _, column = missing[0].rpartition(".")
        raise InputError(
            f"over: domain needs the domain of every column, and {listed(missing)} "
            f"{'has' if len(missing) == 1 else 'have'} none.",
            hint=f"Add domains: {{{column}: [...]}} to {table}, or ask over: all.",
        )


def check_order(setting: WorldSetting) -> None:
    """< is read where all values are known;
    with open columns there is no telling where a new value stands.
    """
    for atoms, comparisons, name in compared(setting):
        ordered = {
            term
            for one in comparisons
            if one.operator != "!="
            for term in (one.left, one.right)
            if isinstance(term, Variable)
        }
        for atom in atoms:
            relation = setting.relations[atom.relation]
            for column, term in zip(relation.columns, atom.terms, strict=True):
                if term in ordered and column not in relation.domains:
                    raise QueryError(
                        f"{name} compares {relation.name}.{column} by <, and the column has "
                        "no domain.",
                        code="order",
                        hint=(
                            f"Add domains: {{{column}: [...]}} to {relation.name}, or use = and !=."
                        ),
                    )


def compared(setting: WorldSetting) -> Iterator[tuple[Sequence[Atom], Sequence[Comparison], str]]:
    """The atoms and the comparisons of all queries and constraints, with what each is called."""
    for query in setting.queries():
        for part in query.parts:
            yield part.atoms, part.comparisons, query.name
    for one in setting.all_dependencies():
        atoms = [*one.atoms, *(atom for each in one.alternatives for atom in each.atoms)]
        yield (
            atoms,
            [*one.comparisons, *(c for each in one.alternatives for c in each.comparisons)],
            repr(one.text),
        )


def check_endless(setting: WorldSetting, over: str) -> None:
    """Constraints that can demand ever more new values;
    where columns are closed there is an end.
    """
    columns = [
        (name, at, column)
        for name in setting.mentioned()
        for at, column in enumerate(setting.relations[name].columns)
    ]
    if over == "instance":
        unlimited = unbounded(setting)
        closed = [(name, column) for name, at, column in columns if (name, at) not in unlimited]
    else:
        closed = [
            (name, column)
            for name, _, column in columns
            if column in setting.relations[name].domains
        ]
    refuse_endless(setting.all_dependencies(), setting.relations, closed)
