"""The simulations that advice rests on: one task each, the same in whichever process it runs."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from math import isfinite, sqrt
from types import TracebackType
from typing import Literal, TypeVar

from ...model.core.exact_sums import sum_in_order
from ...model.statistics.batch_means import Estimate
from ...model.statistics.usage import DRIVES
from ..comparison.lost_battery import with_lost_batteries
from ..comparison.rebuild_time import rebuild_time, rebuilt_arrays, with_rebuild
from ..comparison.rules_of_thumb import rule_of_thumb
from ..description.workloads import LEAST_PRECISION
from ..designs.designs import Design
from ..designs.requirement import RequirementSpec
from ..running.base.run import Run
from ..running.full_load import as_much_as_it_takes
from ..running.load_run import LoadRun
from ..running.several_loads import SeveralLoadsRun
from ..running.simulate import simulate
from ..workers.process_setup import end_with_parent
from ..workers.worker_pool import WorkerPool
from .beside import REQUIRED, with_others
from .endings import Endings
from .on_files import RUNS, latencies, predictions, together

_Result = TypeVar("_Result")
_WARM_UP = 0.25
"""Of a brief run, what comes before its measurement, as a share of it."""
LONGEST_IOS = 250_000
"""I/Os after which a run ends whose speed is not known well enough by then."""
_LEAST_LONGEST_S = 30.0
_SEVERAL_IOS = 6_000
"""I/Os of the required load in a run with other loads, which has no precision: 60 of them are beyond the p99."""
_SEVERAL_WARM_UP = 0.05
"""Of such a run, as a share of it: most end long before all of it is measured."""
_CACHE_GROWS_S = 4.0
"""Longest warm-up (s) of runs with other loads on arrays whose stripe cache grows. On 24 disks in RAID 6 with a stream
of 200 MB/s, writes take five times as long in the first 2 s as after 3.3 s. md begins with 256 heads and adds one after
a pass of its thread that missed one (grow_one_stripe in drivers/md/raid5.c). A load of many I/Os per second makes more
passes, so the warm-up has no more I/Os than the measurement.
"""
_FILE_IOS = 2_500
"""I/Os of each of the runs on a file: 25 of them are beyond the p99."""
_SEVERAL_S = {"saturate": (3.0, 6.0), "full": (1.5, 3.0)}
"""Warm-up and measurement (s) of runs with other loads that keep all drives busy."""
_TAKEN = 0.97
"""Share of the I/Os offered of which fewer are served only by what is saturated."""
_BY_CHANCE = 3.0
"""Standard deviations of the number of arrivals that a brief run may miss."""
_TAKEN_ON_FILES = 0.9
"""The same on files, where fio's threads have whole rates, a few percent away from the one asked."""
_SATURATION_PRECISION = 0.05
_LONGEST_POOL_S = 60.0
"""Of a pool with as many I/Os as it takes (s): twelve transaction groups. An ARC that still fills would go on for ever.
"""
_FULL_USERS = 32
"""Users for every drive of a "full" run, whose rate is shown as "about" what a refused design serves: on two drives and
five layouts within 10 % of what twice as many find (20 % with a bitmap, which more users share), in 40 % of the time.
"""


@dataclass(frozen=True, slots=True)
class Task:
    """One simulation.

    Attributes
    ----------
    design
        Of what.
    kind
        "brief": a number of I/Os from an empty array, in which nothing can be slower than it is later; "precise": as
        long as the requirement's precision takes, and until the limits are decided; "saturate": as many I/Os as it
        takes; "full": the same, brief; "battery": as "precise", with the controller's battery lost; "rebuild": a member
        under the load; "drive": one drive alone, for the rule of thumb of a pool, whose I/Os per second it gives.
    iops
        I/Os per second offered.
    ios
        Of "brief" and "full", how many would be measured at `iops`.
    finer
        Of "precise" with other loads or a file system, which has a given length: how many times the usual one.
    warm_up
        Of "precise": simulated time (s) before which nothing is settled.
    """

    design: Design
    kind: Literal["brief", "full", "precise", "saturate", "battery", "rebuild", "drive"]
    iops: float
    ios: int = 0
    finer: int = 1
    warm_up: float = 0.0

    @property
    def key(self) -> tuple[object, ...]:
        """What two tasks with the same result have in common."""
        return (self.design.key, self.kind, self.iops, self.ios, self.finer, self.warm_up)


@dataclass(frozen=True, slots=True)
class Measured:
    """What a simulation gave.

    Attributes
    ----------
    task
        Which.
    iops
        I/Os per second served.
    latencies
        "read_p99", "write_mean" and the like, with 90 % intervals (s).
    saturated
        Whether more came than were served.
    commands
        Commands per second that the drives served.
    busiest
        Utilization of the busiest drive (a share).
    bottleneck
        In words.
    rate
        Interval of the I/Os per second.
    seconds
        Time to rebuild a member (s); None if nothing was rebuilt.
    settled
        Whether a run to a precision saw nothing rise or fall any more; caches that are still filling do.
    busy
        Mean utilization of the drives that were used (a share).
    late
        Of runs from an empty array: which of "read" and "write" miss their limit by far, so that the run ended early.
    """

    task: Task
    iops: float
    latencies: dict[str, Estimate]
    saturated: bool
    commands: float
    busiest: float
    bottleneck: str
    rate: Estimate | None
    seconds: float | None = None
    settled: bool = True
    busy: float = 0.0
    late: tuple[str, ...] = ()


def run_task(requirement: RequirementSpec, task: Task) -> Measured:
    """Simulate."""
    if requirement.file_system is not None and task.kind in ("brief", "precise"):
        return _run_on_files(requirement, task)
    to_precision = task.kind in ("precise", "battery")
    wanted = requirement.model_copy(update={"load": requirement.load.model_copy(update={"total_iops": task.iops})})
    if task.kind in ("brief", "full"):
        length = task.ios / task.iops
        times = {"warm_up": _WARM_UP * length, "duration": length}
    else:
        longest = max(_LEAST_LONGEST_S, LONGEST_IOS / task.iops)
        if task.kind == "saturate" and task.design.family.level.is_pool:
            longest = min(longest, _LONGEST_POOL_S)
        precision = _SATURATION_PRECISION
        if to_precision:
            precision = max(LEAST_PRECISION, requirement.precision)
        times = {"warm_up": task.warm_up, "duration": longest, "precision": precision}
        if requirement.beside:
            # Several loads run for a given time, which their intervals shrink with.
            length = min(longest, _SEVERAL_IOS * task.finer / task.iops)
            times = {"warm_up": _SEVERAL_WARM_UP * length, "duration": length}
    if requirement.beside and task.kind in _SEVERAL_S:
        warm_up, measured = _SEVERAL_S[task.kind]
        times = {"warm_up": warm_up, "duration": measured}
    if requirement.beside and task.kind in ("brief", "precise") and task.design.family.has_stripe_cache:
        times["warm_up"] = max(times["warm_up"], min(_CACHE_GROWS_S, _SEVERAL_IOS / task.iops))
    spec = with_others(task.design.scenario(wanted, wanted.load.document(**times)), requirement)
    if task.kind == "drive":
        rule = rule_of_thumb(spec)
        return Measured(task, 0.0 if rule is None else rule.iops, {}, False, 0.0, 0.0, "", None)
    if task.kind == "rebuild":
        return Measured(task, 0.0, {}, False, 0.0, 0.0, "", None, rebuild_time(spec, about=True))
    if requirement.while_rebuilding and task.kind in ("brief", "precise") and rebuilt_arrays(spec):
        # Halfway, where the rebuilt member is neither all there nor all missing.
        spec = with_rebuild(spec, rebuilt_arrays(spec)[0], 0.5)
    if task.kind == "battery":
        spec = with_lost_batteries(spec) or spec
    if task.kind == "full":
        spec = as_much_as_it_takes(spec, _FULL_USERS)
    endings, runs = Endings(requirement), list[Run]()

    def watch(run: Run) -> None:
        runs.append(run)
        assert isinstance(run, LoadRun | SeveralLoadsRun)
        if task.kind == "brief":
            run.end_when(endings.is_late)
        elif to_precision and isinstance(run, LoadRun):
            run.decide_by(endings.is_decided)
        elif to_precision:
            run.end_when(endings.ending())

    found = simulate(as_much_as_it_takes(spec) if task.kind == "saturate" else spec, watch=watch)
    used = [usage.utilization for usage in found.usages if usage.kind in DRIVES and usage.reads + usage.writes]
    mine = found.loads.get(REQUIRED, found)
    served = sum_in_order(mine.iops.values())
    names = [f"{op}_{kind}" for op in ("read", "write") for kind in ("mean", "p99")]
    return Measured(
        task,
        served,
        {name: mine.estimates[f"{name}_seconds"] for name in names if f"{name}_seconds" in mine.estimates},
        to_precision and (mine.saturated or _is_short(served, task.iops, mine.measured_s)),
        found.member_ios / found.measured_s,
        max(used, default=0.0),
        found.bottleneck,
        mine.estimates.get("iops"),
        settled=found.precision_reached is None or isfinite(found.precision_reached),
        busy=sum_in_order(used) / len(used) if used else 0.0,
        late=endings.late(runs[-1]) if task.kind == "brief" or (requirement.beside and task.kind == "precise") else (),
    )


def _is_short(served: float, offered: float, seconds: float) -> bool:
    """Whether fewer I/Os per second are served than offered, by more than the chance of Poisson arrivals."""
    return served < (_TAKEN - _BY_CHANCE / sqrt(max(1.0, offered * seconds))) * offered


def _run_on_files(requirement: RequirementSpec, task: Task) -> Measured:
    """Run a design with its file system: one run, or several for intervals."""
    wanted = requirement.model_copy(update={"load": requirement.load.model_copy(update={"total_iops": task.iops})})
    precise = task.kind == "precise"
    length = (_FILE_IOS * task.finer if precise else task.ios) / task.iops
    runs = predictions(wanted, task.design, warm_up=_WARM_UP * length, duration=length, runs=RUNS if precise else 1)
    found = together(runs)
    # The run lasts until fio's slowest thread sees that its time is over; drives count from the beginning.
    of_load = found.measured_s / ((1.0 + _WARM_UP) * length)
    drives = [usage for usage in found.usages if usage.kind in DRIVES and usage.reads + usage.writes]
    used = [min(1.0, of_load * usage.utilization) for usage in drives]
    served = sum_in_order(found.iops.values())
    return Measured(
        task,
        served,
        latencies(runs),
        precise and served < _TAKEN_ON_FILES * task.iops,
        of_load * found.member_ios / found.measured_s,
        max(used, default=0.0),
        found.bottleneck,
        None,
        busy=sum_in_order(used) / len(used) if used else 0.0,
    )


Search = Generator[Task, Measured, _Result]
"""Asks for one simulation after the other, and returns what it found."""


class Simulations:
    """Runs searches side by side; what each finds depends on itself alone, and so not on the number of processes.

    Parameters
    ----------
    requirement
        Whose load is simulated.
    workers
        Processes; as many as cores unless given. With 1 or 0 everything runs in this process.
    watch
        Called with the number of simulations that are done, and of those known to be needed.
    """

    def __init__(
        self, requirement: RequirementSpec, workers: int | None = None, watch: Callable[[int, int], None] | None = None
    ) -> None:
        self._requirement = requirement
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1
        self._workers = cores if workers is None else max(1, workers)
        self._watch = watch
        self._pool: WorkerPool[int] | None = None
        self._known: dict[tuple[object, ...], Measured] = {}
        self.done = 0

    def __enter__(self) -> Simulations:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.close(at_once=kind is not None)

    def run(self, searches: Sequence[Search[_Result]]) -> list[_Result]:
        """The results of all searches, in their order; their next tasks take turns, so all have a first one soon."""
        results: dict[int, _Result] = {}
        asked: dict[int, Task] = {}

        def advance(number: int, measured: Measured | None) -> Task | None:
            """The next task of a search that has to be run; None if the search has ended."""
            while True:
                try:
                    task = next(searches[number]) if measured is None else searches[number].send(measured)
                except StopIteration as end:
                    results[number] = end.value
                    return None
                measured = self._known.get(task.key)
                if measured is None:
                    asked[number] = task
                    return task

        def answered(number: int, measured: Measured, left: int) -> Task | None:
            self._known[asked[number].key] = measured
            self._count(left)
            return advance(number, measured)

        first = [(number, task) for number in range(len(searches)) if (task := advance(number, None)) is not None]
        if self._workers == 1:
            waiting = deque(first)
            while waiting:
                number, task = waiting.popleft()
                following = answered(number, run_task(self._requirement, task), len(waiting) + 1)
                if following is not None:
                    waiting.append((number, following))
        elif first:
            pool = self._pool = self._pool or WorkerPool(self._workers, _begin, (self._requirement,))
            for number, task in first:
                pool.submit(number, _work, task, (Measured,))
            for number, measured in pool.results():
                following = answered(number, measured, pool.left + 1)
                if following is not None:
                    pool.submit(number, _work, following, (Measured,))
        return [results[number] for number in range(len(searches))]

    def _count(self, left: int) -> None:
        self.done += 1
        if self._watch is not None:
            self._watch(self.done, self.done + left)


_wanted: RequirementSpec | None = None


def _begin(requirement: RequirementSpec) -> None:
    """Tell a new process what it works for, and end it with its parent."""
    global _wanted  # noqa: PLW0603 - an initializer of a process has nowhere else to put it
    _wanted = requirement
    end_with_parent()


def _work(task: Task) -> Measured:
    assert _wanted is not None
    return run_task(_wanted, task)
