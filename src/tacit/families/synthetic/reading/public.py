"""Public: what a synthetic release takes from public files:
values, regions, prior, chances to be kept, and the cells of each group.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from math import gcd, lcm
from typing import Any

import numpy as np

from tacit.engines.attach import converted
from tacit.errors import DataError, Mark
from tacit.families.synthetic.cells import KEEP_UNITS, MOST_WEIGHT, Domain
from tacit.families.synthetic.occupied_cells import Integers
from tacit.families.synthetic.reading.labels import Labels, Spelling
from tacit.families.synthetic.reading.people import SyntheticPeople, at
from tacit.families.synthetic.reading.public_files import (
    PublicFile,
    PublicFiles,
    ValueListing,
    shortened,
)
from tacit.families.synthetic.reading.surroundings import Surroundings, stepped
from tacit.families.synthetic.utility.flows import Floats
from tacit.families.synthetic.utility.positions import Positions
from tacit.model.release import MilesKept, PublicDomain, Synthetic
from tacit.plan.plan import Plan

LATITUDE, LONGITUDE = ("latitude", "lat"), ("longitude", "lon", "lng", "long")
KEEP = (
    "Write a chance above 0 and up to 1, e.g. 0.05: where it is 0 nobody could be, and their "
    "absence would be no secret."
)
KEPT_CELLS = 40_000_000  # in the domains of groups that are remembered, at most


@dataclass(frozen=True)
class Public:
    """What is public of a release. Cells are the regions where it is coarsened, else the values;
    groups are places in a list.

    `origin` says where the values come from: a file's name, `domains` of the plan, or None where
    they are those of the data. `region` has each value's cell, `density` its share of the people of
    its cell, `pair_keeps` the chance of each cell by group.
    """

    groups: Sequence[Any]
    labels: Labels
    cells: Labels
    origin: str | None
    region: Integers | None = None
    density: Integers | None = None
    weights: Integers | None = None
    keeps: Integers | None = None
    pair_keeps: PairKeeps | None = None
    steps: tuple[Floats, Integers] | None = None
    within: float | None = None
    positions: Positions | None = None
    warnings: tuple[str, ...] = ()
    _domains: dict[int, tuple[Integers | None, Domain]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @property
    def is_shared(self) -> bool:
        """Have all groups the same cells?"""
        return self.within is None and self.steps is None and self.pair_keeps is None

    def near(self, group: int) -> Integers | None:
        """The values that are near enough to a group, by place; None for all."""
        return self._found(group)[0]

    def domain(self, group: int) -> Domain:
        """The cells of a group."""
        return self._found(group)[1]

    def _found(self, group: int) -> tuple[Integers | None, Domain]:
        key = 0 if self.is_shared else group
        if key not in self._domains:
            while len(self._domains) * len(self.cells) > KEPT_CELLS:
                self._domains.pop(next(iter(self._domains)))
            self._domains[key] = self._made(group)
        return self._domains[key]

    def _made(self, group: int) -> tuple[Integers | None, Domain]:
        near = None
        if self.within is not None:
            near = self._surroundings.near(group, self.within)
        places = near if near is None or self.region is None else np.unique(self.region[near])
        size = len(self.cells) if places is None else len(places)
        weights = self.weights if places is None or self.weights is None else self.weights[places]
        keeps = self.keeps if places is None or self.keeps is None else self.keeps[places]
        if self.steps is not None:
            keeps = stepped(self._cell_miles(group, near, places), *self.steps)
        elif self.pair_keeps is not None:
            keeps = self.pair_keeps.of(group, np.arange(size) if places is None else places)
        return near, Domain(size, places, unless_all(weights, 1), unless_all(keeps, KEEP_UNITS))

    @cached_property
    def _surroundings(self) -> Surroundings:
        assert self.positions is not None
        return Surroundings(self.positions)

    def _cell_miles(self, group: int, near: Integers | None, places: Integers | None) -> Floats:
        """How far the cells of a group are: a region is as far as the nearest of its values."""
        miles = self._surroundings.miles(group, near)
        if self.region is None:
            return miles
        nearest = np.full(len(self.cells), np.inf)
        np.minimum.at(nearest, self.region if near is None else self.region[near], miles)
        return nearest if places is None else nearest[places]


@dataclass(frozen=True)
class PairKeeps:
    """Chances by group and cell, sorted; every group that is asked for has all its cells."""

    groups: Sequence[Any]
    cells: Labels
    group: Integers
    cell: Integers
    keep: Integers
    file: str

    def of(self, group: int, places: Integers) -> Integers:
        """The chances of some cells of a group."""
        low, high = (
            np.searchsorted(self.group, group, "left"),
            np.searchsorted(self.group, group, "right"),
        )
        known = self.cell[low:high]
        position = np.minimum(np.searchsorted(known, places), max(len(known) - 1, 0))
        missing = (
            np.flatnonzero(known[position] != places) if len(known) else np.arange(len(places))
        )
        if len(missing):
            first = self.cells[int(places[missing[0]])]
            raise DataError(
                f"{self.file} has no chance for group {shortened(str(self.groups[group]))} and "
                f"{shortened(str(first))}.",
                hint=(
                    "It needs a line for every group and value; add: "
                    f"{Spelling.text(self.groups[group])},{Spelling.text(first)},1"
                ),
                mark=Mark(self.file),
            )
        return np.asarray(self.keep[low:high][position], np.int64)


def public_of(release: Synthetic, people: SyntheticPeople, plan: Plan) -> tuple[Public, Integers]:
    """What the public files of a release say, and the place of each value of the data among
    theirs (-1: it is none of them).
    """
    files = PublicFiles(plan.folder)
    try:
        return PublicFileReader(release, people, plan, files).read()
    finally:
        files.close()


class PublicFileReader:
    """Reads the files of one release; what is wrong with a file is told with its line, what is
    missing at the key that names it.
    """

    def __init__(
        self, release: Synthetic, people: SyntheticPeople, plan: Plan, files: PublicFiles
    ) -> None:
        self.release, self.people, self.plan, self.files = release, people, plan, files
        self.warnings: list[str] = []

    def read(self) -> tuple[Public, Integers]:
        """All that the release names, and where the values of the data are."""
        values, origin = self.values()
        positions = self.positions(values)
        region, density, cells = self.regions(values)
        keeps, pair_keeps = self.shrunk(cells)
        weights, steps = self.prior(cells), self.steps()
        within = self.release.domain.within if self.release.domain else None
        if steps is not None or within is not None:
            self.check_places(values, positions)
        public = Public(
            self.people.groups,
            values.labels,
            cells.labels,
            origin,
            region,
            density,
            weights,
            keeps,
            pair_keeps,
            steps,
            None if within is None else float(within),
            positions,
            tuple(self.warnings),
        )
        return public, values.find(self.people.values)

    def mark(self, *keys: str) -> Mark | None:
        """Where a key of the release stands."""
        return at(self.plan, self.release, *keys)

    def open(self, name: str, key: str) -> PublicFile:
        """A file that a key of the release names."""
        try:
            return self.files.open(name)
        except DataError as error:
            if (
                error.mark is not None
                and error.mark.line is None
                and error.message.startswith("there is no file")
            ):
                error.mark = None
            raise error.at(self.mark(key)) from None

    # -- values ------------------------------------------------------------------------------------

    def values(self) -> tuple[ValueListing, str | None]:
        """All values that a cell can stand for, and where they come from."""
        release, spelling = self.release, self.people.spellings[1]
        if release.domain is not None:
            file = self.open(release.domain.file, "domain")
            column = file.column([release.value], wanted=release.domain.value, place=0)
            assert column is not None
            return ValueListing.in_file(file, column, spelling), file.name
        if release.value in self.people.table.domains:
            return self.declared(), "domains"
        for key in ("coarsen", "prior"):
            name = getattr(release, key)
            if name is not None:  # a public file that lists values is a domain too
                file = self.open(name, key)
                return ValueListing.in_file(
                    file, file.needed("values", [release.value], 0), spelling
                ), name
        self.warnings.append(
            f"no domain is given: the values of {release.value} are those of the data, and that "
            "nobody has another one is published. Say domain: FILE with all values that there "
            "could be"
        )
        return ValueListing.of(self.people.values, self.files), None

    def declared(self) -> ValueListing:
        """The domain that the plan gives the column."""
        name, table, spelling = self.release.value, self.people.table, self.people.spellings[1]
        mark = self.plan.mark("tables", table.name, "domains", name)
        try:
            values = [
                spelling.value(converted(table.name, name, spelling.kind, value))
                for value in table.domains[name]
            ]
        except DataError as error:
            raise error.at(mark) from None
        if not values or len(set(map(Spelling.text, values))) < len(values):
            what = "is empty" if not values else "has a value twice"
            raise DataError(
                f"the domain of {name!r} {what}.",
                hint="List each value that there could be once.",
                mark=mark,
            )
        return ValueListing.of(values, self.files)

    def aligned(
        self, file: PublicFile, column: str, spelling: Spelling, listing: ValueListing, what: str
    ) -> Integers:
        """For each row of a file the place of its value, which is listed, and stands once;
        every listed one is there.
        """
        places = listing.rows(file, column, spelling)
        if (places < 0).any():
            raise self.unlisted(file, column, int(np.argmax(places < 0)), what)
        times = np.bincount(places, minlength=len(listing))
        if len(places) > len(listing) or (times > 1).any():
            _, first = np.unique(places, return_index=True)
            again = np.setdiff1d(np.arange(len(places)), first)
            name = Spelling.text(listing.labels[int(places[again[0]])])
            raise file.wrong(
                int(again[0]),
                f"{shortened(name)} stands twice in {file.name}.",
                "Keep one of the lines.",
            )
        if (times == 0).any():
            name = Spelling.text(listing.labels[int(np.argmin(times))])
            many = int((times == 0).sum())
            more = f" and {many - 1:,} more" if many > 1 else ""
            raise DataError(
                f"{file.name} has no line for {shortened(name)}{more}.",
                hint=f"It needs a line for each {what}.",
                mark=Mark(file.name),
            )
        return places

    def unlisted(self, file: PublicFile, column: str, row: int, what: str) -> DataError:
        """The error about a value that is none of the release's."""
        found = file.first(f"rowid = {row}")
        assert found is not None
        hint = (
            "Remove the line, or add it to the "
            f"{'regions of ' + str(self.release.coarsen) if what == 'region' else 'domain'}."
        )
        return file.wrong(
            row, f"{shortened(found[1][column])} is no {what} of {self.release.name}.", hint
        )

    # -- regions -----------------------------------------------------------------------------------

    def regions(
        self, values: ValueListing
    ) -> tuple[Integers | None, Integers | None, ValueListing]:
        """The region of each value, its density in it, and the cells."""
        if self.release.coarsen is None:
            return None, None, values
        file = self.open(self.release.coarsen, "coarsen")
        column = file.needed("values", [self.release.value], 0)
        named = file.needed(
            "regions", ["region"], 1 if file.columns[0] == column else None, apart=column
        )
        places = self.aligned(file, column, self.people.spellings[1], values, "value")
        texts, codes = file.codes(named)
        region = np.empty(len(values), np.int64)
        region[places] = codes
        others = [one for one in file.columns if one not in (column, named)]
        weighed = file.column(["density"]) or (others[0] if len(file.columns) == 3 else None)
        return (
            region,
            self.density(file, weighed, places, codes, texts),
            ValueListing.of(texts, self.files),
        )

    def density(
        self,
        file: PublicFile,
        column: str | None,
        places: Integers,
        codes: Integers,
        texts: Sequence[str],
    ) -> Integers | None:
        """How the people of a region are spread over its values."""
        if column is None:
            return None
        found, which = file.fractions(
            column, "Write 0 or a number above it, such as how many live there.", least=0
        )
        numbers, is_exact = whole_weights(found, which)
        totals = np.bincount(codes, weights=numbers, minlength=len(texts))
        if (totals <= 0).any():
            empty = int(np.argmin(totals))
            message = f"the densities of region {shortened(texts[empty])} are all 0."
            raise file.wrong(
                int(np.argmax(codes == empty)),
                message,
                "Give one of its values a density above 0, or leave the column out.",
            )
        if not is_exact:
            self.warnings.append(
                f"the densities of {file.name} are rounded to whole numbers that add up to less "
                "than 2^40"
            )
        density = np.empty(len(places), np.int64)
        density[places] = numbers
        return density

    # -- weights and chances -----------------------------------------------------------------------

    def cell_words(self) -> tuple[str, Spelling, str]:
        """The column that names cells in a file, how they are written, and what they are called."""
        if self.release.coarsen is not None:
            return "region", Spelling("region"), "region"
        return self.release.value, self.people.spellings[1], "value"

    def prior(self, cells: ValueListing) -> Integers | None:
        """The prior's weight of each cell; None where all are alike."""
        if self.release.prior is None:
            return None
        usual, spelling, what = self.cell_words()
        file = self.open(self.release.prior, "prior")
        column = file.needed(f"{what}s", [usual], 0)
        weighed = file.needed(
            "weights", ["weight"], 1 if file.columns[0] == column else None, apart=column
        )
        places = self.aligned(file, column, spelling, cells, what)
        found, which = file.fractions(
            weighed,
            "Write a number above 0: where the prior has none, nobody could be drawn.",
            above=0,
        )
        numbers, is_exact = whole_weights(found, which)
        if not is_exact:
            self.warnings.append(
                f"the weights of {file.name} are rounded to whole numbers that add up to less "
                "than 2^40"
            )
        weights = np.empty(len(cells), np.int64)
        weights[places] = numbers
        return unless_all(weights, 1)

    def shrunk(self, cells: ValueListing) -> tuple[Integers | None, PairKeeps | None]:
        """The chance of each cell to be kept, the same for all groups or by group."""
        if not isinstance(self.release.shrink, str):
            return None, None
        usual, spelling, what = self.cell_words()
        file = self.open(self.release.shrink, "shrink")
        grouped = file.column(
            [self.release.group],
            place=0 if len(file.columns) == 3 and file.column([usual]) != file.columns[0] else None,
        )
        column = file.needed(
            f"{what}s",
            [usual],
            0 if grouped is None else 1 if file.columns[0] == grouped else None,
            apart=grouped,
        )
        kept = file.needed(
            "chances",
            ["keep"],
            len(file.columns) - 1 if len(file.columns) == (2 if grouped is None else 3) else None,
            apart=column,
        )
        found, which = file.fractions(kept, KEEP, above=0, most=1)
        units = np.array([int(one * KEEP_UNITS) for one in found], np.int64)
        if not units.all():
            raise file.wrong(
                int(np.argmax(units[which] == 0)),
                f"{kept} is less than one in {KEEP_UNITS:,}.",
                KEEP,
            )
        if grouped is not None:
            return None, self.by_group(file, grouped, column, spelling, cells, units[which], what)
        keeps = np.empty(len(cells), np.int64)
        keeps[self.aligned(file, column, spelling, cells, what)] = units[which]
        return unless_all(keeps, KEEP_UNITS), None

    def by_group(
        self,
        file: PublicFile,
        grouped: str,
        column: str,
        spelling: Spelling,
        cells: ValueListing,
        keeps: Integers,
        what: str,
    ) -> PairKeeps:
        """Chances by group and cell; groups that the data do not have are passed over."""
        groups = ValueListing.of(self.people.groups, self.files)
        group, cell = (
            groups.rows(file, grouped, self.people.spellings[0]),
            cells.rows(file, column, spelling),
        )
        if (cell < 0).any():
            raise self.unlisted(file, column, int(np.argmax(cell < 0)), what)
        rows = np.flatnonzero(group >= 0)
        order = rows[np.lexsort((cell[rows], group[rows]))]
        twice = (np.diff(group[order]) == 0) & (np.diff(cell[order]) == 0)
        if twice.any():
            row = int(order[1:][twice].min())
            raise file.wrong(
                row, "this group and value stand in a line above already.", "Keep one of the lines."
            )
        return PairKeeps(
            self.people.groups, cells.labels, group[order], cell[order], keeps[order], file.name
        )

    def steps(self) -> tuple[Floats, Integers] | None:
        """The chances by distance: the ends of the steps, and one chance more."""
        shrink = self.release.shrink
        if not isinstance(shrink, MilesKept):
            return None
        chances = [keep for _, keep in shrink.steps]
        chances.append(chances[-1] if shrink.beyond is None else shrink.beyond)
        units = np.array([int(one * KEEP_UNITS) for one in chances], np.int64)
        if not units.all():
            raise DataError(
                f"a chance to be kept is less than one in {KEEP_UNITS:,}.",
                hint=KEEP,
                mark=self.mark("shrink"),
            )
        return np.array([float(miles) for miles, _ in shrink.steps]), units

    # -- places ------------------------------------------------------------------------------------

    def positions(self, values: ValueListing) -> Positions | None:
        """Where values and groups are, as far as the files say."""
        domain = self.release.domain
        if domain is None:
            return None
        assert values.file is not None
        own = degrees(values.file, domain)
        if own is None:
            return None
        if domain.groups is None:
            there = values.find(self.people.groups)
            return Positions(*own, *(np.where(there >= 0, one[there], np.nan) for one in own))
        file = self.open(domain.groups, "domain")
        column = file.needed("groups", [self.release.group], 0)
        listing = ValueListing.in_file(file, column, self.people.spellings[0])
        there, others = listing.find(self.people.groups), degrees(file, None)
        if others is None:
            raise self.no_coordinates(file)
        return Positions(*own, *(np.where(there >= 0, one[there], np.nan) for one in others))

    def check_places(self, values: ValueListing, positions: Positions | None) -> None:
        """Where distances count, everything has a place."""
        assert values.file is not None and self.release.domain is not None
        if positions is None:
            raise self.no_coordinates(values.file)
        assert positions.group_latitude is not None and positions.group_longitude is not None
        nowhere = np.isnan(positions.latitude) | np.isnan(positions.longitude)
        if nowhere.any():
            raise values.file.wrong(
                int(np.argmax(nowhere)),
                "this line has no coordinates, and distances from here are asked for.",
                "Fill them in, or remove the line.",
            )
        lost = np.flatnonzero(
            np.isnan(positions.group_latitude) | np.isnan(positions.group_longitude)
        )
        if len(lost):
            first, file = (
                self.people.groups[int(lost[0])],
                self.release.domain.groups or self.release.domain.file,
            )
            more = f" and {len(lost) - 1:,} more" if len(lost) > 1 else ""
            raise DataError(
                f"{file} has no coordinates of group {shortened(Spelling.text(first))}{more}, and "
                "distances from there are asked for.",
                hint=(
                    "Add them to the file, or name another with domain: {file: ..., groups: FILE}."
                ),
                mark=self.mark("domain"),
            )

    def no_coordinates(self, file: PublicFile) -> DataError:
        """The error about a file without coordinates."""
        return DataError(
            f"distances need coordinates, and {file.name} has no columns called latitude and "
            "longitude.",
            hint=(
                f"Name them so in its first line, or say which they are: domain: {{file: "
                f"FILE, latitude: COLUMN, longitude: COLUMN}}; it has: "
                f"{', '.join(file.columns)}."
            ),
            mark=self.mark("domain"),
        )


def degrees(file: PublicFile, domain: PublicDomain | None) -> tuple[Floats, Floats] | None:
    """The coordinates in a file's columns."""
    latitude = file.column(LATITUDE, wanted=domain.latitude if domain else None)
    longitude = file.column(LONGITUDE, wanted=domain.longitude if domain else None)
    if latitude is None or longitude is None:
        return None
    return file.degrees(latitude, 90), file.degrees(longitude, 180)


def whole_weights(found: Sequence[Fraction], which: Integers) -> tuple[Integers, bool]:
    """Numbers as whole weights in the same ratios, small enough to be drawn by, and whether the
    ratios are exact.

    >>> whole_weights([Fraction(1, 2), Fraction(3, 4)], np.array([1, 0, 0]))[0].tolist()
    [3, 2, 2]
    """
    times = np.bincount(which, minlength=len(found)).tolist()
    common = lcm(*(one.denominator for one in found))
    numbers = [int(one * common) for one in found]
    numbers = [one // (gcd(*numbers) or 1) for one in numbers]
    total = sum(one * many for one, many in zip(numbers, times, strict=True))
    is_exact = total <= MOST_WEIGHT
    if not is_exact:  # nothing that had a weight loses it
        room = MOST_WEIGHT - len(which)
        numbers = [max(one * room // total, min(one, 1)) for one in numbers]
    return np.array(numbers, np.int64)[which], is_exact


def unless_all(array: Integers | None, usual: int) -> Integers | None:
    """None where everything is as usual."""
    return None if array is None or bool((array == usual).all()) else array
