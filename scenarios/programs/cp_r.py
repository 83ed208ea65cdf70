"""``cp -r``."""

from __future__ import annotations

from typing import Literal

from ...model.files.description import PositiveSize
from .step import Access, Figures, Job, Setting, no_figures
from .tree import TreeSpec, TreeStep

_COPY = "copy"


class CopyTreeStep(TreeStep):
    """``cp -rf TREE COPY``, of the tree that an earlier step has made, or that was there before the run."""

    program: Literal["cp-r"]

    tree: TreeSpec = TreeSpec()
    """What is copied."""
    block_size: PositiveSize = 4096
    """Bytes of a read(2) and a write(2)."""

    def access(self, phase: str) -> Access:
        """See :meth:`.Step.access`."""
        return "files, copying"

    def job(self, setting: Setting) -> tuple[Job, Figures]:
        """See :meth:`.Step.job`."""
        from ...model.programs.copying import copy

        tree = self.tree.scaled(setting.scale)
        operations = copy(setting.listed(tree, None), self.block_size, _COPY)
        size = self.tree.bytes // setting.scale
        return Job(operations, directories=(_COPY,), trees=[(None, tree)], file_bytes=size), no_figures
