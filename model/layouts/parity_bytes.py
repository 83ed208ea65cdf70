"""Parity on real bytes: XOR for P, GF(2^8) for Q, and the recovery of what was lost.

P is the XOR of the data blocks of a row. Q is the sum of 2^e * D over them in the field of 256 elements
with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d) and the generator 2, e being the exponent that the
layout gives to each block (H. P. Anvin, "The mathematics of RAID-6", 2004; Linux lib/raid6).
Multiplying a block by 2 handles eight bytes at a time inside one 64-bit word, as the kernel's
integer version does; any other factor is one table look-up per byte.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.errors import ArrayFailed

Block = NDArray[np.uint8]

POLYNOMIAL = 0x11D
GROUP_ORDER = 255  # the non-zero elements of the field: 2 generates all of them

_TOP_BITS = np.uint64(0x8080808080808080)
_LOW_BITS = np.uint64(0xFEFEFEFEFEFEFEFE)
_FEEDBACK = np.uint64(POLYNOMIAL & 0xFF)
_ONE = np.uint64(1)
_SEVEN = np.uint64(7)


def _powers() -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    power = np.zeros(2 * GROUP_ORDER, dtype=np.uint8)
    log = np.zeros(256, dtype=np.int64)
    value = 1
    for exponent in range(GROUP_ORDER):
        power[exponent] = power[exponent + GROUP_ORDER] = value
        log[value] = exponent
        value <<= 1
        if value & 0x100:
            value ^= POLYNOMIAL
    return power, log


_POWER, _LOG = _powers()


def gf_power(exponent: int) -> int:
    """Return 2^exponent in the field; negative exponents give the inverse."""
    return int(_POWER[exponent % GROUP_ORDER])


def gf_inverse(factor: int) -> int:
    """Return the element whose product with `factor` is 1.

    Raises
    ------
    ZeroDivisionError
        For factor 0.
    """
    if factor == 0:
        raise ZeroDivisionError("0 has no inverse in GF(2^8)")
    return gf_power(-int(_LOG[factor]))


def gf_mul2(block: Block) -> Block:
    """Return 2 * block, byte by byte in the field.

    Parameters
    ----------
    block
        One-dimensional; any length (blocks that are not whole 64-bit words are padded on the way).
    """
    size = block.size
    if size % 8:
        padded = np.zeros(size + 8 - size % 8, dtype=np.uint8)
        padded[:size] = block
        return gf_mul2(padded)[:size]
    words = np.ascontiguousarray(block).view(np.uint64)
    top = words & _TOP_BITS
    doubled = ((words << _ONE) & _LOW_BITS) ^ ((top >> _SEVEN) * _FEEDBACK)
    return doubled.view(np.uint8)


def gf_multiply(block: Block, factor: int) -> Block:
    """Return factor * block, byte by byte in the field."""
    if factor == 0:
        return np.zeros_like(block)
    if factor == 1:
        return block.copy()
    if factor == 2:
        return gf_mul2(block)
    table = _POWER[_LOG + _LOG[factor]]
    table[0] = 0
    product: Block = table[block]
    return product


def xor(blocks: Sequence[Block]) -> Block:
    """Return the XOR of one or more blocks of equal length: the P of a row of data."""
    total = blocks[0].copy()
    for block in blocks[1:]:
        np.bitwise_xor(total, block, out=total)
    return total


def q_syndrome(data: Sequence[Block], exponents: Sequence[int]) -> Block:
    """Return Q, the sum of 2^exponent * block, by Horner's rule.

    Parameters
    ----------
    data
        The data blocks of a row.
    exponents
        The exponent of each; distinct, with gaps where the layout counts parity members too (DDF).
    """
    by_exponent = dict(zip(exponents, data, strict=True))
    total = np.zeros_like(data[0])
    for exponent in range(max(exponents), -1, -1):
        total = gf_mul2(total)
        block = by_exponent.get(exponent)
        if block is not None:
            total ^= block
    return total


def recover(
    data: Sequence[Block | None],
    p: Block | None,
    q: Block | None = None,
    exponents: Sequence[int] | None = None,
) -> list[Block]:
    """Return all data blocks of a row of which one or two blocks are lost.

    Lost parity needs no argument of its own: it is computed again from the data (`xor`, `q_syndrome`).

    Parameters
    ----------
    data
        The data blocks, None where lost.
    p, q
        The parity blocks, None where lost (or where the level has no Q).
    exponents
        The exponent of each data block in Q; None where the level has no Q.

    Raises
    ------
    ArrayFailed
        If the blocks that are left do not determine the data.
    """
    lost = [index for index, block in enumerate(data) if block is None]
    present = [block for block in data if block is not None]
    if not lost:
        return present
    if len(lost) == 1 and p is not None:
        return _filled(data, {lost[0]: xor([p, *present])})
    if q is None or exponents is None or len(lost) > 2 or (len(lost) == 2 and p is None):
        raise ArrayFailed(f"{len(lost)} data blocks of a row lost, P {_state(p)}, Q {_state(q)}: the data are gone")
    rest = q.copy()
    if present:
        rest ^= q_syndrome(present, [e for e, block in zip(exponents, data, strict=True) if block is not None])
    if p is None:
        return _filled(data, {lost[0]: gf_multiply(rest, gf_power(-exponents[lost[0]]))})
    first, second = lost
    a, b = gf_power(exponents[first]), gf_power(exponents[second])
    both = xor([p, *present])  # D_first + D_second, beside rest = a * D_first + b * D_second
    first_block = gf_multiply(rest ^ gf_multiply(both, b), gf_inverse(a ^ b))
    return _filled(data, {first: first_block, second: both ^ first_block})


def _filled(data: Sequence[Block | None], found: dict[int, Block]) -> list[Block]:
    return [found[index] if block is None else block for index, block in enumerate(data)]


def _state(block: Block | None) -> str:
    return "lost or absent" if block is None else "present"
