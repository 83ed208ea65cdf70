"""Loads of every kind that a file can describe: each is run or refused clearly, repeatable, and loses no I/O."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.tests.scenarios.running.test_random_scenarios import check
from raidsim.tests.scenarios.small_machine import DRIVES, scenario_document

Document = dict[str, Any]

SIZES = ("512B", "4KiB", "12KiB", "64KiB", {"4KiB": "60%", "64KiB": "40%"}, {"512B": "1%", "1536B": "99%"}, {"8KiB": 1})
ARRIVALS = (
    "poisson",
    "constant",
    "bursty",
    {"kind": "bursty", "burst_factor": 2, "burst_share": "50%", "burst_length": "1ms"},
    {"kind": "histogram", "gaps": {"1ms": "50%", "3ms": "50%"}},
    {"kind": "histogram", "times": ["0s", "2ms"]},
)
LOCALITIES = (
    "uniform",
    "zipf",
    {"kind": "zipf", "theta": 0, "block": "1MiB"},
    {"kind": "zipf", "theta": 1, "clustered": True},
    "hot",
    {"kind": "hot", "share": "100%", "of": "1%", "clustered": True},
    "normal",
    {"kind": "normal", "around": "0%", "deviation": "100%"},
)
OPTIONAL: dict[str, st.SearchStrategy[Any]] = {
    "block_size": st.sampled_from(SIZES),
    "read_size": st.sampled_from(SIZES),
    "write_size": st.sampled_from(SIZES),
    "align": st.sampled_from(("512B", "4KiB", "1MiB")),
    "read_share": st.sampled_from(("0%", "50%", "100%")),
    "pattern": st.sampled_from(("random", "sequential", "mixed", "mixed")),
    "sequential_share": st.sampled_from(("0%", "30%", "100%")),
    "run_length": st.sampled_from((2, 7.5, 1000)),
    "locality": st.sampled_from(LOCALITIES),
    "jobs": st.integers(1, 4),
    "start": st.sampled_from(("512B", "1MiB")),
    "span": st.sampled_from(("64KiB", "1MiB", "300MiB")),
}
CLOSED: dict[str, st.SearchStrategy[Any]] = {
    "depth": st.integers(1, 12),
    "think_time": st.sampled_from(("0s", "1ms", "30ms")),
    "think_distribution": st.sampled_from(("constant", "exponential")),
}
OPEN: dict[str, st.SearchStrategy[Any]] = {
    "iops": st.sampled_from((1, 100, 1000)),
    "total_iops": st.sampled_from((1, 100, 1000)),
    "arrivals": st.sampled_from(ARRIVALS),
}
ARRAYS = (
    {"level": "raid5", "members": list(DRIVES)},
    {"level": "raid1", "members": list(DRIVES[:2])},
    {"level": "raid0", "members": list(DRIVES[:3])},
)


def some(fields: dict[str, st.SearchStrategy[Any]]) -> st.SearchStrategy[Document]:
    """Any of the fields."""
    return st.fixed_dictionaries({}, optional=fields)


def loads() -> st.SearchStrategy[Document]:
    """What a load and a phase both may say."""
    return st.tuples(some(OPTIONAL), st.one_of(some(CLOSED), some(OPEN))).map(lambda parts: parts[0] | parts[1])


@st.composite
def documents(draw: st.DrawFn) -> Document:
    """A load on an array or a drive, sometimes with phases."""
    document = scenario_document(kernel="linux-6.1", seed=draw(st.integers(0, 3)))
    workload = {"kind": "load", "warm_up": "10ms", "duration": "80ms", **draw(loads())}
    phases = draw(st.lists(loads(), max_size=2)) if draw(st.integers(0, 2)) == 0 else []
    if phases:
        allowed = ("start", "span")
        workload["phases"] = [
            {"name": f"p{i}", "lasts": "1h", **{key: value for key, value in phase.items() if key not in allowed}}
            for i, phase in enumerate(phases)
        ]
    array = draw(st.sampled_from(ARRAYS))
    workload["targets"] = draw(st.sampled_from((["md0"], ["md0"], ["sdd", "sdc"])))
    arrays = {} if workload["targets"] != ["md0"] else {"md0": array}
    return {**document, "arrays": arrays, "workload": workload}


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_every_load_runs_or_is_refused(document: Document) -> None:
    """Protects people from tracebacks and nonsense, whatever they combine."""
    check(document)


@pytest.mark.slow
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck))
@given(documents())
def test_many_loads_run_or_are_refused(document: Document) -> None:
    """The same, for longer."""
    check(document)
