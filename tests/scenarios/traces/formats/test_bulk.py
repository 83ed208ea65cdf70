"""Blocks of lines that are parsed at once: what the reader of lines reads, or nothing."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.scenarios.traces.formats import format as format_module
from raidsim.scenarios.traces.formats.source import Source
from raidsim.scenarios.traces.formats.table import FORMATS
from raidsim.scenarios.traces.reading import open_trace

PLAIN: dict[str, str] = {
    "alibaba": "{device},{letter},{offset},{size},{time}",
    "cloudphysics-csv": "1,{time},{scsi},{size},{sector}",
    "disksim": "{decimal} {device} {sector} {sectors} {bit}",
    "mqsim": "{time} {device} {sector} {sectors} {bit}",
    "msr": "{ticks},host,{device},{word},{offset},{size},77",
    "spc": "{device},{sector},{size},{letter},{decimal}",
    "systor": "{decimal},0.1,{letter},{device},{offset},{size}",
    "tencent": "{time},{sector},{sectors},{bit},{device}",
}
"""A line of each format that is read in blocks."""
HEADERS = {
    "alibaba": "device_id,opcode,offset,length,timestamp",
    "msr": "Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime",
    "systor": "Timestamp,Response,IOType,LUN,Offset,Size",
}


def line(format: str, number: int, draw: Callable[[int], int]) -> str:
    """A plain line."""
    write = draw(2)
    return PLAIN[format].format(
        device=("0", "17", "volume000001")[draw(3)] if format in ("spc", "tencent") else draw(3),
        letter="RW"[write],
        word=("Read", "Write")[write],
        bit=draw(2),
        scsi=("2a", "28", "8A", "A")[draw(4)],
        offset=draw(1 << 40),
        sector=draw(1 << 40),
        size=1 + draw(1 << 20),
        sectors=1 + draw(1 << 10),
        time=1_000_000 + number * 10 + draw(20),
        decimal=f"{number * 10 + draw(20)}.{draw(10**9)}",
        ticks=128_166_372_003_061_629 + number * 1000 + draw(2000),
    )


def read_both(format: str, content: bytes, patched: pytest.MonkeyPatch) -> tuple[Any, Any]:
    """The records and what was skipped, in blocks and line by line; in place of records the error, if there is one."""

    def read() -> Any:
        trace = open_trace(content, format, skip_malformed=False, discards=True)
        try:
            return list(trace.records()), dict(trace.skipped)
        except InputError as error:
            return str(error)

    blocks = read()
    patched.setattr(format_module.BulkReader, "read", lambda *_: None)
    return blocks, read()


@pytest.mark.parametrize("format", PLAIN)
def test_plain_lines_are_read_at_once(format: str) -> None:
    """Protects the speed: no plain line of these formats, behind a header or not, is left to the reader of lines."""
    lines = [HEADERS[format]] if format in HEADERS else []
    lines += [line(format, number, lambda most: number * 7919 % most) for number in range(50)]  # noqa: B023
    with pytest.MonkeyPatch.context() as patched:

        def refuse(*_: object) -> None:
            raise AssertionError("read line by line")

        patched.setattr(Source, "lines_of", refuse)
        assert len(list(open_trace("\n".join(lines).encode(), format).records())) == 50


@settings(max_examples=200, deadline=None)
@given(data=st.data())
def test_blocks_hold_what_their_lines_hold(data: st.DataObject) -> None:
    """Whatever bytes are changed, a block gives the records, the counts and the errors of its lines, or leaves it."""
    format = data.draw(st.sampled_from(list(PLAIN)))
    lines = [HEADERS[format]] if format in HEADERS and data.draw(st.booleans()) else []

    def draw(most: int) -> int:
        return data.draw(st.integers(0, most - 1))

    lines += [line(format, number, draw) for number in range(data.draw(st.integers(1, 6)))]
    content = bytearray(data.draw(st.sampled_from(["\n", "\r\n"])).join(lines).encode() + b"\n" * draw(3))
    for _ in range(draw(3)):
        at = draw(len(content) + 1)
        some = st.one_of(
            st.binary(max_size=3), st.sampled_from([b" ", b"0", b",", b".", b"-", b"9" * 18, b"\t", b"\0"])
        )
        content[at : at + draw(3)] = data.draw(some)
    if not content:
        return
    with pytest.MonkeyPatch.context() as patched:
        blocks, lines_alone = read_both(format, bytes(content), patched)
    assert blocks == lines_alone


def test_a_block_ends_where_a_line_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of any length give the same records and name the same line."""
    lines = [line("spc", number, lambda most: number * 104_729 % most) for number in range(40)]  # noqa: B023
    path = tmp_path / "trace"
    path.write_text("\n".join(lines))
    whole = list(open_trace(path, "spc").records())
    path.write_text("\n".join([*lines[:30], "wrong", *lines[30:]]))
    for size in (1, 40, 100, 1000):
        monkeypatch.setattr("raidsim.scenarios.traces.formats.source.BLOCK", size)
        trace = open_trace(path, "spc", skip_malformed=True)
        assert list(trace.records()) == whole
        assert trace.errors[0].startswith(f"{path}:31: ")


def test_every_format_says_where_a_record_is() -> None:
    """The marks of records name their lines, also behind a header and across blocks."""
    for format in PLAIN:
        lines = [HEADERS[format]] if format in HEADERS else []
        lines += [line(format, number, lambda most: number % most) for number in range(5)]  # noqa: B023
        with closing(Source(Path("trace"), "\n".join(lines).encode())) as source, suppress(InputError):
            marks = [mark for part in FORMATS[format].read(source) for mark in part.marks.tolist()]
            assert marks == list(range(len(lines) - 4, len(lines) + 1)), format
