"""Sizes of pools, and with -v of their devices, from zpool list (zpool-list(8); zpool_main.c, print_list_stats)."""

from __future__ import annotations

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings
from ..found_pools import FoundPool
from ..output_text import size_of
from ..outputs import Output
from .tree import SECTIONS, Row, base_name, vdevs

_LEAST_CELLS = 5
"""What older versions print of a device: its name and four columns."""


def read(output: Output) -> Findings:
    """The pools, each with the rows below it."""
    text, found = output.text, Findings()
    heads = [cell.text for cell in text.cells(output.first)]
    rows: dict[str, list[Row]] = {}
    pool: FoundPool | None = None
    for number in range(text.after(output.first), output.last + 1):
        cells = text.cells(number)
        if not cells or cells[0].text == heads[0]:
            continue
        line = text.line(number).expandtabs()
        indent = len(line) - len(line.lstrip())
        values = dict(zip(heads, cells, strict=False))
        if indent or (pool is not None and cells[0].text in SECTIONS):
            if pool is None or len(cells) > len(heads) or (len(cells) < _LEAST_CELLS and cells[0].text not in SECTIONS):
                raise text.refused(number, "a row of zpool list -v in one line, below that of its pool")
            health = values["HEALTH"].text if "HEALTH" in values else "ONLINE"
            rows[pool.name].append(Row(indent, cells[0].text, health, "", place(cells[0])))
            size = _size(values.get("SIZE"))
            if size is not None:
                pool.sizes[base_name(cells[0].text)] = size
            continue
        if len(cells) != len(heads) or cells[0].text in found.pools:
            raise text.refused(number, f"a pool in one line, with {len(heads)} columns")
        pool = found.pools[cells[0].text] = FoundPool(cells[0].text, place(cells[0]))
        rows[pool.name] = []
        pool.raw_size, pool.allocated = _size(values.get("SIZE")), _size(values.get("ALLOC"))
        pool.capacity, pool.fragmentation = percent(values.get("CAP")), percent(values.get("FRAG"))
    for name, below in rows.items():
        found.pools[name].vdevs = vdevs(below)
    return found


def _size(cell: Cell | None) -> Fact[int] | None:
    return None if cell is None or cell.text == "-" else fact(size_of(cell), cell)


def percent(cell: Cell | None) -> Fact[float] | None:
    """The share that a cell is; None if it has none."""
    if cell is None or cell.text == "-":
        return None
    share = cell.percent()
    if share > 1:
        raise cell.refused("a share of 0% to 100%")
    return fact(share, cell)
