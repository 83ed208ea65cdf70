"""CPU time of a pool's software: copies, checksums, parity, compression, and threads that a block passes through."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from ...tasks.prices import NotedPrices
from .rates import CHECKSUM, COMPRESSION, PARITY, RECONSTRUCTION, VECTORS

TASK_SWITCHES: Final = 2
"""Threads that a block passes on its way to a member and back (zio_taskq: issue and interrupt)."""


@dataclass(frozen=True, slots=True)
class Costs:
    """What one host pays for the blocks of a volume or file.

    Attributes
    ----------
    copy_s_per_byte
        Between a program's buffer and the cache.
    memory_s_per_byte
        Data read from memory; all that follows finds them in the cache of the core.
    checksum_s_per_byte, compress_s_per_byte, decompress_s_per_byte
        Over the block, over the block before compression, and over what decompression makes.
    parity_s_per_byte, rebuild_s_per_byte
        For one, two and three parities or lost columns.
    block_s
        A block read from or written to members, besides its bytes.
    call_s
        A call that is served from memory.
    """

    copy_s_per_byte: float = 0.0
    memory_s_per_byte: float = 0.0
    checksum_s_per_byte: float = 0.0
    compress_s_per_byte: float = 0.0
    decompress_s_per_byte: float = 0.0
    parity_s_per_byte: tuple[float, ...] = (0.0, 0.0, 0.0)
    rebuild_s_per_byte: tuple[float, ...] = (0.0, 0.0, 0.0)
    block_s: float = 0.0
    call_s: float = 0.0

    @staticmethod
    def of(
        prices: NotedPrices, vectors: str = "avx2", checksum: str = "fletcher4", compressor: str | None = None
    ) -> Costs:
        """The costs on a host with these prices and vector instructions."""
        index = VECTORS.index(vectors)
        compress, decompress = COMPRESSION[compressor] if compressor else (float("inf"), float("inf"))
        return Costs(
            copy_s_per_byte=prices.copy_s_per_byte,
            memory_s_per_byte=prices.xor_s_per_byte,
            checksum_s_per_byte=1.0 / CHECKSUM[checksum][index],
            compress_s_per_byte=1.0 / compress,
            decompress_s_per_byte=1.0 / decompress,
            parity_s_per_byte=tuple(1.0 / rates[index] for rates in PARITY),
            rebuild_s_per_byte=tuple(1.0 / rates[index] for rates in RECONSTRUCTION),
            block_s=TASK_SWITCHES * prices.switch_s + prices.bio_s,
            call_s=prices.page_s,
        )

    def write_s(self, size: int, psize: int, parity: int) -> float:
        """CPU time (s) to write a block of `size` bytes, `psize` of them compressed, with `parity` parity columns."""
        work_s = size * self.compress_s_per_byte + psize * self.checksum_s_per_byte
        if parity:
            work_s += psize * self.parity_s_per_byte[parity - 1]
        return self.block_s + max(work_s, size * self.memory_s_per_byte)

    def read_s(self, psize: int, lost: int = 0) -> float:
        """CPU time (s) to verify a block of `psize` bytes that is read, `lost` columns of which are computed."""
        work_s = psize * self.checksum_s_per_byte
        if lost:
            work_s += psize * self.rebuild_s_per_byte[lost - 1]
        return self.block_s + max(work_s, psize * self.memory_s_per_byte)

    def copy_s(self, size: int) -> float:
        """CPU time (s) of a call that moves `size` bytes between a program and memory."""
        return self.call_s + size * self.copy_s_per_byte


NO_COSTS: Final = Costs()
