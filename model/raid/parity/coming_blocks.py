"""Blocks that are being read into stripe heads by md's thread: which must be, and the requests that wait."""

from __future__ import annotations

from functools import partial

from ...core.request import READ, Request
from ..parity_6_1.thread import ParityThread
from ..parity_6_1.workers import ParityWorkers
from ..stripes.arrival import Arrival
from ..stripes.head_cache import HeadCache


def _first(span: tuple[int, int, Arrival]) -> int:
    return span[0]


class ComingBlocks:
    """Those of one array.

    Parameters
    ----------
    cache
        The array's.
    chunk_bytes
        The array's chunk.
    """

    __slots__ = ("_cache", "_chunk_bytes", "_coming")

    def __init__(self, cache: HeadCache, chunk_bytes: int) -> None:
        self._cache = cache
        self._chunk_bytes = chunk_bytes
        # By row and member: bytes of it that are being read, and what they call.
        self._coming: dict[tuple[int, int], list[tuple[int, int, Arrival]]] = {}

    def missing(self, row: int, slot: int, sources: list[int], first: int, last: int) -> list[tuple[int, int, int]]:
        """What has to be read, so that bytes [first, last) of the member `slot` are there: a member, from and to.

        Every head decides for itself: a block that it holds is not read, a lost one is computed from `sources`.
        """
        spans: dict[int, list[tuple[int, int]]] = {source: [] for source in sources}
        for low, high, known in self._cache.parts(row, first, last):
            if known >> slot & 1:
                continue
            for source, of_source in spans.items():
                if known >> source & 1:
                    continue
                if of_source and of_source[-1][1] == low:
                    of_source[-1] = of_source[-1][0], high
                else:
                    of_source.append((low, high))
        return [(source, low, high) for source, of_source in spans.items() for low, high in of_source]

    def arrivals(
        self,
        thread: ParityThread | ParityWorkers,
        row: int,
        source: int,
        first: int,
        last: int,
        turns: list[tuple[int, int]],
    ) -> list[Arrival]:
        """Read bytes [first, last) of a member, but for those that are on their way; all arrivals to wait for."""
        coming = self._coming.get((row, source), [])
        found = [arrival for low, high, arrival in coming if low < last and first < high]
        at = first
        for low, high, _ in [*sorted(coming, key=_first), (last, last, None)]:
            if high < at or low > last:
                continue
            if at < low:
                found += self._send_reads(thread, row, source, at, low, turns)
            at = max(at, high)
        return found

    def _send_reads(
        self,
        thread: ParityThread | ParityWorkers,
        row: int,
        source: int,
        first: int,
        last: int,
        turns: list[tuple[int, int]],
    ) -> list[Arrival]:
        """Send the reads of bytes [first, last) of a member in the order of the heads; returns when they arrive.

        The thread sends head by head. So what lies below a range that is sent already becomes a request of its own: its
        first head is no neighbor of that range, and the next ones are put behind the first.
        """
        base, head = row * self._chunk_bytes, self._cache.head_bytes
        spans: list[tuple[int, int]] = []
        for low, high in turns:
            low, high = max(low, first), min(high, last)
            if low >= high:
                continue
            if spans and spans[-1][1] == low:
                spans[-1] = spans[-1][0], high
            elif high - low > head and any(high == sent for sent, _ in spans):
                spans += [(low, low + head), (low + head, high)]
            else:
                spans.append((low, high))
        arrivals = []
        for low, high in spans:
            arrival = Arrival()
            arrivals.append(arrival)
            coming = self._coming.setdefault((row, source), [])
            coming.append((low, high, arrival))
            done = partial(self._came, row, source, low, high, arrival)
            thread.send(source, Request(READ, base + low, high - low, done, thread.issuer))
        return arrivals

    def _came(self, row: int, source: int, low: int, high: int, arrival: Arrival, _: Request) -> None:
        """A read for the stripe cache is complete."""
        coming = self._coming[row, source]
        coming[:] = [each for each in coming if each[2] is not arrival]
        if not coming:
            del self._coming[row, source]
        self._cache.keep(row, low, high, 1 << source)
        arrival.arrived()
