"""`tacit user`: who may ask the gateway, and as which roles; who may open the workbench."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.audits import audit_of, audit_option
from tacit.cli.options import as_json, loaded_plan, plan_option
from tacit.cli.printing import print_json, say, screen, warn

if TYPE_CHECKING:
    from tacit.checking.holdings.ledgers import LedgerPlace
    from tacit.ledger.ledger import Ledger
    from tacit.plan.plan import Plan

SPAN = re.compile(r"(\d{1,5})\s*([mhd])")
UNITS = {"m": "minutes", "h": "hours", "d": "days"}


def span(context: click.Context, parameter: click.Parameter, value: str | None) -> timedelta | None:
    """A stretch of time, such as 30m, 24h or 90d."""
    if value is None:
        return None
    match = SPAN.fullmatch(value.strip())
    if match is None:
        raise click.BadParameter(f"{value!r} is no stretch of time. Write e.g. 30m, 24h or 90d.")
    return timedelta(**{UNITS[match[2]]: int(match[1])})


def moment(
    context: click.Context, parameter: click.Parameter, value: str | None
) -> datetime | None:
    """A date or time in UTC, or a stretch of time from now on."""
    if value is None:
        return None
    try:
        if SPAN.fullmatch(value.strip()):
            return datetime.now(UTC) + (span(context, parameter, value) or timedelta())
        found = datetime.fromisoformat(value)
        return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
    except (ValueError, OverflowError):
        raise click.BadParameter(
            f"{value!r} is no time. Write a stretch such as 90d, or a date such as 2027-01-31."
        ) from None


expires_option = click.option(
    "--expires",
    callback=moment,
    metavar="WHEN",
    help="How long the token is good: 90d, 12h, or until a date in UTC (default: until revoked).",
)


@click.group()
def user() -> None:
    """Who may ask the gateway: people or programs, each with a token and some roles of the plan;
    and owners, who may open the workbench.
    """


@user.command()
@click.argument("name")
@click.option(
    "--role",
    "roles",
    multiple=True,
    metavar="ROLE",
    help="A role of the plan that they may ask as. Repeatable.",
)
@click.option(
    "--owner",
    is_flag=True,
    help="They may open the workbench, which shows all data. Needs no role.",
)
@click.option(
    "--attribute",
    "attributes",
    multiple=True,
    metavar="NAME=VALUE",
    help="What views of the plan may ask of them: $user.NAME is VALUE. Repeatable.",
)
@expires_option
@audit_option
@plan_option
@as_json
def add(
    name: str,
    roles: tuple[str, ...],
    owner: bool,
    attributes: tuple[str, ...],
    expires: datetime | None,
    audit_file: Path | None,
    plan: Path,
    as_json: bool,
) -> int:
    """Let NAME ask the gateway, or open the workbench.
    Their token is shown once, here; only a hash of it is kept.
    """
    from tacit.checking.holdings.ledgers import ledger_of
    from tacit.ledger.entries import time_text
    from tacit.ledger.users import Users

    if not roles and not owner:
        raise click.UsageError(
            "Missing option '--role', or '--owner' for those who may open the workbench."
        )
    given = attributes_of(attributes)
    loaded = loaded_plan(plan)
    roles = tuple(dict.fromkeys(roles))
    if roles:
        refuse_roles(loaded, roles)
    change = {"event": "user-added", "user": name, "roles": list(roles), "owner": owner}
    with (
        ledger_of(loaded, create=True) as ledger,
        audited(ledger, audit_of(loaded.folder, audit_file), change),
    ):
        token = Users(ledger).add(name, roles, owner=owner, attributes=given, expires=expires)
    if as_json:
        print_json(
            {
                "name": name,
                "roles": list(roles),
                "owner": owner,
                "attributes": given,
                "expires": expires and time_text(expires),
                "token": token,
            }
        )
    else:
        from tacit.report.terminal import ledger as report

        report.show_token(name, roles, token, screen(), plan, owner=owner)
    return 0


@user.command()
@click.argument("name")
@click.option(
    "--overlap",
    callback=span,
    default="0m",
    show_default=True,
    metavar="TIME",
    help="How long the token before is taken still, e.g. 24h.",
)
@expires_option
@audit_option
@plan_option
@as_json
def rotate(
    name: str,
    overlap: timedelta,
    expires: datetime | None,
    audit_file: Path | None,
    plan: Path,
    as_json: bool,
) -> int:
    """Give NAME a new token, which is shown once, here."""
    from tacit.checking.holdings.ledgers import ledger_of, place_of
    from tacit.ledger.users import Users

    place = place_of(plan)
    refuse_without_ledger(place)
    change = {"event": "token-rotated", "user": name}
    with (
        ledger_of(place) as ledger,
        audited(ledger, audit_of(place.folder, audit_file), change),
    ):
        users = Users(ledger)
        token = users.rotate(name, overlap=overlap, expires=expires)
        changed = next(one for one in users.all() if one.name == name)
    if as_json:
        print_json({**changed.to_json(), "token": token})
    else:
        from tacit.report.terminal import ledger as report

        report.show_token(name, changed.roles, token, screen(), plan, owner=changed.owner)
    return 0


@user.command("list")
@plan_option
@as_json
def list_users(plan: Path, as_json: bool) -> int:
    """List who may ask the gateway or open the workbench, and whose token was revoked."""
    from tacit.checking.holdings.ledgers import ledger_of, place_of
    from tacit.ledger.users import Users

    place = place_of(plan)
    refuse_without_ledger(place)
    with ledger_of(place) as ledger:
        users = Users(ledger).all()
    if as_json:
        print_json({"users": [one.to_json() for one in users]})
    else:
        from tacit.report.terminal import ledger as report

        report.show_users(users, place.roles, screen(), plan)
    return 0


@user.command()
@click.argument("name")
@audit_option
@plan_option
@as_json
def revoke(name: str, audit_file: Path | None, plan: Path, as_json: bool) -> int:
    """Take NAME's token back. A gateway that runs refuses it at once,
    and closes the workbench to it.
    """
    from tacit.checking.holdings.ledgers import ledger_of, place_of
    from tacit.ledger.users import Users

    place = place_of(plan)
    refuse_without_ledger(place)
    change = {"event": "token-revoked", "user": name}
    with (
        ledger_of(place) as ledger,
        audited(ledger, audit_of(place.folder, audit_file), change, must=False),
    ):
        users = Users(ledger)
        again = any(one.name == name and one.revoked for one in users.all())
        users.revoke(name)
        revoked = next(one for one in users.all() if one.name == name)
    if as_json:
        print_json(revoked.to_json())
    else:
        say(
            f"{name} can ask no more: the token "
            f"{'was revoked before' if again else 'is refused from now on'}."
        )
    return 0


@contextmanager
def audited(
    ledger: Ledger, path: Path, change: dict[str, Any], *, must: bool = True
) -> Iterator[None]:
    """Make a change, and write it into the audit log; where that cannot be opened, neither, unless
    the change must not wait for it.
    """
    from tacit.checking.recording.record import user as whoever_runs_this
    from tacit.errors import TacitError
    from tacit.gateway.trail import Trail, encoded

    try:
        trail = Trail(path, ledger.key)
    except TacitError as error:
        if must:
            raise
        yield
        warn(f"It is not in the audit log: {error}")
        return
    try:
        yield
        try:
            trail.append([encoded({**change, "by": whoever_runs_this()})])
        except (OSError, TacitError) as error:
            warn(f"It was done, and is not in the audit log: {error}")
    finally:
        trail.close()


def attributes_of(written: Sequence[str]) -> dict[str, str]:
    """The attributes as NAME=VALUE, each once."""
    found: dict[str, str] = {}
    for one in written:
        name, equal, value = one.partition("=")
        if not equal:
            raise click.BadParameter(f"{one!r} is not NAME=VALUE, e.g. id=7.")
        if name in found:
            raise click.BadParameter(f"the attribute {name} stands there twice.")
        found[name] = value
    return found


def refuse_without_ledger(place: LedgerPlace) -> None:
    """Raise an error where there are no users because there is no ledger."""
    from tacit.checking.holdings.ledgers import is_begun
    from tacit.errors import InputError

    if not is_begun(place):
        raise InputError(
            f"there is no ledger {place.ledger} yet, and so no users.",
            hint="Add one: tacit user add NAME --role ROLE.",
            mark=place.mark("ledger"),
        )


def refuse_roles(plan: Plan, roles: Sequence[str]) -> None:
    """Raise an error where a role is not in the plan:
    such a user could ask nothing, and nobody would notice why.
    """
    from tacit.errors import PlanError, did_you_mean, raise_all

    if not plan.roles:
        raise PlanError(
            f"{plan.file} has no roles.",
            hint=(
                "Add one, for example: roles: {nurses: {default: deny, deny: [a secret], "
                "allow: [a view]}}"
            ),
        )
    raise_all(
        PlanError(
            f"the plan has no role {role!r}.",
            hint=did_you_mean(role, plan.roles),
            mark=plan.mark("roles"),
        )
        for role in roles
        if role not in plan.roles
    )
