"""Calls of a program on a raw device: a plugged call merges the pieces into which RAID 0 cuts it."""

from __future__ import annotations

import pytest

from raidsim.model.block.block_file import BlockFile
from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import DIRECT, READ, WRITE, Request
from raidsim.model.kernels import kernel
from raidsim.model.layouts import layout_for
from raidsim.model.raid.base.io_limit import behind_limit
from raidsim.model.raid.striped.stripe import StripeArray
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, recorders

CHUNK = 64 * KIB


class Rig:
    """RAID 0 of four with chunks of 64 KiB, as a program of a kernel opens it."""

    def __init__(self, name: str, depth: int = 64, piece_bytes: int = 0) -> None:
        self.engine = Engine()
        self.host = Host(Cpu(self.engine))
        self.disks = recorders(self.engine, 4, 16 * MIB, servers=depth)
        queues = [BlkMqQueue(self.engine, self.host, disk, depth=depth) for disk in self.disks]
        layout = layout_for("raid0", 4, CHUNK, 16 * MIB)
        array = behind_limit(StripeArray(self.engine, "md0", queues, layout, self.host), layout, 1280 * KIB)
        rules = kernel(name).queue
        assert rules.plugs_reads_above is not None
        assert rules.plugs_writes_above is not None
        self.file = BlockFile(array, self.host, rules.plugs_reads_above, rules.plugs_writes_above, piece_bytes)
        self.done = 0

    def call(self, op: int, size: int, offset: int = 0) -> None:
        """One read or write of the program."""
        self.file.submit(Request(op, offset, size, self._done, 1, DIRECT))

    def _done(self, _: Request) -> None:
        self.done += 1

    def requests(self, op: int, size: int, offset: int = 0) -> list[int]:
        """How many requests each member gets for a call."""
        self.call(op, size, offset)
        assert not self.host.thread_plugs
        self.engine.run()
        assert self.done == 1
        return [len(disk.log) for disk in self.disks]


@pytest.mark.parametrize(("name", "each"), [("linux-6.1", 1), ("linux-6.12", 4)])
def test_a_write_of_one_mib_is_plugged_until_6_4(name: str, each: int) -> None:
    """Protects the requests of an I/O: 4 as recorded from 6.1, 16 as from 6.12, where writes are not plugged."""
    assert Rig(name).requests(WRITE, MIB) == [each] * 4


@pytest.mark.parametrize("name", ["linux-6.1", "linux-6.12"])
def test_reads_are_plugged_above_the_pages_of_a_bio(name: str) -> None:
    """A read of 256 pages is 16 requests on every kernel, one of 512 pages is plugged and is 4."""
    assert Rig(name).requests(READ, MIB) == [4] * 4
    assert Rig(name).requests(READ, 2 * MIB) == [1] * 4
    assert Rig(name).requests(WRITE, 2 * MIB) == [1] * 4


def test_a_call_that_blocks_is_plugged_to_its_end() -> None:
    """With one tag a member the program blocks in the call; what it submits afterwards still merges."""
    rig = Rig("linux-6.1", depth=1)
    other = Request(WRITE, 8 * MIB, CHUNK, lambda _: None, 2, DIRECT)
    for disk in rig.disks:
        disk.capacity = 16 * MIB
    rig.call(WRITE, MIB)
    rig.call(WRITE, CHUNK, 4 * MIB)
    rig.file.submit(other)
    rig.engine.run()
    assert rig.done == 2
    assert not rig.host.thread_plugs
    assert [disk.sent(WRITE)[0] for disk in rig.disks] == [(0, 4 * CHUNK)] * 4


def test_calls_that_are_submitted_together_share_a_plug() -> None:
    """io_submit of several calls plugs once: two neighbors of half a chunk are one request."""
    rig = Rig("linux-6.1")
    rig.file.plug()
    rig.call(WRITE, CHUNK // 2)
    rig.call(WRITE, CHUNK // 2, CHUNK // 2)
    assert [disk.log for disk in rig.disks] == [[], [], [], []]
    rig.file.unplug()
    assert [disk.sent(WRITE) for disk in rig.disks] == [[(0, CHUNK)], [], [], []]


@pytest.mark.parametrize("offset", [0, CHUNK // 2])
def test_leaving_out_plugs_of_single_pieces_changes_nothing(offset: int) -> None:
    """Protects the short way: with and without it, members get the same for I/Os inside and across chunks."""
    for size in (4 * KIB, CHUNK // 2, CHUNK, 8 * CHUNK):
        assert Rig("linux-6.1", piece_bytes=CHUNK).requests(WRITE, size, offset) == Rig("linux-6.1").requests(
            WRITE, size, offset
        )
