"""Malformed records: the first one is an error that names its line, or they are left out, counted and named."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from raidsim.model.core.errors import InputError
from raidsim.scenarios.traces.formats.source import MALFORMED
from raidsim.scenarios.traces.reading import open_trace

SAMPLES = Path(__file__).parent / "samples"
LINES = {
    "alibaba": "alibaba_io_traces.csv",
    "blkparse": "synthetic.blkparse.txt",
    "cloudphysics-csv": "cloudphysics_libcachesim.csv",
    "disksim": "disksim_ascii.txt",
    "disksim-validation": "disksim_validation.txt",
    "mqsim": "mqsim_tpcc.txt",
    "msr": "msr_mds_0.csv",
    "spc": "spc_spec_example.spc",
    "systor": "systor17_one_line.csv",
    "tencent": "tencent_one_line.csv",
}
"""Samples of the formats that have a record in a line."""
IOLOG = b"fio version 2 iolog\nf add\nf open\nf write 4096 8192\nf wait 1500\nf read 0 512\nf close\n"


def with_garbage(path: Path, content: bytes) -> int:
    """Write `content` with a line after its second one that is no record; that line's number."""
    lines = content.splitlines()
    number = min(2, len(lines))
    path.write_bytes(b"\n".join([*lines[:number], b"garbage, 1, 2", *lines[number:]]) + b"\n")
    return number + 1


@pytest.mark.parametrize("format", [*LINES, "iolog"])
def test_a_malformed_line_is_left_out_or_an_error(format: str, tmp_path: Path) -> None:
    """Protects long traces with one damaged line: without it they are as they were, and it is counted and named."""
    content = IOLOG if format == "iolog" else (SAMPLES / LINES[format]).read_bytes()
    path, clean = tmp_path / "trace", tmp_path / "clean"
    clean.write_bytes(content)
    number = with_garbage(path, content)
    with pytest.raises(InputError, match=f"trace:{number}"):
        list(open_trace(path, format).records())
    trace, whole = open_trace(path, format, skip_malformed=True), open_trace(clean, format)
    assert list(trace.records()) == list(whole.records())
    assert trace.skipped == {**whole.skipped, MALFORMED: 1}
    (error,) = trace.errors
    assert error.startswith(f"{path}:{number}: ")
    assert list(trace.records()) == list(whole.records()), "a second pass gives the same"
    assert trace.skipped[MALFORMED] == 1


def test_a_malformed_binary_record_is_left_out_or_an_error(tmp_path: Path) -> None:
    """The same where records have no lines, but all one size."""
    content = (SAMPLES / "cloudphysics_vscsi_first320.bin").read_bytes()
    bad = struct.pack("<IIIHHQQ", 1, 512, 1, 0x2A, 0x0100, 1 << 62, 0)
    path = tmp_path / "trace"
    path.write_bytes(content[:64] + bad + content[64:])
    with pytest.raises(InputError, match="trace: byte 64: field lbn"):
        list(open_trace(path).records())
    trace = open_trace(path, skip_malformed=True)
    assert len(list(trace.records())) == 10
    assert trace.skipped == {MALFORMED: 1}


def test_an_impossible_sector_of_blktrace_is_left_out_or_an_error(tmp_path: Path) -> None:
    """The same for the binary of blktrace, also in the file of another CPU."""
    queued_read = 0x11 << 16 | 1
    good, bad = (
        struct.pack("<IIQQIIIIIHH", 0x65617407, 1, 5000, sector, 4096, queued_read, 99, 8 << 20, 0, 0, 0)
        for sector in (8, 1 << 60)
    )
    (tmp_path / "t.blktrace.0").write_bytes(good + bad + good)
    (tmp_path / "t.blktrace.1").write_bytes(bad + good)
    path = tmp_path / "t.blktrace.0"
    with pytest.raises(InputError, match="field sector"):
        list(open_trace(path).records())
    trace = open_trace(path, skip_malformed=True)
    assert len(list(trace.records())) == 3
    assert trace.skipped == {MALFORMED: 2}


def test_a_damaged_end_is_an_error_all_the_same(tmp_path: Path) -> None:
    """What is cut off cannot be counted, so it is never passed over in silence."""
    path = tmp_path / "trace"
    path.write_bytes((SAMPLES / "cloudphysics_vscsi_first320.bin").read_bytes()[:-5])
    with pytest.raises(InputError, match="the file ends after 27 bytes"):
        list(open_trace(path, skip_malformed=True).records())
