"""The other reports as data: every number of their tables is a cell or listed as missing, and marked before any fit."""

from __future__ import annotations

import math
from functools import cache

import pytest

from raidsim.calibration.study.study import StudySpec, load_study
from raidsim.model.programs.linux_tree import linux_2_6_13
from raidsim.scenarios.description.programs import ProgramsSpec
from raidsim.scenarios.programs.tar_c import ArchiveStep

FURTHER = ("mblack-2001", "hedrick-2001", "hedrick-2002", "ostergaard-1999", "larsen-2003", "dpt-1999")
TIOBENCH = """
mblack-2001 2.4.6-pre6/usr5/1 72.33 62.6 0.854 0.71 53.76 50.9 1.344 1.03
mblack-2001 2.4.6-pre6/usr5/2 63.6 58.3 1.139 0.83 44.38 48.3 1.347 1.5
mblack-2001 2.4.6-pre6/usr5/4 56.82 53.5 1.392 1.51 38.34 45.4 1.352 1.52
mblack-2001 2.4.6-pre6/usr5/8 52.84 50.8 1.617 2.12 33.94 42.5 1.355 1.64
mblack-2001 2.4.5/usr5/1 81.48 65.7 0.499 0.54 34.33 24.0 1.481 1.51
mblack-2001 2.4.5/usr5/2 77.1 77.2 0.643 0.96 33.04 23.6 1.493 1.81
mblack-2001 2.4.5/usr5/4 67.18 72.4 0.797 1.39 28.03 20.8 1.494 1.94
mblack-2001 2.4.5/usr5/8 58.29 66.2 0.954 1.95 24.89 19.8 1.498 2.15
mblack-2001 2.4.6-pre6/usr4/1 42.55 38.1 0.809 1.39 18.54 15.2 0.967 0.61
mblack-2001 2.4.6-pre6/usr4/2 32.19 28.8 0.95 1.55 17.77 17.9 0.964 0.77
mblack-2001 2.4.6-pre6/usr4/4 27.05 25.1 1.069 1.46 16.64 18.9 0.96 0.83
mblack-2001 2.4.6-pre6/usr4/8 23.78 22.5 1.199 1.74 15.37 19.1 0.966 0.88
mblack-2001 2.4.5/usr4/1 43.09 28.8 0.43 0.44 11.8 6.96 1.02 0.65
mblack-2001 2.4.5/usr4/2 36.25 24.7 0.531 0.86 11.34 6.79 1.017 0.87
mblack-2001 2.4.5/usr4/4 31.07 24.6 0.624 0.95 10.66 6.55 1.022 1.0
mblack-2001 2.4.5/usr4/8 27.1 23.7 0.714 1.09 9.826 6.38 1.023 1.19
mblack-2001 july/ext3/1 64.71 51.4 0.826 2.0 21.78 32.7 1.218 0.85
mblack-2001 july/ext3/2 23.28 21.7 0.935 1.76 7.374 39.1 1.261 0.96
mblack-2001 july/ext3/4 20.74 20.7 1.087 2.5 5.399 46.8 1.278 1.09
mblack-2001 july/ext3/8 18.6 19.1 1.265 2.67 3.106 63.6 1.286 1.17
mblack-2001 july/ext2/1 62.54 46.0 0.806 2.27 29.97 27.7 1.343 0.94
mblack-2001 july/ext2/2 56.1 46.9 1.03 3.03 28.18 26.7 1.32 1.3
mblack-2001 july/ext2/4 39.46 35.0 1.204 3.34 17.16 16.2 1.309 1.28
mblack-2001 july/ext2/8 33.8 31.0 1.384 3.74 14.26 13.7 1.309 1.21
hedrick-2001 dec10/tiobench/1 84.75 57.1 1.081 1.17 79.8 43.9 4.285 2.46
hedrick-2001 dec10/tiobench/2 78.88 52.8 1.171 0.97 73.64 48.8 4.411 3.67
hedrick-2001 dec10/tiobench/4 74.04 51.3 1.402 1.16 73.77 51.9 4.391 3.65
hedrick-2001 dec10/tiobench/8 67.93 47.9 1.623 1.42 71.43 52.1 4.36 3.62
hedrick-2001 dec31/tiobench/1 153.6 98.1 0.897 0.91 85.59 51.2 3.399 1.95
hedrick-2001 dec31/tiobench/2 104.7 67.8 1.08 1.0 79.63 58.4 3.437 3.29
hedrick-2001 dec31/tiobench/4 91.57 61.2 1.292 1.24 76.45 59.3 3.471 3.4
hedrick-2001 dec31/tiobench/8 83.55 57.3 1.48 1.39 73.8 59.2 3.455 3.26
hedrick-2002 a/tiobench/1 38.6 20.2 0.844 0.97 32.85 34.4 1.09 0.9
hedrick-2002 a/tiobench/2 26.2 16.6 0.973 1.05 28.52 47.5 1.099 0.98
hedrick-2002 a/tiobench/4 22.98 15.6 1.07 1.07 24.53 45.0 1.098 1.26
hedrick-2002 a/tiobench/8 21.52 15.9 1.168 1.06 20.27 39.1 1.097 1.52
hedrick-2002 b/tiobench/1 77.41 16.5 0.93 0.77 40.92 13.6 0.852 0.21
hedrick-2002 b/tiobench/2 67.76 14.9 0.933 0.5 38.43 13.1 0.852 0.27
hedrick-2002 b/tiobench/4 63.22 13.8 0.938 0.42 37.05 12.5 0.857 0.31
hedrick-2002 b/tiobench/8 59.11 13.2 0.963 0.46 36.01 12.1 0.862 0.3
"""
"""Study, row with its number of threads; rates (MB/s) and CPU (%) as in :data:`TIOBENCH_FIGURES`."""
TIOBENCH_FIGURES = (
    "seq-read-rate",
    "seq-read-cpu",
    "rand-read-rate",
    "rand-read-cpu",
    "seq-write-rate",
    "seq-write-cpu",
    "rand-write-rate",
    "rand-write-cpu",
)
BONNIE = """
hedrick-2001 dec10/bonnie 9709 98.9 99026 50.0 49883 41.4 9663 99.1 89632 55.0 344.2 4.0
hedrick-2001 dec31/bonnie 9854 100.0 109124 51.0 65537 52.2 9821 99.9 167240 97.6 1504.4 6.4
hedrick-2002 a/bonnie-512 13038 99.8 44931 43.8 15274 12.9 12038 95.0 66362 32.5 305.7 4.1
hedrick-2002 a/bonnie-1024 13023 100.0 39051 40.2 15114 13.9 12158 96.3 53235 28.3 210.7 2.1
hedrick-2002 b/bonnie-1024 15337 99.5 63036 14.9 21097 6.9 11821 85.2 106472 11.8 286.9 1.1
dpt-1999 ift/64 7465 100.0 70287 98.7 37012 97.7 8074 99.2 * 100.3 * 196.6
dpt-1999 ift/128 7289 99.3 67595 98.5 35294 98.6 7792 97.6 * 100.3 * 195.8
dpt-1999 ift/256 7222 98.8 44844 69.6 16096 51.8 5787 72.7 * 99.8 * 85.2
dpt-1999 ift/512 7138 98.4 13871 23.2 7888 29.3 7183 89.3 16488 27.2 1585 11.5
dpt-1999 ift/1024 6908 95.8 12270 21.5 7161 25.4 7373 90.4 16527 28.2 123.8 1.8
dpt-1999 ift/2047 6081 84.1 12664 22.6 7191 25.6 7289 89.5 16573 28.5 75.0 1.2
dpt-1999 dpt2144/100 9210 96.8 1613 5.9 717 5.8 3797 36.1 90931 96.8 4648.2 159.2
dpt-1999 ide/100 3277 32.0 6325 23.5 2627 18.3 4818 44.8 59697 88.0 575.9 16.3
dpt-1999 dpt3344/1000 1714 17.2 1689 6.0 1200 5.7 5263 40.2 7023 12.1 51.3 2.2
"""
"""Study, row; K/s (seeks: 1/s) and CPU (%) as in :data:`BONNIE_FIGURES`; stars where the column is too narrow."""
BONNIE_FIGURES = tuple(
    f"{phase}-{what}" for phase in ("putc", "write", "rewrite", "getc", "read", "seeks") for what in ("rate", "cpu")
)
HOWTO = """
raid0-4k-blocks-1k 19712 18035
raid0-4k 34048 27061
raid0-8k-blocks-1k 19301 18091
raid0-8k 33920 27118
raid0-16k-blocks-1k 19330 18179
raid0-16k-blocks-2k 28161 23682
raid0-16k 33990 27229
raid0-32k-blocks-1k 19251 18194
raid0-32k 34071 26976
raid0-32k-tagged 33617 27215
raid5-8k-blocks-1k 11090 6874
raid5-8k 13474 12229
raid5-32k-blocks-1k 11442 8291
raid5-32k-blocks-2k 16089 10926
raid5-32k 18724 12627
raid10-32k-blocks-1k 13753 11580
raid10-32k 23432 22249
"""
"""Array and chunk, block of the file system unless it is 4 KiB; kB/s read and written."""
HDPARM = """
2.4.20 22.07 38.55 66.67 36.78 36.78 38.1 37.65
2.6.0-test2 24.0 33.37 46.79 28.69 29.07 31.45 32.23
"""
"""Kernel; MB/s of md0 to md6."""
HDPARM_ARRAYS = ("md0-raid1", "md1-raid1", "md2-raid0", "md3-raid5", "md4-raid5", "md5-raid5", "md6-raid5")
OTHER_NUMBERS = {
    "hedrick-2001": {
        "dec31/hdparm": 136.17,
        "dec10/pattern-write/rate": 96.1,
        "dec10/pattern-write/seconds": 397.35,
        "dec10/pattern-read/rate": 75.68,
        "dec10/pattern-read/seconds": 504.53,
    }
}
COPIES = """
tar/evms-root 3155.264 n/a n/a 230.105 13.712
tar/ext2 3633.296 279.169 11.302 103.92 30.362
tar/ext3 3666.104 345.616 9.129 109.318 28.863
tar/reiserfs 3154.052 296.603 10.638 147.517 21.389
tar/jfs 3715.02 487.808 6.468 436.443 7.229
tar/xfs 3594.028 374.902 8.416 440.446 7.164
tar/reiserfs-partitions 3160.948 410.171 7.706 167.462 18.876
crypto/cryptoloop-aes-256 3166.32 455.894 6.945 261.052 12.129
crypto/non-crypto 3167.32 279.456 11.334 168.394 18.809
crypto/crypto-raid 3163.276 464.436 6.811 274.186 11.537
crypto/non-crypto-raid 3163.28 299.248 10.571 152.643 20.723
chunk-4KiB/plain 3163.340 299.134 10.575 148.706 21.272
chunk-8KiB/plain 3163.340 305.853 10.343 148.004 21.373
chunk-16KiB/plain 3163.340 308.125 10.266 151.083 20.938
chunk-32KiB/plain 3163.340 303.304 10.430 149.578 21.148
chunk-64KiB/plain 3163.340 308.415 10.257 150.549 21.012
chunk-128KiB/plain 3163.340 303.502 10.423 150.267 21.051
chunk-256KiB/plain 3163.340 304.218 10.398 148.554 21.294
chunk-512KiB/plain 3163.340 303.955 10.407 149.056 21.222
chunk-1024KiB/plain 3163.340 304.293 10.396 150.934 20.958
chunk-2048KiB/plain 3163.340 307.312 10.294 148.657 21.279
chunk-4096KiB/plain 3163.340 306.345 10.326 148.825 21.255
chunk-4KiB/aes-256 3163.340 468.970 6.745 278.924 11.341
chunk-8KiB/aes-256 3163.340 467.595 6.765 278.833 11.345
chunk-16KiB/aes-256 3163.340 471.299 6.712 281.183 11.250
chunk-32KiB/aes-256 3163.340 467.582 6.765 283.161 11.172
chunk-64KiB/aes-256 3163.340 466.750 6.777 279.533 11.317
chunk-128KiB/aes-256 3163.340 463.660 6.823 278.319 11.366
chunk-256KiB/aes-256 3163.340 519.772 6.086 280.467 11.279
chunk-512KiB/aes-256 3163.340 467.528 6.766 278.840 11.345
chunk-1024KiB/aes-256 3163.340 468.347 6.754 281.951 11.219
chunk-2048KiB/aes-256 3163.340 469.618 6.736 279.962 11.299
chunk-4096KiB/aes-256 3163.340 466.905 6.775 281.578 11.234
"""
"""The Gentoo report's copies: used space, seconds and MB/s of writing, and of reading."""
ROOT_SPACE = 3155.264
"""Used space of the root that was copied, in thousands of KiB."""


def printed(name: str) -> dict[str, float]:
    """Every number that a report prints, by the id that it has in the study."""
    found: dict[str, float] = dict(OTHER_NUMBERS.get(name, {}))
    for table, figures in ((TIOBENCH, TIOBENCH_FIGURES), (BONNIE, BONNIE_FIGURES)):
        for line in table.strip().splitlines():
            study, row, *numbers = line.split()
            assert len(numbers) == len(figures)
            if study == name:
                pairs = zip(figures, numbers, strict=True)
                found |= {f"{row}/{figure}": float(number) for figure, number in pairs if number != "*"}
    if name == "ostergaard-1999":
        for line in HOWTO.strip().splitlines():
            row, read, write = line.split()
            found |= {f"{row}/read": float(read), f"{row}/write": float(write)}
    if name == "larsen-2003":
        for line in HDPARM.strip().splitlines():
            kernel, *numbers = line.split()
            found |= {f"{kernel}/{array}": float(n) for array, n in zip(HDPARM_ARRAYS, numbers, strict=True)}
    return found


@cache
def study_of(name: str) -> StudySpec:
    """A study, read once."""
    return load_study(name)


@pytest.mark.parametrize("name", FURTHER)
def test_every_number_of_a_further_report_is_there(name: str) -> None:
    """A number that is left out, or copied wrong, is neither predicted nor listed as missing."""
    study = study_of(name)
    cells = {cell.id: cell.measured for cell in study.cells}
    missing = {each.id: each.measured for each in study.missing}
    assert not cells.keys() & missing.keys()
    assert cells | missing == printed(name)
    assert study.report == "further"


def test_only_what_fixes_unknown_hardware_is_fitted() -> None:
    """One thread, the smallest array or what needs no array: all else is what a prediction is judged by."""
    rows = {
        name: {cell.id.rpartition("/")[0] for cell in study_of(name).cells if cell.use == "calibrate"}
        for name in FURTHER
    }
    assert rows == {
        "mblack-2001": {"2.4.6-pre6/usr5/1"},
        "hedrick-2001": {"dec10/tiobench/1", "dec10/bonnie"},
        "hedrick-2002": {"a/tiobench/1", "a/bonnie-512", "b/tiobench/1", "b/bonnie-1024"},
        "ostergaard-1999": {"raid0-32k"},
        "larsen-2003": {"2.4.20"},
        "dpt-1999": {"ift/64", "ift/2047", "ide/100"},
    }
    bonnie = {
        cell.id.rpartition("/")[2]
        for name in ("hedrick-2001", "hedrick-2002")
        for cell in study_of(name).cells
        if cell.use == "calibrate" and "bonnie" in cell.id
    }
    assert bonnie == {"putc-rate", "putc-cpu", "getc-rate", "getc-cpu"}
    assert [cell.id for cell in study_of("larsen-2003").cells if cell.use == "calibrate"] == ["2.4.20/md1-raid1"]


@pytest.mark.parametrize("name", FURTHER)
def test_fewer_parameters_than_fitted_numbers(name: str) -> None:
    """A fit that has as many free values as numbers says nothing; priors alone do not make it honest."""
    study = study_of(name)
    assert 0 < len(study.parameters) <= sum(cell.use == "calibrate" for cell in study.cells) + 1


def test_the_pattern_of_hedricks_first_mail_is_half_of_the_drives() -> None:
    """40,038,825,984 bytes in 397.35 s are 96.1 MB/s of 2^20, and half of four drives."""
    study = study_of("hedrick-2001")
    size = study.runs["dec10/bonnie"].file_systems["/mnt"].size
    assert size == 40_038_825_984
    for seconds, rate in ((397.35, 96.1), (504.53, 75.68)):
        assert size / seconds / 2**20 == pytest.approx(rate, abs=0.01)
    drives = study.machines["dec10"].drives.values()
    assert sum(drive.spec().capacity for drive in drives) / 2 == pytest.approx(size, rel=1e-3)


@pytest.mark.parametrize("line", COPIES.strip().splitlines(), ids=lambda line: line.split()[0])
def test_every_copy_of_the_gentoo_report_is_a_cell(line: str) -> None:
    """Seconds as printed; the MB/s beside are the space of what was copied over them, which finds a misread digit."""
    row, space, *numbers = line.split()
    cells = {cell.id: cell.measured for cell in study_of("gentoo-2004").cells}
    copied = ROOT_SPACE if row.startswith("tar/") and row != "tar/reiserfs-partitions" else float(space)
    for direction, seconds, rate in (("write", *numbers[:2]), ("read", *numbers[2:])):
        if seconds == "n/a":
            assert f"2.6.7/{row}/{direction}" not in cells
            continue
        assert cells[f"2.6.7/{row}/{direction}"] == float(seconds)
        assert copied / float(seconds) == pytest.approx(float(rate), abs=6e-4)


def test_the_copies_that_are_fitted() -> None:
    """The root, ext2, reiserfs and one row with encryption."""
    fitted = {cell.id for cell in study_of("gentoo-2004").cells if cell.use == "calibrate" and "tar" in cell.figure}
    rows = ("tar/ext2", "tar/reiserfs", "crypto/cryptoloop-aes-256")
    both = {f"2.6.7/{row}/{direction}" for row in rows for direction in ("write", "read")}
    assert fitted == both | {"2.6.7/tar/evms-root/read"}


def test_the_tree_takes_the_space_that_the_report_prints() -> None:
    """The same files in all copies: in 4 KiB blocks with indirect blocks and directories ext2's 3,633,296 KiB."""
    study = study_of("gentoo-2004")
    trees = {
        step.tree
        for run in study.runs.values()
        if isinstance(run.workload, ProgramsSpec)
        for step in run.workload.steps
        if isinstance(step, ArchiveStep)
    }
    (described,) = trees
    tree = linux_2_6_13(described.files // 10, described.bytes // 10)
    blocks = sum(_ext2_blocks(file.size) for file in tree.files()) + tree.directories
    assert 10 * blocks * 4 == pytest.approx(3_633_296, rel=0.01)


def _ext2_blocks(size: int) -> int:
    """Blocks of a file below 4 GiB: its own, the indirect one, and the doubly indirect ones."""
    data = -(-size // 4096)
    mapping = (data > 12) + ((1 + -(-(data - 1036) // 1024)) if data > 1036 else 0)
    return data + mapping


@pytest.mark.parametrize("name", ["gentoo-2004", "ostergaard-1999", "larsen-2003"])
def test_every_claim_holds_for_the_numbers_of_the_report(name: str) -> None:
    """A claim that the report's own cells deny would be misread, or turned round."""
    study = study_of(name)
    measured: dict[str, list[float]] = {}
    for cell in study.cells:
        measured.setdefault(f"{cell.run}:{cell.figure}", []).append(cell.measured)
    measured |= {f"{case.id}:rate": [case.rate] for case in study.cases}
    value = {figure: math.fsum(numbers) / len(numbers) for figure, numbers in measured.items()}
    assert study.claims
    for claim in study.claims:
        if claim.id != "raid1-writes-with-less-cpu-than-raid5":  # seen, and not printed
            assert claim.allows(claim.value(value.__getitem__)), claim.id


def test_the_freebsd_page_is_claims_only() -> None:
    """No number survives, so nothing may be fitted; every array is run with one to five readers."""
    study = study_of("freebsd-2007")
    assert (study.report, study.cells, study.cases, study.parameters) == ("seed", (), (), ())
    assert len(study.claims) > 100
    readers = {name.rpartition("/")[0] for name in study.runs if name.endswith("/5")}
    for array in (*study.arrays, "baseline-250", "baseline-500"):
        assert array in readers
        for count in range(1, 6):
            run = study.runs[f"{array}/{count}"]
            assert (run.processes or 1) == count
            linux = array.startswith("linux")
            assert run.kernel == ("linux-2.6.20-server" if linux else "freebsd-6.2")
            assert run.read_ahead == (2 << 20 if not linux or "raid1" in array else 4 << 20)


def test_claims_on_three_and_five_mirrors_are_called_weak() -> None:
    """How they read against other arrays changed between revisions of the page."""
    for claim in study_of("freebsd-2007").claims:
        names = {name.partition(":")[0] for pair in claim.pairs for name in pair if name.endswith(":read.rate")}
        readers = {name for name in names if name.startswith(("gmirror-3/", "gmirror-5/"))}
        others = {name for name in names if not name.startswith(("gmirror-3", "gmirror-5"))}
        both = len({name[:9] for name in readers}) > 1
        assert claim.gist.startswith("weak:") == bool(readers and (others or both)), claim.id


def test_the_freebsd_claims_do_not_contradict_each_other() -> None:
    """Orderings of the same two figures the same way round; a turned claim would be caught by its opposite."""
    above: dict[tuple[str, str], str] = {}
    for claim in study_of("freebsd-2007").claims:
        low, high = claim.ratio
        for left, right in zip(claim.left, claim.right, strict=True):
            if low is not None and low >= 1 and high is None:
                above[left, right] = claim.id
            elif low is None and high is not None and high <= 1:
                above[right, left] = claim.id
    turned = {(name, above[right, left]) for (left, right), name in above.items() if (right, left) in above}
    assert turned == set()
