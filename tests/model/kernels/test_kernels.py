"""The catalogue of kernels."""

from __future__ import annotations

import re

import pytest
from pydantic import ValidationError

from raidsim.model.core.errors import InputError
from raidsim.model.kernels import KernelSpec, kernel, kernel_names
from raidsim.model.raid.mirrors.barrier import RESYNC_BARRIER
from raidsim.model.raid.read_balance import READ_BALANCE
from raidsim.model.readahead import READ_AHEAD

KIB = 1024
LINUX = [name for name in kernel_names() if name.startswith("linux-")]
LINUX_24 = [name for name in LINUX if name.startswith("linux-2.4")]


def since(*version: int) -> list[str]:
    """The kernels of this version and later, variants included."""
    return [name for name in LINUX if tuple(map(int, re.findall(r"\d+", name))) >= version]


@pytest.mark.parametrize("name", LINUX)
def test_a_linux_kernel_names_what_there_is(name: str) -> None:
    """Protects the catalogue: every policy that a kernel names exists, and every section has a source."""
    spec = kernel(name)
    assert f"linux-{spec.version}" == name
    assert spec.read_ahead.policy in READ_AHEAD
    assert spec.raid1.balance in READ_BALANCE
    assert spec.raid1.barrier in RESYNC_BARRIER
    if spec.raid10 is not None:
        assert spec.raid10.balance in READ_BALANCE
        assert spec.raid10.barrier in RESYNC_BARRIER
    cache = spec.cache
    assert cache.flush_below <= (cache.flush_above if cache.limit_counts_writeback else cache.limit)
    # Who writes nothing back himself waits for a flusher that has begun before; until 2.4.7 it began at half of what
    # makes writers write, from 2.4.8 to 2.4.19 later than they.
    early = cache.limit_counts_writeback or cache.duty == 0 or name == "linux-2.4.5"
    assert (cache.flush_above <= cache.limit) is early


def test_raid10_is_not_older_than_2_6_9() -> None:
    """Protects from an array that the kernel did not have: 2.6.12 has md's RAID 10, 2.6.8 has not."""
    assert [name for name in LINUX if kernel(name).raid10 is not None] == since(2, 6, 9)
    assert set(LINUX) - set(since(2, 6, 9)) >= {"linux-2.6.8", "linux-2.4.26"}


def test_what_kernels_learned_in_between() -> None:
    """Protects the years: write-intent bitmaps since 2.6.14, CFQ the default since 2.6.18, reads past the stripe cache
    since 2.6.20. Ubuntu built its server's kernel with the deadline scheduler and 100 ticks a second.
    """
    assert [name for name in LINUX if kernel(name).write_intent] == since(2, 6, 14)
    assert [name for name in LINUX if kernel(name).bitmap_waits != "thread"] == since(3, 6)
    assert [name for name in LINUX if kernel(name).bitmap_waits == "plugged-task"] == since(6, 5)
    assert [name for name in LINUX if kernel(name).raid5.direct_reads] == since(2, 6, 20)
    assert kernel("linux-2.6.20").queue.scheduler == "cfq"
    assert {name for name in LINUX if kernel(name).queue.scheduler == "cfq"} <= set(since(2, 6, 18))
    server = kernel("linux-2.6.20-server")
    assert (server.queue.scheduler, server.queue.plug_delay, server.raid5.hold) == ("deadline", 0.01, 0.01)


@pytest.mark.parametrize(("chunk_kib", "window_kib"), [(16, 128), (64, 384), (256, 1536)])
def test_2_6_12_reads_two_stripes_ahead(chunk_kib: int, window_kib: int) -> None:
    """Protects RAID 0 of three members from windows that keep one of them busy; 128 KiB at least. Counter-test: 2.6.8,
    which has a drive's window.
    """
    stripe_bytes = 3 * chunk_kib * KIB
    assert kernel("linux-2.6.12").read_ahead.window_for_stripes(stripe_bytes, 3) == window_kib * KIB
    assert kernel("linux-2.6.8").read_ahead.window_for_stripes(stripe_bytes, 3) == 128 * KIB


@pytest.mark.parametrize("name", LINUX_24)
def test_2_4_reads_four_chunks_of_every_member_ahead(name: str) -> None:
    """Protects RAID 0 of four drives on 2.4 from windows of two chunks: 1 MiB with chunks of 64 KiB, as on RAID 5 of
    five; with chunks of 4 KiB 248 KiB a drive. A plain drive and a mirror, which have no stripe, keep 124 KiB, or the
    508 KiB of Red Hat's.
    """
    section = kernel(name).read_ahead
    assert section.window_for_stripes(4 * 64 * KIB, 4) == 1024 * KIB == section.window_for_parity(4, 64 * KIB)
    assert section.window_for_stripes(4 * 4 * KIB, 4) == 992 * KIB == section.window_for_parity(4, 4 * KIB)
    assert section.window_for_stripes(0, 2) == (508 if name == "linux-2.4.18-3" else 124) * KIB


def test_files_begin_at_the_front_of_their_group_before_2_6() -> None:
    """Protects where files lie that are written at the same time: the process number shifts them since 2.6 only. Who
    writes keeps the processor for a slice of time.
    """
    assert [name for name in LINUX if not kernel(name).goal_shift_by_process] == LINUX_24
    assert [name for name in LINUX if kernel(name).time_slice] == LINUX_24


@pytest.mark.parametrize(
    ("optimal_kib", "window_kib"), [(0, 128), (64, 128), (128, 256), (192, 384), (256, 512), (2048, 4096)]
)
def test_6_1_reads_two_optimal_ios_ahead(optimal_kib: int, window_kib: int) -> None:
    """Protects the default of read_ahead_kb: twice a stripe of data, 128 KiB at least."""
    assert kernel("linux-6.1").read_ahead.window_for(optimal_kib * KIB) == window_kib * KIB


@pytest.mark.parametrize("name", ["linux-2.4.26", "linux-2.6.8"])
def test_older_kernels_do_not_look_at_the_optimal_io(name: str) -> None:
    """The counter-test: before, only parity arrays read further ahead, by a rule of their own."""
    section = kernel(name).read_ahead
    assert section.window_for(2048 * KIB) == section.window
    assert section.window_for_parity(3, 64 * KIB) > section.window


@pytest.mark.parametrize(("depth", "tags"), [(1, 2), (32, 64), (128, 256), (1024, 256)])
def test_a_scheduler_of_6_1_has_twice_the_tags(depth: int, tags: int) -> None:
    """Protects nr_requests: 64 for a SATA drive of 32 tags, never more than 256."""
    assert kernel("linux-6.1").queue.tags_for(depth) == tags


def test_6_1_plugs_in_the_task_and_throttles_writes() -> None:
    """Protects the two things by which 6.1's queues differ most from 2.6's."""
    new, old = kernel("linux-6.1").queue, kernel("linux-2.6.8").queue
    assert (new.task_plug, old.task_plug) == (True, False)
    assert (new.throttle_rotational, new.throttle_solid) == (0.075, 0.002)
    assert (old.throttle_rotational, old.throttle_solid) == (0.0, 0.0)


def test_a_kernel_may_be_given_by_what_differs() -> None:
    """Protects `as`: 6.12 is 6.1 but for what its file says, field by field."""
    new, old = kernel("linux-6.12"), kernel("linux-6.1")
    assert (new.version, old.version) == ("6.12", "6.1")
    assert (new.crypt.largest, old.crypt.largest) == (128 * KIB, 1024 * KIB)
    assert new.crypt.queues is old.crypt.queues is True, "not said again"
    for section in ("cache", "read_ahead", "raid5", "raid1", "resync", "pipe"):
        assert getattr(new, section) == getattr(old, section)
    said = {"batch_follows", "busy_ticks", "plugs_writes_above", "write_share", "write_share_per_word", "source"}
    assert new.queue.model_dump(exclude=said) == old.queue.model_dump(exclude=said)


def test_writers_are_balanced_today_and_stopped_before() -> None:
    """Protects the throttle: since 3.2 it works between the middle of the thresholds and the limit of a fifth."""
    assert [name for name in LINUX if kernel(name).cache.throttle == "balance"] == since(3, 2)
    assert (kernel("linux-6.1").cache.flush_above, kernel("linux-6.1").cache.limit) == (0.1, 0.2)


def test_an_unknown_kernel_is_refused() -> None:
    """Protects from typing errors: the message names those there are."""
    with pytest.raises(InputError, match=r"linux-6\.1"):
        kernel("linux-6.2")


@pytest.mark.parametrize(
    ("section", "field", "value"),
    [
        ("cache", "interleaves", True),
        ("cache", "task_plug", True),
        ("raid5", "workers", 2),
        ("raid5", "discards", True),
    ],
)
def test_what_is_no_kernels_to_say_is_refused(section: str, field: str, value: object) -> None:
    """Protects kernel files from settings that would be ignored: they follow from a device or from an array."""
    data = kernel("linux-6.1").model_dump()
    assert KernelSpec.model_validate(data) == kernel("linux-6.1")
    data[section][field] = value
    with pytest.raises(ValidationError, match=f"{field} .*leave it out"):
        KernelSpec.model_validate(data)


@pytest.mark.parametrize(
    ("name", "requests", "depth", "writes"),
    [
        ("linux-6.1", 64, 32, 64),  # 48 a word of 16
        ("linux-6.1", 64, 1, 4),  # nr_requests set by hand: one a word
        ("linux-6.1", 2, 1, 2),
        ("linux-6.12", 64, 32, 64),
        ("linux-6.12", 64, 1, 2),  # what it was before nr_requests was set, for the bitmap as a whole
        ("linux-6.12", 2, 1, 2),
    ],
)
def test_how_many_tags_writes_get(name: str, requests: int, depth: int, writes: int) -> None:
    """Protects async_depth of mq-deadline: three quarters a word in 6.1, the former nr_requests in all in 6.12."""
    assert kernel(name).queue.write_tags(requests, depth) == writes


def test_6_12_differs_from_6_1_in_what_it_says() -> None:
    """Protects the file of 6.12: plugs, RAID 10 and tags of writes are its own; everything else is 6.1's."""
    old, new = kernel("linux-6.1"), kernel("linux-6.12")
    assert (old.queue.plugs_writes_above, new.queue.plugs_writes_above) == (0, 1 << 20)
    assert old.queue.plugs_reads_above == new.queue.plugs_reads_above == 1 << 20
    assert old.raid10 is not None
    assert new.raid10 is not None
    assert (old.raid10.holds_writes, old.raid10.chunk_limit) == (True, False)
    assert (new.raid10.holds_writes, new.raid10.chunk_limit) == (False, True)
