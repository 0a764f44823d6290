"""Statements for a SQLite file with people in their order, of which pages are read: place, class,
number of the value, and the parts k0, k1, ... of the key.
"""

from __future__ import annotations

# Nobody reads a file that is not whole: it gets its name when it is.
UNGUARDED = ("PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF")
BY_CLASS = "CREATE INDEX by_class ON people (class, place)"


def people_table(wide: int) -> str:
    """Make the table; `wide` is how many parts the key has.

    >>> people_table(1)
    'CREATE TABLE people (place INTEGER PRIMARY KEY, class INTEGER NOT NULL, value INTEGER, k0 TEXT)'
    """  # noqa: E501
    keys = ", ".join(f"{one} TEXT" for one in _keys(wide))
    return (
        "CREATE TABLE people (place INTEGER PRIMARY KEY, class INTEGER NOT NULL, value "
        f"INTEGER, {keys})"
    )


def one_person(wide: int) -> str:
    """Put somebody into the table, as parameters: place, class, value, and the key."""
    return f"INSERT INTO people VALUES ({', '.join('?' * (3 + wide))})"


def page(wide: int, *, search: bool, of_class: bool = False, backwards: bool = False) -> str:
    """Some people in their order, or backwards: class, value, and the key.

    Parameters: the class, with `of_class`; the pattern, with `search`; how many; after how many.

    >>> page(2, search=True, of_class=True)
    "SELECT class, value, k0, k1 FROM people WHERE class = ? AND coalesce(k0, '') || ' ' || coalesce(k1, '') LIKE ? ESCAPE '\\\\' ORDER BY place ASC LIMIT ? OFFSET ?"
    """  # noqa: E501
    shown = ", ".join(["class", "value", *_keys(wide)])
    where = _where(wide, search=search, of_class=of_class)
    order = "DESC" if backwards else "ASC"
    return f"SELECT {shown} FROM people {where}ORDER BY place {order} LIMIT ? OFFSET ?"


def class_sizes(wide: int) -> str:
    """How many people of each class have a key that fits a pattern, the parameter."""
    where = _where(wide, search=True)
    return f"SELECT class, COUNT(*) FROM people NOT INDEXED {where}GROUP BY class"


def pattern(text: str) -> str:
    """The pattern of keys that contain a text.

    >>> print(pattern("50%"))
    %50\\%%
    """
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"


def _where(wide: int, *, search: bool, of_class: bool = False) -> str:
    name = " || ' ' || ".join(f"coalesce({one}, '')" for one in _keys(wide))
    parts = [
        *(["class = ?"] if of_class else []),
        *([f"{name} LIKE ? ESCAPE '\\'"] if search else []),
    ]
    return f"WHERE {' AND '.join(parts)} " if parts else ""


def _keys(wide: int) -> list[str]:
    return [f"k{at}" for at in range(wide)]
