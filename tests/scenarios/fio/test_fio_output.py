"""What fio writes, beside what fio 3.33 wrote: a recorded run printed again, and numbers one by one."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from raidsim.scenarios.fio.output.json_document import json_document, json_text
from raidsim.scenarios.fio.output.normal_text import normal_text
from raidsim.scenarios.fio.output.numbers import short
from raidsim.scenarios.fio.result import DiskResult, FioRun

from .recorded_run import recorded_run

RECORDED = (Path(__file__).parent / "recorded" / "report.txt").read_text(encoding="utf-8")
START, END = RECORDED.index("{\n"), RECORDED.index("\n}\n") + 3


@pytest.fixture(scope="module")
def run() -> FioRun:
    """The recorded run, as a result of the model."""
    text = RECORDED[END:]
    pids = [int(pid) for pid in re.findall(r" pid=(\d+)", text)]
    clones = [int(count) for count in re.findall(r", jobs=(\d+)\)", text)]
    return recorded_run(json.loads(RECORDED[START:END]), pids, clones)


def test_json_is_printed_as_fio_prints_it(run: FioRun) -> None:
    """Protects every key, unit, percentile, bin and decimal of JSON+, and its layout: fio's own text comes back."""
    assert json_text(json_document(run, plus=True)) == RECORDED[START:END]


def test_normal_output_is_printed_as_fio_prints_it(run: FioRun) -> None:
    """Protects the normal output, line by line, its header included."""
    assert normal_text(run).splitlines() == (RECORDED[:START] + RECORDED[END:]).splitlines()


@pytest.mark.parametrize(
    ("number", "binary", "unit", "shown"),
    [
        (0, True, "B", "0B"),
        (9999, False, "", "9999"),
        (10_000, False, "", "10.0k"),
        (69_587, False, "", "69.6k"),
        (4096, True, "B", "4096B"),
        (16_384, True, "B", "16.0KiB"),
        (65_536, True, "B", "64.0KiB"),
        (1_048_576, True, "B", "1024KiB"),
        (2_456_616, False, "B/s", "2457kB/s"),
        (285_000_000, False, "B/s", "285MB/s"),
        (129_123_000, True, "bit/s", "985Mibit/s"),
        (136_954_470_400, True, "B", "128GiB"),
    ],
)
def test_numbers_have_four_characters_and_a_prefix(number: int, binary: bool, unit: str, shown: str) -> None:
    """Protects the short numbers of the normal output, which tools parse: the first prefix that fits, 3 digits."""
    assert short(number, binary=binary, unit=unit) == shown


def test_an_array_is_listed_with_the_means_of_its_members(run: FioRun) -> None:
    """Protects the lines of an md array: members after it, their counts as whole means, the busiest one's use.

    The numbers are those fio printed of a RAID 0 of two NVMe drives.
    """
    drives = (
        DiskResult("nvme2n1", 419_092, 0, 0, 0, 26.124, 0.0, 26.125, 99.88),
        DiskResult("nvme1n1", 419_028, 0, 0, 0, 26.120, 0.0, 26.120, 99.87),
    )
    array = DiskResult("md0", 836_698, 0, 0, 0, 51.308, 0.0, 51.308, 99.91, drives)
    on_array = replace(run, disks=(array,))
    aggregate = "aggrios=419060/0, aggrmerge=0/0, aggrticks=26122/0, aggrin_queue=26122, aggrutil=99.88%"
    assert normal_text(on_array).splitlines()[-3:] == [
        f"    md0: ios=836698/0, merge=0/0, ticks=51308/0, in_queue=51308, util=99.91%, {aggregate}",
        "  nvme2n1: ios=419092/0, merge=0/0, ticks=26124/0, in_queue=26125, util=99.88%",
        "  nvme1n1: ios=419028/0, merge=0/0, ticks=26120/0, in_queue=26120, util=99.87%",
    ]
    first, *members = json_document(on_array, plus=False)["disk_util"]
    assert [disk["name"] for disk in members] == ["nvme2n1", "nvme1n1"]
    assert {key: value for key, value in first.items() if key.startswith("aggr_")} == {
        "aggr_read_ios": 419_060,
        "aggr_write_ios": 0,
        "aggr_read_merges": 0,
        "aggr_write_merge": 0,
        "aggr_read_ticks": 26_122,
        "aggr_write_ticks": 0,
        "aggr_in_queue": 26_122,
        "aggr_util": 99.88,
    }


def test_json_without_plus_has_no_bins(run: FioRun) -> None:
    """Protects ``json`` from the bins of ``json+``, and both from differing in anything else."""
    plain, plus = json_text(json_document(run, plus=False)), json_document(run, plus=True)
    assert '"bins"' not in plain
    for job in plus["jobs"]:
        for name in ("read", "write", "trim", "sync"):
            for kind in ("slat_ns", "clat_ns", "lat_ns"):
                job[name].get(kind, {}).pop("bins", None)
    assert json.loads(plain) == plus


def test_a_job_that_was_too_slow_says_why(run: FioRun) -> None:
    """Protects ``err=``: fio writes the error out, after two characters for its number."""
    slow = replace(run, jobs=(replace(run.jobs[0], error=5), *run.jobs[1:]))
    (line,) = [line for line in normal_text(slow).splitlines() if line.startswith("reads: (groupid")]
    assert ": err= 5 (func=check_min_rate, error=Input/output error): pid=" in line
    assert json_document(slow, plus=False)["jobs"][0]["error"] == 5
