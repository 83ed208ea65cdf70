"""The black box: what each of its parts does to the rate."""

from __future__ import annotations

import numpy as np
import pytest

from raidsim.calibration.learning.box import BLACK_BOX, PARAMETERS
from raidsim.calibration.learning.loads import BoxLoad, Columns

NAMES = [each.name for each in PARAMETERS]
ORDER = NAMES.index("workers' time of a read in order, over one at random")


def rate(load: BoxLoad, changed: int | None = None, factor: float = 1.0) -> float:
    """Of the usual box, with one parameter changed."""
    values = np.log([each.median for each in PARAMETERS])
    if changed is not None:
        values[changed] += np.log(factor)
    return float(BLACK_BOX.means(values, Columns.of([load])).rate[0])


def test_a_job_is_woken_only_if_it_waits_for_its_only_io() -> None:
    """Protects the wake-up: with one I/O in each of two jobs both are woken, with two in one job it is awake."""
    waking = NAMES.index("time to wake a job that waits for its only I/O")
    for jobs, depth, slower in ((1, 1, True), (2, 1, True), (1, 2, False)):
        load = BoxLoad(4096, jobs, depth, 1.0)
        assert (rate(load, waking, 20.0) < 0.9 * rate(load)) == slower


@pytest.mark.parametrize(
    ("share", "sequential", "changed", "faster"),
    [
        (1.0, True, ORDER, True),
        (1.0, True, ORDER + 1, False),
        (1.0, True, ORDER + 2, True),
        (0.0, True, ORDER + 1, True),
        (0.0, True, ORDER + 2, False),
        (1.0, False, ORDER, False),
        (0.0, False, ORDER + 1, False),
    ],
)
def test_order_counts_for_its_kind_alone(share: float, sequential: bool, changed: int, faster: bool) -> None:
    """Protects rates in order and at random, of reads and of writes, from each other."""
    load = BoxLoad(4096, 4, 64, share, sequential)
    assert (rate(load, changed, 0.1) > 1.001 * rate(load)) == faster


def test_a_buffer_is_for_writes() -> None:
    """Protects the buffer: if writes wait for fewer workers, one write outstanding is faster, and no read."""
    waiting = NAMES.index("workers that a write has to wait for, over all")
    for share in (0.0, 1.0):
        load = BoxLoad(4096, 1, 1, share)
        assert (rate(load, waiting, 0.1) > 1.02 * rate(load)) == (share == 0)
