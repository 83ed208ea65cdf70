"""tiobench."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from ...model.files.description import PositiveSize
from .step import MIB, TIMES, Access, Dimension, Figures, Job, Mebibytes, Ran, Setting, Step, of_random_phase

if TYPE_CHECKING:
    from ...model.process.process import Phase
    from ...model.programs.tiobench import Tiobench

_PHASES: Mapping[str, str] = MappingProxyType(
    {"write": "seq_write", "random write": "rand_write", "read": "seq_read", "random read": "rand_read"}
)


class TiobenchStep(Step):
    """tiobench: a number of threads with a file each write and read it in order and at random."""

    figures: ClassVar[Mapping[str, Dimension]] = MappingProxyType(
        {
            **TIMES,
            **{f"{phase}_rate": "bytes/s" for phase in _PHASES.values()},
            **{f"{phase}_cpu": "share" for phase in _PHASES.values()},
        }
    )

    program: Literal["tiobench"]

    threads: int = Field(default=1, ge=1, le=1024)
    """How many."""
    size: Mebibytes
    """Of all files together."""
    block_size: PositiveSize = 4096
    """Bytes of a read or write."""
    random_ios: int = Field(default=4000, ge=1)
    """Of all threads together."""

    @property
    def new_files(self) -> tuple[int, int]:
        """See :attr:`Step.new_files`."""
        return 1, self.size

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        return 2 * self.size

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return of_random_phase(phase) if phase else "whole benchmark"

    def run(self, setting: Setting) -> Tiobench:
        """The program."""
        from ...model.programs.tiobench import Tiobench, TiobenchSettings

        settings = TiobenchSettings(max(1, self.size // MIB), self.threads, self.block_size, self.random_ios)
        return Tiobench(settings.scaled(setting.scale) if setting.scale > 1 else settings)

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        bench = self.run(setting)

        def figures(phases: list[Phase]) -> dict[str, float]:
            found: dict[str, float] = {}
            for phase in phases:
                name = _PHASES.get(phase.name)
                if name is not None and phase.seconds:
                    found[f"{name}_rate"] = phase.bytes / phase.seconds
                    found[f"{name}_cpu"] = phase.cpu_s / phase.seconds
            return found

        return Job(bench.operations(), bench.thread, file_bytes=bench.size * self.threads), figures

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs import tiobench_report

        return tiobench_report.report([(self.run(ran.whole).settings, ran.results())])
