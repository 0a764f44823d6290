"""How a command ends: an exit status and words, never a traceback."""

from __future__ import annotations

import os
import select
import sys
from typing import TYPE_CHECKING

import click

from tacit.cli.commands import cli
from tacit.cli.printing import Unheard, print_json, warn

if TYPE_CHECKING:
    from tacit.errors import TacitError

INTERRUPTED = 130
BAD_INPUT = 2
WENT_WRONG = 70
READER_LEFT = 141  # as a shell says it of a program that is ended by SIGPIPE
NO_ARGUMENTS = getattr(
    click.exceptions, "NoArgsIsHelpError", ()
)  # click before 8.2 prints the help itself


def main() -> None:
    """Run the command line; every way it can end has an exit status and no traceback."""
    if sys.stdout is None:  # closed by the shell: >&-
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115
    sys.exit(run())


def run() -> int:
    """Run a command and turn what went wrong into words."""
    from tacit.errors import EngineError, InputError, TacitError

    try:
        return int(cli.main(prog_name="tacit", standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort) as error:
        return interrupted(error)
    except NO_ARGUMENTS as error:
        warn(error.format_message())
        return BAD_INPUT
    except click.ClickException as error:
        called = getattr(error, "ctx", None)
        return fail(
            InputError(
                error.format_message(),
                hint=f"See {called.command_path if called else 'tacit'} --help.",
            )
        )
    except Unheard as error:
        return tell(error.error)
    except TacitError as error:
        return fail(error)
    except OSError as error:
        return fail(EngineError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")))
    except SystemExit as error:
        return left(error)
    except Exception as error:
        if isinstance(error, RuntimeError) and "interrupted" in str(
            error
        ):  # as DuckDB says it when Ctrl-C ends a statement
            return interrupted()
        # A mistake of ours must not look like an answer:
        # exit status 1 means that something is breached.
        if os.environ.get("TACIT_DEBUG"):
            raise
        words = f"Tacit itself went wrong: {type(error).__name__}: {error}"
        fail(EngineError(words, hint="Please report it; TACIT_DEBUG=1 shows where."))
        return WENT_WRONG


def fail(error: TacitError) -> int:
    """Say what is wrong: on standard error, or as JSON where that was asked for."""
    if "--json" not in sys.argv:
        return tell(error)
    problems = [one.to_json() for one in error]
    try:
        print_json({"error": problems[0], **({"errors": problems} if len(problems) > 1 else {})})
    except Unheard as unheard:
        tell(unheard.error)
    return BAD_INPUT


def tell(error: TacitError) -> int:
    """Say what is wrong on standard error."""
    for one in error:
        warn(str(one), f"{click.style('error', fg='red', bold=True)}: ")
    return BAD_INPUT


def left(ending: SystemExit) -> int:
    """How it ends where a pipe broke:
    click then leaves with 1, which would mean that something is breached.
    """
    from tacit.errors import EngineError

    if ending.code != 1:
        raise ending
    if has_no_reader():  # of a help text; answers are written by `arriving`
        return READER_LEFT
    return tell(EngineError("a pipe to another process broke.", hint="Try again."))


def has_no_reader() -> bool:
    """Is standard output a pipe that nobody reads any more?"""
    out = select.poll()
    out.register(1, 0)
    return bool(out.poll(0))


def interrupted(by: BaseException | None = None) -> int:
    """Say that the work was stopped, and what it left where it says so itself."""
    stopped = by.__cause__ if isinstance(by, click.Abort) else by
    kept = str(stopped) if isinstance(stopped, KeyboardInterrupt) else ""
    warn(f"interrupted; nothing half-written is left{f'. {kept}' if kept else ''}")
    return INTERRUPTED
