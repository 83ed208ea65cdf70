"""What several drives share limits them all: uplinks of expanders, slots, adapters; each with the limit taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.model.links.catalogue import link_model
from raidsim.model.statistics.usage import limit
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_bottleneck import run_without_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

DRIVES = 6
KIB = 1 << 10


def shelf(links: dict[str, Any], **load: Any) -> ScenarioSpec:
    """Six SAS disks striped behind these links, and a sequential reader unless the load says otherwise."""
    usual = {"pattern": "sequential", "block_size": 256 * KIB, "depth": 48}
    data = {
        "machine": {
            "model": "storage-server",
            "links": {"uplink": None, "hba": None, **links},
            "port": {"links": list(links)},
            "drives": {"model": "Exos-10E2400-2400GB", "count": DRIVES},
        },
        "arrays": {"md0": "raid0"},
        "workload": {"kind": "load", **usual, "warm_up": "0.1s", "duration": "0.2s", **load},
    }
    return document_from(json.dumps(data)).spec()


def limiting(prediction: Prediction) -> str:
    """Names of the parts that limit."""
    found = limit(prediction.usages)
    assert found is not None
    return " ".join(part.name for part in found.parts)


@pytest.mark.parametrize(
    ("narrow", "wide", "words"),
    [
        ({"uplink": "SAS 3Gb/s x1"}, {"uplink": "SAS 12Gb/s x4"}, "link uplink: SAS 3Gb/s x1, 288 MB/s to the host"),
        ({"pcie": "PCIe 2.0 x1"}, {"pcie": "PCIe 3.0 x8"}, "link pcie: PCIe 2.0 x1, 451 MB/s to the host"),
    ],
)
def test_the_narrowest_shared_link_limits(narrow: dict[str, str], wide: dict[str, str], words: str) -> None:
    """Six drives read more than a narrow link moves, and it is named; behind a wide one the drives limit."""
    read = simulate(shelf(narrow))
    (name,) = narrow.values()
    assert read.rate == pytest.approx(link_model(name).rate, rel=0.08)
    assert read.bottleneck.startswith(words)
    free = simulate(shelf(wide))
    assert free.rate > 1.3 * read.rate
    assert "disk0" in limiting(free)


def test_of_two_links_in_a_row_the_narrower_one_is_named() -> None:
    """An adapter behind an uplink has time left; in the run without the uplink the drives have none."""
    scenario = shelf({"uplink": "SAS 3Gb/s x1", "hba": "9300-8i"})
    read = simulate(scenario)
    assert limiting(read) == "uplink"
    (hba,) = (usage for usage in read.usages if usage.name == "hba")
    assert hba.utilization < 0.2
    assert [way.name for way in hba.ways] == ["to the host", "commands"]
    without = run_without_bottleneck(scenario, read)
    assert without is not None
    assert without.what == "link uplink without limit"
    assert without.prediction.rate > 1.3 * read.rate
    assert "disk0" in limiting(without.prediction)


def test_an_adapter_runs_out_of_commands_before_it_runs_out_of_bytes() -> None:
    """Small reads that the drives have in their buffers: 600 commands a second, of which few bytes come; a rate of
    a million (the counter-test) leaves the drives to limit.
    """
    slow = {"hba": {"rate": "7GB/s", "duplex": True, "command_rate": 600, "source": "made up"}}
    fast = {"hba": {**slow["hba"], "command_rate": 1e6}}
    load = {"pattern": "random", "block_size": 4 * KIB, "depth": 64}
    few = simulate(shelf(slow, **load))
    assert sum(few.iops.values()) == pytest.approx(600, rel=0.05)
    assert few.bottleneck.startswith("link hba: 600 commands a second")
    many = simulate(shelf(fast, **load))
    assert sum(many.iops.values()) > 900
    assert "disk0" in limiting(many)


def test_reads_and_writes_at_once_exceed_one_direction() -> None:
    """Half reads, half writes move more through a full-duplex uplink than it moves one way; through a link of the same
    rate that takes turns (the counter-test) they do not.
    """
    load = {"read_share": 0.5, "block_size": 64 * KIB, "depth": 32}
    narrow = {"rate": "80MB/s", "source": "made up"}
    both = simulate(shelf({"uplink": {**narrow, "duplex": True}}, **load))
    turns = simulate(shelf({"uplink": narrow}, **load))
    assert both.rate > 1.5 * 80e6
    assert turns.rate < 1.02 * 80e6


def flash(switch: str, **load: Any) -> ScenarioSpec:
    """Four NVMe drives behind a switch, read and written sequentially."""
    data = {
        "machine": {
            "cpu": {"model": "server-core", "cores": 32},
            "links": {"switch": switch},
            "port": {"links": ["switch"]},
            "drives": {"model": "Samsung-PM9A3-3840GB", "count": 4},
        },
        "workload": {"kind": "load", "pattern": "sequential", "block_size": 128 * KIB, "depth": 16, **load},
    }
    return document_from(json.dumps({**data, "workload": {**data["workload"], **BRIEFLY}})).spec()


BRIEFLY = {"warm_up": "5ms", "duration": "10ms"}


def test_flash_behind_a_switch_is_as_fast_as_its_uplink() -> None:
    """Four NVMe drives fill eight lanes of the third generation; of sixteen of the fourth they leave time."""
    narrow, wide = simulate(flash("PCIe 3.0 x8")), simulate(flash("PCIe 4.0 x16"))
    assert narrow.rate == pytest.approx(link_model("PCIe 3.0 x8").rate, rel=0.03)
    assert narrow.bottleneck.startswith("link switch: PCIe 3.0 x8, 7.1 GB/s to the host")
    assert wide.rate > 2 * narrow.rate
    assert "disk0" in limiting(wide)


def test_flash_reads_and_writes_through_an_uplink_at_once() -> None:
    """Reads and writes together move more than the uplink does one way, which reads alone (the counter-test) do not."""
    both, alone = (simulate(flash("PCIe 3.0 x4", read_share=share)) for share in (0.5, 1.0))
    assert both.rate > 1.4 * link_model("PCIe 3.0 x4").rate
    assert alone.rate < 1.01 * link_model("PCIe 3.0 x4").rate
