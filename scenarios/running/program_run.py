"""A run of programs on files: step by step, all processes side by side, or each process through all steps on its own.

Long runs are simulated at a scale: sizes, counts and the memory are divided by it, and times multiplied.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any

from ...model.core.errors import ModelError
from ...model.core.exact_sums import sum_in_order
from ...model.memory.page_memory import RUN_BYTES
from ...model.memory.paged_file import PagedFile
from ...model.memory.pipe import Pipe
from ...model.process.operations import execute
from ...model.process.process import IN_MEMORY, Phase, Process
from ...model.programs.copying import Tree
from ...model.statistics.usage import PROGRAM, SATURATED, Usage
from ..description.programs import ProgramsSpec
from ..machine.machine import BuiltMachine
from ..programs import Step
from ..programs.remount import DropCacheStep
from ..programs.step import Job, Ran, Setting
from .base.looks import PhaseLooks
from .base.run import Run
from .base.sample import Sample

_ISSUERS = 1000
_ISSUERS_EACH = 64
_STUCK_S = 1000.0
"""Programs that do nothing for so long, while no disk does anything, are waiting for what never comes."""


class _Stage:
    """A step while it is run: what its processes are made from, and what is known of them."""

    __slots__ = ("expected", "moved", "on", "processes", "reads", "setting", "spans", "step")

    def __init__(self, step: Step, on: str, setting: Setting, expected: float) -> None:
        self.step = step
        self.on = on
        self.setting = setting
        self.expected = expected
        self.processes: list[Process] = []
        self.reads: list[Callable[[list[Phase]], dict[str, float]]] = []
        self.spans: list[float] = []
        self.moved = 0


class ProgramRun(Run):
    """All steps of a workload of programs.

    Attributes
    ----------
    figures
        "STEP.FIGURE": what the programs report, in SI units.
    phases
        Of the first process, by step.
    reports
        What the first process prints, by step.
    """

    def __init__(self, machine: BuiltMachine, sample: Sample) -> None:
        super().__init__(machine, sample)
        workload = machine.scenario.workload
        assert isinstance(workload, ProgramsSpec)
        self.workload = workload
        self.scale = machine.scale
        self.figures: dict[str, float] = {}
        self.phases: dict[str, list[Phase]] = {}
        self.reports: dict[str, str] = {}
        self.bytes = 0
        self._expected = sum_in_order(workload.processes * self._share_of(step) for step in workload.steps)
        self._finished = self._under_way = 0.0
        self._held: dict[str, PagedFile] = {}
        self._made: dict[str, Tree] = {}
        self._at_work: list[Process] = []
        self._cpu_s: dict[str, float] = {}
        self._looks: dict[str, PhaseLooks] = {}

    @property
    def share(self) -> float:
        """See :attr:`Run.share`."""
        moved = sum(process.moved for process in list(self._at_work))
        return (self._finished + min(float(moved), self._under_way)) / (self._expected or 1.0)

    def run(self) -> float:
        """Do all steps; returns bytes of file data per second of simulated time."""
        self._begin()
        if self.workload.in_step:
            for step in self.workload.steps:
                self._step(step)
        else:
            self._run_through()
        return self.bytes / self.span if self.span else 0.0

    def usages(self) -> tuple[Usage, ...]:
        """See :meth:`Run.usages`; with the programs, where each of them has a core to itself and no time left on it."""
        found, cores = super().usages(), self.machine.cpu.cores
        share = sum_in_order(self._cpu_s.values()) / self.workload.processes / self.span if self.span else 0.0
        if share < SATURATED or self.machine.cpu.busy_s / self.span / cores >= SATURATED:
            return found
        return (Usage(max(self._cpu_s, key=self._cpu_s.__getitem__), PROGRAM, min(1.0, share)), *found)

    @property
    def bottlenecks(self) -> dict[str, str]:
        """What limits each phase that the first process times, by "STEP.PHASE"."""
        found = {}
        for title, looks in self._looks.items():
            found.update({f"{title}.{name}": words for name, words in looks.bottlenecks().items() if name})
        return found

    @property
    def excess(self) -> str | None:
        """See :meth:`.PhaseLooks.excess`, of all steps."""
        found = (looks.excess(self.scale) for looks in self._looks.values())
        return next((text for text in found if text is not None), None)

    def _step(self, step: Step) -> None:
        """All processes do a step."""
        engine = self.machine.engine
        if isinstance(step, DropCacheStep):
            engine.run(engine.spawn(self._remount()))
            return
        stage, processes = self._stage(step), self.workload.processes
        starts = [self._ready(stage, number) for number in range(processes)]
        self._under_way = stage.expected * processes
        began = engine.now
        stage.spans = [0.0] * processes

        def watch(number: int, event: Any) -> Generator[Any, Any, None]:
            yield event
            stage.spans[number] = engine.now - began

        events = [start() for start in starts]
        self._wait_for([engine.spawn(watch(number, event)) for number, event in enumerate(events)], step.title)
        self._finished += self._under_way
        self._under_way = 0.0
        self._at_work = []
        self._report(stage)

    def _run_through(self) -> None:
        """Every process does all steps, one after the other, and waits for no other."""
        engine = self.machine.engine
        stages = [self._stage(step) for step in self.workload.steps]

        def through(number: int) -> Generator[Any, Any, None]:
            for stage in stages:
                others = set(self._at_work)
                start = self._ready(stage, number)
                mine = [process for process in self._at_work if process not in others]
                self._under_way += stage.expected
                began = engine.now
                yield start()
                stage.spans.append(engine.now - began)
                self._under_way -= stage.expected
                self._finished += stage.expected
                self._at_work = [process for process in self._at_work if process not in mine]

        numbers = range(self.workload.processes)
        self._wait_for([engine.spawn(through(number)) for number in numbers], self.machine.scenario.name)
        for stage in stages:
            self._report(stage)

    def _wait_for(self, events: list[Any], title: str) -> None:
        engine = self.machine.engine
        over = engine.all_of(events)
        engine.spawn(self._guard(title, over))
        engine.run(over)

    def _stage(self, step: Step) -> _Stage:
        machine = self.machine
        mounts = machine.mounts
        on = step.on or next(iter(mounts))
        kind = mounts[on].file_system.settings
        setting = Setting(
            on,
            self.scale,
            kind.block,
            machine.scenario.machine.memory,
            lambda tree, mount: self._listed(tree, mount or on),
        )
        return _Stage(step, on, setting, self._share_of(step))

    def _share_of(self, step: Step) -> float:
        """About how many bytes a process of a step moves in this run."""
        return step.moved_bytes(self.machine.scenario.machine.memory) / self.scale

    def _ready(self, stage: _Stage, number: int) -> Callable[[], Any]:
        """Prepare what a process does in a step; what starts it gives the event of its end."""
        on = stage.on
        job, figures = stage.step.job(stage.setting)
        stage.moved += job.file_bytes
        self._prepare(job, on, number)
        process = self._process(job.on or on, number, 0)
        process.children = job.children
        if job.piped_to is not None and job.piped_to.made is not None:
            self._made[on] = job.piped_to.made
        stage.processes.append(process)
        stage.reads.append(figures)
        operations = iter(job.operations)
        if not number:
            looks = self._looks[stage.step.title] = PhaseLooks(self, stage.step.title)
            operations = looks.watched(process, operations)
        return self._starter(process, replace(job, operations=operations), on, number)

    def _report(self, stage: _Stage) -> None:
        self._figures(stage.step, stage.processes, stage.reads, stage.spans, stage.moved)
        first, title = stage.processes[0], stage.step.title
        seconds, cpu_s = self.figures[f"{title}.seconds"], first.cpu_s * self.scale
        ran = Ran(stage.setting, first.phases, seconds, cpu_s, self.machine.scenario.machine.name, stage.on)
        self.reports[title] = stage.step.report(ran)

    def _guard(self, title: str, over: Any) -> Generator[Any, Any, None]:
        """Give up a step in which no program and no disk does anything any more."""
        engine, disks = self.machine.engine, self.machine.disks.values()
        before = None
        while not over.triggered:
            at_work = self._at_work
            done = [*(process.moved for process in at_work), *(process.cpu_s for process in at_work)]
            done += [disk.reads + disk.writes for disk in disks]
            if done == before:
                raise ModelError(f"{title}: no program and no disk has done anything for {_STUCK_S:g} s of its time")
            before = done
            yield engine.timeout(_STUCK_S)

    def _figures(self, step: Step, processes: list[Process], reads: list[Any], spans: list[float], moved: int) -> None:
        title, scale = step.title, self.scale
        slept = processes[0].slept_s
        seconds = [(span - slept) * scale + slept for span in spans]
        slowest = max(seconds)
        cpu_s = sum_in_order(process.cpu_s for process in processes)
        found = {
            "seconds": slowest,
            "mean_seconds": sum_in_order(seconds) / len(seconds),
            "cpu": cpu_s * scale / sum_in_order(seconds),
            "cpu_seconds": cpu_s * scale / len(processes),
        }
        if moved:
            found["rate"] = moved * scale / slowest
        own = [read(process.phases) for read, process in zip(reads, processes, strict=True)]
        for name in own[0]:
            found[name] = sum_in_order(each.get(name, 0.0) for each in own) / len(own)
        self.figures.update({f"{title}.{name}": value for name, value in found.items()})
        self._cpu_s[title] = self._cpu_s.get(title, 0.0) + cpu_s
        self.phases[title] = processes[0].phases
        self.bytes += sum(phase.bytes for process in processes for phase in process.phases)

    def _starter(self, process: Process, job: Job, on: str, number: int) -> Callable[[], Any]:
        """What starts a job, and the job it is piped to; the event it gives ends with the last of them."""
        engine = self.machine.engine

        def start() -> Any:
            if job.piped_to is None:
                return engine.spawn(execute(process, job.operations))
            pipe = Pipe(self.machine.kernel.pipe.size)
            reader = self._process(job.piped_to.on or on, number, 1)
            process.output, reader.input = pipe, pipe

            def writing() -> Generator[Any, Any, None]:
                yield from execute(process, job.operations)
                pipe.close()

            return engine.all_of([engine.spawn(writing()), engine.spawn(execute(reader, job.piped_to.operations))])

        return start

    def _process(self, on: str, number: int, part: int) -> Process:
        machine = self.machine
        issuer = _ISSUERS + _ISSUERS_EACH * (2 * number + part)
        root = f"{on.rstrip('/')}/{_prefix(number)}"
        process = Process(machine.engine, machine.host, machine.mounts, root, issuer)
        self._at_work.append(process)
        return process

    def _prepare(self, job: Job, on: str, number: int) -> None:
        """Put what a job needs where nothing has made it yet."""
        root = _prefix(number)
        system = self.machine.mounts[on].file_system
        for path, size in job.needs.items():
            if not path.startswith(IN_MEMORY) and not system.exists(root + path):
                system.place(root + path, size)
        for (point, name), size in job.shared.items():
            place = self.machine.mounts[point].file_system
            if not place.exists(name):
                place.place(name, size)
        for path, size in job.cached.items():
            self._hold(path, size)
        for path in job.directories:
            system.place_directory(root + path)
        for mount, tree in job.trees:
            self._place_tree(mount or on, number, tree)

    def _hold(self, path: str, size: int) -> None:
        """Put a file of another device into memory: read before, and used again now."""
        if path not in self._held:
            file = self._held[path] = PagedFile(path, size)
            for start in range(0, size, RUN_BYTES):
                self.machine.pages.add(file, start, min(size, start + RUN_BYTES))
            for _ in ("read before", "copied now"):
                self.machine.pages.used(file, 0, size)

    def _listed(self, tree: Tree, on: str) -> Tree:
        """A tree, which is sorted by name, in the order in which the file system lists it."""
        listing = self.machine.mounts[on].file_system.settings.listing
        if listing == "by hash":
            return tree.hashed()
        return tree if listing == "by name" else self._made.get(on, tree)

    def _place_tree(self, on: str, number: int, tree: Tree) -> None:
        """Put a tree where nothing has made it: in the order in which it is listed, as copies are made.

        What was made in another order lies by name in some directories, as many as the file system is said to have.
        """
        system, root = self.machine.mounts[on].file_system, _prefix(number)
        if system.exists(root + tree.entries[0][0]):
            return
        random = self.machine.engine.streams.generator(f"order of {on}")
        by_name = {path: files for path, files in tree.entries if random.random() < system.settings.disorder}
        for directory, files in self._listed(tree, on).entries:
            system.place_directory(root + directory)
            for file in by_name.pop(directory) if directory in by_name else files:
                if not system.exists(root + file.path):
                    system.place(root + file.path, file.size)

    def _remount(self) -> Generator[Any, Any, None]:
        process = self._process(next(iter(self.machine.mounts)), 0, 0)
        for mount in self.machine.mounts.values():
            yield from mount.file_system.settle(process)
            for loop in self.machine.loops.values():
                yield from loop.cache.sync(process)
            mount.cache.pages.drop_clean()
            mount.file_system.drop_inodes()


def _prefix(number: int) -> str:
    """All processes work in the topmost directory; the names of their files tell them apart."""
    return f"{number}-"
