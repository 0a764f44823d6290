"""What the site has beside the pages: every public name of Python, from its docstrings, and links
to files that are no pages.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from textwrap import indent
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

import tacit
from tacit.families.definition import Definition

ROOT = Path(__file__).parents[1]
NAMES = "reference/python-names.md"
SHIM = "https://unpkg.com/iframe-worker/shim"
LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?P<file>\.\./[^)#]+)[^)]*\)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the page of names."""
    files.append(File.generated(config, NAMES, content=python_names()))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """A link out of docs/ becomes the path that it names: the site has no such file."""

    def kept(found: re.Match[str]) -> str:
        target = (ROOT / "docs" / page.file.src_uri).parent.joinpath(found["file"]).resolve()
        if target.is_relative_to(ROOT / "docs"):
            return found[0]
        return f"{found['text']} (`{target.relative_to(ROOT)}`)"

    return LINK.sub(kept, markdown)


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """The theme's help for search in files comes from another host; ours lies beside the pages."""
    return output.replace(SHIM, get_relative_url("search-from-files.js", page.url))


def on_post_template(output_content: str, **_: Any) -> str:
    """The same for the page of what is not found."""
    return output_content.replace(SHIM, "search-from-files.js")


def python_names() -> str:
    """A page with the signature and the docstring of each public name."""
    parts = ["# Python, every name\n\nFrom the docstrings. [By example](python.md) is the guide.\n"]
    for name in sorted(tacit.__all__, key=str.casefold):
        parts.append(f"## {name}\n\n{described(getattr(tacit, name), name)}")
        parts.extend(
            f"### {name}.{method}\n\n{described(member, method)}"
            for method, member in methods(getattr(tacit, name))
        )
    return "\n".join(parts)


def methods(thing: Any) -> list[tuple[str, Any]]:
    """The public methods and properties that a class defines itself; those of definitions are for
    the checking of plans.
    """
    if not inspect.isclass(thing) or issubclass(thing, Definition):
        return []
    return [
        (name, member)
        for name, member in vars(thing).items()
        if not name.startswith("_")
        and (inspect.isfunction(member) or isinstance(member, property | classmethod))
        and inspect.getdoc(member)
    ]


def described(thing: Any, name: str) -> str:
    """Signature and docstring as Markdown."""
    text = as_markdown(inspect.getdoc(thing) or "")
    callable_part = getattr(thing, "__func__", thing)
    if isinstance(thing, property) or not callable(callable_part):
        return f"{text}\n"
    return f"```python\n{signature(callable_part, name)}\n```\n\n{text}\n"


class Annotation(str):
    """A type as it is written; `inspect` would put it into quotes."""

    def __repr__(self) -> str:
        return str(self)


def signature(thing: Any, name: str) -> str:
    """How it is called, one argument a line where it is long."""
    try:
        found = inspect.signature(thing)
    except ValueError:
        return name
    arguments = [
        one.replace(annotation=Annotation(one.annotation))
        if isinstance(one.annotation, str)
        else one
        for one in found.parameters.values()
    ]
    result = found.return_annotation
    result = Annotation(result) if isinstance(result, str) else result
    line = f"{name}{found.replace(parameters=arguments, return_annotation=result)}"
    if len(line) <= 88:
        return line.removesuffix(" -> None")
    lines, starred = [], False
    for one in arguments:
        if one.kind is one.KEYWORD_ONLY and not starred:
            lines.append("*")
            starred = True
        lines.append(str(one))
    text = indent(",\n".join(lines), "    ")
    shown = "" if result in (inspect.Signature.empty, None, "None") else f" -> {result}"
    return f"{name}(\n{text},\n){shown}"


def as_markdown(docstring: str) -> str:
    """A docstring with its examples in fences."""
    parts = []
    for part in docstring.split("\n\n"):
        is_example = part.lstrip().startswith(">>>")
        parts.append(f"```python\n{inspect.cleandoc(part)}\n```" if is_example else part)
    return "\n\n".join(parts)
