"""What was done to a recorded array besides making it: the field `extra`, a shell command or options of mdadm.

Whatever is not understood is refused, so that no other machine is compared with the recording.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..base import NotSupported
from .mdadm import bitmap_chunk

_COMMANDS = {
    "heads": re.compile(r"echo (\d+) > \S*/stripe_cache_size"),
    "workers": re.compile(r"echo (\d+) > \S*/group_thread_cnt"),
    "faulty": re.compile(r"echo faulty > \S*/dev-nullb(\d+)/state"),
    "write_mostly": re.compile(r"echo writemostly > \S*/dev-nullb(\d+)/state"),
    "nothing": re.compile(r"(true|)"),
}
_OPTIONS = re.compile(r"--(bitmap=(none|internal)|bitmap-chunk=\w+|write-journal=\S+)")
_FIELDS = {"level", "chunk_bytes", "md_layout", "members", "extra", "bitmap", "journal"}
_JOURNAL = re.compile(r".*: null_blk, ([\d.]+) ms, (\d+) at once, mode (write-through|write-back)")
_EXPECTED = (
    "expected: --bitmap, --bitmap-chunk, --write-journal, or echo of a number to stripe_cache_size or "
    "group_thread_cnt, of faulty or writemostly to the state of a member"
)


@dataclass(frozen=True, slots=True)
class JournalDevice:
    """The device of a journal: null_blk as the members are.

    Attributes
    ----------
    service_s
        Time (s) from dispatch to completion.
    tags
        Requests served at once.
    """

    service_s: float
    tags: int


@dataclass(frozen=True, slots=True)
class Extra:
    """What was done to an array.

    Attributes
    ----------
    heads, workers
        stripe_cache_size and group_thread_cnt.
    faulty, write_mostly
        Slots.
    bitmap_bytes
        Bytes of a member per bit of the write-intent bitmap; 0 without one.
    journal
        None without one.
    """

    heads: int = 256
    workers: int = 0
    faulty: frozenset[int] = frozenset()
    write_mostly: frozenset[int] = frozenset()
    bitmap_bytes: int = 0
    journal: JournalDevice | None = None

    @classmethod
    def read(cls, place: str, array: Mapping[str, Any]) -> Extra:
        """What the entry of an array in a recording says; raises `NotSupported` for what is not modeled or known."""
        unknown = sorted(array.keys() - _FIELDS)
        if unknown:
            raise NotSupported(place, f"the field {unknown[0]}", f"expected: {', '.join(sorted(_FIELDS))}")
        text = str(array.get("extra", "")).strip()
        journal = _journal(place, array.get("journal"))
        if text.startswith("--"):
            for word in text.split():
                if not _OPTIONS.fullmatch(word):
                    raise NotSupported(f"{place}, field extra", f"the option {word}", _EXPECTED)
            if (journal is None) == ("--write-journal" in text):
                raise NotSupported(f"{place}, field journal", "a journal without its device", "expected: both")
            return cls(bitmap_bytes=bitmap_chunk(f"{place}, field extra", text) or 0, journal=journal)
        found: dict[str, list[int]] = {name: [] for name in _COMMANDS}
        for command in map(str.strip, text.split(";")):
            matches = [(name, pattern.fullmatch(command)) for name, pattern in _COMMANDS.items()]
            name, match = next(((name, match) for name, match in matches if match), ("", None))
            if match is None:
                raise NotSupported(f"{place}, field extra", f"{command!r} before the jobs", _EXPECTED)
            if name != "nothing":
                found[name].append(int(match[1]))
        return cls(
            heads=[256, *found["heads"]][-1],
            workers=[0, *found["workers"]][-1],
            faulty=frozenset(found["faulty"]),
            write_mostly=frozenset(found["write_mostly"]),
        )


def _journal(place: str, text: object) -> JournalDevice | None:
    if text is None:
        return None
    said = _JOURNAL.fullmatch(str(text))
    if said is None:
        expected = "expected: such as null_blk, 0.1 ms, 32 at once, mode write-through"
        raise NotSupported(f"{place}, field journal", f"the journal {text!r}", expected)
    if said[3] != "write-through":
        raise NotSupported(f"{place}, field journal", f"a journal in {said[3]} mode", "expected: write-through")
    return JournalDevice(float(said[1]) * 1e-3, int(said[2]))
