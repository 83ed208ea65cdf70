"""A part of a block device, and the same part in a run of a fraction of the size."""

from __future__ import annotations

from ..core.device import Device, Wrapper
from ..core.join import FORWARD
from ..core.request import Request

STRETCH_BYTES = 128 << 20
"""A stretched partition keeps so many bytes together, unless the file system has other groups."""
_LARGEST_PIECE = 512 << 20
_WHOLE_BYTES = 1 << 20
"""Its size is a multiple of this."""


class Partition(Wrapper):
    """A part of a block device.

    In a run at a scale of `stretch`, where everything is that many times smaller, what lies on the disk is spread out
    again: each piece represents `stretch` of them, so that files are as far from each other, and from the
    fast edge of the disk, as in the whole run.

    Parameters
    ----------
    device
        What it is a part of.
    start, size
        Where (bytes).
    stretch
        1, or the scale of the run.
    group_bytes
        Allocation group of the file system on it: pieces are as large, unless that is too much.
    """

    __slots__ = ("_piece", "_start", "_stretch")

    def __init__(self, device: Device, start: int, size: int, stretch: int = 1, group_bytes: int = 0) -> None:
        super().__init__(device)
        self._start = start
        self._stretch = stretch
        self._piece = group_bytes if STRETCH_BYTES < group_bytes <= _LARGEST_PIECE else STRETCH_BYTES
        self.capacity = size if stretch == 1 else size // stretch // _WHOLE_BYTES * _WHOLE_BYTES

    def submit(self, request: Request) -> None:
        """Queue a request, at its place on the device."""
        offset = request.offset
        if self._stretch > 1:
            inside = offset % self._piece
            offset = (offset - inside) * self._stretch + inside
        request.offset = offset + self._start
        self.device.submit(request)


class Slice(Wrapper):
    """A part of a block device that is a device of its own: a partition, or a segment of a logical volume.

    Other slices of the device share its queue and its time. Requests to the slice keep their offsets, since arrays look
    at the offsets of their members' requests when these are complete.

    Parameters
    ----------
    device
        Device that the slice is a part of.
    start, size
        Where the slice begins on the device, and its size (bytes).
    name
        Shown in results.
    """

    __slots__ = ("_start",)

    def __init__(self, device: Device, start: int, size: int, name: str) -> None:
        super().__init__(device, name)
        self._start = start
        self.capacity = size

    def submit(self, request: Request) -> None:
        """Serve a request at its place on the device."""
        offset = request.offset + self._start
        below = Request(request.op, offset, request.size, FORWARD, request.issuer, request.sync, request, request.trail)
        self.device.submit(below)
        request.submitted = below.submitted
