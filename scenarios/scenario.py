"""A scenario: machine, kernel, arrays and workload; what :func:`raidsim.scenarios.simulate` takes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Self

from pydantic import Field, model_validator

from ..model.errors import InputError
from ..model.kernels import KernelName, kernel
from ..model.spec import Spec, refusal
from .arrays import ArraySpec, EncryptedSpec, FailureSpec
from .machine import MachineSpec
from .workloads import Workload

_LOST_WHOLE = ("linear", "raid0", "raid01", "raid3")
"""Levels without spare members of their own, or whose driver the model cannot interrupt."""


class ScenarioSpec(Spec):
    """One simulated situation."""

    name: str
    machine: MachineSpec
    kernel: KernelName
    path_length: float = Field(default=1.0, gt=0)
    arrays: dict[str, ArraySpec] = Field(default_factory=dict)
    encrypted: dict[str, EncryptedSpec] = Field(default_factory=dict)
    workload: Workload
    failures: tuple[FailureSpec, ...] = ()
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _connected(self) -> Self:
        devices = Devices(self.machine, self.arrays, self.encrypted)
        devices.check()
        devices.check_targets(self.workload.targets)
        devices.check_users()
        for i, failure in enumerate(self.failures):
            devices.check_failure(failure, ("failures", i))
        if self.workload.kind == "dd" and not kernel(self.kernel).cache.raw_devices:
            found = f"dd on a device of {self.kernel}, which caches only files"
            raise refusal(found, "allowed: kind load", ("workload", "kind"))
        for name, array in self.arrays.items():
            if array.journal is not None and (
                array.controller is not None or kernel(self.kernel).raid5.hold is not None
            ):
                found = f"a journal on {array.controller or self.kernel}"
                raise refusal(found, "allowed: with md of Linux 4.4 or later", ("arrays", name, "journal"))
            if array.needs_raid10_driver and kernel(self.kernel).raid10 is None:
                found = f"raid10 on {self.kernel}, whose md has none"
                raise refusal(found, "allowed: algorithm striped-mirrors", ("arrays", name, "level"))
        return self


class Devices:
    """All devices of a scenario by name, and whether they fit together.

    Parameters
    ----------
    machine
        Whose drives they are built of.
    arrays, encrypted
        What is built.
    """

    def __init__(
        self,
        machine: MachineSpec,
        arrays: Mapping[str, ArraySpec],
        encrypted: Mapping[str, EncryptedSpec] | None = None,
    ) -> None:
        self.machine = machine
        self.arrays = arrays
        self.encrypted = encrypted or {}
        self._capacities: dict[str, int] = {}

    @property
    def names(self) -> list[str]:
        """Every device that can be loaded or built upon."""
        return [*self.machine.drives, *self.arrays, *self.encrypted]

    def check(self) -> None:
        """Refuse devices that mean nothing or cannot be.

        Raises
        ------
        PydanticCustomError
            Naming what is wrong, and what is allowed.
        """
        for group, other in (("arrays", self.encrypted), ("encrypted", self.arrays)):
            for name in getattr(self, group):
                if name in self.machine.drives or name in other:
                    raise refusal("another device has the same name", "allowed: names of their own", (group, name))
        for name, layer in self.encrypted.items():
            self._check_known((layer.on,), "encrypted", name, "on")
        for name, array in self.arrays.items():
            self._check_known(array.members, "arrays", name, "members")
            self._check_drives(array, name)
        for name in self.arrays:
            self.capacity(name)
            self._check_failed(name)

    def _check_known(self, members: Iterable[str], group: str, name: str, field: str) -> None:
        for member in members:
            if member not in self.names:
                raise refusal(f"unknown device {member!r}", f"allowed: {', '.join(self.names)}", (group, name, field))
            if name in self._below(member, ()):
                raise refusal(f"{name} is built of itself", "allowed: devices below it", (group, name, field))

    def _below(self, name: str, above: tuple[str, ...]) -> set[str]:
        """`name` and all it is built of."""
        if name in above:
            return {name}
        found = {name}
        members: tuple[str, ...] = ()
        if name in self.arrays:
            members = self.arrays[name].members
        elif name in self.encrypted:
            members = (self.encrypted[name].on,)
        for member in members:
            found |= self._below(member, (*above, name))
        return found

    def _check_drives(self, array: ArraySpec, name: str) -> None:
        """Spares, journal and a controller's members are drives."""
        named = {"spares": array.spares, "journal": (array.journal,) if array.journal else ()}
        if array.controller is not None:
            if array.controller not in self.machine.controllers:
                known = ", ".join(self.machine.controllers) or "none"
                found = f"unknown controller {array.controller!r}"
                raise refusal(found, f"allowed: {known}", ("arrays", name, "controller"))
            self._check_controller(array, array.controller, name)
            named["members"] = array.members
        for field, devices in named.items():
            for device in devices:
                if device not in self.machine.drives:
                    found = f"{device!r} is no drive"
                    raise refusal(found, f"allowed: {', '.join(self.machine.drives)}", ("arrays", name, field))

    def _check_controller(self, array: ArraySpec, controller: str, name: str) -> None:
        """Refuse levels that the controller does not offer, and more drives than it has ports."""
        spec = self.machine.controllers[controller].spec()
        if array.level not in spec.levels:
            found = f"{array.level} on {spec.model}"
            raise refusal(found, f"allowed: {', '.join(spec.levels)}", ("arrays", name, "level"))
        drives = sum(len(other.members) for other in self.arrays.values() if other.controller == controller)
        if drives > spec.ports:
            found = f"{drives} drives on {spec.model}"
            raise refusal(found, f"allowed: up to {spec.ports}", ("arrays", name, "members"))

    def capacity(self, name: str) -> int:
        """Usable bytes of a device."""
        if name in self.machine.drives:
            return self.machine.drives[name].spec().capacity
        if name in self.encrypted:
            return self.capacity(self.encrypted[name].on)
        if name not in self._capacities:
            array = self.arrays[name]
            try:
                layout = array.layout([self.capacity(member) for member in array.members])
            except InputError as error:
                raise refusal(f"{error.place}: {error.found}", error.allowed, ("arrays", name)) from None
            self._capacities[name] = layout.capacity
        return self._capacities[name]

    def _check_failed(self, name: str) -> None:
        """Refuse an array that has lost too many members, and spares that are too small."""
        array = self.arrays[name]
        sizes = [self.capacity(member) for member in array.members]
        failed = frozenset(array.members.index(member) for member in array.failed)
        if not array.layout(sizes).tolerates(failed):
            lost = f"{len(array.failed)} of {len(array.members)} members"
            at = ("arrays", name, "failed")
            raise refusal(f"{array.level} with {lost} failed", "allowed: what the level survives", at)
        for spare in array.spares:
            if self.capacity(spare) < min(sizes):
                found = f"spare {spare} of {self.capacity(spare)} bytes"
                raise refusal(found, f"allowed: at least {min(sizes)}", ("arrays", name, "spares"))

    def check_targets(self, targets: Iterable[str]) -> None:
        """Refuse a workload on something that does not exist."""
        for target in targets:
            if target not in self.names:
                at = ("workload", "targets")
                raise refusal(f"unknown target {target!r}", f"allowed: {', '.join(self.names)}", at)

    def check_users(self) -> None:
        """Refuse a device that two others are built of."""
        user: dict[str, str] = {}
        for name, array in self.arrays.items():
            for device in (*array.members, *array.spares, *((array.journal,) if array.journal else ())):
                self._take(user, device, name, ("arrays", name, "members"))
        for name, layer in self.encrypted.items():
            self._take(user, layer.on, name, ("encrypted", name, "on"))

    @staticmethod
    def _take(user: dict[str, str], device: str, name: str, at: tuple[str, ...]) -> None:
        if device in user:
            raise refusal(f"{device} is part of {user[device]} already", "allowed: each device in one place", at)
        user[device] = name

    def check_failure(self, failure: FailureSpec, at: tuple[str | int, ...]) -> None:
        """Refuse a failure of something that is in no array with redundancy."""
        holders = [array for array in self.arrays.values() if failure.member in array.members]
        if not holders:
            members = sorted({member for array in self.arrays.values() for member in array.members})
            raise refusal(f"{failure.member!r} is in no array", f"allowed: {', '.join(members) or 'none'}", at)
        if holders[0].level in _LOST_WHOLE:
            found = f"{failure.member} in {holders[0].level}, all of which is lost with it"
            raise refusal(found, "allowed: a member of an array that survives", at)
