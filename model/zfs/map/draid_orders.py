"""The orders of a dRAID's members: shuffles of a published generator from a published seed for each member count.

Each order is a Fisher-Yates shuffle of the one before. The generator is xoroshiro128++ of Blackman and Vigna. Seeds
and checksums: `catalogue/draid_seeds.yaml`. Source: OpenZFS 2.3 module/zfs/vdev_draid.c (draid_maps,
vdev_draid_generate_perms).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from ...core.errors import InputError
from ...files.yaml_files import read_yaml

Orders = tuple[tuple[int, ...], ...]

FEWEST, MOST = 2, 255
"""Members of a dRAID."""

_FIRST_SEED = 0xD7A1D5EED
_ALL_BITS = 2**64 - 1
_SEEDS = Path(__file__).parent / "catalogue" / "draid_seeds.yaml"


@cache
def draid_seeds() -> dict[int, tuple[int, int]]:
    """Seed and checksum of the orders for each number of members."""
    data, _ = read_yaml(_SEEDS)
    found = {}
    for members, line in data["seeds"].items():
        seed, checksum = line.split()
        found[members] = int(seed, 16), int(checksum, 16)
    return found


def orders_of(members: int) -> int:
    """How many orders there are for a number of members."""
    return 256 if members < 32 else 512


@cache
def draid_orders(members: int) -> Orders:
    """The orders of `members` members; raises `InputError` if a dRAID cannot have that number."""
    if not FEWEST <= members <= MOST:
        raise InputError("draid", f"found {members} members", f"expected: {FEWEST} to {MOST}")
    first, second = _FIRST_SEED, draid_seeds()[members][0]
    order = list(range(members))
    orders = []
    for _ in range(orders_of(members)):
        for last in range(members - 1, 0, -1):
            drawn = (_turned((first + second) & _ALL_BITS, 17) + first) & _ALL_BITS
            second ^= first
            first = _turned(first, 49) ^ second ^ (second << 21 & _ALL_BITS)
            second = _turned(second, 28)
            other = drawn % (last + 1)
            order[last], order[other] = order[other], order[last]
        orders.append(tuple(order))
    return tuple(orders)


def _turned(word: int, bits: int) -> int:
    return (word << bits | word >> (64 - bits)) & _ALL_BITS
