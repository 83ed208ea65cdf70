"""Memory that is overwritten in place: writes cost the same however often it was written; flash's do not."""

from __future__ import annotations

import pytest

from raidsim.model.core.engine import Engine
from raidsim.model.core.request import READ, WRITE, Request
from raidsim.model.drives.catalogue import drive
from raidsim.model.solid_state.drive import SolidState
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.model.solid_state.translation import InPlace
from raidsim.validation.prediction.data_sheets import SheetFigure, simulated

OPTANE = "Intel-Optane-P4800X-375GB"


def _spec(name: str) -> SolidStateSpec:
    spec = drive(name)
    assert isinstance(spec, SolidStateSpec)
    return spec


def _random_writes(name: str, state: str | None) -> float:
    given = {"load": "random write", "depth": 16, "iops": 1, "state": state, "use": "predict"}
    return simulated(name, SheetFigure.model_validate(given))


def test_a_full_drive_writes_as_fast_as_an_empty_one() -> None:
    """No garbage collection where nothing is erased. Counter-test: flash in long use writes at half the rate."""
    assert _random_writes(OPTANE, None) == pytest.approx(_random_writes(OPTANE, "fresh"), rel=0.01)
    assert _random_writes("Samsung-PM9A3-3840GB", None) < 0.5 * _random_writes("Samsung-PM9A3-3840GB", "fresh")


def test_nothing_is_moved_or_erased() -> None:
    """The write amplification of memory in place is 1."""
    engine = Engine(0)
    device = SolidState(engine, _spec(OPTANE), "optane")
    assert device.standing_amplification == 1.0
    left = 2000

    def done(_: Request) -> None:
        nonlocal left
        left -= 1

    for i in range(2000):
        device.submit(Request(WRITE, i * 4096, 4096, done))
    engine.run()
    assert left == 0
    assert device._flash.erases == 0
    assert device._translation.moved_units == 0


def test_the_map_knows_which_units_hold_data() -> None:
    """Fresh memory holds nothing; what is written or deallocated is told apart."""
    memory = InPlace(1000, 16, "fresh")
    assert memory.valid == 0
    memory.write(5)
    memory.write_chunk(1)
    assert (memory.valid, memory.is_unmapped(5), memory.is_unmapped(6)) == (17, False, True)
    memory.trim(0, 20)
    assert memory.valid == 12
    assert InPlace(1000, 16, "steady").valid == 1000


def test_reads_of_deallocated_units_need_no_memory() -> None:
    """A fresh drive answers reads sooner than one that holds data."""
    seconds = {}
    for state in ("fresh", "steady"):
        engine = Engine(0)
        device = SolidState(engine, _spec(OPTANE), "optane", state=state)
        device.submit(Request(READ, 0, 4096, lambda _: None))
        engine.run()
        seconds[state] = engine.now
    assert seconds["fresh"] < seconds["steady"] - 4e-6


def test_flash_without_spare_is_refused_and_memory_is_not() -> None:
    """Only memory in place may have no more than its capacity; it has no cache of one bit per cell."""
    optane, flash = _spec(OPTANE), _spec("Samsung-PM9A3-3840GB")
    assert optane.with_values(flash=optane.capacity).flash == optane.capacity
    with pytest.raises(ValueError, match="flash"):
        flash.with_values(flash=flash.capacity)
    with pytest.raises(ValueError, match="in_place is true and slc_cache"):
        optane.with_values(slc_cache="1GB", slc_program_time="1ms")


def test_only_memory_is_copied_inside_the_submission() -> None:
    """Protects against a flash drive that works for nobody, and against a drive without both a queue and a worker."""
    ram, flash = _spec("RAM-disk"), _spec("Samsung-PM9A3-3840GB")
    assert (ram.in_submission, ram.queued) == ("copy", False)
    assert (_spec("null-block").in_submission, _spec("null-block").queued) == ("answer", True)
    assert _spec("null-block-timer").in_submission is None
    with pytest.raises(ValueError, match="in_submission is given and in_place is false"):
        flash.with_values(in_submission="copy")
    with pytest.raises(ValueError, match="queued is false and in_submission is not given"):
        ram.with_values(in_submission=None)
