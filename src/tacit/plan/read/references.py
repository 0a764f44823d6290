"""Names that point elsewhere in the plan: are they there, and are they of the right kind?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tacit.errors import did_you_mean
from tacit.families.catalog import CHECKS
from tacit.model.release import Release
from tacit.model.schema import Table
from tacit.plan.plan import Check
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.keys import RoleKeys
from tacit.plan.read.policies import INCLUDE, OWN_NAME
from tacit.plan.read.releases import PlanSection
from tacit.plan.read.values import either, repeated

LEDGER = "ledger"  # stands for every release that the ledger holds


@dataclass(frozen=True, slots=True)
class References:
    """What a plan's names can stand for, and where to note those that stand for nothing."""

    tables: PlanSection[Table]
    secrets: PlanSection[str]
    releases: PlanSection[Release]
    faults: Faults

    def check(self, check: Check) -> None:
        """Note what a check names and the plan does not have, or has as something else."""
        key = "releases" if self.faults.document.has(*check.path, "releases") else "release"
        for at, name in enumerate(check.releases):
            release = self.releases.get(name, self.faults, *check.path, key, at)
            if release is not None:
                self.fits(check, release, (*check.path, key, at))
            if release is not None and release.of_table and len(check.releases) == 1:
                self.sensitive(check, self.tables.entries.get(release.of_table))
        if check.secret is not None:
            self.secrets.get(check.secret, self.faults, *check.path, "secret")
        if "population" in check.parameters:
            name = str(check.parameters["population"])
            self.tables.get(name, self.faults, *check.path, "population")
        self.published(check.given or (), *check.path, "given")
        self.dictionary(check.dictionary, *check.path, "dictionary")

    def fits(self, check: Check, release: Release, path: KeyPath) -> None:
        """A check judges some kinds of release and not others."""
        about = CHECKS[check.kind].about
        if type(release) not in about:
            judges = either([kind.called for kind in about])
            others = ", ".join(name for name, kind in CHECKS.items() if type(release) in kind.about)
            self.faults.add(
                f"{check.kind} judges {judges}; {release.name!r} is {release.called}.",
                *path,
                hint=f"Checks that judge {release.called}: {others}.",
            )

    def sensitive(self, check: Check, table: Table | None) -> None:
        """A check names a sensitive column of the table, or can do without."""
        if table is None:
            return
        needs, columns = CHECKS[check.kind].sensitive, table.sensitive
        if check.sensitive is not None:
            if check.sensitive not in columns:
                hint = (
                    did_you_mean(check.sensitive, columns) or "Add it under sensitive of the table."
                )
                message = f"{check.sensitive!r} is not a sensitive column of {table.name!r}."
                self.faults.add(message, *check.path, "sensitive", hint=hint)
        elif needs != "any" and not columns:
            message = f"{check.kind} needs a sensitive column, and {table.name!r} has none."
            self.faults.add(
                message, *check.path, hint="Add sensitive: [COLUMN] to the table.", key=True
            )
        elif needs == "one" and len(columns) > 1:
            message = (
                f"{table.name!r} has {len(columns)} sensitive columns, and {check.kind} judges one."
            )
            self.faults.add(
                message, *check.path, hint=f"Add sensitive: {either(columns)}", key=True
            )

    def published(self, names: Iterable[str], *path: str | int) -> None:
        """Releases that are published; `ledger` stands for all that the ledger holds."""
        names = tuple(names)
        for at, name in enumerate(names):
            if name != LEDGER:
                self.releases.get(name, self.faults, *path, at)
        for at, name in repeated(names):
            self.faults.add(f"{name!r} stands twice.", *path, at, hint="Remove one.")

    def dictionary(self, names: Iterable[str], *path: str | int) -> None:
        """Columns whose values everybody knows: TABLE.COLUMN."""
        for at, name in enumerate(names):
            table, dot, column = name.rpartition(".")
            if not dot:
                self.faults.add(
                    f"{name!r} is no column of a table.", *path, at, hint="Write e.g. RP.reviewer"
                )
                continue
            self.column(table, column, *path, at)

    def foreign_keys(self) -> None:
        """The tables and columns that foreign keys name are there."""
        for name, table in self.tables.entries.items():
            for one in table.foreign_keys if table else ():
                for column in one.references:
                    self.column(
                        one.table,
                        column,
                        "tables",
                        name,
                        "foreign-keys",
                        self.written(name, one.columns),
                    )

    def derived(self) -> None:
        """The tables that others are derived from are there, and are others."""
        for name, table in self.tables.entries.items():
            for at, other in enumerate(table.derived_from if table else ()):
                path = ("tables", name, "derived-from", at)
                self.tables.get(other, self.faults, *path)
                if other == name:
                    self.faults.add(
                        f"{name!r} is derived from itself.", *path, hint="Name other tables."
                    )

    def written(self, name: str, columns: Iterable[str]) -> str:
        """A foreign key's columns as the file has them."""
        wanted = ", ".join(columns)
        alike = [",".join(columns), wanted]
        return next(
            (one for one in alike if self.faults.document.has("tables", name, "foreign-keys", one)),
            wanted,
        )

    def column(self, table: str, column: str, *path: str | int) -> None:
        """A column of another table, as far as the plan names the columns of that table."""
        found = self.tables.get(table, self.faults, *path)
        if found is not None and found.columns and column not in found.columns:
            self.faults.add(
                f"table {table!r} has no column {column!r}.",
                *path,
                hint=did_you_mean(column, found.columns),
            )

    def roles(self, roles: Mapping[str, RoleKeys]) -> None:
        """What is denied or allowed is there: a misspelt denial would deny nothing."""
        sections = (self.releases, self.secrets, self.tables)
        known = [name for section in sections for name in section.entries]
        if not all(section.is_whole for section in sections):
            return
        for role, keys in roles.items():
            for key in ("deny", "allow"):
                for at, name in enumerate(keys.written().get(key, ())):
                    if name not in known:
                        message = f"there is no release, secret or table {name!r}."
                        self.faults.add(
                            message, "roles", role, key, at, hint=did_you_mean(name, known)
                        )


def check_names(checks: Iterable[Check], faults: Faults) -> None:
    """A check's name is its own, so that `--only NAME` and reports mean one."""
    named: dict[str, Check] = {}
    for check in checks:
        if check.name is None:
            continue
        first = named.setdefault(check.name, check)
        if first is not check:
            line = faults.document.mark(*first.path, "name").line
            message = f"two checks are named {check.name!r}, the first in line {line}."
            hint = "Rename one of them."
            if INCLUDE in check.path:
                hint = OWN_NAME
            faults.add(message, *check.path, "name", hint=hint)


def check_waivers(waived: Sequence[str], checks: Iterable[Check], faults: Faults) -> None:
    """A waiver names one check, by its name, and each check has one waiver at most."""
    names = [check.name for check in checks if check.name]
    for at, name in enumerate(waived):
        if name not in names:
            hint = did_you_mean(name, names) if names else ""
            hint = hint or "Give the check a name: k-anonymity: {release: april, k: 4, name: ...}"
            faults.add(f"no check is named {name!r}.", "waive", at, "check", hint=hint)
    for at, name in repeated(waived):
        faults.add(f"{name!r} is waived twice.", "waive", at, "check", hint="Keep one of them.")
