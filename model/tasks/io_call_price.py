"""What it costs a program to send I/Os and to take their completions, by their size and the way it asks the kernel.

A program sleeps when it has nothing to do, so what it costs to be woken is not a price of an I/O: whoever finds the
next completion there already pays nothing for it. With one I/O outstanding that makes no difference.

Direct I/O moves the data between a drive and the program's own memory. The kernel pins each page of it and puts it into
a bio (block/bio.c, bio_iov_iter_get_pages), the driver maps it for DMA, and at the completion it is unmapped and
released (bio_release_pages). A bio has room for 256 segments (include/linux/bio.h, BIO_MAX_VECS), and a longer I/O is
several bios. Pages that follow each other in memory share a segment since Linux 5.1; assumed: those of a program's
buffer do not. Buffers that io_uring has registered (IORING_REGISTER_BUFFERS, ``fixedbufs`` of fio) stay pinned.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from ..core.request import WRITE
from .prices import NotedPrices

IoEngine = Literal["psync", "libaio", "io_uring"]
"""Names that fio has for pread and pwrite, for io_submit and io_getevents, and for io_uring_enter."""

PAGE: Final = 4096
BIO_PAGES: Final = 256
"""Pages in one bio at most."""


@dataclass(frozen=True, slots=True)
class PageCosts:
    """CPU time of a program by the size of a direct I/O.

    Attributes
    ----------
    pin_s, unpin_s
        To pin a page when the I/O is submitted, and to release it when it is complete (s).
    bio_s
        To build another bio, after the first (s).
    """

    pin_s: float = 0.0
    unpin_s: float = 0.0
    bio_s: float = 0.0

    def submission_s(self, op: int, size: int) -> float:
        """What the size adds to the submission of an I/O (s); an I/O without data has no pages."""
        if op > WRITE:
            return 0.0
        pages = -(-size // PAGE)
        return pages * self.pin_s + (pages - 1) // BIO_PAGES * self.bio_s

    def completion_s(self, op: int, size: int) -> float:
        """What the size adds to its completion (s)."""
        return 0.0 if op > WRITE else -(-size // PAGE) * self.unpin_s


NO_PAGES: Final = PageCosts()
"""Of a program whose I/Os cost the same whatever their size."""


@dataclass(frozen=True, slots=True)
class Submission:
    """CPU time of a program.

    Attributes
    ----------
    call_s
        In the calls for an I/O (s).
    submit_s
        To submit an I/O and to take its completion, without its pages (s).
    wake_s
        To be woken after it has slept (s).
    pages
        What the size of the I/O adds.
    """

    call_s: float
    submit_s: float
    wake_s: float
    pages: PageCosts


def submission(prices: NotedPrices, engine: IoEngine | None = None, fixed_buffers: bool = False) -> Submission:
    """What I/Os cost with an I/O engine; without one as with io_submit or a call of its own.

    Parameters
    ----------
    prices
        Of the host.
    engine
        How the program asks the kernel.
    fixed_buffers
        If true, the buffers are registered with io_uring and stay pinned; other engines ignore it.
    """
    uring = engine == "io_uring"
    call_s = prices.uring_call_s if uring else prices.read_call_s
    bio_s = prices.bio_s
    if uring and fixed_buffers:
        pages = PageCosts(bio_s=bio_s)
    else:
        pages = PageCosts(prices.pin_s, prices.unpin_s, bio_s)
    return Submission(call_s, call_s + bio_s, prices.switch_s, pages)
