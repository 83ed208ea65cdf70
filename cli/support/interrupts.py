"""Handle SIGTERM and SIGHUP like Ctrl-C: keep what is done, release locks, remove temporary files."""

from __future__ import annotations

import signal

_LIKE_AN_INTERRUPT = ("SIGTERM", "SIGHUP")


class Terminated(KeyboardInterrupt):
    """A signal has asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def end_like_an_interrupt() -> None:
    """Raise :class:`Terminated` where a signal would end the process at once; one that is ignored stays so (nohup)."""
    for name in _LIKE_AN_INTERRUPT:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _terminate)


def _terminate(number: int, _: object) -> None:
    raise Terminated(number)


def interrupted_status(error: KeyboardInterrupt) -> int:
    """What a shell says of a program that the signal has ended."""
    return 128 + (error.number if isinstance(error, Terminated) else signal.SIGINT)
