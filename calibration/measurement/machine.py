"""The machine that a measurement was made on, as its kernel describes it, and how it was measured.

From /proc (cpuinfo, meminfo, mountinfo, swaps) and /sys (dev/block; Documentation/ABI/stable/sysfs-block). No serial
numbers, addresses or host names are read.
"""

from __future__ import annotations

import os
import platform
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from pydantic import Field

from ...model.files.description import Frequency, PositiveDuration, PositiveSize, Spec
from ...model.files.description_errors import load_spec

FILE_NAME = "machine.yaml"
"""What the description is called in a folder of measurements."""

_SECTOR = 512
_UNKNOWN = "unknown"
_ROTATING = "1"


class MeasuredCpu(Spec):
    """The processor."""

    name: str
    clock: Frequency | None = None
    """The highest, if the kernel says so."""
    cores: int = Field(ge=1)
    """How many the machine has."""


class MeasuredDevice(Spec):
    """The disk as /sys has it."""

    name: str
    model: str | None = None
    size: PositiveSize
    """Bytes of the device."""
    rotational: bool
    """What the device says of itself; virtual disks often say that they turn."""
    scheduler: str | None = None
    """What orders its requests."""
    queue_depth: int | None = Field(default=None, ge=1)
    """Commands that it takes at a time, if its driver says so."""
    members: tuple[str, ...] = ()
    """What it is built of, for md and dm."""


class MeasuredSuite(Spec):
    """How it was measured."""

    target: Literal["device", "file"]
    """Whether the whole device, or a file on it."""
    size: PositiveSize
    """Bytes that the jobs keep within."""
    seconds: PositiveDuration
    """Of each job."""
    engine: str
    direct: bool
    """fio's ``ioengine`` and ``direct``."""
    writes: bool = False
    """Whether there were jobs that write."""


class MeasuredMachine(Spec):
    """Facts of the machine that go with the results of fio."""

    date: str
    """When it was measured."""
    fio: str
    kernel: str
    """Versions of fio and of the kernel."""
    cpu: MeasuredCpu
    """The processor."""
    memory: PositiveSize
    """Bytes of memory."""
    device: MeasuredDevice | None = None
    """The disk, if it is known."""
    suite: MeasuredSuite
    """How it was measured."""

    def document(self) -> dict[str, Any]:
        """The description as its file has it, with units."""
        found: dict[str, Any] = self.model_dump(mode="json", exclude_none=True)
        if self.cpu.clock is not None:
            found["cpu"]["clock"] = f"{self.cpu.clock / 1e6:.6g}MHz"
        found["suite"]["seconds"] = f"{self.suite.seconds:g}s"
        return found


def load_machine(folder: Path) -> MeasuredMachine | None:
    """The description in a folder of measurements; None if there is none."""
    path = folder / FILE_NAME
    return load_spec(MeasuredMachine, path) if path.exists() else None


@dataclass(frozen=True, slots=True)
class Kernel:
    """The running kernel's own description.

    Attributes
    ----------
    proc, sys
        Where it is mounted.
    """

    proc: Path = Path("/proc")
    sys: Path = Path("/sys")

    def release(self) -> str:
        """As ``uname -r``."""
        return platform.release()

    def cpu(self) -> MeasuredCpu:
        """The processor."""
        text = _text(self.proc / "cpuinfo") or ""
        name = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
        clocks = [float(each) for each in re.findall(r"^cpu MHz\s*:\s*([\d.]+)$", text, re.MULTILINE)]
        highest = _text(self.sys / "devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq")
        clock = 1e3 * float(highest) if highest else 1e6 * max(clocks, default=0.0)
        return MeasuredCpu(name=name[1] if name else _UNKNOWN, clock=clock or None, cores=os.cpu_count() or 1)

    def memory(self) -> int:
        """Bytes of memory that the kernel manages."""
        found = re.search(r"^MemTotal:\s*(\d+) kB", _text(self.proc / "meminfo") or "", re.MULTILINE)
        return int(found[1]) * 1024 if found else os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")

    def device_of(self, number: tuple[int, int]) -> MeasuredDevice | None:
        """The disk with this major and minor number, or that a partition with it is on; None if there is none."""
        block = self.block(self.mounted_device(number))
        if block is None:
            return None
        disk = block.parent if (block / "partition").exists() else block
        size = int(_text(disk / "size") or 0) * _SECTOR
        if not size:
            return None
        queue = disk / "queue"
        depth = _text(disk / "device/queue_depth")
        chosen = re.search(r"\[([\w-]+)\]", _text(queue / "scheduler") or "")
        return MeasuredDevice(
            name=disk.name,
            model=_text(disk / "device/model"),
            size=size,
            rotational=_text(queue / "rotational") == _ROTATING,
            scheduler=chosen[1] if chosen else None,
            queue_depth=int(depth) if depth and int(depth) > 0 else None,
            members=tuple(sorted(each.name for each in (disk / "slaves").glob("*"))),
        )

    def block(self, number: tuple[int, int]) -> Path | None:
        """The folder of a block device in /sys."""
        link = self.sys / "dev/block" / f"{number[0]}:{number[1]}"
        return link.resolve() if link.exists() else None

    def mounted_device(self, number: tuple[int, int]) -> tuple[int, int]:
        """The block device behind a file system that has a number of its own, as btrfs does; else the same number."""
        for mount in self.mounts():
            if mount.number == number and not number[0] and mount.source.startswith("/dev/"):
                link = self.sys / "class/block" / Path(mount.source).resolve().name / "dev"
                major, _, minor = (_text(link) or "").partition(":")
                if minor:
                    return int(major), int(minor)
        return number

    def mounts(self) -> list[Mounted]:
        """Everything that is mounted (proc_pid_mountinfo(5))."""
        found = []
        for line in (_text(self.proc / "self/mountinfo") or "").splitlines():
            before, _, after = line.partition(" - ")
            fields, (_, source, *_) = before.split(), after.split()
            major, _, minor = fields[2].partition(":")
            found.append(Mounted((int(major), int(minor)), _unescaped(fields[4]), _unescaped(source)))
        return found

    def swaps(self) -> list[str]:
        """Devices and files that are swapped to."""
        return [_unescaped(line.split()[0]) for line in (_text(self.proc / "swaps") or "").splitlines()[1:]]


@dataclass(frozen=True, slots=True)
class Mounted:
    """A line of mountinfo."""

    number: tuple[int, int]
    point: str
    source: str


def _text(path: Path) -> str | None:
    """What a file of the kernel says; None if it is not there or has nothing to say."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip() or None
    except OSError:
        return None


def _unescaped(text: str) -> str:
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), text)
