"""The catalogue of links: rates that can be done on paper, origins of all numbers, names people write, refusals."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.links.catalogue import link_model, link_names, link_sources


@pytest.mark.parametrize(
    ("name", "rate"),
    [
        ("PCIe 1.0 x1", 2.5e9 * 8 / 10 / 8 * 256 / (256 + 24 + 4)),
        ("PCIe 3.0 x8", 8 * 8e9 * 128 / 130 / 8 * 256 / (256 + 24 + 4)),
        ("SAS 12Gb/s x4", 4 * 1.2e9 * 1024 / 1068),
        ("SAS 24Gb/s x1", 22.5e9 * 128 / 150 / 8 * 1024 / 1068),
        ("1GbE", 125e6 * 1448 / 1538),
        ("100GbE", 12.5e9 * 1448 / 1538),
        ("16GFC", 1.7e9 * 2048 / 2108),
        ("SATA 6Gb/s", 560e6),
        ("DMI 3.0 x4", link_model("PCIe 3.0 x4").rate),
        ("9300-8i", link_model("PCIe 3.0 x8").rate),
        ("9207-8i", 8 * link_model("SAS 6Gb/s").rate),
    ],
)
def test_rates_are_what_the_line_leaves(name: str, rate: float) -> None:
    """Protects the arithmetic: bits, code, heads of packets; an adapter has the rate of its narrower side."""
    assert link_model(name).rate == pytest.approx(rate, rel=2e-3)


def test_twice_the_lanes_move_twice_as_much() -> None:
    """Protects the table: every generation and width of PCI Express in order, no rate above its raw one."""
    for generation, raw in (("1.0", 0.25e9), ("2.0", 0.5e9), ("3.0", 0.985e9), ("4.0", 1.97e9), ("5.0", 3.94e9)):
        rates = [link_model(f"PCIe {generation} x{lanes}").rate for lanes in (1, 2, 4, 8, 16)]
        assert rates == pytest.approx([rates[0] * lanes for lanes in (1, 2, 4, 8, 16)])
        assert 0.85 * raw < rates[0] < raw


def test_larger_packets_carry_more() -> None:
    """Protects max_payload and mtu: shares on paper, and no other rate than the usual one where they are the usual."""
    raw = 8 * 8e9 * 128 / 130 / 8
    for payload in (128, 256, 512):
        assert link_model("PCIe 3.0 x8", payload).rate == pytest.approx(raw * payload / (payload + 28))
        assert link_model("9300-8i", payload).rate == pytest.approx(raw * payload / (payload + 28))
    assert link_model("10GbE", mtu=9000).rate == pytest.approx(1.25e9 * 8948 / 9038)
    assert link_model("10GbE", mtu=1500) == link_model("10GbE")


def test_only_sata_goes_one_way_at_a_time() -> None:
    """Protects the directions, which decide whether reads take anything from writes."""
    assert {link_model(name).kind for name in link_names() if not link_model(name).duplex} == {"sata"}
    assert {link_model(name).kind for name in link_names() if link_model(name).command_rate} == {"adapter"}


def test_every_number_has_an_origin() -> None:
    """Protects the catalogue from numbers that nobody can check."""
    for name in link_names():
        for origin in link_sources(name).values():
            assert (origin.source is None) != (origin.assumed is None)


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("pcie 4.0 X4", "PCIe 4.0 x4"),
        ("SAS 12Gbps x4", "SAS 12Gb/s x4"),
        ("sas 6gb/s", "SAS 6Gb/s x1"),
        ("10gbe", "10GbE"),
    ],
)
def test_names_are_found_as_people_write_them(written: str, name: str) -> None:
    """Protects from refusals that only case, blanks or "Gbps" cause."""
    assert link_model(written).name == name


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("PCIe 4.0 x3",), "did you mean PCIe 4.0 x"),
        (("SATA 6Gb/s", 256), "max_payload: found one of SATA 6Gb/s; expected: with PCI Express"),
        (("PCIe 4.0 x4", 300), "a power of two, 128 to 4096 bytes"),
        (("PCIe 4.0 x4", None, 9000), "mtu: found one of PCIe 4.0 x4; expected: with Ethernet"),
        (("10GbE", None, 100), "576 to 9216 bytes"),
    ],
)
def test_what_cannot_be_is_refused(arguments: tuple[str, int | None, int | None], words: str) -> None:
    """Protects people from a link that they did not mean."""
    with pytest.raises(InputError, match=words):
        link_model(*arguments)
