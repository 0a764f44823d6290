"""The command line: reads arguments, calls the functions that do the work, prints what they return.

One module for each family of commands;
`commands` lists them all, `ending` turns whatever happens into an exit status.
"""

from tacit.cli.checking import next_steps
from tacit.cli.commands import cli
from tacit.cli.exit_status import main, run

__all__ = ["cli", "main", "next_steps", "run"]
