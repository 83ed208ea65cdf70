"""/proc/mdstat as md prints it (md.c, raid5.c, raid10.c of Linux), for arrays of drives with one partition each."""

from __future__ import annotations

from dataclasses import dataclass

KIB_PER_MEMBER = 488254464
"""Of a drive of 500 GB."""


@dataclass(frozen=True)
class Printed:
    """An array to print: its level, slots, and what is wrong with it."""

    level: str
    slots: int
    chunk: str = ""
    words: str = ""
    data: float = 1.0
    marks: str = ""
    rebuilding: int | None = None
    gone: tuple[int, ...] = ()
    faulty: tuple[int, ...] = ()
    spares: int = 0
    extra: str = ""


def text(array: Printed, name: str = "md0") -> str:
    """The whole file."""
    letters = [chr(ord("b") + slot) for slot in range(array.slots + array.spares)]
    members = []
    for slot in range(array.slots):
        if slot in array.gone:
            continue
        number = array.slots + array.spares if slot == array.rebuilding else slot
        members.append(f"sd{letters[slot]}1[{number}]" + ("(F)" if slot in array.faulty else ""))
    members += [f"sd{letters[array.slots + spare]}1[{array.slots + spare}](S)" for spare in range(array.spares)]
    blocks = int(KIB_PER_MEMBER * array.data)
    marks = array.marks
    shown = f" [{array.slots}/{marks.count('U')}] [{marks}]" if marks else ""
    lines = [
        f"Personalities : [{array.level}]",
        f"{name} : active {array.level} {' '.join(reversed(members))}",
        f"      {blocks} blocks super 1.2{array.words}{array.chunk}{shown}".rstrip(),
    ]
    if array.extra:
        lines.append(array.extra)
    return "\n".join([*lines, "      ", "unused devices: <none>", ""])


def progress(action: str, share: float, total: int = KIB_PER_MEMBER) -> str:
    """The line of something that goes on."""
    done = int(share * total)
    return (
        f"      [===>.................]  {action} = {100 * share:.1f}% ({done}/{total}) finish=92.1min speed=70120K/sec"
    )


LEVELS = {
    "raid0": Printed("raid0", 2, " 512k chunks", data=2),
    "linear": Printed("linear", 3, " 0k rounding", data=3),
    "raid1": Printed("raid1", 2, marks="UU"),
    "raid4": Printed("raid4", 4, words=" level 4, 64k chunk, algorithm 0", data=3, marks="UUUU"),
    "raid5": Printed("raid5", 4, words=" level 5, 512k chunk, algorithm 2", data=3, marks="UUUU"),
    "raid5-right": Printed("raid5", 3, words=" level 5, 64k chunk, algorithm 1", data=2, marks="UUU"),
    "raid6": Printed("raid6", 5, words=" level 6, 256k chunk, algorithm 2", data=3, marks="UUUUU"),
    "raid6-ddf": Printed("raid6", 6, words=" level 6, 256k chunk, algorithm 9", data=4, marks="UUUUUU"),
    "raid10-near": Printed("raid10", 4, " 512K chunks 2 near-copies", data=2, marks="UUUU"),
    "raid10-far": Printed("raid10", 3, " 512K chunks 2 far-copies", data=1.5, marks="UUU"),
    "raid10-offset": Printed("raid10", 5, " 128K chunks 2 offset-copies", data=2.5, marks="UUUUU"),
}
"""Whole arrays."""
