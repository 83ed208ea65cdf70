"""What a controller's battery and cache do for a design: the run without them, and how long the cache takes writes."""

from __future__ import annotations

import pytest

from raidsim.api.support.compare_document import comparison_document
from raidsim.api.tables.compare import comparison_answer
from raidsim.api.tables.decision import comparison_decision
from raidsim.scenarios.comparison.alternatives import designs_of, on_common_span
from raidsim.scenarios.comparison.lost_battery import lost_battery, with_lost_batteries
from raidsim.scenarios.comparison.side_by_side import Comparison, Settings, compare
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.workers.task_pool import TaskPool

TEXT = """
machine:
  cpu: {model: server-core, cores: 4}
  drives: {model: Exos-15E900-900GB, count: 3}
arrays: {md0: {level: raid5}}
workload: {kind: load, block_size: 8KiB, pattern: random, read_share: 30%, depth: 4, warm_up: 50ms, duration: 300ms}
"""
CARD = "arrays.md0.controller=Dell-PERC-H730P"
QUICK = Settings(replications=2, rebuild=False)


def compared(*sets: str) -> Comparison:
    """md, a card with a cache and one without on the same drives."""
    designs = designs_of(
        document_from(TEXT, "test.yaml", sets), [("controller", ["none", "Dell-PERC-H730P", "Dell-PERC-H330"])]
    )
    with TaskPool(0) as pool:
        return compare(on_common_span(designs)[0], QUICK, pool)


@pytest.fixture(scope="module")
def found() -> Comparison:
    """A comparison that ends long before the cache is full."""
    return compared()


@pytest.mark.parametrize(
    ("sets", "depends"),
    [
        ((), False),
        ((CARD,), True),
        (("arrays.md0.controller=Dell-PERC-H330",), False),
        (("arrays.md0.controller=3ware-8500",), False),
        ((CARD, "machine.controllers.raid.overrides={write_policy: write-through}"), False),
        ((CARD, "machine.controllers.raid.overrides={forced_write_back: true}"), False),
        ((CARD, "machine.controllers.raid.overrides={battery: learning}"), False),
    ],
)
def test_what_depends_on_a_battery(sets: tuple[str, ...], depends: bool) -> None:
    """Write-back that nobody forces on a good battery; not md, a card without memory, or what writes through."""
    machine = () if not sets else ("machine.controllers={raid: {model: " + sets[0].partition("=")[2] + "}}",)
    named = ("arrays.md0.controller=raid",) if sets else ()
    spec = document_from(TEXT, "test.yaml", (*machine, *named, *sets[1:])).spec()
    lost = with_lost_batteries(spec)
    assert (lost is not None) == depends
    assert (lost_battery(spec) is not None) == depends
    if lost is not None:
        assert spec.machine.controllers["raid"].spec().writes_back
        assert not lost.machine.controllers["raid"].spec().writes_back


def test_without_the_battery_writes_wait_for_the_drives(found: Comparison) -> None:
    """The card's design is run once more as write-through: fewer I/Os, and writes that take as long as a parity update
    of disks. Counter-test: md and the card without memory have no such run.
    """
    kernel, cached, plain = found.designs
    assert kernel.without_battery is None
    assert plain.without_battery is None
    lost = cached.without_battery
    assert lost is not None
    assert lost.figures["iops"] < 0.7 * cached.iops
    assert lost.figures["write_mean_seconds"] > 50 * cached.estimates["write_mean_seconds"].mean
    assert lost.figures["write_mean_seconds"] == pytest.approx(plain.estimates["write_mean_seconds"].mean, rel=0.4)


def test_a_run_that_the_cache_takes_whole_says_so(found: Comparison) -> None:
    """The memory for writes over the write rate is longer than the run, and the answer says that more does not last."""
    cached = found.designs[1]
    assert cached.holds_s == pytest.approx(0.75 * (1931 << 20) / (0.7 * cached.iops * 8192), rel=0.1)
    assert cached.ends_in_cache
    assert "is measured while its cache takes the writes; with the battery lost it serves" in comparison_decision(found)


def test_a_full_cache_is_what_lasts() -> None:
    """Counter-test: with a cache that the run fills, nothing is said of it."""
    text = TEXT.replace("drives:", "controllers: {raid: {model: Dell-PERC-H730P, overrides: {cache: 1MiB}}}\n  drives:")
    designs = designs_of(document_from(text, "test.yaml"), [("controller", ["raid", "none"])])
    with TaskPool(0) as pool:
        full = compare(on_common_span(designs)[0], QUICK, pool)
    assert full.designs[0].without_battery is not None
    assert not full.designs[0].ends_in_cache
    assert "while its cache" not in comparison_decision(full)


def test_the_tables(found: Comparison) -> None:
    """What a buyer sees: the row without the battery, and what the mean of reads and writes is made of, by design."""
    answer = comparison_answer("test", found, QUICK, None)
    tables = {table.title: table for table in answer.tables()}
    (lost,) = tables["With the controller's battery lost: write-through"].rows
    assert lost[:4] == ("2", "Dell-PERC-H730P", "1.41 GiB", lost[3])
    made_of = tables["What the mean latency is made of"].rows
    assert "controller processor" in str(made_of[1][3])
    assert "controller processor" not in str(made_of[0])
    assert any("in which its cache can take all writes" in str(part) for part in answer.parts)


def test_the_document_of_a_design_on_a_controller(found: Comparison) -> None:
    """The same for programs, in SI units; of md nothing is added."""
    kernel, cached, plain = comparison_document("test", found, QUICK, None)["designs"]
    assert "without_battery" not in kernel
    assert plain["without_battery"] is None
    lost = cached["without_battery"]
    assert lost["write_bytes"] == pytest.approx(0.75 * (1931 << 20))
    assert lost["holds_s"] == found.designs[1].holds_s
    assert cached["waits"]["write"]["controller processor"] > 0
