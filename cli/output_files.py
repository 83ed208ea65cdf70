"""Files that a command writes besides what it prints: refused before anything long is computed, and written whole."""

from __future__ import annotations

import importlib.util
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ..model.errors import InputError

PICTURES = (".svg", ".png", ".pdf")
_ALLOWED = "allowed: a file in a folder that is there and may be written to"


def check_output(path: Path, option: str, source: str) -> None:
    """Refuse a file that could not be written, or that is the `source` of what will be written.

    Raises
    ------
    InputError
        Naming the option, and what is wrong with the file.
    """
    if path.is_dir():
        raise InputError(option, f"{path} is a folder", _ALLOWED)
    if not path.absolute().parent.is_dir():
        raise InputError(option, f"{path}: there is no folder {path.parent}", _ALLOWED)
    if path.exists() and Path(source).exists() and path.samefile(source):
        raise InputError(option, f"{path} is what it is made from", "allowed: another file")
    try:
        handle, tried = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.absolute().parent)
        os.close(handle)
        Path(tried).unlink()
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None


def check_picture(path: Path, source: str) -> None:
    """Refuse a picture that could not be drawn or written; `InputError` as :func:`check_output`, and for `--plot`."""
    if path.suffix.lower() not in PICTURES:
        raise InputError("--plot", f"{path} is no picture file", f"allowed: {', '.join(PICTURES)}")
    check_output(path, "--plot", source)
    if importlib.util.find_spec("matplotlib") is None:
        raise InputError("--plot", "matplotlib is not installed", "allowed: with raidsim's extra `plot`")


@contextmanager
def whole_file(path: Path, option: str) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` when it is complete; `InputError` if the disk is full."""
    unfinished: Path | None = None
    try:
        handle, name = tempfile.mkstemp(prefix=f".{path.name[:100]}.", suffix=".part", dir=path.absolute().parent)
        os.close(handle)
        unfinished = Path(name)
        yield unfinished
        mask = os.umask(0)
        os.umask(mask)
        unfinished.chmod(0o666 & ~mask)
        unfinished.replace(path)
    except OSError as error:
        raise InputError(option, f"{path} cannot be written ({error.strerror})", _ALLOWED) from None
    finally:
        if unfinished is not None:
            unfinished.unlink(missing_ok=True)
