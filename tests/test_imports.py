"""Imports point one way, and `import tacit` costs nothing.

Every module of the package belongs to a tier; a tier imports only itself and lower ones. All import
statements count, also those inside functions and for type checkers, and names of modules in
strings: what a module knows about is what it depends on.
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "tacit"

# From the bottom up. `*` is any family: one layer of all families is one part.
TIERS: tuple[tuple[str, ...], ...] = (
    ("errors",),
    ("model",),
    ("engines",),
    ("families.solver",),
    ("families.queries", "families.microdata", "families.synthetic", "families.identifiers"),
    ("families.worlds", "families.overlaps"),
    ("families.*.definitions", "families.definition", "families.parameters", "families.words"),
    ("families.*.repair", "families.*.restore", "families.*.attacks", "families.*.utility"),
    ("families.__init__", "families.catalog", "families.registration", "families.*.registration"),
    ("plan",),
    ("families.composition",),
    ("families.*.reading",),
    ("families.release_kind", "families.answer_files", "families.scope"),
    ("ledger",),
    ("families.family", "families.*.family"),
    ("checking",),
    ("families.*.runs",),
    ("report",),
    ("api", "python_plan", "starter", "demo", "gateway.client"),
    ("gateway",),
    ("workbench",),
    ("cli",),
    ("__init__", "__main__"),
)
PARTS = {part: number for number, parts in enumerate(TIERS) for part in parts}
# These may not import each other, although they stand in one tier.
APART = {"families.worlds", "families.overlaps"}

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


def name_of(path: Path) -> str:
    """The dotted name of a module below tacit; that of a package for its __init__."""
    words = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(words[:-1] if words[-1] == "__init__" and len(words) > 1 else words)


NAMES = {name_of(path) for path in MODULES} - {"__init__", "__main__"}


def part_of(name: str) -> str | None:
    """The part that a module belongs to: the most particular one that fits."""
    fitting = [
        part for part in PARTS if re.match(re.escape(part).replace(r"\*", r"\w+") + r"(\.|$)", name)
    ]
    if name == "families":
        return "families.__init__"
    return max(fitting, key=lambda part: part.count("."), default=None)


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
            for alias in node.names:
                full = f"{module}.{alias.name}"
                yield node.lineno, full if full.removeprefix("tacit.") in NAMES else module
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, name) for name in named_in(node.value))


def named_in(text: str) -> Iterator[str]:
    """The module whose name a string begins with, whole or without `tacit.families.`."""
    for prefix in ("tacit.", "tacit.families."):
        words = text.removeprefix("tacit.").partition(":")[0].strip(".").split(".")
        if not (text.startswith("tacit.") if prefix == "tacit." else len(words) > 3):
            continue
        while words and ".".join([*prefix.split(".")[1:-1], *words]) not in NAMES:
            words.pop()
        if words:
            yield prefix + ".".join(words)


def test_every_module_has_a_place() -> None:
    unplaced = [name for name in sorted(NAMES) if part_of(name) is None]
    assert not unplaced, f"say in TIERS where {unplaced} belong"


def test_a_tier_has_at_most_five_parts_and_each_is_there() -> None:
    assert max(map(len, TIERS)) <= 5
    assert {part_of(name) for name in NAMES} | {"__init__", "__main__"} == set(PARTS)


def test_the_map_for_contributors_has_every_part() -> None:
    told = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    parts = {
        path.name if path.is_file() else f"{path.name}/"
        for folder in (PACKAGE, PACKAGE / "families")
        for path in folder.iterdir()
        if path.suffix == ".py" or (path / "__init__.py").is_file()
    }
    missing = {part for part in parts - {"__main__.py"} if part not in told}
    assert not missing, f"say in CONTRIBUTING.md what {sorted(missing)} are for"


def test_no_folder_is_too_large_to_look_through() -> None:
    folders = {path.parent for path in MODULES}
    sizes = {str(one.relative_to(PACKAGE)): len(list(one.glob("*.py"))) for one in folders}
    assert not {folder: size for folder, size in sizes.items() if size > 26}
    assert len([one for one in PACKAGE.iterdir() if one.name != "__pycache__"]) <= 18


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_imports_point_one_way(path: Path) -> None:
    part = part_of(name_of(path))
    assert part is not None
    upwards = []
    for line, name in imports_of(path):
        other = part_of(name.removeprefix("tacit.")) if name.startswith("tacit.") else None
        beside = {part, other} == APART
        if other is not None and (PARTS[other] > PARTS[part] or beside):
            upwards.append(f"{path.relative_to(ROOT)}:{line} ({part}) imports {name} ({other})")
    assert not upwards, "\n".join(upwards)


def test_no_two_parts_of_a_tier_import_each_other() -> None:
    beside = {
        (part, other)
        for path in MODULES
        for _, name in imports_of(path)
        if name.startswith("tacit.") and (part := part_of(name_of(path)))
        if (other := part_of(name.removeprefix("tacit."))) and other != part
        if PARTS[other] == PARTS[part]
    }
    mutual = {pair for pair in beside if pair[::-1] in beside}
    assert not mutual


@pytest.mark.parametrize(
    "path",
    [path for path in MODULES if part_of(name_of(path)) in ("model", "errors")],
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


# Where statements stand besides `engines`, and why.
SQL_ELSEWHERE = {
    "ledger": "its own database",
    "families.queries.sql": "reads a user's SQL, and writes a query of its own as SQL",
    "gateway.policy": "takes a client's SQL apart, and puts it together again",
    "gateway.postgres": "asks its own database in memory, of the catalogs that clients ask about",
    "workbench.pages.start.views": "shows an example in an empty field",
}
# What has ... in it is an example for somebody who reads a message.
STATEMENT = re.compile(
    r"\s*(ALTER|ATTACH|COPY|CREATE|DELETE|DESCRIBE|DROP|EXECUTE|EXPLAIN|GRANT|INSERT|MERGE|PRAGMA|"
    r"PREPARE|REVOKE|SELECT|SET|TRUNCATE|UPDATE|VALUES|WITH( RECURSIVE)? \S+ AS)\s(?!.*\.\.\.)",
    re.DOTALL,
)


def sql_built_in(path: Path) -> Iterator[str]:
    """Where a module writes a statement as text, or builds a part of one with sqlglot."""
    tree, shown = ast.parse(path.read_text("utf-8")), path.relative_to(ROOT)
    # Parts of a formatted text are looked at with it, and docstrings may have examples.
    aside = {
        id(part)
        for node in ast.walk(tree)
        for part in getattr(node, "values", [getattr(node, "value", None)])
        if isinstance(node, ast.JoinedStr | ast.Expr)
    }
    for node in ast.walk(tree):
        where = f"{shown}:{getattr(node, 'lineno', 0)}"
        if id(node) not in aside and STATEMENT.match(text_of(node)):
            yield f"{where} has SQL as text"
        if isinstance(node, ast.Call) and begins_with_exp(node.func):
            yield f"{where} calls {ast.unparse(node.func)}"


def begins_with_exp(node: ast.AST) -> bool:
    """Is it `exp.` and what follows?"""
    while isinstance(node, ast.Attribute) and not isinstance(node.value, ast.Name):
        node = node.value
    return isinstance(node, ast.Attribute) and ast.unparse(node.value) == "exp"


def text_of(node: ast.AST) -> str:
    """A literal text; x for what is put into a formatted one."""
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "x" for part in node.values)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def test_sql_that_we_send_stands_in_engines() -> None:
    found: dict[str, list[str]] = {one: [] for one in ("", *SQL_ELSEWHERE)}
    for path in MODULES:
        name = name_of(path)
        if part_of(name) != "engines":
            allowed = (one for one in SQL_ELSEWHERE if f"{name}.".startswith(f"{one}."))
            found[next(allowed, "")].extend(sql_built_in(path))
    assert not found[""], "build it in engines/sql:\n" + "\n".join(found[""])
    unused = [one for one in SQL_ELSEWHERE if not found[one]]
    assert not unused, f"{unused} need no exception any more"


def loaded_by(code: str) -> set[str]:
    """The modules that a fresh Python has loaded after some code,
    beyond those that it starts with.
    """
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
    if "--version" in code and "tacit-privacy" not in installed():
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
    heavy = {name.split(".")[0] for name in loaded_by("import tacit.plan.read.load")}
    assert not heavy & {"duckdb", "sqlglot", "numpy", "psycopg", "pyspark"}
