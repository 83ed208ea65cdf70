"""What drives say of themselves: hdparm -I, nvme list -o json of nvme-cli 1 and 2, nvme id-ctrl."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.scenarios.description.scenario import ScenarioSpec
from raidsim.scenarios.documents.document import document_from

HDPARM = (Path(__file__).parents[2] / "pasted/made-hdparm.txt").read_text(encoding="utf-8")
OLD_LIST = """\
{
  "Devices" : [
    {
      "NameSpace" : 1,
      "DevicePath" : "/dev/nvme0n1",
      "ModelNumber" : "Samsung SSD 970 EVO Plus 1TB",
      "UsedBytes" : 250059350016,
      "PhysicalSize" : 1000204886016,
      "SectorSize" : 512
    }
  ]
}
"""
NEW_LIST = """\
{
  "Devices":[
    {
      "HostNQN":"x",
      "Subsystems":[
        {
          "Subsystem":"nvme-subsys0",
          "Controllers":[
            {
              "Controller":"nvme0",
              "ModelNumber":"Samsung SSD 970 EVO Plus 1TB",
              "Namespaces":[
                {"NameSpace":"nvme0n1", "NSID":1, "PhysicalSize":1000204886016, "SectorSize":512}
              ],
              "Paths":[]
            }
          ],
          "Namespaces":[]
        }
      ]
    }
  ]
}
"""
IDENTIFIED = """\
# nvme id-ctrl /dev/nvme0
NVME Identify Controller:
vid       : 0x144d
sn        : x
mn        : Samsung SSD 970 EVO Plus 1TB
fr        : 2B2QEXM7
tnvmcap   : 1000204886016
vwc       : 0x1
"""


def made(text: str) -> tuple[ScenarioSpec, Inspection]:
    """The scenario of a text."""
    found = inspect([Source("x", text)], "x")
    return document_from(found.text, "again").spec(), found


def test_hdparm() -> None:
    """Protects -I: model, size by its sectors, rotation, interface, and a write cache that is off or on."""
    spec, _ = made(HDPARM)
    drive = spec.machine.drives["sda"].hard_disk()
    assert (drive.capacity, drive.rotation, drive.write_cache) == (4000787030016, 5400, False)
    assert drive.interface.startswith("SATA")
    on = made(HDPARM.replace("    \tWrite cache", "   *\tWrite cache"))[0]
    assert on.machine.drives["sda"].hard_disk().write_cache
    two = made(HDPARM + HDPARM.replace("/dev/sda", "/dev/sdb"))[0]
    assert list(two.machine.drives) == ["sda", "sdb"]


def test_the_state_of_a_write_cache() -> None:
    """Protects hdparm -W: the write cache of a drive that another output describes."""
    disk = "NAME SIZE TYPE TRAN MODEL\nsda 3.6T disk sata ST4000NM0035-1V4107\n\n"
    for state, on in (("0 (off)", False), ("1 (on)", True)):
        spec, _ = made(f"{disk}/dev/sda:\n write-caching =  {state}\n")
        assert spec.machine.drives["sda"].hard_disk().write_cache == on


def test_a_link_of_pci_express() -> None:
    """Protects lspci -vv: a drive's link that runs at less than it can is named; others are not."""
    text = (
        "01:00.0 Non-Volatile memory controller: Samsung Electronics Co Ltd NVMe SSD Controller PM9A1 (prog-if 02)\n"
        "\tCapabilities: [70] Express (v2) Endpoint, MSI 00\n"
        "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x4, ASPM L1, Exit Latency L1 <64us\n"
        "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x4\n\n"
        "02:00.0 Ethernet controller: Intel Corporation I210\n"
        "\t\tLnkCap:\tPort #1, Speed 5GT/s, Width x1, ASPM L0s L1\n"
        "\t\tLnkSta:\tSpeed 2.5GT/s, Width x1\n\n"
    )
    _, found = made(f"{text}{OLD_LIST}")
    (note,) = found.notes
    assert note.startswith("x:4: the link of 01:00.0 (Samsung")
    assert "runs at 8 GT/s x4, and the device is made for 16 GT/s x4" in note
    assert "interface_rate: 3940MB/s" in note
    assert not made(text.replace("8GT/s (downgraded)", "16GT/s") + OLD_LIST)[1].notes


@pytest.mark.parametrize("text", [OLD_LIST, NEW_LIST, IDENTIFIED])
def test_nvme(text: str) -> None:
    """Protects nvme-cli's forms: the same drive by its namespace, which arrays name."""
    mirror = "md0 : active raid1 nvme0n1p1[0] nvme1n1p1[1]\n      976630464 blocks super 1.2 [2/2] [UU]\n"
    spec, found = made(text)
    assert list(spec.machine.drives) == ["nvme0n1"]
    assert spec.machine.drives["nvme0n1"].spec().capacity == 1000204886016
    assert not found.notes
    array, _ = made(f"{text}\n\n{mirror}")
    assert list(array.machine.drives) == ["nvme0n1", "nvme1n1"]


def test_which_controller_nobody_tells() -> None:
    """Protects id-ctrl without its command: a name is given, and that is said; a list without names is refused."""
    spec, found = made(IDENTIFIED.split("\n", 1)[1])
    assert list(spec.machine.drives) == ["nvme0n1"]
    assert any("no command before it tells which drive" in note for note in found.notes)
    with pytest.raises(InputError, match=r"expected: a namespace with 'DevicePath' or 'NameSpace'"):
        made(OLD_LIST.replace('"DevicePath" : "/dev/nvme0n1",', "").replace('"NameSpace" : 1,', ""))
