"""Disks that are full and folders that nobody may write to, for the process that asks for them."""

from __future__ import annotations

import resource
import signal
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

import pytest


@contextmanager
def files_no_longer_than(size: int) -> Iterator[None]:
    """No file of this process grows beyond `size` bytes: write(2) then fails as it does on a full disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)


def make_read_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """No file can be made any more, as on a file system that is mounted read-only; also for root, who may all else."""

    def refused(*_: object, **__: object) -> NoReturn:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(tempfile, "mkstemp", refused)
