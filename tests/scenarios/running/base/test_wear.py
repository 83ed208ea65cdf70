"""Endurance: how long flash lasts at a load, by the data sheet and the simulated write amplification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from raidsim.cli.commands.run import run_command
from raidsim.scenarios.documents.document import read_document
from raidsim.scenarios.running.base.prediction import Prediction
from raidsim.scenarios.running.base.wear import DriveWear, wear_of_day
from raidsim.scenarios.running.simulate import simulate

YEAR_S = 365.25 * 86400
SCENARIO = """\
name: worn
machine:
  model: nvme-server
  drives: {{model: {model}, count: 2, state: {state}}}
arrays:
  md0: {{level: raid1, bitmap: none}}
workload: {{kind: load, block_size: {size}, pattern: {pattern}, read_share: {reads}, total_iops: {iops}, warm_up: 5ms,
           duration: 40ms}}
"""


def ran(tmp_path: Path, iops: int = 20000, **values: str) -> Prediction:
    """A mirror of two drives with writes at a rate."""
    given = {
        "model": "Samsung-PM9A3-3840GB",
        "state": "steady",
        "size": "4KiB",
        "pattern": "random",
        "reads": "0 %",
    } | values
    path = tmp_path / "worn.yaml"
    path.write_text(SCENARIO.format(iops=iops, **given), encoding="utf-8")
    return simulate(read_document(path).spec())


def test_random_writes_of_a_server_last_as_long_as_the_sheet_says(tmp_path: Path) -> None:
    """The load that the sheet is for: 80 MB/s use up 7,008 TB in 2.7 years; twice the load in half of that."""
    first, other = ran(tmp_path).wear
    assert first.amplification == pytest.approx(first.sheet_amplification, rel=0.05)
    assert first.years == pytest.approx(7008e12 / first.write_rate / YEAR_S, rel=0.05)
    assert first.drive_writes_per_day == pytest.approx(1.0, abs=0.01)
    assert first.years <= other.years
    assert ran(tmp_path, 40000).wear[0].years == pytest.approx(first.years / 2, rel=0.1)


def test_writes_in_order_wear_less(tmp_path: Path) -> None:
    """Without garbage collection (a drive filled in order, written in order) flash lasts several times as long."""
    ordered = ran(tmp_path, 2000, state="sequential", pattern="sequential", size="128KiB").wear[0]
    assert ordered.amplification == pytest.approx(1.0, abs=0.1)
    assert ordered.years > 3 * ordered.endurance / ordered.write_rate / YEAR_S


def test_a_desktop_drive_is_rated_without_amplification(tmp_path: Path) -> None:
    """Full and written at random it lasts a fraction of its TBW: garbage collection is not in the sheet's number."""
    worn = ran(tmp_path, model="Samsung-970-EVO-Plus-1TB, overrides: {slc_cache: 0B}").wear[0]
    assert worn.sheet_amplification == 1.0
    assert worn.amplification > 2
    assert worn.years < worn.endurance / worn.write_rate / YEAR_S / 2


def test_what_is_not_written_or_has_no_endurance_does_not_wear(tmp_path: Path) -> None:
    """Readers, hard disks and memory."""
    assert not ran(tmp_path, reads="100 %").wear
    assert not ran(tmp_path, model="null-block").wear
    assert not simulate(read_document(_disks(tmp_path)).spec()).wear


def _disks(tmp_path: Path) -> Path:
    path = tmp_path / "disks.yaml"
    text = SCENARIO.format(iops=50, model="WD-Gold-12TB", state="x", size="4KiB", pattern="random", reads="0 %")
    path.write_text(text.replace(", state: x", "").replace("nvme-server", "storage-server"), encoding="utf-8")
    return path


def test_a_day_of_phases_is_worn_by_all_of_them() -> None:
    """Half the day at twice the rate and half the amplification wears the flash as the other half does."""
    busy = DriveWear("a", 200.0, 1.0, 1.0, 10**12, 10**9)
    calm = DriveWear("a", 100.0, 2.0, 1.0, 10**12, 10**9)
    (day,) = wear_of_day([(busy,), (calm,)], [0.5, 0.5])
    assert day.write_rate == 150.0
    assert day.write_rate * day.amplification == pytest.approx(200.0)
    assert day.years == pytest.approx(busy.years)


def test_the_command_says_it(tmp_path: Path) -> None:
    """In words, with its conditions, and in JSON."""
    ran(tmp_path)
    app = Typer()
    app.command()(run_command)
    path = str(tmp_path / "worn.yaml")
    text = CliRunner().invoke(app, [path, "--no-relief"], catch_exceptions=False).stdout
    said = " ".join(text.split())
    assert "endurance: disk" in said
    assert "MB/s with a write amplification of 5." in said
    assert "1 drive writes a day over 5 years" in said
    document = json.loads(CliRunner().invoke(app, [path, "--json"], catch_exceptions=False).stdout)
    assert document["wear"][0]["years"] == pytest.approx(2.7, rel=0.1)
