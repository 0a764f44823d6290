"""Run every benchmark in a process of its own and print one table."""

from __future__ import annotations

import os
import resource
import subprocess
import sys

from rich.console import Console
from rich.table import Table

from benchmarks.meter import ROOT, measured


def cpu_seconds(*arguments: str) -> float:
    """The CPU time of a command, the least of five."""
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, *arguments], cwd=ROOT, check=True, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(times)


def startup(table: Table) -> None:
    bare = cpu_seconds("-c", "pass")
    for name, arguments, goal in (
        ("tacit --help", ("-m", "tacit", "--help"), "0.3 s CPU"),
        ("import tacit", ("-c", "import tacit"), "0.1 s CPU more than Python itself"),
    ):
        used = cpu_seconds(*arguments)
        table.add_row(
            name, f"{used:.2f} s CPU", f"python -c pass: {bare:.2f} s", f"{used / bare:.1f}", goal
        )


def lands(table: Table) -> None:
    for release in ("raw", "coarse"):
        times = measured("benchmarks.lands_check", release, "time")
        memory = measured("benchmarks.lands_check", release, "memory")["megabytes"]
        allowed = 1.5 * times["bare"] + 1
        table.add_row(
            f"check of 4.6 million rows, {release}",
            f"{times['tacit']:.2f} s CPU, {memory:,.0f} MB peak",
            f"bare GROUP BY: {times['bare']:.2f} s CPU",
            f"{times['tacit'] / times['bare']:.2f}",
            f"1.5 times it + 1 s = {allowed:.2f} s, 600 MB",
        )


def pycanon(table: Table) -> list[str]:
    found = measured("benchmarks.adult_pycanon")
    if "skipped" in found:
        return [found["skipped"]]
    peers = sum(row["peer"] for row in found["rows"])
    for row in found["rows"]:
        table.add_row(
            f"{row['name']} of Adult",
            f"{row['ours']}",
            f"pycanon: {row['peer']:.2f} s  {row['theirs']}",
            "",
            "",
        )
    table.add_row(
        "all of these in one call",
        f"{found['tacit']:.3f} s",
        f"pycanon: {peers:.2f} s",
        f"1/{peers / found['tacit']:.0f}",
        "1/20",
    )
    example = found["recursive"]
    return [
        "Counts 10, 1, 1, 1 with l = 4 need c > 10 (r1 < c r4): "
        f"Tacit at c = 10: {example['tacit_at_10']}, at 10.01: {example['tacit_above_10']}; "
        f"pycanon's c, l: {example['pycanon_c']}."
    ]


def definitions(table: Table) -> None:
    """Each definition on the raw release of Adult, beside counting the combinations once."""
    found = measured("benchmarks.adult_definitions")
    for row in found.get("rows", ()):
        table.add_row(
            f"{row['name']} of raw Adult",
            f"{row['seconds']:.3f} s",
            f"counting once: {found['scan']:.2f} s",
            f"{row['seconds'] / found['scan']:.2f}",
            "2",
        )


ASKED = {
    "five": "5-anonymity",
    "entropy": "entropy 4-diversity",
    "recursive": "recursive (3,4)-diversity",
}
# CPU seconds of ARX 3.9.2 on a machine of this size, measured once:
# it is not run here, so these are no ratios of one run.
ARX_ADULT = "0.02 to 0.04 s"
ARX_LANDS = {"five": 84, "entropy": 173, "recursive": 190}


def anonymize_adult(table: Table) -> list[str]:
    """The least generalization of Adult: the search alone, and the whole command."""
    found = measured("benchmarks.anonymize_adult", "search")
    if "skipped" in found:
        return []
    for row in found["rows"]:
        what = (
            f"{ASKED[row['kind']]} of Adult by "
            f"{row['utility']}{', all minimal' if row['every'] else ''}"
        )
        peer = (
            f"ARX, warm, another run: {ARX_ADULT}"
            if row["utility"] == "loss" and not row["every"]
            else ""
        )
        goal = "0.3 s CPU" if row["every"] else "0.1 s CPU"
        table.add_row(
            what, f"{row['seconds']:.3f} s CPU, {row['asked']} of 2,160 nodes", peer, "", goal
        )
    command = measured("benchmarks.anonymize_adult", "command")
    table.add_row(
        "tacit anonymize on Adult",
        f"{command['seconds']:.2f} s CPU",
        "ARX, cold, another run: 3.9 s",
        f"{command['seconds'] / 3.9:.2f}",
        "2 s CPU",
    )
    return anjana(table)


def anjana(table: Table) -> list[str]:
    found = measured("benchmarks.anonymize_adult", "anjana")
    if "skipped" in found:
        return [found["skipped"]]
    for row in found["rows"]:
        theirs = "no table found" if row["their_loss"] is None else f"loss {row['their_loss']:.4f}"
        peer = f"anjana, frame to frame: {row['peer']:.2f} s, {theirs}"
        for what, seconds, goal in (
            ("search alone", row["search"], "1/50"),
            ("frame to frame", row["whole"], ""),
        ):
            table.add_row(
                f"{ASKED[row['kind']]} of Adult, {what}, loss {row['loss']:.4f}",
                f"{seconds:.3f} s CPU",
                peer,
                f"1/{row['peer'] / seconds:.1f}",
                goal,
            )
    return []


def anonymize_lands(table: Table) -> None:
    """The least generalization of 4.6 million rows."""
    for kind, words in ASKED.items():
        found, arx = measured("benchmarks.anonymize_lands", "search", kind), ARX_LANDS[kind]
        table.add_row(
            f"{words} of 4.6 million rows",
            f"{found['seconds']:.1f} s CPU, {found['asked']} of 1,920 nodes",
            f"ARX, another run: {arx} s",
            f"1/{arx / found['seconds']:.0f}",
            "1/10",
        )
        command = measured("benchmarks.anonymize_lands", "command", kind)
        table.add_row(
            "the whole command, Parquet to Parquet",
            f"{command['seconds']:.1f} s CPU, {command['megabytes']:,.0f} MB peak",
            f"ARX, another run: {arx} s",
            f"1/{arx / command['seconds']:.0f}",
            "15 s CPU, 2,500 MB",
        )


def suppressed(table: Table) -> None:
    """The search where rows may be dropped, beside the same without."""
    for row in measured("benchmarks.suppressed").get("rows", ()):
        table.add_row(
            f"{row['name']} of Adult, a tenth of the rows may be dropped",
            f"{row['seconds']:.2f} s CPU, {row['asked']} nodes, loss {row['cost']:.4f}",
            f"none dropped: {row['peer']:.2f} s CPU, loss {row['peer_cost']:.4f}",
            f"{row['seconds'] / row['peer']:.1f}",
            row["goal"],
        )


def anonymize_local(table: Table, *sizes: str) -> None:
    """Local recoding of more and more rows; the ratio is the growth per row and its logarithm."""
    for method in ("mondrian", "window"):
        rows = measured("benchmarks.anonymize_local", method, *sizes)["rows"]
        for row in rows:
            growth = row["per_row_and_log"] / rows[0]["per_row_and_log"]
            table.add_row(
                f"{method} on {row['rows']:,} rows",
                f"{row['seconds']:.2f} s CPU",
                f"{row['groups']:,} groups",
                f"{growth:.2f}",
                "seconds for 100,000; n log n: about 1",
            )


def perfect(table: Table) -> None:
    """Perfect privacy: a pair, large queries and their growth."""
    for row in measured("benchmarks.perfect", "pair")["rows"]:
        table.add_row(
            row["name"],
            f"{1000 * row['seconds']:.3f} ms CPU",
            f"reading their SQL: {1000 * row['peer']:.2f} ms",
            f"{row['seconds'] / row['peer']:.3f}",
            "1 ms CPU, warm",
        )
    found = measured("benchmarks.perfect", "growth", "docs/images/perfect-growth.svg")["exponents"]
    for row in measured("benchmarks.perfect", "large")["rows"]:
        peer = f"{'' if row['ended'] else 'more than '}{row['peer']:.3f} s"
        table.add_row(
            f"{row['name']}, {row['atoms']} atoms",
            f"{row['seconds']:.3f} s CPU, grows as n^{found[row['name']]:.1f}",
            f"plain backtracking for one homomorphism: {peer}",
            f"{'' if row['ended'] else 'below '}{row['seconds'] / row['peer']:.2f}",
            f"{row['goal']:g} s CPU",
        )


def view_safety(table: Table) -> None:
    """View safety: conferences as they grow, exact counting, and a second question."""
    found = measured("benchmarks.view_safety", "growth", "docs/images/view-safety-growth.svg")
    for row in found["rows"]:
        plain = row.get("peer")
        more = "" if not plain or plain["ended"] else "more than "
        table.add_row(
            f"{row['name']}, {row['tuples']:,} possible rows",
            f"{row['seconds']:.2f} s CPU, {row['megabytes']:.0f} MB peak, grows as "
            f"n^{found['exponents'][row['name']]:.1f}",
            f"one solver call: {more}{plain['seconds']:.1f} s" if plain else "",
            f"{'below ' if more else ''}{row['seconds'] / plain['seconds']:.2f}" if plain else "",
            f"{row['goal']:g} s CPU",
        )
    for row in measured("benchmarks.view_safety", "counting")["rows"]:
        table.add_row(
            f"exact odds, {row['free']} free rows in parts of up to {row['largest']}",
            f"{row['seconds']:.2f} s CPU",
            f"databases to count: 10^{row['worlds']}",
            "",
            f"{row['goal']:g} s CPU",
        )
    for row in measured("benchmarks.view_safety", "again")["rows"]:
        table.add_row(
            f"a second check, {row['name']}",
            f"{row['seconds']:.2f} s CPU",
            f"the first check: {row['first']:.2f} s",
            f"{row['seconds'] / row['first']:.3f}",
            "0.2",
        )


def overlap(table: Table) -> None:
    """Overlapping views: all beliefs as people grow, peers on few
    people, sampling, possibility, crowds.
    """
    found = measured("benchmarks.overlap", "growth", "docs/images/overlap-growth.svg")
    for row in found["rows"]:
        goal = (
            f"{row['goal']:g} s CPU"
            if row is [one for one in found["rows"] if one["name"] == row["name"]][-1]
            else ""
        )
        table.add_row(
            f"all beliefs of {row['people']:,} people, {row['name']}",
            f"{row['seconds']:.2f} s CPU, {row['megabytes']:.0f} MB peak, grows as "
            f"n^{found['exponents'][row['name']]:.1f}",
            row["how"],
            "",
            goal,
        )
    for row in measured("benchmarks.overlap", "peers")["rows"]:
        for name, words in (("ganak", "model counter (Ganak)"), ("plain", "trying every table")):
            if name in row:
                ratio = f"1/{row[name] / row['seconds']:,.0f}"
                table.add_row(
                    f"{row['tables']} tables of {row['people']} people",
                    f"{row['seconds']:.4f} s CPU",
                    f"{words}: {row[name]:.2f} s",
                    ratio,
                    "",
                )
    for row in measured("benchmarks.overlap", "sampled")["rows"]:
        how = (
            "counted"
            if row["counted"]
            else f"{row['status']} (0.02, 0.95) after {row.get('draws', 0):,} tables"
        )
        table.add_row(
            f"200 people, 8 irregular ranges, {row['values']} values, no. {row['seed']}",
            f"{row['seconds']:.1f} s CPU",
            how,
            "",
            "60 s",
        )
    for row in measured("benchmarks.overlap", "possible")["rows"]:
        table.add_row(
            f"what is possible, 5,000 people, 20 ranges, no. {row['seed']}",
            f"{row['seconds']:.1f} s CPU",
            f"{row['can']:,} of {row['cells']:,} cells",
            "",
            "10 s",
        )
    for row in measured("benchmarks.overlap", "crowds")["rows"]:
        table.add_row(
            f"{row['name']} of {row['people']:,} people",
            f"{row['seconds']:.1f} s CPU",
            f"k = {row['k']}, {row['certainty']}",
            "",
            f"{row['goal']:g} s",
        )


def second_release(table: Table) -> list[str]:
    """Two copies of Adult together, the search beside one, and two of a million rows.
    What could not be run.
    """
    picture = "docs/images/second-release-growth.svg"
    found = measured("benchmarks.second_release", picture, "--json")
    if "skipped" in found:
        return [found["skipped"]]
    last = found["rows"][-1]
    for name, used, goal in (
        (
            f"two copies of Adult together, {last['kinds']:,} kinds of people",
            f"{last['seconds']:.1f} s CPU, grows as n^{found['exponent']:.1f}",
            10,
        ),
        ("levels beside a copy that is published, Adult", f"{found['search']:.1f} s", 60),
        ("two coarse copies of a million rows", f"{found['million']:.1f} s", 60),
    ):
        table.add_row(name, used, "", "", f"{goal} s")
    return []


def synthetic(table: Table) -> None:
    """Synthetic people: the noise, one large group, and the whole command and study."""
    for row in measured("benchmarks.synthetic", "noise")["rows"]:
        table.add_row(
            f"noise for 1,000,000 people, 10,000 cells, e^epsilon {row['ratio']}",
            f"{row['seconds']:.3f} s CPU, alpha {row['alpha']:.5g}",
            f"one look at delta: {1000 * row['look']:.1f} ms",
            f"{row['seconds'] / row['look']:.0f}",
            f"{row['goal']:g} s CPU",
        )
    for row in measured("benchmarks.synthetic", "sizes")["rows"]:
        table.add_row(
            f"noise for {row['sizes']:,} sizes up to 1,000,000",
            f"{row['seconds']:.1f} s CPU, kept at {row['kept']:,} of them",
            f"one look at delta for each: {row['look']:.1f} s",
            f"{row['seconds'] / row['look']:.1f}",
            f"{row['goal']:g} s CPU",
        )
    ours, *peers = measured("benchmarks.synthetic", "group")["rows"]
    for peer in peers:
        table.add_row(
            "1,000,000 people drawn over 8,000,000 cells",
            f"{ours['seconds']:.2f} s CPU, {ours['megabytes']:.0f} MB",
            f"{peer['name']}: {peer['seconds']:.2f} s, {peer['megabytes']:.0f} MB",
            f"{ours['seconds'] / peer['seconds']:.2f}, {ours['megabytes'] / peer['megabytes']:.2f}",
            "2 in time, 0.5 in memory",
        )
    for row in measured("benchmarks.synthetic", "command")["rows"]:
        table.add_row(
            f"{row['name']}, {row['data']}",
            f"{row['wall']:.1f} s, {row['seconds']:.1f} s CPU, {row['megabytes']:.0f} MB peak",
            "",
            "",
            f"{row['goal']:g} s",
        )


def gateway(table: Table) -> list[str]:
    """The gateway: decisions that are known and new ones, and large answers beside the engine
    alone. What could not be run.
    """
    for row in measured("benchmarks.gateway", "decisions")["rows"]:
        table.add_row(
            f"known decisions, {row['name']}",
            f"median {row['median']:.2f} ms, 99 % within {row['p99']:.2f} ms inside the server",
            f"there and back: {row['round_median']:.2f} ms, 99 % within {row['round_p99']:.2f} ms",
            "",
            "1 ms, 5 ms",
        )
    for row in measured("benchmarks.gateway", "saturation")["rows"]:
        table.add_row(
            f"known decisions, {row['name']}, no pause",
            f"{row['per_second']:,.0f} per second, {1000 * row['server_cpu']:.2f} ms CPU each",
            f"the load itself: {1000 * row['load_cpu']:.2f} ms CPU each",
            "",
            "1,500 per second",
        )
    for row in measured("benchmarks.gateway", "uncached")["rows"]:
        table.add_row(
            f"decisions on {row['name']}",
            f"median {row['median']:.1f} ms, 99 % within {row['p99']:.1f} ms inside the server",
            f"the very first: {row['first']:.1f} ms",
            "",
            "20 ms",
        )
    rows = measured("benchmarks.gateway", "answers")["rows"]
    for row in rows:
        if "skipped" not in row:
            table.add_row(
                f"1,000,000 rows, {row['name']}",
                f"{row['seconds']:.2f} s, {row['most']:.0f} MB peak; 4,000,000 rows: "
                f"{row['most_of_four']:.0f} MB",
                f"{row['how']}: {row['peer']:.2f} s; before: {row['before']:.0f} MB",
                f"{1 / row['share']:.2f}",
                "1.43 (70 % of its speed)",
            )
    return [row["skipped"] for row in rows if "skipped" in row]


def private_histograms() -> tuple[Table, list[str]]:
    """Tacit beside others that publish the same counts with the same epsilon and delta;
    and which of them are missing.
    """
    found = measured("benchmarks.synthetic", "methods")
    bands = [f"{band['sizes']} ({band['groups']:,})" for band in found["rows"][0]["bands"]]
    title = (
        f"{found['data']}: {found['people']:,} people in {found['groups']:,} groups, epsilon "
        f"{found['epsilon']}, delta {found['delta']}"
    )
    table = Table("method", "CPU, memory", *bands, "all", title=title, caption=HISTOGRAMS)
    for row in found["rows"]:
        cells = [
            (
                f"{'' if band['miles'] is None else format(band['miles'], '.2f')} mi, "
                f"{band['variation']:.2f}, {band['silent']}"
            )
            for band in row["bands"]
        ]
        table.add_row(
            row["name"],
            f"{row['seconds']:.1f} s, {row['megabytes']:.0f} MB",
            *cells,
            f"{row['variation']:.2f}",
        )
    return table, found["skipped"]


HISTOGRAMS = (
    "By people of a group (how many groups): medians of the error of the mean commute in miles, "
    "where anything is published, and of the total variation; groups of which nothing is "
    "published. All: total variation of everybody. Neighbouring tables differ in one person's "
    "value."
)


def ledger(table: Table) -> None:
    """The ledger: what is held among a million entries, and how fast entries are recorded."""
    found = measured("benchmarks.ledger", "held")
    for row in found["rows"]:
        table.add_row(
            f"{row['held']} held of {found['entries']:,} entries, {len(row['tables'])} tables",
            f"{1000 * row['seconds']:.1f} ms, {1000 * row['opened']:.1f} ms with opening it",
            f"bare reading: {1000 * row['peer']:.2f} ms",
            f"{row['seconds'] / row['peer']:.0f}",
            f"{1000 * row['goal']:g} ms",
        )
    recorded(table)


def recorded(table: Table) -> None:
    """How fast entries are recorded, one after the other and by many at once."""
    for row in measured("benchmarks.ledger", "record")["rows"]:
        table.add_row(
            "entries recorded, each synced to disk",
            f"{row['per_second']:,.0f} a second",
            f"bare insert + fsync: {row['peer_per_second']:,.0f} a second",
            f"{row['per_second'] / row['peer_per_second']:.2f}",
            "",
        )
        table.add_row(
            f"the same by {row['writers']} threads, who wait for the disk together",
            f"{row['together_per_second']:,.0f} a second",
            f"bare insert + fsync: {row['peer_per_second']:,.0f} a second",
            f"{row['together_per_second'] / row['peer_per_second']:.1f}",
            "1,000 a second",
        )


def workbench(table: Table) -> list[str]:
    """The workbench with a million rows: each interaction in a real browser.
    What could not be run.
    """
    try:
        found = measured("benchmarks.workbench")
    except subprocess.CalledProcessError as error:
        return [f"The workbench was not measured: {(error.stderr or '').strip().splitlines()[-1:]}"]
    for row in found["rows"]:
        table.add_row(
            f"{row['name']}, {found['table']:,} rows",
            f"{1000 * row['median']:.0f} ms (worst {1000 * row['worst']:.0f})",
            "",
            "",
            "" if row["page"] else f"{1000 * found['goal']:g} ms",
        )
    table.add_row(
        "memory of the server meanwhile",
        f"{found['most']:.0f} MB at most",
        f"without a table: {found['before']:.0f} MB",
        f"{found['most'] / found['before']:.1f}",
        "",
    )
    return []


def quick(table: Table) -> None:
    """What a change of the core may make slower, in a few minutes."""
    startup(table)
    lands(table)
    suppressed(table)
    anonymize_local(table, "10000", "100000")
    recorded(table)


def main() -> None:
    os.environ.pop("PYTHONPATH", None)
    console = Console(width=150)
    table = Table(
        "what", "Tacit", "peer or lower limit", "ratio", "goal", title="Tacit's benchmarks"
    )
    if sys.argv[1:] == ["quick"]:
        quick(table)
        console.print(table)
        return
    startup(table)
    lands(table)
    suppressed(table)
    notes = pycanon(table)
    definitions(table)
    notes += anonymize_adult(table)
    anonymize_lands(table)
    anonymize_local(table)
    perfect(table)
    view_safety(table)
    overlap(table)
    notes += second_release(table)
    synthetic(table)
    ledger(table)
    notes += gateway(table)
    notes += workbench(table)
    histograms, missing = private_histograms()
    notes += missing
    console.print(table)
    console.print(histograms)
    for note in notes:
        console.print(note)


if __name__ == "__main__":
    main()
