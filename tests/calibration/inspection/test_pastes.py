"""A paste makes the machine that the output itself makes, or is refused: never another machine."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from raidsim.calibration.inspection.inspection import Inspection, Source, inspect
from raidsim.model.core.errors import InputError
from raidsim.tests.calibration.formats.pastes import PASTES, wrapped
from raidsim.tests.calibration.inspection import mdstat_texts
from raidsim.tests.calibration.inspection.machines import ARRAYS, DRIVES, Machine, machines
from raidsim.tests.calibration.inspection.mdstat_texts import LEVELS, progress
from raidsim.tests.calibration.inspection.test_refusals import TEXTS

BITMAP = "      bitmap: 0/22 pages [0KB], 65536KB chunk"
LARGE = mdstat_texts.Printed(
    "raid6", 24, words=" level 6, 512k chunk, algorithm 2", data=22, marks="U" * 24, extra=BITMAP
)
REBUILT = dataclasses.replace(
    LEVELS["raid5"], marks="UUU_", rebuilding=3, extra=f"{progress('recovery', 0.13)}\n{BITMAP}"
)
CHECKED = dataclasses.replace(LEVELS["raid10-far"], extra=f"{progress('check', 0.5)}\n{BITMAP}")
MDSTATS = {"large": LARGE, "rebuilt": REBUILT, "checked": CHECKED}


def made(text: str) -> Inspection:
    """What is made of a text."""
    return inspect([Source("x", text)], "x")


def outcome(text: str) -> dict[str, Any] | None:
    """The machine of a text; None if it is refused."""
    try:
        return made(text).document
    except InputError:
        return None


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_an_output_is_the_same_however_it_is_pasted(name: str) -> None:
    """Protects from a bitmap, a rebuild or a drive that is lost in silence: the same machine, or none."""
    whole = outcome(TEXTS[name])
    if whole is None:
        return
    for way, paste in PASTES.items():
        assert outcome(paste(TEXTS[name])) in (whole, None), way
        if "wrapped" not in way:
            assert outcome(paste(TEXTS[name])) == whole, way


@pytest.mark.parametrize("way", sorted(PASTES))
@pytest.mark.parametrize("name", sorted(MDSTATS))
def test_a_pasted_mdstat_is_read(name: str, way: str) -> None:
    """Protects what a mail breaks most often: members, marks, progress and bitmap are put together again."""
    text = mdstat_texts.text(MDSTATS[name])
    document = made(text).document
    assert document["arrays"]["md0"]["bitmap"] == "64MiB"
    assert ("resync" in document["arrays"]["md0"]) == (name != "large")
    assert made(PASTES[way](text)).document == document


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(machine=machines(), reader=st.sampled_from([*ARRAYS, *DRIVES]), way=st.sampled_from(sorted(PASTES)))
def test_any_machine_is_the_same_however_it_is_pasted(machine: Machine, reader: Any, way: str) -> None:
    """Protects every reader of arrays and drives, over machines that nobody thought of."""
    text = reader(machine)
    whole, pasted = outcome(text), outcome(PASTES[way](text))
    assert pasted in (whole, None)
    if reader in ARRAYS:
        assert pasted == whole


@pytest.mark.parametrize(
    "lost", ["[4/3] [UUU_]", BITMAP.strip(), progress("recovery", 0.13).strip(), "sda1[0] sdb1[1]"]
)
def test_a_line_of_mdstat_alone_is_refused(lost: str) -> None:
    """Protects from a line that looks like mdstat and belongs to no array: it is named, and never dropped."""
    text = mdstat_texts.text(LEVELS["raid5"]) + f"\nand further down\n{lost}\n"
    with pytest.raises(InputError, match=r"x:8:1: found .*; expected: the lines of /proc/mdstat together"):
        made(text)
    assert made(text.replace(lost, "it is slow")).document["arrays"]["md0"]["level"] == "raid5"


def test_a_place_in_a_broken_line_is_that_of_the_file() -> None:
    """Protects errors about pastes: line and column are those that the user sees."""
    text = wrapped(mdstat_texts.text(LARGE).replace("65536KB chunk", "99K"), 60)
    text = text.replace("sdb1[0]", "sdb1[0](X)")
    line = next(number for number, each in enumerate(text.split("\n"), 1) if "(X)" in each)
    column = text.split("\n")[line - 1].index("sdb1[0]") + 1
    assert line > 2
    with pytest.raises(InputError) as refused:
        made(text)
    assert refused.value.place == f"x:{line}:{column}"


def test_words_of_json_that_a_mail_has_broken() -> None:
    """Protects JSON whose long texts go on in the next line: the model is whole."""
    text = TEXTS["smartctl-nvme.json"]
    name = next(line for line in text.split("\n") if '"model_name"' in line)
    broken = name.replace('": "', '": "' + " " * 40).replace(" ", " ", 1)
    first, _, last = broken.rpartition(" ")
    assert '"' in last
    whole = made(text.replace(name, broken)).document
    assert made(text.replace(name, f"{first}\n{last}")).document == whole


def test_a_remark_below_an_array() -> None:
    """Protects what people write between the lines: it is noted; a line of mdstat that is damaged is refused."""
    text = mdstat_texts.text(REBUILT)
    remark = text.replace(f"{BITMAP}\n", f"{BITMAP}\n      <-- this one is slow\n")
    assert made(remark).document == made(text).document
    assert [note for note in made(remark).notes if "'<-- this one is slow'" in note and "left out" in note]
    with pytest.raises(InputError, match="expected: progress"):
        made(text.replace("0/22 pages", "pages"))


def test_an_mdstat_with_an_empty_line_after_every_line() -> None:
    """Protects what web pages do to a text: the same array with its bitmap."""
    text = mdstat_texts.text(REBUILT)
    assert made(text.replace("\n", "\n\n")).document == made(text).document


def test_a_table_that_cannot_be_put_together_is_refused() -> None:
    """Protects lsblk's and storcli's tables: a row without its columns is no device."""
    for name, message in (
        ("made-session-lsblk.txt", "second line of headings"),
        ("made-storcli-text.txt", "broken line"),
    ):
        with pytest.raises(InputError, match=message):
            made(wrapped(TEXTS[name], 66))
    table = "NAME   SIZE ROTA TYPE MODEL\nsda    3.6T    1 disk WDC WD40EFRX\n68WT0N0\n"
    with pytest.raises(InputError, match=r"x:3:1: found no SIZE in '68WT0N0'; expected: rows in one line each"):
        made(table)
