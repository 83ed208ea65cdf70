"""Jobs of fio run on the machine of a scenario.

Machine, kernel, arrays and file systems are the scenario's; its workload is replaced by the jobs. As in fio's own main
loop, what may start is looked at every 100 ms (backend.c, run_threads).
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ...model.core.errors import ArrayFailed, InputError
from ...model.core.exact_sums import sum_in_order
from ...model.core.request import READ, WRITE
from ...model.files.quantities import format_duration
from ...model.fio.files import CachedFile
from ...model.fio.pace import Pace
from ...model.fio.statistics import FioCompletions, FioStatistics
from ...model.fio.thread import FioThread
from ...model.programs.fio.offsets import FioOffsets
from ...model.programs.fio.sections import Section
from ..description.any_workload import IdleSpec
from ..description.scenario import ScenarioSpec
from ..machine.loads import FIRST_ISSUER
from ..machine.machine import BuiltMachine
from ..machine.mapper_plan import cold_notes, with_workload
from ..machine.observer import UNOBSERVED, Observer
from ..running.base.flash_state import Writer, with_states
from ..running.base.run import Run
from ..running.base.sample import Sample
from ..running.base.supply import supply
from .disks import disk_results
from .files import FileNames, FilePlaces
from .limits import GroupLimits
from .operation_log import OperationLog
from .plan import Plan, notes_on, plans
from .report import Ran, job_results, thread_records
from .result import FioRun

_LOOK_S = 0.1
"""How often fio looks for jobs that may start."""
_LOOK_AGAIN_S = 1e-3
"""How often it looks whether the ramp time of one is over; its clock of samples counts milliseconds."""


@dataclass(frozen=True, slots=True)
class FioOptions:
    """How jobs are run.

    Attributes
    ----------
    target
        Device used for every target that the scenario does not have, and for files without a file system.
    files
        Files that are there before, and their sizes (bytes).
    most_s
        A job ends after this time of its statistics, and its ramp before takes no longer; None for what
        it says itself.
    logs
        Whether the logs that jobs ask for are wanted.
    iolog
        Whether the log of the operations of all jobs is wanted.
    """

    target: str | None = None
    files: Mapping[str, int] = field(default_factory=dict)
    most_s: float | None = None
    logs: bool = False
    iolog: bool = False


class FioMachineRun(Run):
    """All jobs from the first to the last.

    Attributes
    ----------
    threads
        One for each job, once it has started.
    limits
        What limits each group.
    """

    def __init__(self, machine: BuiltMachine, plans: Sequence[Plan], names: FileNames, options: FioOptions) -> None:
        places = FilePlaces(machine, names, plans)
        self.files = [places.of(plan) for plan in plans]
        super().__init__(machine, Sample())
        self.places = places
        self.plans = plans
        self.operations = [OperationLog() for _ in plans]
        self._options = options
        self.threads: list[FioThread | None] = [None] * len(plans)
        self.limits = GroupLimits(self)
        self._running: set[int] = set()
        self._stopped = False

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        done = [self._share_of(plan, thread) for plan, thread in zip(self.plans, self.threads, strict=True)]
        return sum_in_order(done) / len(done)

    def _share_of(self, plan: Plan, thread: FioThread | None) -> float:
        if thread is None:
            return 0.0
        if thread.over:
            return 1.0
        timing = plan.timing
        most_s = self._options.most_s
        limit = timing.runtime_s if most_s is None else min(timing.runtime_s or most_s, most_s)
        shares = [0.0]
        if limit:
            shares.append((self.machine.engine.now - thread.began_s) / (limit + timing.ramp_s))
        if not plan.job.time_based:
            moved = sum(direction.bytes for direction in thread.statistics.directions)
            shares.append(moved / ((plan.job.io_size or plan.job.size) * plan.job.loops))
        return min(1.0, max(shares))

    def run(self) -> float:
        """Bytes per second of all jobs together, over the time of the whole run."""
        engine = self.machine.engine
        self._begin()
        engine.run(engine.spawn(self._started()))
        moved = sum(d.bytes for thread in self.threads if thread is not None for d in thread.statistics.directions)
        return moved / self.span if self.span else 0.0

    def _started(self) -> Generator[Any, Any, None]:
        """Start every job when it may."""
        engine = self.machine.engine
        waiting = list(range(len(self.plans)))
        processes: list[Any] = []
        while waiting:
            for number in list(waiting):
                if self._stopped:
                    waiting.clear()
                    break
                plan = self.plans[number]
                if engine.now < plan.timing.delay_s:
                    continue
                if plan.stonewall and self._running:
                    break
                if plan.timing.wait_for and self._awaited(plan):
                    continue
                waiting.remove(number)
                self._running.add(number)
                processes.append(engine.spawn(self._job(number)))
            if waiting:
                soonest = min(self.plans[number].timing.delay_s for number in waiting)
                looks = max(engine.now + _LOOK_S, soonest if not self._running else 0.0)
                yield engine.timeout(looks - engine.now)
        yield engine.all_of(processes)

    def _awaited(self, plan: Plan) -> bool:
        """Whether a job that this one waits for has not ended."""
        for other, thread in zip(self.plans, self.threads, strict=True):
            if other.name == plan.timing.wait_for and (thread is None or not thread.over):
                return True
        return False

    def _job(self, number: int) -> Generator[Any, Any, None]:
        machine, plan, files = self.machine, self.plans[number], self.files[number]
        engine = machine.engine
        self.limits.begin(plan.groupid)
        for file in files.values():
            if isinstance(file, CachedFile):
                if plan.timing.pre_read:
                    file.fill()
                elif plan.timing.invalidate:
                    file.drop()
        pace = Pace(plan.timing.rates)
        offsets = FioOffsets(plan.job)
        wanted, log = self._options, self.operations[number]
        logged = wanted.iolog or (wanted.logs and plan.reporting.logs_operations)
        host = machine.host if machine.network is None else machine.network.host
        thread = FioThread(
            engine,
            host,
            plan.timing,
            offsets.operations(),
            files,
            FIRST_ISSUER + number,
            pace,
            log.add if logged else None,
            FioCompletions() if wanted.logs and plan.reporting.logs_ios else None,
            wanted.most_s,
        )
        if pace.limited and plan.job.reads and plan.job.writes:
            offsets.turn = lambda op: pace.direction(op, 1 - op, thread.now - thread.epoch_s)
        self.threads[number] = thread
        for seconds, samples in ((plan.reporting.bw_s, _sample_rate), (plan.reporting.iops_s, _sample_iops)):
            engine.spawn(self._sampled(thread, plan.timing.ramp_s, seconds, samples))
        yield from thread.run()
        self._running.discard(number)
        self.limits.end(plan.groupid)
        if plan.timing.exits:
            self._exit(plan)

    def _exit(self, plan: Plan) -> None:
        """``exitall``: others end, too."""
        if plan.timing.exits == "all":
            self._stopped = True
        for number in self._running:
            thread = self.threads[number]
            if thread is not None and (plan.timing.exits != "group" or self.plans[number].groupid == plan.groupid):
                thread.terminate()

    def _sampled(
        self, thread: FioThread, ramp_s: float, seconds: float, samples: Callable[[FioStatistics, float], None]
    ) -> Generator[Any, Any, None]:
        """Sample the rate of a thread until it ends."""
        engine = self.machine.engine
        if ramp_s:
            yield engine.timeout(ramp_s)
        # The ramp ends with an I/O of the thread, and its samples begin there.
        while not thread.counting and not thread.over:
            yield engine.timeout(_LOOK_AGAIN_S)
        while not thread.over:
            yield engine.timeout(seconds)
            if thread.counting and thread.left_s > 0 and not thread.over:
                samples(thread.statistics, seconds)


def _sample_rate(statistics: FioStatistics, seconds: float) -> None:
    for direction in statistics.directions:
        direction.sample_rate(seconds)


def _sample_iops(statistics: FioStatistics, seconds: float) -> None:
    for direction in statistics.directions:
        direction.sample_iops(seconds)


def run_fio(
    scenario: ScenarioSpec,
    sections: Sequence[Section],
    options: FioOptions,
    watch: Callable[[Run], None] | None = None,
    observer: Observer = UNOBSERVED,
) -> FioRun:
    """Run jobs of fio on the machine of a scenario.

    Parameters
    ----------
    scenario
        Whose machine, kernel, arrays, file systems and failures are used.
    sections
        The jobs of a job file.
    options
        How.
    watch
        Called with the run before it begins.
    observer
        Sees every part of the machine when it is built.

    Raises
    ------
    InputError
        If a job asks for what is not modeled or does not fit, or if an array fails.
    """
    names = FileNames(scenario, options.target)
    fixed = names.sizes(_named(sections))
    sector = max(each.spec().logical_sector for each in scenario.machine.drives.values())
    planned = plans(sections, {**options.files, **fixed}, fixed, sector)
    threads = [names.past_the_page_cache(_with_ramp_of(plan, options.most_s)) for plan in planned]
    known, states = with_states(scenario, _writers(planned, names))
    machine = BuiltMachine(with_workload(known, IdleSpec(kind="idle")), observer=observer)
    run = FioMachineRun(machine, threads, names, options)
    if watch is not None:
        watch(run)
    try:
        run.run()
    except ArrayFailed as error:
        raise InputError(
            "failures", str(error), "expected: failures that every array survives when they come"
        ) from None
    ran = [
        Ran(plan, thread, number)
        for number, (plan, thread) in enumerate(zip(run.plans, run.threads, strict=True))
        if thread is not None
    ]
    return FioRun(
        jobs=job_results(ran),
        disks=disk_results(machine, run.places, ran, run.span),
        global_options=_global_options(sections),
        threads=thread_records(ran, run.operations),
        limits=run.limits.words(ran),
        waits=tuple(each.statistics.waits for each in ran),
        notes=(
            *names.notes,
            *cold_notes(known),
            *notes_on(sections),
            *_ramp_notes(planned, options.most_s),
            *_run_notes(ran, options),
            *_excesses(run, ran),
            *states,
        ),
    )


def _writers(planned: Sequence[Plan], names: FileNames) -> Iterator[Writer]:
    """The devices that jobs write, and whether in order."""
    for plan in planned:
        if plan.job.writes and plan.timing.kind != "null":
            for file in plan.job.files:
                yield names.holder(file.name, f"job {plan.name}, filename"), not plan.job.random


def _excesses(run: FioMachineRun, ran: Sequence[Ran]) -> list[str]:
    """A sentence for each job that is faster than media and caches can be with what it touches for the first time."""
    found = []
    for each in ran:
        seconds = each.statistics.ended_s - each.statistics.began_s
        for op, name in ((READ, "read"), (WRITE, "write")):
            moved = min(each.statistics.directions[op].bytes, each.plan.job.size)
            if not moved or seconds <= 0 or each.plan.timing.kind == "null":
                continue
            bound = supply(run.machine.scenario, run.places.used, name, memory=not each.plan.timing.direct)
            found.append(bound.excess(f"{each.plan.name}, {name}s", moved, seconds))
    return [note for note in found if note is not None]


def _with_ramp_of(plan: Plan, most_s: float | None) -> Plan:
    """A job whose ``ramp_time`` is no longer than this."""
    if most_s is None or plan.timing.ramp_s <= most_s:
        return plan
    return replace(plan, timing=replace(plan.timing, ramp_s=most_s))


def _named(sections: Sequence[Section]) -> list[tuple[str, str]]:
    """All names of files in a job file, each with its place."""
    found = []
    for section in sections:
        option = section.options.get("filename")
        if option is None:
            continue
        directories = section.options.get("directory")
        prefixes = [f"{each}/" for each in directories.value.split(":") if each] if directories is not None else [""]
        for name in option.value.replace("\\:", "\0").split(":"):
            found += [(prefix + name.replace("\0", ":"), option.place) for prefix in prefixes if name]
    return found


def _global_options(sections: Sequence[Section]) -> dict[str, str]:
    """As fio's JSON has them: those with a value."""
    shared = sections[-1].shared if sections else {}
    return {name: option.value for name, option in shared.items() if not option.bare}


def _ramp_notes(planned: Sequence[Plan], most_s: float | None) -> list[str]:
    """What was made of ramps."""
    shorter = [plan.name for plan in planned if _with_ramp_of(plan, most_s) is not plan]
    if most_s is None or not shorter:
        return []
    return [f"ramp_time is {format_duration(most_s)} by --at-most: {', '.join(dict.fromkeys(shorter))}"]


def _run_notes(ran: Sequence[Ran], wanted: FioOptions) -> list[str]:
    """What the run itself has to say."""
    notes = []
    if not wanted.logs and any(each.plan.reporting.logs_ios or each.plan.reporting.logs_operations for each in ran):
        notes.append("jobs ask for logs: --logs DIR writes them")
    cut = [each.plan.name for each in ran if each.thread.cut]
    if cut:
        notes.append(f"ended by --at-most, before the job itself would have: {', '.join(dict.fromkeys(cut))}")
    slow = [each.plan.name for each in ran if each.thread.error]
    if slow:
        notes.append(f"ended because slower than rate_min or rate_iops_min: {', '.join(dict.fromkeys(slow))}")
    blocking = [
        f"{each.plan.name} ({each.plan.timing.engine})"
        for each in ran
        if each.plan.timing.kind == "async" and not each.plan.timing.direct and each.plan.timing.depths.most > 1
    ]
    if blocking:
        names = ", ".join(dict.fromkeys(blocking))
        notes.append(f"buffered I/O is done while it is submitted, so iodepth makes it no faster: {names}")
    uring = [each.plan.name for each in ran if each.plan.timing.engine in ("io_uring", "posixaio")]
    if uring:
        names = ", ".join(dict.fromkeys(uring))
        notes.append(f"io_uring and posixaio are charged the CPU time of libaio: {names}")
    empty = [each.plan.name for each in ran if not any(d.ios for d in each.thread.statistics.directions)]
    if empty:
        notes.append(f"did no I/O: {', '.join(dict.fromkeys(empty))}")
    if any(each.thread.ended_s - each.thread.began_s > 0 for each in ran):
        longest = max(each.thread.ended_s for each in ran)
        notes.append(f"simulated {format_duration(longest)}")
    return notes
