"""``dd``, writing a file."""

from __future__ import annotations

from typing import Literal

from ...model.files.description import PositiveSize
from .step import SCATTERED_BYTES, Access, CopyingStep, Figures, FileName, Job, Ran, Setting, no_figures


class WriteFileStep(CopyingStep):
    """``dd if=/dev/zero of=FILE``: every process writes a file of its own."""

    program: Literal["dd"]

    file: FileName = "zero"
    """Name, by which a later step reads it."""
    size: PositiveSize
    """Bytes written."""
    block_size: PositiveSize = 1 << 20
    """Bytes of a write(2)."""
    conv: Literal["fsync", "fdatasync"] | None = None
    """"fsync" or "fdatasync": once, at the end."""
    oflag: Literal["sync", "dsync"] | None = None
    """"sync" or "dsync": after each block."""

    @property
    def made_file(self) -> str:
        """See :attr:`Step.made_file`."""
        return self.file

    @property
    def new_files(self) -> tuple[int, int]:
        """See :attr:`Step.new_files`."""
        return 1, self.size

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.moved_bytes`."""
        each = self.block_size if self.oflag is None else max(self.block_size, SCATTERED_BYTES)
        return self.size if self.oflag is None else self.size // self.block_size * each

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return "sequential write"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        from ...model.programs.file_io import dd_write

        size = self.size // setting.scale // self.block_size * self.block_size or self.block_size
        operations = dd_write(self.file, size, self.block_size, conv=self.conv, oflag=self.oflag)
        return Job(operations, file_bytes=size), no_figures

    def report(self, ran: Ran) -> str:
        """See :meth:`Step.report`."""
        from ...model.programs.phase_result import PhaseResult
        from ...model.programs.time_report import dd_lines, time_lines

        size = self.size // self.block_size * self.block_size or self.block_size
        result = PhaseResult("", ran.seconds, size, cpu_s=ran.cpu_s)
        return dd_lines(result, self.block_size) + time_lines(result)
