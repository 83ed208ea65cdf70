"""The solid-state drives of the catalogue: complete, sourced, of every kind, and shown by the command."""

import json

import pytest
from typer import Typer
from typer.testing import CliRunner

from raidsim.cli.commands.drives import drives_command
from raidsim.model.core.errors import InputError
from raidsim.model.drives.catalogue import (
    drive,
    drive_names,
    drive_sources,
    hard_disk,
    hard_disk_names,
    solid_state_names,
)
from raidsim.model.solid_state.spec import SolidStateSpec
from raidsim.validation.prediction import data_sheets


@pytest.mark.parametrize("name", solid_state_names())
def test_every_drive_loads_and_every_number_has_an_origin(name: str) -> None:
    """A number without a source or a reason is not data; nothing that has no usual value is left out."""
    spec = drive(name.lower())
    assert isinstance(spec, SolidStateSpec)
    assert not spec.rotational
    sources = drive_sources(name)
    required = {key for key, info in SolidStateSpec.model_fields.items() if info.is_required()}
    assert required | {"queue_depth", "power_loss_protection", "planes", "bits_per_cell", "mtbf"} <= sources.keys()
    for origin in sources.values():
        assert (origin.source is None) != (origin.assumed is None)


def test_every_kind_is_there() -> None:
    """SATA, SAS and NVMe, for servers and desktops, with memory for the whole map and without."""
    specs = [drive(name) for name in solid_state_names()]
    assert len(specs) >= 25
    assert {spec.interface.split()[0] for spec in specs} == {"SATA", "SAS", "PCIe", "memory"}
    assert {spec.interface.split()[1] for spec in specs if spec.interface.startswith("PCIe")} == {"3.0", "4.0", "5.0"}
    flash = [spec for spec in specs if isinstance(spec, SolidStateSpec)]
    assert {spec.power_loss_protection for spec in flash} == {True, False}
    assert any(spec.mapping_reach for spec in flash)
    assert any(spec.slc_cache for spec in flash)
    assert {1, 3, 4} <= {spec.bits_per_cell for spec in flash}
    assert any(spec.in_place for spec in flash)


def test_a_name_means_one_drive_of_either_kind() -> None:
    """Hard disks and solid-state drives share one catalogue; what needs a disk that turns says so."""
    names = [name.casefold() for name in drive_names()]
    assert len(set(names)) == len(names) == len(hard_disk_names()) + len(solid_state_names())
    assert all(drive(name).rotational for name in hard_disk_names())
    with pytest.raises(InputError, match=r"a solid-state drive; expected: .*WD2500JB"):
        hard_disk("Samsung-PM9A3-3840GB")
    with pytest.raises(InputError, match="did you mean Samsung-980-PRO-1TB"):
        drive("Samsung-980-PRO-2TB")


def _invoke(*arguments: str) -> str:
    app = Typer()
    app.command()(drives_command)
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_the_command_shows_them() -> None:
    """A table of their own; every field with its origin; one flag in the JSON tells the kinds apart."""
    table = _invoke()
    assert all(name in table for name in solid_state_names())
    drives = json.loads(_invoke("--json"))["drives"]
    assert drives["Intel-P3700-2TB"]["rotational"] is False
    assert drives["WD2500JB"]["rotational"] is True
    text = _invoke("Intel-S3700-800GB")
    assert "Micron L74A data sheet" in text
    assert "suspend_time" in text
    assert "none" in text


def test_the_command_compares_with_the_data_sheet(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sheet's figures beside the model's, with what was calibrated told from what was predicted."""
    monkeypatch.setattr(data_sheets, "_MEASURED", 300)
    monkeypatch.setattr(data_sheets, "_BUFFERS", 0)
    table, document = (
        _invoke("crucial-mx500-1tb", "--sheet"),
        json.loads(_invoke("Crucial-MX500-1TB", "--sheet", "--json")),
    )
    assert "95,000/s" in table
    assert "median error" in table
    assert {figure["use"] for figure in document["figures"]} == {"calibrate", "predict"}
    assert set(document["median_error"]) == {"calibrate", "predict"}


@pytest.mark.parametrize("name", solid_state_names())
def test_every_drive_says_what_a_flush_takes(name: str) -> None:
    """Milliseconds of drives for desktops, microseconds where capacitors keep what was written; with its origin."""
    spec = drive(name)
    assert isinstance(spec, SolidStateSpec)
    assert "flush_time" in drive_sources(name)
    assert spec.flush_time is not None
    low, high = (0.0, 50e-6) if spec.power_loss_protection else (0.2e-3, 5e-3)
    assert low <= spec.flush_time <= high


def test_fsync_of_flash_and_of_a_disk() -> None:
    """A desktop drive takes a flush and a program, a server's drive microseconds, a disk a seek and most of a turn."""
    spec = drive("Samsung-980-PRO-1TB")
    assert isinstance(spec, SolidStateSpec)
    assert spec.flush_time is not None
    assert spec.flush_time < data_sheets.synced_write("Samsung-980-PRO-1TB") < spec.flush_time + 0.5e-3
    assert data_sheets.synced_write("Samsung-PM9A3-3840GB") < 50e-6
    turn_s = 60 / 7200
    assert turn_s < data_sheets.synced_write("WD-Gold-12TB") < 4 * turn_s
