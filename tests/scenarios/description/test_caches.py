"""SSD caches in a scenario."""

from __future__ import annotations

import pytest

from raidsim.model.cache.bcache.cached_device import Bcache
from raidsim.model.cache.dm_cache.target import DmCache
from raidsim.model.cache.writecache.target import Writecache
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.description.workloads import LoadSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.machine.machine import BuiltMachine

TEXT = """
machine: {{drives: {{disk0: {{model: WD2500JB}}, disk1: {{model: WD2500JB}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
arrays: {{md0: {{level: raid1, members: [disk0, disk1]}}}}
caches: {{c0: {{on: md0, cache: flash, {cache}}}}}
workload: {{kind: load, {load}}}
"""


def spec(cache: str = "size: 1GiB", load: str = "depth: 1") -> ScenarioSpec:
    """A mirror behind a cache."""
    return document_from(TEXT.format(cache=cache, load=load)).spec()


def made(cache: str) -> Bcache | DmCache | Writecache:
    """The cache in a machine."""
    return BuiltMachine(spec(cache, "depth: 1, span: 4GiB")).ssd_caches["c0"]


@pytest.mark.parametrize(
    ("cache", "words"),
    [
        ("kind: dm-writecache, mode: writethrough", "writeback"),
        ("kind: dm-writecache, migration_threshold: 2MiB", "with kind dm-cache"),
        ("high_watermark: 60", "with kind dm-writecache"),
        ("kind: dm-writecache, high_watermark: 40", "up to it"),
        ("block_size: 48KiB", "multiple of 32 KiB"),
        ("kind: dm-writecache, block_size: 8KiB", "4 KiB"),
        ("size: 2TiB", "what flash has"),
        ("size: 4MiB", "or more"),
        ("state: full", "warm or cold"),
        ("kind: dm-writecache, state: full, size: 100GiB", "or cold"),
        ("kind: bcache, mode: passthrough", "writearound"),
        ("kind: bcache, size: 64MiB", "513 or more"),
        ("kind: bcache, state: full", "warm or cold"),
        ("writeback_percent: 20", "with kind bcache"),
        ("kind: bcache, bucket_size: 48KiB", "power of two"),
        ("kind: bcache, bucket_size: 1GiB", "to 16 MiB"),
        ("state: cold, warmed_by: [{}]", "with state warm"),
        ("metadata: disk0", "each device in one place"),
        ("metadata: nothing", "disk0, disk1, flash"),
    ],
)
def test_what_cannot_be_is_refused(cache: str, words: str) -> None:
    """Protects against a parameter that is ignored: each refusal says what is expected."""
    with pytest.raises(InputError, match=words):
        spec(cache)


def test_a_kernel_without_caches_is_refused() -> None:
    """Protects from a cache on a kernel that is older than all three drivers."""
    with pytest.raises(InputError, match=r"Linux 3\.10 or later"):
        document_from(TEXT.format(cache="size: 1GiB", load="depth: 1"), sets=["kernel=linux-2.6.32"]).spec()


def test_a_cache_of_itself_is_refused() -> None:
    """Protects from a device that is built of itself."""
    with pytest.raises(InputError, match="devices below it"):
        document_from(TEXT.format(cache="size: 1GiB", load="depth: 1").replace("on: md0", "on: c0")).spec()


def test_blocks_grow_as_lvm_lets_them() -> None:
    """Protects large caches from more than a million blocks: 64 KiB, doubled as often as needed."""
    cached = spec("").caches["c0"]
    assert cached.block_bytes(10 << 30) == 64 << 10
    assert cached.block_bytes(200 << 30) == 256 << 10


def test_the_load_goes_to_the_cached_device() -> None:
    """Protects the shorthand: a load without targets is on what nothing else is built of."""
    found = spec()
    assert isinstance(found.workload, LoadSpec)
    assert found.workload.targets == ("c0",)
    assert found.capacity("c0") == found.capacity("md0")
    assert spec("kind: bcache").capacity("c0") == found.capacity("md0") - 8192


def test_dm_cache_starts_warm_and_dm_writecache_cold() -> None:
    """Protects the usual states: hit ratios as after hours, and a buffer for writes that is empty."""
    warm, cold = made("size: 1GiB"), made("size: 1GiB, state: cold")
    assert isinstance(warm, DmCache)
    assert isinstance(cold, DmCache)
    assert warm.policy.resident == warm.policy.places
    assert cold.policy.resident == 0
    buckets = made("kind: bcache, size: 512MiB")
    assert isinstance(buckets, Bcache)
    assert buckets.buckets.used_share == 1.0
    assert buckets.dirty_bytes == 0
    buffer, full = made("kind: dm-writecache, size: 64MiB"), made("kind: dm-writecache, size: 64MiB, state: full")
    assert isinstance(full, Writecache)
    assert buffer.dirty_bytes == 0
    assert full.entries.free == 0
