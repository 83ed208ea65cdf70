"""I/Os larger than the queue's limit, and the limits md sets."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.layouts import layout_for
from raidsim.model.raid.base.io_limit import BioSplit, behind_limit, largest_request_bytes, optimal_request_bytes
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder


class Queue(Recorder):
    """A device with room that notes plugs."""

    has_room = True
    foreground_bytes = 7

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.calls: list[str] = []

    def plug(self) -> None:
        """Note it."""
        self.calls.append("plug")

    def unplug(self) -> None:
        """Note it."""
        self.calls.append("unplug")

    def when_room(self, callback: Any) -> None:
        """Note it."""
        self.calls.append("when_room")


def pieces(op: int, offset: int, size: int, **limits: Any) -> list[tuple[int, int]]:
    """(offset, size) in KiB of what the device is sent for one I/O; it is complete once, after all of them."""
    engine = Engine()
    device = Queue(engine)
    issuer = Issuer(engine, BioSplit(device, 512 * KIB, **limits))
    issuer.send(op, offset * KIB, size * KIB)
    engine.run()
    assert len(issuer.done) == 1
    assert engine.now == pytest.approx(0.001 * len(device.log))
    return [(at // KIB, length // KIB) for at, length in device.sent(op)]


def test_an_io_is_cut_from_its_own_start() -> None:
    """Protects what RAID 1 members get: 1,100 KiB from 848 are 512 + 512 + 76, not cut at multiples of 512."""
    assert pieces(READ, 848, 1100) == [(848, 512), (1360, 512), (1872, 76)]


def test_the_rest_of_a_chunk_comes_after_the_pieces_behind_it() -> None:
    """Protects the order on a striped array: first chunks in order, then what is left, the last first."""
    assert pieces(READ, 848, 1024, chunk_bytes=512 * KIB) == [(848, 176), (1360, 176), (1536, 336), (1024, 336)]


def test_raid0_sends_what_is_behind_the_boundary_first() -> None:
    """Protects the order on RAID 0, also of an I/O within the limit: of each piece the later chunk comes first."""
    order = {"chunk_bytes": 512 * KIB, "tail_first": True}
    assert pieces(READ, 848, 1024, **order) == [(1024, 336), (848, 176), (1536, 336), (1360, 176)]
    assert pieces(READ, 848, 512, **order) == [(1024, 336), (848, 176)]
    assert pieces(READ, 848, 176, **order) == [(848, 176)]


def test_aligned_pieces_stay_in_order() -> None:
    """The counter-test: where no piece crosses a chunk there is nothing left over."""
    assert pieces(READ, 1024, 1536, chunk_bytes=512 * KIB) == [(1024, 512), (1536, 512), (2048, 512)]


def test_small_ios_pass_as_they_are() -> None:
    """Protects the device's own cutting: an I/O within the limit is handed on whole, across chunks too."""
    assert pieces(READ, 848, 512, chunk_bytes=512 * KIB) == [(848, 512)]


def test_a_parity_array_takes_writes_whole() -> None:
    """Protects full-stripe writes: only reads of RAID 5 are cut at chunks, so its writes keep their order."""
    assert pieces(WRITE, 848, 1024, chunk_bytes=512 * KIB, cuts_writes=False) == [(848, 512), (1360, 512)]
    assert len(pieces(WRITE, 848, 1024, chunk_bytes=512 * KIB)) == 4


def test_everything_else_is_the_device_s() -> None:
    """Protects a queue behind the limit: plugs, room and counters are those of the device."""
    device = Queue(Engine())
    split = BioSplit(device, MIB)
    split.plug()
    split.unplug()
    split.when_room(lambda: None)
    assert device.calls == ["plug", "unplug", "when_room"]
    assert (split.capacity, split.has_room, split.foreground_bytes, split.name) == (device.capacity, True, 7, "d")


@pytest.mark.parametrize(
    ("level", "members", "chunk", "options", "largest", "optimal"),
    [
        ("raid0", 4, 512, {}, 512, 2048),
        ("raid5", 4, 64, {}, 1024, 192),
        ("raid6", 6, 64, {}, 1024, 256),
        ("raid10", 4, 64, {"algorithm": "far"}, 1280, 256),
        ("raid10", 4, 64, {"algorithm": "near"}, 1280, 128),
        ("raid10", 5, 64, {"algorithm": "near"}, 1280, 320),
        ("raid1", 2, None, {}, 1280, 0),
    ],
)
def test_md_s_limits(level: str, members: int, chunk: int | None, options: Any, largest: int, optimal: int) -> None:
    """Protects max_sectors_kb and optimal_io_size of arrays over members that take 1,280 KiB."""
    layout = layout_for(level, members, chunk * KIB if chunk else None, 64 * MIB, **options)
    assert largest_request_bytes(layout, 1280 * KIB) == largest * KIB
    assert optimal_request_bytes(layout) == optimal * KIB


def test_a_chunk_that_limits_the_queue_is_cut_in_order() -> None:
    """Protects RAID 10 of 6.12 (chunk_sectors): chunks follow each other; a larger chunk is cut at the limit, too."""
    assert pieces(READ, 848, 700, chunk_bytes=256 * KIB, at_chunks=True) == [
        (848, 176),
        (1024, 256),
        (1280, 256),
        (1536, 12),
    ]
    assert pieces(WRITE, 0, 1100, chunk_bytes=MIB, at_chunks=True) == [(0, 512), (512, 512), (1024, 76)]


@pytest.mark.parametrize(("chunks", "expected"), [(False, [256]), (True, [64] * 4)])
def test_an_array_of_copies_on_all_members_is_cut_by_its_queue_only(chunks: bool, expected: list[int]) -> None:
    """RAID 10 of three copies on three members: md sees no chunks, so up to 6.1 such a read is one request."""
    layout = layout_for("raid10", 3, 64 * KIB, 16 * MIB, "n3")
    engine = Engine()
    device = Queue(engine)
    Issuer(engine, behind_limit(device, layout, 1280 * KIB, chunks)).read(0, 256 * KIB)
    assert [size // KIB for _, size in device.sent(READ)] == expected


def test_a_task_that_blocks_submits_the_next_piece_when_it_is_awake() -> None:
    """Protects the choice of mirrors: what comes after a piece without a tag is not submitted before that has one."""
    engine = Engine()
    host = Host(Cpu(engine))
    disk = Recorder(engine)
    seen: list[float] = []

    class Watched(BlkMqQueue):
        """A queue that notes when it is given something."""

        def submit(self, request: Request) -> None:
            seen.append(engine.now)
            super().submit(request)

    split = BioSplit(Watched(engine, host, disk, depth=1), 64 * KIB)
    Issuer(engine, split).write(0, 256 * KIB, sync=True)
    engine.run()
    assert seen == pytest.approx([0.0, 0.0, 0.001, 0.002], abs=1e-6)
