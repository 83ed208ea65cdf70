"""Writes of RAID 4, 5 and 6: what is read first, gathering by row, and holding rows back."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from raidsim.model.core.request import WRITE
from raidsim.model.raid.metadata.bitmap import WriteIntentBitmap
from raidsim.model.raid.metadata.bitmap_waits import RowWaits
from raidsim.model.raid.parity.array import ParityArray
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.recording import KIB

# clean writes


def test_a_full_stripe_reads_nothing() -> None:
    """Protects full-stripe writes: 192 KiB on four disks are four chunk writes side by side, 1 ms, and no read."""
    bench = Bench()
    bench.issuer.write(0, 3 * CHUNK, sync=True)
    bench.engine.run()
    assert bench.reads() == [[]] * 4
    assert bench.writes() == [[(0, CHUNK)]] * 4
    assert bench.times() == pytest.approx([0.001])
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 0}


@pytest.mark.parametrize(
    ("members", "level", "read", "written"),
    [
        (4, "raid5", {1, 2}, {0, 3}),
        (5, "raid5", {0, 4}, {0, 4}),
        (8, "raid5", {0, 7}, {0, 7}),
        (5, "raid4", {0, 4}, {0, 4}),
        (7, "raid6", {0, 5, 6}, {0, 5, 6}),
        (4, "raid6", {1}, {0, 2, 3}),
    ],
)
def test_a_small_write_reads_first(members: int, level: str, read: set[int], written: set[int]) -> None:
    """Protects the small write: reads side by side, then writes side by side, 2 ms. Data comes first in every row 0
    here, then P, then Q, but for RAID 6, where left-symmetric begins after Q.
    """
    bench = Bench(members, level)
    first = bench.array.layout.row(0).data[0]
    turn = {slot: (slot + first) % members for slot in range(members)}
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.reads()) if runs} == {turn[slot] for slot in read}
    assert {slot for slot, runs in enumerate(bench.writes()) if runs} == {turn[slot] for slot in written}
    assert bench.times() == pytest.approx([0.002])
    assert bench.array.parity_reads == len(read)


def test_each_range_of_a_row_has_its_own_plan() -> None:
    """Protects unaligned writes: 64 KiB from the middle of chunk 0 on three disks. The upper half rewrites data 0 and
    reads data 1, the lower half rewrites data 1 and reads data 0.
    """
    bench = Bench(3)
    bench.issuer.write(CHUNK // 2, CHUNK, sync=True)
    bench.engine.run()
    half = CHUNK // 2
    assert bench.reads() == [[(0, half)], [(half, half)], []]
    assert bench.writes() == [[(half, half)], [(0, half)], [(0, CHUNK)]]


def test_less_than_a_block_is_a_block() -> None:
    """Protects sub-block writes: 1 KiB at 3 KiB is done as the 4 KiB around it, whose own contents are read."""
    bench = Bench(3)
    bench.issuer.write(3 * KIB, KIB, sync=True)
    bench.engine.run()
    assert bench.reads() == [[(0, PAGE)], [(0, PAGE)], []]
    assert bench.writes() == [[(0, PAGE)], [], [(0, PAGE)]]


def test_rmw_level_0_reconstructs() -> None:
    """Protects md's setting: on five disks the other three blocks are read instead of old data and P."""
    bench = Bench(5, rmw_level=0)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert {slot for slot, runs in enumerate(bench.reads()) if runs} == {1, 2, 3}


def test_a_row_written_again_is_not_read_again() -> None:
    """Protects the stripe cache: the second write of a block, and one beside it, find the row in memory."""
    bench = Bench(5)
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    bench.forget()
    bench.issuer.write(0, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() == [[]] * 5
    bench.issuer.write(PAGE, PAGE, sync=True)
    bench.engine.run()
    assert bench.reads() != [[]] * 5, "the counter-test: the block after it was never read"


def test_rows_are_forgotten() -> None:
    """Protects the size of the cache: 16 heads of 4 KiB keep one row of 64 KiB; after another one it is read anew."""
    bench = Bench(5, heads=16)
    for row in (0, 1, 0):
        bench.forget()
        bench.issuer.write(row * 4 * CHUNK, PAGE, sync=True)
        bench.engine.run()
    assert sum(len(runs) for runs in bench.reads()) == 2


# gathering


def test_a_row_completed_by_later_requests_is_not_read_up() -> None:
    """Protects sequential write-back: pieces of 4 KiB that nobody waits for fill the row within its 3 ms."""
    bench = Bench()
    for at in range(0, 3 * CHUNK, PAGE):
        bench.issuer.write(at, PAGE)
    bench.engine.run()
    assert bench.reads() == [[]] * 4
    assert [len(disk.log) for disk in bench.disks] == [1] * 4, "and each member gets one write"
    assert bench.times() == pytest.approx([0.001] * 48)


@pytest.mark.parametrize("gathers_per_head", [True, False])
def test_pieces_of_two_files_fill_a_row(gathers_per_head: bool) -> None:
    """Protects files that lie between each other: every head gathers for itself, so the row is written whole.

    Where a hole lets the row go, the counter-test, members are read up for it.
    """
    bench = Bench(gathers_per_head=gathers_per_head)
    for first in range(0, 3 * CHUNK, 4 * PAGE):
        for at in (first, first + 2 * PAGE, first + PAGE, first + 3 * PAGE):
            bench.issuer.write(at, PAGE)
    bench.engine.run()
    assert len(bench.issuer.done) == 48
    assert (bench.reads() == [[]] * 4) == gathers_per_head
    assert (bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 0}) == gathers_per_head


def test_a_block_written_again_lets_its_row_go() -> None:
    """Protects the order of writes: new data for a head that has some waits for the next row, holes or not."""
    bench = Bench(gathers_per_head=True)
    for at in (0, 2 * PAGE, 0):
        bench.issuer.write(at, PAGE)
    bench.engine.run()
    assert sum(bench.array.row_writes.values()) == 3


def test_writes_that_are_waited_for_are_not_held() -> None:
    """The counter-test: the same pieces as sync writes are read up one by one."""
    bench = Bench()
    for at in range(0, 3 * CHUNK, PAGE):
        bench.issuer.write(at, PAGE, sync=True)
    bench.engine.run()
    assert bench.array.row_writes["rcw"] > 16


@pytest.mark.parametrize("hold_s", [0.003, 0.01])
def test_an_incomplete_row_is_held_back_and_then_read_up(hold_s: float) -> None:
    """Protects the hold: a lone write nobody waits for starts after its time, reads 1 ms, writes 1 ms."""
    bench = Bench(hold=hold_s)
    bench.issuer.write(0, PAGE)
    bench.engine.run()
    assert bench.times() == pytest.approx([hold_s + 0.002])


def test_every_row_is_held_for_its_own_time() -> None:
    """Protects rows from each other's timers: a row that begins 2 ms later is read up 2 ms later."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.engine.call_at(0.002, lambda _: bench.issuer.write(3 * CHUNK, PAGE))
    bench.engine.run()
    assert bench.times() == pytest.approx([0.005, 0.007])


def test_who_waits_has_incomplete_rows_read_up() -> None:
    """Protects md's unplugging: somebody waits, so the row is read up at once, not after 3 ms."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.array.unplug()
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002])


def test_not_while_rows_are_being_read_up_already() -> None:
    """Protects rows that come during a reading-up: the unplugging in between leaves them to their neighbors."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.array.unplug()
    bench.issuer.write(3 * CHUNK, PAGE)
    bench.array.unplug()
    bench.engine.run()
    assert bench.times() == pytest.approx([0.002, 0.005])


def test_a_row_that_lacks_only_what_is_cached_is_not_held() -> None:
    """Protects rewriting: on four disks the first write of a block brought the rest of its row, so the next one of the
    same block has nothing to wait for; one of another block is held.
    """
    for offset, seconds in ((0, 0.001), (PAGE, 0.003 + 0.002)):
        bench = Bench()
        bench.issuer.write(0, PAGE, sync=True)
        bench.engine.run()
        begun = bench.engine.now
        bench.issuer.write(offset, PAGE)
        bench.engine.run()
        assert bench.times()[-1] - begun == pytest.approx(seconds)


def test_a_block_written_twice_is_written_in_order() -> None:
    """Protects overwriting: the second write of a gathered block does not vanish in the first."""
    bench = Bench()
    bench.issuer.write(0, PAGE)
    bench.issuer.write(0, PAGE)
    bench.engine.run()
    assert len(bench.disks[0].sent(WRITE)) == 2
    assert len(bench.issuer.done) == 2


def test_a_write_over_two_rows_ends_with_the_second() -> None:
    """Protects latency: the first row is full, 1 ms; of the second one block is read up and written, 2 ms more."""
    bench = Bench()
    bench.issuer.write(0, 3 * CHUNK + PAGE, sync=True)
    bench.engine.run()
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 1}
    assert len(bench.times()) == 1
    assert bench.times()[0] >= 0.003


# who waits for heads


@pytest.mark.parametrize("unplugs", [True, False])
def test_on_linux_2_4_who_waits_for_heads_has_incomplete_rows_read_up(unplugs: bool) -> None:
    """Protects the heads of rows that nobody completes: two rows of 16 heads take them all, and a third has to wait. It
    gets its heads at once where waiting lets rows go, and its own row is let go when md's thread has run; otherwise
    both come after 5 s.
    """
    bench = Bench(heads=32, hold=5.0, shared_plug=unplugs)
    for row in range(3):
        bench.issuer.write(row * 3 * CHUNK, CHUNK)
    bench.engine.run(until=0.1)
    assert len(bench.times()) == (3 if unplugs else 0)
    bench.engine.run()
    assert len(bench.times()) == 3


def test_rows_are_let_go_when_no_other_is_read_up_any_more() -> None:
    """Protects IO_THRESHOLD for who waits for heads: what is incomplete when rows are being read up goes after them,
    not beside them, so neighbors that come in time make it full.
    """
    bench = Bench(heads=32, hold=5.0, shared_plug=True)
    bench.issuer.write(0, CHUNK)
    bench.issuer.write(3 * CHUNK, CHUNK)
    for chunk in range(3):
        bench.issuer.write((6 + chunk) * CHUNK, CHUNK)
    bench.engine.run(until=0.1)
    assert bench.array.row_writes == {"full": 1, "rmw": 0, "rcw": 2}


class _UnplugsAtOnce(RowWaits):
    """Bits that are on the members at once, whereupon a writer goes on and unplugs the array."""

    __slots__ = ("array",)
    array: ParityArray

    def hold(self, go: Callable[[], None]) -> None:
        self.array.unplug()
        go()


@pytest.mark.parametrize("by_timer", [False, True])
def test_rows_may_be_completed_while_one_is(by_timer: bool) -> None:
    """Protects arrays with a bitmap: completing one row wakes a writer, whose unplug completes the other ones."""
    bench = Bench(hold=0.003)
    waits = _UnplugsAtOnce(WriteIntentBitmap(bench.engine, bench.array, 1 << 20))
    waits.array = bench.array
    bench.array._writer.keep_bitmap(waits)
    for row in range(3):
        bench.issuer.write(3 * CHUNK * row, PAGE)
    if not by_timer:
        bench.array.unplug()
    bench.engine.run()
    assert len(bench.times()) == 3
    assert bench.array.row_writes["rcw"] + bench.array.row_writes["rmw"] == 3
