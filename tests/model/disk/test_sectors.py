"""Logical and physical sectors of hard disks: 512n, 512e and 4Kn."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.spec import DriveSpec
from raidsim.model.drives.catalogue import hard_disk, hard_disk_names

KIB = 1024
GB = 10**9


def disk(**changes: object) -> tuple[Engine, HardDisk]:
    """A disk of 7,200 rpm."""
    engine = Engine(1)
    return engine, HardDisk(engine, hard_disk("WD-Gold-12TB").with_values(**changes), "sda")


def written(offset: int, size: int, cached: bool, physical: int) -> float:
    """Turns until a write to an idle disk is on the platters."""
    engine, sda = disk(physical_sector=physical, write_cache=cached)
    sda.submit(Request(WRITE, offset, size, lambda _: sda.flush(lambda: None)))
    engine.run()
    return engine.now * sda.spec.rotation / 60


@pytest.mark.parametrize("cached", [False, True])
@pytest.mark.parametrize(
    ("offset", "size", "more"),
    [(GB * 4096, 512, 1), (GB * 4096 + 512, 512, 1), (GB * 4096 + 512, 4 * KIB, 2), (GB * 4096 + 512, 7 * 512, 1)],
)
def test_a_sector_written_in_part_takes_a_turn_more(offset: int, size: int, more: int, cached: bool) -> None:
    """The head reads each sector that is written in part, and writes it when it comes round again; 512n does not."""
    turns = [written(offset, size, cached, physical) for physical in (4 * KIB, 512)]
    assert turns[0] - turns[1] == pytest.approx(more, abs=1e-3)


@pytest.mark.parametrize("cached", [False, True])
def test_whole_sectors_are_written_as_fast(cached: bool) -> None:
    """4 KiB at a multiple of 4 KiB are the same on both."""
    turns = [written(GB * 4096, 4 * KIB, cached, physical) for physical in (4 * KIB, 512)]
    assert turns[0] == turns[1]


def test_neighbours_in_the_cache_make_whole_sectors() -> None:
    """Eight writes of 512 bytes in order merge in the write cache, and none of them is read first."""
    engine, sda = disk(physical_sector=4 * KIB, write_cache=True)
    for number in range(8):
        sda.submit(Request(WRITE, number * 512, 512, lambda _: None))
    sda.flush(lambda: None)
    engine.run()
    assert engine.now * sda.spec.rotation / 60 < 1.5 + written(0, 4 * KIB, True, 512)
    assert sda.media.destaged_bytes == 4 * KIB


def test_a_disk_of_4_kib_sectors_takes_no_smaller_commands() -> None:
    """4Kn: 512 bytes are an error, and so is an offset of 512."""
    _, sda = disk(logical_sector=4 * KIB, physical_sector=4 * KIB)
    for offset, size in ((0, 512), (512, 4 * KIB)):
        with pytest.raises(ModelError, match="multiples of 4096 bytes"):
            sda.submit(Request(WRITE, offset, size, lambda _: None))


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"logical_sector": 4096, "physical_sector": 512}, "physical_sector is 512 bytes; at least logical_sector"),
        ({"logical_sector": 520}, "logical_sector is 520 bytes; a power of two"),
        ({"physical_sector": 8192}, "physical_sector is 8192 bytes; a power of two from 512 to 4096"),
    ],
)
def test_sectors_that_no_drive_has_are_refused(changes: dict[str, object], problem: str) -> None:
    """Protects the description of a drive."""
    with pytest.raises(ValueError, match=problem):
        hard_disk("WD-Gold-12TB").with_values(**changes)


def test_large_disks_of_the_catalogue_emulate_512_bytes() -> None:
    """Disks of 5 TB and more are 512e, those of before 2009 are 512n."""
    for name in hard_disk_names():
        spec = hard_disk(name)
        assert isinstance(spec, DriveSpec)
        assert spec.logical_sector == 512
        if spec.capacity >= 5e12:
            assert spec.physical_sector == 4096, name
        if spec.capacity < 0.4e12:
            assert spec.physical_sector == 512, name
