"""The commands that PostMark 1.5 reads from a file or its input, and what it prints for them.

PostMark answers what it does not understand with a complaint and goes on; here it is an error that names the line.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from ..core.errors import InputError
from .operation import Operation
from .postmark import Location, PostMark, PostMarkSettings
from .postmark_report import Clock, progress, report, show

BANNER = "PostMark v1.5 : 3/27/01\n"
PROMPT = "pm>"

_LARGEST = 2**31 - 1


class Command(NamedTuple):
    """A command that does something, and the settings it finds.

    Attributes
    ----------
    line
        Where it stands (from 1).
    name
        "run", "show", "help" or "quit".
    argument
        The file its output goes to; for help, what is asked about. "" if there is none.
    settings
        In effect here.
    """

    line: int
    name: str
    argument: str
    settings: PostMarkSettings


@dataclass(frozen=True, slots=True)
class _Number:
    """A setting that is one number."""

    field: str
    least: int
    most: int = _LARGEST

    def apply(self, place: str, argument: str, settings: PostMarkSettings) -> PostMarkSettings:
        change: dict[str, Any] = {self.field: _number(place, argument, self.least, self.most)}
        return replace(settings, **change)


def _set_size(place: str, argument: str, settings: PostMarkSettings) -> PostMarkSettings:
    words = argument.split()
    if len(words) not in (1, 2):
        raise InputError(place, f"found {argument!r}", "expected: the smallest size in bytes, and perhaps the largest")
    low = _number(place, words[0], 1, _LARGEST)
    high = low if len(words) == 1 else _number(place, words[1], 1, _LARGEST)
    if high < low:
        raise InputError(place, f"largest size {high} below the smallest, {low}", f"expected: at least {low}")
    return replace(settings, low=low, high=high)


def _set_location(place: str, argument: str, settings: PostMarkSettings) -> PostMarkSettings:
    sign = argument[:1] if argument[:1] in ("+", "-") else ""
    path, _, weight = argument[len(sign) :].partition(" ")
    if not path:
        raise InputError(place, "found no directory", "expected: a directory, and perhaps its weight")
    if sign == "-":
        kept = list(settings.locations)
        found = next((location for location in kept if location.path == path), None)
        if found is None:
            raise InputError(place, f"no location {path!r}", f"expected: {', '.join(at.path for at in kept) or 'none'}")
        kept.remove(found)
        return replace(settings, locations=tuple(kept))
    location = Location(path, _number(place, weight, 1, _LARGEST) if weight else 1)
    return replace(settings, locations=(*(settings.locations if sign else ()), location))


def _choice(field: str, words: dict[str, bool]) -> Callable[[str, str, PostMarkSettings], PostMarkSettings]:
    def apply(place: str, argument: str, settings: PostMarkSettings) -> PostMarkSettings:
        if argument not in words:
            raise InputError(place, f"found {argument!r}", f"expected: {' or '.join(words)}")
        change: dict[str, Any] = {field: words[argument]}
        return replace(settings, **change)

    return apply


_SETTERS: dict[str, Callable[[str, str, PostMarkSettings], PostMarkSettings]] = {
    "set size": _set_size,
    "set number": _Number("number", 1, 2**30 - 1).apply,
    "set seed": _Number("seed", 1).apply,
    "set transactions": _Number("transactions", 10).apply,
    "set location": _set_location,
    "set subdirectories": _Number("subdirectories", 0).apply,
    "set read": _Number("read_block", 1).apply,
    "set write": _Number("write_block", 1).apply,
    "set buffering": _choice("buffering", {"true": True, "false": False}),
    "set bias read": _Number("bias_read", -1, 10).apply,
    "set bias create": _Number("bias_create", -1, 10).apply,
    "set report": _choice("terse", {"verbose": False, "terse": True}),
}
_ACTIONS = ("run", "show", "help", "quit")
_ALIASES = {"?": "help", "exit": "quit"}


def commands(text: str, name: str = "script") -> Iterator[Command]:
    """The commands of a script that do something, up to ``quit``; empty lines are passed over.

    Raises
    ------
    InputError
        If a line is no command of PostMark 1.5, or its argument is not what the command takes.
    """
    settings = PostMarkSettings()
    for number, line in enumerate(text.splitlines(), 1):
        line = _ALIASES.get(line.strip(), line.strip())
        place = f"{name}, line {number}"
        if not line:
            continue
        command = next((each for each in (*_SETTERS, *_ACTIONS) if line == each or line.startswith(f"{each} ")), None)
        if command is None:
            allowed = ", ".join((*_SETTERS, *_ACTIONS))
            raise InputError(place, f"{line!r} is no command of PostMark", f"expected: {allowed}")
        argument = line[len(command) :].strip()
        if command in _SETTERS:
            settings = _SETTERS[command](f"{place}, {command}", argument, settings)
            continue
        yield Command(number, command, argument, settings)
        if command == "quit":
            return


def transcript(
    text: str,
    name: str = "script",
    clock: Clock | None = None,
    watch: Callable[[PostMark, Iterator[Operation]], None] | None = None,
) -> tuple[str, list[PostMark]]:
    """What a script that is typed in prints, and its runs; every run takes the times of `clock`.

    What goes to a file is left out, and so is the text of ``help``. What each run does can be watched: `watch` takes
    the run and its operations, all of them.
    """
    printed = [BANNER]
    runs = []
    last = 0
    for command in commands(text, name):
        printed.append(PROMPT * (command.line - last))
        last = command.line
        if command.name == "run":
            run = PostMark(command.settings)
            if watch is None:
                deque(run.operations(), maxlen=0)
            else:
                watch(run, run.operations())
            runs.append(run)
            printed.append(progress(run))
            if not command.argument:
                printed.append(report(run, clock or Clock()))
        elif command.name == "show" and not command.argument:
            printed.append(show(command.settings))
    return "".join(printed), runs


def _number(place: str, word: str, least: int, most: int) -> int:
    try:
        value = int(word)
    except ValueError:
        value = None
    if value is None or not least <= value <= most:
        shown = "nothing" if not word else repr(word)
        raise InputError(place, f"found {shown}", f"expected: a whole number from {least} to {most}") from None
    return value
