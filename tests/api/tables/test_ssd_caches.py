"""What is said of an SSD cache: hits, what is dirty, when that is too much, and how long it takes to be warm."""

from __future__ import annotations

import pytest

from raidsim.api.tables.parts.ssd_caches import cache_cells, cache_line
from raidsim.scenarios.comparison.alternatives import Design
from raidsim.scenarios.comparison.side_by_side import Measured
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.simulate import simulate

TEXT = """
machine: {{drives: {{disk0: {{model: WD2500JB}}, a: {{model: WD2500JB}}, b: {{model: WD2500JB}}}}}}
arrays: {{md1: {{level: raid1, members: [a, b]}}}}
caches: {{c0: {{on: disk0, cache: md1, size: 300MiB, {}}}}}
workload: {{kind: load, depth: 4, span: 1GiB, read_share: 50%, warm_up: 100ms, duration: 900ms}}
"""


def told(cache: str) -> tuple[str, list[str]]:
    """The line of a run, and the cells of a comparison."""
    spec = document_from(TEXT.format(cache)).spec()
    found = simulate(spec)
    cells = cache_cells(Measured(Design(1, {}, spec), ssd_caches=found.ssd_caches))
    return cache_line(found.ssd_caches[0]), [str(cell) for cell in cells]


@pytest.mark.parametrize("kind", ["bcache", "dm-writecache"])
def test_dirty_data_that_become_more_end_the_speed_of_the_flash(kind: str) -> None:
    """Protects from a figure that lasts for minutes only."""
    line, cells = told(f"kind: {kind}, mode: writeback, state: cold")
    assert "They become more: after" in line
    assert cells[3] != "never"
    assert cells[4] == "all of c0, after 2 failures"


def test_writethrough_has_nothing_to_lose() -> None:
    """The counter-test: no dirty data, and no loss."""
    line, cells = told("kind: bcache, mode: writethrough")
    assert "written back" not in line
    assert "not warm" not in line
    assert cells[2:] == ["nothing", "never", "nothing: the slow device has it all"]


@pytest.mark.parametrize("kind", ["bcache", "dm-cache"])
def test_a_cold_cache_says_how_long_it_warms(kind: str) -> None:
    """Protects from taking the speed of the first minutes for that of a warm cache."""
    assert "It is not warm: it holds" in told(f"kind: {kind}, state: cold")[0]
