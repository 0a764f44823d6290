"""The checks that pycanon has too, on Adult in one run: time, and who is right."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from fractions import Fraction

from benchmarks.data import ADULT_QUASI, adult

QUASI = list(ADULT_QUASI)


def seconds(work: Callable[[], object]) -> tuple[float, object]:
    begun = time.perf_counter()
    answer = work()
    return time.perf_counter() - begun, answer


def main() -> None:
    import pandas
    from pycanon import anonymity

    import tacit

    path = adult()
    if path is None:
        print(
            json.dumps(
                {
                    "skipped": (
                        "Adult is not here; set TACIT_DATA to the folder that has adult/adult.csv"
                    )
                }
            )
        )
        return
    frame = pandas.read_csv(path, dtype=str)
    tacit.check(
        frame.head(100), tacit.KAnonymity(k=2), quasi_identifiers=QUASI
    )  # imports are not measured
    ours = {
        "k-anonymity": tacit.KAnonymity(k=5),
        "distinct l-diversity": tacit.LDiversity(kind="distinct", l=3),
        "entropy l-diversity": tacit.LDiversity(kind="entropy", l=2),
        "recursive (3,l)": tacit.LDiversity(kind="recursive", c=3, l=2),
        "(alpha,k)-anonymity": tacit.AlphaK(alpha="0.5", k=5),
        "t-closeness": tacit.TCloseness(t="0.5"),
    }
    theirs: dict[str, Callable[[], object]] = {
        "k-anonymity": lambda: anonymity.k_anonymity(frame, QUASI),
        "distinct l-diversity": lambda: anonymity.l_diversity(frame, QUASI, ["occupation"]),
        "entropy l-diversity": lambda: anonymity.entropy_l_diversity(frame, QUASI, ["occupation"]),
        "recursive (3,l)": lambda: anonymity.recursive_c_l_diversity(frame, QUASI, ["occupation"]),
        "(alpha,k)-anonymity": lambda: anonymity.alpha_k_anonymity(frame, QUASI, ["occupation"]),
        "t-closeness": lambda: anonymity.t_closeness(frame, QUASI, ["occupation"]),
    }
    mine, answers = seconds(
        lambda: tacit.check_all(
            frame, list(ours.values()), quasi_identifiers=QUASI, sensitive="occupation"
        )
    )
    rows = []
    for (name, _), verdict in zip(ours.items(), answers, strict=True):
        peer, answer = seconds(theirs[name])
        rows.append(
            {"name": name, "peer": peer, "ours": dict(verdict.measured), "theirs": str(answer)}
        )
    print(
        json.dumps(
            {"tacit": mine, "rows": rows, "recursive": recursive_example(pandas, tacit, anonymity)},
            default=str,
        )
    )


def recursive_example(pandas: object, tacit: object, anonymity: object) -> dict[str, object]:
    """Counts 10, 1, 1, 1 with l = 4: r1 < c r4 needs c > 10."""
    values = ["a"] * 10 + ["b", "c", "d"]
    frame = pandas.DataFrame({"zip": ["1"] * 13, "condition": values})

    def status(c: Fraction) -> str:
        definition = tacit.LDiversity(kind="recursive", c=c, l=4)
        return tacit.check(
            frame, definition, quasi_identifiers=["zip"], sensitive="condition"
        ).status

    return {
        "tacit_at_10": status(Fraction(10)),
        "tacit_above_10": status(Fraction("10.01")),
        "pycanon_c": str(anonymity.recursive_c_l_diversity(frame, ["zip"], ["condition"])),
    }


if __name__ == "__main__":
    main()
