"""`raidsim links` as a person runs it: the list, one entry with its sources, JSON, bad names; and links in a result."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from raidsim.cli import main as cli
from raidsim.model.links.catalogue import link_model, link_names
from raidsim.model.network.protocols import protocol_names

SMALL = """
machine:
  links: {uplink: SAS 3Gb/s x1, hba: {model: 9207-8i}}
  port: {links: [uplink, hba]}
  drives: {model: Exos-10E2400-2400GB, count: 2}
network: {protocol: nvme-tcp, port: 10GbE}
arrays: {md0: raid0}
workload: {kind: load, block_size: 1MiB, depth: 8, read_share: 50%, warm_up: 0.1s, duration: 0.3s}
"""


def run(*arguments: str) -> object:
    """Exit status of the command line; 0 if it simply ends."""
    try:
        cli.main(list(arguments))
    except SystemExit as ended:
        return ended.code
    return 0


def test_the_list_has_a_line_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the table: every link and every protocol on one line, no line wider than a wide terminal."""
    assert run("links") == 0
    lines = capsys.readouterr().out.splitlines()
    for name in (*link_names(), *protocol_names()):
        assert len([line for line in lines if line.startswith(f"  {name}  ")]) == 1, name
    (adapter,) = (line for line in lines if line.startswith("  9300-8i "))
    assert "7.10 GB/s" in adapter
    assert "1,000,000" in adapter
    assert max(map(len, lines)) <= 140


def test_one_entry_shows_every_number_with_its_origin(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects the sources: of a line, of an adapter with the line it sits in, and of a protocol."""
    for name, words in (
        ("pcie 3.0 x8", ("7.10 GB/s to the host", "each way at once", "128/130", "256B", "assumed: ")),
        ("9300-8i", ("PCIe 3.0 x8", "1000000", "128/130")),
        ("nfs4", ("NFS4_DEF_SLOT_TABLE_SIZE", "64", "assumed: ")),
    ):
        assert run("links", name) == 0
        shown = capsys.readouterr().out
        assert all(word in shown for word in words), name


def test_json_is_in_si_units(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects programs: one object; of one entry with the origin of each value."""
    assert run("links", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert list(printed) == ["links", "protocols"]
    assert printed["links"]["10GbE"]["rate"] == link_model("10GbE").rate
    assert run("links", "sata 6gb/s", "--json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["name"] == "SATA 6Gb/s"
    assert printed["fields"]["duplex"] == {
        "value": False,
        "source": printed["fields"]["duplex"]["source"],
        "assumed": None,
        "spread": None,
    }


def test_an_unknown_link_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """Protects from a list that is empty: the name, and what is meant perhaps."""
    assert run("links", "PCIe 4.0 x5") == 2
    shown = capsys.readouterr().err
    assert "did you mean PCIe 4.0 x" in shown
    assert "Traceback" not in shown


def test_a_run_shows_both_directions(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """Protects the usage table: what a link is, how busy each direction was, and the adapter's commands."""
    path = tmp_path / "small.yaml"
    path.write_text(SMALL, encoding="utf-8")
    assert run("run", str(path)) == 0
    lines = capsys.readouterr().out.splitlines()
    begin = next(number for number, line in enumerate(lines) if "uplink (SAS 3Gb/s x1)" in line)
    directions = [line.split()[:3] for line in lines[begin + 1 : begin + 3]]
    assert directions == [["to", "the", "host"], ["to", "the", "drives"]]
    assert any(line.strip().startswith("commands") for line in lines)
    assert any("network (10GbE)" in line for line in lines)
    assert run("run", str(path), "--json") == 0
    usages = {usage["name"]: usage for usage in json.loads(capsys.readouterr().out)["usages"]}
    assert usages["uplink"]["what"] == "SAS 3Gb/s x1"
    assert [way["name"] for way in usages["hba"]["ways"]] == ["to the host", "to the drives", "commands"]
    assert usages["network"]["ways"][0]["name"] == "to the clients"
