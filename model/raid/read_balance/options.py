"""What a read-balance policy is told of its array, and what a scenario may set of it.

These descriptions are apart from the policies because those are compiled.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from ...files.description import Spec


class BalanceOptions(Spec):
    """What a scenario may set of a policy: its name, and what the policy's own class of options adds."""

    name: str
    """The policy's."""

    def check(self, mirrors: Sequence[Sequence[str]]) -> None:
        """Refuse options that do not fit an array; the field at fault is ("balance", option).

        Parameters
        ----------
        mirrors
            The names of the members of each mirror that the policy would read from.
        """


@dataclass(frozen=True, slots=True)
class Mirrors:
    """What an array tells a policy of the members that it reads from.

    Attributes
    ----------
    names
        The member in each slot.
    rotational
        Whether each of them turns.
    write_mostly
        Slots that are read only if no other holds the data.
    near
        Whether the copies of a RAID 10 lie side by side (layout near), or in different parts of the members.
    columns
        Mirrors that the array is striped over, of which this is one.
    shared
        What the policies of all mirrors of one array share, by any name.
    """

    names: tuple[str, ...]
    rotational: tuple[bool, ...]
    write_mostly: frozenset[int] = frozenset()
    near: bool = True
    columns: int = 1
    shared: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, rotational: Sequence[bool], write_mostly: frozenset[int] = frozenset()) -> Mirrors:
        """Members without names."""
        return cls(("",) * len(rotational), tuple(rotational), write_mostly)
