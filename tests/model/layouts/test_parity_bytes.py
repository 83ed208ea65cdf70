"""The arithmetic of P and Q against a multiplication done bit by bit."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from raidsim.model.core.errors import ArrayFailed
from raidsim.model.layouts.parity_bytes import (
    Block,
    gf_inverse,
    gf_mul2,
    gf_multiply,
    gf_power,
    q_syndrome,
    recover,
    xor,
)

ALL_BYTES = np.arange(256, dtype=np.uint8)


def _slow_product(a: int, b: int) -> int:
    """Multiply two polynomials over GF(2) and reduce by 0x11d."""
    product = 0
    for bit in range(8):
        if b >> bit & 1:
            product ^= a << bit
    for bit in range(14, 7, -1):
        if product >> bit & 1:
            product ^= 0x11D << (bit - 8)
    return product


def _random_blocks(count: int, size: int = 96) -> list[Block]:
    rng = np.random.default_rng(7)
    return [rng.integers(0, 256, size, dtype=np.uint8) for _ in range(count)]


def test_doubling_eight_bytes_at_a_time_is_doubling_each() -> None:
    """No carry runs from one byte of a word into its neighbor, whatever the bytes."""
    assert gf_mul2(ALL_BYTES).tolist() == [_slow_product(value, 2) for value in range(256)]


@pytest.mark.parametrize("size", [1, 7, 8, 9, 31])
def test_doubling_takes_any_length(size: int) -> None:
    """Blocks that are not whole 64-bit words, or not contiguous, are doubled all the same."""
    block = _random_blocks(1, 2 * size)[0][::2]
    assert gf_mul2(block).tolist() == [_slow_product(int(value), 2) for value in block]


def test_multiplication_by_every_factor() -> None:
    """The table look-up agrees with the multiplication bit by bit for all 65,536 products."""
    for factor in range(256):
        assert gf_multiply(ALL_BYTES, factor).tolist() == [_slow_product(value, factor) for value in range(256)]


def test_inverse_and_powers() -> None:
    """2 generates all 255 elements, and an inverse undoes its factor."""
    assert {gf_power(exponent) for exponent in range(255)} == set(range(1, 256))
    assert all(_slow_product(value, gf_inverse(value)) == 1 for value in range(1, 256))
    assert _slow_product(gf_power(-3), gf_power(3)) == 1
    with pytest.raises(ZeroDivisionError):
        gf_inverse(0)


def test_q_is_the_weighted_sum() -> None:
    """Horner's rule gives the sum of 2^e * D also with gaps in the exponents and in any order."""
    data = _random_blocks(3, 16)
    exponents = [5, 0, 3]
    expected = [
        np.bitwise_xor.reduce(
            [_slow_product(int(block[i]), gf_power(e)) for block, e in zip(data, exponents, strict=True)]
        )
        for i in range(16)
    ]
    assert q_syndrome(data, exponents).tolist() == expected


@pytest.mark.parametrize(
    "exponents", [(0, 1, 2, 3, 4), (4, 0, 1, 2, 3), (0, 1, 4, 5, 6)], ids=["plain", "cyclic", "gaps"]
)
def test_any_two_lost_blocks_come_back(exponents: tuple[int, ...]) -> None:
    """All pairs among five data blocks, P and Q are recovered, for each order in which Q may count."""
    data = _random_blocks(5)
    p, q = xor(data), q_syndrome(data, exponents)
    for lost in [*combinations(range(7), 1), *combinations(range(7), 2)]:
        left: list[Block | None] = [None if index in lost else block for index, block in enumerate(data)]
        found = recover(left, None if 5 in lost else p, None if 6 in lost else q, exponents)
        assert all(np.array_equal(a, b) for a, b in zip(found, data, strict=True)), lost


def test_too_many_lost_blocks_are_refused() -> None:
    """Three lost blocks of RAID 6, or two of RAID 5, raise instead of inventing data."""
    data: list[Block | None] = list(_random_blocks(4))
    p = data[0]
    with pytest.raises(ArrayFailed):
        recover([None, None, None, data[3]], p, p, (0, 1, 2, 3))
    with pytest.raises(ArrayFailed):
        recover([None, None, *data[2:]], None, p, (0, 1, 2, 3))
    with pytest.raises(ArrayFailed):
        recover([None, None, *data[2:]], p)
    with pytest.raises(ArrayFailed):
        recover([None, *data[1:]], None)
