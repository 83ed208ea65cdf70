"""Links: something shared that moves bytes (ATA or SCSI cable, PCI bus, PCIe port).

A link is a first-come-first-served server that knows when it is free, so a transfer costs no event.
Disks reserve their transfers when they dispatch a command, that is, ahead of time and not in order of
transfer; a link therefore keeps its few future reservations and lets a transfer use the gap before one.
Reservations are of bus time: bytes / rate, plus a fixed arbitration or protocol price per transfer.

An ATA channel is more than a rate: it serves one command at a time for its master and its slave
(ATA/ATAPI-5, section 9: no overlap without the queued feature set), see :class:`AtaChannel`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


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
        "write_rate",
    )

    def __init__(self, name: str, rate: float, per_transfer_s: float = 0.0, write_rate: float | None = None) -> None:
        self.name = name
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
        starts, ends = self._starts, self._ends
        while ends and ends[0] <= now:
            del starts[0], ends[0]
        begin = earliest
        for i, start in enumerate(starts):
            if begin + duration <= start:
                starts.insert(i, begin)
                ends.insert(i, begin + duration)
                return begin, begin + duration
            if ends[i] > begin:
                begin = ends[i]
        starts.append(begin)
        ends.append(begin + duration)
        return begin, begin + duration


class Bus(Link):
    """A link whose users take turns burst by burst, as bus masters on PCI do (latency timer).

    The work is booked as on any link, so in the long run no more than the rate is moved. But a short transfer does not
    wait for the whole of a long one under way: it alternates with it, and is over when both have moved as much as it
    needs. The long one's end has been announced already and is not put off; what that grants too early is at most
    the short transfer.
    """

    __slots__ = ()

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> tuple[float, float]:
        """See :meth:`Link.reserve`; the start is `earliest`, for the first burst goes out at once."""
        begin, end = super().reserve(now, earliest, size, write)
        if begin <= earliest:
            return begin, end
        duration = shared = end - begin
        for start, over in zip(self._starts, self._ends, strict=True):
            if start >= begin:
                break
            if over > earliest:
                left = over - start if start > earliest else over - earliest
                shared += left if left < duration else duration
        return earliest, min(end, earliest + shared)


class Path:
    """The links a device's data crosses, from the device outwards (cable, channel, bus).

    Data is cut through: a link starts as soon as the one before it does, and the transfer is over when
    the last link is done, so the slowest link sets the pace and a shared one adds its queue.

    Attributes
    ----------
    slowest_rate, slowest_write_rate
        Of the slowest link (bytes/s), from the device and to it.
    """

    __slots__ = ("_single", "links", "slowest_rate", "slowest_write_rate")

    def __init__(self, links: tuple[Link, ...] = ()) -> None:
        self.links = links
        self._single = links[0] if len(links) == 1 else None
        self.slowest_rate = min((link.rate for link in links), default=float("inf"))
        self.slowest_write_rate = min((link.write_rate for link in links), default=float("inf"))

    def reserve(self, now: float, earliest: float, size: int, write: bool = False) -> float:
        """Reserve every link for `size` bytes from `earliest` (s); the time (s) the last byte is across."""
        if self._single is not None:
            return self._single.reserve(now, earliest, size, write)[1]
        end = begin = earliest
        for link in self.links:
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
