"""An I/O's way through the machine: parts that add up, and the way of whoever was complete last."""

from __future__ import annotations

import pytest

from raidsim.model.core.join import FORWARD, Parts
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.schedulers.base import QueuedRequest
from raidsim.model.waits.causes import CAUSES, CPU, DRIVE_QUEUE, SEEK, TAG
from raidsim.model.waits.trail import SAMPLED, WHOLE, IoWaits, Mark, followed, spans, waited


def begun(at: float = 0.0) -> Mark:
    """A trail that begins."""
    return Mark(None, 1, at)


def request(trail: Mark | None) -> Request:
    """An I/O with a trail."""
    return Request(READ, 0, 4096, lambda _: None, trail=trail)


def test_parts_follow_each_other() -> None:
    """Each part begins where the one before ends; what took no time is no part."""
    trail = waited(waited(waited(begun(1.0), CPU, 2.0), TAG, 2.0), SEEK, 5.0)
    assert spans(trail) == [(CPU, 1.0, 2.0), (SEEK, 2.0, 5.0)]
    assert spans(None) == []


def test_a_mark_in_the_past_is_none() -> None:
    """Protects the sum: a wait that was over before the last mark takes nothing away from it."""
    trail = waited(begun(), CPU, 2.0)
    assert waited(trail, SEEK, 1.0) is trail


def test_who_shares_an_operation_takes_its_later_marks() -> None:
    """An I/O that joined at 3 s has waited for its own reasons until then, and for those of the operation since."""
    own = waited(begun(), CPU, 3.0)
    other = waited(waited(begun(), TAG, 2.0), SEEK, 6.0)
    assert spans(followed(own, other)) == [(CPU, 0.0, 3.0), (SEEK, 3.0, 6.0)]
    assert followed(own, None) is own
    longer = waited(own, SEEK, 4.0)
    assert followed(own, longer) is longer


def test_the_last_part_gives_the_whole_its_way() -> None:
    """Of two members the one that is complete last is the critical path."""
    whole = request(begun())
    parts = Parts(2, whole)
    first = Request(READ, 0, 512, parts, trail=whole.trail)
    last = Request(READ, 0, 512, parts, trail=whole.trail)
    assert first.trail is not None
    assert last.trail is not None
    first.trail, last.trail = waited(first.trail, SEEK, 1.0), waited(last.trail, DRIVE_QUEUE, 4.0)
    first.complete()
    last.complete()
    assert spans(whole.trail) == [(DRIVE_QUEUE, 0.0, 4.0)]
    alone = request(begun())
    Request(READ, 0, 512, FORWARD, parent=alone, trail=waited(begun(), TAG, 2.0)).complete()
    assert spans(alone.trail) == [(TAG, 0.0, 2.0)]


def test_what_is_merged_has_the_way_of_the_request() -> None:
    """Each block I/O of a queued request goes its way from when it came."""
    first, second, third = request(None), request(waited(begun(), CPU, 1.0)), request(waited(begun(), CPU, 2.0))
    queued = QueuedRequest(first, 0.0, lambda _: None)
    queued.append(second)
    queued.append(third)
    assert queued.trail is not None
    queued.trail = waited(queued.trail, SEEK, 5.0)
    queued.complete_parts()
    assert first.trail is None
    assert spans(second.trail) == [(CPU, 0.0, 1.0), (SEEK, 1.0, 5.0)]
    assert spans(third.trail) == [(CPU, 0.0, 2.0), (SEEK, 2.0, 5.0)]


def test_totals_count_for_as_many_as_they_stand_for() -> None:
    """The first I/Os are all accounted, then one of some, which weighs as many."""
    waits = IoWaits()
    trails = [waits.begin(0.0) for _ in range(WHOLE + 3 * SAMPLED)]
    kept = [trail for trail in trails if trail is not None]
    assert len(kept) == WHOLE + 3
    for trail in kept:
        waits.end(WRITE, waited(trail, SEEK, 2.0), 2.0)
    assert waits.writes.ios == len(kept)
    assert waits.writes.seconds[SEEK] == 2.0 * (WHOLE + 3 * SAMPLED)
    assert waits.writes.off_s == 0.0
    assert waits.reads.ios == 0


def test_a_remainder_is_seen() -> None:
    """The counter-test of the law: parts that do not add up to the response time are told."""
    waits = IoWaits()
    trail = waits.begin(0.0)
    assert trail is not None
    waits.end(READ, waited(trail, SEEK, 2.0), 3.0)
    assert waits.reads.off_s == pytest.approx(1.0)


def test_causes_have_names_of_their_own() -> None:
    """Protects the table of causes: a number is the place of its words."""
    assert len(set(CAUSES)) == len(CAUSES)
    assert CAUSES[CPU] == "CPU"
    assert CAUSES[SEEK] == "seek"
