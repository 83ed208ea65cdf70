"""What the views of one design say of files that they cannot show whole."""

from __future__ import annotations

from pathlib import Path

import pytest

import raidsim
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.timeline.timeline import record
from raidsim.web.figures.pictures import one_io_picture, timeline_picture
from raidsim.web.views.one_design import needs_one_load, pool_maps, recorded_words

_EXAMPLES = Path(raidsim.__file__).parent / "docs" / "examples"
_OF_A_MIRROR = (
    "{machine: {model: server, drives: {model: WD5000AAKS, count: 2}}, arrays: {md0: {level: raid1, bitmap: none}}, "
    "workload: {depth: 1, warm_up: 0s, duration: 200ms}}"
)


@pytest.mark.parametrize(
    ("file", "refused", "recorded"),
    [
        ("shop-day.yaml", "several loads at the same time", "the last part of the day (night)"),
        ("office-day.yaml", "", "the last part of the day (night)"),
        ("postmark-raid10.yaml", "a workload of another kind", ""),
    ],
)
def test_what_a_view_leaves_out_is_said(file: str, refused: str, recorded: str) -> None:
    """Protects loads and parts of the day from being lost in silence, and from a wrong reason."""
    spec = document_from((_EXAMPLES / file).read_text(encoding="utf-8"), file).spec()
    if refused:
        assert refused in needs_one_load("A load curve", spec)
    assert recorded in recorded_words(spec)
    assert bool(recorded_words(spec)) == bool(recorded)


def test_pictures_of_a_mirror_have_no_empty_layer() -> None:
    """Protects the browser's console from warnings: a layer for parity is drawn only if there is parity."""
    timeline = record(document_from(_OF_A_MIRROR, "mirror").spec(), ios=20)
    for picture, layers in ((timeline_picture(timeline), 1), (one_io_picture(timeline, 0), 2)):
        assert len(picture["layer"]) == layers
        assert not any("parity" in str(each.get("transform", "")) and ">=" in str(each) for each in picture["layer"])


def test_blocks_of_a_pool_are_drawn() -> None:
    """Protects pools from the words that there is no array: each size of block is on the members of the first vdev."""
    text = (
        "{machine: {drives: {model: WD5000AAKS, count: 6}}, workload: {kind: load}, pools: {tank: {vdevs: raidz1, "
        "failed: [disk1], datasets: {a: {volume: 1GiB}, b: {file: 1GiB}}}}}"
    )
    (drawn,) = pool_maps(document_from(text, "pool").spec()).values()
    rows, blocks = drawn.tables()
    assert drawn.title.startswith("raidz1 of 6")
    assert [column.name for column in rows.columns][:3] == ["row", "disk0", "(disk1)"]
    assert [row[1] for row in blocks.rows] == ["16 KiB", "16 KiB", "128 KiB", "128 KiB"]
    assert pool_maps(document_from(_OF_A_MIRROR, "mirror").spec()) == {}
