"""What a network in front of a storage server does to it, each with its mechanism taken away."""

from __future__ import annotations

import json
from typing import Any

import pytest

from raidsim.model.links.catalogue import link_model
from raidsim.model.network.protocols import protocol
from raidsim.model.statistics.usage import limit
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_bottleneck import run_without_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

KIB = 1 << 10
SEQUENTIAL: dict[str, Any] = {
    "pattern": "sequential",
    "block_size": 256 * KIB,
    "depth": 16,
    "warm_up": "0.05s",
    "duration": "0.15s",
}
RANDOM: dict[str, Any] = {"block_size": 4 * KIB, "span": "50GB", "warm_up": "0.05s", "duration": "0.5s"}


def served(network: dict[str, Any] | None, drives: int = 4, cores: int = 16, **load: Any) -> ScenarioSpec:
    """SAS disks striped, and the load on a client, or without a network on the server itself."""
    data = {
        "machine": {
            "model": "storage-server",
            "cpu": {"model": "server-core", "cores": cores},
            "drives": {"model": "Exos-10E2400-2400GB", "count": drives},
        },
        "arrays": {"md0": "raid0"},
        "network": network,
        "workload": {"kind": "load", **load},
    }
    return document_from(json.dumps(data)).spec()


def limiting(prediction: Prediction) -> str:
    """Names of the parts that limit."""
    found = limit(prediction.usages)
    assert found is not None
    return " ".join(part.name for part in found.parts)


@pytest.mark.parametrize("name", ["iscsi", "nfs3", "nfs4", "nvme-tcp"])
def test_gigabit_ethernet_carries_117_megabytes(name: str) -> None:
    """Sequential reads of four disks come at the rate of the wire: 1,448 of 1,538 bytes of 125 MB/s."""
    read = simulate(served({"protocol": name, "port": "1GbE"}, **SEQUENTIAL))
    assert read.rate == pytest.approx(125e6 * 1448 / 1538, rel=0.03)
    assert read.bottleneck.startswith("link network: 1GbE, 118 MB/s to the clients")


def test_without_the_network_the_disks_are_faster() -> None:
    """The counter-test to the one above, and what the run without the bottleneck says; jumbo frames carry 5 % more."""
    scenario = served({"protocol": "nvme-tcp", "port": "1GbE"}, **SEQUENTIAL)
    read = simulate(scenario)
    local = simulate(served(None, **SEQUENTIAL))
    assert local.rate > 0.7e9
    without = run_without_bottleneck(scenario, read)
    assert without is not None
    assert without.what == "link network without limit"
    assert without.prediction.rate == pytest.approx(local.rate, rel=0.2)
    jumbo = simulate(served({"protocol": "nvme-tcp", "port": {"model": "1GbE", "mtu": 9000}}, **SEQUENTIAL))
    assert jumbo.rate / read.rate == pytest.approx(8948 / 9038 / (1448 / 1538), rel=0.02)


def test_ten_gigabit_is_less_than_a_shelf_of_disks() -> None:
    """Nine disks give 2.2 GB/s to the server; across 10GbE 1.18 GB/s arrive, across 100GbE all of it."""
    ports = ("10GbE", "100GbE")
    ten, hundred = (
        simulate(served({"protocol": "nvme-tcp", "port": port}, 9, **{**SEQUENTIAL, "depth": 32})) for port in ports
    )
    assert ten.rate == pytest.approx(link_model("10GbE").rate, rel=0.03)
    assert limiting(ten) == "network"
    assert hundred.rate > 1.5 * ten.rate
    assert "disk0" in limiting(hundred)


def test_one_io_at_a_time_waits_for_the_round_trip() -> None:
    """Latency at one outstanding is that of the server itself and the network's, which a free protocol does not add."""
    free = {"request_cpu": "0s", "client": "0s", "send_rate": "1TB/s", "reply": "0B"}
    network = {"protocol": "iscsi", "port": "100GbE", "round_trip": "5ms"}
    known = protocol("iscsi")
    local, real, none = (
        simulate(served(each, depth=1, **{**RANDOM, "duration": "4s"})).latencies["read"]["mean_s"]
        for each in (None, network, {**network, "round_trip": "0s", "overrides": free})
    )
    added = 5e-3 + known.client + known.request_cpu + 4 * KIB / known.send_rate
    assert real - none == pytest.approx(added, rel=0.1)
    assert none == pytest.approx(local, rel=0.05)


def test_a_sync_export_waits_for_the_medium_and_an_async_one_does_not() -> None:
    """A small write to NFS takes a turn of the platter if the export is sync, and a round trip if it is async."""
    times = {
        export: simulate(
            served({"protocol": "nfs3", "port": "10GbE", "export": export}, 2, read_share=0, depth=1, **RANDOM)
        ).latencies["write"]["mean_s"]
        for export in ("sync", "async")
    }
    assert times["sync"] > 2e-3
    assert 50e-6 < times["async"] < 200e-6


def test_few_nfsd_leave_disks_idle() -> None:
    """Two threads keep two of four disks at work; with 64 (and in the run without the bottleneck) the disks limit."""
    network = {"protocol": "nfs3", "port": "10GbE"}
    scenario = served({**network, "threads": 2}, depth=64, **RANDOM)
    few = simulate(scenario)
    assert few.bottleneck.startswith("2 threads of the NFS server (all in use")
    without = run_without_bottleneck(scenario, few)
    assert without is not None
    assert without.what == "8 threads of the NFS server"
    assert without.prediction.rate > 1.5 * few.rate
    many = simulate(served({**network, "threads": 64}, depth=64, **RANDOM))
    assert many.rate > 2 * few.rate
    assert "threads" not in many.bottleneck


def test_the_servers_cpu_limits_small_io_on_a_fast_network() -> None:
    """Reads that cost a core a millisecond each: a thousand a second of one core; with 16 the disks limit."""
    network = {"protocol": "nvme-tcp", "port": "100GbE", "overrides": {"request_cpu": "1ms"}}
    one, many = (simulate(served(network, cores=cores, depth=64, **RANDOM)) for cores in (1, 16))
    assert sum(one.iops.values()) == pytest.approx(1000, rel=0.05)
    assert limiting(one) == "cpu"
    assert sum(many.iops.values()) > 1.3 * sum(one.iops.values())
    assert "disk0" in limiting(many)


@pytest.mark.parametrize("export", ["sync", "async"])
def test_md_merges_what_an_nfs_server_writes(export: str) -> None:
    """A stream of writes over NFS reaches the disks of RAID 5 in large commands, stable or not.

    Protects from forcing each block of a stable write through the disks' caches by itself: such blocks cannot merge.
    """
    spec = served({"protocol": "nfs4", "port": "25GbE", "threads": 16, "export": export}, **SEQUENTIAL, read_share=0)
    arrays = {name: array.model_copy(update={"level": "raid5"}) for name, array in spec.arrays.items()}
    found = simulate(spec.model_copy(update={"arrays": arrays}))
    disks = [usage for usage in found.usages if usage.kind == "disk"]
    assert sum(disk.bytes for disk in disks) / sum(disk.reads + disk.writes for disk in disks) > 16 * KIB
