"""Where ext4 sets room aside behind a file that grows."""

from __future__ import annotations

import pytest

from raidsim.model.file_system.mapping import _normalised

KIB, MIB = 1 << 10, 1 << 20


@pytest.mark.parametrize(
    ("end", "most", "filled"),
    [
        (4 * KIB, 8 * MIB, 16 * KIB),
        (20 * KIB, 8 * MIB, 32 * KIB),
        (1 * MIB, 8 * MIB, 1 * MIB),
        (1 * MIB + 4 * KIB, 8 * MIB, 2 * MIB),
        (3 * MIB, 8 * MIB, 4 * MIB),
        (5 * MIB, 8 * MIB, 8 * MIB),
        (9 * MIB, 8 * MIB, 16 * MIB),
        (9 * MIB, 2 * MIB, 10 * MIB),
    ],
)
def test_a_file_is_filled_up_to_a_round_size(end: int, most: int, filled: int) -> None:
    """Protects the table of ext4_mb_normalize_request, by hand: powers of two from 16 KiB, then multiples."""
    assert end + _normalised(end, most) == filled
