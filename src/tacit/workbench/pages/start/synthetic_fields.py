"""What stands in the form for a synthetic release, as the plan writes it, and which field an
error is about.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction
from posixpath import normpath
from typing import TYPE_CHECKING, Any

from tacit.errors import InputError, TacitError
from tacit.model.release import Synthetic
from tacit.plan.edit.editing import Wish, rewritten
from tacit.plan.edit.wishes.check_wishes import AddCheck
from tacit.plan.edit.wishes.release_wishes import (
    AddRelease,
    RenameRelease,
    SetRelease,
    SetSynthetic,
)
from tacit.plan.edit.wishes.table_wishes import SetDomain
from tacit.plan.read import tree
from tacit.plan.read.document import KeyPath, as_written
from tacit.report.synthesis import not_protected, protected, unit
from tacit.workbench import drafts
from tacit.workbench.pages.start.fields import word
from tacit.workbench.pages.start.views import named

if TYPE_CHECKING:
    from tacit.workbench.bench import Bench, Book
    from tacit.workbench.drafts import PlanDraft

Fields = dict[str, str]  # what is written or chosen, by the name of the field

COLUMNS = (
    "group",
    "value",
)  # these two, and the terms, are asked for even where nothing is written
TERMS = ("epsilon", "delta")
DEFAULTS = {"guarantee": "dp", "mechanism": "dirichlet", "outside": "error", "prior": "uniform"}
OF_FILE = ("value", "latitude", "longitude")  # of a domain: columns of its file
EMPTY: Fields = {
    "name": "",
    "table": "",
    "group": "",
    "value": "",
    "count": "",
    "epsilon": "",
    "delta": "",
    **DEFAULTS,
    "domain": "file",
    "file": "",
    "values": "",
    "within": "",
    "coarsen": "",
    "shrink": "",
    "shrink-file": "",
    "miles": "",
    "beyond": "",
    "accept": "",
}
STAND_INS = {
    "name": "\N{HORIZONTAL ELLIPSIS}",
    "file": "domain.csv",
    "shrink-file": "chances.csv",
    "values": "x",
    "miles": "1: 1",
}  # for what is missing while the rest is looked at
KINDS = {"dp": "differential-privacy", "pdp": "probabilistic-dp"}


class FieldError(InputError):
    """Something that cannot be written into a plan at all; `field` is where it stands."""

    def __init__(self, field: str, message: str, hint: str) -> None:
        self.field = field
        super().__init__(message, hint=hint)


# From the plan to the form


def fields_of(draft: PlanDraft, name: str) -> Fields | None:
    """The form filled with a release of the plan;
    None where there is none, or where the form has no fields for what is written.
    """
    entry = draft.synthetic().get(name)
    if entry is None:
        return None
    keys = entry["synthetic"]
    fields = {
        **EMPTY,
        "name": name,
        "table": word(entry.get("table")),
        **{
            key: word(keys[key]) for key in EMPTY if key in keys and not isinstance(keys[key], dict)
        },
    }
    fields["values"] = listed(draft, fields["table"], fields["value"])
    domain, shrink = keys.get("domain"), keys.get("shrink")
    fields["domain"] = "file" if domain is not None else "list" if fields["values"] else "none"
    inside = domain if isinstance(domain, dict) else {"file": domain}
    fields["file"], fields["within"] = word(inside.get("file")), word(inside.get("within"))
    fields["shrink"] = "miles" if isinstance(shrink, dict) else "file" if shrink is not None else ""
    fields["shrink-file"] = "" if isinstance(shrink, dict) else word(shrink)
    steps = shrink.get("miles") if isinstance(shrink, dict) else None
    fields["miles"] = (
        ", ".join(f"{word(miles)}: {word(keep)}" for miles, keep in steps.items())
        if isinstance(steps, dict)
        else ""
    )
    fields["beyond"] = word(shrink.get("beyond")) if isinstance(shrink, dict) else ""
    try:
        return fields if spelt(keys_of(fields, keys)) == spelt(keys) else None
    except FieldError:
        return None


def spelt(value: Any) -> Any:
    """Values as they are spelt, so that 2 and "2" are the same."""
    if isinstance(value, dict):
        return {word(key): spelt(one) for key, one in value.items()}
    return [spelt(one) for one in value] if isinstance(value, list) else word(value)


def listed(draft: PlanDraft, table: str, column: str) -> str:
    """The values that a table's column can have by the plan, each on a line."""
    domains = draft.table(table).get("domains")
    values = domains.get(column) if isinstance(domains, dict) else None
    return "\n".join(map(word, values)) if isinstance(values, list) else ""


# From the form to the plan


def keys_of(fields: Fields, was: Mapping[Any, Any] | None = None) -> dict[str, Any]:
    """The keys of a synthetic release, as the plan writes them;
    `was` are those that it had, of which the form shows not all.

    >>> keys_of(
    ...     {
    ...         **EMPTY,
    ...         "group": "work",
    ...         "value": "home",
    ...         "epsilon": "2",
    ...         "delta": "0",
    ...         "file": "towns.csv",
    ...     }
    ... )
    {'group': 'work', 'value': 'home', 'epsilon': 2, 'delta': 0, 'domain': 'towns.csv'}
    """
    was = was or {}
    found: dict[str, Any] = {key: fields[key].strip() or None for key in COLUMNS}
    if fields["count"]:
        found["count"] = fields["count"]
    found |= {key: as_written(fields[key].strip()) for key in TERMS}
    found |= {
        key: fields[key]
        for key in ("guarantee", "mechanism")
        if fields[key] != DEFAULTS[key] or key in was
    }
    if fields["domain"] == "file":
        found["domain"] = domain_of(fields, was.get("domain"))
    found |= {
        key: fields[key]
        for key in ("outside", "prior")
        if fields[key] != DEFAULTS[key] or key in was
    }
    if fields["coarsen"]:
        found["coarsen"] = fields["coarsen"]
    if fields["shrink"]:
        found["shrink"] = shrink_of(fields)
    if fields["accept"].strip():
        found["accept"] = as_written(fields["accept"].strip())
    return {
        key: found[key]
        for key in (
            *(one for one in was if one in found),
            *(one for one in found if one not in was),
        )
    }


def domain_of(fields: Fields, was: Any) -> Any:
    """The file of a domain, with what the plan said about it if it is the same one."""
    before = was if isinstance(was, dict) else {}
    kept = {
        key: one
        for key, one in before.items()
        if key not in ("file", "within")
        and (key not in OF_FILE or before.get("file") == fields["file"])
    }
    within = {"within": as_written(fields["within"].strip())} if fields["within"].strip() else {}
    file = chosen(
        fields, "file", "Choose one with all values that there could be, or write a list."
    )
    if not (kept or within or before):
        return file
    made = {"file": file, **kept, **within}
    return {
        key: made[key]
        for key in (
            *(one for one in before if one in made),
            *(one for one in made if one not in before),
        )
    }


def chosen(fields: Fields, key: str, hint: str) -> str:
    """A file that was chosen. Nothing is no answer:
    the plan would read it as if no file were wanted.
    """
    if not fields[key]:
        raise FieldError(key, "no file is chosen.", hint)
    return fields[key]


def shrink_of(fields: Fields) -> Any:
    """The chances of empty cells: a file's, or by distance."""
    if fields["shrink"] == "file":
        return chosen(fields, "shrink-file", "Choose one with the chances, or keep all cells.")
    beyond = {"beyond": as_written(fields["beyond"].strip())} if fields["beyond"].strip() else {}
    return {"miles": steps_of(fields["miles"]), **beyond}


def steps_of(text: str) -> dict[Any, Any]:
    """Miles and the chance to be kept up to there.

    >>> steps_of("2: 1, 5: 1/2"), steps_of("two")
    ({2: 1, 5: '1/2'}, {'two': None})
    """
    found: dict[Any, Any] = {}
    for piece in re.split(r"[,;\n]", text):
        if piece.strip():
            miles, _, keep = piece.partition(":")
            key = as_written(miles.strip())
            if key in found:
                raise FieldError(
                    "miles", f"'miles' has two steps of {miles.strip()}.", "Keep one of them."
                )
            found[key] = as_written(keep.strip())
    return found


def values_of(text: str, *, are_texts: bool) -> tuple[Any, ...]:
    """The values of a domain, one on each line.

    >>> values_of("Ashby\\n\\n 007 \\n12\\n", are_texts=False), values_of("12", are_texts=True)
    (('Ashby', '007', 12), ('12',))
    """
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return tuple(lines if are_texts else map(as_written, lines))


def wishes_of(draft: PlanDraft, fields: Fields, was: str | None) -> list[Wish]:
    """What the form asks for: one more release with the check of what it promises, or another
    text for the release called `was`.
    """
    try:
        name = named(fields["name"])
    except InputError as error:
        raise FieldError("name", error.message, "Write a short one, such as homes.") from None
    wishes: list[Wish] = list(domain_wish(draft, fields))
    if was is None:
        return [
            *wishes,
            AddRelease(name, {"table": fields["table"], "synthetic": keys_of(fields)}),
            AddCheck(KINDS.get(fields["guarantee"], KINDS["dp"]), {"release": name}),
        ]
    entry = draft.synthetic().get(was, {"synthetic": {}})
    return [
        *wishes,
        RenameRelease(was, name),
        SetRelease(name, "table", fields["table"]),
        SetSynthetic(name, keys_of(fields, entry["synthetic"])),
    ]


def domain_wish(draft: PlanDraft, fields: Fields) -> Iterator[Wish]:
    """The list of values, where it counts and is another one than that of the plan."""
    if fields["domain"] != "list" or not fields["value"]:
        return
    now = listed(draft, fields["table"], fields["value"])
    wanted = "\n".join(line.strip() for line in fields["values"].splitlines() if line.strip())
    if not wanted:
        raise FieldError(
            "values",
            "the list is empty.",
            "Write each value that there could be on a line of its own.",
        )
    if wanted != now:
        yield SetDomain(
            fields["table"],
            fields["value"],
            values_of(wanted, are_texts=kind_of(draft, fields["table"], fields["value"]) == "text"),
        )


def kind_of(draft: PlanDraft, table: str, column: str) -> str:
    """What kind of values a column has, if the table was looked at; else nothing."""
    profile = draft.profiles.get(table)
    guess = profile.guess(column) if profile else None
    return guess.facts.kind if guess else ""


# In words


def in_words(fields: Fields) -> tuple[str, ...]:
    """What the release protects and what not, as its reports say it;
    asks for the columns while they are not known.
    """
    if not (fields["value"] and fields["group"]) or fields["value"] == fields["group"]:
        return (
            (
                "Choose the private column and the column of the groups: then this says what "
                "is protected, and what is not."
            ),
        )
    one = Synthetic(
        fields["name"],
        fields["table"],
        fields["group"],
        fields["value"],
        Fraction(1),
        Fraction(0),
        count=fields["count"] or None,
    )
    return f"Protected: {protected(one)}.", f"Not protected: {not_protected(one)}.", unit(one)


def doubt(draft: PlanDraft, fields: Fields) -> str:
    """What is to be said against a domain; nothing where nothing can be seen from here.

    >>> from tacit.workbench.drafts import PlanDraft
    >>> doubt(
    ...     PlanDraft("tables: {t: {file: t.csv}}", None),
    ...     {**EMPTY, "table": "t", "file": "./t.csv"},
    ... )[:31]
    './t.csv is the table t itself: '
    """
    what = (
        "that nobody has another value would be published. List every value that there could "
        "be, from a public source."
    )
    if fields["domain"] == "none" and listed(draft, fields["table"], fields["value"]):
        return f"The plan has a list of the values of {fields['value']}, and it is taken."
    if fields["domain"] == "none":
        other = fields["coarsen"] or (
            fields["prior"] if fields["prior"] != DEFAULTS["prior"] else ""
        )
        return (
            f"The values of {other} are taken: it must be public, and not made from this table."
            if other
            else (
                "The values that the table has are taken, and they are no domain that "
                f"protects: {what}"
            )
        )
    own = (
        draft.files().get(normpath(fields["file"]))
        if fields["domain"] == "file" and fields["file"]
        else None
    )
    return f"{fields['file']} is the table {own} itself: {what}" if own else ""


# Which field an error is about


def refused(
    draft: PlanDraft, book: Book, bench: Bench, fields: Fields, was: str | None
) -> dict[str, list[TacitError]]:
    """What is wrong with the form in the words of the plan's loader, by field;
    "" is for what stands elsewhere. Nothing is changed.
    """
    found: dict[str, list[TacitError]] = {}
    while True:
        try:
            text = rewritten(draft.text, *wishes_of(draft, fields, was))
            break
        except TacitError as error:
            field = (
                error.field
                if isinstance(error, FieldError)
                else field_of(path_of(draft.text, error), fields) or ""
            )
            found[field] = [unplaced(error)]
            if field not in STAND_INS or fields[field] == STAND_INS[field]:
                return found
            fields = {**fields, field: STAND_INS[field]}  # so that what else is wrong is said too
    after = drafts.problems(text, book, bench)
    is_new = after is not None and drafts.problems(draft.text, book, bench) is None
    told = set(found)
    for one in after or ():
        place = field_of(path_of(text, one), fields)
        if (place or is_new) and place not in told:
            found.setdefault(place or "", []).append(unplaced(one))
    return found


def path_of(text: str, error: TacitError) -> KeyPath:
    """What in a text an error is about; nothing where that cannot be told."""
    mark = error.mark
    try:
        return tree.path_at(text, mark.line, mark.column or 1) if mark and mark.line else ()
    except TacitError:
        return ()


def field_of(path: KeyPath, fields: Fields) -> str | None:
    """The field of the form that writes what is at a path; None where no field does.

    >>> form = {**EMPTY, "name": "map", "table": "jobs", "value": "home"}
    >>> [
    ...     field_of(("releases", "map", *rest), form)
    ...     for rest in ((), ("table",), ("synthetic", "delta"), ("synthetic", "domain", "within"))
    ... ]
    ['name', 'table', 'delta', 'within']
    >>> field_of(("tables", "jobs", "domains", "home", 3), form), field_of(("checks", 0), form)
    ('values', None)
    """
    if path[:4] == ("tables", fields["table"], "domains", fields["value"]):
        return "values"
    if path[:2] != ("releases", " ".join(fields["name"].split())):
        return None
    rest = path[2:]
    if rest[:1] != ("synthetic",) or len(rest) < 2:
        return "table" if rest[:1] == ("table",) else "name" if not rest else ""
    inner = str(rest[2]) if len(rest) > 2 else ""
    key = str(rest[1])
    if key in ("domain", "shrink"):
        return (
            inner
            if inner in ("within", "miles", "beyond")
            else "file"
            if key == "domain"
            else "shrink-file"
            if fields["shrink"] == "file"
            else "shrink"
        )
    return key if key in EMPTY else ""


def unplaced(error: TacitError) -> TacitError:
    """An error without its place, which is in a text that nobody sees."""
    error.mark = None
    return error
