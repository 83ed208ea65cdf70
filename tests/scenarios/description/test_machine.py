"""Machines as data: what they mean, and what is refused with which words."""

from __future__ import annotations

from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.drives.catalogue import drive
from raidsim.model.files.description_errors import validate
from raidsim.scenarios.description.machine import MachineSpec
from raidsim.tests.scenarios.small_machine import machine, machine_document


def test_prices_are_seconds() -> None:
    """Protects the price list: times as they are, rates as their inverse, 2 GB/s are 0.5 ns a byte."""
    prices = machine().cpu.prices.prices()
    assert prices.write_call_s == pytest.approx(5e-6)
    assert prices.command_s == pytest.approx(20e-6)
    assert prices.copy_s_per_byte == pytest.approx(0.5e-9)
    assert prices.xor_s_per_byte == pytest.approx(1e-9)


def test_the_cache_of_a_core_goes_with_the_prices() -> None:
    """Protects copying in the cache: so many bytes where given; without it, as if no buffer stayed there."""
    document = machine_document()
    assert validate(MachineSpec, document).cpu.charged().cache_bytes == 0
    document["cpu"]["cache"] = "256KiB"
    charged = validate(MachineSpec, document).cpu.charged()
    assert charged.cache_bytes == 256 << 10
    assert charged.copy_s_per_byte == pytest.approx(0.5e-9)


def test_a_drive_may_differ_from_its_catalogue() -> None:
    """Protects overrides: one field of one drive, and only that."""
    document = machine_document()
    document["drives"]["sdb"]["overrides"] = {"outer_media_rate": "70MB/s"}
    built = validate(MachineSpec, document)
    assert built.drives["sdb"].hard_disk().outer_media_rate == pytest.approx(70e6)
    assert built.drives["sda"].spec() == drive("WD2500JB")
    assert built.drives["sdb"].spec().capacity == drive("WD2500JB").capacity


@pytest.mark.parametrize(
    ("where", "value", "words"),
    [
        (("channels", "sda", "links"), ["agp"], ["channels.sda.links", "'agp'", "pci"]),
        (("drives", "sda", "channel"), "ide9", ["drives.sda.channel", "'ide9'", "sdb"]),
        (("drives", "sda", "model"), "WD9", ["drives.sda.model", "WD9", "WD2500JB"]),
        (("drives", "sda", "overrides"), {"colour": "red"}, ["drives.sda.overrides", "colour"]),
        (("memory",), "lots", ["memory", "lots"]),
        (("memory",), "4KiB", ["memory", "4 KiB", "1 MiB or more"]),
        (("drives", "sda", "overrides"), {"seek_average": 8.9}, ["overrides.seek_average", "8.9", "has no unit"]),
        (("drives", "sda", "overrides"), {"capacity": "100MB"}, ["drives.sda.overrides", "a positive multiple of 512"]),
        (("controllers",), {"pci": {"model": "LSI-9260-8i"}}, ["controllers.pci", "a link has the same name"]),
        (
            ("controllers",),
            {"c": {"model": "LSI-9260-8i", "overrides": {"drive_request": "1000B"}}},
            ["controllers.c.overrides", "drive_request 1000 bytes", "a multiple of 512"],
        ),
        (("cpu", "cores"), 0, ["cpu.cores", "0"]),
    ],
)
def test_what_a_machine_cannot_be(where: tuple[str, ...], value: Any, words: list[str]) -> None:
    """Protects the message: it names the field, what was found, and what there is."""
    document = machine_document()
    here = document
    for key in where[:-1]:
        here = here[key]
    here[where[-1]] = value
    with pytest.raises(InputError) as caught:
        validate(MachineSpec, document)
    assert all(word in str(caught.value) for word in words), str(caught.value)
