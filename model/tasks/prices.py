"""What each kind of work costs on a CPU, and which of these prices had a say in a run.

The prices are seconds on this CPU. A benchmark report fixes the ones it can (calibration); the others are priors with
their source in the machine's description.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Prices:
    """What work costs, in seconds of one core."""

    write_call_s: float
    """One iteration of a copying program that writes: read(2) from /dev/zero and write(2) into the page cache."""
    read_call_s: float
    """One iteration that reads: read(2) of cached data and write(2) to /dev/null."""
    page_s: float
    """One page of the page cache: allocated, found, dirtied or read, and freed again."""
    bio_s: float
    """One block I/O (buffer head or bio): built, submitted and ended."""
    command_s: float
    """One command to a drive: registers and DMA table written, interrupt taken."""
    switch_s: float
    """A process put to sleep and woken up again."""
    clone_s: float
    """One copy of a block I/O made by a mirror."""
    stripe_s: float
    """One pass of RAID 4/5/6 over a stripe head."""
    copy_s_per_byte: float
    """Memory copied, not in the CPU's cache."""
    xor_s_per_byte: float
    """Parity computed, per byte of source."""
    segment_s: float = 0.0
    """One step along the pages of a block I/O, which RAID 4/5/6 walks from its start for every block it copies."""
    head_s: float = 0.0
    """One stripe head found, and a block put into it, by the task that reads or writes through RAID 4/5/6."""
    compare_s_per_byte: float = 0.0
    """Two copies compared, per byte of one."""
    buffer_page_s: float = 0.0
    """One page of the kernel's own buffers: allocated, cleared (CONFIG_INIT_ON_ALLOC_DEFAULT_ON) and freed again."""
    file_write_s: float = 0.0
    file_read_s: float = 0.0
    """One write(2) or read(2) of a program on a file, besides what it copies and the pages it touches."""
    putc_s_per_byte: float = 0.0
    getc_s_per_byte: float = 0.0
    """The C library's putc() and getc(), with the loop around them."""
    uring_call_s: float = 0.0
    """One I/O of a program through io_uring, where `read_call_s` is one through a call of its own or io_submit."""
    cache_bytes: float = 0.0
    """What the cache of a core holds, in which the buffer of a program may stay; 0 where no buffer does."""
    pin_s: float = 0.0
    unpin_s: float = 0.0
    """One page of a program's buffer for direct I/O: pinned, put into a bio and mapped for DMA; and released again."""
    checksum_s_per_byte: float = 0.0
    """The checksum (CRC32C) of what is written to a journal, per byte."""
    wake_s: float = 0.0
    """The thread of RAID 4/5/6 woken by the task that reads or writes through it."""

    def scaled(self, factor: float) -> Prices:
        """The same work on a CPU or a kernel that needs `factor` times as long."""
        times = {field.name: getattr(self, field.name) * factor for field in fields(self)}
        return Prices(**{**times, "cache_bytes": self.cache_bytes})


FREE = Prices(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
_NAMES = tuple(each.name for each in fields(Prices))


class NotedPrices:
    """The prices of a host, which note which of them its parts have read: the attributes are those of :class:`Prices`.

    A run that has never read a price gives the same result whatever that price is. (Each price is a property that sets
    a bit of its own, because compiled that costs next to nothing; a test reads every one.)

    Parameters
    ----------
    prices
        What they are.
    """

    __slots__ = ("_noted", "_prices")

    def __init__(self, prices: Prices) -> None:
        self._prices = prices
        self._noted = 0

    @property
    def read(self) -> set[str]:
        """Names of the prices that have been read."""
        return {name for bit, name in enumerate(_NAMES) if self._noted >> bit & 1}

    def read_copy_s_per_byte(self, call: int) -> float:
        """What a byte costs that a read(2) of `call` bytes copies to the program.

        Copying moves three lines through memory for every one: the source is read, the target is read before it is
        overwritten, and written back later (lmbench, bw_mem(8), "memory utilization"). Into a buffer that the cache
        holds together with what is copied to it, it moves one.
        """
        return self.copy_s_per_byte / 3 if self._stays(call) else self.copy_s_per_byte

    def write_copy_s_per_byte(self, call: int) -> float:
        """What a byte costs that a write(2) of `call` bytes copies from the program; two lines of three."""
        return self.copy_s_per_byte * 2 / 3 if self._stays(call) else self.copy_s_per_byte

    def _stays(self, call: int) -> bool:
        """Whether the buffer of such calls stays in the processor's cache."""
        return 2 * call <= self.cache_bytes

    @property
    def write_call_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 0
        return self._prices.write_call_s

    @property
    def read_call_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 1
        return self._prices.read_call_s

    @property
    def page_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 2
        return self._prices.page_s

    @property
    def bio_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 3
        return self._prices.bio_s

    @property
    def command_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 4
        return self._prices.command_s

    @property
    def switch_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 5
        return self._prices.switch_s

    @property
    def clone_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 6
        return self._prices.clone_s

    @property
    def stripe_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 7
        return self._prices.stripe_s

    @property
    def copy_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 8
        return self._prices.copy_s_per_byte

    @property
    def xor_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 9
        return self._prices.xor_s_per_byte

    @property
    def segment_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 10
        return self._prices.segment_s

    @property
    def head_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 11
        return self._prices.head_s

    @property
    def compare_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 12
        return self._prices.compare_s_per_byte

    @property
    def buffer_page_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 13
        return self._prices.buffer_page_s

    @property
    def file_write_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 14
        return self._prices.file_write_s

    @property
    def file_read_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 15
        return self._prices.file_read_s

    @property
    def putc_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 16
        return self._prices.putc_s_per_byte

    @property
    def getc_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 17
        return self._prices.getc_s_per_byte

    @property
    def uring_call_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 18
        return self._prices.uring_call_s

    @property
    def cache_bytes(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 19
        return self._prices.cache_bytes

    @property
    def pin_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 20
        return self._prices.pin_s

    @property
    def unpin_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 21
        return self._prices.unpin_s

    @property
    def checksum_s_per_byte(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 22
        return self._prices.checksum_s_per_byte

    @property
    def wake_s(self) -> float:
        """See :class:`Prices`."""
        self._noted |= 1 << 23
        return self._prices.wake_s


UNPAID = NotedPrices(FREE)
"""Of a part without a host."""
