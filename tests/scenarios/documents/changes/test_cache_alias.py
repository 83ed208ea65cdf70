"""`cache` is the size of the only cache of a scenario, or leaves it out."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.any_workload import LoadsSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from

CACHED = """
machine: {drives: {slow: {model: WD5000AAKS}, fast: {model: WD5000AAKS}}}
caches: {c0: {on: slow, cache: fast, size: 10GiB}}
"""
LOADS = [
    "workload: {targets: c0}",
    "workload: {targets: [c0]}",
    "workload: {kind: several, loads: [{name: a, targets: c0}, {name: b, targets: slow}]}",
]


def targets(text: str, value: str) -> tuple[list[str], list[str]]:
    """Caches of the scenario, and where its loads go."""
    spec = document_from(CACHED + text, sets=[f"cache={value}"]).spec()
    assert isinstance(spec.workload, LoadSpec)
    return list(spec.caches), list(spec.workload.targets)


@pytest.mark.parametrize("text", LOADS[:2])
def test_without_the_cache_a_load_goes_to_what_it_cached(text: str) -> None:
    """Protects `compare --vary cache=none,...`. Counter-test: with another size the load stays on the cached device."""
    assert targets(text, "none") == ([], ["slow"])
    assert targets(text, "20GiB") == (["c0"], ["c0"])
    spec = document_from(CACHED + text, sets=["cache=20GiB"]).spec()
    assert spec.caches["c0"].size == 20 << 30


def test_each_of_several_loads_is_moved() -> None:
    """Protects the loads of a list."""
    spec = document_from(CACHED + LOADS[2], sets=["cache=none"]).spec()
    assert not spec.caches
    assert isinstance(spec.workload, LoadsSpec)
    assert [list(load.targets) for load in spec.workload.loads] == [["slow"], ["slow"]]


def test_a_scenario_without_a_cache_refuses_it() -> None:
    """Protects from a size that nothing has."""
    with pytest.raises(InputError, match="there is no cache"):
        document_from("machine: {drives: {model: WD5000AAKS, count: 2}}", sets=["cache=1GiB"]).spec()


MIRRORED = """
machine: {drives: {slow: {model: WD5000AAKS}, a: {model: WD5000AAKS}, b: {model: WD5000AAKS}}}
arrays: {md1: {level: raid1, members: [a, b]}}
caches: {c0: {on: slow, cache: md1}}
"""


def test_without_the_cache_its_drives_are_not_bought() -> None:
    """Protects power and cost of the design without one. Counter-test: a drive that is used otherwise stays."""
    without = ["cache=none"]
    assert list(document_from(CACHED, sets=without).spec().machine.drives) == ["slow"]
    found = document_from(MIRRORED, sets=without).spec()
    assert (list(found.machine.drives), list(found.arrays)) == (["slow"], [])
    shared = document_from(CACHED + "workload: {targets: [c0, fast]}", sets=without).spec()
    assert list(shared.machine.drives) == ["slow", "fast"]


@pytest.mark.parametrize("value", ["2GiB writeback bcache", "bcache writeback 2GiB"])
def test_mode_and_kind_are_words_next_to_the_size(value: str) -> None:
    """Protects `compare --vary "cache=none,2GiB,2GiB writeback"`. Counter-test: what is not said stays."""
    found = document_from(CACHED, sets=[f"cache={value}"]).spec().caches["c0"]
    assert (found.kind, found.mode, found.size) == ("bcache", "writeback", 2 << 30)
    kept = document_from(CACHED, sets=["cache=writeback"]).spec().caches["c0"]
    assert (kept.kind, kept.mode, kept.size) == ("dm-cache", "writeback", 10 << 30)
    with pytest.raises(InputError, match="size"):
        document_from(CACHED, sets=["cache=2GiB writeonce"]).spec()
