"""Arrays and encrypted devices of a scenario, drawn at random from what levels, kernels and controllers offer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hypothesis import strategies as st

from ....model.controller.catalogue import controller
from ....model.layouts import ALGORITHMS
from ....model.layouts import LEVELS as KNOWN
from ....model.raid.read_balance import READ_BALANCE
from ....scenarios.description.arrays import CRYPT_FLAGS

Document = dict[str, Any]
"""A scenario, or a part of one, as plain data from a YAML file."""

LEVELS = sorted(KNOWN)
MIRRORS = ("raid1", "raid10", "raid01")
PARITY = ("raid4", "raid5", "raid6", "raid50", "raid60")
PLAIN = ("linear", "raid0")
RAID1_ONLY = tuple(name for name, policy in READ_BALANCE.items() if policy.only_raid1)


def some(draw: st.DrawFn, values: list[str], most: int) -> list[str]:
    """Up to `most` different ones of `values`."""
    if not values or not most:
        return []
    return draw(st.lists(st.sampled_from(values), max_size=min(most, len(values)), unique=True))


class DrawnDevices:
    """The devices of one scenario while it is being drawn.

    Parameters
    ----------
    draw
        Of a composite strategy.
    careful
        If true, arrays keep to what their levels, the kernel and the controllers offer. If false, some scenarios are
        refused.
    kernel
        Name in the catalogue.
    drives
        Names of the drives.

    Attributes
    ----------
    free
        Devices that nothing is built on yet.
    arrays, encrypted, caches, controllers
        What has been drawn, by name.
    """

    def __init__(self, draw: st.DrawFn, careful: bool, kernel: str, drives: Sequence[str]) -> None:
        self.draw = draw
        self.careful = careful
        self.kernel = kernel
        self.modern = kernel.startswith("linux-6")
        self.drives = list(drives)
        self.free = list(drives)
        self.arrays: dict[str, Document] = {}
        self.encrypted: dict[str, Document] = {}
        self.caches: dict[str, Document] = {}
        self.controllers: dict[str, Document] = {}

    def maybe(self, one_in: int = 2) -> bool:
        """True once in `one_in` draws; false in the simplest scenario."""
        return self.draw(st.integers(1, one_in)) == one_in

    def one(self, *values: Any) -> Any:
        """One of the values."""
        return self.draw(st.sampled_from(values))

    def loose(self, *values: Any) -> tuple[Any, ...]:
        """The values, unless this scenario is a careful one."""
        return () if self.careful else values

    def encrypt(self, name: str) -> None:
        """Encrypt a free device."""
        below = self.one(*self.free)
        self.free.remove(below)
        self.free.append(name)
        if self.maybe() and (self.modern or not self.careful):
            self.encrypted[name] = {"on": below, "cipher": self.one("aes-xts", "aes-xts-generic")}
            self.encrypted[name] |= {field: True for field in CRYPT_FLAGS if self.maybe(3)}
            if self.maybe(3):
                self.encrypted[name]["sector"] = "4KiB"
            return
        kind = self.one("cryptoloop", "dm-crypt")
        rate = self.one("20MB/s", "1GB/s")
        self.encrypted[name] = {"on": below, "kind": kind, "rate": rate, "source": "made up"}

    def add_array(self, name: str) -> None:
        """Build an array of free devices, if there are enough of them."""
        unknown = () if self.kernel.startswith("linux") or not self.careful else PARITY
        fitting = [level for level in LEVELS if KNOWN[level].least <= len(self.free) and level not in unknown]
        if not fitting:
            return
        level = self.one(*fitting)
        most = min(len(self.free), 12)
        count = self.draw(st.integers(KNOWN[level].least, most))
        if level in ("raid50", "raid60", "raid01") and self.careful:
            count -= count % 2
        if level == "raid10" and self.careful and (not self.modern or self.controllers):
            count -= count % 2
        members = self.draw(st.permutations(self.free))[:count]
        array: Document = {"level": level, "members": members}
        self.free = [device for device in self.free if device not in members]
        if self.maybe():
            array["chunk"] = self.one("4KiB", "16KiB", "256KiB", "1MiB")
        self._choose_layout(array, level, count)
        self._choose_losses(array, level, members)
        self._choose_options(array, level, members)
        self.free.append(name)
        self.arrays[name] = array

    def _choose_layout(self, array: Document, level: str, count: int) -> None:
        controllable = all(member in self.drives for member in array["members"]) or not self.careful
        if self.controllers and controllable and self.maybe(3):
            name = self.one(*self.controllers)
            offered = controller(self.controllers[name]["model"])
            if not self.careful or (level in offered.levels and count <= offered.ports):
                array["controller"] = name
        if level in ALGORITHMS and self.maybe():
            array["algorithm"] = self.one(*ALGORITHMS[level])
        if level == "raid10":
            if self.careful and ("controller" in array or not self.modern):
                array["algorithm"] = "striped-mirrors"
            most = 2 if self.careful and array.get("algorithm") == "striped-mirrors" else min(4, count)
            if self.maybe(3):
                array["copies"] = self.draw(st.integers(2, most))
        if level in ("raid01", "raid50", "raid60") and self.maybe(3):
            array["groups"] = self.one(2, *self.loose(3))
        if level in ("raid50", "raid60") and self.maybe(3):
            array["outer_chunk"] = self.one("1MiB", "192KiB", "64KiB")

    def _choose_losses(self, array: Document, level: str, members: list[str]) -> None:
        redundant = level not in PLAIN or not self.careful
        if redundant and self.maybe(3):
            failed = some(self.draw, members, 2 if level not in ("raid3", "raid4", "raid5") else 1)
            if failed:
                array["failed"] = failed
                rebuilding = some(self.draw, failed, 2)
                if rebuilding:
                    array["rebuilding"] = rebuilding
                    if self.maybe():
                        array["resync"] = self._resync("recover")
        elif redundant and self.maybe(5) and (self._checks(level) or not self.careful):
            array["resync"] = self._resync(self.one("check", "repair"))

    def _checks(self, level: str) -> bool:
        """Whether such an array can be checked."""
        return self.kernel.startswith("linux") and level != "raid3"

    def _resync(self, action: str) -> Document:
        resync: Document = {"action": action}
        if self.maybe(3):
            resync["speed_min"] = self.one("1kB/s", "900kB/s", *self.loose("40MB/s"))
        if self.maybe(3) and (self.kernel.startswith("linux") or not self.careful):
            resync["speed_max"] = self.one("2MB/s", "1GB/s", *self.loose("100kB/s"))
        if action == "repair" and self.maybe(3):
            resync["mismatched"] = self.one("1%", "100%", *self.loose("250%"))
        if self.maybe(3):
            resync["position"] = self.one("1MiB", "7777777B", *self.loose("39MB", "500GB"))
        return resync

    def _choose_options(self, array: Document, level: str, members: list[str]) -> None:
        loose = not self.careful
        left = [device for device in self.free if device in self.drives or loose]
        if level in MIRRORS or loose:
            self._choose_balance(array, level, members)
        md = self.modern and "controller" not in array
        if self.maybe(4) and ((md and level in (*MIRRORS, *PARITY)) or loose):
            array["bitmap"] = self.one("64KiB", "1MiB", "64MiB", *self.loose("1000B", "6000KiB"))
        if level in PARITY or loose:
            if self.maybe(4) and (loose or "controller" not in array):
                array["rmw_level"] = self.one(0, 1, 2)
            if self.maybe(4) and (loose or "controller" not in array):
                array["stripe_cache"] = self.one(17, 64, 1024)
            if self.maybe(3) and (loose or md):
                array["group_thread_cnt"] = self.one(0, 1, 3)
            if left and self.maybe(3) and (loose or md):
                array["journal"] = self.one(*left)
                left.remove(array["journal"])
                if not loose:
                    self.free.remove(array["journal"])
        if self.maybe(3) and (level == "raid3" or loose):
            array["round_robin"] = True
        if left and self.maybe(3) and (level not in (*PLAIN, "raid3", "raid01") or loose):
            spares = some(self.draw, left, 2)
            if spares:
                array["spares"] = spares
                if not loose:
                    self.free = [device for device in self.free if device not in spares]

    def _choose_balance(self, array: Document, level: str, members: list[str]) -> None:
        loose = not self.careful
        driver = level == "raid10" and "controller" not in array and array.get("algorithm") != "striped-mirrors"
        if self.maybe():
            pairs = loose or (level == "raid1" and len(members) == 2)
            unfit = (*(() if pairs else ("ataraid",)), *(RAID1_ONLY if driver and self.careful else ()))
            array["balance"] = self.one(*sorted(set(READ_BALANCE) - set(unfit)))
            if array["balance"] == "gmirror-prefer" and self.maybe() and (loose or level == "raid1"):
                array["balance"] = {"name": "gmirror-prefer", "prefer": self.one(*members)}
            elif array["balance"] == "gmirror-split" and self.maybe():
                piece = self.one("512B", "4KiB", "1MiB", *self.loose("1000B"))
                array["balance"] = {"name": "gmirror-split", "slice": piece}
        elif self.maybe(3) and (loose or (self.modern and level == "raid1" and "controller" not in array)):
            array["write_mostly"] = some(self.draw, members, len(members))
