"""dd bs=512 onto a raw device writes at 11 to 21 MiB/s beside reads at 60: it reads every cached block first.

Measured: 11.3 MiB/s on 2.4.26, 18.8 on 2.6.8, 20.8 on 2.6.7.
"""

from __future__ import annotations

import pytest

from raidsim.tests.phenomena.machine_variants import (
    BULK,
    CACHE_BLOCK,
    KERNELS,
    LINUX_24,
    LINUX_26,
    MIB,
    ONE,
    Case,
    ran,
    rate,
)


@pytest.mark.parametrize("kernel", KERNELS)
def test_small_writes_are_a_fraction_of_reads(kernel: str) -> None:
    """Protects the study's first surprise: a disk that reads at 60 MiB/s is written at a fifth to a third of it."""
    write = rate(Case(kernel, "write", ONE))
    read = rate(Case(kernel, "read", ONE))
    assert 48 < read < 70
    if kernel == LINUX_24:
        assert 8.5 < write < 15
        assert write < 0.3 * read
    else:
        assert 15 < write < 26
        assert write < 0.5 * read


def test_larger_cache_blocks_write_faster() -> None:
    """Protects the order of the kernels: one read a 4 KiB block (2.6) costs less than four reads of 1 KiB (2.4)."""
    assert rate(Case(LINUX_26, "write", ONE)) > 1.3 * rate(Case(LINUX_24, "write", ONE))


@pytest.mark.parametrize("kernel", KERNELS)
def test_every_block_is_read_once(kernel: str) -> None:
    """Protects the mechanism: one command a cached block, of just that block, without read-ahead."""
    block = CACHE_BLOCK[kernel]
    disk = ran(Case(kernel, "write", ONE), MIB).disks["hde"]
    assert disk.reads == MIB // block
    assert disk.read_bytes == MIB


def test_pieces_of_any_size_below_the_block_read_it_once() -> None:
    """Protects the rule: on 2.6 bs=512, 1024 and 2048 all read each 4 KiB block, and none of them twice."""
    for block_size in (512, 1024, 2048):
        assert ran(Case(LINUX_26, "write", ONE, block_size=block_size), MIB).disks["hde"].reads == MIB // 4096


@pytest.mark.parametrize("kernel", KERNELS)
def test_whole_blocks_are_not_read(kernel: str) -> None:
    """Counter-test: with bs of a cached block nothing is read at all, and the rate is that of the disk."""
    case = Case(kernel, "write", ONE, block_size=CACHE_BLOCK[kernel])
    assert ran(case, MIB).disks["hde"].reads == 0
    whole = rate(case, BULK)
    assert whole > 2.5 * rate(Case(kernel, "write", ONE))
    assert 50 < whole < 72, "no faster than the platters, over 5 GiB"


@pytest.mark.parametrize("block_size", [4096, 65536])
def test_long_writes_go_at_the_disks_pace_on_24(block_size: int) -> None:
    """Protects writes that memory absorbs for a while: over 5 GiB even a fast writer gets what the disk takes."""
    assert 50 < rate(Case(LINUX_24, "write", ONE, block_size=block_size), BULK) < 72
