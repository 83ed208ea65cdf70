"""Which kernel a recording is of, and the rules of that kernel, which its file in the catalogue says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ....model.kernels import KernelSpec, kernel, kernel_names
from ....model.raid.mirrors.barrier import RESYNC_BARRIER, ResyncBarrier
from ....model.raid.read_balance import READ_BALANCE, Mirrors, ReadBalance, balance
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
        raise NotSupported(place, f"no version in kernel {text!r}", "allowed: such as Linux version 6.1.0")
    major, minor, patch = found.groups()
    # Before 3.0 the third number was that of the release.
    version = f"{major}.{minor}" if int(major) >= 3 or patch is None else f"{major}.{minor}.{patch}"
    name = f"linux-{version}"
    allowed = ", ".join(each for each in kernel_names() if kernel(each).queue.multiqueue)
    if name not in kernel_names():
        raise NotSupported(place, f"raidsim has no kernel {name}", f"allowed: {allowed}")
    if not kernel(name).queue.multiqueue:
        raise NotSupported(place, f"{name} has no multi-queue block layer", f"allowed: {allowed}")
    return kernel(name)


def raid1_balance(known: KernelSpec, rotational: Sequence[bool]) -> ReadBalance:
    """Read balance of RAID 1 over members of which `rotational` says whether they turn."""
    return _balance(known.raid1.balance, rotational, near=True)


def raid10_balance(known: KernelSpec, rotational: Sequence[bool], near: bool) -> ReadBalance:
    """Read balance of RAID 10; `near` says whether the copies lie side by side."""
    section = known.raid10
    assert section is not None, "every kernel with multiple queues has RAID 10"
    return _balance(section.balance, rotational, near)


def raid1_barrier(known: KernelSpec) -> type[ResyncBarrier]:
    """How RAID 1 keeps resync and normal I/O apart."""
    return RESYNC_BARRIER[known.raid1.barrier]


def raid10_barrier(known: KernelSpec) -> type[ResyncBarrier]:
    """How RAID 10 does."""
    assert known.raid10 is not None
    return RESYNC_BARRIER[known.raid10.barrier]


def _balance(name: str, rotational: Sequence[bool], near: bool) -> ReadBalance:
    mirrors = Mirrors(("",) * len(rotational), tuple(rotational), near=near)
    return READ_BALANCE[name].for_members(mirrors, balance(name))
