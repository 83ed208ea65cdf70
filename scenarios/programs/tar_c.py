"""``tar -c``."""

from __future__ import annotations

from typing import Literal

from .step import Access, Figures, Job, Setting, no_figures
from .tree import TreeSpec, TreeStep


class ArchiveStep(TreeStep):
    """``tar c TREE > /dev/null``, of the tree that an earlier step has made, or that was there before the run."""

    program: Literal["tar-c"]

    tree: TreeSpec = TreeSpec()
    """What is read."""

    def access(self, phase: str) -> Access:
        """See :meth:`.Step.access`."""
        return "files, reading"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`.Step.job`."""
        from ...model.programs.copying import tar_create

        tree = self.tree.scaled(setting.scale)
        operations = tar_create(setting.listed(tree, None), pipe=True)
        return Job(operations, trees=[(None, tree)], file_bytes=self.tree.bytes // setting.scale), no_figures
