"""Pictures, tables and the layout map: they show what is there, and text from others is only text."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from functools import cache

import pytest

from raidsim.api.answer.tree import csv_text
from raidsim.api.comparison import Comparison
from raidsim.scenarios.questions.without_bottleneck import WithoutBottleneck
from raidsim.scenarios.timeline.events import LogicalIO
from raidsim.web.figures import pictures, pictures_of_designs, tables
from raidsim.web.figures.markup import plain
from raidsim.web.form.fields import DEFAULT, Form
from raidsim.web.form.forms import built, fitted
from raidsim.web.views.designs import course_words, settled
from raidsim.web.views.one_design import without_words
from raidsim.web.work.layout_map import LayoutMap, layout_html, layout_map, layout_words
from raidsim.web.work.task import Progress
from raidsim.web.work.tasks import (
    CompareTask,
    CoursePart,
    FailureCourse,
    Outcome,
    RunTask,
    TimelineTask,
    course,
)

FORM = replace(DEFAULT, length="short", drive="WD2500JS", disks=4, depth=8)


@cache
def outcome() -> Outcome:
    """What a small run gives."""
    scenario = built(FORM).scenario
    assert scenario is not None
    return RunTask(scenario).perform(Progress())


def mapped(form: Form, *lost: int) -> LayoutMap:
    """The map of a form's array."""
    spec = built(fitted(form)[0]).spec
    assert spec is not None
    return layout_map(spec.arrays["md0"], frozenset(lost))


@pytest.mark.parametrize(
    ("now", "then", "words"),
    [(100.0, 150.0, "150 instead of 100 I/Os per second"), (100.0, 101.0, "no more I/Os"), (0.0, 0.0, "no more I/Os")],
)
def test_what_happens_without_the_bottleneck_in_words(now: float, then: float, words: str) -> None:
    """Protects the result of programs that find everything in memory, and so do no I/O, from an error on the page."""
    found = outcome().prediction
    without = WithoutBottleneck("link pci without limit", "limit", replace(found, iops={"read": then}))
    said = without_words(replace(found, iops={"read": now}), without)
    assert said.startswith(f"With link pci without limit: {words}; then ")


def test_the_map_of_raid5_is_the_one_of_the_books() -> None:
    """Protects the layout view: left-symmetric RAID 5 as Linux keeps it, and what the loss of one disk leaves."""
    found = mapped(replace(DEFAULT, disks=4))
    rows = [[found.cells[disk, row] for disk in range(4)] for row in range(4)]
    assert rows == [
        ["D0", "D1", "D2", "P"],
        ["D4", "D5", "P", "D3"],
        ["D8", "P", "D6", "D7"],
        ["P", "D9", "D10", "D11"],
    ]
    assert mapped(replace(DEFAULT, disks=4), 1).kept
    assert not mapped(replace(DEFAULT, disks=4), 1, 2).kept
    assert "data are lost" in layout_words(mapped(replace(DEFAULT, disks=4), 1, 2))
    assert layout_words(found) == ""


@pytest.mark.parametrize("level", ["linear", "raid0", "raid1", "raid3", "raid4", "raid6", "raid10", "raid01", "raid60"])
def test_every_level_has_a_map(level: str) -> None:
    """Protects the map of every level: each cell has a letter, and copies and parity are told apart."""
    found = mapped(replace(DEFAULT, level=level), 0)
    assert "D0" in found.cells.values()
    kinds = {text.rstrip("'0123456789") + ("'" if text.endswith("'") else "") for text in found.cells.values()}
    assert ("Q" in kinds) == (level in ("raid6", "raid60"))
    assert ("D'" in kinds) == (level in ("raid1", "raid10", "raid01"))
    text = layout_html(found, "a <b>caption</b>")
    assert "<b>" not in text
    assert "disk 0 (lost)" in text
    assert 'scope="col"' in text
    assert 'scope="row"' in text


def test_text_of_others_is_no_markdown() -> None:
    """Protects messages: no links, pictures or addresses come of what a link or a file says."""
    assert plain("![x](http://a.b/c)").startswith("\\!\\[x\\]\\(http\\:")
    assert "://" not in plain("see http://a.b").replace("\\", "")
    assert plain("1. a_b\n\n# c") == "1\\. a\\_b \\# c"


def test_a_run_to_take_away_says_what_the_run_gave() -> None:
    """Protects the numbers beside the pictures, and what is taken away as CSV and JSON."""
    prediction = outcome().prediction
    found = list(outcome().result.answer(all_parts=True).tables())
    named = {str(row[0]).partition(" (")[0] for row in found[-1].rows}
    assert {usage.name for usage in prediction.usages} <= named
    lines = list(csv.reader(csv_text(found).splitlines()))
    assert lines[0] == ["# Latency (ms)"]
    assert float(lines[2][1]) == prediction.iops["read"]
    document = json.loads(tables.json_text(outcome()))
    assert document["rate"] == prediction.rate
    assert document["relief"]["what"]
    assert "latency_bins" not in document


def test_the_bars_mark_what_limits() -> None:
    """Protects the picture of the parts: the bottleneck is marked in words, and idle parts take no room."""
    drawn = pictures.usage_bars(outcome().prediction)
    values = drawn["data"]["values"]
    assert values[0]["busy"] == max(value["busy"] for value in values)
    assert all(value["busy"] >= 0.5 for value in values[1:])
    (disk, *_) = (each for each in outcome().prediction.usages if each.kind == "disk")
    for utilization, mark in ((0.5, "busiest"), (1.0, "limits")):
        alone = replace(outcome().prediction, usages=(replace(disk, utilization=utilization),))
        (value,) = pictures.usage_bars(alone)["data"]["values"]
        assert (value["part"], value["text"]) == (disk.name, f"{100 * utilization:.0f} % {mark}")


def test_latencies_rise_to_all_of_the_ios() -> None:
    """Protects the picture of latencies: every line ends at 100 % and never falls."""
    bins = outcome().prediction.latency_bins
    values = pictures.latency_shares(outcome().prediction)["data"]["values"]
    for op in ("reads", "writes"):
        shares = [value["share"] for value in values if value["op"] == op]
        assert shares == sorted(shares)
        assert shares[-1] == pytest.approx(100.0)
        counted, known, done = bins[op.removesuffix("s")], {}, 0.0
        for seconds, count in counted:
            done += count
            known[1e3 * seconds] = 100 * done / sum(each for _, each in counted)
        assert all(value["share"] == known[value["ms"]] for value in values if value["op"] == op)
        assert len(shares) >= min(len(bins[op.removesuffix("s")]), 100) - 1, "at least 100 points, or all"


def test_a_failure_is_not_compared_with_the_beginning() -> None:
    """Protects what is said of a failure: I/Os of before the measurement are not counted, and would be missed there."""
    begun = [LogicalIO(i, "md0", "load", "read", 0, 4096, 0, 0.025 * i, 0.025 * i + 0.11) for i in range(80)]
    parts = course(begun, 0.0, 2.0)
    assert parts[0].iops == 0.0
    assert min(part.iops for part in settled(parts)) > 0
    said = course_words(FailureCourse(outcome().prediction, parts, 1.0))
    assert "40 I/Os per second before the failure, 40 after it" in said


def test_a_legend_names_only_what_is_drawn() -> None:
    """Protects readers from looking for a line that is not there: a load of writes has no reads in its picture."""
    prediction = outcome().prediction
    writes = replace(prediction, latency_bins={"write": prediction.latency_bins["write"]})
    named = {
        len(found.latency_bins): pictures.latency_shares(found)["encoding"]["color"]["scale"]["domain"]
        for found in (prediction, writes)
    }
    assert named == {2: ["reads", "writes"], 1: ["writes"]}


@pytest.mark.parametrize(
    ("values", "domain", "ticks"),
    [
        ([3.0, 42.0], [2, 50], [2, 5, 10, 20, 50]),
        ([0.03, 400.0], [0.01, 1000], [0.01, 0.1, 1, 10, 100, 1000]),
        ([10.0], [5, 20], [5, 10, 20]),
        ([], [0.5, 2], [0.5, 1, 2]),
    ],
)
def test_logarithmic_axes_have_plain_numbers(values: list[float], domain: list[float], ticks: list[float]) -> None:
    """Protects axes of times: numbers that people count by, from below the least value to above the largest."""
    axis = pictures.logarithmic(values)
    assert axis["scale"]["domain"] == pytest.approx(domain)
    assert axis["axis"]["values"] == pytest.approx(ticks)


def test_pictures_of_single_ios_and_designs() -> None:
    """Protects the other pictures: rows for every command, a bar for every design, and axes with units."""
    first, second = (built(fitted(replace(FORM, read=0, level=level))[0]).scenario for level in ("raid5", "raid10"))
    assert first is not None
    assert second is not None
    timeline = TimelineTask(first).perform(Progress())
    one = pictures.one_io_picture(timeline, 0)
    waits = timeline.ios[0].waits
    assert len(one["data"]["values"]) == 1 + len(waits) + len(timeline.commands_of(0))
    assert [row[0] for row in tables.io_waits_table(timeline, 0).rows] == [wait.cause for wait in waits] != []
    assert "(ms)" in one["layer"][0]["encoding"]["x"]["title"]
    assert tables.commands_table(timeline, 0).rows
    fan = tables.fan_out_table(timeline)
    assert {row[0] for row in fan.rows} == {"100 writes"}
    assert "data" in pictures.timeline_picture(timeline)["data"]["values"][0]["command"]
    told: list[object] = []
    found = CompareTask((("a", first.with_(machine__drives__price=90)), ("b", second))).perform(Progress(told.append))
    assert [each.found.replications for each in told if isinstance(each, Comparison)] == [2]
    assert len(pictures_of_designs.comparison_picture(found)["data"]["values"]) == 2
    latencies = pictures_of_designs.latency_picture(found)["data"]["values"]
    assert {(value["design"], value["op"]) for value in latencies} == {("a", "writes"), ("b", "writes")}
    shown = {table.title: table for table in found.answer().tables()}
    assert [row[2:5] for row in shown["What it holds, and what limits"].rows] == [
        (750_177_484_800, 1_000_237_400_064, "1"),
        (500_118_323_200, 1_000_237_400_064, "1 to 2"),
    ]
    assert [row[2] for row in shown["Cost, in the unit of the prices"].rows] == [360.0, "unknown"]


def test_a_course_without_ios_has_no_latency() -> None:
    """Protects the picture of a failure from pieces in which nothing was done."""
    parts = course([], 0.0, 4.0)
    assert isinstance(parts[0], CoursePart)
    assert pictures.course_picture(parts, 1.0, latency=True)["data"]["values"] == []
    assert len(pictures.course_picture(parts, 1.0)["data"]["values"]) == len(parts)
    assert tables.course_table(parts).rows[0][3] is None
