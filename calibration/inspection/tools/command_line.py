"""Which device an output is of that does not name it: the command line before it tells, or the file's name."""

from __future__ import annotations

import re
from pathlib import Path

from .findings import Findings
from .outputs import Output

_FILE_NAME = re.compile(r"[^A-Za-z0-9]+")


def line_before(output: Output) -> str:
    """The last line with anything in it before an output."""
    return next((line for line in map(output.text.line, range(output.first - 1, 0, -1)) if line.strip()), "")


def device_before(
    output: Output, command: re.Pattern[str], start: re.Pattern[str], found: Findings, program: str
) -> str | None:
    """The device of an output, without its folder; None, with a note, if nothing tells it.

    Parameters
    ----------
    output
        What the program has printed.
    command
        Matches its command line; the first group is the device's path.
    start
        Matches the first line of its output: a file with one output only gives it the file's name.
    found
        Gets the notes.
    program
        What they call the program.
    """
    text = output.text
    where = f"{text.name}:{output.first}"
    device = command.search(line_before(output))
    if device is not None:
        return device[1].rsplit("/", 1)[-1]
    if [number for number in range(1, len(text) + 1) if start.match(text.line(number))] == [output.first]:
        name = _FILE_NAME.sub("-", Path(text.name).stem).strip("-") or "disk"
        found.notes.append(f"{where}: no command before it tells which disk this is of; it is called {name}")
        return name
    found.notes.append(f"{where}: nothing tells which disk this is of; the command line of {program} before it does")
    return None
