"""Pictures of answers: lines and bars that fill their frame."""

from __future__ import annotations

import re

import pytest

from raidsim.api.answer import svg


@pytest.mark.parametrize(("log_x", "points"), [(False, 4), (True, 3)])
def test_lines_of_a_report_fill_the_frame(log_x: bool, points: int) -> None:
    """Protects the pictures of reports: the first point is at the left edge and the last at the right one, also a
    point at 0, which only a logarithmic axis leaves out.
    """
    drawn = svg.lines([("a", [(0.0, 1.0), (1.0, 2.0), (10.0, 3.0), (100.0, 4.0)])], "x", "y", "c", log_x)
    (line,) = re.findall(r'<polyline points="([^"]*)"', drawn)
    along = [float(point.partition(",")[0]) for point in line.split()]
    (left, right) = re.findall(r"M(\d+),30V\d+H(\d+)", drawn)[0]
    assert len(along) == points
    assert along == sorted(along)
    assert (along[0], along[-1]) == (float(left), float(right))
