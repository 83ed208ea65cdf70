"""Pools whose ARC begins as the described loads leave it in the long run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING

from ....model.core.exact_sums import sum_in_order
from ...description.workloads import LoadSpec
from ...machine.loads import locality, share_of_a_job
from ...machine.machine import BuiltMachine

if TYPE_CHECKING:
    from ....model.zfs.arc.visits import RandomVisits, SequentialVisits
    from ....model.zfs.pool.dataset import Dataset

_USUAL_SHARE, _USUAL_RUN = 0.5, 8.0
"""Of a load with pattern "mixed", unless it says otherwise."""


def settle_pools(machine: BuiltMachine, loads: Sequence[LoadSpec]) -> None:
    """Begin with what these loads have left in the ARC of each pool, unless its description says that it is cold."""
    # Loads share the ARC in proportion to their I/Os: by rate if all have one, or by what they keep outstanding.
    at_rates = all(load.job_iops is not None for load in loads)
    for name, pool in machine.pools.items():
        if machine.scenario.pools[name].arc == "cold":
            continue
        random: dict[str, list[RandomVisits]] = defaultdict(list)
        sequential: dict[str, list[SequentialVisits]] = defaultdict(list)
        for load in loads:
            ios = load.jobs * ((load.job_iops or 0.0) if at_rates else float(load.depth))
            for target in load.targets:
                data = pool.datasets.get(target)
                if data is None:
                    continue
                if load.pattern == "sequential":
                    sequential[target].append(_in_order(load, data, ios))
                else:
                    random[target].append(_anywhere(machine, load, data, ios))
        pool.settle(random, sequential)


def _in_order(load: LoadSpec, data: Dataset, ios: float) -> SequentialVisits:
    from ....model.zfs.arc.visits import SequentialVisits

    share = share_of_a_job(load, data.capacity)
    blocks = ios * load.mean_size / data.block_bytes
    written = sum_in_order(size * part for size, part in load.sizes[1].items()) * (1.0 - load.read_share)
    return SequentialVisits(load.start, share, load.jobs, blocks, written / load.mean_size)


def _anywhere(machine: BuiltMachine, load: LoadSpec, data: Dataset, ios: float) -> RandomVisits:
    from ....model.zfs.arc.visits import RandomVisits

    in_runs, run = 0.0, 1.0
    if load.pattern == "mixed":
        in_runs = _USUAL_SHARE if load.sequential_share is None else load.sequential_share
        run = _USUAL_RUN if load.run_length is None else load.run_length
    visits: dict[int, float] = defaultdict(float)
    written = 0.0
    for write, share in enumerate((load.read_share, 1.0 - load.read_share)):
        for size, part in load.sizes[write].items():
            blocks = share * part * max(1.0, size / data.block_bytes)
            visits[size] += blocks * (1.0 - in_runs)
            visits[int(size * run)] += blocks * in_runs
            written += write * blocks
    total = sum_in_order(visits.values())
    sizes = [(size, blocks / total) for size, blocks in sorted(visits.items()) if blocks]
    span = share_of_a_job(load, data.capacity)
    places = locality(machine.engine, load, data.name, span)
    return RandomVisits(places, load.start, span, ios * total, written / total, sizes)
