"""bonnie++."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import Field

from .bonnie_phases import ACCESSES, FIGURES, PASSES, phase_figures, seekers
from .step import MIB, Access, Dimension, Figures, Job, Mebibytes, Ran, Setting, Step

if TYPE_CHECKING:
    from ...model.programs.bonnie_plus_plus import BonniePlusPlus

_LATER = "1.96"
_SMALL_FILES: Mapping[str, Dimension] = MappingProxyType(
    {f"{what}_{order}_rate": "1/s" for order in ("in_order", "at_random") for what in ("create", "stat", "delete")}
)


class BonniePlusPlusStep(Step):
    """bonnie++."""

    figures: ClassVar[Mapping[str, Dimension]] = MappingProxyType({**FIGURES, **_SMALL_FILES})

    program: Literal["bonnie++"]

    version: Literal["1.03", "1.9"] = "1.03"
    """Which one: they print and seek differently."""
    size: Mebibytes | None = None
    """``-s``; twice the memory, at least 300 MiB, unless given."""
    small_files: int = Field(default=16, ge=0, le=1000)
    """``-n``: thousands (1,024) of files."""

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size or 2 * memory_bytes

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        return PASSES * self.data_bytes(memory_bytes)

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        if phase in ACCESSES:
            return ACCESSES[phase]
        return "files, reading" if phase.startswith("stat") else "files, creating and deleting"

    def run(self, setting: Setting) -> BonniePlusPlus:
        """The program."""
        from ...model.programs.bonnie_plus_plus import (
            BonniePlusPlus,
            BonniePlusPlusSettings,
            default_megabytes,
            version_1_9,
        )

        megabytes = default_megabytes(setting.memory_bytes // MIB) if self.size is None else self.size // MIB
        settings = BonniePlusPlusSettings(
            megabytes=megabytes, small_files=self.small_files, stdio_bytes=setting.stdio_bytes
        )
        if self.version == "1.9":
            settings = version_1_9(settings).settings
        return BonniePlusPlus(settings.scaled(setting.scale) if setting.scale > 1 else settings)

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        run = self.run(setting)
        tickets = iter(range(run.settings.seeks))
        first = run.files[0][0] if run.files else ""
        job = Job(run.operations(), seekers(run, tickets, first), file_bytes=run.size)
        return job, phase_figures(run.settings.seeks)

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs import bonnie_plus_plus_report

        results = ran.results(self.run(ran.setting).settings.seeks)
        version = self.version if self.version == "1.03" else _LATER
        return bonnie_plus_plus_report.report(self.run(ran.whole), results, version, ran.machine)
