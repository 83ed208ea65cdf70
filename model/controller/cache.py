"""The write cache of a RAID controller: dirty data by stripe row, and the order in which rows are written.

Rows that are complete go first, because their parity needs no reading, and with them, so that a sweep has no gaps, the
row in front of one: a sequential writer has passed it and left a hole. Then those that have waited long enough; then,
if room is needed, the incomplete rest. Each kind in rising order of address and round again (a one-way elevator).

Writes that are acknowledged only when the drives have them are gathered in the same way while they wait for their turn,
but the row that has waited longest goes first, complete or not: somebody waits for it. A row of which a command that
has been received will bring more waits for that data: commands are combined in the queue in which they are received.
"""

from __future__ import annotations

from collections import deque
from heapq import heappop, heappush

from ..core.extents import ExtentSet
from .stages import Waiter
from .standing_rows import StandingRows


class DirtyRow:
    """Dirty data of one row.

    Attributes
    ----------
    number, extents
        Which row, and what of it is dirty (addresses of the array).
    since
        When its first data came (s).
    aged
        Whether it has waited long enough.
    waiters
        Told when the drives have it.
    """

    __slots__ = ("aged", "extents", "number", "since", "waiters")

    def __init__(self, number: int, now: float) -> None:
        self.number = number
        self.extents = ExtentSet()
        self.since = now
        self.aged = False
        self.waiters: list[Waiter] = []


class Sweep:
    """Row numbers taken in rising order from where the last one was, and round again.

    Attributes
    ----------
    rows
        Those that are in it.
    standing
        Rows that are in it too, though the cache has no object for them.
    """

    __slots__ = ("_ahead", "_behind", "_position", "rows", "standing")

    def __init__(self) -> None:
        self.rows: set[int] = set()
        self.standing: StandingRows | None = None
        self._ahead: list[int] = []
        self._behind: list[int] = []
        self._position = 0

    def add(self, row: int) -> None:
        """Put a row in, if it is not there."""
        if row not in self.rows:
            self.rows.add(row)
            heappush(self._ahead if row >= self._position else self._behind, row)

    def discard(self, row: int) -> None:
        """Take a row out, if it is there; its place in the order is dropped when its turn comes."""
        self.rows.discard(row)

    def take(self) -> int | None:
        """The next row in order, taken out."""
        rows = self.rows
        while rows:
            if not self._ahead:
                self._ahead, self._behind = self._behind, []
            row = heappop(self._ahead)
            if row in rows:
                rows.remove(row)
                self._position = row
                return row
        self._ahead.clear()
        self._behind.clear()
        return None

    def stand(self, standing: StandingRows, position: int) -> None:
        """Go on at `position` with what has stood for long."""
        rows = sorted(self.rows)
        self._ahead = [row for row in rows if row >= position]
        self._behind = [row for row in rows if row < position]
        self._position = position
        standing.begin_at(position)
        self.standing = standing

    def take_with_standing(self) -> int | None:
        """As :meth:`take`, of both kinds of rows."""
        standing, rows = self.standing, self.rows
        if standing is None or not standing.left_bytes:
            self.standing = None
            return self.take()
        while True:
            while self._ahead and self._ahead[0] not in rows:
                heappop(self._ahead)
            row = standing.next_row()
            if row >= 0 and (not self._ahead or row < self._ahead[0]):
                self._position = row
                return row
            if self._ahead:
                return self.take()
            self._ahead, self._behind = self._behind, []
            self._position = 0
            standing.begin_at(0)


class WriteCache:
    """Dirty data by row.

    Parameters
    ----------
    capacity_bytes
        Memory for it.
    row_bytes
        Data bytes of a row.
    array_bytes
        Size of the array; its last row may be shorter.
    in_turn
        Whether rows are written in the order in which they came.

    Attributes
    ----------
    rows, flights
        Rows that wait, and rows that are being written, by number.
    dirty_bytes, flight_bytes
        What they hold.
    reserved_bytes
        Room for writes whose data is on its way from the host.
    landed_rows, landed_bytes
        What the drives have been given.
    """

    __slots__ = (
        "_aged",
        "_ages",
        "_expected",
        "_partial",
        "_ready",
        "array_bytes",
        "capacity_bytes",
        "dirty_bytes",
        "flight_bytes",
        "flights",
        "in_turn",
        "landed_bytes",
        "landed_rows",
        "reserved_bytes",
        "row_bytes",
        "rows",
    )

    def __init__(self, capacity_bytes: int, row_bytes: int, array_bytes: int, in_turn: bool = False) -> None:
        self.capacity_bytes = capacity_bytes
        self.row_bytes = row_bytes
        self.array_bytes = array_bytes
        self.in_turn = in_turn
        self.rows: dict[int, DirtyRow] = {}
        self.flights: dict[int, DirtyRow] = {}
        self.dirty_bytes = self.flight_bytes = self.reserved_bytes = 0
        self.landed_bytes = self.landed_rows = 0
        self._ready = Sweep()
        self._aged = Sweep()
        self._partial = Sweep()
        self._ages: deque[DirtyRow] = deque()
        self._expected: dict[int, int] = {}

    @property
    def unwritten_bytes(self) -> int:
        """What the drives do not have yet (bytes)."""
        return self.dirty_bytes + self.flight_bytes

    def admits(self, size: int) -> bool:
        """Whether a write of `size` bytes fits; one that is larger than the cache only into an empty one."""
        used = self.dirty_bytes + self.flight_bytes + self.reserved_bytes
        return used + size <= self.capacity_bytes or not used

    def expect(self, start: int, end: int) -> None:
        """Reserve room for a write whose data is on its way from the host."""
        self.reserved_bytes += end - start
        if self.in_turn:
            expected = self._expected
            for number in range(start // self.row_bytes, (end - 1) // self.row_bytes + 1):
                expected[number] = expected.get(number, 0) + 1

    def commit(self, start: int, end: int, now: float, waiter: Waiter | None = None) -> bool:
        """A write that room was reserved for is in memory; returns whether all of it overwrote dirty data.

        `waiter` is told once for each row that it touches, when the drives have that row.
        """
        self.reserved_bytes -= end - start
        fresh = 0
        while start < end:
            number = start // self.row_bytes
            border = min(end, (number + 1) * self.row_bytes)
            row = self.row(number)
            if row is None:
                row = self.rows[number] = DirtyRow(number, now)
                self._ages.append(row)
            fresh += row.extents.add(start, border)
            if waiter is not None:
                row.waiters.append(waiter)
            if self.in_turn:
                self._arrived(number)
            elif number not in self.flights:
                self._enqueue(row)
            start = border
        self.dirty_bytes += fresh
        return not fresh

    def stand(self, standing: StandingRows, position: int) -> None:
        """Hold dirty data that has been here for long; the sweep over it is at the row `position`.

        Rows of the cache must not be among it. What stood before is given up (:meth:`give_up_standing`).
        """
        self.give_up_standing()
        self._aged.stand(standing, position)
        self.dirty_bytes += standing.left_bytes

    def give_up_standing(self) -> None:
        """Forget what has stood for long and was neither written to nor destaged since."""
        standing = self._aged.standing
        if standing is not None:
            self.dirty_bytes -= standing.left_bytes
            self._aged.standing = None

    def row(self, number: int) -> DirtyRow | None:
        """The row of this number that waits, if it is dirty."""
        row = self.rows.get(number)
        standing = self._aged.standing
        if row is None and standing is not None:
            extents = standing.take(number)
            if extents:
                row = self.rows[number] = DirtyRow(number, 0.0)
                row.aged = True
                for start, end in extents:
                    row.extents.add(start, end)
                if number not in self.flights:
                    self._enqueue(row)
        return row

    def is_full(self, row: DirtyRow) -> bool:
        """Whether all of the row is dirty."""
        start = row.number * self.row_bytes
        return row.extents.total == min(self.row_bytes, self.array_bytes - start)

    def _enqueue(self, row: DirtyRow) -> None:
        number = row.number
        if self.is_full(row):
            self._partial.discard(number)
            self._aged.discard(number)
            self._ready.add(number)
            if number - 1 in self._partial.rows and self._reaches_border(number - 1):
                self._partial.discard(number - 1)
                self._ready.add(number - 1)
        elif number in self._ready.rows:
            return
        elif row.aged:
            self._partial.discard(number)
            self._aged.add(number)
        else:
            self._partial.add(number)

    def _reaches_border(self, number: int) -> bool:
        """Whether a row's last bytes are dirty."""
        border = (number + 1) * self.row_bytes
        return self.rows[number].extents.run_from(border - 1) == border

    def take(self, all_rows: bool) -> DirtyRow | None:
        """The row to be written next, which then is in flight; incomplete young ones only if `all_rows`."""
        if self.in_turn:
            return self._longest_waiting()
        number = self._ready.take()
        if number is None:
            number = self._aged.take() if self._aged.standing is None else self._aged.take_with_standing()
            if number is not None and self._aged.standing is not None and self.row(number) is not None:
                self._aged.discard(number)
                self._ready.discard(number)
        if number is None and all_rows:
            number = self._partial.take()
        return None if number is None else self._fly(number)

    def _arrived(self, number: int) -> None:
        """What one command brings of a row is in memory."""
        left = self._expected[number] - 1
        if left:
            self._expected[number] = left
        else:
            del self._expected[number]

    def _longest_waiting(self) -> DirtyRow | None:
        """The row that came first of those that are not being written already and of which no more is on its way."""
        held = []
        taken = None
        ages = self._ages
        while ages and taken is None:
            row = ages.popleft()
            if row.number in self.flights or row.number in self._expected:
                held.append(row)
            else:
                taken = self._fly(row.number)
        ages.extendleft(reversed(held))
        return taken

    def _fly(self, number: int) -> DirtyRow:
        row = self.flights[number] = self.rows.pop(number)
        self.dirty_bytes -= row.extents.total
        self.flight_bytes += row.extents.total
        return row

    def land(self, row: DirtyRow) -> None:
        """The drives have the row."""
        del self.flights[row.number]
        self.flight_bytes -= row.extents.total
        self.landed_bytes += row.extents.total
        self.landed_rows += 1
        again = self.rows.get(row.number)
        if again is not None and not self.in_turn:
            self._enqueue(again)
        for waiter in row.waiters:
            waiter.part()

    def age(self, now: float, limit_s: float) -> float | None:
        """Mark the rows that have waited for `limit_s` (s); returns when the next one will have, if any waits."""
        ages = self._ages
        while ages:
            row = ages[0]
            waits = self.rows.get(row.number) is row
            if waits and row.since + limit_s > now:
                return row.since + limit_s
            ages.popleft()
            if waits:
                row.aged = True
                if row.number not in self.flights:
                    self._enqueue(row)
        return None
