"""What every program of a workload has: a step as data, what its processes do, and what is read from what they did."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from pydantic import AfterValidator

from ...model.files.description import PositiveSize, Spec, refusal

if TYPE_CHECKING:
    from ...model.process.process import Phase
    from ...model.programs.copying import Tree
    from ...model.programs.operation import Operation
    from ...model.programs.phase_result import PhaseResult

Dimension = Literal["bytes/s", "1/s", "s", "share"]
"""What a figure of a program measures."""
Access = Literal[
    "sequential read",
    "sequential write",
    "random read",
    "random write",
    "rewrite",
    "whole benchmark",
    "characters",
    "files, reading",
    "files, writing",
    "files, copying",
    "files, changing",
    "files, creating and deleting",
]
"""What a program does for the most part, or in a phase: figures of one kind are as far off as each other."""
Children = Callable[[str, int], Iterable["Operation"]]
Figures = Callable[[list["Phase"]], dict[str, float]]
"""From the phases of one process to the program's own figures, in SI units."""

KIB = 1 << 10
MIB = 1 << 20
SCATTERED_BYTES = 32 * KIB
"""A record that does not follow the one before, or a small file, is as much to simulate as this many bytes of a large
file."""
TIMES: Mapping[str, Dimension] = MappingProxyType(
    {"seconds": "s", "mean_seconds": "s", "cpu": "share", "cpu_seconds": "s"}
)
"""Figures of every program."""


def _whole_mebibytes(value: int) -> int:
    if value < MIB:
        raise refusal(f"{value} bytes", "expected: 1MiB or more; the program counts whole ones")
    return value


Mebibytes = Annotated[PositiveSize, AfterValidator(_whole_mebibytes)]
"""Bytes, of which a program counts whole units of 2^20."""


def _whole_kibibytes(value: int) -> int:
    if value % KIB:
        raise refusal(f"{value} bytes", "expected: whole KiB; the program takes no others")
    return value


Kibibytes = Annotated[PositiveSize, AfterValidator(_whole_kibibytes)]
"""Bytes, in whole units of 2^10."""


def _plain_name(value: str) -> str:
    if not value or "/" in value:
        raise refusal(f"{value!r}", "expected: a name without /; every process works in the topmost directory")
    return value


FileName = Annotated[str, AfterValidator(_plain_name)]
"""A file of a step."""


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


@dataclass(frozen=True, slots=True)
class Ran:
    """A step that one process has run.

    Attributes
    ----------
    setting
        What it found.
    phases
        What it did, as simulated.
    seconds, cpu_s
        Of all of it, of the whole program.
    machine, directory
        What the report calls the machine, and where the program worked.
    """

    setting: Setting
    phases: Sequence[Phase]
    seconds: float
    cpu_s: float
    machine: str
    directory: str

    @property
    def whole(self) -> Setting:
        """The setting of the run that is reported."""
        return replace(self.setting, scale=1)

    def results(self, seeks: int = 0) -> list[PhaseResult]:
        """The phases of the whole program; `seeks` is how many there were in the simulated one."""
        from ...model.programs.phase_result import PhaseResult

        scale = self.setting.scale
        return [
            PhaseResult(
                phase.name,
                phase.seconds * scale,
                phase.bytes * scale,
                (seeks if phase.name == "seeks" else phase.operations) * scale,
                phase.cpu_s * scale,
            )
            for phase in self.phases
        ]


class Step(Spec):
    """What all steps have."""

    figures: ClassVar[Mapping[str, Dimension]] = TIMES
    """What a run of it gives, by name."""

    most_scale: ClassVar[float] = math.inf
    """At a larger scale it is another program."""

    name: str | None = None
    """What its figures are called by; the program unless given."""
    on: str | None = None
    """Mount point; the only one unless given."""
    program: str
    """Which program it is."""

    @property
    def title(self) -> str:
        """What its figures are called by."""
        return self.name or self.program

    @property
    def from_mount(self) -> str | None:
        """The mount point of what it copies, where it is not `on`."""
        return None

    @property
    def made_file(self) -> str | None:
        """The file that a later step may read."""
        return None

    @property
    def read_file(self) -> str | None:
        """The file that an earlier step must have made."""
        return None

    @property
    def new_files(self) -> tuple[int, int]:
        """How many large files a process makes, and the bytes of each: they must fit into the file system."""
        return 0, 0

    def data_bytes(self, memory_bytes: int) -> int:
        """Bytes of the files that a process writes or reads, each once.

        Parameters
        ----------
        memory_bytes
            Of the machine.
        """
        return 0

    def moved_bytes(self, memory_bytes: int) -> int:
        """What a process moves, about; small files and scattered records count :data:`SCATTERED_BYTES`.

        Parameters
        ----------
        memory_bytes
            Of the machine.
        """
        return self.data_bytes(memory_bytes)

    def access(self, phase: str) -> Access:
        """What it does for the most part in a phase, or in all of it (""); what comes from another device is not
        counted.
        """
        return "whole benchmark"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """What one process does, with what reads the program's figures from its phases."""
        raise NotImplementedError

    def report(self, ran: Ran) -> str:
        """What the program prints, of a run at a scale with the times multiplied: what time(1) says, unless it has a
        report of its own.
        """
        from ...model.programs.phase_result import PhaseResult
        from ...model.programs.time_report import time_lines

        return time_lines(PhaseResult("", ran.seconds, cpu_s=ran.cpu_s)).removeprefix("\n")


class CopyingStep(Step):
    """A step that only moves files, and prints nothing of its own."""

    figures: ClassVar[Mapping[str, Dimension]] = MappingProxyType({**TIMES, "rate": "bytes/s"})


def no_figures(_: list[Phase]) -> dict[str, float]:
    """Figures of a program that prints none."""
    return {}


def path_on(mount: str, file: str) -> str:
    """The path of a file in the topmost directory of a file system."""
    return f"{mount.rstrip('/')}/{file}"


def of_random_phase(phase: str) -> Access:
    """The access of a phase that is called after what it does, as those of tiobench and iozone."""
    random = "rand" in phase or phase.startswith(("mixed", "stride", "backward", "bkwd"))
    if "write" in phase:
        return "random write" if random else "sequential write"
    return "random read" if random else "sequential read"
