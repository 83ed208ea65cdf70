"""From a step of a workload to what its processes do, and from what they did to the program's own figures."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from ...model.core.exact_sums import sum_in_order
from ...model.process.process import IN_MEMORY, Phase
from ...model.programs.bonnie import Bonnie, BonnieSettings
from ...model.programs.bonnie_plus_plus import BonniePlusPlus, BonniePlusPlusSettings, default_megabytes, version_1_9
from ...model.programs.copying import Tree, copy, tar_create, tar_extract
from ...model.programs.file_io import cat, cp_file, dd_write
from ...model.programs.iozone import STRIDE, Iozone, timed
from ...model.programs.linux_tree import linux_2_6_13
from ...model.programs.operation import Kind, Operation
from ...model.programs.postmark import PostMark, PostMarkSettings
from ...model.programs.tiobench import Tiobench, TiobenchSettings
from ..description.program_steps import (
    ArchiveStep,
    BonniePlusPlusStep,
    BonnieStep,
    CopyFileStep,
    CopyTreeStep,
    ExtractStep,
    IozoneStep,
    PostMarkStep,
    ReadFileStep,
    Step,
    TarPipeStep,
    TiobenchStep,
    TreeSpec,
    WriteFileStep,
)

MIB = 1 << 20
_TREE = "linux-2.6.13"
_COPY = "copy"
_LEAST_RECORDS = 2 * STRIDE
"""iozone reads by strides only the start of a file that has no more records than one stride."""
Children = Callable[[str, int], Iterable[Operation]]


@dataclass(slots=True)
class Job:
    """What one process of a step does.

    Attributes
    ----------
    operations
        In order.
    children
        What the processes that it forks do, by phase and number.
    on
        Mount point it works on, where it is not the step's.
    piped_to
        A job that reads what this one writes to its pipe.
    needs
        Files that must be there before, by path and size.
    shared
        Files of all processes that must be there before, by mount point and name, and size.
    cached
        Files of another device that the page cache holds, by path and size: they take their part of the memory.
    directories
        Directories that must be there before.
    trees
        Trees that must be there before, by mount point (None: the step's).
    made
        The tree that it makes, in the order of its making.
    file_bytes
        Bytes of file data that it moves.
    """

    operations: Iterable[Operation]
    children: Children | None = None
    on: str | None = None
    piped_to: Job | None = None
    needs: dict[str, int] = field(default_factory=dict)
    shared: dict[tuple[str, str], int] = field(default_factory=dict)
    cached: dict[str, int] = field(default_factory=dict)
    directories: tuple[str, ...] = ()
    trees: list[tuple[str | None, Tree]] = field(default_factory=list)
    made: Tree | None = None
    file_bytes: int = 0


@dataclass(frozen=True, slots=True)
class Setting:
    """What a step's programs find.

    Attributes
    ----------
    on
        Mount point they work on.
    scale
        Sizes and counts are divided by this.
    stdio_bytes
        Block of the C library's buffers (``st_blksize``).
    memory_bytes
        Of the machine, not scaled.
    listed
        A tree in the order in which the file system lists it, which is that of the step unless its mount point is
        given.
    """

    on: str
    scale: int
    stdio_bytes: int
    memory_bytes: int
    listed: Callable[[Tree, str | None], Tree]


Figures = Callable[[list[Phase]], dict[str, float]]
"""From the phases of one process to the program's own figures, in SI units."""


def plan(step: Step, setting: Setting) -> Callable[[], tuple[Job, Figures]]:
    """A maker of the jobs of a step, one for each process, with what reads the program's figures from its phases."""
    return lambda: _PLANS[type(step)](step, setting)


def bonnie(step: BonnieStep, setting: Setting) -> Bonnie:
    """The run of a step."""
    settings = BonnieSettings(
        megabytes=step.size // MIB,
        files=step.files,
        sync=step.sync,
        chunk=MIB if step.version == "1.4" else 16 * 1024,
        stdio_bytes=setting.stdio_bytes,
    )
    return Bonnie(settings.scaled(setting.scale) if setting.scale > 1 else settings)


def _bonnie(step: BonnieStep, setting: Setting) -> tuple[Job, Figures]:
    run = bonnie(step, setting)
    tickets = iter(range(run.settings.seeks))
    job = Job(run.operations(), _seekers(run, tickets, run.settings.name), file_bytes=run.size * step.files)
    return job, _io_figures(run.settings.seeks)


def bonnie_plus_plus(step: BonniePlusPlusStep, setting: Setting) -> BonniePlusPlus:
    """The run of a step."""
    megabytes = default_megabytes(setting.memory_bytes // MIB) if step.size is None else step.size // MIB
    settings = BonniePlusPlusSettings(
        megabytes=megabytes, small_files=step.small_files, stdio_bytes=setting.stdio_bytes
    )
    if step.version == "1.9":
        settings = version_1_9(settings).settings
    return BonniePlusPlus(settings.scaled(setting.scale) if setting.scale > 1 else settings)


def _bonnie_plus_plus(step: BonniePlusPlusStep, setting: Setting) -> tuple[Job, Figures]:
    run = bonnie_plus_plus(step, setting)
    tickets = iter(range(run.settings.seeks))
    first = run.files[0][0] if run.files else ""
    job = Job(run.operations(), _seekers(run, tickets, first), file_bytes=run.size)
    return job, _io_figures(run.settings.seeks)


def _seekers(run: Bonnie | BonniePlusPlus, tickets: Iterator[int], name: str) -> Children:
    def seeks(_: str, number: int) -> Iterator[Operation]:
        yield Operation(Kind.OPEN, name, flags="O_RDWR")
        mine = run.seeks(number)
        opened = {name}
        for _ticket in tickets:
            for operation in next(mine):
                if operation.file not in opened:
                    opened.add(operation.file)
                    yield Operation(Kind.OPEN, operation.file, flags="O_RDWR")
                yield operation
        yield from run.leave(name)

    return seeks


_NOT_RATES = ("", "seeks", "end")


def _io_figures(seeks: int) -> Figures:
    def figures(phases: list[Phase]) -> dict[str, float]:
        found: dict[str, float] = {}
        for phase in phases:
            if not phase.name or not phase.seconds:
                continue
            name = phase.name.replace(" ", "_")
            if phase.name == "seeks":
                found[f"{name}_rate"] = seeks / phase.seconds
            elif phase.bytes:
                found[f"{name}_rate"] = phase.bytes / phase.seconds
            elif phase.operations:
                found[f"{name}_rate"] = phase.operations / phase.seconds
            else:
                continue
            found[f"{name}_cpu"] = phase.cpu_s / phase.seconds
        return found

    return figures


def _postmark_settings(step: PostMarkStep, scale: int) -> PostMarkSettings:
    fields = ("low", "high", "read_block", "write_block", "buffering", "bias_read", "bias_create", "subdirectories")
    return PostMarkSettings(
        number=max(1, step.number // scale),
        transactions=max(10, step.transactions // scale),
        seed=step.seed,
        **{name: getattr(step, name) for name in fields},
    )


def whole_postmark(step: PostMarkStep) -> PostMark:
    """The run of a step at full size, when it is through: what it counts is known without a simulation."""
    return _through(_postmark_settings(step, 1))


@lru_cache(maxsize=4)
def _through(settings: PostMarkSettings) -> PostMark:
    run = PostMark(settings)
    for _ in run.operations():
        pass
    return run


def _postmark(step: PostMarkStep, setting: Setting) -> tuple[Job, Figures]:
    run = PostMark(_postmark_settings(step, setting.scale), setting.stdio_bytes)

    def figures(phases: list[Phase]) -> dict[str, float]:
        # A part of the files and transactions reads and appends another share of its bytes than the whole program.
        whole = whole_postmark(step)
        timed = {phase.name: phase.seconds * setting.scale for phase in phases}
        seconds = sum_in_order(timed[name] for name in ("create", "transactions", "delete"))
        return {
            **{f"{name}_seconds": timed[name] for name in ("create", "transactions", "delete")},
            "transactions_rate": whole.settings.transactions / timed["transactions"],
            "read_rate": float(whole.bytes_read) / seconds,
            "write_rate": float(whole.bytes_written) / seconds,
        }

    return Job(run.operations()), figures


def _none(_: list[Phase]) -> dict[str, float]:
    return {}


def _write_file(step: WriteFileStep, setting: Setting) -> tuple[Job, Figures]:
    size = step.size // setting.scale // step.block_size * step.block_size or step.block_size
    operations = dd_write(step.file, size, step.block_size, conv=step.conv, oflag=step.oflag)
    return Job(operations, file_bytes=size), _none


def _read_file(step: ReadFileStep, setting: Setting) -> tuple[Job, Figures]:
    size = step.size // setting.scale
    if step.shared:
        operations = cat(_shared(setting.on, step.file), size, step.block_size)
        return Job(operations, shared={(setting.on, step.file): size}, file_bytes=size), _none
    return Job(cat(step.file, size, step.block_size), needs={step.file: size}, file_bytes=size), _none


def _shared(mount: str, file: str) -> str:
    return f"{mount.rstrip('/')}/{file}"


def _copy_file(step: CopyFileStep, setting: Setting) -> tuple[Job, Figures]:
    size = step.size // setting.scale
    if step.source is None:
        source = IN_MEMORY + step.file
        return Job(cp_file(source, step.file, size, step.block_size), cached={source: size}, file_bytes=size), _none
    operations = cp_file(_shared(step.source, step.file), step.file, size, step.block_size)
    return Job(operations, shared={(step.source, step.file): size}, file_bytes=size), _none


def _tree(spec: TreeSpec, scale: int) -> Tree:
    return linux_2_6_13(max(1, spec.files // scale), max(1, spec.bytes // scale), _TREE)


def _extract(step: ExtractStep, setting: Setting) -> tuple[Job, Figures]:
    archive = IN_MEMORY + "tree.tar" if step.archive is None else step.archive
    operations = tar_extract(_tree(step.tree, setting.scale), archive, opened=step.archive is None)
    return Job(operations, file_bytes=step.tree.bytes // setting.scale), _none


def _copy_tree(step: CopyTreeStep, setting: Setting) -> tuple[Job, Figures]:
    tree = _tree(step.tree, setting.scale)
    operations = copy(setting.listed(tree, None), step.block_size, _COPY)
    size = step.tree.bytes // setting.scale
    return Job(operations, directories=(_COPY,), trees=[(None, tree)], file_bytes=size), _none


def _archive(step: ArchiveStep, setting: Setting) -> tuple[Job, Figures]:
    tree = _tree(step.tree, setting.scale)
    operations = tar_create(setting.listed(tree, None), pipe=True)
    return Job(operations, trees=[(None, tree)], file_bytes=step.tree.bytes // setting.scale), _none


def _tar_pipe(step: TarPipeStep, setting: Setting) -> tuple[Job, Figures]:
    tree = _tree(step.tree, setting.scale)
    listed = setting.listed(tree, step.source)
    job = Job(tar_create(listed, pipe=True), on=step.source, trees=[(step.source, tree)])
    job.piped_to = Job(tar_extract(listed, pipe=True), made=listed)
    job.file_bytes = step.tree.bytes // setting.scale
    return job, _none


_TIOBENCH = {
    "write": "seq_write",
    "random write": "rand_write",
    "read": "seq_read",
    "random read": "rand_read",
}


def tiobench(step: TiobenchStep, setting: Setting) -> Tiobench:
    """The run of a step."""
    settings = TiobenchSettings(max(1, step.size // MIB), step.threads, step.block_size, step.random_ios)
    return Tiobench(settings.scaled(setting.scale) if setting.scale > 1 else settings)


def _tiobench(step: TiobenchStep, setting: Setting) -> tuple[Job, Figures]:
    bench = tiobench(step, setting)

    def figures(phases: list[Phase]) -> dict[str, float]:
        found: dict[str, float] = {}
        for phase in phases:
            name = _TIOBENCH.get(phase.name)
            if name is not None and phase.seconds:
                found[f"{name}_rate"] = phase.bytes / phase.seconds
                found[f"{name}_cpu"] = phase.cpu_s / phase.seconds
        return found

    return Job(bench.operations(), bench.thread, file_bytes=bench.size * step.threads), figures


def iozone(step: IozoneStep, setting: Setting) -> Iozone:
    """The run of a step."""
    records = step.size // step.record
    return Iozone(max(min(records, _LEAST_RECORDS), records // setting.scale) * step.record, step.record)


def _iozone(step: IozoneStep, setting: Setting) -> tuple[Job, Figures]:
    run = iozone(step, setting)

    def figures(phases: list[Phase]) -> dict[str, float]:
        return {
            f"{name.replace(' ', '_')}_rate": phase.bytes / phase.seconds
            for name, phase in timed(phases).items()
            if name in run.reported and phase.seconds
        }

    return Job(run.operations(), file_bytes=run.size * len(run.phases)), figures


_PLANS: dict[type, Callable[[Any, Setting], tuple[Job, Figures]]] = {
    BonnieStep: _bonnie,
    BonniePlusPlusStep: _bonnie_plus_plus,
    PostMarkStep: _postmark,
    WriteFileStep: _write_file,
    ReadFileStep: _read_file,
    CopyFileStep: _copy_file,
    ExtractStep: _extract,
    CopyTreeStep: _copy_tree,
    ArchiveStep: _archive,
    TarPipeStep: _tar_pipe,
    TiobenchStep: _tiobench,
    IozoneStep: _iozone,
}
