"""What limits behind an encrypted device is named: a core, a pool of workers, or the one thread."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.statistics.usage import ENCRYPTION, LOCK, THREAD, limit
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.questions.without_bottleneck import remove_bottleneck
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.simulate import simulate

TEXT = """
kernel: {kernel}
machine:
  model: nvme-server
  drives: {{model: Intel-P5510-7680GB, count: 8, state: sequential}}
  cpu: {{model: server-core, cores: 48, nodes: {nodes}}}
arrays: {{md0: {{level: raid0}}}}
encrypted: {{secret: {{on: md0, {crypt}}}}}
workload: {{kind: load, targets: [secret], warm_up: 2ms, duration: 6ms, {load}}}
"""
SMALL = "block_size: 4KiB, depth: 64"
MANY = f"{SMALL}, jobs: 24, engine: io_uring"


def scenario(crypt: str, load: str, nodes: int = 1, kernel: str = "linux-6.1") -> Any:
    """An array of eight fast drives behind dm-crypt."""
    return document_from(TEXT.format(crypt=crypt, load=load, nodes=nodes, kernel=kernel)).spec()


def named(prediction: Prediction) -> str:
    """What limits, in words."""
    found = limit(prediction.usages)
    assert found is not None
    assert found.saturated, found.words
    return found.words


@pytest.mark.parametrize("depth", [64, 128, 256])
def test_the_core_that_decrypts_is_named(depth: int) -> None:
    """Protects no_read_workqueue: more I/Os outstanding of one job read no more, and its core is said to be full."""
    found = simulate(scenario("cipher: aes-xts, no_read_workqueue: true", f"block_size: 4KiB, depth: {depth}"))
    assert named(found) == "core cpu4 (100 % busy)"


def test_a_pool_of_workers_limits_small_ios_of_many_jobs() -> None:
    """Protects the ceiling of the default work queue: half a million I/Os a second for each memory node."""
    found = {nodes: simulate(scenario("cipher: aes-xts", MANY, nodes)) for nodes in (1, 2)}
    assert found[1].iops["read"] == pytest.approx(450_000, rel=0.15)
    assert found[2].iops["read"] == pytest.approx(2 * found[1].iops["read"], rel=0.15)
    assert "kcryptd's pool lock of secret" in named(found[1])
    spec = scenario("cipher: aes-xts", MANY)
    removed = remove_bottleneck(spec, found[1].usages)
    assert removed is not None
    assert removed.scenario.encrypted["secret"].same_cpu_crypt
    assert simulate(removed.scenario).iops["read"] > 2 * found[1].iops["read"]


def test_large_reads_are_not_limited_by_the_pool() -> None:
    """Counter-test: of 1 MiB each, cores or drives limit."""
    found = simulate(scenario("cipher: aes-xts", "jobs: 24, block_size: 1MiB, depth: 4"))
    assert not [usage for usage in found.usages if usage.kind == LOCK and "kcryptd" in usage.name]


def test_the_thread_of_cryptoloop_is_named() -> None:
    """Protects the latency of I/Os from being said to limit while the one thread of a device has no time left."""
    crypt = "kind: cryptoloop, rate: 1GB/s, source: made up"
    found = simulate(scenario(crypt, f"{SMALL}, read_share: 100%", kernel="linux-2.4.26"))
    assert named(found).startswith("thread secret")


def test_cores_that_encrypt_are_listed() -> None:
    """Protects the table of utilizations: the share of all cores that encryption takes, next to that of the CPU."""
    usages = simulate(scenario("cipher: aes-xts", f"{SMALL}, jobs: 4")).usages
    (cpu,) = (usage.utilization for usage in usages if usage.kind == "cpu")
    (crypt,) = (usage for usage in usages if usage.kind == ENCRYPTION)
    assert crypt.name == "encryption of secret"
    assert 0.0 < crypt.utilization < cpu
    assert not [usage for usage in usages if usage.kind == THREAD]
