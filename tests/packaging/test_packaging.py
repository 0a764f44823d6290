"""Tacit as others get it: a wheel and an sdist in empty environments, the hook, the Action."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.slow


def run(
    *command: str | Path, cwd: Path, status: int = 0, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Run a command as somebody who has nothing but a path and a home; how it must end."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**kept, **environment},
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == status, f"{command}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture(scope="session")
def reaches_packages(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Leave out, with a reason, what installs packages where none can be had."""
    done = subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "click"],
        cwd=tmp_path_factory.mktemp("reaches"),
        capture_output=True,
        text=True,
        timeout=120,
    )
    if done.returncode:
        pytest.skip("no packages can be had: pip download click failed")


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the wheel and the sdist of this tree."""
    pytest.importorskip("build", reason="no build: pip install build hatchling")
    folder = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ".", cwd=ROOT)
    return folder


def test_the_wheel_holds_the_package_and_all_its_files(built: Path) -> None:
    (wheel,) = built.glob("tacit_privacy-*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    tracked = run("git", "ls-files", "src/tacit", cwd=ROOT).stdout.split()
    assert {name.removeprefix("src/") for name in tracked} <= names
    assert not {name for name in names if name.startswith(("tests/", "docs/", "src/"))}


def test_the_sdist_can_be_tested(built: Path) -> None:
    (sdist,) = built.glob("tacit_privacy-*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"Makefile", "LICENSE", "constraints.txt", "tests/conftest.py"} <= names


@pytest.mark.parametrize("pattern", ["tacit_privacy-*.whl", "tacit_privacy-*.tar.gz"])
def test_the_demo_runs_in_an_empty_environment(
    built: Path, pattern: str, tmp_path: Path, reaches_packages: None
) -> None:
    (archive,) = built.glob(pattern)
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    lock = ROOT / "constraints.txt"
    run(python, "-m", "pip", "install", "--quiet", "-c", lock, archive, cwd=tmp_path)
    tacit = tmp_path / "empty" / "bin" / "tacit"
    done = run(tacit, "demo", "hospital", cwd=tmp_path)
    assert "DO NOT RELEASE" in done.stdout and "tacit-privacy[web]" in done.stdout
    # An extra can be added by the name that messages say, although it is from no index.
    asked = run(tacit, "check", "hospital/tacit.yaml", "--json", cwd=tmp_path, status=1)
    assert '"breached"' in asked.stdout
    run(python, "-m", "pip", "install", "--quiet", "tacit-privacy[report]", cwd=tmp_path)


def copy_of_the_repository(tmp_path: Path) -> Path:
    """This tree as a repository of its own, which a hook can be installed from."""
    copy = tmp_path / "tacit"
    tracked = run("git", "ls-files", "-z", cwd=ROOT).stdout.split("\0")
    wanted = (
        "src/",
        "docs/",
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "NOTICE",
        ".pre-commit-hooks.yaml",
    )
    for name in tracked:
        if name.startswith(wanted) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    commit_all(copy)
    return copy


def commit_all(folder: Path) -> None:
    """Make a folder a repository with one commit."""
    run("git", "init", "--quiet", cwd=folder)
    run("git", "add", "--all", cwd=folder)
    names = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    run("git", *names, "commit", "--quiet", "--message", "All of it", cwd=folder)


INSTALLED = sorted(
    set(re.findall(r"\$\(INSTALL\) -e '(\.\[.+?\])'", (ROOT / "Makefile").read_text()))
)


@pytest.mark.parametrize("extras", INSTALLED)
def test_what_make_installs_is_there_in_the_versions_of_the_constraints(
    extras: str, reaches_packages: None
) -> None:
    pytest.importorskip("uv", reason="no uv: pip install uv")
    uv = [sys.executable, "-m", "uv", "pip", "install", "--system-certs", "--dry-run"]
    run(*uv, "--python", sys.executable, "-c", "constraints.txt", "-e", extras, cwd=ROOT)


def test_the_hook_stops_a_commit_whose_plan_is_breached(
    tmp_path: Path, reaches_packages: None
) -> None:
    pytest.importorskip("pre_commit", reason="no pre-commit: pip install pre-commit")
    repository = tmp_path / "clinic"
    run(sys.executable, "-m", "tacit", "demo", repository, cwd=tmp_path)
    commit_all(repository)
    hook = ["-m", "pre_commit", "try-repo", copy_of_the_repository(tmp_path), "tacit-check"]
    done = run(
        sys.executable,
        *hook,
        "--all-files",
        "--verbose",
        cwd=repository,
        status=1,
        PRE_COMMIT_HOME=str(tmp_path / "cache"),
    )
    assert "DO NOT RELEASE" in done.stdout and "tacit check" in done.stdout


@pytest.fixture(scope="module")
def action() -> dict[str, str]:
    """The Action's two steps, as shell."""
    steps = yaml.safe_load((ROOT / "action.yml").read_text("utf-8"))["runs"]["steps"]
    return {step["name"]: step["run"] for step in steps}


def test_the_action_annotates_the_plan_and_keeps_the_exit_status(
    action: dict[str, str], tmp_path: Path
) -> None:
    run(sys.executable, "-m", "tacit", "demo", tmp_path / "clinic", cwd=tmp_path)
    summary = tmp_path / "summary.md"
    inputs = {"PLAN": "clinic/tacit.yaml", "FAIL_ON": "undecided", "SARIF": "found.sarif"}
    where = {"RUNNER_TEMP": str(tmp_path), "GITHUB_STEP_SUMMARY": str(summary), "CI": "true"}
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    script = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", action["Check the plan"]]
    done = run(*script, cwd=tmp_path, status=1, **inputs, **where, PATH=path)
    assert done.stdout.startswith("::error file=clinic/tacit.yaml,line=22,")
    assert "**breached**" in summary.read_text() and (tmp_path / "found.sarif").exists()
    missing = {**inputs, "PLAN": "no.yaml"}
    run(*script, cwd=tmp_path, status=2, **missing, **where, PATH=path)


def test_the_action_installs_tacit_with_the_extras_that_are_named(
    action: dict[str, str], tmp_path: Path, reaches_packages: None
) -> None:
    venv.create(tmp_path / "empty", with_pip=True)
    path = f"{tmp_path / 'empty' / 'bin'}{os.pathsep}{os.environ['PATH']}"
    script = ["bash", "-eo", "pipefail", "-c", action["Install Tacit"]]
    where = {"GITHUB_ACTION_PATH": str(ROOT), "EXTRAS": "report", "PATH": path}
    run(*script, cwd=tmp_path, **where)
    run("python", "-c", "import tacit, vl_convert", cwd=tmp_path, PATH=path)
