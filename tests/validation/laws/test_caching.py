"""The laws of SSD caches: each keeps quiet about the caches, and notices one that is broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from raidsim.model.cache.bcache.writeback import BcacheWriteback
from raidsim.model.cache.warm import WarmBlocks
from raidsim.scenarios.description.caches import CacheSpec
from raidsim.scenarios.machine import mapper_plan
from raidsim.scenarios.running import summary
from raidsim.validation.laws.broken import violations
from raidsim.validation.laws.laws import LAWS
from raidsim.validation.laws.trial import Trial

Patch = pytest.MonkeyPatch


def scenario(mode: str = "writethrough", **load: Any) -> dict[str, Any]:
    """A load on bcache: flash in front of a disk."""
    workload = {"kind": "load", "targets": ["c0"], "depth": 4, "span": "1GiB", "locality": "hot", "duration": "1500ms"}
    return {
        "machine": {"drives": {"disk0": {"model": "WD2500JB"}, "flash": {"model": "Samsung-870-EVO-1TB"}}},
        "caches": {"c0": {"on": "disk0", "cache": "flash", "kind": "bcache", "size": "300MiB", "mode": mode}},
        "workload": {**workload, "warm_up": "300ms", **load},
    }


def other_mode(**instead: str) -> Callable[[Patch], None]:
    """Run one mode as another one."""

    def plant(patch: Patch) -> None:
        settings = mapper_plan._settings

        def changed(spec: CacheSpec, capacity: int) -> Any:
            made: Any = settings(spec, capacity)
            return replace(made, mode=instead.get(made.mode, made.mode))

        patch.setattr(mapper_plan, "_settings", changed)

    return plant


def more_hits_than_accesses(patch: Patch) -> None:
    """Hits are counted twice."""
    counted = summary._cache_hits

    def twice(*arguments: Any) -> Any:
        found = counted(*arguments)
        return replace(found, read_hits=2 * found.reads)

    patch.setattr(summary, "_cache_hits", twice)


def never_warm(patch: Patch) -> None:
    """A warm cache is an empty one."""
    patch.setattr("raidsim.model.cache.warm.warm_blocks", lambda *_: WarmBlocks([], []))


def no_larger(patch: Patch) -> None:
    """A cache of more than 400 MiB has 300."""
    size = CacheSpec.data_bytes

    def limited(self: CacheSpec, capacity: int) -> int:
        found = size(self, capacity)
        return found if found < 400 << 20 else found // 8

    patch.setattr(CacheSpec, "data_bytes", limited)


def no_writeback(patch: Patch) -> None:
    """Dirty data stay in the cache."""
    patch.setattr(BcacheWriteback, "wake", lambda self: None)


WRITES = {"read_share": "0%"}
CASES: dict[str, tuple[dict[str, Any], Callable[[Patch], None]]] = {
    "cache-hits": (scenario(), more_hits_than_accesses),
    "cache-moves": (scenario(**WRITES), other_mode(writethrough="writeback")),
    "cache-fits": (scenario(), never_warm),
    "cache-off": (scenario(**WRITES), other_mode(none="writeback")),
    "cache-writeback": (scenario(**WRITES), other_mode(writeback="writethrough", writethrough="writeback")),
    "cache-size": (scenario(duration="4s"), no_larger),
    "cache-drained": (scenario("writeback", **WRITES), no_writeback),
}


@pytest.mark.parametrize("name", CASES)
def test_a_broken_cache_breaks_its_law(name: str, monkeypatch: Patch) -> None:
    """Protects the laws: the whole cache keeps each of them, and the broken one does not."""
    (described, plant), law = CASES[name], LAWS[name]
    assert law.where(Trial(described))
    assert violations(law, described) == []
    with monkeypatch.context() as patch:
        plant(patch)
        assert [each.law for each in violations(law, described)] == [name]


def test_every_law_of_caches_is_tested() -> None:
    """Protects the list, and other machines: without a cache these laws have nothing to say."""
    assert set(CASES) == {name for name in LAWS if name.startswith("cache-")}
    alone = scenario()
    del alone["caches"]
    alone["workload"]["targets"] = ["disk0"]
    assert not any(LAWS[name].where(Trial(alone)) for name in CASES)
