"""What the page Start has done in processes of their own:
looking at a table, listing those of a database.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from tacit.errors import InputError, TacitError
from tacit.model.jobs import Job
from tacit.starter.profile import Profile, profile_data, profile_table
from tacit.starter.survey import PASSWORDS, tables_of
from tacit.workbench.app.reach import load_within
from tacit.workbench.app.uploads import in_page_words


def look_at_data(job: Job, data: str, plan: str, table: str | None, fresh: bool) -> Profile:
    """Profile a file (its path from the plan's folder) or a table of a database, for a plan that is
    not written yet.

    A `fresh` file has just come from the browser:
    it is taken away where it cannot be read, or nobody wants it any more.
    """
    folder = Path(plan).parent
    os.chdir(folder)  # messages then name files as the plan does; this process has no other work
    try:
        with hiding(data):
            return profile_data(data, plan=Path(plan), table=table, job=job)
    except BaseException:
        if fresh:
            (folder / data).unlink(missing_ok=True)
        raise


def look_at_table(job: Job, plan: str, reach: str, table: str) -> Profile:
    """Profile a table of a plan whose files all lie below `reach`."""
    try:
        found = load_within(plan, reach)
        if table not in found.tables:
            raise InputError(
                f"the table {table} is not in the saved plan.", hint="Save the plan first."
            )
        return profile_table(found, table, job=job)
    except TacitError as error:
        in_page_words(error)
        raise


def list_tables(job: Job, data: str, plan: str) -> list[str]:
    """The names of a database's tables."""
    job.step("asking for its tables", 0.1)
    os.chdir(Path(plan).parent)
    with hiding(data):
        return tables_of(data, plan=Path(plan))


def with_password(url: str, password: str) -> str:
    """A database's address with a password that was typed beside it.

    >>> (
    ...     with_password("postgresql://ann@db/clinic", "a:b@c"),
    ...     with_password("postgresql://db/clinic", "x"),
    ... )
    ('postgresql://ann:a%3Ab%40c@db/clinic', 'postgresql://db/clinic?password=x')
    """
    scheme, _, rest = url.partition("://")
    user, at, place = rest.partition("@")
    if not password or (at and ":" in user):
        return url
    if at and "/" not in user:
        return f"{scheme}://{user}:{quote(password, safe='')}@{place}"
    return f"{url}{'&' if '?' in url else '?'}password={quote(password, safe='')}"


def passwords_in(url: str) -> set[str]:
    """The passwords of a database's address, as they are written and as they are meant.

    >>> sorted(passwords_in("postgresql://ann:a%40b@db/clinic?sslmode=require&password=x"))
    ['a%40b', 'a@b', 'x']
    """
    if "://" not in url:
        return set()
    parts = urlsplit(url)
    found = {parts.password or ""} | {
        value for key, value in parse_qsl(parts.query) if key.lower() in PASSWORDS
    }
    return {one for each in found for one in (each, unquote(each)) if each}


@contextmanager
def hiding(url: str) -> Iterator[None]:
    """Keep passwords out of what is said about a database, and
    commands out of what is said to a page.
    """
    try:
        yield
    except TacitError as error:
        for one in error:
            for secret in sorted(passwords_in(url), key=len, reverse=True):
                one.message = one.message.replace(secret, "***")
                one.hint = one.hint.replace(secret, "***") if one.hint else one.hint
            one.args = (one.message,)
        in_page_words(error)
        raise
