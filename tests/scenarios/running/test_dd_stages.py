"""A dd that is longer than the cells with one bit are large: stage after stage, each at its own rate."""

from __future__ import annotations

import pytest

from raidsim.model.drives.catalogue import drive
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.bit_caches import Fill, next_fill
from raidsim.scenarios.running.base.supply import drive_supply
from raidsim.scenarios.running.simulate import simulate

SPEC = drive("Samsung-980-PRO-1TB")
GIB = 1 << 30
SCENARIO = """
machine: {model: server, memory: 2GiB, resident: 256MiB, drives: {model: Samsung-980-PRO-1TB, count: 1, state: fresh}}
workload: {kind: dd, direction: write, size: 300GiB, block_size: 1MiB, targets: [disk0]}
"""


def rate(size: str, *sets: str) -> float:
    """Bytes/s of a dd."""
    return simulate(document_from(SCENARIO, sets=[f"workload.size={size}", *sets]).spec()).rate


def test_a_long_write_ends_at_the_media() -> None:
    """Protects long writes: the rate of one bit for what these cells take, and that of all bits for the rest."""
    short, long, longer = rate("50GiB"), rate("300GiB"), rate("800GiB")
    assert isinstance(SPEC, SolidStateSpec)
    media = drive_supply(SPEC, "write").rate
    assert short > 4e9
    assert long <= 2.54e9
    assert longer <= 2.17e9
    cached = SPEC.slc_cache / short
    for size, found in ((300, long), (800, longer)):
        rest = (size * GIB - SPEC.slc_cache) / (size * GIB / found - cached)
        assert rest == pytest.approx(media, rel=0.06)
    assert longer > media


def test_without_such_cells_length_does_not_matter() -> None:
    """The counter-test: a drive whose cells all take three bits writes at one rate."""
    sets = ("machine.drives.model=Samsung-PM9A3-3840GB",)
    assert rate("300GiB", *sets) == pytest.approx(rate("100GiB", *sets), rel=0.01)


def test_drives_that_are_written_slowly_never_fill() -> None:
    """Cells that are emptied as fast as they fill take any length: four drives behind a host that is slower."""
    sets = ("machine.drives.count=4", "arrays.md0.level=raid0", "workload.targets=[md0]")
    assert rate("900GiB", *sets) == pytest.approx(rate("300GiB", *sets), rel=0.02)


def test_the_next_stage() -> None:
    """Drives that fill at nearly the same time are one stage; nothing fills after the end, or before the last stage."""
    assert next_fill({}, 0.0, 100.0) is None
    assert next_fill({"a": 50.0, "b": 52.0, "c": 90.0}, 0.0, 100.0) == Fill(50.0, frozenset({"a", "b"}))
    assert next_fill({"c": 40.0}, 50.0, 100.0) == Fill(50.0, frozenset({"c"}))
    assert next_fill({"c": 100.0}, 50.0, 100.0) is None
