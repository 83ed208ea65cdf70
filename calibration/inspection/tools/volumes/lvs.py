"""LVM's volumes from ``lvs -a -o +devices,segtype,cache_mode,...``, as a table or with --reportformat json.

A volume has a row for each of its segments. Sizes are rounded unless lvs was given --units b. Source: lvm2
lib/report/columns.h (headings and fields) and lib/display/display.c (units).
"""

from __future__ import annotations

import re
from decimal import Decimal

from ....text.positioned_json import Value
from ....text.report_text import Cell, ReportText, shown
from ..columns import headings, record, row
from ..facts import Fact, fact, place
from ..findings import Findings
from ..found_volumes import FoundVolume, Part
from ..output_text import LARGEST, bounded, said
from ..outputs import Output
from .dmsetup import CACHE_MODES, device_name, raid_level, volume_name

_FIELDS = {
    "LV": "lv_name",
    "VG": "vg_name",
    "Attr": "lv_attr",
    "LSize": "lv_size",
    "Pool": "pool_lv",
    "Origin": "origin",
    "Devices": "devices",
    "Type": "segtype",
    "SSize": "seg_size",
    "Stripe": "stripe_size",
    "Chunk": "chunk_size",
    "Ext": "vg_extent_size",
    "CacheMode": "cache_mode",
    "KCacheMode": "kernel_cache_mode",
    "CachePolicy": "cache_policy",
    "KCachePolicy": "kernel_cache_policy",
    "CacheSettings": "cache_settings",
    "KCacheSettings": "kernel_cache_settings",
    "CacheDirtyBlocks": "cache_dirty_blocks",
    "CacheUsedBlocks": "cache_used_blocks",
}
"""Names in JSON of the headings of a table."""
_ATTRIBUTES = re.compile(r"[\w?-]{6,10}")
_SIZE = re.compile(r"[<>]?(?P<number>\d+(?:\.\d+)?)(?P<unit>[bskmgtpeBSKMGTPE]?)", re.ASCII)
_DEVICE = re.compile(r"\[?(?P<name>[^\s()\[\],]+)\]?\((?P<extent>\d{1,12})\)")
_EXTENT, _FIRST = 4 << 20, 1 << 20
"""What LVM takes for an extent, and for what is in front of the first one."""
STRIPE = 64 << 10
_SECTOR = 512
_PLAIN = ("linear", "striped", "thin-pool", "thin", "cache", "cache-pool", "writecache", "error", "zero")
_TELLS = "lvs -a -o +devices,segtype,cache_mode,cache_policy,chunk_size"


def read(output: Output) -> Findings:
    """The volumes of all groups."""
    found = Findings()
    rows = _listed(output, found) if output.root is not None else _table(output)
    for cells in rows:
        _row(output.text, cells, found)
    if rows and not any(volume.parts for volume in found.volumes.values()):
        found.volumes = {}
        found.notes.append(f"{output.text.name}:{output.first}: lvs without its devices tells no drives; give {_TELLS}")
    for volume in found.volumes.values():
        _finish(volume)
    return found


def _listed(output: Output, found: Findings) -> list[dict[str, Cell]]:
    """The rows of JSON."""
    assert output.root is not None
    rows: list[dict[str, Cell]] = []
    for report in output.root.members["report"].items:
        volumes = report.members.get("lv")
        if volumes is None:
            kinds = " and ".join(report.members) or "nothing"
            found.notes.append(f"{place(report.cell)}: a report of {kinds} tells no volumes; give {_TELLS}")
        rows += [_cells(item) for item in volumes.items] if volumes is not None else []
    return rows


def _cells(item: Value) -> dict[str, Cell]:
    return {key: cell for key in item.members if (cell := said(item, key)) is not None}


def _table(output: Output) -> list[dict[str, Cell]]:
    """The rows of a table."""
    text = output.text
    heads = headings(text.line(output.first))
    rows: list[dict[str, Cell]] = []
    for number in range(output.first + 1, output.last + 1):
        if not text.line(number).strip():
            continue
        cells = {_FIELDS.get(name, name): cell for name, cell in row(text, number, heads).items()}
        _check(text, number, [name for name, _, _ in heads], cells)
        rows.append(_cells(record(cells)))
    return rows


def _check(text: ReportText, number: int, heads: list[str], cells: dict[str, Cell]) -> None:
    """Refuse a row without what lvs prints of every volume: it is the rest of one that was broken."""
    forms = {"LV": None, "Attr": _ATTRIBUTES, "LSize": _SIZE}
    for name in heads:
        cell = cells.get(_FIELDS.get(name, name))
        form = forms.get(name)
        if name in forms and (cell is None or (form is not None and not form.fullmatch(cell.text))):
            seen = shown(cell.text) if cell is not None else f"no {name} in {shown(text.line(number).strip())}"
            expected = "rows in one line each, each below the headings; or lvs with --reportformat json"
            raise text.refused(number, expected, seen)


def _row(text: ReportText, cells: dict[str, Cell], found: Findings) -> None:
    """One segment of a volume."""
    named = cells.get("lv_name")
    if named is None:
        raise text.refused(next(iter(cells.values())).line if cells else 1, "a volume with its lv_name")
    group = cells["vg_name"].text if "vg_name" in cells else "vg"
    name = volume_name(group, named.text.strip("[]"))
    volume = found.volumes.setdefault(name, FoundVolume(name, place(named)))
    size, attributes = cells.get("lv_size"), cells.get("lv_attr")
    if size is not None and volume.length is None:
        volume.length = fact(size_of(size), size)
    _target(volume, cells, attributes.text if attributes is not None else "")
    if "stripe_size" in cells and size_of(cells["stripe_size"]):
        volume.stripe = fact(size_of(cells["stripe_size"]), cells["stripe_size"])
    segment = size_of(cells["seg_size"]) if "seg_size" in cells else None
    extent = size_of(cells["vg_extent_size"]) if "vg_extent_size" in cells else _EXTENT
    several = _DEVICE.findall(cells["devices"].text) if "devices" in cells else []
    for device, first in several:
        start = int(first) * extent
        if device.startswith("/dev/"):
            start += _FIRST
        inner = device_name(device) if device.startswith("/") else volume_name(group, device)
        volume.parts.append(Part(inner, start, segment // len(several) if segment is not None else None))
    if "devices" in cells and not several and cells["devices"].text:
        raise cells["devices"].refused("devices with their first extents, such as /dev/sda(0)")
    if "pool_lv" in cells:
        pool = cells["pool_lv"]
        volume.fast = fact(volume_name(group, pool.text.strip("[]")), pool)
    _settings(volume, cells)


def _target(volume: FoundVolume, cells: dict[str, Cell], attributes: str) -> None:
    """What it is: by its type, else by the first letter of its attributes."""
    kind = cells.get("segtype")
    where = place(kind) if kind is not None else volume.where
    word = kind.text if kind is not None else ""
    if not word and attributes[:1] in ("C", "V", "t"):
        word = {"C": "cache", "V": "thin", "t": "thin-pool"}[attributes[0]]
        if word == "cache" and "origin" not in cells:
            word = "cache-pool" if any("_cdata" in cell.text for cell in cells.values()) else "linear"
    raid = raid_level(word) if word.startswith("raid") else None
    if raid is not None:
        raid = (raid[0], "near", 2) if raid[0] == "raid10" else raid
        volume.target, volume.raid = Fact("raid", where), Fact(raid, where)
    elif not word and attributes[:1] in ("r", "R"):
        volume.target = Fact("raid", where)
        volume.notes.append(f"{volume.name} ({where}) is a RAID of LVM: nothing tells its level; give {_TELLS}")
    else:
        volume.target = Fact(word or "linear", where)
    if word == "cache" and "origin" in cells and cells["origin"].text.strip("[]").endswith("_wcorig"):
        volume.target = Fact("writecache", where)
    if word and volume.raid is None and word not in _PLAIN:
        volume.notes.append(f"{volume.name} ({where}) is of the type {word}, which is not modeled")


def _settings(volume: FoundVolume, cells: dict[str, Cell]) -> None:
    for key in ("kernel_cache_mode", "cache_mode"):
        if key in cells and cells[key].text in CACHE_MODES:
            volume.options["mode"] = fact(cells[key].text, cells[key])
    for key in ("cache_policy", "kernel_cache_policy"):
        if key in cells:
            volume.options["policy"] = fact(cells[key].text, cells[key])
    if "chunk_size" in cells and size_of(cells["chunk_size"]):
        volume.options["block_size"] = fact(size_of(cells["chunk_size"]), cells["chunk_size"])
    for key in ("cache_settings", "kernel_cache_settings"):
        match = re.search(r"migration_threshold=(\d{1,15})", cells[key].text) if key in cells else None
        if match is not None:
            volume.options["migration_threshold"] = fact(int(match[1]) * _SECTOR, cells[key])
    if "cache_dirty_blocks" in cells and "block_size" in volume.options:
        dirty = cells["cache_dirty_blocks"]
        volume.dirty = fact(bounded(dirty, LARGEST) * int(volume.options["block_size"].value), dirty)
    if "cache_used_blocks" in cells and cells["cache_used_blocks"].text == "0":
        volume.options["state"] = fact("cold", cells["cache_used_blocks"])


def _finish(volume: FoundVolume) -> None:
    """A cache has its slow device for its segment, a volume of one segment all of its length."""
    target = volume.target.value if volume.target is not None else ""
    if target in ("cache", "writecache") and volume.parts:
        volume.slow = Fact(volume.parts[0].device, volume.where)
        volume.parts = []
    elif target == "thin" and volume.fast is not None:
        volume.parts = [Part(volume.fast.value)]
    if target not in ("cache", "writecache"):
        volume.fast = None
        volume.options = volume.options if target == "cache-pool" else {}
    if len(volume.parts) == 1 and volume.length is not None:
        volume.parts = [volume.parts[0]._replace(length=volume.length.value)]
    elif target == "striped" and volume.length is not None:
        each = volume.length.value // len(volume.parts)
        volume.parts = [part._replace(length=part.length or each) for part in volume.parts]
    if target == "raid" and volume.stripe is None:
        volume.stripe = Fact(STRIPE, volume.where)


def size_of(cell: Cell) -> int:
    """Bytes of "200.00g", "<9.10t", "214748364800B" or "64.00k"; a capital letter's unit is one of 1000."""
    match = _SIZE.fullmatch(cell.text)
    if match is None:
        raise cell.refused("a size such as 200.00g")
    unit = match["unit"]
    if unit in ("s", "S"):
        times = _SECTOR
    elif unit in ("", "b", "B"):
        times = 1
    else:
        times = (1000 if unit.isupper() else 1024) ** ("kmgtpe".index(unit.lower()) + 1)
    size = int(Decimal(match["number"]) * times)
    if size > LARGEST:
        raise cell.refused("a size that a volume can have")
    return size
