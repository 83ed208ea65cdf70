"""What a job of fio began and when, kept outside memory: an hour at 100,000 I/Os a second is 360 million of them."""

from __future__ import annotations

import struct
import weakref
from collections.abc import Iterator
from tempfile import SpooledTemporaryFile, gettempdir

from ...model.core.errors import InputError
from ...model.programs.operation import Kind, Operation

_KINDS = tuple(Kind)
_ROW = struct.Struct("<dBIqq")
_IN_MEMORY = 1 << 20
"""Bytes of a log for which no file is made."""
_ROWS_AT_ONCE = 4096


class OperationLog:
    """Operations of one call each, by kind, file, offset and size, with times from the start of their job (s).

    From the second MiB on they are in a file without a name, which goes when the log does.
    """

    def __init__(self) -> None:
        self._files: dict[str, int] = {}
        self._kinds = {kind: number for number, kind in enumerate(_KINDS)}
        self._rows = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 - open as long as there is a log
        weakref.finalize(self, self._rows.close)

    @property
    def files(self) -> tuple[str, ...]:
        """Files that the operations are on, in the order in which they were first used."""
        return tuple(self._files)

    def add(self, operation: Operation, seconds: float) -> None:
        """One more.

        Raises
        ------
        InputError
            If there is no room for it.
        """
        file = self._files.setdefault(operation.file, len(self._files))
        row = _ROW.pack(seconds, self._kinds[operation.kind], file, operation.offset, operation.size)
        try:
            self._rows.write(row)
        except OSError as error:
            found = f"no file of it can be written in {gettempdir()} ({error.strerror})"
            raise InputError("write_iolog", found, "expected: room there, or another folder in TMPDIR") from None

    def __iter__(self) -> Iterator[tuple[Operation, float]]:
        files, at = self.files, 0
        try:
            while True:
                self._rows.seek(at)
                rows = self._rows.read(_ROWS_AT_ONCE * _ROW.size)
                if not rows:
                    return
                at += len(rows)
                for seconds, kind, file, offset, size in _ROW.iter_unpack(rows):
                    yield Operation(_KINDS[kind], files[file], offset, size, size), seconds
        finally:
            self._rows.seek(0, 2)
