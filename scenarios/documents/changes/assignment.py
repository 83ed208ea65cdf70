"""``path=value`` as people type it: dotted paths into a document, and values or lists of alternatives in YAML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ....model.core.errors import InputError
from ....model.files.yaml_files import KeyPath, parse_yaml

_MOST_VALUES = 10_000
_PART = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|\[\s*(\d+)\s*\]|([^.\[\]"']+))\s*(\.(?=.)|(?=\[)|$)""")
_ALLOWED = "expected: PATH=VALUE, such as workload.depth=8 or disks=6"
_CLOSES = {"[": "]", "{": "}"}


def parse_assignment(text: str, option: str = "--set") -> tuple[str, Any]:
    """The path and the value of "a.b=c".

    Parameters
    ----------
    text
        The value is a YAML scalar, list or mapping ("4", "64KiB", "[sda, sdb]", "{level: raid6}"); nothing, or `null`,
        removes what stands at the path.
    option
        What errors call it.

    Raises
    ------
    InputError
        If there is no path, no "=" or no YAML value.
    """
    path, value = _sides(text, option)
    return path, parse_value(value, f"{option} {path}")


def parse_alternatives(text: str, option: str = "--vary") -> tuple[str, list[Any]]:
    """The path and the values of "layout=raid5,raid6,raid10"; commas in brackets, braces and quotes do not separate.

    Raises
    ------
    InputError
        As :func:`parse_assignment`, and for a value that stands there twice.
    """
    path, right = _sides(text, option)
    place = f"{option} {path}"
    values: list[Any] = []
    for part in _split(right, place):
        if not part.strip():
            raise InputError(place, f"an empty alternative in {_shown(right)}", "expected: values with commas between")
        value = parse_value(part, place)
        if any(value == other and type(value) is type(other) for other in values):
            raise InputError(place, f"{part.strip()} twice", "expected: each value once")
        values.append(value)
    return path, values


def parse_value(text: str, place: str) -> Any:
    """Plain data of one value in YAML; nothing at all is null."""
    if not text.strip():
        return None
    try:
        value, _ = parse_yaml(text, place, _MOST_VALUES)
    except InputError as error:
        raise InputError(place, error.found, error.expected) from None
    return value


def parse_path(text: str, place: str) -> KeyPath:
    """The keys of a dotted path: ``workload.steps[0].size`` or ``workload.steps.0.size``; quotes keep dots together.

    A number may be a place in a list or a key; which one is seen where the path leads.
    """
    keys: list[str | int] = []
    position = 0
    while position < len(text) or not keys:
        match = _PART.match(text, position)
        if match is None:
            raise InputError(
                place, f"the path {_shown(text)}", "expected: names with dots between, such as machine.memory"
            )
        double, single, index, word = match.group(1, 2, 3, 4)
        if index is not None:
            keys.append(int(index[:9]))
        else:
            keys.append(next(part for part in (double, single, (word or "").strip()) if part is not None))
        if keys[-1] == "":
            raise InputError(place, f"an empty name in the path {_shown(text)}", "expected: names with dots between")
        position = match.end()
    return tuple(keys)


def format_path(path: KeyPath) -> str:
    """A path as it is typed; the reverse of :func:`parse_path`."""
    text = ""
    for key in path:
        if isinstance(key, int):
            text += f"[{key}]"
        else:
            word = str(key)
            quoted = f'"{word}"' if re.search(r"[.\[\]\"'\s]", word) else word
            text += f".{quoted}" if text else quoted
    return text


def _sides(text: str, option: str) -> tuple[str, str]:
    path, equals, value = text.partition("=")
    path = path.strip()
    if not equals or not path:
        raise InputError(option, f"found {_shown(text)}", _ALLOWED)
    return path, value


def _split(text: str, place: str) -> Iterator[str]:
    """The parts between commas that are not inside brackets, braces or quotes."""
    open_until: list[str] = []
    quote = ""
    part = ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'" and (not part.strip() or open_until):
            quote = letter
        elif letter in _CLOSES:
            open_until.append(_CLOSES[letter])
        elif open_until and letter == open_until[-1]:
            open_until.pop()
        elif letter == "," and not open_until:
            yield part
            part = ""
            continue
        part += letter
    if quote or open_until:
        raise InputError(
            place, f"{_shown(text)}, in which {quote or open_until[-1]} is missing", "expected: closed ones"
        )
    yield part


def _shown(text: str) -> str:
    return repr(text) if len(text) <= 60 else repr(text[:57] + "...")
