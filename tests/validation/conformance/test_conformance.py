"""The conformance checks: they notice what differs, explain what is known, and refuse what is no recorded truth."""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from raidsim.model.core.errors import InputError
from raidsim.validation.conformance import known_misses
from raidsim.validation.conformance.base import KindResult, Miss, TruthFile
from raidsim.validation.conformance.kinds import KINDS, kind
from raidsim.validation.conformance.known_misses import KnownMiss, explain, stale
from raidsim.validation.conformance.md import io, timing
from raidsim.validation.conformance.md.footprint import merged, side_by_side
from raidsim.validation.conformance.md.kernels import recorded_kernel
from raidsim.validation.conformance.run import check_all, document, files_not_checked, kinds_to_run
from raidsim.validation.conformance.truth_files import DEFAULT_TRUTH, load_truth

TRUTH = load_truth()


def recorded(name: str, kind_name: str = "io") -> dict[str, Any]:
    """A copy of what a recorded file holds."""
    file = next(file for file in TRUTH.by_kind[kind_name] if file.path.name == name)
    content: dict[str, Any] = copy.deepcopy(file.content)
    return content


OPEN = "raid4_n4 w8k@2k"
"""The one case of RAID 4 whose requests differ: the known misses say why."""


def io_misses(content: dict[str, Any]) -> list[str]:
    """The cases of an io recording that the model does not reproduce."""
    result = io.check([TruthFile(Path("mine.json"), content)], lambda _: None)
    return [miss.case for miss in result.misses]


@pytest.fixture(scope="module")
def results() -> dict[str, KindResult]:
    """Layout, io and read-ahead against all that is recorded."""
    return {result.kind: result for result in check_all(["layout", "io", "readahead"])}


def test_kinds_stand_in_their_order() -> None:
    """Protects the report's order, and that a kind is found by the name of its module."""
    assert list(KINDS) == [
        *("layout", "io", "readchoice", "readbalance", "readahead", "resync", "reshape", "rebuild"),
        *("timing", "fs", "zfs", "pools", "cache", "workloads"),
    ]
    there = [each for each in KINDS.values() if each.is_there]
    assert {"layout", "io"} <= {each.name for each in there}
    for each in there:
        assert callable(each.check())


def test_every_recording_is_assigned_to_a_kind() -> None:
    """Losing a file, or taking it for another kind, would otherwise look like success."""
    assert {name: len(files) for name, files in TRUTH.by_kind.items()} == {
        "layout": 35,
        "io": 22,
        "readchoice": 2,
        "readbalance": 1,
        "readahead": 1,
        "resync": 1,
        "reshape": 1,
        "rebuild": 3,
        "timing": 20,
        "fs": 4,
        "zfs": 15,
        "pools": 5,
        "cache": 9,
        "workloads": 36,
    }


def test_layouts_and_footprints_reach_their_aims(results: dict[str, KindResult]) -> None:
    """Protects the model from drifting away from the real driver: every map, and 95 % of all member requests."""
    assert (results["layout"].cases, results["layout"].matched) == (185, 185)
    assert results["io"].cases == 2041 + 180 + 75 + 90
    misses = results["io"].misses
    overlap, discard = (
        [miss for miss in misses if miss.file.endswith(f"_{what}.json")] for what in ("overlap", "discard")
    )
    assert len(overlap) <= 1
    assert len(discard) <= 13
    misses = [miss for miss in misses if miss not in overlap + discard]
    newer = [miss for miss in misses if miss.file.endswith("_linux612.json")]
    assert len(misses) - len(newer) <= 0.05 * 2041
    assert len(newer) <= 0.05 * 180
    assert sum("requests of the" not in miss.difference for miss in misses) <= 0.01 * 2221


def test_what_was_not_recorded_is_said(results: dict[str, KindResult]) -> None:
    """The tracepoints show nothing of a linear array, which is neither a match nor a miss."""
    found = [(each.file, each.case, each.cases) for each in results["io"].not_checked]
    assert found == [("linear.json", "linear_n2_rot0", 15), ("linear.json", "linear_n2_rot1", 15)]
    assert results["io"].cases_not_checked == 30


def test_every_known_miss_is_still_one(results: dict[str, KindResult]) -> None:
    """An explanation of something that is right by now would hide that it was put right."""
    assert stale(results.values()) == []


def test_a_stale_explanation_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail: an explanation that no miss fits is reported, one that fits is not."""
    entries = [KnownMiss(kind="io", file="a.json", case=case, why="because") for case in ("x *", "y *")]
    monkeypatch.setattr(known_misses, "known_misses", lambda: tuple(entries))
    result = KindResult("io", 1, 0, [Miss("a.json", "x w4k", "-")])
    assert stale([result]) == entries[1:]
    assert stale([KindResult("layout")]) == []
    explain(result)
    assert result.misses[0].why == "because"


def test_a_reason_for_clean_arrays_is_not_given_for_others() -> None:
    """A lost member or a bitmap is another cause: the reason of the clean array does not fit."""
    known = KnownMiss(kind="timing", file="timing*.json", case="raid5_n?* seqread_1m_q?", clean=True, why="because")
    found = {
        array: known.is_about("timing", Miss("timing_a.json", f"{array} seqread_1m_q8", "-"))
        for array in ("raid5_n4", "raid5_n4_sc4096", "raid5_n4_degraded", "raid5_n4_lost0", "raid5_n4_bm1M")
    }
    assert found == {
        "raid5_n4": True,
        "raid5_n4_sc4096": True,
        "raid5_n4_degraded": False,
        "raid5_n4_lost0": False,
        "raid5_n4_bm1M": False,
    }


def test_every_reason_says_how_well_it_is_known() -> None:
    """A reason without an experiment must not read like a fact."""
    first = ("Known:", "Suspected (no experiment):", "Unknown")
    assert [known.why[:40] for known in known_misses.known_misses() if not known.why.startswith(first)] == []


def changed_footprint(case: dict[str, Any]) -> None:
    """A read one sector further on."""
    case["reads"][0][1] += 1


def changed_member(case: dict[str, Any]) -> None:
    """A write to another member."""
    case["writes"][0][0] ^= 1


def forgotten_write(case: dict[str, Any]) -> None:
    """One write less."""
    del case["writes"][-1]


def changed_total(case: dict[str, Any]) -> None:
    """A range that was moved once more."""
    case["writes_n"]["sectors"] += 8


def merged_requests(case: dict[str, Any]) -> None:
    """The same sectors in one request less."""
    case["writes_n"]["rq_sizes"] = {"16": 1}


def extra_metadata(case: dict[str, Any]) -> None:
    """A superblock write that did not happen."""
    case.setdefault("superblock_bitmap_flush_bios", []).append(["FWFSM", 0, -2040, 1])


@pytest.mark.parametrize(
    "change",
    [changed_footprint, changed_member, forgotten_write, changed_total, merged_requests, extra_metadata],
)
@pytest.mark.parametrize("number", [1, 4])
def test_a_changed_case_is_missed_and_no_other(change: Callable[[dict[str, Any]], None], number: int) -> None:
    """One changed entry of a recording makes its case a miss, and only that: the comparison really looks there."""
    content = recorded("raid4.json")
    assert io_misses(content) == [OPEN]
    case = content["arrays"][0]["cases"][number]
    change(case)
    assert io_misses(content) == [f"raid4_n4 {case['case']}", OPEN]


def test_a_recording_is_played_with_the_rules_of_its_kernel() -> None:
    """The counter-test of the kernel field: what 6.12 did differs from 6.1's rules where writes are not plugged."""
    content = recorded("raid0_linux612.json")
    assert io_misses(content) == []
    content["kernel"] = "Linux version 6.1.0"
    assert {case.split()[1] for case in io_misses(content)} == {"w1024k", "w1M@32k"}


def test_cases_are_played_in_order_on_one_array() -> None:
    """What a case leaves in the stripe cache counts for the next: without its forerunner a write has to read."""
    content = recorded("raid5_bitmap.json")
    assert io_misses(content) == []
    cases = content["arrays"][0]["cases"]
    content["arrays"][0]["cases"] = [case for case in cases if case["case"] != "other_bitmap_chunk"]
    assert "raid5_n4_bitmap again_after_20s" in io_misses(content)


def test_a_lost_superblock_write_is_missed() -> None:
    """The writes of superblock and bitmap are compared in number, not only in kind."""
    content = recorded("raid5_bitmap.json")
    del content["arrays"][0]["cases"][3]["superblock_bitmap_flush_bios"][0]
    assert io_misses(content) == ["raid5_n4_bitmap again_after_20s"]


def test_runs_are_merged() -> None:
    """Ranges that touch or overlap are one, and members stay apart."""
    assert merged([(1, 8, 8), (0, 8, 8), (0, 0, 8), (0, 4, 2), (0, 24, 8)]) == [(0, 0, 16), (0, 24, 8), (1, 8, 8)]


def test_a_difference_stands_side_by_side() -> None:
    """Both sides of a miss are in one line, with a mark where they differ."""
    assert side_by_side("reads", [(0, 0, 8)], [(0, 0, 8)]) == ""
    lines = side_by_side("reads", [(0, 0, 8), (2, 8, 8)], [(0, 0, 8), (1, 8, 8)]).splitlines()
    assert [" ".join(line.split()) for line in lines] == [
        "reads recorded model",
        "member 0 0 + 8 0 + 8",
        "member 1 - 8 + 8 <",
        "member 2 8 + 8 - <",
    ]


# folders


def write(folder: Path, **files: Any) -> Path:
    """A folder with these JSON files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content))
    return folder


def test_a_flat_folder_works(tmp_path: Path) -> None:
    """Files need neither the folders nor the names of ours: they are assigned by what they hold."""
    write(tmp_path, a=recorded("raid4.json", "layout"), b=recorded("raid4.json"))
    (tmp_path / "README.txt").write_text("recorded on a rainy day")
    found = {result.kind: (result.cases, result.matched) for result in check_all(folder=tmp_path)}
    assert found == {"layout": (8, 8), "io": (34, 33)}


def test_a_folder_in_a_folder_works(tmp_path: Path) -> None:
    """The same in subfolders; and one kind can be asked for."""
    write(tmp_path / "layout", a=recorded("raid4.json", "layout"))
    write(tmp_path / "io", a=recorded("raid4.json"))
    assert [result.kind for result in check_all(["io"], tmp_path)] == ["io"]


def test_what_goes_with_a_program_is_passed_over(tmp_path: Path) -> None:
    """Operation logs and job files beside a recorded program are its check's business, other files nobody's."""
    write(tmp_path, postmark={"script": "", "report": {}, "by_phase": {}})
    (tmp_path / "postmark.oplog.gz").write_bytes(b"\x1f\x8b")
    (tmp_path / "other.gz").write_bytes(b"\x1f\x8b")
    found = load_truth(tmp_path)
    assert list(found.by_kind) == ["workloads"]
    assert [each.file for each in found.not_checked] == ["other.gz"]


@pytest.mark.parametrize(
    "content", [{"kernel": "Linux version 6.1.0", "runs": []}, {"arrays": []}, {"results": {}}, [1, 2], {"io": 1}]
)
def test_a_file_of_no_kind_is_not_checked(tmp_path: Path, content: Any) -> None:
    """An empty list, or a kind that this version does not know, is counted, and the other files are compared."""
    write(tmp_path, a=content, b=recorded("raid4.json", "layout"))
    truth = load_truth(tmp_path)
    assert [(each.file, each.reason.split(";")[0]) for each in files_not_checked(truth)] == [
        ("a.json", "it has the fields of no kind of recording that has a check")
    ]
    assert [(result.kind, result.cases, result.matched) for result in check_all(folder=tmp_path)] == [("layout", 8, 8)]
    (tmp_path / "b.json").unlink()
    assert check_all(folder=tmp_path) == []


@pytest.mark.parametrize(
    ("version", "reason"),
    [
        ("Linux version 6.7.12-amd64 (debian)", "raidsim has no kernel linux-6.7"),
        ("Linux version 2.6.20", "linux-2.6.20 has no multi-queue block layer"),
        ("FreeBSD 14", "no version in kernel 'FreeBSD 14'"),
        (612, "no version in kernel 612"),
    ],
)
@pytest.mark.parametrize(
    ("kind_name", "name"),
    [
        ("io", "raid4.json"),
        ("readchoice", "readchoice_raid1.json"),
        ("readbalance", "readbalance.json"),
        ("readahead", "readahead.json"),
        ("resync", "resync.json"),
        ("timing", "timing2_disk1ms64k.json"),
        ("timing", "wbt.json"),
    ],
)
def test_a_kernel_that_is_not_there_is_not_checked(kind_name: str, name: str, version: Any, reason: str) -> None:
    """All cases of the file are counted, none is compared, and nothing stops the run."""
    content = recorded(name, kind_name)
    content["kernel"] = version
    result = kind(kind_name).check()([TruthFile(Path("mine.json"), content)], lambda _: None)
    assert (result.cases, result.misses) == (0, [])
    assert result.cases_not_checked == count_cases(content)
    reasons = {each.reason.split(";")[0] for each in result.not_checked}
    assert reasons - {"neither rates nor request sizes of the members were recorded"} == {reason}


def count_cases(content: dict[str, Any]) -> int:
    """Cases of a recording of any of these kinds."""
    if "results" in content:
        return sum(len(jobs) for jobs in content["results"].values())
    if "runs" in content:
        return len(content["runs"])
    # An array of read-ahead has its defaults as a case.
    return sum(len(array["cases"]) if "cases" in array else 1 + len(array["runs"]) for array in content["arrays"])


def test_the_kernel_of_a_recording_chooses_the_rules() -> None:
    """The version is read as `uname` prints it, with or without what stands around it; without one it is 6.1."""
    found = [
        recorded_kernel(TruthFile(Path("a.json"), content)).version
        for content in (
            {"kernel": "Linux version 6.12.95+deb12-amd64 (debian-kernel@lists.debian.org) (gcc 12.2.0)"},
            {"kernel": "6.12.95+deb12-amd64"},
            {"kernel": "Linux 6.1.0-56"},
            {},
        )
    ]
    assert found == ["6.12", "6.12", "6.1", "6.1"]


def test_jobs_that_are_not_known_are_not_checked() -> None:
    """A job that verifies, trims or was not run is counted; the array's other jobs are compared."""
    content = recorded("timing2_disk1ms64k.json", "timing")
    array = "raid0_n4_c512k"
    jobs = list(content["results"][array])[:5]
    content["results"] = {array: {job: content["results"][array][job] for job in jobs}}
    content["fio_jobs"][jobs[0]] = "rw=randwrite bs=4k verify=crc32c"
    content["fio_jobs"][jobs[1]] = "rw=randtrim bs=4k"
    content["results"][array][jobs[2]] = {"runs": []}
    result = timing.check([TruthFile(Path("mine.json"), content)], lambda _: None)
    assert result.cases == 2
    assert [(each.case, each.reason.split(";")[0]) for each in result.not_checked] == [
        (f"{array} {jobs[0]}", "the option verify"),
        (f"{array} {jobs[1]}", "rw=randtrim"),
        (f"{array} {jobs[2]}", "no rate was recorded"),
    ]


def test_a_program_that_cannot_be_played_is_not_checked(tmp_path: Path) -> None:
    """A job that reads back what it wrote, and a program of another version, are counted; others are compared."""
    job = {"job": "verify", "jobfile": "[a]\nrw=randwrite\nbs=4k\nsize=1m\nverify=crc32c\n", "env": {}}
    other = {"command_output": "bonnie++ 9", "phases": {}, "seekers": [], "seek_reads_total": 0, "seek_writes_total": 0}
    write(tmp_path, verify=job | {"iolog_stats_per_job": []}, bonnie=other, short={"command_output": "", "phases": {}})
    (tmp_path / "verify.iolog.gz").write_bytes(gzip.compress(b""))
    [result] = check_all(folder=tmp_path)
    assert (result.cases, result.cases_not_checked) == (0, 3)
    reasons = {each.file: each.reason for each in result.not_checked}
    assert "this is not modeled" in reasons["verify.json"]
    assert "names no size that is known" in reasons["bonnie.json"]
    assert "field seekers is missing" in reasons["short.json"]


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.json", "[1, 2", "not recorded truth: not JSON"),
        ("a.json", "[" * 100_000, "not recorded truth: not JSON"),
        ("a.json", b"\xff\xfe\x00garbage", "not recorded truth: not JSON"),
        ("a.json", "", "not recorded truth: not JSON"),
    ],
)
def test_garbage_is_refused(tmp_path: Path, name: str, content: str | bytes, words: str) -> None:
    """A file called .json that is no JSON is named, with what is wrong, wherever in the folder it lies."""
    (tmp_path / "io").mkdir()
    (tmp_path / "io" / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(InputError, match=f"^io/{name}: .*{words}"):
        load_truth(tmp_path)


def test_empty_and_missing_folders_are_refused(tmp_path: Path) -> None:
    """No recording at all is not success, and neither is none of the kind that was asked for."""
    with pytest.raises(InputError, match="holds no recorded truth"):
        load_truth(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        load_truth(tmp_path / "nothing")
    write(tmp_path, a=recorded("raid4.json"))
    with pytest.raises(InputError, match="this is a file"):
        load_truth(tmp_path / "a.json")
    with pytest.raises(InputError, match="no recorded truth of kind layout; the folder has files of io"):
        check_all(["layout"], tmp_path)
    with pytest.raises(InputError, match="unknown kind 'raid'; expected: layout, io"):
        kinds_to_run(["raid"], TRUTH, DEFAULT_TRUTH)


def test_a_kind_without_a_check_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A recording whose check this version lacks is said to be so, not silently passed."""
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(InputError, match="io is not part of this version"):
        kind("io")
    folder = write(tmp_path, a=recorded("raid4.json"))
    assert check_all(folder=folder) == []
    [unread] = files_not_checked(load_truth(folder))
    assert (unread.file, unread.reason) == ("a.json", "this version has no check of kind io")


CASE = "a.json, array raid4_n4, case w4k@0k, field "


@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("writes", 0, 1), "x", CASE + 'writes[0][1]: found "x"; expected: a valid integer'),
        (("reads", 0), [1, 2], CASE + "reads[0][2]: it is missing"),
        (("reads",), 7, CASE + "reads: found 7; expected: a valid array"),
        (("ios", 0, 0), 7, CASE + "ios[0][0]: found 7; expected: a valid string"),
        (("ios", 0, 1), -512, CASE + "ios[0][1]: found -512"),
        (("ios", 0, 1), 1 << 60, CASE + "ios[0]: 4096 bytes at 1152921504606846976; expected: within the array"),
        (("ios", 0, 2), 0, CASE + "ios[0]: 0 bytes at 3145728; expected: within the array"),
        (("ios", 0, 1), 3145729, CASE + "ios[0]: 4096 bytes at 3145729; expected: whole sectors"),
        (("writes_n", "sectors"), None, CASE + "writes_n.sectors: found null"),
        (("ios",), None, CASE + "ios: found null"),
    ],
)
def test_a_wrong_case_is_named(tmp_path: Path, path: tuple[str | int, ...], value: Any, words: str) -> None:
    """File, array, case and field of a wrong value are named, with what was found."""
    content = recorded("raid4.json")
    place: Any = content["arrays"][0]["cases"][1]
    for part in path[:-1]:
        place = place[part]
    place[path[-1]] = value
    with pytest.raises(InputError) as error:
        check_all(folder=write(tmp_path, a=content))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cmd", None, "array raid4_n4, field cmd: found null"),
        ("cmd", "ls", "array raid4_n4, field cmd: 'ls' has no --level"),
        ("cmd", "mdadm --create --level=4 --raid-devices=two", "--raid-devices 'two'; expected: a whole number"),
        ("cmd", "mdadm --create --level=4 --raid-devices=9999999", "9999999 devices; expected: 1 to 1024"),
        ("pre", "fail 9", "field pre: fail 9; expected: slots 0 to 3"),
        ("params", {"rmw_level": "high"}, "field params.rmw_level: rmw_level 'high'; expected: a whole number"),
        ("member_data_kib", [100], "field member_data_kib: 1 sizes; the command says 4 devices"),
    ],
)
def test_a_wrong_array_is_named(tmp_path: Path, field: str, value: Any, words: str) -> None:
    """The same for what describes the array itself."""
    content = recorded("raid4.json")
    content["arrays"][0][field] = value
    with pytest.raises(InputError, match=r"^a\.json, array raid4_n4") as error:
        check_all(folder=write(tmp_path, a=content))
    assert words in str(error.value)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cmd", "mdadm --create --level=4 --raid-devices=2 --chunk=64", "raid4 needs at least 3"),
        ("cmd", "mdadm --create --level=0 --raid-devices=4 --chunk=12", "a chunk is a power of two"),
        ("cmd", "mdadm --create --level=faulty --raid-devices=1", "level 'faulty'"),
        ("pre", "fail 0; fail 1", "have failed, raid4 survives 1"),
        ("cases", [], "no member I/O was recorded"),
    ],
)
def test_an_array_that_is_not_modelled_is_not_checked(field: str, value: Any, words: str) -> None:
    """md runs arrays that raidsim does not: their cases are counted, and those of the others are compared."""
    content = recorded("raid4.json")
    content["arrays"].append(copy.deepcopy(content["arrays"][0]))
    content["arrays"][0][field] = value
    result = io.check([TruthFile(Path("mine.json"), content)], lambda _: None)
    assert (result.cases, result.matched) == (34, 33)
    [left] = result.not_checked
    assert (left.case, left.cases) == ("raid4_n4", len(content["arrays"][0]["cases"]))
    assert words in left.reason


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("cmd", "mdadm --create --level=4 --raid-devices=4 --write-journal=/dev/x", "the option write-journal"),
        ("pre", "echo 1 > $m/journal_mode", "'echo 1 > $m/journal_mode'; expected: fail N"),
    ],
)
def test_an_array_with_something_unknown_is_not_checked(field: str, value: Any, words: str) -> None:
    """Passing over what is not understood would compare another machine with the recording."""
    content = recorded("raid4.json")
    content["arrays"][0][field] = value
    result = io.check([TruthFile(Path("mine.json"), content)], lambda _: None)
    assert (result.cases, result.cases_not_checked) == (0, 34)
    assert words in result.not_checked[0].reason


@pytest.mark.parametrize(
    ("operation", "words"),
    [("C", "operation 'C'; expected: r, w, D, Z, s"), ("D", "takes no discards")],
)
def test_an_unknown_operation_ends_its_array_and_not_the_run(tmp_path: Path, operation: str, words: str) -> None:
    """Cases before it are compared; those after it find the array in an unknown state, and are not checked."""
    content = recorded("raid1_discard.json")
    array = content["arrays"][0]
    del array["params"]["member_discard_max_bytes"]
    array["cases"] = [case for case in array["cases"] if "D" not in str(case["ios"])]
    array["cases"][3]["ios"][0][0] = operation
    [result] = check_all(folder=write(tmp_path, a=content))
    assert (result.cases, result.cases_not_checked) == (3, len(array["cases"]) - 3)
    assert words in result.not_checked[0].reason


def test_discards_are_compared() -> None:
    """A discard that did not happen is missed."""
    content = recorded("raid1_discard.json")
    assert io_misses(content) == []
    content["arrays"][0]["cases"][1]["discards"][0][1] += 8
    assert io_misses(content) == ["raid1_discard_raid1_n2 d4k"]


def test_mdadm_short_options_are_understood() -> None:
    """People write -l5 -n4 as well; the array is the same."""
    content = recorded("raid4.json")
    content["arrays"][0]["cmd"] = "mdadm -C /dev/md0 -l 4 -n4 -c 64K --assume-clean /dev/vdb /dev/vdc /dev/vdd /dev/vde"
    assert io_misses(content) == [OPEN]


def mutated(content: dict[str, Any], dice: random.Random) -> dict[str, Any]:
    """A copy with one value, anywhere inside, removed or replaced."""
    content = copy.deepcopy(content)
    place: Any = content
    while True:
        key = dice.choice(list(place) if isinstance(place, dict) else range(len(place)))
        inner = place[key]
        if not isinstance(inner, dict | list) or not inner or dice.random() < 0.1:
            break
        place = inner
    if dice.random() < 0.3:
        del place[key]
    else:
        place[key] = dice.choice([None, -1, 0, 1, 10**9, 1.5, "", "x", "9", [], {}, [[]], True])
    return content


def test_no_mutation_ends_in_a_traceback(tmp_path: Path) -> None:
    """Whatever is wrong in a recording, the answer is a result or one message about the input."""
    dice = random.Random(1)
    small = [recorded("raid5_bitmap.json")]
    for name in ("raid6_parity-last.json", "raid0_unequal_original.json"):
        small.append(recorded(name, "layout"))
        small[-1]["arrays"] = small[-1]["arrays"][:1]
    messages, left = [], 0
    for number in range(120):
        folder = write(tmp_path, a=mutated(small[number % len(small)], dice))
        try:
            left += sum(bool(result.not_checked) for result in check_all(folder=folder))
        except InputError as error:
            messages.append(str(error))
    assert len(messages) > 5
    assert 10 < len(messages) + left < 120
    assert all(message.startswith(("a.json", str(tmp_path))) for message in messages)


def test_the_document_is_plain(results: dict[str, KindResult]) -> None:
    """The JSON has the fields that the manual names, and counts that add up."""
    plain = json.loads(json.dumps(document(results.values())))
    assert list(plain) == ["layout", "io", "readahead", "not_checked"]
    assert plain.pop("not_checked") == []
    assert [each["cases"] for each in plain["io"]["not_checked"]] == [15, 15]
    for each in plain.values():
        assert each.keys() == {"cases", "matched", "cases_not_checked", "misses", "not_checked"}
        assert each["cases"] == each["matched"] + len(each["misses"])
        for miss in each["misses"]:
            assert miss.keys() == {"file", "case", "difference", "why"}
            assert all(isinstance(value, str) for value in miss.values())
            assert miss["difference"]
