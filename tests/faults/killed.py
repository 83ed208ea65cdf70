"""Runs commands that write files, and kills each in the middle of it: ``python -m raidsim.tests.faults.killed FOLDER``.

Each command is run in processes that are forked off this one: to its end, killed when its file is complete but not yet
on the disk, and one also before that gets its name. What each left is printed as JSON.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from raidsim.cli.main import main as cli
from raidsim.model.files.atomic_file import SUFFIX
from raidsim.tests.faults.test_disk_full import COMMANDS

OLD = b"what was there before"
STUDY = "runs.yaml"
_OTHERS = ("fio --logs", "run --plot", "compare --plot")
"""Which write a folder, or as others do."""
WRITERS = {
    **{name: command for name, command in COMMANDS.items() if name not in _OTHERS},
    "validate --html": ("validate", STUDY, "--workers", "0", "--html", "FILE.html"),
    "scenario -o": ("scenario", "home-nas", "--force", "-o", "FILE.yaml"),
}
"""Commands, by name; the argument that begins with FILE is what they write."""
NAMED = "run --timeline"
KEPT = ("predict", STUDY, "--workers", "0", "--recalibrate")
"""Keeps a profile in the user's folder."""


def written(command: tuple[str, ...]) -> str:
    """The file that a command writes."""
    return next(argument for argument in command if argument.startswith("FILE"))


def _kill(*_: object, **__: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def _to_fsync() -> None:
    os.fsync = _kill


def _to_name() -> None:
    os.replace = os.rename = _kill


ENDS: dict[str, Callable[[], None]] = {"end": lambda: None, "fsync": _to_fsync, "name": _to_name}


def _run(command: tuple[str, ...], prepare: Callable[[], None]) -> int:
    """Exit status of the command in a process of its own; less than 0 if it was killed."""
    child = os.fork()
    if not child:
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, 1)
        os.dup2(nothing, 2)
        status = 0
        prepare()
        try:
            cli(list(command))
        except SystemExit as ended:
            status = int(ended.code or 0)
        finally:
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def _left(folder: Path) -> dict[str, str]:
    """Files and what is in them, without partial files and without progress, which a slow computer has time to save."""
    kept = (path for path in folder.rglob("*") if path.suffix != SUFFIX and "unfinished" not in path.parts)
    files = (path for path in kept if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(files)}


def main(folder: Path) -> None:
    """Run all in a folder that holds what they read, and print what each did."""
    for name in ("matplotlib.backends.backend_svg", "pyarrow.parquet"):
        importlib.import_module(name)  # once, for all that are forked off
    os.chdir(folder)
    home = Path(os.environ["RAIDSIM_HOME"])
    found: dict[str, Any] = {"profiles": [(_run(KEPT, ENDS[end]), _left(home)) for end in ("fsync", "end", "name")]}
    for name, command in WRITERS.items():
        target = Path(written(command))
        for end, prepare in ENDS.items():
            if end != "name" or name == NAMED:
                target.write_bytes(OLD)
                status = _run(command, prepare)
                found[f"{name}, {end}"] = (status, target.read_bytes() == OLD, target.stat().st_size)
    print(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
