"""The form of recordings of SSD caches."""

from __future__ import annotations

from typing import Any

from .shapes import Shape


class CacheTruth(Shape):
    """A cached device: the devices below it, how it was set up, and what happened in each phase."""

    kernel: str
    devices: str
    tables: str
    jobs: str
    notation: str
    status: dict[str, Any]
    results: dict[str, dict[str, dict[str, Any]]]
