"""`tacit dbt` and the tests of the dbt package, in a project that dbt itself runs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path

import duckdb
import pytest
from psycopg.conninfo import conninfo_to_dict

from tacit.starter.dbt.run import package_folder

SHOP = Path(__file__).parent / "shop"
WANTED = ("dbt-core~=1.12.0", "dbt-duckdb~=1.11", "dbt-postgres~=1.11")
pytestmark = pytest.mark.slow


@pytest.fixture(scope="session")
def dbt(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """dbt in an environment of its own: it wants other versions than Tacit."""
    folder = tmp_path_factory.mktemp("dbt")
    venv.create(folder, with_pip=True)
    install = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", "--only-binary=:all:"]
    done = subprocess.run([*install, *WANTED], capture_output=True, text=True, timeout=550)
    if done.returncode:
        pytest.skip("dbt cannot be installed: pip install " + " ".join(WANTED))
    return folder / "bin" / "dbt"


class Shop:
    """The project in a folder of its own, and built; `profile` says where."""

    def __init__(
        self, folder: Path, dbt: Path, source: str = "shop.duckdb", **profile: str | int
    ) -> None:
        shutil.copytree(SHOP, folder)
        self.folder, self.program, self.source = folder, dbt, source
        if profile:
            written = {"shop": {"target": "dev", "outputs": {"dev": profile}}}
            (folder / "profiles.yml").write_text(json.dumps(written))
        for step in ("deps", "seed", "run"):
            self.dbt(step)

    def call(self, *words: str | Path) -> subprocess.CompletedProcess[str]:
        """Run a command in the project."""
        more = {"TACIT_DBT": str(package_folder()), "DBT_SEND_ANONYMOUS_USAGE_STATS": "false"}
        return subprocess.run(
            [str(word) for word in words],
            cwd=self.folder,
            env={**os.environ, **more, "DBT_PROFILES_DIR": str(self.folder)},
            capture_output=True,
            text=True,
            timeout=300,
        )

    def dbt(self, *words: str, fails: bool = False) -> str:
        """What dbt says."""
        done = self.call(self.program, "--no-use-colors", *words)
        assert bool(done.returncode) == fails, done.stdout + done.stderr
        return done.stdout

    def check(self, status: int) -> dict[str, str]:
        """Compile, check, and store the verdicts; their statuses by test."""
        self.dbt("compile")
        done = self.call(sys.executable, "-m", "tacit", "dbt", "--source", self.source)
        assert done.returncode == status, done.stdout + done.stderr
        stored = (self.folder / "target" / "tacit" / "store.json").read_text("utf-8")
        self.dbt("run-operation", "tacit.store", "--args", stored)
        return {one["test"]: one["status"] for one in json.loads(stored)["verdicts"]}

    def failing(self) -> set[str]:
        """The tests that fail."""
        self.call(self.program, "test")
        found = json.loads((self.folder / "target" / "run_results.json").read_text("utf-8"))
        failed = [one["unique_id"] for one in found["results"] if one["status"] != "pass"]
        return {id.split(".")[2] for id in failed}


CLOSENESS = "tacit_verdict_health_t_closeness__0_5"
PERFECT = "tacit_verdict_orders_perfect_privacy__who_has_what"
GROUPS, VALUES = "tacit_k_anonymity_health_3", "tacit_l_diversity_health_condition__2"


def test_a_verdict_stands_for_these_rows_and_this_code_only(dbt: Path, tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop", dbt)
    assert shop.failing() == {CLOSENESS, PERFECT}  # not checked
    found = shop.check(status=1)  # the exposure crm is breached
    assert found == {CLOSENESS: "holds", PERFECT: "holds"}
    shop.dbt("build")

    macro = shop.folder / "macros" / "in_units.sql"
    macro.write_text(macro.read_text().replace("/", "*"))
    assert shop.failing() == {PERFECT}
    macro.write_text(macro.read_text().replace("*", "/"))
    settings = shop.folder / "dbt_project.yml"
    settings.write_text(settings.read_text().replace("cents: 100", "cents: 10"))
    assert shop.failing() == {PERFECT}
    settings.write_text(settings.read_text().replace("cents: 10", "cents: 100"))

    with duckdb.connect(str(shop.folder / "shop.duckdb")) as database:
        database.execute("UPDATE health SET condition = 'Flu ' WHERE condition = 'cold'")
    assert shop.failing() == {CLOSENESS, VALUES}
    with duckdb.connect(str(shop.folder / "shop.duckdb")) as database:
        database.execute("UPDATE health SET zip = NULL WHERE condition = 'cough'")
    assert shop.failing() == {
        CLOSENESS,
        VALUES,
        GROUPS,
    }


def test_a_model_with_a_column_that_is_pii_or_nothing_is_no_table_of_groups(
    dbt: Path, tmp_path: Path
) -> None:
    shop = Shop(tmp_path / "shop", dbt)
    model = shop.folder / "models" / "marts" / "health.sql"
    model.write_text(model.read_text().replace("select zip", "select name, zip"))
    shop.dbt("run")
    assert "health.name has no role" in shop.dbt("test", fails=True)
    schema = shop.folder / "models" / "marts" / "marts.yml"
    named = "      - name: name\n        config: {meta: {pii: true}}\n      - name: zip\n"
    schema.write_text(schema.read_text().replace("      - name: zip\n", named, 1))
    assert "health shows name, which is tagged pii" in shop.dbt("test", fails=True)


def test_the_same_on_postgresql(dbt: Path, tmp_path: Path, postgres_url: str) -> None:
    place = conninfo_to_dict(postgres_url)
    shop = Shop(
        tmp_path / "shop",
        dbt,
        postgres_url,
        type="postgres",
        host=place["host"],
        port=int(place["port"]),
        user=place["user"],
        password="",
        dbname=place["dbname"],
        schema="shop",
        threads=1,
    )
    assert shop.failing() == {CLOSENESS, PERFECT}
    assert shop.check(status=1) == {CLOSENESS: "holds", PERFECT: "holds"}
    assert shop.failing() == set()
