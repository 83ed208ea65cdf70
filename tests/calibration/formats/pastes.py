"""What mail programs, editors and terminals do to an output before somebody pastes it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial


def wrapped(text: str, width: int) -> str:
    """Lines broken at the last blank before a width, as mail programs do; the blanks there are gone."""
    lines = []
    for each in text.split("\n"):
        line = each
        while len(line) > width:
            at = line.rfind(" ", 0, width + 1)
            if not line[: max(at, 0)].strip():
                at = line.find(" ", width)
            if at < 0:
                break
            lines.append(line[:at].rstrip())
            line = line[at:].lstrip()
        lines.append(line)
    return "\n".join(lines)


def fronted(text: str, front: str) -> str:
    """Something before every line; of an empty one without the blank behind it."""
    return "".join(f"{front}{line}\n" if line.strip() else f"{front.rstrip()}\n" for line in _lines(text))


def numbered(text: str, form: str) -> str:
    """The number of each line before it, as editors, cat -n and grep -n write it."""
    return "".join(f"{form.format(number, line)}\n" for number, line in enumerate(_lines(text), 1))


def _lines(text: str) -> list[str]:
    return text.rstrip("\n").split("\n")


def _prompted(text: str) -> str:
    return f"admin@nas:~$ sudo some-tool --all\n{text.rstrip(chr(10))}\nadmin@nas:~$ \n"


def _beside_prose(text: str) -> str:
    return f"Hi all,\n\nthis is it {{as you asked}}:\n\n{text.rstrip(chr(10))}\n\n{{not sure why}} it is slow.\nJo\n"


_WIDTHS = (60, 66, 70, 72, 76, 78)
PASTES: dict[str, Callable[[str], str]] = {
    **{f"wrapped at {width}": partial(wrapped, width=width) for width in _WIDTHS},
    **{f"wrapped at {w}, quoted": lambda text, w=w: fronted(wrapped(text, w), "> ") for w in _WIDTHS},  # type: ignore[misc]
    **{f"quoted, wrapped at {w}": lambda text, w=w: wrapped(fronted(text, "> "), w) for w in _WIDTHS},  # type: ignore[misc]
    **{f"behind {front!r}": partial(fronted, front=front) for front in ("    ", "\t", "> ", ">", "> > ", ">>  ")},
    **{f"numbered {form!r}": partial(numbered, form=form) for form in ("{:6d}\t{}", "{}: {}", "{:3d}  {}", "{}:{}")},
    "prompts": _prompted,
    "prose": _beside_prose,
}
"""Ways to paste a text."""
