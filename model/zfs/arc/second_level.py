"""The second level of the ARC (L2ARC): which blocks the cache devices hold, each device a ring that is overwritten.

What is fed comes from the ends of the ARC's lists, before it is evicted: metadata first, then data, of each the
frequently used ones first. Source: OpenZFS 2.3 module/zfs/arc.c (l2arc_write_buffers, l2arc_write_size, l2arc_evict).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Final

from mypy_extensions import i64

from .buffers import INDIRECT, KEY_SHIFT, MFU, MRU, Buffer
from .cache import Arc
from .settings import FeedSettings

_ORDER: Final = (MFU + 1, MRU + 1, MFU, MRU)
UNIT: Final = 4096


class _Ring:
    """A cache device."""

    __slots__ = ("capacity", "hand", "held", "settled", "written")

    def __init__(self, capacity: i64) -> None:
        self.capacity = capacity
        self.hand: i64 = 0
        self.held: i64 = 0
        self.settled: i64 = 0
        # Key, offset and size of each block, oldest first.
        self.written: deque[tuple[int, int, int]] = deque()


class SecondLevel:
    """The blocks on cache devices.

    Parameters
    ----------
    arc
        What is above.
    capacities
        Bytes of each device.
    settings
        Module parameters.
    only_metadata, nothing
        Numbers of the datasets of which metadata alone are fed, and of those of which nothing is (secondarycache).

    Attributes
    ----------
    hits
        Reads that found their block here.
    """

    __slots__ = (
        *("_arc", "_blocks", "_first", "_gone", "_next", "_nothing", "_only_metadata", "_rings", "_settings"),
        "hits",
    )

    def __init__(
        self,
        arc: Arc,
        capacities: Sequence[int],
        settings: FeedSettings,
        only_metadata: frozenset[int] = frozenset(),
        nothing: frozenset[int] = frozenset(),
    ) -> None:
        self._arc = arc
        self._only_metadata, self._nothing = only_metadata, nothing
        self._settings = settings
        self._rings = [_Ring(capacity) for capacity in capacities]
        self._blocks: dict[int, tuple[int, int, int]] = {}
        # Blocks from before the run that were written anew, and the bytes of all of them.
        self._gone: set[int] = set()
        self._first: i64 = 0
        self._next = 0
        self.hits: i64 = 0

    @property
    def capacity(self) -> int:
        """Bytes of all devices."""
        return sum(int(ring.capacity) for ring in self._rings)

    def settle(self, size: int) -> None:
        """Hold blocks from before the run, `size` bytes in all."""
        share = min(1.0, size / self.capacity)
        for ring in self._rings:
            ring.settled = ring.held = i64(share * float(ring.capacity))
            self._first += ring.settled

    def takes(self, key: i64) -> bool:
        """Whether a block may be fed."""
        number = key >> KEY_SHIFT
        if number in self._nothing:
            return False
        return number not in self._only_metadata or key & (2 * INDIRECT - 1) >= INDIRECT

    def find(self, key: i64) -> tuple[int, int] | None:
        """The device and the offset of a block."""
        found = self._blocks.get(key)
        if found is None:
            settled = self._arc.settled
            block = key & (2 * INDIRECT - 1)
            if settled is None or block >= INDIRECT or key in self._gone:
                return None
            if not settled.in_second(key >> KEY_SHIFT, block, self._left()):
                return None
            size = settled.size(key >> KEY_SHIFT)
            device = int(block) % len(self._rings)
            ring = self._rings[device]
            offset = block * UNIT % max(UNIT, ring.capacity - size) // UNIT * UNIT
            self._blocks[key] = device, int(offset), int(size)
            return device, int(offset)
        return found[0], found[1]

    def drop(self, key: i64) -> None:
        """A block is written anew."""
        self._blocks.pop(key, None)
        if self._first:
            self._gone.add(key)

    def feed(self) -> tuple[int, list[tuple[int, int]], bool]:
        """Write the next blocks: the device, offsets and sizes on it, and whether they are more than half of it all."""
        settings = self._settings
        device = self._next
        self._next = (device + 1) % len(self._rings)
        ring = self._rings[device]
        target = settings.write_max + (0 if self._arc.warm else settings.write_boost)
        left: i64 = min(target, ring.capacity // 4)
        written: list[tuple[int, int]] = []
        for place in _ORDER:
            left = self._from_list(place, ring, device, left, written)
        fed = sum([size for _, size in written])
        return device, written, fed > target // 2

    def _from_list(self, place: i64, ring: _Ring, device: int, left: i64, written: list[tuple[int, int]]) -> i64:
        """Feed from one list; returns the bytes that are left to feed."""
        settings, arc, blocks = self._settings, self._arc, self._blocks
        ends = arc.lists[place].ends
        passed = 0 if arc.settled is None else int(arc.settled.left(place))
        headroom = left * settings.headroom * settings.headroom_boost // 100
        buffer: Buffer = ends.newer if arc.warm else ends.older
        while buffer is not ends and passed <= headroom:
            passed += int(buffer.size)
            size = -(-buffer.size // UNIT) * UNIT
            if not buffer.prefetched and buffer.key not in blocks and self.takes(buffer.key):
                if size > left:
                    break
                left -= size
                written.append((self._place(ring, device, buffer.key, size), int(size)))
            buffer = buffer.newer if arc.warm else buffer.older
        return left

    def _place(self, ring: _Ring, device: int, key: i64, size: i64) -> int:
        """Where a block is written, over the oldest ones."""
        if ring.hand + size > ring.capacity:
            ring.hand = 0
        offset = ring.hand
        ring.hand += size
        while ring.held + size > ring.capacity:
            if ring.settled > 0:
                freed = min(ring.settled, size)
                ring.settled -= freed
                ring.held -= freed
                continue
            old, at, old_size = ring.written.popleft()
            ring.held -= old_size
            if self._blocks.get(old) == (device, at, old_size):
                del self._blocks[old]
        ring.held += size
        ring.written.append((int(key), int(offset), int(size)))
        self._blocks[key] = device, int(offset), int(size)
        return int(offset)

    def _left(self) -> float:
        """Share of the bytes from before the run that no feed has overwritten."""
        return sum([int(ring.settled) for ring in self._rings]) / int(self._first) if self._first else 0.0
