"""What several disks share: the CPU stops writes of 512 bytes, the PCI stops reads; and the bottleneck is named.

Measured: two and three disks write at 17 MiB/s (2.4.26) and 31 to 35 (2.6.8), and read at 112 to 118.
"""

from __future__ import annotations

import pytest

from raidsim.tests.phenomena.machine_variants import (
    KERNELS,
    LINUX_24,
    LINUX_26,
    ONE,
    THREE,
    TWO,
    Case,
    prediction,
    rate,
    usage,
)

# CPU and writes


@pytest.mark.parametrize(("kernel", "low", "high"), [(LINUX_24, 14, 22), (LINUX_26, 26, 39)])
def test_writes_stop_at_the_cpus_ceiling(kernel: str, low: float, high: float) -> None:
    """Protects the CPU ceiling: a second disk adds something, a third adds nothing."""
    one, two, three = (rate(Case(kernel, "write", targets)) for targets in (ONE, TWO, THREE))
    assert low < two < high
    assert low < three < high
    assert two > 1.25 * one
    assert three < 1.12 * two
    assert three < 2.0 * one


@pytest.mark.parametrize("kernel", [LINUX_24, LINUX_26])
def test_with_a_free_cpu_disks_write_side_by_side(kernel: str) -> None:
    """Counter-test: nothing to pay on the CPU, and a bus that is wide enough, and three disks write as three."""
    one, three = (rate(Case(kernel, "write", targets, free_cpu=True, wide_pci=True)) for targets in (ONE, THREE))
    assert 2.4 * one < three < 5 * one
    assert three > 1.8 * rate(Case(kernel, "write", THREE))


def test_a_wide_pci_alone_does_not_lift_the_cpus_ceiling() -> None:
    """Counter-test of the counter-test: the bus is not what stops the writes of 2.4."""
    narrow, wide = rate(Case(LINUX_24, "write", THREE)), rate(Case(LINUX_24, "write", THREE, wide_pci=True))
    assert wide < 1.2 * narrow
    assert rate(Case(LINUX_24, "write", THREE, free_cpu=True)) > 1.8 * narrow


# PCI and reads


@pytest.mark.parametrize("kernel", KERNELS)
def test_reads_stop_at_the_pcis_ceiling(kernel: str) -> None:
    """Protects the PCI ceiling: two disks read almost what the bus moves, and three no more."""
    one, two, three = (rate(Case(kernel, "read", targets)) for targets in (ONE, TWO, THREE))
    assert 100 < two < 122
    assert 108 < three < 122
    assert two > 1.7 * one
    assert three < 1.12 * two
    assert usage(Case(kernel, "read", THREE), "pci").utilization > 0.95


@pytest.mark.parametrize("kernel", KERNELS)
def test_behind_a_wide_pci_disks_read_side_by_side(kernel: str) -> None:
    """Counter-test: with a bus of 1 GB/s and a free CPU two and three disks read two and three times one."""
    one, two, three = (rate(Case(kernel, "read", t, free_cpu=True, wide_pci=True)) for t in (ONE, TWO, THREE))
    assert two == pytest.approx(2 * one, rel=0.03)
    assert three == pytest.approx(3 * one, rel=0.03)


@pytest.mark.parametrize("kernel", KERNELS)
def test_a_free_cpu_alone_does_not_lift_the_pcis_ceiling(kernel: str) -> None:
    """Counter-test of the counter-test: it is the bus that stops three readers."""
    assert rate(Case(kernel, "read", THREE, free_cpu=True)) < 122


# the bottleneck, named


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_three_readers_name_the_pci(kernel: str, seed: int) -> None:
    """Protects the answer to "what limits": the bus, although the disks that wait for it are just as busy."""
    assert prediction(Case(kernel, "read", THREE, seed=seed)).bottleneck.startswith("link pci")


def test_three_writers_name_the_cpu() -> None:
    """Protects the answer to "what limits": the CPU; one writer saturates nothing, its waits add up."""
    assert "busiest is cpu" in prediction(Case(LINUX_24, "write", THREE)).bottleneck
    assert prediction(Case(LINUX_24, "write", ONE)).bottleneck.endswith("busiest is cpu (55 % busy)")


def test_one_reader_names_its_disk() -> None:
    """Protects the answer to "what limits": the disk, which on 2.6 idles between the windows of the read-ahead."""
    assert prediction(Case(LINUX_24, "read", ONE)).bottleneck.startswith("disk hde")
    assert "disk hde" in prediction(Case(LINUX_26, "read", ONE)).bottleneck


@pytest.mark.parametrize("kernel", KERNELS)
def test_with_nothing_shared_the_disks_are_named(kernel: str) -> None:
    """Counter-test: the same three readers behind a wide bus and a free CPU name all three disks."""
    named = prediction(Case(kernel, "read", THREE, free_cpu=True, wide_pci=True)).bottleneck
    assert named.startswith("3 disks (hde, hdg, hdi")
