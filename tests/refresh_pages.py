"""`make pages`: what the manual's commands print, the long ones included, replaces what its pages show.

`python -m raidsim.tests.refresh_pages [PAGE ...]` names the pages that it changed; the status is 1 if there were any.
Pages that have their reader write files are not looked at, nor those without commands.
"""

from __future__ import annotations

import re
import shlex
import sys
import tempfile
from pathlib import Path

from raidsim.tests.manual_pages import (
    CONSOLE,
    DOCS,
    as_shown,
    checkout_with,
    elided,
    examples,
    examples_of,
    files,
    lines,
    pages,
    raidsim_command,
)


def refreshed(page: Path) -> bool:
    """Bring a page up to date; whether it was not."""
    text = page.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        root = checkout_with(Path(folder), {})

        def block(found: re.Match[str]) -> str:
            text = found[0]
            for example in examples(text):
                done = raidsim_command(root, *shlex.split(example.command))
                printed = done.stdout + done.stderr
                if as_shown(printed, example.shown) != lines(example.shown):
                    command = f"$ raidsim {example.command}\n"
                    text = text.replace(command + example.shown, command + _tidy(printed, example.shown))
            return text

        now = CONSOLE.sub(block, text)
    if now != text:
        page.write_text(now, encoding="utf-8")
    return now != text


def _tidy(printed: str, shown: str) -> str:
    """What was printed, with as much empty space around it as the page has."""
    text = re.sub(r"\n{3,}", "\n\n", "\n".join(elided(printed, shown)).strip("\n"))
    before = "\n" if shown.startswith("\n") else ""
    after = "\n" if shown.endswith("\n\n") else ""
    return f"{before}{text}\n{after}"


def main(names: list[str]) -> int:
    """Bring pages up to date, all of them unless some are named."""
    chosen = [Path(name).resolve() for name in names] or [page for page in pages() if not files(page)]
    changed = [page for page in chosen if examples_of(page) and refreshed(page)]
    for page in changed:
        print(page.relative_to(DOCS) if page.is_relative_to(DOCS) else page)
    return int(bool(changed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
