"""Properties of pools and datasets from zpool get, zfs get and zfs list (zpoolprops(7), zfsprops(7)).

zfs list heads some columns with other names than zfs get ("RECSIZE"). Without -p sizes are rounded ("16.0K").
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from ....text.report_text import Cell
from ..facts import Fact, fact, place
from ..findings import Findings
from ..found_pools import FoundDataset, FoundPool
from ..output_text import bounded, size_of
from ..outputs import Output
from ..wrapping import ZFS_PROPERTY
from .space import percent

_HEADINGS = {
    "RECSIZE": "recordsize",
    "VOLBLOCK": "volblocksize",
    "REFER": "referenced",
    "AVAIL": "available",
    "RATIO": "compressratio",
}
"""Of zfs list, where they are not the property's name in capitals."""
_NOT_DATA = re.compile(r"[@#]")
"""In the name of a snapshot or a bookmark."""
_MOST_ASHIFT = 16


def _size(cell: Cell) -> Fact[int]:
    return fact(size_of(cell), cell)


def _ratio(cell: Cell) -> Fact[float]:
    return fact(cell._replace(text=cell.text.removesuffix("x")).number(), cell)


def _word(cell: Cell) -> Fact[str]:
    return fact(cell.text, cell)


def _switch(cell: Cell) -> Fact[bool]:
    if cell.text not in ("on", "off"):
        raise cell.refused("on or off")
    return fact(cell.text == "on", cell)


def _ashift(cell: Cell) -> Fact[int] | None:
    """None if it is 0: each vdev has its own."""
    shift = bounded(cell, _MOST_ASHIFT)
    return fact(shift, cell) if shift else None


_OF_DATASETS: dict[str, Callable[[Cell], Fact[Any] | None]] = {
    **dict.fromkeys(("recordsize", "volblocksize", "volsize", "special_small_blocks"), _size),
    **dict.fromkeys(("referenced", "used", "available"), _size),
    **dict.fromkeys(("sync", "logbias", "primarycache"), _word),
    "compressratio": _ratio,
    "atime": _switch,
}
_OF_POOLS: dict[str, tuple[str, Callable[[Cell], Fact[Any] | None]]] = {
    "size": ("raw_size", _size),
    "allocated": ("allocated", _size),
    "capacity": ("capacity", percent),
    "fragmentation": ("fragmentation", percent),
    "ashift": ("ashift", _ashift),
    "autotrim": ("autotrim", _switch),
}
"""The field of each, and what reads it."""


def read_get(output: Output) -> Findings:
    """What zpool get and zfs get print: a line for each property."""
    text, found = output.text, Findings()
    for number in range(text.after(output.first), output.last + 1):
        line = text.line(number)
        if not line.strip() or line.split()[:2] == ["NAME", "PROPERTY"]:
            continue
        row = ZFS_PROPERTY.match(line)
        if row is None:
            raise text.refused(number, "name, property, value and source in one line, as zfs get prints them")
        name, key = text.group(number, row, "name"), row["key"]
        value = text.group(number, row, "value")
        if value.text == "-" or _NOT_DATA.search(name.text):
            continue
        if key in _OF_POOLS and "/" not in name.text:
            pool = found.pools.setdefault(name.text, FoundPool(name.text, place(name)))
            _set(pool, _OF_POOLS[key][0], _OF_POOLS[key][1](value))
        elif key in _OF_DATASETS:
            dataset = found.datasets.setdefault(name.text, FoundDataset(name.text, place(name)))
            _set(dataset, key, _OF_DATASETS[key](value))
    return found


def read_list(output: Output) -> Findings:
    """What zfs list prints: a line for each dataset."""
    text, found = output.text, Findings()
    heads = [cell.text for cell in text.cells(output.first)]
    for number in range(text.after(output.first), output.last + 1):
        cells = text.cells(number)
        if not cells or cells[0].text == heads[0]:
            continue
        if len(cells) < len(heads) or (len(cells) > len(heads) and heads[-1] != "MOUNTPOINT"):
            raise text.refused(number, f"a dataset in one line, with {len(heads)} columns")
        if _NOT_DATA.search(cells[0].text):
            continue
        dataset = found.datasets.setdefault(cells[0].text, FoundDataset(cells[0].text, place(cells[0])))
        for head, cell in zip(heads[1:], cells[1:], strict=False):
            key = _HEADINGS.get(head, head.lower())
            if key in _OF_DATASETS and cell.text != "-":
                _set(dataset, key, _OF_DATASETS[key](cell))
            elif (head, cell.text) == ("MOUNTPOINT", "-"):
                dataset.is_volume = fact(True, cell)
    return found


def _set(of: Any, field: str, value: Fact[Any] | None) -> None:
    if getattr(of, field) is None:
        setattr(of, field, value)
