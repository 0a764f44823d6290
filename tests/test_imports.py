"""Imports point one way, and `import tacit` costs nothing.

Every module of the package belongs to a tier; a tier imports only itself and lower ones. All import
statements count, also those inside functions and for type checkers: what a module knows about is
what it depends on.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tacit"

# From the bottom up. `errors`, `files` and `jobs` are small helpers that anybody may use.
TIERS: tuple[frozenset[str], ...] = (
    frozenset({"errors"}),
    frozenset({"model"}),
    frozenset({"files", "jobs"}),
    frozenset({"queries", "tables", "worlds", "overlap", "synthesis", "engines"}),
    frozenset({"definitions"}),
    frozenset({"repairs", "utility", "ledger"}),
    frozenset(
        {
            "plan",
            "attacks",
            "anonymization",
            "restoration",
            "source",
            "readings",
            "declared_distances",
            "explained_worlds",
            "overlap_asking",
            "view_asking",
            "synthesis_asking",
            "synthesizing",
            "assess",
            "given",
            "api",
            "starter",
            "demo",
            "report",
            "server",
            "web",
            "holdings",
            "client",
            "cli",
            "__init__",
            "__main__",
        }
    ),
)
TIER = {name: number for number, names in enumerate(TIERS) for name in names}

HEAVY = (
    "numpy",
    "duckdb",
    "sqlglot",
    "pydantic",
    "rich",
    "jinja2",
    "yaml",
    "psycopg",
    "pyspark",
    "pandas",
    "ortools",
    "nicegui",
    "scipy",
    "flint",
)

MODULES = sorted(PACKAGE.rglob("*.py"))


def part_of(path: Path) -> str:
    """The package or module right below tacit that a file belongs to."""
    inside = path.relative_to(PACKAGE)
    return inside.parts[0].removesuffix(".py")


def imports_of(path: Path) -> Iterator[tuple[int, str]]:
    """Every module that a file imports, with the line, wherever the statement stands."""
    package = ("tacit", *path.relative_to(PACKAGE).parent.parts)
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            base = ".".join(package[: len(package) - node.level + 1]) if node.level else ""
            module = ".".join(part for part in (base, node.module) if part)
            if module == "tacit":
                yield from ((node.lineno, f"tacit.{alias.name}") for alias in node.names)
            else:
                yield node.lineno, module
        elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module"):
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant):
                    yield node.lineno, str(argument.value)


def test_every_part_has_a_place() -> None:
    unplaced = {part_of(path) for path in MODULES} - set(TIER)
    assert not unplaced, f"say in TIERS where {sorted(unplaced)} belong"


def test_the_map_for_contributors_has_every_part() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    parts = {
        path.name if path.is_file() else f"{path.name}/"
        for path in PACKAGE.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    missing = {part for part in parts - {"__main__.py"} if part not in told}
    assert not missing, f"say in CONTRIBUTING.md what {sorted(missing)} are for"


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_imports_point_one_way(path: Path) -> None:
    here = TIER[part_of(path)]
    upwards = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for line, name in imports_of(path)
        if name.startswith("tacit.") and TIER.get(name.split(".")[1], here) > here
    ]
    assert not upwards, "\n".join(upwards)


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if part_of(path) in ("model", "errors", "jobs")],
    ids=lambda path: path.name,
)
def test_the_model_knows_the_standard_library_only(path: Path) -> None:
    allowed = ("tacit.model", "tacit.errors")
    outside = [
        f"{path.relative_to(ROOT)}:{line} imports {name}"
        for line, name in imports_of(path)
        if not name.startswith(allowed) and name.split(".")[0] not in sys.stdlib_module_names
    ]
    assert not outside, "\n".join(outside)


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after some code, beyond those that it starts with."""
    script = (
        "import json, sys, io, contextlib\n"
        "before = set(sys.modules)\n"
        "with contextlib.redirect_stdout(io.StringIO()):\n"
        "    try:\n"
        + "".join(f"        {line}\n" for line in code.splitlines())
        + "    except SystemExit as exit:\n"
        "        assert not exit.code, exit.code\n"
        "print(json.dumps(sorted(set(sys.modules) - before)))\n"
    )
    path = [str(ROOT / "src")]
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = {path!r}\n{script}"],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout))


def test_import_tacit_loads_the_standard_library_only() -> None:
    foreign = {
        name
        for name in loaded_by("import tacit")
        if name.split(".")[0] not in sys.stdlib_module_names and name.split(".")[0] != "tacit"
    }
    assert not foreign


def test_import_tacit_loads_no_other_module_of_its_own() -> None:
    assert {name for name in loaded_by("import tacit") if name.startswith("tacit.")} == set()


HELP = "import sys\nsys.argv = ['tacit', '--help']\nfrom tacit.cli import main\nmain()"


@pytest.mark.parametrize(
    "code",
    [
        "import tacit",
        HELP,
        HELP.replace("'--help'", "'check', '--help'"),
        HELP.replace("--help", "--version"),
    ],
    ids=["import", "help", "check-help", "version"],
)
def test_nothing_heavy_is_loaded_before_it_is_needed(code: str) -> None:
    if "--version" in code and "tacit" not in installed():
        pytest.skip("tacit is not installed, it runs from its folder")
    heavy = {name.split(".")[0] for name in loaded_by(code)} & set(HEAVY)
    assert not heavy


def installed() -> set[str]:
    from importlib.metadata import distributions

    return {one.metadata["Name"] for one in distributions()}


def test_every_public_name_is_there_and_documented() -> None:
    import tacit

    for name in tacit.__all__:
        assert getattr(tacit, name).__doc__, name
    assert set(tacit.__all__) <= set(dir(tacit))
    with pytest.raises(AttributeError, match="no_such_name"):
        tacit.no_such_name  # noqa: B018


def test_loading_a_plan_does_not_load_an_engine() -> None:
    heavy = {name.split(".")[0] for name in loaded_by("import tacit.plan.load")}
    assert not heavy & {"duckdb", "sqlglot", "numpy", "psycopg", "pyspark"}
