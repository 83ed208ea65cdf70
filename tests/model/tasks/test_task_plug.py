"""A task's plug by hand: one for all its devices, so a large request of one of them sends those of the others."""

from __future__ import annotations

import pytest

from raidsim.model.block.multi_queue import BlkMqQueue
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import PARITY_THREADS, READ, WRITE, Request
from raidsim.model.kernels import kernel, kernel_names
from raidsim.model.schedulers import QueuedRequest
from raidsim.model.schedulers.mq_deadline import MqDeadline
from raidsim.model.tasks.cpu import Cpu
from raidsim.model.tasks.host import Host
from raidsim.model.tasks.task_plug import PLUG_REQUESTS, PlugLimits, TaskPlug
from raidsim.tests.model.recording import KIB, recorders


class Rig:
    """Two queues of one host, or of two."""

    def __init__(self, hosts: int = 1, limits: PlugLimits | None = None) -> None:
        self.engine = Engine()
        self.disks = recorders(self.engine, 2, servers=256)
        self.hosts = [Host(Cpu(self.engine), plug_limits=limits) for _ in range(hosts)]
        self.queues = [
            BlkMqQueue(self.engine, self.hosts[slot % hosts], disk, depth=256) for slot, disk in enumerate(self.disks)
        ]

    def plug(self) -> None:
        """The task plugs both."""
        for queue in self.queues:
            queue.plug()

    def read(self, slot: int, kib: int, size_kib: int = 4, issuer: int = 0) -> None:
        """The task sends a read."""
        self.queues[slot].submit(Request(READ, kib * KIB, size_kib * KIB, lambda _: None, issuer))

    def sent(self) -> list[int]:
        """Requests that each device has."""
        return [len(disk.log) for disk in self.disks]


def test_a_large_request_of_one_device_sends_those_of_the_other() -> None:
    """Protects BLK_PLUG_FLUSH_SIZE: the newest request is looked at, whichever device it is for."""
    rig = Rig()
    rig.plug()
    rig.read(0, 0)
    rig.read(1, 0, 128)
    rig.read(0, 1000)
    assert rig.sent() == [1, 1]
    rig.read(0, 4)
    rig.queues[0].unplug()
    assert rig.disks[0].sent(READ) == [(0, 4 * KIB), (1000 * KIB, 4 * KIB), (4 * KIB, 4 * KIB)]


def test_plugs_of_two_tasks_do_not_matter_to_each_other() -> None:
    """The counter-test: the other device is another host's, so nothing is sent."""
    rig = Rig(hosts=2)
    rig.plug()
    rig.read(0, 0)
    rig.read(1, 0, 128)
    rig.read(0, 1000)
    assert rig.sent() == [0, 0]


def test_a_plug_of_several_devices_holds_twice_as_many() -> None:
    """Protects md's merging: 32 requests of one device, 64 of two."""
    for slots, held in ((1, PLUG_REQUESTS), (2, 2 * PLUG_REQUESTS)):
        rig = Rig()
        rig.plug()
        for number in range(held):
            rig.read(number % slots, 100 * number)
        assert sum(rig.sent()) == 0
        rig.read(0, 100 * held)
        assert sum(rig.sent()) == held


@pytest.mark.parametrize(
    ("limits", "held"),
    [(PlugLimits(16, 16), 16), (PlugLimits(16, 64), 64), (PlugLimits(16, 16, per_device=True), 32)],
    ids=["5.0", "5.15", "4.18"],
)
def test_a_kernel_says_how_much_a_plug_holds(limits: PlugLimits, held: int) -> None:
    """Protects the limits by kernel: 16 of all devices, 64 of several, or 16 of each device."""
    rig = Rig(limits=limits)
    rig.plug()
    for number in range(held):
        rig.read(number % 2, 100 * number)
    assert sum(rig.sent()) == 0
    rig.read(0, 100 * held)
    assert sum(rig.sent()) == held


def test_a_plug_without_a_size_is_not_flushed_by_a_large_request() -> None:
    """Protects kernels before 4.10: however large the newest request is, the next one stays."""
    rig = Rig(limits=PlugLimits(flush_bytes=0))
    rig.plug()
    rig.read(1, 0, 1024)
    rig.read(0, 1000)
    assert rig.sent() == [0, 0]


def test_a_row_of_more_members_than_the_plug_holds_overflows() -> None:
    """Protects the step at 17 members, and that there is none where only the same device's requests count."""
    assert [PlugLimits(16, 16).overflows(members) for members in (16, 17)] == [False, True]
    assert [PlugLimits().overflows(members) for members in (64, 65)] == [False, True]
    assert not PlugLimits(16, 16, per_device=True).overflows(100)


def test_neighbours_merge_across_requests_of_the_other_device() -> None:
    """Protects striped reads: the newest request of the same device is tried, not only the newest of all."""
    rig = Rig()
    rig.plug()
    for kib in (0, 4, 8):
        rig.read(0, kib)
        rig.read(1, kib)
    rig.queues[0].unplug()
    assert [disk.sent(READ) for disk in rig.disks] == [[(0, 12 * KIB)]] * 2


def test_a_thread_with_a_plug_of_its_own_holds_only_its_own_requests() -> None:
    """Protects programs from md's thread: it computes while it is plugged; what they send meanwhile goes at once."""
    rig = Rig()
    rig.hosts[0].thread_plugs[-7] = plug = TaskPlug()
    rig.read(0, 0, issuer=-7)
    rig.read(0, 1000)
    assert rig.disks[0].sent(READ) == [(1000 * KIB, 4 * KIB)]
    plug.flush()
    assert rig.sent() == [2, 0]


def test_blocks_side_by_side_make_their_requests_before_they_grow() -> None:
    """Protects full rows: device 0 is in three rows, device 1 only in the last two. Its first request comes with the
    first blocks of its row, before device 0's request has grown to 128 KiB; counted chunk by chunk, after.
    """
    for in_rows, requests in ((True, 1), (False, 2)):
        rig = Rig()
        rig.hosts[0].thread_plugs[-7] = plug = TaskPlug()
        for kib, slots in ((0, (0,)), (64, (0, 1)), (128, (0, 1))):
            if in_rows:
                plug.start_row()
            for slot in slots:
                rig.read(slot, kib, 64, -7)
        plug.flush()
        assert rig.sent() == [requests, 1]


@pytest.mark.parametrize(("block_kib", "requests"), [(0, 1), (4, 2), (8, 1)])
def test_what_comes_in_blocks_does_not_go_before_a_request(block_kib: int, requests: int) -> None:
    """md's thread submits 4 KiB at a time in ascending order: the first of two blocks has no neighbor."""
    rig = Rig()
    plug = TaskPlug(block_kib * KIB)
    rig.hosts[0].thread_plugs[7] = plug
    rig.read(0, 8, 8, issuer=7)
    rig.read(0, 0, 8, issuer=7)
    plug.flush()
    assert rig.sent() == [requests, 0]


@pytest.mark.parametrize(("issuer", "sizes_kib"), [(PARITY_THREADS, [508, 508, 8]), (7, [1024])])
def test_a_page_of_mds_thread_is_a_segment(issuer: int, sizes_kib: list[int]) -> None:
    """Protects the requests of RAID 5 to a drive that takes 127 pieces of memory: 508 KiB, whether they merge in the
    plug or come as one piece. Counter-test: the memory of other I/O is in fewer pieces, and max_sectors_kb limits it.
    """
    limits = PlugLimits(flush_bytes=0)
    for pieces in (256, 1):
        engine = Engine()
        (disk,) = recorders(engine, 1, servers=256)
        host = Host(Cpu(engine), plug_limits=limits)
        queue = BlkMqQueue(engine, host, disk, depth=64, max_segments=127)
        plug = host.thread_plugs[issuer] = TaskPlug(4 * KIB if issuer < 0 else 0, limits)
        size = 1024 * KIB // pieces
        for i in range(pieces):
            queue.submit(Request(READ, i * size, size, lambda _: None, issuer))
        plug.flush()
        assert [size // KIB for _, size in disk.sent(READ)] == sizes_kib


@pytest.mark.parametrize(("issuer", "requests"), [(PARITY_THREADS, 3), (7, 1)])
def test_a_page_of_mds_thread_is_a_segment_to_the_scheduler(issuer: int, requests: int) -> None:
    """Protects the same where the I/O scheduler merges."""
    scheduler = MqDeadline(1280 * KIB)
    scheduler.most_of_pages = 508 * KIB
    for i in range(256):
        scheduler.add(Request(READ, i * 4 * KIB, 4 * KIB, lambda _: None, issuer), 0.0)
    assert scheduler.queued == [requests, 0]


class Taker:
    """A queue that notes when it is given what a plug held."""

    max_request_bytes = most_of_pages = 64 * KIB
    discard_bytes = 0

    def __init__(self, name: str, taken: list[str]) -> None:
        self.name = name
        self._taken = taken

    def take_plugged(self, held: list[QueuedRequest]) -> None:
        """Note it, and where its requests begin."""
        self._taken += [f"{self.name} {each.offset}" for each in held]


@pytest.mark.parametrize("newest_first", [True, False])
def test_the_device_of_the_newest_request_is_first(newest_first: bool) -> None:
    """Protects the order of devices: a task that waits for its oldest request finds the others complete. Requests of
    one device keep their order. Counter-test: with other kernels the device of the oldest request is first.
    """
    taken: list[str] = []
    plug = TaskPlug(limits=PlugLimits(newest_first=newest_first))
    first, second, third = (Taker(name, taken) for name in "abc")
    for _ in range(2):
        plug.start()
        for queue, offset in ((first, 0), (second, 0), (third, 0), (second, 100_000)):
            request = Request(WRITE, offset, 4 * KIB, lambda _: None)
            plug.add(queue, QueuedRequest(request, 0.0, lambda _: None))
        plug.flush()
        of_b = ["b 0", "b 100000"]
        assert taken == ([*of_b, "c 0", "a 0"] if newest_first else ["a 0", *of_b, "c 0"])
        taken.clear()


def test_the_catalogue_says_which_device_is_first() -> None:
    """Protects the order of each kernel: newest first from 5.16 to 6.12."""
    newest = [name for name in kernel_names() if (found := kernel(name).queue.plug_limits) and found.newest_first]
    assert newest == ["linux-6.1", "linux-6.12", "linux-6.6", "linux-6.8"]
