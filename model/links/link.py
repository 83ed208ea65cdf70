"""Links: something shared that moves bytes (ATA or SCSI cable, PCI bus, PCIe port).

A link is a first-come-first-served server that knows when it is free, so a transfer costs no event.
Disks reserve their transfers when they dispatch a command, that is, ahead of time and not in order of
transfer; a link therefore keeps its few future reservations and lets a transfer use the gap before one.
Reservations are of bus time: bytes / rate, plus a fixed arbitration or protocol price per transfer. Reservations
without a gap between them are kept as one, so that a busy link with deep queues behind it is no slower to ask than an
idle one.

PCI Express, SAS, Fibre Channel and Ethernet move data both ways at once: :class:`DuplexLink`.

An ATA channel is more than a rate: it serves one command at a time for its master and its slave
(ATA/ATAPI-5, section 9: no overlap without the queued feature set), see :class:`AtaChannel`.
"""

from __future__ import annotations

import bisect
from collections import deque
from collections.abc import Callable
from typing import Final

# Final, so that compiled code does not look it up at every call.
bisect_left: Final = bisect.bisect_left
bisect_right: Final = bisect.bisect_right

_AS_LONG: Final = 1.0 - 1e-9
"""Durations that differ by less, which rounding explains, are the same."""


class Link:
    """A shared mover of bytes.

    Parameters
    ----------
    name
        Shown in results ("pci", "ide2").
    rate
        Bytes per second it can move for its users.
    per_transfer_s
        Fixed price of one transfer (s): arbitration, packet framing, DMA set-up on the bus.
    write_rate
        Bytes per second of what drives are sent, where that is another rate: a bus master that reads memory waits for
        every burst, one that writes it does not.
    what
        What it is, in words ("SATA 6Gb/s"); nothing if only its rate is known.
    """

    __slots__ = (
        "_ends",
        "_starts",
        "busy_s",
        "bytes_moved",
        "name",
        "per_transfer_s",
        "rate",
        "transfers",
        "what",
        "write_rate",
    )

    def __init__(
        self,
        name: str,
        rate: float,
        per_transfer_s: float = 0.0,
        write_rate: float | None = None,
        what: str = "",
    ) -> None:
        self.name = name
        self.what = what
        self.rate = rate
        self.write_rate = rate if write_rate is None else write_rate
        if not (self.rate > 0 and self.write_rate > 0):
            raise ValueError(f"link {name}: rates {self.rate}, {self.write_rate} are not positive")
        self.per_transfer_s = per_transfer_s
        self._starts: list[float] = []
        self._ends: list[float] = []
        self.busy_s = 0.0
        self.bytes_moved = 0
        self.transfers = 0

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
        """Reserve the link for `size` bytes, not before `earliest`.

        Parameters
        ----------
        now
            Current time (s); reservations that ended before it are forgotten.
        earliest
            Time (s) from which the data could flow.
        size
            Bytes.
        write
            Whether they go to a drive.

        Returns
        -------
        tuple of float
            Start and end (s) of the transfer on this link.
        """
        duration = size / (self.write_rate if write else self.rate) + self.per_transfer_s
        self.busy_s += duration
        self.bytes_moved += size
        self.transfers += 1
        return self._book(now, earliest, duration)

    def start_statistics(self, now: float) -> None:
        """Forget what was counted so far (the warm-up); `now` is the current time (s)."""
        self.busy_s = 0.0
        self.bytes_moved = self.transfers = 0

    def _book(self, now: float, earliest: float, duration: float) -> tuple[float, float]:
        """The first `duration` (s) from `earliest` on that nobody has reserved."""
        starts, ends = self._starts, self._ends
        if not ends or ends[-1] <= now:
            # Idle; the rest of this method would come to the same.
            end = earliest + duration
            if len(ends) == 1:
                starts[0], ends[0] = earliest, end
            else:
                starts[:], ends[:] = (earliest,), (end,)
            return earliest, end
        while ends[0] <= now:  # the last one is not over
            del starts[0], ends[0]
        begin, spans = earliest, len(ends)
        place = bisect_right(ends, earliest)
        while place < spans and begin + duration > starts[place]:
            begin = ends[place]
            place += 1
        end = begin + duration
        if place and ends[place - 1] == begin:
            if place < spans and starts[place] == end:
                ends[place - 1] = ends[place]
                del starts[place], ends[place]
            else:
                ends[place - 1] = end
        elif place < spans and starts[place] == end:
            starts[place] = begin
        else:
            starts.insert(place, begin)
            ends.insert(place, end)
        return begin, end


class Bus(Link):
    """A link whose users take turns burst by burst, as bus masters on PCI do (latency timer).

    The work is booked as on any link, so in the long run no more than the rate is moved. But a short transfer does not
    wait for the whole of a long one under way: it alternates with it, and is over when both have moved as much as it
    needs. The long one's end has been announced already and is not put off; what that grants too early is at most
    the short transfer.
    """

    __slots__ = ("_each_end", "_each_start")

    def __init__(
        self,
        name: str,
        rate: float,
        per_transfer_s: float = 0.0,
        write_rate: float | None = None,
        what: str = "",
    ) -> None:
        super().__init__(name, rate, per_transfer_s, write_rate, what)
        self._each_start: list[float] = []
        self._each_end: list[float] = []

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
        """See :meth:`Link.reserve`; the start is `earliest`, for the first burst goes out at once."""
        duration = size / (self.write_rate if write else self.rate) + self.per_transfer_s
        self.busy_s += duration
        self.bytes_moved += size
        self.transfers += 1
        starts, ends = self._each_start, self._each_end
        all_starts, all_ends = self._starts, self._ends
        if not all_ends or all_ends[-1] <= now:
            # Idle; the rest of this method would come to the same.
            end = earliest + duration
            if len(all_ends) == 1 and len(ends) == 1:
                all_starts[0] = starts[0] = earliest
                all_ends[0] = ends[0] = end
            else:
                all_starts[:] = starts[:] = (earliest,)
                all_ends[:] = ends[:] = (end,)
            return earliest, end
        if earliest > all_ends[-1]:
            # After all others: the same as in _book(), inlined.
            while all_ends[0] <= now:
                del all_starts[0], all_ends[0]
            begin, end = earliest, earliest + duration
            all_starts.append(begin)
            all_ends.append(end)
        else:
            begin, end = self._book(now, earliest, duration)
        if not ends or ends[-1] <= now:
            starts[:] = (begin,)
            ends[:] = (end,)
            return begin, end
        if ends[0] <= now:
            over = bisect_right(ends, now)
            del starts[:over], ends[:over]
        if begin > starts[-1]:
            starts.append(begin)
            ends.append(end)
        else:
            place = bisect_left(starts, begin)
            starts.insert(place, begin)
            ends.insert(place, end)
        if begin <= earliest:
            return begin, end
        return earliest, self._shared(earliest, begin, end)

    def _shared(self, earliest: float, begin: float, end: float) -> float:
        """When a transfer is over that takes turns from `earliest` on, and its place in the queue is [begin, end)."""
        starts, ends = self._each_start, self._each_end
        duration = shared = end - begin
        for place in range(bisect_right(ends, earliest), len(ends)):
            start, over = starts[place], ends[place]
            if start >= begin:
                break
            left = over - start if start > earliest else over - earliest
            shared += left if left < duration else duration
        over = earliest + shared
        return over if over < end else end


class Way(Link):
    """One direction of a :class:`DuplexLink`: packets of all its users take turns.

    A transfer flows from the moment it can, in whatever time others leave between theirs, so that the link is never
    idle while somebody has data for it. It is over when all that was booked before it is, or earlier if it is shorter
    than others: as on a :class:`Bus`, it has then taken turns with each of them for as long as it needed.
    """

    __slots__ = ("_each_end", "_each_s", "_longest")

    def __init__(self, name: str, rate: float, per_transfer_s: float = 0.0) -> None:
        super().__init__(name, rate, per_transfer_s)
        self._each_end: list[float] = []
        self._each_s: list[float] = []
        self._longest = 0.0

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
        """See :meth:`Link.reserve`; it has one rate."""
        duration = size / self.rate + self.per_transfer_s
        self.busy_s += duration
        self.bytes_moved += size
        self.transfers += 1
        return self._book(now, earliest, duration)

    def _book(self, now: float, earliest: float, duration: float) -> tuple[float, float]:
        """See :meth:`Link._book`; the start is `earliest`, and the time before the end need not be in one piece."""
        starts, ends = self._starts, self._ends
        if not ends or ends[-1] <= now:
            # The link is idle, as it mostly is.
            end = earliest + duration
            each_end, each_s = self._each_end, self._each_s
            if len(ends) == 1 and len(each_end) == 1:
                starts[0], ends[0], each_end[0], each_s[0] = earliest, end, end, duration
            else:
                starts[:], ends[:], each_end[:], each_s[:] = (earliest,), (end,), (end,), (duration,)
            self._longest = duration
            return earliest, end
        if ends[0] <= now:
            over = bisect_right(ends, now)
            del starts[:over], ends[:over]
        first = place = bisect_right(ends, earliest)
        spans, at, left, start = len(ends), earliest, duration, earliest
        if place < spans and starts[place] <= earliest:
            start, at = starts[place], ends[place]
            place += 1
        elif place and ends[place - 1] == earliest:
            first -= 1
            start = starts[first]
        while place < spans and at + left >= starts[place]:
            left -= starts[place] - at
            at = ends[place]
            place += 1
        end = at + left if left > 0.0 else at
        starts[first:place] = [start]
        ends[first:place] = [end]
        return earliest, self._turns(now, earliest, end, duration)

    def _turns(self, now: float, earliest: float, end: float, duration: float) -> float:
        """When a transfer is over that takes turns, if `end` is when all that is booked is."""
        ends, each_s = self._each_end, self._each_s
        if ends and ends[0] <= now:
            over = bisect_right(ends, now)
            del ends[:over], each_s[:over]
        if not ends or duration > self._longest:
            self._longest = duration
        place = bisect_right(ends, end)
        ends.insert(place, end)
        each_s.insert(place, duration)
        if duration >= self._longest * _AS_LONG:
            return end
        shared = duration
        for other in range(bisect_right(ends, earliest), place):
            other_s = each_s[other]
            shared += other_s if other_s < duration else duration
        return min(end, earliest + shared)


class DuplexLink(Link):
    """A link that moves data both ways at once, each at its own rate: PCI Express, SAS, Fibre Channel, Ethernet.

    Parameters
    ----------
    name
        Shown in results.
    rate, write_rate
        Bytes per second from the drives and to them; the second as the first unless given.
    per_transfer_s
        Fixed price of one transfer (s).
    command_rate
        Commands per second that an adapter takes at most, whichever way their data go; None: as many as come.
    what
        What it is, in words: "PCIe 3.0 x8".
    ends
        What its two directions are called.

    Attributes
    ----------
    ways
        The direction from the drives, and the one to them.
    commands
        What takes one command after the other; None without `command_rate`.
    """

    __slots__ = ("commands", "ends", "ways")

    def __init__(
        self,
        name: str,
        rate: float,
        per_transfer_s: float = 0.0,
        write_rate: float | None = None,
        what: str = "",
        *,
        command_rate: float | None = None,
        ends: tuple[str, str] = ("to the host", "to the drives"),
    ) -> None:
        super().__init__(name, rate, per_transfer_s, write_rate, what)
        if command_rate is not None and not command_rate > 0:
            raise ValueError(f"link {name}: {command_rate} commands a second is not positive")
        self.ends = ends
        self.ways = (Way(name, self.rate, per_transfer_s), Way(name, self.write_rate, per_transfer_s))
        self.commands = None if command_rate is None else Way(name, command_rate)

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
        """See :meth:`Link.reserve`; a transfer is over when the adapter is through with its command, too."""
        self.bytes_moved += size
        self.transfers += 1
        if self.commands is None:
            return self.ways[write].reserve(now, earliest, size)
        _, ready = self.commands.reserve(now, earliest, 1)
        begin, end = self.ways[write].reserve(now, earliest, size)
        return begin, end if end > ready else ready

    def start_statistics(self, now: float) -> None:
        """See :meth:`Link.start_statistics`."""
        super().start_statistics(now)
        for way in self.ways:
            way.start_statistics(now)
        if self.commands is not None:
            self.commands.start_statistics(now)


class Path:
    """The links a device's data crosses, from the device outwards (cable, channel, bus).

    Data is cut through: a link starts as soon as the one before it does, and the transfer is over when
    the last link is done, so the slowest link sets the pace and a shared one adds its queue.

    Attributes
    ----------
    slowest_rate, slowest_write_rate
        Of the slowest link (bytes/s), from the device and to it.
    """

    __slots__ = ("_cable", "_others", "_single", "links", "slowest_rate", "slowest_write_rate")

    def __init__(self, links: tuple[Link, ...] = ()) -> None:
        self.links = links
        # Several links, of which the first may be a plain one: that is the drive's cable, mostly idle.
        self._cable = links[0] if len(links) > 1 and type(links[0]) is Link else None
        self._others: list[Link] = list(links if self._cable is None else links[1:])
        self._single = links[0] if len(links) == 1 else None
        self.slowest_rate = min((link.rate for link in links), default=float("inf"))
        self.slowest_write_rate = min((link.write_rate for link in links), default=float("inf"))

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> float:
        """Reserve every link for `size` bytes from `earliest` (s); the time (s) the last byte is across."""
        if self._single is not None:
            return self._single.reserve(now, earliest, size, write)[1]
        end = begin = earliest
        cable = self._cable
        if cable is not None:
            # The same as Link.reserve(), inlined.
            duration = size / (cable.write_rate if write else cable.rate) + cable.per_transfer_s
            cable.busy_s += duration
            cable.bytes_moved += size
            cable.transfers += 1
            ends = cable._ends
            if not ends or ends[-1] <= now:
                end = earliest + duration
                if len(ends) == 1:
                    cable._starts[0], ends[0] = earliest, end
                else:
                    cable._starts[:], ends[:] = (earliest,), (end,)
            else:
                begin, over = cable._book(now, earliest, duration)
                if over > end:
                    end = over
        for link in self._others:
            begin, over = link.reserve(now, begin, size, write)
            if over > end:
                end = over
        return end


class AtaChannel:
    """The command lock of an ATA channel: master and slave take turns, one command at a time.

    A drive asks with :meth:`acquire` before it starts a command; if the channel is taken it is called
    back when its turn comes. It gives the channel back with :meth:`release` when the command is complete.
    """

    __slots__ = ("_busy", "_waiting", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self._busy = False
        self._waiting: deque[Callable[[], None]] = deque()

    def acquire(self, start: Callable[[], None]) -> bool:
        """Take the channel if it is free (True); otherwise `start` is called when it becomes this caller's."""
        if self._busy:
            self._waiting.append(start)
            return False
        self._busy = True
        return True

    def release(self) -> None:
        """Give the channel to the next waiter, or free it."""
        if self._waiting:
            self._waiting.popleft()()
        else:
            self._busy = False
