"""What a program asks of the kernel: one tuple for a run of equal system calls, never one a call.

Files are named by their paths; /dev/zero and /dev/null are the devices of that name, which cost the calls only. Where
several processes run together (the seekers of bonnie, the threads of tiotest, the two ends of a pipe), each has its own
sequence of operations.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Literal


class Kind(StrEnum):
    """What an operation is. The value is the name of the system call, where there is one."""

    MARK = "mark"
    """The program looks at the clock or says what it begins. The name of the phase stands in `file`."""
    LAP = "lap"
    """The program looks at the clock, and until the next mark it times nothing."""
    OPEN = "open"
    CLOSE = "close"
    READ = "read"
    WRITE = "write"
    REWRITE = "rewrite"
    """For each block: read it, seek back, write it; `calls` counts the blocks."""
    SEEK = "lseek"
    FSYNC = "fsync"
    FDATASYNC = "fdatasync"
    TRIM = "trim"
    """Tell the device that these bytes hold nothing any more (BLKDISCARD, FALLOC_FL_PUNCH_HOLE)."""
    SYNC = "sync"
    UNLINK = "unlink"
    MKDIR = "mkdir"
    RMDIR = "rmdir"
    STAT = "stat"
    LIST = "getdents"
    """Read the entries of a directory."""
    SET_TIMES = "utimensat"
    SET_OWNER = "fchown"
    SET_MODE = "fchmod"
    COPY_RANGE = "copy_file_range"
    FORK = "fork"
    """Start `calls` processes or threads."""
    WAIT = "wait"
    """Wait until `calls` processes or threads that were started have ended."""
    TELL = "write-pipe"
    """Write `size` bytes to the pipe `file` that another process reads, in calls of `call_bytes`.

    A call waits while the pipe is full: 4 KiB are in it before Linux 2.6.11, 64 KiB since (fs/pipe.c).
    """
    HEAR = "read-pipe"
    """Read `size` bytes from the pipe `file`, in calls of `call_bytes`, each of which waits for all of them.

    That a call gets as much as the other side writes in one of its own, even where the pipe holds less, is what
    pipe_read of Linux does: it goes on while the writer sleeps inside its call.
    """
    SLEEP = "sleep"
    """`size` is the number of seconds."""


Loop = Literal["", "putc", "getc"]
"""The loop of the C library that moves the data byte by byte between the program and the buffer that the calls move."""


class Operation:
    """A run of equal system calls on one file.

    Parameters
    ----------
    kind
        What is asked for.
    file
        Path of the file or directory.
    offset
        Where in the file the run starts (bytes).
    size
        Bytes the run moves in all.
    call_bytes
        Bytes each call asks for; the last may get less. 0 if no data is moved.
    calls
        Number of calls, counting those that move nothing.
    flags
        How a file is opened ("O_RDWR|O_CREAT").
    loop
        What each byte goes through besides the calls.
    """

    __slots__ = ("call_bytes", "calls", "file", "flags", "kind", "loop", "offset", "size")

    def __init__(
        self,
        kind: Kind,
        file: str = "",
        offset: int = 0,
        size: int = 0,
        call_bytes: int = 0,
        calls: int = 1,
        flags: str = "",
        loop: Loop = "",
    ) -> None:
        self.kind = kind
        self.file = file
        self.offset = offset
        self.size = size
        self.call_bytes = call_bytes
        self.calls = calls
        self.flags = flags
        self.loop = loop

    def _all(self) -> tuple[Kind, str, int, int, int, int, str, Loop]:
        return self.kind, self.file, self.offset, self.size, self.call_bytes, self.calls, self.flags, self.loop

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Operation) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return f"Operation{self._all()}"


def mark(phase: str) -> Operation:
    """The program begins `phase`."""
    return Operation(Kind.MARK, phase)


def transfer(kind: Kind, file: str, offset: int, size: int, call_bytes: int, loop: Loop = "") -> Operation:
    """Move `size` bytes in calls of `call_bytes`, the last of which is shorter if need be."""
    return Operation(kind, file, offset, size, call_bytes, -(-size // call_bytes), loop=loop)


def system_calls(operations: Iterable[Operation]) -> dict[str, int]:
    """How many system calls of each kind a run of operations makes, in the order in which they first come.

    Calls that move data carry their size ("write[4096]"), opened files their flags ("open(O_RDWR)").
    """
    counts: dict[str, int] = {}

    def add(name: str, calls: int) -> None:
        if calls:
            counts[name] = counts.get(name, 0) + calls

    for operation in operations:
        kind, calls = operation.kind, operation.calls
        if kind is Kind.REWRITE:
            add(f"read[{operation.call_bytes}]", calls)
            add("lseek", calls)
            add(f"write[{operation.call_bytes}]", calls)
        elif kind in (Kind.READ, Kind.WRITE, Kind.TELL, Kind.HEAR):
            whole = calls if operation.size == calls * operation.call_bytes else calls - 1
            add(f"{kind}[{operation.call_bytes}]", whole)
            if whole < calls:
                add(f"{kind}[{operation.size - whole * operation.call_bytes}]", 1)
        elif kind is Kind.OPEN:
            add(f"open({operation.flags})", calls)
        elif kind not in (Kind.MARK, Kind.LAP):
            add(kind.value, calls)
    return counts
