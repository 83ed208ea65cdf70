"""What a scenario sets at the request queue of a drive, checked against the kernel and what hides the drive."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.files.description import refusal
from ...model.kernels import kernel
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
        if instance.scheduler is not None and instance.scheduler not in known.choices:
            found = f"{instance.scheduler}, which {kernel_name} does not have"
            allowed = f"allowed: {', '.join(known.choices)}"
            raise refusal(found, allowed, ("machine", "drives", name, "scheduler"))
        if instance.wbt_lat is not None and not known.throttle_rotational:
            found = f"write-back throttling on {kernel_name}, which has none"
            raise refusal(found, "allowed: with Linux 4.10 or later", ("machine", "drives", name, "wbt_lat"))
