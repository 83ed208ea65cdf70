"""The flash of a drive: dies on channels, and what reads, programs, erases and collection book on them.

A read takes its die for the read time and then the channel for its bytes. A program sends its pages over the channel
one by one, with a page's time between them in which others may use it, and then takes the die in the background.
Programs go round the dies in turn. For each superblock that is opened another one is erased, die after die and spread
evenly over the programs that fill the open one (assumed: drives are rated for steady latencies, and erasing all dies at
once would stop every program for that time). Programs take the most power, so a drive may let only a limited number of
dies program at once: further ones wait until one of those is over. A program that waits for its die, behind an erase or
another program, takes no power meanwhile: it is counted for its own time, from when there is power. Where the drive
protects its data against the loss of a die (`parity_of`), one program of parity follows those of the data that it
protects. Collection reads the victim's pages in order, all planes at once, and sends what is still valid over the
channel; the same number of units is then programmed.

Sources: as in :mod:`.die` and :mod:`.placement`; Micron, "NAND flash media management through RAIN" (technical brief,
2013; parity of one page in 8 on the P320h, in 16 on the M500, in 128 on the M550 of Tom's Hardware's reviews).

Limits: programs that waited for their dies may be more at once than the power allows, for a short time; data moved by
collection cross the channel twice (no copy-back inside a die, which skips error correction).
"""

from __future__ import annotations

from heapq import heapreplace
from typing import Final

from .die import Die, Work
from .placement import Placement
from .spec import SolidStateSpec
from .timeline import Timeline

CODEWORD: Final = 4096
"""Bytes that are corrected together, so that at least as many leave the flash."""
HOST, CACHED, MOVED, PARITY = 0, 1, 2, 3
"""Kinds of programs."""
_GATHERED: Final = 4


class Flash:
    """Dies and channels.

    Parameters
    ----------
    spec
        The drive.
    placement
        Where data lie.

    Attributes
    ----------
    dies, channels
        The die with number d is on the channel d % channels.
    read_s, cached_read_s
        Time (s) of a read, and of one from cells with one bit.
    reads_s, folded_s
        Time (s) that dies have read for the host, and have folded in while nothing else was to do.
    powered_s
        Time (s) of programs, where a limited number may run at once.
    erases
        Done so far; each erase is of the blocks of all planes of a die.
    programmed_bytes
        Written to flash.
    """

    __slots__ = (
        "_erase_every",
        "_erase_in",
        "_erased_die",
        "_next",
        "_page_s",
        "_parity_every",
        "_parity_in",
        "_powered",
        "_spec",
        "_to_erase",
        "cached_read_s",
        "channels",
        "dies",
        "erases",
        "folded_s",
        "inverse_rate",
        "placement",
        "powered_s",
        "programmed_bytes",
        "read_s",
        "reads_s",
    )

    def __init__(self, spec: SolidStateSpec, placement: Placement) -> None:
        self._spec = spec
        self.placement = placement
        self.inverse_rate = 1.0 / spec.channel_rate
        self.channels = [Timeline(CODEWORD * self.inverse_rate) for _ in range(spec.channels)]
        self.dies = [
            Die(spec.suspend_time, self.channels[i % spec.channels], spec.suspensions) for i in range(spec.dies)
        ]
        # Blocks (of all planes of a die) to be erased, the die whose turn it is, and programs until the next.
        self._to_erase = self._erased_die = 0
        self._erase_every = max(1, spec.pages_per_block // spec.bits_per_cell)
        self._erase_in = self._erase_every
        self._parity_every = self._parity_in = 0 if spec.parity_of is None else spec.parity_of - 1
        self.read_s = spec.read_time
        self.cached_read_s = spec.read_time if spec.slc_read_time is None else spec.slc_read_time
        self._page_s = spec.page * self.inverse_rate
        at_once = spec.programs_at_once
        self._powered = [0.0] * at_once if at_once is not None and at_once < spec.dies else []
        self._next = [0, 0, 0, 0, 0]
        self.reads_s = self.folded_s = self.powered_s = 0.0
        self.erases = self.programmed_bytes = 0

    @property
    def die_busy_s(self) -> float:
        """Time (s) that dies have worked, all together."""
        busy_s = 0.0
        for die in self.dies:
            busy_s += die.busy_s
        return self.reads_s + self.folded_s + busy_s

    @property
    def channel_busy_s(self) -> float:
        """Time (s) that channels have moved bytes, all together."""
        busy_s = 0.0
        for channel in self.channels:
            busy_s += channel.busy_s
        return busy_s

    def read(self, now: float, arrival: float, die: int, size: int, sense_s: float) -> float:
        """Read `size` bytes from a die in one read of `sense_s` (s); when they are across the channel (s)."""
        self.reads_s += sense_s
        on = self.dies[die]
        ready = on.read(arrival, sense_s)
        if size < CODEWORD:
            size = CODEWORD
        return on.book_channel(now, ready, size * self.inverse_rate)

    def program(self, now: float, ready: float, kind: int, work: Work | None = None) -> float:
        """Program what a die takes at once, with data that are there from `ready` (s) on; when it is done (s).

        Parameters
        ----------
        kind
            `HOST`, `CACHED` (to cells with one bit), `MOVED` or `PARITY`; each goes round the dies separately.
        work
            What waits for its end.
        """
        spec = self._spec
        number = self._next[kind]
        self._next[kind] = number + 1 if number + 1 < spec.dies else 0
        cached = kind == CACHED
        die, page_s = self.dies[number], self._page_s
        book_channel = die.book_channel
        pages = spec.planes if cached else spec.planes * spec.bits_per_cell
        sent = ready
        for _ in range(pages):
            sent = book_channel(now, ready, page_s)
            ready = sent + page_s
        self.programmed_bytes += pages * spec.page
        lasts = spec.slc_program_time if cached and spec.slc_program_time is not None else spec.program_time
        powered = self._powered
        if powered:
            self.powered_s += lasts
            begin = sent if sent > powered[0] else powered[0]
            end = die.book(now, begin, lasts, work)
            heapreplace(powered, begin + lasts)
        else:
            end = die.book(now, sent, lasts, work)
        if not cached:
            if self._to_erase:
                self._erase_in -= 1
                if not self._erase_in:
                    self._erase_in = self._erase_every
                    self._erase_next(now)
            if self._parity_every and kind != PARITY:
                self._parity_in -= 1
                if not self._parity_in:
                    self._parity_in = self._parity_every
                    self.program(now, sent, PARITY)
        return end

    def _erase_next(self, now: float) -> None:
        """Erase a block of every plane of the die whose turn it is."""
        number = self._erased_die
        self._erased_die = number + 1 if number + 1 < self._spec.dies else 0
        self._to_erase -= 1
        self.erases += 1
        self.dies[number].book(now, now, self._spec.erase_time)

    @property
    def programs_at_once(self) -> int:
        """Dies that may program at the same time."""
        return len(self._powered) or self._spec.dies

    def resume(self, now: float, kind: int, share: float, work: Work | None = None) -> float:
        """Program the last `share` (at most all) of what a die had been sent before; when it is done (s)."""
        spec = self._spec
        number = self._next[kind]
        self._next[kind] = number + 1 if number + 1 < spec.dies else 0
        lasts = spec.program_time * min(1.0, share)
        powered = self._powered
        if not powered:
            return self.dies[number].book(now, now, lasts, work)
        self.powered_s += lasts
        begin = max(now, powered[0])
        end = self.dies[number].book(now, begin, lasts, work)
        heapreplace(powered, begin + lasts)
        return end

    def erase(self, superblocks: int) -> None:
        """As many superblocks have been opened; each die erases a block for each, for one that is opened later."""
        self._to_erase += superblocks * self._spec.dies

    def erase_from_the_middle(self) -> None:
        """The open superblock is half full: half of its erases are over, and it is half the time to the next."""
        self._to_erase = self._spec.dies // 2
        self._erase_in = max(1, self._erase_every // 2)

    def gather(self, now: float, units: int, valid_share: float, sense_s: float) -> float:
        """Read `units` in the background from lines of pages of which `valid_share` is valid, from the dies in turn.

        Returns
        -------
        float
            When the last is across its channel (s).
        """
        spec = self._spec
        found = max(1.0, spec.planes * spec.page // spec.mapping_unit * valid_share)
        number = self._next[_GATHERED]
        unit_s, page_s = self.inverse_rate * spec.mapping_unit, self._page_s
        left = float(units)
        last = now
        while left > 0:
            here = found if found < left else left
            left -= here
            number = number + 1 if number + 1 < spec.dies else 0
            die = self.dies[number]
            over = die.fetch(now, sense_s)
            across = here * unit_s
            while across > 0:  # page by page, as programs are sent
                over = die.book_channel(now, over, across if across < page_s else page_s)
                across -= page_s
            if over > last:
                last = over
        self._next[_GATHERED] = number
        return last

    def read_unit(self, now: float, unit: int) -> float:
        """Read a unit in the background, to complete a write of a part of it; when it is across the channel (s)."""
        die = self.dies[self.placement.scattered(unit)]
        return die.book_channel(now, die.fetch(now, self.read_s), self._spec.mapping_unit * self.inverse_rate)
