"""Tables in terminals of any width."""

from __future__ import annotations

import ast
import io
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text

from raidsim.cli import main as cli
from raidsim.cli.support import terminal
from raidsim.cli.support.table import Table

_CLI = Path(cli.__file__).parent
_FIGURES = ("0.553 ± 3.1 %", "468 ± 2.9 %", "1,234,567.8 ±0.1", "16,000,000 years")
_HEADINGS = ("MB/s", "read mean (ms)", "in the long run\nonce in")
_DESIGNS = ("12 x Exos-10E2400-2400GB, RAID 50 in groups of 4", "raid5")


def _printed(table: Table, width: int) -> str:
    out = io.StringIO()
    Console(file=out, width=width).print(table)
    return out.getvalue()


def _table(keys: int = 2, columns: int = 6) -> Table:
    table = Table(keys=keys, title="Speed", title_justify="left")
    table.add_column("", justify="right")
    table.add_column("design")
    for number in range(columns):
        table.add_column(_HEADINGS[number % len(_HEADINGS)], justify="right")
    table.add_column("bottleneck")
    for number, design in enumerate(_DESIGNS, 1):
        figures = [_FIGURES[(number + column) % len(_FIGURES)] for column in range(columns)]
        table.add_row(str(number), Text(design), *figures, f"link{number} (expander, port0, port1: 96 % busy)")
    return table


@pytest.mark.parametrize("width", [60, 72, 80, 81, 100, 120, 140, 200])
def test_no_figure_is_broken_or_cut_at_any_width(width: int) -> None:
    """Protects "0.553 ± 3.1 %" on two lines, and "391.3 ±..." where a table is wider than the terminal."""
    out = _printed(_table(), width)
    lines = out.splitlines()
    assert max(map(len, lines)) <= width
    assert "\N{HORIZONTAL ELLIPSIS}" not in out
    for figure, times in zip(_FIGURES, (2, 3, 4, 3), strict=True):
        assert out.count(figure) == times
    for word in ("Exos-10E2400-2400GB,", "expander,", "bottleneck", "once in"):
        assert word in out
    assert out.count("Speed") == 1


def test_each_part_says_what_its_rows_are_about() -> None:
    """Protects figures without the design they belong to: every part has its number and its name."""
    out = _printed(_table(), 80)
    parts = out.count("design")
    assert parts > 1
    assert out.count("raid5") == parts
    wide = _printed(_table(), 300)
    assert wide.count("design") == wide.count("raid5") == 1


def test_headings_are_broken_before_text_and_text_before_the_table_is_parted() -> None:
    """Protects one table where one is enough, and the sentence in it."""
    table = Table()
    table.add_column("load")
    for heading in ("read mean (ms)", "write mean (ms)"):
        table.add_column(heading, justify="right")
    table.add_column("bottleneck")
    table.add_row("shop", "8.16", "18.5", "2 disks (disk0, disk2: 96 to 98 % busy)")
    for width, headings, texts in ((100, 1, 1), (75, 2, 1), (60, 2, 2), (45, 1, 2)):
        lines = _printed(table, width).splitlines()
        assert sum("load" in line for line in lines) == (1 if width > 45 else 2)
        assert sum("mean" in line or "(ms)" in line for line in lines) == headings
        assert sum("disk" in line or "busy" in line for line in lines) == texts


def test_a_terminal_narrower_than_a_column_loses_no_character() -> None:
    """Protects a word longer than the screen: it goes on in the next line."""
    table = Table()
    table.add_column("field")
    table.add_column("value", justify="right")
    table.add_row("machine.drives." + "x" * 60, "1")
    out = _printed(table, 40)
    assert out.count("x") == 60
    assert max(map(len, out.splitlines())) <= 40


def test_a_table_without_rows_is_not_printed() -> None:
    """Protects against a title and headings above nothing, where no study has a guess to compare with."""
    table = Table(title="raidsim and guesses")
    table.add_column("study")
    assert _printed(table, 80) == ""


def test_every_command_prints_such_tables() -> None:
    """Protects against a table that rich cuts: rich's own is imported by nobody else below cli/."""
    found = {
        path.relative_to(_CLI).as_posix()
        for path in _CLI.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if (isinstance(node, ast.ImportFrom) and node.module == "rich.table")
        or (isinstance(node, ast.Import) and any(name.name == "rich.table" for name in node.names))
    }
    assert found == {"support/table.py"}


_DAY = """
machine: {model: server, drives: {model: Exos-15E900-900GB, count: 4}}
arrays: {md0: raid10}
workloads:
  - {name: shop, jobs: 20, think_time: 10ms, read_share: 70%}
  - {name: backup, block_size: 256KiB, depth: 4}
workload:
  warm_up: 500ms
  duration: 1s
  phases: [{name: day, lasts: 16h, workloads: [shop, backup]}, {name: night, lasts: 8h, workloads: [backup]}]
"""


def test_a_days_loads_and_phases_are_whole_at_80_columns(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Protects "day 0.756 ±" above "2.4 %": each figure of `raidsim run` is on the line of its load."""
    path = tmp_path / "day.yaml"
    path.write_text(_DAY)
    monkeypatch.setattr(terminal, "_WIDTH", 80)
    with pytest.raises(SystemExit) as ended:
        cli.main(["run", str(path), "--no-relief"])
    assert not ended.value.code
    out = capsys.readouterr().out.partition("Loads (")[2].partition("Utilization")[0]
    assert out.count("±") >= 4
    for line in out.splitlines():
        assert len(line) <= 80
        assert "±" not in line or line.partition("±")[2].split()[1] == "%"
