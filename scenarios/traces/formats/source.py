"""The bytes of a trace: unpacked, read once from front to end, and always able to say where they are."""

from __future__ import annotations

import gzip
import importlib
import importlib.util
import io
import lzma
import os
import sys
import zlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ....model.core.errors import InputError

BLOCK = 1 << 18
"""Bytes of a text that are read at once, and the rest of the last line."""
LONGEST_LINE = 1 << 16
"""Bytes; a longer line is no trace."""
HEAD = 1 << 16
"""Bytes at the front of a file that tell its format."""

MALFORMED = "malformed records"
_ERRORS_KEPT = 3
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError)
UTF_8, UTF_16 = b"\xef\xbb\xbf", (b"\xff\xfe", b"\xfe\xff")
"""Marks that Windows puts at the beginning of texts."""
_GZ, _XZ, _ZST = b"\x1f\x8b", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd"


class Source:
    """The content of one trace file.

    Parameters
    ----------
    path
        The file, packed with gzip, xz or zstd or not packed.
    content
        What is in the file, if that is known; then no file is opened, and `path` is only what errors call it.

    Attributes
    ----------
    path, name
        The file, and what errors call it.
    skipped
        How many records were left out, by what they are.
    names
        Names of devices so far, by the bytes that name them in the file.
    devices
        The same names in the order in which they came; records hold their numbers.
    errors
        What is wrong with the first malformed records that were left out; None where they are not left out.
    flushes
        Whether flushes are among the records, where a format has them; otherwise they are left out and counted.
    """

    __slots__ = (
        "_at",
        "_base_ns",
        "_number",
        "_numbers",
        "_packed",
        "_stream",
        "devices",
        "errors",
        "flushes",
        "name",
        "names",
        "path",
        "skipped",
    )

    def __init__(self, path: Path, content: bytes | None = None) -> None:
        self.path = path
        self.name = str(path)
        self.skipped: Counter[str] = Counter()
        self.names: dict[bytes, str] = {}
        self.devices: list[str] = []
        self._numbers: dict[str, int] = {}
        self._base_ns: int | None = None
        self.errors: list[str] | None = None
        self.flushes = False
        self._number = 0
        self._at = 0
        try:
            if content is None and path.is_dir():
                raise InputError(self.name, "found a folder", "expected: a trace file")
            self._packed: IO[bytes] = path.open("rb") if content is None else io.BytesIO(content)
        except (OSError, ValueError) as error:
            why = error.strerror if isinstance(error, OSError) else str(error)
            raise InputError(self.name, f"cannot be read ({why})", "expected: a trace file") from None
        try:
            self._stream = io.BufferedReader(_unpacked(self._packed, self.name), BLOCK)  # type: ignore[type-var]
        except BaseException:
            self._packed.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._packed.close()

    @property
    def place(self) -> str:
        """Where reading stands: the file with the line, or with the byte at which the record begins."""
        return self.place_of(self.mark)

    @property
    def mark(self) -> int:
        """The number of the line at which reading stands; in a binary file the byte at which the record begins."""
        return self._number or self._at

    def place_of(self, mark: int) -> str:
        """A mark in words."""
        return f"{self.name}:{mark}" if self._number else f"{self.name}: byte {mark}"

    def since(self, moment_ns: int) -> int:
        """The time (ns) from which times are counted: that of the first record; `moment_ns` if this is the first."""
        if self._base_ns is None:
            self._base_ns = moment_ns
        return self._base_ns

    def number_of(self, device: str) -> int:
        """The number of a device's name."""
        number = self._numbers.get(device)
        if number is None:
            number = self._numbers[device] = len(self.devices)
            self.devices.append(device)
        return number

    @property
    def bytes_read(self) -> int:
        """How many bytes of the file, as packed, have been taken."""
        return self._packed.tell()

    def head(self) -> bytes:
        """The first bytes of the content; only before anything else is read."""
        try:
            return self._stream.read(HEAD)
        except _unpacking_errors() as error:
            raise self._damaged(error) from None

    def lines(self) -> Iterator[bytes]:
        """The lines without their ends; empty ones are left out."""
        for block in self.blocks():
            yield from self.lines_of(block)

    def blocks(self) -> Iterator[bytes]:
        """The text in blocks of whole lines, each with its end; the lines of a block are counted by who takes them."""
        rest, first, damaged = b"", True, None
        while damaged is None:
            parts, size = [rest], 0
            while size < BLOCK:
                try:
                    part = self._stream.read1(BLOCK - size)
                except _unpacking_errors() as error:
                    damaged = error
                    break
                if not part:
                    break
                parts.append(part)
                size += len(part)
            content = b"".join(parts)
            if first:
                content, first = content.removeprefix(UTF_8), False
            if not size and damaged is None:
                if content:
                    yield content + b"\n"
                return
            end = content.rfind(b"\n") + 1
            rest = content[end:]
            if end:
                yield content[:end]
            if len(rest) >= LONGEST_LINE:
                self._number += 1
                raise self._endless()
        raise self._damaged(damaged) from None

    def lines_of(self, block: bytes) -> Iterator[bytes]:
        """The lines of a block without their ends; empty ones are left out."""
        lines = block.split(b"\n")
        lines.pop()
        for line in lines:
            self._number += 1
            if len(line) >= LONGEST_LINE:
                raise self._endless()
            stripped = line.strip()
            if stripped:
                yield stripped

    def count_lines(self, count: int) -> int:
        """Count the lines of a block that is read; return the number of the line before them."""
        before = self._number
        self._number += count
        return before

    def _endless(self) -> InputError:
        return InputError(self.place, f"found a line of more than {LONGEST_LINE} bytes", "expected: a text trace")

    def take(self, size: int, what: str) -> bytes:
        """The next `size` bytes, or none at the end of the file; `InputError` if it ends within."""
        try:
            found = self._stream.read(size)
        except _unpacking_errors() as error:
            raise self._damaged(error) from None
        if found and len(found) < size:
            allowed = f"expected: {size} bytes of {what}"
            raise InputError(self.place, f"the file ends after {len(found)} bytes", allowed)
        return found

    def malformed(self, error: InputError) -> None:
        """Leave out a record that cannot be understood and count it, or raise what is wrong with it."""
        if self.errors is None:
            raise error
        self.skipped[MALFORMED] += 1
        if len(self.errors) < _ERRORS_KEPT:
            self.errors.append(str(error))

    def advance(self, size: int) -> None:
        """Note that a record of `size` bytes is done, for :attr:`place`."""
        self._at += size

    def _damaged(self, error: Exception) -> InputError:
        return InputError(self.place, f"cannot be unpacked or read ({error})", "expected: a whole file")


def file_size(path: Path) -> int:
    """Bytes of the file, as packed; 0 if nobody knows."""
    try:
        return os.stat(path).st_size
    except OSError:
        return 0


def _unpacked(packed: IO[bytes], name: str) -> IO[bytes]:
    """What reads the content, by the first bytes of the file."""
    magic = packed.read(6)
    try:
        packed.seek(0)
    except OSError:
        raise InputError(name, "found something that can be read only once", "expected: a file") from None
    if magic.startswith(_GZ):
        return gzip.GzipFile(fileobj=packed)  # type: ignore[return-value]
    if magic.startswith(_XZ):
        return lzma.LZMAFile(packed)
    if magic.startswith(_ZST):
        if importlib.util.find_spec("zstandard") is None:
            allowed = "expected: with the Python module zstandard installed, or unpacked by `zstd -d`"
            raise InputError(name, "found a file packed with zstd", allowed)
        reader: IO[bytes] = (
            importlib.import_module("zstandard").ZstdDecompressor().stream_reader(packed, read_across_frames=True)
        )
        return reader
    return packed


def _unpacking_errors() -> tuple[type[Exception], ...]:
    """What unpacking raises when the file is damaged; of zstandard only once it is in use."""
    module = sys.modules.get("zstandard")
    return (*_DAMAGED, module.ZstdError) if module is not None else _DAMAGED
