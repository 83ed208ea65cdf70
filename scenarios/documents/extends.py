"""Scenario files as they are read: bounded, plain, and with what they extend.

A scenario file comes from anyone, so nothing of it is believed: only regular files of a bounded size are opened, and
`extends` reaches no file outside the folder of the file that was asked for.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import Any

from ...model.core.errors import InputError
from ...model.files.quantities import format_size
from ...model.files.yaml_files import KeyPath, decoded, parse_yaml
from .changes.merge import copied, merged, null_paths, overlaid
from .changes.positions import DocumentPositions
from .library import LIBRARY, PREFIX, library_file

LARGEST_FILE = 1 << 20
"""Bytes: a scenario file is a page or two."""
MOST_VALUES = 40_000
LONGEST_CHAIN = 16
_ALLOWED_FILE = f"expected: a YAML file of up to {format_size(LARGEST_FILE)}"
_ALLOWED_EXTENDS = f"expected: a file in the same folder or below it, or {PREFIX}NAME"


@dataclass(frozen=True)
class Layer:
    """A document as far as it has been merged.

    Attributes
    ----------
    data, positions
        What it says, and where.
    removed
        Places of keys that are null, which are not in `data` any more once it is merged.
    """

    data: dict[Any, Any]
    positions: DocumentPositions
    removed: dict[KeyPath, str] = field(default_factory=dict)


def read_text(path: Path, place: str) -> str:
    """The text of a regular file of a bounded size.

    Raises
    ------
    InputError
        For anything else, at once: pipes and devices are not waited for.
    """
    try:
        # A pipe that nobody writes to blocks open() unless it is told not to.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except FileNotFoundError:
        raise InputError(place, "there is no such file", _ALLOWED_FILE) from None
    except (OSError, ValueError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(place, f"cannot be read ({reason})", _ALLOWED_FILE) from None
    try:
        raw = _bounded(handle, place)
    except OSError as error:
        raise InputError(place, f"cannot be read ({error.strerror or error})", _ALLOWED_FILE) from None
    finally:
        os.close(handle)
    if len(raw) > LARGEST_FILE:
        raise InputError(place, f"more than {format_size(LARGEST_FILE)}", _ALLOWED_FILE)
    return decoded(raw, place)


def _bounded(handle: int, place: str) -> bytes:
    """What an open file holds, up to a byte more than is allowed."""
    about = os.fstat(handle)
    if stat.S_ISDIR(about.st_mode):
        raise InputError(place, "this is a folder", _ALLOWED_FILE)
    if not stat.S_ISREG(about.st_mode):
        raise InputError(place, "this is no regular file", _ALLOWED_FILE)
    if about.st_size > LARGEST_FILE:
        raise InputError(place, f"a file of {format_size(about.st_size)}", _ALLOWED_FILE)
    with os.fdopen(handle, "rb", closefd=False) as file:
        return file.read(LARGEST_FILE + 1)


def parse_layer(text: str, place: str) -> Layer:
    """One document without what it extends; `InputError` unless it is a mapping."""
    data, positions = parse_yaml(text, place, MOST_VALUES)
    if not isinstance(data, dict):
        raise InputError(positions.place(), "not a mapping", "expected: keys with values, such as name: my array")
    return Layer(data, DocumentPositions(place, positions.lines))


def read_layers(path: Path, place: str, text: str | None = None) -> Layer:
    """A file with all it extends merged below it.

    Parameters
    ----------
    path
        The file.
    place
        What errors call it.
    text
        What stands in the file, if that is known already.
    """
    return _read(path, place, path.parent, (), text)


def _read(path: Path, place: str, root: Path, chain: tuple[tuple[Path, str], ...], text: str | None = None) -> Layer:
    layer = parse_layer(read_text(path, place) if text is None else text, place)
    named = layer.data.pop("extends", None)
    removed = {path: layer.positions.place(path) for path in null_paths(layer.data)}
    if named is None:
        return Layer(copied(layer.data), layer.positions, removed)
    at = f"{layer.positions.place(('extends',))}: field extends"
    below_path, below_place, below_root = _named(named, path, root, at)
    chain = (*chain, (_real(path), place))
    names = " -> ".join([*(name for _, name in chain), below_place])
    if below_path in [known for known, _ in chain]:
        raise InputError(at, f"a circle: {names}", "expected: files that do not extend each other")
    if len(chain) > LONGEST_CHAIN:
        raise InputError(at, f"a chain of more than {LONGEST_CHAIN} files: {names}", "expected: a shorter one")
    below = _read(below_path, below_place, below_root, chain)
    data = merged(below.data, layer.data)
    positions = overlaid(below.positions, layer.positions, data, layer.data)
    return Layer(data, positions, {**below.removed, **removed})


def _named(named: object, path: Path, root: Path, at: str) -> tuple[Path, str, Path]:
    """The file that `extends` names, what errors call it, and the folder that it may not leave itself."""
    if not isinstance(named, str) or not named.strip() or "\0" in named:
        raise InputError(at, f"found {named!r}"[:80], _ALLOWED_EXTENDS)
    if named.startswith(PREFIX):
        name = named.removeprefix(PREFIX)
        return _real(library_file(name, at)), f"{PREFIX}{name}", LIBRARY
    parts = (*PurePosixPath(named).parts, *PureWindowsPath(named).parts)
    if ".." in parts or PurePosixPath(named).is_absolute() or PureWindowsPath(named).anchor:
        raise InputError(at, f"found {named!r}"[:80], _ALLOWED_EXTENDS)
    below = _real(path.parent / named)
    if not below.is_relative_to(_real(root)):
        raise InputError(at, f"{named!r} leads out of the folder"[:80], _ALLOWED_EXTENDS)
    # Path.is_file() raises an error for names that are too long.
    if not os.path.isfile(below):
        raise InputError(at, f"there is no file {named!r}"[:80], _ALLOWED_EXTENDS)
    return below, str(path.parent / named) if root != LIBRARY else f"{PREFIX}{below.stem}", root


def _real(path: Path) -> Path:
    """The file itself, whatever links lead to it; unlike Path.resolve() this takes circles of links."""
    return Path(os.path.realpath(path))
