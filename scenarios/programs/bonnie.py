"""Bonnie."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from .bonnie_phases import ACCESSES, FIGURES, PASSES, phase_figures, seekers
from .step import KIB, MIB, Access, Dimension, Figures, Job, Mebibytes, Ran, Setting, Step

if TYPE_CHECKING:
    from ...model.programs.bonnie import Bonnie


class BonnieStep(Step):
    """Bonnie."""

    figures: ClassVar[Mapping[str, Dimension]] = FIGURES

    program: Literal["bonnie"]

    version: Literal["1.2", "1.4"] = "1.4"
    """"1.2" moves 16 KiB at a time, "1.4" 1 MiB."""
    size: Mebibytes
    files: int = Field(default=1, ge=1, le=1000)
    """Of each file (``-s``), and how many (``-v``)."""
    sync: bool = False
    """``-y``."""

    @property
    def new_files(self) -> tuple[int, int]:
        """See :attr:`Step.new_files`."""
        return self.files, self.size

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size * self.files

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        return PASSES * self.size * self.files

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return ACCESSES[phase]

    def run(self, setting: Setting) -> Bonnie:
        """The program."""
        from ...model.programs.bonnie import Bonnie, BonnieSettings

        settings = BonnieSettings(
            megabytes=self.size // MIB,
            files=self.files,
            sync=self.sync,
            chunk=MIB if self.version == "1.4" else 16 * KIB,
            stdio_bytes=setting.stdio_bytes,
        )
        return Bonnie(settings.scaled(setting.scale) if setting.scale > 1 else settings)

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        run = self.run(setting)
        tickets = iter(range(run.settings.seeks))
        job = Job(run.operations(), seekers(run, tickets, run.settings.name), file_bytes=run.size * self.files)
        return job, phase_figures(run.settings.seeks)

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs import bonnie_report

        results = ran.results(self.run(ran.setting).settings.seeks)
        file = f"{ran.directory.rstrip('/')}/Bonnie"
        return bonnie_report.report(self.run(ran.whole), results, self.version, ran.machine, file)
