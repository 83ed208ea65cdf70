"""Discards (TRIM, UNMAP, deallocate): telling a device that bytes hold nothing any more, and who passes that on.

A discard is a request of its own kind that goes down the same way as a write. Every device says what it takes of them,
its granularity and the largest it takes at once (queue/discard_granularity and discard_max_bytes in sysfs); what stands
on others takes what they take (:func:`stacked`). A device that takes none says why, and is sent none; of an array
that passes them on, members that take none are left out. Whoever discards (BLKDISCARD) cuts at the granularity first,
and the queue of each device at the most that it takes. Sources: Linux 6.1 block/blk-lib.c (bio_discard_limit,
__blkdev_issue_discard: EOPNOTSUPP if the device takes none), block/blk-merge.c (bio_split_discard),
block/blk-settings.c (blk_stack_limits), include/linux/blk_types.h (a bio has 32 bits of bytes).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from .device import Device
from .discard_limits import DiscardLimits, refused
from .errors import ModelError
from .request import ASYNC, TRIM, Request

SECTOR = 512
MOST_BIO_BYTES = (1 << 32) - SECTOR
"""The largest bio, in whole sectors."""


def stacked(name: str, members: Iterable[Device], granularity: int = 0) -> DiscardLimits:
    """What a device that stands on `members` takes, if its own discards have at least this granularity (bytes)."""
    below = [member.discard_limits for member in members]
    taking = [limits for limits in below if not limits.refusal]
    if not taking:
        return refused(below[0].refusal if below else f"{name} has no members")
    coarsest = max(granularity, *(limits.granularity for limits in taking))
    return DiscardLimits(coarsest, min(limits.most_bytes for limits in taking))


def split(offset: int, size: int, limits: DiscardLimits) -> Iterator[tuple[int, int]]:
    """The pieces in which a queue sends a discard on: no larger than it takes, ending at its granularity."""
    granularity = limits.granularity
    most = max(limits.most_bytes - limits.most_bytes % granularity, granularity)
    end = offset + size
    while end - offset > most:
        piece = most - (offset + most) % granularity
        yield offset, piece
        offset += piece
    yield offset, end - offset


def pieces_of(request: Request, limits: DiscardLimits) -> list[Request]:
    """A discard as a queue sends it on: itself, or pieces that complete it; `ModelError` if the device takes none."""
    if limits.refusal:
        raise ModelError(f"{request!r}: {limits.refusal}")
    ranges = list(split(request.offset, request.size, limits))
    if len(ranges) == 1:
        return [request]
    return _parts(ranges, request.complete, request.issuer)


def issue(device: Device, offset: int, size: int, done: Callable[[], None], issuer: int) -> None:
    """Discard [offset, offset + size) of a device that takes discards, as BLKDISCARD does; `done` when all is done.

    What comes before the first multiple of the granularity is sent separately; all is plugged, so that what an array
    cuts merges again.
    """
    granularity = device.discard_limits.granularity
    most = MOST_BIO_BYTES - MOST_BIO_BYTES % granularity
    end = offset + size
    bios = []
    while offset < end:
        ahead = -offset % granularity
        piece = min(ahead or most, end - offset)
        bios.append((offset, piece))
        offset += piece
    device.plug()
    for part in _parts(bios, done, issuer):
        device.submit(part)
    device.unplug()


def _parts(ranges: Sequence[tuple[int, int]], done: Callable[[], None], issuer: int) -> list[Request]:
    """A discard for each range; `done` after the last."""
    left = len(ranges)

    def one(_: Request) -> None:
        nonlocal left
        left -= 1
        if not left:
            done()

    return [Request(TRIM, offset, size, one, issuer, ASYNC) for offset, size in ranges]
