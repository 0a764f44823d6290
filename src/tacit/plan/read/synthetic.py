"""The entry `synthetic` of a release:
its columns, its public files, and which options go together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any, cast

from tacit.errors import did_you_mean
from tacit.model.numbers import plain
from tacit.model.release import MilesKept, PublicDomain, Synthetic
from tacit.model.schema import Table
from tacit.plan.read import values
from tacit.plan.read.document import Faults, KeyPath
from tacit.plan.read.keys import ReleaseKeys, SyntheticKeys
from tacit.plan.read.values import UnfitError, either, repeated

DOMAIN = (
    "the name of a file, or {file: tracts.csv, value: COLUMN, latitude: COLUMN, longitude: "
    "COLUMN, groups: FILE, within: MILES}"
)
SHRINK = "the name of a file, or {miles: {2: 1, 5: 0.5, 10: 0.2}, beyond: 0.05}"
STEPS = "miles and the chance to be kept up to there, e.g. {2: 1, 5: 0.5}"
CHANCE = (
    "a chance above 0 and up to 1, e.g. 0.05; where it is 0 nobody could be, and their "
    "absence would be no secret"
)
MILES = "a number of miles above 0, e.g. 30"


def read_synthetic(
    name: str, keys: ReleaseKeys, table: Table | None, faults: Faults
) -> Synthetic | None:
    """The synthetic release of that name, or None where something is wrong with it."""
    written, before = keys.synthetic, len(faults)
    assert written is not None and keys.table is not None
    path = ("releases", name, "synthetic")
    domain = _domain(written.domain, (*path, "domain"), faults)
    shrink = _shrink(written.shrink, (*path, "shrink"), faults)
    assert (
        written.group is not None and written.value is not None
    )  # pydantic has noted that they are missing
    release = Synthetic(
        name,
        keys.table,
        written.group,
        written.value,
        written.epsilon,
        written.delta,
        count=written.count,
        guarantee=cast(Any, written.guarantee),
        mechanism=cast(Any, written.mechanism),
        domain=domain,
        outside=cast(Any, written.outside),
        prior=None if written.prior == "uniform" else written.prior,
        coarsen=written.coarsen,
        shrink=shrink,
        accept=written.accept,
        to=keys.to,
    )
    if len(faults) > before:
        return None
    for problem in (
        *_columns(release, table),
        *_ranges(release),
        *_together(release, written),
        *_places(release, table),
    ):
        at, message, hint = problem
        faults.add(message, *path, *at, hint=hint)
    return release if len(faults) == before else None


# -- the parts that are more than a word -----------------------------------------------------------


def _domain(written: object, path: KeyPath, faults: Faults) -> PublicDomain | None:
    if written is None:
        return None
    if not isinstance(written, dict):
        file = faults.fit(path, values.text, written, DOMAIN)
        return PublicDomain(file) if file else None
    readers: dict[str, Callable[[object], Any]] = {
        **dict.fromkeys(("file", "groups"), lambda one: values.text(one, "the name of a file")),
        **dict.fromkeys(
            ("value", "latitude", "longitude"), lambda one: values.text(one, "the name of a column")
        ),
        "within": _miles,
    }
    found = _read(written, readers, path, faults)
    if "file" not in written:
        faults.add("'domain' needs the key 'file'.", *path, hint=f"Write {DOMAIN}.", key=True)
    for one, other in (("latitude", "longitude"), ("longitude", "latitude")):
        if one in written and other not in written:
            faults.add(
                f"{one!r} stands without {other!r}.",
                *path,
                one,
                hint="A place has both: add the column of the other.",
                key=True,
            )
    return PublicDomain(**found) if found.get("file") else None


def _shrink(written: object, path: KeyPath, faults: Faults) -> str | MilesKept | None:
    if written is None:
        return None
    if not isinstance(written, dict):
        return faults.fit(path, values.text, written, SHRINK)
    found = _read(
        written, {"miles": lambda one: values.mapping(one, STEPS), "beyond": _chance}, path, faults
    )
    if not written.get("miles"):
        faults.add("'shrink' needs the key 'miles'.", *path, hint=f"Write {SHRINK}.", key=True)
        return None
    steps = tuple(_steps(found.get("miles") or {}, (*path, "miles"), faults))
    for _, miles in repeated(miles for miles, _ in steps):
        faults.add(
            f"'miles' has two steps of {plain(miles)}.",
            *path,
            "miles",
            hint="Keep one of them.",
            key=True,
        )
    return MilesKept(tuple(sorted(steps)), found.get("beyond"))


def _steps(
    written: Mapping[Any, object], path: KeyPath, faults: Faults
) -> Iterator[tuple[Fraction, Fraction]]:
    for key, value in written.items():
        try:
            miles = _miles(key)
        except UnfitError as error:
            faults.add(f"found {error.found} in 'miles'.", *path, key, hint=error.hint, key=True)
            continue
        keep = faults.fit((*path, key), _chance, value)
        if keep is not None:
            yield miles, keep


def _read(
    written: Mapping[Any, object],
    readers: Mapping[str, Callable[[object], Any]],
    path: KeyPath,
    faults: Faults,
) -> dict[str, Any]:
    """The values of some keys; unknown keys are noted."""
    for key in written:
        if key not in readers:
            faults.add(
                f"unknown key {key!r}.", *path, key, hint=did_you_mean(str(key), readers), key=True
            )
    found = {
        key: faults.fit((*path, key), read, written[key])
        for key, read in readers.items()
        if key in written
    }
    return {key: value for key, value in found.items() if value is not None}


def _miles(value: object) -> Fraction:
    miles = values.number(value, MILES)
    if miles <= 0:
        raise UnfitError(value, MILES)
    return miles


def _chance(value: object) -> Fraction:
    chance = values.number(value, CHANCE)
    if not 0 < chance <= 1:
        raise UnfitError(value, CHANCE)
    return chance


# -- what goes together ----------------------------------------------------------------------------

Problem = tuple[KeyPath, str, str]  # where below `synthetic`, what, and what to write instead


def _columns(release: Synthetic, table: Table | None) -> Iterator[Problem]:
    """Three different columns of the table, in which a row is one person or counts people."""
    named = {"group": release.group, "value": release.value, "count": release.count}
    for key, column in named.items():
        if table and table.columns and column is not None and column not in table.columns:
            yield (
                (key,),
                f"table {table.name!r} has no column {column!r}.",
                did_you_mean(column, table.columns),
            )
    for key, other in (("value", "group"), ("count", "group"), ("count", "value")):
        if named[key] is not None and named[key] == named[other]:
            hint = (
                "The group is public, the value is what is protected, and count says how many "
                "people a row stands for: name two columns."
            )
            yield (key,), f"{named[key]!r} is both the {other} and the {key}.", hint
    if table and table.person and release.count:
        hint = f"Leave out count, or person of {table.name}."
        yield (
            ("count",),
            (
                f"a row of {table.name!r} is one person, told by "
                f"{either(table.person, 'and')}, and 'count' says that it is several."
            ),
            hint,
        )
    if table and release.value in table.identifiers:
        yield (
            ("value",),
            f"{release.value!r} is an identifier of {table.name!r}, and would be published.",
            "Name a column that people share.",
        )
    if table and release.group in table.identifiers:
        yield (
            ("group",),
            f"{release.group!r} is an identifier of {table.name!r}, and would be published.",
            "Name a column that people share.",
        )


def _ranges(release: Synthetic) -> Iterator[Problem]:
    """Numbers that promise something."""
    if not 0 <= release.delta < 1:
        yield (
            ("delta",),
            f"delta is {plain(release.delta)}.",
            (
                "Write a number from 0 to less than 1, far less than one in the number of "
                "people, e.g. 1e-5; 0 allows no exception."
            ),
        )
    if release.accept is not None and release.accept <= 0:
        yield (
            ("accept",),
            f"accept is {plain(release.accept)}.",
            (
                "Write a number above 0, e.g. 4: no cell of the output may have more than so "
                "many times its share."
            ),
        )


def _together(release: Synthetic, written: SyntheticKeys) -> Iterator[Problem]:
    """Options that exclude each other."""
    if release.guarantee == "pdp" and release.delta == 0:
        yield ("guarantee",), "pdp with delta 0 is dp.", "Write guarantee: dp, or a delta above 0."
    if release.accept is not None and release.delta == 0:
        yield (
            ("accept",),
            (
                "'accept' draws again, and what it then publishes keeps its promise only up to "
                "a delta; this delta is 0."
            ),
            "Leave out accept, or write a delta above 0.",
        )
    if release.mechanism == "geometric":
        for key in ("prior", "shrink", "accept"):
            if key in written.model_fields_set and getattr(release, key) is not None:
                yield (
                    (key,),
                    (
                        f"{key!r} does not go with mechanism geometric, which adds noise to "
                        "the counts and has no prior."
                    ),
                    f"Leave out {key}, or write mechanism: dirichlet.",
                )


def _places(release: Synthetic, table: Table | None) -> Iterator[Problem]:
    """Distances need places, and what is outside needs an inside."""
    domain, shrink = release.domain, release.shrink
    if isinstance(shrink, MilesKept):
        within = domain.within if domain else None
        if domain is None:
            yield (
                ("shrink",),
                "'miles' are from a group to a value, and nothing says where they are.",
                "Add domain: FILE with the columns latitude and longitude.",
            )
        elif shrink.beyond is None and (within is None or within > shrink.steps[-1][0]):
            last = plain(shrink.steps[-1][0])
            yield (
                ("shrink",),
                f"'shrink' does not say how many cells are kept beyond {last} miles.",
                f"Write beyond: 0.05, or domain: {{file: {domain.file}, within: {last}}}.",
            )
    if (
        release.outside == "drop"
        and domain is None
        and not (release.coarsen or release.prior)
        and not (table and release.value in table.domains)
    ):
        yield (
            ("outside",),
            "no value is outside of the values that the data have.",
            "Add domain: FILE with the values that count, or leave out outside.",
        )
