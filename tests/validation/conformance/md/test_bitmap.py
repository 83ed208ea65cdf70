"""The recordings of write-intent bitmaps: rates, the order of member writes, and what is written when all is over."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

import raidsim
from raidsim.model.core.errors import InputError
from raidsim.model.kernels import kernel
from raidsim.validation.conformance.base import TruthFile
from raidsim.validation.conformance.md.bitmap import after_difference, probe_difference
from raidsim.validation.conformance.md.mdadm import bitmap_chunk
from raidsim.validation.conformance.md.timing import check, difference, play
from raidsim.validation.conformance.md.timing_cases import Case, cases
from raidsim.validation.conformance.md.vm_member import RecordedArray

FILE = Path(raidsim.__file__).parent / "validation" / "truth" / "timing" / "timing3bm_disk1ms64k.json"
CONTENT = json.loads(FILE.read_text())
KERNEL = kernel("linux-6.1")
CASES: dict[str, Case] = {case.name: case for case in cases(TruthFile(FILE, CONTENT))}
ARRAY = RecordedArray("raid5", 4, 65_536, "left-symmetric", bitmap_bytes=1 << 20, clean=True)


@pytest.mark.parametrize(
    ("array", "job", "ratio"),
    [
        ("raid1_n2", "randwrite_4k_q16", 0.59),
        ("raid10n2_n4", "randwrite_4k_q16", 0.37),
        ("raid10n2_n4", "seqwrite_1m_q4", 0.86),
        ("raid5_n4", "randwrite_4k_q32", 0.75),
    ],
)
def test_what_a_bitmap_of_small_chunks_costs(array: str, job: str, ratio: float) -> None:
    """Protects the rate with a chunk of 1 MiB over that without a bitmap; with the default chunk it is above 0.95."""
    rates = {}
    for bitmap in ("bmnone", "bmdef", "bm1M"):
        case = CASES[f"{array}_{bitmap} {job}"]
        rates[bitmap] = play(case)[1]
        assert difference(case, rates[bitmap]) == ""
    assert rates["bm1M"].write / rates["bmnone"].write == pytest.approx(ratio, rel=0.1)
    assert rates["bmdef"].write / rates["bmnone"].write > 0.93


@pytest.mark.parametrize("name", list(CONTENT["probe"]))
def test_single_writes_in_their_order(name: str) -> None:
    """Protects the order: bitmap, superblock, bitmap again and data on a clean array; bits cleared in two passes."""
    array = next(case.array for case in CASES.values() if case.name.startswith(f"{name} "))
    assert probe_difference(FILE.name, KERNEL, CONTENT, name, array) == ""


@pytest.mark.parametrize(
    ("number", "change", "said"),
    [
        (2, [0.5, 2, "WSM", 16, 3, "kworker"], "write at 0, up to 0.006 s: recorded bitmap"),
        (9, [2.6, 0, "WSM", 8, 1, "kworker"], "superblock 0:8+1"),
    ],
)
def test_another_order_is_a_difference(number: int, change: list[Any], said: str) -> None:
    """The comparison can fail: one request that goes elsewhere is found, and where."""
    content = copy.deepcopy(CONTENT)
    assert probe_difference("f", KERNEL, content, "raid5_n4_bm1M", ARRAY) == ""
    content["probe"]["raid5_n4_bm1M"][number] = change
    assert said in probe_difference("f", KERNEL, content, "raid5_n4_bm1M", ARRAY)


@pytest.mark.parametrize("name", ["raid1_n2_bm1M randwrite_4k_q1", "raid5_n4_bmnone randwrite_4k_q16"])
def test_what_is_written_when_all_is_over(name: str) -> None:
    """Protects the lazy clearing of bits and the superblock that marks the array clean; one write more is found."""
    case = CASES[name]
    machine, _ = play(case)
    assert after_difference(machine, bool(case.array.bitmap_bytes), case.after) == ""
    machine, _ = play(case)
    more = [(0, 0.0, recorded[2] + 1, recorded[3], 0) for recorded in case.after]
    assert "member 0 afterwards: recorded" in after_difference(machine, bool(case.array.bitmap_bytes), more)


def test_rates_writes_and_order_count_as_cases() -> None:
    """A file with one job and one probe has two cases."""
    content = copy.deepcopy(CONTENT)
    name = "raid1_n2_bm1M"
    content["results"] = {name: {"randwrite_4k_q1": content["results"][name]["randwrite_4k_q1"]}}
    content["probe"] = {name: content["probe"][name]}
    result = check([TruthFile(Path("t.json"), content)], lambda _: None)
    assert (result.cases, result.matched) == (2, 2)


@pytest.mark.parametrize(
    ("options", "chunk"),
    [
        ("--bitmap=none", None),
        ("echo faulty > $m/dev-nullb0/state", None),
        ("--bitmap=internal", 64 << 20),
        ("--bitmap=internal --bitmap-chunk=1M", 1 << 20),
        ("-b internal --bitmap-chunk 512", 512 << 10),
    ],
)
def test_the_chunk_of_a_bitmap_is_read(options: str, chunk: int | None) -> None:
    """Protects mdadm's default and its unit of KiB."""
    assert bitmap_chunk("f", options) == chunk


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            lambda content: content["bitmap"].pop("raid5_n4_bm1M"),
            'field bitmap.raid5_n4_bm1M.data_offset: .*"N sectors"',
        ),
        (lambda content: content["probe"]["raid5_n4_bm1M"].insert(3, [1.0, "X 0"]), 'field probe: .*"W offset"'),
    ],
)
def test_a_probe_in_another_form_is_refused(change: Any, message: str) -> None:
    """One message that names the field and what is expected there."""
    content = copy.deepcopy(CONTENT)
    change(content)
    with pytest.raises(InputError, match=message):
        probe_difference("f", KERNEL, content, "raid5_n4_bm1M", ARRAY)
