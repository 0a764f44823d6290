"""Books: a plan's text is never lost, its verdicts are for the owner's eyes, and nothing outside
the folder is reached.
"""

from __future__ import annotations

import asyncio
import os
import stat
from pathlib import Path

import pytest

pytest.importorskip("nicegui")

from tacit import demo
from tacit.errors import InputError, TacitError
from tacit.families.microdata.reading.source import MicrodataSource
from tacit.workbench.bench import STATE, Bench, Visit
from tacit.workbench.parts.grids import csv_bytes


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    home = tmp_path / "home"
    demo.write(home)
    return Bench(home / "tacit.yaml", lambda line: None)


def test_a_plan_that_somebody_else_changed_is_not_overwritten(bench: Bench) -> None:
    book = bench.book()
    was = book.text()
    book.path.write_text(was + "# by hand\n", "utf-8")
    with pytest.raises(InputError, match="changed meanwhile"):
        book.save("version: 1\n", was=was)
    assert book.text().endswith("# by hand\n")
    book.path.chmod(0o640)
    book.save(was, was=book.text())
    assert book.text() == was and stat.S_IMODE(book.path.stat().st_mode) == 0o640
    assert {one.name for one in bench.folder.iterdir()} >= {"tacit.yaml"} and not list(
        bench.folder.glob(".*.part")
    )


def test_the_last_two_verdicts_are_kept_for_the_owner_only(bench: Bench) -> None:
    book = bench.book()
    assert book.checked is None and book.before is None
    for number in range(3):
        book.keep({"when": number})
    assert (book.checked, book.before) == ({"when": 2}, {"when": 1})
    place = bench.folder / STATE
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    assert all(stat.S_IMODE(one.stat().st_mode) & 0o077 == 0 for one in place.glob("*.json"))
    again = Bench(book.path, lambda line: None).book()
    assert again.checked == {"when": 2}


def test_broken_state_is_no_verdict(bench: Bench) -> None:
    book = bench.book()
    book.keep({"when": 1})
    (bench.folder / STATE / "tacit.yaml.json").write_text("{", "utf-8")
    assert book.checked is None


@pytest.mark.parametrize(
    "path",
    [
        "../outside.yaml",
        "/etc/passwd",
        "link.yaml",
        f"{STATE}/tacit.yaml.json",
        "sub/../../outside.yaml",
    ],
)
def test_nothing_outside_the_folder_is_reached(bench: Bench, path: str) -> None:
    (bench.folder.parent / "outside.yaml").write_text("version: 1\n", "utf-8")
    (bench.folder / "sub").mkdir()
    (bench.folder / "link.yaml").symlink_to(bench.folder.parent / "outside.yaml")
    with pytest.raises(InputError, match="not below"):
        bench.inside(path)
    assert [bench.name(one) for one in bench.plans()] == ["tacit.yaml"]


def test_the_plan_must_be_below_the_folder(bench: Bench, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not below"):
        Bench(bench.home, lambda line: None, folder=tmp_path / "other")


def test_a_source_is_opened_once_and_again_when_the_data_change(bench: Bench) -> None:
    book = bench.book()

    async def ask() -> list[MicrodataSource]:
        one = await book.ask(lambda source: source)
        two = await book.ask(lambda source: source)
        data = bench.folder / "inpatients.csv"
        data.write_text(data.read_text("utf-8") + "Zoe,13053,30,American,Flu\n", "utf-8")
        os.utime(data, ns=(1, 1))
        return [one, two, await book.ask(lambda source: source)]

    one, two, three = asyncio.run(ask())
    assert one is two and one is not three
    bench.close()


def test_errors_of_the_plan_have_their_line(bench: Bench) -> None:
    book = bench.book()
    book.path.write_text(book.text().replace("k: 4", "k: 1"), "utf-8")
    with pytest.raises(TacitError) as told:
        book.plan()
    assert next(iter(told.value)).mark.line == 21  # type: ignore[union-attr]


def test_links(bench: Bench) -> None:
    visit = Visit(bench, bench.book(), None)  # type: ignore[arg-type]
    assert [visit.link(), visit.link("ledger"), visit.link("release", "a/b c")] == [
        "/",
        "/ledger",
        "/release/a%2Fb%20c",
    ]


def test_csv_is_harmless_in_a_spreadsheet() -> None:
    assert (
        csv_bytes([("=cmd", "-1", "-x", "+2.5", "@a", None, 'a"b')])
        == b'\'=cmd,-1,\'-x,+2.5,\'@a,,"a""b"\r\n'
    )
