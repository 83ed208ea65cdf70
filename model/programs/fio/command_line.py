"""fio's command line, as people publish it instead of a job file (init.c, parse_cmd_line).

The options are the same. What stands before the first ``--name`` is for all jobs; each ``--name`` begins one. Options
next to a job file's name are defaults for all its jobs: what the file says counts more.
"""

from __future__ import annotations

import shlex
from typing import NamedTuple

from ...core.errors import InputError
from .options import full_name, option_table

_PLACE = "command line"
_OF_FIO = {
    *("output", "output-format", "eta", "eta-newline", "eta-interval", "status-interval", "minimal", "append-terse"),
    *("terse-version", "readonly", "max-jobs", "alloc-size", "warnings-fatal", "bandwidth-log", "aux-path"),
}
"""Options of fio and not of a job, which say how it is watched and where it prints."""
_WITHOUT_VALUE = {"minimal", "append-terse", "readonly", "warnings-fatal", "bandwidth-log"}


def is_command_line(text: str) -> bool:
    """Whether this is a command line and no name of a file."""
    words = text.split()
    return len(words) > 1 and (words[0] in ("fio", "sudo") or words[0].endswith("/fio"))


class CommandLine(NamedTuple):
    """What a command line of fio asks for.

    Attributes
    ----------
    text
        Its options as a job file; without ``--name`` only a global section.
    file
        The job file that it names; "" if it has jobs of its own.
    """

    text: str
    file: str = ""


def job_file(text: str) -> str:
    """The job file that says the same as a command line.

    Raises
    ------
    InputError
        If it cannot be read, or if it names job files or options that are not fio's.
    """
    line = command_line(text)
    if line.file:
        raise InputError(
            _PLACE, f"found {line.file!r}", "expected: options, --name=value; write the file's text instead"
        )
    return line.text


def command_line(text: str) -> CommandLine:
    """What a command line asks for.

    Raises
    ------
    InputError
        If it cannot be read, or names several job files, or options that are not fio's.
    """
    try:
        words = shlex.split(text.replace("\\\n", " "))
    except ValueError as error:
        raise InputError(_PLACE, f"it cannot be split into words ({error})", "expected: quotes in pairs") from None
    return of_words(words[1 + (words[0] == "sudo") :])


def of_words(words: list[str]) -> CommandLine:
    """The same of the words behind "fio"."""
    lines, files, named = ["[global]"], [], False
    words = list(words)
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            files.append(word)
            continue
        key, equals, value = word.lstrip("-").partition("=")
        of_fio = key in _OF_FIO
        name = key if of_fio else full_name(key, f"{_PLACE}, {key}")
        flag = key in _WITHOUT_VALUE if of_fio else option_table().entries[name].flag
        if not equals and not flag and words:
            equals, value = "=", words.pop(0)
        if of_fio:
            continue
        if name == "name":
            lines.append(f"[{value}]")
            if value == "global":
                continue
            named = True
        lines.append(f"{key}{equals}{value}")
    if len(files) > 1 or (files and named):
        found = f"found {' and '.join(map(repr, files))}{' and --name' if named else ''}"
        raise InputError(_PLACE, found, "expected: one job file, or jobs by --name")
    return CommandLine("\n".join(lines) + "\n", files[0] if files else "")
