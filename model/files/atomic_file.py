"""Files that are there whole or not at all, whatever ends the program or the computer.

What is to be written goes to a temporary file in the same folder, is synced to the disk, and is then renamed:
rename(2) replaces a file at once, and fsync(2) before it keeps a power failure from leaving the name with nothing
behind it; one on the folder makes the name itself last.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

SUFFIX = ".part"
"""Of files that are not complete; a program that is killed leaves one behind, and nothing reads it."""
_LETTERS = 60
"""Of a name, which stand in that of its part: 4 bytes each at most, and a name has 255 with what is added."""


@contextmanager
def whole_file(path: Path | str) -> Iterator[Path]:
    """A file to write to, which takes the place of `path` when it is complete.

    A link is followed, and a file that is there keeps its permissions. What is no regular file (``/dev/stdout``, a
    pipe) is written to as it is, for it cannot be replaced.

    Raises
    ------
    OSError
        If it cannot be written; `path` is then as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():
        yield target
        return
    unfinished = part_of(target)
    try:
        yield unfinished
        _to_disk(unfinished, os.O_RDWR)
        unfinished.chmod(_permissions(target))
        unfinished.replace(target)
    except BaseException:
        with suppress(FileNotFoundError):
            unfinished.unlink()
        raise
    with suppress(OSError):  # not every system lets a folder be opened
        _to_disk(target.parent, os.O_RDONLY)


def write_whole(path: Path | str, text: str) -> None:
    """Write a text file that is there whole or not at all; `OSError` if it cannot be written."""
    with whole_file(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="\n") as file:
        file.write(text)


def part_of(target: Path) -> Path:
    """An empty file in the folder of `target`, with an unused name; `OSError` if there can be none."""
    handle, name = tempfile.mkstemp(prefix=f".{target.name[:_LETTERS]}.", suffix=SUFFIX, dir=target.parent)
    os.close(handle)
    return Path(name)


def _permissions(target: Path) -> int:
    """Those of the file that is replaced, or what the umask leaves a new one."""
    with suppress(FileNotFoundError):
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _to_disk(path: Path, flags: int) -> None:
    handle = os.open(path, flags)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
