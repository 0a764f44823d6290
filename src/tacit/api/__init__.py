"""The Python door: load a plan, or check a data frame without one."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from tacit.api.definition_arguments import (
    PARAMETERS,
    Exact,
    definition_of,
    definitions_of,
    refuse_unfitting,
)
from tacit.api.given import (
    in_python,
    job_of,
    one_person,
    path_of,
    refuse_none,
    roles_of,
    seconds_of,
    texts_of,
    views_of,
)
from tacit.api.progress import finish
from tacit.api.results import Anonymized, FurtherViews, SyntheticTable
from tacit.checking.assess import Assessment, assess
from tacit.errors import ParameterError
from tacit.families.definition import Definition
from tacit.families.family import Answered
from tacit.families.microdata.attacks.stories import Attack
from tacit.families.microdata.definitions.reading_verdicts import answer_with
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.families.microdata.runs.repair_results import NotRepaired
from tacit.families.microdata.runs.task import RepairTask
from tacit.families.parameters import whole
from tacit.model.jobs import Job
from tacit.model.release import Microdata
from tacit.model.verdict import Verdict
from tacit.plan.plan import Check, Plan
from tacit.plan.read.load import load_plan
from tacit.python_plan import (
    ask_beside,
    counted_source,
    named_columns,
    plan_of_table,
    plan_of_views,
    read_schema,
    refuse_unknown_columns,
    released_like,
    required_of,
    table_like,
    written_tables,
)
from tacit.starter.profile import Profile


@dataclass(frozen=True, slots=True)
class LoadedPlan:
    """A plan that was read and found well-formed."""

    plan: Plan

    def check(self, *, only: Sequence[str] = (), job: Job | None = None) -> Assessment:
        """Answer every check of the plan, or only some (by name, kind or release)."""
        return assess(self.plan, only=only, job=job)

    def released(self, name: str) -> Iterator[dict[str, Any]]:
        """The rows of a microdata release as the other side would see them, one by one."""
        from tacit.engines.open import open_engine

        with open_engine(self.plan.source, self.plan.folder) as engine:
            yield from MicrodataSource(self.plan, engine).released(name)


def load(path: str | Path = "tacit.yaml") -> LoadedPlan:
    """Read a plan file.

    >>> import tacit, tempfile, tacit.demo
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = tacit.demo.write(folder)
    >>> print(tacit.load(folder / "tacit.yaml").check()["may-entropy"].because)
    entropy 2.828 in every group
    """
    if not isinstance(path, str | Path):
        raise ParameterError(
            f"path: a {type(path).__name__} is no path of a plan.",
            parameter="path",
            hint='Write tacit.load("tacit.yaml"), or ask about a table with tacit.check.',
        )
    return LoadedPlan(load_plan(path))


@in_python()
def check(
    data: Any,
    definition: Definition | str,
    *,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    generalization: Mapping[str, int] | None = None,
    distances: Mapping[str, Any] | None = None,
    insensitive: str | Sequence[str] = (),
    key: str | Sequence[str] = (),
    published: Sequence[Any] = (),
    name: str = "data",
    k: int | None = None,
    l: Exact | None = None,  # noqa: E741 (as the literature writes it)
    kind: Literal["distinct", "entropy", "recursive"] | None = None,
    c: Exact | None = None,
    c2: Exact | None = None,
    dont_care: Sequence[Any] | None = None,
    negative: Sequence[Any] | None = None,
    t: Exact | None = None,
    distance: Literal["equal", "ordered", "hierarchical"] | None = None,
    alpha: Exact | None = None,
    e: Exact | None = None,
    epsilon: Exact | None = None,
    m: Exact | None = None,
    v: Exact | None = None,
    rho1: Exact | None = None,
    rho2: Exact | None = None,
    prior: str | None = None,
    delta: Exact | None = None,
    measure: Mapping[str, Any] | None = None,
    protect: Mapping[str, Any] | None = None,
    against: Mapping[str, Any] | None = None,
    at_most: Exact | None = None,
    attacker: Literal["prosecutor", "marketer"] | None = None,
    missing: Literal["own-group", "match-any", "error"] | None = None,
) -> Verdict:
    """Check one definition on a pandas, Polars or Arrow table or a DuckDB relation, without a plan.

    The definition is an object, or the name of its check with its parameters as further arguments.
    Roles and all else are those of `check_all`.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame(
    ...     {"zip": ["13053", "13068", "13068"], "condition": ["flu", "flu", "cold"]}
    ... )
    >>> verdict = tacit.check(people, "k-anonymity", k=2, quasi_identifiers=["zip"])
    >>> verdict.status, verdict.measured
    ('breached', {'k': 1})
    >>> tacit.check(people, tacit.KAnonymity(k=2), quasi_identifiers=["zip"]) == verdict
    True
    """
    parameters = {name: one for name, one in locals().items() if name in PARAMETERS}
    return check_all(
        data,
        [definition_of(definition, parameters)],
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        person=person,
        hierarchies=hierarchies,
        generalization=generalization,
        distances=distances,
        insensitive=insensitive,
        key=key,
        published=published,
        name=name,
    )[0]


@in_python()
def check_all(
    data: Any,
    definitions: Definition | Sequence[Definition],
    *,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    generalization: Mapping[str, int] | None = None,
    distances: Mapping[str, Any] | None = None,
    insensitive: str | Sequence[str] = (),
    key: str | Sequence[str] = (),
    published: Sequence[Any] = (),
    name: str = "data",
) -> Assessment:
    """Check several definitions on one table without a plan; the table is counted once.

    `hierarchies` and `distances` are written as in a plan ("*", "zip.csv", {"ranges": [5, 10]},
    ...), `generalization` gives the levels at which quasi-identifiers are released (absent: as they
    are). `published` are generalized copies of the same table that are published: tables, whose
    levels are found by their labels, or levels. They are judged together with the release. With a
    `key` that a copy has too, people may have joined or left since: the key says who is in both.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame(
    ...     {"age": [28, 29, 31, 37], "condition": ["flu", "cold", "flu", "flu"]}
    ... )
    >>> answers = tacit.check_all(
    ...     people,
    ...     [tacit.KAnonymity(k=2), tacit.LDiversity(kind="distinct", l=2)],
    ...     quasi_identifiers=["age"],
    ...     sensitive="condition",
    ...     hierarchies={"age": {"ranges": [10]}},
    ...     generalization={"age": 1},
    ... )
    >>> [verdict.status for verdict in answers]
    ['holds', 'breached']
    """
    from tacit.engines.duckdb.engine import DuckDB

    begun = time.perf_counter()
    asked = definitions_of(definitions, "definitions")
    roles = roles_of(
        data,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        insensitive=insensitive,
        person=person,
        key=key,
    )
    ways = {"hierarchies": hierarchies, "distances": distances}
    plan = plan_of_table(
        name, {**roles, **ways}, {"generalization": generalization}, copies=published
    )
    refuse_unfitting(asked, plan.tables[name].sensitive)
    with DuckDB() as engine:
        source = counted_source(data, plan, name, engine)
        question = source.question(name)
        ask = ask_beside(published, source, name, engine)
        verdicts = tuple(
            answer_with(one.with_files(source.lines), question, None, None)
            if ask is None
            else ask(one)
            for one in asked
        )
    answered = tuple(
        Answered(Check(verdict.check, releases=(name,)), verdict, question.closed())
        for verdict in verdicts
    )
    return Assessment(name, answered, time.perf_counter() - begun)


@in_python()
def anonymize(
    data: Any,
    require: Definition | Sequence[Definition],
    *,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    distances: Mapping[str, Any] | None = None,
    method: Literal["lattice", "mondrian", "window"] = "lattice",
    suppress: Any = 0,
    utility: Literal["loss", "height", "discernibility", "average-group", "kl"] = "loss",
    weights: Mapping[str, Any] | None = None,
    at_most: Mapping[str, int] | None = None,
    aware: bool = False,
    relaxed: bool = False,
    seconds: float | None = None,
    job: Job | None = None,
    name: str = "data",
) -> Anonymized:
    """Generalize a table until all definitions of `require` hold, at the least loss.

    Takes the data and the roles like `check_all`, and the options of `tacit anonymize`.
    Columns without a role are left out.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame(
    ...     {"age": [28, 29, 31, 37], "condition": ["flu", "cold", "flu", "cold"]}
    ... )
    >>> found = tacit.anonymize(
    ...     people,
    ...     [tacit.KAnonymity(k=2), tacit.LDiversity(kind="distinct", l=2)],
    ...     quasi_identifiers=["age"],
    ...     sensitive="condition",
    ...     hierarchies={"age": {"ranges": [5, 10]}},
    ... )
    >>> found.generalization, sorted(found.table["age"])
    ({'age': 2}, ['20-29', '20-29', '30-39', '30-39'])
    """
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.runs.anonymize import solve

    asked, limit, work = definitions_of(require, "require"), seconds_of(seconds), job_of(job)
    roles = roles_of(
        data,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        insensitive=insensitive,
        person=person,
    )
    ways = {"hierarchies": hierarchies, "distances": distances}
    options = {
        "method": method,
        "suppress": suppress,
        "utility": utility,
        "weights": weights,
        "at-most": at_most,
    }
    plan = plan_of_table(name, {**roles, **ways}, options)
    if not named_columns(plan.tables[name]):
        raise ParameterError(
            "quasi_identifiers is empty, and nothing else would be released.",
            parameter="quasi_identifiers",
            hint='Give for example quasi_identifiers=["age", "zip"].',
        )
    repair = plan.of(Microdata)[name].repair
    refuse_unfitting(asked, plan.tables[name].sensitive)
    with DuckDB() as engine:
        source = counted_source(data, plan, name, engine)
        required = tuple(required_of(one, source) for one in asked)
        task = RepairTask(
            name,
            source.raw(name),
            required,
            repair,
            aware=aware,
            relaxed=relaxed,
            seconds=limit,
        )
        found = solve(task, work)
        finish(job)
        if isinstance(found, NotRepaired):
            return Anonymized(
                None, found.verdicts, None, None, found.because, found.advice, found.to_json()
            )
        shown = released_like(data, found.recoded, source.reader)
    levels = found.recoded.generalization
    return Anonymized(
        shown, found.verdicts, found.utility, levels, "all checks hold", (), found.to_json()
    )


@in_python()
def attack(
    data: Any,
    *,
    quasi_identifiers: str | Sequence[str],
    sensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    key: str | Sequence[str] = (),
    hierarchies: Mapping[str, Any] | None = None,
    generalization: Mapping[str, int] | None = None,
    distances: Mapping[str, Any] | None = None,
    target: Any = None,
    threshold: Exact = "95%",
    link: str | Path | None = None,
    job: Job | None = None,
    name: str = "data",
) -> Attack:
    """What does somebody believe who sees the table at these levels, before and after?

    Takes the data and the roles like `check_all`, and the options of `tacit attack`: `target` is
    one person's `person` or `key`, `link` a CSV file that the attacker has.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame(
    ...     {"zip": ["13053", "13053", "13068"], "condition": ["flu", "flu", "cold"]}
    ... )
    >>> found = tacit.attack(people, quasi_identifiers=["zip"], sensitive="condition")
    >>> found["homogeneity"].before, found["homogeneity"].after
    (Fraction(1, 3), Fraction(1, 1))
    """
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.microdata.runs.attack import attack_in, read_threshold

    if target is not None and not (person or key):
        raise ParameterError(
            "a target is looked up by person or key, and neither is given.",
            parameter="target",
            hint='Give for example person="name".',
        )
    roles = roles_of(
        data, quasi_identifiers=quasi_identifiers, sensitive=sensitive, person=person, key=key
    )
    ways = {"hierarchies": hierarchies, "distances": distances}
    plan = plan_of_table(name, {**roles, **ways}, {"generalization": generalization})
    wanted = None if target is None else ",".join(map(str, one_person(target)))
    file, work = path_of("link", link), job_of(job)
    with DuckDB() as engine:
        source = counted_source(data, plan, name, engine)
        found = attack_in(
            source,
            name,
            wanted,
            read_threshold(str(threshold)),
            file,
            job=work,
            alone=True,
        )
    finish(job)
    return found


@in_python()
def profile(data: Any, *, name: str = "data", job: Job | None = None) -> Profile:
    """What are the columns of a table like, and which role would each have? Guesses of
    `tacit init`, from names and counts.

    >>> import pandas, tacit
    >>> people = pandas.DataFrame(
    ...     {"zip": ["13053", "13053", "13068"], "condition": ["flu", "flu", "cold"]}
    ... )
    >>> tacit.profile(people).roles()
    {'quasi-identifier': ('zip',), 'sensitive': ('condition',)}
    """
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.model.schema import Table
    from tacit.starter.profile import profile as look
    from tacit.starter.survey import RowsPlace

    work = job_of(job)
    with DuckDB() as engine:
        engine.put(name, data)
        return look(RowsPlace(engine, ".", Table(name)), work)


@in_python()
def perfect_privacy(
    *,
    secret: str,
    view: str | Sequence[str],
    schema: Mapping[str, Any],
    semantics: Literal["set", "bag"] | None = None,
    model: Literal["tuple-independent", "attribute-independent"] = "tuple-independent",
    dialect: Literal["duckdb", "postgres", "spark"] = "duckdb",
    seconds: float = 60,
) -> Verdict:
    """Do the views say anything at all about the secret, to anyone? No data are needed.

    Queries are SQL (in the `dialect` duckdb, postgres or spark) or Datalog;
    `schema` describes the tables as a plan does: columns, key, domains, nullable.

    >>> import tacit
    >>> verdict = tacit.perfect_privacy(
    ...     secret="SELECT DISTINCT name FROM stays WHERE diagnosis = 'cancer'",
    ...     view="SELECT DISTINCT ward FROM stays WHERE diagnosis = 'flu'",
    ...     schema={"stays": {"columns": ["name", "diagnosis", "ward"]}},
    ... )
    >>> print(verdict)
    holds     perfect privacy of view: no row can matter to both the secret and a view
    """
    from tacit.families.queries.definitions.perfect_privacy import PerfectPrivacy
    from tacit.families.queries.dependency import joined
    from tacit.families.queries.question import QueryQuestion
    from tacit.families.queries.read import read
    from tacit.families.queries.reading.readings import no_nulls, syntax, untyped
    from tacit.families.queries.schema import derived, foreign, relations_of

    tables = read_schema(schema)
    relations = relations_of(tables)
    views = texts_of("view", view, '"SELECT ward FROM stays"')
    if not views or not all(isinstance(text, str) and text.strip() for text in (secret, *views)):
        raise ParameterError(
            "a secret and at least one view are needed, each a query.",
            parameter="view",
            hint="Give SQL or Datalog.",
        )
    shown = (
        ["view"] if len(views) == 1 else [f"view {number}" for number in range(1, len(views) + 1)]
    )
    question = QueryQuestion(
        read(secret, relations, name="secret", dialect=dialect, explain=syntax(dialect)),
        tuple(
            read(text, relations, name=name, dialect=dialect, explain=syntax(dialect))
            for text, name in zip(views, shown, strict=True)
        ),
        relations,
        dialect,
        joined(foreign(tables)),
        assumptions=(*no_nulls(tables.values()), *untyped(relations)),
        derived=derived(tables),
    )
    return PerfectPrivacy(semantics, model, seconds).check(question)


@in_python()
def view_safety(
    *,
    secret: str,
    new: str | Sequence[str],
    published: str | Sequence[str] = (),
    tables: Mapping[str, Any],
    constraints: str | Sequence[str] = (),
    dictionary: str | Sequence[str] = (),
    over: Literal["instance", "domain", "all"] = "instance",
    fresh: int | None = None,
    seconds: float = 60,
) -> Assessment:
    """What do new views disclose about a secret, given those that are published? g-safety, then
    e-safety.

    Queries are SQL or Datalog. A constraint among `new` or `published` is written with `->`.
    `tables` describes the tables as a plan does: columns, rows, key, domains, nullable.

    >>> import tacit
    >>> found = tacit.view_safety(
    ...     secret="S(r) :- RP(r, 'p1')",
    ...     new="N(r, c) :- RS(r, c)",
    ...     published=["V(r) :- RS(r, c)"],
    ...     tables={
    ...         "RS": {
    ...             "columns": ["r", "c"],
    ...             "rows": [["r1", "c1"], ["r2", "c2"]],
    ...             "domains": {"c": ["c1", "c2"]},
    ...         },
    ...         "RP": {"columns": ["r", "p"], "rows": [["r1", "p1"]], "domains": {"p": ["p1"]}},
    ...     },
    ...     constraints=["RP[r] in RS[r]"],
    ... )
    >>> [(verdict.check, verdict.status) for verdict in found]
    [('g-safety', 'breached'), ('e-safety', 'holds')]
    """
    from tacit.families.queries.datalog.dependencies import is_constraint
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.load import read_plan

    queries = {
        "new": texts_of("new", new, '"SELECT ward FROM stays"'),
        "published": texts_of("published", published, '["SELECT ward FROM stays"]'),
    }
    if not queries["new"] or not all(
        isinstance(text, str) and text.strip()
        for text in (secret, *queries["new"], *queries["published"])
    ):
        raise ParameterError(
            "a secret and at least one new view are needed, each a query.",
            parameter="new",
            hint="Give SQL or Datalog.",
        )
    shown = {
        (what if len(texts) == 1 else f"{what} {number}"): {
            "constraint" if is_constraint(text) else "query": text
        }
        for what, texts in queries.items()
        for number, text in enumerate(texts, 1)
    }
    asks = {
        "secret": "secret",
        "releases": [name for name in shown if name.startswith("new")],
        "over": over,
        "seconds": seconds,
    }
    plan = {
        "version": 1,
        "tables": written_tables(tables, "tables"),
        "constraints": texts_of("constraints", constraints, '["RP[r] in RS[r]"]'),
        "secrets": {"secret": secret},
        "releases": shown,
        "published": [name for name in shown if name.startswith("published")],
        "dictionary": texts_of("dictionary", dictionary, '["stays.id"]'),
        "checks": [{"g-safety": asks}, {"e-safety": asks}],
        **({} if fresh is None else {"fresh": fresh}),
    }
    came_from: dict[tuple[str | int, ...], str] = {
        ("secrets", "secret"): "secret",
        ("checks", 0, "g-safety"): "",
        ("checks", 1, "e-safety"): "",
        **{("releases", name, key): name.split()[0] for name, one in shown.items() for key in one},
    }
    return assess(read_plan(Arguments("view_safety", plan, came_from), Path()))


@in_python()
def overlapping_views(
    data: Any,
    views: str | Mapping[str, str] | Sequence[str],
    definitions: Definition | Sequence[Definition],
    *,
    key: str | Sequence[str] | None = None,
    sensitive: str,
    name: str = "data",
) -> Assessment:
    """What do several views of one table disclose together? Each is SQL such as SELECT condition
    FROM data WHERE age < 30.

    `data` is a pandas, Polars or Arrow table or a DuckDB relation, called `name` in the views.
    Everybody knows all its columns but the `sensitive` one; `key` tells people apart, and without
    one each row is one person.

    >>> import pandas, tacit
    >>> patients = pandas.DataFrame(
    ...     {"name": ["Ann", "Bob", "Cy"], "age": [31, 35, 38], "condition": ["flu", "cold", "flu"]}
    ... )
    >>> views = [
    ...     "SELECT condition FROM data WHERE age < 37",
    ...     "SELECT condition FROM data WHERE age > 33",
    ... ]
    >>> found = tacit.overlapping_views(
    ...     patients, views, [tacit.GammaPrivacy(gamma=0.5)], key="name", sensitive="condition"
    ... )
    >>> print(found[0])
    holds     0.5-privacy of view 1, view 2: nobody has any value in more than 0.5 of the tables that fit both views
    """  # noqa: E501
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.overlaps.definitions.overlap_definition import OverlapDefinition
    from tacit.families.overlaps.reading.questions import OverlapQuestions
    from tacit.families.queries.reading.readings import Readings

    definitions = definitions_of(definitions, "definitions", example="GammaPrivacy(gamma=0.5)")
    for one in definitions:
        if not isinstance(one, OverlapDefinition):
            hint = "Use for example tacit.GammaPrivacy(gamma=0.5)."
            raise ParameterError(
                f"{one!r} is no definition about several views of one table.",
                parameter="definitions",
                hint=hint,
            )
    begun = time.perf_counter()
    roles = roles_of(data, sensitive=sensitive, **({} if key is None else {"key": key}))
    plan, released = plan_of_views("overlapping_views", data, views_of(views), name, **roles)
    with DuckDB() as engine:
        engine.put(name, data)
        asked = OverlapQuestions(plan, Readings(plan, lambda: engine), lambda: engine)
        checks = [Check(one.check_name, releases=released) for one in definitions]
        questions = [asked.question(check) for check in checks]
        answered = tuple(
            Answered(check, one.check(question), question.closed())
            for check, one, question in zip(checks, definitions, questions, strict=True)
        )
    return Assessment(name, answered, time.perf_counter() - begun)


@in_python()
def restore(
    data: Any,
    views: str | Mapping[str, str] | Sequence[str],
    *,
    gamma: Any,
    key: str | Sequence[str],
    sensitive: str,
    further: int = 3,
    columns: str | Sequence[str] | None = None,
    aware: bool = False,
    seconds: float | None = None,
    job: Job | None = None,
    name: str = "data",
) -> FurtherViews:
    r"""Which further views, true as well, bring everybody's share back to gamma? At most so many as
    `further`, the fewest that do.

    Takes the data and the views like `overlapping_views`, those that are published among them,
    and the options of `tacit restore`: `columns` are for conditions, `aware` asks what somebody
    believes who knows why the views came.

    >>> import pandas, tacit
    >>> patients = pandas.DataFrame(
    ...     {
    ...         "name": ["Alan", "Bob", "Clark", "Donald", "Ellen", "Fen", "Garcia"],
    ...         "sex": ["M"] * 4 + ["F"] * 3,
    ...         "age": [23, 24, 25, 26, 27, 28, 28],
    ...         "condition": ["Heart", "SARS", "Viral", "SARS", "Viral", "SARS", "Flu"],
    ...     }
    ... )
    >>> out = [
    ...     "SELECT condition FROM data WHERE sex = 'M'",
    ...     "SELECT condition FROM data WHERE age BETWEEN 26 AND 28",
    ... ]
    >>> found = tacit.restore(patients, out, gamma=0.5, key="name", sensitive="condition")
    >>> found.status, [verdict.status for verdict in found.verdicts]
    ('restored', ['breached', 'holds'])
    >>> print(*found.views.values(), sep="\n")
    SELECT condition FROM data WHERE age BETWEEN 25 AND 26
    SELECT condition FROM data WHERE age BETWEEN 26 AND 27
    """
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.overlaps.definitions.gamma_privacy import GammaPrivacy
    from tacit.families.overlaps.runs.restore import KIND
    from tacit.families.overlaps.runs.restore import restore as carry_out
    from tacit.families.overlaps.runs.restore_results import Restored

    roles = roles_of(data, key=key, sensitive=sensitive)
    plan, released = plan_of_views("restore", data, views_of(views), name, **roles)
    limit, work = seconds_of(seconds), job_of(job)
    most = whole("further", further, least=1)
    asked = None if columns is None else texts_of("columns", columns, '["age"]')
    if asked is not None:
        refuse_unknown_columns(data, {f"columns[{n}]": one for n, one in enumerate(asked)})
    plan = replace(
        plan, checks=(Check(KIND, {"gamma": GammaPrivacy(gamma=gamma).gamma}, releases=released),)
    )
    with DuckDB() as engine:
        engine.put(name, data)
        found = carry_out(
            plan,
            views=most,
            columns=None if asked is None else tuple(asked),
            seconds=limit,
            against_aware=aware,
            job=work,
            engine=engine,
        )
    if not isinstance(found, Restored):
        return FurtherViews(
            found.status, {}, found.verdicts, found.because, found.advice, found.to_json()
        )
    because = found.aware.because if found.aware is not None else found.verdicts[-1].because
    return FurtherViews(
        found.status,
        {one.name: one.query for one in found.views},
        found.verdicts,
        because,
        (),
        found.to_json(),
    )


@in_python()
def synthesize(
    data: Any,
    *,
    group: str,
    value: str,
    epsilon: Any,
    delta: Any,
    count: str | None = None,
    domain: Any = None,
    guarantee: Literal["dp", "pdp"] = "dp",
    mechanism: Literal["dirichlet", "geometric"] = "dirichlet",
    outside: Literal["error", "drop"] = "error",
    prior: str | None = None,
    coarsen: str | None = None,
    shrink: Any = None,
    accept: Any = None,
    seed: int | None = None,
    job: Job | None = None,
    name: str = "data",
) -> SyntheticTable:
    """Draw synthetic people with the least noise for which (epsilon, delta)-differential privacy of
    everybody's `value` is proved.

    `data` is a pandas, Polars or Arrow table or a DuckDB relation. Everybody may know the groups
    and how many people each has. `domain` lists all values that there could be, or names a file
    like the other options, which are those of a plan's `synthetic:`. With a `seed` the output is
    not private: whoever knows it can draw it again.

    >>> import pandas, tacit
    >>> jobs = pandas.DataFrame(
    ...     {
    ...         "work": ["mill"] * 3 + ["yard"] * 2,
    ...         "home": ["north", "north", "south", "east", "south"],
    ...     }
    ... )
    >>> found = tacit.synthesize(
    ...     jobs,
    ...     group="work",
    ...     value="home",
    ...     domain=["north", "south", "east", "west"],
    ...     epsilon=1,
    ...     delta=0,
    ... )
    >>> sorted(found.table["work"]), found.verdicts[0].status
    (['mill', 'mill', 'mill', 'yard', 'yard'], 'holds')
    """
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.families.synthetic.runs.in_memory import synthesized
    from tacit.plan.read.arguments import Arguments
    from tacit.plan.read.load import read_plan

    refuse_none(group=group, value=value, epsilon=epsilon, delta=delta)
    listed = domain is not None and not isinstance(domain, str | Path | Mapping)
    values = texts_of("domain", domain, '["north", "south"]') if listed else []
    given = {
        "group": group,
        "value": value,
        "count": count,
        "epsilon": epsilon,
        "delta": delta,
        "guarantee": guarantee,
        "mechanism": mechanism,
        "outside": outside,
        "prior": prior,
        "coarsen": coarsen,
        "shrink": shrink,
        "accept": accept,
        "domain": None if listed else domain,
    }
    release = {
        "table": name,
        "synthetic": {key: one for key, one in given.items() if one is not None},
    }
    table = {"domains": {value: values}} if listed else {}
    written = {"version": 1, "tables": {name: table}, "releases": {name: release}}
    came_from: dict[tuple[str | int, ...], str] = {
        ("releases", name, "synthetic"): "",
        ("tables", name): "",
        ("tables", name, "domains", value): "domain",
    }
    work = job_of(job)
    plan = read_plan(Arguments("synthesize", written, came_from), Path())
    columns = {"group": group, "value": value, **({"count": count} if count else {})}
    refuse_unknown_columns(data, columns)
    with DuckDB() as engine:
        engine.put(name, data, list(columns.values()))
        found, relation = synthesized(plan, name, engine, seed=seed, job=work)
        shown = None if relation is None else table_like(data, relation)
    finish(job)
    return SyntheticTable(shown, found.verdicts, found.warnings, found.to_json())
