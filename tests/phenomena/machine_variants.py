"""The machine of the gentoo-2004 study, with single mechanisms switched off.

All values are the study's priors, never a fitted profile. A :class:`Case` is hashable, so that a run which several
tests compare with is simulated once in a process.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.kernels import KernelSpec, kernel
from raidsim.model.statistics import Usage
from raidsim.scenarios.description.arrays import ArraySpec
from raidsim.scenarios.description.machine import MachineSpec
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import DdSpec
from raidsim.scenarios.machine import plan as build
from raidsim.scenarios.machine.machine import BuiltMachine
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
KERNELS = ("linux-2.4.26", "linux-2.6.7", "linux-2.6.8")
LINUX_24, LINUX_26 = "linux-2.4.26", "linux-2.6.8"
CACHE_BLOCK = {"linux-2.4.26": 1 * KIB, "linux-2.6.7": 4 * KIB, "linux-2.6.8": 4 * KIB}

ONE, TWO, THREE = ("hde",), ("hde", "hdg"), ("hde", "hdg", "hdi")
ARRAY = ("md0",)

SHORT = Sample(read_bytes=32 * MIB, write_bytes=12 * MIB, cycles=3)
"""Enough for a rate within a few percent."""
BULK = Sample(write_bytes=48 * MIB, cycles=2)
"""For writes at disk speed: several times a drive's buffer."""
LONG = Sample(read_bytes=64 * MIB, write_bytes=12 * MIB, cycles=2)
"""For rebuilds, whose thread sleeps a quarter of a second at a time: three times as long moves no ratio by a tenth,
but that of 2.4's smallest maxima when reading, and takes twice the time.
"""

Change = tuple[str, Any]
"""A field and its other value."""


@cache
def _study() -> StudySpec:
    return load_study("gentoo-2004")


@dataclass(frozen=True)
class Case:
    """dd over the whole 5 GiB of each target, on the study's machine but for what is switched off.

    Attributes
    ----------
    array
        The study's array that stands as ``md0``.
    free_cpu, wide_pci
        A CPU whose work takes no time; a PCI of 1 GB/s.
    prices
        Other values in the CPU's price list.
    kernel_changes
        Other values in the kernel: ("read_ahead.parity_chunks", 64).
    resync
        Other values of the array's rebuild.
    major
        Block major of all drives, if not their own.
    """

    kernel: str
    direction: str
    targets: tuple[str, ...] = ARRAY
    array: str | None = None
    block_size: int = 512
    free_cpu: bool = False
    wide_pci: bool = False
    prices: tuple[Change, ...] = ()
    kernel_changes: tuple[Change, ...] = ()
    resync: tuple[Change, ...] = ()
    major: int | None = None
    seed: int = 0

    def scenario(self) -> ScenarioSpec:
        """The scenario; the kernel's changes are not part of it."""
        machine: dict[str, Any] = _study().machine.model_dump()
        machine["cpu"]["prices"].update(self.prices)
        if self.wide_pci:
            machine["links"]["pci"]["rate"] = 1e9
        if self.major is not None:
            for drive in machine["drives"].values():
                drive["major"] = self.major
        return ScenarioSpec(
            name="phenomenon",
            machine=MachineSpec.model_validate(machine),
            kernel=self.kernel,
            path_length=1e-6 if self.free_cpu else 1.0,
            arrays={} if self.array is None else {"md0": self._array_spec(self.array)},
            workload=DdSpec.model_validate(
                {
                    "direction": self.direction,
                    "block_size": self.block_size,
                    "size": 5 * GIB,
                    "targets": self.targets,
                }
            ),
            seed=self.seed,
        )

    def _array_spec(self, name: str) -> ArraySpec:
        array: dict[str, Any] = _study().arrays[name].model_dump()
        if self.resync:
            array["resync"] |= dict(self.resync)
        return ArraySpec.model_validate(array)

    def kernel_spec(self) -> KernelSpec:
        """The kernel with its changes."""
        spec = kernel(self.kernel)
        for path, value in self.kernel_changes:
            name, field = path.split(".")
            section = getattr(spec, name)
            assert field in type(section).model_fields, path
            spec = spec.model_copy(update={name: section.model_copy(update={field: value})})
        return spec


@contextmanager
def _its_kernel(case: Case) -> Iterator[None]:
    with patch.object(build, "kernel", lambda _: case.kernel_spec()):
        yield


@cache
def prediction(case: Case, sample: Sample = SHORT) -> Prediction:
    """What :func:`raidsim.scenarios.running.simulate.simulate` says."""
    with _its_kernel(case):
        return simulate(case.scenario(), sample)


def rate(case: Case, sample: Sample = SHORT) -> float:
    """MiB/s of all programs together."""
    return prediction(case, sample).rate / MIB


def usage(case: Case, name: str, sample: Sample = SHORT) -> Usage:
    """How busy one part of the machine was."""
    return next(usage for usage in prediction(case, sample).usages if usage.name == name)


def built(case: Case) -> BuiltMachine:
    """The machine itself, before anything runs."""
    with _its_kernel(case):
        return BuiltMachine(case.scenario())


def ran(case: Case, size: int) -> BuiltMachine:
    """The machine after its programs have moved `size` bytes each, from a cold start and to the end."""
    machine = built(case)
    programs = []
    for dd in machine.dds:
        dd.size = size
        programs.append(machine.engine.spawn(dd.read() if case.direction == "read" else dd.write()))
    machine.engine.run(machine.engine.all_of(programs))
    return machine
