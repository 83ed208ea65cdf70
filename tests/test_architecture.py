"""The architecture page: its picture shows every room and no needless arrow, and its walk is the one that is run."""

from __future__ import annotations

import importlib.util
import re
import shlex
import subprocess
import sys
from types import ModuleType
from xml.etree import ElementTree

import pytest

from raidsim.tests.house import FLOORS, arrows
from raidsim.tests.manual_pages import DOCS, ROOT

PAGE = (DOCS / "architecture.md").read_text(encoding="utf-8")
STOPS = re.findall(r"^\| \d+ \| `([\w/]+\.py)`<br>`([\w.]+)` \|", PAGE, re.MULTILINE)
ORDER_OF_CALLS = """
import sys
from pathlib import Path
import raidsim
from raidsim.cli.main import main

stops = {tuple(each.split(":")) for each in sys.argv[1].split()}
root, called = str(Path(raidsim.__file__).parent), []

def look(frame, event, _):
    code = frame.f_code
    place = (code.co_filename.removeprefix(root + "/"), code.co_qualname)
    if event == "call" and place in stops:
        stops.remove(place)
        called.append(place)

sys.setprofile(look)
try:
    main(sys.argv[2:])
finally:
    sys.setprofile(None)
    print(*(":".join(place) for place in called), sep="\\n", file=sys.stderr)
"""


@pytest.fixture(scope="module")
def picture() -> ModuleType:
    """The module that draws the house."""
    found = importlib.util.spec_from_file_location("house_picture", DOCS / "_ext" / "house_picture.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    sys.modules[found.name] = module  # its dataclass looks for it there
    found.loader.exec_module(module)
    return module


def test_the_walk_is_the_one_that_is_run() -> None:
    """Protects newcomers from a walk that the code no longer takes: the stops' first calls are in this order."""
    (command,) = re.findall(r"^raidsim (.+)$", PAGE, re.MULTILINE)
    assert len(STOPS) == len(re.findall(r"^\| \d+ \|", PAGE, re.MULTILINE)) > 20
    wanted = [":".join(stop) for stop in STOPS]
    done = subprocess.run(
        [sys.executable, "-c", ORDER_OF_CALLS, " ".join(wanted), *shlex.split(command), "--no-relief"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
    )
    assert done.stderr.split() == wanted


@pytest.fixture(scope="module")
def imports() -> set[tuple[str, str]]:
    """(importing folder, imported folder)."""
    return set(arrows())


def test_the_picture_shows_every_room_once(picture: ModuleType, imports: set[tuple[str, str]]) -> None:
    """Protects the picture from a room that it leaves out: each is drawn, or is inside one that is."""
    house = picture.house(imports=imports)
    drawn = [room for rooms in house.floors for room in rooms]
    assert len(drawn) == len(set(drawn))
    for room in (room for rooms in FLOORS for room in rooms):
        inside = [each for each in drawn if room.startswith(f"{each}/") and "/" in each]
        assert room in drawn or len(inside) == 1, room
    ids = re.findall(r'href="#([\w-]+)"', picture.svg(house))
    assert set(ids) == {picture.anchor(room) for room in drawn}
    assert set(drawn) <= {room for rooms in picture.all_rooms().values() for room in rooms}


def test_the_arrows_say_what_the_imports_say(picture: ModuleType, imports: set[tuple[str, str]]) -> None:
    """Protects the picture from hiding a way: its arrows lead where imports lead, and none says what others say."""
    house = picture.house(imports=imports)
    drawn = {room for rooms in house.floors for room in rooms}

    def name(folder: str) -> str:
        while folder not in drawn:
            folder = folder.rpartition("/")[0]
        return folder

    between = {(name(mine), name(other)) for mine, other in imports if name(mine) != name(other)}
    assert house.arrows < between
    ways = _reached(house.arrows)
    assert ways == _reached(between)
    for mine, other in house.arrows:
        assert not any((via, other) in ways for start, via in house.arrows if start == mine and via != other)


def _reached(links: set[tuple[str, str]]) -> set[tuple[str, str]]:
    """All pairs of rooms between which there is a way."""
    found = set(links)
    while True:
        more = {(mine, last) for mine, other in found for first, last in links if first == other} - found
        if not more:
            return found
        found |= more


def test_rooms_inside_a_room_are_drawn_as_one_where_that_may_be(picture: ModuleType) -> None:
    """Protects the floors in the picture: rooms are merged, but not where an arrow would have to go up."""
    floors = [("model/core",), ("model/raid/base",), ("model/memory",), ("model/raid/resync",)]
    apart = picture.house(floors, [("model/memory", "model/raid/base"), ("model/raid/resync", "model/memory")])
    assert apart.floors == tuple(floors)
    merged = picture.house(floors, [("model/memory", "model/raid/base"), ("model/raid/resync", "model/raid/base")])
    assert merged.floors == (("model/core",), ("model/raid",), ("model/memory",))
    assert merged.arrows == {("model/memory", "model/raid")}


def test_the_drawing_keeps_rooms_apart(picture: ModuleType, imports: set[tuple[str, str]]) -> None:
    """Protects readers of the picture: it is well-formed, lies inside its frame, and no two rooms overlap."""
    image = ElementTree.fromstring(picture.svg(picture.house(imports=imports)))
    width, height = (float(each) for each in image.attrib["viewBox"].split()[2:])
    boxes = [
        tuple(float(box.attrib[side]) for side in ("x", "y", "width", "height"))
        for box in image.findall(".//{*}a/{*}rect")
    ]
    assert len(boxes) > 40
    for index, (x, y, w, h) in enumerate(boxes):
        assert 0 <= x <= x + w <= width
        assert 0 <= y <= y + h <= height
        for left, top, across, _ in boxes[index + 1 :]:
            assert top != y or left >= x + w or left + across <= x
