"""Published rates of what ZFS computes for a block, by the vector instructions of a core (bytes a second of one core).

fletcher4: Xeon Platinum 8170, kstat fletcher_4_bench (OpenZFS pull request 9517, 2019). SHA-256: Ryzen 5900X, kstat
chksum_bench (13741, 2022). BLAKE3: chksum_bench (13695, 2022). raidz: kstat vdev_raidz_bench (4860, 2016); its rates
are for each of eleven columns. With AVX-512 BLAKE3 and raidz are at least as fast as with AVX2. LZ4 and zstd: Core
i7-9700K, table of the README of zstd 1.5.7; ZFS's level 3 has 0.47 times the rate of level 1 (lzbench, zstd 1.3.3).
"""

from __future__ import annotations

from typing import Final

VECTORS: Final = ("none", "sse2", "ssse3", "avx2", "avx512")
_COLUMNS: Final = 11
_MIB: Final = float(1 << 20)

CHECKSUM: Final = {
    "off": (float("inf"),) * len(VECTORS),
    "fletcher4": (8.62e9, 14.8e9, 14.9e9, 22.4e9, 33.8e9),
    "sha256": (210 * _MIB, 210 * _MIB, 287 * _MIB, 313 * _MIB, 313 * _MIB),
    "blake3": (592 * _MIB, 2192 * _MIB, 2455 * _MIB, 4825 * _MIB, 4825 * _MIB),
}
"""Bytes of a block that are summed."""
PARITY: Final = (
    tuple(_COLUMNS * rate for rate in (0.825e9, 2.39e9, 2.62e9, 4.79e9, 4.79e9)),
    tuple(_COLUMNS * rate for rate in (0.482e9, 1.43e9, 1.71e9, 3.30e9, 3.30e9)),
    tuple(_COLUMNS * rate for rate in (0.208e9, 0.772e9, 0.771e9, 1.48e9, 1.48e9)),
)
"""Bytes of a block whose one, two or three parities are computed (gen_p, gen_pq, gen_pqr)."""
RECONSTRUCTION: Final = (
    tuple(_COLUMNS * rate for rate in (1.36e9, 3.28e9, 3.28e9, 5.58e9, 5.58e9)),
    tuple(_COLUMNS * rate for rate in (0.179e9, 0.644e9, 0.871e9, 1.63e9, 1.63e9)),
    tuple(_COLUMNS * rate for rate in (0.0642e9, 0.232e9, 0.412e9, 0.809e9, 0.809e9)),
)
"""The same with one, two or three lost columns (rec_p, rec_pq, rec_pqr)."""
COMPRESSION: Final = {"lz4": (675e6, 3850e6), "zstd": (0.47 * 510e6, 1550e6)}
"""Bytes of a block before compression that are compressed, and that decompression makes."""
