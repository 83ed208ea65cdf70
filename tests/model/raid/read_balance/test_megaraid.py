"""MegaRAID's choice of a mirror, by sequences one can follow by hand."""

from __future__ import annotations

import pytest

from raidsim.model.core.request import READ, Request
from raidsim.model.raid.read_balance import READ_BALANCE
from raidsim.model.raid.read_balance.megaraid import MOST_MORE, MegaRaid
from raidsim.tests.model.recording import KIB, MIB


def read(balance: MegaRaid, offset: int, offsets: list[int] | None = None, slots: tuple[int, ...] = (0, 1)) -> int:
    """Choose for a read of 4 KiB, and send it."""
    request = Request(READ, offset, 4 * KIB, lambda _: None)
    slot = balance.choose(request, slots, offsets)
    balance.started(slot, request)
    return slot


def test_a_reader_stays_where_it_is() -> None:
    """Protects the nearest member: reads that follow each other, each done before the next, use one drive."""
    balance = MegaRaid(2)
    for number in range(100):
        assert read(balance, number * 4 * KIB) == 0
        balance.ended(0, 0)


def test_two_readers_have_a_drive_each_while_their_queues_are_alike() -> None:
    """Protects the reason for the rule: heads that need not move."""
    balance = MegaRaid(2)
    read(balance, 0)
    balance.head[1] = 512 * MIB
    slots = [read(balance, start + number * 4 * KIB) for number in range(1, 50) for start in (0, 512 * MIB)]
    assert set(slots[::2]) == {0}
    assert set(slots[1::2]) == {1}


@pytest.mark.parametrize(("more", "slot"), [(MOST_MORE, 0), (MOST_MORE + 1, 1)])
def test_a_queue_that_is_longer_by_five_commands_sends_a_read_away(more: int, slot: int) -> None:
    """Protects the number, from both sides."""
    balance = MegaRaid(2)
    balance.pending[0] = more
    assert read(balance, 0) == slot


def test_what_was_sent_away_moves_the_other_head() -> None:
    """Protects the disorder of deep queues: the next read of the same program now finds the other drive nearer."""
    balance = MegaRaid(2)
    balance.head[:] = [MIB, 512 * MIB]
    balance.pending[0] = MOST_MORE + 1
    assert read(balance, MIB) == 1
    balance.pending[0] = 0
    assert read(balance, MIB + 4 * KIB) == 1


def test_copies_that_lie_elsewhere_count_by_their_place() -> None:
    """Protects RAID 10: distance is on the member, and the first copy is taken of equals."""
    balance = MegaRaid(4)
    balance.head[:] = [0, 0, 100 * MIB, 0]
    assert read(balance, 0, [99 * MIB, 99 * MIB], (2, 3)) == 2
    assert balance.head[2] == 99 * MIB + 4 * KIB
    assert read(balance, 0, [8 * MIB, 8 * MIB], (0, 1)) == 0


def test_scenarios_may_ask_for_it() -> None:
    """It is a policy like the others, by its name."""
    assert READ_BALANCE["megaraid"] is MegaRaid
