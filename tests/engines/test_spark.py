"""Spark: sessions that are ours or somebody else's, and what it says when it cannot start."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tacit.engines.spark.engine import Spark
from tacit.engines.spark.session import settings, start_session
from tacit.engines.sql import shapes
from tacit.errors import DataError, EngineError
from tacit.model.schema import Table

pytestmark = pytest.mark.slow


def test_tables_of_the_catalog_come_before_files(spark_session: Any, tmp_path: Path) -> None:
    (tmp_path / "wards.csv").write_text("name\nfrom the file\n")
    spark_session.createDataFrame([("from the catalog",)], "name STRING").createOrReplaceTempView(
        "wards"
    )
    with Spark(session=spark_session, folder=tmp_path) as engine:
        engine.attach(Table("wards"))
        assert engine.value(shapes.columns_of("wards", ["name"])) == "from the catalog"
        engine.attach(Table("wards", file="wards.csv"))
        assert engine.value(shapes.columns_of("wards", ["name"])) == "from the file"


def test_a_missing_table_names_files_and_catalog(spark_session: Any, tmp_path: Path) -> None:
    spark_session.createDataFrame([(1,)], "a INT").createOrReplaceTempView("inpatients")
    (tmp_path / "other.csv").write_text("a\n1\n")
    with (
        Spark(session=spark_session, folder=tmp_path) as engine,
        pytest.raises(DataError, match=r"other\.csv.*Did you mean 'inpatients'\?"),
    ):
        engine.attach(Table("inpatient"))
    spark_session.catalog.dropTempView("inpatients")


def test_closing_leaves_the_session_of_somebody_else(spark_session: Any) -> None:
    engine = Spark(session=spark_session)
    engine.attach(Table("passing", columns={"a": None}, rows=((1,),)))
    engine.close()
    assert not spark_session.catalog.tableExists("passing")
    assert spark_session.sql("SELECT 1").count() == 1


def test_a_session_that_hides_overflows_is_refused(spark_session: Any) -> None:
    spark_session.conf.set("spark.sql.ansi.enabled", False)
    try:
        with pytest.raises(EngineError, match=r"spark\.sql\.ansi\.enabled"):
            Spark(session=spark_session)
    finally:
        spark_session.conf.set("spark.sql.ansi.enabled", True)


def test_files_with_odd_names_are_found(spark_session: Any, tmp_path: Path) -> None:
    folder = tmp_path / "a b [1] {x} é*"
    folder.mkdir()
    (folder / "t?.csv").write_text("a\n1\n2\n")
    with Spark(session=spark_session, folder=folder) as engine:
        engine.attach(Table("t", file="t?.csv"))
        assert engine.value(shapes.row_count("t")) == 2


def test_settings_follow_the_configuration(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SPARK_MASTER", "SPARK_HOME", "SPARK_CONF_DIR"):
        monkeypatch.delenv(name, raising=False)
    assert "spark.master" not in settings(None)
    assert settings(None)["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.ui.enabled" not in settings("spark://host:7077")
    monkeypatch.setenv("SPARK_MASTER", "spark://other:7077")
    assert settings(None)["spark.master"] == "spark://other:7077"
    assert settings("local[1]")["spark.master"] == "local[1]"


SCRIPT = """
from pathlib import Path
from tacit.engines.sql import shapes
from tacit.engines.open import open_engine
from tacit.model.schema import Table
for source in ("spark", "local[1]"):
    with open_engine(source, Path(".")) as engine:
        engine.attach(Table("t"))
        print(engine.value(shapes.row_count("t")), engine.session.sparkContext.master)
"""


def run(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the script in a process of its own: a JVM cannot be started twice in one."""
    source = str(Path(__file__).parents[2] / "src")
    quick = "PYSPARK_SUBMIT_ARGS"  # how `services` has Java start
    plain = {
        key: value
        for key, value in os.environ.items()
        if key == quick or not key.startswith(("SPARK", "PYSPARK"))
    }
    return subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=folder,
        env={**plain, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
    )


def test_a_session_of_our_own_is_quiet_and_leaves_nothing_behind(
    spark_session: Any, tmp_path: Path
) -> None:
    (tmp_path / "t.csv").write_text("a\n1\n2\n")
    done = run(tmp_path, SPARK_MASTER="local[2]")
    assert (done.returncode, done.stdout, done.stderr) == (0, "2 local[2]\n2 local[1]\n", "")
    assert os.listdir(tmp_path) == ["t.csv"]


def test_a_master_that_does_not_answer_is_an_error_at_once() -> None:
    pytest.importorskip("pyspark", reason="pip install 'tacit-privacy[spark]'")
    with pytest.raises(EngineError, match=r"does not answer\. Start the cluster"):
        start_session("spark://127.0.0.1:1")


def test_without_java_it_says_what_to_install(tmp_path: Path) -> None:
    pytest.importorskip("pyspark", reason="pip install 'tacit-privacy[spark]'")
    done = run(tmp_path, JAVA_HOME=str(tmp_path))
    assert (
        "EngineError: Spark cannot start without a Java that suits it. Install Java 17"
        in done.stderr
    )
