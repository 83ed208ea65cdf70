"""Who may look at the parts of a machine while they are built and run, without changing what they do."""

from __future__ import annotations

from typing import Any, Protocol

from ...model.core.engine import Engine


class Observer(Protocol):
    """Sees every part when it is built, and the beginning of the measurement.

    A part is shown before anything is built upon it, so that an observer may give it another class that does the same
    and takes notes: what is not observed pays nothing for it.
    """

    def built_on(self, engine: Engine) -> None:
        """A machine begins to be built; a long run may build two, and the last one counts."""

    def part(self, part: Any) -> None:
        """A queue, drive, array, controller, encrypted or cached device, link, or host has been built."""

    def target(self, device: Any) -> None:
        """The workload will send its I/Os to this device, or the file system on it will."""

    def begin(self) -> None:
        """The warm-up is over."""


class Unobserved:
    """Nobody looks."""

    def built_on(self, engine: Engine) -> None:
        """See :meth:`Observer.built_on`."""

    def part(self, part: Any) -> None:
        """See :meth:`Observer.part`."""

    def target(self, device: Any) -> None:
        """See :meth:`Observer.target`."""

    def begin(self) -> None:
        """See :meth:`Observer.begin`."""


UNOBSERVED = Unobserved()
