"""How fast media and caches can take or give data: the bound that no reported rate exceeds.

Whatever a program reports, a drive has moved no more than its medium passes in that time, and what its caches hold. A
mirror writes each byte several times and parity takes a share of the members, so the devices of an array take fewer
bytes of data than their media do.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from ....model.core.exact_sums import sum_in_order
from ....model.disk.spec import DriveSpec, mechanics
from ....model.files.quantities import format_duration
from ....model.kernels import kernel
from ....model.solid_state.spec import SolidStateSpec
from ...description.devices import Devices
from ...description.machine import ControllerInstance
from ...description.scenario import ScenarioSpec

_TOLERANCE = 0.03
"""A rate exceeds the bound from this share on. Chunks that are cut off and commands under way at the edges of a short
measurement stay below it."""


@dataclass(frozen=True, slots=True)
class Supply:
    """What devices can take, or give, of the data of programs.

    Attributes
    ----------
    rate
        Bytes of data per second that the media pass at most.
    cache_bytes
        Bytes of data that caches hold besides: those of drives and controllers, and memory where programs use it.
    """

    rate: float
    cache_bytes: float

    def most(self, seconds: float) -> float:
        """Bytes that can have been moved in that time (s)."""
        return self.rate * seconds + self.cache_bytes

    def excess(self, what: str, moved: float, seconds: float) -> str | None:
        """A sentence that says so if more is reported of `what` than media and caches can have given; None if not.

        Parameters
        ----------
        what
            Who reports it.
        moved, seconds
            Bytes that are said to have been moved, and in which time (s).
        """
        most = self.most(seconds)
        if moved <= (1 + _TOLERANCE) * most:
            return None
        return (
            f"{what}: {1e-6 * moved / seconds:,.1f} MB/s is more than media and caches can give in "
            f"{format_duration(seconds)}, {1e-6 * most / seconds:,.1f} MB/s; simulate more of it"
        )


def supply(
    scenario: ScenarioSpec,
    targets: Iterable[str],
    op: str,
    memory: bool = False,
    full: Collection[str] = (),
) -> Supply:
    """What some devices of a scenario can give together.

    Parameters
    ----------
    scenario
        Whose devices.
    targets
        Their names; one that is named twice counts once.
    op
        "read" or "write".
    memory
        If true, the host's memory counts as a cache: data may still be there when the program ends, or again.
    full
        Names of drives whose cells with one bit are full.
    """
    devices = Devices.of(scenario)
    counted: set[str] = set()
    parts = [_of(scenario, devices, name, op, counted, full) for name in dict.fromkeys(targets)]
    cached = sum_in_order(part.cache_bytes for part in parts) + (scenario.machine.memory if memory else 0)
    if scenario.network is not None and op == "write" and scenario.network.export == "async":
        cached += scenario.network.write_behind
    return Supply(sum_in_order(part.rate for part in parts), cached)


def _of(
    scenario: ScenarioSpec,
    devices: Devices,
    name: str,
    op: str,
    counted: set[str],
    full: Collection[str],
    controlling: ControllerInstance | None = None,
) -> Supply:
    """What a device gives with drives that are not `counted` yet: a drive gives its time once, to all its slices.

    If `controlling` is given, the drive is at a port of it.
    """
    machine = scenario.machine
    if name in machine.drives:
        if name in counted:
            return Supply(0.0, 0.0)
        counted.add(name)
        spec = machine.drives[name].spec()
        given = drive_supply(spec if controlling is None else controlling.attached(spec), op)
        if name in full and isinstance(spec, SolidStateSpec):
            return Supply(given.rate, given.cache_bytes - spec.slc_cache)
        return given
    if name in scenario.encrypted:
        encrypted = scenario.encrypted[name]
        given = _of(scenario, devices, encrypted.on, op, counted, full)
        if op == "write" and encrypted.kind == "cryptoloop" and kernel(scenario.kernel).cache.loop_cached:
            # Its writes are in the page cache when they are done.
            return Supply(given.rate, given.cache_bytes + machine.memory)
        return given
    if name in scenario.volumes:
        below = [_of(scenario, devices, device, op, counted, full) for device in scenario.volumes[name].on]
        rate = sum_in_order(each.rate for each in below)
        return Supply(rate, sum_in_order(each.cache_bytes for each in below))
    if name in devices.caches:
        front = devices.caches[name]
        below = [_of(scenario, devices, device, op, counted, full) for device in (front.on, front.cache)]
        held = front.data_bytes(devices.capacity(front.cache)) if op == "read" or front.holds_data else 0
        return Supply(below[0].rate, below[0].cache_bytes + below[1].cache_bytes + held)
    if name in devices.datasets:
        below = [_of(scenario, devices, member, op, counted, full) for member in devices.datasets[name][0].leaves()]
        # What is read or written may stay in memory.
        return Supply(sum_in_order(each.rate for each in below), machine.memory)
    array = scenario.arrays[name]
    controlling = None if array.controller is None else machine.controllers[array.controller]
    members = [_of(scenario, devices, member, op, counted, full, controlling) for member in array.members]
    share = data_share(devices, name) if op == "write" else 1.0
    cached = share * sum_in_order(member.cache_bytes for member in members)
    if controlling is not None:
        cached += controlling.spec().cache
    return Supply(share * sum_in_order(member.rate for member in members), cached)


def data_share(devices: Devices, name: str) -> float:
    """Bytes of data for each byte that the members of an array are written, of whole stripes."""
    array = devices.arrays[name]
    sizes = [devices.capacity(member) for member in array.members]
    capacity = devices.capacity(name)
    # Of mirrors only the size of the smallest member counts, of linear arrays all of them.
    return min(1.0, max(capacity / sum(sizes), capacity / (len(sizes) * min(sizes))))


def drive_supply(spec: DriveSpec | SolidStateSpec, op: str = "") -> Supply:
    """What one drive can give; of reads and writes together unless `op` says which."""
    if isinstance(spec, DriveSpec):
        geometry = mechanics(spec)[0]
        return Supply(spec.actuators * max(geometry.media_rate(edge) for edge in geometry.edges), spec.cache)
    if op != "write":
        return Supply(spec.interface_rate * (1 if op or not spec.full_duplex else 2), spec.write_buffer)
    at_once = spec.dies if spec.programs_at_once is None else min(spec.dies, spec.programs_at_once)
    rate = spec.interface_rate
    if spec.program_time:  # memory has none
        rate = min(rate, at_once * spec.planes * spec.page * spec.bits_per_cell / spec.program_time)
    return Supply(rate, spec.write_buffer + spec.slc_cache)
