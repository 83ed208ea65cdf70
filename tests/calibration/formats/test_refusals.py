"""What is no report, or a damaged one: refused with file, line and column, never with a traceback."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.formats.detect import parse, read_report
from raidsim.calibration.text.report import Report
from raidsim.calibration.text.report_text import MOST_BYTES
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.formats import samples

SOME = (
    "fio",
    "bonnie",
    "bonnie++-2",
    "tiobench",
    "iozone",
    "postmark",
    "iostat",
    "mdstat",
    "dd",
    "fio-text",
    "iozone-throughput",
    "diskinfo",
)


def read_or_refuse(text: str) -> Report | None:
    """The report of a text; None if it is refused, as it may be. Any other error goes on."""
    try:
        return parse(text, "x")
    except InputError:
        return None


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("fio", ("5000.0", "NaN"), r"x:23:17: found 'NaN'; expected: a number, a text"),
        ("fio", ("5000.0", "-5000.0"), r"x:23:17: found '-5000.0'; expected: a number of at least 0"),
        ("fio", ('"bw": 40000', '"bw": 4, "bw": 5'), r"another key: it stood in line 22 with another value"),
        ("fio", ('"runtime": 2000,', ""), r"an object without it; expected: an object with the key 'runtime'"),
        ("fio", ('"iops": 5000.0', '"iops": [1]'), r"found a list; expected: a plain value for 'iops'"),
        ("fio", ('"jobs"', '"job"'), r"an object with the key 'jobs'"),
        ("fio", ('"fio-3.33"', '"fio-3.33'), r"x:2:18: found a text without an end"),
        ("bonnie", ("1550.9  2.2", "1550.9"), r"x:11:1: found .*; expected: machine, size, five rates"),
        ("bonnie", ("1550.9", "1550,9"), r"decimal point: run the program with LC_ALL=C"),
        ("bonnie", ("/sec %CPU\nislay", "/sec\nislay"), r"x:10:1: .*the heading"),
        ("bonnie++", ("21468  33", "21468"), r"x:4:1: found .jco-linux.; expected: the size of the files"),
        ("bonnie++", ("21468", "nan"), r"x:4:21: found 'nan'"),
        ("bonnie++", ("3100M", "-100M"), r"x:4:15: found '-100M'; expected: the size"),
        ("bonnie++", ("+++++ +++", "+++++  12"), r"or plus signs for both"),
        ("bonnie++-csv", (",7220,40", ",7220"), r"x:1:1: found 26 columns; expected: 27 columns"),
        ("bonnie++-2", ("114ms  ", "114min "), r"x:13:63: found '114min'; expected: a latency in us, ms or s"),
        ("tiobench", ("6.76", "6,76"), r"x:10:50: found '6,76'.*LC_ALL=C"),
        ("tiobench", ("0.00195  0.00000   196", ""), r"7 columns|8 columns"),
        ("tiobench", ("Random Reads", "Reads"), r"the name of the phase"),
        ("tiobench-old", ("1.100 0.80%", "1.100"), r"x:8:4: found 11 columns"),
        ("iozone", ("   22524", "  -22524"), r"x:7:35: found '-22524'"),
        ("iozone", ("3779260", "37    "), r"a rate that ends under the end of its heading"),
        ("iozone", ("reread", "rerad"), r"x:6:1?\d?: .*the columns write rewrite"),
        ("postmark", ("2510 read (3", "2510.5 read (3"), r"x:13:2: found '2510.5'; expected: a whole number"),
        ("postmark", ("\t2490 appended (3 per second)\n", ""), r"x:14:2: .*the line of files appended"),
        ("postmark", ("12.91 megabytes", "12.91 gigabytes"), r"expected: megabytes, kilobytes, bytes"),
        ("iostat", ("39.82", "39,82"), r"x:8:27: .*LC_ALL=C"),
        ("iostat", ("  1.03   1.75", ""), r"x:8:1: found 10 columns; expected: 12 columns as in line 7"),
        ("iostat", ("svctm", "foo"), r"x:7:90: found 'foo'; expected: a column of iostat -x"),
        ("iostat-12", ("34.29", "0.5M"), r"run iostat without -h and --human"),
        ("mdstat", ("[U_UU]", "[U_UUU]"), r"expected: 4 marks, of which 3 are U"),
        ("mdstat", ("sdb1[1](F)", "sdb1[1](Q)"), r"x:2:36: .*the flags \(F\), \(S\)"),
        ("mdstat", ("algorithm 2", "algorithm 7"), r"x:3:66: found '7'; expected: md's algorithms"),
        ("mdstat", ("512k chunk", "512k lump"), r"x:3:44: found '512k'"),
        ("mdstat", ("164556K", "lots"), r"x:4:7: .*progress"),
        ("mdstat", ("92364672/", "992364672/"), r"no more than the 976759936 blocks"),
        ("fio-text", ("IOPS=2213, BW", "IOPS=2213; BW"), r"x:6:3: found .*; expected: 'read: IOPS=N, BW=N"),
        ("fio-text", ("BW=8854KiB/s", "BW=fast"), r"x:6:23: found 'fast'; expected: an amount such as"),
        ("fio-text", ("avg=335.18", "avg=335,18"), r"x:7:40: found '335,18'.*decimal point"),
        ("fio-text", ("max=3996", "most=3996"), r"x:7:5: found .*min=N, max=N"),
        ("fio-text", ("[   53],  5", "[  5-3],  5"), r"x:10:\d+: found '5-3'; expected: a number"),
        (
            "iozone-throughput",
            ("random readers", "rundum readers"),
            r"x:20:\d+: found 'rundum readers'; expected: one of",
        ),
        ("iozone-throughput", ("64801.47", "64801,47"), r"x:20:\d+: found '64801,47'.*decimal point"),
        ("iozone-excel", ("Writer report", "Wrighter report"), r"x:4:2: found 'Wrighter'; expected: one of"),
        ("iozone-excel", ("3947  3617  3543", "3947  3617  3543 9"), r"at most 3 rates, one for each record size"),
        ("hdparm", ("340.86 MB/sec", "34.86 MB/sec"), r"x:3:\d+: found '34.86'; expected: 1026 MB over 3.01 seconds"),
        ("hdparm", ("1026 MB in", "1026 in"), r"x:3:2: found .*Timing buffered disk reads: N MB in"),
        ("diskinfo", ("185 IOPS", "185 ops"), r"x:23:\d+: found 'ops'; expected: msec, kbytes/sec, IOPS"),
        ("diskinfo", ("20.840 msec", "fast msec"), r"x:14:\d+: found 'fast'; expected: a number"),
        ("CrystalDiskMark", ("561.293 MB/s", "561.293 GB/s"), r"x:9:3: found .*N MB/s"),
        ("dd", ("25.7934 s", "25,7934 s"), r"x:3:44: found '25,7934'.*LC_ALL=C"),
        ("dd", ("5120+0 records out", "x"), r"x:2:1: .*expected: the line 'N\+N records out'"),
        ("dd", ("sys\t0m3.204s\n", ""), r"the end of the file; expected: sys beside the times from line 5"),
        ("dd", ("0m0.012s", "0m0,012s"), r"x:6:8: .*LC_ALL=C"),
    ],
)
def test_damage_is_named_with_its_place(name: str, change: tuple[str, str], message: str) -> None:
    """Protects people from silent defaults: what is found and what is expected, with line and column."""
    text = samples.ALL[name]
    assert change[0] in text
    with pytest.raises(InputError, match=message) as caught:
        parse(text.replace(*change, 1), "x")
    assert re.match(r"x:\d+:\d+$", caught.value.place)


@pytest.mark.parametrize("name", SOME)
def test_a_truncated_report_is_refused_or_complete_up_to_there(name: str) -> None:
    """Protects from half a number taken for a whole one: a cut in the last line of figures is noticed."""
    text = samples.ALL[name]
    whole = parse(text, "x")
    last = max(figure.line for figure in whole.figures)
    cut = "\n".join(text.split("\n")[:last])[:-3]
    part = read_or_refuse(cut)
    if part is not None:
        assert len(part.figures) < len(whole.figures) or "may be cut off" in part.warnings[-1]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b"hello\n", r"x:1:1|none of the known programs"),
        (b'{"a": 1}\n', "none of the known programs"),
        (b"Personalities : \x00\n", r":1:17: found the control character 0x00"),
        (b"\xff\xfeP\x00", "found UTF-16"),
        (b"\x1f\x8b\x08\x00", "found gzip"),
        (b"Personalities : [raid1]\nmd0 : \xe9", r":2:7: found the byte 0xe9"),
        ((samples.BONNIE_1_4 + samples.IOZONE).encode(), r"several programs: bonnie \(line 1\), iozone \(line 12\)"),
    ],
)
def test_what_is_no_report_is_refused(content: bytes, message: str, tmp_path: Path) -> None:
    """Protects from files of another kind, packed, in another encoding, or with two reports."""
    (tmp_path / "f").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_report(tmp_path / "f")


def test_a_folder_and_a_missing_file_are_refused(tmp_path: Path) -> None:
    """Protects from a traceback of the operating system's errors."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(InputError, match="cannot be read"):
            read_report(path)


def test_a_long_file_is_refused_at_once(tmp_path: Path) -> None:
    """Protects from reading 50 MB into memory: no more is read than a report can have."""
    with (tmp_path / "f").open("wb") as file:
        file.truncate(50_000_000)
    began = time.perf_counter()
    with pytest.raises(InputError, match="too long to be a report"):
        read_report(tmp_path / "f")
    with pytest.raises(InputError, match="too long to be a report"):
        parse("x" * (MOST_BYTES + 1), "x")
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize(
    "line",
    ["a," * 50_000, "1 " * 50_000, "-" * 100_000, "\t" * 100_000, "{" * 100_000, "Rate  (CPU%)" * 10_000, "[" * 99_999],
)
def test_long_lines_take_no_long_time(line: str) -> None:
    """Protects from patterns that try every way through a line."""
    began = time.perf_counter()
    for start in ("", '{"fio version":', "Machine    MB K/sec\n", "md0 : active raid5 ", "Version 1 ", " "):
        with pytest.raises(InputError):
            parse(f"{start}{line}\n", "x")
    assert time.perf_counter() - began < 2


_PIECES = [
    "",
    "0",
    "-1",
    "nan",
    "inf",
    "1e999",
    "9" * 60,
    ",",
    ".",
    "\n",
    "\t",
    " ",
    "{",
    "}",
    '"',
    "[",
    "+++++",
    "é",
    "%",
]


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    name=st.sampled_from(list(samples.ALL)),
    changes=st.lists(
        st.tuples(st.floats(0, 1), st.integers(0, 40), st.one_of(st.sampled_from(_PIECES), st.text(max_size=6))),
        min_size=1,
        max_size=4,
    ),
)
def test_a_damaged_report_is_read_or_refused(name: str, changes: list[tuple[float, int, str]]) -> None:
    """Protects from every other end: whatever is cut out and put in, there are finite figures or an `InputError`."""
    text = samples.ALL[name]
    for place, cut, put in changes:
        at = int(place * len(text))
        text = text[:at] + put + text[at + cut :]
    report = read_or_refuse(text)
    if report is not None:
        assert all(0 <= figure.value < float("inf") for figure in report.figures)


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    lines=st.lists(st.sampled_from([line for text in samples.ALL.values() for line in text.split("\n")]), max_size=30)
)
def test_lines_of_all_reports_mixed(lines: list[str]) -> None:
    """Protects from lines in an order that no program prints."""
    read_or_refuse("\n".join(lines))
