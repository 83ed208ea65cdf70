"""A row's requests that go to the members block by block, because their blocks do not merge in the thread's plug.

md's thread handles a row by stripe heads: the first block goes to each member, then the second. As long as no member
makes it block, all blocks of a member become one request in the thread's plug. A thread that blocks for a tag sends
what it has plugged, which is one block of the members that come before: later blocks of these become requests of their
own, unless the first is still queued. The same happens at every block where the row has more members than the plug
holds requests. Source: drivers/md/raid5.c, ops_run_io; block/blk-mq-tag.c, blk_mq_get_tag; block/blk-mq.c,
blk_plug_max_rq_count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...core.request import Completion, Request


class _Whole(Completion):
    """A member's request of which blocks are under way: it is complete when all of them are."""

    __slots__ = ("_left", "_request")

    def __init__(self, request: Request) -> None:
        self._request = request
        self._left = request.size

    def done(self, request: Request) -> None:
        self._left -= request.size
        if not self._left:
            if request.trail is not None:
                self._request.trail = request.trail
            self._request.complete()


class BlockTurns:
    """The requests of one row, sent in turns.

    Parameters
    ----------
    requests
        Slot and request of each member; offset and size are the same.
    submit
        Sends a request to the member of a slot; whether the thread blocks over it.
    block_bytes
        Height of a stripe head.
    overflows
        If true, the plug does not hold a request of every member, so that no turn merges with the one before.
    """

    __slots__ = ("_at", "_block_bytes", "_blocked", "_members", "_next", "_overflows", "_size", "_submit")

    def __init__(
        self,
        requests: Sequence[tuple[int, Request]],
        submit: Callable[[int, Request], bool],
        block_bytes: int,
        overflows: bool = False,
    ) -> None:
        self._members = [(slot, request, _Whole(request)) for slot, request in requests]
        self._submit = submit
        self._block_bytes = block_bytes
        self._at = self._next = 0
        self._size = block_bytes
        self._overflows = self._blocked = overflows

    def send(self) -> bool:
        """Send blocks until the thread blocks (False) or all are sent (True).

        After a turn in which it did not block, every member has a request in the plug with which the rest merges, so
        that the rest of the row is one more turn.
        """
        total = self._members[0][1].size
        while self._at < total:
            while self._next < len(self._members):
                slot, request, whole = self._members[self._next]
                self._next += 1
                at, sync, trail = request.offset + self._at, request.sync, request.trail
                block = Request(request.op, at, self._size, whole, request.issuer, sync, trail=trail)
                if self._submit(slot, block):
                    self._blocked = True
                    return False
            self._at += self._size
            self._size = min(self._block_bytes, total - self._at) if self._blocked else total - self._at
            self._next = 0
            self._blocked = self._overflows
        return True
