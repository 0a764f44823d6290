"""A session with Spark: starting one where there is none, and what
Spark says when it fails, in our words.
"""

from __future__ import annotations

import importlib
import logging
import os
import re
import socket
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tacit.errors import EngineError, MissingExtra, install_command

MASTER_SECONDS = 5
NO_JAVA = "Install Java 17 or newer (apt install openjdk-17-jre-headless) and set JAVA_HOME to it."
NO_MASTER = "Start the cluster, or correct its address, spark://host:7077 (`source:` of the plan)."


def active_session() -> Any:
    """The session that this thread already works with."""
    try:
        from pyspark.sql import SparkSession
    except ImportError:
        raise MissingExtra("pyspark", extra="spark", purpose="Spark sources") from None
    return SparkSession.getActiveSession()


def start_session(master: str | None) -> Any:
    """A session of our own. What Spark logs goes to a file of its own,
    which is read when the start fails.
    """
    from pyspark import SparkConf, SparkContext, java_gateway
    from pyspark.sql import SparkSession

    be_quiet()
    chosen = settings(master)
    if chosen.get("spark.master", "local").startswith("local"):
        os.environ.setdefault(
            "PYSPARK_PYTHON", sys.executable
        )  # else Spark's workers run whatever python3 is
    if not answers(chosen.get("spark.master", "")):
        raise EngineError("Spark's master does not answer.", hint=NO_MASTER)
    conf = SparkConf().setAppName("tacit").setAll(list(chosen.items()))
    launch: Any = java_gateway.launch_gateway
    with tempfile.TemporaryFile() as log:
        try:
            gateway = SparkContext._gateway or launch(conf, popen_kwargs={"stderr": log})
            return SparkSession(SparkContext(conf=conf, gateway=gateway))
        except Exception as error:
            log.seek(0)
            raise not_started(error, log.read().decode(errors="replace")) from None


def answers(master: str) -> bool:
    """Whether somebody listens at one of the addresses of a master;
    Spark itself would try for a minute.

    >>> answers("local[2]")
    True
    """
    if not master.startswith("spark://"):
        return True
    for address in master.removeprefix("spark://").split(","):
        host, _, port = address.rpartition(":")
        with (
            suppress(OSError, ValueError),
            socket.create_connection((host, int(port)), MASTER_SECONDS),
        ):
            return True
    return False


def settings(master: str | None) -> dict[str, str]:
    """What we ask of Spark. Where nobody configured it: little, quiet and on this machine only.

    >>> settings("spark://host:7077")["spark.master"]
    'spark://host:7077'
    """
    chosen = {
        "spark.log.level": "OFF",
        "spark.sql.ansi.enabled": "true",
        "spark.ui.showConsoleProgress": "false",
    }
    master = master or os.environ.get("SPARK_MASTER")
    if master:
        chosen["spark.master"] = master
    if (
        not (master or "local").startswith("local")
        or {"SPARK_CONF_DIR", "SPARK_HOME"} & os.environ.keys()
    ):
        return chosen
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(os.cpu_count() or 1),
        "spark.sql.warehouse.dir": str(Path(tempfile.gettempdir()) / "tacit-spark-warehouse"),
        **chosen,
    }


def be_quiet() -> None:
    """Silence pyspark's own logger, which would print values, and
    its word on the version of pandas.
    """
    logging.getLogger("SQLQueryContextLogger").disabled = True
    warnings.filterwarnings(
        "ignore", message="PySpark does not yet fully support pandas", category=FutureWarning
    )


def not_started(error: Exception, log: str) -> EngineError:
    """Why there is no session, from the error and from what Spark logged."""
    said = f"{error}\n{log}"
    if re.search(
        r"masters are unresponsive|Could not parse Master|stopped SparkContext|[Mm]aster must", said
    ):
        return EngineError("Spark's master does not answer.", hint=NO_MASTER)
    if re.search(r"JAVA_GATEWAY_EXITED|JAVA_HOME|UnsupportedClassVersion", said):
        return EngineError("Spark cannot start without a Java that suits it.", hint=NO_JAVA)
    return EngineError(f"Spark cannot start: {first_sentence(str(error))}")


@contextmanager
def explaining() -> Iterator[None]:
    """Spark's errors as ours."""
    from pyspark.errors import PySparkException

    java_error = importlib.import_module("py4j.protocol").Py4JError
    try:
        yield
    except (PySparkException, java_error) as error:
        raise EngineError(f"Spark could not answer: {first_sentence(str(error))}") from None


@contextmanager
def explaining_work() -> Iterator[None]:
    """Errors of work that Spark's Python processes do, as ours."""
    from pyspark.errors import PythonException

    with explaining():
        try:
            yield
        except PythonException as error:
            raise work_failed(str(error)) from None


def work_failed(said: str) -> EngineError:
    """What went wrong in Spark's Python processes, from the last line that they print.

    >>> print(
    ...     work_failed(
    ...         "An exception was thrown:\\nTraceback:\\n  File\\ntacit.errors.ParameterError: no draw is good.\\n\\tat java"
    ...     )
    ... )
    Spark's Python could not draw: no draw is good.
    """  # noqa: E501
    found = [line for line in said.splitlines() if re.match(r"[\w.]+(Error|Exception): ", line)]
    kind, _, words = (found or ["Error: no reason given"])[-1].partition(": ")
    if kind == "ModuleNotFoundError":
        return EngineError(
            f"Spark's Python has not all that Tacit needs: {words[0].lower()}{words[1:]}.",
            hint=(
                f"In a clone of Tacit, run {install_command('spark,synthesis')} with the "
                "Python of Spark's workers, or set PYSPARK_PYTHON to one that has it."
            ),
        )
    return EngineError(f"Spark's Python could not draw: {words}")


def first_sentence(text: str) -> str:
    """What Spark has to say, without its class of errors and the stack.

    >>> first_sentence(
    ...     "An error occurred while calling o1.x.\\n: a.B: [C.D] No such thing. SQLSTATE: 42P01\\n\\tat"
    ... )
    'No such thing.'
    """  # noqa: E501
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    said = next(
        (line for line in lines if re.search(r"\[[A-Z_.]+\] ", line)),
        lines[0] if lines else "no reason given",
    )
    return re.sub(r"^.*?\[[A-Z_.]+\] |\s*SQLSTATE: .*$", "", said)
