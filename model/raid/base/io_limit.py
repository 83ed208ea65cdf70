"""The block layer's limit in front of a device: an I/O that is too large is served in pieces.

Linux cuts a bio as it enters a device (bio_split_to_limits), counting from its own start and not from a multiple of
the limit; an array then cuts each piece at its chunks. An I/O of 512 KiB from 848 KiB on a RAID 0 of 512 KiB chunks is
176 + 336 KiB on two members, and one of 1 MiB is that twice over.

The order is that of submit_bio_noacct, which keeps a list: what a device hands on to another comes before what it
hands back to itself, and what was handed back last before what was before. What is left behind the limit is handed back
before what is left behind a chunk. So RAID 4, 5, 6 and 10 send the first chunks of all pieces, in order, and then what
is left of each piece, the last piece first. Where the queue of RAID 10 has its chunk as a limit (chunk_sectors; 6.17
and the stable kernels of 6.12), its chunks come in order. RAID 0 hands nothing back: of each piece it sends the part
behind the chunk boundary and then the part before (raid0_make_request since 6.6, and the stable kernels of 6.1).

The limits are those that md gives its own queue: the chunk on RAID 0 (raid0_run), 256 stripe heads of 4 KiB on RAID 4,
5 and 6, whatever the members' limit is (raid5_run), the members' on all others; and an optimal size of a full data
stripe where there are stripes (raid0_run, raid5_set_io_opt, raid10_set_io_opt), of which read-ahead takes two.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from ...core.device import Device, Wrapper
from ...core.discard import pieces_of
from ...core.join import Parts
from ...core.request import READ, TRIM, WRITE, Completion, Request
from ...layouts import Layout, ParityLayout, Raid10Layout, StripedLayout
from .array import Array
from .locks import LockedArray
from .metadata import Metadata

PARITY_REQUEST_BYTES = 256 * 4096
"""Largest request of a parity array (RAID5_MAX_REQ_STRIPES stripe heads of a page)."""


def largest_request_bytes(layout: Layout, member_request_bytes: int) -> int:
    """The largest request of an md array whose members take `member_request_bytes` (max_sectors_kb)."""
    if isinstance(layout, StripedLayout):
        return min(layout.chunk_bytes, member_request_bytes)
    if isinstance(layout, ParityLayout):
        return PARITY_REQUEST_BYTES
    return member_request_bytes


def optimal_request_bytes(layout: Layout) -> int:
    """The optimal I/O size of an md array (optimal_io_size): a stripe of data; 0 where there are no stripes."""
    if isinstance(layout, StripedLayout):
        return layout.chunk_bytes * layout.members
    if isinstance(layout, ParityLayout):
        return layout.chunk_bytes * layout.data_members
    if isinstance(layout, Raid10Layout):
        near = layout.copies_per_chunk if layout.algorithm == "near" else 1
        return layout.chunk_bytes * (layout.members if layout.members % near else layout.members // near)
    return 0


def behind_limit(array: Device, layout: Layout, member_request_bytes: int, raid10_chunks: bool = False) -> BioSplit:
    """An md array behind the limit of its queue, if its members take `member_request_bytes`.

    If `raid10_chunks` is true, the queue of a RAID 10 has its chunk as a limit, too (chunk_sectors).
    """
    if raid10_chunks and isinstance(layout, Raid10Layout):
        return BioSplit(array, member_request_bytes, layout.chunk_bytes, at_chunks=True)
    everywhere = isinstance(layout, Raid10Layout) and layout.on_all_members
    return BioSplit(
        array,
        largest_request_bytes(layout, member_request_bytes),
        0 if everywhere else layout.chunk_bytes,
        cuts_writes=not isinstance(layout, ParityLayout),
        tail_first=isinstance(layout, StripedLayout),
    )


class BioSplit(Wrapper):
    """A device behind the limit of its queue.

    Parameters
    ----------
    device
        What serves the pieces.
    max_request_bytes
        The largest piece.
    chunk_bytes
        Where the device itself splits requests; 0: nowhere.
    cuts_writes
        Whether it cuts writes there, too (RAID 5 takes a write as it is).
    tail_first
        Whether it serves what is behind the boundary first (RAID 0).
    at_chunks
        If true, the limit itself ends at each chunk, so that the pieces come in the order of their offsets.
    """

    __slots__ = ("_sleepers", "at_chunks", "chunk_bytes", "cuts_writes", "max_request_bytes", "tail_first")

    def __init__(
        self,
        device: Device,
        max_request_bytes: int,
        chunk_bytes: int = 0,
        cuts_writes: bool = True,
        tail_first: bool = False,
        at_chunks: bool = False,
    ) -> None:
        super().__init__(device)
        self.max_request_bytes = max_request_bytes
        self.chunk_bytes = chunk_bytes
        self.cuts_writes = cuts_writes
        self.tail_first = tail_first
        self.at_chunks = at_chunks
        queues = device.queues()
        # All are of one host, whose blocked tasks they share.
        self._sleepers: dict[int, Any] = queues[0].sleepers if queues else {}

    def submit(self, request: Request) -> None:
        """Serve a request, in pieces if it is too large."""
        if request.op == TRIM:
            for piece in pieces_of(request, self.discard_limits):
                self.device.submit(piece)
            return
        offset, size = request.offset, request.size
        chunk = self.chunk_bytes if self.tail_first or self.at_chunks else 0
        if size <= self.max_request_bytes and (not chunk or offset % chunk + size <= chunk):
            self.device.submit(request)
            return
        pieces = self._pieces(request)
        done = Parts(len(pieces), request)
        array = self.device.device if isinstance(self.device, LockedArray) else self.device
        metadata = array.metadata if request.op == WRITE and isinstance(array, Array) else None
        if metadata is not None:
            metadata.begin_call(request.issuer)
        offset, size = pieces[0]
        first = Request(request.op, offset, size, done, request.issuer, request.sync, trail=request.trail)
        self.device.submit(first)
        request.submitted = first.submitted
        self._send(request, iter(pieces[1:]), done, metadata)

    def _send(
        self,
        request: Request,
        left: Iterator[tuple[int, int]],
        done: Completion,
        metadata: Metadata | None,
    ) -> None:
        """Submit piece by piece; a task that blocks for a tag submits the next piece when it is awake again."""
        sleepers, issuer = self._sleepers, request.issuer
        while True:
            if sleepers:
                thread = sleepers.get(issuer)
                if thread is not None and thread.sleeps:
                    thread.backlog.append(partial(self._send, request, left, done, metadata))
                    return
            piece = next(left, None)
            if piece is None:
                if metadata is not None:
                    metadata.end_call(issuer)
                return
            self.device.submit(Request(request.op, piece[0], piece[1], done, issuer, request.sync, trail=request.trail))

    def _pieces(self, request: Request) -> list[tuple[int, int]]:
        """(offset, size) of the pieces in their order."""
        limit = self.max_request_bytes
        if self.at_chunks:
            return self._up_to_chunks(request.offset, request.offset + request.size)
        chunk = self.chunk_bytes if request.op == READ or self.cuts_writes else 0
        end = request.offset + request.size
        heads: list[tuple[int, int]] = []
        rests: list[tuple[int, int]] = []
        for offset in range(request.offset, end, limit):
            size = min(limit, end - offset)
            head = min(size, chunk - offset % chunk) if chunk else size
            if head < size:
                (heads if self.tail_first else rests).append((offset + head, size - head))
            heads.append((offset, head))
        return heads + rests[::-1]

    def _up_to_chunks(self, offset: int, end: int) -> list[tuple[int, int]]:
        """(offset, size) of pieces that end at a chunk or at the limit."""
        pieces = []
        while offset < end:
            size = min(end - offset, self.max_request_bytes, self.chunk_bytes - offset % self.chunk_bytes)
            pieces.append((offset, size))
            offset += size
        return pieces
