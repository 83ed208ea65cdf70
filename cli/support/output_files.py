"""Files that a command writes besides what it prints: refused before anything long is computed, and written whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...model.core.errors import InputError
from ...model.files.atomic_file import part_of
from ...model.files.atomic_file import whole_file as written_whole

_ALLOWED = "allowed: a file in a folder that is there and may be written to"


def check_output(path: Path, option: str, source: str) -> None:
    """Refuse a file that could not be written, or that is the `source` of what will be written.

    Raises
    ------
    InputError
        Naming the option, and what is wrong with the file.
    """
    if path == Path("-"):
        raise InputError(option, "found -, which is no name of a file", _ALLOWED)
    if path.is_dir():
        raise InputError(option, f"{path} is a folder", _ALLOWED)
    if not path.absolute().parent.is_dir():
        raise InputError(option, f"{path}: there is no folder {path.parent}", _ALLOWED)
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise InputError(option, f"{path} is what it is made from", "allowed: another file")
    if path.exists() and not path.is_file():
        return  # a pipe or a device: it is not tried, for what is read of it is gone
    try:
        part_of(Path(os.path.realpath(path))).unlink()
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None


@contextmanager
def whole_file(path: Path, option: str) -> Iterator[Path]:
    """As :func:`raidsim.model.files.atomic_file.whole_file`; `InputError` if it cannot be written, the disk is full,
    say.
    """
    try:
        with written_whole(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None
