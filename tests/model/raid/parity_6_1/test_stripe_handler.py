"""Writes as md's thread handles them today: what one pass takes, what is delayed, what merges, and what it costs."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from raidsim.model.core.device import Device, Wrapper
from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE
from raidsim.model.layouts import ParityLayout
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder


def today(members: int = 4, level: str = "raid5", **settings: Any) -> Bench:
    """A parity array of Linux 6.1."""
    return Bench(members, level, hold=None, direct_reads=True, **settings)


def write_later(bench: Bench, at: float, offset: int, size: int, sync: bool = True) -> None:
    """Send a write at a time (s)."""
    send = partial(bench.issuer.write, offset, size, sync=sync)
    bench.engine.call_at(at, lambda _: send())


def test_writes_of_one_moment_make_a_full_stripe() -> None:
    """Protects streaming: three chunks that come before the thread runs are one row, written without reading."""
    bench = today()
    for index in range(3):
        bench.issuer.write(index * CHUNK, CHUNK, sync=True)
    bench.engine.run()
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 0}
    assert bench.reads() == [[]] * 4
    assert bench.times() == pytest.approx([0.001] * 3)


def test_what_comes_while_a_row_is_read_up_goes_along() -> None:
    """Protects late neighbors: the first chunk has the others read; they come meanwhile, and all are one write."""
    bench = today()
    bench.issuer.write(0, CHUNK, sync=True)
    for index in (1, 2):
        write_later(bench, 0.0005, index * CHUNK, CHUNK)
    bench.engine.run()
    assert bench.array.row_writes["full"] == 1
    assert bench.array.parity_reads == 2
    assert bench.times() == pytest.approx([0.002] * 3)


def test_what_comes_while_a_row_is_written_waits() -> None:
    """The counter-test: a chunk that comes after the reads is the next write of its row, and needs no reads itself."""
    bench = today()
    bench.issuer.write(0, CHUNK, sync=True)
    write_later(bench, 0.0015, CHUNK, CHUNK)
    bench.engine.run()
    assert bench.array.row_writes["rcw"] == 2
    assert bench.array.parity_reads == 2
    assert bench.times() == pytest.approx([0.002, 0.003])


def test_a_stream_of_single_chunks_reads_once_per_row() -> None:
    """Protects the stripe cache: one chunk after the other, each waited for; the first of a row has the other two read
    (2 ms), the second and third find them there (1 ms each): 4 chunks' time for 3.
    """
    bench = today()
    for index in range(6):
        bench.issuer.write(index * CHUNK, CHUNK, sync=True)
        bench.engine.run()
    assert bench.engine.now == pytest.approx(2 * 0.004)
    assert bench.array.parity_reads == 4


def test_a_plugged_task_s_writes_are_handled_when_it_unplugs() -> None:
    """Protects release_stripe_plug: nothing is sent while the task is plugged; then its chunks make a full stripe."""
    bench = today()
    bench.array.plug()
    for index in range(3):
        write_later(bench, index * 1e-4, index * CHUNK, CHUNK)
    bench.engine.run()
    assert [len(disk.log) for disk in bench.disks] == [0] * 4
    bench.array.unplug()
    bench.engine.run()
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 0}


def test_write_back_is_read_up_in_turns() -> None:
    """Protects raid5_activate_delayed: of heads nobody waits for, those that come while others are being read up wait
    until these are written, and a row that becomes full meanwhile is never read up.
    """
    bench = today()
    bench.issuer.write(0, PAGE)
    write_later(bench, 0.0002, 3 * CHUNK, 2 * CHUNK, sync=False)
    write_later(bench, 0.0004, 6 * CHUNK, PAGE, sync=False)
    write_later(bench, 0.0006, 5 * CHUNK, CHUNK, sync=False)
    bench.engine.run()
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 2}
    assert bench.array.parity_reads == 4


def test_writes_that_are_waited_for_are_read_up_at_once() -> None:
    """The counter-test: as O_DIRECT writes (REQ_SYNC) the incomplete row is read up when it comes."""
    bench = today()
    bench.issuer.write(0, PAGE, sync=True)
    write_later(bench, 0.0002, 3 * CHUNK, 2 * CHUNK)
    write_later(bench, 0.0006, 5 * CHUNK, CHUNK)
    bench.engine.run()
    assert bench.array.parity_reads == 3


def test_a_lone_write_nobody_waits_for_is_not_held() -> None:
    """Protects from the timer of old kernels: with nothing else under way it is read up and written at once."""
    bench = today()
    bench.issuer.write(0, PAGE)
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002])


def test_full_rows_merge_on_the_members() -> None:
    """Protects streaming requests: five full rows are sent while the members are plugged, so 64 KiB become 128."""
    bench = today(queued=True)
    bench.issuer.write(0, 15 * CHUNK, sync=True)
    bench.engine.run()
    assert bench.reads() == [[]] * 4
    assert all(disk.covered(WRITE) == [(0, 5 * CHUNK)] for disk in bench.disks)
    assert sum(len(disk.log) for disk in bench.disks) == 4 * 3, "128 KiB are the largest request of these queues"


def test_small_writes_of_a_row_are_one_run() -> None:
    """Protects merging inside a row: 16 neighboring blocks of one moment are one request per member."""
    bench = today()
    for at in range(0, CHUNK, PAGE):
        bench.issuer.write(at, PAGE, sync=True)
    bench.engine.run()
    assert [disk.log for disk in bench.disks] == [
        [(WRITE, 0, CHUNK)],
        [(READ, 0, CHUNK)],
        [(READ, 0, CHUNK)],
        [(WRITE, 0, CHUNK)],
    ]


def test_a_block_written_twice_is_written_twice() -> None:
    """Protects order: the second write of a block waits for the first, and then finds all it needs."""
    bench = today()
    bench.issuer.write(0, PAGE, sync=True)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert len(bench.disks[0].sent(WRITE)) == 2
    assert bench.times() == pytest.approx([0.002, 0.003])
    assert bench.array.cache.in_use == 0


def test_parts_of_blocks_are_done_as_whole_ones() -> None:
    """Protects unaligned writes: 8 KiB from 2 KiB on touch three blocks of old data and P."""
    bench = today(5)
    bench.issuer.write(2 * KIB, 8 * KIB, sync=True)
    bench.engine.run()
    assert bench.writes() == [[(0, 3 * PAGE)], [], [], [], [(0, 3 * PAGE)]]
    assert bench.reads() == [[(0, 3 * PAGE)], [], [], [], [(0, 3 * PAGE)]]


def test_the_thread_s_time_delays_what_it_sends() -> None:
    """Protects the CPU's share of latency: 16 heads at 10 us a pass, once before a chunk's reads, twice before its
    writes, once before the answer; without a price it is 2 ms.
    """
    bench = today(prices={"stripe_s": 10e-6})
    bench.issuer.write(0, CHUNK, sync=True)
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002 + (1 + 2 + 1) * 16 * 10e-6])


def test_a_busy_thread_sees_more_full_stripes() -> None:
    """Protects gathering: chunks come 10 us apart. A thread at rest begins to read each row up when its first chunk
    comes; one that needs 0.8 ms to look at the heads of a row finds most of them complete.
    """

    def read_up(stripe_s: float) -> float:
        bench = today(heads=0, prices={"stripe_s": stripe_s})
        for chunk in range(120):
            write_later(bench, chunk * 1e-5, chunk * CHUNK, CHUNK)
        bench.engine.run()
        assert len(bench.issuer.done) == 120
        return bench.array.parity_reads / 2

    assert read_up(0.0) == 40
    assert read_up(50e-6) < 5


def test_the_cache_grows_and_everything_is_served() -> None:
    """Protects stripe_cache_size as a floor: 17 heads become more while 1 MiB writes wait; fixed ones do not."""
    heads = {}
    for most in (0, 1000):
        bench = today(heads=17, most_heads=most)
        for at in range(20):
            bench.issuer.write(at * MIB, MIB, sync=True)
        bench.engine.run()
        assert len(bench.issuer.done) == 20
        assert bench.array.cache.in_use == 0
        heads[most] = bench.array.cache.most_in_use
    assert heads[0] <= 17 < heads[1000]


class Sleepy(Wrapper):
    """A member whose queue puts the thread to sleep."""

    __slots__ = ("has_room", "woken")

    has_room: bool

    def __init__(self, device: Device) -> None:
        super().__init__(device)
        self.has_room = False
        self.woken: list[Any] = []

    def submit(self, request: Any) -> None:
        """Pass it on."""
        self.device.submit(request)

    def sleeps(self, _: int) -> bool:
        """Until it has room."""
        return not self.has_room

    def when_awake(self, _: int, callback: Any) -> None:
        """Remember whom to tell."""
        self.woken.append(callback)


def test_a_thread_that_sleeps_sends_nothing_more() -> None:
    """Protects tags: the thread sleeps at the first of two reads (of the last slot), so the other member is read only
    after it woke up.
    """
    bench = today()
    sleepy = Sleepy(bench.disks[2])
    bench.use_members([*bench.disks[:2], sleepy, bench.disks[3]])
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert [len(disk.log) for disk in bench.disks] == [0, 0, 1, 0]
    sleepy.has_room = True
    sleepy.woken.pop()()
    bench.engine.run()
    assert [len(disk.log) for disk in bench.disks] == [1, 1, 1, 1]


def test_a_large_write_is_walked_along_for_each_block() -> None:
    """Protects why 1 MiB costs more than its parts: the n-th block of a write is n steps from its start, so 48 blocks
    are 48 x 49 / 2 steps, and three writes of 16 blocks a third of that.
    """
    for chunks, steps in ((3, 1176), (1, 3 * 136)):
        bench = today(prices={"segment_s": 1e-6})
        for at in range(0, 3 * CHUNK, chunks * CHUNK):
            bench.issuer.write(at, chunks * CHUNK, sync=True)
        bench.engine.run()
        assert bench.array.row_writes["full"] == 1
        assert bench.engine.now == pytest.approx(0.001 + steps * 1e-6)


def test_a_pass_takes_eight_heads() -> None:
    """Protects MAX_STRIPE_BATCH: of 20 blocks in rows of their own that come at once, the first eight are read while
    the thread still looks at the others.
    """
    bench = today(prices={"stripe_s": 10e-6})
    for row in range(20):
        bench.issuer.write(3 * row * CHUNK, PAGE, sync=True)
    bench.engine.run(until=170e-6)
    assert sum(len(disk.log) for disk in bench.disks) == 2 * 16
    bench.engine.run()
    assert len(bench.issuer.done) == 20


@pytest.mark.parametrize(("slow", "late"), [(1, [1]), (3, [0, 1, 2])])
def test_a_write_waits_for_its_member_and_parity_only(slow: int, late: list[int]) -> None:
    """Protects handle_stripe_clean_event: of three chunks of a row, a slow member holds up its own; slow parity all."""
    engine = Engine()
    members = [
        Recorder(engine, f"d{slot}", 16 * MIB, service_s=0.010 if slot == slow else 0.001, servers=8)
        for slot in range(4)
    ]
    layout = ParityLayout("raid5", [16 * MIB] * 4, 64 * KIB, "left-symmetric")
    settings = ParitySettings(hold=None, direct_reads=True, most_heads=4096)
    issuer = Issuer(engine, ParityArray(engine, "md0", members, layout, settings))
    for chunk in range(3):
        issuer.send(WRITE, chunk * 64 * KIB, 64 * KIB, issuer=chunk)
    engine.run()
    assert len(issuer.done) == 3
    assert [offset // (64 * KIB) for at, _, offset in issuer.done if at > 0.005] == late
