"""The check of programs: all recordings are reproduced, and a changed recording is noticed, readably."""

from __future__ import annotations

import copy
import gzip
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.validation.conformance.base import KindResult, TruthFile
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH
from raidsim.validation.conformance.workloads import workloads

FOLDER = DEFAULT_TRUTH / "workloads"


def load(*names: str) -> list[TruthFile]:
    """Recordings by name."""
    return [TruthFile(FOLDER / name, json.loads((FOLDER / name).read_text())) for name in names]


def run(files: list[TruthFile]) -> KindResult:
    """The result of a check."""
    return workloads.check(files, lambda _: None)


def changed(name: str, change: Callable[[Any], None]) -> KindResult:
    """The result for one recording with a change, the tree beside it."""
    (file,) = load(name)
    content = copy.deepcopy(file.content)
    change(content)
    others = load("linux_2.6.13_tree.json") if name.startswith("tar") else []
    return run([TruthFile(file.path, content), *others])


@pytest.mark.parametrize(
    ("names", "cases"),
    [
        (("postmark_defaults.json", "postmark_outoffiles.json", "postmark_subdirs100.json"), 30),
        (("bonnie_b103.json", "bonnie_bray64.json"), 33),
        (("iozone_pattern.json",), 10),
        pytest.param(("linux_2.6.13_tree.json", "tar_cp_syscalls_linux2613.json"), 14, marks=pytest.mark.slow),
        (("fio/20_fdatasync_sync_multi_file.stats.json", "fio/20_fdatasync_sync_multi_file.fio.json"), 4),
        (("fio/08_numjobs4_offset_increment_group.stats.json",), 12),
    ],
)
def test_recordings_are_reproduced(names: tuple[str, ...], cases: int) -> None:
    """Protects the programs from drifting away from the real ones, and cases from disappearing."""
    result = run(load(*names))
    assert [miss.case for miss in result.misses] == []
    assert result.cases == cases


@pytest.mark.slow
def test_every_recording_is_reproduced() -> None:
    """Protects all of them: PostMark's 83 million calls, dd, and a million bytes of fio's logs."""
    files = [TruthFile(path, json.loads(path.read_text())) for path in sorted(FOLDER.rglob("*.json"))]
    result = run(files)
    assert (result.cases, result.matched) == (228, 228)
    assert [note.split(",")[0] for note in result.notes] == [
        "10_rate_iops_poisson.fio.json",
        *["19_ramp_group_thinktime.fio.json"] * 2,
        "postmark_seed_report.json",
    ]


def test_dd_reads_the_blocks_that_it_overwrites_in_part() -> None:
    """Protects reads before partial writes, none before whole ones, and the 33 requests of a reader."""
    rows = load("dd_blockdev_rmw.json")[0].content["rows"]
    assert changed("dd_blockdev_rmw.json", set_field("rows", value=[rows[0], *rows[-2:]])).misses == []
    (miss,) = changed("dd_blockdev_rmw.json", set_field("rows", value=[{**rows[3], "reads": 8192}])).misses
    assert (miss.case, miss.difference) == ("write bs=4096 block=4096", "reads: recorded 8192, model 0")


def set_field(*place: str | int, value: Any) -> Callable[[Any], None]:
    """A change of one field."""

    def change(content: Any) -> None:
        for part in place[:-1]:
            content = content[part]
        content[place[-1]] = value

    return change


@pytest.mark.parametrize(
    ("name", "change", "case", "difference"),
    [
        (
            "postmark_defaults.json",
            set_field("script", value="set location /pmstub 1\nset buffering false\nset seed 43\nrun\nquit\n"),
            "log",
            "line 1: recorded 'C /pmstub/1 1390 3', model",
        ),
        (
            "postmark_defaults.json",
            set_field("exact", "read_calls", value=1),
            "calls and bytes",
            "read_calls: recorded 1",
        ),
        ("postmark_defaults.json", set_field("report", "read", value=1), "report", "read: recorded 1, model 243"),
        ("postmark_defaults.json", set_field("peak_pool_bytes", value=1), "peak of the pool", "model 3348463"),
        (
            "postmark_defaults.json",
            set_field("settings", "number", value=1),
            "settings",
            "number: recorded 1, model 500",
        ),
        (
            "bonnie_b103.json",
            set_field("phases", "Rewriting...", "lseek", value=1),
            "Rewriting",
            "lseek: recorded 1, model",
        ),
        (
            "bonnie_b103.json",
            set_field("seekers", 0, "counts", "write", value=9),
            "seeker 1",
            "write: recorded 9, model 255",
        ),
        (
            "bonnie_b103.json",
            set_field("seekers", 0, "first", 1, value=["R", 0, 8192]),
            "seeker 1",
            "line 2: recorded 'R 0",
        ),
        ("bonnie_b103.json", set_field("seekers", 0, "first", 0, 1, value=7), "seeker 1", "offset 7 is no block"),
        (
            "bonnie_bray64.json",
            set_field("seekers", 1, "first", 5, 1, value=0),
            "seeker 2",
            "line 6: recorded 'R 0 16384'",
        ),
        ("bonnie_bray64.json", set_field("seek_reads_total", value=1), "all seeks", "reads: recorded 1, model 4000"),
        (
            "iozone_pattern.json",
            set_field("phases", 4, 2, "offsets", 0, value=0),
            "random read",
            "offsets: recorded [0, 32",
        ),
        (
            "iozone_pattern.json",
            set_field("phases", 8, 2, "stride", value="9 records"),
            "stride read",
            "model 17 records",
        ),
        ("linux_2.6.13_tree.json", set_field("max", value=1), "percentiles", "100 (max): recorded 1, model"),
        pytest.param(
            "tar_cp_syscalls_linux2613.json",
            set_field("tar_xf (GNU tar 1.34)", "file_writes_syscalls", value=37_000),
            "tar: writes",
            "recorded 37000, model 37653 +- 41",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_a_changed_recording_is_noticed(name: str, change: Callable[[Any], None], case: str, difference: str) -> None:
    """The counter-test: what is not the same is a miss that shows both sides."""
    misses = {miss.case: miss.difference for miss in changed(name, change).misses}
    assert difference in misses[case]


def test_a_changed_log_of_fio_is_noticed(tmp_path: Path) -> None:
    """Protects the comparison of logs: the line is named, and a log of nobody and a missing one are found."""
    stem = "01_seqread_4k_direct"
    for name in (f"{stem}.stats.json", f"{stem}.iolog.gz"):
        shutil.copy(FOLDER / "fio" / name, tmp_path)
    (file,) = load(f"fio/{stem}.stats.json")
    here = [TruthFile(tmp_path / f"{stem}.stats.json", file.content)]
    log = tmp_path / f"{stem}.iolog.gz"
    lines = gzip.decompress(log.read_bytes()).decode().splitlines()
    lines[99] = "1 f1 read 5 4096"
    log.write_bytes(gzip.compress("\n".join([*lines, lines[0], "2 f1 add"]).encode()))
    misses = {miss.case: miss.difference for miss in run(here).misses}
    assert misses["seqread (job 1) log"] == "line 100: recorded 'f1 read 5 4096', model 'f1 read 393216 4096'"
    assert "no job for it" in misses["log 2"]
    log.unlink()
    assert "there is no log" in run(here).misses[0].difference


def test_a_job_takes_the_size_of_a_file_that_another_run_has_made() -> None:
    """Protects sizes in percent: 25 % of a file is a quarter of what the largest of the recorded jobs wrote to it. The
    counter-test: with a smaller job alone, the quarter is smaller than recorded.
    """
    quarter = "fio/22_include_inline.stats.json"
    both = run(
        load(quarter, "fio/16_seq_with_skip_and_rand_seq8.stats.json", "fio/06_randrw_70_8k_qd16_libaio.stats.json")
    )
    assert [miss.case for miss in both.misses] == []
    assert both.cases == 15
    smaller = run(load(quarter, "fio/16_seq_with_skip_and_rand_seq8.stats.json"))
    assert (
        "n_ops: recorded 512, model 256"
        in {miss.case: miss.difference for miss in smaller.misses}["x (job 1) statistics"]
    )


def test_what_cannot_be_read_is_named(tmp_path: Path) -> None:
    """Protects the person who brings recordings: file and field are named, and other versions are not checked."""
    [left] = changed("postmark_defaults.json", lambda content: content.pop("exact")).not_checked
    assert (left.file, left.reason.split(";")[0]) == (
        "postmark_defaults.json",
        "field exact is missing or of another form",
    )
    with pytest.raises(InputError, match=r"field script: there is no run in it"):
        changed("postmark_defaults.json", set_field("script", value="quit\n"))
    [left] = changed("bonnie_b103.json", set_field("command_output", value="done")).not_checked
    assert "field command_output names no size that is known" in left.reason
    [left] = run([TruthFile(tmp_path / "x.json", {})]).not_checked
    assert "no known program" in left.reason
    (file,) = load("postmark_defaults.json")
    (tmp_path / "x.oplog.gz").write_bytes(b"nothing")
    with pytest.raises(InputError, match=r"x.oplog.gz: cannot be read"):
        run([TruthFile(tmp_path / "x.json", file.content)])


def test_bonnie_plus_plus_with_b_is_told_by_its_small_files() -> None:
    """Protects -b, which is not printed: without the recorded fsyncs of the first phase the others are misses."""
    assert changed("bonnie_b103sync.json", lambda content: None).misses == []

    def forget(content: dict[str, Any]) -> None:
        del content["phases"]["Create files in sequenti"]["fsync"]

    misses = {miss.case for miss in changed("bonnie_b103sync.json", forget).misses}
    assert {"Writing intelligently", "Delete files in ra", "seeker 1"} <= misses


def test_a_seeker_of_which_no_calls_were_recorded_is_a_miss() -> None:
    """Protects the count of calls: one more process has done something, and without reads there is no update."""

    def add(content: dict[str, Any]) -> None:
        content["seekers"].append({"counts": {}, "first": [], "all_read_offsets_min": 0, "all_read_offsets_max": 0})

    differences = {miss.case: miss.difference for miss in changed("bonnie_b103.json", add).misses}
    assert differences["seeker 4"] == "read: recorded nothing, model 0\nwrite: recorded nothing, model 0"


@pytest.mark.parametrize(("writes", "matches"), [(121, True), (0, False), (1347, False)])
def test_random_updates_are_one_in_ten(writes: int, matches: bool) -> None:
    """Protects the random updates of 2.00: any number that may be chance is right, no other."""

    def write(content: dict[str, Any]) -> None:
        content["seekers"][0]["counts"]["write"] = writes
        content["seek_writes_total"] = sum(seeker["counts"]["write"] for seeker in content["seekers"])

    misses = [miss.case for miss in changed("bonnie_b200.json", write).misses]
    assert misses == ([] if matches else ["seeker 1", "all seeks"])


@pytest.mark.parametrize(("writes", "matches"), [(187, True), (195, False), (82, True), (74, False)])
def test_random_updates_are_within_five_standard_deviations(writes: int, matches: bool) -> None:
    """Protects the limit of chance: a tenth of the 1,347 reads is 135, with a standard deviation of 11."""
    misses = changed("bonnie_b200.json", set_field("seekers", 0, "counts", "write", value=writes)).misses
    assert ("seeker 1" in [miss.case for miss in misses]) == (not matches)
