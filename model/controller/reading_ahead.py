"""Reading ahead of the readers of a RAID controller that are sequential; its settings say when and how far."""

from __future__ import annotations

from ..core.device import Device
from ..core.request import READ, WAITED, Completion, Request
from .cache import WriteCache
from .read_ahead import ReadCache, SequentialReaders, ready, uncovered
from .settings import ControllerSettings, full_stripe_bytes_of


class ReadingAhead(Completion):
    """What a controller reads before it is asked for; it is the completion of these reads.

    Parameters
    ----------
    array
        What is read.
    settings
        The controller's.
    row_bytes
        Data bytes of a full stripe.
    reads, writes
        What the memory holds.
    """

    __slots__ = (
        "_array",
        "_bytes",
        "_on_a_miss",
        "_readers",
        "_reads",
        "_row_bytes",
        "_sequential_reads",
        "_stripe",
        "_writes",
    )

    def __init__(
        self, array: Device, settings: ControllerSettings, row_bytes: int, reads: ReadCache, writes: WriteCache
    ) -> None:
        self._array = array
        self._row_bytes = row_bytes
        self._reads = reads
        self._writes = writes
        self._readers = SequentialReaders(settings.read_streams)
        self._sequential_reads = settings.sequential_reads
        self._on_a_miss = settings.reads_ahead == "on a miss"
        self._stripe = full_stripe_bytes_of(array) if self._on_a_miss else row_bytes
        self._bytes = self._stripe * min(settings.read_ahead_rows, settings.most_ahead_rows(self._stripe))

    def read(self, start: int, end: int, issuer: int, missed: bool) -> None:
        """Read ahead of the reader of [start, end), which was `missed` in memory or not, if it is time to."""
        if not self._bytes:
            return
        reader = self._readers.read(start, end)
        if reader.reads < self._sequential_reads:
            return
        row_bytes = self._row_bytes
        stripe = self._stripe
        limit = end - end % stripe + self._bytes
        if not self._on_a_miss:
            limit += stripe
        elif not missed:
            return
        limit = min(limit, self._array.capacity)
        position = end if self._on_a_miss else max(reader.ahead, end)
        while position < limit:
            row = position // row_bytes
            border = min(limit, (row + 1) * row_bytes)
            hole = uncovered(ready(self._reads, self._writes, row, True), position, border)
            if hole is not None:
                arrival = self._reads.expect(*hole)
                if arrival is None:
                    return
                low, high = hole
                self._array.submit(Request(READ, low, high - low, self, issuer, WAITED, arrival))
            position = reader.ahead = border

    def done(self, request: Request) -> None:
        """What was read ahead is here."""
        self._reads.arrived(request.parent)
