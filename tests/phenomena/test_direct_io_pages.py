"""Direct I/O costs CPU time by the page, and the same in `run`, `fio` and a replay."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest

from raidsim.model.core.request import READ
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.run import FioOptions, run_fio
from raidsim.scenarios.running.base.run import Run
from raidsim.scenarios.running.simulate import simulate
from raidsim.scenarios.traces.formats.record import TraceRecord, columns_of
from raidsim.scenarios.traces.replay.replay import ReplayOptions, replay

KIB = 1024
SIZES = (4 * KIB, 64 * KIB, 512 * KIB, 1024 * KIB, 4096 * KIB)
TEXT = """
kernel: linux-6.1
machine:
  model: nvme-server
  cpu: {{model: server-core, cores: 4}}
  drives: {{model: Micron-7600-MAX-6400GB, count: 1, state: fresh, max_request: {request}KiB}}
workload: {{kind: load, targets: [disk0], pattern: sequential, read_share: 100%, block_size: {size}, depth: 4,
  span: 1GiB, engine: {engine}, warm_up: 0s, duration: 20ms}}
"""
REQUEST = 4096 * KIB


def machine(size: int, engine: str = "libaio") -> ScenarioSpec:
    """One fast drive that takes requests as large as the largest I/O, so that an I/O is one command."""
    return document_from(TEXT.format(size=size, engine=engine, request=REQUEST // KIB)).spec()


def of_run(size: int, engine: str = "libaio") -> float:
    """CPU time of an I/O in `run` (s)."""
    runs: list[Run] = []
    simulate(machine(size, engine), watch=runs.append)
    built = runs[0].machine
    return built.cpu.busy_s / sum(load.reads for load in built.loads)


def of_fio(size: int, options: str = "") -> float:
    """The same in `fio`."""
    runs: list[Run] = []
    job = f"[a]\nfilename=/dev/disk0\nrw=read\nbs={size}\niodepth=4\ndirect=1\nsize=1g\nruntime=20ms\n{options}"
    if "ioengine" not in options:
        job += "\nioengine=libaio"
    found = run_fio(machine(size), sections(job), FioOptions(), watch=runs.append)
    return runs[0].machine.cpu.busy_s / sum(each.read.total_ios for each in found.jobs)


def of_replay(size: int, depth: int | None = 4) -> float:
    """The same in a replay, at the trace's own times or with a depth."""
    runs: list[Run] = []

    def records() -> Any:
        return columns_of(TraceRecord(0.001 * at, READ, at * size, size, "a") for at in range(200))

    found = replay(machine(size), records, ReplayOptions(depth=depth), watch=runs.append)
    return runs[0].machine.cpu.busy_s / found.completed


def test_cpu_time_grows_with_the_pages_of_an_io() -> None:
    """Protects the price of a page: 50 to 100 ns on a server core, with what an I/O takes whatever its size."""
    costs = [of_run(size) for size in SIZES]
    assert costs[0] > 0
    for (small, less), (large, more) in pairwise(zip(SIZES, costs, strict=True)):
        assert 45e-9 < (more - less) / ((large - small) / 4096) < 100e-9


@pytest.mark.parametrize("size", SIZES)
def test_all_ways_to_ask_give_one_price(size: int) -> None:
    """Protects the one price of an I/O: `run`, `fio` and replays must not differ by the way that one asks."""
    price = of_run(size)
    # The first and the last I/O of a run are counted by halves, and a thread that waits is woken more often or less.
    assert of_fio(size) == pytest.approx(price, rel=0.12)
    assert of_replay(size) == pytest.approx(price, rel=0.12)


def test_a_timed_replay_pays_for_pages() -> None:
    """Each I/O wakes its thread, and the pages come on top as everywhere."""
    assert of_replay(SIZES[3], None) - of_replay(SIZES[0], None) == pytest.approx(255 * 50e-9, rel=0.02)


def test_registered_buffers_stay_pinned() -> None:
    """Counter-test: with fixedbufs io_uring pins no page, so a large I/O costs hardly more than a small one."""
    engine = "ioengine=io_uring"
    pinned = of_fio(SIZES[3], engine) - of_fio(SIZES[0], engine)
    fixed = of_fio(SIZES[3], f"{engine}\nfixedbufs") - of_fio(SIZES[0], f"{engine}\nfixedbufs")
    assert pinned > 255 * 45e-9
    assert abs(fixed) < 0.2 * pinned


def test_other_engines_register_no_buffers() -> None:
    """fixedbufs is an option of io_uring: libaio pins its pages as ever."""
    assert of_fio(SIZES[3], "fixedbufs") == of_fio(SIZES[3])
