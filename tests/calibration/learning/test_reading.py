"""Tables of measurements, and loads as users write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from raidsim import InputError
from raidsim.calibration.learning.loads import BoxLoad, Measured
from raidsim.calibration.learning.reading import load_from, measurements

HEAD = "block_kib,jobs,depth,read_percent,direction,iops,mean_latency_us\n"


def table(tmp_path: Path, text: str) -> list[Measured]:
    """What is read of a table."""
    path = tmp_path / "box.csv"
    path.write_text(text, encoding="utf-8")
    return measurements([path])[0]


def test_reads_and_writes_of_a_load_belong_together(tmp_path: Path) -> None:
    """Protects rates: two rows are one load, whose I/Os are those of both; the same load again is another one."""
    rows = "4,2,8,75,read,30000,400\n4,2,8,75,write,10000,400\n4,2,8,100,read,40000,400\n"
    load = BoxLoad(4096, 2, 8, 0.75)
    first, pure = table(tmp_path, HEAD + rows)
    assert first == Measured("4 KiB random, 2 x 8, 75 % read", load, 40000, 400 * 1e-6, 400 * 1e-6)
    assert pure == Measured("4 KiB random, 2 x 8, 100 % read", load._replace(read_share=1.0), 40000, 400 * 1e-6, None)
    assert len(table(tmp_path, HEAD + rows + rows)) == 4


def test_what_is_missing_follows_from_littles_law(tmp_path: Path) -> None:
    """Protects tables with rates or latencies alone, and with one direction of two."""
    head = "block_bytes,jobs,depth,read_percent,pattern,direction,iops,mean_latency_ms\n"
    found = table(tmp_path, head + "512,1,10,50,sequential,both,,1\n512,1,10,50,,read,700,\n512,1,4,0,,,,2\n")
    assert [each.rate for each in found] == pytest.approx([10_000, 1400, 2000])
    assert [each.load.sequential for each in found] == [True, False, False]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no column"),
        (HEAD, "no measurements"),
        ("jobs,depth,read_percent,iops\n1,1,1,1\n", "no column block_bytes or block_kib"),
        (HEAD + "4,2,8,75,read,nan,400\n", "line 2: iops: nan"),
        (HEAD + "4,0,8,75,read,1,400\n", "line 2: jobs: 0"),
        (HEAD + "4,2,1.5,75,read,1,400\n", "line 2: depth: 1.5"),
        (HEAD + "-4,2,8,75,read,1,400\n", "line 2: block_kib: -4"),
        (HEAD + ",2,8,75,read,1,400\n", "line 2: no size of a block"),
        (HEAD + "4,2,8,101,read,1,400\n", "line 2: read_percent: 101"),
        (HEAD + "4,2,8,100,write,1,400\n", "writes of a load of 100 % reads"),
        (HEAD + "4,2,8,100,sideways,1,400\n", "line 2: direction: sideways"),
        (HEAD + "4,2,8,100,read,,\n", "neither a rate nor a latency"),
        (HEAD + "4,2,8,50,read,,100\n", "a latency of one direction alone"),
        (HEAD + "4,2,8,100,read,40000,4000\n", "Little's law"),
    ],
)
def test_bad_tables_are_refused_with_their_line(tmp_path: Path, text: str, words: str) -> None:
    """Protects users: one message with file, line and what is expected."""
    with pytest.raises(InputError) as refused:
        table(tmp_path, text)
    assert words in str(refused.value)


def test_other_files_are_refused(tmp_path: Path) -> None:
    """Protects from tracebacks: binary files, files that are not there, reports of other programs, nothing."""
    binary = tmp_path / "box.csv"
    binary.write_bytes(b"\xff\xfe\x00\x01" * 10)
    other = tmp_path / "notes.txt"
    other.write_text("nothing of a benchmark\n")
    for path in (binary, tmp_path / "none.csv", other, tmp_path):
        with pytest.raises(InputError):
            measurements([path])


def test_loads_are_read_as_users_write_them() -> None:
    """Protects the option: units, defaults and the pattern."""
    assert load_from("block_size=4KiB,read_share=70%", "--ask") == BoxLoad(4096, 1, 1, 0.7)
    found = load_from("block_size=1MiB, jobs=2, depth=8, read_share=0, pattern=sequential", "--ask")
    assert found == BoxLoad(1 << 20, 2, 8, 0.0, sequential=True)
    for text in (
        "",
        "block_size=4KiB",
        "block_size=4KiB,read_share=2",
        "block_size=4KiB,read_share=1,jobs=0",
        "block_size=4KiB,read_share=1,jobs=1,jobs=2",
        "block_size=4KiB,read_share=1,pattern=odd",
        "bs=4k",
    ):
        with pytest.raises(InputError, match="--ask"):
            load_from(text, "--ask")
