"""The catalogue of controllers: complete, sourced, and refusing what is not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidsim.model.controller import catalogue
from raidsim.model.controller.catalogue import (
    CATALOGUE,
    FAMILIES,
    ControllerSpec,
    controller,
    controller_names,
    controller_relatives,
    controller_sources,
    load_controller,
)
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import InputError


def _text(name: str) -> str:
    return (CATALOGUE / f"{name}.yaml").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", controller_names())
def test_every_controller_loads_and_every_number_has_an_origin(name: str) -> None:
    """A number without a source or a reason is not data; what the model is built from comes out of it."""
    spec = controller(name)
    origins = controller_sources(name)
    assert all((origin.source is None) != (origin.assumed is None) for origin in origins.values())
    required = {key for key, info in ControllerSpec.model_fields.items() if info.is_required()}
    assert required <= origins.keys()
    assert spec.host_link("host").rate == spec.host_rate
    firmware = spec.firmware(Engine(), "cpu")
    assert firmware.prices.xor_s_per_byte == pytest.approx(1 / spec.xor_rate)
    assert (firmware.cpu.cores, firmware.prices.page_s) == (spec.cores, 0.0)
    assert spec.parity_settings().heads == 0


def test_the_gateway_840_is_as_reported() -> None:
    """What the report and the user's guide say, and nothing more, is called found."""
    spec = controller("gateway-840")
    assert (spec.ports, spec.host_rate, spec.host_interface) == (12, 320e6, "Ultra320 SCSI")
    assert "raid1" not in spec.levels
    found = {key for key, origin in controller_sources("Gateway-840").items() if origin.source}
    report = {"model", "host_interface", "host_rate", "ports", "levels"}
    guide = {"clusters_writes", "battery", "partial_rows", "reads_ahead", "read_ahead_rows", "sequential_reads"}
    assert found == report | guide


def test_write_back_follows_the_battery_of_the_entry() -> None:
    """Boards without a battery that write back all the same say so."""
    assert controller("LSI-9260-8i").writes_back
    assert not controller("LSI-9260-8i").with_values(battery="failed").writes_back
    assert controller("3ware-8500").writes_back


def test_values_can_be_replaced_and_are_checked() -> None:
    """A scenario replaces fields; the result is as valid as a file's."""
    spec = controller("Gateway-840").with_values(cache="512MiB", command="20us")
    assert (spec.cache, spec.command) == (512 << 20, 20e-6)
    with pytest.raises(ValueError, match="low_water"):
        spec.with_values(low_water=0.9)


def test_an_unknown_controller_names_the_close_ones() -> None:
    """A slip of the finger gets an answer that helps."""
    with pytest.raises(InputError, match="did you mean Gateway-840"):
        controller("Gateway-480")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("model: WD", "field model: it has no value"),
        ("model: {value: WD}", "field model"),
        ("model: {value: WD, source: ''}", "origin is empty"),
        ("clock: {value: 400, source: a}", "clock"),
        ("- 1", "mapping"),
    ],
)
def test_files_without_origin_or_unit_are_refused(tmp_path: Path, text: str, says: str) -> None:
    """The message names the file, the line and the field."""
    path = tmp_path / "mine.yaml"
    path.write_text("# a comment\n" + text)
    with pytest.raises(InputError, match=says) as caught:
        load_controller(path)
    assert "mine.yaml:2" in str(caught.value)


OWN = """\
model: {value: Mine, source: a sheet}
host_interface: {value: PCIe, source: a sheet}
"""


@pytest.fixture
def families(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of families with two of the catalogue's, and a file of a controller beside it."""
    for name in ("cached", "IOP348"):
        (tmp_path / f"{name}.yaml").write_text((FAMILIES / f"{name}.yaml").read_text(encoding="utf-8"))
    monkeypatch.setattr(catalogue, "FAMILIES", tmp_path)
    (tmp_path / "own").mkdir()
    return tmp_path / "own" / "mine.yaml"


def test_a_family_gives_what_a_file_leaves_out(families: Path) -> None:
    """A file of a few lines is a whole controller: values of its family, and of that one's family, with origin and
    spread; what it says itself takes precedence, and a value that was found has no spread.
    """
    families.write_text(
        f"family: iop348\n{OWN}ports: {{value: 4, source: a sheet}}\ncommand: {{value: 9us, source: a sheet}}\n"
        "levels: {value: [raid0], source: a sheet}\n"
    )
    spec, origins = load_controller(families)
    assert (spec.model, spec.ports, spec.command, spec.cores) == ("Mine", 4, 9e-6, 2)
    assert origins["command"].spread is None
    assert origins["drive_command"].spread == 0.6
    assert origins["queue_depth"].assumed
    assert next(iter(origins)) == "model"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("family: IOP384", "mine.yaml:1: field family.*not in the catalogue; did you mean IOP348"),
        ("family: [cached]", "mine.yaml:1: field family: found .*expected: the name of a family"),
        ("family: mine", "field family: mine, which mine is of"),
        ("family: round", "field family: round, which round is of"),
        (
            "family: IOP348\nclock: {value: 1GHz, source: a, spread: 10%}",
            "mine.yaml:2: field clock: a spread of a value",
        ),
        ("family: IOP348\nclock: {value: 1GHz, assumed: a, spread: 120%}", "mine.yaml:2: field clock.spread: "),
        (f"family: IOP348\n{OWN}ports: {{value: none, source: a}}", "mine.yaml:4: field ports"),
    ],
)
def test_a_wrong_family_or_spread_is_refused(families: Path, text: str, says: str) -> None:
    """The message names the file, the line and the field."""
    (families.parent.parent / "mine.yaml").write_text("family: cached")
    (families.parent.parent / "round.yaml").write_text("family: round")
    families.write_text(text)
    with pytest.raises(InputError, match=says):
        load_controller(families)


@pytest.mark.parametrize("name", [name for name in controller_names() if "family: " in _text(name)])
def test_what_no_sheet_has_says_how_far_off_it_may_be(name: str) -> None:
    """The times of the firmware, the rate of parity and the memory left for the cache: found, or with a spread."""
    origins = controller_sources(name)
    for field in ("command", "fast_path", "drive_command", "stripe", "xor_rate", "cache", "host_transfer"):
        if field in origins:
            assert (origins[field].source is None) == (origins[field].spread is not None), field


def test_every_family_has_a_controller() -> None:
    """A family that no file names is dead."""
    named = {
        word for path in CATALOGUE.rglob("*.yaml") for word in re.findall(r"^family: (.*)$", path.read_text(), re.M)
    }
    assert named == {path.stem for path in FAMILIES.glob("*.yaml")}


def test_no_product_is_a_relative_of_two() -> None:
    """A tool's output tells one product, for which one entry is the nearest."""
    numbers = [number for name in controller_names() for number in controller_relatives(name)]
    assert len(numbers) == len(set(numbers))
    own = {part for name in controller_names() for part in name.split("-")}
    assert not own & set(numbers)


def test_the_cache_is_what_listings_say() -> None:
    """The firmware takes its part of the memory on the board: a figure that was found beats a share that is assumed."""
    found = {name: controller(name).cache >> 20 for name in controller_names()}
    assert found["Dell-PERC-H730P"] == found["Lenovo-730-8i"] == 1931
    assert found["LSI-9361-8i"] == 1024 - (2048 - 1931)
    assert (found["LSI-9260-8i"], found["LSI-9271-8i"], found["LSI-9560-16i"]) == (397, 873, 6678)
    assert found["LSI-9240-8i"] == found["HPE-E208i-a"] == 0
