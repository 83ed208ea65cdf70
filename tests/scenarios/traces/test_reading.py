"""Trace readers: genuine samples of every format, packing, order, and what is refused."""

from __future__ import annotations

import gzip
import importlib.util
import lzma
import shutil
import struct
from contextlib import closing, suppress
from itertools import islice
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import FLUSH, READ, TRIM, WRITE
from raidsim.scenarios.traces import ordering
from raidsim.scenarios.traces.formats.record import TraceRecord
from raidsim.scenarios.traces.formats.source import HEAD, Source
from raidsim.scenarios.traces.formats.table import FORMATS
from raidsim.scenarios.traces.reading import open_trace

SAMPLES = Path(__file__).parent / "samples"
# Format, records, the second record, and how many reads; worked out from the files by hand.
EXPECTED = {
    "alibaba_io_traces.csv": ("alibaba", 7, TraceRecord(0.00038, WRITE, 19496058880, 77824, "1"), 2),
    "btrace_gregg.txt": ("blkparse", 4, TraceRecord(0.000306181, WRITE, 104685503 * 512, 12288, "8,16"), 1),
    "cloudphysics_libcachesim.csv": ("cloudphysics-csv", 11, TraceRecord(0.0, WRITE, 42932746 * 512, 512, "disk"), 0),
    "cloudphysics_vscsi_first320.bin": (
        "cloudphysics",
        10,
        TraceRecord(0.242639, WRITE, 42932746 * 512, 512, "disk"),
        0,
    ),
    "disksim_ascii.txt": ("disksim", 12, TraceRecord(0.00463815, READ, 576560 * 512, 3072, "20"), 11),
    "disksim_ascii_postmark.txt": ("disksim", 10, TraceRecord(0.384373, WRITE, 6397360 * 512, 253952, "0"), 0),
    "disksim_validation.txt": ("disksim-validation", 12, TraceRecord(0.02797164, READ, 564349 * 512, 1024, "0"), 4),
    "mqsim_tpcc.txt": ("mqsim", 10, TraceRecord(0.000315, WRITE, 197570570 * 512, 8192, "3"), 0),
    "mqsim_wsrch.txt": ("mqsim", 10, TraceRecord(0.000152, READ, 31244784 * 512, 32768, "1"), 10),
    "msr_mds_0.csv": ("msr", 12, TraceRecord(0.0783551, WRITE, 3154132992, 4096, "mds.0"), 0),
    "spc_spec_example.spc": ("spc", 11, TraceRecord(0.002335, WRITE, 20939840 * 512, 8192, "0"), 2),
    "synthetic.bin": ("blktrace", 4, TraceRecord(0.01, READ, 512000, 65536, "8,16"), 2),
    "synthetic.blkparse.txt": ("blkparse", 4, TraceRecord(0.01, READ, 512000, 65536, "8,16"), 2),
    "synthetic.blktrace.0": ("blktrace", 4, TraceRecord(0.01, READ, 512000, 65536, "8,16"), 2),
    "synthetic.blktrace.1": ("blktrace", 4, TraceRecord(0.01, READ, 512000, 65536, "8,16"), 2),
}


def written(folder: Path, text: str | bytes, name: str = "trace") -> Path:
    """A file with this content."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def refusal(path: Path, format: str | None = None) -> str:
    """What is said about a file that cannot be used."""
    with pytest.raises(InputError) as caught:
        list(open_trace(path, format).records())
    return str(caught.value)


def by_hand(records: list[TraceRecord]) -> list[TraceRecord]:
    """The same with times to the nanosecond."""
    return [record._replace(time_s=round(record.time_s, 9)) for record in records]


@pytest.mark.parametrize("name", EXPECTED)
def test_samples_are_recognised_and_read(name: str) -> None:
    """Protects every format: by its content it is known, and units, directions and devices are right."""
    format, number, second, reads = EXPECTED[name]
    trace = open_trace(SAMPLES / name)
    records = list(trace.records())
    assert trace.format == format
    assert len(records) == number
    assert records[0].time_s == 0.0
    assert by_hand(records)[1] == second
    assert sum(record.op == READ for record in records) == reads
    assert list(trace.records()) == records  # it can be called again


@pytest.mark.parametrize(
    ("name", "record"),
    [
        ("systor17_one_line.csv", TraceRecord(0.0, READ, 899056122368, 131072, "0")),
        ("tencent_one_line.csv", TraceRecord(0.0, WRITE, 105352008 * 512, 584 * 512, "1576")),
    ],
)
def test_samples_of_one_line(name: str, record: TraceRecord) -> None:
    """Protects the two formats of which there is one line."""
    assert list(open_trace(SAMPLES / name).records()) == [record]


def test_binary_and_text_of_a_blktrace_agree() -> None:
    """Protects the binary reader: blkparse's own text of the same trace has the same I/Os and leaves out the same."""
    text, binary = (open_trace(SAMPLES / name) for name in ("synthetic.blkparse.txt", "synthetic.bin"))
    assert list(text.records()) == list(binary.records())
    assert text.skipped["issued (D)"] == binary.skipped["issued (D)"] == 5
    assert text.skipped["discards"] == binary.skipped["discards"] == 1
    assert text.skipped["flushes without data"] == binary.skipped["flushes without data"] == 1


def test_one_cpu_of_a_blktrace_alone(tmp_path: Path) -> None:
    """Protects the merge of FILE.blktrace.N: without its neighbor a file has its own I/Os only."""
    shutil.copyfile(SAMPLES / "synthetic.blktrace.1", tmp_path / "synthetic.blktrace.1")
    assert [record.op for record in open_trace(tmp_path / "synthetic.blktrace.1").records()] == [READ, READ]


@pytest.mark.parametrize("order", "<>")
@pytest.mark.parametrize("version", [7, 8])
def test_both_byte_orders_and_versions_of_blktrace(order: str, version: int, tmp_path: Path) -> None:
    """Protects traces from big-endian machines and from Linux 6.19 on; data after a record is passed over."""
    queued_read = 0x01 << 16 | 0x10 << 16 | 1
    numbers: list[object] = [0x65617400 | version, 1, 5000, 100, 4096]
    if version == 7:
        record = struct.pack(order + "IIQQIIIIIHH", *numbers, queued_read, 99, 8 << 20 | 17, 0, 0, 3)
    else:
        record = struct.pack(order + "IIQQIIQIIHH12x", *numbers, 99, queued_read, 8 << 20 | 17, 0, 0, 3)
    path = written(tmp_path, (record + b"abc") * 2)
    assert list(open_trace(path).records()) == [TraceRecord(0.0, READ, 51200, 4096, "8,17")] * 2
    path.write_bytes((record + b"abc") * 2 + record[:20])
    size = len(record) + 3
    assert f"trace: byte {2 * size}: the file ends after 16 bytes" in refusal(path)


def test_issued_counts_only_where_nothing_is_queued() -> None:
    """Protects the choice between Q and D: the I/Os of the sample, a trace of issues only, are not lost."""
    trace = open_trace(SAMPLES / "btrace_gregg.txt")
    assert len(list(trace.records())) == 4
    assert trace.skipped == {}


IOLOG_2 = """fio version 2 iolog
/dev/sdb add
/dev/sdb open
/dev/sdb write 4096 8192
/dev/sdb wait 1500 0
/dev/sdb read 0 512
/dev/sdb sync 0 0
/dev/sdb wait 500
/dev/sdb read 512 512
/dev/sdb close
"""
IOLOG_3 = """fio version 3 iolog
0 /dev/sdb add
10 /dev/sdb open
100 /dev/sdb write 4096 8192
1600 /dev/sdb read 0 512
1700 /dev/sdb trim 0 512
2100 /dev/sdb read 512 512
"""


@pytest.mark.parametrize(("text", "skipped"), [(IOLOG_2, "sync"), (IOLOG_3, "trim")])
def test_fio_iologs(text: str, skipped: str, tmp_path: Path) -> None:
    """Protects fio's logs of both versions: waits add up, stamps are from the start, other actions are counted."""
    trace = open_trace(written(tmp_path, text))
    assert trace.format == "iolog"
    assert by_hand(list(trace.records())) == [
        (0.0, WRITE, 4096, 8192, "/dev/sdb"),
        (0.0015, READ, 0, 512, "/dev/sdb"),
        (0.002, READ, 512, 512, "/dev/sdb"),
    ]
    assert trace.skipped == {skipped: 1}


def test_flushes_of_an_iolog_are_records_for_a_replay(tmp_path: Path) -> None:
    """Protects fsyncs on their way into a replay: at their time, and not among what is left out."""
    trace = open_trace(written(tmp_path, IOLOG_2), flushes=True)
    records = list(trace.records())
    assert [record.op for record in records] == [WRITE, READ, FLUSH, READ]
    assert records[2].time_s == records[1].time_s
    assert trace.skipped == {}


def test_discards_are_records_for_who_wants_them(tmp_path: Path) -> None:
    """Protects discards of blkparse, blktrace and fio's log on their way into a replay: with place and size, and not
    among what is left out.
    """
    text = "8,16 0 1 0.5 9 Q D 2048 + 1024 [fstrim]\n8,16 0 2 0.6 9 Q DN [x]\n8,16 0 3 0.7 9 Q R 8 + 8 [dd]\n"
    trace = open_trace(written(tmp_path, text), discards=True)
    assert [record[1:4] for record in trace.records()] == [(TRIM, 2048 * 512, 1024 * 512), (READ, 4096, 4096)]
    assert trace.skipped == {"discards": 1}
    log = open_trace(written(tmp_path, IOLOG_3), discards=True)
    assert [(record.op, record.offset) for record in log.records()][2] == (TRIM, 0)
    binary = open_trace(SAMPLES / "synthetic.bin", discards=True)
    assert [record.op for record in binary.records()].count(TRIM) == 1
    assert "discards" not in binary.skipped


def test_other_commands_are_counted(tmp_path: Path) -> None:
    """Protects the count of what is neither read nor write."""
    systor = "1.5,0.1,R,0,0,512\n2.5,0.1,,0,0,512\n"
    trace = open_trace(written(tmp_path, systor))
    assert len(list(trace.records())) == 1
    assert trace.skipped == {"no read and no write": 1}
    scsi = "version,time,op,size,lbn\n1,5,28,512,7\n1,5,1b,0,0\n"
    trace = open_trace(written(tmp_path, scsi))
    assert len(list(trace.records())) == 1
    assert trace.skipped == {"other SCSI commands": 1}


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress], ids=["gz", "xz"])
def test_packed_files(pack: object, tmp_path: Path) -> None:
    """Protects packed traces, text and binary: known by content, whatever the name; a cut one is refused."""
    assert callable(pack)
    for name in ("msr_mds_0.csv", "synthetic.bin"):
        content = (SAMPLES / name).read_bytes()
        path = written(tmp_path, pack(content), "packed")
        assert list(open_trace(path).records()) == list(open_trace(SAMPLES / name).records())
        path.write_bytes(pack(content)[:-20])
        assert "cannot be unpacked" in refusal(path) or "ends" in refusal(path)


def test_zstd_needs_its_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects those without the module zstandard from a traceback."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert "zstandard installed, or unpacked by `zstd -d`" in refusal(written(tmp_path, b"\x28\xb5\x2f\xfd" + bytes(9)))


def test_zstd_with_its_module(tmp_path: Path) -> None:
    """Protects zstd where the module is there; a damaged file is refused."""
    zstandard = pytest.importorskip("zstandard")
    packed = zstandard.compress((SAMPLES / "msr_mds_0.csv").read_bytes())
    assert len(list(open_trace(written(tmp_path, packed)).records())) == 12
    damaged = packed[:9] + bytes(byte ^ 0x55 for byte in packed[9:])
    assert refusal(written(tmp_path, damaged))


@pytest.mark.parametrize(
    ("name", "line", "words"),
    [
        ("msr", "128166372010810581,mds,0,Write,5,0,54086", "trace:2: field size: found '0'; expected: a whole number"),
        ("msr", "128166372010810581,mds,0,Write,5,-1,54086", "trace:2: field size: found '-1'"),
        ("msr", "128166372010810581,mds,0,Erase,5,1,54086", "field type: found 'Erase'; expected: R, W, Read or Write"),
        (
            "msr",
            "128166372010810581,mds,0,Write,9223372036854775808,512,5",
            "field offset: found byte 92233720368547758",
        ),
        (
            "msr",
            "128166372010810581,mds,0,Write,99999999999999999999,512,5",
            "field offset: found '99999999999999999999'",
        ),
        ("msr", "128166372010810581,mds,0,Write", "found 4 fields; expected: 7"),
        ("spc", "0,1,512,r,nan", "field timestamp: found 'nan'; expected: a number from 0"),
        ("spc", "0,1,512,r,-1", "field timestamp: found '-1'"),
        ("spc", "0,1,512", "found 3 fields; expected: 5 or more"),
        ("disksim", "1.0 0 5 8 zz", "field flags: found 'zz'"),
        ("disksim", "inf 0 5 8 1", "field time: found 'inf'"),
        ("disksim-validation", "R Hit 5 8 -1 2", "field response: found '-1'"),
        ("disksim-validation", "X Hit 5 8 1 2", "field direction: found 'X'; expected: R, W, Read or Write"),
        ("disksim-validation", "R Hit 5 8 1", "found 5 fields; expected: 6"),
        ("disksim-validation", "R Hit 5 8 1 9223372036854775", "field think: found"),
        ("mqsim", "1 0 5 8 2", "field type: found '2'; expected: 0 (write) or 1 (read)"),
        ("alibaba", "0,R,1_0,4096,5", "field offset: found '1_0'"),
        ("tencent", "1538323199,105352008,0,1,1576", "field size: found '0'"),
        (
            "systor",
            "1456095145.1,0.1,R,0,0,5000000000",
            "field size: found '5000000000'; expected: a whole number from 1",
        ),
        ("cloudphysics-csv", "1,5,zz,512,7", "field op: found 'zz'"),
        ("blkparse", "8,16 0 1 0.1 5 Q R 100 + 0 [dd]", "field sectors"),
        ("blkparse", "hello", "found 'hello'; expected: an event as blkparse prints it"),
        ("iolog", "/dev/sdb scrub 0 1", "field action: found 'scrub'"),
        ("iolog", "/dev/sdb read 0", "found 1 numbers; expected: offset and length"),
    ],
)
def test_wrong_lines_are_refused(name: str, line: str, words: str, tmp_path: Path) -> None:
    """Protects a person with a damaged trace: the line, the field, what was found and what is expected."""
    good = {format: (SAMPLES / sample) for sample, (format, *_) in EXPECTED.items()}
    good |= {"tencent": SAMPLES / "tencent_one_line.csv", "systor": SAMPLES / "systor17_one_line.csv"}
    first = b"fio version 2 iolog" if name == "iolog" else good[name].read_bytes().splitlines()[0]
    assert words in refusal(written(tmp_path, first + b"\n" + line.encode() + b"\n"), name)


def test_unknown_and_uncertain_files(tmp_path: Path) -> None:
    """Protects against a wrong guess: nothing known, nothing at all, a folder, or more than one format."""
    assert "found no format that raidsim knows" in refusal(SAMPLES / "README.txt")
    assert "an empty file" in refusal(written(tmp_path, ""))
    assert "found a folder" in refusal(tmp_path)
    assert "cannot be read" in refusal(tmp_path / "none")
    assert "did you mean 'mqsim'?" in refusal(SAMPLES / "mqsim_tpcc.txt", "mqsym")


def test_uncertain_format_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects against a silent choice when two formats fit."""
    monkeypatch.setitem(FORMATS._all(), "twin", FORMATS["mqsim"])
    assert "found what may be mqsim or twin; expected: --format mqsim" in refusal(SAMPLES / "mqsim_tpcc.txt")


def test_times_that_go_back_are_sorted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects traces written when I/Os end: within the window they come in order, beyond it the line is named."""
    monkeypatch.setattr(ordering, "WINDOW", 3)
    lines = [f"{time} 0 {block} 8 1" for block, time in enumerate((5, 4, 6, 5, 9, 7))]
    trace = open_trace(written(tmp_path, "\n".join(lines)))
    records = list(trace.records())
    assert [record.offset // 512 for record in records] == [1, 0, 3, 2, 5, 4]
    assert records[0].time_s == 0.0
    late = written(tmp_path, "\n".join([*lines, "10 0 9 8 1", "1 0 9 8 1"]))
    assert "trace:8: field time: found a time" in refusal(late)


def test_reading_is_lazy(tmp_path: Path) -> None:
    """Protects memory: a wrong line is not reached before the records long before it are given."""
    good = "".join(f"{time} 0 8 8 1\n" for time in range(3 * ordering.WINDOW))
    path = written(tmp_path, good + "wrong\n")
    assert len(list(islice(open_trace(path).records(), 1000))) == 1000
    assert f"trace:{3 * ordering.WINDOW + 1}:" in refusal(path)


def test_a_line_without_end(tmp_path: Path) -> None:
    """Protects memory from a file that is one line."""
    assert "a line of more than" in refusal(written(tmp_path, b"1" * 3 * HEAD), "mqsim")


CONTENTS = [path.read_bytes() for path in sorted(SAMPLES.iterdir())] + [IOLOG_2.encode(), IOLOG_3.encode()]
CONTENTS += [gzip.compress(CONTENTS[5]), lzma.compress(CONTENTS[5])]


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_damaged_files_give_records_or_an_error(data: st.DataObject, tmp_path: Path) -> None:
    """Protects against tracebacks: whatever bytes are changed, cut or put in, there are records or an InputError."""
    content = bytearray(data.draw(st.sampled_from(CONTENTS)))
    for _ in range(data.draw(st.integers(0, 4))):
        at = data.draw(st.integers(0, len(content)))
        content[at : at + data.draw(st.integers(0, 8))] = data.draw(st.binary(max_size=8))
    format = data.draw(st.sampled_from([None, None, *FORMATS]))
    with suppress(InputError):
        for record in open_trace(written(tmp_path, bytes(content)), format).records():
            assert record.time_s >= 0
            assert record.op in (READ, WRITE)
            assert 0 < record.size <= 1 << 32
            assert 0 <= record.offset <= (1 << 63) - record.size
            assert record.device


def test_measured_times_come_with_the_ios() -> None:
    """Response and think times are the file's, and an I/O comes when all before it is over."""
    trace = open_trace(SAMPLES / "disksim_validation.txt")
    measured, records = list(trace.measured()), list(trace.records())
    first = measured[0]
    assert first[:3] == (READ, 564347 * 512, 1024)
    assert (first.response_s, first.think_s) == pytest.approx((0.01409537, 0.01387627))
    came = 0.0
    for io, record in zip(measured, records, strict=True):
        assert record[1:4] == (io.op, io.offset, io.size)
        assert record.time_s == pytest.approx(came, abs=1e-8)
        came += io.response_s + io.think_s


def test_a_format_without_measured_times_is_refused() -> None:
    """Protects a check of a drive against a trace that says nothing about it."""
    with pytest.raises(InputError) as caught:
        list(open_trace(SAMPLES / "msr_mds_0.csv").measured())
    assert "found msr, which has no response and think times; expected: disksim-validation" in str(caught.value)


def test_a_content_is_read_without_any_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects servers that get traces from anyone: the same records and errors, also packed, and no file is opened."""
    text = b"0,0,4096,r,0.5\n0,8,4096,w,1.0\n"
    file = tmp_path / "t.spc"
    file.write_bytes(text)
    wanted = list(open_trace(file).records())
    monkeypatch.setattr(Path, "open", lambda *_: pytest.fail("a file was opened"))
    for content in (text, gzip.compress(text)):
        opened = open_trace(content)
        assert (opened.format, list(opened.records())) == ("spc", wanted)
    assert str(tmp_path) not in repr(opened)
    with pytest.raises(InputError, match=r"<trace>:2: "):
        list(open_trace(b"0,0,4096,r,0.5\n0,8,much,w,1.0\n", "spc").records())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.5", 500_000_000),
        ("12.000000001", 12_000_000_001),
        ("7", 7_000_000_000),
        ("7.", 7_000_000_000),
        (" 3.25", 3_250_000_000),
        ("1.0000000019", 1_000_000_001),
        ("1234567890.5", 1_234_567_890_500_000_000),
    ],
)
def test_seconds_become_nanoseconds(tmp_path: Path, text: str, expected: int) -> None:
    """Decimals of a second count as whole nanoseconds, however many there are; what is left is dropped."""
    trace = tmp_path / "one.spc"
    trace.write_text(f"0,8,4096,r,{text}\n")
    with closing(Source(trace)) as source:
        (columns,) = FORMATS["spc"].read(source)
        assert source.since(0) + columns.times_ns.tolist()[0] == expected
