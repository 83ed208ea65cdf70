"""Small liberties that published job files take, as fio 3.33 takes them."""

from __future__ import annotations

from itertools import islice

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio import values as fio_values
from raidsim.model.programs.fio.jobs import jobs
from raidsim.model.programs.fio.offsets import FioOffsets
from raidsim.model.programs.fio.sections import sections
from raidsim.model.programs.operation import Kind


@pytest.mark.parametrize(
    ("line", "option", "value"),
    [
        ("numjobs=4\t; 4 at once", "numjobs", "4"),
        ("time_based    # until runtime is over", "time_based", ""),
        ("description=a#b ; c", "description", "a"),
        ("direct=0;x", "direct", "0"),
    ],
)
def test_a_comment_ends_a_line_anywhere(line: str, option: str, value: str) -> None:
    """Protects files with comments behind options: fio cuts a line at the first ";" or "#", even inside a value."""
    (section,) = sections(f"[job] ; the only one\n{line}\n")
    assert section.name == "job"
    assert section.options[option].value == value


def test_zones_without_a_size_share_what_is_left() -> None:
    """Protects "20/" at the end of ``zoned``, as in fio's own example; given sizes stay."""
    assert [part.value for part in fio_values.zones("50/5:30/15:20/", "here")] == [5, 15, 80]
    assert [part.value for part in fio_values.zones("50/60:20/:30/", "here")] == [60, 20, 20]
    assert [part.value for part in fio_values.zones("50/5:50/95", "here")] == [5, 95]


def offsets(text: str) -> list[tuple[str, list[int]]]:
    """The first offsets of every job, in blocks of 8 KiB, by its file."""
    found = []
    for job in jobs(sections(text)):
        operations = islice((each for each in FioOffsets(job).operations() if each.kind is Kind.READ), 5)
        found.append((job.files[0].name, [each.offset >> 13 for each in operations]))
    return found


def test_clones_have_their_own_offsets() -> None:
    """Protects numjobs: fio 3.33 makes the last clone first, and a randseed changes the offsets of clones alone."""
    job = "[j]\nsize=768k\nrw=randread\nbs=8k\nnumjobs=3\n"
    first = ("j.0.0", [5, 71, 80, 45, 38])
    assert offsets(job) == [first, ("j.2.0", [24, 17, 57, 3, 43]), ("j.1.0", [9, 78, 65, 93, 1])]
    assert offsets(job + "randseed=5\n") == [first, ("j.2.0", [33, 67, 2, 85, 48]), ("j.1.0", [63, 62, 89, 4, 11])]


def test_an_alignment_of_one_block_keeps_the_random_map() -> None:
    """Protects ``ba``: only one that is not the block size lets blocks come twice, in fio 3.33 the sixth of these."""
    small = "[j]\nsize=768k\nrw=randread\n"
    assert not jobs(sections(small + "ba=4k\n"))[0].norandommap
    assert jobs(sections(small + "ba=8k\n"))[0].norandommap


def test_a_small_file_is_read_once() -> None:
    """Protects ``filesize`` below ``size``: fio reads what the file has, and no second time."""
    (job,) = jobs(sections("[j]\nsize=1m\nfilesize=512k\n"))
    assert sum(each.kind is Kind.READ for each in FioOffsets(job).operations()) == 128


@pytest.mark.parametrize("between", "-:")
def test_sizes_of_files_are_a_range_in_either_notation(between: str) -> None:
    """Protects published jobs with ``filesize=10m:100m``; a range that falls is refused."""
    (job,) = jobs(sections(f"[j]\nnrfiles=9\nfilesize=1m{between}2m\n"))
    sizes = [file.size for file in job.files]
    assert min(sizes) >= 1 << 20
    assert max(sizes) <= 2 << 20
    assert len(set(sizes)) > 1
    with pytest.raises(InputError, match="a range from a smaller to a larger"):
        jobs(sections(f"[j]\nfilesize=2m{between}1m\n"))
