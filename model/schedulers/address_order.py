"""Queued requests by address, and by arrival: what schedulers choose from.

Neither costs more in a long queue. The order by address is cut into blocks, so that an insertion moves the entries of
one block only; the kernel has a red-black tree in its place (block/elevator.c, elv_rb_add). The order of arrival is a
list that is linked through the requests, as the kernel's is (struct request, queuelist).
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from ..core.search import left_of, right_of
from .base import QueuedRequest

_LONGEST: Final = 256
"""Requests in a block; one more cuts it in two."""
_BACK_PENALTY: Final = 2
"""A step back counts as a step forward of this multiple (as-iosched.c as_choose_req, cfq-iosched.c cfq_choose_req)."""


class _Block:
    """Requests that follow each other by address.

    Attributes
    ----------
    positions
        Where they begin (bytes), ascending.
    requests
        They, in the same order.
    """

    __slots__ = ("positions", "requests")

    def __init__(self, positions: list[int], requests: list[QueuedRequest]) -> None:
        self.positions = positions
        self.requests = requests


class AddressOrder:
    """Queued requests in ascending order of their :attr:`.base.QueuedRequest.position`, of one position as they came.

    Attributes
    ----------
    count
        How many there are.
    """

    __slots__ = ("_blocks", "_lows", "count")

    count: i64

    def __init__(self) -> None:
        self._blocks = [_Block([], [])]
        # No position in a block is below its entry here, or, but for those of the first block, above the next one's.
        self._lows = [0]
        self.count = 0

    def add(self, queued: QueuedRequest) -> None:
        """Put a request where it begins now."""
        position = queued.offset
        queued.position = position
        index: i64 = 0
        if len(self._blocks) > 1:
            index = right_of(self._lows, position) - 1
            if index < 0:
                index = 0
        block = self._blocks[index]
        positions = block.positions
        at = right_of(positions, position)
        positions.insert(at, position)
        block.requests.insert(at, queued)
        self.count += 1
        if len(positions) > _LONGEST:
            self._cut(index)

    def _cut(self, index: i64) -> None:
        """Cut a block in the middle."""
        block = self._blocks[index]
        middle = _LONGEST // 2
        self._lows.insert(index + 1, block.positions[middle])
        self._blocks.insert(index + 1, _Block(block.positions[middle:], block.requests[middle:]))
        del block.positions[middle:]
        del block.requests[middle:]

    def _block_of(self, position: i64) -> i64:
        """The block in which, or behind which, the first request at or above a position is."""
        if len(self._blocks) == 1:
            return 0
        index = left_of(self._lows, position) - 1
        return index if index > 0 else 0

    def remove(self, queued: QueuedRequest) -> QueuedRequest | None:
        """Take a request out; returns the one that follows it, None if it is the last."""
        position = queued.position
        index = self._block_of(position)
        block = self._blocks[index]
        at = left_of(block.positions, position)
        while at == len(block.positions) or block.requests[at] is not queued:
            # Another one begins at the same byte, or those of the block all lie below.
            at = _among_equals(block, at, queued)
            if at < len(block.positions):
                break
            index += 1
            block = self._blocks[index]
            at = left_of(block.positions, position)
        requests = block.requests
        del block.positions[at]
        del requests[at]
        self.count -= 1
        if at < len(requests):
            return requests[at]
        following = self._blocks[index + 1].requests[0] if index + 1 < len(self._blocks) else None
        if not requests and len(self._blocks) > 1:
            del self._blocks[index]
            del self._lows[index]
        return following

    def first(self) -> QueuedRequest | None:
        """The request at the lowest address."""
        return self._blocks[0].requests[0] if self.count else None

    def from_position(self, position: i64) -> QueuedRequest | None:
        """The first request that begins at a position (bytes) or above."""
        index = self._block_of(position)
        block = self._blocks[index]
        at = left_of(block.positions, position)
        if at < len(block.requests):
            return block.requests[at]
        return self._blocks[index + 1].requests[0] if index + 1 < len(self._blocks) else None

    def below(self, position: i64) -> QueuedRequest | None:
        """Of the requests at the highest position below one (bytes), the last."""
        index = self._block_of(position)
        block = self._blocks[index]
        at = left_of(block.positions, position)
        if at:
            return block.requests[at - 1]
        return self._blocks[index - 1].requests[-1] if index else None

    def nearest(self, position: i64, most_back: i64) -> QueuedRequest:
        """The next request of a disk that prefers to go upwards; there is one.

        A one-way elevator, but for short steps back, which count double: what lies too far back waits for the next
        sweep, which starts at the lowest address.

        Parameters
        ----------
        position
            Where the last request ended (bytes).
        most_back
            How far back (bytes) a request may lie and still be served before the next sweep.
        """
        ahead = self.from_position(position)
        behind = self.below(position)
        if behind is not None:
            back = position - behind.position
            if back <= most_back and (ahead is None or ahead.position - position > back * _BACK_PENALTY):
                ahead = self.from_position(behind.position)
        if ahead is None:
            ahead = self.first()
        assert ahead is not None
        return ahead


def _among_equals(block: _Block, at: i64, queued: QueuedRequest) -> i64:
    """Where in a block a request is, at `at` or later; the length of the block if it is in a later one.

    Requests of one position stand in the order of their numbers.
    """
    requests = block.requests
    end = right_of(block.positions, queued.position)
    if at == end or requests[end - 1].number < queued.number:
        return len(requests)
    low, high = at, end - 1
    while low < high:
        middle = (low + high) >> 1
        if requests[middle].number < queued.number:
            low = middle + 1
        else:
            high = middle
    return low


class ArrivalOrder:
    """Queued requests in the order in which they came.

    Attributes
    ----------
    oldest
        The first that came; None without any.
    """

    __slots__ = ("_newest", "oldest")

    def __init__(self) -> None:
        self.oldest: QueuedRequest | None = None
        self._newest: QueuedRequest | None = None

    def add(self, queued: QueuedRequest) -> None:
        """Put a request at the end."""
        newest = self._newest
        if newest is None:
            self.oldest = queued
        else:
            newest.younger = queued
            queued.older = newest
        self._newest = queued

    def remove(self, queued: QueuedRequest) -> None:
        """Take a request out."""
        older, younger = queued.older, queued.younger
        if older is None:
            self.oldest = younger
        else:
            older.younger = younger
            queued.older = None
        if younger is None:
            self._newest = older
        else:
            younger.older = older
            queued.younger = None
