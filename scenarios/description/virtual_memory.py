"""The kernel's settings for dirty memory, as ``sysctl vm`` has them."""

from __future__ import annotations

from typing import Self

from pydantic import model_validator

from ...model.files.description import Fraction, PositiveDuration, PositiveSize, Spec, refusal
from ...model.kernels import KernelSpec, kernel, kernel_names
from ...model.memory.dirty_memory import DirtyLimits


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
