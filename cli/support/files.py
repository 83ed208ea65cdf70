"""Files that commands write: checked before the work, replaced as a whole, text or picture."""

from __future__ import annotations

import importlib.util
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from ... import InputError
from ...api.support.files import how_to_install, part_of
from ...api.support.files import whole_file as written_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def is_picture(path: Path) -> bool:
    """Whether a file's ending is that of a picture."""
    from ...api.support.drawing import FORMS

    return path.suffix.lower() in FORMS


def check_picture(path: Path, source: str = "", option: str = "--plot") -> None:
    """Refuse a picture that could not be drawn or written, or that is the `source` of what it is to show.

    Raises
    ------
    InputError
        Naming the option, and what is wrong.
    """
    if not is_picture(path):
        from ...api.support.drawing import FORMS

        raise InputError(option, f"{path} is no picture file", f"expected: {', '.join(FORMS)}")
    check_output(path, option, source)
    require_matplotlib(option)


def require_matplotlib(option: str) -> None:
    """Refuse an option that needs pictures where there is no matplotlib."""
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError(option, "matplotlib is not installed", how_to_install("plot"))


def write_picture(path: Path, draw: Callable[[], Figure], option: str = "--plot") -> None:
    """Draw a picture into a file of the kind that its ending says; a note on stderr names letters that no font has."""
    from ...api.support.drawing import drawn_into

    with whole_file(path, option) as unfinished:
        missing = drawn_into(unfinished, path.suffix.lower(), draw)
    if missing:
        print(f"note: {path}: {missing}", file=sys.stderr)


def write_file(path: Path, text: str, force: bool = False, option: str = "--output") -> None:
    """Write a text file; another process sees the old file or all of the new one.

    Parameters
    ----------
    path
        The file.
    text
        What it is to hold.
    force
        Whether a file that is there already is replaced.
    option
        What errors name.

    Raises
    ------
    InputError
        If there is such a file already, or it cannot be written.
    """
    if os.path.lexists(path):
        if not path.is_file():
            raise InputError(option, f"{path} is no regular file", "expected: a file")
        if not force:
            raise InputError(option, f"{path} exists already", "expected: another name, or --force")
    with whole_file(path, option) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="\n")


_ALLOWED = "expected: a file in a folder that is there and may be written to"


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
        raise InputError(option, f"{path} is what it is made from", "expected: another file")
    if path.exists() and not path.is_file():
        return  # a pipe or a device: it is not tried, for what is read of it is gone
    try:
        part_of(Path(os.path.realpath(path))).unlink()
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None


@contextmanager
def whole_file(path: Path, option: str) -> Iterator[Path]:
    """As :func:`raidsim.api.support.files.whole_file`; `InputError` if it cannot be written, the disk is full,
    say.
    """
    try:
        with written_whole(path) as unfinished:
            yield unfinished
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None
