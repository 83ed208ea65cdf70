"""Which kernel a recording is of, and the rules of that kernel, which its file in the catalogue says."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ....model.block.block_file import BlockFile
from ....model.core.device import Device
from ....model.core.engine import Engine
from ....model.kernels import KernelSpec, kernel, kernel_names
from ....model.kernels.spec import Raid10Section
from ....model.layouts import Raid10Layout
from ....model.raid.mirrors.barrier import RESYNC_BARRIER
from ....model.raid.mirrors.mirror import MirrorArray
from ....model.raid.mirrors.raid10 import Raid10Array
from ....model.raid.read_balance import READ_BALANCE, Mirrors, ReadBalance, balance
from ....model.tasks.host import Host
from ..base import NotSupported, TruthFile

DEFAULT = "linux-6.1"
"""The kernel of a recording that names none."""

_VERSION = re.compile(r"(?:^|\bLinux(?: version)? |\bkernel )(\d+)\.(\d+)(?:\.(\d+))?")


def recorded_kernel(file: TruthFile) -> KernelSpec:
    """The kernel that `kernel` in a recording names ("Linux version 6.12.95+deb12-amd64 ...").

    Raises
    ------
    NotSupported
        If there is no file for that version, or its block layer has no multiple queues, as the recorded members have.
    """
    text = file.content.get("kernel")
    if text is None:
        return kernel(DEFAULT)
    place = f"{file.path.name}, field kernel"
    found = _VERSION.search(text) if isinstance(text, str) else None
    if found is None:
        raise NotSupported(place, f"no version in kernel {text!r}", "expected: such as Linux version 6.1.0")
    major, minor, patch = found.groups()
    # Before 3.0 the third number was that of the release.
    version = f"{major}.{minor}" if int(major) >= 3 or patch is None else f"{major}.{minor}.{patch}"
    name = f"linux-{version}"
    allowed = ", ".join(each for each in kernel_names() if kernel(each).queue.multiqueue)
    if name not in kernel_names():
        raise NotSupported(place, f"raidsim has no kernel {name}", f"expected: {allowed}")
    if not kernel(name).queue.multiqueue:
        raise NotSupported(place, f"{name} has no multi-queue block layer", f"expected: {allowed}")
    return kernel(name)


def raid1_array(
    known: KernelSpec,
    engine: Engine,
    members: Sequence[Device],
    rotational: Sequence[bool],
    host: Host | None = None,
    failed: Iterable[int] = (),
    write_mostly: frozenset[int] = frozenset(),
) -> MirrorArray:
    """RAID 1 as the kernel runs it, over members of which `rotational` says whether they turn."""
    section = known.raid1
    return MirrorArray(
        engine,
        "md0",
        members,
        _balance(section.balance, rotational, True, write_mostly),
        host,
        failed,
        section.resync_depth,
        barrier=RESYNC_BARRIER[section.barrier],
        clones_pages=section.clones_pages,
    )


def raid10_section(known: KernelSpec) -> Raid10Section:
    """How the kernel runs RAID 10."""
    assert known.raid10 is not None, "every kernel with multiple queues has RAID 10"
    return known.raid10


def raid10_array(
    known: KernelSpec,
    engine: Engine,
    members: Sequence[Device],
    layout: Raid10Layout,
    rotational: Sequence[bool],
    host: Host | None = None,
    failed: Iterable[int] = (),
) -> Raid10Array:
    """RAID 10 as the kernel runs it, over members of which `rotational` says whether they turn."""
    section = raid10_section(known)
    balance = _balance(section.balance, rotational, layout.algorithm == "near")
    return Raid10Array(
        engine,
        "md0",
        members,
        layout,
        balance,
        host,
        failed,
        section.resync_depth,
        barrier=RESYNC_BARRIER[section.barrier],
        holds_writes=section.holds_writes,
    )


def opened(known: KernelSpec, device: Device, host: Host) -> Device:
    """A device as a program opens it with O_DIRECT, whose calls the kernel may plug."""
    reads, writes = known.queue.plugs_reads_above, known.queue.plugs_writes_above
    return device if reads is None or writes is None else BlockFile(device, host, reads, writes)


def _balance(
    name: str, rotational: Sequence[bool], near: bool, write_mostly: frozenset[int] = frozenset()
) -> ReadBalance:
    mirrors = Mirrors(("",) * len(rotational), tuple(rotational), write_mostly, near=near)
    return READ_BALANCE[name].for_members(mirrors, balance(name))
