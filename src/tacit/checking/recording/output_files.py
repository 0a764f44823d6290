"""Output files: what goes out with a release:
its keyed hash, and the file that is written once it is recorded.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tacit.checking.recording.answer_digests import Answers, DigestedAnswer
from tacit.engines import output as files
from tacit.errors import DataError, InputError, TacitError
from tacit.families.answer_files import read_file
from tacit.families.family import kind_of
from tacit.families.microdata.hierarchy import value_text
from tacit.families.release_kind import ReleaseRows, Row
from tacit.ledger.digests import AnswerDigest
from tacit.plan.owned_files import owners_files

if TYPE_CHECKING:
    from tacit.ledger.key import Key
    from tacit.plan.open_plan import OpenPlan
    from tacit.plan.plan import Plan


NAME = re.compile(r"(?!_)\w+")  # of a column that a query names itself


@dataclass(frozen=True, slots=True)
class Handed:
    """What goes out: the keyed hash of its rows, None for a
    constraint, which is all that it says.
    """

    digest: str | None
    rows: int = 0
    unchecked: str = (
        ""  # the file of the plan that was taken for the answer, because the data are not at hand
    )


def refuse_files(
    plan: Plan, release: str, answer: Path | None, output: Path | None, *, out_already: bool
) -> None:
    """Files that cannot be meant, refused before any work is done."""
    one = plan.releases[release]
    kind = kind_of(one)
    if kind.answer == "file" and answer is None:
        raise InputError(
            f"{release} is {one.called}, which are drawn at random: only the file itself says "
            "what goes out.",
            hint=(
                f"Write it with tacit synthesize {release} -o FILE, and give it with --answer FILE."
            ),
        )
    if kind.answer == "none" and (answer or output):
        raise InputError(
            f"{release} is {one.called}, and has no answer.",
            hint="Leave --answer and --output out.",
        )
    if answer is not None and output is not None:
        raise InputError(
            "--answer names what goes out, and --output would write it once more.",
            hint="Leave one of them out.",
        )
    if answer is not None:
        refuse_answer(plan, release, answer)
    if output is None:
        return
    if out_already:
        raise InputError(
            "--out-already records what is published; it writes nothing.",
            hint=(
                "Leave --output out. To write a new answer, leave --out-already out: it is "
                "written if its checks hold."
            ),
        )
    if kind.answer == "file" or output.suffix.lower() != ".csv":
        raise DataError(
            f"{output}: answers are written as CSV.",
            hint="Write to a name that ends in .csv, or give the file that goes out with --answer.",
        )
    files.check_file(
        output,
        [
            *owners_files(plan),
            *([plan.folder / str(one.answer_file)] if kind.is_file(one) else []),
        ],
    )


def refuse_answer(plan: Plan, release: str, answer: Path) -> None:
    """A file that is not there, or that is the data: nobody means to give those away."""
    if not answer.is_file():
        raise InputError(
            f"there is no file {answer}.", hint="Give the file that goes out with --answer."
        )
    published = {
        (plan.folder / one.answer_file).resolve()
        for one in plan.releases.values()
        if one.answer_file
    }
    if answer.resolve() in {path.resolve() for path in owners_files(plan)} - published:
        raise InputError(
            f"{answer} is the owner's own file, and not what {release} shows.",
            hint="Give the file that goes out with --answer.",
        )


@contextmanager
def written(output: Path | None) -> Iterator[Path | None]:
    """A place beside the output, which it takes when all went well:
    what is there is whole, and recorded before.
    """
    if output is None:
        yield None
        return
    with files.temporary_place(output) as place:
        yield place


def handed_out(
    opened: OpenPlan,
    release: str,
    key: Key,
    answer: Path | None,
    place: Path | None,
    *,
    out_already: bool,
) -> Handed:
    """What goes out with a release: as the data give it, or as a file has it, which must be what
    the checks judged.
    """
    one = opened.plan.releases[release]
    kind, answers = kind_of(one), Answers(opened, key)
    if kind.answer == "none":
        return Handed(None)
    if kind.answer == "file":
        assert answer is not None
        if not out_already:
            kind.refuse_handed(one, opened, answer)
        return _of(answers.summed(read_file(answer, str(answer))))
    if answer is not None:
        return _of(_answer_of_file(answers, release, answer, out_already=out_already))
    file = None if kind.is_file(one) else one.answer_file
    if file is not None and answers.today(release) is None:
        refuse_columns(opened, release, file)
        found = replace(
            _of(list(answers.of_file(opened.plan.folder / file, file, release))[-1]), unchecked=file
        )
        if place is not None:
            _written(read_file(opened.plan.folder / file, file), place, key, shuffle=True)
        return found
    if place is None:
        return _of(answers.summed(answers.shown(release)))
    return _written(answers.shown(release), place, key, shuffle=kind.shuffled)


def refuse_columns(opened: OpenPlan, release: str, file: str) -> None:
    """A file that stands for the answer has its columns:
    names that a query gives by itself may be others.
    """
    header = read_file(opened.plan.folder / file, file).columns
    try:
        one = opened.plan.releases[release]
        shown = kind_of(one).columns(one, opened)
    # a table of which some columns are not at hand: whoever reads such views looks at the file too
    except TacitError:
        return
    named = [
        (one.casefold(), other.casefold())
        for one, other in zip(shown, header, strict=False)
        if NAME.fullmatch(one)
    ]
    if len(shown) != len(header) or (
        sorted(map(str.casefold, shown)) != sorted(map(str.casefold, header))
        and any(one != other for one, other in named)
    ):
        raise DataError(
            f"{file} has the columns {', '.join(header)}, and {release} shows {', '.join(shown)}.",
            hint=f"Name the file with the answer of {release}, or leave `answer:` out.",
            mark=opened.plan.mark("releases", release),
        )


def _of(found: DigestedAnswer) -> Handed:
    return Handed(found.digest, found.rows)


def _answer_of_file(
    answers: Answers, release: str, answer: Path, *, out_already: bool
) -> DigestedAnswer:
    """The answer in a file; one of which the data say something else was not judged."""
    found = list(answers.of_file(answer, str(answer), release))
    today = answers.today(release)
    one = answers.plan.releases[release]
    known = {today.digest} if today is not None else set[str]()
    file = None if kind_of(one).is_file(one) else one.answer_file
    if today is None and file is not None:
        known = {each.digest for each in answers.of_file(answers.plan.folder / file, file, release)}
    if not known and not out_already:
        raise DataError(
            f"{answer} cannot be compared with what {release} shows: the data are not at hand.",
            hint=(
                f"Record where the data are, say answer: {answer} in the release, or record "
                "with --out-already what is published in any case."
            ),
        )
    fitting = [each for each in found if each.digest in known]
    if not fitting and not out_already:
        own = kind_of(one).as_file(one, str(answer))
        raise DataError(
            f"{answer} is not what {release} shows by the plan, so that what was judged is not "
            "what goes out.",
            hint=(
                f"Write the release as {own}, or record with --out-already what is published "
                "in any case."
            ),
        )
    return fitting[0] if fitting else found[-1]


def _written(shown: ReleaseRows, place: Path, key: Key, *, shuffle: bool) -> Handed:
    """Write the rows of an answer as CSV, and hash them on the way."""
    digest = AnswerDigest(key, [str(at + 1) for at in range(len(shown.columns))])

    def noted(rows: Iterator[Row]) -> Iterator[Row]:
        for row in rows:
            digest.add(row)
            yield row

    with place.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(shown.columns)
        for row in noted(shown.rows):
            writer.writerow(["" if value is None else value_text(value) for value in row])
    if shuffle:
        _sort(place)
    return Handed(digest.hex(), digest.rows)


def _sort(place: Path) -> None:
    """Rows in an order of their own: that of the table would tell whose they are."""
    from tacit.engines.duckdb.engine import DuckDB
    from tacit.engines.sql.shapes_files import sorted_csv

    sorted_ = place.with_name(f"{place.name}.sorted")
    with DuckDB(folder=place.parent) as engine:
        try:
            engine.stored(sorted_csv(place, sorted_))
            sorted_.replace(place)
        finally:
            sorted_.unlink(missing_ok=True)
