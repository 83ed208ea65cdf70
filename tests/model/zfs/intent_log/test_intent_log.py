"""The intent log: which writes go into it, how large its blocks are, and what of them is written."""

from __future__ import annotations

from raidsim.model.zfs.intent_log.block_sizes import BlockSizes
from raidsim.model.zfs.intent_log.log import Commit, IntentLog, LogBlock
from raidsim.model.zfs.intent_log.records import LogRecord, LogRules, log_records
from raidsim.model.zfs.map.mirror import Mirror
from raidsim.model.zfs.map.raidz import Raidz

KIB = 1024
POOL = LogRules(128 * KIB)
DEVICE = LogRules(128 * KIB, log_device=True)


def commits(log: IntentLog, size: int, count: int = 8) -> list[Commit]:
    """What `count` calls of O_DSYNC with `size` bytes write."""
    return [log.commit(log_records(log.rules, [(k * size, size)], True)) for k in range(count)]


def used(commit: Commit) -> list[int]:
    """KiB written of each log block."""
    return [block.used // KIB for block in commit.blocks]


def test_small_writes_are_copied_into_the_log() -> None:
    """Blocks of data + two headers in whole 4 KiB: 4 KiB of data take 8, 8 KiB take 12, 16 KiB take 20."""
    for size, block in ((4, 8), (8, 12), (16, 20)):
        last = commits(IntentLog(POOL), size * KIB)[-1]
        assert (used(last), last.in_place) == ([block], [])


def test_large_writes_go_in_place_without_a_log_device() -> None:
    """From 32 KiB on the record is written and the log gets 4 KiB; with a log device all data go there."""
    last = commits(IntentLog(POOL), 64 * KIB)[-1]
    assert (used(last), last.in_place) == ([4], [7 * 64 // 128])
    assert commits(IntentLog(DEVICE), 64 * KIB)[-1] == Commit([LogBlock(68 * KIB, 68 * KIB)], [], False)
    log = IntentLog(DEVICE)
    assert used(commits(log, 128 * KIB)[-1]) == [68, 64]
    # The first block was predicted from the calls of 128 KiB; the rest is divided evenly.
    assert used(commits(log, 512 * KIB, 1)[-1]) == [68, 112, 112, 112, 112]


def test_logbias_throughput_writes_in_place() -> None:
    """Also small writes, and also with a log device."""
    last = commits(IntentLog(LogRules(128 * KIB, True, True)), 4 * KIB)[-1]
    assert (used(last), last.in_place) == ([4], [0])


def test_what_is_written_in_place_has_a_log_record_for_each_record() -> None:
    """A write of 64 KiB that begins inside a 16 KiB record touches five; data in the log are one record a call."""
    parts = log_records(LogRules(16 * KIB), [(8 * KIB, 64 * KIB)], True)
    assert [part.block for part in parts] == [0, 1, 2, 3, 4]
    copied = log_records(LogRules(16 * KIB, True), [(0, 4 * KIB + 1)], True)
    assert copied == [LogRecord(192 + 4104)]
    assert log_records(LogRules(16 * KIB, True), [(0, 4 * KIB)], False) == [LogRecord(192, 4096)]


def test_the_first_commit_waits_for_a_transaction_group() -> None:
    """The group writes the log's head, and the data too: the block that goes with it is empty, as recorded."""
    log = IntentLog(POOL)
    assert log.commit([]) == Commit([], [], False)
    first, second = commits(log, 4 * KIB, 2)
    assert first == Commit([LogBlock(4 * KIB, 4 * KIB)], [], True)
    assert second == Commit([LogBlock(8 * KIB, 8 * KIB)], [], False)


def test_blocks_follow_the_bursts() -> None:
    """After 16 KiB bursts the waiting block is too small for 64 KiB twice, and too large for 4 KiB seven times."""
    log = IntentLog(LogRules(16 * KIB, True))
    commits(log, 16 * KIB)
    assert [used(each) for each in commits(log, 64 * KIB, 3)] == [[20, 48], [20, 48], [68]]
    commits(log, 64 * KIB)
    sizes = [each.blocks[0].size // KIB for each in commits(log, 4 * KIB, 12)]
    assert sizes == [68] * 7 + [8] * 5


def test_blocks_of_parallel_commits_expect_another_burst() -> None:
    """In the middle of a burst the next block is for its rest; with several processes also for the next burst."""
    sizes = []
    for parallel in (False, True):
        log = IntentLog(DEVICE)
        commits(log, 16 * KIB)
        records = log_records(log.rules, [(k * 16 * KIB, 16 * KIB) for k in range(2)], True)
        log.gather(records)
        assert [log.assign(each, parallel) for each in records] == [[], [LogBlock(20 * KIB, 20 * KIB)]]
        sizes.append(log.next_bytes // KIB)
    assert sizes == [20, 36]


def test_one_large_burst_does_not_change_the_prediction() -> None:
    """The largest of eight is left out if that saves half; two of them are not."""
    sizes = BlockSizes(128 * KIB)
    for _ in range(8):
        sizes.after(4000, 4000)
    sizes.after(60000, 192)
    assert sizes.predicted() == 4000
    sizes.after(60000, 192)
    assert sizes.predicted() == 60000


def test_parity_writes_the_whole_block() -> None:
    """A block that is partly used is written short on a mirror, and whole on raidz."""
    block = LogBlock(12 * KIB, 4 * KIB)
    assert block.written(Mirror(2, 12)) == 4 * KIB
    assert block.written(Raidz(3, 1, 12)) == 12 * KIB
