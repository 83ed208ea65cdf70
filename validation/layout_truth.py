"""Layouts beside the maps read off real arrays of the Linux md driver.

`truth/layout/*.json` holds one file per level and algorithm, each with several arrays: the chunk map, the parity
map, the zones of RAID 0, and in how many rows the Q bytes found on the members follow each of four candidate rules.
Everything recorded about the map is compared, chunk by chunk; nothing here is statistical.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..model.errors import InputError
from ..model.layouts import LinearLayout, MirroredLayout, ParityLayout, Raid10Layout, StripedLayout, layout_for
from ..model.layouts.chart import chunk_chart, parity_chart, segment_chart, zone_chart
from ..model.layouts.layout import Layout

DEFAULT_DIRECTORY = Path(__file__).parent / "truth" / "layout"

Array = dict[str, Any]


@dataclass(frozen=True, slots=True)
class LayoutCheck:
    """The result for one recorded array.

    Attributes
    ----------
    file, name
        The truth file and the array in it.
    matched
        Whether everything recorded is what the layout says.
    message
        What was compared, or the first difference.
    """

    file: str
    name: str
    matched: bool
    message: str


def load_arrays(directory: Path | None = None) -> list[tuple[str, Array]]:
    """Return (file name, recorded array) for every array of every truth file.

    Raises
    ------
    InputError
        If there is no truth file, or one cannot be read.
    """
    where = directory or DEFAULT_DIRECTORY
    files = sorted(where.glob("*.json"))
    if not files:
        raise InputError(str(where), "no truth file (*.json)", "give a directory of recorded layouts")
    arrays = []
    for file in files:
        try:
            arrays += [(file.name, array) for array in json.loads(file.read_text())["arrays"]]
        except (ValueError, KeyError, TypeError) as error:
            raise InputError(str(file), f"not a recorded layout ({error})", "JSON with a list `arrays`") from error
    return arrays


def check_layouts(directory: Path | None = None) -> list[LayoutCheck]:
    """Compare every recorded array with the layout of the model."""
    return [check_array(file, array) for file, array in load_arrays(directory)]


def check_array(file: str, array: Array) -> LayoutCheck:
    """Compare one recorded array with the layout of the model."""
    name = str(array.get("name", "?"))
    compared = []
    try:
        layout = recorded_layout(array)
        for what, recorded, predicted in _comparisons(layout, array):
            difference = _first_difference(recorded, predicted)
            if difference:
                return LayoutCheck(file, name, False, f"{what}: {difference}")
            compared.append(what)
    except (InputError, KeyError, IndexError, TypeError) as error:
        return LayoutCheck(file, name, False, f"cannot be compared: {error!r}")
    return LayoutCheck(file, name, True, f"same {', '.join(compared)}")


def recorded_layout(array: Array) -> Layout:
    """Return the model's layout of a recorded array.

    md also builds RAID 5 of two disks, which :func:`layout_for` refuses; its arithmetic holds all the same.
    """
    level = _option(array, "level") or "?"
    algorithm = _option(array, "layout")
    sizes = [int(kib) * 1024 for kib in array["member_data_kib"]]
    if array.get("component_kib"):
        sizes = [int(array["component_kib"]) * 1024] * int(array["n"])
    chunk = int(array["chunk_kib"]) * 1024 or None
    if level == "raid5" and array["n"] == 2 and chunk:
        return ParityLayout(level, sizes, chunk, algorithm or "left-symmetric")
    return layout_for(level, int(array["n"]), chunk, sizes, algorithm)


def _option(array: Array, name: str) -> str | None:
    found = re.search(rf"--{name}=(\S+)", str(array["cmd"]))
    return found[1] if found else None


def _comparisons(layout: Layout, array: Array) -> Iterator[tuple[str, Any, Any]]:
    """Yield what is compared, what was recorded, and what the layout says."""
    yield "capacity (KiB)", array["array_kib"], layout.capacity / 1024
    match layout:
        case LinearLayout():
            yield "segments", array["segments_kib"], segment_chart(layout)
        case MirroredLayout():
            yield (
                "copies",
                array["identical"],
                all(
                    places == tuple([(member, logical) for member in range(layout.members)])
                    for block in range(layout.capacity // 4096)
                    for logical, _, places in layout.copies(block * 4096, 4096)
                ),
            )
        case StripedLayout():
            yield "first chunks", array["first_chunks"], chunk_chart(layout, 0, len(array["first_chunks"]))
            yield "zones", array["zones"], zone_chart(layout)
            yield "chunks", list(_expanded(array["zones"])), [layout.map_chunk(c) for c in range(layout.chunks)]
        case Raid10Layout():
            yield from _raid10_comparisons(layout, array)
        case ParityLayout() if layout.members == 2:  # recorded as two copies, since P equals the data
            rows = range(layout.rows)
            both = [sorted([[layout.row(row).data[0], row], [layout.row(row).p, row]]) for row in rows]
            yield "chunks", array["chunks"], both
        case ParityLayout():
            yield "chunks", array["chunks"], chunk_chart(layout)
            yield "parity", array["parity"], parity_chart(layout)
            if layout.parities == 2:
                yield "Q order", array["q_rule_rows_ok"], _rows_by_q_rule(layout)
        case _:
            raise TypeError(f"no comparison for {layout!r}")


def _raid10_comparisons(layout: Raid10Layout, array: Array) -> Iterator[tuple[str, Any, Any]]:
    full = chunk_chart(layout)
    yield "chunks", array["chunks"], full[: len(array["chunks"])]
    yield "number of chunks", array["chunks_total"], len(full)
    yield "last chunk", array["last_chunk"], full[-1]
    used: list[list[int]] = [[] for _ in range(layout.members)]
    for places in full:
        for member, chunk in places:
            used[member].append(chunk)
    yield "chunks of each member", array["chunks_per_member"], [len(chunks) for chunks in used]
    yield "last chunk of each member", array["last_member_chunk"], [max(chunks) for chunks in used]


def _expanded(zones: list[dict[str, Any]]) -> Iterator[tuple[int, int]]:
    """Yield the place of every chunk that recorded zones describe."""
    for zone in zones:
        members, rows = zone["members"], zone["member_chunk"]
        width = len(members)
        for chunk in range(zone["chunks"]):
            turn, index = divmod(chunk, width)
            yield members[index], rows[index] + turn


_Q_RULES: dict[str, Callable[[int, int, int, tuple[int, ...]], list[int]]] = {
    "logical": lambda n, p, q, data: list(data),
    "after_q": lambda n, p, q, data: [m for step in range(1, n) if (m := (q + step) % n) != p],
    "after_p": lambda n, p, q, data: [m for step in range(1, n) if (m := (p + step) % n) != q],
}


def _rows_by_q_rule(layout: ParityLayout) -> dict[str, int]:
    """Count the rows in which the layout's Q is what each candidate rule says.

    The recorded data are random, so a rule fits the recorded bytes of a row exactly if it gives the same
    exponents as the driver does: the counts must agree for the wrong rules as well as for the right one.
    """
    fits = dict.fromkeys([*_Q_RULES, "member_index"], 0)
    for row in range(layout.rows):
        data, p, q = layout.row(row)
        order = layout.q_order(row)
        assert q is not None
        for rule, members in _Q_RULES.items():
            expected = [(member, exponent) for exponent, member in enumerate(members(layout.members, p, q, data))]
            fits[rule] += list(order) == expected
        fits["member_index"] += all(member == exponent for member, exponent in order)
    return fits


def _first_difference(recorded: Any, predicted: Any) -> str:
    if recorded == predicted:
        return ""
    if isinstance(recorded, list) and isinstance(predicted, list):
        for index, (real, ours) in enumerate(zip(recorded, predicted, strict=False)):
            if real != ours:
                return f"at {index} recorded {real}, predicted {ours}"
        return f"{len(recorded)} recorded, {len(predicted)} predicted"
    return f"recorded {recorded}, predicted {predicted}"
