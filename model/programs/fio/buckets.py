"""fio's buckets of latencies: 29 groups of 64, each twice as wide as the one before (stat.c of fio 3.33)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

BUCKET_BITS = 6
BUCKETS = 29 << BUCKET_BITS


def bucket_of(nanoseconds: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """fio's bucket of each latency (stat.c, plat_val_to_idx)."""
    bits = np.frexp(nanoseconds.astype(np.float64))[1] - 1
    error_bits = np.maximum(bits - BUCKET_BITS, 0)
    mask = (1 << BUCKET_BITS) - 1
    coarse = ((error_bits + 1) << BUCKET_BITS) + (mask & (nanoseconds >> error_bits))
    buckets = np.where(error_bits == 0, nanoseconds, coarse)
    return np.minimum(buckets, BUCKETS - 1)


def bucket_value(bucket: int) -> int:
    """The latency in nanoseconds that fio reports for a bucket (stat.c, plat_idx_to_val)."""
    if bucket < 2 << BUCKET_BITS:
        return bucket
    error_bits = (bucket >> BUCKET_BITS) - 1
    base = 1 << (error_bits + BUCKET_BITS)
    return base + int((bucket % (1 << BUCKET_BITS) + 0.5) * (1 << error_bits))
