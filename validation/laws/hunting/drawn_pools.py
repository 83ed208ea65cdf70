"""Pools of ZFS of a scenario, drawn at random from what vdevs, datasets and module parameters offer."""

from __future__ import annotations

from typing import Final

from .drawn_caches import DrawnCaches
from .drawn_devices import Document

_LEAST: Final = {"mirror": 2, "raidz1": 2, "raidz2": 3, "raidz3": 4}
POOL: Final = "tank"


class DrawnPools(DrawnCaches):
    """The devices of one scenario, with a pool on some of them."""

    def pool(self) -> Document:
        """A pool of free devices; its volumes and files are free devices then."""
        kinds = ["stripe", *(kind for kind, least in _LEAST.items() if len(self.free) >= least)]
        kind = self.one(*kinds)
        count = self.draw_count(_LEAST.get(kind, 1), min(len(self.free), 8))
        members, others = self.free[:count], self.free[count:]
        words = [kind, *members]
        if others and self.maybe(4):
            words += ["log", others.pop(0)]
        if others and self.maybe(4):
            words += ["cache", others.pop(0)]
        dataset: Document = {"sync": self.one("standard", "standard", "always", "disabled")}
        if self.maybe(3):
            dataset |= {"file": self.one("1GiB", "20GiB"), "recordsize": self.one("128KiB", "16KiB", "1MiB")}
        else:
            dataset |= {"volume": self.one("1GiB", "100GiB"), "volblocksize": self.one("16KiB", "8KiB", "64KiB")}
        if self.maybe(3):
            dataset |= {"compression": 1.5, "compressor": self.one("lz4", "zstd")}
        if self.maybe(4):
            dataset["checksum"] = self.one("sha256", "blake3", "off")
        if self.maybe(3):
            dataset["primarycache"] = "metadata"
        pool: Document = {"vdevs": " ".join(words), "datasets": {"vm": dataset}}
        if self.maybe(4):
            pool["arc"] = "cold"
        if self.maybe(4):
            pool |= {"used": 0.3, "fragmentation": self.one(0.1, 0.5)}
        if kind != "stripe" and count > 2 and self.maybe(6):
            pool["failed"] = [members[0]]
        self.free = [*others, f"{POOL}/vm"]
        return {POOL: pool}

    def draw_count(self, least: int, most: int) -> int:
        """A number of members."""
        return int(self.one(*range(least, most + 1)))
