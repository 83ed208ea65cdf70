"""Scenario documents of every kind, as plain data from a YAML file: most can be run, some cannot be."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from raidsim.model.controller.catalogue import controller, controller_names
from raidsim.model.file_system import file_system_names
from raidsim.model.kernels import kernel_names
from raidsim.model.layouts import ALGORITHMS
from raidsim.model.layouts import LEVELS as KNOWN
from raidsim.model.raid.read_balance import READ_BALANCE
from raidsim.tests.scenarios.small_machine import PRICES

Draw = st.DrawFn
Document = dict[str, Any]

LEVELS = sorted(KNOWN)
MIRRORS = ("raid1", "raid10", "raid01")
PARITY = ("raid4", "raid5", "raid6", "raid50", "raid60")
PLAIN = ("linear", "raid0")
CAPACITIES = (None, None, "8MiB", "41000448B", "256MiB", "1GiB")
MOST_OUTSTANDING_BYTES = 16 << 20
RAID1_ONLY = tuple(name for name, policy in READ_BALANCE.items() if policy.only_raid1)
MODELS = ("WD2500JB", "WD2500JS", "ST3120026A", "Exos-15E900-900GB")


@st.composite
def documents(draw: Draw) -> Document:
    """Any scenario."""
    return _Scenario(draw).document()


@st.composite
def program_documents(draw: Draw) -> Document:
    """Any scenario whose workload is programs on file systems."""
    return _Scenario(draw, (None, None, "300MiB", "1GiB")).with_programs()


def _some(draw: Draw, values: list[str], most: int) -> list[str]:
    """Up to `most` different ones of `values`."""
    if not values or not most:
        return []
    return draw(st.lists(st.sampled_from(values), max_size=min(most, len(values)), unique=True))


class _Scenario:
    """One scenario while it is being drawn: what is still free to be built of.

    A careful one keeps to what levels and kernels offer; one in eight does not, and is refused or run.
    """

    def __init__(self, draw: Draw, capacities: tuple[str | None, ...] = CAPACITIES) -> None:
        self.draw = draw
        self.capacities = capacities
        self.careful = draw(st.integers(0, 7)) > 0
        self.kernel = draw(st.sampled_from(kernel_names()))
        self.modern = self.kernel.startswith("linux-6")
        self.drives = [f"d{number}" for number in range(draw(st.integers(1, 10)))]
        self.free = list(self.drives)
        self.arrays: dict[str, Document] = {}
        self.encrypted: dict[str, Document] = {}
        self.controllers: dict[str, Document] = {}
        self.tree: Document = {}

    def maybe(self, one_in: int = 2) -> bool:
        """True once in so many."""
        return self.draw(st.integers(1, one_in)) == 1

    def one(self, *values: Any) -> Any:
        """One of the values."""
        return self.draw(st.sampled_from(values))

    def loose(self, *values: Any) -> tuple[Any, ...]:
        """The values, unless this scenario is a careful one."""
        return () if self.careful else values

    def document(self) -> Document:
        """All of it."""
        machine = self._machine()
        for number in range(self.one(0, 1, 1, 1, 2, 2, 3)):
            self._add_array(f"md{number}")
            if self.maybe(5) and self.free:
                self._encrypt(f"crypt{number}")
        failures = self._failures()
        document = {
            "name": "random",
            "machine": machine,
            "kernel": self.kernel,
            "arrays": self.arrays,
            "encrypted": self.encrypted,
            "workload": self._workload(),
            "seed": self.draw(st.integers(0, 99)),
        }
        if failures:
            document["failures"] = failures
        if self.maybe(6):
            document["path_length"] = self.one(0.5, 2.0)
        if self.maybe(3) and (self.modern or not self.careful):
            document["vm"] = self.one({"dirty_bytes": "1MiB"}, {"dirty_ratio": 0.5, "dirty_background_ratio": 0.6})
        return document

    # the machine

    def _machine(self) -> Document:
        drives: dict[str, Document] = {}
        same = self.maybe()
        model, capacity = self.one(*MODELS), self.one(*self.capacities)
        shared = self.maybe(6)
        for number, name in enumerate(self.drives):
            instance: Document = {"model": model if same else self.one(*MODELS)}
            instance["channel"] = f"c{number // 2 if shared else number}"
            size = capacity if same else self.one(*self.capacities)
            small = size is not None and not instance["model"].startswith("Exos")
            overrides: Document = {"capacity": size, "heads": 1} if small else {}
            if self.maybe(5):
                overrides |= self.one(
                    {"queue_depth": 32},
                    {"write_cache": False},
                    {"cache": "0B", "segments": 0, "segment_size": "0B", "look_ahead": "0B", "write_cache": False},
                )
            if self.maybe(8):
                instance["major"] = 33
            drives[name] = instance | ({"overrides": overrides} if overrides else {})
        kind = self.one("ata", "scsi", "sata")
        channel = {"rate": self.one("33MB/s", "150MB/s"), "kind": kind, "links": ["pci"], "source": "made up"}
        for number in range(self.one(0, 0, 0, 1, 2)):
            self.controllers[f"ctl{number}"] = self._controller()
        return {
            "name": "any",
            "memory": self.one("8MiB", "64MiB", "1GiB"),
            "cpu": {"name": "CPU", "clock": "2GHz", "cores": self.one(1, 2, 4), "prices": PRICES},
            "links": {"pci": {"rate": "133MB/s", "source": "made up"}},
            "channels": {str(drive["channel"]): channel for drive in drives.values()},
            "drives": drives,
            "controllers": self.controllers,
        }

    def _controller(self) -> Document:
        overrides = self.one(
            {},
            {"battery": "failed"},
            {"battery": "learning", "forced_write_back": True},
            {"write_policy": "write-through"},
            {"write_policy": "off"},
            {"cache": "0B"},
            {"cache": "256KiB"},
            {"cache": "64KiB", "read_share": 0.9},
            {"read_ahead_rows": 0, "keeps_reads": False},
            {"queue_depth": 1, "destage_depth": 1, "drive_queue_depth": 4},
            {"partial_age": "10ms", "high_water": 0.1, "low_water": 0.0},
            {"drive_request": "64KiB"},
        )
        links: list[str] = ["pci"] if self.maybe() else []
        return {"model": self.one(*controller_names()), "links": links, "overrides": overrides}

    # devices over devices

    def _encrypt(self, name: str) -> None:
        below = self.one(*self.free)
        self.free.remove(below)
        self.free.append(name)
        if self.maybe() and (self.modern or not self.careful):
            self.encrypted[name] = {"on": below, "cipher": self.one("aes-xts", "aes-xts-generic")}
            for field, value in (("sector", "4KiB"), ("no_read_workqueue", True), ("no_write_workqueue", True)):
                if self.maybe(3):
                    self.encrypted[name][field] = value
            return
        kind = self.one("cryptoloop", "dm-crypt")
        rate = self.one("20MB/s", "1GB/s")
        self.encrypted[name] = {"on": below, "kind": kind, "rate": rate, "source": "made up"}

    def _add_array(self, name: str) -> None:
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
            failed = _some(self.draw, members, 2 if level not in ("raid3", "raid4", "raid5") else 1)
            if failed:
                array["failed"] = failed
                rebuilding = _some(self.draw, failed, 2)
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
            spares = _some(self.draw, left, 2)
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
            array["write_mostly"] = _some(self.draw, members, len(members))

    def _failures(self) -> list[Document]:
        """Members that fail during the run: of arrays that survive it, or of any."""
        members = sorted(
            member
            for array in self.arrays.values()
            if not self.careful or array["level"] not in (*PLAIN, "raid3", "raid01")
            for member in array["members"]
            if not self.careful or member not in array.get("failed", ())
        )
        if not members or not self.maybe(3):
            return []
        return [
            {"member": self.one(*members), "at": f"{self.one(0, 5, 30, 60, 60, 120)}ms"}
            for _ in range(self.one(1, 1, 2))
        ]

    # the workload

    def _workload(self) -> Document:
        every = [*self.drives, *self.arrays, *self.encrypted]
        if self.free and self.maybe(10) is False:
            targets = [self.free[-1]] if self.maybe() else _some(self.draw, self.free, 3) or [self.free[-1]]
        else:
            targets = _some(self.draw, every, 3) or [every[-1]]
        raw = self.kernel.startswith("linux") or not self.careful
        return self._dd(targets) if raw and self.maybe(3) else self._load(targets)

    def _dd(self, targets: list[str]) -> Document:
        workload: Document = {
            "kind": "dd",
            "direction": self.one("read", "write"),
            "block_size": self.one("512B", "1536B", "4KiB", "64KiB", "1MiB"),
            "size": self.one("512B", "2MiB", "2MiB", "5MiB", "7654912B", *(["20MB", "5GiB"] if self.maybe(3) else [])),
            "targets": targets,
        }
        if self.maybe(4):
            workload["start"] = self.one("512B", "1MiB", "1536000B", *self.loose("3000000B", "100MB"))
        return workload

    def _load(self, targets: list[str]) -> Document:
        size = self.one(512, 1536, 4096, 4096, 65536, 65536 + 512, 1 << 20, 512 * self.draw(st.integers(1, 2000)))
        jobs = self.one(1, 1, 2, 5)
        depth = min(self.one(1, 2, 7, 32, 200), max(1, MOST_OUTSTANDING_BYTES // (jobs * size)))
        workload: Document = {
            "kind": "load",
            "targets": targets,
            "block_size": f"{size}B",
            "pattern": self.one("random", "sequential"),
            "read_share": self.one("0%", "70%", "100%"),
            "depth": depth,
            "jobs": jobs,
            "warm_up": self.one("0s", "20ms", "50ms"),
            "duration": self.one("50ms", "150ms"),
        }
        if self.maybe(4):
            workload["start"] = self.one("512B", "1MiB", "1536000B", *self.loose("20MB", "1GB"))
        if self.maybe(4):
            least = size * (1 if workload["pattern"] == "random" else jobs)
            workload["span"] = self.one(f"{least}B", f"{least + 100_000}B", *self.loose("30MB", "1MiB"))
        return workload

    # programs on file systems

    def with_programs(self) -> Document:
        """All of it, with file systems and programs in place of the load."""
        document = self.document()
        devices = self.free if self.careful and self.free else [*self.drives, *self.arrays, *self.encrypted]
        points = [point for point in ("/home", *self.loose("home", "/home/")) if self.careful or self.maybe()]
        mounted = {point: self._file_system(devices) for point in ("/", *points) if point == "/home" or self.maybe()}
        if self.careful and len({placed["on"] for placed in mounted.values()}) < len(mounted):
            del mounted["/"]
        document["file_systems"] = mounted
        document["workload"] = self._programs(list(mounted))
        document["machine"]["memory"] = self.one("32MiB", "64MiB", "1GiB")
        if self.maybe(3):
            document["machine"]["resident"] = self.one("1MiB", "16MiB", *self.loose("64MiB"))
        if self.maybe(4):
            document["read_ahead"] = self.one("4KiB", "1MiB", *self.loose("100B"))
        return document

    def _file_system(self, devices: list[str]) -> Document:
        made: Document = {"kind": self.one(*file_system_names(), *self.loose("zfs")), "on": self.one(*devices)}
        if self.maybe(4):
            made["start"] = self.one("1MiB", "300MiB", *self.loose("1TB"))
        if self.maybe(4):
            made["size"] = self.one("256MiB", "600MiB", *self.loose("1MiB", "1TB"))
        if self.maybe(4):
            made["age"] = self.one(0.1, 1.0, *self.loose(2.0))
        if self.maybe(4):
            made["overrides"] = self.one({"atime": "never"}, {"journal_size": "4MiB"}, *self.loose({"block": 0}))
        return made

    def _programs(self, points: list[str]) -> Document:
        processes = self.one(1, 1, 2, 3, *self.loose(0))
        self.tree = {"files": self.one(1, 3, 100, 400), "bytes": self.one("1B", "40kB", "3MB", "9MB")}
        steps = [self._step(number, points) for number in range(self.one(1, 1, 2, 3, *self.loose(0)))]
        return {"kind": "programs", "processes": processes, "steps": steps}

    def _step(self, number: int, points: list[str]) -> Document:
        size = self.one("1MiB", "3MiB", "20MiB", "7654912B", *self.loose("1B", "1000B", "1TiB"))
        tree = self.tree if self.careful else {"files": self.one(1, 100), "bytes": self.one("1B", "3MB")}
        block = self.one("512B", "4KiB", "1MiB", "1000B", *self.loose("4MiB", "1B"))
        record = self.one("4KiB", "32KiB", "64KiB", *self.loose("1000B", "128KiB"))
        step: Document = self.one(
            {"program": "bonnie", "size": size, "files": self.one(1, 2), "sync": self.maybe()},
            {"program": "bonnie++", "size": size, "version": self.one("1.03", "1.9"), "small_files": self.one(0, 1)},
            {"program": "postmark", "number": self.one(1, 20, 60), "transactions": self.one(10, 100)},
            {"program": "postmark", "number": 20, "high": "3MB", "bias_read": -1, "subdirectories": 3},
            {"program": "dd", "size": size, "block_size": block, "file": "linux.tar"},
            {"program": "read", "size": size, "block_size": block},
            {"program": "cp", "size": size},
            {"program": "tar-x", "tree": tree},
            *self.loose({"program": "tar-x", "tree": tree, "archive": "linux.tar"}),
            {"program": "cp-r", "tree": tree},
            {"program": "tar-c", "tree": tree},
            {"program": "tar-pipe", "tree": tree, "source": self.one(*points, *self.loose("/mnt"))},
            {"program": "tiobench", "size": size, "threads": self.one(1, 3), "random_ios": self.one(1, 40)},
            {"program": "iozone", "size": self.one("64KiB", "1MiB", "4MiB", *self.loose(size)), "record": record},
            {"program": "remount"},
            *self.loose({"program": "fsx"}),
        )
        if step["program"] != "remount":
            if not self.careful and self.maybe():
                return step
            step["name"] = f"step {number}"
            if points and (len(points) > 1 or self.maybe(3)):
                step["on"] = self.one(*points)
        return step
