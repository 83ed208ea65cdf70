"""Readers of a parity array that sleep for want of stripe heads, and share what gets free."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ
from raidsim.model.kernels import kernel
from raidsim.model.raid.parity_until_4_0.waiting_readers import WaitingReaders
from raidsim.model.raid.stripes.stripe_cache import StripeCache
from raidsim.tests.model.raid.parity_bench import CHUNK, PAGE, Bench
from raidsim.tests.model.raid.parity_reader import reading

HEADS = CHUNK // PAGE
ORDER: dict[str, Any] = {"hold": 5.0, "shared_plug": True, "copies_reads": False, "heads": 2 * HEADS}
TURNS: dict[str, Any] = {**ORDER, "waiting_readers": True}


class Bare:
    """Turns over a cache of 16 heads, and what was begun: (reader, row, low, high)."""

    def __init__(self, processors: int) -> None:
        self.cache = StripeCache(16, PAGE, CHUNK)
        self.turns = WaitingReaders(self.cache, processors, lambda: None)
        self.begun: list[tuple[int, int, int, int]] = []

    def read(self, issuer: int, row: int, low: int, high: int) -> None:
        self.turns.read(issuer, row, low, high, lambda a, b: self.begun.append((issuer, row, a, b)))


@pytest.mark.parametrize(("processors", "shares"), [(1, {1: 8}), (2, {1: 4, 2: 4}), (4, {1: 4, 2: 4})])
def test_who_runs_shares_what_is_free(processors: int, shares: dict[int, int]) -> None:
    """Protects the rule of raid5.c: all who sleep are woken, and as many as run at once take heads until none is left.

    With one processor the first takes all eight, which is the counter-test: nobody shares.
    """
    bare = Bare(processors)
    for row in (0, 1):
        assert bare.cache.acquire(row, 0, 8 * PAGE)
    bare.read(1, 10, 0, CHUNK)
    bare.read(2, 20, 0, CHUNK)
    assert not bare.begun
    bare.cache.release(0)
    taken = {issuer: (high - low) // PAGE for issuer, _, low, high in bare.begun}
    assert taken == shares
    assert bare.turns.sleeps(1)
    assert bare.turns.sleeps(2)


def test_a_sleeper_submits_nothing_else() -> None:
    """Protects the order of one process: what comes after a piece it sleeps for waits, though its row has its heads."""
    bare = Bare(1)
    assert bare.cache.acquire(0, 0, CHUNK)
    bare.read(1, 10, 0, 4 * PAGE)
    bare.read(1, 0, 0, PAGE)
    assert not bare.begun
    bare.cache.release(0)
    assert bare.begun == [(1, 10, 0, 4 * PAGE), (1, 0, 0, PAGE)]
    assert not bare.turns


def test_a_quarter_has_to_be_free() -> None:
    """Protects md's hysteresis: three heads of sixteen wake nobody."""
    bare = Bare(1)
    assert bare.cache.acquire(0, 0, 13 * PAGE)
    assert bare.cache.acquire(1, 0, 3 * PAGE)
    bare.read(1, 10, 0, PAGE)
    bare.cache.release(1)
    assert not bare.begun
    assert bare.cache.full
    assert not bare.cache.acquire(2, 0, PAGE)
    bare.cache.release(0)
    assert bare.begun == [(1, 10, 0, PAGE)]
    assert not bare.cache.full


@pytest.mark.parametrize("writers_first", [False, True])
def test_who_waits_longest_is_served_first(writers_first: bool) -> None:
    """Protects the one queue of readers and writers: a reader has its turn though further writes always wait.

    A writer that came before the reader goes first, which is the counter-test.
    """
    bare = Bare(1)
    cache = bare.cache
    assert cache.acquire(0, 0, CHUNK)
    order: list[str] = []
    if writers_first:
        cache.wait(1, 0, CHUNK, lambda: order.append("write"))
    bare.turns.read(1, 20, 0, CHUNK, lambda low, high: order.append("read"))
    for row in (2, 3):
        cache.wait(row, 0, CHUNK, lambda: order.append("write"))
    for row in (0, 1, 20, 2) if writers_first else (0, 20, 2):
        cache.release(row)
    assert order == (["write", "read", "write", "write"] if writers_first else ["read", "write", "write"])


def test_a_turn_without_a_free_head_is_kept() -> None:
    """Protects a reader that is next when no head is free: it stays ahead of writes that come later."""
    bare = Bare(1)
    cache = bare.cache
    assert cache.acquire(0, 0, 8 * PAGE)
    assert cache.acquire(1, 0, 8 * PAGE)
    order: list[str] = []
    cache.wait(2, 0, 8 * PAGE, lambda: order.append("write"))
    bare.turns.read(1, 20, 0, PAGE, lambda low, high: order.append("read"))
    cache.wait(3, 0, 8 * PAGE, lambda: order.append("write"))
    cache.release(0)
    assert order == ["write"]
    cache.release(1)
    assert order == ["write", "read"]


@pytest.mark.parametrize(("settings", "parts"), [(TURNS, [8, 8]), (ORDER, [16])])
def test_a_chunk_is_read_as_far_as_heads_go(settings: dict[str, Any], parts: list[int]) -> None:
    """Protects what many readers do to an array of 2.4: a process submits what it has heads for, and sleeps then.

    Eight heads are left for a chunk of sixteen. In the order of requests, the counter-test, it waits as a whole.
    """
    bench = Bench(**settings)
    bench.issuer.send(READ, 0, CHUNK, issuer=1)
    bench.issuer.send(READ, 3 * CHUNK, CHUNK // 2, issuer=2)
    before = [len(disk.sent(READ)) for disk in bench.disks]
    bench.issuer.send(READ, 6 * CHUNK, CHUNK, issuer=3)
    bench.engine.run()
    third = [size // PAGE for disk, old in zip(bench.disks, before, strict=True) for _, size in disk.sent(READ)[old:]]
    assert third == parts
    assert len(bench.times()) == 3
    assert bench.array.cache.in_use == 0


def test_a_sleeper_copies_nothing() -> None:
    """Protects the sleep in a submission: a reader whose next window has no heads does not copy what it has meanwhile.

    With heads for all of it, the counter-test, the copying costs no more than without turns.
    """
    few = {**TURNS, "heads": HEADS // 2}
    copying = 12 * CHUNK * 5e-9
    slept = reading(few, 5e-9) - reading(few, 0.0)
    awake = reading(TURNS | {"heads": 256}, 5e-9) - reading(TURNS | {"heads": 256}, 0.0)
    ordered = reading(ORDER | {"heads": 256}, 5e-9) - reading(ORDER | {"heads": 256}, 0.0)
    assert slept > awake + 0.1 * copying
    assert awake == pytest.approx(ordered)


def test_kernels_that_share_heads() -> None:
    """Protects the description: all of 2.4 share heads, and 2.2 locks rows instead."""
    assert kernel("linux-2.4.5").raid5.waiting_readers
    assert kernel("linux-2.4.5").raid5.gathers_per_head
    for later in ("linux-2.4.17", "linux-2.4.18", "linux-2.4.18-3", "linux-2.4.21", "linux-2.4.26"):
        assert kernel(later).raid5.waiting_readers
        assert kernel(later).raid5.gathers_per_head
    assert not kernel("linux-2.2.7").raid5.waiting_readers


def test_only_drivers_with_a_limited_cache_have_turns() -> None:
    """Protects the refusal: md's thread of today takes heads itself, and rows that are locked wait for each other."""
    for settings in ({**TURNS, "hold": None}, {**TURNS, "heads": 0}, {**TURNS, "locks_rows": True}):
        with pytest.raises(ModelError, match="share the heads"):
            Bench(**settings)
