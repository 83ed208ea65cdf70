"""Recorded mdadm commands: what array they made, and what was done to it before the recording began."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ....model.core.errors import InputError
from ....model.files.quantities import parse_size
from ....model.layouts import levels_where
from ..base import NotSupported

LEVELS = levels_where(lambda level: level.md)

_LONG = {
    "l": "level",
    "n": "raid-devices",
    "c": "chunk",
    "p": "layout",
    "b": "bitmap",
    "e": "metadata",
    "x": "spare-devices",
}
_KNOWN_OPTIONS = {
    *_LONG.values(),
    *("create", "C", "run", "R", "force", "assume-clean", "bitmap-chunk", "size"),
}
"""Options of `mdadm --create` that change nothing here, or are followed."""

BITMAP_CHUNK_BYTES = 64 * 1024 * 1024
"""Chunk of a write-intent bitmap unless the command gives one (mdadm 4.2 on members of this size)."""

_BEFORE = re.compile(
    r"|fail \S+|setrot [01]|sleep [\d.]+|echo frozen > \S*/sync_action|echo \d+ > \S*/(rmw_level|stripe_cache_size)"
)
"""What may have been done to an array before it was recorded; `params` say what came of the settings."""

_BARE_NUMBER_IS_KIB = re.compile(r"\d+")
_MOST_DEVICES = 1024


@dataclass(frozen=True, slots=True)
class MdadmArray:
    """What a recorded `mdadm --create` made.

    Attributes
    ----------
    level
        "raid5" and the like.
    devices
        Number of members.
    chunk_bytes
        None unless the command says it.
    algorithm
        The layout by mdadm's name; None unless the command says it.
    bitmap
        Whether there is a write-intent bitmap inside the array.
    bitmap_chunk_bytes
        Bytes per bit; None unless the command says it.
    failed
        Slots that were failed before the recording.
    rebuilding
        Slot that a spare stands in and is being rebuilt onto: mdadm makes a new RAID 5 with its last member as
        such a spare unless it is told that the members are in step (Create.c). None if there is none.
    """

    level: str
    devices: int
    chunk_bytes: int | None
    algorithm: str | None
    bitmap: bool
    bitmap_chunk_bytes: int | None
    failed: frozenset[int]
    rebuilding: int | None


def recorded_array(place: str, array: Mapping[str, Any]) -> MdadmArray:
    """The array that a recording's `cmd`, `pre` and `params` describe.

    Parameters
    ----------
    place
        File and array, for errors.
    array
        An entry of a recording's `arrays`.

    Raises
    ------
    NotSupported
        If the level is none that raidsim has.
    InputError
        If the command is not one that makes an array.
    """
    command = str(array["cmd"])
    options = _options(place, command)
    unknown = sorted(options.keys() - _KNOWN_OPTIONS)
    if unknown:
        expected = f"expected: {', '.join(sorted(_KNOWN_OPTIONS))}"
        raise NotSupported(f"{place}, field cmd", f"the option {unknown[0]}", expected)
    level = options.get("level", "")
    level = f"raid{level}" if level.isdecimal() else level
    allowed = f"expected: mdadm --create with a level of {', '.join(LEVELS)}"
    if not level:
        raise InputError(f"{place}, field cmd", f"{command!r} has no --level", allowed)
    if level not in LEVELS:
        raise NotSupported(f"{place}, field cmd", f"level {level!r}", allowed)
    devices = _number(place, "cmd", options.get("raid-devices", ""), "--raid-devices")
    if not 1 <= devices <= _MOST_DEVICES:
        raise InputError(f"{place}, field cmd", f"{devices} devices", f"expected: 1 to {_MOST_DEVICES}")
    for command in map(str.strip, str(array.get("pre", "")).split(";")):
        if not _BEFORE.fullmatch(command):
            expected = "expected: fail N, setrot N, sleep S, or echo to sync_action, rmw_level or stripe_cache_size"
            raise NotSupported(f"{place}, field pre", repr(command), expected)
    words = re.findall(r"\bfail\s+([^\s;]+)", str(array.get("pre", "")))
    failed = frozenset(_number(place, "pre", word, "fail") for word in words)
    if failed and max(failed) >= devices:
        raise InputError(f"{place}, field pre", f"fail {max(failed)}", f"expected: slots 0 to {devices - 1}")
    degraded = parameter(place, array, "degraded", len(failed))
    rebuilding = None
    if level == "raid5" and degraded > len(failed) and not {"assume-clean", "force"} & options.keys():
        rebuilding = devices - 1
    return MdadmArray(
        level,
        devices,
        _size(place, options, "chunk"),
        options.get("layout"),
        options.get("bitmap", "none") == "internal",
        _size(place, options, "bitmap-chunk"),
        failed,
        rebuilding,
    )


def bitmap_chunk(place: str, options: str) -> int | None:
    """Bytes per bit of the write-intent bitmap with these options of mdadm; None without a bitmap."""
    given = _options(place, options)
    if given.get("bitmap", "none") != "internal":
        return None
    return _size(place, given, "bitmap-chunk") or BITMAP_CHUNK_BYTES


def parameter(place: str, array: Mapping[str, Any], name: str, default: int) -> int:
    """A whole number from what the recording read in sysfs (`params`), or the default if it is not there."""
    text = array.get("params", {}).get(name)
    return default if text is None else _number(place, f"params.{name}", str(text), name)


def _options(place: str, command: str) -> dict[str, str]:
    """The options of a command by their long names; "" for one without a value."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"{place}, field cmd", f"{command!r} ({error})", "expected: a shell command") from None
    options: dict[str, str] = {}
    for word, following in zip(words, [*words, ""][1:], strict=True):
        value = "" if following.startswith(("-", "/")) else following
        if word.startswith("--"):
            name, equals, given = word[2:].partition("=")
            options[name] = given if equals else value
        elif len(word) > 1 and word[0] == "-" and word[1] in _LONG:
            options[_LONG[word[1]]] = word[2:].lstrip("=") or value
    return options


def _size(place: str, options: Mapping[str, str], name: str) -> int | None:
    """Bytes; mdadm counts in KiB where no unit is given."""
    text = options.get(name)
    if text is None:
        return None
    unit = "KiB" if _BARE_NUMBER_IS_KIB.fullmatch(text) else "iB" if text[-1:] in "KMG" else ""
    return parse_size(text + unit, f"{place}, field cmd: --{name}")


def _number(place: str, field: str, text: str, what: str) -> int:
    if not re.fullmatch("[0-9]{1,18}", text):
        raise InputError(f"{place}, field {field}", f"{what} {text!r}", "expected: a whole number")
    return int(text)
