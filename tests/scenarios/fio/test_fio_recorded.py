"""Recorded jobs of fio 3.33 on the model: the same keys, types, options and counts as in what fio wrote."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.programs.fio.sections import sections
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.fio.output.iolog import run_iolog
from raidsim.scenarios.fio.output.json_document import json_document
from raidsim.scenarios.fio.run import FioOptions, run_fio

RECORDED = Path(raidsim.__file__).parent / "validation" / "truth" / "workloads" / "fio"
SCENARIO = """
name: one drive
machine: {name: server, drives: {model: Samsung-PM9A3-3840GB, count: 1}}
workload: {kind: load}
"""
MIB = 1 << 20
THERE = {"f1": 16 * MIB, "f3": 64 * MIB, "f5": 64 * MIB, "f8": 32 * MIB}
MANY_IOS = ("03", "05", "06", "14", "19")
TIMED = ("10_rate_iops_poisson", "19_ramp_group_thinktime")
"""Jobs that end by the clock: what they get done in the time is the machine's."""
COUNTS = ("io_bytes", "io_kbytes", "total_ios", "drop_ios")
"""Without short_ios: fio 3.33 counts fdatasyncs beyond the end of another array, as short reads."""


def key_paths(value: Any, at: str = "") -> Iterator[tuple[str, str]]:
    """Where values stand, and of what type they are."""
    if isinstance(value, dict):
        for key, each in value.items():
            yield from key_paths(each, f"{at}.{key}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from key_paths(each, f"{at}[{number}]")
    else:
        yield at, type(value).__name__


def without_its_machine(document: dict[str, Any]) -> dict[str, Any]:
    """Without disks, and without what was said on the command line."""
    document.pop("disk_util", None)
    shared = document.pop("global options", {})
    shared.pop("write_iolog", None)
    return document | {"global options": shared}


def began(lines: Iterable[str]) -> list[list[list[str]]]:
    """What each job of an iolog began, without times; jobs in an order of their own."""
    jobs: list[list[list[str]]] = []
    for line in lines:
        _, name, *rest = line.split()
        if name == "version":
            jobs.append([])
        elif rest != ["add"]:
            jobs[-1].append([name.removeprefix("./"), *rest])
    return sorted(jobs)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=[pytest.mark.slow] if path.name.startswith(MANY_IOS) else [], id=path.stem)
        for path in sorted(RECORDED.glob("*.fio"))
    ],
)
def test_a_recorded_job_has_the_same_report(path: Path) -> None:
    """Protects readers of fio's reports: keys, types, options, counts and every line of the iolog, but for the time."""
    text = path.read_text(encoding="utf-8")
    found = sections(text, path.name, {"FSIZE": "8m"}, lambda name: (RECORDED / name).read_text(encoding="utf-8"))
    run = run_fio(document_from(SCENARIO).spec(), found, FioOptions(files=THERE, iolog=True))
    ours = without_its_machine(json_document(run, plus=False))
    theirs = without_its_machine(json.loads(Path(f"{path}.json").read_text(encoding="utf-8")))
    assert dict(key_paths(ours)) == dict(key_paths(theirs))
    assert ours["global options"] == theirs["global options"]
    for mine, recorded in zip(ours["jobs"], theirs["jobs"], strict=True):
        assert list(mine["job options"].items()) == list(recorded["job options"].items())
        assert (mine["jobname"], mine["groupid"]) == (recorded["jobname"], recorded["groupid"])
        assert mine["sync"]["total_ios"] == recorded["sync"]["total_ios"]
        for key in ("latency_depth", "iodepth_level", "iodepth_submit"):
            if path.stem not in TIMED:
                assert mine[key] == recorded[key], key
        for direction in ("read", "write", "trim"):
            counts = (each[direction] for each in (mine, recorded))
            done, asked = ({**{key: each[key] for key in COUNTS}, "N": each["clat_ns"]["N"]} for each in counts)
            if path.stem not in TIMED:
                assert done == asked
    with gzip.open(path.with_suffix(".iolog.gz"), "rt", encoding="utf-8") as recording:
        for mine, recorded in zip(began(run_iolog(run)), began(recording), strict=True):
            common = min(len(mine), len(recorded)) - 1 if path.stem in TIMED else None
            assert mine[:common] == recorded[:common]


def test_the_schema_lists_every_key() -> None:
    """Protects the comparison above from a recording that lost keys: the list made of all of them is complete."""
    listed = (RECORDED / "json_schema_keys_fio3.33.txt").read_text(encoding="utf-8").splitlines()
    document = json.loads((RECORDED / "06_randrw_70_8k_qd16_libaio.fio.json").read_text(encoding="utf-8"))
    found = {path.removeprefix(".").replace("[0]", "[]") for path, _ in key_paths(document)}
    assert {line.partition(":")[0] for line in listed} == found
