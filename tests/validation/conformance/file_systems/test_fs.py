"""Recordings of ext4 and XFS over md beside the model: totals, what is counted, and what made the difference."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, WRITE_THROUGH, Request
from raidsim.model.kernels import kernel
from raidsim.scenarios.description.tuning import VirtualMemorySpec
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.file_systems import fsb
from raidsim.validation.conformance.file_systems.fs import check
from raidsim.validation.conformance.file_systems.machine import (
    FLUSH_S,
    NEW_PAGE_S,
    CountedMember,
    FileMachine,
    file_machine,
)
from raidsim.validation.conformance.file_systems.traffic import Counted, Traffic, differences, recorded_traffic
from raidsim.validation.conformance.known_misses import stale
from raidsim.validation.conformance.md.vm_member import MEMORY_BYTE_S, MIB, Member, RecordedArray
from raidsim.validation.conformance.run import check_all

TRUTH = Path(raidsim.__file__).parent / "validation" / "truth" / "fs"
MEMBER = Member(1e-3, 1, 64 * 1024, True, 64, 0.075, 1536 * MIB, volatile_cache=True)
DIRTY = VirtualMemorySpec.model_validate({"dirty_background_bytes": 64 * MIB, "dirty_bytes": 128 * MIB})


def content(name: str) -> dict[str, Any]:
    """What a recording holds."""
    found: dict[str, Any] = json.loads((TRUTH / name).read_text(encoding="utf-8"))
    return found


def checked(name: str, array: str) -> KindResult:
    """The check of one array of a recording."""
    recorded = content(name)
    recorded["arrays"] = {array: recorded["arrays"][array]}
    return check([TruthFile(TRUTH / name, recorded)], lambda _: None)


def machine(kind: str, level: str = "raid5", members: int = 4) -> FileMachine:
    """A machine as it was recorded."""
    return file_machine(kernel("linux-6.1"), kind, MEMBER, RecordedArray(level, members), DIRTY, 4 << 30)


def ran(on: FileMachine, command: str) -> Traffic:
    """The traffic of a phase."""
    traffic = on.counts()
    on.engine.run(on.engine.spawn(fsb.phase(on, command)))
    return traffic


@pytest.mark.slow
def test_the_model_holds_what_it_has_reached() -> None:
    """Protects files from a change of md, of the block layer or of the page cache: nine of ten cases match, times of
    what the devices set are within 2 % in the median, and every reason for a miss is still needed.
    """
    (result,) = check_all(["fs"])
    assert result.cases > 450
    assert result.matched >= 0.91 * result.cases
    assert any("median error 1" in note for note in result.notes), result.notes
    assert stale([result]) == []
    assert all(miss.why for miss in result.misses), [miss.case for miss in result.misses if not miss.why]


@pytest.mark.parametrize(("name", "array"), [("ext4_hdd.json", "single"), ("xfs_hdd.json", "raid5_n4")])
def test_small_synchronous_writes_are_those_recorded(name: str, array: str) -> None:
    """Protects the cost of fsync: each of its writes, flushes and FUA writes, on a disk and on a parity array."""
    misses = {miss.case for miss in checked(name, array).misses}
    for phase in ("dsync_64k_new", "append_4k_fsync", "randwrite_buf_4k_fdatasync"):
        assert f"{array} {phase} time" not in misses
    assert f"{array} randwrite_buf_4k_fdatasync traffic" not in misses


def test_the_log_of_xfs_is_written_by_the_chunk() -> None:
    """Protects what fsync costs XFS on an array: mkfs makes the log's stripe unit the chunk, and each record is filled
    up to it. Counter-test: on one disk a record is a kilobyte.
    """
    striped = ran(machine("xfs", "raid0"), "fsb append /mnt/f 4096 20 fsync").by_class["journal_write"]
    assert (striped.requests, striped.kib) == (20, 20 * 64)
    alone = ran(machine("xfs", "single", 1), "fsb append /mnt/f 4096 20 fsync").by_class["journal_write"]
    assert alone.requests == 20
    assert alone.kib < 20 * 2


def test_records_past_the_cache_reach_a_parity_array_page_by_page() -> None:
    """Protects 32 writes for one record of 64 KiB: FUA requests do not merge. Counter-test: an ordinary write of the
    same bytes is two requests.
    """

    def writes(sync: int) -> int:
        engine_machine = machine("xfs")
        traffic = engine_machine.counts()
        done: list[Request] = []
        array = engine_machine.array
        array.submit(Request(WRITE, 0, 64 * 1024, done.append, 1, sync))
        array.unplug()
        engine_machine.engine.run(until=0.2)
        assert len(done) == 1
        return traffic.member_writes.requests

    assert writes(WRITE_THROUGH) == 32
    assert writes(1) == 2


def test_xfs_leaves_its_metadata_to_the_log() -> None:
    """Protects syncfs: what the log has of XFS is not written to its place. Counter-test: ext4 writes it there."""

    def metadata(kind: str) -> int:
        on = machine(kind, "single", 1)
        ran(on, "fsb append /mnt/f 4096 10 fsync")
        traffic = on.counts()
        on.engine.run(on.engine.spawn(fsb.sync(on)))
        return traffic.by_class.get("metadata_write", Counted()).requests

    assert metadata("xfs") == 0
    assert metadata("ext4") > 0


def test_small_files_of_ext4_lie_one_behind_the_other() -> None:
    """Protects small files, which are written in a few large requests. Counter-test: without the regions for small
    files, each begins at a multiple of its size.
    """
    on = machine("ext4", "single", 1)
    on.engine.run(on.engine.spawn(fsb.make_folders(on, ["fsb create /mnt/s 40 4 64 21 fsync"])))
    ran(on, "fsb create /mnt/s 40 4 64 21 fsync")
    sizes = {file.extents.pieces(0, 1)[0][1]: file.extents.size for file in on.mount.file_system.files}
    apart = [after - before - sizes[before] for before, after in pairwise(sorted(sizes))]
    assert apart.count(0) > 35


def test_dropping_caches_keeps_what_the_journal_holds() -> None:
    """Protects reads after drop_caches: ext4's journal keeps the buffers that it has yet to forget, so that stat of
    what was just made reads next to nothing.
    """
    on = machine("ext4", "single", 1)
    on.engine.run(on.engine.spawn(fsb.make_folders(on, ["fsb create /mnt/s 100 4 4 21 none"])))
    ran(on, "fsb create /mnt/s 100 4 4 21 none")
    on.engine.run(on.engine.spawn(fsb.sync(on)))
    on.engine.run(on.engine.spawn(fsb.drop_caches(on)))
    assert ran(on, "fsb stat /mnt/s 100").member_reads.requests <= 2
    assert ran(on, "fsb read /mnt/s 100").member_reads.requests >= 100


def test_random_numbers_are_fsbs() -> None:
    """Protects the offsets of random I/O: fsb.c's generator, from its own first values."""
    found = fsb.numbers(11)
    state, expected = 11, []
    for _ in range(3):
        state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
        expected.append(state >> 33)
    assert [next(found) for _ in range(3)] == expected


def test_a_flush_takes_a_turn_of_the_member() -> None:
    """Protects what a flush costs on the recorded members: as much as any request."""
    engine = Engine(1)
    member = CountedMember(engine, "m", MIB, lambda size, op: 1e-3)
    ended: list[float] = []
    member.submit(Request(READ, 0, 4096, lambda _: None))
    member.flush(lambda: ended.append(engine.now))
    engine.run(until=1.0)
    assert ended == [pytest.approx(2e-3)]
    assert member.traffic.flushes == 1


def test_new_pages_are_paid_by_the_write() -> None:
    """Protects the price of a member's flush, which is the same after a write that stores pages for the first time."""
    engine = Engine(1)
    member = CountedMember(engine, "m", MIB, lambda size, op: size * MEMORY_BYTE_S)
    ended: list[float] = []
    member.submit(Request(WRITE, 0, 8192, lambda _: ended.append(engine.now)))
    member.flush(lambda: ended.append(engine.now))
    engine.run(until=1.0)
    assert ended == pytest.approx([8192 * MEMORY_BYTE_S + 2 * NEW_PAGE_S, ended[0] + FLUSH_S], rel=1e-3)


def test_traffic_within_the_tolerance_is_the_same() -> None:
    """Protects the verdict: 3 % of the bytes and 10 % of the requests are the same, and a flush more is not."""
    phase = {
        "device_classes_n_KiB": {"data_write": [100, 400.0]},
        "member_requests": {"write": {"n": 100, "KiB": 400.0, "fua": 1}, "flush": 1},
    }

    def model(requests: int, kib: float, flushes: int = 1) -> list[str]:
        found = Traffic(member_writes=Counted(requests, kib), flushes=flushes, fua=1)
        found.by_class["data_write"] = Counted(requests, kib)
        return list(differences(recorded_traffic(phase), found))

    assert model(108, 408.0) == []
    assert len(model(115, 400.0)) == 2
    assert len(model(100, 430.0)) == 2
    assert model(100, 400.0, flushes=2) == ["to members, flushes: recorded 1, model 2"]
