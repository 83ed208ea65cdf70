"""The operations of a recorded phase: which file, which calls, reading or writing, synchronous or not."""

from __future__ import annotations

from typing import NamedTuple

from .recording import Phase

Call = tuple[int, int]
"""Offset and size in bytes."""


class Operation(NamedTuple):
    """What a phase does.

    Attributes
    ----------
    file
        The file or the volume.
    calls
        In order.
    writes
        If true, the calls write.
    synchronous
        If true, each call is committed; if false and `commits`, all are at the end (fsync).
    commits
        If true, the intent log is written.
    random
        If true, the kernel was told that the calls are random (POSIX_FADV_RANDOM), so that nothing is read ahead.
    """

    file: str
    calls: list[Call]
    writes: bool
    synchronous: bool = False
    commits: bool = False
    random: bool = False


def operation(phase: Phase, file_bytes: int) -> Operation | None:
    """The operation of a phase on a file of this size; None if it is another kind of phase.

    The notation: write FILE SIZE COUNT, rand FILE SIZE COUNT r|w|d, read FILE SIZE COUNT, back FILE SIZE COUNT,
    stride FILE SIZE DISTANCE COUNT, streams FILE SIZE READERS COUNT, append FILE SIZE COUNT.
    """
    words = phase.op.partition(" (")[0].split()
    what = words[0] if words else ""
    if what not in ("write", "rand", "read", "back", "stride", "streams", "append"):
        return None
    file, size, count = words[1], int(words[2]), int(words[3])
    calls = [(k * size, size) for k in range(count)]
    always = "sync=always" in phase.op
    off = "sync=disabled" in phase.op
    if what == "write":
        return Operation(file, calls, True, commits="fsync" in words and not off)
    if what == "append":
        return Operation(file, calls, True, not off, not off)
    if what == "rand":
        synchronous = (words[4] == "d" or always) and not off
        return Operation(
            file, [(offset, size) for offset in phase.offsets], words[4] != "r", synchronous, synchronous, True
        )
    if what == "read":
        return Operation(file, calls, False)
    if what == "back":
        return Operation(file, [(file_bytes - (k + 1) * size, size) for k in range(count)], False)
    if what == "stride":
        return Operation(file, [(k * count, size) for k in range(int(words[4]))], False)
    readers, each = count, int(words[4])
    return Operation(
        file,
        [(file_bytes // readers * reader + k * size, size) for k in range(each) for reader in range(readers)],
        False,
    )


def touched(calls: list[Call], block_bytes: int) -> set[int]:
    """Offsets of the blocks that the calls touch."""
    return {
        block
        for offset, size in calls
        for block in range(offset // block_bytes * block_bytes, offset + size, block_bytes)
    }
