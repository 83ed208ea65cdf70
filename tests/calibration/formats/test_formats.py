"""Every format: what is read from its text, in which units, under which names."""

from __future__ import annotations

import json

import pytest

from raidsim.calibration.formats.detect import parse
from raidsim.calibration.text.report import Report
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.formats import samples

KIB, MIB = 1024, 1024 * 1024


def read(text: str) -> Report:
    """The report of a text."""
    return parse(text, "out.txt")


@pytest.mark.parametrize("name", samples.ALL)
def test_the_content_says_the_format(name: str) -> None:
    """Protects detection: every sample is taken for what it is, whatever the file is called."""
    report = parse(samples.ALL[name], "nothing.dat")
    wanted = {"postmark": "PostMark", "dd": "dd-and-time", "time": "dd-and-time"}
    program = "fio-text" if name.startswith("fio-text") else name.split("-", maxsplit=1)[0]
    assert report.format == wanted.get(program, program)
    lines = samples.ALL[name].count("\n") + 1
    assert all(1 <= figure.line <= lines for figure in report.figures)
    assert not any("skipped" in warning for warning in report.warnings)


def test_fio_3() -> None:
    """Protects fio 3's units: bytes, milliseconds of run time, nanoseconds of latency, percent of a CPU."""
    report = read(samples.FIO)
    assert report.version == "3.33"
    expected = {
        "read_rate": 40960000.0,
        "read_iops": 5000.0,
        "read_seconds": 2.0,
        "read_bytes": 81920000.0,
        "read_clat_p99.9": 806912e-9,
        "read_clat_mean": 100.5e-6,
        "read_slat_max": 900e-9,
        "user_cpu": 0.025,
        "system_cpu": 0.0725,
        "iodepth": 16.0,
        "block_size": 8192.0,
        "disk_utilization": 0.995,
    }
    assert {name: report.value(name) for name in expected} == pytest.approx(expected, rel=1e-12)
    assert report.value("read_clat_bin", seconds="9.984e-05") == 80
    assert report.value("iodepth_share", depth="16") == 1
    context = dict(next(figure for figure in report.figures if figure.name == "read_rate").context)
    assert context == {
        "job": "rr",
        "number": "1",
        "group": "0",
        "rw": "randread",
        "bs": "8k",
        "iodepth": "16",
        "numjobs": "2",
        "ioengine": "libaio",
        "direct": "1",
    }
    line = next(figure.line for figure in report.figures if figure.name == "read_rate")
    assert '"bw_bytes"' in samples.FIO.splitlines()[line - 1]
    assert not any(figure.name.startswith(("write", "sync")) for figure in report.figures)


def test_fio_2() -> None:
    """Protects fio 2's units: KiB in io_bytes, microseconds; zeros that fill up its percentiles are none."""
    report = read(samples.ALL["fio-2"])
    assert report.value("read_bytes") == 80000 * KIB
    assert report.value("read_rate") == 40000 * KIB
    assert report.value("read_clat_p50") == pytest.approx(99e-6)
    assert not any(figure.name.endswith("_p0") for figure in report.figures)


def test_fio_with_text_around_it_and_several_reports() -> None:
    """Protects warnings that fio prints around the object, and --status-interval's several objects."""
    report = read("fio: engine warning\n" + samples.FIO + "\nRun status group 0\n")
    assert report.warnings == ("lines 1, 104: skipped, no part of the report ('fio: engine warning')",)
    twice = read(samples.FIO + samples.FIO)
    assert twice.value("read_rate", report="2") == 40960000.0
    assert "2 reports" in twice.warnings[0]


def test_fio_notices_units_that_do_not_fit() -> None:
    """Protects from a version that counts otherwise: bytes, rate and run time must belong together."""
    wrong = json.dumps(samples.fio_3(io_bytes=80000), indent=1)
    with pytest.raises(InputError, match=r"80000 bytes in 2 s beside 40960000 bytes/s.*bytes that fit"):
        read(wrong)


def test_fio_tells_jobs_with_errors_and_without_io() -> None:
    """Protects from taking a failed job for a good one."""
    document = samples.fio_3()
    idle = dict(document["jobs"][0], jobname="idle", error=5, read=document["jobs"][0]["write"])
    document["jobs"].append(idle)
    warnings = read(json.dumps(document, indent=1)).warnings
    assert [warning.split(" (")[0] for warning in warnings] == ["job 'idle'", "job 'idle'"]
    assert "did no I/O" in warnings[0]
    assert warnings[1].endswith("ended with error 5")


def test_bonnie_with_columns_that_touch() -> None:
    """Protects columns without spaces: the rate of six digits behind "96.1", and K of 1024 bytes."""
    report = read(samples.BONNIE_1_4)
    assert report.version == "1.4"
    assert report.value("size") == 2030 * MIB
    rates = {"putc": 39426, "write": 112074, "rewrite": 68278, "getc": 46145, "read": 297031}
    assert {name: report.value(f"{name}_rate") / KIB for name in rates} == rates
    assert report.value("getc_cpu") == 0.914
    assert report.value("seeks_rate") == 1550.9


def test_bonnie_whose_size_touches_the_rate() -> None:
    """Protects the first rate: ten digits can be cut in one way, more only where the first line says the size."""
    table = samples.BONNIE_1_4.splitlines()
    table[-1] = table[-1].replace("1*2030 39426", "1*2030139426")
    assert read("\n".join(table)).value("putc_rate") == 139426 * KIB
    assert read("\n".join(table[-4:])).value("putc_rate") == 139426 * KIB
    long = [line.replace("2128609280", str(10300 * MIB)).replace("1*2030", "1*10300") for line in table]
    assert read("\n".join(long)).value("size") == 10300 * MIB
    with pytest.raises(InputError, match=r"out\.txt:4:10: .*a space between the size and the rate"):
        read("\n".join(long[-4:]))


def test_brays_bonnie() -> None:
    """Protects the table of the 1990s, which has several lines of figures."""
    report = read(samples.BONNIE_BRAY)
    assert report.value("write_rate", run="2", machine="other") == 21034 * KIB
    assert report.value("size", run="1") == 100 * MIB


@pytest.mark.parametrize("text", [samples.BONNIE_PLUS_PLUS_1_03, samples.BONNIE_PLUS_PLUS_1_03_CSV])
def test_bonnie_plus_plus_1_03(text: str) -> None:
    """Protects the table and the CSV, which say the same; what was too fast has no figure but a warning."""
    report = read(text)
    assert report.value("size", machine="jco-linux", files="16") == 3100 * MIB
    assert report.value("rewrite_rate") == 17655 * KIB
    assert report.value("delete_at_random_rate") == 7220
    assert report.value("seeks_cpu") == 0.03
    assert report.warnings == ("too fast to measure (+++++): stat_in_order, stat_at_random",)
    with pytest.raises(InputError, match="found 0 of that name"):
        report.value("stat_in_order_rate")


def test_bonnie_plus_plus_2_00() -> None:
    """Protects latencies, prefixes in the table, and the CSV as the one that counts where they differ."""
    report = read(samples.BONNIE_PLUS_PLUS_2_00)
    assert report.value("putc_rate", chunk="16k", concurrency="3") == 1029 * KIB
    assert report.value("rewrite_rate") == 1.5 * MIB * KIB
    assert report.value("write_latency") == 95e-6
    assert report.value("delete_at_random_latency") == 8
    assert report.value("delete_in_order_rate") == 1822
    assert report.warnings[0].startswith("delete_in_order_rate: 1024 in the table (line 12), 1822 in the CSV (line 14)")
    table = "\n".join(samples.BONNIE_PLUS_PLUS_2_00.splitlines()[:-1])
    assert read(table).value("rewrite_rate") == 1.5 * MIB * KIB


def test_tiobench() -> None:
    """Protects four phases with their latencies in ms and rates in MB of 2^20, and the old table."""
    report = read(samples.TIOBENCH)
    assert report.value("seq_read_rate", threads="10", identifier="2.5.68") == pytest.approx(6.76 * MIB)
    assert report.value("seq_write_cpu") == pytest.approx(0.308)
    assert report.value("seq_write_latency_max") == pytest.approx(9.65886)
    assert report.value("rand_read_latency_mean") == pytest.approx(0.221819)
    assert report.value("seq_read_over_2s") == pytest.approx(1.95e-5)
    assert report.value("rand_write_rate_per_cpu") == 129 * MIB
    old = read(samples.TIOBENCH_OLD)
    assert old.value("rand_write_rate", threads="1") == pytest.approx(1.09 * MIB)
    assert old.value("seq_write_cpu", threads="2") == 1


def test_iozone_with_columns_left_out() -> None:
    """Protects runs of some phases only: a rate belongs to the heading it stands under."""
    report = read(samples.IOZONE)
    assert report.version == "3.420"
    rates = {figure.name: figure.value / KIB for figure in report.figures}
    assert rates == {
        "write_rate": 31782,
        "rewrite_rate": 22524,
        "random_read_rate": 816017,
        "random_write_rate": 10411,
        "stride_read_rate": 3779260,
    }
    assert dict(report.figures[0].context) == {"size": str(400 * MIB), "record": str(64 * KIB)}


@pytest.mark.parametrize("word", ["OPS Mode. Output is in operations per second.", "\tOutput is in Ops/sec"])
def test_iozone_in_other_units_is_refused(word: str) -> None:
    """Protects from operations a second taken for KiB a second."""
    with pytest.raises(InputError, match="rates in Kbytes/sec"):
        read(samples.IOZONE.replace("\tOutput is in Kbytes/sec", word))


def test_iozone_of_several_processes() -> None:
    """Protects -t, what users of arrays measure: the sum of all processes, least, most and mean, in KB of 1024."""
    report = read(samples.ALL["iozone-throughput"])
    rates = {figure.name: figure.value / KIB for figure in report.figures}
    assert rates == {
        "random_read_children_rate": 64801.47,
        "random_read_parent_rate": 64646.40,
        "random_read_min_rate": 16058.08,
        "random_read_max_rate": 16319.31,
        "random_read_avg_rate": 16200.37,
        "random_read_min_bytes": 16510976,
    }
    assert dict(report.figures[0].context) == {"size": str(16 << 30), "record": str(MIB), "processes": "4"}


def test_iozone_for_a_spreadsheet() -> None:
    """Protects -R: a rate for each size of file and record."""
    report = read(samples.ALL["iozone-excel"])
    assert report.value("write_rate", size=str(716800 * KIB), record=str(512 * KIB)) == 3617 * KIB
    assert report.value("read_rate", record=str(4 * KIB)) == 20256 * KIB
    assert len(report.figures) == 9


def test_fios_text() -> None:
    """Protects fio's default output, which nearly every public report pastes: names and units of its JSON."""
    report = read(samples.ALL["fio-text"])
    assert report.version == "3.33"
    job = {"job": "a", "rw": "randrw", "iodepth": "1", "ioengine": "psync"}
    assert report.value("read_rate", **job) == 8854 * KIB
    assert report.value("write_iops") == 2280
    assert report.value("read_clat_mean") == pytest.approx(335.18e-6)
    assert report.value("write_clat_p99") == pytest.approx(37120e-9)
    assert (report.value("read_ios"), report.value("write_ios")) == (197, 203)
    assert report.value("block_size") == 4096
    assert report.value("user_cpu") == pytest.approx(0.1364)
    assert report.value("latency_share", latency="<=10us") == pytest.approx(0.4025)
    old = read(samples.ALL["fio-text-2"])
    assert old.version == "2.1.11"
    assert old.value("write_rate") == 211234 * KIB
    assert old.value("write_bytes") == 4096 * MIB
    assert old.value("write_slat_max") == pytest.approx(2117e-6)
    assert old.value("write_clat_p99") == pytest.approx(0.31)
    assert old.value("disk_utilization", disk="sda") == pytest.approx(0.985)


@pytest.mark.parametrize("version", ["fio-2.14\n", "fio-1.59\n", ""])
def test_fio_2_writes_runt(version: str) -> None:
    """Protects fio 1 and 2, which print "runt=": both directions, and KB of 1024 bytes even without the version."""
    text = (
        f"{version}m: (groupid=0, jobs=1): err= 0: pid=100: Tue Apr 25 03:58:32 2023\n"
        "  read : io=6142.3MB, bw=9003.8KB/s, iops=2250, runt=698555msec\n"
        "    clat (usec): min=2, max=69K, avg= 5.37, stdev= 3.95\n"
        "  write: io=2049.8MB, bw=3004.8KB/s, iops=1.2K, runt= 69855msec\n"
    )
    report = read(text)
    assert report.value("read_rate") == pytest.approx(9003.8 * KIB)
    assert report.value("write_rate") == pytest.approx(3004.8 * KIB)
    assert (report.value("read_iops"), report.value("write_iops")) == (2250, 1200)
    assert (report.value("read_seconds"), report.value("write_seconds")) == (698.555, 69.855)
    assert report.value("read_clat_max") == pytest.approx(0.069)


def test_fios_json_counts_where_the_text_is_there_too() -> None:
    """Protects --output-format=json,normal: one report, with all digits."""
    assert read(samples.FIO + samples.ALL["fio-text"]).format == "fio"


def test_tools_that_measure_a_drive() -> None:
    """Protects hdparm, diskinfo and CrystalDiskMark in two versions: their units."""
    assert read(samples.ALL["hdparm"]).value("buffered_read_rate", device="md0", run="1") == pytest.approx(340.86 * MIB)
    disk = read(samples.ALL["diskinfo"])
    assert disk.value("read_outside_rate", device="ada0") == 182853 * KIB
    assert disk.value("seek_full_stroke_seconds") == pytest.approx(0.02084)
    assert disk.value("random_read_4_kbytes_iops") == 180
    assert disk.value("command_overhead") == pytest.approx(0.091e-3)
    assert disk.value("overhead_block_seconds") == pytest.approx(0.003e-3)
    assert disk.value("overhead_sectors_seconds") == pytest.approx(0.094e-3)
    assert disk.value("sync_write_4_kbytes_seconds") == pytest.approx(8.295e-3)
    new, old = read(samples.ALL["CrystalDiskMark"]), read(samples.ALL["CrystalDiskMark-5"])
    assert (new.version, old.version) == ("8.0.4", "5.2.1")
    assert new.value("random_read_4KiB_q32t1_rate") == 402.115e6
    assert new.value("random_write_4KiB_q1t1_latency") == pytest.approx(33.9e-6)
    assert old.value("sequential_write_q1t1_rate") == 510e6
    assert old.value("random_write_4KiB_q32t1_iops") == 85500.5


def test_postmark() -> None:
    """Protects counts, MB of 2^20, and the two times that follow from the rates and the sum."""
    report = read(samples.POSTMARK)
    assert report.value("transactions_seconds") == 642
    assert (report.value("create_seconds"), report.value("delete_seconds")) == (340, 42)
    assert report.value("write_rate") == pytest.approx(39.90 * MIB)
    assert report.value("read_bytes") == pytest.approx(13215.77 * MIB)
    assert report.value("files_deleted_alone") == 4964
    open_end = read(samples.POSTMARK.replace("(118 per second)", "(12 per second)").replace("1024 s", "1392 s"))
    assert not any(figure.name == "create_seconds" for figure in open_end.figures)
    assert "are not known exactly" in open_end.warnings[0]
    terse = read(samples.POSTMARK_TERSE)
    assert terse.value("read_rate") == 13532951.0
    assert terse.value("files_deleted_alone_rate") == 118.19


def test_postmark_out_of_files() -> None:
    """Protects from a run that printed no report."""
    text = samples.POSTMARK.split("Done\nDel")[0] + "out of files!\n"
    with pytest.raises(InputError, match=r"out\.txt:3:1: .*out of files"):
        read(text)


def test_iostat_of_old_versions() -> None:
    """Protects sectors of 512 bytes, milliseconds, several reports with their times."""
    report = read(samples.IOSTAT_OLD)
    assert report.value("read_rate", report="1", device="sda") == pytest.approx(309.5 * 512)
    assert report.value("request_size", device="cciss/c0d0") == pytest.approx(55.49 * 512)
    assert report.value("await", report="2", time="10:02:04") == pytest.approx(0.79e-3)
    assert report.value("cpu_user", report="2") == pytest.approx(0.0516)
    assert report.value("utilization", report="1", device="sda") == pytest.approx(0.0175)


def test_iostat_of_sysstat_12_and_freebsd() -> None:
    """Protects the columns of today and FreeBSD's, old and new."""
    report = read(samples.IOSTAT_12)
    assert report.value("write_rate") == pytest.approx(248.83 * KIB)
    assert report.value("write_request_size") == pytest.approx(84.98 * KIB)
    assert report.value("flush_await") == pytest.approx(60e-6)
    bsd = read(samples.IOSTAT_FREEBSD)
    assert bsd.value("service_time", report="1", device="ad1") == pytest.approx(6e-3)
    assert bsd.value("write_await", report="2", device="ad0") == pytest.approx(1e-3)
    assert bsd.value("utilization", report="1", device="ad1") == pytest.approx(0.1)


def test_mdstat() -> None:
    """Protects levels, members with their slots and flags, progress and bitmap."""
    report = read(samples.MDSTAT)
    assert report.value("slot", array="md1", member="sdb1", member_state="faulty") == 1
    assert report.value("slot", array="md0", member="sda", member_state="write-mostly") == 0
    assert report.value("chunk", array="md1", level="raid5", algorithm="left-symmetric") == 512 * KIB
    assert report.value("working_members", array="md1") == 3
    assert report.value("recovery_rate") == 164556 * KIB
    assert report.value("recovery_finish") == 89.5 * 60
    assert report.value("recovery_progress") == pytest.approx(0.094)
    assert report.value("copies", array="md2", copies="near") == 2
    assert report.value("chunk", array="md3") == 64 * KIB
    assert report.value("size", state="inactive") == 5032 * KIB
    assert report.value("bitmap_chunk") == 65536 * KIB
    assert report.warnings == ("md0 (line 9): resync is pending",)
    old = read(samples.MDSTAT_2_4)
    assert old.value("algorithm", algorithm="left-asymmetric") == 0
    assert old.value("resync_rate") == 21924 * KIB
    nothing = read("Personalities : [raid1]\nunused devices: <none>\n")
    assert (nothing.figures, nothing.warnings) == ((), ("no array is known to this kernel",))


@pytest.mark.parametrize(("text", "seconds"), samples.DD_FORMS.items())
def test_dd_in_all_its_forms(text: str, seconds: float | None) -> None:
    """Protects GNU's, busybox's and FreeBSD's lines; the rate is exact, not the two digits that are printed."""
    report = read(text)
    if seconds is None:
        assert report.value("records_in") == 10
        assert report.value("partial_records_out") == 1
        return
    assert report.value("seconds") == seconds
    assert report.value("rate") == pytest.approx(report.value("bytes") / seconds)
    assert report.warnings == ()


def test_dd_with_progress_and_a_rate_that_does_not_fit() -> None:
    """Protects from progress taken for the result, and tells a rate that is not bytes over seconds."""
    progress = "1073741824 bytes (1.1 GB, 1.0 GiB) copied, 1 s, 1.1 GB/s\r"
    end = "2147483648 bytes (2.1 GB, 2.0 GiB) copied, 2 s, 1.1 GB/s\n"
    report = read(
        progress + end + "2+0 records in\n2+0 records out\n" + end.replace("2 s", "2.5 s").replace("1.1", "0.9")
    )
    assert report.value("seconds") == 2.5
    assert len(report.warnings) == 1
    other = read(end.replace("1.1 GB/s", "3.1 GB/s"))
    assert "is not bytes over seconds" in other.warnings[0]


@pytest.mark.parametrize("text", samples.TIME_FORMS)
def test_time_in_all_its_forms(text: str) -> None:
    """Protects bash's, POSIX's, GNU's, BSD's and zsh's lines: 62.5 s, of which 25 on the CPU."""
    report = read(text)
    figures = {figure.name: figure.value for figure in report.figures}
    assert figures == {"seconds": 62.5, "user_seconds": 10.0, "system_seconds": 15.0, "cpu": 0.4}


def test_time_around_another_program_is_no_part_of_its_report() -> None:
    """Protects a log of bonnie under ``time``: the table counts, and the times are told as skipped."""
    report = read(samples.BONNIE_1_4 + samples.TIME_FORMS[0])
    assert report.format == "bonnie"
    assert report.warnings[0].startswith("lines 13-15: skipped")
    several = read(samples.DD + samples.TIME_FORMS[1])
    assert several.value("seconds", program="time", run="2") == 62.5
    assert several.value("rate", program="dd") == pytest.approx(5368709120 / 25.7934)


@pytest.mark.parametrize("name", samples.ALL)
def test_line_ends_of_windows_and_a_mark_at_the_start(name: str) -> None:
    """Protects files that went through an editor elsewhere: the same figures, in the same lines."""
    text = samples.ALL[name]
    assert read("\ufeff" + text.replace("\n", "\r\n")).figures == read(text).figures


def test_a_bonnie_whose_last_column_was_cut_off_is_refused() -> None:
    """Protects from tables cut by a mail program: eleven numbers are not twelve."""
    cut = "\n".join(line[:-5] for line in samples.BONNIE_1_4.splitlines())
    with pytest.raises(InputError, match=r"out\.txt:10:1: .*the heading"):
        read(cut)
