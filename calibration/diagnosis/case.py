"""A described machine with measured jobs on one of its devices, and the same with something changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...model.core.errors import InputError
from ...scenarios.description.arrays import ArraySpec
from ...scenarios.description.caches import CacheSpec
from ...scenarios.description.devices import Devices
from ...scenarios.description.pools import PoolSpec, pool_devices
from ...scenarios.description.scenario import ScenarioSpec
from ...scenarios.documents.document import Document
from .measured import MeasuredJob

_PRECISION = "10%"
_IOS = 1500
"""I/Os of a job that a run has at most, by the rate that was measured."""
_SHORTEST_S, _LONGEST_S = 0.1, 20.0
_OTHER = "other"
BUFFERED = "buffered"
"""Name of a job that goes through the page cache."""
_BUFFERED_IOS = 20_000
"""I/Os of such a job: its first ones fill the cache, and the others show its speed."""


@dataclass(frozen=True)
class Change:
    """What a cause changes in a case.

    Attributes
    ----------
    values
        New values of the machine and its arrays by dotted path; None removes one.
    load
        New fields of every job's load; None removes one. `direct` tells whether it goes past the page cache, as it does
        unless the job itself tells otherwise; a job that writes does so always.
    other
        A load that is there at the same time; None: there is none.
    """

    values: Mapping[str, Any]
    load: Mapping[str, Any]
    other: Mapping[str, Any] | None = None

    def with_(self, more: Change) -> Change:
        """Both changes."""
        return Change({**self.values, **more.values}, {**self.load, **more.load}, more.other or self.other)


NOTHING = Change({}, {})


@dataclass(frozen=True)
class Form:
    """A cause of a given strength.

    Attributes
    ----------
    change
        What it makes of the machine, or of the jobs.
    member
        The drive that it is about, if it is about one.
    value
        Its strength in words.
    """

    change: Change
    member: str = ""
    value: str = ""


class Case:
    """A machine as it was described, and the device that jobs ran on.

    Parameters
    ----------
    document
        The scenario of the machine; its workload is not used.
    target
        The device; None: the only array, or the only drive.

    Raises
    ------
    InputError
        If there is no such device, or several could be meant.
    """

    def __init__(self, document: Document, target: str | None = None) -> None:
        self.document = document
        self.spec = document.spec()
        self.target = self._chosen(target)

    @classmethod
    def of(cls, document: Document, target: str | None, file: str | None) -> Case:
        """The case of a target; without one, of the device or of the file system that a job's file names.

        Parameters
        ----------
        document, target
            See the class.
        file
            What the job read and wrote: "md0", "zvol/tank/vm", "/tank/home/test".
        """
        spec = document.spec()
        named = [*spec.arrays, *spec.caches, *spec.encrypted, *spec.volumes, *spec.machine.drives]
        if target is None and file in named:
            return cls(document, file)
        path = f"{(file or '').removeprefix('zvol').removeprefix('/')}/"
        inside = [name for name in pool_devices(spec.pools) if path.startswith(f"{name}/")]
        return cls(document, target or max(inside, key=len, default=None))

    def _chosen(self, target: str | None) -> str:
        spec = self.spec
        known = self.devices
        if target is not None:
            if target not in known:
                raise InputError("--target", f"no device {target!r}", f"expected: {', '.join(known)}")
            return target
        built_on = {member for array in spec.arrays.values() for member in array.members}
        built_on |= {member for pool in spec.pools.values() for member in pool.members}
        built_on |= {device for cache in spec.caches.values() for device in cache.devices}
        whole = [*spec.arrays, *pool_devices(spec.pools), *spec.caches]
        candidates = [name for name in whole if name not in built_on] or [*spec.machine.drives]
        if len(candidates) != 1:
            raise InputError(
                "--target",
                f"{len(candidates)} devices that could be meant",
                f"expected: one of {', '.join(candidates)}",
            )
        return candidates[0]

    @property
    def devices(self) -> list[str]:
        """All devices that a job can run on."""
        spec = self.spec
        built = [*spec.caches, *spec.encrypted, *spec.volumes]
        return [*spec.arrays, *pool_devices(spec.pools), *built, *spec.machine.drives]

    @property
    def array(self) -> ArraySpec | None:
        """The array that is loaded, or that is below what is loaded; None of a single drive or a pool."""
        return self.spec.arrays.get(self.array_name)

    @property
    def array_name(self) -> str:
        """Its name; without one that of the target."""
        name, devices = self.target, Devices.of(self.spec)
        while name not in self.spec.arrays and (below := devices.one_below(name)) is not None:
            name = below
        return name if name in self.spec.arrays else self.target

    @property
    def cache(self) -> CacheSpec | None:
        """The SSD cache that is loaded."""
        return self.spec.caches.get(self.target)

    @property
    def pool(self) -> PoolSpec | None:
        """The pool whose volume or file is loaded."""
        return pool_devices(self.spec.pools).get(self.target, (None, None))[0]

    @property
    def drives(self) -> list[str]:
        """The drives below the target."""
        return self._below(self.target)

    def _below(self, name: str) -> list[str]:
        spec = self.spec
        if name in spec.machine.drives:
            return [name]
        pools = pool_devices(spec.pools)
        if name in pools:
            parts: Sequence[str] = pools[name][0].leaves()
        else:
            below = Devices.of(spec).one_below(name)
            if name in spec.arrays:
                parts = spec.arrays[name].members
            elif name in spec.caches:
                parts = spec.caches[name].devices
            else:
                parts = spec.volumes[name].on if below is None else (below,)
        return list(dict.fromkeys(drive for part in parts for drive in self._below(part)))

    def changed(self, change: Change) -> Case:
        """The case with a machine that has been changed."""
        return Case(self.document.changed(change.values, "cause"), self.target) if change.values else self

    def scenario(self, job: MeasuredJob, change: Change = NOTHING) -> ScenarioSpec:
        """The scenario of a job; `InputError` if the change cannot be made, or the job cannot run then."""
        load = {**job.load, **change.load}
        direct = load.pop("direct", job.direct is not False) or load["read_share"] < 1
        load = {name: value for name, value in load.items() if value is not None}
        load |= {"kind": "load", "targets": [self.target]}
        values: dict[str, Any] = {**change.values, "workload": None, "workloads": None}
        there = {
            name: value
            for name, value in values.items()
            if value is not None or name.split(".")[0] in self.document.data
        }
        document = self.document.changed(there, "cause")
        data = dict(document.data)
        if not direct and change.other is None:
            data["workload"] = {"kind": "fio", "job": _buffered_job(load, self.target, longest_s(job))}
        elif change.other is None:
            data["workload"] = {**load, **_times(job)}
        else:
            del load["kind"]
            other = {**change.other, "targets": [self.target], "name": _OTHER}
            data["workloads"], data["workload"] = [{**load, "name": job.name}, other], _times(job)
        return Document(document.name, data, document.positions).spec()


def _times(job: MeasuredJob) -> dict[str, str]:
    """How long a job runs: until its speed is known, but not long where that takes long."""
    return {"precision": _PRECISION, "duration": f"{longest_s(job):.3g}s"}


def _buffered_job(load: Mapping[str, Any], target: str, longest: float) -> str:
    """The same as a job of fio through the page cache, which ends when its speed is known."""
    kept = {"blocksize": load["block_size"], "iodepth": load["depth"], "numjobs": load["jobs"]}
    optional = {"ioengine": "engine", "offset": "start", "size": "span"}
    kept |= {option: load[name] for option, name in optional.items() if load.get(name) is not None}
    kept = {option: str(value).removesuffix("B") for option, value in kept.items()}
    kept |= {"rw": "randread" if load["pattern"] == "random" else "read", "filename": f"/dev/{target}"}
    kept |= {"number_ios": _BUFFERED_IOS, "runtime": f"{max(1, round(1e6 * longest))}us"}
    options = "\n".join(f"{name}={value}" for name, value in kept.items())
    return f"[{BUFFERED}]\n{options}\ntime_based\n"


def longest_s(job: MeasuredJob) -> float:
    """Simulated time (s) of a job at most, by the rate that was measured."""
    return min(_LONGEST_S, max(_SHORTEST_S, _IOS / job.figures["iops"]))


def drives_of(case: Case, rotational: bool) -> Sequence[str]:
    """Drives below the target that are hard disks, or that are not."""
    drives = case.spec.machine.drives
    return [name for name in case.drives if drives[name].entry().rotational == rotational]
