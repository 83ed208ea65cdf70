"""What each kind of work costs on a CPU, and which of these prices had a say in a run.

The prices are seconds on this CPU. A benchmark report fixes the ones it can (calibration); the others are priors with
their source in the machine's description.
"""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class Prices:
    """What work costs, in seconds of one core.

    Attributes
    ----------
    write_call_s
        One iteration of a copying program that writes: read(2) from /dev/zero and write(2) into the page cache.
    read_call_s
        One iteration that reads: read(2) of cached data and write(2) to /dev/null.
    page_s
        One page of the page cache: allocated, found, dirtied or read, and freed again.
    bio_s
        One block I/O (buffer head or bio): built, submitted and ended.
    command_s
        One command to a drive: registers and DMA table written, interrupt taken.
    switch_s
        A process put to sleep and woken up again.
    clone_s
        One copy of a block I/O made by a mirror.
    stripe_s
        One pass of RAID 4/5/6 over a stripe head.
    copy_s_per_byte
        Memory copied, not in the CPU's cache.
    xor_s_per_byte
        Parity computed, per byte of source.
    segment_s
        One step along the pages of a block I/O, which RAID 4/5/6 walks from its start for every block it copies.
    compare_s_per_byte
        Two copies compared, per byte of one.
    buffer_page_s
        One page of the kernel's own buffers: allocated, cleared (CONFIG_INIT_ON_ALLOC_DEFAULT_ON) and freed again.
    file_write_s, file_read_s
        One write(2) or read(2) of a program on a file, besides what it copies and the pages it touches.
    uring_call_s
        One I/O of a program through io_uring, where `read_call_s` is one through a call of its own or io_submit.
    putc_s_per_byte, getc_s_per_byte
        The C library's putc() and getc(), with the loop around them.
    cache_bytes
        What the cache of a core holds, in which the buffer of a program may stay; 0 where no buffer does.
    """

    write_call_s: float
    read_call_s: float
    page_s: float
    bio_s: float
    command_s: float
    switch_s: float
    clone_s: float
    stripe_s: float
    copy_s_per_byte: float
    xor_s_per_byte: float
    segment_s: float = 0.0
    compare_s_per_byte: float = 0.0
    buffer_page_s: float = 0.0
    file_write_s: float = 0.0
    file_read_s: float = 0.0
    putc_s_per_byte: float = 0.0
    getc_s_per_byte: float = 0.0
    uring_call_s: float = 0.0
    cache_bytes: float = 0.0

    def scaled(self, factor: float) -> Prices:
        """The same work on a CPU or a kernel that needs `factor` times as long."""
        times = {field.name: getattr(self, field.name) * factor for field in fields(self)}
        return Prices(**{**times, "cache_bytes": self.cache_bytes})

    def read_copy_s_per_byte(self, call: int) -> float:
        """What a byte costs that a read(2) of `call` bytes copies to the program.

        Copying moves three lines through memory for every one: the source is read, the target is read before it is
        overwritten, and written back later (lmbench, bw_mem(8), "memory utilization"). Into a buffer that the cache
        holds beside what is copied to it, it moves one.
        """
        return self.copy_s_per_byte / 3 if self._stays(call) else self.copy_s_per_byte

    def write_copy_s_per_byte(self, call: int) -> float:
        """What a byte costs that a write(2) of `call` bytes copies from the program; two lines of three."""
        return self.copy_s_per_byte * 2 / 3 if self._stays(call) else self.copy_s_per_byte

    def _stays(self, call: int) -> bool:
        """Whether the buffer of such calls stays in the processor's cache."""
        return 2 * call <= self.cache_bytes


FREE = Prices(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


class NotedPrices(Prices):
    """Prices that know which of them have been read.

    A run that has never read a price gives the same result whatever that price is. A price is noted when it is first
    read, and is a plain attribute from then on: later reads cost nothing. (So the module is not compiled: compiled
    attributes cannot be missing.)

    Parameters
    ----------
    prices
        What they are.

    Attributes
    ----------
    read
        Names of the prices that have been read.
    """

    __slots__ = ("_prices", "read")

    read: set[str]
    _prices: Prices

    def __init__(self, prices: Prices) -> None:
        object.__setattr__(self, "_prices", prices)
        object.__setattr__(self, "read", set())

    def __getattr__(self, name: str) -> float:
        """A price that is read for the first time."""
        if name.startswith("_"):
            raise AttributeError(name)
        price: float = getattr(self._prices, name)
        object.__setattr__(self, name, price)
        self.read.add(name)
        return price
