"""``tar -x``."""

from __future__ import annotations

from typing import Literal

from .step import Access, Figures, FileName, Job, Setting, no_figures
from .tree import TreeSpec, TreeStep


class ExtractStep(TreeStep):
    """``tar -xf``: a tree is made from an archive."""

    program: Literal["tar-x"]

    archive: FileName | None = None
    """Name of a file that an earlier step has written; one that the page cache holds unless given."""
    tree: TreeSpec = TreeSpec()
    """What is in it."""

    @property
    def read_file(self) -> str | None:
        """See :attr:`.Step.read_file`."""
        return self.archive

    def access(self, phase: str) -> Access:
        """See :meth:`.Step.access`."""
        return "files, writing"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`.Step.job`."""
        from ...model.process.process import IN_MEMORY
        from ...model.programs.copying import tar_extract

        archive = IN_MEMORY + "tree.tar" if self.archive is None else self.archive
        operations = tar_extract(self.tree.scaled(setting.scale), archive, opened=self.archive is None)
        return Job(operations, file_bytes=self.tree.bytes // setting.scale), no_figures
