"""fio's command line beside the job file that says the same."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.command_line import is_command_line, job_file
from raidsim.model.programs.fio.sections import sections


def test_options_before_the_first_name_are_for_all_jobs() -> None:
    """Protects commands as people publish them: with one dash or two, values after "=" or a blank, lines that go on."""
    text = job_file("sudo fio -direct=1 --bs 8k \\\n --name=a --rw=randread --thread --iodepth 4 --name b -rw=write")
    assert text.splitlines() == [
        *("[global]", "direct=1", "bs=8k"),
        *("[a]", "name=a", "rw=randread", "thread", "iodepth=4"),
        *("[b]", "name=b", "rw=write"),
    ]
    first, second = sections(text)
    assert (first.options["bs"].value, second.options["bs"].value) == ("8k", "8k")
    assert list(second.own) == ["name", "rw"]


def test_a_section_may_be_global() -> None:
    """Protects ``--name=global``, which begins options for the jobs after it."""
    text = job_file("fio --name=global --bs=16k --name=a")
    assert text.splitlines() == ["[global]", "[global]", "bs=16k", "[a]", "name=a"]


def test_what_only_concerns_the_screen_is_passed_over() -> None:
    """Protects commands with options of fio itself; one that fio does not have is an error."""
    assert job_file("fio --eta=never --minimal --output-format json --name=a").splitlines() == [
        *("[global]", "[a]", "name=a"),
    ]
    with pytest.raises(InputError, match="unknown option 'blocksiz'; did you mean 'blocksize'"):
        job_file("fio --name=a --blocksiz=4k")
    with pytest.raises(InputError, match=r"found 'job\.fio'"):
        job_file("fio job.fio")
    with pytest.raises(InputError, match="cannot be split into words"):
        job_file("fio --name='a")


def test_a_file_is_no_command_line() -> None:
    """Protects job files with any name: only a text of several words that begins with fio is a command."""
    assert is_command_line("fio --name=a")
    assert not any(is_command_line(text) for text in ("fio", "my job.fio", "-", "jobs/fio.fio"))
