"""The catalogue of drives: complete, sourced, and refusing what is not."""

import json
from pathlib import Path

import pytest
from typer import Typer
from typer.testing import CliRunner

from raidsim.cli.commands.drives import drives_command
from raidsim.model.core.errors import InputError
from raidsim.model.disk.spec import DriveSpec, mechanics
from raidsim.model.drives.catalogue import drive, drive_names, drive_sources, hard_disk, hard_disk_names, load_drive

SEEDS = {"WD2500JB", "WD800JB", "ST3120022A", "ST3120026A", "Maxtor-4G120J6", "WD2500JS", "WD5000AAKS"}
TODAY = {"IronWolf-Pro-20TB", "Exos-X20-20TB-SAS", "Exos-10E2400-2400GB", "Exos-15E900-900GB"}


def test_the_catalogue_has_the_drives_of_the_studies_and_of_today() -> None:
    """Studies refer to these names."""
    assert set(drive_names()) >= SEEDS | TODAY


@pytest.mark.parametrize("name", hard_disk_names())
def test_every_drive_loads_and_every_number_has_an_origin(name: str) -> None:
    """A number without a source or a reason is not data."""
    spec = hard_disk(name)
    geometry, seeks = mechanics(spec)
    assert geometry.capacity == spec.capacity
    assert seeks.read[1] == pytest.approx(spec.seek_track_to_track)
    for origin in drive_sources(name).values():
        assert (origin.source is None) != (origin.assumed is None)
    required = {key for key, info in DriveSpec.model_fields.items() if info.is_required()}
    assert required <= drive_sources(name).keys()


def test_wd2500jb_is_what_the_kernel_printed() -> None:
    """488,397,168 sectors, 7,200 rpm, 8 MB, UDMA/100, no queuing."""
    spec = hard_disk("wd2500jb")
    assert spec.capacity == 488_397_168 * 512
    assert (spec.rotation, spec.cache, spec.interface_rate, spec.queue_depth) == (7200, 8 << 20, 100e6, 1)
    assert (spec.seek_track_to_track, spec.seek_average, spec.seek_full_stroke) == (0.002, 0.0089, 0.021)


def test_an_unknown_drive_names_the_close_ones() -> None:
    """A slip of the finger gets an answer that helps."""
    with pytest.raises(InputError, match="did you mean WD2500J"):
        drive("WD2500JX")


def test_values_can_be_replaced_and_are_checked() -> None:
    """Calibration replaces numbers; the result is as valid as a file's, and the original is untouched."""
    spec = hard_disk("WD2500JB")
    faster = spec.with_values(outer_media_rate=70e6, read_overhead="0.1ms")
    assert (faster.outer_media_rate, faster.read_overhead) == (70e6, 1e-4)
    assert spec.outer_media_rate == 63.6e6
    assert mechanics(faster)[0].media_rate(0) == pytest.approx(70e6)
    for wrong in ({"seek_average": 0.0205}, {"look_ahead": "1MiB"}, {"outer_media_rate": 1e6}, {"cache": 0}):
        with pytest.raises(ValueError, match=r"look_ahead|average|rates|cache"):
            spec.with_values(**wrong)


def test_overheads_do_not_rebuild_the_mechanics() -> None:
    """Two drives with the same mechanics share their tables: a fit of overheads, or an array of 24, costs one."""
    spec = hard_disk("WD2500JB")
    assert mechanics(spec)[1] is mechanics(spec.with_values(read_overhead=1e-4))[1]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model: WD", "field model: it has no value"),
        ("model: {value: WD}", "field model"),
        ("model: {value: WD, source: a, assumed: b}", "field model"),
        ("model: {value: WD, source: ''}", "origin is empty"),
        ("rotation: {value: 7200, source: a}", "rotation"),
        ("- 1", "mapping"),
    ],
)
def test_files_without_origin_or_unit_are_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message names the file, the line and the field."""
    path = tmp_path / "mine.yaml"
    path.write_text("# a comment\n" + text)
    with pytest.raises(InputError, match=says) as caught:
        load_drive(path)
    assert "mine.yaml:2" in str(caught.value)


def _invoke(*arguments: str) -> str:
    app = Typer()
    app.command()(drives_command)
    result = CliRunner().invoke(app, list(arguments))
    assert result.exit_code == 0, result.output
    return result.stdout


def test_command_lists_the_catalogue() -> None:
    """Every name stands in the table and in the JSON."""
    table, document = _invoke(), json.loads(_invoke("--json"))
    assert set(document["drives"]) == set(drive_names())
    assert all(name in table for name in drive_names())
    assert document["drives"]["WD2500JB"]["rotation"] == 7200


def test_command_shows_where_each_number_comes_from() -> None:
    """Assumptions are called that."""
    text, document = _invoke("WD2500JB"), json.loads(_invoke("WD2500JB", "--json"))
    assert "assumed: three platters" in text
    assert document["fields"]["heads"] == {
        "value": 6,
        "source": None,
        "assumed": drive_sources("WD2500JB")["heads"].assumed,
        "spread": None,
    }
    assert document["fields"]["capacity"]["source"]
