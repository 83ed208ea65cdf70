"""Figures of a served array: what the columns of the last two minutes say."""

from __future__ import annotations

from dataclasses import replace

import pytest

from raidsim.tests.cli.serving.test_live import LOOK
from raidsim.web.figures.live import course
from raidsim.web.work.live import Seen


@pytest.mark.parametrize("spans", [(1.0, 1.0), (5.0, 1.0, 2.0), (1.0, 30.0, 7.0, 3.0)])
def test_the_course_says_how_long_it_is(spans: tuple[float, ...]) -> None:
    """Protects the caption: it has the time of all columns together, the first and the last included, and the least and
    the largest rate; each column is as wide as its time.
    """
    (requests,) = LOOK.requests[:1]
    seen, now = [], 100.0
    for number, span in enumerate(spans):
        now += span
        rated = replace(requests, per_second=100.0 * (1 + number))
        seen.append(Seen("test", {}, replace(LOOK, at_s=now, span_s=span, requests=(rated,))))
    shown = course(seen)
    assert f"I/Os per second in the last {sum(spans):,.0f} s: 100 to {100 * len(spans)}" in shown
    assert [f"flex:{span:.2f} 1 0" in shown for span in spans] == [True] * len(spans)
