"""The page on fio: its lists of options are those of the data file."""

from __future__ import annotations

import re
from pathlib import Path

import raidsim
from raidsim.model.programs.fio.options import OptionEntry, option_table

PAGE = (Path(raidsim.__file__).parent / "docs" / "fio.md").read_text(encoding="utf-8")
LISTS = PAGE.partition("<!-- options -->")[2].partition("<!-- end of options -->")[0]


def listed(kind: str) -> dict[str, str]:
    """The names in one of the tables, each with its reason."""
    table = LISTS.partition(f"| {kind} | because |")[2].partition("\n\n")[0]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines()[2:]]
    return {name: why for names, why in rows for name in re.findall(r"`([^`]+)`", names)}


def reasons(entries: dict[str, OptionEntry]) -> dict[str, str]:
    """What the tables should say."""
    return {
        name: entry.why + (f" (expected: {' or '.join(f'`{value}`' for value in entry.off)})" if entry.off else "")
        for name, entry in entries.items()
    }


def test_the_page_lists_every_option_with_its_reason() -> None:
    """Protects readers from lists that are older than the program."""
    table = option_table()
    (simulated,) = re.findall(r"^Simulated: (.*)\.$", LISTS, re.MULTILINE)
    assert re.findall(r"`([^`]+)`", simulated) == list(table.simulated)
    assert listed("accepted, without a part in the simulation") == reasons(table.accepted)
    verifying = listed("accepted where a job with `verify` reads nothing more")
    assert verifying == {name: entry.why for name, entry in table.verifying.items()}
    assert listed("refused") == reasons(table.refused)
    modeled = {"sync", "async", "null"}
    assert listed("engines refused") == {name: why for name, why in table.engines.items() if why not in modeled}
