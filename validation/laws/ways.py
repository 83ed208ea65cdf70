"""One answer: whoever asks the same in another way gets the same figure."""

from __future__ import annotations

from collections.abc import Iterator

from .law import Law, Violation
from .trial import Trial

SAME = 0.9
"""Least throughput of one way, as a share of that of the other one: random offsets and the beginning differ."""
_TIMES = 4
"""All I/Os outstanding are served this many times at least; fewer tell the beginning."""
_NAMES = {("random", 1): "randread", ("random", 0): "randwrite", ("sequential", 1): "read", ("sequential", 0): "write"}


def fio_job(trial: Trial) -> str | None:
    """The load as a job of fio; None if it is none that both can say.

    Jobs of fio that go through a device in order all begin at its start, and those of a load at a place of their own.
    """
    load, spec = trial.closed, trial.spec
    if load is None or load.engine not in ("libaio", "io_uring") or isinstance(load.block_size, dict):
        return None
    special = load.read_size or load.write_size or load.align or load.start or load.span or load.locality
    if special or load.think_time or load.fsync or load.independent or spec.network is not None or spec.failures:
        return None
    direction = _NAMES.get((load.pattern, int(load.read_share))) if load.read_share in (0, 1) else None
    if direction is None or (load.pattern == "sequential" and load.jobs > 1) or not spec.kernel.startswith("linux"):
        return None
    options = (
        *("direct=1", f"ioengine={load.engine}", f"rw={direction}", f"bs={load.block_size}", f"iodepth={load.depth}"),
        *(f"numjobs={load.jobs}", f"runtime={load.duration:.9g}s", f"ramp_time={load.warm_up:.9g}s"),
        *("time_based", "group_reporting", "norandommap"),
    )
    sections = [f"[{name}]\nfilename=/dev/{name}" for name in load.targets]
    return "\n".join(["[global]", *options, *sections]) + "\n"


def _check(trial: Trial) -> Iterator[Violation]:
    load, job = trial.closed, fio_job(trial)
    if load is None or job is None or trial.outcome.ios < _TIMES * load.depth * load.jobs * len(load.targets):
        return
    other = trial.varied({"workload": {"kind": "fio", "job": job}})
    if other is None:
        return
    found, mine = other.outcome.prediction.rate, trial.outcome.rate
    slack = 2 * mine.half_width
    if not SAME * mine.mean - slack <= found <= mine.mean / SAME + slack:
        yield Violation(
            "fio", f"{found / 1e6:,.4g} MB/s as a job of fio", f"{mine.mean / 1e6:,.4g} MB/s, as a load gives"
        )


FIO = Law(
    "fio",
    "A load has the same throughput as the same job of fio.",
    "loads on Linux with a depth, of one block size and direction, over the whole device",
    f"{1 - SAME:.0%}, and the 90 % interval of the load doubled",
    _check,
    lambda trial: trial.outcome.iops > 0 and fio_job(trial) is not None,
    runs=1,
)
