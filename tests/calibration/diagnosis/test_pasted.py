"""A mail with everything in it says the same as separate files: the machine, and what was measured."""

from __future__ import annotations

import textwrap
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.diagnosis.measured import Measurements, measurements
from raidsim.calibration.formats.detect import parse
from raidsim.calibration.inspection.inspection import Source, inspect
from raidsim.calibration.inspection.tools.outputs import opened
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.diagnosis.test_diagnose import PASTED, ZFS
from raidsim.tests.calibration.formats.pastes import fronted, numbered, wrapped

MACHINE = [f"$ {each}" for each in PASTED.format(here=4, letters="UUUU").split("$ ")[1:]]
FREE = "$ free -m\n              total   used   free\nMem:          32093   1200  20000\n"
FIO = """\
$ fio --name=rr --rw=randread --bs=4k --iodepth=16 --ioengine=libaio --direct=1 --filename=/dev/md0 --runtime=60
rr: (g=0): rw=randread, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=16
fio-3.33
Starting 1 process

rr: (groupid=0, jobs=1): err= 0: pid=4711: Sun Nov 29 10:00:00 2026
  read: IOPS=380, BW=1520KiB/s (1556kB/s)(89.1MiB/60010msec)
     lat (usec): min=91, max=890001, avg=42001.11, stdev=3000.00
  cpu          : usr=0.30%, sys=1.16%, ctx=22800, majf=0, minf=27
     issued rwts: total=22800,0,0,0 short=0,0,0,0 dropped=0,0,0,0
"""
RECORDS = {
    "C": "1000+0 records in\n1000+0 records out\n1048576000 bytes (1.0 GB, 1000 MiB) copied, 2.5 s, 419 MB/s\n",
    "de": "1000+0 Datensätze ein\n1000+0 Datensätze aus\n"
    "1048576000 Bytes (1,0 GB, 1000 MiB) kopiert, 2,5 s, 419 MB/s\n",
    "fr": "1000+0 enregistrements lus\n1000+0 enregistrements écrits\n"
    "1048576000 octets (1,0 GB, 1000 MiB) copiés, 2,5 s, 419 MB/s\n",
    "BSD": "1000+0 records in\n1000+0 records out\n1048576000 bytes transferred in 2.5 secs (419430400 bytes/sec)\n",
}
DD = "$ dd if=/dev/md0 of=/dev/null bs=1M count=1000 iflag=direct\n"
IOSTAT = """\
$ iostat -x
Device            r/s     rkB/s   rrqm/s  %rrqm r_await rareq-sz     w/s     wkB/s   wrqm/s  %wrqm w_await  %util
sda             95.00    380.00     0.00   0.00   10.00     4.00    0.00      0.00     0.00   0.00    0.00  60.00
sdb             95.00    380.00     0.00   0.00   40.00     4.00    0.00      0.00     0.00   0.00    0.00  60.00
sdc             95.00    380.00     0.00   0.00   10.00     4.00    0.00      0.00     0.00   0.00    0.00  60.00
"""
PROSE = ("Hallo zusammen,\nmein Array ist zu langsam. Was ist los?", "Hi, and this is from the same box:", "Danke\nJo")
MEASURED = (FIO, DD + RECORDS["C"], IOSTAT)


def read(text: str) -> tuple[dict[str, Any], Measurements]:
    """The machine and the measurements of a paste."""
    machine = inspect([Source("x", text)], "x").document
    return machine, measurements([], opened(text, "x")[1])


def expected() -> tuple[dict[str, Any], Measurements]:
    """The same of separate files."""
    machine = inspect([Source("x", each) for each in (*MACHINE, FREE)], "x").document
    return machine, measurements([], [part for each in MEASURED for part in opened(each, "x")[1]])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    order=st.permutations([*MACHINE, FREE, *MEASURED]),
    prose=st.lists(st.sampled_from(PROSE), min_size=8, max_size=8),
    width=st.sampled_from([68, 72, 78, 400]),
    front=st.sampled_from(["", "> ", "> > ", "    ", "numbers"]),
)
def test_a_paste_says_what_separate_files_say(order: list[str], prose: list[str], width: int, front: str) -> None:
    """Protects from a part that is lost, or taken for one of another, in a mail with everything."""
    text = "".join(f"{words}\n\n{part}\n" for words, part in zip(prose, order, strict=False))
    text = numbered(text, "{:4d}\t{}") if front == "numbers" else fronted(wrapped(text, width), front)
    machine, measured = read(text)
    wanted, figures = expected()
    assert machine == wanted
    assert sorted(measured.jobs, key=lambda job: job.name) == sorted(figures.jobs, key=lambda job: job.name)
    assert measured.awaits == figures.awaits
    assert measured.slowest == "sdb"


def test_the_text_and_the_command_make_the_job() -> None:
    """fio's text has depth and size, its command the device; what dd moved with its block size is its rate."""
    fio, dd = expected()[1].jobs
    assert (fio.device, fio.load["depth"], fio.load["block_size"]) == ("md0", 16, "4096B")
    assert fio.figures == {"iops": 380.0, "read_mean_seconds": pytest.approx(42001.11e-6)}
    assert (dd.device, dd.load["pattern"]) == ("md0", "sequential")
    assert dd.figures["iops"] == pytest.approx(400.0)


@pytest.mark.parametrize("language", sorted(RECORDS))
def test_dd_in_every_language(language: str) -> None:
    """The same figures, however numbers are written."""
    found = parse(RECORDS[language], "x")
    assert (found.value("bytes"), found.value("seconds"), found.value("records_in")) == (1048576000, 2.5, 1000)
    (job,) = measurements([], opened(DD + RECORDS[language], "x")[1]).jobs
    assert job.figures["iops"] == pytest.approx(400.0)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (RECORDS["C"], "nothing tells what it read and wrote; give the command line"),
        (DD.replace(" iflag=direct", "") + RECORDS["C"], "needs iflag=direct"),
        (FIO.replace("randread", "randwrite").replace(" --direct=1", ""), "needs direct=1"),
    ],
)
def test_a_measurement_of_the_memory_is_left_out(text: str, message: str) -> None:
    """What went through the page cache, or may have, is no figure of the disks."""
    with pytest.raises(InputError, match=message):
        measurements([], opened(text, "x")[1])


def test_names_of_udev_are_the_drives(tmp_path: Path) -> None:
    """Protects evidence of a member that zpool iostat names by its serial number; a name of nothing is asked for."""
    names = [f"ata-ST8000VN004-2M2101_ZA1000{letter.upper()}1" for letter in "abc"]
    heading = "  capacity  operations  bandwidth  disk_wait\npool  alloc  free  read  write  read  write  read  write\n"
    waits = zip([*names, "ata-ST8000VN004-2M2101_ZA1000Z9"], ("9ms", "90ms", "8ms", "8ms"), strict=True)
    rows = "".join(f"  {name}  -  -  10  20  1M  1M  {wait}  {wait}\n" for name, wait in waits)
    text = f"{heading}tank  1T  2T  30  60  3M  3M  30ms  30ms\n{rows}\n{FIO}"
    links = "".join(
        f"lrwxrwxrwx 1 root root 9 Jan  1 00:00 {name} -> ../../sd{letter}\n"
        for name, letter in zip(names, "abc", strict=True)
    )
    made = inspect([Source("x", f"{ZFS.format(sync='standard')}$ ls -l /dev/disk/by-id\n{links}")], "x")
    found = measurements([], opened(text, "x")[1]).named(made.names, made.document["machine"]["drives"])
    assert found.slowest == "sdb"
    assert "ZA1000Z9 is; give ls -l /dev/disk/by-id" in found.left_out[-1]


LOG = textwrap.dedent("""\
    [    1.265432] ata1: SATA link up 6.0 Gbps (SStatus 133 SControl 300)
    [    1.265433] ata2: SATA link up {rate} Gbps (SStatus 123 SControl 300)
    [    1.267000] ata1.00: ATA-10: ST8000VN004-2M2101, SC60, max UDMA/133
    [    1.268000] ata2.00: ATA-10: ST8000VN004-2M2101, SC60, max UDMA/133
    [    1.268001] ata2.00: 15628053168 sectors, multi 16: LBA48 NCQ (depth {depth}), AA
    [    1.270000] scsi 0:0:0:0: Direct-Access     ATA      ST8000VN004-2M21 SC60 PQ: 0 ANSI: 5
    [    1.271000] scsi 1:0:0:0: Direct-Access     ATA      ST8000VN004-2M21 SC60 PQ: 0 ANSI: 5
    [    1.280000] sd 0:0:0:0: [sda] 15628053168 512-byte logical blocks: (8.00 TB/7.28 TiB)
    [    1.280002] sd 0:0:0:0: [sda] Write cache: enabled, read cache: enabled, doesn't support DPO or FUA
    [    1.281000] sd 1:0:0:0: [sdb] 15628053168 512-byte logical blocks: (8.00 TB/7.28 TiB)
    [    1.281002] sd 1:0:0:0: [sdb] Write cache: {cache}, read cache: enabled, doesn't support DPO or FUA
    """)
TROUBLE = """\
[    1.300000] pci 0000:01:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link \
at 0000:00:1d.0 (capable of 31.504 Gb/s with 8.0 GT/s PCIe x4 link)
[    1.400000] nvme nvme0: pci function 0000:01:00.0
[ 9000.100000] blk_update_request: I/O error, dev sdb, sector 123456 op 0x0:(READ) flags 0x0
[ 9001.200000] mpt3sas_cm0: log_info(0x31110d01): originator(PL), code(0x11), sub_code(0x0d01)
[ 9002.000001] md/raid:md0: raid level 5 active with 3 out of 4 devices, algorithm 2
"""


def test_the_kernels_log_tells_of_links_caches_and_errors() -> None:
    """A slow link and a cache that is off are in the scenario, trouble is named; in a sound log nothing is."""
    slow = inspect([Source("x", LOG.format(rate="3.0", depth="1/32", cache="disabled") + TROUBLE)], "x")
    drives = slow.document["machine"]["drives"]
    assert drives["sdb"]["overrides"] == {"interface_rate": "300MB/s", "write_cache": False}
    assert "overrides" not in drives["sda"]
    notes = "\n".join(slow.notes)
    for said in ("sdb (ata2) runs at 3.0 Gb/s", "NCQ) is off", "nvme0n1 runs at 8.0 GT/s x2", "an error of sdb",
                 "mpt3sas_cm0", "3 out of 4"):  # fmt: skip
        assert said in notes
    sound = inspect([Source("x", LOG.format(rate="6.0", depth="32", cache="enabled"))], "x")
    assert "overrides" not in sound.document["machine"]["drives"]["sdb"]
    assert sound.notes == []
    with pytest.raises(InputError, match="x:2:1: found"):
        inspect([Source("x", LOG.format(rate="?", depth="32", cache="enabled"))], "x")
