"""The interface is as it is described:
schemathesis asks everything that the description allows, and much that it does not.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.live import Live
from tacit.gateway.http.documentation import WHY, openapi, page

STATES = ("undecided", "may-fail", "discloses", "not-granted")


def test_the_description_is_complete() -> None:
    described = openapi("1")
    assert set(described["paths"]) == {
        "/query",
        "/check",
        "/me",
        "/health",
        "/ready",
        "/metrics",
    }
    for methods in described["paths"].values():
        for one in methods.values():
            assert one["summary"] and all(
                found["description"] for found in one["responses"].values()
            )
    assert all(code in WHY[403] for code in STATES)


def test_the_page_loads_nothing_and_names_every_path() -> None:
    text = page(openapi("1"))
    assert all(path in text for path in openapi("1")["paths"])
    assert not re.search(r"<(script|link|img|iframe)|@import|url\(|https?://(?!127\.0\.0\.1)", text)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("which", "examples", "phases"),
    [("gateway", 30, "examples,coverage,fuzzing"), ("open_gateway", 10, "examples,fuzzing")],
)
def test_schemathesis_finds_nothing(
    which: str, examples: int, phases: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    gateway: Live = request.getfixturevalue(which)
    program = Path(sys.executable).with_name("schemathesis")
    if not program.exists():
        pytest.skip("no schemathesis: pip install schemathesis")
    # A query that is too long is refused as too long (413), which
    # schemathesis does not expect by itself.
    (tmp_path / "schemathesis.toml").write_text(
        "[checks]\n"
        "negative_data_rejection.expected-statuses = [400, 401, 403, 404, 406, 413, 431]\n"
    )
    done = subprocess.run(
        [
            str(program),
            "run",
            f"{gateway.url}/openapi.json",
            "-H",
            f"Authorization: Bearer {gateway.token}",
            "--max-examples",
            str(examples),
            "--seed",
            "7",
            "--phases",
            phases,
            "--request-timeout",
            "20",
            "--suppress-health-check",
            "all",
            "--no-color",
            "--continue-on-failure",
            "--exclude-checks",
            "positive_data_acceptance",  # what is written as SQL is seldom SQL
        ],
        capture_output=True,
        text=True,
        timeout=120,
        cwd=tmp_path,
        env={**os.environ, "NO_PROXY": "*"},
    )
    assert done.returncode == 0, "\n".join(
        line[:300] for line in (done.stdout + done.stderr).splitlines()
    )
    assert not any("Fault" in line for line in gateway.said), gateway.said
