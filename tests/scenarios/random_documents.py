"""Scenario documents of every kind, as plain data from a YAML file: most can be run, some cannot be."""

from __future__ import annotations

from hypothesis import strategies as st

from raidsim.model.controller.catalogue import controller_names
from raidsim.model.kernels import kernel_names
from raidsim.tests.scenarios.small_machine import PRICES
from raidsim.validation.laws.hunting.drawn_devices import PLAIN, Document, some
from raidsim.validation.laws.hunting.drawn_programs import DrawnPrograms

Draw = st.DrawFn

CAPACITIES = (None, None, "8MiB", "41000448B", "256MiB", "1GiB")
MOST_OUTSTANDING_BYTES = 16 << 20
MODELS = ("WD2500JB", "WD2500JS", "ST3120026A", "Exos-15E900-900GB")


@st.composite
def documents(draw: Draw) -> Document:
    """Any scenario."""
    return _Scenario(draw).document()


@st.composite
def program_documents(draw: Draw) -> Document:
    """Any scenario whose workload is programs on file systems."""
    return _Scenario(draw, (None, None, "300MiB", "1GiB")).with_programs()


class _Scenario(DrawnPrograms):
    """One scenario while it is being drawn: what is still free to be built of.

    A careful one keeps to what levels and kernels offer; one in eight does not, and is refused or run.
    """

    def __init__(self, draw: Draw, capacities: tuple[str | None, ...] = CAPACITIES) -> None:
        careful = draw(st.integers(0, 7)) > 0
        kernel = draw(st.sampled_from(kernel_names()))
        super().__init__(draw, careful, kernel, [f"d{number}" for number in range(draw(st.integers(1, 10)))])
        self.capacities = capacities

    def document(self) -> Document:
        """All of it."""
        machine = self._machine()
        for number in range(self.one(0, 1, 1, 1, 2, 2, 3)):
            self.add_array(f"md{number}")
            if self.maybe(5) and self.free:
                self.encrypt(f"crypt{number}")
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
            targets = [self.free[-1]] if self.maybe() else some(self.draw, self.free, 3) or [self.free[-1]]
        else:
            targets = some(self.draw, every, 3) or [every[-1]]
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
        mounted = {point: self.file_system(devices) for point in ("/", *points) if point == "/home" or self.maybe()}
        if self.careful and len({placed["on"] for placed in mounted.values()}) < len(mounted):
            del mounted["/"]
        document["file_systems"] = mounted
        document["workload"] = self.programs(list(mounted))
        document["machine"]["memory"] = self.one("32MiB", "64MiB", "1GiB")
        if self.maybe(3):
            document["machine"]["resident"] = self.one("1MiB", "16MiB", *self.loose("64MiB"))
        if self.maybe(4):
            document["read_ahead"] = self.one("4KiB", "1MiB", *self.loose("100B"))
        return document
