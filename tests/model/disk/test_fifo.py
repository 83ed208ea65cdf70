"""Requests that wait, first in, first out."""

from __future__ import annotations

import random
from collections import deque

from raidsim.model.core.request import READ, Request
from raidsim.model.disk.fifo import RequestFifo


def test_requests_leave_in_the_order_they_came() -> None:
    """Protects the order of a drive without command queuing, for queues that grow, shrink and run empty."""
    draw, fifo, expected = random.Random(5), RequestFifo(), deque[Request]()
    for number in range(5000):
        if expected and draw.random() < (0.45 if number < 2000 else 0.6):
            assert fifo.pop() is expected.popleft()
        else:
            expected.append(Request(READ, number * 512, 512, lambda _: None))
            fifo.push(expected[-1])
        assert len(fifo) == len(expected)
    while expected:
        assert fifo.pop() is expected.popleft()
    assert not len(fifo)
