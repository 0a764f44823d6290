"""How a command ends: an exit status and words, never a traceback."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from tacit.cli.commands import cli
from tacit.cli.printing import print_json

if TYPE_CHECKING:
    from tacit.errors import TacitError

INTERRUPTED = 130
BAD_INPUT = 2
WENT_WRONG = 70
NO_ARGUMENTS = getattr(click.exceptions, "NoArgsIsHelpError", ())  # click before 8.2 prints the help itself


def main() -> None:
    """Run the command line; every way it can end has an exit status and no traceback."""
    sys.exit(run())


def run() -> int:
    """Run a command and turn what went wrong into words."""
    from tacit.errors import EngineError, InputError, TacitError

    try:
        return int(cli.main(prog_name="tacit", standalone_mode=False) or 0)
    except (KeyboardInterrupt, click.Abort) as error:
        return interrupted(error)
    except RuntimeError as error:
        if "interrupted" not in str(error):  # as DuckDB says it when Ctrl-C ends a statement
            raise
        return interrupted()
    except NO_ARGUMENTS as error:
        click.echo(error.format_message(), err=True)
        return BAD_INPUT
    except click.ClickException as error:
        called = getattr(error, "ctx", None)
        return fail(InputError(error.format_message(), hint=f"See {called.command_path if called else 'tacit'} --help."))
    except TacitError as error:
        return fail(error)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return fail(EngineError(f"{error.strerror or error}: {error.filename or ''}".rstrip(": ")))
    except Exception as error:
        # A mistake of ours must not look like an answer: exit status 1 means that something is breached.
        if os.environ.get("TACIT_DEBUG"):
            raise
        words = f"Tacit itself went wrong: {type(error).__name__}: {error}"
        fail(EngineError(words, hint="Please report it; TACIT_DEBUG=1 shows where."))
        return WENT_WRONG


def fail(error: TacitError) -> int:
    """Say what is wrong: on standard error, or as JSON where that was asked for."""
    if "--json" in sys.argv:
        problems = [one.to_json() for one in error]
        print_json({"error": problems[0], **({"errors": problems} if len(problems) > 1 else {})})
    else:
        for one in error:
            click.echo(f"{click.style('error', fg='red', bold=True)}: {one}", err=True)
    return BAD_INPUT


def interrupted(by: BaseException | None = None) -> int:
    """Say that the work was stopped, and what it left where it says so itself."""
    stopped = by.__cause__ if isinstance(by, click.Abort) else by
    kept = str(stopped) if isinstance(stopped, KeyboardInterrupt) else ""
    click.echo(f"interrupted; nothing half-written is left{f'. {kept}' if kept else ''}", err=True)
    return INTERRUPTED
