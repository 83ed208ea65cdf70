"""``hdparm -t``: how fast a device is read from its start (hdparm.c).

Before version 5.4 (2003) it reads 64 MiB in calls of 1 MiB, however long that takes; since then, calls of 1 MiB, later
of 2 MiB, until three seconds are over. The device's cached blocks are written and dropped before.
"""

from __future__ import annotations

from collections.abc import Iterator

from .operation import Kind, Operation, mark, transfer

MIB = 1024 * 1024
LIMIT_S = 3.0
"""Since 5.4: no call begins later than this many seconds after the first."""

_SIZE = 64 * MIB
_BLOCK = MIB


def hdparm_5_3(device: str, size: int = _SIZE) -> Iterator[Operation]:
    """``hdparm -t DEVICE`` before version 5.4; the device holds at least `size` bytes."""
    yield from _before(device)
    yield transfer(Kind.READ, device, 0, size, _BLOCK)
    yield Operation(Kind.CLOSE, device)


def hdparm_5_4(device: str, capacity: int, block: int = _BLOCK) -> Iterator[Operation]:
    """``hdparm -t DEVICE`` since version 5.4: one operation a call; whoever runs them stops after `LIMIT_S`."""
    yield from _before(device)
    for start in range(0, capacity - block + 1, block):
        yield Operation(Kind.READ, device, start, block, block)
    yield Operation(Kind.CLOSE, device)


def report(device: str, size: int, seconds: float) -> str:
    """What it prints: megabytes of 2^20 bytes."""
    megabytes = size // MIB
    return (
        f"\n{device}:\n Timing buffered disk reads: {megabytes:3d} MB in {seconds:5.2f} seconds ="
        f"{megabytes / seconds:6.2f} MB/sec\n"
    )


def _before(device: str) -> Iterator[Operation]:
    yield Operation(Kind.OPEN, device, flags="O_RDONLY|O_NONBLOCK")
    yield Operation(Kind.FSYNC, device)
    yield mark("read")
