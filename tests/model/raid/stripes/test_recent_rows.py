"""Rows that a stripe cache remembers, in the order of their use."""

from __future__ import annotations

import random
from collections import OrderedDict

from raidsim.model.raid.stripes.arrival import HERE
from raidsim.model.raid.stripes.recent_rows import RecentRows, RowContents


def test_the_row_used_longest_ago_goes_first() -> None:
    """Protects which rows a full cache forgets: those of an ordered dictionary whose entries move to its end."""
    draw, rows, expected = random.Random(11), RecentRows(), OrderedDict[int, None]()
    for _ in range(3000):
        row = draw.randrange(30)
        contents = rows.get(row)
        assert (contents is not None) == (row in expected) == (row in rows)
        if contents is None:
            rows.add(RowContents(row, 0, 4096))
            expected[row] = None
        elif draw.random() < 0.2:
            assert rows.take(row) is contents
            del expected[row]
        else:
            rows.use(contents)
            expected.move_to_end(row)
        if len(expected) > 20:
            assert rows.take_oldest().row == expected.popitem(last=False)[0]
        assert len(rows) == len(expected)
    assert rows.take(99) is None


def test_members_are_known_alike_until_one_is_not() -> None:
    """Protects what a row remembers when it stops being the same for all its members."""
    contents = RowContents(3, 4096, 8192, (0, 2))
    assert [contents.of(member) for member in range(3)] == [(4096, 8192, HERE), None, (4096, 8192, HERE)]
    contents.by_member()[1] = (0, 512, HERE)
    assert [contents.of(member) for member in range(3)] == [(4096, 8192, HERE), (0, 512, HERE), (4096, 8192, HERE)]
