"""Binary formats of libCacheSim, and marks before a text: read back what is written, refuse what is damaged."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from raidsim.model.core.errors import InputError
from raidsim.model.core.request import READ, WRITE
from raidsim.scenarios.traces.formats.record import TraceRecord
from raidsim.scenarios.traces.reading import open_trace

SAMPLES = Path(__file__).parent / "samples"
MAGIC = 0x123456789ABCDEF0
Requests = list[tuple[int, int, int, int]]


def requests() -> st.SearchStrategy[Requests]:
    """Times that do not fall, sectors, sectors of size, and libCacheSim's read or write."""
    one = st.tuples(st.integers(0, 9), st.integers(0, 1 << 40), st.integers(1, 2048), st.sampled_from([12, 13]))

    def ordered(found: Requests) -> Requests:
        times = [sum(each[0] for each in found[: at + 1]) for at in range(len(found))]
        return [(time, *each[1:]) for time, each in zip(times, found, strict=True)]

    return st.lists(one, min_size=1, max_size=20).map(ordered)


def expected(found: Requests, all_reads: bool) -> list[TraceRecord]:
    """The records of some requests."""
    return [
        TraceRecord(
            float(time - found[0][0]), READ if all_reads or op == 12 else WRITE, sector * 512, size * 512, "disk"
        )
        for time, sector, size, op in found
    ]


def lcs(found: Requests, items: str = "<IQIB", end: int = MAGIC, item_size: int = 17) -> bytes:
    """A file of LCS: its header, and a record for each request."""
    header = struct.pack("<Q240s9B231x", MAGIC, items.encode(), 2, 3, 1, 0, 0, 4, 0, 0, 0) + bytes(512)
    header += struct.pack("<IIQQ", 4, item_size, 1, end)
    return header + b"".join(struct.pack("<IQIB", time, sector, size * 512, op) for time, sector, size, op in found)


def vscsi_2(found: Requests) -> bytes:
    """A file of the second version of vscsi."""
    scsi = {12: 0x28, 13: 0x2A}
    rows = [(scsi[op], 0x0200, 1, size * 512, 1, sector, time * 10**6, 77) for time, sector, size, op in found]
    return b"".join(struct.pack("<HHIIIQQQ", *row) for row in rows)


@settings(max_examples=30, deadline=None)
@given(found=requests())
def test_what_is_written_is_read_back(found: Requests, tmp_path_factory: pytest.TempPathFactory) -> None:
    """Protects oracleGeneral, LCS and the second version of vscsi: times, sectors, sizes and directions."""
    path = tmp_path_factory.mktemp("traces") / "trace"
    path.write_bytes(b"".join(struct.pack("<IQIq", time, sector, size * 512, -1) for time, sector, size, _ in found))
    trace = open_trace(path)
    assert (trace.format, list(trace.records())) == ("oracle-general", expected(found, True))
    path.write_bytes(lcs(found))
    trace = open_trace(path)
    assert (trace.format, list(trace.records())) == ("lcs", expected(found, False))
    path.write_bytes(vscsi_2(found))
    trace = open_trace(path)
    assert (trace.format, list(trace.records())) == ("cloudphysics-2", expected(found, False))


@pytest.mark.parametrize(
    ("content", "format", "message"),
    [
        (
            struct.pack("<IQIq", 1, 1 << 62, 4096, -1),
            "oracle-general",
            "byte 0: field obj_id: found .*no places on a disk",
        ),
        (struct.pack("<IQIq", 1, 8, 4096, -1)[:20], "oracle-general", "the file ends after 20 bytes"),
        (lcs([], end=1), "lcs", "field end_magic: found 0x1"),
        (lcs([], items="<IQz"), "lcs", "field format: found '<IQz'; expected: characters of struct"),
        (lcs([], item_size=18), "lcs", "field n_fields: found 4 fields of 18 bytes; expected: 4 of 17"),
        (lcs([(1, 2, 3, 12)])[:-3], "lcs", "byte 1024: the file ends after 14 bytes"),
    ],
)
def test_damage_is_named_with_its_place(content: bytes, format: str, message: str, tmp_path: Path) -> None:
    """Protects from traces of other kinds of caches, and from damaged headers."""
    (tmp_path / "trace").write_bytes(content)
    with pytest.raises(InputError, match=message):
        list(open_trace(tmp_path / "trace", format).records())


@pytest.mark.parametrize("name", ["msr_mds_0.csv", "alibaba_io_traces.csv", "synthetic.blkparse.txt"])
def test_a_mark_before_the_text_is_no_part_of_it(name: str, tmp_path: Path) -> None:
    """Protects files that a program of Windows has written: UTF-8 with a mark is read, UTF-16 is refused by name."""
    content = (SAMPLES / name).read_bytes()
    (tmp_path / "trace").write_bytes(b"\xef\xbb\xbf" + content)
    assert list(open_trace(tmp_path / "trace").records()) == list(open_trace(SAMPLES / name).records())
    (tmp_path / "trace").write_bytes(content.decode().encode("utf-16"))
    with pytest.raises(InputError, match="found a text in UTF-16; expected: UTF-8"):
        open_trace(tmp_path / "trace")
