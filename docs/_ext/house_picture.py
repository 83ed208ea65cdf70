"""The picture of the house: rooms on their floors, and an arrow from each room to the rooms that it imports from.

It is drawn from the imports in the code and from the floors in `tests/house.py` when the manual is built, so it cannot
fall behind. An arrow is left out if a longer way of arrows leads to the same room. Rooms inside a room are drawn as one
with it, unless that needs an arrow that does not point downwards.

Directives:

`house`
    The picture, as SVG in the page. The pointer on a room shows that room's arrows alone.
`rooms`
    A table of all rooms, with what each room's `__init__.py` says it is.
"""

from __future__ import annotations

import ast
import html
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import raidsim
from raidsim.tests.house import FLOORS, arrows

if TYPE_CHECKING:
    from sphinx.application import Sphinx

ROOT = Path(raidsim.__file__).parent
Arrow = tuple[str, str]
MARGIN, EDGE = 110.0, 14.0
"""Left of all rooms, for the names of the packages, and right of them."""
ROOM_HEIGHT, STOREY = 24.0, 46.0
LETTER, PADDING = 7.0, 14.0
"""Width of a letter, and what is added to a room's name."""
GAP, LANE = 24.0, 10.0
"""Least distance between rooms, and between the lines that pass a floor."""
SWEEPS = 60
COLOURS = {
    "compiled": "#dddddd",
    "model": "#cfe3f5",
    "scenarios": "#d8efd3",
    "calibration": "#fbe7c2",
    "validation": "#f6d5d5",
    "api": "#f6e3d3",
    "serve": "#f3d9ea",
    "cli": "#e3d9f2",
    "web": "#d3eeee",
}


@dataclass(frozen=True)
class House:
    """What is drawn.

    Attributes
    ----------
    floors
        Rooms of each floor, from the bottom up.
    arrows
        (importing room, imported room), without those that follow from others.
    """

    floors: tuple[tuple[str, ...], ...]
    arrows: frozenset[Arrow]


def house(floors: Sequence[Iterable[str]] = FLOORS, imports: Iterable[Arrow] | None = None) -> House:
    """The house as it is drawn: rooms inside rooms merged, floors without a room and needless arrows left out."""
    floor = {folder: height for height, folders in enumerate(floors) for folder in folders}
    links = {(mine, other) for mine, other in (arrows() if imports is None else imports) if other in floor}
    outer = sorted({"/".join(folder.split("/")[:2]) for folder in floor if folder.count("/") > 1})
    for room in outer:
        floor, links = _merged(room, floor, links)
    storeys: dict[int, list[str]] = defaultdict(list)
    for name, height in floor.items():
        storeys[height].append(name)
    return House(tuple(tuple(storeys[height]) for height in sorted(storeys)), frozenset(reduced(links)))


def _merged(room: str, floor: dict[str, int], links: set[Arrow]) -> tuple[dict[str, int], set[Arrow]]:
    """The house with all rooms inside `room` drawn as one, on the lowest of their floors or else the highest."""
    inside = {name for name in floor if name == room or name.startswith(f"{room}/")}

    def name(folder: str) -> str:
        return room if folder in inside else folder

    fewer = {(name(mine), name(other)) for mine, other in links if name(mine) != name(other)}
    for height in (min(floor[each] for each in inside), max(floor[each] for each in inside)):
        moved = {name(folder): height if folder in inside else at for folder, at in floor.items()}
        if all(moved[other] < moved[mine] for mine, other in fewer):
            return moved, fewer
    return floor, links


def reduced(links: Iterable[Arrow]) -> set[Arrow]:
    """The arrows without those that a longer way of arrows says as well."""
    below: dict[str, set[str]] = defaultdict(set)
    for mine, other in links:
        below[mine].add(other)

    def reached(room: str) -> set[str]:
        found: set[str] = set()
        waiting = list(below.get(room, ()))
        while waiting:
            each = waiting.pop()
            if each not in found:
                found.add(each)
                waiting += below.get(each, ())
        return found

    all_below = {room: reached(room) for room in list(below)}
    return {
        (mine, other)
        for mine, others in below.items()
        for other in others
        if not any(other in all_below.get(between, ()) for between in others)
    }


class _Drawing:
    """Where rooms and arrows lie: rooms in the order of what they are tied to, arrows in lanes between rooms.

    Every place on a floor is a room's name, or (arrow, floor) where an arrow passes.
    """

    def __init__(self, drawn: House) -> None:
        self._floors: list[list[Any]] = [list(rooms) for rooms in drawn.floors]
        self.height_of = {room: height for height, rooms in enumerate(drawn.floors) for room in rooms}
        self.ways: dict[Arrow, list[Any]] = {}
        self._near: dict[Any, list[Any]] = defaultdict(list)
        for arrow in sorted(drawn.arrows):
            high, low = (self.height_of[room] for room in arrow)
            passed = [(arrow, height) for height in range(high - 1, low, -1)]
            for place in passed:
                self._floors[place[1]].append(place)
            way: list[Any] = [arrow[0], *passed, arrow[1]]
            self.ways[arrow] = way
            for upper, lower in pairwise(way):
                self._near[upper].append(lower)
                self._near[lower].append(upper)
        self.x: dict[Any, float] = {}
        for places in self._floors:
            self._spread(places, dict.fromkeys(places, 0.0))
        for sweep in range(SWEEPS):
            for places in self._floors if sweep % 2 else reversed(self._floors):
                self._settle(places, reorder=sweep < SWEEPS * 2 // 3)
        left = min(self.x[place] - width(place) / 2 for place in self.x)
        self.x = {place: x - left + MARGIN for place, x in self.x.items()}
        self.width = max(self.x[place] + width(place) / 2 for place in self.x) + EDGE

    def _settle(self, places: list[Any], reorder: bool) -> None:
        """Move the places of a floor to the middle of what they are tied to."""
        wanted = {}
        for place in places:
            near = [self.x[other] for other in self._near[place]]
            wanted[place] = sum(near) / len(near) if near else self.x[place]
        if reorder:
            places.sort(key=lambda place: (wanted[place], str(place)))
        self._spread(places, wanted)

    def _spread(self, places: list[Any], wanted: Mapping[Any, float]) -> None:
        """Put places, in their order, as near to where they are wanted as their widths allow (least squares)."""
        blocks: list[tuple[float, list[float]]] = []
        offsets, at = [], 0.0
        for index, place in enumerate(places):
            if index:
                at += (width(places[index - 1]) + width(place)) / 2 + self._gap(places[index - 1], place)
            offsets.append(at)
        # Places that would overlap form a block, which lies where the mean of its members is wanted.
        for place, offset in zip(places, offsets, strict=True):
            members = [wanted[place] - offset]
            while blocks and blocks[-1][0] > sum(members) / len(members):
                members = blocks.pop()[1] + members
            blocks.append((sum(members) / len(members), members))
        starts = [start for start, members in blocks for _ in members]
        for place, start, offset in zip(places, starts, offsets, strict=True):
            self.x[place] = start + offset

    @staticmethod
    def _gap(left: Any, right: Any) -> float:
        return GAP if isinstance(left, str) and isinstance(right, str) else LANE


def width(place: Any) -> float:
    """Width of a room; an arrow that passes has none."""
    return LETTER * len(_label(place)) + PADDING if isinstance(place, str) else 0.0


def _label(room: str) -> str:
    """A room's name within its package."""
    return room.partition("/")[2] or room


def anchor(room: str) -> str:
    """The id of a room's row in the table."""
    return f"room-{room.replace('/', '-').replace('_', '-')}"


def svg(drawn: House) -> str:
    """The picture, with links to the rows of the table of rooms."""
    drawing = _Drawing(drawn)
    storeys = len(drawn.floors)
    height = storeys * STOREY + 8

    def top(floor: int) -> float:
        return (storeys - 1 - floor) * STOREY + 14

    parts = [
        f'<svg class="house" viewBox="0 0 {drawing.width:.0f} {height:g}" role="img" xmlns="http://www.w3.org/2000/svg">',
        "<title>The rooms of raidsim, and from which others each imports</title>",
        '<defs><marker id="tip" viewBox="0 0 6 6" refX="5.5" refY="3" markerWidth="6" markerHeight="6" orient="auto">',
        '<path d="M0,0 L6,3 L0,6 z" class="tip"/></marker></defs>',
    ]
    parts += _bands(drawn, top, drawing.width)
    for arrow, way in sorted(drawing.ways.items()):
        line = _line([(drawing.x[place], top(_floor(place, drawing.height_of))) for place in way])
        classes = f"arrow from-{anchor(arrow[0])} to-{anchor(arrow[1])}"
        parts.append(f'<path class="{classes}" d="{line}" marker-end="url(#tip)"><title>{arrow[0]} imports {arrow[1]}')
        parts.append("</title></path>")
    for room, floor in drawing.height_of.items():
        name, x, y = anchor(room), drawing.x[room], top(floor)
        left, colour = x - width(room) / 2, COLOURS[room.split("/", maxsplit=1)[0]]
        shape = f'x="{left:.1f}" y="{y:.1f}" width="{width(room):.1f}" height="{ROOM_HEIGHT:g}" rx="4"'
        parts.append(f'<a href="#{name}" class="room" id="drawn-{name}"><rect {shape} fill="{colour}"/>')
        parts.append(f'<text x="{x:.1f}" y="{y + 16:.1f}">{html.escape(_label(room))}</text></a>')
    shown = "\n".join(
        f".house:has(#drawn-{name}:hover) .arrow:not(.from-{name}, .to-{name}) {{ opacity: 0.06; }}"
        for name in map(anchor, drawing.height_of)
    )
    return "\n".join([*parts, f"<style>{shown}</style>", "</svg>"])


def _floor(place: Any, height_of: Mapping[str, int]) -> int:
    return height_of[place] if isinstance(place, str) else place[1]


def _bands(drawn: House, top: Callable[[int], float], across: float) -> list[str]:
    """A band for each package, with its name at the left; packages on the same floors share one."""
    parts = []
    spans: dict[str, list[int]] = defaultdict(list)
    for floor, rooms in enumerate(drawn.floors):
        spans[" · ".join(dict.fromkeys(sorted(room.split("/")[0] for room in rooms)))].append(floor)
    faces = [name for name in spans if set(name.split(" · ")) <= {"cli", "web"}]
    if faces:
        spans["cli · web"] = sorted(floor for name in faces for floor in spans.pop(name))
    for name, floors in spans.items():
        high, low = top(max(floors)) - 12, top(min(floors)) + STOREY - 13
        colour = COLOURS[name.split(" · ", maxsplit=1)[0]]
        shape = f'x="0" y="{high:g}" width="{across:.0f}" height="{low - high:g}"'
        parts.append(f'<rect class="band" {shape} fill="{colour}"/>')
        parts.append(f'<text class="package" x="8" y="{(high + low) / 2 + 4:g}">{name}</text>')
    return parts


def _line(points: Sequence[tuple[float, float]]) -> str:
    """A line from the bottom of the first room to the top of the last, which passes every floor between upright."""
    x, y = points[0]
    text, y = f"M{x:.1f},{y + ROOM_HEIGHT:.1f}", y + ROOM_HEIGHT
    for index, (to, top) in enumerate(points[1:], start=1):
        middle = (y + top) / 2
        text += f" C{x:.1f},{middle:.1f} {to:.1f},{middle:.1f} {to:.1f},{top:.1f}"
        x, y = to, top
        if index < len(points) - 1:
            y += ROOM_HEIGHT
            text += f" L{x:.1f},{y:.1f}"
    return text


def said_of(room: str, root: Path = ROOT) -> str:
    """The first paragraph of what a room's `__init__.py` says, as Markdown."""
    text = ast.get_docstring(ast.parse((root / room / "__init__.py").read_text(encoding="utf-8"))) or ""
    return " ".join(text.split("\n\n", maxsplit=1)[0].split())


def all_rooms() -> dict[str, list[str]]:
    """The rooms of each package from the bottom of the house up; one that holds only rooms is before the first."""
    found: dict[str, list[str]] = defaultdict(list)
    for room in (room for rooms in FLOORS for room in rooms):
        package, _, rest = room.partition("/")
        around = f"{package}/{rest.partition('/')[0]}"
        if rest and around not in found[package] and around not in {each for rooms in FLOORS for each in rooms}:
            found[package].append(around)
        found[package].append(room)
    return found


class HousePicture(SphinxDirective):
    """Draws the house."""

    def run(self) -> list[nodes.Node]:
        """The picture as it is in the page."""
        return [nodes.raw("", f'<div class="house-picture">{svg(house())}</div>', format="html")]


class Rooms(SphinxDirective):
    """Lists the rooms."""

    def run(self) -> list[nodes.Node]:
        """A table for each package, from the bottom of the house up."""
        text = ""
        for package, rooms in all_rooms().items():
            text += f"\n### {package}\n\n{said_of(package)}\n\n| room | what it is |\n|---|---|\n"
            text += "".join(f'| <span id="{anchor(room)}"></span>`{room}` | {said_of(room)} |\n' for room in rooms)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the directives."""
    app.add_directive("house", HousePicture)
    app.add_directive("rooms", Rooms)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
