"""What the caches below the page cache hold while a program writes: those of drives, arrays, controllers and servers.

A write is steady once these are full, or once they have stopped filling because something else is slower than the
media.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from ....model.controller.controller import RaidController
from ....model.core.exact_sums import sum_in_order
from ....model.disk.actuators.split_drive import SplitDrive
from ....model.disk.hard_disk import HardDisk
from ....model.layouts import LEVELS
from ....model.network.server import NetworkFront
from ....model.readahead import PAGE
from ....model.solid_state.drive import SolidState
from ...description.devices import Devices
from ...machine.machine import BuiltMachine
from .supply import data_share


class Buffers:
    """The write caches below some targets of a machine.

    Parameters
    ----------
    machine
        The machine.
    targets
        Names of devices; one that is named twice counts once.

    Attributes
    ----------
    capacity
        Bytes of the programs' data that the caches hold when they are full.
    gathers_rows
        Whether an array gathers writes in a stripe cache.
    """

    __slots__ = ("_controllers", "_drives", "_fronts", "capacity", "gathers_rows")

    def __init__(self, machine: BuiltMachine, targets: Collection[str]) -> None:
        scenario = machine.scenario
        devices = Devices.of(scenario)
        self._drives: list[tuple[HardDisk | SolidState, float, str]] = []
        self._controllers: list[RaidController] = []
        counted: set[str] = set()
        for target in dict.fromkeys(targets):
            for name, share in _drives(devices, target, 1.0):
                if name in machine.disks and name not in counted:  # targets may share drives by their partitions
                    counted.add(name)
                    drive = machine.disks[name]
                    parts = drive.parts if isinstance(drive, SplitDrive) else [drive]
                    self._drives += [(part, share, target) for part in parts]
            below = devices.below(target)
            volumes = [volume for name, volume in machine.controllers.items() if name in below]
            self._controllers += [volume for volume in volumes if volume.settings.writes_back]
        self._fronts = [front for front in machine.targets if isinstance(front, NetworkFront)]
        self.capacity = sum_in_order(share * _write_cache(drive) for drive, share, _ in self._drives)
        self.capacity += sum(volume.settings.write_bytes for volume in self._controllers)
        below = {name for target in targets for name in devices.below(target)}
        arrays = [array for name, array in scenario.arrays.items() if name in below and array.controller is None]
        gathering = [array for array in arrays if LEVELS[array.level].redundancy == "parity"]
        self.gathers_rows = bool(gathering)
        for array in gathering:
            self.capacity += (array.stripe_cache or machine.kernel.raid5.heads) * PAGE * len(array.members)

    def held(self) -> float:
        """Bytes of the programs' data that are in the caches now."""
        found = sum_in_order(share * drive.dirty_bytes for drive, share, _ in self._drives)
        found += sum(volume.dirty_bytes for volume in self._controllers)
        return found + sum(front.dirty_bytes for front in self._fronts)

    def fill(self, written_to: float) -> None:
        """Fill the caches of the hard disks that hold something, as if the programs had just written it.

        `written_to` is the share of their targets that lies in front of what the programs write next.
        """
        for drive, _, _ in self._drives:
            if isinstance(drive, HardDisk) and drive.dirty_bytes:
                drive.hold(int(written_to * drive.capacity) >> 20 << 20)


def _drives(devices: Devices, name: str, share: float) -> Iterator[tuple[str, float]]:
    """The drives below a device, each with the bytes of the device's data for a byte that it is written."""
    if name in devices.encrypted:
        yield from _drives(devices, devices.encrypted[name].on, share)
    elif name in devices.caches:
        yield from _drives(devices, devices.caches[name].on, share)
    elif name in devices.volumes:
        for device in devices.volumes[name].on:
            yield from _drives(devices, device, share)
    elif name in devices.datasets:
        for member in devices.datasets[name][0].leaves():
            yield from _drives(devices, member, share)
    elif name in devices.arrays:
        share *= data_share(devices, name)
        for member in devices.arrays[name].members:
            yield from _drives(devices, member, share)
    else:
        yield name, share


def _write_cache(drive: HardDisk | SolidState) -> int:
    if isinstance(drive, SolidState):
        return drive.spec.write_buffer
    return drive.media.write_buffer_bytes


def head_start(drained: float, held: float, port_rate: float, media_rate: float) -> float:
    """Time (s) that caches save a long write which leaves them full.

    While they fill, devices take data at `port_rate` instead of at `media_rate` (bytes/s); full, they hold `held`
    bytes.
    """
    if port_rate <= media_rate:
        return 0.0
    return min(held / media_rate, drained / media_rate - drained / port_rate)
