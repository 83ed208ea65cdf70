"""A drive in the midst of a load: what that asks of its parts, and a run that begins there."""

from __future__ import annotations

from itertools import pairwise

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.loads.open_load import OpenLoad
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.model.solid_state.standing_load import busiest_share, can_stand, stands
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.model.solid_state.drive_bench import KIB, MIB, SMALL

UNIT = 4 * KIB


def drive(engine: Engine, **changes: object) -> SolidState:
    """The small drive."""
    return SolidState(engine, SolidStateSpec(**{**SMALL, **changes}), "ssd")


@pytest.mark.parametrize("changes", [{}, {"programs_at_once": 3}, {"suspend_time": "20us"}])
def test_what_a_load_asks_of_the_flash_is_what_is_booked_on_it(changes: dict[str, object]) -> None:
    """Protects the utilization law's arithmetic: after a second of random I/O the busiest part has done so much."""
    engine = Engine()
    ssd = drive(engine, **changes)
    OpenLoad(engine, ssd, size=UNIT, iops=20_000, read_share=0.5)
    engine.run_to(0.1)
    ssd.start_statistics(engine.now)
    engine.run_to(1.1)
    spec = ssd.spec
    shares = [ssd.die_busy_s / spec.dies, ssd.channel_busy_s / spec.channels]
    if spec.programs_at_once is not None:
        shares.append(ssd.program_busy_s / spec.programs_at_once)
    rate = 10_000.0 * UNIT
    erases_s = ssd.erases * spec.erase_time / spec.dies
    expected = busiest_share(spec, ssd.standing_amplification, rate, rate)
    assert max(shares) - erases_s < expected * 1.05
    assert max(shares) > expected * 0.95


def test_a_drive_that_cannot_keep_up_has_a_full_buffer() -> None:
    """Protects the start in the steady state, with its counter-test: a light load has under way what a program takes.

    Little's law: 40 MB/s for the 600 us of a program are 24 kB, less than is programmed at once.
    """
    held = {}
    for rate in (40e6, 4e9):
        engine = Engine()
        ssd = drive(engine)
        stands(ssd, engine, 0.0, rate)
        held[rate] = ssd.dirty_bytes
        assert ssd.flash_bytes == 0  # of before, not of the load
    assert held[40e6] == 0
    assert 4 * MIB - 192 * KIB <= held[4e9] <= 4 * MIB


def test_programs_under_way_end_one_after_another() -> None:
    """Protects from a burst: in the midst of a load room is freed evenly, not by all programs at the same time."""
    engine = Engine()
    ssd = drive(engine, programs_at_once=8)
    stands(ssd, engine, 0.0, 4e9)
    levels = []
    for step in range(9):
        engine.run_to((step + 1) * 3e-4)  # half a program
        levels.append(ssd.dirty_bytes)
    freed = [before - after for before, after in pairwise(levels)]
    assert sum(freed) > 8 * 96 * KIB
    assert max(freed) <= 3 * 96 * KIB  # eight programs of 96 KiB run


def test_drives_that_are_new_or_have_a_cache_to_fill_do_not_stand() -> None:
    """Protects what changes for longer than a buffer takes: cells with one bit, and flash that was never full."""
    engine = Engine()
    assert can_stand(drive(engine))
    assert not can_stand(SolidState(engine, SolidStateSpec(**SMALL), "new", state="fresh"))
    cached = {**SMALL, "slc_cache": 100 * MIB, "slc_program_time": "200us"}
    assert not can_stand(SolidState(engine, SolidStateSpec(**cached), "cached"))


def _run(load: str) -> Prediction:
    text = "machine: {model: nvme-server, drives: {model: Intel-S4510-960GB, count: 1}}\n"
    text += f"workload: {{kind: load, targets: [disk0], block_size: 8KiB, read_share: 50%, depth: 32, {load}}}"
    return simulate(document_from(text).spec())


def test_a_run_that_begins_in_the_midst_of_its_load_is_as_fast_as_one_that_fills_the_buffer() -> None:
    """Protects the result: the long way and the short one give the same rate.

    The counter-test: the first moments of an empty buffer are faster.
    """
    filled = _run("warm_up: 500ms, duration: 500ms")
    short = _run("warm_up: 0s, duration: 2s, precision: 5%")
    empty = _run("warm_up: 0s, duration: 20ms")
    assert short.rate == pytest.approx(filled.rate, rel=0.07)
    assert short.events < filled.events / 2
    assert empty.rate > 1.2 * filled.rate
