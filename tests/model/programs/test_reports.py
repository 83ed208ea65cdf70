"""What bonnie, bonnie++, tiobench, dd, time and hdparm print: published lines come out from their own figures."""

from __future__ import annotations

import pytest

from raidsim.model.programs import bonnie_plus_plus_report, bonnie_report, hdparm, iozone_report, tiobench_report
from raidsim.model.programs.bonnie import Bonnie, bonnie_1_2, bonnie_1_4
from raidsim.model.programs.bonnie_plus_plus import BonniePlusPlusSettings, version_1_03, version_1_9
from raidsim.model.programs.iozone import Iozone
from raidsim.model.programs.phase_result import PhaseResult
from raidsim.model.programs.time_report import dd_lines, time_lines
from raidsim.model.programs.tiobench import TiobenchSettings

KIB = 1024
MIB = 1024 * 1024

# "Performance Testing Raid" (Gateway 840, bonnie 1.4 on RAID 50, -s 2030 -y).
GATEWAY_RAID50 = {
    "putc": (39426, 96.1),
    "rewrite": (68278, 21.3),
    "write": (112074, 32.1),
    "getc": (46145, 91.4),
    "read": (297031, 40.8),
    "seeks": (1550.9, 2.2),
}
GATEWAY_LINES = """\
Bonnie 1.4: File '/scratch1/Bonnie.6082', size: 2128609280, volumes: 1
Writing with putc()...         done:  39426 kB/s  96.1 %CPU
Rewriting...                   done:  68278 kB/s  21.3 %CPU
Writing intelligently...       done: 112074 kB/s  32.1 %CPU
Reading with getc()...         done:  46145 kB/s  91.4 %CPU
Reading intelligently...       done: 297031 kB/s  40.8 %CPU
Seeker 1...Seeker 2...Seeker 3...start 'em...done...done...done...
              ---Sequential Output (sync)----- ---Sequential Input-- --Rnd Seek-
              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --04k (03)-
Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec %CPU
islay  1*2030 39426 96.1112074 32.1 68278 21.3 46145 91.4297031 40.8 1550.9  2.2
"""

# M. Prinkey, Beowulf list, 31 March 2002 (bonnie 1.2 on md RAID 5, ten files of 1000 MB); the last column is cut off
# there, so its figure is any.
PRINKEY = {
    "putc": (14810, 88.9),
    "rewrite": (22288, 13.4),
    "write": (26438, 21.7),
    "getc": (17112, 97.9),
    "read": (93332, 32.2),
    "seeks": (206.3, 1.0),
}
PRINKEY_LINES = (
    "Bonnie 1.2: File '/raid/Bonnie.1027', size: 1048576000, volumes: 10",
    "Writing with putc()...         done:  14810 kB/s  88.9 %CPU",
    "Rewriting...                   done:  22288 kB/s  13.4 %CPU",
    "Writing intelligently...       done:  26438 kB/s  21.7 %CPU",
    "Reading with getc()...         done:  17112 kB/s  97.9 %CPU",
    "Reading intelligently...       done:  93332 kB/s  32.2 %CPU",
    "Seek numbers calculated on first volume only",
    "Seeker 1...Seeker 2...Seeker 3...start 'em...done...done...done...",
    "              ---Sequential Output (nosync)--- ---Sequential Input-- --Rnd ",
    "              -Per Char- --Block--- -Rewrite-- -Per Char- --Block--- --04k ",
    "Machine    MB K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU K/sec %CPU   /sec ",
    "raid05 10*1000 14810 88.9 26438 21.7 22288 13.4 17112 97.9 93332 32.2  206.3 ",
)

# bonnie++ 1.01d on kernel 2.4.19-aa1 (linux-kernel, August 2002), the table of which is that of 1.03.
PLUS = {
    "putc": (21468, 33),
    "write": (28510, 20),
    "rewrite": (17655, 10),
    "getc": (38814, 65),
    "read": (82601, 40),
    "seeks": (399.0, 3),
    "create in order": (17419, 56),
    "delete in order": (16464, 58),
    "create at random": (17617, 59),
    "delete at random": (7220, 40),
}
PLUS_TABLE = """\
Version  1.03       ------Sequential Output------ --Sequential Input- --Random-
                    -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
jco-linux     3100M 21468  33 28510  20 17655  10 38814  65 82601  40 399.0   3
                    ------Sequential Create------ --------Random Create--------
                    -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16 17419  56 +++++ +++ 16464  58 17617  59 +++++ +++  7220  40
jco-linux,3100M,21468,33,28510,20,17655,10,38814,65,82601,40,399.0,3,16,17419,56,+++++,+++,16464,58,17617,59,+++++,+++,\
7220,40
"""

# bonnie++ 1.97 on a RAID 6 of 2015 (published with the description of the machine).
NEWER = {
    "putc": (1905, 91, 8631e-6),
    "write": (364656, 24, 18055e-6),
    "rewrite": (119264, 12, 184e-3),
    "getc": (3457, 86, 23985e-6),
    "read": (306391, 14, 57565e-6),
    "seeks": (439.5, 17, 83422e-6),
    "create in order": (8891, 13, 391e-6),
    "stat in order": (None, 0, 125e-6),
    "delete in order": (17536, 23, 128e-6),
    "create at random": (11535, 17, 375e-6),
    "stat at random": (None, 0, 20e-6),
    "delete at random": (19876, 28, 90e-6),
}
NEWER_TABLE = """\
Version  1.97       ------Sequential Output------ --Sequential Input- --Random-
Concurrency   1     -Per Chr- --Block-- -Rewrite- -Per Chr- --Block-- --Seeks--
Machine        Size K/sec %CP K/sec %CP K/sec %CP K/sec %CP K/sec %CP  /sec %CP
wifo3-02        63G  1905  91 364656  24 119264  12  3457  86 306391  14 439.5  17
Latency              8631us   18055us     184ms   23985us   57565us   83422us
Version  1.97       ------Sequential Create------ --------Random Create--------
wifo3-02            -Create-- --Read--- -Delete-- -Create-- --Read--- -Delete--
              files  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP  /sec %CP
                 16  8891  13 +++++ +++ 17536  23 11535  17 +++++ +++ 19876  28
Latency               391us     125us     128us     375us      20us      90us
1.97,1.97,wifo3-02,1,1438076799,63G,,1905,91,364656,24,119264,12,3457,86,306391,14,439.5,17,16,,,,,8891,13,+++++,+++,\
17536,23,11535,17,+++++,+++,19876,28,8631us,18055us,184ms,23985us,57565us,83422us,391us,125us,128us,375us,20us,90us
"""

# tiobench 0.3.2 on SiI3112 and md RAID 1 (A. Hedrick, linux-kernel, 17 December 2002).
TIOBENCH = {
    "read": (38.605, 20.25),
    "random read": (0.8445, 0.975),
    "write": (32.855, 34.45),
    "random write": (1.0905, 0.905),
}
TIOBENCH_LINE = "   .     512    4096    1  38.60 20.2% 0.844 0.97% 32.85 34.4% 1.090 0.90%\n"


# iozone 3.492 -az on an eMMC, 22 November 2023: the line of 16 MiB in records of 64 KiB.
IOZONE_LINES = """\
                                                              random    random     bkwd    record    stride
              kB  reclen    write  rewrite    read    reread    read     write     read   rewrite      read   \
fwrite frewrite    fread  freread
           16384      64   164194   186220   155888   156079   153358   215180   151573    228310    149445   \
246653   239001  9776835  9377906
"""


def transfer(name: str, size: int, kib_per_s: float, percent: float, longest_s: float = 0.0) -> PhaseResult:
    """A phase of so many bytes at a printed rate, the rest of which was cut off."""
    seconds = size / KIB / (kib_per_s + 0.5)
    return PhaseResult(name, seconds, size, cpu_s=seconds * (percent + 0.01) / 100, longest_s=longest_s)


def counted(name: str, number: int, rate: float, percent: float, longest_s: float = 0.0) -> PhaseResult:
    """A phase of so many operations at a printed rate."""
    seconds = number / (rate + 0.01)
    return PhaseResult(name, seconds, 0, number, seconds * (percent + 0.01) / 100, longest_s=longest_s)


def bonnie_results(run: Bonnie, figures: dict[str, tuple[float, float]]) -> list[PhaseResult]:
    """The phases of a bonnie from what it printed."""
    total = run.size * run.settings.files
    return [
        counted(name, run.settings.seeks, *found) if name == "seeks" else transfer(name, total, *found)
        for name, found in figures.items()
    ]


def test_bonnie_1_4_prints_the_published_lines() -> None:
    """Protects every column: rates of six digits stand right behind the share of a CPU before them."""
    run = bonnie_1_4(2030, sync=True)
    results = bonnie_results(run, GATEWAY_RAID50)
    assert bonnie_report.report(run, results, "1.4", "islay", "/scratch1/Bonnie.6082") == GATEWAY_LINES


def test_bonnie_1_2_prints_the_published_lines() -> None:
    """Protects several volumes and the word for runs that are not synced; the mail cut the last column off."""
    run = bonnie_1_2(1000)
    run = Bonnie(type(run.settings)(1000, files=10))
    text = bonnie_report.report(run, bonnie_results(run, PRINKEY), "1.2", "raid05", "/raid/Bonnie.1027")
    printed = text.splitlines()
    assert len(printed) == len(PRINKEY_LINES)
    for line, published in zip(printed, PRINKEY_LINES, strict=True):
        assert line.startswith(published.rstrip(" ")), published


def test_bonnie_cuts_rates_and_a_phase_without_time_is_zero() -> None:
    """Protects small runs: no division by nothing, and 1.99 kB/s is printed as 1."""
    run = bonnie_1_4(1)
    results = [PhaseResult(name, 0.0, MIB) for name in ("rewrite", "write", "getc", "read")]
    results += [PhaseResult("putc", MIB / KIB / 1.99, MIB), PhaseResult("seeks", 0.0, 0, 4000)]
    text = bonnie_report.report(run, results)
    assert "done:      1 kB/s" in text
    assert text.count("done:      0 kB/s") == 4


def test_bonnie_plus_plus_1_03_prints_the_published_table() -> None:
    """Protects the table and the line of CSV; what took less than half a second is "+++++"."""
    run = version_1_03(BonniePlusPlusSettings(3100))
    small = run.settings.small_files * run.settings.small_unit
    results = [
        transfer(name, run.size, *found)
        if name in ("putc", "write", "rewrite", "getc", "read")
        else counted(name, run.settings.seeks if name == "seeks" else small, *found)
        for name, found in PLUS.items()
    ]
    results += [PhaseResult(name, 0.2, 0, small) for name in ("stat in order", "stat at random")]
    assert bonnie_plus_plus_report.report(run, results, "1.03", "jco-linux") == PLUS_TABLE


def test_bonnie_plus_plus_1_97_prints_the_published_table() -> None:
    """Protects the newer form: latencies in the smallest unit of five digits, the machine twice, and its CSV."""
    run = version_1_9(BonniePlusPlusSettings(63 * KIB))
    results = []
    for name, (rate, percent, longest_s) in NEWER.items():
        if rate is None:
            results.append(PhaseResult(name, 0.4, 0, 16 * KIB, longest_s=longest_s))
        elif name in ("putc", "write", "rewrite", "getc", "read"):
            results.append(transfer(name, run.size, rate, percent, longest_s))
        else:
            results.append(counted(name, run.settings.seeks if name == "seeks" else 16 * KIB, rate, percent, longest_s))
    assert bonnie_plus_plus_report.report(run, results, "1.97", "wifo3-02", 1438076799) == NEWER_TABLE


def test_bonnie_plus_plus_leaves_out_what_it_did_not_do() -> None:
    """Protects -n 0 and -s 0: no table for what there was not, and empty columns in the CSV."""
    only_files = version_1_03(BonniePlusPlusSettings(64, small_files=0))
    results = [PhaseResult(name, 1.0, only_files.size) for name in ("putc", "write", "rewrite", "getc", "read")]
    results.append(PhaseResult("seeks", 1.0, 0, 8192))
    text = bonnie_plus_plus_report.report(only_files, results, machine="vm")
    assert "Create" not in text
    assert text.splitlines()[-1].endswith("8192.0,0" + 13 * ",")
    only_small = version_1_03(BonniePlusPlusSettings(0))
    names = [f"{verb} {order}" for order in ("in order", "at random") for verb in ("create", "stat", "delete")]
    text = bonnie_plus_plus_report.report(only_small, [PhaseResult(name, 1.0, 0, 16384) for name in names])
    assert "Seeks" not in text
    assert text.splitlines()[-1].startswith(13 * "," + ",16,16384,0")


def test_tiobench_prints_the_published_line() -> None:
    """Protects the columns: rates are cut to five characters, shares of a CPU to four."""
    settings = TiobenchSettings(512)
    results = [
        PhaseResult(name, 1.0, round(rate * MIB), cpu_s=percent / 100) for name, (rate, percent) in TIOBENCH.items()
    ]
    text = tiobench_report.report([(settings, results)])
    assert text.endswith(TIOBENCH_LINE)
    assert text.count("\n") == 6


def test_tiobench_adds_up_the_lines_of_its_table() -> None:
    """tiobench.pl 0.3.1 never begins its sums anew: the second line is of both runs, CPU time over time."""
    names = ("read", "random read", "write", "random write")
    slow = [PhaseResult(name, 2.0, 10 * MIB, cpu_s=1.0) for name in names]
    fast = [PhaseResult(name, 0.5, 10 * MIB, cpu_s=0.5) for name in names]
    one, two = tiobench_report.report([(TiobenchSettings(10), slow), (TiobenchSettings(10, 2), fast)]).splitlines()[-2:]
    assert one.split()[4:6] == ["5.000", "50.0%"]
    assert two.split()[4:6] == ["8.000", "60.0%"]
    rows = [{"read_rate": 5.0, "read_cpu": 0.5}, {"read_rate": 20.0, "read_cpu": 1.0}]
    assert tiobench_report.line_figures(rows) == pytest.approx({"read_rate": 8.0, "read_cpu": 0.6})
    assert tiobench_report.line_figures(rows[:1]) == rows[0]


def test_iozone_prints_the_published_line() -> None:
    """Protects the columns, two of which are wider, KiB that are cut, and the part of each phase that is timed."""
    run = Iozone(16 * MIB, 64 * KIB)
    rates = dict(zip(run.reported, map(int, IOZONE_LINES.splitlines()[-1].split()[2:]), strict=True))
    results = [PhaseResult("", 1.0)]
    for name in run.phases:
        results.append(PhaseResult(name, 7.0, 1))
        results.append(transfer(name, 16 * MIB, rates.get(name, 1), 0.0))
        results.append(PhaseResult(name, 7.0))
    lines = iozone_report.report(run, results).splitlines()
    assert lines[0] == "\tFile size set to 16384 kB"
    assert [line.rstrip() for line in lines[4:7]] == IOZONE_LINES.splitlines()
    assert lines[-1] == "iozone test complete."


def test_time_and_dd() -> None:
    """Protects minutes and rounding (59.9996 s is a minute), dd's partial blocks, and its MB of 10^6 bytes."""
    assert time_lines(PhaseResult("tar", 145.470, cpu_s=124.508, user_s=4.209)) == (
        "\nreal\t2m25.470s\nuser\t0m4.209s\nsys\t2m0.299s\n"
    )
    assert time_lines(PhaseResult("cp", 59.9996)).startswith("\nreal\t1m0.000s\n")
    result = PhaseResult("write", 2.0, 10 * 512 + 1)
    assert dd_lines(result, 512, rate=False) == "10+1 records in\n10+1 records out\n"
    assert dd_lines(PhaseResult("write", 2.0, 1 << 30), 512).splitlines()[-1] == (
        "1073741824 bytes (1.1 GB) copied, 2 seconds, 537 MB/s"
    )


def test_hdparm_prints_the_published_line() -> None:
    """Protects the columns (linux-kernel, December 2001: four disks)."""
    line = " Timing buffered disk reads:  64 MB in  0.47 seconds =136.17 MB/sec"
    assert line in hdparm.report("/dev/md0", 64 * MIB, 0.47).splitlines()


@pytest.mark.parametrize("name", ["putc", "seeks"])
def test_a_missing_phase_is_noticed(name: str) -> None:
    """Protects from reports with figures of nothing."""
    run = bonnie_1_4(1)
    results = [PhaseResult(each, 1.0, MIB) for each in run.titles if each != name]
    with pytest.raises(KeyError, match=name):
        bonnie_report.report(run, results)
