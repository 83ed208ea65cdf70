"""One answer: whoever asks the same in another way gets the same figure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...model.core.exact_sums import sum_in_order
from ...model.core.request import READ, WRITE
from ...scenarios.description.workloads import LoadSpec
from ...scenarios.questions.replications import replication
from ...scenarios.running.full_load import as_much_as_it_takes
from ...scenarios.running.simulate import simulate
from ...scenarios.traces.formats.record import TraceColumns
from ...scenarios.traces.replay.replay import ReplayOptions, replay
from .law import Law, Violation
from .trial import Trial

SAME = 0.9
"""Least throughput of one way, as a share of that of the other one: random offsets and the beginning differ."""
_TIMES = 4
"""All I/Os outstanding are served this many times at least; fewer tell the beginning."""
_REPLAYED_TIMES = 20
"""The same of a replay, which ends when the last of its I/Os is complete: at the end fewer are outstanding."""
_NAMES = {("random", 1): "randread", ("random", 0): "randwrite", ("sequential", 1): "read", ("sequential", 0): "write"}


def _is_plain(trial: Trial) -> bool:
    """Whether the load goes over the whole device, with I/Os of one size, and nothing happens meanwhile."""
    load, spec = trial.closed, trial.spec
    if load is None or isinstance(load.block_size, dict) or spec.failures:
        return False
    special = load.read_size or load.write_size or load.align or load.start or load.span or load.locality
    return not (special or load.think_time or load.fsync or load.independent)


def _is_long(trial: Trial, times: int) -> bool:
    """Whether all I/Os outstanding were served that many times."""
    load = trial.closed
    return load is not None and trial.outcome.ios >= times * load.depth * load.jobs * len(load.targets)


def fio_job(trial: Trial) -> str | None:
    """The load as a job of fio; None if it is none that both can say.

    Jobs of fio that go through a device in order all begin at its start, and those of a load at a place of their own.
    """
    load, spec = trial.closed, trial.spec
    if load is None or not _is_plain(trial) or load.engine not in ("libaio", "io_uring") or spec.network is not None:
        return None
    direction = _NAMES.get((load.pattern, int(load.read_share))) if load.read_share in (0, 1) else None
    if any(cached.started == "warm" for cached in spec.caches.values()):
        return None  # a job of fio does not say what has warmed a cache
    if direction is None or (load.pattern == "sequential" and load.jobs > 1) or not spec.kernel.startswith("linux"):
        return None
    options = (
        *("direct=1", f"ioengine={load.engine}", f"rw={direction}", f"bs={load.block_size}", f"iodepth={load.depth}"),
        *(f"numjobs={load.jobs}", f"runtime={load.duration:.9g}s", f"ramp_time={load.warm_up:.9g}s"),
        *("time_based", "group_reporting", "norandommap"),
    )
    sections = [f"[{name}]\nfilename=/dev/{name}" for name in load.targets]
    return "\n".join(["[global]", *options, *sections]) + "\n"


def _differs(trial: Trial, found: float, kind: str, asked: str) -> Iterator[Violation]:
    """A violation if another way to ask gives another rate (bytes/s)."""
    mine = trial.outcome.rate
    slack = 2 * mine.half_width
    if not SAME * mine.mean - slack <= found <= mine.mean / SAME + slack:
        yield Violation(kind, f"{found / 1e6:,.4g} MB/s {asked}", f"{mine.mean / 1e6:,.4g} MB/s, as a load gives")


def _fio(trial: Trial) -> Iterator[Violation]:
    job = fio_job(trial)
    if job is None or not _is_long(trial, _TIMES):
        return
    other = trial.varied({"workload": {"kind": "fio", "job": job}})
    if other is not None:
        yield from _differs(trial, other.outcome.prediction.rate, "fio", "as a job of fio")


def _is_replayed(trial: Trial) -> bool:
    load = trial.closed
    one = load is not None and load.jobs == 1 == len(load.targets) and load.pattern in ("random", "sequential")
    return one and load is not None and load.engine in (None, "libaio") and _is_plain(trial)


def _trace_of(load: LoadSpec, capacity: int, count: int, seed: int) -> TraceColumns:
    """The I/Os of a load, as a trace of its own would have them."""
    random, size = np.random.default_rng(seed), max(map(max, load.sizes))
    numbers = np.arange(count) if load.pattern == "sequential" else random.integers(0, capacity // size, count)
    return TraceColumns(
        times_s=np.arange(count, dtype=np.float64),
        ops=np.where(random.random(count) < load.read_share, READ, WRITE).astype(np.int8),
        offsets=(numbers % (capacity // size) * size).astype(np.int64),
        sizes=np.full(count, size, dtype=np.int64),
        devices=np.zeros(count, dtype=np.int32),
        names=["0"],
    )


def _replay(trial: Trial) -> Iterator[Violation]:
    load, outcome = trial.closed, trial.outcome
    if load is None or not _is_long(trial, _REPLAYED_TIMES):
        return
    spec = trial.spec
    measured = outcome.ios
    before = outcome.iops * load.warm_up
    columns = _trace_of(load, spec.capacity(load.targets[0]), int(before + measured), spec.seed)
    options = ReplayOptions(depth=load.depth, warm_up=before / (before + measured))
    found = replay(spec, lambda: [columns], options).prediction.rate
    yield from _differs(trial, found, "replay", "as a trace of the same I/Os that is replayed at the depth of the load")


def _compare(trial: Trial) -> Iterator[Violation]:
    other = trial.varied({"seed": replication(trial.spec, 0).seed})
    if other is not None and _is_long(trial, _TIMES):
        found = other.outcome.prediction.rate
        yield from _differs(trial, found, "compare", "in the first run of a comparison")


def _is_random(trial: Trial) -> bool:
    return _is_plain(trial) and trial.closed is not None and trial.closed.pattern == "random"


def _curve(trial: Trial) -> Iterator[Violation]:
    if not _is_long(trial, _TIMES):
        return
    spec = as_much_as_it_takes(trial.spec)
    full, load = spec.workload, trial.spec.workload
    assert isinstance(full, LoadSpec)
    assert isinstance(load, LoadSpec)
    # Both for the same time: caches of disks fill meanwhile.
    times = {"warm_up": full.warm_up, "duration": full.duration}
    mine = simulate(trial.spec.model_copy(update={"workload": load.model_copy(update=times)}))
    saturation, iops = (sum_in_order(each.iops.values()) for each in (simulate(spec), mine))
    known = mine.estimates["iops"].relative if "iops" in mine.estimates else 0.0
    if saturation < SAME * (1 - 2 * known) * iops:
        yield Violation(
            "curve", f"{saturation:,.4g} IOPS, where the load curve ends", f"{iops:,.4g} IOPS or more, as the load has"
        )


_TOLERANCE = f"{1 - SAME:.0%}, and the 90 % interval of the load doubled"
FIO = Law(
    "fio",
    "A load has the same throughput as the same job of fio.",
    "loads on Linux with a depth, of one block size and direction, over the whole device",
    _TOLERANCE,
    _fio,
    lambda trial: trial.outcome.iops > 0 and fio_job(trial) is not None,
    runs=1,
)
REPLAY = Law(
    "replay",
    "A load has the same throughput as a trace of its I/Os that is replayed at its depth.",
    "loads of one job with a depth and libaio, of one block size, over the whole of one device",
    _TOLERANCE,
    _replay,
    _is_replayed,
    runs=1,
)
COMPARE = Law(
    "compare",
    "A scenario has the same throughput in a comparison as by itself: other random numbers are all that differs.",
    "loads with a depth, of one block size, over the whole device",
    _TOLERANCE,
    _compare,
    _is_plain,
    runs=1,
)
CURVE = Law(
    "curve",
    "A load has no more throughput than the load curve of its scenario ends with.",
    "loads with a depth, of one block size, with random offsets over the whole device",
    _TOLERANCE,
    _curve,
    _is_random,
    runs=2,
)
