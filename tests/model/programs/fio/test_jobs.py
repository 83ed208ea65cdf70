"""Job files of fio: what decides which I/Os a job does, and errors with file and line."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio import values as fio_values
from raidsim.model.programs.fio.job import FioJob, JobFile, Part, Sizes
from raidsim.model.programs.fio.jobs import jobs
from raidsim.model.programs.fio.sections import sections

KIB = 1024
MIB = 1024 * 1024


def read(text: str, files: dict[str, int] | None = None) -> list[FioJob]:
    """The jobs of a job file."""
    return jobs(sections(text, "a.fio"), files)


def test_global_sections_hold_for_the_jobs_after_them() -> None:
    """Protects inheritance: the second global section changes nothing for the first job."""
    found = read("[global]\nsize=1m\n[a]\nrw=write\n# note\n[global]\nbs=8k\n; note\n[b]\nrw=randread\n")
    assert [(each.sizes[0].least, each.writes, each.random) for each in found] == [
        (4096, True, False),
        (8192, False, True),
    ]
    assert [each.thread_number for each in found] == [1, 2]


def test_clones_lie_one_after_the_other() -> None:
    """Protects numjobs and offset_increment: fio numbers the clones from the last, and goes on after them."""
    found = read("[a]\nnumjobs=3\noffset_increment=1m\nsize=1m\n[b]\nsize=1m\n")
    assert [each.offset for each in found] == [0, 2 * MIB, MIB, 0]
    assert [each.thread_number for each in found] == [1, 2, 3, 4]
    assert [each.files[0].name for each in found] == ["a.0.0", "a.2.0", "a.1.0", "b.0.0"]


def test_files_are_named_or_made() -> None:
    """Protects names: given ones, several, and those of the job, in a directory."""
    (given,) = read("[a]\nfilename=x:y\ndirectory=/d\nsize=2m\n")
    assert given.files == (JobFile("/d/x", MIB), JobFile("/d/y", MIB))
    formed = read("[a]\nnumjobs=2\nfilename_format=$jobname-$jobnum-$filenum\ndirectory=/d:/e\nsize=1m\n")
    assert [each.files[0].name for each in formed] == ["/d/a-0-0", "/e/a-1-0"]
    (made,) = read("[a]\nnrfiles=2\nsize=2m\n")
    assert [each.name for each in made.files] == ["a.0.0", "a.0.1"]
    assert read("[a]\nnrfiles=1\nsize=2m\n") == read("[a]\nsize=2m\n")


def test_files_that_are_there_keep_their_size() -> None:
    """Protects percentages of a file and jobs without a size."""
    (quarter,) = read("[a]\nfilename=f\nsize=25%\n", {"f": 4 * MIB})
    assert (quarter.size, quarter.files[0].size) == (MIB, 4 * MIB)
    (whole,) = read("[a]\nfilename=f\noffset=1m\n", {"f": 4 * MIB})
    assert whole.size == 3 * MIB
    (two,) = read("[a]\nfilename=f:g\noffset=1m\n", {"f": 4 * MIB, "g": 2 * MIB})
    assert two.size == (4 - 1) * MIB + (2 - 1) * MIB


def test_variables_and_included_files() -> None:
    """Protects ${NAME} and include, whose lines are named by their own file."""
    found = sections("[global]\ninclude c.inc\n[a]\nsize=${S}\n", "a.fio", {"S": "2m"}, lambda name: "bs=16k\n")
    assert jobs(found)[0].size == 2 * MIB
    assert found[0].options["bs"].place == "c.inc, line 1, bs"


def test_every_option_gets_to_the_job() -> None:
    """Protects the reading of options."""
    (found,) = read(
        "[a]\nrw=randrw:8\nsize=8m\nio_size=16m\nbs=4k,8k\nrwmixwrite=20\nrandseed=5\nrandrepeat=0\n"
        "random_generator=tausworthe64\nnorandommap\npercentage_random=30,40\nrw_sequencer=identical\ntime_based\nruntime=1\n"
        "fsync=3\nfdatasync=4\nopenfiles=2\nnrfiles=4\nfile_service_type=sequential\niodepth=16\n"
    )
    assert found == FioJob(
        files=tuple(JobFile(f"a.0.{number}", 2 * MIB) for number in range(4)),
        reads=True,
        writes=True,
        random=True,
        sizes=(Sizes(4 * KIB, 4 * KIB), Sizes(8 * KIB, 8 * KIB), Sizes(8 * KIB, 8 * KIB)),
        size=8 * MIB,
        io_size=16 * MIB,
        every=8,
        identical=True,
        rwmixread=80,
        percentage_random=(30, 40, 40),
        randseed=5,
        randrepeat=False,
        random_generator="tausworthe64",
        norandommap=True,
        time_based=True,
        fsync=3,
        fdatasync=4,
        openfiles=2,
        service=1 << 62,
    )


@pytest.mark.parametrize(
    ("text", "size"),
    [("4k", 4096), ("4ki", 4096), ("4kb", 4096), ("4K", 4096), ("4KiB", 4000), ("1m", MIB), ("512", 512)],
)
def test_units(text: str, size: int) -> None:
    """Protects fio's peculiar default: only the full unit is decimal."""
    assert fio_values.size(text, "x") == size


def test_splits_are_completed_and_sorted() -> None:
    """Protects bssplit: sizes without a share get what is left, and fio draws in the order of shares."""
    found, _, _ = fio_values.split_sizes("64k/50:4k:8k", "x")
    assert found == Sizes(4 * KIB, 64 * KIB, (Part(4 * KIB, 25), Part(8 * KIB, 25), Part(64 * KIB, 50)))


def test_distributions() -> None:
    """Protects zipf, pareto and zones, none of which keeps a random map."""
    texts = ("zipf:1.2", "zipf", "pareto:0.3", "zoned:50/5:30/15:20/80", "random")
    found = [read(f"[a]\nrw=randread\nsize=1m\nrandom_distribution={text}\n")[0] for text in texts]
    assert [(each.theta, each.h) for each in found] == [(1.2, 0), (1.1, 0), (0, 0.3), (0, 0), (0, 0)]
    assert found[3].zones == (Part(5, 50), Part(15, 30), Part(80, 20))
    assert [each.norandommap for each in found] == [True] * 4 + [False]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("size=1m\n", "a.fio, line 1: found 'size=1m' before any section"),
        ("[a\nsize=1m\n", "a.fio, line 1: found '[a'"),
        ("[a]\nsize=x\n", "a.fio, line 2, size: found 'x'; expected: a number of bytes"),
        ("[a]\nrw=read\n", "job a, size: it is missing; required"),
        ("[a]\nzonemode=zbd\nsize=1m\n", "a.fio, line 2, zonemode: it cannot be simulated: zones are not modeled"),
        ("[a]\nrw=swim\nsize=1m\n", "a.fio, line 2, rw: found 'swim'"),
        ("[a]\nblocksizes=1k\nsize=1m\n", "a.fio, line 2: unknown option 'blocksizes'; did you mean 'blocksize'?"),
        ("[a]\nbs=\nsize=1m\n", "a.fio, line 2, bs: found no value"),
        ("[a]\nsize=1m\nbs=0\n", "a.fio, line 3, bs: found '0'"),
        ("[a]\nsize=1m\nbs=8k-4k\n", "found '8k-4k'"),
        ("[a]\nsize=1m\nbssplit=4k/50:8k/40\n", "add up to 90"),
        ("[a]\nsize=1m\nrandom_generator=lfsr\n", "found 'lfsr'; expected: tausworthe, tausworthe64"),
        ("[a]\nsize=1m\nrandom_distribution=zipf:1\n", "found 'zipf:1'"),
        ("[a]\nsize=1m\nrandom_distribution=normal:500\n", "found 'normal:500'"),
        ("[a]\nsize=1m\nrandom_distribution=zoned:50/50\n", "the accesses of '50/50' add up to 50 %"),
        ("[a]\nsize=1m\nfile_service_type=zipf\n", "found 'zipf'"),
        ("[a]\nsize=1m\nnumjobs=-1\n", "found '-1'; expected: a whole number"),
        ("[a]\nsize=1m\ntime_based=yes\n", "found 'yes'; expected: 0 or 1"),
        ("[a]\nsize=${S}\n", "a.fio, line 2: the variable S is not set"),
        ("[a]\ninclude x\n", "a.fio, line 2: found 'include x'"),
    ],
)
def test_errors_name_the_place(text: str, message: str) -> None:
    """Protects the person with a job that the model cannot do exactly."""
    with pytest.raises(InputError) as error:
        read(text)
    assert message in str(error.value)
