"""Where the head is expected, and when it is there."""

from __future__ import annotations

import random

import pytest

from raidsim.model.drives.catalogue import hard_disk
from raidsim.tests.model.disk.queue_depth_host import QueueDepthHost

SPEC = hard_disk("WD2500JS")


def test_the_head_is_there_when_it_is_expected() -> None:
    """Protects the choice among commands: what is expected of a read before the head is sent is what it takes, the seek
    and the rest of the turn, from any place to any other at any time.
    """
    head, rng, start = QueueDepthHost(SPEC).disk.media, random.Random(7), 0.0
    for _ in range(200):
        start += rng.random() / 10
        offset = rng.randrange(SPEC.capacity // 512) * 512
        expected = head._reach_s(offset, start)
        assert head._position(offset, start, head.seeks.read) == pytest.approx(expected, abs=1e-9)
        assert expected - start <= SPEC.seek_full_stroke + 60 / SPEC.rotation
