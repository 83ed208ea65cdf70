"""The hard disk end to end: what a host measures, against arithmetic on paper and with mechanisms switched off."""

import random
from collections.abc import Iterable, Iterator

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.disk.hard_disk import HardDisk
from raidsim.model.disk.shortest_positioning import ShortestPositioning
from raidsim.model.disk.spec import DriveSpec, mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.links.link import AtaChannel, Bus, Link, Path

JB = hard_disk("WD2500JB")
TURN = 60 / 7200
MIB = 1 << 20
KIB = 1 << 10
FAR = 100 * 10**9 // 512 * 512
Operation = tuple[int, int, int]


def _run(
    spec: DriveSpec, operations: Iterable[Operation], outstanding: int = 1, think_s: float = 0.0, seed: int = 1
) -> tuple[float, HardDisk, list[float]]:
    """Time (s) of the last completion, the disk, and the latencies (s), with so many requests at a time."""
    engine = Engine(seed)
    disk = HardDisk(engine, spec, "disk")
    source = iter(operations)
    latencies: list[float] = []

    def issue(_: object = None) -> None:
        following = next(source, None)
        if following is not None:
            disk.submit(Request(*following, done))

    def done(request: Request) -> None:
        latencies.append(engine.now - request.submitted)
        if think_s:
            engine.call_at(engine.now + think_s, issue)
        else:
            issue()

    for _ in range(outstanding):
        issue()
    engine.run()
    return engine.now, disk, latencies


def _keep_busy(disk: HardDisk, source: Iterator[Operation]) -> None:
    """Submit the operations one after another."""

    def issue(_: object = None) -> None:
        following = next(source, None)
        if following is not None:
            disk.submit(Request(*following, issue))

    issue()


def _sequential(op: int, size: int, total: int, start: int = 0) -> Iterator[Operation]:
    for offset in range(start, start + total, size):
        yield op, offset, size


def _random(op: int, size: int, count: int, capacity: int = JB.capacity, seed: int = 7) -> list[Operation]:
    rng = random.Random(seed)
    return [(op, rng.randrange(capacity // size) * size, size) for _ in range(count)]


def test_random_reads_cost_what_the_data_sheet_says() -> None:
    """Overhead, average seek, half a turn and the transfer: 13.4 ms, within 2 %."""
    _, _, latencies = _run(JB, _random(READ, 4 * KIB, 20_000))
    transfer = 4 * KIB / mechanics(JB)[0].media_rate(JB.capacity // 2)
    expected = JB.read_overhead + JB.seek_average + TURN / 2 + transfer
    assert sum(latencies) / len(latencies) == pytest.approx(expected, rel=0.02)


def test_random_uncached_writes_settle_longer() -> None:
    """Write-through: the read's time plus 2 ms of settling, less the overhead that a write does not have."""
    spec = JB.with_values(write_cache=False)
    _, _, latencies = _run(spec, _random(WRITE, 4 * KIB, 20_000))
    transfer = 4 * KIB / mechanics(JB)[0].media_rate(JB.capacity // 2)
    expected = JB.write_overhead + JB.seek_average + JB.write_settle + TURN / 2 + transfer
    assert sum(latencies) / len(latencies) == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("size", [4 * KIB, 16 * KIB, 64 * KIB, 128 * KIB, MIB])
@pytest.mark.parametrize("start", [0, 240 * 10**9 // MIB * MIB])
def test_sequential_reads_reach_the_media_rate(size: int, start: int) -> None:
    """Look-ahead hides the gaps between requests of any size, at the rim and at the hub."""
    total = 64 * MIB
    elapsed, _, _ = _run(JB, _sequential(READ, size, total, start))
    assert total / elapsed == pytest.approx(mechanics(JB)[0].media_rate(start), rel=0.02)


@pytest.mark.parametrize("size", [4 * KIB, 64 * KIB])
def test_without_look_ahead_each_read_loses_a_turn(size: int) -> None:
    """The mechanism off: one turn a request, as the next sector has just passed."""
    count = 200
    for off in ({"look_ahead": 0}, {"look_ahead": 0, "segments": 0}):
        elapsed, disk, _ = _run(JB.with_values(**off), _sequential(READ, size, count * size))
        assert elapsed / count == pytest.approx(TURN + size / 70e6, rel=0.05)
        assert disk.cache_hits == 0


def test_a_pausing_host_gets_its_next_block_from_the_buffer() -> None:
    """64 KiB every 2 ms: what the pause has read ahead crosses the interface at 100 MB/s."""
    _, _, latencies = _run(JB, _sequential(READ, 64 * KIB, 32 * MIB), think_s=0.002)
    late = latencies[4:]
    assert sum(late) / len(late) == pytest.approx(JB.hit_overhead + 64 * KIB / 100e6, rel=0.01)


def test_a_stride_over_small_gaps_runs_at_the_media_rate() -> None:
    """Skipping every third 64 KiB, as a RAID 5 member does, leaves two thirds of the rate: nothing is saved."""
    operations = [(READ, i * 64 * KIB, 64 * KIB) for i in range(1500) if i % 3 != 2]
    elapsed, _, _ = _run(JB, operations)
    assert len(operations) * 64 * KIB / elapsed == pytest.approx(mechanics(JB)[0].media_rate(0) * 2 / 3, rel=0.02)


def test_cached_writes_are_done_when_they_have_crossed_the_interface() -> None:
    """64 KiB into an empty buffer: overhead and 0.66 ms; written through, at least as long as the platter takes."""
    _, _, cached = _run(JB, [(WRITE, FAR, 64 * KIB)])
    assert cached[0] == pytest.approx(JB.write_overhead + 64 * KIB / 100e6)
    _, _, through = _run(JB.with_values(write_cache=False), [(WRITE, FAR, 64 * KIB)])
    assert through[0] > cached[0] + JB.seek_track_to_track


def test_sequential_writes_reach_the_media_rate_only_with_the_cache() -> None:
    """The buffer bridges the gaps; without it each write loses a turn."""
    total = 128 * MIB
    elapsed, disk, _ = _run(JB, _sequential(WRITE, 128 * KIB, total))
    assert disk.media.destaged_bytes / elapsed == pytest.approx(mechanics(JB)[0].media_rate(0), rel=0.03)
    count = 100
    elapsed, _, _ = _run(JB.with_values(write_cache=False), _sequential(WRITE, 64 * KIB, count * 64 * KIB))
    assert elapsed / count == pytest.approx(TURN + 64 * KIB / 70e6, rel=0.05)


@pytest.mark.parametrize("size", [256 * KIB, 512 * KIB, MIB, 2 * MIB])
def test_writes_as_large_as_the_buffer_reach_the_media_rate(size: int) -> None:
    """Their data come in as room is made; waiting for room for all of it would leave the head without work."""
    spec, total = JB.with_values(write_buffer=MIB), 64 * MIB
    elapsed, disk, latencies = _run(spec, _sequential(WRITE, size, total))
    assert (total - disk.dirty_bytes) / elapsed == pytest.approx(mechanics(JB)[0].media_rate(0), rel=0.03)
    assert disk.writes == len(latencies) == total // size
    assert disk.write_bytes == total


def test_a_write_that_fits_is_in_the_buffer_before_it_is_on_the_platters() -> None:
    """The counter-test: room is no question for the first one, which comes in at the rate of the interface."""
    spec = JB.with_values(write_buffer=MIB)
    _, _, latencies = _run(spec, _sequential(WRITE, MIB, 2 * MIB))
    assert latencies[0] == pytest.approx(spec.write_overhead + MIB / spec.interface_rate)
    assert latencies[1] > MIB / mechanics(JB)[0].media_rate(0)


def test_what_a_long_write_has_brought_is_not_lost_to_a_flush() -> None:
    """Everything is on the platters after a flush that comes while the write still waits for room."""
    engine = Engine(1)
    disk = HardDisk(engine, JB.with_values(write_buffer=256 * KIB), "disk")
    _keep_busy(disk, _sequential(WRITE, MIB, 2 * MIB))
    engine.run(until=0.02)
    disk.flush(lambda: None)
    engine.run()
    assert disk.dirty_bytes == 0
    assert disk.media.destaged_bytes == 2 * MIB


def test_the_cache_orders_random_writes() -> None:
    """With dozens of writes to choose from, the head passes more of them a second than one by one."""
    operations = _random(WRITE, 4 * KIB, 5000)
    cached, _, _ = _run(JB, operations)
    through, _, _ = _run(JB.with_values(write_cache=False), operations)
    one_extent, _, _ = _run(JB.with_values(write_extents=1), operations)
    assert cached < 0.6 * through
    assert one_extent > 0.9 * through


def test_a_read_of_a_cached_write_is_served_from_the_buffer() -> None:
    """Written and read back at once: no platter is involved in the answer."""
    _, disk, latencies = _run(JB, [(WRITE, FAR, 4 * KIB), (READ, FAR, 4 * KIB)])
    assert latencies[1] == pytest.approx(JB.hit_overhead + 4 * KIB / 100e6)
    assert disk.cache_hits == 1


def test_copying_within_a_disk_shares_the_head() -> None:
    """4 KiB reads and 128 KiB writes 100 GB apart: seeks cost, yet batches keep the head useful a third of the time."""
    operations: list[Operation] = []
    for i in range(1000):
        operations += _sequential(READ, 4 * KIB, 128 * KIB, i * 128 * KIB)
        operations.append((WRITE, FAR + i * 128 * KIB, 128 * KIB))
    elapsed, disk, latencies = _run(JB, operations)
    used = disk.seek_s + disk.rotation_s + disk.transfer_s
    assert 0.9 * elapsed < used <= elapsed
    assert disk.transfer_s > 0.3 * elapsed
    assert max(latencies) < 0.1
    unbatched, _, _ = _run(JB.with_values(destage_batch=4096, look_ahead=64 * KIB), operations)
    assert unbatched > 1.3 * elapsed


def test_flush_empties_the_write_cache() -> None:
    """After a flush nothing is dirty, and it took the head's time; a second one has nothing to do."""
    engine = Engine(1)
    disk = HardDisk(engine, JB, "disk")
    times: list[float] = []

    def flushed() -> None:
        assert disk.dirty_bytes == 0
        times.append(engine.now)
        if len(times) == 1:
            disk.flush(flushed)

    for i in range(20):
        disk.submit(Request(WRITE, FAR + i * 50 * MIB, 64 * KIB, lambda request: None))
    disk.flush(flushed)
    engine.run()
    assert times[0] > 20 * JB.seek_track_to_track
    assert times[1] - times[0] == pytest.approx(JB.write_overhead)
    assert disk.flushes == 2
    assert disk.media.destaged_bytes == 20 * 64 * KIB


def test_dirty_bytes_leave_when_they_are_on_the_platters() -> None:
    """4 KiB written far away: dirty while the arm moves and the platter turns, and clean half a second later."""
    engine = Engine(1)
    disk = HardDisk(engine, JB, "disk")
    disk.submit(Request(WRITE, FAR, 4 * KIB, lambda request: None))
    engine.run(until=0.002)
    assert disk.dirty_bytes == 4 * KIB
    engine.run(until=0.5)
    assert disk.dirty_bytes == 0


def test_a_queuing_drive_flushes_what_was_still_arriving() -> None:
    """A flush behind cached writes on their way waits for them, and leaves nothing dirty."""
    engine = Engine(1)
    disk = HardDisk(engine, NCQ, "disk")
    left: list[int] = []
    for i in range(4):
        disk.submit(Request(WRITE, FAR + i * 50 * MIB, 256 * KIB, lambda request: None))
    disk.flush(lambda: left.append(disk.dirty_bytes))
    engine.run()
    assert left == [0]
    assert disk.media.destaged_bytes == MIB


NCQ = JB.with_values(queue_depth=32, queue_effort=1.0)


def test_queuing_shortens_random_access() -> None:
    """With 16 commands to choose from, positional ordering doubles the rate; with one there is nothing to choose."""
    operations = _random(READ, 4 * KIB, 4000)
    fcfs, plain, _ = _run(JB, operations, outstanding=16)
    queued, ordered, _ = _run(NCQ, operations, outstanding=16)
    assert plain._ordered is None
    assert isinstance(ordered._ordered, ShortestPositioning)
    assert queued < 0.55 * fcfs
    alone = [_run(spec, operations, outstanding=1)[0] for spec in (JB, NCQ)]
    assert alone[1] == pytest.approx(alone[0], rel=0.01)


def test_queued_uncached_writes_are_ordered_with_their_settling() -> None:
    """A write takes 2 ms longer to reach; a choice that forgot it would miss its place and lose a turn each time."""
    operations = _random(WRITE, 4 * KIB, 4000)
    queued, _, _ = _run(NCQ.with_values(write_cache=False), operations, outstanding=16)
    reads, _, _ = _run(NCQ, [(READ, offset, size) for _, offset, size in operations], outstanding=16)
    assert (queued - reads) / 4000 == pytest.approx(JB.write_settle, rel=0.25)


def test_queue_depth_limits_the_choice() -> None:
    """Of 64 outstanding, a drive that knows 4 orders worse than one that knows 32; none is lost."""
    operations = _random(READ, 4 * KIB, 3000)
    few, disk, _ = _run(JB.with_values(queue_depth=4), operations, outstanding=64)
    many, _, _ = _run(NCQ, operations, outstanding=64)
    assert many < 0.8 * few
    assert disk.reads == 3000


def test_a_queuing_drive_serves_its_buffer_while_the_head_is_away() -> None:
    """A cached write behind a long read is done long before it; without queuing it waits its turn."""
    finished: dict[str, list[str]] = {}
    for name, spec in (("ncq", NCQ), ("plain", JB)):
        engine = Engine(1)
        disk = HardDisk(engine, spec, "disk")
        order = finished.setdefault(name, [])
        disk.submit(Request(READ, FAR, 4 * KIB, lambda request, order=order: order.append("read")))  # type: ignore[misc]
        disk.submit(Request(WRITE, 0, 4 * KIB, lambda request, order=order: order.append("write")))  # type: ignore[misc]
        engine.run()
    assert finished == {"ncq": ["write", "read"], "plain": ["read", "write"]}


def test_sequential_queued_reads_keep_the_media_rate() -> None:
    """Ordering by position must not break up a stream that is already in order."""
    total = 64 * MIB
    elapsed, _, _ = _run(NCQ, _sequential(READ, 64 * KIB, total), outstanding=16)
    assert total / elapsed == pytest.approx(mechanics(JB)[0].media_rate(0), rel=0.02)


def test_queued_uncached_writes_follow_each_other() -> None:
    """The data of the next write is in the drive before the head gets there; with one at a time a turn is lost."""
    spec = NCQ.with_values(write_cache=False)
    total = 64 * MIB
    queued, _, _ = _run(spec, _sequential(WRITE, 64 * KIB, total), outstanding=8)
    assert total / queued == pytest.approx(mechanics(JB)[0].media_rate(0), rel=0.03)
    alone, _, _ = _run(spec, _sequential(WRITE, 64 * KIB, 4 * MIB))
    assert alone / 64 == pytest.approx(TURN + 64 * KIB / 70e6, rel=0.05)


def test_a_slower_link_sets_the_pace() -> None:
    """Behind a link of 20 MB/s a drive of 63 MB/s delivers 20; behind one of 1 GB/s, its own rate."""
    for rate, expected in ((20e6, 20e6), (1e9, mechanics(JB)[0].media_rate(0))):
        engine = Engine(1)
        disk = HardDisk(engine, JB, "disk", Path((Link("cable", rate),)))
        _keep_busy(disk, _sequential(READ, 128 * KIB, 32 * MIB))
        engine.run()
        assert 32 * MIB / engine.now == pytest.approx(expected, rel=0.02)


def test_writes_are_not_done_before_their_data_are_there() -> None:
    """Protects queued uncached writes in order: the head goes on from one to the next only if the data keep up with it.

    Behind a bus of 20 MB/s it has to let the sector pass and wait for its return.
    """
    spec = NCQ.with_values(write_cache=False)
    for rate, expected in ((20e6, 20e6), (1e9, mechanics(JB)[0].media_rate(0))):
        engine = Engine(1)
        disk = HardDisk(engine, spec, "disk", Path((Bus("pci", rate),)))
        operations = _sequential(WRITE, 64 * KIB, 64 * MIB)
        for _ in range(32):
            _keep_busy(disk, operations)
        engine.run()
        assert 0.75 * expected < 64 * MIB / engine.now < 1.01 * expected


def test_two_drives_on_one_channel_take_turns() -> None:
    """Random reads of master and slave: one command at a time, so half the rate of two channels."""
    times = []
    for channel in (AtaChannel("ide0"), None):
        engine = Engine(1)
        operations = {
            name: iter(_random(READ, 4 * KIB, 300, seed=seed)) for seed, name in enumerate(("master", "slave"))
        }
        for name, source in operations.items():
            _keep_busy(HardDisk(engine, JB, name, channel=channel), source)
        engine.run()
        times.append(engine.now)
    assert times[0] == pytest.approx(2 * times[1], rel=0.1)


def test_one_event_per_request() -> None:
    """The budget of the hot path: a completion and nothing else, whatever the head does in between."""
    for spec in (JB, NCQ):
        engine = Engine(1)
        disk = HardDisk(engine, spec, "disk")
        for op, offset, size in _random(READ, 4 * KIB, 50) + _random(WRITE, 4 * KIB, 50):
            disk.submit(Request(op, offset, size, lambda request: None))
        engine.run()
        assert engine.scheduled_events == 100
        assert (disk.reads, disk.writes, disk.outstanding) == (50, 50, 0)


def test_counts_and_littles_law() -> None:
    """Eight outstanding all the time: the sum of latencies over time is 8, and the drive is always busy."""
    elapsed, disk, latencies = _run(JB, _random(READ, 8 * KIB, 2000), outstanding=8)
    assert disk.read_bytes == 2000 * 8 * KIB
    assert disk.latency_s == pytest.approx(sum(latencies))
    assert disk.latency_s / elapsed == pytest.approx(8, rel=0.01)
    assert disk.busy_s == pytest.approx(elapsed)
    parts = disk.seek_s + disk.rotation_s + disk.transfer_s + 2000 * JB.read_overhead
    assert parts == pytest.approx(elapsed, rel=0.01)


def test_a_thinking_host_leaves_the_drive_idle() -> None:
    """Busy time counts requests in the drive, not what the head does unasked."""
    elapsed, disk, latencies = _run(JB, _random(READ, 4 * KIB, 100), think_s=0.1)
    assert disk.busy_s == pytest.approx(sum(latencies))
    assert disk.busy_s < 0.2 * elapsed


def test_statistics_can_be_started_after_the_warm_up() -> None:
    """What was counted before is forgotten; time in the drive from then on is counted."""
    engine = Engine(1)
    disk = HardDisk(engine, JB, "disk")
    disk.submit(Request(READ, FAR, 4 * KIB, lambda request: None))
    engine.run(until=0.001)
    disk.start_statistics(engine.now)
    engine.run()
    assert disk.reads == 1
    assert disk.busy_s == pytest.approx(engine.now - 0.001)


def test_same_seed_same_result_other_name_other_phase() -> None:
    """Runs repeat exactly; two drives of an array are not in step with each other."""
    operations = _random(READ, 4 * KIB, 50)
    assert _run(JB, operations)[0] == _run(JB, operations)[0]
    assert _run(JB, operations, seed=2)[0] != _run(JB, operations)[0]
    engine = Engine(1)
    assert HardDisk(engine, JB, "a").media.angle(0.0) != HardDisk(engine, JB, "b").media.angle(0.0)


@pytest.mark.parametrize(
    ("offset", "size"), [(0, 0), (0, 100), (100, 512), (-512, 512), (JB.capacity, 512), (JB.capacity - 512, 1024)]
)
def test_requests_outside_are_refused(offset: int, size: int) -> None:
    """A drive serves whole sectors within its capacity, and says what was asked and what is expected."""
    with pytest.raises(ModelError, match="expected"):
        HardDisk(Engine(), JB, "disk").submit(Request(READ, offset, size, lambda request: None))


def test_the_last_sectors_can_be_read_in_sequence() -> None:
    """Look-ahead stops at the end of the drive."""
    start = JB.capacity - MIB
    elapsed, disk, _ = _run(JB, _sequential(READ, 4 * KIB, JB.capacity - start, start), think_s=0.0001)
    assert disk.read_bytes == JB.capacity - start
    assert elapsed < 0.2


def test_a_cache_that_is_held_full_is_written_and_makes_writes_wait() -> None:
    """Protects a measurement that begins with full caches: they are full at once, a write waits for room, and all of it
    is on the platters later.
    """
    engine = Engine(1)
    disk = HardDisk(engine, JB, "disk")
    disk.hold(FAR)
    assert disk.dirty_bytes == JB.write_buffer
    times: list[float] = []
    disk.submit(Request(WRITE, FAR, 64 * KIB, lambda request: times.append(engine.now)))
    engine.run(until=1.0)
    assert times[0] > 64 * KIB / JB.interface_rate + JB.seek_track_to_track
    assert disk.dirty_bytes == 0
    assert disk.media.destaged_bytes == JB.write_buffer + 64 * KIB
