"""A member of an array that is being reshaped, which holds the data of two layouts."""

from __future__ import annotations

from ...core.device import Device, Wrapper
from ...core.join import FORWARD
from ...core.request import Request


class ReshapedMember(Wrapper):
    """A member as two layouts see it: the new one's data, and from `old_start` on the old one's.

    On the drive the new data begin where the old ones did, or a little before: md moves the data offset, so that what
    is written never overtakes what is still to be read. Here the drive begins where the new data do.

    Parameters
    ----------
    device
        The drive.
    old_start
        Address of the first byte of the old layout.
    moved
        How far the old data are from the new ones on the drive (bytes).
    """

    __slots__ = ("_moved", "_old_start")

    def __init__(self, device: Device, old_start: int, moved: int) -> None:
        super().__init__(device)
        self._old_start = old_start
        self._moved = moved

    def submit(self, request: Request) -> None:
        """Serve a request at its place on the drive; it keeps its offset, at which arrays look when it is complete."""
        offset = request.offset
        if offset < self._old_start:
            self.device.submit(request)
            return
        offset += self._moved - self._old_start
        below = Request(request.op, offset, request.size, FORWARD, request.issuer, request.sync, request, request.trail)
        self.device.submit(below)
        request.submitted = below.submitted
