"""The grammar of fio's job files."""

from __future__ import annotations

import pytest

from raidsim.model.core.errors import InputError
from raidsim.model.programs.fio.sections import Section, sections


def only(text: str, **given: object) -> Section:
    """The only job of a file."""
    (found,) = sections(text, "a.fio", **given)  # type: ignore[arg-type]
    return found


def values(section: Section) -> dict[str, str]:
    """Its options by name."""
    return {name: option.value for name, option in section.options.items()}


def test_own_options_are_kept_apart_from_shared_ones() -> None:
    """Protects the report, which lists both; own ones come last and win."""
    found = only("[global]\nbs=4k\nsize=1m\n[a]\nblocksize=8k\nthread\n")
    assert values(found) == {"size": "1m", "bs": "8k", "thread": ""}
    assert list(found.own) == ["bs", "thread"]
    assert (found.own["thread"].bare, found.shared["bs"].value) == (True, "4k")


def test_file_names_are_read_last_as_fio_does() -> None:
    """Protects the order in fio's JSON."""
    assert list(values(only("[a]\nfilename=f\nsize=1m\nkb_base=1000\n"))) == ["kb_base", "size", "filename"]


def test_keywords_and_expressions() -> None:
    """$mb_memory, $ncpus and $pagesize, and arithmetic with them or in parentheses."""
    found = only(
        "[a]\nsize=2*${X}\nio_size=$mb_memory\nnumjobs=(2+$ncpus)\nbs=(4*1k)\nname=x-1\n",
        environment={"X": "1m"},
        keywords={"mb_memory": 4096, "ncpus": 8, "pagesize": 4096},
    )
    assert values(found) == {"size": str(2 << 20), "io_size": "4096", "numjobs": "10", "bs": "4096", "name": "x-1"}


def test_included_files_may_include_others() -> None:
    """Their lines are named by their own file; one that includes itself ends in a message."""
    texts = {"one": "include two\nrw=read\n", "two": "bs=1k\n", "self": "include self\n"}
    found = only("[a]\ninclude one\n", include=texts.__getitem__)
    assert (values(found), found.options["bs"].place) == ({"bs": "1k", "rw": "read"}, "two, line 1, bs")
    with pytest.raises(InputError, match="files included 8 deep"):
        only("[a]\ninclude self\n", include=texts.__getitem__)


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (FileNotFoundError(2, "No such file"), r"line 2: 'x' cannot be read \(No such file\)"),
        (UnicodeDecodeError("utf-8", b"\xff", 0, 1, "invalid"), r"line 2: 'x' cannot be read \(it is no text\)"),
        (ValueError("embedded null byte"), r"line 2: 'x' cannot be read \(it is no text\)"),
    ],
)
def test_an_included_file_that_cannot_be_read_is_refused(error: Exception, message: str) -> None:
    """Protects job files of anyone: one message, whatever the file system or the file's bytes say."""

    def include(_: str) -> str:
        raise error

    with pytest.raises(InputError, match=message):
        only("[a]\ninclude x\n", include=include)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[a]\nsize=(1/0)\n", "a.fio, line 2: found the expression '(1/0)'"),
        ("[a]\nsize=(2**9)\n", "found the expression"),
        ("[a]\nsize=$ncpus\n", "a.fio, line 2: found $ncpus; expected: only with a machine"),
        ("[]\n", "a.fio, line 1: found '[]'; expected: [name of the job]"),
        ("[a]\nsize\n", "a.fio, line 2, size: found no value"),
    ],
)
def test_errors_name_the_line(text: str, message: str) -> None:
    """One clear message each."""
    with pytest.raises(InputError) as error:
        sections(text, "a.fio")
    assert message in str(error.value)
