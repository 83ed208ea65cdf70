"""Contents of a member on their way into a stripe cache."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final


class Arrival:
    """Contents of a member on their way into the cache; others may wait for them too."""

    __slots__ = ("_waiters",)

    def __init__(self) -> None:
        self._waiters: list[Callable[[], None]] | None = []

    @classmethod
    def of_all(cls, parts: Sequence[Arrival]) -> Arrival:
        """The arrival of everything that `parts` bring."""
        whole = cls()
        left = len(parts)

        def one() -> None:
            nonlocal left
            left -= 1
            if not left:
                whole.arrived()

        for part in parts:
            part.then(one)
        return whole

    @property
    def here(self) -> bool:
        """Whether the contents are there."""
        return self._waiters is None

    def then(self, callback: Callable[[], None]) -> None:
        """Call back when the contents are there (at once if they already are)."""
        if self._waiters is None:
            callback()
        else:
            self._waiters.append(callback)

    def arrived(self, _: object = None) -> None:
        """The contents are there."""
        waiters, self._waiters = self._waiters, None
        for callback in waiters or ():
            callback()


HERE: Final = Arrival()
"""Of what is there."""
HERE.arrived()
