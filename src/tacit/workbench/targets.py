"""Targets: which files below the plan's folder the pages may write a release to."""

from __future__ import annotations

import os
from pathlib import Path

from tacit.engines.output import FORMATS
from tacit.errors import InputError
from tacit.plan.plan import Plan


def target(folder: Path, name: str, *, replace_file: bool = False) -> Path:
    """The file that a release may be written to: below the folder, of a kind that is written,
    and not there yet unless it may be replaced.
    """
    cleaned = name.strip()
    if not cleaned or "\0" in cleaned:
        raise InputError("the file needs a name.", hint="Write for example release.csv.")
    place = (folder / cleaned).resolve()
    home = folder.resolve()
    if not place.is_relative_to(home) or any(
        part.startswith(".") for part in place.relative_to(home).parts
    ):
        raise InputError(
            f"{Path(cleaned).name} would not lie below the plan's folder.",
            hint="Write a plain name such as release.csv.",
        )
    if place.suffix.lower() not in FORMATS:
        raise InputError(
            f"{cleaned} is no name of a file that is written here.",
            hint="Let it end in .csv or .parquet.",
        )
    if place.is_dir():
        raise InputError(f"{cleaned} is a folder.", hint="Write the name of a file in it.")
    if place.exists() and not replace_file:
        raise InputError(
            f"{cleaned} is there already.",
            hint="Choose another name, or say that it may be replaced.",
        )
    return place


def refuse_owned(plan: Plan, place: Path) -> None:
    """Raise an error where a file belongs to the plan."""
    from tacit.engines.output import is_source
    from tacit.plan.owned_files import owners_files

    if any(one.resolve() == place for one in owners_files(plan)):
        raise is_source(place.name)


def enter_folder(plan: Plan, path: str, name: str, *, replace_file: bool = False) -> str:
    """Go to the plan's folder, so that messages name files as the page does;
    the file to be written, as it is named from there.
    """
    folder = Path(path).parent
    place = target(folder, name, replace_file=replace_file)
    refuse_owned(plan, place)
    os.chdir(folder)
    return place.relative_to(folder.resolve()).as_posix()
