"""What a paste tells besides arrays: links, shingled drives, sectors, memory and processors, in several languages."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

SESSION = (Path(__file__).parents[2] / "pasted/made-session-host.txt").read_text(encoding="utf-8")
DISK = "\nNAME SIZE TYPE\nsda 3.6T disk\n"


def made(text: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of a text."""
    found = inspect([Source("x", text)], "x")
    return document_from(found.text, "again").spec(), found


def test_a_link_that_is_slower_than_its_drive() -> None:
    """Protects "(current: 3.0 Gb/s)": the scenario has that link, and it is said; nothing of a link at full speed."""
    spec, found = made(SESSION)
    rates = {name: spec.machine.drives[name].hard_disk().interface_rate for name in ("sda", "sdb")}
    assert rates == {"sda": pytest.approx(300e6), "sdb": pytest.approx(600e6)}
    assert [note for note in found.notes if "the link of" in note] == [
        "x:25: the link of sda runs at 3 Gb/s, and the drive is made for 6 Gb/s; the scenario has the slower link"
    ]
    json = (
        '{"smartctl": {}, "device": {"name": "/dev/sda", "protocol": "ATA"}, "model_name": "ST4000NM0035-1V4107",\n'
        '"user_capacity": {"bytes": 4000787030016}, "logical_block_size": 512, "physical_block_size": 4096,\n'
        '"interface_speed": {"max": {"string": "6.0 Gb/s"}, "current": {"string": "1.5 Gb/s"}}}\n'
    )
    spec, found = made(json)
    assert spec.machine.drives["sda"].hard_disk().interface_rate == pytest.approx(150e6)
    assert any("runs at 1.5 Gb/s" in note for note in found.notes)


def test_a_shingled_drive_in_an_array_is_said() -> None:
    """Protects people from a rebuild of weeks: a shingled member is named; another drive is not."""
    notes = made(SESSION)[1].notes
    (said,) = [note for note in notes if "shingled (SMR)" in note]
    assert said.startswith("sda: WDC WD40EFAX-68JH4N0 (x:21) is shingled (SMR): long random writes and rebuilds of md0")
    other = made(SESSION.replace("WD40EFAX-68JH4N0", "WD40EFRX-68N32N0"))[1]
    assert not [note for note in other.notes if "shingled" in note]


def test_sectors() -> None:
    """Protects drives with sectors of 4096 bytes, which take no smaller request."""
    spec, _ = made(SESSION)
    assert spec.machine.drives["sdb"].hard_disk().logical_sector == 4096
    assert spec.machine.drives["sda"].hard_disk().logical_sector == 512


def test_memory_and_processors() -> None:
    """Protects lscpu and free: names, cores and clock; the memory in the unit of the command."""
    spec, found = made(SESSION)
    assert (spec.machine.memory, spec.machine.cpu.cores) == (64219 << 20, 16)
    assert "Silver 4110" in found.document["machine"]["cpu"]["name"]
    assert found.document["machine"]["cpu"]["clock"] == "3000MHz"
    foreign = re.sub("CPU max MHz:         ", "CPU MHz:             ", SESSION).replace("Model name:", "Modellname:")
    assert made(foreign)[1].document["machine"]["cpu"] == found.document["machine"]["cpu"]


@pytest.mark.parametrize(
    ("command", "line", "size"),
    [
        ("free", "Mem:       16303260   1", 16303260 << 10),
        ("free -g", "Mem:             31   1", 31 << 30),
        ("free -h", "Mem:           15Gi   1Gi", 15 << 30),
        ("free -b", "Mem:    16694538240   1", 16694538240),
        ("cat it", "Mem:          15921   1", 15921 << 20),
        ("cat it", "Speicher:  16303260   1", 16303260 << 10),
    ],
)
def test_free(command: str, line: str, size: int) -> None:
    """Protects the units of free: those of the command, or else what a machine can have."""
    heads = "              total        used        free      shared\n"
    text = f"admin@nas:~$ {command}\n{heads}{line}     1      1\n"
    assert made(text + DISK)[0].machine.memory == size


@pytest.mark.parametrize(
    "text",
    [
        "Disk /dev/sda: 3.64 TiB, 4000787030016 bytes, 7814037168 sectors\nDisk model: ST4000NM0035-1V4\n",
        "Festplatte /dev/sda: 3,64 TiB, 4000787030016 Bytes, 781403 Sektoren\nFestplattenmodell: ST4000NM0035-1V4\n",
        "Disque /dev/sda : 3,64 TiB, 4000787030016 octets, 7814037168 secteurs\nModèle de disque : ST4000NM0035-1V4\n",
    ],
)
def test_fdisk_in_three_languages(text: str) -> None:
    """Protects fdisk -l of people whose system does not speak English."""
    spec, found = made(text)
    assert spec.machine.drives["sda"].hard_disk().capacity == 4000787030016
    assert any("ST4000NM0035-1V4" in each["why"] for each in found.assumed)
