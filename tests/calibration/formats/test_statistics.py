"""Statistics of the kernel and of sysbench: iostat as JSON and for people, sar -d, sysbench fileio old and new."""

from __future__ import annotations

import pytest

from raidsim.calibration.formats.detect import parse
from raidsim.calibration.text.report import Report
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.formats import samples

KIB, MIB = 1 << 10, 1 << 20


def read(name: str) -> Report:
    """The report of a sample."""
    return parse(samples.ALL[name], name)


def test_iostat_json() -> None:
    """Protects -o JSON: the figures of the table's columns, with report, time and device."""
    report = read("iostat-json")
    here = {"report": "1", "device": "sda"}
    assert report.format == "iostat"
    assert report.value("read_iops", **here) == 120.5
    assert report.value("read_rate", **here) == 482 * KIB
    assert report.value("write_merged", **here) == pytest.approx(0.0909)
    assert report.value("utilization", **here) == pytest.approx(0.973)
    assert report.value("read_await", **here) == pytest.approx(8.2e-3)
    assert report.value("cpu_iowait") == pytest.approx(0.3)
    with pytest.raises(InputError, match=r"found the key 'x/s'; expected: a column of iostat"):
        parse(samples.ALL["iostat-json"].replace('"r/s"', '"x/s"'), "x")


def test_iostat_for_people() -> None:
    """Protects -h and --human: every number has its own unit; one that the column cannot have is refused."""
    report = read("iostat-human")
    assert report.value("read_rate", device="sda") == 482 * KIB
    assert report.value("read_rate", device="nvme0n1") == pytest.approx(1.2 * MIB)
    assert report.value("read_request_size", device="nvme0n1") == 640
    assert report.value("read_merged", device="sda") == 0
    assert report.value("cpu_iowait") == pytest.approx(0.3)


def test_sar() -> None:
    """Protects sar -d: intervals by their time, and the average."""
    report = read("sar")
    assert report.value("iops", device="sda", time="12:10:01 AM") == 130.5
    assert report.value("read_rate", device="md0", time="12:10:01 AM") == 480 * KIB
    assert report.value("await", device="sda", time="average") == pytest.approx(7.6e-3)
    old = samples.ALL["sar"].replace(
        "    rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz", " rd_sec/s wr_sec/s dkB/s avgrq-sz avgqu-sz"
    )
    assert parse(old, "x").value("read_rate", device="md0", time="12:10:01 AM") == 480 * 512
    with pytest.raises(InputError, match=r"x:4:\d+: found 7 columns; expected: 9 columns behind the time"):
        parse(samples.ALL["sar"].replace("0.99      7.60", "", 1), "x")


def test_sysbench() -> None:
    """Protects sysbench fileio 1.0: rates, IOPS, latencies in milliseconds, the run's time."""
    report = read("sysbench")
    assert report.version == "1.0.20"
    values = [report.value(name) for name in ("read_iops", "write_iops", "fsync_iops", "seconds", "ios")]
    assert values == [321.5, 214.25, 685.75, 60.25, 73000]
    assert report.value("read_rate") == pytest.approx(5.02 * MIB)
    assert report.value("latency_mean") == pytest.approx(3.28e-3)
    assert report.value("latency_p95") == pytest.approx(15.83e-3)


def test_sysbench_0_4() -> None:
    """Protects the older form, with its numbers of operations."""
    report = read("sysbench-0")
    assert [report.value(name) for name in ("read_ios", "write_ios", "iops")] == [6001, 3999, 160]
    assert report.value("rate") == pytest.approx(2.5 * MIB)
    assert report.value("read_bytes") == pytest.approx(93.766 * MIB)
    assert report.value("latency_max") == pytest.approx(0.82209)
    assert report.value("latency_p95") == pytest.approx(0.17011)


def test_zpool_iostat() -> None:
    """Protects zpool iostat -v: reports, pools with their groups and drives, units of 1024, and no figure for "-"."""
    report = read("zpool-iostat")
    assert report.value("read_rate", report="1", device="tank") == pytest.approx(14.8 * MIB)
    assert report.value("read_iops", report="1", device="tank/raidz2-0/sdb") == pytest.approx(1.2 * KIB)
    assert report.value("read_iops", report="2", device="tank/raidz2-0/sda") == 67
    with pytest.raises(InputError, match="found 0 of that name"):
        report.value("free", report="1", device="tank/raidz2-0/sda")
    with pytest.raises(InputError, match=r"x:4:\d+: found 'many'; expected: a number such as 120"):
        parse(samples.ALL["zpool-iostat"].replace("14.8M", " many", 1), "x")


def test_zpool_iostat_with_latencies() -> None:
    """Protects -l: the waits of each class of I/O, and no figure for "-"."""
    report = read("zpool-iostat-l")
    assert report.value("write_disk_wait", device="pond/mirror-0/sdb") == pytest.approx(0.010)
    assert report.value("read_asyncq_wait", device="pond/mirror-0/sda") == pytest.approx(700e-6)
    assert report.value("scrub_wait", device="pond") == pytest.approx(0.052)
    assert report.value("write_total_wait", device="logs/nvme0n1") == pytest.approx(95e-6)
    with pytest.raises(InputError, match="found 0 of that name"):
        report.value("trim_wait", device="pond")
    with pytest.raises(InputError, match=r"found '18xs'; expected: a time such as 585us"):
        parse(samples.ALL["zpool-iostat-l"].replace("18ms", "18xs", 1), "x")
    with pytest.raises(InputError, match="expected: the labels of its columns in the line above"):
        parse(samples.ALL["zpool-iostat-l"].replace("disk_wait  ", "", 1), "x")


def test_histograms_of_zpool_iostat() -> None:
    """Protects -w and -r: counts by latency and by size, of each class."""
    report = read("zpool-iostat-w")
    assert report.value("write_disk_wait_ios", device="pond", latency="2ms") == pytest.approx(2.31 * KIB)
    assert report.value("write_asyncq_wait_ios", latency="33ms") == 210
    report = read("zpool-iostat-r")
    assert report.value("async_write_aggregated_ios", device="pond", size="1M") == 612
    assert report.value("sync_read_individual_ios", size="4K") == pytest.approx(1.2 * KIB)
    with pytest.raises(InputError, match=r"expected: a row with 12 counts"):
        parse(samples.ALL["zpool-iostat-r"].replace("    612", "", 1), "x")


def test_vdbench() -> None:
    """Protects intervals and averages of a run: columns by both lines of the heading, and no figure for NaN."""
    report = read("vdbench")
    assert report.version == "50407"
    assert report.value("iops", run="mix", interval="average") == 1622
    assert report.value("rate", interval="1") == pytest.approx(11.8 * MIB)
    assert report.value("read_response_time", interval="2") == pytest.approx(6.201e-3)
    assert report.value("cpu_system", interval="2") == pytest.approx(0.008)
    with pytest.raises(InputError, match="found 0 of that name"):
        report.value("cpu_busy", interval="average")
    with pytest.raises(InputError, match="expected: 13 columns behind the interval"):
        parse(samples.ALL["vdbench"].replace("   2.1   0.9\n", "\n\n", 1), "x")


def test_dstat() -> None:
    """Protects rates, operations and shares: each label has its columns, and a unit is one of 1024."""
    report = read("dstat")
    assert report.value("read_rate", report="2", device="sda") == pytest.approx(61 * MIB)
    assert report.value("write_rate", report="2", device="sdb") == pytest.approx(4680 * KIB)
    assert report.value("read_iops", report="3", device="sdb") == 250
    assert report.value("cpu_iowait", report="2") == pytest.approx(0.37)
    with pytest.raises(InputError, match=r"found '61X'; expected: a number such as 4372k"):
        parse(samples.ALL["dstat"].replace("61M", "61X", 1), "x")
    with pytest.raises(InputError, match=r"expected: 15 columns of dstat in one line"):
        parse(samples.ALL["dstat"].replace("4404k:", ":", 1), "x")


def test_diskspd() -> None:
    """Protects DiskSpd's XML: counts over seconds, of each thread's target and together; percentiles as listed."""
    report = read("DiskSpd")
    assert report.version == "2.1.0"
    assert report.value("read_iops", run="1", thread="2") == 1050
    assert [
        each.value for each in report.figures if each.name == "read_iops" and "thread" not in dict(each.context)
    ] == [2100]
    assert report.value("read_p99.9_seconds") == pytest.approx(31.5e-3)
    assert report.value("read_mean_seconds", thread="1", target="D:\\test file.dat") == pytest.approx(7.905e-3)
    for old, new, message in (
        ("</Latency>", "</Latently>", r"x:27:5: found '</Latently>'; expected: </Latency>"),
        ("10.00<", "0<", "expected: more than 0 seconds"),
        ("</Results>", "", "expected: </Results>"),
        ("<Id>0</Id>", "<!ENTITY a 'b'>", "expected: a tag such as <ReadBytes>"),
    ):
        with pytest.raises(InputError, match=message):
            parse(samples.ALL["DiskSpd"].replace(old, new), "x")


def test_kdiskmark() -> None:
    """Protects KDiskMark, which copies a text like CrystalDiskMark's."""
    report = read("CrystalDiskMark-K")
    assert report.version == "3.1.2"
    assert report.value("sequential_read_1MiB_q8t1_rate") == pytest.approx(3510.17e6)
    assert report.value("random_write_4KiB_q1t1_latency") == pytest.approx(16.02e-6)
