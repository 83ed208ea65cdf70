"""``cp`` of one file."""

from __future__ import annotations

from typing import Literal

from ...model.files.description import PositiveSize
from .step import Access, CopyingStep, Figures, FileName, Job, Setting, no_figures, path_on


class CopyFileStep(CopyingStep):
    """``cp FILE .``: every process writes a copy of one file."""

    program: Literal["cp"]

    file: FileName = "linux.tar"
    """Its name, there and afterwards."""
    source: str | None = None
    """Mount point where it was before the run; unless given, a device that is not modeled, whose page cache holds
    it."""
    size: PositiveSize
    """Bytes of the file."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2) and a write(2)."""

    @property
    def from_mount(self) -> str | None:
        """See :attr:`Step.from_mount`."""
        return self.source

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

    def access(self, phase: str) -> Access:
        """See :meth:`Step.access`."""
        return "rewrite" if self.source is not None and self.source == self.on else "sequential write"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`Step.job`."""
        from ...model.process.process import IN_MEMORY
        from ...model.programs.file_io import cp_file

        size = self.size // setting.scale
        if self.source is None:
            source = IN_MEMORY + self.file
            operations = cp_file(source, self.file, size, self.block_size)
            return Job(operations, cached={source: size}, file_bytes=size), no_figures
        operations = cp_file(path_on(self.source, self.file), self.file, size, self.block_size)
        return Job(operations, shared={(self.source, self.file): size}, file_bytes=size), no_figures
