"""No cliffs: neighboring block sizes and chunks give about the same throughput, or more."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ...model.layouts import LEVELS
from .law import Law, Violation
from .trial import Trial, clearly_below

SHARE = 0.75
"""Least throughput at the next block size or chunk, as a share of that before."""
_LARGEST = 8 << 20
_LARGEST_CHUNK = 4 << 20
_TIMES = 4
"""All I/Os outstanding are served this many times at least; fewer tell the beginning."""
_MOST_BYTES = 128 << 20
"""More bytes outstanding take long to simulate, and say no more."""


def larger_blocks(trial: Trial) -> Mapping[str, Any] | None:
    """Blocks of twice the size; None where the load has none of one size, or they would be too large."""
    load = trial.closed
    if load is None or isinstance(load.block_size, dict) or load.read_size or load.write_size or load.align:
        return None
    size = 2 * load.block_size
    outstanding = load.depth * load.jobs * len(load.targets)
    if size > _LARGEST or size * outstanding > _MOST_BYTES or (load.span is not None and load.span < size * load.jobs):
        return None
    return {"workload.block_size": f"{size}B"}


def _larger_reads(trial: Trial) -> Mapping[str, Any] | None:
    return larger_blocks(trial) if trial.load is not None and trial.load.read_share == 1 else None


def _larger_chunk(trial: Trial) -> Mapping[str, Any] | None:
    """Chunks of twice the size under random I/Os that fit one anyway."""
    load, arrays = trial.closed, trial.spec.arrays
    if load is None or load.pattern != "random" or load.span is not None or len(arrays) != 1:
        return None
    (name, array), largest = next(iter(arrays.items())), max(map(max, load.sizes))
    if not LEVELS[array.level].has_chunk or largest > array.chunk or 2 * array.chunk > _LARGEST_CHUNK:
        return None
    return {f"arrays.{name}.chunk": f"{2 * array.chunk}B"}


def _step(name: str, what: str, vary: Callable[[Trial], Mapping[str, Any] | None], applies: str) -> Law:
    def check(trial: Trial) -> Iterator[Violation]:
        values = vary(trial)
        after = None if values is None else trial.varied(values)
        if after is None:
            return
        load = trial.closed
        assert load is not None
        if min(trial.outcome.ios, after.outcome.ios) < _TIMES * load.depth * load.jobs * len(load.targets):
            return
        before, found = trial.outcome.rate, after.outcome.rate
        if clearly_below(found, before, SHARE):
            yield Violation(
                name.removesuffix("-step"),
                f"{found.mean / 1e6:,.4g} MB/s with {what} of twice the size",
                f"{SHARE:.0%} of {before.mean / 1e6:,.4g} MB/s or more",
            )

    return Law(
        name,
        f"Throughput in bytes does not fall by a quarter with {what} of twice the size.",
        applies,
        f"{1 - SHARE:.0%}, and the 90 % intervals of both figures doubled: rows and limits of a command split "
        "differently",
        check,
        lambda trial: trial.outcome.iops > 0 and not trial.spec.failures and vary(trial) is not None,
        runs=1,
    )


BLOCK_STEP = _step(
    "block-step", "blocks", _larger_reads, "reads with a depth and blocks of one size; larger writes fill caches sooner"
)
CHUNK_STEP = _step("chunk-step", "chunks", _larger_chunk, "random loads with a depth on an array, of I/Os in a chunk")
