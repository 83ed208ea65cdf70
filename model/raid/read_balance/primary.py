"""No balance at all: the first copy there is."""

from __future__ import annotations

from collections.abc import Sequence

from ...core.request import Request
from .base import ReadBalance


class PrimaryOnly(ReadBalance):
    """All reads from the first readable mirror."""

    __slots__ = ()
    name = "primary"

    def choose(self, request: Request, candidates: Sequence[int], offsets: Sequence[int] | None = None) -> int:
        """The first."""
        return candidates[0]
