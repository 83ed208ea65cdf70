"""The one exception tree of raidsim.

Every error a person can cause names the place (file, line or field), what was found there and what
is expected. The command line prints ``str(error)`` and exits with status 2; nothing else is shown.
"""

from __future__ import annotations


class RaidsimError(Exception):
    """Base of every error raidsim raises on purpose."""


class InputError(RaidsimError):
    """Something a person wrote cannot be used.

    Parameters
    ----------
    place
        Where it stands: a file with its line, a field, or a command-line option.
    found
        What was found there.
    expected
        What would be right.

    Notes
    -----
    Whatever stands in a file may be part of a message. What is not printable in it, and would do something to the
    terminal, is shown as an escape, what ends a line as a blank, and of what is very long the middle is left out.
    """

    def __init__(self, place: str, found: str, expected: str) -> None:
        super().__init__(f"{_shown(place, 400)}: {_shown(found, 600)}; {_shown(expected, 2000)}")
        self.place = place
        self.found = found
        self.expected = expected

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return type(self), (self.place, self.found, self.expected)


class WorkersFailed(RaidsimError):
    """Processes that work for this one do not do it, which nothing that a person wrote is the cause of."""


class WorkersDied(WorkersFailed):
    """They end before their work is done, again and again."""

    def __init__(self) -> None:
        super().__init__(
            "worker processes end before their work is done, as the system ends what takes too much memory; "
            "fewer of them: --workers 1"
        )


class WorkerHung(WorkersFailed):
    """One of them does not come to an end.

    Parameters
    ----------
    limit
        How long it was waited for, in words.
    variable
        Of the environment, which sets that.
    """

    def __init__(self, limit: str, variable: str) -> None:
        super().__init__(
            f"a worker process has been at one simulation for {limit} and was ended; "
            f"if it takes that long: {variable}=24h in the environment, or --workers 1, which waits without end"
        )


class WrongAnswer(WorkersFailed):
    """One of them sent something that is no result.

    Parameters
    ----------
    found, wanted
        Kinds of it and of a result.
    """

    def __init__(self, found: str, wanted: str) -> None:
        super().__init__(
            f"a worker process sent {found} instead of {wanted}; "
            "the same files of raidsim have to be there while it runs: once more, or --workers 1"
        )


class ModelError(RaidsimError):
    """The simulated machine was asked for something it cannot do (an I/O past the end, a lost array)."""


class ArrayFailed(ModelError):
    """More members are lost than the layout tolerates."""


class FileSystemFull(ModelError):
    """A file system has no room for what is written."""


def _shown(text: str, most: int) -> str:
    if not text.isprintable():
        text = "".join(each if each.isprintable() else " " if each.isspace() else repr(each)[1:-1] for each in text)
    return text if len(text) <= most else f"{text[: most * 2 // 3]} ... {text[-(most // 3) :]}"
