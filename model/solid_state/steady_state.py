"""What the blocks of a drive hold after it has long been overwritten at random, in closed form.

Under uniformly random writes a block loses its valid units at a constant relative rate, so a block of relative age x
(0: just filled, 1: next to be collected) still holds the share exp(-k x). The mean over all blocks is the utilization
u (data over flash), which fixes k; the block collected holds exp(-k), and collecting it frees 1 - exp(-k): each write
of the host costs 1 / (1 - exp(-k)) writes to flash. With large blocks the one with fewest valid units (greedy) is
also the oldest, so this is the law of both orders of collection.

Sources: Hu et al., "Write amplification analysis in flash-based solid state drives", SYSTOR 2009; Desnoyers, "Analytic
modeling of SSD write performance", SYSTOR 2012; Luojie and Kurkoski, "An improved analytic expression for write
amplification in NAND flash", ICNC 2012 (with Lambert's W: k = 1/u + W(-exp(-1/u)/u)).
"""

from __future__ import annotations

import math

from ..core.errors import ModelError
from ..core.exact_sums import sum_in_order


def decay(utilization: float) -> float:
    """The k whose mean share (1 - exp(-k)) / k is `utilization` (0 to 1, neither included)."""
    if not 0 < utilization < 1:
        raise ModelError(f"utilization {utilization} of the flash; between 0 and 1")
    low, high = 0.0, 1 / utilization
    for _ in range(60):
        middle = 0.5 * (low + high)
        if -math.expm1(-middle) > utilization * middle:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


def write_amplification(utilization: float) -> float:
    """Flash writes per host write under uniformly random writes with data over flash of `utilization`."""
    return -1 / math.expm1(-decay(utilization))


def valid_units(blocks: int, block_units: int, units: int) -> list[float]:
    """Valid units of each of `blocks` blocks of `block_units` that hold `units` in all, oldest first."""
    k = decay(units / (blocks * block_units))
    shares = [math.exp(-k * (blocks - i - 0.5) / blocks) for i in range(blocks)]
    scale = units / sum_in_order(shares)
    return [min(share * scale, block_units) for share in shares]
