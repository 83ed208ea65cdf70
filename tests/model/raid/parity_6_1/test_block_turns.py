"""Rows that go to the members block by block because a member lacks tags for writes."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import WRITE, Request
from raidsim.model.layouts import ParityLayout
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.parity_6_1.block_turns import BlockTurns
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.model.schedulers import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.tests.model.recording import KIB, MIB, Issuer, recorders


class Sent:
    """What members are sent; the thread blocks over those whose numbers are given."""

    def __init__(self, blocks: set[int]) -> None:
        self.log: list[tuple[int, int, int]] = []
        self.blocks = blocks
        self.done: list[Request] = []
        self.whole: list[int] = []

    def submit(self, slot: int, request: Request) -> bool:
        """Note it; whether the thread blocks."""
        self.log.append((slot, request.offset // KIB, request.size // KIB))
        self.done.append(request)
        return len(self.log) - 1 in self.blocks

    def turns(self) -> BlockTurns:
        """Two members' requests of 16 KiB."""
        requests = [(slot, Request(WRITE, 64 * KIB, 16 * KIB, self._over, parent=slot)) for slot in (0, 2)]
        return BlockTurns(requests, self.submit, 4 * KIB)

    def _over(self, request: Request) -> None:
        self.whole.append(request.parent)


def test_without_blocking_the_rest_is_one_more_turn() -> None:
    """The first block goes to each member, and as both are plugged then, the rest follows as one."""
    sent = Sent(set())
    assert sent.turns().send()
    assert sent.log == [(0, 64, 4), (2, 64, 4), (0, 68, 12), (2, 68, 12)]


def test_a_turn_that_blocks_is_followed_by_another_block() -> None:
    """The thread goes on with the next member when it is awake, and looks again in the next turn."""
    sent = Sent({1})
    turns = sent.turns()
    assert not turns.send()
    assert sent.log == [(0, 64, 4), (2, 64, 4)]
    assert turns.send()
    assert sent.log[2:] == [(0, 68, 4), (2, 68, 4), (0, 72, 8), (2, 72, 8)]


def test_a_request_is_complete_with_its_last_block() -> None:
    """Blocks may complete in any order."""
    sent = Sent(set())
    sent.turns().send()
    for number in (2, 1, 3):
        sent.done[number].complete()
    assert sent.whole == [2]
    sent.done[0].complete()
    assert sent.whole == [2, 0]


@pytest.mark.parametrize(("tags", "split"), [(32, False), (1, True)])
def test_few_tags_for_writes_make_requests_of_parts_of_a_chunk(tags: int, split: bool) -> None:
    """Protects the recorded 5 member writes of a random 64 KiB write on 6.12; with enough tags they are 2."""
    engine = Engine()
    host = Host(Cpu(engine))
    disks = recorders(engine, 4, 16 * MIB)
    queues = [
        BlkMqQueue(engine, host, disk, depth=1, scheduler=MqDeadline(64 * KIB), requests=64, write_requests=tags)
        for disk in disks
    ]
    layout = ParityLayout("raid5", [16 * MIB] * 4, 64 * KIB, "left-symmetric")
    settings = ParitySettings(hold=None, direct_reads=True, most_heads=4096)
    issuer = Issuer(engine, ParityArray(engine, "md0", queues, layout, settings, host))
    for number in range(16):
        issuer.send(WRITE, (7 * number % 40) * 192 * KIB, 64 * KIB, issuer=number)
    engine.run()
    assert len(issuer.done) == 16
    writes = [size for disk in disks for _, size in disk.sent(WRITE)]
    assert sum(writes) == 2 * 16 * 64 * KIB
    assert (len(writes) > 2 * 16) is split
