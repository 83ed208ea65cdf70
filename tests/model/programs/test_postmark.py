"""PostMark: what it does with its files, and what it prints. Recorded logs are compared in tests/validation."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.mersenne_twister import MersenneTwister
from raidsim.model.programs.operation import Kind, Operation
from raidsim.model.programs.postmark import Location, PostMark, PostMarkSettings, log_lines
from raidsim.model.programs.postmark_report import Clock, report, scaled_bytes, show
from raidsim.model.programs.postmark_script import commands, transcript

SMALL = PostMarkSettings(number=50, transactions=100, buffering=False)


def kinds(run: PostMark) -> Counter[Kind]:
    """How many operations of each kind there are."""
    return Counter(operation.kind for operation in run.operations())


def moved(run: PostMark) -> list[Operation]:
    """The operations that move data."""
    return [operation for operation in run.operations() if operation.kind in (Kind.READ, Kind.WRITE)]


def test_the_twister_with_the_seeding_of_1998() -> None:
    """Protects the generator: 4357 is the seed that the authors' test output of 1998 is for."""
    numbers = MersenneTwister(4357)
    assert [numbers.draw() for _ in range(3)] == [2867219139, 1585203162, 3113124129]


def test_discarded_numbers_are_drawn() -> None:
    """Protects from losing numbers at the edge of a batch: to skip is to draw."""
    for count in (0, 1, 4095, 4096, 4097, 20_000):
        skipped, drawn = MersenneTwister(7), MersenneTwister(7)
        skipped.draw()
        skipped.discard(count)
        for _ in range(count + 1):
            drawn.draw()
        assert skipped.draw() == drawn.draw()


def test_no_choice_draws_no_number() -> None:
    """Protects the order of draws: where there is nothing to choose PostMark does not ask its generator."""
    asked, unasked = MersenneTwister(1), MersenneTwister(1)
    assert asked.below(0) == 0
    assert asked.draw() == unasked.draw()
    assert asked.below(10) == unasked.draw() % 10


def test_every_file_that_is_created_is_deleted() -> None:
    """Protects the accounts: opens and closes, created and deleted are the same."""
    run = PostMark(SMALL)
    count = kinds(run)
    assert count[Kind.OPEN] == count[Kind.CLOSE] == run.created + run.read + run.appended
    assert count[Kind.UNLINK] == run.deleted == run.created
    assert run.created > SMALL.number


def test_unbuffered_moves_end_with_a_call_for_the_remainder() -> None:
    """Protects the 83 million calls of a large run: whole blocks and one call more, in one operation."""
    for operation in moved(PostMark(SMALL)):
        assert operation.calls == operation.size // 512 + 1
    even = PostMark(PostMarkSettings(low=1024, high=1024, number=10, transactions=10, buffering=False))
    assert {operation.calls for operation in moved(even)} == {3}


def test_buffered_moves_have_no_call_for_a_remainder() -> None:
    """The counter-test: through the C library 1,024 bytes are one call of the buffer's size."""
    even = PostMark(PostMarkSettings(low=1024, high=1024, number=10, transactions=10))
    assert {(operation.calls, operation.call_bytes) for operation in moved(even)} == {(1, 4096)}


def test_appending_never_grows_a_file_beyond_the_largest() -> None:
    """Protects sizes; and a file of the largest size is passed over without being counted."""
    run = PostMark(SMALL)
    for operation in moved(run):
        assert operation.offset + operation.size <= SMALL.high
    fixed = PostMark(PostMarkSettings(low=700, high=700, number=10, transactions=50, bias_read=0))
    list(fixed.operations())
    assert fixed.appended == 0


def test_a_bias_of_minus_one_locks_out() -> None:
    """Protects the biases: with both locked out the transactions do nothing."""
    run = PostMark(PostMarkSettings(number=10, transactions=50, bias_read=-1, bias_create=-1))
    assert len(moved(run)) == run.created == 10
    assert (run.read, run.appended) == (0, 0)


def test_a_pool_that_only_shrinks_runs_out() -> None:
    """Protects from searching an empty table for ever; there is no report then."""
    run = PostMark(PostMarkSettings(number=20, transactions=1000, bias_create=0))
    list(run.operations())
    assert run.out_of_files
    assert report(run, Clock(0, 1, 2, 3)) == ""
    assert run.deleted_alone == 0


def test_a_pool_that_only_grows_stops_at_twice_its_number() -> None:
    """The counter-test: creates beyond the table do nothing and use no name."""
    run = PostMark(PostMarkSettings(number=20, transactions=100, bias_create=10))
    list(run.operations())
    assert run.created == 40


def test_files_spread_over_locations_by_weight_and_over_subdirectories() -> None:
    """Protects paths: a place of weight 3 gets about three times as many files as one of weight 1."""
    places = (Location("/a", 3), Location("/b", 1))
    run = PostMark(PostMarkSettings(number=400, transactions=10, locations=places, subdirectories=4))
    operations = list(run.operations())
    created = Counter(each.file[:2] for each in operations if each.flags == "O_RDWR|O_CREAT")
    assert created["/a"] == pytest.approx(3 * created["/b"], rel=0.3)
    assert [each.file for each in operations if each.kind is Kind.MKDIR] == [
        f"{place}/s{index}" for place in ("/a", "/b") for index in range(4)
    ]
    assert sum(each.kind is Kind.RMDIR for each in operations) == 8


def test_the_log_has_a_line_for_each_file_operation() -> None:
    """Protects the log's form: what it counts is what the program counts."""
    run = PostMark(SMALL)
    lines = list(log_lines(run.operations()))
    letters = Counter(line[0] for line in lines)
    assert letters == {"C": run.created, "R": run.read, "A": run.appended, "D": run.deleted}
    assert all(line.count("\n") == 1 and line.endswith("\n") for line in lines)


def test_two_runs_of_one_object_are_the_same() -> None:
    """Protects from state left over: the second run begins with the seed again."""
    run = PostMark(SMALL)
    assert list(run.operations()) == list(run.operations())


def test_sums_are_of_single_precision() -> None:
    """Protects the printed megabytes: 2^24 + 1 is not a float32, so the last byte is lost."""
    run = PostMark(
        PostMarkSettings(low=2**24 + 1, high=2**24 + 1, number=1, transactions=10, bias_read=-1, bias_create=-1)
    )
    list(run.operations())
    assert run.bytes_written == 2**24
    assert scaled_bytes(np.float32(2**20)) == "1024.00 kilobytes"
    assert scaled_bytes(np.float32(2**21)) == "2.00 megabytes"
    assert scaled_bytes(np.float32(0)) == "0.000000 bytes"


def test_the_report_on_one_line() -> None:
    """Protects the terse report: 13 numbers, the rate of the last deletions over the time of the first creations."""
    run = PostMark(PostMarkSettings(number=50, transactions=100, terse=True))
    list(run.operations())
    words = report(run, Clock(0, 5, 15, 17)).split()
    assert words[:3] == ["17", "10", "10.00"]
    assert float(words[9]) == pytest.approx(run.deleted_alone / 5, abs=0.005)
    assert float(words[10]) * 10 == pytest.approx(run.deleted - run.deleted_alone, abs=0.05)
    assert run.deleted == run.created
    assert len(words) == 13


def test_show_names_what_is_set() -> None:
    """Protects ``show``: one location or more, equal sizes, subdirectories."""
    text = show(PostMarkSettings(low=2048, high=2048, locations=(Location("/a"), Location("/b", 2)), subdirectories=1))
    assert "Files are 2.00 kilobytes in size\nWorking directories: \n\t/a (weight=1)\n\t/b (weight=2)\n" in text
    assert "1 subdirectory will be used\n" in text
    assert "Working directory: /here\n" in show(PostMarkSettings(), "/here")


def test_a_script_sets_what_it_says() -> None:
    """Protects the commands: each sets its setting, and aliases and empty lines are understood."""
    text = (
        "set size 100 2000\nset number 7\nset seed 3\nset transactions 20\nset location /a 2\nset location +/b\n"
        "set location -/a\n\nset subdirectories 3\nset read 1024\nset write 2048\nset buffering false\n"
        "set bias read 10\nset bias create -1\nset report terse\nrun out.txt\n?\nexit\nset number 9\n"
    )
    found = list(commands(text))
    assert [(each.line, each.name, each.argument) for each in found] == [
        (16, "run", "out.txt"),
        (17, "help", ""),
        (18, "quit", ""),
    ]
    assert found[0].settings == PostMarkSettings(
        *(100, 2000, 7, 20, 3, (Location("/b"),), 3, 1024, 2048, False, 10, -1, True)
    )


def test_one_size_is_both() -> None:
    """Protects ``set size 500``, which fixes the size."""
    (run,) = commands("set size 500\nrun")
    assert (run.settings.low, run.settings.high) == (500, 500)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("set numbers 5", "script, line 1: 'set numbers 5' is no command of PostMark; expected: set size, set number,"),
        ("\nset number", "script, line 2, set number: found nothing; expected: a whole number from 1"),
        ("set number 0", "found '0'; expected: a whole number from 1"),
        ("set transactions 9", "script, line 1, set transactions: found '9'; expected: a whole number from 10"),
        ("set size 500 400", "largest size 400 below the smallest, 500; expected: at least 500"),
        ("set size 1 2 3", "expected: the smallest size in bytes, and perhaps the largest"),
        ("set size 5x", "found '5x'"),
        ("set bias read 11", "expected: a whole number from -1 to 10"),
        ("set buffering maybe", "found 'maybe'; expected: true or false"),
        ("set report long", "expected: verbose or terse"),
        ("set location", "found no directory"),
        ("set location /a zero", "found 'zero'; expected: a whole number from 1"),
        ("set location -/a", "no location '/a'; expected: none"),
        ("!rm", "'!rm' is no command of PostMark"),
    ],
)
def test_what_postmark_complains_about_is_an_error(text: str, message: str) -> None:
    """Protects the person who mistyped: the original complains on its way and runs with other settings."""
    with pytest.raises(InputError) as error:
        list(commands(text))
    assert message in str(error.value)


def test_a_transcript_has_a_prompt_for_every_line() -> None:
    """Protects the transcript, which is compared with recordings; output to a file is not in it."""
    printed, runs = transcript(
        "set number 10\nset transactions 20\nrun\nrun result.txt\nshow\nquit\n", clock=Clock(0, 1, 2, 3)
    )
    assert printed.count("pm>") == 6
    assert printed.count("Creating files...Done") == 2
    assert printed.count("Time:\n\t3 seconds total") == 1
    assert len(runs) == 2
    assert printed.count("Current configuration is:") == 1
    assert "Current configuration is:" not in transcript("set number 10\nquit\n")[0]
