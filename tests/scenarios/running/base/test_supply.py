"""What media and caches can give: for each level the share of the members that holds data, and who exceeds it."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.controller.catalogue import controller, controller_names
from raidsim.model.disk.spec import mechanics
from raidsim.model.drives.catalogue import hard_disk
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.supply import Supply, supply
from raidsim.scenarios.running.dd_run import Write
from raidsim.scenarios.running.simulate import simulate
from raidsim.tests.scenarios.small_machine import DRIVES, MIB, QUICK, scenario, scenario_document

DISK = hard_disk("WD2500JB")
MEDIA = mechanics(DISK)[0].media_rate(0)


@pytest.mark.parametrize(
    ("array", "writes"),
    [
        ({"level": "linear"}, 4),
        ({"level": "raid0"}, 4),
        ({"level": "raid1"}, 1),
        ({"level": "raid4"}, 3),
        ({"level": "raid5"}, 3),
        ({"level": "raid6"}, 2),
        ({"level": "raid10"}, 2),
        ({"level": "raid10", "algorithm": "f2"}, 2),
        ({"level": "raid10", "copies": 4}, 1),
    ],
)
def test_arrays_write_as_many_members_as_hold_data(array: dict[str, Any], writes: int) -> None:
    """Protects the bound of writes: four members of 64 MB/s take the data of as many as hold no copies and no parity,
    and so do their caches; a read may use all of them.
    """
    spec = scenario(array={"members": list(DRIVES), **array}, targets=("md0",), kernel="linux-6.1")
    found = supply(spec, ["md0"], "write")
    assert found.rate == pytest.approx(writes * MEDIA, rel=1e-3)
    assert found.cache_bytes == pytest.approx(writes * DISK.cache, rel=1e-3)
    assert supply(spec, ["md0"], "read").rate == pytest.approx(4 * MEDIA)


def test_memory_and_controllers_are_caches() -> None:
    """Protects the caches of the bound: memory where data may stay in it, and the cache of a controller."""
    spec = scenario()
    plain, with_memory = (supply(spec, ["sda"], "write", memory) for memory in (False, True))
    assert with_memory.cache_bytes - plain.cache_bytes == spec.machine.memory
    name = controller_names()[0]
    built = document_from(
        repr(
            {
                "name": "controller",
                "kernel": "linux-6.1",
                "machine": {
                    "model": "server",
                    "memory": "4GiB",
                    "controllers": {"c0": {"model": name}},
                    "drives": {"model": "WD5000AAKS", "count": 4},
                },
                "arrays": {"md0": {"level": "raid5", "controller": "c0"}},
                "workload": {"kind": "dd", "direction": "write", "size": "1GiB", "targets": ["md0"]},
            }
        )
    ).spec()
    drives = 3 * hard_disk("WD5000AAKS").cache
    assert supply(built, ["md0"], "write").cache_bytes == pytest.approx(drives + controller(name).cache, rel=1e-3)


def test_what_is_named_twice_counts_once() -> None:
    """Protects two programs on one disk: they have the media rate of one."""
    spec = scenario(targets=("sda", "sdb"))
    assert supply(spec, ["sda", "sda"], "write") == supply(spec, ["sda"], "write")
    assert supply(spec, ["sda", "sdb"], "write").rate == pytest.approx(2 * MEDIA)


def test_an_excess_is_one_sentence() -> None:
    """Protects the reader of a rate that cannot be: who reports it, how much, in which time, and what could be."""
    found = Supply(100e6, 50e6)
    assert found.excess("dd", 150e6, 1.0) is None
    text = found.excess("dd", 200e6, 1.0)
    assert text == ("dd: 200.0 MB/s is more than media and caches can give in 1 s, 150.0 MB/s; simulate more of it")


def test_a_rate_beyond_the_bound_makes_the_sample_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the check itself: a dd whose rate cannot be is simulated with more bytes, and says so if that does not
    help.
    """
    asked: list[int] = []

    def too_fast(write: Write) -> Any:
        asked.append(write._sample.write_bytes)
        run, seconds = real(write)
        return run, seconds / (10 if len(asked) <= wrong else 1)

    real = Write.seconds
    monkeypatch.setattr(Write, "seconds", too_fast)
    spec = scenario(direction="write", block_size=4096)
    wrong = 1
    assert not simulate(spec, QUICK).notes
    assert asked == [4 * MIB, 16 * MIB]
    asked.clear()
    wrong = 9
    (note,) = simulate(spec, QUICK).notes
    assert note.startswith("dd: ")
    assert asked == [4 * MIB, 16 * MIB, 64 * MIB]


@pytest.mark.parametrize("read_share", ["0%", "100%"])
def test_sequential_loads_are_checked(read_share: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects loads: one in order is within the bound, one that cannot be says so; one at random is not judged."""
    load = {"kind": "load", "targets": ["sda"], "block_size": "64KiB", "warm_up": "0s", "duration": "1s", "depth": 4}
    document = scenario_document() | {"workload": load | {"pattern": "sequential", "read_share": read_share}}
    spec = validate(ScenarioSpec, document)
    assert not simulate(spec).notes
    monkeypatch.setattr("raidsim.scenarios.running.simulate.supply", lambda *_: Supply(1e6, 0))
    (note,) = simulate(spec).notes
    assert note.startswith("the load: ")
    again = document | {"workload": load | {"pattern": "random", "read_share": read_share}}
    assert not simulate(validate(ScenarioSpec, again)).notes
