"""What the clients asked for, as a trace that `raidsim replay` and fio (``--read_iolog``) play on other storage.

It is fio's I/O log, version 3: the microseconds since the first request, the device, and the request. The file is
written as requests arrive, so it holds what a killed server has served but for the last lines in memory.
"""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from ..model.core.errors import InputError
from ..model.core.request import FLUSH, READ, TRIM, WRITE
from .array import Io

_ACTIONS = {READ: "read", WRITE: "write", FLUSH: "sync", TRIM: "trim"}


class TraceFile:
    """A trace that is being written.

    Parameters
    ----------
    path
        The file; one that is there is overwritten.
    device
        The name of the device in it.

    Raises
    ------
    InputError
        If the file cannot be written.
    """

    def __init__(self, path: Path, device: str) -> None:
        self._path = path
        self._device = device
        self._first_s: float | None = None
        self.failed: InputError | None = None
        try:
            self._file: TextIO = path.open("w", encoding="ascii")
            self._file.write(f"fio version 3 iolog\n0 {device} add\n0 {device} open\n")
        except OSError as error:
            raise self._cannot(error) from None

    def add(self, io: Io) -> None:
        """Note a request that enters the array. If the disk is full the trace ends there, and :meth:`close` says so."""
        if self.failed is not None:
            return
        if self._first_s is None:
            self._first_s = io.arrived_s
        at_us = round(1e6 * (io.arrived_s - self._first_s))
        try:
            self._file.write(f"{at_us} {self._device} {_ACTIONS[io.op]} {io.offset} {io.size}\n")
            if io.fua and io.op != READ:
                self._file.write(f"{at_us} {self._device} sync 0 0\n")
        except OSError as error:
            self.failed = self._cannot(error)

    def close(self) -> None:
        """End the trace; `InputError` if it is not whole."""
        try:
            self._file.close()
        except OSError as error:
            self.failed = self.failed or self._cannot(error)
        if self.failed is not None:
            raise self.failed

    def _cannot(self, error: OSError) -> InputError:
        return InputError("--trace", f"{self._path}: {error.strerror}", "expected: a file that can be written")
