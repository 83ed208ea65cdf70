"""Files are there whole or not at all, wherever the program or the computer ends."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from raidsim.model.files import atomic_file as module
from raidsim.model.files.atomic_file import whole_file, write_whole
from raidsim.tests.faults.disk import files_no_longer_than

OLD, NEW = "old\n" * 5000, "new\n" * 5000


class _Crash(BaseException):
    """The power fails here."""


CALLS = ("mkstemp", "close", "open", "fsync", "chmod", "replace")


@pytest.mark.parametrize("call", CALLS)
def test_a_crash_at_any_call_leaves_the_old_or_the_new_file(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects what was there: before the new name it is the old file, and there is never a part of one."""
    path = tmp_path / "file"
    write_whole(path, OLD)

    def crash(*_: object, **__: object) -> None:
        raise _Crash

    monkeypatch.setattr(tempfile if call == "mkstemp" else os, call, crash)
    with pytest.raises(_Crash):
        write_whole(path, NEW)
    monkeypatch.undo()
    assert path.read_text() == OLD


def test_data_are_on_the_disk_before_the_name_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects against an empty file after a power failure: fsync of the data, rename, fsync of the folder."""
    done: list[str] = []
    fsync, replace = os.fsync, os.replace

    def synced(handle: int) -> None:
        done.append("folder" if stat.S_ISDIR(os.fstat(handle).st_mode) else f"{os.fstat(handle).st_size} bytes")
        fsync(handle)

    def replaced(*names: object) -> None:
        done.append("name")
        replace(*names)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    write_whole(tmp_path / "file", NEW)
    assert done == [f"{len(NEW)} bytes", "name", "folder"]


_WRITER = """
import importlib.util, itertools, sys
spec = importlib.util.spec_from_file_location("whole_file", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
for number in itertools.count():
    module.write_whole(sys.argv[2], f"{number}\\n" * 20_000)
    print(number, flush=True)
"""


def test_a_writer_that_is_killed_leaves_a_whole_file(tmp_path: Path) -> None:
    """Protects files against kill -9 at any moment, and what was reported as written against being lost."""
    path = tmp_path / "file"
    for delay_s in (0.0, 0.003, 0.011, 0.023):
        command = [sys.executable, "-c", _WRITER, str(module.__file__), str(path)]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            writer.stdout.readline()
            time.sleep(delay_s)
            writer.send_signal(signal.SIGKILL)
            told = writer.stdout.read().split()
        lines = path.read_text().splitlines()
        assert len(lines) == 20_000
        assert len(set(lines)) == 1
        assert int(lines[0]) >= int(told[-1] if told else 0)


def test_links_are_followed_and_devices_are_not_replaced(tmp_path: Path) -> None:
    """Protects /dev/null and /dev/stdout of a user who may replace them, and what a link leads to."""
    target, link, pipe = tmp_path / "target", tmp_path / "link", tmp_path / "pipe"
    target.write_text("old")
    link.symlink_to(target)
    write_whole(link, "new")
    assert link.is_symlink()
    assert target.read_text() == "new"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    write_whole(pipe, "through")
    assert os.read(reader, 100) == b"through"
    os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_it_may_be_read_as_the_umask_says(tmp_path: Path) -> None:
    """Protects files for others: those of mkstemp are the owner's alone."""
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", NEW)
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_file_that_is_there_keeps_its_permissions(tmp_path: Path) -> None:
    """Protects a file that its owner has closed to others: a new one in its place is as closed."""
    path = tmp_path / "file"
    path.write_text(OLD)
    path.chmod(0o600)
    write_whole(path, NEW)
    assert (stat.S_IMODE(path.stat().st_mode), path.read_text()) == (0o600, NEW)


@pytest.mark.parametrize("letter", ["x", "\u00e9", "\u6f22", "\U0001f4be"])
def test_the_longest_names_can_be_written(tmp_path: Path, letter: str) -> None:
    """Protects names of 255 bytes, of letters of one to four bytes each: that of the part is no longer."""
    path = tmp_path / (letter * (255 // len(letter.encode())))
    write_whole(path, NEW)
    assert list(tmp_path.iterdir()) == [path]


def _writers() -> dict[str, Callable[[Path], None]]:
    def direct(path: Path) -> None:
        write_whole(path, NEW)

    def in_pieces(path: Path) -> None:
        with whole_file(path) as unfinished, unfinished.open("wb") as file:
            for _ in range(100):
                file.write(b"x" * 1000)

    return {"at once": direct, "in pieces": in_pieces}


@pytest.mark.parametrize("write", _writers().values(), ids=_writers())
def test_a_failed_write_leaves_nothing_beside(tmp_path: Path, write: Callable[[Path], None]) -> None:
    """Protects the folder: on a full disk the part that was written does not stay and take the space."""
    path = tmp_path / "file"
    path.write_text(OLD)
    with pytest.raises(OSError, match="File too large"), files_no_longer_than(4096):
        write(path)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_text() == OLD
