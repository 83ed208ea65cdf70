"""What changed in Linux from 2.6.32 to today, each change in the kernels before and after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import raidsim.model.kernels
from raidsim.model.files.yaml_files import read_yaml
from raidsim.model.kernels import KernelSpec, kernel, kernel_names
from raidsim.model.kernels.lock_section import LockSpec
from raidsim.model.tasks.task_plug import PlugLimits

FOLDER = Path(raidsim.model.kernels.__file__).parent / "catalogue"
LINE = ["2.6.20", "2.6.32", "3.10", "4.18", "4.19", "5.4", "5.10", "5.14", "5.15", "6.1", "6.6", "6.8", "6.12", "6.18"]
"""The kernels of kernel.org in the order in which they came out."""


def names(locks: Iterable[LockSpec]) -> list[str]:
    """What locks are called."""
    return [lock.name for lock in locks]


def raid10_balance(known: KernelSpec) -> str:
    """Read balance of RAID 10."""
    assert known.raid10 is not None
    return known.raid10.balance


CHANGES: dict[str, tuple[Callable[[KernelSpec], Any], dict[str, Any]]] = {
    "limit of dirty memory": (lambda known: known.cache.limit, {"2.6.20": 0.4, "2.6.32": 0.2}),
    "a flusher that yields": (lambda known: known.cache.flusher_yields, {"2.6.20": True, "2.6.32": False}),
    "throttle": (lambda known: known.cache.throttle, {"2.6.20": "limit", "3.10": "balance"}),
    "read-ahead": (
        lambda known: known.read_ahead.policy,
        {"2.6.20": "2.6.11", "2.6.32": "2.6.23", "4.18": "6.1"},
    ),
    "optimal I/Os": (lambda known: known.read_ahead.optimal_ios, {"2.6.20": None, "5.10": 2}),
    "largest requests": (lambda known: known.read_ahead.rotational_requests, {"2.6.20": 0, "6.18": 2}),
    "the task's plug": (lambda known: known.queue.task_plug, {"2.6.20": False, "3.10": True}),
    "what a plug holds": (
        lambda known: known.queue.plug_limits,
        {
            "2.6.20": None,
            "3.10": PlugLimits(16, 16, 0, True, False),
            "4.18": PlugLimits(16, 16, 131072, True, False),
            "5.4": PlugLimits(16, 16, 131072, False, False),
            "5.15": PlugLimits(32, 64, 131072, False, False),
            "6.1": PlugLimits(32, 64, 131072, False, True),
            "6.18": PlugLimits(32, 64, 131072, False, False),
        },
    ),
    "resync and the array's own I/O": (
        lambda known: (known.resync.busy_by, known.resync.io_depth),
        {"2.6.20": ("members", 0), "6.18": ("array", 32)},
    ),
    "single queue": (
        lambda known: known.queue.single_queue_drivers,
        {"2.6.20": False, "3.10": True, "4.19": False},
    ),
    "scheduler": (lambda known: known.queue.scheduler, {"2.6.20": "cfq", "4.19": "mq-deadline"}),
    "largest request": (
        lambda known: known.queue.max_request >> 10,
        {"2.6.20": 512, "4.18": 1280, "6.18": 4096},
    ),
    "throttling": (lambda known: known.queue.throttle_rotational, {"2.6.20": 0.0, "4.18": 0.075}),
    "growing cache": (lambda known: known.raid5.grows, {"2.6.20": False, "4.18": True}),
    "worker groups": (lambda known: known.raid5.worker_groups, {"2.6.20": False, "4.18": True}),
    "journals": (lambda known: known.raid5.journals, {"2.6.20": False, "4.18": True}),
    "RAID 6": (lambda known: known.raid5.raid6_reconstructs, {"2.6.20": True, "4.18": False}),
    "RAID 1": (lambda known: known.raid1.balance, {"2.6.20": "md-2.6", "3.10": "md-3.6", "4.18": "md-6.1"}),
    "barrier": (lambda known: known.raid1.barrier, {"2.6.20": "md-2.6", "4.18": "md-6.1"}),
    "RAID 10": (raid10_balance, {"2.6.20": "md-2.6", "3.10": "md-3.0-raid10", "5.4": "md-6.1-raid10"}),
    "resync": (lambda known: known.resync.when_busy, {"2.6.20": "nap", "4.18": "drain"}),
    "lock of RAID 5's reads": (
        lambda known: names(known.locks.parity_read),
        {"2.6.20": [], "3.10": ["device_lock"], "5.14": ["active_aligned_reads"]},
    ),
    "lock of RAID 10": (
        lambda known: names(known.locks.mirror10)[:1],
        {"2.6.20": [], "3.10": ["resync_lock"], "6.1": ["nr_pending"]},
    ),
    "wake-ups of RAID 1": (
        lambda known: names(known.locks.mirror)[-1:],
        {"2.6.20": [], "3.10": ["wait_barrier"], "6.6": []},
    ),
    "counter of an array": (lambda known: names(known.locks.array), {"2.6.20": [], "3.10": ["active_io"], "6.6": []}),
    "queue of RAID 5's writes": (
        lambda known: "wait_for_overlap" in names(known.locks.parity_write),
        {"2.6.20": False, "4.18": True, "6.12": False},
    ),
    "writes of parts of blocks": (lambda known: known.unaligned_alone, {"2.6.20": True, "6.6": False}),
    "discards": (lambda known: known.discards, {"2.6.20": False, "3.10": True}),
    "dm-crypt's queues": (lambda known: known.crypt.queues, {"2.6.20": False, "4.18": True}),
    "without queues": (lambda known: known.crypt.skips_queues, {"2.6.20": False, "5.10": True}),
    "vector AES": (lambda known: known.crypt.vector_aes, {"2.6.20": False, "6.12": True}),
}
"""What a kernel has, and since which of the line."""


@pytest.mark.parametrize("change", CHANGES)
def test_each_change_is_where_it_came(change: str) -> None:
    """Protects each change from being in a kernel before it, and from being lost in one after it."""
    value, since = CHANGES[change]
    expected = None
    for version in LINE:
        expected = since.get(version, expected)
        assert value(kernel(f"linux-{version}")) == expected, version


def test_what_came_between_adds_up_to_6_1() -> None:
    """Protects the chain: 5.15, which says only what changed since 2.6.20, does as 6.1, whose file has every section.

    Left out are texts, and what only schedulers have that neither kernel has.
    """

    def sections(name: str) -> dict[str, Any]:
        whole = kernel(name).model_dump(exclude={"version"})
        for section in whole.values():
            if isinstance(section, dict):
                section.pop("source")
        for unused in ("quantum", "idles_on_solid", "task_history"):
            whole["queue"].pop(unused)
        whole["queue"].pop("plug_newest_first")  # 5.16
        whole["raid5"].pop("lowest_first")  # 6.0
        whole["locks"].pop("mirror10")  # 6.1
        return whole

    assert sections("linux-5.15") == sections("linux-6.1")
    assert sections("linux-5.4") != sections("linux-6.1")


@pytest.mark.parametrize("name", kernel_names())
def test_what_a_file_changes_has_a_source_of_its_own(name: str) -> None:
    """Protects numbers from the source of another kernel: a section that says something says where it is from."""
    data, _ = read_yaml(FOLDER / f"{name}.yaml")
    assert isinstance(data, dict)
    for key, section in data.items():
        if isinstance(section, dict):
            assert section.get("source"), key


@pytest.mark.parametrize("name", [name for name in kernel_names() if name.startswith("linux-")])
def test_a_file_names_an_older_kernel_or_none(name: str) -> None:
    """Protects the chain of `as`: the one before, of the line, and no circle."""
    data, _ = read_yaml(FOLDER / f"{name}.yaml")
    base = data.get("as")
    if name.removeprefix("linux-") in LINE[1:] and name != "linux-6.1":
        assert base is not None
        assert LINE.index(base.removeprefix("linux-")) < LINE.index(name.removeprefix("linux-"))
