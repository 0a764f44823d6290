"""Statements: what a text of SQL asks the session itself to do, and what it asks of the data.

Only the first words are read here. Whatever is no command of the session goes to the gateway's
decision, which reads it as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tacit.gateway.postgres.postgres_errors import Trouble
from tacit.gateway.postgres.rows import CopyForm

TOKEN = re.compile(
    r"""(?P<space>\s+|--[^\n]*)
    |(?P<comment>/\*)
    |(?P<dollar>\$(?P<tag>[^\W\d]\w*)?\$)
    |(?P<string>[eE]'(?:[^'\\]|\\.|'')*'|'(?:[^']|'')*')
    |(?P<name>"(?:[^"]|"")*")
    |(?P<word>[^\W\d][\w$]*)
    |(?P<number>\d[\w.]*)
    |(?P<other>.)""",
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True, slots=True)
class SqlToken:
    """A piece of SQL: its kind, its text, and where it begins."""

    kind: str
    text: str
    at: int

    @property
    def word(self) -> str:
        """In small letters, where it is a word; a quoted name as it is."""
        if self.kind == "name":
            return self.text[1:-1].replace('""', '"')
        return self.text.lower()

    @property
    def value(self) -> str:
        """What a string or a word stands for."""
        if self.kind == "string" and self.text[0] in "eE":
            return re.sub(r"\\(.)", _unescaped, self.text[2:-1].replace("''", "'"))
        return self.text[1:-1].replace("''", "'") if self.kind == "string" else self.word


def _unescaped(found: re.Match[str]) -> str:
    return {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f"}.get(found[1], found[1])


def tokens(sql: str) -> Iterator[SqlToken]:
    """The pieces of a text, without spaces and comments.

    >>> [one.text for one in tokens("SELECT $x$a;b$x$ /* c /* d */ */ ; -- e")]
    ['SELECT', '$x$a;b$x$', ';']
    """
    at = 0
    while at < len(sql):
        found = TOKEN.match(sql, at)
        assert found is not None
        kind, end = found.lastgroup or "other", found.end()
        kind = "dollar" if kind == "tag" else kind
        if kind == "comment":
            end = _comment_end(sql, at)
        elif kind == "dollar":
            close = sql.find(found[0], end)
            end = len(sql) if close < 0 else close + len(found[0])
        if kind not in ("space", "comment"):
            yield SqlToken(kind, sql[at:end], at)
        at = end


def _comment_end(sql: str, at: int) -> int:
    depth = 0
    for found in re.compile(r"/\*|\*/").finditer(sql, at):
        depth += 1 if found[0] == "/*" else -1
        if not depth:
            return found.end()
    return len(sql)


def split(sql: str) -> list[str]:
    """The statements of a text; what stands between semicolons with nothing in it is none.

    >>> split("SELECT 1; SELECT ';' ;; ")
    ['SELECT 1', " SELECT ';' "]
    """
    found, start, some = [], 0, False
    for one in tokens(sql):
        if one.text == ";":
            if some:
                found.append(sql[start : one.at])
            start, some = one.at + 1, False
        else:
            some = True
    return [*found, sql[start:]] if some else found


TEXT_COPY = CopyForm()


@dataclass(frozen=True, slots=True)
class Command:
    """What a statement is. `kind` is `query` for all that is not the session's own.

    `name` is a setting, a cursor, a savepoint or a statement; `value` what a setting is to be;
    `query` the query of a COPY or a cursor; `count` how many rows are fetched (None: all).
    """

    kind: str
    tag: str = ""
    name: str = ""
    value: str | None = None
    query: str = ""
    count: int | None = None
    copy: CopyForm = TEXT_COPY


def command_of(sql: str) -> Command:
    """What a statement asks for.

    >>> command_of("start transaction read only").kind, command_of("set a.b to 'c', d").value
    ('begin', 'c, d')
    >>> command_of("COPY wards TO STDOUT").query
    'SELECT * FROM wards'
    """
    found = list(tokens(sql))
    if not found:
        return Command("empty")
    words = [one.word if one.kind == "word" else "" for one in found[:4]]
    read = COMMANDS.get(words[0])
    return (read and read(sql, found, words)) or Command("query", query=sql)


def _begin(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    if words[0] == "start" and words[1:2] != ["transaction"]:
        return None
    return Command("begin", "START TRANSACTION" if words[0] == "start" else "BEGIN")


def _commit(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    return None if "prepared" in words else Command("commit", "COMMIT")


def _rollback(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    if "prepared" in words:
        return None
    if "to" in words:
        return Command("rollback to", "ROLLBACK", name=found[-1].word)
    return Command("rollback", "ROLLBACK")


def _savepoint(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    kind = "savepoint" if words[0] == "savepoint" else "release"
    return Command(kind, kind.upper(), name=found[-1].word)


def _set(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    rest = found[1:]
    if words[1:3] == ["session", "characteristics"] or words[1:2] == ["transaction"]:
        return Command("transaction", "SET")
    if rest and rest[0].word in ("session", "local") and rest[0].kind == "word":
        rest = rest[1:]
    if [one.word for one in rest[:2]] == ["time", "zone"]:
        return Command("set", "SET", "timezone", _values(rest[2:]))
    name, after = _setting(rest)
    if not name or not after or after[0].word not in ("=", "to"):
        return None
    return Command("set", "SET", name, _values(after[1:]))


def _setting(rest: list[SqlToken]) -> tuple[str, list[SqlToken]]:
    """The name of a setting, with dots, and what follows it."""
    parts: list[str] = []
    while rest and rest[0].kind in ("word", "name"):
        parts.append(rest[0].word.lower())
        rest = rest[1:]
        if not rest or rest[0].text != ".":
            break
        rest = rest[1:]
    return ".".join(parts), rest


def _values(rest: list[SqlToken]) -> str | None:
    """The value of a setting, None for DEFAULT; several with commas."""
    if len(rest) == 1 and rest[0].word in ("default", "local") and rest[0].kind == "word":
        return None
    return "".join(", " if one.text == "," else one.value for one in rest)


def _reset(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    name = "timezone" if words[1:3] == ["time", "zone"] else _setting(found[1:])[0]
    return Command("reset", "RESET", name)


def _show(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    if words[1:4] == ["transaction", "isolation", "level"]:
        return Command("show", "SHOW", "transaction_isolation")
    if words[1:3] == ["time", "zone"]:
        return Command("show", "SHOW", "timezone")
    if words[1:3] == ["session", "authorization"]:
        return Command("show", "SHOW", "session_authorization")
    return Command("show", "SHOW", _setting(found[1:])[0])


def _deallocate(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    name = "" if words[-1] == "all" and found[-1].kind == "word" else found[-1].word
    return Command("deallocate", "DEALLOCATE" if name else "DEALLOCATE ALL", name)


def _close(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    name = "" if words[1:2] == ["all"] else found[-1].word
    return Command("close", "CLOSE CURSOR" if name else "CLOSE CURSOR ALL", name)


def _discard(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    return Command("discard", f"DISCARD {words[1].upper()}" if len(words) > 1 else "DISCARD")


def _nothing(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    return Command("nothing", words[0].upper())


def _declare(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    at = next((at for at, one in enumerate(found) if one.word == "for"), None)
    if at is None or len(found) < at + 2 or "cursor" not in [one.word for one in found[2:at]]:
        return None
    if any(one.word == "binary" for one in found[2:at]):
        raise Trouble("0A000", "a binary cursor is not opened.", hint="Leave BINARY out.")
    return Command("declare", "DECLARE CURSOR", found[1].word, query=sql[found[at + 1].at :])


def _fetch(sql: str, found: list[SqlToken], words: list[str]) -> Command:
    """FETCH and MOVE, forward only."""
    rest = [one for one in found[1:-1] if one.word not in ("from", "in", "forward", "next")]
    said = [one.word for one in rest]
    if said == ["all"]:
        count = None
    elif not said:
        count = 1
    elif len(said) == 1 and said[0].isdigit() and len(said[0]) < 10:
        count = int(said[0])
    else:
        raise Trouble(
            "0A000", "a cursor goes forward only.", hint="Write FETCH FORWARD 100 FROM c."
        )
    return Command(words[0], words[0].upper(), found[-1].word, count=count)


def _copy(sql: str, found: list[SqlToken], words: list[str]) -> Command | None:
    """COPY (query) TO STDOUT, or COPY table [(columns)] TO STDOUT."""
    depth, at = 0, None
    for number, one in enumerate(found):
        depth += (one.text == "(") - (one.text == ")")
        if not depth and one.kind == "word" and one.word in ("to", "from") and number > 1:
            at = number
            break
    if at is None or found[at].word == "from":
        return None
    if found[at + 1 : at + 2] and found[at + 1].word != "stdout":
        raise Trouble(
            "42501", "COPY writes to STDOUT only.", hint="Write COPY (SELECT ...) TO STDOUT."
        )
    body = sql[found[1].at : found[at].at].strip()
    if found[1].text == "(":
        query = body[1:-1]
    else:
        open_at = next((one.at for one in found[1:at] if one.text == "("), None)
        table = body if open_at is None else sql[found[1].at : open_at].strip()
        columns = "*" if open_at is None else sql[open_at:].partition("(")[2].partition(")")[0]
        query = f"SELECT {columns} FROM {table}"
    return Command("copy", "COPY", query=query, copy=copy_form(found[at + 2 :]))


def copy_form(said: list[SqlToken]) -> CopyForm:
    """The options of a COPY, in the new way in brackets or in the old one."""
    form: dict[str, object] = {}
    rest = [one for one in said if one.text not in ("(", ")", ",") and one.word != "with"]
    while rest:
        word, rest = rest[0].word, rest[1:]
        if word in ("csv", "binary", "text"):
            form["format"] = word
        elif word == "format" and rest:
            form["format"], rest = rest[0].value.lower(), rest[1:]
        elif word == "header":
            form["header"] = True
            if rest and rest[0].word in ("true", "on", "1", "false", "off", "0", "match"):
                form["header"], rest = rest[0].word in ("true", "on", "1"), rest[1:]
        elif word in ("delimiter", "null", "quote", "escape") and rest:
            rest = rest[1:] if rest[0].word == "as" else rest
            form[word], rest = rest[0].value, rest[1:]
        elif word == "force_quote" and rest and rest[0].text == "*":
            form["force_quote"], rest = True, rest[1:]
        elif word == "encoding" and rest and rest[0].value.lower() in ("utf8", "utf-8"):
            rest = rest[1:]
        else:
            raise Trouble(
                "0A000",
                f"COPY with {word} is not written.",
                hint="There are FORMAT, HEADER, DELIMITER, NULL, QUOTE, ESCAPE, FORCE_QUOTE *.",
            )
    made = CopyForm(**form)  # type: ignore[arg-type]
    if made.format not in ("text", "csv", "binary"):
        raise Trouble(
            "22023", f"COPY has no format {made.format!r}.", hint="Use text, csv, binary."
        )
    for one in (made.delimiter, made.quote, made.escape):
        if one is not None and (len(one) != 1 or not one.isascii() or one in "\r\n"):
            raise Trouble("22023", "delimiter, quote and escape of a COPY are one letter each.")
    return made


COMMANDS = {
    "begin": _begin,
    "start": _begin,
    "commit": _commit,
    "end": _commit,
    "rollback": _rollback,
    "abort": _rollback,
    "savepoint": _savepoint,
    "release": _savepoint,
    "set": _set,
    "reset": _reset,
    "show": _show,
    "deallocate": _deallocate,
    "close": _close,
    "discard": _discard,
    "listen": _nothing,
    "unlisten": _nothing,
    "declare": _declare,
    "fetch": _fetch,
    "move": _fetch,
    "copy": _copy,
}
