"""A block device as a program opens it with O_DIRECT: the kernel may plug what one call submits.

Where a call is plugged, the pieces into which an array cuts it merge, member by member. Linux plugs a call of more
pages than one bio holds (__blkdev_direct_IO). Up to 6.4 it plugs every write, whatever its size (blkdev_write_iter;
dropped in 6.5, commit 712c7364655f). Source: block/fops.c.
"""

from __future__ import annotations

from functools import partial

from ..core.device import Device, Wrapper
from ..core.request import READ, TRIM, Request
from ..tasks.host import Host
from ..tasks.task_plug import TaskPlug


class BlockFile(Wrapper):
    """A device, and the plug of each call that reads or writes it.

    Parameters
    ----------
    device
        What the calls read and write.
    host
        Whose tasks plug.
    reads_above, writes_above
        Bytes above which a read, and a write, is plugged.
    piece_bytes
        The device cuts an I/O at multiples of this size only. What lies between two of them is one piece, which has
        nothing to merge with, so its plug is left out. 0: the device cuts anywhere.
    """

    __slots__ = (
        "_engine",
        "_held",
        "_piece_bytes",
        "_plug_limits",
        "_plugs",
        "_reads_above",
        "_sleepers",
        "_writes_above",
    )

    def __init__(self, device: Device, host: Host, reads_above: int, writes_above: int, piece_bytes: int = 0) -> None:
        super().__init__(device)
        self._engine = host.cpu._engine
        self._plugs = host.thread_plugs
        self._plug_limits = host.plug_limits
        self._sleepers = host.sleepers
        self._reads_above = reads_above
        self._writes_above = writes_above
        self._piece_bytes = piece_bytes
        self._held = False

    def plug(self) -> None:
        """The program submits several calls at a time (io_submit): they share one plug until :meth:`unplug`."""
        self._held = True
        self.device.plug()

    def unplug(self) -> None:
        """See :meth:`Device.unplug`."""
        self._held = False
        self.device.unplug()

    def submit(self, request: Request) -> None:
        """Submit the request of a call, under a plug of its own if the kernel plugs such a call."""
        op, size, unit = request.op, request.size, self._piece_bytes
        if self._sleepers:
            asleep = self._sleepers.get(request.issuer)
            if asleep is not None and asleep.sleeps:
                asleep.backlog.append(asleep.later(self._engine, request, self.submit))
                return
        above = self._reads_above if op == READ else self._writes_above
        one_piece = size <= unit and request.offset % unit + size <= unit
        issuer = request.issuer
        if one_piece or size <= above or op == TRIM or self._held or issuer in self._plugs:
            self.device.submit(request)
            return
        plug = self._plugs[issuer] = TaskPlug(limits=self._plug_limits)
        plug.start()
        self.device.submit(request)
        thread = self._sleepers.get(issuer) if self._sleepers else None
        if thread is not None and thread.sleeps:
            # The task blocks for a tag in the middle of the call. What it submits afterwards is plugged, too.
            thread.backlog.append(partial(self._end, issuer))
        else:
            self._end(issuer)

    def _end(self, issuer: int) -> None:
        """The call is submitted: send what its plug holds."""
        self._plugs.pop(issuer).flush()
