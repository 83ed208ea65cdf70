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
