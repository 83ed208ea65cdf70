"""Scenarios over the whole space of what a user can write, as plain data of a YAML file, for one drive at a time.

Every choice shrinks to the simplest one: one drive, no array, a recent kernel, 4 KiB, random reads, one I/O.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from ....model.controller.catalogue import controller_names
from ....model.core.errors import InputError
from ....model.drives.catalogue import drive, drive_names
from ....model.kernels import kernel, kernel_names
from ....model.schedulers import SCHEDULERS
from ..trial import Trial, measured_times
from .drawn_devices import Document
from .drawn_programs import DrawnPrograms

RECENT = "linux-6.12"
KERNELS = (RECENT, *(name for name in reversed(kernel_names()) if name != RECENT))
MACHINES = ("nvme-server", "server", "storage-server", "workstation", "nas")
SIZES = (4096, 512, 1024, 2048, *(8192 << step for step in range(11)))
"""Block sizes up to 8 MiB."""
DEPTHS = (1, 2, 3, 4, 8, 16, 32, 64, 128, 256)
MOST_OUTSTANDING = 512
MOST_OUTSTANDING_BYTES = 64 << 20
"""More I/Os or bytes take long to simulate, and say no more."""
FILE_SYSTEM = "600MiB"
"""Size of a file system unless drawn: one of many terabytes takes seconds to lay out."""
CACHED = 6
"""One in this number of scenarios has an SSD cache, if it has devices for one."""
SMALL_MEMORY = {"zfs_dirty_data_max": "16MiB", "zfs_arc_max": "64MiB"}
MOST_OF_A_POOL_S = 0.5
LOCALITIES = ("zipf", "hot", "normal", {"kind": "zipf", "theta": 1.2, "clustered": True})
ARRIVALS = ("poisson", "constant", "bursty")


def catalogue_drives() -> list[str]:
    """Every drive of the catalogue."""
    return list(drive_names())


@st.composite
def scenarios(draw: st.DrawFn, model: str) -> Document:
    """Any scenario with a drive of the catalogue."""
    return _Scenario(draw, model).document()


class _Scenario(DrawnPrograms):
    """One scenario while it is being drawn."""

    def __init__(self, draw: st.DrawFn, model: str) -> None:
        kernel = draw(st.sampled_from((*(RECENT,) * 8, *KERNELS)))
        count = draw(st.sampled_from((1, 2, 3, 4, 4, 5, 6, 8, 12)))
        super().__init__(draw, True, kernel, [f"disk{number}" for number in range(count)])
        self.model = model
        self.flash = not drive(model).rotational

    def document(self) -> Document:
        """All of it."""
        machine: Document = {"model": self.one(*MACHINES), "drives": self._drives()}
        if self.maybe(4):
            machine["cpu"] = {"cores": self.one(1, 2, 4, 8, 32, 64)}
        if self.maybe(6):
            self.controllers["ctl"] = {"model": self.one(*controller_names())}
        for number in range(self.one(0, 1, 1, 1, 1, 2)):
            self.add_array(f"md{number}")
        if self.maybe(6):
            self.encrypt("crypt")
        used = {array.get("controller") for array in self.arrays.values()}
        if kernel(self.kernel).queue.multiqueue and self.maybe(CACHED):
            self._cached(machine["drives"], "ctl" in used)
        pools = self.pool() if self.free and self.modern and self.maybe(8) else {}
        if "ctl" in used:
            machine["controllers"] = self.controllers
        document: Document = {"kernel": self.kernel, "machine": machine}
        parts: dict[str, Mapping[str, Any]] = {"arrays": self.arrays, "encrypted": self.encrypted, "pools": pools}
        parts["caches"] = self.caches
        document |= {name: made for name, made in parts.items() if made}
        if pools:
            document["zfs_parameters"] = SMALL_MEMORY
        targets = self._targets(document, "ctl" in used)
        if self.maybe(8) and not any(array.get("failed") for array in self.arrays.values()):
            failure = self._failure()
            if failure is not None:
                document["failures"] = [failure]
        if not self.maybe(8):
            return self._timed({**document, "workload": self._load(targets)})
        # Programs end when their work is done, which takes long beside a rebuild that has priority.
        if self.maybe(2) and not any(array.get("resync") or array.get("rebuilding") for array in self.arrays.values()):
            document["file_systems"] = {"/data": {"size": FILE_SYSTEM, **self.file_system(targets)}}
            return {**document, "workload": self.programs(["/data"])}
        return {**document, "workload": self._dd(targets)}

    def _timed(self, document: Document) -> Document:
        """With the time that the laws need, and with a network where it fits; a refused one as it is."""
        if self.maybe(10):
            port = {"model": self.one("10GbE", "1GbE", "25GbE", "100GbE")}
            protocol = self.one("iscsi", "nvme-tcp", "nfs4", "nfs3")
            document["network"] = {"protocol": protocol, "port": port, "clients": self.one(1, 2, 8)}
        try:
            warm_up, duration = measured_times(Trial(document).spec)
        except InputError:
            return document
        if "pools" in document:
            # What is in memory is served fast, whatever the drives are.
            warm_up, duration = min(warm_up, MOST_OF_A_POOL_S), min(duration, MOST_OF_A_POOL_S)
        document["workload"] |= {"warm_up": f"{warm_up:g}s", "duration": f"{duration:g}s"}
        return document

    # what the load goes to

    def _drives(self) -> Document:
        drives: Document = {"model": self.model, "count": len(self.drives)}
        if self.flash:
            if self.maybe(2):
                drives["state"] = self.one("sequential", "fresh", "steady")
        elif self.maybe(6):
            drives["overrides"] = {"write_cache": self.one(True, False)}
        if self.maybe(12) and self.kernel.startswith("linux-6"):
            drives["scheduler"] = self.one(*(name for name in sorted(SCHEDULERS) if name in _NEW_SCHEDULERS))
        if self.maybe(12) and len(self.drives) > 1:
            drives["disk0"] = {"model": self.one(*(name for name in catalogue_drives() if name != self.model))}
        return drives

    def _cached(self, drives: Document, controlled: bool) -> None:
        """Cache a device, most often in front of a drive that is faster."""
        visible = [name for name in self.free if name not in self._hidden()]
        if controlled:
            visible = [name for name in visible if name not in self.drives]
        if len(visible) < 2:
            return
        self.add_cache("c0", visible)
        fast = self.caches["c0"]["cache"]
        if fast in self.drives and not self.maybe(3):
            drives[fast] = {"model": self.one(*(name for name in catalogue_drives() if not drive(name).rotational))}

    def _hidden(self) -> set[str]:
        """Drives of controllers."""
        return {
            name
            for array in self.arrays.values()
            if array.get("controller")
            for name in (*array["members"], *array.get("spares", ()))
        }

    def _targets(self, document: Document, controlled: bool) -> list[str]:
        """Devices that nothing is built on, a volume on one of them, or drives."""
        hidden = self._hidden()
        free = [name for name in reversed(self.free) if name not in hidden]
        if controlled:  # the host sees no drive that is beside a controller's array
            free = [name for name in free if name not in self.drives] or free
        if not free:
            return [next(name for name in (*self.arrays, *self.drives) if name not in hidden)]
        if self.maybe(10):
            document["volumes"] = {"vol": {"on": [free[0]], "part": [1, 2]}}
            return ["vol"]
        return free if len(free) > 1 and self.maybe(4) else free[:1]

    def _failure(self) -> Document | None:
        redundant = [
            array
            for array in self.arrays.values()
            if array["level"] in ("raid1", "raid5", "raid6", "raid10") and not array.get("rebuilding")
        ]
        members = [name for array in redundant for name in array["members"] if name in self.drives]
        return {"member": self.one(*members), "at": self.one("1ms", "100ms")} if members else None

    # the load

    def _load(self, targets: list[str]) -> Document:
        size = self.one(*SIZES)
        room = max(1, min(MOST_OUTSTANDING, MOST_OUTSTANDING_BYTES // size) // len(targets))
        load: Document = {"kind": "load", "targets": targets, "block_size": written(size)}
        load["pattern"] = self.one("random", "sequential", "sequential", "random", "mixed")
        load["read_share"] = self.one("100%", "0%", "100%", "70%")
        jobs = min(room, self.one(1, 1, 2, 4, 8, 16, 32))
        if jobs > 1:
            load["jobs"] = jobs
        if self.maybe(10):
            load["total_iops"] = self.one(10, 100, 1000, 20_000)
            load["arrivals"] = self.one(*ARRIVALS)
        else:
            load["depth"] = min(room // jobs, self.one(*DEPTHS))
            if self.maybe(2):
                load["engine"] = self.one("libaio", "io_uring", *(["psync"] if load["depth"] == 1 else []))
            if self.maybe(10):
                load["think_time"] = self.one("1ms", "100us", "20ms")
            if self.maybe(12) and load["read_share"] != "100%":
                load["fsync"] = self.one(1, 8, 32)
        if self.maybe(8) and load["pattern"] != "sequential":
            load["locality"] = self.one(*LOCALITIES)
        if self.maybe(8):
            load["span"] = written(max(size * jobs, self.one(1 << 30, 16 << 20, 1 << 20)))
        return load

    def _dd(self, targets: list[str]) -> Document:
        return {
            "kind": "dd",
            "direction": self.one("read", "write"),
            "size": self.one(*(("16MiB", "1GiB", "20GiB", "300GiB") if self.flash else ("16MiB", "64MiB", "1GiB"))),
            "block_size": self.one("1MiB", "4KiB", "64KiB"),
            "targets": targets[:1],
        }


_NEW_SCHEDULERS = ("none", "mq-deadline", "bfq", "kyber")


def written(size: int) -> str:
    """A number of bytes as a user writes it."""
    for unit, name in ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB")):
        if size % unit == 0:
            return f"{size // unit}{name}"
    return f"{size}B"
