"""A scenario: machine, kernel, arrays and workload; what :func:`raidsim.scenarios.simulate` takes."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from ..model.errors import InputError
from ..model.kernels import KernelName
from ..model.spec import PositiveSize, Size, Spec, refusal
from .machine import ArraySpec, MachineSpec


class DdSpec(Spec):
    """dd processes, one on each target at the same time.

    Attributes
    ----------
    direction
        "read" (``if=TARGET of=/dev/null``) or "write" (``if=/dev/zero of=TARGET``).
    block_size
        dd's ``bs``.
    size
        Bytes that each process moves.
    targets
        Drives or arrays.
    """

    kind: Literal["dd"] = "dd"
    direction: Literal["read", "write"]
    block_size: PositiveSize = 512
    size: PositiveSize
    start: Size = 0
    targets: tuple[str, ...] = Field(min_length=1)

    @field_validator("block_size")
    @classmethod
    def _whole_sectors(cls, value: int) -> int:
        if value % 512:
            raise refusal(f"{value} bytes", "allowed: a multiple of 512 bytes on a raw device")
        return value


class ScenarioSpec(Spec):
    """One simulated situation."""

    name: str
    machine: MachineSpec
    kernel: KernelName
    path_length: float = Field(default=1.0, gt=0)
    arrays: dict[str, ArraySpec] = Field(default_factory=dict)
    workload: DdSpec
    seed: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _connected(self) -> Self:
        check_references(self.machine, self.arrays, self.workload.targets)
        return self


def check_references(machine: MachineSpec, arrays: dict[str, ArraySpec], targets: tuple[str, ...]) -> None:
    """Refuse names that mean nothing.

    Raises
    ------
    PydanticCustomError
        Naming the stranger and what there is.
    """
    for name, array in arrays.items():
        for member in array.members:
            if member not in machine.drives:
                allowed = f"allowed: {', '.join(machine.drives)}"
                raise refusal(f"unknown drive {member!r}", allowed, ("arrays", name, "members"))
        if name in machine.drives:
            raise refusal("a drive has the same name", "allowed: names of their own", ("arrays", name))
        _check_array(machine, name, array)
    for target in targets:
        if target not in machine.drives and target not in arrays:
            known = [*machine.drives, *arrays]
            raise refusal(f"unknown target {target!r}", f"allowed: {', '.join(known)}", ("workload", "targets"))


def _check_array(machine: MachineSpec, name: str, array: ArraySpec) -> None:
    """Refuse an array that these drives cannot form, or that has lost too many of them."""
    sizes = [machine.drives[member].spec().capacity for member in array.members]
    try:
        layout = array.layout(sizes)
    except InputError as error:
        raise refusal(f"{error.place}: {error.found}", error.allowed, ("arrays", name)) from None
    if not layout.tolerates(frozenset(array.members.index(member) for member in array.failed)):
        lost = f"{len(array.failed)} of {len(array.members)} members"
        at = ("arrays", name, "failed")
        raise refusal(f"{array.level} with {lost} failed", "allowed: what the level survives", at)
