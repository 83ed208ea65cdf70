"""Programs side by side on the disks of a report of 2005: what two disks are good for.

The machine and the programs are those of the Catalan study, at a sixteenth of their size and with its priors.
"""

from __future__ import annotations

import pytest

from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate


def seconds(run: str, figure: str) -> float:
    """A figure of one of the study's runs."""
    return simulate(RunBuilder(load_study("catalan-2005"), {}).scenario(run), Sample(scale=16)).figures[figure]


@pytest.mark.slow
def test_two_archives_unpacked_at_once_want_two_disks() -> None:
    """Two tar -x at once hinder each other on one disk, and take a sixth longer than on two; one does not care."""
    figure = "tar-x.mean_seconds"
    assert seconds("disk1/2/small", figure) > 1.1 * seconds("striped/2/small", figure)
    assert seconds("disk1/1/small", figure) < 1.15 * seconds("striped/1/small", figure)


@pytest.mark.slow
def test_a_mirror_overtakes_a_stripe_when_several_read() -> None:
    """Four readers of a mirror have a disk for each two; of a stripe all need both. One reader gains nothing."""
    figure = "read.mean_seconds"
    assert seconds("mirror/4/stream", figure) < 0.9 * seconds("striped/4/stream", figure)
    assert seconds("mirror/1/stream", figure) > seconds("striped/1/stream", figure)
