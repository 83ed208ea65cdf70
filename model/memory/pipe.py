"""A pipe between two processes of the simulated machine."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

from ..core.signal import Signal


class Pipe:
    """A buffer of bytes that one process fills and another empties; each waits for the other.

    Parameters
    ----------
    capacity
        Bytes it holds: 4 KiB on Linux before 2.6.11, 64 KiB since (fs/pipe.c).
    """

    __slots__ = ("_closed", "_held", "_reader", "_writer", "capacity")

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self._held = 0
        self._closed = False
        self._reader: Signal | None = None
        self._writer: Signal | None = None

    def write(self, size: int) -> Generator[Any, Any, None]:
        """Put `size` bytes in, as far as there is room, and wait for the rest."""
        while size:
            room = self.capacity - self._held
            if not room:
                self._writer = Signal()
                yield self._writer
                continue
            part = min(room, size)
            self._held += part
            size -= part
            self._wake_reader()

    def read(self, size: int) -> Generator[Any, Any, None]:
        """Take `size` bytes out, or what there is when the writer is through."""
        while size:
            if not self._held:
                if self._closed:
                    return
                self._reader = Signal()
                yield self._reader
                continue
            part = min(self._held, size)
            self._held -= part
            size -= part
            writer, self._writer = self._writer, None
            if writer is not None:
                writer.fire()

    def close(self) -> None:
        """The writer is through."""
        self._closed = True
        self._wake_reader()

    def _wake_reader(self) -> None:
        reader, self._reader = self._reader, None
        if reader is not None:
            reader.fire()
