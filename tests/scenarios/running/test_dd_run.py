"""dd on devices: a long one gets what the media pass, a short one what caches take, and both pay for their close."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raidsim.model.drives.catalogue import hard_disk
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from, read_document
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running import dd_run
from raidsim.scenarios.running.base.buffers import Buffers, head_start
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.dd_run import StartRun, WriteRun, rate_without_growth
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import MIB, QUICK, scenario

CASES = Path(__file__).parent / "dd_writes"
MEDIA = hard_disk("IronWolf-Pro-20TB").outer_media_rate
BUFFER = hard_disk("IronWolf-Pro-20TB").write_buffer


def written(size: str, drive: str = "IronWolf-Pro-20TB", memory: str = "16GiB", **load: Any) -> ScenarioSpec:
    """A dd that writes to one drive."""
    workload = {"kind": "dd", "direction": "write", "block_size": "1MiB", "size": size, "targets": ["disk0"], **load}
    machine = {"model": "server", "memory": memory, "drives": {"model": drive, "count": 1}}
    document = {"name": "dd", "kernel": "linux-6.1", "machine": machine, "workload": workload}
    return document_from(repr(document)).spec()


@pytest.mark.parametrize(
    ("case", "media", "least"),
    [
        ("one-modern-disk", 285e6, 0.95),
        ("raid1-modern", 285e6, 0.95),
        ("raid5-four-wd5000", 225e6, 0.8),
        ("luks-raid5-three", 250e6, 0.85),
    ],
)
def test_a_long_write_is_no_faster_than_the_platters(case: str, media: float, least: float) -> None:
    """Protects from measuring a cache: 64 GiB, of the last 8 GiB, to devices whose drives have 16 to 256 MiB of it."""
    prediction = simulate(read_document(str(CASES / f"{case}.yaml")).spec())
    assert least * media < prediction.rate < 1.03 * media
    assert not prediction.notes


def test_without_the_warm_up_the_cache_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: a measurement that does not wait for full caches, nor sees them grow, gives the port's rate."""
    monkeypatch.setattr(dd_run, "_STEADY", 1.0)
    monkeypatch.setattr(Buffers, "held", lambda _: 0.0)
    run = WriteRun(BuiltMachine(written("64GiB")), Sample(), throttled=True)
    run._measured = 12 * MIB
    run.run()
    assert run.rate > 1.8 * MEDIA


def test_a_write_that_the_cache_takes_is_as_fast_as_its_port() -> None:
    """Protects short writes, measured whole or in parts: the write buffer of 64 MiB takes half a buffer at the speed of
    the port, and of ten buffers one is a head start (the program fills memory first, which takes 5 % of the time). A
    longer write is never faster than a shorter one.
    """
    rates = {share: simulate(written(f"{int(share * BUFFER)}B")).rate for share in (0.25, 0.5, 1, 2, 4, 10, 40)}
    assert rates[0.25] == pytest.approx(rates[1], rel=0.05)
    assert rates[1] > 1.8 * MEDIA
    assert rates[10] == pytest.approx(MEDIA * 10 / 9, rel=0.06)
    assert rates[40] == pytest.approx(MEDIA * 40 / 39, rel=0.06)
    ordered = list(rates.values())
    assert all(later <= 1.01 * earlier for earlier, later in pairwise(ordered))


def test_the_close_of_a_device_is_paid_for() -> None:
    """Protects dd on a raw device: 1 GiB fits into the dirty memory of 8 GiB, and its close waits for the disk, also in
    a dd that is simulated whole.
    """
    media = hard_disk("WD2500JB").outer_media_rate
    assert 0.95 * media < simulate(written("1GiB", "WD2500JB", "8GiB")).rate < 1.03 * media
    assert simulate(written("16MiB", "WD2500JB", "8GiB")).rate < 1.6 * media


def test_without_the_close_a_write_that_fits_memory_is_as_fast_as_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """The counter-test: with nothing to wait for at the close, it is memory that takes the data."""

    def no_close(_: Any) -> Any:
        yield from ()

    monkeypatch.setattr("raidsim.model.loads.dd.Dd.close", no_close)
    assert simulate(written("16MiB", "WD2500JB", "8GiB")).rate > 1e9


def test_parts_and_the_whole_agree() -> None:
    """Protects the parts: 200 MiB take as long in parts as from the first byte to the close."""
    spec = written("200MiB", "WD2500JB", "4GiB")
    runs: list[Run] = []
    parts = simulate(spec, watch=runs.append)
    assert any(isinstance(run, WriteRun) for run in runs)
    runs.clear()
    whole = simulate(spec, Sample(write_bytes=200 * MIB), watch=runs.append)
    assert [type(run) for run in runs] == [StartRun]
    assert parts.seconds == pytest.approx(whole.seconds, rel=0.03)


def test_a_slower_program_finds_caches_that_do_not_fill() -> None:
    """Protects what the program limits: at 100 MB/s the cache of a disk of 285 MB/s stays empty, and is not filled."""
    document = written("4GiB")
    prices = document.machine.cpu.prices.model_copy(update={"write_call": 0.01})
    cpu = document.machine.cpu.model_copy(update={"prices": prices})
    slow = document.model_copy(update={"machine": document.machine.model_copy(update={"cpu": cpu})})
    runs: list[Run] = []
    assert 80e6 < simulate(slow, watch=runs.append).rate < 110e6
    measured = [run for run in runs if isinstance(run, WriteRun) and not run._closing]
    assert all(run.held < 0.2 * BUFFER for run in measured)


def test_a_head_start_is_what_the_caches_hold() -> None:
    """Protects the arithmetic: caches of 60 MB fill with 100 MB at 250 instead of 100 MB/s, which saves 0.6 s; a write
    of 50 MB saves 0.3 s, and one whose devices take nothing faster saves nothing.
    """
    assert head_start(1e9, 60e6, 250e6, 100e6) == pytest.approx(0.6)
    assert head_start(100e6, 60e6, 250e6, 100e6) == pytest.approx(0.6)
    assert head_start(50e6, 60e6, 250e6, 100e6) == pytest.approx(0.3)
    assert head_start(1e9, 60e6, 99e6, 100e6) == 0.0


def test_a_write_may_end_with_the_drive() -> None:
    """Protects the memory that is dirty when the measurement begins: it lies within the device."""
    capacity = hard_disk("WD2500JB").capacity
    size = 64 * MIB
    start = (capacity - size) // 4096 * 4096
    spec = scenario(direction="write", size=f"{size}B", start=f"{start}B", block_size=4096)
    for throttled in (False, True):
        dd = WriteRun(BuiltMachine(spec), QUICK, throttled).machine.dds[0]
        ((_, end),) = dd.cache.dirty
        assert end == dd.start
        assert dd.start + dd.size <= capacity
        assert dd.cache.memory.dirty_bytes >= 100 * MIB
    assert simulate(spec, QUICK).rate > 0


def test_growth_is_taken_out_of_the_rate() -> None:
    """Protects the steady rate of long writes: with 30 MB/s while memory grows by 10 and 18 MB/s while it shrinks by 5,
    it is a third of the way from the second to the first, 22 MB/s. Equal growth means the throttled rate as it is.
    """

    def state(rate: float, growth: float) -> Any:
        return SimpleNamespace(rate=rate, growth=growth)

    assert rate_without_growth(state(30e6, 10e6), state(18e6, -5e6)) == pytest.approx(22e6)
    assert rate_without_growth(state(30e6, 10e6), state(18e6, 0.0)) == pytest.approx(18e6)
    assert rate_without_growth(state(30e6, 1e5), state(29e6, 0.0)) == pytest.approx(29e6)
