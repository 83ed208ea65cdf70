"""The RAID levels: one row for each, with all that differs by level and not by layout, driver or kernel.

Everything that must know something of a level by its name asks this table: what a scenario may set, which forms the
explorer offers, how many drives a design needs, which rule of thumb applies. A new level is its layout, its array and
a row here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

Redundancy = Literal["none", "copies", "parity", "byte parity"]

_MIRROR_OPTIONS = ("balance", "bitmap")
_PARITY_OPTIONS = (
    "bitmap",
    "journal",
    "rmw_level",
    "stripe_cache",
    "group_thread_cnt",
    "devices_handle_discard_safely",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """One RAID level.

    Attributes
    ----------
    name
        As scenarios write it: "raid5".
    redundancy
        "parity": chunks of parity, whose driver has a stripe cache. "byte parity": every I/O is on all members.
    least
        Members at least.
    words
        In tables and forms; "RAID" and the number unless given.
    has_chunk
        Whether the size of a chunk can be chosen.
    has_algorithms
        Whether it is a level that layouts of this package are variants of.
    inner
        The level of the groups, where the algorithm is that of its groups.
    group_least
        Members of each group at least, of levels whose number of groups can be chosen; otherwise 0.
    group_usual
        Members of the widest group that designs are tried with.
    parities
        Blocks of parity in a row of a group.
    has_copies
        Whether the number of copies of a chunk can be chosen.
    has_outer_chunk
        Whether the bytes in one group before the next is used can be chosen.
    uses_all
        Whether members of unequal size are used to their ends.
    md
        Whether Linux's md has it as one array.
    spares
        Whether a hot spare can take the place of a member.
    failures_in_a_run
        Whether the model follows the loss of a member during a run.
    checks
        Whether the array can be checked and repaired as a whole.
    options
        The options of :class:`~raidsim.scenarios.description.arrays.ArraySpec` that some levels have and others not.
    """

    name: str
    redundancy: Redundancy
    least: int
    words: str = ""
    has_chunk: bool = True
    has_algorithms: bool = False
    inner: str = ""
    group_least: int = 0
    group_usual: int = 0
    parities: int = 0
    has_copies: bool = False
    has_outer_chunk: bool = False
    uses_all: bool = False
    md: bool = False
    spares: bool = True
    failures_in_a_run: bool = True
    checks: bool = True
    options: tuple[str, ...] = ()

    @property
    def is_redundant(self) -> bool:
        """Whether it survives the loss of any member."""
        return self.redundancy != "none"

    @property
    def has_mirrors(self) -> bool:
        """Whether data are kept in copies."""
        return self.redundancy == "copies"

    @property
    def is_mirror(self) -> bool:
        """Whether every member holds all data."""
        return self.has_mirrors and not self.has_chunk

    @property
    def has_parity(self) -> bool:
        """Whether it has rows of chunks with parity, which a driver with a stripe cache keeps."""
        return self.redundancy == "parity"

    @property
    def has_groups(self) -> bool:
        """Whether it is made of groups, the number of which can be chosen."""
        return self.group_least > 0

    @property
    def label(self) -> str:
        """The level as people write it: "RAID 5"."""
        return self.words or f"RAID {self.name.removeprefix('raid')}"

    @property
    def small_write_ios(self) -> int:
        """I/Os on members for a small write with parity: the old data and parity are read, and both are written."""
        return 2 * (1 + self.parities)


LEVELS: dict[str, Level] = {
    level.name: level
    for level in (
        Level(
            name="linear",
            words="linear",
            redundancy="none",
            least=1,
            has_chunk=False,
            uses_all=True,
            md=True,
            spares=False,
            failures_in_a_run=False,
            checks=False,
        ),
        Level(
            name="raid0",
            redundancy="none",
            least=1,
            has_algorithms=True,
            uses_all=True,
            md=True,
            spares=False,
            failures_in_a_run=False,
            checks=False,
        ),
        Level(
            name="raid1",
            redundancy="copies",
            least=2,
            has_chunk=False,
            md=True,
            options=(*_MIRROR_OPTIONS, "write_mostly"),
        ),
        Level(
            name="raid3",
            redundancy="byte parity",
            least=3,
            has_chunk=False,
            parities=1,
            options=("round_robin",),
            spares=False,
            failures_in_a_run=False,
            checks=False,
        ),
        Level(
            name="raid4",
            redundancy="parity",
            least=3,
            has_algorithms=True,
            parities=1,
            md=True,
            options=_PARITY_OPTIONS,
        ),
        Level(
            name="raid5",
            redundancy="parity",
            least=3,
            has_algorithms=True,
            parities=1,
            md=True,
            options=_PARITY_OPTIONS,
        ),
        Level(
            name="raid6",
            redundancy="parity",
            least=4,
            has_algorithms=True,
            parities=2,
            md=True,
            options=_PARITY_OPTIONS,
        ),
        Level(
            name="raid10",
            redundancy="copies",
            least=2,
            has_algorithms=True,
            has_copies=True,
            md=True,
            options=(*_MIRROR_OPTIONS, "write_mostly"),
        ),
        Level(
            name="raid01",
            words="RAID 0+1",
            redundancy="copies",
            least=4,
            group_least=2,
            group_usual=64,
            spares=False,
            failures_in_a_run=False,
            options=_MIRROR_OPTIONS,
        ),
        Level(
            name="raid50",
            redundancy="parity",
            least=6,
            inner="raid5",
            group_least=3,
            group_usual=12,
            parities=1,
            has_outer_chunk=True,
            options=_PARITY_OPTIONS,
        ),
        Level(
            name="raid60",
            redundancy="parity",
            least=8,
            inner="raid6",
            group_least=4,
            group_usual=16,
            parities=2,
            has_outer_chunk=True,
            options=_PARITY_OPTIONS,
        ),
    )
}
"""Every level by its name, in the order in which lists show them."""

if TYPE_CHECKING:
    LevelName = str
else:
    LevelName = Literal[tuple(LEVELS)]
    """Name of a level."""


def levels_where(holds: Callable[[Level], bool]) -> tuple[str, ...]:
    """The names of the levels of which something holds."""
    return tuple(name for name, level in LEVELS.items() if holds(level))


def levels_with(option: str) -> tuple[str, ...]:
    """The names of the levels that have an option of arrays."""
    return levels_where(lambda level: option in level.options)


def level_options() -> tuple[str, ...]:
    """Every option that some levels have and others not."""
    return tuple(dict.fromkeys(option for level in LEVELS.values() for option in level.options))
