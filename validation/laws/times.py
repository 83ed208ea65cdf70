"""How long a load has to be simulated for a law to say something about it.

All I/Os outstanding must be served several times before the measurement, so that their beginning does not count, and
some twenty times within it, so that what is under way at its ends is a small part. The time for that is estimated from
the drives' own data, generously, and a law looks at what was really complete.
"""

from __future__ import annotations

from ...model.disk.spec import DriveSpec
from ...scenarios.description.devices import Devices
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.description.workloads import LoadSpec

_WARM, _MEASURED = 3, 12
"""Times that all outstanding I/Os are served before and within the measurement."""
_LEAST_S = {True: 0.3, False: 2e-3}
_MOST_S = {True: 12.0, False: 0.15}
"""Least and most time of a measurement on hard disks (true) and on solid-state drives (false)."""
_FLASH_S, _IN_MEMORY_S = 100e-6, 5e-6
"""Time of a random I/O of a solid-state drive, about, and of a block device in memory."""
_AT_ONCE = 16
"""I/Os that a solid-state drive works on at once, about."""
_AMPLIFICATION = 2
"""Commands and bytes of the members for each one of the load, about."""


def measured_times(spec: ScenarioSpec) -> tuple[float, float]:
    """Warm-up and measurement (s), with two digits."""
    load = spec.workload
    assert isinstance(load, LoadSpec)
    devices = Devices.of(spec)
    below = {name for target in load.targets for name in devices.below(target)}
    drives = [spec.machine.drives[name].spec() for name in sorted(below) if name in spec.machine.drives]
    disks = [each for each in drives if isinstance(each, DriveSpec)]
    if disks:
        each_s = max(each.seek_average + 60.0 / each.rotation for each in disks)
        rate, at_once = len(drives) * min(each.inner_media_rate for each in disks), len(drives)
    else:
        flash = [each for each in drives if not isinstance(each, DriveSpec)]
        each_s = _IN_MEMORY_S if all(each.in_place for each in flash) else _FLASH_S
        rate, at_once = len(drives) * min(each.interface_rate for each in flash) / 2, len(drives) * _AT_ONCE
    if load.job_iops is not None:
        cycle_s = max(each_s, 1.0 / (load.job_iops * load.jobs * len(load.targets)))
    else:
        outstanding = load.depth * load.jobs * len(load.targets)
        bytes_s = _AMPLIFICATION * outstanding * max(map(max, load.sizes)) / rate
        served = 1.0 if load.pattern == "sequential" else max(1.0, _AMPLIFICATION * outstanding / at_once)
        cycle_s = max(bytes_s, each_s * served) + load.think_time
    least, most = _LEAST_S[bool(disks)], _MOST_S[bool(disks)]
    warm_up = min(max(_WARM * cycle_s, least / 2), most / 2)
    return float(f"{warm_up:.2g}"), float(f"{min(max(_MEASURED * cycle_s, least), most):.2g}")
