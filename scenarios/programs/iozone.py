"""iozone."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal, Self

from pydantic import model_validator

from ...model.files.description import refusal
from ...model.programs.iozone import STRIDE, Iozone, timed
from .step import (
    KIB,
    SCATTERED_BYTES,
    TIMES,
    Access,
    Dimension,
    Figures,
    Job,
    Kibibytes,
    Ran,
    Setting,
    Step,
    of_random_phase,
)

if TYPE_CHECKING:
    from ...model.process.process import Phase

_LEAST = 64 * KIB
_LEAST_RECORDS = 2 * STRIDE
"""It reads by strides only the start of a file that has no more records than one stride."""


class IozoneStep(Step):
    """iozone: a file in records, in every order (``-i 0`` to ``-i 7``); no sync is timed."""

    figures: ClassVar[Mapping[str, Dimension]] = MappingProxyType(
        {**TIMES, **{f"{phase.replace(' ', '_')}_rate": "bytes/s" for phase in Iozone.reported}}
    )

    program: Literal["iozone"]

    size: Kibibytes
    """``-s``, whole records."""
    record: Kibibytes = 4096
    """``-r``."""

    @model_validator(mode="after")
    def _whole_records(self) -> Self:
        if self.size < _LEAST:
            raise refusal(f"{self.size} bytes", "expected: 64KiB or more", ("size",))
        if self.record > self.size:
            raise refusal(f"{self.record} bytes in a file of {self.size}", "expected: at most the file", ("record",))
        if self.size % self.record:
            raise refusal(f"{self.size} bytes", f"expected: whole records of {self.record} bytes", ("size",))
        return self

    @property
    def new_files(self) -> tuple[int, int]:
        """See :attr:`Step.new_files`."""
        return 1, self.size

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        scattered = len(Iozone.scattered)
        each = max(self.record, SCATTERED_BYTES)
        return (len(Iozone.phases) - scattered) * self.size + scattered * self.size // self.record * each

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return of_random_phase(phase) if phase else "whole benchmark"

    def run(self, setting: Setting) -> Iozone:
        """The program."""
        records = self.size // self.record
        return Iozone(max(min(records, _LEAST_RECORDS), records // setting.scale) * self.record, self.record)

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        run = self.run(setting)

        def figures(phases: list[Phase]) -> dict[str, float]:
            return {
                f"{name.replace(' ', '_')}_rate": phase.bytes / phase.seconds
                for name, phase in timed(phases).items()
                if name in run.reported and phase.seconds
            }

        return Job(run.operations(), file_bytes=run.size * len(run.phases)), figures

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs import iozone_report

        return iozone_report.report(self.run(ran.whole), ran.results())
