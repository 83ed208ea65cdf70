"""A YAML document with a comment after each value: where it was found, or why it is assumed."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass, field
from typing import Any

import yaml

_WIDTH = 110
_BREAK = 100
_STEP = 2


@dataclass(slots=True)
class Entry:
    """A key with its value.

    Attributes
    ----------
    value
        Plain data, or a mapping of further entries.
    found
        Where it was read.
    assumed
        Why it is taken to be so.
    above
        Whether what is assumed stands in lines of its own.
    quiet
        Whether these are not shown (they are at a neighbor that has the same).
    shown
        The value as the document has it, with an anchor perhaps.
    """

    value: Any | Mapping
    found: str = ""
    assumed: str = ""
    above: bool = False
    quiet: bool = False
    shown: str = ""

    @property
    def comment(self) -> str:
        """As the document has it."""
        parts = [self.found] if self.found else []
        if self.assumed:
            parts.append(f"assumed: {self.assumed}")
        return "; ".join(parts)


@dataclass(slots=True)
class Mapping:
    """Entries in their order."""

    entries: dict[str, Entry] = field(default_factory=dict)

    def put(self, key: str, value: Any, found: str = "", assumed: str = "", above: bool = False) -> None:
        """Set one."""
        self.entries[key] = Entry(value, found, assumed, above)

    def inner(self, key: str, found: str = "", assumed: str = "") -> Mapping:
        """Begin a mapping inside."""
        inside = Mapping()
        self.entries[key] = Entry(inside, found, assumed)
        return inside

    def plain(self) -> dict[str, Any]:
        """The data without comments."""
        return {
            key: entry.value.plain() if isinstance(entry.value, Mapping) else entry.value
            for key, entry in self.entries.items()
        }

    def remarks(self, path: tuple[str, ...] = ()) -> list[tuple[str, Any, Entry]]:
        """Every entry with a comment: its dotted path, its plain value, itself."""
        remarked: list[tuple[str, Any, Entry]] = []
        for key, entry in self.entries.items():
            here = (*path, key)
            inside = entry.value
            if entry.comment:
                plain = inside.plain() if isinstance(inside, Mapping) else inside
                remarked.append((".".join(here), plain, entry))
            if isinstance(inside, Mapping):
                remarked += inside.remarks(here)
        return remarked

    def text(self, short: dict[str, str] | None = None, indent: int = 0) -> str:
        """The document.

        Parameters
        ----------
        short
            What is written in comments for other words.
        indent
            Columns before each line.
        """
        lines: list[str] = []
        for key, entry in self.entries.items():
            before = " " * indent
            nested = isinstance(entry.value, Mapping)
            first = f"{before}{scalar(key)}:" + ("" if nested else f" {entry.shown or scalar(entry.value)}")
            if entry.above and entry.found:
                first = f"{first}  # {_shortened(entry.found, short)}"
            comment = "" if entry.quiet else f"assumed: {entry.assumed}" if entry.above else entry.comment
            comment = _shortened(comment, short)
            if comment and not entry.above and len(first) + len(comment) + 4 <= _WIDTH:
                first = f"{first}  # {comment}"
            elif comment and (entry.assumed or not entry.above):
                lines += [f"{before}# {line}" for line in textwrap.wrap(comment, _BREAK - indent)]
            lines.append(first)
            if isinstance(entry.value, Mapping):
                lines.append(entry.value.text(short, indent + _STEP).rstrip("\n"))
        return "\n".join(line for line in lines if line) + "\n"


def _shortened(comment: str, short: dict[str, str] | None) -> str:
    for long, instead in (short or {}).items():
        comment = comment.replace(long, instead)
    return comment


def scalar(value: Any) -> str:
    """A value in one line, quoted where it has to be."""
    said = yaml.safe_dump(value, default_flow_style=True, width=10**9, sort_keys=False, allow_unicode=True)
    return said.removesuffix("\n").removesuffix("...").rstrip("\n")


def size_text(size: int) -> str:
    """Bytes as a file has them: "64KiB", "4TiB", "122942324736B"."""
    for power, unit in ((40, "TiB"), (30, "GiB"), (20, "MiB"), (10, "KiB")):
        if size and not size % (1 << power):
            return f"{size >> power}{unit}"
    return f"{size}B"
