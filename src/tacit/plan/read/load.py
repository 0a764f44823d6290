"""Load a plan: the owner's file, read and checked as a whole, with all its problems in one go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from tacit.errors import Mark, ParameterError, PlanError
from tacit.model.recipients import Spellings
from tacit.model.release import Release, Synthetic
from tacit.model.schema import Table
from tacit.model.verdict import Waiver
from tacit.plan.plan import Check, Plan, Role
from tacit.plan.read.checks import read_check
from tacit.plan.read.document import Faults, PlanSource, read_document
from tacit.plan.read.keys import FileKeys, PlanKeys, read_keys
from tacit.plan.read.policies import INCLUDE, OWN_NAME, included, is_include, prefix_of
from tacit.plan.read.references import LEDGER, References, check_names, check_waivers
from tacit.plan.read.releases import PlanSection, read_query, read_release, releases_from
from tacit.plan.read.snapshots import with_snapshots
from tacit.plan.read.tables import read_table
from tacit.plan.read.values import PASSWORD

T = TypeVar("T")


def load_plan(path: str | Path = "tacit.yaml", *, need_checks: bool = False) -> Plan:
    """Read a plan file.

    Everything that is wrong with it is raised together, in the order of the file and each with its
    place. `need_checks` makes a plan without checks an error too. Queries in .sql files are read;
    tables and hierarchies are left to the engine.

    >>> load_plan("no/such/plan.yaml")
    Traceback (most recent call last):
    tacit.errors.PlanError: no/such/plan.yaml: there is no plan 'no/such/plan.yaml'. Run `tacit demo` for an example, `tacit init DATA` to get one for your table, or give the path of yours.
    """  # noqa: E501
    return read_plan(read_document(path), Path(path).parent, need_checks=need_checks)


def read_plan(document: PlanSource, folder: Path, *, need_checks: bool = False) -> Plan:
    """A plan from its document, wherever that came from; paths in it are relative to the folder."""
    faults = Faults(document)
    read = read_keys(document.values(faults), faults)
    keys = read.keys

    own = {name: read_table(name, one, faults) for name, one in keys.tables.items()}
    tables = _section("table", read, with_snapshots(own, keys.tables, faults))
    secrets = _read_secrets(read, folder, faults)
    releases = _read_releases(read, tables, folder, faults)
    before = len(faults)
    checks = tuple(_read_checks(keys, folder, faults))
    has_all_checks = len(faults) == before
    _check_references(References(tables, secrets, releases, faults), keys, checks)
    check_names(checks, faults)
    if has_all_checks:  # one that could not be read may have the name
        check_waivers([one.check for one in keys.waive], checks, faults)
    _check_password(keys.source, "source", faults)
    _check_password(keys.ledger, "ledger", faults)
    _check_thresholds(checks, faults)
    if need_checks and not keys.checks and read.is_whole("checks"):
        faults.take(_asks_nothing(document, releases))
    faults.raise_all()

    spellings = Spellings()
    return Plan(
        file=document.file,
        folder=folder,
        mark=document.mark,
        source=keys.source,
        source_keys=keys.source_keys,
        tables=tables.read(),
        constraints=keys.constraints,
        secrets=secrets.read(),
        releases={
            name: one.given_to(spellings.each(one.to)) for name, one in releases.read().items()
        },
        published=keys.published,
        dictionary=keys.dictionary,
        checks=tuple(
            replace(one, collude=tuple(map(spellings.each, one.collude))) for one in checks
        ),
        fresh=keys.fresh,
        roles={
            name: Role(name, one.default, one.deny, one.allow, one.record)
            for name, one in keys.roles.items()
        },
        ledger=keys.ledger,
        organisation=keys.organisation,
        author=keys.author,
        question=keys.question,
        policies={
            prefix_of(one[INCLUDE]): one[INCLUDE]["policy"]
            for one in keys.checks
            if is_include(one)
        },
        waive=tuple(Waiver(one.check, one.reason, one.by, one.until) for one in keys.waive),
    )


def _section(what: str, read: FileKeys, entries: dict[str, T | None]) -> PlanSection[T]:
    section = f"{what}s"
    return PlanSection(
        what, {**dict.fromkeys(read.broken_names(section)), **entries}, read.is_whole(section)
    )


def _read_secrets(read: FileKeys, folder: Path, faults: Faults) -> PlanSection[str]:
    secrets: dict[str, str | None] = {
        name: read_query(query, folder, faults, "secrets", name)[0]
        for name, query in read.keys.secrets.items()
    }
    return _section("secret", read, secrets)


def _read_releases(
    read: FileKeys, tables: PlanSection[Table], folder: Path, faults: Faults
) -> PlanSection[Release]:
    """Those under `releases` and those from files."""
    releases: dict[str, Release | None] = {
        name: read_release(name, one, tables, folder, faults)
        for name, one in read.keys.releases.items()
    }
    if LEDGER in releases:
        hint = "Choose another name."
        message = f"{LEDGER!r} stands for all that the ledger holds."
        faults.add(message, "releases", LEDGER, hint=hint, key=True)
    section: PlanSection[Release] = _section("release", read, releases)
    before = len(faults)
    for view in releases_from(read.keys.releases_from, folder, section.entries, faults):
        releases[view.name] = view
    found_all = len(faults) == before and read.is_whole("releases-from")
    return PlanSection("release", {**section.entries, **releases}, section.is_whole and found_all)


def _read_checks(keys: PlanKeys, folder: Path, faults: Faults) -> Iterable[Check]:
    packs: dict[str, str] = {}
    for at, entry in enumerate(keys.checks):
        if is_include(entry):
            if found := included(entry, at, folder, faults):
                prefix, word = prefix_of(entry[INCLUDE]), entry[INCLUDE]["policy"]
                if packs.setdefault(prefix, word) != word:  # a report tells their clauses apart
                    message = f"another policy is named {prefix!r} too."
                    faults.add(message, "checks", at, INCLUDE, hint=OWN_NAME)
            yield from found
            continue
        check = read_check(entry, at, faults)
        if check is not None:
            yield check


def _check_references(references: References, keys: PlanKeys, checks: Iterable[Check]) -> None:
    """Every name that is used stands for something."""
    for check in checks:
        references.check(check)
    references.published(keys.published, "published")
    references.dictionary(keys.dictionary, "dictionary")
    references.foreign_keys()
    references.derived()
    references.roles(keys.roles)


def _asks_nothing(document: PlanSource, releases: PlanSection[Release]) -> PlanError:
    """A plan without checks, with one that it could have."""
    name = next(iter(releases.entries), "april")
    asks = (
        "differential-privacy: {release: %s}"
        if isinstance(releases.entries.get(name), Synthetic)
        else "k-anonymity: {release: %s, k: 4}"
    )
    mark = document.mark("checks") if document.has("checks") else Mark(document.file)
    return PlanError("the plan asks nothing.", hint=f"Add e.g. checks: [{asks % name}]", mark=mark)


def _check_password(url: str, key: str, faults: Faults) -> None:
    if PASSWORD.search(url):
        faults.add(
            "a password stands in the plan.",
            key,
            hint=(
                "Credentials come from the environment (PGPASSWORD) or ~/.pgpass, never the "
                "plan; write postgresql://user@host/database, and change the password if "
                "others have seen this file."
            ),
        )


def _check_thresholds(checks: Iterable[Check], faults: Faults) -> None:
    """Ask each definition whether its parameters protect anybody."""
    from tacit.families.catalog import define

    for check in checks:
        try:
            define(check.kind, check.parameters)
        except ParameterError as error:
            faults.take(error.at(faults.document.mark(*check.path, *_steps(error))))


def _steps(error: ParameterError) -> list[str | int]:
    """Where in a check a parameter stands:
    `measure.positive` is a key of a key, `against.0` a place in a list.

    >>> _steps(ParameterError("", parameter="against.0.negations"))
    ['against', 0, 'negations']
    """
    written = (error.parameter or "").replace("_", "-").split(".")
    return [int(step) if step.isdigit() else step for step in written]
