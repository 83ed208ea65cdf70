"""The machine of the gentoo-2004 study with single mechanisms switched off.

All values are the study's priors, not a fitted profile. A run is described by a :class:`Case`, which is hashable, so
equal runs are simulated once per process.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cache
from typing import Any
from unittest.mock import patch

from raidsim.calibration.study import StudySpec, load_study
from raidsim.model.kernels import KernelSpec, kernel
from raidsim.scenarios import build
from raidsim.scenarios.build import BuiltMachine
from raidsim.scenarios.machine import ArraySpec, MachineSpec
from raidsim.scenarios.run import Prediction, ReadRun, Sample, WriteRun, simulate
from raidsim.scenarios.scenario import DdSpec, ScenarioSpec

MIB = 1 << 20
LINUX_24 = "linux-2.4.26"
LINUX_26 = "linux-2.6.8"
KERNELS = ("linux-2.4.26", "linux-2.6.7", "linux-2.6.8")
ONE, TWO, THREE = ("hde",), ("hde", "hdg"), ("hde", "hdg", "hdi")
SAMPLE = Sample(read_bytes=12 * MIB, write_bytes=4 * MIB, cycles=2)

_FREE_CPU = 1e-6
_WIDE_PCI = 1e9


@cache
def _study() -> StudySpec:
    return load_study("gentoo-2004")


@dataclass(frozen=True)
class Case:
    """One dd run on the study's machine, and what is switched off.

    Attributes
    ----------
    array
        One of the study's arrays, as ``md0``; None for bare drives.
    free_cpu, wide_pci
        A CPU whose work takes no time; a PCI of 1 GB/s.
    prices, queue, read_ahead, raid5, cache
        Other values in the CPU's price list and in sections of the kernel.
    majors, resync
        Block majors of the drives by name; values of the array's rebuild.
    """

    kernel: str
    direction: str
    targets: tuple[str, ...] = ("md0",)
    array: str | None = None
    block_size: int = 512
    free_cpu: bool = False
    wide_pci: bool = False
    prices: tuple[tuple[str, Any], ...] = ()
    sections: tuple[tuple[str, str, Any], ...] = ()
    majors: tuple[tuple[str, int], ...] = ()
    resync: tuple[tuple[str, Any], ...] = ()
    seed: int = 0

    @property
    def scenario(self) -> ScenarioSpec:
        study = _study()
        machine: dict[str, Any] = study.machine.model_dump()
        machine["cpu"]["prices"].update(self.prices)
        if self.wide_pci:
            machine["links"]["pci"]["rate"] = _WIDE_PCI
        for name, major in self.majors:
            machine["drives"][name]["major"] = major
        arrays = {}
        if self.array is not None:
            array = study.arrays[self.array].model_dump()
            if self.resync:
                array["resync"].update(self.resync)
            arrays["md0"] = ArraySpec.model_validate(array)
        return ScenarioSpec(
            name="phenomenon",
            machine=MachineSpec.model_validate(machine),
            kernel=self.kernel,
            path_length=_FREE_CPU if self.free_cpu else 1.0,
            arrays=arrays,
            workload=DdSpec(direction=self.direction, block_size=self.block_size, size=5 << 30, targets=self.targets),
            seed=self.seed,
        )


@cache
def prediction(case: Case, sample: Sample = SAMPLE) -> Prediction:
    base = kernel(case.kernel)
    changes = {}
    for section, name, value in case.sections:
        here = changes.get(section, getattr(base, section))
        changes[section] = here.model_copy(update={name: value})
    changed = base.model_copy(update=changes)
    with patch.object(build, "kernel", lambda name: changed):
        return simulate(case.scenario, sample)


def rate(case: Case, sample: Sample = SAMPLE) -> float:
    return prediction(case, sample).rate / MIB
