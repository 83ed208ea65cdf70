"""A CPU does a second of work in a second: what keeps it busy limits, on machines of every kind drawn at random."""

from __future__ import annotations

import random
from typing import Any

import pytest

from raidsim.model.tasks.cpu import Cpu
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

LEVELS = {
    "linux-2.4.26": ("raid0", "raid1", "raid4", "raid5"),
    "linux-2.6.8": ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10"),
    "linux-6.1": ("raid0", "raid1", "raid4", "raid5", "raid6", "raid10"),
    "freebsd-6.2": ("raid0", "raid1", "raid3"),
}
LOADS = (
    "pattern: random, jobs: 4, depth: 4",
    "pattern: sequential, block_size: 1MiB, read_share: 0%, jobs: 2, depth: 4",
    "pattern: sequential, block_size: 1MiB, read_share: 100%, jobs: 2, depth: 4",
    "pattern: random, block_size: 64KiB, iops: 2000",
    "pattern: random, iops: 1, read_share: 100%",
)
WARM_S, SPAN_S = 1.0, 3.0
QUEUED_S = 0.15
"""Work that is booked and not yet done, at the end more than at the beginning: parity of the rows under way."""
TEXT = """
kernel: {kernel}
machine:
  model: server
  memory: 1GiB
  resident: 100MiB
  cpu:
    name: slow
    clock: 1GHz
    cores: {cores}
    prices: {{write_call: 2us, read_call: 2us, page: 2us, bio: 4us, command: 20us, switch: 3us, clone: 2us, stripe: 2us,
      copy_rate: 200MB/s, xor_rate: {xor}MB/s, source: a test}}
  links: {{pci: {{rate: 800MB/s, source: a test}}}}
  drives: {{model: WD5000AAKS, count: 5}}
  {controllers}
arrays: {{md0: {{level: {level}, chunk: 64KiB{options}}}}}
workload: {{kind: load, targets: [md0], {load}, warm_up: 0s, duration: 1h}}
"""
REBUILDS = ", failed: [disk0], rebuilding: [disk0], resync: {speed_min: 1GB/s, speed_max: 1GB/s}"
CONTROLLER = "controllers: {raid: {model: Gateway-840, links: [pci], overrides: {xor_rate: %dMB/s}}}"


def _machine(**values: Any) -> BuiltMachine:
    """A machine of `TEXT`, with the resync of its array at work."""
    machine = BuiltMachine(document_from(TEXT.format(**values)).spec())
    for resync in machine.resyncs.values():
        machine.engine.spawn(resync.run())
    return machine


def _drawn(seed: int) -> dict[str, Any]:
    draw = random.Random(seed)
    kernel = draw.choice(list(LEVELS))
    level, xor = draw.choice(LEVELS[kernel]), draw.choice((20, 100))
    controlled = level in ("raid0", "raid5") and kernel != "freebsd-6.2" and draw.random() < 0.5
    options = REBUILDS if level != "raid0" and draw.random() < 0.6 else ""
    return {
        "kernel": kernel,
        "level": level,
        "xor": xor,
        "cores": draw.choice((1, 1, 2, 4)),
        "options": options + (", controller: raid" if controlled else ""),
        "controllers": CONTROLLER % xor if controlled else "",
        "load": draw.choice(LOADS),
    }


def _share(machine: BuiltMachine, cpu: Cpu, before_s: float) -> float:
    """Work of all cores since `before_s` seconds of it over the time there was, but for what may be queued."""
    return (cpu.busy_s - before_s - QUEUED_S) / SPAN_S / cpu.cores


@pytest.mark.parametrize("seed", range(24))
def test_no_cpu_does_more_than_there_is_time(seed: int) -> None:
    """Protects every rate that a CPU limits: work that nobody waits for would be done in no time."""
    machine = _machine(**_drawn(seed))
    machine.engine.run_to(WARM_S)
    before = [cpu.busy_s for cpu in machine.cpus]
    machine.engine.run_to(WARM_S + SPAN_S)
    for cpu, before_s in zip(machine.cpus, before, strict=True):
        assert _share(machine, cpu, before_s) <= 1.0, f"{cpu.name}, {_drawn(seed)}"


@pytest.mark.parametrize("xor", [20, 2000])
@pytest.mark.parametrize(
    ("kernel", "level", "controlled"),
    [
        ("linux-2.4.26", "raid5", False),
        ("linux-2.6.8", "raid5", False),
        ("linux-2.6.8", "raid6", False),
        ("linux-6.1", "raid5", False),
        ("linux-2.6.8", "raid5", True),
        ("freebsd-6.2", "raid3", False),
    ],
)
def test_a_slow_xor_slows_the_rebuild(kernel: str, level: str, controlled: bool, xor: int) -> None:
    """Protects the rate of a rebuild: XOR of three or four sources at 20 MB/s rebuilds 5 to 7 MB/s, on four cores too.

    The counter-test is a fast XOR on the same machine.
    """
    rebuilds = REBUILDS
    if kernel == "linux-6.1":  # with few heads at once, the first of them are written soon
        rebuilds = rebuilds.replace("resync: {", "resync: {stripe_heads: 256, ")
    machine = _machine(
        kernel=kernel,
        level=level,
        xor=xor,
        cores=4,
        options=rebuilds + (", controller: raid" if controlled else ""),
        controllers=CONTROLLER % xor if controlled else "",
        load=LOADS[-1],
    )
    (resync,) = machine.resyncs.values()
    machine.engine.run_to(3.0)
    mb_s = resync.done_bytes / 3.0 / 1e6
    if xor == 20:
        assert 0.7 * 20 / 4 <= mb_s <= 1.1 * 20 / 3
    else:
        assert mb_s > 25
