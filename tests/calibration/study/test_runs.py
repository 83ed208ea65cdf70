"""The scenarios of a study's runs: what a drive of a report had behind it."""

from __future__ import annotations

import pytest

from raidsim.calibration.study.runs import RunBuilder
from raidsim.calibration.study.study import load_study


@pytest.mark.parametrize(
    ("name", "states"),
    [
        ("sartor-2024", {"sequential"}),
        ("hg2ecz-2023", {"sequential", None}),  # hard disks too
        ("jinpuwang-2019", {None}),  # RAM disks
        ("rosenstein-2019", {"sequential"}),  # which the study gives itself
        ("louwrentius-2019", {None}),
    ],
)
def test_drives_of_reports_were_filled_in_order(name: str, states: set[str | None]) -> None:
    """Flash whose state a study does not give was written once in order; hard disks and memory have no state."""
    builder = RunBuilder(load_study(name), {})
    found = [builder.document(run)["machine"]["drives"].values() for run in builder.study.runs]
    assert {drive["state"] for drives in found for drive in drives} == states


def test_a_state_that_is_given_stays() -> None:
    """A report whose author wore the drives in says so, and its study too."""
    study = load_study("sartor-2024")
    machine = study.machines["nvme"]
    worn = {name: each.model_copy(update={"state": "steady"}) for name, each in machine.drives.items()}
    machines = {**study.machines, "nvme": machine.model_copy(update={"drives": worn})}
    builder = RunBuilder(study.model_copy(update={"machines": machines}), {})
    assert {drive["state"] for drive in builder.document("nvme/raid1")["machine"]["drives"].values()} == {"steady"}
    assert {drive["state"] for drive in builder.document("sata/raid1")["machine"]["drives"].values()} == {"sequential"}
