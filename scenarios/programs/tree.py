"""Steps that work on a tree of files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import Field

from ...model.files.description import PositiveSize, Spec
from .step import SCATTERED_BYTES, CopyingStep

if TYPE_CHECKING:
    from ...model.programs.copying import Tree

_NAME = "linux-2.6.13"


class TreeSpec(Spec):
    """A source tree: a number of files with a total size, in the size distribution of Linux 2.6.13."""

    files: int = Field(default=18090, ge=1, le=10_000_000)
    bytes: PositiveSize = 204_866_517
    """The defaults are those of Linux 2.6.13 as published."""

    def scaled(self, scale: int) -> Tree:
        """The tree with its files and bytes divided by `scale`."""
        from ...model.programs.linux_tree import linux_2_6_13

        return linux_2_6_13(max(1, self.files // scale), max(1, self.bytes // scale), _NAME)


class TreeStep(CopyingStep):
    """What all of them have: a field `tree`, which says for each what is done with it."""

    if TYPE_CHECKING:
        tree: TreeSpec

    def data_bytes(self, memory_bytes: int) -> int:
        """See :meth:`.Step.data_bytes`."""
        return int(self.tree.bytes)

    def moved_bytes(self, memory_bytes: int) -> int:
        """See :meth:`.Step.moved_bytes`."""
        return int(self.tree.bytes + self.tree.files * SCATTERED_BYTES)
