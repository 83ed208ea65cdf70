"""Who gets a tag next: in order, but without a write tag those that need none go first."""

from __future__ import annotations

from raidsim.model.block.tag_waits import TagWaits
from raidsim.model.core.request import READ, WRITE, Request


def request(name: int, write: bool = False) -> Request:
    """One that is known by its offset."""
    return Request(WRITE if write else READ, name, 512, lambda _: None, issuer=-name)


def taken(waits: TagWaits, *write_tags: bool) -> list[int]:
    """Which requests are taken, one for each of these."""
    return [-1 if (one := waits.next(write_tag)) is None else one.offset for write_tag in write_tags]


def lined_up(*kinds: str) -> TagWaits:
    """Requests 1, 2, ... of these kinds."""
    waits = TagWaits()
    for number, kind in enumerate(kinds, 1):
        waits.add(request(number, kind == "w"), kind == "w")
    return waits


def test_they_are_taken_in_order() -> None:
    """With tags of all kinds, whatever their kinds; the first one is known before."""
    waits = lined_up("w", "r", "r", "w")
    assert waits.first_issuer == -1
    assert waits.count == 4
    assert taken(waits, *[True] * 5) == [1, 2, 3, 4, -1]
    assert waits.count == waits.first_issuer == 0


def test_without_a_write_tag_reads_pass_writes() -> None:
    """async_depth: a write waits for a tag of its own, and stays in front of later ones."""
    waits = lined_up("w", "w", "r", "w", "r")
    assert taken(waits, False, False, False) == [3, 5, -1]
    waits.end()
    assert waits.first_issuer == -1
    assert taken(waits, True, True, True) == [1, 2, 4]


def test_who_falls_asleep_again_keeps_its_turn() -> None:
    """A woken thread that needs one more tag stands in front of those that were not looked at."""
    reads = lined_up("w", "r", "r", "w")
    assert taken(reads, False) == [2]
    reads.add(request(9), False)
    reads.end()
    assert taken(reads, False, False) == [9, 3]
    writes = lined_up("w", "r", "r", "w")
    assert taken(writes, False) == [2]
    writes.add(request(9, write=True), True)
    writes.end()
    assert taken(writes, *[True] * 4) == [1, 9, 3, 4]


def test_nobody_new_is_looked_at_while_others_are_woken() -> None:
    """A thread that falls asleep meanwhile is not woken at the same time."""
    waits = lined_up("r")
    assert taken(waits, True) == [1]
    waits.add(request(2), False)
    assert taken(waits, True) == [-1]
    waits.end()
    assert taken(waits, True) == [2]
