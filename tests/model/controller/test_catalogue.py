"""The catalogue of controllers: complete, sourced, and refusing what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.model.controller.catalogue import (
    ControllerSpec,
    controller,
    controller_names,
    controller_sources,
    load_controller,
)
from raidsim.model.core.engine import Engine
from raidsim.model.core.errors import InputError


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
