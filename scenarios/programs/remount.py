"""Caches are emptied between programs."""

from __future__ import annotations

from typing import Literal

from .step import Ran, Step


class DropCacheStep(Step):
    """The file system is unmounted and mounted again (or the machine started anew): nothing is cached."""

    program: Literal["remount"]

    def report(self, ran: Ran) -> str:
        """Nothing is printed."""
        return ""
