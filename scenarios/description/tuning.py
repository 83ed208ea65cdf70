"""What an administrator tunes: the queues of drives (sysfs) and the limits of dirty memory (sysctl vm)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Self

from pydantic import model_validator

from ...model.files.description import Fraction, PositiveDuration, PositiveSize, Spec, refusal
from ...model.kernels import KernelSpec, kernel, kernel_names
from ...model.memory.dirty_memory import DirtyLimits
from .machine import MachineSpec

QUEUE_FIELDS = ("scheduler", "nr_requests", "max_request", "wbt_lat")
"""Of :class:`raidsim.scenarios.description.machine.DriveInstance`."""


def check_queues(machine: MachineSpec, kernel_name: str, hidden: Mapping[str, str]) -> None:
    """Refuse what the kernel cannot set, and what a controller does not let it set.

    Parameters
    ----------
    machine
        Whose drives they are.
    kernel_name
        What it runs.
    hidden
        Drives that the kernel does not see, with the controller in front of them.

    Raises
    ------
    PydanticCustomError
        Naming what is wrong, and what is allowed.
    """
    known = kernel(kernel_name).queue
    for name, instance in machine.drives.items():
        given = [field for field in QUEUE_FIELDS if getattr(instance, field) is not None]
        if given and name in hidden:
            found = f"{given[0]} of {name}, which is behind {hidden[name]}"
            raise refusal(found, "allowed: for drives that the kernel sees", ("machine", "drives", name, given[0]))
        choices = known.choices(instance.queues())
        if instance.scheduler is not None and instance.scheduler not in choices:
            found = f"{instance.scheduler}, which {kernel_name} does not have"
            allowed = f"allowed: {', '.join(choices)}"
            raise refusal(found, allowed, ("machine", "drives", name, "scheduler"))
        if instance.wbt_lat is not None and not known.throttle_rotational:
            found = f"write-back throttling on {kernel_name}, which has none"
            raise refusal(found, "allowed: with Linux 4.10 or later", ("machine", "drives", name, "wbt_lat"))


class VirtualMemorySpec(Spec):
    """What ``/proc/sys/vm`` says; what is not given is the kernel's default.

    Attributes
    ----------
    dirty_ratio, dirty_bytes
        How much memory may be dirty before writers stop: a share of it, or bytes.
    dirty_background_ratio, dirty_background_bytes
        How much before it is written back; half of the limit if it is not below that.
    dirty_expire
        What has been dirty for so long is written back anyway (``dirty_expire_centisecs``).
    dirty_writeback
        How often that is looked for (``dirty_writeback_centisecs``).
    """

    dirty_ratio: Fraction | None = None
    dirty_bytes: PositiveSize | None = None
    dirty_background_ratio: Fraction | None = None
    dirty_background_bytes: PositiveSize | None = None
    dirty_expire: PositiveDuration | None = None
    dirty_writeback: PositiveDuration | None = None

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        for ratio, size in (("dirty_ratio", "dirty_bytes"), ("dirty_background_ratio", "dirty_background_bytes")):
            if getattr(self, ratio) is not None and getattr(self, size) is not None:
                found = f"both {ratio} and {size}, of which setting one clears the other"
                raise refusal(found, "allowed: one of them", (size,))
            if getattr(self, ratio) == 0:
                raise refusal("0", "allowed: a share above 0", (ratio,))
        return self

    def check(self, name: str) -> None:
        """Refuse a kernel that does not have these settings in this form."""
        if kernel(name).cache.throttle != "balance":
            have = [other for other in kernel_names() if kernel(other).cache.throttle == "balance"]
            raise refusal(f"vm on {name}", f"allowed: with {', '.join(have)}", ("vm",))


def dirty_limits(known: KernelSpec, memory: int, vm: VirtualMemorySpec | None, scale: int = 1) -> DirtyLimits:
    """The limits of a kernel on a machine with so much memory (bytes), in a run with `scale` times less of it."""
    section = known.cache
    memory //= scale
    above, below = int(section.flush_above * memory), int(section.flush_below * memory)
    limit = int(section.limit * memory)
    if vm is not None:
        limit = vm.dirty_bytes // scale if vm.dirty_bytes else int((vm.dirty_ratio or section.limit) * memory)
        above = int((vm.dirty_background_ratio or section.flush_above) * memory)
        if vm.dirty_background_bytes:
            above = vm.dirty_background_bytes // scale
        above = below = above if above < limit else limit // 2
    return DirtyLimits(
        above,
        below,
        limit,
        section.duty,
        section.flush_pass,
        section.limit_counts_writeback,
        section.throttle == "balance",
        1 / scale,
        section.running_above,
        section.running_below,
    )
