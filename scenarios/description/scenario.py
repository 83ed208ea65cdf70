"""A scenario: machine, kernel, arrays and workload; what :func:`raidsim.scenarios.simulate` takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Self

from pydantic import Field, model_validator

from ...model.core.errors import InputError
from ...model.crypt.ciphers import cipher
from ...model.disk.mechanics.geometry import SECTOR
from ...model.files.description import PositiveSize, Spec, refusal
from ...model.files.quantities import format_rate, format_size
from ...model.kernels import KernelName, kernel
from ...model.layouts import LEVELS, levels_where
from ...model.raid.read_balance import READ_BALANCE
from ...model.zfs.map.capacity import PoolCapacity
from .any_workload import IdleSpec, LoadsSpec, Workload
from .arrays import ArraySpec, EncryptedSpec, FailureSpec, VolumeSpec
from .caches import CacheSpec
from .devices import Devices
from .file_systems import FileSystems, FileSystemSpec
from .machine import MachineSpec
from .network import NetworkSpec
from .pools import PoolSpec
from .programs import ProgramsSpec
from .tuning import ServiceSpec, VirtualMemorySpec, ZfsParameters, check_queues
from .workloads import DdSpec, LoadSpec


def target_of(scenario: ScenarioSpec, named: str | None = None) -> str:
    """The device that `named` means, or that the scenario's own workload goes to.

    Raises
    ------
    InputError
        If there is no such device, if the host does not see it, or if the workload goes to several.
    """
    devices = Devices.of(scenario)
    seen = [name for name in devices.names if name not in devices.hidden]
    allowed = f"expected: {', '.join(seen)}"
    if named is not None:
        if named not in seen:
            hidden = devices.hidden.get(named)
            found = f"unknown device {named!r}" if hidden is None else f"{named}, which is behind {hidden}"
            raise InputError("--target", found, allowed)
        return named
    workload = scenario.workload
    if isinstance(workload, ProgramsSpec):
        own = list(dict.fromkeys(spec.on for spec in scenario.file_systems.values()))
    else:
        own = list(dict.fromkeys(workload.targets))
    if len(own) != 1:
        found = f"not given, and the scenario's workload goes to {f'{len(own)} devices' if own else 'no device'}"
        raise InputError("--target", found, allowed)
    return own[0]


RENAMED = {"front": "network"}
"""Former keys of a scenario, and their names now."""


class ScenarioSpec(Spec):
    """One simulated situation."""

    name: str
    """Shown with the results."""
    machine: MachineSpec
    """The hardware."""
    kernel: KernelName
    """Name in the catalogue of kernels."""
    path_length: float = Field(default=1.0, gt=0)
    """Factor on all CPU prices: a kernel whose code is longer or shorter than the one they were measured on."""
    arrays: dict[str, ArraySpec] = Field(default_factory=dict)
    """By name."""
    encrypted: dict[str, EncryptedSpec] = Field(default_factory=dict)
    """Devices behind a cipher, by name."""
    volumes: dict[str, VolumeSpec] = Field(default_factory=dict)
    """Partitions and logical volumes, by name."""
    pools: dict[str, PoolSpec] = Field(default_factory=dict)
    """Pools of ZFS, by name; their volumes and files are devices: `tank/vm`."""
    caches: dict[str, CacheSpec] = Field(default_factory=dict)
    """SSD caches in front of other devices, by name."""
    zfs_parameters: ZfsParameters = Field(default_factory=ZfsParameters)
    """Module parameters of ZFS."""
    file_systems: dict[str, FileSystemSpec] = Field(default_factory=dict)
    """By mount point."""
    read_ahead: PositiveSize | None = None
    """Largest read-ahead window (``blockdev --setra``, ``vfs.read_max``); the kernel's unless given."""
    vm: VirtualMemorySpec | None = None
    """Dirty memory, as ``sysctl vm`` sets it."""
    network: NetworkSpec | None = None
    """A network between the load and the machine; without one the load runs on the machine itself."""
    workload: Workload
    """What loads the machine."""
    failures: tuple[FailureSpec, ...] = ()
    """Members that are lost during the run."""
    service: ServiceSpec = ServiceSpec()
    """How the drives are looked after over the years, for the risk of losing data."""
    seed: int = Field(default=0, ge=0)
    """Of all random numbers."""

    @model_validator(mode="before")
    @classmethod
    def _known_by_its_name(cls, data: Any) -> Any:
        """Name the new key to those who write an old one."""
        for old, new in RENAMED.items():
            if isinstance(data, Mapping) and old in data:
                raise refusal(f"the key {old!r}", f"expected: {new!r}, its new name", (old,))
        return data

    @model_validator(mode="after")
    def _connected(self) -> Self:
        known = kernel(self.kernel)
        devices = Devices.of(self)
        if self.pools and not known.zfs:
            found = f"{self.kernel} with pools: OpenZFS 2.3 does not run on it"
            raise refusal(found, "expected: Linux 4.18 or later", ("kernel",))
        devices.check()
        devices.check_users()
        FileSystems(self.file_systems, devices).check(self.workload)
        if isinstance(self.workload, DdSpec | LoadSpec):
            devices.check_workload(self.workload, known.cache.reach if self.workload.kind == "dd" else int)
        devices.check_failures(self.failures)
        if self.workload.kind == "dd" and not known.cache.raw_devices:
            found = f"dd on a device of {self.kernel}, which caches only files"
            raise refusal(found, "expected: kind load", ("workload", "kind"))
        if isinstance(self.workload, LoadsSpec):
            for i, load in enumerate(self.workload.loads):
                devices.check_workload(load, int, ("workload", "loads", i))
            for i, (_, _, part) in enumerate(self.workload.parts()):
                for j, load in enumerate(part.loads):
                    if load not in self.workload.loads:
                        devices.check_workload(load, int, ("workload", "phases", i, "workloads", j))
        if isinstance(self.workload, IdleSpec):
            self._check_idle(self.workload.targets)
        for name, array in self.arrays.items():
            self._check_kernel(array, name)
        check_queues(self.machine, self.kernel, devices.hidden)
        for name, layer in self.encrypted.items():
            self._check_crypt(layer, name)
        for name in self.caches:
            if not known.queue.multiqueue:
                found = f"an SSD cache on {self.kernel}"
                raise refusal(found, "expected: with Linux 3.10 or later", ("caches", name))
        if self.vm is not None:
            self.vm.check(self.kernel)
        if self.network is not None:
            if self.workload.kind not in ("load", "several", "fio"):
                found = f"{self.workload.kind}, which runs on the machine itself, with a network"
                raise refusal(found, "expected: kind load or fio, or no network", ("workload", "kind"))
            self.network.check(self.machine)
        return self

    def _check_idle(self, targets: tuple[str, ...]) -> None:
        """Refuse a run in which nothing would happen."""
        busy = self.busy_arrays
        if not busy:
            found = "idle, and no array that rebuilds or is checked"
            raise refusal(found, "expected: with rebuilding, resync or failures", ("workload", "kind"))
        for target in targets:
            if target not in busy:
                found = f"{target!r}, which does nothing by itself"
                raise refusal(found, f"expected: {', '.join(busy)}", ("workload", "targets"))

    def _check_crypt(self, layer: EncryptedSpec, name: str) -> None:
        """Refuse what the kernel's dm-crypt cannot be told."""
        known = kernel(self.kernel).crypt
        if layer.sector > SECTOR and not known.large_sectors:
            found = f"a sector of {format_size(layer.sector)} on {self.kernel}"
            raise refusal(found, "expected: with dm-crypt of Linux 4.12 or later", ("encrypted", name, "sector"))
        if layer.cipher is not None and cipher(layer.cipher).vector and not known.vector_aes:
            found = f"{layer.cipher} on {self.kernel}"
            raise refusal(found, "expected: with Linux 6.10 or later", ("encrypted", name, "cipher"))
        for field in ("no_read_workqueue", "no_write_workqueue"):
            if getattr(layer, field) and not known.skips_queues:
                at = ("encrypted", name, field)
                raise refusal(f"{field} on {self.kernel}", "expected: with dm-crypt of Linux 5.9 or later", at)
        for field in ("same_cpu_crypt", "submit_from_crypt_cpus"):
            if getattr(layer, field) and not known.queues:
                at = ("encrypted", name, field)
                raise refusal(f"{field} on {self.kernel}", "expected: with dm-crypt of Linux 4.0 or later", at)
        if layer.allow_discards and not kernel(self.kernel).discards:
            found, at = f"allow_discards on {self.kernel}", ("encrypted", name, "allow_discards")
            raise refusal(found, "expected: with dm-crypt of Linux 3.1 or later", at)

    def _check_kernel(self, array: ArraySpec, name: str) -> None:
        """Refuse what the kernel, or the controller, does not have."""
        known = kernel(self.kernel)
        if LEVELS[array.level].has_parity and array.controller is None and not known.parity:
            offered = levels_where(lambda level: not level.has_parity)
            found = f"{array.level} on {self.kernel}, which runs none"
            raise refusal(found, f"expected: {', '.join(offered)}, or a controller", ("arrays", name, "level"))
        if array.journal is not None and (array.controller is not None or not known.raid5.journals):
            found = f"a journal on {array.controller or self.kernel}"
            raise refusal(found, "expected: with md of Linux 4.4 or later", ("arrays", name, "journal"))
        if array.group_thread_cnt and not known.raid5.worker_groups:
            found = f"group_thread_cnt on {self.kernel}"
            raise refusal(found, "expected: with md of Linux 3.12 or later", ("arrays", name, "group_thread_cnt"))
        if array.devices_handle_discard_safely and not known.discards:
            found = f"devices_handle_discard_safely on {self.kernel}"
            allowed = "expected: with md of Linux 3.7 or later"
            raise refusal(found, allowed, ("arrays", name, "devices_handle_discard_safely"))
        if array.bitmap is not None and not known.write_intent:
            found = f"a bitmap on {self.kernel}"
            raise refusal(found, "expected: with md of Linux 2.6.14 or later", ("arrays", name, "bitmap"))
        if array.needs_raid10_driver and known.raid10 is None:
            found = f"raid10 on {self.kernel}, whose md has none"
            raise refusal(found, "expected: algorithm striped-mirrors", ("arrays", name, "level"))
        tuned = array.resync
        if tuned is not None and tuned.action != "recover" and not known.checks:
            found = f"a {tuned.action} on {self.kernel}, which has none"
            raise refusal(found, "expected: recover", ("arrays", name, "resync", "action"))
        if (
            tuned is not None
            and tuned.action == "reshape"
            and not (known.queue.multiqueue and known.raid5.hold is None)
        ):
            found = f"a reshape on {self.kernel}"
            raise refusal(found, "expected: with md of Linux 4.4 or later", ("arrays", name, "resync", "action"))
        if tuned is not None:
            least = known.resync.speed_min if tuned.speed_min is None else tuned.speed_min
            most = known.resync.speed_max if tuned.speed_max is None else tuned.speed_max
            if most < least:
                found = f"{format_rate(most)}, below the minimum of {format_rate(least)}, which comes first"
                at = ("arrays", name, "resync", "speed_min" if tuned.speed_max is None else "speed_max")
                raise refusal(found, "expected: speed_min up to speed_max", at)
            self._check_stripe_heads(name, array, tuned.stripe_heads)
        usual = "md's RAID 10" if array.needs_raid10_driver else known.raid1.balance
        balance = usual if array.balance is None else array.balance.name
        if array.write_mostly and not (balance in READ_BALANCE and READ_BALANCE[balance].knows_write_mostly):
            knowing = ", ".join(policy.name for policy in READ_BALANCE.values() if policy.knows_write_mostly)
            found = f"write_mostly with {balance}, which reads all mirrors alike"
            raise refusal(found, f"expected: with balance {knowing}", ("arrays", name, "write_mostly"))

    def _check_stripe_heads(self, name: str, array: ArraySpec, heads: int | None) -> None:
        """Refuse a stripe cache that has grown where there is none, or none that grows, or below its own size."""
        if heads is None:
            return
        driver, at = kernel(self.kernel).raid5, ("arrays", name, "resync", "stripe_heads")
        level = LEVELS[array.level]
        if not level.has_parity or level.has_groups or array.controller is not None:
            raise refusal(
                f"{heads} on {array.controller or array.level}", "expected: on md's raid4, raid5 or raid6", at
            )
        least = array.stripe_cache or driver.heads
        most = driver.most_heads if driver.grows else least
        if not least <= heads <= most:
            raise refusal(f"{heads} on {self.kernel}", f"expected: {least} to {max(least, most)}", at)

    def with_each(self, change: Callable[[ArraySpec | PoolSpec], ArraySpec | PoolSpec]) -> Self:
        """The same with every array and pool changed."""
        changed = {
            field: {name: change(each) for name, each in group.items()}
            for field, group in (("arrays", self.arrays), ("pools", self.pools))
        }
        return self.model_copy(update=changed)

    @property
    def rebuilds(self) -> bool:
        """Whether a member of an array or a pool is being rebuilt, or an array reshaped."""
        groups: tuple[Mapping[str, ArraySpec | PoolSpec], ...] = (self.arrays, self.pools)
        return any(each.moves_data for group in groups for each in group.values())

    @property
    def busy_arrays(self) -> list[str]:
        """Arrays and pools with something to do without the workload: a rebuild, a check, or a member that fails."""
        hurt = {failure.member for failure in self.failures}
        return [
            *(
                name
                for name, array in self.arrays.items()
                if array.rebuilding or array.resync is not None or hurt.intersection(array.members)
            ),
            *(name for name, pool in self.pools.items() if pool.action is not None),
        ]

    def capacity(self, device: str) -> int:
        """Usable bytes of a device."""
        return Devices.of(self).capacity(device)

    def pool_capacity(self, pool: str) -> PoolCapacity:
        """What a pool holds."""
        return self.pools[pool].capacity(Devices.of(self).capacity, self.zfs_parameters.spa_slop_shift)

    def file_system_blocks(self, array: str) -> set[int]:
        """Block sizes of the file systems that are on an array or on what is built of it."""
        devices = Devices.of(self)
        mounted = self.file_systems.values()
        return {spec.settings().block for spec in mounted if array in devices.below(spec.on)}
