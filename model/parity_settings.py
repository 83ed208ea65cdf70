"""How the driver of RAID 4, 5 and 6 works: what differs between kernels."""

from __future__ import annotations

from dataclasses import dataclass

from .parity_plan import RmwLevel


@dataclass(frozen=True, slots=True)
class ParitySettings:
    """How the driver of a parity array works.

    Attributes
    ----------
    heads
        Stripe heads; 0 for as many as needed.
    head_bytes
        Height of a stripe head.
    hold_s
        How long an incomplete row waits for its neighbours before it is read up.
    copies_reads
        Whether a read of a healthy row is copied out of the stripe cache (Linux 2.6 before 2.6.21 does, 2.4 reads
        into the caller's page).
    rmw_level
        md's setting of that name (1 on kernels that have none).
    """

    heads: int = 256
    head_bytes: int = 4096
    hold_s: float = 0.003
    copies_reads: bool = True
    rmw_level: int = RmwLevel.IF_CHEAPER
