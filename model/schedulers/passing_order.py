"""A queue in which a new request may pass queued ones, each of which may be passed a number of times only.

The queue is cut into blocks that are passed as a whole where possible, so a request does not cost more in a long queue.
The kernel walks along all of its queue (drivers/block/elevator.c of Linux 2.4), which it keeps short.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import i64

from .base import QueuedRequest

_LONGEST: Final = 128
"""Requests in a block; one more cuts it in two."""
_MOST: Final = 1 << 62


class _Block:
    """Requests that follow each other in the queue.

    Attributes
    ----------
    requests
        They, the first one first.
    passed
        How often all of them have been passed; each has that much less than its :attr:`.base.QueuedRequest.passes`.
    least
        No request has fewer passes, before `passed`.
    lowest
        No request is at a lower position.
    ascending
        If true, each request begins above the one before. If false, that is not known.
    number
        Of the blocks of the queue, as the requests have it.
    """

    __slots__ = ("ascending", "least", "lowest", "number", "passed", "requests")

    passed: i64
    least: i64
    lowest: i64

    def __init__(self, requests: list[QueuedRequest], passed: i64, number: int) -> None:
        self.requests = requests
        self.passed = passed
        self.number = number
        self.look()

    def look(self) -> None:
        """Find the bounds of what is in it."""
        self.least = self.lowest = _MOST
        self.ascending = True
        before = -1
        for queued in self.requests:
            queued.number = self.number
            if queued.passes < self.least:
                self.least = queued.passes
            if queued.position < self.lowest:
                self.lowest = queued.position
            if queued.offset <= before:
                self.ascending = False
            before = queued.offset

    def age(self, start: int, end: int, passes: int) -> None:
        """Take passes from some of its requests."""
        for queued in self.requests[start:end]:
            queued.passes -= passes
            if queued.passes < self.least:
                self.least = queued.passes


Place = tuple[int, int]
"""A block of the queue, and in front of which of its requests."""


class PassingOrder:
    """The queue."""

    __slots__ = ("_blocks", "_number")

    def __init__(self) -> None:
        self._number = 0
        self._blocks = [_Block([], 0, 0)]

    def take(self) -> QueuedRequest | None:
        """Take the head of the queue; None if there is none."""
        requests = self._blocks[0].requests
        if not requests:
            return None
        queued = requests.pop(0)
        if not requests and len(self._blocks) > 1:
            del self._blocks[0]
        return queued

    def end(self) -> Place:
        """Behind all."""
        return len(self._blocks) - 1, len(self._blocks[-1].requests)

    def place_below(self, position: i64) -> Place:
        """Where a request goes that passes all with a higher position, from the end on, that may be passed."""
        index = len(self._blocks) - 1
        while index >= 0:
            block = self._blocks[index]
            if block.least <= block.passed or block.lowest <= position:
                requests = block.requests
                place = len(requests)
                while place:
                    before = requests[place - 1]
                    if before.passes <= block.passed or before.position <= position:
                        return index, place
                    place -= 1
                block.look()
            index -= 1
        return 0, 0

    def place_between(self, offset: i64) -> Place:
        """Where a request goes between two neighbors in order of address, or where the addresses fall back.

        It is the last such place, and the end of the queue if there is none behind all that may not be passed any more.
        """
        following: QueuedRequest | None = None
        index = len(self._blocks) - 1
        while index >= 0:
            block = self._blocks[index]
            requests = block.requests
            if not requests:
                break
            last = requests[-1]
            above = last.offset if following is None else following.offset
            falls = not block.ascending or above < last.offset or (following is not None and above == last.offset)
            if falls or block.least <= block.passed or requests[0].offset < offset < above:
                for place in range(len(requests) - 1, -1, -1):
                    here = requests[place]
                    if here.passes <= block.passed:
                        return self.end()
                    if following is not None:
                        low, high = here.offset, following.offset
                        if low < offset < high or (high <= low and (offset > low or offset < high)):
                            return index, place + 1
                    following = here
                block.look()
            following = requests[0]
            index -= 1
        return self.end()

    def age(self, place: Place, before: int, behind: int) -> None:
        """Take passes from each request before a place, and from each one behind it."""
        index, at = place
        blocks = self._blocks
        for number in range(0 if before else index + 1, len(blocks)):
            if number != index:
                blocks[number].passed += before if number < index else behind
        block = blocks[index]
        if before:
            block.age(0, at, before)
        block.age(at, len(block.requests), behind)

    def age_behind(self, queued: QueuedRequest, passes: int) -> None:
        """Take passes from each request behind one that has just been merged with another."""
        index = len(self._blocks) - 1
        while self._blocks[index].number != queued.number:
            self._blocks[index].passed += passes
            index -= 1
        block = self._blocks[index]
        block.age(block.requests.index(queued) + 1, len(block.requests), passes)
        block.ascending = False  # it may begin earlier now

    def insert(self, place: Place, queued: QueuedRequest) -> None:
        """Put a request at a place."""
        index, at = place
        block = self._blocks[index]
        requests = block.requests
        queued.number = block.number
        queued.passes += block.passed
        if queued.passes < block.least:
            block.least = queued.passes
        if queued.position < block.lowest:
            block.lowest = queued.position
        if (at and requests[at - 1].offset >= queued.offset) or (
            at < len(requests) and requests[at].offset <= queued.offset
        ):
            block.ascending = False
        requests.insert(at, queued)
        if len(requests) > _LONGEST:
            self._number += 1
            self._blocks.insert(index + 1, _Block(requests[_LONGEST // 2 :], block.passed, self._number))
            del requests[_LONGEST // 2 :]
            block.look()
