"""What mdadm gives an array that does not say otherwise."""

from __future__ import annotations

import pytest

from raidsim.scenarios.description.mdadm_defaults import bitmap_chunk
from raidsim.scenarios.documents.document import document_from
from raidsim.scenarios.documents.text import plain_text
from raidsim.scenarios.documents.written import written

MIB, TB = 1 << 20, 10**12


def array(text: str, drive: str = "IronWolf-Pro-20TB", count: int = 4, more: str = "") -> tuple[int | None, int]:
    """Bitmap and chunk of an array, as a document describes it."""
    whole = f"machine: {{drives: {{model: {drive}, count: {count}}}}}\narrays: {{md0: {text}}}\n{more}"
    spec = document_from(whole).spec().arrays["md0"]
    return spec.bitmap, spec.chunk


@pytest.mark.parametrize("level", ["raid1", "raid5", "raid6", "raid10"])
def test_arrays_of_large_drives_have_a_bitmap(level: str) -> None:
    """Protects planners from arrays that are faster than mdadm's. Counter-tests: without redundancy, below 100 GiB of
    each member, with a journal, behind a controller, and where it is refused by hand there is none.
    """
    assert array(level)[0] == 64 * MIB
    assert array("raid0")[0] is None
    assert array(f"{{level: {level}, bitmap: none}}")[0] is None
    small = f"{{level: {level}}}"
    assert array(small, "Generic-36GB-FC-10k")[0] is None


def test_a_journal_or_a_controller_does_without() -> None:
    """Protects what keeps an array consistent by other means from a second cost."""
    assert array("{level: raid5, members: [disk0, disk1, disk2], journal: disk3}")[0] is None
    assert array("{level: raid5, controller: LSI-9260-8i}")[0] is None


def test_the_chunk_is_mdadms() -> None:
    """Protects the chunk: 512 KiB today, 64 KiB with the kernels of mdadm 2 and on controllers, or what is said."""
    assert array("raid5")[1] == 512 * 1024
    assert array("{level: raid5, chunk: 64KiB}")[1] == 64 * 1024
    assert array("raid5", more="kernel: linux-2.6.20\n") == (None, 64 * 1024)


def test_a_bit_stands_for_more_on_very_large_members() -> None:
    """Protects the arithmetic of super1.c: 64 MiB up to 67 TB a member, then powers of two."""
    assert bitmap_chunk(20 * TB) == 64 * MIB
    assert bitmap_chunk(67 * TB) == 64 * MIB
    assert bitmap_chunk(100 * TB) == 128 * MIB


def test_what_is_written_out_has_no_other_bitmap() -> None:
    """Protects a file with every default filled in: an array without a bitmap says so, and reads as the same."""
    whole = "machine: {drives: {model: IronWolf-Pro-20TB, count: 3}}\narrays: {md0: {level: raid5, bitmap: none}}\n"
    spec = document_from(whole).spec()
    assert written(spec)["arrays"]["md0"]["bitmap"] == "none"
    assert document_from(plain_text(written(spec))).spec() == spec
