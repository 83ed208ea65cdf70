"""The machine at hand: what is asked, and what is said of what could not be read. The programs here are stand-ins."""

from __future__ import annotations

import sys
import time
from pathlib import Path

from raidsim.calibration.inspection.inspection import inspect
from raidsim.calibration.inspection.this_machine import Said, ThisMachine, run_program
from raidsim.scenarios.documents.document import document_from
from raidsim.tests.calibration.inspection.cache_texts import LS, LVS_JSON, MDSTAT, STATUS, SYSFS, TABLE, lsblk
from raidsim.tests.calibration.inspection.mdstat_texts import LEVELS, text

SAMPLES = Path(__file__).with_name("samples")
CPUINFO = "processor\t: 0\nmodel name\t: AMD EPYC 7302P 16-Core Processor\ncpu MHz\t\t: 2994.375\n"


class Programs:
    """Stand-ins that print samples; what is not among them is not installed."""

    def __init__(self, said: dict[str, Said]) -> None:
        self.said = said
        self.asked: list[tuple[str, ...]] = []

    def find(self, *names: str) -> str | None:
        """The first that there is."""
        return next((name for name in names if any(key.startswith(name) for key in self.said)), None)

    def run(self, command: tuple[str, ...]) -> Said:
        """What the sample says for it."""
        self.asked.append(command)
        words = " ".join(command)
        return next((said for key, said in self.said.items() if words.startswith(key)), Said("", "no such sample"))


def machine(folder: Path, programs: Programs, mdstat: str = "") -> ThisMachine:
    """A machine with these files and programs."""
    (folder / "mdstat").write_text(mdstat or "Personalities :\nunused devices: <none>\n")
    (folder / "cpuinfo").write_text(CPUINFO)
    (folder / "meminfo").write_text("MemTotal:       65811980 kB\n")
    return ThisMachine(folder, programs.find, programs.run, "Linux 5.15.0-91-generic")


def test_volumes_and_caches_of_this_machine(tmp_path: Path) -> None:
    """Protects a machine with LVM's cache or bcache: dmsetup and lvs are asked, and files of /sys are read."""
    programs = Programs(
        {
            "lsblk": Said(lsblk("sda", "sdb", "sdc", "sdd", "nvme0n1")),
            "dmsetup table": Said(TABLE),
            "dmsetup ls": Said(LS),
            "dmsetup status": Said(STATUS),
            "lvs": Said(LVS_JSON),
        }
    )
    own = machine(tmp_path, programs, MDSTAT)
    asked: list[str] = []
    spec = document_from(inspect(own.collect(asked.append), "this machine").text, "x").spec()
    assert spec.caches["vg0-data"].cache == "nvme0n1"
    assert asked[1:] == ["dmsetup ls", "dmsetup table", "dmsetup status", "lvs"]
    programs = Programs(
        {"lsblk": Said(lsblk("sda", "sdb", "sdc", "sdd", "nvme0n1")), "dmsetup": Said("No devices found\n")}
    )
    own = machine(tmp_path, programs, MDSTAT)
    own.block = tmp_path / "block"
    for line in SYSFS.splitlines():
        path, _, value = line.partition(":")
        file = own.block / path.removeprefix("/sys/block/")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{value}\n")
    asked = []
    spec = document_from(inspect(own.collect(asked.append), "this machine").text, "x").spec()
    assert (spec.caches["bcache0"].on, spec.caches["bcache0"].mode) == ("md0", "writeback")
    assert asked == ["lsblk"]


def test_what_is_asked_and_what_comes_out(tmp_path: Path) -> None:
    """Protects the whole way: arrays from /proc, disks from lsblk and smartctl, the computer, each with its source."""
    blocks = (SAMPLES / "lsblk.json").read_text()
    smart = (SAMPLES / "smartctl-sata.json").read_text()
    programs = Programs({"lsblk": Said(blocks), "smartctl": Said(smart), "mdadm": Said("", "must be super-user")})
    own = machine(tmp_path, programs, text(LEVELS["raid5"]))
    asked: list[str] = []
    found = inspect(own.collect(asked.append), "this machine")
    spec = document_from(found.text, "x").spec()
    assert spec.arrays["md0"].level == "raid5"
    assert spec.machine.cpu.name.startswith("AMD EPYC")
    assert spec.machine.memory == 65811980 * 1024
    assert asked == ["mdadm --detail md0", "lsblk", "smartctl sda", "smartctl sdb", "smartctl sdc"]
    assert own.notes == ["mdadm --detail md0: must be super-user"]
    assert any(each["where"].startswith("lsblk:") for each in found.found)


def test_nothing_that_writes_is_run(tmp_path: Path) -> None:
    """Protects the machine: only subcommands that show, and no log file of the controllers' tools."""
    controller = (SAMPLES / "storcli-controller.json").read_text()
    for tools in ({"storcli64": Said(controller)}, {"MegaCli64": Said((SAMPLES / "megacli-ld.txt").read_text())}):
        programs = Programs({"lsblk": Said((SAMPLES / "lsblk.json").read_text()), **tools})
        machine(tmp_path, programs).collect(lambda _: None)
        assert len(programs.asked) >= 4
        for command in programs.asked:
            if command[0] == "storcli64":
                assert command[2:] == ("show", "all", "J", "nolog")
            elif command[0] == "MegaCli64":
                assert command[1] in ("-AdpAllInfo", "-LDInfo", "-PDList", "-AdpBbuCmd")
                assert command[-1] == "-NoLog"
            else:
                assert command[0] == "lsblk"


def test_what_is_not_installed_is_said_once(tmp_path: Path) -> None:
    """Protects from a silent gap: smartctl that is missing is one note; tools of RAID are none."""
    own = machine(tmp_path, Programs({"lsblk": Said((SAMPLES / "lsblk.json").read_text())}), text(LEVELS["raid5"]))
    own.collect(lambda _: None)
    assert own.notes == [
        "mdadm is not installed; what it would tell is missing",
        "smartctl is not installed; what it would tell is missing",
    ]


def test_files_that_are_not_there_are_said(tmp_path: Path) -> None:
    """Protects machines without md: no /proc/mdstat is a note."""
    own = ThisMachine(tmp_path, Programs({}).find, Programs({}).run, "Linux 6.1.0")
    sources = own.collect(lambda _: None)
    assert [source.kind for source in sources] == ["uname"]
    assert any("mdstat: No such file" in note for note in own.notes)


def test_a_program_that_hangs_is_ended() -> None:
    """Protects from a controller's tool that never answers."""
    began = time.monotonic()
    said = run_program((sys.executable, "-c", "import time; time.sleep(60)"), patience_s=0.3)
    assert said == Said("", "no answer within 0.3 s")
    assert time.monotonic() - began < 10


def test_programs_run_in_a_folder_of_their_own() -> None:
    """Protects the working folder from logs that tools leave beside them; and complaints are passed on."""
    here = run_program((sys.executable, "-c", "import os; print(os.getcwd())")).text.strip()
    assert here
    assert not Path(here).exists()
    failed = run_program((sys.executable, "-c", "import sys; sys.exit('Permission denied')"))
    assert failed == Said("", "Permission denied")
    assert run_program(("/nonexistent/program",)).trouble == "No such file or directory"


def test_pools_of_this_machine(tmp_path: Path) -> None:
    """Protects pools at hand: asked for by the kernel's names; a machine without a pool is not asked for more."""
    status = "  pool: tank\n state: ONLINE\nconfig:\n\n\ttank ONLINE 0 0 0\n\t  sda ONLINE 0 0 0\n"
    listed = "NAME  SIZE  ALLOC  FREE  FRAG  CAP  DEDUP  HEALTH\ntank  3.6T  1T  2.6T  1%  27%  1.00x  ONLINE\n"
    said = {
        "zpool status": Said(status),
        "zpool list": Said(listed),
        "zpool get": Said("NAME  PROPERTY  VALUE  SOURCE\ntank  ashift  13  local\n"),
        "zfs list": Said("NAME  USED  AVAIL  REFER  VOLSIZE\ntank/vm  50G  2T  40G  100G\n"),
    }
    (tmp_path / "spl/kstat/zfs").mkdir(parents=True)
    (tmp_path / "spl/kstat/zfs/arcstats").write_text("name type data\nc_max 4 1073741824\n")
    programs = Programs(said)
    found = inspect(machine(tmp_path, programs).collect(lambda _: None), "mine")
    spec = document_from(found.text, "mine").spec()
    assert (spec.pools["tank"].ashift, spec.pools["tank"].datasets["vm"].volume) == (13, 100 << 30)
    assert spec.zfs_parameters.zfs_arc_max == 1 << 30
    programs = Programs({"zpool status": Said("no pools available\n")})
    machine(tmp_path, programs).collect(lambda _: None)
    assert [command for command in programs.asked if command[0] == "zpool"] == [("zpool", "status")]
