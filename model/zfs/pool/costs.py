"""CPU time of a pool's software: copies, checksums, parity, and the threads that a block passes through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...tasks.prices import NotedPrices

TASK_SWITCHES: Final = 2
"""Threads that a block passes on its way to a member and back (zio_taskq: issue and interrupt)."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What one host pays for.

    Attributes
    ----------
    copy_s_per_byte
        Between a program's buffer and the cache.
    checksum_s_per_byte
        Fletcher-4 over a block: with vector instructions it reads memory once, as XOR does.
    parity_s_per_byte
        The first parity of raidz; each further one costs a multiplication more, about twice as much.
    block_s
        A block read from or written to members, besides its bytes.
    call_s
        A call that is served from memory.
    """

    copy_s_per_byte: float = 0.0
    checksum_s_per_byte: float = 0.0
    parity_s_per_byte: float = 0.0
    block_s: float = 0.0
    call_s: float = 0.0

    @staticmethod
    def of(prices: NotedPrices) -> Costs:
        """The costs on a host with these prices."""
        return Costs(
            copy_s_per_byte=prices.copy_s_per_byte,
            checksum_s_per_byte=prices.xor_s_per_byte,
            parity_s_per_byte=prices.xor_s_per_byte,
            block_s=TASK_SWITCHES * prices.switch_s + prices.bio_s,
            call_s=prices.page_s,
        )

    def write_s(self, size: int, parity: int) -> float:
        """CPU time (s) of a block of `size` bytes that is written with `parity` parity columns."""
        return self.block_s + size * (self.checksum_s_per_byte + self.parity_s_per_byte * max(0, 2 * parity - 1))

    def read_s(self, size: int) -> float:
        """CPU time (s) of a block of `size` bytes that is read."""
        return self.block_s + size * self.checksum_s_per_byte


NO_COSTS: Final = Costs()
