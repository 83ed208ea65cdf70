"""The one exception tree of raidsim.

Every error a person can cause names the place (file, line or field), what was found there and what
is allowed. The command line prints ``str(error)`` and exits with status 2; nothing else is shown.
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
    allowed
        What would be right.
    """

    def __init__(self, place: str, found: str, allowed: str) -> None:
        super().__init__(f"{place}: {found}; {allowed}")
        self.place = place
        self.found = found
        self.allowed = allowed

    def __reduce__(self) -> tuple[type[InputError], tuple[str, str, str]]:
        return type(self), (self.place, self.found, self.allowed)


class ModelError(RaidsimError):
    """The simulated machine was asked for something it cannot do (an I/O past the end, a lost array)."""


class ArrayFailed(ModelError):
    """More members are lost than the layout tolerates."""


class FileSystemFull(ModelError):
    """A file system has no room for what is written."""
