"""The order of stripe heads: an I/O over the middle of two chunks begins with the blocks of the second one."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import Request
from raidsim.model.layouts import ParityLayout
from raidsim.model.raid.parity.array import ParityArray
from raidsim.model.raid.parity.piece_order import from_lowest
from raidsim.model.raid.stripes.settings import ParitySettings
from raidsim.tests.model.recording import KIB, MIB, Issuer, Recorder


@pytest.mark.parametrize(("lowest_first", "order"), [(True, [(1, 0), (0, 32)]), (False, [(0, 32), (1, 0)])])
def test_heads_are_taken_from_the_lowest_block_of_the_row(lowest_first: bool, order: list[tuple[int, int]]) -> None:
    """Protects raid5_bio_lowest_chunk_sector: a read over the middle of two chunks begins with blocks of the second."""
    engine = Engine()
    sent: list[tuple[int, int]] = []

    class Member(Recorder):
        """A member that notes when it is sent something, between the others."""

        def submit(self, request: Request) -> None:
            sent.append((int(self.name), request.offset // KIB))
            super().submit(request)

    members = [Member(engine, str(slot), 16 * MIB) for slot in range(4)]
    layout = ParityLayout("raid5", [16 * MIB] * 4, 64 * KIB, "left-symmetric")
    settings = ParitySettings(hold=None, direct_reads=True, most_heads=4096, lowest_first=lowest_first)
    array = ParityArray(engine, "md0", members, layout, settings, failed=(3,))
    Issuer(engine, array).read(32 * KIB, 64 * KIB)
    engine.run()
    assert sent == order


@pytest.mark.parametrize(
    ("first", "turned"),
    [
        ((0, 0, 32, 64), True),
        ((0, 0, 0, 64), False),  # it begins with a chunk
        ((0, 2, 32, 64), False),  # the last data of the row
        ((1, 0, 32, 64), False),  # left-symmetric: the data of row 1 begin on the last member
        ((1, 1, 32, 64), True),
    ],
)
def test_only_a_member_with_a_higher_number_follows(first: tuple[int, int, int, int], turned: bool) -> None:
    """Protects the rule as md has it: it looks for a higher member, not for the next chunk of the row."""
    layout = ParityLayout("raid5", [16 * MIB] * 4, 64 * KIB, "left-symmetric")
    row, index, _, _ = first
    second = (row, index + 1, 0, 32) if index < 2 else (row + 1, 0, 0, 32)
    pieces = [first, second]
    assert from_lowest(layout, pieces) == (pieces[::-1] if turned else pieces)
