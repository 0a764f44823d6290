"""Whatever stands in the file, the reader answers with a plan or with a TacitError."""

from __future__ import annotations

from copy import deepcopy
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.errors import TacitError
from tacit.plan.plan import Plan
from tacit.plan.read.document import Faults, as_written, parse, plain_values
from tacit.plan.read.load import load_plan

PLANS = Path(__file__).parent / "plans"
TEXTS = {path.stem: path.read_text(encoding="utf-8") for path in sorted(PLANS.glob("*.yaml"))}
WORDS = sorted({word for text in TEXTS.values() for word in text.replace(",", " ").split()})
PUNCTUATION = [
    "\n",
    "  ",
    "- ",
    ": ",
    "{",
    "}",
    "[",
    "]",
    ",",
    '"',
    "'",
    "*",
    "&a ",
    "*a",
    "!!int ",
    "|\n",
    "#",
    "\t",
    "? ",
]

scalars = (
    st.none()
    | st.booleans()
    | st.integers(-3, 10**30)
    | st.sampled_from([0.5, -1.5, 1e300, float("nan")])
    | st.text(max_size=8)
    | st.sampled_from(
        [
            "*",
            "x.sql",
            "\0",
            "\0.sql",
            "1/0",
            "1/3",
            "1e99999",
            "postgresql://a:b@c",
            "ledger",
            "../../..",
        ]
    )
    | st.sampled_from(WORDS)
)
anything = st.recursive(
    scalars,
    lambda part: st.lists(part, max_size=3) | st.dictionaries(scalars, part, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("plans")
    (folder / "views").mkdir()
    (folder / "views" / "wards.sql").write_text("SELECT ward FROM staff", encoding="utf-8")
    return folder


def read(folder: Path, text: str) -> Plan | TacitError:
    """A plan, or an error that can be printed, in text and in JSON,
    with carets inside their lines.
    """
    path = folder / "tacit.yaml"
    path.write_text(text, encoding="utf-8")
    try:
        return load_plan(path, need_checks=True)
    except TacitError as error:
        for one in error:
            assert str(one) and one.to_json()["message"]
            if one.mark and one.mark.text is not None and one.mark.column:
                assert one.mark.column <= len(one.mark.text) + 1
        return error


quick = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


@quick
@given(parts=st.lists(st.sampled_from(WORDS + PUNCTUATION * 6) | st.text(max_size=3), max_size=40))
def test_text_that_looks_like_a_plan(folder, parts):
    read(
        folder, "version: 1\n" + "".join(parts).replace("\r", "").encode("utf-8", "ignore").decode()
    )


@quick
@given(name=st.sampled_from(sorted(TEXTS)), data=st.data())
def test_a_plan_with_characters_changed(folder, name, data):
    text = TEXTS[name]
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 12))
        text = (
            text[:at] + data.draw(st.sampled_from([*PUNCTUATION, "x", "0", ""])) + text[at + cut :]
        )
    read(folder, text)


def mutate(value: Any, data: st.DataObject) -> Any:
    """Delete, rename, copy or replace something inside a value."""
    if isinstance(value, dict) and value and data.draw(st.booleans()):
        key = data.draw(st.sampled_from(list(value)))
        what = data.draw(st.sampled_from(["delete", "rename", "replace", "copy"]))
        if what == "delete":
            del value[key]
        elif what == "rename":
            value[data.draw(scalars | st.just(f"{key}s"))] = value.pop(key)
        elif what == "copy":
            value[data.draw(st.sampled_from(list(value)))] = deepcopy(value[key])
        else:
            value[key] = data.draw(anything)
        return value
    if isinstance(value, dict) and value:
        key = data.draw(st.sampled_from(list(value)))
        value[key] = mutate(value[key], data)
        return value
    if isinstance(value, list) and value:
        at = data.draw(st.integers(0, len(value) - 1))
        value[at] = mutate(value[at], data)
        return value
    return data.draw(anything)


@quick
@given(name=st.sampled_from(sorted(TEXTS)), data=st.data())
def test_a_plan_with_keys_and_values_changed(folder, name, data):
    document = parse(TEXTS[name])
    values = plain_values(document, Faults(document))
    for _ in range(data.draw(st.integers(1, 3))):
        values = mutate(values, data)
    read(folder, yaml.dump(values, Dumper=Dumper, allow_unicode=True, sort_keys=False))


class Dumper(yaml.SafeDumper):
    """Writes exact decimals as they were read."""


Dumper.add_representer(
    Decimal, lambda dumper, value: dumper.represent_scalar("tag:yaml.org,2002:float", str(value))
)


@given(word=st.text(alphabet="0123456789.-+eE_:x", max_size=12))
def test_a_number_is_exact_or_stays_text(word):
    value = as_written(word)
    if isinstance(value, str):
        assert value == word
    elif value is not None:
        assert Decimal(word) == value and type(value) in (int, Decimal)
