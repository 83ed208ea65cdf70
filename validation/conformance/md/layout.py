"""Layouts compared with the maps read off real arrays of the Linux md driver.

A file holds several arrays of one level and algorithm: the chunk map, the parity map, the zones of RAID 0, and in
how many rows the Q bytes found on the members follow each of four candidate rules. Everything recorded about the
map is compared, chunk by chunk; nothing here is statistical.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from ....model.core.errors import InputError
from ....model.layouts import (
    DEFAULT_CHUNK,
    LinearLayout,
    MirroredLayout,
    ParityLayout,
    Raid10Layout,
    StripedLayout,
    layout_for,
)
from ....model.layouts.chart import chunk_chart, parity_chart, segment_chart, zone_chart
from ....model.layouts.layout import Layout
from ..base import KindResult, NotSupported, Progress, TruthFile
from .mdadm import recorded_array

Array = Mapping[str, Any]


def check(files: Sequence[TruthFile], progress: Progress) -> KindResult:
    """Compare every recorded array with the layout of the model."""
    result = KindResult("layout")
    for file in files:
        for array in file.content["arrays"]:
            progress(array["name"])
            result.compare(file.path.name, array["name"], partial(layout_difference, file.path.name, array))
    return result


def layout_difference(file: str, array: Array) -> str:
    """What differs between a recorded array and the layout of the model; "" if nothing does.

    Raises
    ------
    InputError
        If the recording lacks a chart of its level, or names an array that cannot be built.
    """
    place = f"{file}, array {array['name']}"
    layout = recorded_layout(place, array)
    for name in _charts(layout):
        if array.get(name) is None:
            raise InputError(f"{place}, field {name}", "it is missing", f"expected: a map of {layout.level} has it")
    for what, recorded, predicted in _comparisons(layout, array):
        difference = _first_difference(recorded, predicted)
        if difference:
            return f"{what}: {difference}"
    return ""


def recorded_layout(place: str, array: Array) -> Layout:
    """The model's layout of a recorded array; `place` is what errors name.

    md also builds RAID 5 of two disks, which :func:`layout_for` refuses; its arithmetic holds all the same.
    """
    made = recorded_array(place, array)
    members = array["n"]
    if members != made.devices:
        raise InputError(f"{place}, field n", f"{members}", f"the command says {made.devices} devices")
    sizes = [kib * 1024 for kib in array["member_data_kib"]]
    if array.get("component_kib"):
        sizes = [array["component_kib"] * 1024] * members
    chunk = array["chunk_kib"] * 1024 or None
    try:
        if made.level == "raid5" and members == 2:
            algorithm = layout_for(made.level, 3, chunk, sizes[0], made.algorithm).algorithm
            return ParityLayout(made.level, sizes, chunk or DEFAULT_CHUNK, str(algorithm))
        return layout_for(made.level, members, chunk, sizes, made.algorithm)
    except InputError as error:
        raise NotSupported(f"{place}: {error.place}", error.found, error.expected) from None


def _charts(layout: Layout) -> tuple[str, ...]:
    """The fields that a map of such a layout must have."""
    match layout:
        case LinearLayout():
            return ("segments_kib",)
        case MirroredLayout():
            return ("identical",)
        case StripedLayout():
            return ("first_chunks", "zones")
        case Raid10Layout():
            return ("chunks", "chunks_total", "last_chunk", "chunks_per_member", "last_member_chunk")
        case ParityLayout() if layout.members == 2:
            return ("chunks",)
        case ParityLayout():
            return ("chunks", "parity", "q_rule_rows_ok") if layout.parities == 2 else ("chunks", "parity")
    return ()


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
