"""The page cache of a mounted device. Prices are zero unless a test is about them; the disk takes 1 ms a request."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.memory.dirty_memory import DirtyLimits, DirtyMemory
from raidsim.model.memory.paged_file import PagedFile
from raidsim.model.memory.settings import PageCacheSettings
from raidsim.tests.model.memory.page_cache_bench import KIB, MIB, NO_LIMITS, Bench, Disk, Program

LIMITS = DirtyLimits(flush_above=2 * MIB, flush_below=1 * MIB, limit=4 * MIB, duty=256 * KIB, pass_bytes=64 * KIB)
RUN = 128 * KIB


# Reading


def test_every_page_is_read_once_and_hits_cost_no_io() -> None:
    """Protects the cache itself: a file is read from the disk once; the second time it costs CPU time and nothing else,
    here 10 ns a byte.
    """
    bench = Bench()
    file = bench.file(MIB)
    bench.read(file)
    assert bench.disk.covered(READ) == [(0, MIB)]
    assert bench.io(READ) == MIB
    assert bench.read(file, seconds_per_byte=1e-8) == pytest.approx(MIB * 1e-8)
    assert bench.io(READ) == 0


def test_read_ahead_makes_requests_of_a_window() -> None:
    """Protects sequential reads: at 1 ms a request 1 MiB takes 16 ms in halves of a window of 128 KiB, 256 ms
    page by page.
    """
    ahead, pages = Bench(window=128 * KIB), Bench(window=4 * KIB)
    assert ahead.read(ahead.file(MIB)) == pytest.approx(0.016, abs=0.002)
    assert pages.read(pages.file(MIB)) == pytest.approx(0.256)
    assert {size for _, size in pages.disk.sent(READ)} == {4 * KIB}


def test_calls_end_where_a_program_that_starts_in_the_middle_ends_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the ends of system calls, which read-ahead sees: counted from where the program began to read."""
    bench, start, call = Bench(), 12 * KIB, 32 * KIB
    file = bench.file(MIB)
    kind, ends = type(bench.cache.open(file)), []
    touch = kind.touch

    def noted(self: Any, position: int, call_end: int = 0) -> Any:
        ends.append((position, call_end))
        return touch(self, position, call_end)

    monkeypatch.setattr(kind, "touch", noted)
    bench.read(file, start, call_bytes=call)
    assert len(ends) > 4
    assert all(position < end <= position + call for position, end in ends)
    assert all((end - start) % call == 0 for _, end in ends if end != MIB)


def test_the_disk_reads_on_while_the_program_works() -> None:
    """Protects overlap: with read-ahead CPU and disk take little more than the longer of them; without, their sum."""
    ahead = Bench(window=256 * KIB)
    alone = ahead.read(ahead.file(MIB))
    both = ahead.read(ahead.file(MIB, 8 * MIB), seconds_per_byte=0.8 * alone / MIB)
    assert both < 1.4 * alone
    plain = Bench()
    file = plain.file(MIB)

    def page_by_page() -> Generator[Any, Any, None]:
        for page in range(0, MIB, 4 * KIB):
            yield from plain.cache.fetch(file, page, page + 4 * KIB, plain.program)
            yield plain.cpu.run(0.0008)

    assert plain.do(page_by_page()) == pytest.approx(256 * 0.0018)


def test_two_readers_of_a_file_share_what_is_on_its_way() -> None:
    """Protects processes that read the same file: no page is read twice, and both wait for it."""
    bench = Bench()
    file = bench.file(MIB)
    readers = [Program(issuer) for issuer in (1, 2)]

    def work(by: Program) -> Generator[Any, Any, None]:
        yield from bench.cache.read(file, bench.cache.open(file), 0, MIB, by, 0.0)

    engine = bench.engine
    engine.run(engine.all_of([engine.spawn(work(by)) for by in readers]))
    assert bench.io(READ) == MIB


def test_a_scan_of_more_than_memory_finds_nothing() -> None:
    """Protects bonnie's sizes end to end: 10 MiB read twice through 9 MiB of memory are read twice from the disk, 8 MiB
    once.
    """
    for size, reads in ((10 * MIB, 2), (8 * MIB, 1)):
        bench = Bench(memory=9 * MIB)
        file = bench.file(size)
        bench.read(file)
        bench.read(file)
        assert bench.io(READ) == reads * size


@pytest.mark.parametrize(("times", "kept"), [(1, 0), (2, 4 * MIB)])
def test_a_file_read_twice_survives_one_read_once(times: int, kept: int) -> None:
    """Protects what is used again, also where read-ahead has given up because all is in memory, and in calls of less
    than a page: 4 MiB read twice are there after 12 MiB went through 9 MiB of memory; read once they are not.
    """
    bench = Bench(memory=9 * MIB)
    hot, issuer = bench.file(4 * MIB), bench.file(12 * MIB, 1 << 30, "issuer")
    for _ in range(times):
        bench.read(hot, call_bytes=1000)
    bench.read(issuer)
    assert hot.cached.total == kept


def test_a_fragmented_file_is_read_in_pieces() -> None:
    """Protects ageing: 1 MiB in four places is read at those four, with as many bytes as in one."""
    bench = Bench(window=MIB)
    file = PagedFile("f", MIB)
    for address in (64 * MIB, 0, 32 * MIB, 16 * MIB):
        file.extents.append(address, 256 * KIB)
    bench.read(file)
    places = [(0, 256 * KIB), (16 * MIB, 256 * KIB), (32 * MIB, 256 * KIB), (64 * MIB, 256 * KIB)]
    assert bench.disk.covered(READ) == places


def test_bytes_without_a_place_are_not_read() -> None:
    """Protects files that lie with their inode: they are in memory when that is."""
    bench = Bench()
    file = PagedFile("tail", 1000)
    assert bench.read(file) == 0
    assert bench.io(READ) == 0
    assert bench.cache.is_cached(file, 0, 1000)


def test_metadata_blocks_are_fetched_one_by_one_and_once() -> None:
    """Protects metadata: no read-ahead, 1 ms for a block, nothing for one that is there."""
    bench = Bench()
    device = bench.cache.device_file
    block = 40 * MIB
    assert bench.do(bench.cache.fetch(device, block, block + 4 * KIB, bench.program)) == pytest.approx(0.001)
    assert bench.do(bench.cache.fetch(device, block, block + 4 * KIB, bench.program)) == 0
    assert bench.disk.sent(READ) == [(block, 4 * KIB)]


class Map:
    """A file system whose mapping block covers 256 KiB and is read at 1 GiB and behind."""

    def __init__(self, bench: Bench) -> None:
        self.bench = bench

    def _blocks(self, start: int, end: int) -> list[int]:
        return [(1 << 30) + at * 4 * KIB for at in range(start // (256 * KIB), -(-end // (256 * KIB)))]

    def needs_map(self, _: Any, start: int, end: int) -> bool:
        cache = self.bench.cache
        return not all(cache.is_cached(cache.device_file, at, at + 4 * KIB) for at in self._blocks(start, end))

    def mapped_until(self, _: Any, start: int, end: int) -> int:
        span = 256 * KIB
        at = start
        while at < end and not self.needs_map(_, at, at + 1):
            at = at - at % span + span
        return min(at, end)

    def load_map(self, _: Any, start: int, end: int, by: Any) -> Generator[Any, Any, None]:
        for at in self._blocks(start, end):
            yield from self.bench.cache.fetch(self.bench.cache.device_file, at, at + 4 * KIB, by)

    def accessed(self, file: Any, _: Any) -> Generator[Any, Any, None]:
        raise AssertionError(f"{file.name} has no times")


def test_where_data_are_is_read_before_them() -> None:
    """Protects indirect blocks: one is read for every 256 KiB before the data behind it, and none without a map."""
    bench = Bench()
    file = bench.file(MIB)
    bench.do(bench.cache.read(file, bench.cache.open(file), 0, MIB, bench.program, 0.0, mapper=Map(bench)))
    sent = bench.disk.sent(READ)
    maps = [i for i, (address, _) in enumerate(sent) if address >= 1 << 30]
    assert len(maps) == 4
    for i in maps:
        assert sent[i + 1][0] // (256 * KIB) <= (sent[i][0] - (1 << 30)) // (4 * KIB)
    plain = Bench()
    plain.read(plain.file(MIB))
    assert max(address for address, _ in plain.disk.sent(READ)) < MIB


# Writing


def writer(bench: Bench, file: PagedFile, size: int) -> Generator[Any, Any, None]:
    """A program that writes `size` bytes, 64 KiB at a time."""
    for start in range(0, size, 64 * KIB):
        bench.cache.mark_dirty(file, start, start + 64 * KIB)
        yield from bench.cache.throttle(bench.program)


@pytest.mark.parametrize("duty", [256 * KIB, 0])
def test_a_writer_is_throttled_to_the_pace_of_the_disk(duty: int) -> None:
    """Protects dirty limits: of 20 MiB all but the 4 MiB that may be dirty are on the disk when the writer is through,
    at 1 ms for 64 or 128 KiB, whether writers write themselves or wait.
    """
    bench = Bench(limits=DirtyLimits(2 * MIB, 1 * MIB, 4 * MIB, duty, 64 * KIB))
    file = bench.file(20 * MIB)
    seconds = bench.do(writer(bench, file, 20 * MIB))
    left = bench.memory.dirty_bytes + bench.memory.writeback_bytes
    assert left <= 4 * MIB + 64 * KIB
    assert seconds >= 16 * MIB / RUN * 0.001 - 0.001
    assert seconds <= 20 * MIB / (64 * KIB) * 0.001


def test_without_limits_a_writer_writes_at_once() -> None:
    """The counter-test: nothing is written back, and it takes no time."""
    bench = Bench()
    assert bench.do(writer(bench, bench.file(20 * MIB), 20 * MIB)) == 0
    assert bench.io(WRITE) == 0


def test_the_flusher_stops_at_its_lower_threshold() -> None:
    """Protects the background threshold: 3 MiB are dirty, more than 2 MiB; what is written leaves 1 MiB, and 2 MiB
    stay untouched.
    """
    bench = Bench(limits=LIMITS)
    bench.do(writer(bench, bench.file(3 * MIB), 3 * MIB))
    bench.engine.run(until=1.0)
    assert bench.io(WRITE) == 2 * MIB
    quiet = Bench(limits=LIMITS)
    quiet.do(writer(quiet, quiet.file(2 * MIB), 2 * MIB))
    quiet.engine.run(until=1.0)
    assert quiet.io(WRITE) == 0


def test_files_are_written_back_in_runs_and_in_order() -> None:
    """Protects the elevator's food: one file after the other, each from front to back, 128 KiB at a time."""
    bench = Bench()
    first, second = bench.file(512 * KIB, 8 * MIB, "first"), bench.file(256 * KIB, 0, "second")
    for file in (first, second):
        bench.cache.mark_dirty(file, 0, file.size)
    bench.do(bench.cache.sync(bench.program))
    addresses = [*range(8 * MIB, 8 * MIB + 512 * KIB, RUN), *range(0, 256 * KIB, RUN)]
    assert bench.disk.sent(WRITE) == [(address, RUN) for address in addresses]


def test_files_take_turns() -> None:
    """Protects several writers: after a pass of one file it is the next one's turn; a pass longer than the files leaves
    them whole.
    """
    for pass_bytes, turns in ((RUN, 8), (8 * MIB, 2)):
        bench = Bench(limits=DirtyLimits(512 * KIB, 0, 1 << 40, 0, pass_bytes))
        for address in (0, 8 * MIB):
            bench.cache.mark_dirty(bench.file(512 * KIB, address), 0, 512 * KIB)
        bench.memory.start_write_back()
        bench.engine.run(until=1.0)
        order = [address // (8 * MIB) for address, _ in bench.disk.sent(WRITE)]
        assert 1 + sum(order[i] != order[i - 1] for i in range(1, len(order))) == turns


def test_fsync_waits_for_its_file_and_no_other() -> None:
    """Protects synced phases: 512 KiB are four requests of 1 ms; the other file stays dirty in memory."""
    bench = Bench()
    synced, other = bench.file(512 * KIB), bench.file(MIB, 8 * MIB)
    for file in (other, synced):
        bench.cache.mark_dirty(file, 0, file.size)
    assert bench.do(bench.cache.write_back(synced, 1)) == pytest.approx(0.004)
    assert bench.memory.dirty_bytes == MIB
    assert bench.do(bench.cache.write_back(synced, 1)) == 0


def test_a_sync_waits_for_metadata_last() -> None:
    """Protects syncfs: metadata are sent with the data, but waited for by a second call. Counter-test: by default the
    first call waits.
    """
    for awaits, first, second in ((False, 0.001, 0.001), (True, 0.002, 0.0)):
        bench = Bench(limits=NO_LIMITS)
        data = bench.file(4 * KIB)
        bench.cache.mark_dirty(data, 0, data.size)
        bench.cache.mark_dirty(bench.cache.device_file, 8 * MIB, 8 * MIB + 4 * KIB)
        assert bench.do(bench.cache.sync(bench.program, awaits_device=awaits)) == pytest.approx(first)
        assert len(bench.disk.sent(WRITE)) == 2
        assert bench.do(bench.cache.sync(bench.program)) == pytest.approx(second)


def test_fsync_waits_for_what_the_flusher_has_begun() -> None:
    """Protects fsync: pages on their way to the disk are waited for though nothing is dirty any more."""
    bench = Bench()
    file = bench.file(512 * KIB)
    bench.cache.mark_dirty(file, 0, file.size)
    bench.engine.spawn(bench.cache.write_back(file, 1))
    assert bench.do(bench.cache.write_back(file, 2)) == pytest.approx(0.004)
    assert bench.io(WRITE) == 512 * KIB


def test_a_deleted_file_is_not_written() -> None:
    """Protects short-lived files: dirty pages of a file that is gone cost nothing; of one that stays they are written
    when they are old. A truncated one is written up to where it ends.
    """
    for forgotten_from, written in ((0, 0), (256 * KIB, 256 * KIB), (MIB, MIB)):
        bench = Bench()
        file = bench.file(MIB)
        bench.cache.mark_dirty(file, 0, MIB)
        bench.cache.forget(file, forgotten_from)
        assert bench.memory.dirty_bytes == bench.pages.held == written
        bench.engine.run(until=60.0)
        assert bench.io(WRITE) == written


@pytest.mark.parametrize("expire_s", [30.0, 10.0])
def test_old_pages_are_written_though_no_limit_asks_for_it(expire_s: float) -> None:
    """Protects kupdate: nothing before they have been dirty for so long, all of them at the next look, within 5 s."""
    bench = Bench(limits=NO_LIMITS, settings=PageCacheSettings(expire=expire_s))
    file = bench.file(MIB)
    bench.engine.run(until=1.0)
    bench.cache.mark_dirty(file, 0, MIB)
    bench.engine.run(until=1.0 + expire_s - 0.01)
    bench.cache.mark_dirty(file, 0, 4 * KIB)
    assert bench.io(WRITE) == 0
    bench.engine.run(until=1.0 + expire_s + 5.1)
    assert bench.io(WRITE) == MIB


def test_a_part_of_a_block_makes_all_of_it_dirty() -> None:
    """Protects small writes: 10 bytes are a block of 4 KiB, or of 16 KiB on UFS."""
    for block in (4 * KIB, 16 * KIB):
        bench = Bench(settings=PageCacheSettings(block=block))
        bench.cache.mark_dirty(bench.file(MIB), 5 * block + 7, 5 * block + 17)
        bench.do(bench.cache.sync(bench.program))
        assert bench.disk.sent(WRITE) == [(5 * block, block)]


def test_writing_twice_before_write_back_writes_once() -> None:
    """Protects rewriting in memory; after the write-back it is written again."""
    bench = Bench()
    file = bench.file(MIB)
    bench.cache.mark_dirty(file, 0, MIB)
    bench.cache.mark_dirty(file, 0, MIB)
    bench.do(bench.cache.sync(bench.program))
    assert bench.io(WRITE) == MIB
    bench.cache.mark_dirty(file, 0, MIB)
    bench.do(bench.cache.sync(bench.program))
    assert bench.io(WRITE) == MIB


def test_write_back_costs_cpu_time() -> None:
    """Protects %CPU: a block I/O for every 4 KiB, 256 of 2 us for 1 MiB, and none without a price."""
    for bio_s in (2e-6, 0.0):
        bench = Bench(bio_s=bio_s)
        bench.cache.mark_dirty(bench.file(MIB), 0, MIB)
        bench.do(bench.cache.sync(bench.program))
        assert bench.cpu.busy_s == bench.program.cpu_s == pytest.approx(256 * bio_s)


@pytest.mark.parametrize(("read_bio", "bios"), [(128 * KIB, 8), (0, 256)])
def test_reading_may_take_fewer_bios_than_writing(read_bio: int, bios: int) -> None:
    """Protects CPU shares of 2.6: 1 MiB is read with a bio for each window of 128 KiB, where mpage_readpages reads it,
    or else with one a page; written it has a bio a page either way.
    """
    bench = Bench(settings=PageCacheSettings(read_bio=read_bio), bio_s=2e-6)
    file = bench.file(MIB)
    bench.read(file)
    assert bench.program.cpu_s == pytest.approx(bios * 2e-6)
    bench.cache.mark_dirty(file, 0, MIB)
    bench.do(bench.cache.sync(bench.program))
    assert bench.program.cpu_s == pytest.approx((bios + 256) * 2e-6)


@pytest.mark.parametrize("yields", [True, False])
def test_the_flusher_keeps_out_while_others_wait_for_room(yields: bool) -> None:
    """Protects CPU shares of 2.6: of 2 MiB that fsync writes while pdflush would like to, the program pays for all
    bios but those that pdflush had begun, and for half of them where both take turns. Afterwards pdflush goes on with
    the other file.
    """
    settings = PageCacheSettings(flusher_yields=yields)
    bench = Bench(limits=DirtyLimits(MIB, 0, 1 << 40, 0, 8 * MIB), settings=settings, bio_s=2e-6)
    synced, other = bench.file(2 * MIB), bench.file(2 * MIB, 8 * MIB)
    bench.cache.mark_dirty(synced, 0, synced.size)
    bench.cache.mark_dirty(other, 0, other.size)
    bench.memory.start_write_back()
    bench.do(bench.cache.write_back(synced, 1, bench.program))
    assert (bench.program.cpu_s > 0.9 * 512 * 2e-6) == yields
    bench.engine.run(until=1.0)
    assert bench.io(WRITE) == 4 * MIB
    assert bench.cpu.busy_s == pytest.approx(1024 * 2e-6)


# What the device has in a cache of its own


class InstantDisk(Disk):
    """It has everything in memory: a request is complete before `submit` returns."""

    __slots__ = ()

    def submit(self, request: Request) -> None:
        request.submitted = self._engine.now
        request.complete()


@pytest.mark.parametrize("how", ["read", "fetch"])
def test_what_comes_at_once_is_not_waited_for(how: str) -> None:
    """Protects against a lost wake-up: md's stripe cache answers within the call, before anybody waits."""
    bench = Bench()
    bench.cache.device = InstantDisk(bench.engine, capacity=1 << 40)
    file = bench.file(MIB)
    if how == "read":
        bench.read(file)
    else:
        bench.do(bench.cache.fetch(file, 0, 64 * KIB, bench.program))
    assert bench.cache.is_cached(file, 0, 64 * KIB)


def test_a_limit_on_dirty_memory_alone_lets_writes_under_way_be() -> None:
    """Protects the limit of Linux 2.4.18: what is being written does not throttle; since then it does."""
    for counts, over in ((True, True), (False, False)):
        memory = DirtyMemory(DirtyLimits(MIB, MIB, limit=MIB, counts_writeback=counts))
        memory.dirtied(MIB)
        memory.writeback_bytes = KIB
        assert memory.over_limit is over
    memory.dirtied(1)
    assert memory.over_limit


def test_who_waits_for_a_file_unplugs_with_every_page_that_arrives() -> None:
    """Protects wait_on_buffer: an fsync of four runs unplugs when it begins to wait and after each run but the last;
    write-back that nobody waits for does not.
    """

    def unplugged(waits: bool) -> int:
        bench = Bench()
        count = 0

        class Counting(Disk):
            __slots__ = ()

            def unplug(self) -> None:
                nonlocal count
                count += 1

        bench.cache.device = Counting(bench.engine, capacity=1 << 40)
        file = bench.file(4 * RUN)
        bench.cache.mark_dirty(file, 0, 4 * RUN)
        if waits:
            bench.do(bench.cache.write_back(file, 1))
        else:
            for _ in range(4):
                bench.cache._write_run()
            bench.engine.run(until=1.0)
        return count

    assert unplugged(waits=True) == 4
    assert unplugged(waits=False) == 0


@pytest.mark.parametrize(("aligned", "others"), [(False, 128 * KIB), (True, 64 * KIB)])
def test_clusters_begin_where_the_one_before_ended(aligned: bool, others: int) -> None:
    """Protects FreeBSD's clusters: behind a first call of 64 KiB all are whole. Counter-test: cut at multiples of
    128 KiB in the file, they go out in halves.
    """
    settings = PageCacheSettings(read_run=RUN, read_run_aligned=aligned)
    bench = Bench(generation="freebsd-6", window=2 * MIB, settings=settings)
    bench.read(bench.file(8 * MIB), call_bytes=64 * KIB)
    sizes = [size for _, size in bench.disk.sent(READ)]
    assert sizes[0] == 64 * KIB
    assert set(sizes[len(sizes) // 2 : -1]) == {others}
    assert sum(sizes) == 8 * MIB


@pytest.mark.parametrize(("limit", "balance", "turn"), [(128, True, 20), (64, True, 12), (128, False, 4)])
def test_a_file_has_its_turn_of_write_back(limit: int, balance: bool, turn: int) -> None:
    """Protects how the flusher goes from file to file: since 3.2 it writes of each what the device writes in half a
    second, or an eighth of the limit, and up to 4 MiB more. Counter-test: before, 4 MiB.
    """
    bench = Bench(limits=DirtyLimits(60 * MIB, 0, limit * MIB, 0, balance=balance))
    files = [bench.file(48 * MIB, at * 64 * MIB, str(at)) for at in range(2)]
    for file in files:
        bench.cache.mark_dirty(file, 0, file.size)
    bench.engine.run(until=bench.engine.now + 1.0)
    of_files = [at // (64 * MIB) for at, size in bench.disk.sent(WRITE) for _ in range(size // (64 * KIB))]
    assert len(of_files) == 2 * 48 * MIB // (64 * KIB)
    first = of_files.index(1) * 64 * KIB
    assert first == turn * MIB
    assert of_files.index(0, of_files.index(1)) * 64 * KIB - first == turn * MIB
