"""fio's command line, as people publish it instead of a job file (init.c, parse_cmd_line).

The options are the same. What stands before the first ``--name`` is for all jobs; each ``--name`` begins one.
"""

from __future__ import annotations

import shlex

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


def job_file(text: str) -> str:
    """The job file that says the same as a command line.

    Raises
    ------
    InputError
        If it cannot be read, or if it names job files or options that are not fio's.
    """
    try:
        words = shlex.split(text.replace("\\\n", " "))
    except ValueError as error:
        raise InputError(_PLACE, f"it cannot be split into words ({error})", "allowed: quotes in pairs") from None
    words = words[1 + (words[0] == "sudo") :]
    lines = ["[global]"]
    while words:
        word = words.pop(0)
        if not word.startswith("-"):
            raise InputError(_PLACE, f"found {word!r}", "allowed: options, --name=value; a job file goes by itself")
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
        lines.append(f"{key}{equals}{value}")
    return "\n".join(lines) + "\n"
