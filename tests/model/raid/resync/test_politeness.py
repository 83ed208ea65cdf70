"""What a resync thread takes for a busy array, by the kernel's rule, and what it does then."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import ModelError
from raidsim.model.core.request import READ, Request
from raidsim.model.raid.base.array_load import ArrayLoad
from raidsim.model.raid.resync.settings import ResyncSettings
from raidsim.model.raid.resync.thread import Resync
from raidsim.tests.model.raid.resync.test_thread import ARRAY_SPEED, KIB, MB, REQUEST, Copier


def drains(busy_by: str, unseen_bytes: int = 0, member_load: float = 0.0, waiting: bool = False) -> int:
    """How often a thread of ten seconds drains; `waiting`: an I/O has come to the array, and to no member."""
    engine = Engine()
    array = Copier(engine, 1 << 50, member_load)
    assert busy_by in ("members", "array")
    settings = ResyncSettings(
        1 * MB,
        200 * MB,
        REQUEST,
        2 * REQUEST,
        8,
        when_busy="drain",
        busy_by="array" if busy_by == "array" else "members",
        unseen_bytes=unseen_bytes,
    )
    if waiting:
        array.own_load.add(Request(READ, 0, 4 * KIB, lambda _: None))
    resync = Resync(engine, array, settings, warm=False)
    engine.spawn(resync.run())
    engine.run(until=10.0)
    return resync.drains


def test_io_that_waits_in_the_array_is_seen_since_6_16() -> None:
    """Protects 6.16's rule: I/O that has come to no member makes the array busy."""
    assert drains("array", waiting=True) > 100


def test_io_that_waits_in_the_array_is_not_seen_before() -> None:
    """The counter-test: by the members' statistics the array is idle, so the resync goes on at full speed."""
    assert drains("members", waiting=True) == 0


def test_others_io_on_the_members_is_not_seen_since_6_16() -> None:
    """Protects the other side of the rule: what others do on the members counts only before 6.16."""
    assert drains("array", member_load=10 * MB) == 0
    assert drains("members", member_load=10 * MB) > 100


def test_a_short_resync_queue_is_not_drained() -> None:
    """Protects sync_io_depth: with less of its own I/O under way the thread does not look."""
    assert drains("array", unseen_bytes=9 * REQUEST, waiting=True) == 0


def test_a_load_counts_what_is_under_way_and_complete() -> None:
    """Protects the counts: an I/O is under way until it is complete, and its own callback is called."""
    load = ArrayLoad()
    done: list[Request] = []
    request = Request(READ, 0, 4 * KIB, done.append)
    load.add(request)
    assert (load.under_way, load.completed_bytes) == (1, 0)
    request.complete()
    assert (load.under_way, load.completed_bytes) == (0, 4 * KIB)
    assert done == [request]


def test_no_thread_that_naps_looks_at_the_array() -> None:
    """Protects against a kernel that never was."""
    with pytest.raises(ModelError, match="busy_by array"):
        ResyncSettings(1 * MB, 200 * MB, REQUEST, 2 * REQUEST, 8, busy_by="array")


def rate_of_a_share(share: float, member_load: float) -> float:
    """Bytes/s of a rebuild by firmware that has a share of the time."""
    engine = Engine()
    array = Copier(engine, 1 << 50, member_load)
    paced = ResyncSettings(0.0, float("inf"), REQUEST, 2 * REQUEST, 8, when_busy="share", share=share)
    resync = Resync(engine, array, paced, warm=False)
    engine.spawn(resync.run())
    engine.run(until=10.0)
    return array.copied / 10.0


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6])
def test_firmware_keeps_to_its_share_of_the_time(share: float) -> None:
    """Protects the rebuild rate: under load it copies for this part of the time."""
    assert rate_of_a_share(share, 10 * MB) == pytest.approx(share * ARRAY_SPEED, rel=0.1)


@pytest.mark.parametrize(("share", "member_load"), [(0.1, 0.0), (1.0, 10 * MB)])
def test_firmware_rests_on_no_idle_array_and_at_no_full_share(share: float, member_load: float) -> None:
    """Counter-tests: nobody else wants the drives, or the rebuild goes first."""
    assert rate_of_a_share(share, member_load) == pytest.approx(ARRAY_SPEED, rel=0.02)
