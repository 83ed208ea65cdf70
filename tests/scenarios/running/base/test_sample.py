"""Scales of programs: small enough beside the caches that are not scaled, and one for all machines of a study."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.sample import Sample, scale_for, with_common_scales
from raidsim.scenarios.running.simulate import simulate

SMALL = {"cache": "2MiB", "write_buffer": "1MiB", "segments": 16, "segment_size": "64KiB", "look_ahead": "64KiB"}
LARGE = {"cache": "16MiB", "write_buffer": "8MiB", "segments": 16, "segment_size": "512KiB"}
BONNIE = {"program": "bonnie++", "size": "1GiB", "small_files": 0}


def spec(
    overrides: dict[str, Any], step: dict[str, Any] = BONNIE, level: str | None = None, processes: int = 1
) -> ScenarioSpec:
    """Programs on 512 MiB of memory, and one disk, or an array of four."""
    drives = {"model": "WD2500JB", "count": 4 if level else 1, "overrides": overrides}
    return document_from(
        repr(
            {
                "name": "scaled",
                "kernel": "linux-6.1",
                "machine": {"model": "server", "memory": "2560MiB", "resident": "2GiB", "drives": drives},
                "arrays": {"md0": {"level": level}} if level else {},
                "file_systems": {"/srv": {"kind": "ext4", "on": "md0" if level else "disk0"}},
                "workload": {"kind": "programs", "steps": [step], "processes": processes},
            }
        )
    ).spec()


def rates(found: Prediction) -> dict[str, float]:
    """What a bonnie++ reports of characters written, and of seeks."""
    return {name: found.figures[f"bonnie++.{name}_rate"] for name in ("putc", "seeks")}


@pytest.mark.parametrize(("overrides", "chosen"), [(SMALL, 4), (LARGE, 4)])
def test_the_chosen_scale_gives_what_the_whole_gives(overrides: dict[str, Any], chosen: int) -> None:
    """Protects scaled programs from caches that are not scaled: they are at most a sixteenth of the files. Seeks vary
    by 5 % between scales also where the drive has next to no cache.
    """
    whole, scaled = simulate(spec(overrides), Sample(scale=1)), simulate(spec(overrides))
    assert scaled.scale == chosen
    assert not scaled.notes
    for name, rate in rates(whole).items():
        assert rates(scaled)[name] == pytest.approx(rate, rel=0.06 if name == "putc" else 0.1), name


def test_a_scale_beyond_the_caches_is_told() -> None:
    """The counter-test: at scale 32 the cache takes a quarter of the file, so putc is faster than the platters. A scale
    that was asked for is kept, and the result says what cannot be.
    """
    whole, scaled = (simulate(spec(LARGE), Sample(scale=scale)) for scale in (1, 32))
    assert rates(scaled)["putc"] > 1.1 * rates(whole)["putc"]
    (note,) = scaled.notes
    assert note.startswith("bonnie++, putc, disk0: ")
    assert not whole.notes


def test_a_scale_that_the_check_refuses_is_halved(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the check as the last resort: were caches forgotten, the run would still end at a scale that can be."""
    monkeypatch.setattr("raidsim.scenarios.running.base.sample._CACHES", 0.01)
    many = Sample(program_bytes=1 << 28, least_memory_bytes=8 << 20)
    assert scale_for(spec(LARGE), many) == 32
    found = simulate(spec(LARGE), many)
    assert found.scale < 32
    assert not found.notes


def test_large_caches_make_the_scale_smaller() -> None:
    """Protects the rule: the files of each step are 16 times the caches below their file system, of all data drives."""
    many = Sample(program_bytes=1 << 20)
    assert scale_for(spec(LARGE), many) == 4
    assert scale_for(spec(LARGE, level="raid0"), many) == 1
    assert scale_for(spec(LARGE, level="raid10"), many) == 2
    assert scale_for(spec(LARGE, processes=2), many) == 8
    write = {"program": "dd", "size": "256MiB", "block_size": "1MiB"}
    assert scale_for(spec(LARGE, write), many) == 1


def test_machines_that_are_compared_have_one_scale() -> None:
    """Protects studies: a disk, an array and two processes have the scale that the caches of the array allow, other
    programs their own; a scale that is asked for is kept.
    """
    write = {"program": "dd", "size": "8GiB", "block_size": "1MiB"}
    one, array, two = spec(LARGE), spec(LARGE, level="raid10"), spec(LARGE, processes=2)
    other = spec(LARGE, write)
    sample = with_common_scales(Sample(program_bytes=1 << 28), [one, array, two, other])
    assert [scale_for(each, sample) for each in (one, array, two)] == [2, 2, 2]
    assert scale_for(other, sample) > 2
    assert scale_for(one, Sample(scale=3, scales=sample.scales)) == 3
