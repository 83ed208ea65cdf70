"""What the served array holds: in memory, in memory over an image, or in a sparse file."""

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path
from typing import Protocol

from ..model.core.errors import InputError
from ..model.files.quantities import format_size

BLOCK: int = 1 << 12
"""Bytes that are kept together in memory: what most clients write at random, so no other bytes are copied."""


class Data(Protocol):
    """The bytes of a device. An `OSError` says why they cannot be read or written."""

    def read(self, offset: int, size: int) -> bytes:
        """Return `size` bytes from `offset` (bytes); what was never written is zero."""

    def write(self, offset: int, data: bytes) -> None:
        """Keep `data` at `offset` (bytes)."""

    def trim(self, offset: int, size: int) -> None:
        """Forget `size` bytes at `offset`: the protocol does not say what is read there afterward."""

    @property
    def is_durable(self) -> bool:
        """Whether the data outlast the server, so that a flush has to call :meth:`sync`."""

    def sync(self) -> None:
        """Return when everything written so far is on stable storage."""

    def close(self) -> None:
        """Release the files."""


class MemoryData:
    """Blocks in memory, over an image that is only read.

    Parameters
    ----------
    limit
        Bytes of memory that may be used; a write beyond that fails with ENOSPC.
    base
        Image that gives what was never written; None for zeros.
    capacity
        Size of the device (bytes). A smaller image is followed by zeros.
    """

    def __init__(self, capacity: int, limit: int, base: Path | None = None) -> None:
        self._blocks: dict[int, bytes] = {}
        self._used = 0
        self._limit = limit
        self._base = -1 if base is None else _opened(base, os.O_RDONLY, "--base", capacity)

    @property
    def is_durable(self) -> bool:
        """See :attr:`Data.is_durable`."""
        return False

    def read(self, offset: int, size: int) -> bytes:
        """See :meth:`Data.read`."""
        parts = []
        end = offset + size
        while offset < end:
            number, inside = divmod(offset, BLOCK)
            length = min(BLOCK - inside, end - offset)
            block = self._blocks.get(number)
            if block is not None:
                parts.append(block if length == BLOCK else block[inside : inside + length])
            else:
                while length < end - offset and (offset + length) // BLOCK not in self._blocks:
                    length = min(length + BLOCK, end - offset)
                parts.append(bytes(length) if self._base < 0 else _read(self._base, offset, length))
            offset += length
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def write(self, offset: int, data: bytes) -> None:
        """See :meth:`Data.write`."""
        first, last = offset // BLOCK, (offset + len(data) - 1) // BLOCK
        blocks = self._blocks
        added = BLOCK * sum(number not in blocks for number in range(first, last + 1))
        if self._used + added > self._limit:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        self._used += added
        done = 0
        for number in range(first, last + 1):
            inside = offset + done - number * BLOCK
            length = min(BLOCK - inside, len(data) - done)
            part = data[done : done + length]
            if length < BLOCK:
                before = self.read(number * BLOCK, BLOCK)
                part = before[:inside] + part + before[inside + length :]
            blocks[number] = part
            done += length

    def trim(self, offset: int, size: int) -> None:
        """See :meth:`Data.trim`; whole blocks give their memory back, so zeros or the image are read there again."""
        first, end = -(-offset // BLOCK), (offset + size) // BLOCK
        blocks = self._blocks
        wide = end - first > len(blocks)
        gone = [n for n in blocks if first <= n < end] if wide else [n for n in range(first, end) if n in blocks]
        self._used -= BLOCK * len(gone)
        for number in gone:
            del blocks[number]

    def sync(self) -> None:
        """See :meth:`Data.sync`; memory has no stable storage."""

    def close(self) -> None:
        """See :meth:`Data.close`."""
        if self._base >= 0:
            os.close(self._base)
            self._base = -1


class FileData:
    """A sparse file of the device's size. A second server that wants the same file is refused.

    Parameters
    ----------
    path
        The file; it is made if it does not exist.
    capacity
        Size of the device (bytes).
    read_only
        If true, the file must exist and is not changed.
    """

    def __init__(self, path: Path, capacity: int, read_only: bool = False) -> None:
        self._file = _opened(path, os.O_RDONLY if read_only else os.O_RDWR | os.O_CREAT, "--data", capacity)
        self._failed: OSError | None = None
        try:
            fcntl.flock(self._file, (fcntl.LOCK_SH if read_only else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            if not read_only:
                os.ftruncate(self._file, capacity)
        except OSError as error:
            os.close(self._file)
            if isinstance(error, BlockingIOError):
                found = f"{path} is in use by another server"
                raise InputError("--data", found, "expected: a file for each server") from None
            raise InputError("--data", f"{path}: {error.strerror}", "expected: a file that can be written") from None

    @property
    def is_durable(self) -> bool:
        """See :attr:`Data.is_durable`."""
        return True

    def read(self, offset: int, size: int) -> bytes:
        """See :meth:`Data.read`."""
        return _read(self._file, offset, size)

    def write(self, offset: int, data: bytes) -> None:
        """See :meth:`Data.write`."""
        view = memoryview(data)
        while view:
            written = os.pwrite(self._file, view, offset)
            view, offset = view[written:], offset + written

    def trim(self, offset: int, size: int) -> None:
        """See :meth:`Data.trim`; the file keeps its bytes, which the protocol permits."""

    def sync(self) -> None:
        """See :meth:`Data.sync`. After one failure all later calls fail: the kernel reports lost data only once."""
        if self._failed is not None:
            raise self._failed
        try:
            os.fdatasync(self._file)
        except OSError as error:
            self._failed = error
            raise

    def close(self) -> None:
        """See :meth:`Data.close`."""
        os.close(self._file)


def _opened(path: Path, flags: int, option: str, capacity: int) -> int:
    try:
        file = os.open(path, flags | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise InputError(option, f"{path}: {error.strerror}", "expected: a file that can be opened") from None
    size = os.lseek(file, 0, os.SEEK_END) if path.is_file() or path.is_block_device() else None
    if size is None or size > capacity:
        os.close(file)
        found = f"{path} is no file" if size is None else f"{path} has {format_size(size)}"
        raise InputError(option, found, f"expected: a file of at most {format_size(capacity)}, the array's capacity")
    return file


def _read(file: int, offset: int, size: int) -> bytes:
    """`size` bytes of a file, with zeros behind its end."""
    parts = []
    while size:
        part = os.pread(file, size, offset)
        if not part:
            parts.append(bytes(size))
            break
        parts.append(part)
        offset, size = offset + len(part), size - len(part)
    return b"".join(parts)
