"""Which designs a comparison has."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.comparison.alternatives import SCENARIO, Design, designs_of, on_common_span
from raidsim.scenarios.documents.document import Document, document_from

TEXT = """
name: small
machine:
  drives: {model: Exos-15E900-900GB, count: 4}
arrays:
  md0: {level: raid5}
workload: {kind: load, depth: 4, duration: 500ms}
"""


def small(*sets: str) -> Document:
    """The document with some changes."""
    return document_from(TEXT, "small.yaml", sets)


def test_all_combinations_the_last_varying_fastest() -> None:
    """Two levels and three depths make six designs in a fixed order, each a scenario of its own."""
    designs = designs_of(small(), [("layout", ["raid5", "raid0"]), ("depth", [1, 2, 3])])
    assert [design.values for design in designs] == [
        {"layout": level, "depth": depth} for level in ("raid5", "raid0") for depth in (1, 2, 3)
    ]
    assert [design.number for design in designs] == [1, 2, 3, 4, 5, 6]
    assert [design.name for design in designs][:2] == ["layout=raid5 depth=1", "layout=raid5 depth=2"]
    assert {design.spec.arrays["md0"].level for design in designs[3:] if design.spec} == {"raid0"}


def test_what_cannot_be_is_a_design_with_the_reason() -> None:
    """RAID 6 of three disks does not end the comparison."""
    designs = designs_of(small(), [("layout", ["raid5", "raid6"]), ("disks", [4, 3])])
    assert [design.spec is not None for design in designs] == [True, True, True, False]
    assert "raid6 needs at least 4" in (designs[3].refused or "")


def test_state_of_the_array() -> None:
    """Whole, degraded and rebuilding are designs like others."""
    whole, degraded, rebuilding = (
        design.spec for design in designs_of(small(), [("state", ["whole", "degraded", "rebuilding"])])
    )
    assert whole is not None
    assert degraded is not None
    assert rebuilding is not None
    assert not whole.arrays["md0"].failed
    assert degraded.arrays["md0"].failed
    assert not degraded.arrays["md0"].rebuilding
    assert rebuilding.arrays["md0"].rebuilding


@pytest.mark.parametrize(
    ("varied", "found"),
    [
        ([("layuot", ["raid5"])], "layuot"),
        ([("depth", [1]), ("depth", [2])], "twice"),
        ([("depth", list(range(1, 10))), ("jobs", list(range(1, 10)))], "81 combinations"),
    ],
)
def test_nonsense_is_refused_once(varied: list[tuple[str, list[Any]]], found: str) -> None:
    """A path that means nothing, the same path twice, too many designs."""
    with pytest.raises(InputError, match=found):
        designs_of(small(), varied)


def test_requests_go_where_all_designs_have_room() -> None:
    """The smallest design sets the span of all; one that was given stays."""
    designs, span = on_common_span(designs_of(small(), [("layout", ["raid0", "raid10"])]))
    spans = [design.spec.workload.span for design in designs if design.spec and design.spec.workload.kind == "load"]
    assert spans == [span, span]
    assert span is not None
    assert abs(span - 1800e9) < 2e9
    given, none = on_common_span(designs_of(small("workload.span=1GB"), [("layout", ["raid0", "raid10"])]))
    assert none is None
    assert {design.spec.workload.span for design in given if design.spec and design.spec.workload.kind == "load"} == {
        1000000000
    }


def test_designs_are_named_by_what_differs() -> None:
    """Protects from designs called "3" or "none": only a word, such as a layout, stands alone."""
    varied: list[tuple[str, list[Any]]] = [("layout", ["raid10"]), ("disks", [4, 6]), ("arrays.md0.bitmap", ["none"])]
    labels = [design.label for design in designs_of(small(), varied)]
    assert labels == ["raid10 disks=4 bitmap=none", "raid10 disks=6 bitmap=none"]


@pytest.mark.parametrize("name", ["1. RAID 5, 8 x WD5000AAKS", "home NAS", "2 copies"])
def test_a_scenario_of_a_list_is_called_by_its_name(name: str) -> None:
    """Protects tables and pictures from "scenario=1. RAID 5", whatever a name begins with."""
    design = Design(1, {SCENARIO: name}, None)
    assert (design.name, design.label) == (name, name)
    assert Design(1, {"depth": 4}, None).name == "depth=4"


def test_vdevs_are_called_by_their_words() -> None:
    """Protects tables from "layout=2 x raidz1", which breaks into two lines."""
    assert Design(1, {"layout": "2 x raidz1"}, None).label == "2 x raidz1"
