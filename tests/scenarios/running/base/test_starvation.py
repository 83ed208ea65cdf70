"""I/Os that starve are noted, and only those."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.fixed_service import FixedServiceDevice, linear_service
from raidsim.model.loads.closed_load import ClosedLoad
from raidsim.model.tasks.cpu import Cpu
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.starvation import starved
from raidsim.scenarios.running.simulate import simulate

STREAMS = """
machine: {model: storage-server, drives: {model: Barracuda-2.5-5TB-SMR, count: 1}}
workload: {kind: load, targets: [disk0], block_size: 64KiB, pattern: sequential, read_share: 100%, jobs: 2, depth: 3,
           engine: libaio, warm_up: 0.15s, duration: 0.3s}
"""


def noted(*sets: str) -> bool:
    """Whether a run of two streams says that one of them starves."""
    notes = simulate(document_from(STREAMS, sets=list(sets)).spec()).notes
    return any("starve" in note for note in notes)


def test_a_stream_that_starves_is_noted() -> None:
    """Protects a short measurement: half of its I/Os are in no latency."""
    assert noted()


@pytest.mark.parametrize("sets", [("jobs=1",), ("depth=1",), ("duration=8s",), ("pattern=random",)])
def test_streams_that_have_their_turn_are_not(sets: tuple[str, ...]) -> None:
    """The counter-tests: one stream, a disk that has one command of each, a long measurement, and random reads."""
    assert not noted(*sets)


@pytest.mark.parametrize("submit_s", [0.0, 5e-6])
def test_unfinished(submit_s: float) -> None:
    """Depth I/Os are unfinished at any time, submitted or not, and have waited for half of the response on average."""
    engine = Engine(1)
    device = FixedServiceDevice(engine, "d", 1 << 30, linear_service(20e-6), 4)
    cpu = Cpu(engine, 2) if submit_s else None
    load = ClosedLoad(engine, device, size=4096, depth=16, submit_s=submit_s, cpu=cpu)
    engine.run_to(0.1)
    number, age_s = load.unfinished(engine.now)
    response_s = load.read_latency.mean
    assert number == pytest.approx(16, abs=2)
    assert 0.3 * response_s < age_s / number < 0.7 * response_s
    assert starved([load], engine.now, 0.1) == (0, 0.0)


@pytest.mark.parametrize(("stuck", "found"), [(0, 0), (1, 4)])
def test_one_of_four_starves(stuck: int, found: int) -> None:
    """Protects jobs of which a single I/O starves: the mean wait of the others hides nothing."""
    engine = Engine(1)
    load = ClosedLoad(engine, FixedServiceDevice(engine, "d", 1 << 30, linear_service(10e-3), 4), size=4096, depth=4)
    engine.run_to(1.0)
    load._since -= stuck * 0.9
    assert starved([load], engine.now, 1.0)[0] == found
