"""The timing recordings beside the model: the reference points, the fit of the CPU prices, and how files are read."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

import raidsim
from raidsim.validation.conformance.base import Miss, NotChecked, TruthFile
from raidsim.validation.conformance.known_misses import known_misses, stale
from raidsim.validation.conformance.md.timing import check, counts_difference, difference, play, predict
from raidsim.validation.conformance.md.timing_cases import Case, Rates, cases
from raidsim.validation.conformance.run import check_all

TRUTH = Path(raidsim.__file__).parent / "validation" / "truth"


def recorded(file: str) -> dict[str, Case]:
    """The cases of a truth file by name."""
    path = TRUTH / file
    return {case.name: case for case in cases(TruthFile(path, json.loads(path.read_text())))}


@pytest.mark.parametrize(
    "name",
    [
        "single randread_4k_q16",
        "raid0_n4_c512k randread_4k_q4",
        "raid0_n4_c512k randread_4k_q16",
        "raid0_n4_c512k randread_4k_q64",
        "raid0_n4_c512k seqwrite_1m_q1",
        "raid0_n4_c512k seqwrite_1m_q8",
        "raid1_n2 randwrite_4k_q16",
        "raid10n2_n4 randwrite_4k_q16",
        "raid5_n4 randread_4k_q16",
    ],
)
def test_members_of_one_millisecond(name: str) -> None:
    """The reference points: 1 ms, 64 KiB, one at a time, mq-deadline. Writes of 1 MiB meet the few tags for writes."""
    case = recorded("timing/timing2_disk1ms64k.json")[name]
    assert difference(case, predict(case)) == ""


@pytest.mark.parametrize("name", ["raid0_n2 randread_4k_q16", "raid1_n2 randwrite_4k_q16", "raid0_n2 seqwrite_256k_q1"])
def test_one_tag_and_no_scheduler(name: str) -> None:
    """A thread that finds no tag sleeps, here in the middle of an I/O too."""
    case = recorded("timing/timing_serial1ms_d1.json")[name]
    assert difference(case, predict(case)) == ""


def test_throttling_is_what_divides_the_rate_of_a_mirror() -> None:
    """70/30 on members of 2 ms: 7,936 IOPS without throttling, a third of it with."""
    runs = recorded("io/wbt.json")
    free, throttled = (runs[f"2 ms wbt {target} raid1 randrw q16"] for target in (0, 2000))
    assert difference(free, predict(free)) == ""
    assert sum(predict(throttled)) < 0.4 * sum(predict(free))
    assert sum(throttled.recorded) < 0.4 * sum(free.recorded)
    spared = runs["2 ms wbt 2000 raid0 randrw q16"]
    assert difference(spared, predict(spared)) == ""


@pytest.mark.parametrize("job", ["randread_4k_q1", "randread_4k_q16", "seqread_64k_q8", "seqread_1m_q8"])
def test_the_cpu_prices_fit_the_member_without_md(job: str) -> None:
    """They are fitted here: 100 us members, where the CPU limits."""
    case = recorded("timing/timing_ssd100us_d32.json")[f"single {job}"]
    assert difference(case, predict(case)) == ""


@pytest.mark.parametrize(
    "name", ["seqwrite_64k_q1", "seqwrite_64k_q8", "randwrite_4k_q16", "randwrite_64k_q16", "randwrite_4k_q64"]
)
def test_parity_writes_are_predicted(name: str) -> None:
    """RAID 5 of four in another recording than the two jobs to which the prices are fitted."""
    case = recorded("timing/timing2_lat2ms_d32_nowbt.json")[f"raid5_n4_sc4096 {name}"]
    assert difference(case, predict(case)) == ""


@pytest.mark.parametrize("job", ["seqwrite4k_q64", "seqwrite64k_q16"])
def test_md_s_thread_goes_on_before_the_program_that_it_answers(job: str) -> None:
    """Protects parity writes at depth: fio and md's thread use about the same CPU time, so fio runs when md sleeps."""
    case = recorded("io/stripecache.json")[f"stripe_cache_size 1024 raid5_n4 {job}"]
    assert predict(case).write == pytest.approx(case.recorded.write, rel=0.08)


@pytest.mark.parametrize("array", ["raid5_n4_lost0", "raid6_n6_lost1", "raid6_n6_lost0_3"])
def test_md_s_thread_gives_way_with_its_plug_open(array: str) -> None:
    """The counter-test: in a mix on a degraded array md's thread uses more CPU time than fio, so fio runs between its
    passes, and what completes together stays together. A thread that goes on gives 1.26 to 1.29 of the recorded rate.
    """
    case = recorded("timing/degraded_lat2ms_d32.json")[f"{array} randrw70_4k_q32"]
    assert difference(case, predict(case)) == ""


def test_the_job_before_matters_where_writes_are_throttled() -> None:
    """RAID 5 at random: 631 IOPS, because the throttle is where the job before left it; from rest it is far more."""
    case = recorded("timing/timing2_lat2ms_d32.json")["raid5_n4 randwrite_4k_q16"]
    assert difference(case, predict(case)) == ""
    assert predict(replace(case, before=None)).write > 1.15 * case.recorded.write


def _some(file: TruthFile, not_checked: list[NotChecked]) -> list[Case]:
    """The cases of a file that have an explanation, and every third one of the others."""
    about = [known for known in known_misses() if known.kind == "timing"]
    return [
        case
        for number, case in enumerate(cases(file, not_checked))
        if number % 3 == 0 or any(each.is_about("timing", Miss(file.path.name, case.name, "")) for each in about)
    ]


@pytest.mark.slow
def test_what_is_recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Protects the whole from drifting away, and that each miss has its explanation and each explanation a miss.

    Every third case stands for its neighbors: `raidsim conformance --kind timing` takes all 1,630.
    """
    monkeypatch.setattr("raidsim.validation.conformance.md.timing.cases", _some)
    [result] = check_all(["timing"])
    assert 500 < result.cases < 1_000
    assert len(result.misses) <= 129
    assert [miss.case for miss in result.misses if not miss.why] == []
    assert stale([result]) == []
    accuracy, calibrated = result.notes
    found = re.search(r"median error (\S+) %, nine of ten within (\S+) %", accuracy)
    assert found is not None
    assert float(found[1]) <= 4
    assert float(found[2]) <= 20, "misses are over-represented"
    assert "no predictions" in calibrated


def test_every_file_is_read() -> None:
    """All recordings of rates give cases; a stripe cache run says its members in words."""
    counts = {
        path.name: len(recorded(f"{path.parent.name}/{path.name}")) for path in sorted(TRUTH.glob("timing/*.json"))
    }
    assert set(counts.values()) == {154, 130, 102, 63, 65} | {20, 48, 0, 14, 10, 12}
    assert len(recorded("io/wbt.json")) == 144
    run = recorded("io/stripecache_wbt2ms.json")["stripe_cache_size 1024 raid5_n4 randwrite4k_q16"]
    assert (run.member.target_s, run.array.heads, run.job.depth, run.job.region) == (2e-3, 1024, 16, 1 << 30)


def test_all_lost_members_of_a_degraded_array_are_read() -> None:
    """RAID 6 with two lost members is slower than with one; reading one of them alone would hide that."""
    both = recorded("timing/timing3deg_disk1ms64k.json")["raid6_n6_lost0_3 randwrite_4k_q16"]
    assert both.array.failed == {0, 3}
    assert difference(both, predict(both)) == ""
    one = replace(both, array=replace(both.array, failed=frozenset({0})))
    assert "write recorded 669 IOPS" in difference(one, predict(one))


EXTRAS = json.loads((TRUTH / "timing" / "group_thread_ssd200us.json").read_text())


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("extra", "echo 2 > $m/group_thread_cnt; echo 9 > $m/skip_copy", "'echo 9 > $m/skip_copy' before the jobs"),
        ("extra", "--bitmap=internal --write-behind=8", "the option --write-behind=8"),
        ("extra", "--write-journal=/dev/x", "a journal without its device"),
        ("journal", "null_blk, 0.1 ms, 32 at once, mode write-back", "the journal 'null_blk"),
        ("journal", "member 4: null_blk, 0.1 ms, 32 at once, mode write-back", "a journal in write-back mode"),
        ("spares", 1, "the field spares"),
    ],
)
def test_what_is_not_understood_of_an_array_is_not_checked(field: str, value: object, words: str) -> None:
    """Passing over it would compare another machine with the recording; the other arrays are compared."""
    content = copy.deepcopy(EXTRAS)
    content["arrays"]["raid5_n4_gtc2"][field] = value
    left: list[NotChecked] = []
    assert len(list(cases(TruthFile(Path("t.json"), content), left))) == len(left) == 7
    assert all(words in each.reason for each in left)


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("member", {"mbps": 100}, "members of 100 MB/s"),
        ("member", {"zoned": 1}, "members with zoned"),
        ("member", {"scheduler": "bfq"}, "the scheduler bfq"),
        ("created", "dm-raid (what LVM makes)", "dm-raid (LVM)"),
    ],
)
def test_what_is_not_understood_of_the_members_is_not_checked(field: str, value: object, words: str) -> None:
    """The same of all arrays of a file."""
    content = copy.deepcopy(EXTRAS)
    content[field] = {**content[field], **value} if isinstance(value, dict) else value
    left: list[NotChecked] = []
    assert list(cases(TruthFile(Path("t.json"), content), left)) == []
    assert [each.cases for each in left] == [14]
    assert words in left[0].reason


def test_what_was_done_to_an_array_is_followed() -> None:
    """Threads, write-mostly members and a journal are those of the recording."""
    threads = recorded("timing/group_thread_ssd200us.json")
    assert [threads[f"raid5_n4_gtc{count} randwrite_4k_q1"].array.workers for count in (0, 2)] == [0, 2]
    mostly = recorded("timing/write_mostly_ssd200us_d32.json")["raid1_n3_wm0 randread_4k_q1"]
    assert mostly.array.write_mostly == {0}
    journal = recorded("timing/journal_disk1ms64k.json")["raid5_n4_jwt randwrite_4k_q1"].array.journal
    assert journal is not None
    assert (journal.service_s, journal.tags) == (1e-4, 32)


def test_write_mostly_members_serve_no_reads() -> None:
    """The counts of the members are compared: without the mark, half of the reads are on another member."""
    case = recorded("timing/write_mostly_ssd200us_d32.json")["raid1_n2_wm1 randread_4k_q16"]
    machine, rates = play(case)
    assert difference(case, rates) == ""
    assert counts_difference(case, machine) == ""
    unmarked = replace(case, array=replace(case.array, write_mostly=frozenset()))
    assert "reads of member 0: 100 % of all recorded" in counts_difference(case, play(unmarked)[0])


def test_requests_of_the_members_are_counted() -> None:
    """A write that needs another number of requests differs, although its rate may be the same."""
    case = recorded("timing/group_thread_ssd200us.json")["raid5_n4_gtc0 randwrite_4k_q1"]
    machine, _ = play(case)
    assert counts_difference(case, machine) == ""
    twice = tuple((2 * reads, *others) for reads, *others in case.members)
    said = counts_difference(replace(case, members=twice), machine)
    assert said == "reads of the members for each I/O: 4.00 recorded, model 2.00"


def test_a_mix_is_compared_as_a_whole() -> None:
    """The share of reads of a short run is a matter of chance."""
    case = recorded("timing/write_mostly_ssd200us_d32.json")["raid1_n2_wm1 randrw70_4k_q16"]
    read, write = case.recorded
    assert difference(case, Rates(1.2 * read, write - 0.2 * read)) == ""
    assert difference(case, Rates(1.2 * read, 1.2 * write)).startswith("sum recorded ")


def test_a_miss_names_both_rates() -> None:
    """What a reader of the report sees."""
    case = recorded("timing/timing2_disk1ms64k.json")["single randread_4k_q1"]
    assert difference(case, Rates(500.0, 0.0)) == "read recorded 982 IOPS, model 500 (0.51, allowed 0.90-1.10)"


def test_check_counts() -> None:
    """A file with one case that matches."""
    content = json.loads((TRUTH / "timing/timing2_disk1ms64k.json").read_text())
    content["results"] = {"single": {"randread_4k_q1": content["results"]["single"]["randread_4k_q1"]}}
    seen: list[str] = []
    result = check([TruthFile(Path("t.json"), content)], seen.append)
    assert (result.kind, result.cases, result.matched) == ("timing", 1, 1)
    assert seen == ["t single randread_4k_q1"]
