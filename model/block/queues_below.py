"""Which request queues a device stands on: where a thread that submits to it may fall asleep."""

from __future__ import annotations

from ..core.request import Device
from .multi_queue import BlkMqQueue


def queues_under(device: Device) -> tuple[BlkMqQueue, ...]:
    """The blk-mq queues that `device` is or stands on: of an array's members, of their members, and so on."""
    if isinstance(device, BlkMqQueue):
        return (device,)
    below = [*getattr(device, "members", ()), *([device.device] if hasattr(device, "device") else [])]
    return tuple(queue for part in below for queue in queues_under(part))
