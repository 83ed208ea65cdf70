"""A rebuild slows the programs, and its speed limits say how much.

Measured on RAID 5 with a drive being reconstructed: 3.8 MiB/s written and 23.7 read on 2.4.26 beside 11.7 and 59.3
degraded; 9.5 and 45.2 on 2.6.8 beside 11.3 and 53.1. RAID 1 with a raised minimum: 12.5 and 54.8 beside 16.9 and 60.4.
"""

from __future__ import annotations

import pytest

from raidsim.tests.phenomena.machine_variants import KIB, LINUX_24, LINUX_26, LONG, Case, built, rate

RAID5_24, RAID5_26 = "raid5-reconstructing-2.4", "raid5-reconstructing-2.6"
RAID1 = "raid1-reconstructing-min10000"
DIRECTIONS = ("read", "write")
SEEN_MAJOR, UNSEEN_MAJOR = 3, 33
"""hda and hde: Linux 2.4 counts the I/O of majors below 16 only."""


def limited(kernel: str, direction: str, array: str, limit: str, kib_s: int, major: int | None = None) -> Case:
    """A rebuild with one of its speed limits set by hand."""
    return Case(kernel, direction, array=array, resync=((limit, float(kib_s * KIB)),), major=major)


def rebuilt_kib_s(case: Case) -> float:
    """KiB/s rebuilt while a program reads 256 MiB."""
    machine = built(case)
    (resync,) = machine.resyncs.values()
    (dd,) = machine.dds
    dd.size = 256 << 20
    machine.engine.spawn(resync.run())
    machine.engine.run(machine.engine.spawn(dd.read()))
    return resync.done_bytes / machine.engine.now / KIB


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize(("kernel", "array"), [(LINUX_24, RAID5_24), (LINUX_26, RAID5_26)])
def test_a_rebuild_slows_programs(kernel: str, array: str, direction: str) -> None:
    """Protects the phenomenon: reading and writing a degraded RAID 5 is slower while it is reconstructed."""
    assert rate(Case(kernel, direction, array=array), LONG) < 0.9 * rate(
        Case(kernel, direction, array="raid5-failed"), LONG
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_a_rebuilding_mirror_slows_programs(direction: str) -> None:
    """Protects the same on RAID 1, where resync and programs keep each other out."""
    assert rate(Case(LINUX_26, direction, array=RAID1), LONG) < 0.9 * rate(
        Case(LINUX_26, direction, array="raid1-failed"), LONG
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("array", [RAID5_26, RAID1])
def test_a_higher_minimum_slows_programs_more(array: str, direction: str) -> None:
    """Protects speed_limit_min: it is what a busy array's rebuild gets, and the programs pay for it."""
    rates = [rate(limited(LINUX_26, direction, array, "speed_min", kib_s), LONG) for kib_s in (1000, 5000, 20000)]
    assert rates[0] > 1.05 * rates[1]
    assert rates[1] > 1.2 * rates[2]


def test_a_rebuild_keeps_to_its_minimum_under_load() -> None:
    """Protects the back-off: with a program running the rebuild gets its minimum and not much more."""
    for kib_s in (1000, 5000, 20000):
        speed = rebuilt_kib_s(limited(LINUX_26, "read", RAID5_26, "speed_min", kib_s))
        assert kib_s * 0.8 < speed < kib_s * 1.35


def test_without_a_minimum_a_rebuild_is_hardly_noticed() -> None:
    """Counter-test: with a minimum of next to nothing the rebuild sleeps, and reads are those of a degraded array."""
    idle = rate(limited(LINUX_26, "read", RAID5_26, "speed_min", 1), LONG)
    assert idle > 0.93 * rate(Case(LINUX_26, "read", array="raid5-failed"), LONG)


def test_without_a_minimum_writers_pay_for_the_new_drive() -> None:
    """The same of writes: more than beside a rebuild that does not sleep, and less than on a degraded array. dd reads
    as on that one, but what it writes goes to one drive more.
    """
    idle, busy = (rate(limited(LINUX_26, "write", RAID5_26, "speed_min", kib_s), LONG) for kib_s in (1, 5000))
    degraded = rate(Case(LINUX_26, "write", array="raid5-failed"), LONG)
    assert 1.1 * busy < idle < 0.95 * degraded
    assert idle > 0.7 * degraded


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_on_24_only_the_maximum_holds_an_unseen_rebuild_back(direction: str) -> None:
    """Protects md's blind spot: I/O of drives with major 33 and up is not seen, so only speed_limit_max helps."""
    slow, medium, fast = (
        rate(limited(LINUX_24, direction, RAID5_24, "speed_max", kib_s), LONG) for kib_s in (1000, 5000, 20000)
    )
    assert slow > 1.03 * medium
    assert medium > 1.2 * fast


def test_on_24_the_minimum_does_not_matter_to_an_unseen_rebuild() -> None:
    """Protects the same from the other side: lowering speed_limit_min makes nothing better."""
    assert rate(limited(LINUX_24, "read", RAID5_24, "speed_min", 1), LONG) == rate(
        Case(LINUX_24, "read", array=RAID5_24), LONG
    )


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_on_24_a_rebuild_of_seen_drives_is_polite(direction: str) -> None:
    """Counter-test: the same rebuild on drives of major 3 sees the programs and leaves them their disks."""
    seen, unseen = (Case(LINUX_24, direction, array=RAID5_24, major=major) for major in (SEEN_MAJOR, UNSEEN_MAJOR))
    assert rate(unseen, LONG) < 0.75 * rate(seen, LONG)
    # What dd writes goes to one drive more than on the degraded array.
    least = 0.88 if direction == "read" else 0.83
    assert rate(seen, LONG) > least * rate(Case(LINUX_24, direction, array="raid5-failed"), LONG)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_26_sees_drives_of_any_major(direction: str) -> None:
    """Counter-test: 2.6 counts the I/O of every disk, so majors change nothing."""
    seen, unseen = (Case(LINUX_26, direction, array=RAID5_26, major=major) for major in (SEEN_MAJOR, UNSEEN_MAJOR))
    assert rate(seen, LONG) == rate(unseen, LONG)
