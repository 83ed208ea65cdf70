"""Pools from zpool status and zpool import (zpool-status(8); zpool_main.c, print_pool_status and print_scan_status)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..facts import Fact
from ..findings import Findings
from ..found_pools import FoundPool
from ..outputs import Output
from ..wrapping import ZPOOL_KEY, ZPOOL_ROW
from .tree import SECTIONS, Row, vdevs

_COUNTS = re.compile(r"(?:\s+(?:\d[\d.]*[KMGTPE]?|-)(?=\s|$)){0,4}", re.ASCII)
_RUNS = re.compile(r"(?P<action>scrub|resilver|rebuild)(?P<of> \(\S+\))? in progress")
"""A resilver of one vdev, in the order of space, has its name in parentheses."""
_PERCENT = re.compile(r"(?P<share>\d{1,3}(?:\.\d+)?)% done", re.ASCII)


def read(output: Output) -> Findings:
    """The pools."""
    found, text = Findings(), output.text
    starts = [number for number in output.lines if _key(text.line(number)) == "pool"]
    for first, after in zip(starts, [*starts[1:], output.last + 1], strict=True):
        pool = _pool(output, first, after)
        if pool.name in found.pools:
            raise text.refused(first, f"each pool once: {pool.name} begins at {found.pools[pool.name].where}")
        found.pools[pool.name] = pool
    return found


def _key(line: str) -> str | None:
    """The key of a line "key: value"."""
    return line.split(":", maxsplit=1)[0].strip() if ZPOOL_KEY.match(line) else None


def _pool(output: Output, first: int, after: int) -> FoundPool:
    text = output.text
    parts: dict[str, list[int]] = {}
    key = "pool"
    for number in range(first, after):
        key = _key(text.line(number)) or key
        parts.setdefault(key, []).append(number)
    words = text.line(first).split()
    if len(words) != 2:
        raise text.refused(first, "the name of a pool")
    pool = FoundPool(words[1], f"{text.name}:{first}")
    _scan(output, parts.get("scan", []), pool)
    if "config" not in parts:
        raise text.refused(after, f"the list of the devices of {pool.name} below 'config:'")
    pool.vdevs = vdevs(list(_rows(output, parts["config"][1:], pool.name)))
    if not pool.vdevs:
        raise text.refused(parts["config"][0], f"the devices of {pool.name} below it")
    return pool


def _scan(output: Output, lines: list[int], pool: FoundPool) -> None:
    """What scrub or resilver does, and how far it is."""
    text = output.text
    said = " ".join(text.line(number).strip() for number in lines)
    runs = _RUNS.search(said)
    if runs is not None:
        where = f"{text.name}:{lines[0]}"
        in_order = runs["action"] == "rebuild" or runs["of"] is not None
        pool.action = Fact("scrub" if runs["action"] == "scrub" else "rebuild" if in_order else "resilver", where)
        percent = _PERCENT.search(said)
        if percent is None:
            raise text.refused(lines[-1], f"the share of the {runs['action']} that is done, such as '9.64% done'")
        pool.progress = Fact(min(1.0, float(percent["share"]) / 100), where)


def _rows(output: Output, lines: list[int], pool: str) -> Iterator[Row]:
    """The rows below the pool's own."""
    text, base = output.text, None
    for number in lines:
        line = text.line(number).expandtabs()
        words = line.split()
        if not words or words[:2] == ["NAME", "STATE"]:
            continue
        if not ZPOOL_ROW.match(line):
            raise text.refused(number, "a device of zpool status: its name, state and three counts")
        indent, where = len(line) - len(line.lstrip()), f"{text.name}:{number}"
        if base is None:
            if words[0] != pool:
                raise text.refused(number, f"the row of {pool} itself before its devices")
            base = indent
        elif len(words) == 1 and words[0] in SECTIONS:
            yield Row(indent - base, words[0], "", "", where)
        else:
            rest = line.split(words[1], 1)[1]
            counts = _COUNTS.match(rest)
            note = rest[counts.end() :].strip() if counts is not None else rest.strip()
            yield Row(indent - base, words[0], words[1], note, where)
