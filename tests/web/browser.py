"""The page in Debian's chromium: one server, one browser, and pages that may not do what a good page does not do."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage, Locator, Page

PATIENCE_S = 300.0
"""Real time that a page may take for anything, where twenty other programs have the processor as well."""
REQUIRE = "RAIDSIM_REQUIRE_BROWSER"
"""If this is set, a browser that is not there is a failure, and no reason to skip."""
DESKTOP, PHONE = (1440, 900), (390, 844)
MOST_TABS = 80
_LIST_MS = 5e3
_FADE_MS = 500
_COMPLAINTS = ("error", "warning")
_NAMES = ("chromium", "chromium-browser", "google-chrome")


def browser_path() -> str:
    """Where the browser is; skips, in one line, where there is none."""
    found = next((path for name in _NAMES if (path := shutil.which(name))), None)
    if found is None:
        said = "no chromium here: sh tests/web/install_chromium.sh installs it as root"
        if os.environ.get(REQUIRE):
            pytest.fail(said)
        pytest.skip(said)
    return found


_CONNECTED = "connects to "
_WATCHED = f"""
import sys

def _watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        sys.stderr.write(f"{_CONNECTED}{{arguments[1 if event != 'socket.getaddrinfo' else 0]}}\\n")
        sys.stderr.flush()

sys.addaudithook(_watch)
from raidsim.cli.main import main
main()
"""
"""The command line, in a process that writes down every connection it opens and every name it looks up."""
_INSIDE = ("127.", "::1", "localhost", "('127.", "('::1'", "('localhost'")


def connections(log: Path) -> list[str]:
    """The connections that a server opened to anything but its own machine, from its log."""
    lines = log.read_text(encoding="utf-8").splitlines()
    found = [line.removeprefix(_CONNECTED) for line in lines if line.startswith(_CONNECTED)]
    return [place for place in found if not place.startswith(_INSIDE) and "/" not in place]


@contextmanager
def served(log: Path, *options: str) -> Iterator[str]:
    """The address of a server of the page with these options, which ends with the tests."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    with log.open("wb") as file:
        command = [sys.executable, "-c", _WATCHED, "web", "--port", str(port), *options]
        process = subprocess.Popen(command, stdout=file, stderr=file, stdin=subprocess.DEVNULL)
    try:
        end = time.monotonic() + PATIENCE_S
        while not _answers(address):
            assert process.poll() is None, log.read_text(encoding="utf-8")
            assert time.monotonic() < end, "the server did not come up"
            time.sleep(0.05)
        yield address
    finally:
        process.terminate()
        process.wait(PATIENCE_S)


def _answers(address: str) -> bool:
    try:
        with urllib.request.urlopen(f"{address}/_stcore/health", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


@contextmanager
def launched() -> Iterator[Browser]:
    """The browser."""
    path = browser_path()
    from playwright.sync_api import sync_playwright

    # Containers have neither a user for the sandbox nor a large /dev/shm.
    arguments = ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"]
    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=path, args=arguments)
        try:
            yield browser
        finally:
            browser.close()


@contextmanager
def opened(browser: Browser, address: str, size: tuple[int, int], scheme: str = "light") -> Iterator[Page]:
    """A page of a visitor of its own; afterwards it has asked nobody else for anything, and has not complained."""
    context = browser.new_context(
        viewport={"width": size[0], "height": size[1]},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        accept_downloads=True,
    )
    context.set_default_timeout(1e3 * PATIENCE_S)
    errors: list[str] = []
    asked: set[str] = set()
    page = context.new_page()
    page.on("request", lambda request: asked.add(request.url))
    page.on("websocket", lambda connection: asked.add(connection.url))
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on("console", lambda message: errors.append(message.text) if _complains(message) else None)
    try:
        page.goto(address)
        page.get_by_role("heading", level=1).wait_for()
        yield page
        assert not errors, errors
        here = {url for url in asked if urlsplit(url).scheme not in ("blob", "data")}
        assert {urlsplit(url).hostname for url in here} == {"127.0.0.1"}
        wide = page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        assert wide <= 0, "the page is wider than the window"
    finally:
        context.close()


def _complains(message: ConsoleMessage) -> bool:
    """Whether a message of the console says that something is wrong.

    At the address of a page, Streamlit looks for its server below that address first, and then at its root.
    """
    searched = re.fullmatch(r"/\w+/_stcore/(health|host-config)", urlsplit(message.location["url"]).path)
    return message.type in _COMPLAINTS and searched is None


def open_form(page: Page) -> None:
    """On a narrow screen the form is behind a button."""
    button = page.get_by_test_id("stExpandSidebarButton")
    if page.viewport_size is not None and page.viewport_size["width"] < 600:
        button.click()
        page.get_by_role("combobox", name="RAID level").wait_for()


def close_form(page: Page) -> None:
    """Back from the form on a narrow screen."""
    if page.viewport_size is not None and page.viewport_size["width"] < 600:
        page.get_by_test_id("stSidebarCollapseButton").get_by_role("button").click()


def choose(page: Page, field: str, value: str) -> None:
    """Choose a value of a field by writing it; again if the page was shown anew meanwhile, which closes the list."""
    from playwright.sync_api import TimeoutError as TooLate

    box = page.get_by_role("combobox", name=field, exact=True)
    end = time.monotonic() + PATIENCE_S
    while True:
        box.click()
        box.fill(value)
        try:
            page.get_by_role("option", name=value, exact=True).click(timeout=_LIST_MS)
        except TooLate:
            assert time.monotonic() < end, f"{field} does not offer {value}"
            page.keyboard.press("Escape")
        else:
            return


def look_at(page: Page, view: str) -> None:
    """Change the view."""
    page.get_by_test_id("stMain").get_by_role("link", name=view, exact=True).click()
    page.wait_for_function("name => document.title.startsWith(name)", arg=view)


def pressed(page: Page, button: str, shows: Locator) -> None:
    """Press a button, once, and wait until what it brings is there."""
    page.get_by_role("button", name=button, exact=True).click()
    shows.wait_for()


def downloaded(page: Page, button: str, folder: Path) -> str:
    """Press a button that gives a file; its text, which is the same in every folder."""
    with page.expect_download() as download:
        page.get_by_role("button", name=button, exact=True).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path.read_text(encoding="utf-8")


def brightness(page: Page, selector: str, of: str) -> float:
    """How bright a color of an element is, from 0, black, to 1; `of` is the name of the color in its style."""
    wanted = f"getComputedStyle(document.querySelector({selector!r})).{of}"
    red, green, blue = re.findall(r"[\d.]+", page.evaluate(wanted))[:3]
    return (0.2126 * float(red) + 0.7152 * float(green) + 0.0722 * float(blue)) / 255


BY_STREAMLIT = {
    "region": "Streamlit puts its toolbar outside of any landmark",
    "presentation-role-conflict": "the place where files are dropped has a role, a name and a tabindex",
}
"""Rules of axe that parts of Streamlit break, whatever a page does."""


def check_access(page: Page) -> None:
    """No rule of axe is broken by the page, once it has settled."""
    # What is being replaced is paler for a moment.
    settled = "!document.querySelector('[data-stale=true]') && document.querySelector('[data-test-script-state]')"
    page.wait_for_function(f"{settled}.dataset.testScriptState === 'notRunning'")
    page.wait_for_timeout(_FADE_MS)
    found = broken_rules(page)
    assert not found, found


def broken_rules(page: Page) -> list[str]:
    """Rules of axe (WCAG 2.1, A and AA) that the page breaks: names, roles, contrast, keyboard."""
    from axe_playwright_python.sync_playwright import Axe

    options = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]}
    return [
        f"{rule['id']}: {rule['help']}: {[node['html'][:200] for node in rule['nodes'][:3]]}"
        for rule in Axe().run(page, options=options).response["violations"]
        if rule["id"] not in BY_STREAMLIT
    ]


def tabbed_to(page: Page, name: str) -> set[str]:
    """Press Tab until something with this name has the focus; all names on the way."""
    reached: set[str] = set()
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "(document.activeElement.getAttribute('aria-label') || document.activeElement.innerText"
            " || (document.activeElement.labels && document.activeElement.labels[0] || {}).innerText || '').trim()"
        )
        reached.add(focused)
        if focused == name:
            return reached
    raise AssertionError(f"{name} cannot be reached with Tab; there are {reached}")
