"""The `raidsim` command: its table of commands, loaded when they are run.

`raidsim --help` shows the table without importing any of them, so it answers at once, and one command
that cannot be imported does not take the others down.
"""

from __future__ import annotations

import difflib
import errno
import importlib
import importlib.util
import os
import sys
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from .. import __version__
from ..compiled.loader import how, stay_pure
from ..model.core.errors import RaidsimError, WorkersFailed
from ..scenarios.workers.process_setup import end_server, importing, search_less
from .support.interrupts import end_like_an_interrupt, interrupted_status

if TYPE_CHECKING:
    from collections.abc import Sequence

# name: (module, as an import from here has it, and function; what --help says)
COMMANDS = {
    "predict": (".commands.predict:predict_command", "Calibrate on the studies, predict the rest, and compare."),
    "calibrate": (".commands.calibrate:calibrate_command", "Fit a study's parameters and say how sure they are."),
    "validate": (".commands.validate:validate_command", "Report how right raidsim is."),
    "conformance": (
        ".checking.conformance:conformance_command",
        "Compare the model with recorded behaviour of real programs.",
    ),
    "layout": (".commands.layout:layout_command", "Show where an array keeps its data, copies and parity."),
    "capacity": (".commands.capacity:capacity_command", "Count what an array holds, and what it costs."),
    "run": (".commands.run:run_command", "Simulate a scenario file."),
    "compare": (".commands.compare:compare_command", "Compare designs side by side under the same requests."),
    "advise": (".commands.advise:advise_command", "Find the layouts that meet a requirement."),
    "sweep": (".commands.sweep:sweep_command", "Run a grid or a sample of scenarios; resumable."),
    "replay": (".commands.replay:replay_command", "Play a recorded trace on a machine."),
    "fio": (".commands.fio:fio_command", "Run a fio job file on a machine."),
    "serve": (".serving.command:serve_command", "Serve a predicted array as a network block device (NBD)."),
    "tell": (".serving.tell:tell_command", "Fail, replace or slow drives of a running server."),
    "trace": (".commands.trace:trace_command", "Say what is in a recorded trace."),
    "scenario": (".commands.scenario:scenario_command", "List and show scenarios; write changed copies."),
    "inspect": (".commands.inspect:inspect_command", "Make a scenario from this machine, or from pasted output."),
    "diagnose": (".commands.diagnose:diagnose_command", "Find why an array is slower than it should be."),
    "schema": (".commands.scenario:schema_command", "Print the JSON Schema of scenario files."),
    "sensitivity": (".commands.sensitivity:sensitivity_command", "Find which parameters move a prediction most."),
    "web": ("..web.command:web_command", "Explore designs in a browser."),
    "workload": (".commands.workload:workload_command", "Show what a benchmark program asks of the kernel."),
    "learn": (".commands.learn:learn_command", "Predict a box from about ten measurements of it."),
    "measure": (".commands.measure:measure_command", "Measure a disk of this machine with fio."),
    "parse": (".commands.parse:parse_command", "Read what benchmark programs printed."),
    "drives": (".commands.drives:drives_command", "List the drives in the catalogue."),
    "controllers": (
        ".commands.catalogue:controllers_command",
        "List the hardware RAID controllers in the catalogue.",
    ),
    "links": (".commands.catalogue:links_command", "List the buses, adapters and networks in the catalogue."),
    "file-systems": (".commands.catalogue:file_systems_command", "List the file systems in the catalogue."),
    "study": (".commands.study:study_command", "Begin a study from fio's reports, or check one."),
    "laws": (".checking.laws:laws_command", "Find scenarios that break a law of every machine."),
    "drift": (".commands.validate:drift_command", "Say what a change has moved in the studies."),
    "studies": (".commands.study:studies_command", "List the published benchmark reports in the catalogue."),
}


_FAILED = 1
_BROKEN_PIPE = 128 + 13
"""What a shell says of a program that SIGPIPE has ended."""


class LazyGroup(TyperGroup):
    """A group that knows its commands by name and help, and imports one when it is run."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The names of the commands, in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> TyperCommand | None:
        """A stand-in that has the command's name and help only."""
        if cmd_name not in COMMANDS:
            return None
        return TyperCommand(cmd_name, callback=None, help=COMMANDS[cmd_name][1])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """The command that is about to run, imported; a misspelt one is answered with the closest."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"did you mean {close[0]!r}? " if close else ""
            ctx.fail(f"no such command {args[0]!r}; {hint}expected: {', '.join(COMMANDS)}")
        if args[:1] == ["web"] or any(word.split("=")[0] == "--timeline" for word in args):
            stay_pure()  # these watch every part at work, which a compiled one does not let them
        name, command, rest = super().resolve_command(ctx, args)
        if name is None:
            return name, command, rest
        with importing() if ctx.obj else nullcontext():
            return name, _imported(name), rest

    def invoke(self, ctx: Any) -> Any:
        """Run the command; an interrupt ends it with the shell's status for one."""
        try:
            result = super().invoke(ctx)
            sys.stdout.flush()
        except KeyboardInterrupt as error:
            typer.echo("interrupted", err=True)
            raise typer.Exit(interrupted_status(error)) from None
        except (BrokenPipeError, SystemExit) as error:
            if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
                raise
            # The reader (head, less) has seen enough: end as a program does that the signal ends, and keep Python from
            # complaining at exit. Typer's own answer would be a status of 1, and so is rich's, which ends the program.
            _let_go_of_stdout()
            raise typer.Exit(_BROKEN_PIPE) from None
        return result


def _imported(name: str) -> Any:
    """The command called `name`, from its module."""
    module_name, _, function_name = COMMANDS[name][0].partition(":")
    full_name = importlib.util.resolve_name(module_name, __package__)
    try:
        module = importlib.import_module(full_name)
    except ModuleNotFoundError as error:
        if error.name is None:
            raise
        missing = "is not part of this version" if error.name == full_name else f"needs the module {error.name}"
        raise RaidsimError(f"the command {name} {missing}") from error
    app = typer.Typer(add_completion=False, rich_markup_mode=None)
    settings = getattr(module, "CONTEXT", None)
    app.command(name, help=None, context_settings=settings)(getattr(module, function_name))
    return typer.main.get_command(app)


app = typer.Typer(
    name="raidsim",
    cls=LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(asked: bool) -> None:
    if asked:
        typer.echo(f"raidsim {__version__}{f' ({how()})' if how() else ''}")
        raise typer.Exit


@app.callback(help="Predict how fast a storage array will be before anyone builds it.")
def _options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version and leave.", callback=_show_version, is_eager=True)
    ] = False,
) -> None:
    pass


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and exit: 0 done, 1 a check does not hold, 2 bad input, 128 and the signal's number
    (130: Ctrl-C) interrupted.

    Parameters
    ----------
    arguments
        What follows the command's name; those of the process unless given.
    """
    _open_closed_streams()
    own = arguments is None  # the process is the command's own
    if own:
        search_less()
        end_like_an_interrupt()
        # Looking for pydantic's plugins reads the metadata of every installed package; raidsim uses none.
        os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "1")
        # numpy's linear algebra starts a thread for every core, which spin while they wait; matrices here are small.
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    try:
        typer.main.get_command(app)(args=arguments and list(arguments), prog_name="raidsim", obj=own)
    except RaidsimError as error:
        print("error: " + " ".join(str(error).split()), file=sys.stderr)
        sys.exit(_FAILED if isinstance(error, WorkersFailed) else 2)
    except KeyboardInterrupt as error:
        print("interrupted", file=sys.stderr)
        sys.exit(interrupted_status(error))
    except OSError as error:
        if error.errno is None:
            raise
        # What a command does not answer itself: a file that vanishes, a full disk behind stdout, a system without
        # processes to give.
        full = error.filename is None and error.errno == errno.ENOSPC
        what = "stdout cannot be written" if full else f"{error.filename or 'the system'} cannot be used"
        print(f"error: {what} ({error.strerror})", file=sys.stderr)
        if full:
            _let_go_of_stdout()
        sys.exit(2)
    finally:
        if own:
            end_server()


def _open_closed_streams() -> None:
    """Standard streams that the process was started without (`<&-`) are empty, and take what is written."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - open as long as the process


def _let_go_of_stdout() -> None:
    """Nothing more goes there, also not what Python still has of it when it exits."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
