"""What an SSD in front of disks brings, and what it does not."""

from __future__ import annotations

import pytest

from raidsim.scenarios.comparison.redundancy import top_parts
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

TEXT = """
machine: {{drives: {{disk0: {{model: WD2500JB}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
{caches}
workload: {{kind: load, {load}, warm_up: 500ms, duration: 1500ms}}
"""
CACHE = "caches: {{c0: {{on: disk0, cache: flash, {}}}}}"
HOT = "span: 20GiB, depth: 4, locality: {kind: hot, share: 90%, of: 5%}"


def iops(cache: str, load: str) -> float:
    """I/Os a second."""
    caches = CACHE.format(cache) if cache else ""
    load = f"{load}, targets: [{'c0' if cache else 'disk0'}]"
    found = simulate(document_from(TEXT.format(caches=caches, load=load)).spec())
    return float(sum(found.iops.values()))


def test_a_hot_set_that_fits_is_served_by_the_flash() -> None:
    """Protects the purpose: a cache larger than the hot set answers nine of ten reads, so the disk sees a tenth."""
    alone, cached = iops("", HOT), iops("size: 2GiB", HOT)
    assert cached > 5.0 * alone


def test_a_hot_set_that_does_not_fit_gains_little() -> None:
    """The counter-test: a cache of a tenth of the hot set leaves the disk nearly all of the reads."""
    alone, cached = iops("", HOT), iops("size: 128MiB", HOT)
    assert cached < 1.3 * alone


def test_a_cold_cache_gives_nothing_yet() -> None:
    """The counter-test of the warm state: while it is promoted, a hot set is read from the disk, twice even."""
    assert iops("size: 2GiB, state: cold", HOT) < 1.5 * iops("", HOT)


def test_writeback_spares_the_disk_what_writethrough_does_not() -> None:
    """Protects the modes: random writes are as fast as the flash, or as the disk."""
    load = f"{HOT}, read_share: 0%"
    through, back = iops("size: 2GiB", load), iops("size: 2GiB, mode: writeback", load)
    assert back > 5.0 * through
    assert through == pytest.approx(iops("", load), rel=0.3)


def test_a_buffer_for_writes_lasts_until_it_is_full() -> None:
    """Protects dm-writecache: a burst goes at the flash's speed; full, it gives what the disk takes."""
    load = "span: 20GiB, depth: 4, read_share: 0%"
    buffer = "kind: dm-writecache, size: 256MiB, high_watermark: 100, low_watermark: 95"
    assert iops(buffer, load) > 5.0 * iops(f"{buffer}, state: full", load)


@pytest.mark.parametrize(("mode", "fatal"), [("writeback", 1), ("writethrough", 2)])
def test_writeback_on_one_flash_drive_loses_data_with_it(mode: str, fatal: int) -> None:
    """Protects the risk: the mirror below survives a disk, but not the loss of what only the cache has."""
    text = f"""
machine: {{drives: {{disk0: {{model: WD2500JB}}, disk1: {{model: WD2500JB}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
arrays: {{md0: {{level: raid1, members: [disk0, disk1]}}}}
caches: {{c0: {{on: md0, cache: flash, mode: {mode}}}}}
workload: {{kind: load}}
"""
    assert [part.fewest_fatal for part in top_parts(document_from(text).spec())] == [fatal]


@pytest.mark.parametrize(
    "cache", ["kind: dm-cache, size: 64MiB", "kind: dm-writecache, size: 64MiB", "kind: bcache, size: 300MiB"]
)
def test_a_cache_without_hits_costs_next_to_nothing(cache: str) -> None:
    """Protects from a model that makes caches expensive: reads all over a disk are as fast as without one."""
    load = "span: 200GiB, depth: 4"
    state = "" if "dm-writecache" in cache else ", state: cold"
    assert iops(f"{cache}{state}", load) == pytest.approx(iops("", load), rel=0.15)


def test_a_stream_passes_bcache_by_and_random_reads_do_not() -> None:
    """Protects the sequential cutoff: a stream is as fast as the disk, and leaves the cache to others."""
    stream = "pattern: sequential, block_size: 256KiB, span: 20GiB"
    cached = "kind: bcache, size: 2GiB"
    assert iops(cached, stream) == pytest.approx(iops("", stream), rel=0.1)
    assert iops(f"{cached}, state: warm", HOT) > 5.0 * iops("", HOT)


DAY = """
machine: {{drives: {{disk0: {{model: WD2500JB}}, flash: {{model: Samsung-870-EVO-1TB}}}}}}
caches: {{c0: {{on: disk0, cache: flash, size: 2GiB{cache}}}}}
workload:
  {{kind: load, depth: 4, span: 20GiB, locality: {{kind: hot, share: 90%, of: 5%}}, warm_up: 100ms, duration: 1s{day}}}
"""


def hits(cache: str = "", night: str = "") -> list[float]:
    """Share of the reads that hit, of the load or of each phase of a day with such a night."""
    day = f", phases: [{{name: day, lasts: 4h}}, {{name: night, locality: uniform, lasts: {night}}}]" if night else ""
    found = simulate(document_from(DAY.format(cache=cache, day=day)).spec())
    return [each.read_hits / each.reads for each in found.ssd_caches]


def test_a_long_night_leaves_the_cache_to_itself() -> None:
    """Protects the state after a day: the hot set of a day fills the cache, unless a night brings far more I/Os."""
    assert hits(night="1h") == [pytest.approx(0.9, abs=0.04), pytest.approx(0.1, abs=0.04)]
    assert max(hits(night="2000h")) < 0.2


def test_a_cache_is_warm_for_the_loads_that_ran_before() -> None:
    """Protects `warmed_by`. Counter-test: warmed by the load itself it has the hot set."""
    assert hits(", warmed_by: [{span: 20GiB}]")[0] < 0.2 < 0.8 < hits()[0]
    one_of_many = "{span: 20GiB, locality: {kind: hot, share: 90%, of: 5%}, weight: 0.001}"
    assert hits(f", warmed_by: [{{span: 20GiB}}, {one_of_many}]")[0] < 0.2
