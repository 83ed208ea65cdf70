"""CPU time of fio for the data that it writes, before it submits a write (fio 3.33: io_u.c, get_io_u).

By default fio changes three words in each sector of its buffer (``scramble_buffers``: small_content_scramble), which
are in two cache lines. If md's thread has copied the data of the last write from this buffer, on another core, each
line has to be taken back from there. Several lines are under way at the same time.
"""

from __future__ import annotations

from typing import Final

from ..core.request import WRITE
from ..programs.fio.timing import Fill
from ..tasks.host import Host

SECTOR: Final = 512
FILL_S: Final[dict[Fill, float]] = {
    "none": 0.0,
    "scramble": 1.4e-9,
    "zero": 3.9e-9,
    "compress": 42e-9,
    "random": 66e-9,
    "dedupe": 73e-9,
}
"""CPU time for a sector: 8 GiB in writes of 2 MiB, fio 3.33 with ``ioengine=null`` on an EPYC, less those with
``zero_buffers``."""
_LINES: Final = 2
"""Cache lines of a sector that are written."""
_UNDER_WAY: Final = 12
"""Cache lines that a core waits for at the same time: line fill buffers of Intel's server cores from Haswell to Skylake
are 10 to 12 (Intel 64 and IA-32 Architectures Optimization Reference Manual), later ones and AMD's 16 to 24."""


class WriteBuffers:
    """The buffers of one thread.

    Parameters
    ----------
    host
        Knows what has been copied from them.
    fill
        What fio does with them.
    issuer
        By which the host knows the thread.
    """

    __slots__ = ("_fill_s", "_host", "_issuer", "_takes_back_s")

    def __init__(self, host: Host, fill: Fill, issuer: int) -> None:
        self._host = host
        self._issuer = issuer
        self._fill_s = FILL_S[fill] / SECTOR
        self._takes_back_s = _LINES * host.line_s / (_UNDER_WAY * SECTOR) if self._fill_s else 0.0
        if self._takes_back_s:
            host.copied_bytes[issuer] = 0

    def fill_s(self, op: int, size: int) -> float:
        """CPU time (s) for the data of an I/O."""
        if op != WRITE or not self._fill_s:
            return 0.0
        return size * self._fill_s + self._host.take_copied_bytes(self._issuer, size) * self._takes_back_s
