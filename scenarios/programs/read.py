"""A program that reads one file from front to back."""

from __future__ import annotations

from typing import Literal

from ...model.files.description import PositiveSize
from .step import Access, CopyingStep, Figures, FileName, Job, Setting, no_figures, path_on


class ReadFileStep(CopyingStep):
    """``cp FILE /dev/null``, ``cat FILE`` or ``dd if=FILE``: every process reads a file of its own."""

    program: Literal["read"]

    file: FileName = "zero"
    """Written by an earlier step, or there before the run."""
    size: PositiveSize
    """Bytes read."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2)."""
    shared: bool = False
    """Whether all processes read the same file, which was there before."""

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`Step.data_bytes`."""
        return self.size

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return "sequential read"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        from ...model.programs.file_io import cat

        size = self.size // setting.scale
        if self.shared:
            operations = cat(path_on(setting.on, self.file), size, self.block_size)
            return Job(operations, shared={(setting.on, self.file): size}, file_bytes=size), no_figures
        return Job(cat(self.file, size, self.block_size), needs={self.file: size}, file_bytes=size), no_figures
