"""The pictures of the manual's page on `raidsim web`: `python -m raidsim.tests.web.screenshots docs`.

Each is the page itself in a browser, in colors few enough that the file is small.
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from PIL import Image

from raidsim.tests.web.browser import launched, opened, pressed, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

_COLOURS = 96
_LONG_MS = 300e3
"""A comparison on a machine that is busy."""


def _shoot(page: Page, path: Path) -> None:
    """Once nothing moves any more."""
    page.mouse.move(0, 0)
    page.wait_for_function("document.fonts.status === 'loaded'")
    page.wait_for_timeout(1500)
    picture = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
    picture.convert("RGB").quantize(_COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}: {path.stat().st_size:,} bytes")


def take(folder: Path) -> None:
    """Take all pictures into a folder."""
    with tempfile.TemporaryDirectory() as logs, served(Path(logs) / "log") as address, launched() as browser:
        with opened(browser, address, (1280, 980)) as page:
            page.get_by_text("Bottleneck:").wait_for()
            _shoot(page, folder / "web.png")
        with opened(browser, f"{address}/ios?read=0&depth=4&length=short", (1280, 1100), "dark") as page:
            page.get_by_text(re.compile("^On average .* for each write of the load")).wait_for()
            _shoot(page, folder / "web-ios.png")
        with opened(browser, f"{address}/layout?level=raid6&disks=6&length=short&failed=1", (390, 900)) as page:
            page.get_by_role("table").first.wait_for()
            _shoot(page, folder / "web-phone.png")
        query = "length=short&price=300&with=price%3D300%26level%3Draid10&with=price%3D300%26level%3Draid6"
        with opened(browser, f"{address}/compare?{query}", (1280, 1150)) as page:
            pressed(page, "Compare", page.get_by_text("2 runs of each design"))
            page.get_by_text("4 runs of each design").wait_for(timeout=_LONG_MS)
            _shoot(page, folder / "web-compare.png")
        with opened(browser, f"{address}/lessons", (1280, 800)) as page:
            page.get_by_text("Less than half as fast", exact=True).click()
            page.get_by_role("table", name="random writes of 4 KiB").wait_for()
            _shoot(page, folder / "web-lessons.png")


if __name__ == "__main__":
    take(Path(sys.argv[1]))
