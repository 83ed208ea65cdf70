"""A hardware RAID enclosure of twelve drives under bonnie and PostMark: what a server's memory and parity cost decide.

The machine is the one of the Gateway 840 study before any fit.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import pytest

from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study
from raidsim.scenarios.running.base.sample import Sample
from raidsim.scenarios.running.simulate import simulate

STUDY = load_study("gateway-2005")
MIB = 1 << 20


def figures(
    run: str,
    scale: int,
    memory: int | None = None,
    array: dict[str, Any] | None = None,
    controller: dict[str, Any] | None = None,
) -> dict[str, float]:
    """What the programs of a run print, with other memory, another array or another controller than the study's."""
    return _figures(run, scale, memory, json.dumps(array or {}), json.dumps(controller or {}))


@cache
def _figures(run: str, scale: int, memory: int | None, array: str, controller: str) -> dict[str, float]:
    """The same of what can be looked up: several tests compare with the same run."""
    scenario = RunBuilder(STUDY, {}).scenario(run)
    document = scenario.model_dump()
    if memory is not None:
        document["machine"]["memory"] = memory
    (name,) = document["arrays"]
    document["arrays"][name] |= json.loads(array)
    document["machine"]["controllers"]["gateway"]["overrides"] |= json.loads(controller)
    return simulate(type(scenario).model_validate(document), Sample(scale=scale)).figures


def seeks(memory: int | None) -> float:
    """Bonnie's seeks per second in a file of 2,030 MiB."""
    return figures("raid0/bonnie", 8, memory)["bonnie.seeks_rate"]


def test_seeks_in_a_file_that_memory_nearly_holds_cost_little() -> None:
    """Protects bonnie's 1,551 to 2,426 seeks/s: nine of ten find their block in memory, the drives see the tenth."""
    assert 1000 < seeks(None) < 6000


def test_seeks_in_a_file_that_memory_does_not_hold_are_the_drives() -> None:
    """Counter-test: with a quarter of the memory most seeks wait for a drive, three at a time: a few hundred/s."""
    assert 100 < seeks(512 * MIB) < 600


def raid_0_over_raid_10(controller: dict[str, Any] | None) -> float:
    """How much faster bonnie reads on twelve data drives than on six pairs."""
    rates = [figures(f"{level}/bonnie", 8, controller=controller) for level in ("raid0", "raid10")]
    return rates[0]["bonnie.read_rate"] / rates[1]["bonnie.read_rate"]


def test_a_reader_gets_less_of_fewer_data_drives_although_the_link_limits_both() -> None:
    """Protects the order of the reads, 1.53 in the report: the narrower stripe is waited for twice as often."""
    assert raid_0_over_raid_10(None) > 1.03


def test_read_ahead_for_steadily_both_read_at_the_links_rate() -> None:
    """Counter-test: without the mechanism the link makes them equal."""
    assert raid_0_over_raid_10({"reads_ahead": "steadily", "read_ahead_rows": 8}) < 1.01


def postmark(run: str, array: dict[str, Any] | None = None) -> float:
    """Seconds that PostMark takes."""
    return figures(run, 32, array=array)["postmark.seconds"]


def test_postmark_ranks_raid_10_above_raid_50() -> None:
    """Protects the order that bonnie does not show: files begin and end inside a stripe, and RAID 50 pays for that."""
    assert postmark("raid50/postmark") > 1.02 * postmark("raid10/postmark")


def test_without_parity_the_same_data_drives_are_above_raid_10() -> None:
    """Counter-test: ten drives without parity, as many as RAID 50 has for data, are not slower than RAID 10's six."""
    ten = [f"d{number}" for number in range(10)]
    striped = postmark("raid50/postmark", {"level": "raid0", "members": ten, "groups": None})
    assert striped < postmark("raid10/postmark")


@pytest.mark.slow
def test_a_long_run_of_postmark_gives_what_a_scaled_one_gives() -> None:
    """Protects the scale: a quarter of the files and of the memory takes a quarter of the time.

    The long one is an eighth of the report's; half of it and the whole one come within 1 % of it.
    """
    long, scaled = (figures("raid0/postmark", scale)["postmark.seconds"] for scale in (8, 32))
    assert long == pytest.approx(scaled, rel=0.15)
