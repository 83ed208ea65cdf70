"""Two ``tar`` and a pipe."""

from __future__ import annotations

from typing import Literal

from .step import Access, Figures, Job, Setting, no_figures
from .tree import TreeSpec, TreeStep


class TarPipeStep(TreeStep):
    """``(cd SOURCE; tar c .) | (cd ON; tar x)``."""

    program: Literal["tar-pipe"]

    source: str
    """Mount point whose tree was there before the run."""
    tree: TreeSpec = TreeSpec()
    """What is moved."""

    @property
    def from_mount(self) -> str:
        """See :attr:`.Step.from_mount`."""
        return self.source

    def access(self, phase: str) -> Access:
        """See :meth:`.Step.access`."""
        return "files, writing"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`.Step.job`."""
        from ...model.programs.copying import tar_create, tar_extract

        tree = self.tree.scaled(setting.scale)
        listed = setting.listed(tree, self.source)
        job = Job(tar_create(listed, pipe=True), on=self.source, trees=[(self.source, tree)])
        job.piped_to = Job(tar_extract(listed, pipe=True), made=listed)
        job.file_bytes = self.tree.bytes // setting.scale
        return job, no_figures
