"""SSD caches of a scenario, drawn at random from what their drivers offer."""

from __future__ import annotations

from typing import Any, Final

from ....scenarios.description.caches import MODES, STATES
from .drawn_devices import Document, DrawnDevices

SIZES: Final = ("16MiB", "64MiB", "300MiB", "1GiB")
_BLOCKS: Final = {"dm-cache": ("32KiB", "64KiB", "256KiB", "1MiB")}
_OPTIONS: Final[dict[str, dict[str, tuple[Any, ...]]]] = {
    "dm-cache": {"migration_threshold": ("64KiB", "16MiB")},
    "dm-writecache": {
        "high_watermark": (50, 80, 100),
        "low_watermark": (0, 45),
        "autocommit_blocks": (1, 64),
        "autocommit_time": ("10ms", "100ms"),
        "pause_writeback": ("0s", "10ms"),
    },
    "bcache": {
        "bucket_size": ("16KiB", "64KiB", "1MiB"),
        "sequential_cutoff": ("0B", "64KiB"),
        "writeback_percent": (0, 1, 40),
        "writeback_delay": ("0s", "10ms"),
    },
}


class DrawnCaches(DrawnDevices):
    """The devices of one scenario, with a cache in front of some of them."""

    def add_cache(self, name: str, visible: list[str]) -> None:
        """Cache a visible device in front of another one, both free."""
        on = self.one(*visible)
        others = [device for device in visible if device != on]
        kind = self.one(*MODES)
        cached: Document = {"on": on, "cache": self.one(*others), "kind": kind, "size": self.one(*SIZES)}
        cached |= {"mode": self.one(*MODES[kind]), "state": self.one(*STATES[kind])}
        if self.maybe(3):
            cached["block_size"] = self.one(*_BLOCKS.get(kind, ("4KiB", "512B")))
        cached |= {field: self.one(*values) for field, values in _OPTIONS[kind].items() if self.maybe(4)}
        spare = [device for device in others if device != cached["cache"]]
        if kind == "dm-cache" and spare and self.maybe(4):
            cached["metadata"] = self.one(*spare)
        used = {on, cached["cache"], cached.get("metadata")}
        self.free = [*(device for device in self.free if device not in used), name]
        self.caches = {name: cached}
