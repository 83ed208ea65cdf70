"""Ten visitors at once: `python -m raidsim.tests.web.ten_visitors [VISITORS]` measures the time to each one's result.

Each visitor has a browser context of its own and asks for a short run of another seed, so that no answer is shared. The
browser runs on the same machine; its CPU time is part of what is measured. On a busy machine the times say little:
the load average is printed with them.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from raidsim.tests.web.browser import DESKTOP, PATIENCE_S, launched, served

if TYPE_CHECKING:
    from playwright.sync_api import Page

MOST_S = 30.0
"""A short run is on the page after this time (s)."""
_WATCH = """
new MutationObserver(() => {
  if (!window.answeredMs && document.body && document.body.innerText.includes('Bottleneck:'))
    window.answeredMs = performance.now();
}).observe(document, {childList: true, subtree: true, characterData: true});
"""
"""In every page: note when the result appears, from the start of its navigation (ms)."""


def measured(visitors: int, address: str) -> list[float]:
    """Seconds from the visitor's click on the link to the result."""
    with launched() as browser:
        pages: list[Page] = []
        for _ in range(visitors):
            context = browser.new_context(viewport={"width": DESKTOP[0], "height": DESKTOP[1]})
            context.add_init_script(_WATCH)
            pages.append(context.new_page())
        for number, page in enumerate(pages):
            page.goto(f"{address}/?length=short&seed={1000 + number}", wait_until="commit")
        return [
            page.wait_for_function("window.answeredMs", timeout=5e3 * PATIENCE_S).json_value() / 1e3 for page in pages
        ]


def cpu_of_children() -> float:
    """CPU time (s) of all processes below this one, and of those that they have waited for."""
    below: dict[int, list[tuple[int, float]]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            fields = stat.read_text().rpartition(")")[2].split()
            ticks = sum(int(each) for each in fields[11:15])
            below.setdefault(int(fields[1]), []).append((int(stat.parent.name), ticks / os.sysconf("SC_CLK_TCK")))
    total, waiting = 0.0, [os.getpid()]
    while waiting:
        for child, seconds in below.get(waiting.pop(), ()):
            total += seconds
            waiting.append(child)
    return total


def main(visitors: int) -> int:
    """Print one line for one visitor alone, and one for all at once; 1 if the last result of all comes too late."""
    last = 0.0
    for number in dict.fromkeys((1, visitors)):
        load, began = os.getloadavg()[0], time.monotonic()
        with tempfile.TemporaryDirectory() as logs, served(Path(logs) / "log") as address:
            up_s, up_cpu_s = time.monotonic() - began, cpu_of_children()
            times = sorted(measured(number, address))
            last = times[-1]
            cpu_s = cpu_of_children() - up_cpu_s
        print(
            f"{number} visitors: first result after {times[0]:.1f} s, median {times[len(times) // 2]:.1f} s, last "
            f"{times[-1]:.1f} s ({'within' if times[-1] <= MOST_S else 'NOT within'} {MOST_S:g} s). CPU time of the "
            f"server: {up_cpu_s:.1f} s until it answers (after {up_s:.1f} s), then {cpu_s:.1f} s, which is "
            f"{cpu_s / number:.1f} s a visitor. Load average before: {load:.1f}"
        )
    return int(last > MOST_S)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10))
